/* Figures of the process, metrics out of its log, and logs that are kept. */
#include "run/collect.h"

#include "base/file.h"
#include "base/json/json.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/text.h"
#include "record/channel.h"
#include "record/log.h"

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
    MAX_NAME = 1024,
    MAX_WARNINGS = 100,     /* that a program may have */
    MAX_VALUE = 8 << 20,    /* of one metric, as JSON */
    MAX_HELD = 32 << 20,    /* of all of them, while they are gathered */
    MAX_RESULTS = 16 << 20, /* … and in the end */
    MAX_ESCAPED = 6,        /* bytes of a byte in a JSON string */
    SMALL = 4096,           /* memory that is kept for the next value */
};

void pr_collect_add_warning(struct pr_buf *warnings, const char *fmt, ...)
{
    static const char more[] = "…";
    char text[512];
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (n >= (int)sizeof text)
        memcpy(text + pr_utf8_fit(text, sizeof text, sizeof text - sizeof more),
               more, sizeof more);
    pr_buf_str(warnings, warnings->len ? ", " : "");
    pr_json_write_string(warnings, text, strlen(text));
}

/* Microseconds are enough, and read better. */
static void put_seconds(struct pr_buf *out, const char *key, uint64_t ns)
{
    pr_buf_printf(out, "%s\"%s\": ", out->len ? ", " : "", key);
    pr_float_write_repr(out, round((double)ns / 1e3) / 1e6);
}

static void collect_write_process(const struct pr_attempt *a,
                                  struct pr_buf *out)
{
    const struct pr_child_event *e = &a->end;

    if (!e->ended_ns)
        return;
    put_seconds(out, "elapsed_s", e->elapsed_ns);
    if (e->max_rss_bytes) { /* else nobody knows: it was in a container */
        put_seconds(out, "cpu_user_s", e->cpu_user_ns);
        put_seconds(out, "cpu_system_s", e->cpu_system_ns);
        pr_buf_printf(out, ", \"max_rss_bytes\": %llu",
                      (unsigned long long)e->max_rss_bytes);
    }
    if (WIFEXITED(e->wait_status))
        pr_buf_printf(out, ", \"exit_status\": %d",
                      WEXITSTATUS(e->wait_status));
    else if (WIFSIGNALED(e->wait_status))
        pr_buf_printf(out, ", \"signal\": %d", WTERMSIG(e->wait_status));
}

static bool collect_is_own_measure(const char *key, size_t len)
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

bool pr_collect_copy_finite(struct pr_arena *a, const struct pr_value *v,
                            struct pr_value *ret)
{
    struct pr_value *items = NULL;
    struct pr_member *m = NULL;

    *ret = v->kind == PR_FLOAT && !isfinite(v->f) ? pr_null() : *v;
    if (v->kind == PR_LIST)
        ret->items = items = PR_ARENA_ARRAY(a, struct pr_value, v->len);
    if (v->kind == PR_MAP)
        ret->members = m = PR_ARENA_ARRAY(a, struct pr_member, v->len);
    if ((v->kind == PR_LIST && !items) || (v->kind == PR_MAP && !m))
        return false;
    for (uint32_t i = 0; items && i < v->len; i++)
        if (!pr_collect_copy_finite(a, &v->items[i], &items[i]))
            return false;
    for (uint32_t i = 0; m && i < v->len; i++) {
        m[i] = v->members[i];
        if (!pr_collect_copy_finite(a, &v->members[i].value, &m[i].value))
            return false;
    }
    return true;
}

/* Metrics by name; of each the last value, as JSON, empty when it is that of a
 * parameter. */
struct metrics {
    struct pr_names *names;
    struct pr_buf values[MAX_METRICS]; /* by name */
    bool named[MAX_METRICS]; /* results.NAME, not a parameter's name */
    const struct pr_value *params;
    struct pr_names *known; /* names of params, in their order; made late */
    struct pr_buf *warnings;
    unsigned warned;
    size_t held; /* bytes of values */
    uint64_t dropped, not_finite;
};

static int list_params(struct metrics *m, struct pr_err *err)
{
    uint32_t id = 0;

    m->known = pr_names_new();
    for (uint32_t i = 0; m->known && i < m->params->len; i++) {
        const struct pr_member *p = &m->params->members[i];
        id = pr_names_add(m->known, p->key, p->key_len);
        if (id != i) /* a name twice: they would not be in step */
            break;
    }
    return m->known && id != PR_NO_NAME ? PR_OK : pr_fail_nomem(err);
}

/* What a log begins with when a launcher wrote it, or what a program says of
 * itself. */
static int check_param(struct metrics *m, const char *key, size_t len,
                       const struct pr_value *value, bool *ret,
                       struct pr_err *err)
{
    int rc = m->params && !m->known ? list_params(m, err) : PR_OK;
    uint32_t i;

    if (rc || !m->params)
        return rc;
    i = pr_names_find(m->known, key, len);
    *ret =
        i != PR_NO_NAME && pr_value_equal(&m->params->members[i].value, value);
    return PR_OK;
}

/* A program must not fill our memory, however much it says. What is too large
 * is left over, so that it is counted in the end. False: out of memory. */
static bool collect_store_value(struct metrics *m, struct pr_buf *v,
                                const struct pr_value *value)
{
    m->held -= v->len;
    if (v->cap > SMALL)
        pr_buf_free(v);
    pr_buf_clear(v);
    v->max = MAX_HELD - m->held < MAX_VALUE ? MAX_HELD - m->held : MAX_VALUE;
    if (value)
        pr_json_write(v, value);
    if (v->over) {
        pr_buf_free(v);
        v->failed = v->over = true;
    }
    m->held += v->len;
    return pr_buf_ok(v) || v->over;
}

/* NULL to forget what was said of it before. */
static int collect_set_measure(struct metrics *m, const char *key, size_t len,
                               bool named, const struct pr_value *value,
                               struct pr_err *err)
{
    uint32_t name = pr_names_find(m->names, key, len);

    if (!value && (name == PR_NO_NAME || m->named[name]))
        return 0;
    if (name == PR_NO_NAME &&
        (len > MAX_NAME || pr_names_count(m->names) == MAX_METRICS)) {
        m->dropped++;
        return 0;
    }
    if (name == PR_NO_NAME)
        name = pr_names_add(m->names, key, len);
    if (name == PR_NO_NAME)
        return pr_fail_nomem(err);
    m->named[name] = named;
    return collect_store_value(m, &m->values[name], value) ? 0
                                                           : pr_fail_nomem(err);
}

/* Of a timing with a loss that is no number, the rates still count. */
static bool is_timing(const char *key, size_t len)
{
    static const char prefix[] = "timings.";
    const char *at = memmem(key, len < 16 ? len : 16, prefix, 8);

    return at == key || at == key + 8;
}

static int collect_add_measure(void *ctx, const char *key, size_t len,
                               const struct pr_value *value, struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = NULL;
    struct pr_value finite;
    static const char prefix[] = "results.";
    const size_t skip = sizeof prefix - 1;
    bool named = len > skip && memcmp(key, prefix, skip) == 0;
    struct metrics *m = ctx;
    bool param = false;
    int rc = PR_OK;

    if (len == 7 && memcmp(key, "warning", 7) == 0 && value->kind == PR_STR) {
        if (m->warned++ < MAX_WARNINGS)
            pr_collect_add_warning(m->warnings, "%s", value->s);
        return 0;
    }
    if (!named)
        rc = check_param(m, key, len, value, &param, err);
    if (!rc && !param && !is_finite(value)) {
        if (!is_timing(key, len)) {
            m->not_finite++;
            return 0;
        }
        a = pr_arena_new(4096);
        if (!a || !pr_collect_copy_finite(a, value, &finite))
            return pr_fail_nomem(err);
        value = &finite;
    }
    if (rc)
        return rc;
    return collect_set_measure(m, key + (named ? skip : 0),
                               len - (named ? skip : 0), named,
                               param ? NULL : value, err);
}

/* What does not fit is dropped: one experiment's figures must not end the
 * run. */
static void collect_write_measures(struct metrics *m, struct pr_buf *out)
{
    for (uint32_t i = 0; i < pr_names_count(m->names); i++) {
        const char *name = pr_names_text(m->names, i);
        const struct pr_buf *v = &m->values[i];

        if (pr_buf_ok(v) && !v->len)
            continue;
        if (!pr_buf_ok(v) ||
            out->len + v->len + (size_t)MAX_ESCAPED * strlen(name) >
                MAX_RESULTS) {
            m->dropped++;
            continue;
        }
        pr_buf_str(out, out->len ? ", " : "");
        if (collect_is_own_measure(name, strlen(name))) {
            pr_buf_str(out, "\"program.");
            pr_buf_printf(out, "%s\": ", name);
        } else {
            pr_json_write_string(out, name, strlen(name));
            pr_buf_str(out, ": ");
        }
        pr_buf_add(out, v->data, v->len);
    }
}

static void put_warnings(const struct metrics *m, struct pr_buf *out)
{
    if (m->not_finite)
        pr_collect_add_warning(out,
                               "metrics that are not finite, left out: %llu",
                               (unsigned long long)m->not_finite);
    if (m->dropped)
        pr_collect_add_warning(out,
                               "too many or too large metrics, left out: %llu",
                               (unsigned long long)m->dropped);
}

static int scan_log(const char *path, struct metrics *m, struct pr_err *err)
{
    struct pr_log_counts n = {0};
    struct stat st;
    int rc;

    if (stat(path, &st) < 0 || !st.st_size)
        return PR_OK;
    rc = pr_log_scan(path, collect_add_measure, m, &n, err);
    if (!rc && n.bad)
        pr_collect_add_warning(
            m->warnings,
            "metric lines of the log that could not be read: "
            "%llu, the first is line %llu",
            (unsigned long long)n.bad, (unsigned long long)n.first_bad_line);
    return rc;
}

static int scan_channel(const char *path, struct metrics *m,
                        struct pr_buf *rates, struct pr_err *err)
{
    struct pr_channel_sum sum = {0};
    int rc = path ? pr_channel_collect(path, collect_add_measure, m, &sum, err)
                  : PR_OK;

    if (rc)
        return rc;
    if (rates && sum.rates.len)
        pr_buf_add(rates, sum.rates.data, sum.rates.len);
    if (sum.bad && sum.first_bad_line)
        pr_collect_add_warning(
            m->warnings,
            "lines of the channel that could not be read: %llu, "
            "the first is line %llu: %s",
            (unsigned long long)sum.bad, (unsigned long long)sum.first_bad_line,
            sum.first_bad.msg);
    else if (sum.bad)
        pr_collect_add_warning(m->warnings, "the channel could not be read: %s",
                               sum.first_bad.msg);
    if (sum.dropped)
        pr_collect_add_warning(m->warnings,
                               "rates of too many tasks, left out: %llu",
                               (unsigned long long)sum.dropped);
    pr_buf_free(&sum.rates);
    return PR_OK;
}

static void collect_free(struct metrics *m)
{
    for (uint32_t i = 0; m->names && i < pr_names_count(m->names); i++)
        pr_buf_free(&m->values[i]);
    pr_names_free(m->names);
    pr_names_free(m->known);
    pr_free(m);
}

int pr_collect_results(const struct pr_attempt *a,
                       const struct pr_output_paths *from,
                       struct pr_buf *results, struct pr_buf *rates,
                       struct pr_buf *warnings, struct pr_err *err)
{
    struct metrics *m = pr_alloc_zeroed(sizeof *m);
    int rc;

    if (!m)
        return pr_fail_nomem(err);
    m->names = pr_names_new();
    m->warnings = warnings;
    m->params = from->params;
    collect_write_process(a, results);
    if (a->end.leftovers)
        pr_collect_add_warning(
            warnings, "processes it left behind that had to be ended: %u",
            a->end.leftovers);
    rc = m->names ? scan_log(from->log_path, m, err) : pr_fail_nomem(err);
    if (!rc)
        rc = scan_channel(from->channel_path, m, rates, err);
    if (!rc) {
        collect_write_measures(m, results);
        put_warnings(m, warnings);
    }
    collect_free(m);
    if (!rc && (!pr_buf_ok(results) || !pr_buf_ok(warnings) ||
                (rates && !pr_buf_ok(rates))))
        rc = pr_fail_nomem(err);
    return rc;
}

int pr_collect_log_tail(const char *log_path, struct pr_buf *out,
                        struct pr_err *err)
{
    if (access(log_path, F_OK) < 0)
        return PR_OK;
    return pr_log_tail(log_path, TAIL_LINES, TAIL_BYTES, out, err);
}

/* The folder a file is in; false: too long. */
static bool collect_parent_folder(const char *path, char out[static 4096])
{
    const char *slash = strrchr(path, '/');
    size_t n = slash ? (size_t)(slash - path) : 0;

    if (n >= 4096)
        return false;
    if (n)
        memcpy(out, path, n);
    else
        out[n++] = slash ? '/' : '.';
    out[n] = '\0';
    return true;
}

bool pr_collect_is_inside(const char *path, const char *dir)
{
    char folder[4096], a[PATH_MAX], b[PATH_MAX];
    size_t n;

    if (!collect_parent_folder(path, folder) || !realpath(folder, a) ||
        !realpath(dir, b))
        return false;
    n = strlen(b);
    return strncmp(a, b, n) == 0 && (a[n] == '/' || !a[n]);
}

int pr_collect_make_folder(const char *path, struct pr_err *err)
{
    char folder[4096];

    if (!collect_parent_folder(path, folder))
        return pr_fail(err, PR_E_IO, path, "the path is too long");
    return pr_make_dirs(folder, err);
}

/* Any line of a benchmark's log will do. */
static int collect_read_any(void *ctx, const char *key, size_t len,
                            const struct pr_value *value, struct pr_err *err)
{
    (void)key;
    (void)len;
    (void)value;
    (void)err;
    *(bool *)ctx = true;
    return 0;
}

static bool is_known_log(const char *path)
{
    struct pr_log_counts n;
    bool is_log = false;

    return pr_log_scan(path, collect_read_any, &is_log, &n, NULL) == PR_OK &&
           is_log;
}

int pr_collect_check_log(const char *path, struct pr_err *err)
{
    struct stat st;

    if (stat(path, &st) < 0 || !S_ISREG(st.st_mode) || !st.st_size ||
        is_known_log(path))
        return PR_OK;
    pr_fail(err, PR_E_CONF, "exp.log_file",
            "'%s' is not the log of an experiment, so it is kept", path);
    return pr_hint(err, "move it away, or choose another exp.log_file");
}

/* The log; one that nothing shows to be a log gets a line that does, as DLBS's
 * have it: id is NULL where none is needed. */
static int collect_write_log(const char *to, const struct pr_view *log,
                             const char *id, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf line = PR_BUF_INIT(4096);
    struct pr_new_file f;
    int rc = pr_file_create(to, &f, err);

    if (rc)
        return rc;
    if (id && log->len && log->data[log->len - 1] != '\n')
        pr_buf_char(&line, '\n');
    if (id)
        pr_buf_printf(&line, "__exp.id__= \"%s\"\n", id);
    rc = pr_buf_ok(&line) ? pr_file_append(&f, log->data, log->len, err)
                          : pr_fail_nomem(err);
    if (!rc)
        rc = pr_file_append(&f, line.data, line.len, err);
    if (!rc)
        return pr_file_commit(&f, err);
    pr_file_discard(&f);
    return rc;
}

int pr_collect_copy_log(const char *log_path, const char *to, const char *dir,
                        const char *id, struct pr_err *err)
{
    struct pr_view log;
    int rc = pr_collect_make_folder(to, err);

    if (rc || access(log_path, F_OK) < 0)
        return rc;
    if (pr_collect_is_inside(to, dir))
        return pr_fail(err, PR_E_CONF, to, "it lies in the run directory");
    rc = pr_collect_check_log(to, err);
    if (!rc)
        rc = pr_file_map(log_path, &log, err);
    if (rc)
        return rc;
    rc = collect_write_log(to, &log, is_known_log(log_path) ? NULL : id, err);
    pr_file_unmap(&log);
    return rc;
}

/* DLBS's test of success: results.time above zero. */
static int collect_read_time(void *ctx, const char *key, size_t len,
                             const struct pr_value *value, struct pr_err *err)
{
    (void)err;
    if (len == 12 && memcmp(key, "results.time", 12) == 0)
        *(bool *)ctx = pr_value_is_number(value) && pr_value_number(value) > 0;
    return 0;
}

bool pr_collect_is_done_before(const char *log_file, const char *rerun)
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
    return pr_log_scan(log_file, collect_read_time, &good, &n, NULL) == PR_OK &&
           good;
}
