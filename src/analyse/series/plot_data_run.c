/*
 * Series over time from run directories: what the monitor saw
 * (monitor.ndjson), and the rates that programs told (channel.ndjson). Both
 * were written line by line and may end in the middle of one; a line that
 * cannot be read costs no more than itself.
 */
#include "analyse/results/results_take.h"
#include "analyse/run/run_data.h"
#include "analyse/series/plot_data.h"
#include "base/file.h"
#include "base/json/json.h"
#include "base/text.h"
#include "record/channel.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 64 << 10, MAX_VARIED = 8 };

/* A column of the monitor, or the rates of a task. */
struct curve {
    const char *name, *unit;
    size_t series;
    double value;    /* the last one */
    double first;    /* time of the first rate */
    uint64_t number; /* rates so far */
};

struct walk {
    const struct pr_results *set;
    const char *const *wanted; /* patterns */
    struct pr_arena *arena, *scratch;
    struct pr_plot_data own, *out;
    struct pr_plot_data_maker maker;
    size_t cap;
    const char *key;     /* "column" or "task" */
    const char *several; /* what stands for many of them */
    const char *varied[MAX_VARIED];
    size_t varied_count;
    /* Of the experiment that is read: */
    const struct pr_results_row *row;
    struct curve *curves;
    size_t curve_count, curve_cap;
    double time;
    bool stamped; /* every rate says when */
};

static bool is_curve_wanted(const struct walk *w, const char *name)
{
    for (size_t i = 0; w->wanted[i]; i++)
        if (fnmatch(w->wanted[i], name, 0) == 0)
            return true;
    return !w->wanted[0];
}

/* ---- what tells experiments apart */

static int plot_find_varied(struct walk *w, struct pr_err *err)
{
    static const char *const no[] = {"exp.id", "exp.status", "exp.log_file"};
    const struct pr_results_row *row = pr_results_row_at(w->set, 0);
    struct pr_run_data *d;
    int rc = pr_run_data_open(row->from, &d, err);

    for (uint32_t i = 0; !rc && i < row->params.len; i++) {
        const char *name = row->params.members[i].key;
        bool skip = pr_text_starts_with(name, "results.");

        for (size_t k = 0; k < sizeof no / sizeof *no; k++)
            skip |= strcmp(name, no[k]) == 0;
        if (!skip && w->varied_count < MAX_VARIED &&
            pr_results_is_varied(w->set, name) &&
            (pr_run_data_is_varied(d, name) || strcmp(name, "exp.repeat") == 0))
            w->varied[w->varied_count++] = name;
    }
    if (!rc)
        pr_run_data_close(d);
    return rc;
}

/* {"exp.id": …, what it differs in, "column": …} */
static bool curve_make_filters(struct walk *w, const char *name,
                               struct pr_value *ret)
{
    struct pr_member *m =
        PR_ARENA_ARRAY(w->arena, struct pr_member, MAX_VARIED + 2);
    const struct pr_value *v = pr_get(&w->row->params, "exp.id");
    uint32_t n = 0;

    if (!m)
        return false;
    m[n++] = pr_plot_data_member("exp.id", *v);
    for (size_t i = 0; i < w->varied_count; i++)
        if ((v = pr_get(&w->row->params, w->varied[i])))
            m[n++] = pr_plot_data_member(w->varied[i], *v);
    m[n++] = pr_plot_data_member(w->key, pr_str(name));
    *ret = (struct pr_value){.kind = PR_MAP, .len = n, .members = m};
    return true;
}

/* ---- curves */

static int add_curve(struct walk *w, const char *name, const char *unit,
                     struct curve **ret, struct pr_err *err)
{
    struct curve *c;

    w->curves = pr_arena_grow(w->arena, w->curves, w->curve_count,
                              &w->curve_cap, sizeof *w->curves);
    w->out->series = pr_arena_grow(w->arena, w->out->series, w->out->count,
                                   &w->cap, sizeof *w->out->series);
    if (!w->curves || !w->out->series)
        return pr_fail_nomem(err);
    c = &w->curves[w->curve_count];
    *c = (struct curve){.name = pr_arena_str(w->arena, name),
                        .unit = pr_arena_str(w->arena, unit),
                        .series = w->out->count,
                        .value = NAN,
                        .first = NAN};
    w->out->series[w->out->count] = (struct pr_plot_data_series){0};
    if (!c->name || !c->unit ||
        !curve_make_filters(w, c->name, &w->out->series[w->out->count].filters))
        return pr_fail_nomem(err);
    if (w->out->count == PR_PLOTDATA_MOST) {
        pr_fail(err, PR_E_CONF, "", "more than %d curves", PR_PLOTDATA_MOST);
        return pr_hint(err, "choose with --yparam and --query");
    }
    w->out->series[w->out->count].unit = c->unit;
    w->out->y =
        w->out->count && strcmp(w->out->y, c->name) != 0 ? w->several : c->name;
    w->out->count++;
    w->curve_count++;
    *ret = c;
    return PR_OK;
}

static struct curve *find_curve_named(struct walk *w, const char *name)
{
    for (size_t i = 0; i < w->curve_count; i++)
        if (strcmp(w->curves[i].name, name) == 0)
            return &w->curves[i];
    return NULL;
}

static int curve_add_value(struct walk *w, const struct curve *c, double x,
                           double y, struct pr_err *err)
{
    char text[32];
    size_t n = pr_float_repr(text, x);

    return pr_plot_data_add(&w->maker, c->series, text, n, y, false, err);
}

/* ---- the monitor */

static int curves_add_columns(struct walk *w, const struct pr_value *columns,
                              struct pr_err *err)
{
    struct curve *c;
    int rc = PR_OK;

    for (uint32_t i = 0; !rc && i < columns->len; i++) {
        const struct pr_member *m = &columns->members[i];

        if (m->value.kind == PR_STR && is_curve_wanted(w, m->key) &&
            !find_curve_named(w, m->key))
            rc = add_curve(w, m->key, m->value.s, &c, err);
    }
    return rc;
}

static int curves_add_sample(struct walk *w, const struct pr_value *line,
                             struct pr_err *err)
{
    int rc = PR_OK;

    for (size_t i = 0; !rc && i < w->curve_count; i++) {
        struct curve *c = &w->curves[i];
        const struct pr_value *v = pr_get(line, c->name);

        /* What is not there is as it was. */
        if (v)
            c->value = pr_value_is_number(v) ? pr_value_number(v) : NAN;
        if (isfinite(c->value))
            rc = curve_add_value(w, c, w->time, c->value, err);
    }
    return rc;
}

static int read_sample_line(void *ctx, const char *text, size_t len,
                            struct pr_err *err)
{
    const struct pr_json_in in = {.text = text, .len = len};
    struct walk *w = ctx;
    const struct pr_value *columns, *t;
    struct pr_value line;
    int rc;

    pr_arena_reset(w->scratch);
    if (pr_json_read(&in, w->scratch, &line, NULL, NULL))
        return PR_OK;
    columns = pr_get(&line, "columns");
    t = pr_get(&line, "t");
    rc = columns && columns->kind == PR_MAP
             ? curves_add_columns(w, columns, err)
             : PR_OK;
    if (rc || !t || !pr_value_is_number(t) || !isfinite(pr_value_number(t)))
        return rc;
    w->time = pr_value_number(t);
    return curves_add_sample(w, &line, err);
}

/* ---- rates */

/* "train", and "train (batches/s)" for its second unit. */
static int find_task_curve(struct walk *w, const char *task, const char *units,
                           struct curve **ret, struct pr_err *err)
{
    char name[256];

    *ret = find_curve_named(w, task);
    if (*ret && strcmp((*ret)->unit, units) == 0)
        return PR_OK;
    if (!*ret)
        return add_curve(w, task, units, ret, err);
    snprintf(name, sizeof name, "%s (%s)", task, units);
    *ret = find_curve_named(w, name);
    return *ret ? PR_OK : add_curve(w, name, units, ret, err);
}

static int curve_add_rate(struct walk *w, const struct pr_channel_row *row,
                          struct pr_err *err)
{
    const char *task = row->task ? row->task->s : "main";
    const struct pr_value *time = pr_get(row->data, "time");
    double at = time && pr_value_is_number(time) ? pr_value_number(time) : NAN;
    struct curve *c;
    int rc;

    if (!is_curve_wanted(w, task))
        return PR_OK;
    rc = find_task_curve(w, task, row->units ? row->units->s : "", &c, err);
    if (rc)
        return rc;
    if (!c->number++)
        c->first = at;
    if (!isfinite(at) || !isfinite(c->first) || at < c->first)
        w->stamped = false;
    return curve_add_value(w, c, w->stamped ? at - c->first : (double)c->number,
                           pr_value_number(row->rate), err);
}

static int read_rate_line(void *ctx, const char *text, size_t len,
                          struct pr_err *err)
{
    const struct pr_json_in in = {.text = text, .len = len};
    struct walk *w = ctx;
    struct pr_channel_row row;
    struct pr_value line;

    pr_arena_reset(w->scratch);
    if (pr_json_read(&in, w->scratch, &line, NULL, NULL))
        return PR_OK;
    row = pr_channel_row_read(&line);
    if (!row.rate || row.machine || row.event ||
        !isfinite(pr_value_number(row.rate)))
        return PR_OK;
    return curve_add_rate(w, &row, err);
}

/* ---- files */

static int read_lines(int fd, pr_results_line_fn *line, struct walk *w,
                      const char *path, struct pr_err *err)
{
    struct pr_results_line_cutter lines = PR_RESULTS_LINE_CUTTER_INIT;
    char *piece = pr_arena_alloc(w->arena, PIECE);
    ssize_t n = 0;
    int rc = piece ? PR_OK : pr_fail_nomem(err);

    while (!rc && (n = read(fd, piece, PIECE)) > 0)
        rc =
            pr_results_line_cutter_feed(&lines, piece, (size_t)n, line, w, err);
    if (!rc && n < 0)
        rc = pr_fail_errno(err, PR_E_IO, path, "cannot read");
    if (!rc)
        rc = pr_results_line_cutter_end(&lines, line, w, err);
    pr_buf_free(&lines.part);
    return rc;
}

static int read_experiment(struct walk *w, const char *file,
                           pr_results_line_fn *line, struct pr_err *err)
{
    const struct pr_value *id = pr_get(&w->row->params, "exp.id");
    struct pr_err why = {0};
    struct stat st;
    char path[4096];
    int fd, rc;

    if (!id || id->kind != PR_STR || strchr(id->s, '/') ||
        snprintf(path, sizeof path, "%s/experiments/%s/%s", w->row->from, id->s,
                 file) >= (int)sizeof path)
        return PR_OK;
    fd = pr_file_open_in(w->row->from, path, &st, &why);
    if (fd < 0 && (why.sys_errno == ENOENT || why.sys_errno == ENOTDIR))
        return PR_OK;
    if (fd < 0 && err)
        *err = why;
    if (fd < 0)
        return fd;
    w->curve_count = 0;
    rc = read_lines(fd, line, w, path, err);
    close(fd);
    return rc;
}

static int curves_read_all(struct walk *w, const char *file,
                           pr_results_line_fn *line, struct pr_err *err)
{
    int rc = pr_results_size(w->set) ? plot_find_varied(w, err) : PR_OK;

    for (size_t i = 0; !rc && i < pr_results_size(w->set); i++) {
        w->row = pr_results_row_at(w->set, i);
        rc = read_experiment(w, file, line, err);
    }
    if (!rc)
        rc = pr_plot_data_finish(&w->maker, PR_PLOTDATA_AVG, w->out, err);
    return rc;
}

/* One unit for all, where they have one. */
static void settle_unit(struct pr_plot_data *d)
{
    for (size_t i = 1; i < d->count; i++)
        if (strcmp(d->series[i].unit, d->series[0].unit) != 0)
            return;
    if (d->count)
        d->y_unit = d->series[0].unit;
    for (size_t i = 0; i < d->count; i++)
        d->series[i].unit = NULL;
}

static int curves_read_files(struct walk *w, const char *file,
                             pr_results_line_fn *line, struct pr_plot_data *ret,
                             struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *scratch = pr_arena_new(8192);
    int rc = pr_plot_data_maker_init(&w->maker, w->arena, err);

    w->scratch = scratch;
    w->own = (struct pr_plot_data){.x = "time", .y = w->several, .x_unit = "s"};
    w->out = &w->own;
    if (!rc && !scratch)
        rc = pr_fail_nomem(err);
    if (!rc)
        rc = curves_read_all(w, file, line, err);
    pr_plot_data_maker_free(&w->maker);
    settle_unit(w->out);
    if (!rc)
        *ret = w->own;
    return rc;
}

int pr_plot_data_read_monitor(const struct pr_results *set,
                              const char *const *columns, struct pr_arena *a,
                              struct pr_plot_data *ret, struct pr_err *err)
{
    struct walk w = {.set = set,
                     .wanted = columns,
                     .arena = a,
                     .key = "column",
                     .several = "monitor"};

    return curves_read_files(&w, "monitor.ndjson", read_sample_line, ret, err);
}

int pr_plot_data_read_rates(const struct pr_results *set,
                            const char *const *tasks, struct pr_arena *a,
                            struct pr_plot_data *ret, struct pr_err *err)
{
    struct walk w = {.set = set,
                     .wanted = tasks,
                     .arena = a,
                     .key = "task",
                     .several = "rates"};
    int rc;

    w.stamped = true;
    rc = curves_read_files(&w, PR_CHANNEL_FILE, read_rate_line, ret, err);
    if (!rc && w.stamped)
        return PR_OK;
    if (rc)
        return rc;
    /* Again: by number, all of them alike. */
    w = (struct walk){.set = set,
                      .wanted = tasks,
                      .arena = a,
                      .key = "task",
                      .several = "rates"};
    rc = curves_read_files(&w, PR_CHANNEL_FILE, read_rate_line, ret, err);
    if (!rc) {
        ret->x = "number";
        ret->x_unit = NULL;
    }
    return rc;
}
