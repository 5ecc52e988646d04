/* `prony generate`: only make the data set. */
#include "base/clock.h"
#include "base/json/json_write.h"
#include "base/units.h"
#include "cli/report_folder.h"
#include "cli/targets.h"
#include "generate/generate.h"
#include "present/live.h"
#include "present/screen.h"
#include "run/attempt.h"
#include "run/gpu_task.h"
#include "run/plan_jobs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct watch {
    const struct cli *cli;
    struct pr_live_line *live;
    struct pr_stop *stop;
    const char *phase; /* the one that the line is of */
    uint64_t start;
};

/* The line counts megabytes where the sum is known, else files. */
static int generate_show_progress(void *ctx, const struct pr_generate_status *s)
{
    struct watch *w = ctx;
    char text[96], rate[16];
    double seconds;

    pr_stop_read(w->stop);
    if (w->phase != s->phase) {
        pr_live_free(w->live);
        w->live = live_new(w->cli, s->bytes_total ? "MB" : "files");
        w->phase = s->phase;
        w->start = pr_clock_ns();
    }
    seconds = (double)(pr_clock_ns() - w->start) / 1e9;
    pr_format_bytes(rate,
                    seconds > 0 ? (uint64_t)((double)s->bytes / seconds) : 0);
    if (s->bytes_total) {
        snprintf(text, sizeof text, "%llu of %llu files, %s/s",
                 (unsigned long long)s->files,
                 (unsigned long long)s->files_total, rate);
        pr_live_update(w->live, s->bytes / 1000000, s->bytes_total / 1000000, 0,
                       s->phase, text);
    } else {
        snprintf(text, sizeof text, "%s/s", rate);
        pr_live_update(w->live, s->files, s->files_total, 0, s->phase, text);
    }
    return w->stop->count;
}

/* ---- what is said at the end */

static void generate_add_json(struct pr_json_writer *jb,
                              const struct pr_plan_dataset *d,
                              const struct pr_generate_result *r)
{
    char place[PR_NAME_BYTES];

    pr_json_open_object(jb, NULL);
    pr_json_put_str(jb, "folder",
                    pr_generate_place(&d->set, &d->storage, place));
    pr_json_put_str(jb, "format", d->set.opts.format);
    pr_json_put_uint(jb, "files", r->files);
    pr_json_put_uint(jb, "made", r->made);
    pr_json_put_uint(jb, "kept", r->kept);
    pr_json_put_uint(jb, "bytes_written", r->bytes);
    pr_json_put_float(jb, "seconds", r->seconds);
    pr_json_put_uint(jb, "verified", r->verified);
    pr_json_put_uint(jb, "bad", r->bad);
    pr_json_put_float(jb, "verify_seconds", r->verify_seconds);
    pr_json_put_uint(jb, "threads", r->threads);
    pr_json_put_str(jb, "engine", r->engine);
    pr_json_close(jb);
}

static void generate_add_rate(struct pr_buf *out, uint64_t bytes,
                              double seconds)
{
    char size[16], rate[16], time[24];

    pr_buf_printf(out, "%s in %s", pr_format_bytes(size, bytes),
                  pr_format_seconds(time, seconds));
    if (seconds > 0)
        pr_buf_printf(
            out, ", %s/s",
            pr_format_bytes(rate, (uint64_t)((double)bytes / seconds)));
}

static void generate_add_text(struct pr_buf *out,
                              const struct pr_plan_dataset *d,
                              const struct pr_generate_result *r)
{
    char place[PR_NAME_BYTES];

    pr_generate_place(&d->set, &d->storage, place);
    pr_screen_clean(out, place, strlen(place));
    pr_buf_str(out, ": ");
    if (!r->files) {
        pr_buf_str(out, "no files are asked for");
    } else if (r->made) {
        pr_buf_printf(out, "%llu %s file%s made, ", (unsigned long long)r->made,
                      d->set.opts.format, r->made == 1 ? "" : "s");
        generate_add_rate(out, r->bytes, r->seconds);
        pr_buf_printf(out, " (%u thread%s, %s)", r->threads,
                      r->threads == 1 ? "" : "s", r->engine);
        if (r->kept)
            pr_buf_printf(out, "; %llu %s there", (unsigned long long)r->kept,
                          r->kept == 1 ? "was" : "were");
    } else {
        pr_buf_printf(out, "all %llu files are there, nothing was made",
                      (unsigned long long)r->files);
    }
    if (r->verified) {
        pr_buf_printf(out, "; %" PRIu64 " verified, ", r->verified - r->bad);
        generate_add_rate(out, r->verified_bytes, r->verify_seconds);
        if (r->bad)
            pr_buf_printf(out, "; %" PRIu64 " wrong", r->bad);
    }
    pr_buf_char(out, '\n');
}

/* ---- data of tasks that others make */

static void add_need_text(struct pr_buf *out, const struct pr_task_need *n)
{
    pr_screen_clean(out, n->path, strlen(n->path));
    if (n->there)
        pr_buf_str(out, ": is there");
    else
        pr_buf_printf(out,
                      ": cannot be made here; Lambda's 'run_prepare.sh %s' "
                      "makes it",
                      n->data->prepare);
    pr_buf_str(out, " (for ");
    pr_screen_clean(out, n->tasks, strlen(n->tasks));
    pr_buf_str(out, ")\n");
}

static void add_need_json(struct pr_json_writer *jb,
                          const struct pr_task_need *n)
{
    pr_json_open_object(jb, NULL);
    pr_json_put_str(jb, "folder", n->path);
    pr_json_put_str(jb, "prepare", n->data->prepare);
    pr_json_put_bool(jb, "there", n->there);
    pr_json_put_str(jb, "tasks", n->tasks);
    pr_json_close(jb);
}

static void add_needs(struct pr_buf *text, struct pr_json_writer *jb,
                      const struct pr_task_need *needs)
{
    if (!needs)
        return;
    pr_json_open_array(jb, "others");
    for (const struct pr_task_need *n = needs; n; n = n->next)
        if (!n->set) {
            add_need_text(text, n);
            add_need_json(jb, n);
        }
    pr_json_close(jb);
}

/* Something must be there to run with, in the end. */
static int check_needs(const struct pr_task_need *needs, struct pr_err *err)
{
    const struct pr_task_need *n = needs;

    while (n && !n->set && !n->there)
        n = n->next;
    if (!needs || n)
        return PR_OK;
    pr_fail(err, PR_E_UNAVAIL, "",
            "none of the data that these tasks read can be made here");
    return pr_hint(err, "prepare it with Lambda's script, or run the native "
                        "equivalents, which need none: -P suite_on=cpu");
}

/* ---- doing it */

static int generate_one(struct cli *c, struct watch *w,
                        const struct pr_plan_dataset *d,
                        const struct pr_generate_opts *opts,
                        struct pr_generate_result *ret, struct pr_err *err)
{
    struct pr_generate_opts own = *opts;
    int rc;

    own.later = d->later;

    if (*d->set.note)
        message_print_warning(d->id, d->set.note, "");
    rc = pr_generate(&d->set, &d->storage, &own, generate_show_progress, w, ret,
                     err);
    pr_live_free(w->live);
    w->live = NULL;
    w->phase = NULL;
    if (*ret->note)
        message_print_warning("storage.engine", ret->note, "");
    c->signo = w->stop->signo;
    if (rc && ret->seconds > 0 && !ret->verified &&
        strcmp(d->storage.engine, "null") != 0)
        message_print(SAY_INFO,
                      "%" PRIu64 " of %" PRIu64
                      " files are made; --resume goes on\n",
                      ret->made + ret->kept, ret->files);
    if (rc && ret->bad > 1) {
        message_print(SAY_ERROR,
                      "prony: %" PRIu64 " of %" PRIu64 " files are wrong:\n",
                      ret->bad, ret->files);
        /* The last of these is the verb's own error. */
        for (uint64_t i = 1; i < ret->bad && i < PR_GENERATE_ERRORS; i++)
            message_print_error(&ret->errors[i]);
        *err = ret->errors[0];
    }
    return rc;
}

static int generate_all(struct cli *c, const struct pr_plan_dataset *sets,
                        const struct pr_task_need *needs,
                        const struct pr_generate_opts *opts, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(16 << 20);
    PR_AUTO_BUF struct pr_buf json = PR_BUF_INIT(16 << 20);
    const char *format = arg_get(c, A_GENERATE_FORMAT);
    struct pr_stop stop;
    struct watch w = {.cli = c, .stop = &stop};
    struct pr_json_writer jb;
    bool is_json;
    int shown, rc = pr_stop_init(&stop, err);

    if (rc)
        return rc;
    pr_json_writer_init(&jb, &json, 2);
    pr_json_open_object(&jb, NULL);
    pr_json_put_str(&jb, "schema", "prony.generate/1");
    pr_json_open_array(&jb, "datasets");
    for (const struct pr_plan_dataset *d = sets; d && !rc; d = d->next) {
        struct pr_generate_result r = {0};
        rc = generate_one(c, &w, d, opts, &r, err);
        if (!rc || r.made || r.verified) {
            generate_add_text(&text, d, &r);
            generate_add_json(&jb, d, &r);
        }
    }
    pr_json_close(&jb);
    add_needs(&text, &jb, needs);
    if (!rc)
        rc = check_needs(needs, err);
    if (rc)
        pr_json_put_str(&jb, "error", err->msg);
    pr_json_close(&jb);
    pr_buf_char(&json, '\n');
    pr_stop_close(&stop);
    /* What was done is told, also when the rest failed. */
    is_json = format && strcmp(format, "json") == 0;
    if (!text.len && (rc || !is_json))
        return rc;
    shown = answer_print_buf(is_json ? &json : &text, rc ? NULL : err);
    return rc ? rc : shown;
}

static int generate_read_options(struct cli *c, struct pr_generate_opts *ret,
                                 struct pr_err *err)
{
    long threads;
    int rc = arg_number(c, A_THREADS, 1, 0, &threads, err);

    if (rc)
        return rc;
    ret->threads = (unsigned)threads;
    ret->verify = arg_on(c, A_VERIFY);
    ret->force = arg_on(c, A_FORCE);
    ret->resume = arg_on(c, A_GENERATE_RESUME);
    if (ret->force && ret->resume)
        return pr_fail(err, PR_E_USAGE, "",
                       "--resume keeps what is there, --force replaces it: "
                       "give one of them");
    return PR_OK;
}

/* Defaults alone would fill ./data, which nobody means. */
static bool generate_has_targets(const struct cli *c)
{
    static const enum arg_id ids[] = {A_PARAM, A_VARIABLE, A_CONFIG,
                                      A_SET_FILE};

    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        if (arg_get(c, ids[i]))
            return true;
    return c->rest_count > 0;
}

/* Tasks of GPU systems read what their list says; all others what their
 * parameters do. */
static int find_sets(struct cli *c, struct pr_plan *p,
                     struct pr_plan_dataset **ret,
                     struct pr_task_need **ret_needs, struct pr_err *err)
{
    struct pr_plan_dataset **end = ret;
    bool tasks;
    int rc = pr_plan_task_data(p, c->arena, &tasks, ret_needs, err);

    *ret = NULL;
    if (!rc && !tasks)
        return pr_plan_datasets(p, c->arena, ret, err);
    for (struct pr_task_need *n = *ret_needs; !rc && n; n = n->next)
        if (n->set) {
            *end = n->set;
            end = &n->set->next;
        }
    if (!rc && !*ret_needs)
        message_print(SAY_INFO, "these tasks read no data that is known\n");
    return rc;
}

int cmd_generate(struct cli *c, struct pr_err *err)
{
    struct pr_generate_opts opts = {0};
    struct pr_plan_dataset *sets;
    struct pr_task_need *needs;
    struct pr_plan *p;
    int rc = generate_read_options(c, &opts, err);

    if (!rc && !generate_has_targets(c)) {
        pr_fail(err, PR_E_USAGE, "", "nothing says what to make");
        return pr_hint(err, "name a file, or set parameters: prony generate "
                            "dataset.format=npz dataset.data_folder=data");
    }
    if (!rc)
        rc = plan_from_args(c, &p, err);
    if (rc)
        return rc;
    rc = find_sets(c, p, &sets, &needs, err);
    pr_plan_free(p);
    return rc ? rc : generate_all(c, sets, needs, &opts, err);
}
