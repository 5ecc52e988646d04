/* `prony parse`: numbers out of logs. */
#include "analyse/series/pivot.h"
#include "base/json/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/results_args.h"
#include "present/report/report_pivot.h"
#include "present/report/report_results.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

/* ---- files */

struct files {
    struct cli *c;
    struct pr_results_out out;
    const char *base, *ext; /* "a/b", ".json.gz" */
    const char **items;
    size_t count, cap;
};

static int parse_write_file(struct files *f, const char *path,
                            struct pr_err *err)
{
    const char **item;
    struct stat st;

    if (!path)
        return pr_fail_nomem(err);
    if (arg_get(f->c, A_OVERWRITE) && !arg_on(f->c, A_OVERWRITE) &&
        stat(path, &st) == 0) {
        pr_fail(err, PR_E_IO, path, "the file exists");
        return pr_hint(err, "leave out --no-overwrite to replace it");
    }
    item = PR_PUSH(f->c->arena, f);
    if (!item)
        return pr_fail_nomem(err);
    *item = path;
    return pr_results_write(&f->out, path, err);
}

/* NAME_0.json, NAME_1.json, …, so many results in each. */
static int write_parts(struct files *f, size_t each, struct pr_err *err)
{
    size_t all = pr_results_out_rows(&f->out);
    int rc = PR_OK;

    f->out.count = each;
    for (size_t i = 0; !rc && (!i || i * each < all); i++) {
        f->out.from = i * each;
        rc = parse_write_file(
            f, pr_arena_printf(f->c->arena, "%s_%zu%s", f->base, i, f->ext),
            err);
    }
    return rc;
}

static int part_size(const struct files *f, size_t *ret, struct pr_err *err)
{
    long each = 0, parts = 0;
    int rc = arg_number(f->c, A_PER_FILE, 1, 0, &each, err);

    if (!rc)
        rc = arg_number(f->c, A_NUM_FILES, 1, 0, &parts, err);
    if (!rc && each && parts)
        rc = pr_fail(err, PR_E_USAGE, "",
                     "--benchmarks-per-file and "
                     "--num-output-files exclude one "
                     "another");
    if (parts)
        each = (long)((pr_results_out_rows(&f->out) + (size_t)parts - 1) /
                      (size_t)parts);
    *ret = parts && !each ? 1 : (size_t)each;
    return rc;
}

static int write_failed(struct files *f, struct pr_err *err)
{
    struct pr_results_out out = f->out;
    int rc = PR_OK;

    f->out.part = PR_RESULTS_FAILED;
    if (pr_results_out_rows(&f->out))
        rc = parse_write_file(
            f, pr_arena_printf(f->c->arena, "%s_failed%s", f->base, f->ext),
            err);
    f->out = out;
    return rc;
}

static int parse_print_files(const struct files *f, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 24);

    pr_buf_str(&text, "Log parser summary.\nFollowing files have been "
                      "created:\n[");
    for (size_t i = 0; i < f->count; i++) {
        pr_buf_str(&text, i ? ",\n    " : "\n    ");
        pr_json_write_string(&text, f->items[i], strlen(f->items[i]));
    }
    pr_buf_str(&text, "\n]\n");
    return answer_print_buf(&text, err);
}

static int parse_write_files(struct cli *c, const struct pr_results *set,
                             const char *path, struct pr_err *err)
{
    const char *params = arg_get(c, A_OUTPUT_PARAMS);
    const char *failed = arg_get(c, A_FAILED);
    struct files f = {.c = c, .out = {.set = set}};
    size_t each;
    int rc;

    f.ext = pr_text_ends_with(path, ".json.gz") ? ".json.gz" : ".json";
    f.base = pr_arena_copy(c->arena, path, strlen(path) - strlen(f.ext));
    if (params)
        f.out.params =
            results_args_split_names(c->arena, params, &f.out.param_count);
    if (!f.base || (params && !f.out.params))
        return pr_fail_nomem(err);
    if (failed && strcmp(failed, "keep") != 0)
        f.out.part = PR_RESULTS_GOOD;
    rc = part_size(&f, &each, err);
    if (!rc && failed && strcmp(failed, "keep_separately") == 0)
        rc = write_failed(&f, err);
    if (!rc)
        rc =
            each ? write_parts(&f, each, err) : parse_write_file(&f, path, err);
    return rc ? rc : parse_print_files(&f, err);
}

/* ---- stdout */

static int print_summary(struct cli *c, const struct pr_results *set,
                         struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 26);
    struct pr_table_style style = {.width = stdout_width()};
    const char *format = arg_get(c, A_PARSE_FORMAT);
    int rc;

    if (format && strcmp(format, "json") == 0) {
        rc = pr_results_summary_json(set, &text, err);
        pr_buf_char(&text, '\n');
    } else {
        rc = pr_results_summary_text(set, &style, &text, err);
    }
    return rc ? rc : answer_print_buf(&text, err);
}

static int print_report(struct cli *c, const struct pr_results *set,
                        const struct pr_pivot_spec *spec, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT((size_t)1 << 31);
    struct pr_pivot p;
    int rc = pr_pivot_build(set, spec, c->arena, &p, err);

    if (rc)
        return rc;
    if (p.failed)
        message_print(SAY_INFO,
                      "%" PRIu64 " of %" PRIu64
                      " results have no time or throughput, "
                      "and are left out\n",
                      p.failed, p.results);
    if (p.without)
        message_print(SAY_WARNING,
                      "warning: %" PRIu64
                      " results lack one of the parameters of the "
                      "report\n",
                      p.without);
    rc = pr_pivot_text(&p, c->arena, &text, err);
    return rc ? rc : answer_print_buf(&text, err);
}

static int parse_check_output(const char *path, struct pr_err *err)
{
    if (!path || pr_text_ends_with(path, ".json") ||
        pr_text_ends_with(path, ".json.gz"))
        return PR_OK;
    pr_fail(err, PR_E_USAGE, "",
            "--output-file wants a name that ends with "
            ".json or .json.gz, got '%s'",
            path);
    return PR_E_USAGE;
}

/* What --output-params leaves is all that is read, unless a report needs
 * more. */
static int parse_read_names(struct cli *c, const char ***ret,
                            struct pr_err *err)
{
    const char *params = arg_get(c, A_OUTPUT_PARAMS);
    const char *failed = arg_get(c, A_FAILED);
    char *text;
    size_t n;

    *ret = NULL;
    if (!params || !arg_get(c, A_OUTPUT_FILE) || arg_get(c, A_REPORT) ||
        arg_get(c, A_PARSE_PARAM))
        return PR_OK;
    text = pr_arena_printf(c->arena, "%s,%s", params,
                           failed ? "results.throughput,results.time" : "");
    *ret = text ? results_args_split_names(c->arena, text, &n) : NULL;
    return *ret ? PR_OK : pr_fail_nomem(err);
}

static int added_param(struct cli *c, const char *text, struct pr_value **ret,
                       struct pr_err *err)
{
    int rc = pr_results_parse_json(text, "-P", c->arena, ret, err);

    if (!rc && (*ret)->kind == PR_MAP)
        return PR_OK;
    if (rc == PR_E_NOMEM)
        return rc;
    if (!rc || rc == PR_E_FORMAT)
        pr_fail(err, PR_E_USAGE, "-P", "wants a map of parameters, got '%.80s'",
                text);
    return pr_hint(err, "for example '{\"exp.title\": \"${exp.model}, "
                        "${exp.gpus}\"}'");
}

static int parse_add_params(struct cli *c, struct pr_results *set,
                            struct pr_err *err)
{
    int rc = PR_OK;

    for (size_t i = 0; !rc && i < c->arg_count; i++) {
        struct pr_value *added;

        if (c->args[i].id != A_PARSE_PARAM)
            continue;
        rc = added_param(c, c->args[i].value, &added, err);
        if (!rc)
            rc = pr_results_derive(set, added, err);
    }
    return rc;
}

static int parse_print_results(struct cli *c, const struct pr_results *set,
                               const struct pr_pivot_spec *spec,
                               struct pr_err *err)
{
    const char *path = arg_get(c, A_OUTPUT_FILE);
    int rc = PR_OK;

    if (path)
        rc = parse_write_files(c, set, path, err);
    if (!rc && spec)
        rc = print_report(c, set, spec, err);
    if (!rc && !path && !spec)
        rc = print_summary(c, set, err);
    return rc;
}

/* Something is wrong with all there is: that is no empty answer. */
static int check_read(const struct cli *c, const struct pr_results *set,
                      struct pr_err *err)
{
    const struct pr_results_counts *n = pr_results_get_counts(set);

    if (n->results || !n->unreadable || arg_on(c, A_IGNORE_ERRORS))
        return PR_OK;
    if (n->damaged)
        return results_args_check_whole(c, set, err);
    pr_fail(err, PR_E_FORMAT, "", "no result: %llu of %llu files are damaged",
            (unsigned long long)n->unreadable, (unsigned long long)n->files);
    return pr_hint(err, "--ignore-errors takes what is left for an answer");
}

int cmd_parse(struct cli *c, struct pr_err *err)
{
    const char *report = arg_get(c, A_REPORT);
    struct pr_pivot_spec spec;
    struct results_args args;
    struct pr_results *set = NULL;
    const char **names;
    int rc;

    if (!c->rest_count) {
        pr_fail(err, PR_E_USAGE, "", "parse wants logs, or folders of logs");
        return pr_hint(err, "'prony parse --help' shows examples");
    }
    rc = parse_check_output(arg_get(c, A_OUTPUT_FILE), err);
    if (!rc && report)
        rc = pr_pivot_spec_read(report, c->arena, &spec, err);
    if (!rc)
        rc = parse_read_names(c, &names, err);
    if (!rc)
        rc = results_args_init(c, &args, err);
    if (rc)
        return rc;
    rc = results_args_read(c, &args, c->rest, c->rest_count, names, &set, err);
    if (!rc)
        rc = parse_add_params(c, set, err);
    if (!rc)
        results_args_warn(c, set);
    if (!rc)
        rc = check_read(c, set, err);
    if (!rc)
        rc = parse_print_results(c, set, report ? &spec : NULL, err);
    if (!rc)
        rc = results_args_check_whole(c, set, err);
    pr_results_free(set);
    results_args_close(&args);
    return rc;
}
