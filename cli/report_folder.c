/* Showing folders: tables, the JSON document, and reports of each kind. */
#include "cli/report_folder.h"

#include "analyse/run/run_data.h"
#include "base/file.h"
#include "base/json/json.h"
#include "cli/cmd_report.h"
#include "present/report/report_capacity.h"
#include "present/report/report_dlio.h"
#include "present/report/report_experiment.h"
#include "present/report/report_gpu_systems.h"
#include "present/report/report_mlperf.h"
#include "present/report/report_run.h"
#include "present/report/report_suite_json.h"
#include "present/screen.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MAX_VERDICTS = 20, MAX_JUDGED = 3 };

/* ---- tables and the live line */

enum pr_table_format report_format(const char *name)
{
    static const char *const names[] = {
        [PR_TABLE_TEXT] = "text",
        [PR_TABLE_CSV] = "csv",
        [PR_TABLE_JSON] = "json",
        [PR_TABLE_MARKDOWN] = "md",
    };

    for (int i = 0; i < 4; i++)
        if (strcmp(name, names[i]) == 0)
            return (enum pr_table_format)i;
    return PR_TABLE_TEXT;
}

int report_table(struct cli *c, const char *dir, const char *format,
                 uint64_t max_rows, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1u << 30);
    enum pr_table_format f = report_format(format);
    struct pr_table_style style = {.width = stdout_width(),
                                   .colour = stdout_colour(c)};
    struct pr_run_columns found;
    int rc = pr_run_table(dir, f, &style, max_rows, &text, &found, err);

    if (rc)
        return rc;
    if (f == PR_TABLE_TEXT) {
        pr_buf_char(&text, '\n');
        pr_run_counts(&found, &text);
        rc = pr_emulate_verdicts(dir, MAX_VERDICTS, &text, err);
        if (!rc)
            rc = pr_run_warnings(dir, MAX_VERDICTS, &text, err);
        if (!rc)
            rc = pr_mlperf_run_text(dir, MAX_JUDGED, f, &style, &text, err);
    }
    return rc ? rc : answer_print_buf(&text, err);
}

static int report_to_stdout(void *ctx, const char *data, size_t len,
                            struct pr_err *err)
{
    (void)ctx;
    return answer_print(data, len, err);
}

int report_run_json(const char *dir, struct pr_err *err)
{
    return pr_run_json(dir, report_to_stdout, NULL, err);
}

struct pr_live_line *live_new(const struct cli *c, const char *unit)
{
    static const char *const names[] = {
        [PR_LIVE_AUTO] = "auto",   [PR_LIVE_ALWAYS] = "always",
        [PR_LIVE_NEVER] = "never", [PR_LIVE_JSON] = "json",
        [PR_LIVE_PLAIN] = "plain",
    };
    const char *how = arg_get(c, A_PROGRESS);
    struct pr_live_opts opts = {.fd = STDERR_FILENO, .unit = unit};

    for (int i = 0; how && i < 5; i++)
        if (strcmp(how, names[i]) == 0)
            opts.mode = (enum pr_live_mode)i;
    if (!how && message_level() < SAY_INFO)
        opts.mode = PR_LIVE_NEVER;
    return pr_live_new(&opts);
}

bool folder_has_file(const char *dir, const char *name)
{
    char path[4096];

    return (size_t)snprintf(path, sizeof path, "%s/%s", dir, name) <
               sizeof path &&
           access(path, F_OK) == 0;
}

/* ---- prony report: what kind of folder it is, and what is said of it */

/*
 * A run directory: its table, then what its experiments found. The folder of an
 * experiment, and one of DLIO's results: our report, then DLIO's. A search for
 * the capacity: its answer. Results of GPU systems: their full table.
 */
enum { MAX_RESULT = 1 << 30 };

struct report {
    const char *dir;
    enum pr_table_format format;
    struct pr_table_style style;
    struct pr_arena *arena;
    struct pr_buf *out;
};

static void report_write_heading(struct report *r, const char *text)
{
    pr_buf_printf(r->out,
                  r->format == PR_TABLE_MARKDOWN ? "\n**%s**\n\n" : "\n%s\n",
                  text);
}

/* DLIO's own report is text, and stays it. */
static void dlio_text(struct report *r, const struct pr_dlio_run *run)
{
    bool fenced = r->format == PR_TABLE_MARKDOWN;

    pr_buf_str(r->out, fenced ? "\n```\n" : "\n");
    pr_dlio_report_text(run, r->out);
    pr_buf_str(r->out, fenced ? "```\n" : "");
}

static int read_dlio(struct report *r, const char *dir, struct pr_dlio_run *ret,
                     struct pr_err *err)
{
    struct pr_dlio_opts opts = {0};

    return pr_dlio_read(dir, &opts, r->arena, ret, err);
}

/* ---- a folder of DLIO's results */

static int dlio_people(struct report *r, const struct pr_dlio_run *run,
                       struct pr_err *err)
{
    const char *name = run->setup.name ? run->setup.name : r->dir;
    int rc;

    if (r->format == PR_TABLE_MARKDOWN)
        pr_buf_str(r->out, "## ");
    pr_screen_clean(r->out, name, strlen(name));
    pr_buf_printf(r->out, ": results of DLIO, %llu rank%s\n",
                  (unsigned long long)run->ranks, run->ranks == 1 ? "" : "s");
    report_write_heading(r, "By epoch");
    rc = pr_dlio_phase_table(run, r->format, &r->style, r->out, err);
    if (rc)
        return rc;
    report_write_heading(r, "By accelerator");
    rc = pr_dlio_rank_table(run, r->format, &r->style, r->out, err);
    if (!rc)
        dlio_text(r, run);
    return rc;
}

static void begin_document(struct report *r, struct pr_json_writer *jb)
{
    pr_json_writer_init(jb, r->out, 1);
    pr_json_open_object(jb, NULL);
    pr_json_put_str(jb, "schema", "prony.report/1");
    pr_json_put_str(jb, "dir", r->dir);
}

static void report_end_document(struct report *r, struct pr_json_writer *jb)
{
    pr_json_close(jb);
    pr_buf_char(r->out, '\n');
}

static int report_dlio(struct report *r, struct pr_err *err)
{
    struct pr_dlio_run run;
    struct pr_json_writer jb;
    int rc = read_dlio(r, r->dir, &run, err);

    if (rc)
        return rc;
    if (r->format == PR_TABLE_CSV)
        return pr_dlio_phase_table(&run, r->format, &r->style, r->out, err);
    if (r->format != PR_TABLE_JSON)
        return dlio_people(r, &run, err);
    begin_document(r, &jb);
    pr_json_open_object(&jb, "dlio");
    pr_dlio_report_json(&run, &jb);
    pr_json_close(&jb);
    report_end_document(r, &jb);
    return PR_OK;
}

/* ---- the folder of an experiment */

static int mlperf_json(struct report *r, const struct pr_value *result,
                       struct pr_json_writer *jb, struct pr_err *err)
{
    struct pr_mlperf m;
    bool asked;
    int rc = pr_mlperf_result_judge(r->dir, result, r->arena, &m, &asked, err);

    if (rc || !asked)
        return rc;
    pr_json_open_object(jb, "mlperf");
    pr_mlperf_json(&m, jb);
    pr_json_close(jb);
    return PR_OK;
}

static int mlperf_people(struct report *r, const struct pr_value *result,
                         const char *id, struct pr_err *err)
{
    struct pr_mlperf m;
    bool asked;
    int rc = pr_mlperf_result_judge(r->dir, result, r->arena, &m, &asked, err);

    return rc || !asked
               ? rc
               : pr_mlperf_text(&m, id, r->format, &r->style, r->out, err);
}

static int experiment_json(struct report *r, const struct pr_value *result,
                           struct pr_err *err)
{
    const struct pr_value *results = pr_get(result, "results");
    struct pr_dlio_run run;
    struct pr_json_writer jb;
    int rc = folder_has_file(r->dir, "summary.json")
                 ? read_dlio(r, r->dir, &run, err)
                 : 1;

    if (rc < 0)
        return rc;
    begin_document(r, &jb);
    pr_json_put_str(&jb, "id", pr_text_at(result, "id", NULL));
    pr_json_put_str(&jb, "status", pr_text_at(result, "status", NULL));
    if (pr_run_data_target(result) != PR_TARGET_NONE)
        pr_json_put_bool(&jb, "target_met",
                         pr_run_data_target(result) == PR_TARGET_MET);
    if (results)
        pr_json_put_value(&jb, "results", results);
    if (!rc) {
        pr_json_open_object(&jb, "dlio");
        pr_dlio_report_json(&run, &jb);
        pr_json_close(&jb);
    }
    rc = mlperf_json(r, result, &jb, err);
    report_end_document(r, &jb);
    return rc;
}

static int experiment_people(struct report *r, const struct pr_value *result,
                             struct pr_err *err)
{
    static const struct pr_value none = {.kind = PR_MAP};
    const struct pr_value *results = pr_get(result, "results");
    const struct pr_value *rows =
        results
            ? pr_get(results, pr_is_trained(results) ? "layers" : "by_epoch")
            : NULL;
    struct pr_dlio_run run;
    int rc;

    if (pr_is_probed(results))
        return pr_probe_report(pr_text_at(result, "id", r->dir), results,
                               r->format, &r->style, r->out, err);
    if (r->format == PR_TABLE_CSV)
        return rows ? pr_measure_rows(rows, r->format, &r->style, r->out, err)
                    : PR_OK;
    if (pr_is_trained(results))
        return pr_trained_report(pr_text_at(result, "id", r->dir), results,
                                 r->format, &r->style, r->out, err);
    rc = pr_emulate_report(pr_text_at(result, "id", r->dir),
                           results ? results : &none, r->format, &r->style,
                           r->out, err);
    if (!rc)
        rc = mlperf_people(r, result, pr_text_at(result, "id", r->dir), err);
    if (rc || !folder_has_file(r->dir, "summary.json"))
        return rc;
    rc = read_dlio(r, r->dir, &run, err);
    if (!rc)
        dlio_text(r, &run);
    return rc;
}

static int read_result(struct report *r, struct pr_value *ret,
                       struct pr_err *err)
{
    const char *path = pr_arena_printf(r->arena, "%s/result.json", r->dir);
    struct pr_json_in in = {.name = path};
    int rc = path ? pr_file_read_in(r->dir, path, MAX_RESULT, r->arena,
                                    &in.text, &in.len, err)
                  : pr_fail_nomem(err);

    return rc ? rc : pr_json_read(&in, r->arena, ret, NULL, err);
}

static int report_experiment(struct report *r, struct pr_err *err)
{
    struct pr_value result;
    int rc = read_result(r, &result, err);

    if (rc)
        return rc;
    return r->format == PR_TABLE_JSON ? experiment_json(r, &result, err)
                                      : experiment_people(r, &result, err);
}

/* ---- a run directory */

/* DLIO's report of the only emulated experiment; of several, how to get it. */
static int run_dlio(struct report *r, uint64_t count, const char *id,
                    struct pr_err *err)
{
    const char *dir =
        pr_arena_printf(r->arena, "%s/experiments/%s", r->dir, id);
    const char *path =
        dir ? pr_arena_printf(r->arena, "%s/summary.json", dir) : NULL;
    struct pr_dlio_run run;
    struct stat st;
    int fd, rc;

    if (!path)
        return pr_fail_nomem(err);
    if (!folder_has_file(dir, "summary.json"))
        return PR_OK;
    if (count > 1) {
        pr_buf_str(r->out, "\nDLIO's report of one of them: prony report ");
        pr_screen_clean(r->out, dir, strlen(dir));
        pr_buf_char(r->out, '\n');
        return PR_OK;
    }
    /* Its folder may not lead out of the run. */
    fd = pr_file_open_in(r->dir, path, &st, err);
    if (fd < 0)
        return fd;
    close(fd);
    rc = read_dlio(r, dir, &run, err);
    if (!rc)
        dlio_text(r, &run);
    return rc;
}

static int run_people(struct report *r, struct pr_err *err)
{
    uint64_t count = 0;
    char id[256];
    int rc = pr_emulate_report_run(r->dir, r->format, &r->style, r->out, &count,
                                   id, err);

    if (!rc)
        rc = pr_trained_report_run(r->dir, r->format, &r->style, r->out, err);
    if (!rc)
        rc = pr_probe_report_run(r->dir, r->format, &r->style, r->out, err);
    if (!rc)
        rc = pr_mlperf_run_text(r->dir, 0, r->format, &r->style, r->out, err);
    return rc || !count ? rc : run_dlio(r, count, id, err);
}

/* What was emulated, and what MLPerf's rules say of it, as members. */
static int more_json(struct report *r, struct pr_json_writer *jb,
                     struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf none = PR_BUF_INIT(1u << 30);
    struct pr_json_writer probe;
    uint64_t count = 0;
    int rc;

    pr_json_writer_init(&probe, &none, 1);
    pr_json_open_object(&probe, NULL);
    rc = pr_emulate_report_json(r->dir, &probe, "emulated", &count, err);
    if (!rc && count)
        rc = pr_emulate_report_json(r->dir, jb, "emulated", &count, err);
    if (!rc)
        rc = pr_trained_report_json(r->dir, jb, "trained", err);
    if (!rc)
        rc = pr_mlperf_run_json(r->dir, jb, "mlperf", err);
    return rc;
}

/* The table's document, with these members. */
static int run_json(struct report *r, const struct pr_run_unfinished *left,
                    struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1u << 30);
    struct pr_json_in in = {
        .name = r->dir, .text = r->out->data, .len = r->out->len};
    struct pr_value all;
    struct pr_json_writer jb;
    int rc = pr_buf_ok(r->out) ? pr_json_read(&in, r->arena, &all, NULL, err)
                               : pr_fail_nomem(err);

    if (rc)
        return rc;
    pr_json_writer_init(&jb, &text, 1);
    pr_json_open_object(&jb, NULL);
    for (uint32_t i = 0; i < all.len; i++)
        pr_json_put_value(&jb, all.members[i].key, &all.members[i].value);
    pr_unfinished_json(left, &jb, "run");
    rc = more_json(r, &jb, err);
    if (rc)
        return rc;
    pr_buf_clear(r->out);
    pr_buf_add(r->out, text.data, text.len);
    jb.out = r->out;
    report_end_document(r, &jb);
    return PR_OK;
}

static int report_run(struct report *r, struct pr_err *err)
{
    struct pr_run_unfinished left;
    struct pr_run_columns found;
    int rc = pr_run_unfinished_find(r->dir, r->arena, &left, err);

    if (!rc)
        rc = pr_run_table(r->dir, r->format, &r->style, 0, r->out, &found, err);
    if (rc)
        return rc;
    if (found.unreadable)
        message_print_warning(found.first_bad.where, found.first_bad.msg,
                              found.first_bad.hint);
    print_unfinished(r->dir, &left);
    if (r->format == PR_TABLE_TEXT) {
        pr_buf_char(r->out, '\n');
        pr_run_counts(&found, r->out);
    }
    if (r->format == PR_TABLE_JSON)
        return run_json(r, &left, err);
    return r->format == PR_TABLE_CSV ? PR_OK : run_people(r, err);
}

static int report_capacity(struct report *r, struct pr_err *err)
{
    struct pr_capacity_record found;
    int rc = pr_capacity_record_read(r->dir, r->arena, &found, err);

    if (rc)
        return rc;
    if (r->format == PR_TABLE_JSON)
        return pr_capacity_record_write(&found, r->out, err);
    return pr_capacity_text(&found, r->dir, r->format, &r->style, r->out, err);
}

/* ---- targets */

static int strict_capacity(struct report *r, struct pr_err *err)
{
    struct pr_capacity_answer answer;
    struct pr_capacity_record found;
    struct pr_capacity_curve curve;
    int rc = pr_capacity_record_read(r->dir, r->arena, &found, err);

    if (!rc)
        rc = pr_capacity_fill_curve(&found.opts, found.trials, found.count,
                                    r->arena, &curve, err);
    if (rc)
        return rc;
    pr_capacity_find_answer(&found.opts, &curve, &answer);
    if (!answer.known || answer.capacity >= found.opts.min)
        return PR_OK;
    return pr_fail(err, PR_E_THRESHOLD, r->dir,
                   "%llu accelerator%s not at or above %g %% utilisation",
                   (unsigned long long)found.opts.min,
                   found.opts.min == 1 ? " is" : "s are",
                   found.opts.threshold * 100);
}

static int strict_run(struct report *r, struct pr_err *err)
{
    struct pr_run_columns found;
    int rc = pr_run_columns_find(r->dir, r->arena, &found, err);

    if (rc || !found.missed)
        return rc;
    pr_fail(err, PR_E_THRESHOLD, r->dir,
            "%llu of %llu experiments missed %s target%s%s",
            (unsigned long long)found.missed, (unsigned long long)found.targets,
            found.missed == 1 ? "its" : "their",
            found.first_missed ? ", the first is " : "",
            found.first_missed ? found.first_missed : "");
    return pr_hint(err, "metric.au says what share of the time accelerators "
                        "shall be busy");
}

static int strict_experiment(struct report *r, struct pr_err *err)
{
    struct pr_value result;
    int rc = read_result(r, &result, err);

    if (rc || pr_run_data_target(&result) != PR_TARGET_MISSED)
        return rc;
    return pr_fail(err, PR_E_THRESHOLD, r->dir,
                   "the experiment missed its target");
}

/* Where our records are, beside DLIO's if dlio_benchmark made them. */
static int find_records(struct report *r, struct pr_err *err)
{
    if (!folder_has_file(r->dir, "plan.json") &&
        !folder_has_file(r->dir, "summary.json") &&
        folder_has_file(r->dir, "prony/plan.json"))
        r->dir = pr_arena_printf(r->arena, "%s/prony", r->dir);
    return r->dir ? PR_OK : pr_fail_nomem(err);
}

int report_strict(struct cli *c, const char *dir, struct pr_err *err)
{
    struct report r = {.dir = dir, .arena = c->arena};
    int rc = find_records(&r, err);

    if (rc)
        return rc;
    if (folder_has_file(r.dir, "capacity.json"))
        return strict_capacity(&r, err);
    if (folder_has_file(r.dir, "plan.json"))
        return strict_run(&r, err);
    return folder_has_file(r.dir, "result.json") ? strict_experiment(&r, err)
                                                 : PR_OK;
}

/* ---- results of GPU systems in Lambda's layout */

static int report_systems(struct report *r, struct pr_err *err)
{
    struct pr_gpu_tasks tasks;
    struct pr_systems systems = {0};
    struct pr_gpu_systems_opts opts = {.tasks = &tasks,
                                       .systems = &systems,
                                       .precision = PR_GPU_SYSTEMS_BOTH,
                                       .system = "all",
                                       .full = true};
    struct pr_gpu_systems g;
    int rc = pr_gpu_tasks_load(r->arena, &tasks, err);

    if (!rc)
        rc = pr_systems_load(&systems, r->arena, err);
    if (!rc)
        rc = pr_gpu_systems_read(r->dir, &opts, r->arena, &g, err);
    return rc ? rc
              : pr_gpu_systems_report(&g, r->format, &r->style, r->out, err);
}

/* Neither a run nor anything else that is known. */
static int report_nothing(const char *dir, struct pr_err *err)
{
    int rc = access(dir, R_OK | X_OK)
                 ? pr_fail_errno(err, PR_E_IO, dir, "cannot open")
                 : pr_fail(err, PR_E_IO, dir,
                           "is not a run directory: it has no plan.json");

    pr_hint(err, "expected what 'prony run' made, a folder of a suite's "
                 "results, or a summary");
    return rc;
}

int report_folder(struct cli *c, const char *dir, const char *format,
                  struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1u << 30);
    struct report r = {
        .dir = dir,
        .format = report_format(format),
        .style = {.width = stdout_width(), .colour = stdout_colour(c)},
        .arena = c->arena,
        .out = &text};
    int rc;

    rc = find_records(&r, err);
    if (rc)
        return rc;
    if (folder_has_file(r.dir, "capacity.json"))
        rc = report_capacity(&r, err);
    else if (folder_has_file(r.dir, "plan.json"))
        rc = report_run(&r, err);
    else if (folder_has_file(dir, "result.json"))
        rc = report_experiment(&r, err);
    else if (folder_has_file(dir, "summary.json"))
        rc = report_dlio(&r, err);
    else if (pr_gpu_systems_is_tree(r.dir))
        rc = report_systems(&r, err);
    else
        rc = report_nothing(dir, err);
    return rc ? rc : answer_print_buf(&text, err);
}
