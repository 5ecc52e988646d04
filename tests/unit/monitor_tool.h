/* A made-up /proc and /sys below the test's folder, and one source that looks
 * at it whenever the test says so, with whatever time in between. */
#ifndef TESTS_UNIT_MONITOR_TOOL_H
#define TESTS_UNIT_MONITOR_TOOL_H

#include "base/file.h"
#include "base/mem.h"
#include "monitor/columns.h"

#include "scratch.h"

#include <math.h>

/* Makes or changes a file of the made-up machine: "/proc/stat". */
static inline void put(const char *path, const char *text)
{
    char full[512];

    snprintf(full, sizeof full, "root%s", path);
    *strrchr(full, '/') = '\0';
    assert_int_equal(pr_make_dirs(full, NULL), PR_OK);
    snprintf(full, sizeof full, "root%s", path);
    spit(full, text);
}

/* What a device that is pulled does: reads fail, the file is gone. */
static inline void take_away(const char *path)
{
    char full[512];

    put(path, "");
    snprintf(full, sizeof full, "root%s", path);
    assert_int_equal(unlink(full), 0);
}

struct rig {
    struct pr_monitor_columns columns;
    struct pr_buf text;
    const struct pr_monitor_source *source;
    void *state;
    int pid;
    double used_s; /* of it, after its end */
};

static inline struct rig rig_open(unsigned source)
{
    struct rig r = {.text = PR_BUF_INIT(1 << 20)};

    assert_true(pr_monitor_columns_init(&r.columns));
    r.source = pr_monitor_source_at(source);
    r.state = pr_alloc_zeroed(r.source->state_bytes);
    assert_non_null(r.state);
    return r;
}

static inline void rig_close(struct rig *r)
{
    if (r->source->close)
        r->source->close(r->state);
    pr_free(r->state);
    pr_monitor_columns_close(&r->columns);
    pr_buf_free(&r->text);
}

/* A look dt seconds after the one before; 0: the first of an experiment. */
static inline void rig_look(struct rig *r, double dt, bool rescan)
{
    struct pr_monitor_sample l = {.root = "root",
                                  .dt = dt,
                                  .rescan = rescan || dt == 0,
                                  .pid = r->pid,
                                  .used_s = r->used_s,
                                  .columns = &r->columns,
                                  .text = &r->text};
    struct pr_monitor_source_sampled looked = {true, dt, true};

    pr_monitor_columns_begin_source(&r->columns, 0);
    r->source->sample(r->state, &l);
    pr_monitor_columns_add(&r->columns, &looked);
}

static inline double value(const struct rig *r, const char *name)
{
    return pr_monitor_columns_value(&r->columns, name);
}

static inline void assert_value(const struct rig *r, const char *name,
                                double want)
{
    assert_false(isnan(value(r, name))); /* equal to anything, for cmocka */
    assert_float_equal(value(r, name), want, 1e-6);
}

#define assert_unknown(r, name) assert_true(isnan(value(r, name)))

#endif
