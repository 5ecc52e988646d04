/* Figures of the process, and metrics out of its log. */
#include "run/metrics.h"

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/names.h"
#include "record/logline.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    TAIL_LINES = 10,
    TAIL_BYTES = 4096,
    MAX_METRICS = 4096,
    MAX_WARNINGS = 100,     /* that a program may have */
    MAX_VALUE = 8 << 20,    /* of one metric, as JSON */
    MAX_RESULTS = 16 << 20, /* of all of them */
};

void pr_metrics_warn(struct pr_buf *warnings, const char *fmt, ...)
{
    char text[512];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    pr_buf_str(warnings, warnings->len ? ", " : "");
    pr_json_string(warnings, text, strlen(text));
}

/* Microseconds are enough, and read better. */
static void put_seconds(struct pr_buf *out, const char *key, uint64_t ns)
{
    pr_buf_printf(out, "%s\"%s\": ", out->len ? ", " : "", key);
    pr_float_text(out, round((double)ns / 1e3) / 1e6);
}

static void put_figures(const struct pr_attempt *a, struct pr_buf *out)
{
    const struct pr_child_event *e = &a->end;

    if (!e->ended_ns)
        return;
    put_seconds(out, "elapsed_s", e->elapsed_ns);
    put_seconds(out, "cpu_user_s", e->cpu_user_ns);
    put_seconds(out, "cpu_system_s", e->cpu_system_ns);
    pr_buf_printf(out, ", \"max_rss_bytes\": %llu",
                  (unsigned long long)e->max_rss_bytes);
    if (WIFEXITED(e->wait_status))
        pr_buf_printf(out, ", \"exit_status\": %d",
                      WEXITSTATUS(e->wait_status));
    else if (WIFSIGNALED(e->wait_status))
        pr_buf_printf(out, ", \"signal\": %d", WTERMSIG(e->wait_status));
}

static bool is_our_figure(const char *key, size_t len)
{
    static const char *const names[] = {"elapsed_s",    "cpu_user_s",
                                        "cpu_system_s", "max_rss_bytes",
                                        "exit_status",  "signal"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == len && memcmp(names[i], key, len) == 0)
            return true;
    return false;
}

/* JSON has no word for what is not finite, also deep inside a value. */
static bool is_finite(const struct pr_value *v)
{
    for (uint32_t i = 0; v->kind == PR_LIST && i < v->len; i++)
        if (!is_finite(&v->items[i]))
            return false;
    for (uint32_t i = 0; v->kind == PR_MAP && i < v->len; i++)
        if (!is_finite(&v->members[i].value))
            return false;
    return v->kind != PR_FLOAT || isfinite(v->f);
}

/* Metrics by name; of each the last value, as JSON. */
struct metrics {
    struct pr_names *names;
    struct pr_buf values[MAX_METRICS]; /* by name */
    struct pr_buf *warnings;
    unsigned warned;
    uint64_t dropped, not_finite;
};

static int keep(void *ctx, const char *key, size_t len,
                const struct pr_value *value, struct pr_err *err)
{
    static const char prefix[] = "results.";
    struct metrics *m = ctx;
    uint32_t name;

    if (len == 7 && memcmp(key, "warning", 7) == 0 && value->kind == PR_STR) {
        if (m->warned++ < MAX_WARNINGS)
            pr_metrics_warn(m->warnings, "%s", value->s);
        return 0;
    }
    if (len > sizeof prefix - 1 &&
        memcmp(key, prefix, sizeof prefix - 1) == 0) {
        key += sizeof prefix - 1;
        len -= sizeof prefix - 1;
    }
    if (!is_finite(value)) {
        m->not_finite++;
        return 0;
    }
    name = pr_names_find(m->names, key, len);
    if (name == PR_NO_NAME && pr_names_count(m->names) == MAX_METRICS) {
        m->dropped++;
        return 0;
    }
    if (name == PR_NO_NAME)
        name = pr_names_add(m->names, key, len);
    if (name == PR_NO_NAME)
        return pr_fail_nomem(err);
    m->values[name].max = MAX_VALUE;
    pr_buf_clear(&m->values[name]);
    pr_json_write(&m->values[name], value);
    if (!pr_buf_ok(&m->values[name]) && !m->values[name].over)
        return pr_fail_nomem(err);
    return 0;
}

/* What does not fit is dropped: one experiment's figures must not end the
 * run. */
static void put_metrics(struct metrics *m, struct pr_buf *out)
{
    for (uint32_t i = 0; i < pr_names_count(m->names); i++) {
        const char *name = pr_names_text(m->names, i);
        const struct pr_buf *v = &m->values[i];

        if (!pr_buf_ok(v) || out->len + v->len > MAX_RESULTS) {
            m->dropped++;
            continue;
        }
        pr_buf_str(out, out->len ? ", " : "");
        if (is_our_figure(name, strlen(name))) {
            pr_buf_str(out, "\"program.");
            pr_buf_printf(out, "%s\": ", name);
        } else {
            pr_json_string(out, name, strlen(name));
            pr_buf_str(out, ": ");
        }
        pr_buf_add(out, v->data, v->len);
    }
}

static void put_warnings(const struct metrics *m, const struct pr_log_counts *n,
                         struct pr_buf *out)
{
    if (n->bad)
        pr_metrics_warn(out,
                        "metric lines of the log that could not be read: "
                        "%llu, the first is line %llu",
                        (unsigned long long)n->bad,
                        (unsigned long long)n->first_bad_line);
    if (m->not_finite)
        pr_metrics_warn(out, "metrics that are not finite, left out: %llu",
                        (unsigned long long)m->not_finite);
    if (m->dropped)
        pr_metrics_warn(out, "too many or too large metrics, left out: %llu",
                        (unsigned long long)m->dropped);
}

static int scan(const char *log_path, struct metrics *m, struct pr_buf *results,
                struct pr_buf *warnings, struct pr_err *err)
{
    struct pr_log_counts n = {0};
    int rc;

    m->warnings = warnings;
    rc = pr_log_scan(log_path, keep, m, &n, err);

    if (rc)
        return rc;
    put_metrics(m, results);
    put_warnings(m, &n, warnings);
    return PR_OK;
}

static void metrics_free(struct metrics *m)
{
    for (uint32_t i = 0; m->names && i < pr_names_count(m->names); i++)
        pr_buf_done(&m->values[i]);
    pr_names_free(m->names);
    pr_free(m);
}

int pr_metrics_collect(const struct pr_attempt *a, const char *log_path,
                       struct pr_buf *results, struct pr_buf *warnings,
                       struct pr_err *err)
{
    struct metrics *m;
    struct stat st;
    int rc = PR_OK;

    put_figures(a, results);
    if (a->end.leftovers)
        pr_metrics_warn(warnings,
                        "processes it left behind that had to be ended: %u",
                        a->end.leftovers);
    if (stat(log_path, &st) == 0 && st.st_size > 0) {
        m = pr_alloc_zeroed(sizeof *m);
        if (!m)
            return pr_fail_nomem(err);
        m->names = pr_names_new();
        rc = m->names ? scan(log_path, m, results, warnings, err)
                      : pr_fail_nomem(err);
        metrics_free(m);
    }
    if (!rc && (!pr_buf_ok(results) || !pr_buf_ok(warnings)))
        rc = pr_fail_nomem(err);
    return rc;
}

int pr_metrics_tail(const char *log_path, struct pr_buf *out,
                    struct pr_err *err)
{
    if (access(log_path, F_OK) < 0)
        return PR_OK;
    return pr_log_tail(log_path, TAIL_LINES, TAIL_BYTES, out, err);
}

static bool is_inside(const char *folder, const char *dir)
{
    char a[PATH_MAX], b[PATH_MAX];
    size_t n;

    if (!realpath(folder, a) || !realpath(dir, b))
        return false;
    n = strlen(b);
    return strncmp(a, b, n) == 0 && (a[n] == '/' || !a[n]);
}

int pr_metrics_copy_log(const char *log_path, const char *to, const char *dir,
                        struct pr_err *err)
{
    const char *slash = strrchr(to, '/');
    struct pr_view log;
    char folder[4096] = ".";
    int rc = PR_OK;

    if (slash && slash > to && (size_t)(slash - to) < sizeof folder) {
        memcpy(folder, to, (size_t)(slash - to));
        folder[slash - to] = '\0';
        rc = pr_make_dirs(folder, err);
    }
    if (rc || access(log_path, F_OK) < 0)
        return rc;
    if (is_inside(folder, dir))
        return pr_fail(err, PR_E_CONF, to, "it lies in the run directory");
    rc = pr_file_map(log_path, &log, err);
    if (rc)
        return rc;
    rc = pr_file_write(to, log.data, log.len, err);
    pr_file_unmap(&log);
    return rc;
}

/* DLBS's test of success: results.time above zero. */
static int see_time(void *ctx, const char *key, size_t len,
                    const struct pr_value *value, struct pr_err *err)
{
    (void)err;
    if (len == 12 && memcmp(key, "results.time", 12) == 0)
        *(bool *)ctx = pr_is_number(value) && pr_number(value) > 0;
    return 0;
}

bool pr_metrics_done_before(const char *log_file, const char *rerun)
{
    struct pr_log_counts n;
    struct stat st;
    bool good = false;

    /* A pipe would never end. */
    if (!*log_file || stat(log_file, &st) < 0 || !S_ISREG(st.st_mode) ||
        strcmp(rerun, "always") == 0)
        return false;
    if (strcmp(rerun, "never") == 0)
        return true;
    return pr_log_scan(log_file, see_time, &good, &n, NULL) == PR_OK && good;
}
