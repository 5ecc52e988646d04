/* Figures of the process, and metrics out of its log. */
#include "run/metrics.h"

#include "base/file.h"
#include "base/json.h"
#include "record/logline.h"

#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TAIL_LINES = 10, TAIL_BYTES = 4096, MAX_METRICS = 4096 };

static void put_figures(const struct pr_attempt *a, struct pr_buf *out)
{
    const struct pr_child_event *e = &a->end;

    if (!e->ended_ns)
        return;
    pr_buf_printf(out,
                  "\"elapsed_s\": %.6f, \"cpu_user_s\": %.6f, "
                  "\"cpu_system_s\": %.6f, \"max_rss_bytes\": %llu",
                  (double)e->elapsed_ns / 1e9, (double)e->cpu_user_ns / 1e9,
                  (double)e->cpu_system_ns / 1e9,
                  (unsigned long long)e->max_rss_bytes);
    if (WIFEXITED(e->wait_status))
        pr_buf_printf(out, ", \"exit_status\": %d",
                      WEXITSTATUS(e->wait_status));
    else if (WIFSIGNALED(e->wait_status))
        pr_buf_printf(out, ", \"signal\": %d", WTERMSIG(e->wait_status));
}

/* Metrics by name, the last value of each. */
struct metrics {
    struct pr_arena *arena;
    struct pr_member *items;
    size_t count, cap;
    uint64_t dropped;
};

static int keep(void *ctx, const char *key, size_t len,
                const struct pr_value *value, struct pr_err *err)
{
    static const char prefix[] = "results.";
    struct metrics *m = ctx;
    struct pr_member *items;
    struct pr_value copy;
    size_t i = 0;

    if (len > sizeof prefix - 1 &&
        memcmp(key, prefix, sizeof prefix - 1) == 0) {
        key += sizeof prefix - 1;
        len -= sizeof prefix - 1;
    }
    while (i < m->count && (m->items[i].key_len != len ||
                            memcmp(m->items[i].key, key, len) != 0))
        i++;
    if (i == MAX_METRICS) {
        m->dropped++;
        return 0;
    }
    items = pr_arena_grow(m->arena, m->items, m->count, &m->cap, sizeof *items);
    if (!items || !pr_copy(m->arena, value, &copy))
        return pr_fail_nomem(err);
    m->items = items;
    if (i == m->count) {
        items[i] = (struct pr_member){.key_len = (uint32_t)len};
        items[i].key = pr_arena_copy(m->arena, key, len);
        if (!items[i].key)
            return pr_fail_nomem(err);
        m->count++;
    }
    items[i].value = copy;
    return 0;
}

static void put_warnings(const struct pr_attempt *a, const struct metrics *m,
                         const struct pr_log_counts *n, struct pr_buf *out)
{
    if (n->bad)
        pr_buf_printf(out,
                      "%s\"%llu metric lines of the log could not be read, "
                      "the first is line %llu\"",
                      out->len ? ", " : "", (unsigned long long)n->bad,
                      (unsigned long long)n->first_bad_line);
    if (m->dropped)
        pr_buf_printf(out, "%s\"more than %d metrics, the rest was dropped\"",
                      out->len ? ", " : "", MAX_METRICS);
    if (a->end.leftovers)
        pr_buf_printf(out, "%s\"%u processes it left behind had to be ended\"",
                      out->len ? ", " : "", a->end.leftovers);
}

int pr_metrics_collect(const struct pr_attempt *a, const char *log_path,
                       struct pr_buf *results, struct pr_buf *warnings,
                       struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *arena = NULL;
    struct metrics m = {0};
    struct pr_log_counts n = {0};
    struct stat st;
    int rc = PR_OK;

    put_figures(a, results);
    if (stat(log_path, &st) == 0 && st.st_size > 0) {
        m.arena = arena = pr_arena_new(16384);
        if (!arena)
            return pr_fail_nomem(err);
        rc = pr_log_scan(log_path, keep, &m, &n, err);
    }
    for (size_t i = 0; i < m.count && !rc; i++) {
        pr_buf_str(results, results->len ? ", " : "");
        pr_json_string(results, m.items[i].key, m.items[i].key_len);
        pr_buf_str(results, ": ");
        pr_json_write(results, &m.items[i].value);
    }
    put_warnings(a, &m, &n, warnings);
    if (!rc && (!pr_buf_ok(results) || !pr_buf_ok(warnings)))
        return pr_fail_nomem(err);
    return rc;
}

int pr_metrics_tail(const char *log_path, struct pr_buf *out,
                    struct pr_err *err)
{
    if (access(log_path, F_OK) < 0)
        return PR_OK;
    return pr_log_tail(log_path, TAIL_LINES, TAIL_BYTES, out, err);
}

int pr_metrics_copy_log(const char *log_path, const char *to,
                        struct pr_err *err)
{
    const char *slash = strrchr(to, '/');
    struct pr_view log;
    char dir[4096];
    int rc = PR_OK;

    if (slash && slash > to && (size_t)(slash - to) < sizeof dir) {
        memcpy(dir, to, (size_t)(slash - to));
        dir[slash - to] = '\0';
        rc = pr_make_dirs(dir, err);
    }
    if (rc || access(log_path, F_OK) < 0)
        return rc;
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
    bool good = false;

    if (!*log_file || access(log_file, F_OK) < 0 ||
        strcmp(rerun, "always") == 0)
        return false;
    if (strcmp(rerun, "never") == 0)
        return true;
    return pr_log_scan(log_file, see_time, &good, &n, NULL) == PR_OK && good;
}
