/* From arguments to a plan. */
#include "cli/targets.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/results_args.h"
#include "conf/option/override.h"
#include "conf/read/bundled.h"
#include "record/plan_file.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- where a run goes that was given no folder, and where its data is */

/* The part of a target's name that says what it is. */
static const char *find_target_stem(struct cli *c, size_t *ret_len)
{
    const char *name = "run", *slash, *dot;

    for (size_t i = 0; i < c->rest_count; i++) {
        if (strchr(c->rest[i], '='))
            continue;
        slash = strrchr(c->rest[i], '/');
        name = slash ? slash + 1 : c->rest[i];
        break;
    }
    dot = strchr(name, '.');
    *ret_len = dot && dot > name ? (size_t)(dot - name) : strlen(name);
    return name;
}

const char *runs_dir(struct cli *c, const char *suffix, struct pr_err *err)
{
    char time[32];
    size_t len;
    const char *name = find_target_stem(c, &len);
    const char *base =
        pr_arena_printf(c->arena, "runs/%.*s%s.%s", (int)len, name, suffix,
                        pr_time_name(time, pr_wall_clock_ns()));
    const char *path = base;

    if (pr_make_dirs("runs", err))
        return NULL;
    for (int i = 2; path && mkdir(path, 0755) < 0; i++) {
        if (errno != EEXIST || i > 10000) {
            (void)pr_fail_errno(err, PR_E_IO, path, "cannot make the folder");
            return NULL;
        }
        path = pr_arena_printf(c->arena, "%s.%d", base, i);
    }
    if (!path)
        (void)pr_fail_nomem(err);
    return path;
}

int set_data_root(struct pr_arena *a, const char *dir, struct pr_err *err)
{
    if (!dir)
        dir = getenv("PRONY_DATA");
    if (!dir)
        dir = getenv("MILARUN_DATAROOT");
    if (!dir)
        return PR_OK;
    dir = pr_folder_absolute(dir, a);
    if (!dir || setenv("PRONY_DATA", dir, 1) ||
        setenv("MILARUN_DATAROOT", dir, 1))
        return pr_fail_nomem(err);
    return PR_OK;
}

/* ---- targets */

bool has_targets(const struct cli *c)
{
    return c->rest_count || arg_get(c, A_PARAM) || arg_get(c, A_CONFIG) ||
           arg_get(c, A_SET_FILE);
}

/* A name with a slash or a known ending is a file, anything else is bundled. */
static bool is_file_name(const char *s)
{
    static const char *const endings[] = {".yaml", ".yml", ".json", ".toml",
                                          ".sh"};
    size_t n = strlen(s);

    if (strchr(s, '/'))
        return true;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t e = strlen(endings[i]);
        if (n > e && strcmp(s + n - e, endings[i]) == 0)
            return true;
    }
    return false;
}

/* Names are compared without case, and '-' is '_'. */
static void plain_name(const char *name, char out[static 64])
{
    size_t i = 0;

    for (; name[i] && i < 63; i++)
        out[i] = name[i] == '-' ? '_' : (char)tolower((unsigned char)name[i]);
    out[i] = '\0';
}

/* What a bundled name that is not there may have been meant for: one that
 * begins so, else the nearest. */
struct guess {
    char typed[64];
    struct pr_nearest nearest;
    char longer[64]; /* "": none */
};

static int guess_one(void *ctx, const char *name, const char *path)
{
    struct guess *g = ctx;

    (void)path;
    if (!*g->longer && pr_text_starts_with(name, g->typed))
        snprintf(g->longer, sizeof g->longer, "%s", name);
    pr_nearest_offer(&g->nearest, name);
    return PR_OK;
}

static const char *nearest_bundled(struct cli *c, const char *name)
{
    struct guess g = {.longer = ""};

    plain_name(name, g.typed);
    pr_nearest_init(&g.nearest, g.typed);
    if (pr_bundled_each("workloads", guess_one, &g, NULL))
        return NULL;
    /* a build without suites has none to guess */
    (void)!pr_bundled_each("suites", guess_one, &g, NULL);
    return *g.longer ? pr_arena_str(c->arena, g.longer) : g.nearest.best;
}

static int add_target(struct cli *c, struct pr_plan *p, const char *name,
                      struct pr_err *err)
{
    const char *path = name;

    if (!is_file_name(name)) {
        path = pr_bundled_find(c->arena, "workloads", name);
        if (!path)
            path = pr_bundled_find(c->arena, "suites", name);
        if (!path) {
            const char *near = nearest_bundled(c, name);

            pr_fail(err, PR_E_USAGE, "", "nothing bundled is called '%s'",
                    name);
            if (near)
                return pr_hint(err,
                               "did you mean '%s'? 'prony plan --list' "
                               "shows the names",
                               near);
            return pr_hint(err,
                           "'prony plan --list' shows the names; a file "
                           "of yours is given with its ending or as "
                           "./%s",
                           name);
        }
    }
    return pr_plan_target(p, path, err);
}

/* --timeout, --retry and --max-count are parameters, so that the plan keeps
 * them. */
static int targets_add_limit(struct cli *c, struct pr_plan *p, enum arg_id id,
                             const char *name, const char *option,
                             struct pr_err *err)
{
    const char *value = c->verb->bit & ON_RUNS ? arg_get(c, id) : NULL;
    double seconds;
    long n;
    int rc;

    if (!value)
        return PR_OK;
    if (id == A_TIMEOUT && !pr_parse_seconds(value, &seconds))
        return pr_fail(err, PR_E_USAGE, "",
                       "--timeout wants a time such as 90, 1.5s or 2m, got "
                       "'%s'",
                       value);
    rc = id != A_TIMEOUT ? arg_number(c, id, id == A_MAX_COUNT, 0, &n, err)
                         : PR_OK;
    return rc ? rc : pr_plan_param_text(p, name, value, option, err);
}

static int add_tiny(struct cli *c, struct pr_plan *p, struct pr_err *err)
{
    bool is_on = c->verb->bit & ON_RUNS && arg_on(c, A_TINY);

    return is_on ? pr_plan_param_text(p, "nn.tiny", "true", "--tiny", err)
                 : PR_OK;
}

/* --no-isolation, also --no-cgexec. */
static int add_isolation(struct cli *c, struct pr_plan *p, struct pr_err *err)
{
    for (size_t i = c->arg_count; c->verb->bit & ON_PLANS && i-- > 0;)
        if (c->args[i].id == A_ISOLATION)
            return pr_plan_param_text(p, "suite.isolate",
                                      c->args[i].off ? "false" : "true",
                                      "--isolation", err);
    return PR_OK;
}

static int targets_add_devices(struct cli *c, struct pr_plan *p,
                               struct pr_err *err)
{
    const char *list = c->verb->bit & ON_PLANS ? arg_get(c, A_DEVICES) : NULL;

    return list ? pr_plan_devices(p, list, err) : PR_OK;
}

/* --image is stronger than what targets and -P say. */
static int add_image(struct cli *c, struct pr_plan *p, struct pr_err *err)
{
    const char *image = c->verb->bit & ON_PLANS ? arg_get(c, A_IMAGE) : NULL;
    int rc;

    if (!image)
        return PR_OK;
    if (!*image)
        return pr_fail(err, PR_E_USAGE, "", "--image wants the name of one");
    rc = pr_plan_param_text(p, "exp.docker", "true", "--image", err);
    return rc ? rc
              : pr_plan_param_text(p, "exp.docker_image", image, "--image",
                                   err);
}

/* What stands after -- becomes exp.args. */
static int add_tail(struct cli *c, struct pr_plan *p, struct pr_err *err)
{
    struct pr_value *items, list;

    if (!c->tail_count)
        return PR_OK;
    items = PR_ARENA_ARRAY(c->arena, struct pr_value, c->tail_count);
    if (!items)
        return pr_fail_nomem(err);
    for (size_t i = 0; i < c->tail_count; i++)
        items[i] = pr_str(c->tail[i]);
    list = (struct pr_value){
        .kind = PR_LIST, .len = (uint32_t)c->tail_count, .items = items};
    return pr_plan_param_value(p, "exp.args", &list, "--", err);
}

/* The target that a word names, as DLIO's users may: workload=unet3d_h100.
 * NULL: it is an override. */
static const char *target_of(const char *word)
{
    static const char key[] = "workload=";

    if (strncmp(word, key, sizeof key - 1) == 0)
        return word + sizeof key - 1;
    return pr_override_is_likely(word) ? NULL : word;
}

static int add_arg(struct pr_plan *p, const struct arg *a, struct pr_err *err)
{
    switch (a->id) {
    case A_CONFIG:
        return pr_plan_config(p, a->value, err);
    case A_PARAM:
        return pr_plan_param(p, a->value, err);
    case A_VARIABLE:
        return pr_plan_variable(p, a->value, err);
    case A_EXTENSION:
        return pr_plan_extension(p, a->value, err);
    case A_SET_FILE:
        return pr_plan_param_file(p, a->value, err);
    case A_COUNT: /* a word: an override counts in its place */
        return target_of(a->value) ? PR_OK : pr_plan_override(p, a->value, err);
    default:
        return PR_OK;
    }
}

/* The data root is where relative data folders are; a parameter given besides
 * is stronger. */
static int add_data_root(struct cli *c, struct pr_plan *p, struct pr_err *err)
{
    const char *dir = arg_get(c, A_GENERATE_DATA), *from = "-d";

    if (!(c->verb->bit & ON_GENERATE))
        return PR_OK;
    if (!dir) {
        dir = getenv("PRONY_DATA");
        from = "PRONY_DATA";
    }
    return dir ? pr_plan_param_text(p, "storage.storage_root", dir, from, err)
               : PR_OK;
}

static int targets_add_sources(struct cli *c, struct pr_plan *p,
                               struct pr_err *err)
{
    int rc = add_data_root(c, p, err);

    if (!rc)
        rc = targets_add_devices(c, p, err);
    for (size_t i = 0; i < c->rest_count && !rc; i++)
        if (target_of(c->rest[i]))
            rc = add_target(c, p, target_of(c->rest[i]), err);
    for (size_t i = 0; i < c->arg_count && !rc; i++)
        rc = add_arg(p, &c->args[i], err);
    if (!rc)
        rc =
            targets_add_limit(c, p, A_TIMEOUT, "exp.timeout", "--timeout", err);
    if (!rc)
        rc = targets_add_limit(c, p, A_RETRY, "exp.retry", "--retry", err);
    if (!rc)
        rc = targets_add_limit(c, p, A_MAX_COUNT, "nn.max_count", "--max-count",
                               err);
    if (!rc)
        rc = add_tiny(c, p, err);
    if (!rc && c->verb->bit & ON_PROBE)
        rc = probe_params(c, p, err);
    if (!rc)
        rc = add_image(c, p, err);
    if (!rc)
        rc = add_isolation(c, p, err);
    if (!rc)
        rc = add_tail(c, p, err);
    return rc ? rc : pr_plan_build(p, err);
}

/* A name that selects nothing is a mistake, not a plan of nothing. */
static int check_selected(const struct cli *c, struct pr_plan *p,
                          struct pr_err *err)
{
    const char *only = arg_get(c, A_NAME);
    uint64_t n = 1;
    int rc = only ? pr_plan_count(p, &n, err) : PR_OK;

    if (rc || n)
        return rc;
    pr_fail(err, PR_E_USAGE, "", "--name '%s' selects no experiment", only);
    return pr_hint(err, "without --name, 'prony plan' shows what there is");
}

int plan_from_args(struct cli *c, struct pr_plan **ret, struct pr_err *err)
{
    struct pr_plan_opts opts = PR_PLAN_OPTS_INIT;
    struct pr_plan *p;
    long repeat;
    int rc = arg_number(c, A_REPEAT, 1, 1, &repeat, err);

    if (rc)
        return rc;
    opts.no_defaults = arg_on(c, A_NO_DEFAULTS);
    opts.only = arg_get(c, A_NAME);
    opts.repeat = (unsigned)repeat;
    p = pr_plan_new(&opts);
    if (!p)
        return pr_fail_nomem(err);
    rc = targets_add_sources(c, p, err);
    if (!rc)
        rc = check_selected(c, p, err);
    for (const struct pr_warning *w = pr_plan_warnings(p); w; w = w->next)
        message_print_warning(w->where, w->text, w->remedy);
    if (rc)
        pr_plan_free(p);
    else
        *ret = p;
    return rc;
}

const char *finished_plan(struct cli *c)
{
    const char *file = arg_get(c, A_PLAN_IN);
    struct pr_plan_file plan;

    if (file)
        return file;
    if (c->rest_count != 1 || strchr(c->rest[0], '=') ||
        pr_plan_file_open(c->rest[0], &plan, NULL))
        return NULL;
    pr_plan_file_close(&plan);
    return c->rest[0];
}

void plan_cost_text(const struct pr_plan_cost *cost, struct pr_buf *out)
{
    uint64_t active = cost->experiments - cost->skipped;
    bool moves = cost->read_bytes || cost->write_bytes;
    char text[24], bytes[16];

    pr_buf_printf(out, "%llu experiment%s",
                  (unsigned long long)cost->experiments,
                  cost->experiments == 1 ? "" : "s");
    if (cost->skipped)
        pr_buf_printf(out, ", %llu of them switched off",
                      (unsigned long long)cost->skipped);
    if (cost->write_bytes)
        pr_buf_printf(out, "; writes %s",
                      pr_format_bytes(bytes, cost->write_bytes));
    if (cost->read_bytes)
        pr_buf_printf(out, "; reads %s",
                      pr_format_bytes(bytes, cost->read_bytes));
    pr_buf_str(out, "; time: ");
    if (!active)
        pr_buf_str(out, "none");
    else if (!cost->unknown && moves && cost->seconds > 0)
        pr_buf_printf(out, "at least %s, if storage cost none",
                      pr_format_seconds(text, cost->seconds));
    else if (!cost->unknown && moves)
        pr_buf_printf(out, "as long as %s",
                      !cost->write_bytes  ? "reading takes"
                      : !cost->read_bytes ? "writing takes"
                                          : "reading and writing take");
    else if (!cost->unknown && !cost->refused)
        pr_buf_printf(out, "about %s", pr_format_seconds(text, cost->seconds));
    else if (cost->refused)
        pr_buf_str(out, "not known");
    else if (cost->limited)
        pr_buf_printf(out, "at most %s, by their timeouts",
                      pr_format_seconds(text, cost->at_most_s));
    else
        pr_buf_str(out, "as long as the commands take, no limit is set "
                        "(exp.timeout)");
    pr_buf_char(out, '\n');
    if (cost->refused)
        pr_buf_printf(
            out, "%s cannot be run %s: %s%s%s\n",
            cost->refused == cost->experiments ? "It" : "Some of them",
            cost->why.code == PR_E_UNAVAIL ? "by this version" : "here",
            cost->why.where, *cost->why.where ? ": " : "", cost->why.msg);
    if (cost->refused && cost->why.code != PR_E_UNAVAIL && *cost->why.hint)
        pr_buf_printf(out, "hint: %s\n", cost->why.hint);
}
