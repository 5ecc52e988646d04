/*
 * A run directory as a page, whatever its experiments are; its machine and its
 * failures, which the page of a suite has, too.
 */
#include "analyse/run/run_data.h"
#include "base/json/json.h"
#include "present/html/html_impl.h"
#include "present/report/report_run.h"
#include "record/result.h"

#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the machine: env.json, flat */

enum { MAX_ENV = 16 << 20, MAX_ROWS = 600, MAX_DEPTH = 12, MAX_TEXT = 400 };

/* What a reader asks first. */
static const char *const first[] = {
    "hostname",           "distribution",  "kernel.release", "cpu.model",
    "cpu.sockets",        "cpu.cores",     "cpu.threads",    "cpu.governor",
    "memory.total_bytes", "board.product", "prony.version",
};

struct walk {
    struct pr_html *h;
    size_t rows;
    char name[512];
};

static bool is_scalar(const struct pr_value *v)
{
    return v->kind != PR_MAP && v->kind != PR_LIST;
}

static bool all_scalars(const struct pr_value *list)
{
    for (uint32_t i = 0; i < list->len; i++)
        if (!is_scalar(&list->items[i]))
            return false;
    return true;
}

static void html_put_env_row(struct pr_html *h, const char *name,
                             const struct pr_value *v)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 20);

    pr_value_write_joined(&text, v);
    if (!text.len || !pr_buf_ok(&text))
        return;
    pr_html_raw(h, "<tr><th scope=\"row\">");
    pr_html_text(h, name);
    pr_html_raw(h, "</th><td class=\"text\">");
    pr_html_textn(h, text.data, text.len < MAX_TEXT ? text.len : MAX_TEXT);
    pr_html_raw(h, text.len > MAX_TEXT ? "…</td></tr>\n" : "</td></tr>\n");
}

static void html_walk_env(struct walk *w, const struct pr_value *v,
                          unsigned depth);

static void html_walk_env_member(struct walk *w, const char *key,
                                 const struct pr_value *v, unsigned depth)
{
    size_t before = strlen(w->name);
    int n = snprintf(w->name + before, sizeof w->name - before, "%s%s",
                     before ? "." : "", key);

    if (n > 0 && (size_t)n < sizeof w->name - before)
        html_walk_env(w, v, depth + 1);
    w->name[before] = 0;
}

static void html_walk_env(struct walk *w, const struct pr_value *v,
                          unsigned depth)
{
    char number[16];

    if (w->rows >= MAX_ROWS || depth > MAX_DEPTH)
        return;
    if (is_scalar(v) || (v->kind == PR_LIST && all_scalars(v))) {
        html_put_env_row(w->h, w->name, v);
        w->rows++;
        return;
    }
    for (uint32_t i = 0; i < v->len; i++)
        if (v->kind == PR_MAP) {
            html_walk_env_member(w, v->members[i].key, &v->members[i].value,
                                 depth);
        } else {
            snprintf(number, sizeof number, "%" PRIu32, i);
            html_walk_env_member(w, number, &v->items[i], depth);
        }
}

static const struct pr_value *html_find_env(const struct pr_value *v,
                                            const char *name)
{
    char key[64];

    while (v && *name) {
        size_t n = strcspn(name, ".");

        snprintf(key, sizeof key, "%.*s", (int)n, name);
        v = v->kind == PR_MAP ? pr_get(v, key) : NULL;
        name += n + (name[n] == '.');
    }
    return v;
}

static void html_put_env(struct pr_html *h, const struct pr_value *env)
{
    struct walk w = {.h = h};

    pr_html_raw(h, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
                   "aria-label=\"Environment\"><table class=\"plain\">"
                   "<tbody>\n");
    for (size_t i = 0; i < sizeof first / sizeof *first; i++) {
        const struct pr_value *v = html_find_env(env, first[i]);

        if (v && is_scalar(v))
            html_put_env_row(h, first[i], v);
    }
    pr_html_raw(h, "</tbody></table></div>\n<details><summary>Everything that "
                   "was recorded</summary>\n<div class=\"scroll\" "
                   "tabindex=\"0\" role=\"region\" aria-label=\"All of the "
                   "environment\"><table class=\"plain\"><tbody>\n");
    html_walk_env(&w, env, 0);
    pr_html_raw(h, "</tbody></table></div>\n");
    if (w.rows >= MAX_ROWS)
        pr_html_printf(h,
                       "<p class=\"soft\">The first %d facts; env.json has "
                       "all.</p>\n",
                       MAX_ROWS);
    pr_html_raw(h, "</details>\n");
}

void pr_html_environment(struct pr_html *h, const char *dir)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
    struct pr_json_in in = {.name = "env.json"};
    struct pr_value env;
    const char *path = a && dir ? pr_arena_printf(a, "%s/env.json", dir) : NULL;

    if (!a)
        h->out.failed = true;
    if (!path ||
        pr_file_read_in(dir, path, MAX_ENV, a, &in.text, &in.len, NULL) !=
            PR_OK ||
        pr_json_read(&in, a, &env, NULL, NULL) != PR_OK || env.kind != PR_MAP)
        return;
    html_put_env(h, &env);
}

/* ---- what went wrong: failures with the end of their logs, unread files */

struct failure {
    const char *name, *what, *path, *reason;
    const char *log; /* NULL: none */
    size_t log_len;
};

/* Reads the last bytes of a file into the arena; "" where it cannot be. */
static const char *html_tail(const char *dir, const char *path,
                             struct pr_arena *a, size_t *ret_len)
{
    struct stat st;
    int fd = pr_file_open_in(dir, path, &st, NULL);
    char *text;
    ssize_t n;

    *ret_len = 0;
    if (fd < 0)
        return "";
    text = pr_arena_alloc(a, PR_HTML_LOG + 1);
    n = text ? pread(fd, text, PR_HTML_LOG,
                     st.st_size > PR_HTML_LOG ? st.st_size - PR_HTML_LOG : 0)
             : 0;
    close(fd);
    if (n <= 0)
        return "";
    /* Half a line at the start says nothing. */
    if (st.st_size > PR_HTML_LOG) {
        const char *line = memchr(text, '\n', (size_t)n);

        if (line && line + 1 < text + n) {
            *ret_len = (size_t)(text + n - line - 1);
            return line + 1;
        }
    }
    *ret_len = (size_t)n;
    return text;
}

/* One failure: a heading, why, and the end of a log. */
static void html_put_failure(struct pr_html *h, const struct failure *f)
{
    pr_html_raw(h, "<details open><summary>");
    pr_html_text(h, f->name);
    pr_html_raw(h, " <span class=\"soft\">");
    pr_html_text(h, f->what);
    pr_html_raw(h, "</span></summary>\n");
    if (f->reason && *f->reason) {
        pr_html_raw(h, "<p class=\"bad\">");
        pr_html_text(h, f->reason);
        pr_html_raw(h, "</p>\n");
    }
    pr_html_raw(h, "<p class=\"soft\"><code>");
    pr_html_text(h, f->path);
    pr_html_raw(h, "</code></p>\n");
    if (f->log && f->log_len) {
        pr_html_raw(h, "<pre tabindex=\"0\">");
        pr_html_log(h, f->log, f->log_len);
        pr_html_raw(h, "</pre>\n");
    }
    pr_html_raw(h, "</details>\n");
}

/* The last line of an error: what Python, and most programs, end with. */
static const char *html_last_error_line(const char *s, char *out, size_t room)
{
    size_t n = strlen(s), from;

    while (n && (s[n - 1] == '\n' || s[n - 1] == '\r' || s[n - 1] == ' '))
        n--;
    for (from = n; from && s[from - 1] != '\n'; from--)
        ;
    snprintf(out, room, "%.*s", (int)(n - from < room ? n - from : room - 1),
             s + from);
    return out;
}

/* The end of the log that lies beside a result of ours. */
static const char *log_beside(const char *dir, const char *path,
                              struct pr_arena *a, size_t *ret_len)
{
    static const char result[] = "result.json";
    size_t n = strlen(path), k = sizeof result - 1;
    const char *log = "";

    *ret_len = 0;
    if (n > k && strcmp(path + n - k, result) == 0)
        log = pr_arena_printf(a, "%.*slog.txt", (int)(n - k), path);
    else if (n > 5 && strcmp(path + n - 5, ".json") == 0)
        log = pr_arena_printf(a, "%.*s.log", (int)(n - 5), path);
    return log && *log ? html_tail(dir, log, a, ret_len) : NULL;
}

static void html_put_failed_run(struct pr_html *h, const char *dir,
                                const struct pr_suite_test *t,
                                const struct pr_suite_child *r,
                                struct pr_arena *a)
{
    char what[128], why[512];
    const char *log = r->error ? r->error : "";
    struct failure f = {
        .name = t->name,
        .what = what,
        .path = r->path ? r->path : "",
        .reason = *log ? html_last_error_line(log, why, sizeof why)
                       : "a figure of it is not a number",
    };
    size_t n = strlen(log);

    snprintf(what, sizeof what, "run %.40s%s%.40s", r->job_id ? r->job_id : "?",
             r->device ? ", device " : "", r->device ? r->device : "");
    if (strchr(log, '\n')) {
        f.log = n > PR_HTML_LOG ? log + n - PR_HTML_LOG : log;
        f.log_len = n > PR_HTML_LOG ? PR_HTML_LOG : n;
    } else {
        f.log = log_beside(dir, f.path, a, &f.log_len);
    }
    html_put_failure(h, &f);
}

void pr_html_failures(struct pr_html *h, const struct pr_suite_report *r,
                      struct pr_arena *a)
{
    uint64_t told = 0, failed = 0;

    pr_html_section(h, "failures", "Failures");
    for (size_t i = 0; i < r->count; i++) {
        const struct pr_suite_test *t = r->rows[i].test;

        if (!t)
            continue;
        failed += t->failures;
        for (size_t k = 0; k < t->run_count; k++)
            if (!t->runs[k]->good && told < PR_HTML_FAILURES) {
                pr_arena_reset(a);
                html_put_failed_run(h, r->suite->path, t, t->runs[k], a);
                told++;
            }
    }
    if (!failed)
        pr_html_raw(h, "<p>Nothing failed.</p>\n");
    else if (told < failed)
        pr_html_printf(h,
                       "<p class=\"soft\">%llu of %llu failures are shown."
                       "</p>\n",
                       (unsigned long long)told, (unsigned long long)failed);
    pr_html_section_end(h);
}

void pr_html_unread_files(struct pr_html *h, const struct pr_suite *s)
{
    if (!s->note_count)
        return;
    pr_html_section(h, "files", "Files that could not be read");
    pr_html_raw(h, "<ul class=\"plain\">\n");
    for (size_t i = 0; i < s->note_count; i++) {
        pr_html_raw(h, "<li><code>");
        pr_html_text(h, s->notes[i].where);
        pr_html_raw(h, "</code>: ");
        pr_html_text(h, s->notes[i].text);
        pr_html_raw(h, "</li>\n");
    }
    pr_html_raw(h, "</ul>\n");
    if (s->bad > s->note_count)
        pr_html_printf(h, "<p class=\"soft\">%llu of %llu are shown.</p>\n",
                       (unsigned long long)s->note_count,
                       (unsigned long long)s->bad);
    pr_html_section_end(h);
}

static void put_top(struct pr_html *h, const char *dir)
{
    pr_html_raw(h, "<p class=\"soft\">from <code>");
    pr_html_text(h, dir);
    pr_html_raw(h, "</code></p>\n<nav aria-label=\"Sections\"><ul>"
                   "<li><a href=\"#experiments\">Experiments</a></li>"
                   "<li><a href=\"#monitor\">Over time</a></li>"
                   "<li><a href=\"#failures\">Failures</a></li>"
                   "<li><a href=\"#environment\">Environment</a></li>"
                   "</ul></nav>\n</header>\n<main id=\"main\">\n"
                   "<p id=\"said\" class=\"sr\" aria-live=\"polite\"></p>\n");
}

static void put_count(struct pr_html *h, uint64_t n, const char *what)
{
    if (n)
        pr_html_printf(h, ", %llu %s", (unsigned long long)n, what);
}

static void html_put_summary(struct pr_html *h, const struct pr_run_columns *c,
                             const struct pr_run_unfinished *left)
{
    uint64_t bad = 0, stopped = c->by_status[PR_STATUS_INTERRUPTED];
    bool whole =
        !c->without_result && !c->unreadable && !stopped && !left->missing;

    for (int i = 0; i < PR_STATUS_COUNT; i++)
        if (pr_status_is_failure((enum pr_status)i))
            bad += c->by_status[i];

    pr_html_section(h, "short", "In short");
    pr_html_printf(h,
                   "<p class=\"lead\"><span class=\"chip %s\">%s</span> "
                   "%llu experiment%s: %llu ok",
                   bad         ? "bad"
                   : !whole    ? ""
                   : c->missed ? "bad"
                               : "good",
                   bad         ? "FAIL"
                   : !whole    ? "UNFINISHED"
                   : c->missed ? "TARGET MISSED"
                               : "PASS",
                   (unsigned long long)c->experiments,
                   c->experiments == 1 ? "" : "s",
                   (unsigned long long)c->by_status[PR_STATUS_OK]);
    put_count(h, bad, "failed");
    put_count(h, stopped, "interrupted");
    put_count(h, c->by_status[PR_STATUS_SKIPPED], "skipped");
    put_count(h, c->unreadable, "unreadable");
    put_count(h, c->without_result, "without a result yet");
    if (c->targets)
        pr_html_printf(h, "; %llu of %llu met %s target",
                       (unsigned long long)(c->targets - c->missed),
                       (unsigned long long)c->targets,
                       c->targets == 1 ? "its" : "their");
    pr_html_raw(h, ".</p>\n");
    pr_html_unfinished(h, left);
    if (c->warned)
        pr_html_printf(h, "<p>%llu came with warnings.</p>\n",
                       (unsigned long long)c->warned);
    pr_html_section_end(h);
}

static int html_put_run_table(struct pr_html *h, const char *dir,
                              struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT((size_t)1 << 31);
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_run_unfinished left;
    struct pr_run_columns found;
    int rc =
        a ? pr_run_unfinished_find(dir, a, &left, err) : pr_fail_nomem(err);

    if (!rc)
        rc = pr_run_table(dir, PR_TABLE_HTML, NULL, 0, &text, &found, err);
    if (rc)
        return rc;
    html_put_summary(h, &found, &left);
    pr_html_section(h, "experiments", "Experiments");
    pr_html_raw(h, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
                   "aria-label=\"Experiments\">");
    if (pr_buf_ok(&text) && text.len)
        pr_html_raw(h, text.data);
    pr_html_raw(h, "</div>\n");
    pr_html_section_end(h);
    return PR_OK;
}

/* ---- rates over time */

/* Its slices as a curve; false: it has none. */
static bool html_find_rate_curve(const struct pr_value *result,
                                 struct pr_arena *a, struct pr_html_curve *ret)
{
    const struct pr_value *v = pr_get(result, "results");
    float *points;

    v = v ? pr_get(v, "timings.train") : NULL;
    v = v ? pr_get(v, "rates") : NULL;
    if (!v || v->kind != PR_LIST || v->len < 2)
        return false;
    points = PR_ARENA_ARRAY(a, float, v->len);
    for (uint32_t i = 0; points && i < v->len; i++)
        points[i] = pr_value_is_number(&v->items[i])
                        ? (float)pr_value_number(&v->items[i])
                        : NAN;
    /* The last slice is not whole. */
    *ret = (struct pr_html_curve){.points = points, .count = v->len - 1};
    return points;
}

static void html_put_rate_curve(struct pr_html *h, const char *id,
                                const struct pr_html_curve *c)
{
    char label[64];

    snprintf(label, sizeof label, "rate over time, %zu slices", c->count);
    pr_html_raw(h, "<article class=\"card\"><h3>");
    pr_html_text(h, id);
    pr_html_raw(h, "</h3>\n");
    pr_html_curves(h, c, 1, label);
    pr_html_printf(h, "<p class=\"soft\">%s</p></article>\n", label);
}

static int put_curves(struct pr_html *h, const char *dir, struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
    struct pr_run_data *d = NULL;
    struct pr_run_data_row row;
    struct pr_html_curve c;
    size_t shown = 0, left = 0;
    int rc = a ? pr_run_data_open(dir, &d, err) : pr_fail_nomem(err);

    while (!rc && (rc = pr_run_data_next(d, a, &row, NULL, err)) == 1) {
        rc = PR_OK;
        if (row.result && html_find_rate_curve(row.result, a, &c)) {
            if (!shown) {
                pr_html_section(h, "curves", "Rates over time");
                pr_html_raw(h, "<div class=\"cards\">\n");
            }
            if (shown++ < PR_HTML_CARDS)
                html_put_rate_curve(h, row.id, &c);
            else
                left++;
        }
        pr_arena_reset(a);
    }
    if (shown)
        pr_html_raw(h, "</div>\n");
    if (left)
        pr_html_printf(h, "<p class=\"soft\">%zu more are not drawn.</p>\n",
                       left);
    if (shown)
        pr_html_section_end(h);
    if (d)
        pr_run_data_close(d);
    return rc;
}

/* ---- failures of a run */

static void put_failure(struct pr_html *h, const char *dir,
                        const struct pr_run_data_row *row, struct pr_arena *a)
{
    struct failure f = {.name = row->id,
                        .what = pr_text_at(row->result, "status", ""),
                        .reason = pr_text_at(row->result, "reason", "")};

    f.path = pr_arena_printf(a, "%s/experiments/%s/log.txt", dir, row->id);
    if (!f.path) {
        h->out.failed = true;
        return;
    }
    f.log = html_tail(dir, f.path, a, &f.log_len);
    html_put_failure(h, &f);
}

/* What was interrupted is no failure, but its log may be wanted. */
static bool is_told(enum pr_status s)
{
    return s != PR_STATUS_OK && s != PR_STATUS_SKIPPED;
}

static int put_failures(struct pr_html *h, const char *dir, struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
    struct pr_run_data *d = NULL;
    struct pr_run_data_row row;
    uint64_t failed = 0;
    int rc = a ? pr_run_data_open(dir, &d, err) : pr_fail_nomem(err);

    if (rc)
        return rc;
    pr_html_section(h, "failures", "Failures");
    while ((rc = pr_run_data_next(d, a, &row, NULL, err)) == 1) {
        if (row.result && is_told(pr_result_status(row.result)) &&
            failed++ < PR_HTML_FAILURES)
            put_failure(h, dir, &row, a);
        pr_arena_reset(a);
    }
    if (!failed)
        pr_html_raw(h, "<p>Nothing failed.</p>\n");
    if (failed > PR_HTML_FAILURES)
        pr_html_printf(h,
                       "<p class=\"soft\">%d of %llu failures are shown."
                       "</p>\n",
                       PR_HTML_FAILURES, (unsigned long long)failed);
    pr_html_section_end(h);
    pr_run_data_close(d);
    return rc;
}

int pr_html_run(const char *dir, const char *title,
                const struct pr_html_about *about, const char *path,
                struct pr_err *err)
{
    struct pr_html h;
    int rc = pr_html_begin(&h, path,
                           title && *title ? title : "Results of a run", err);

    if (rc)
        return rc;
    put_top(&h, dir);
    rc = html_put_run_table(&h, dir, err);
    if (!rc)
        rc = put_curves(&h, dir, err);
    if (!rc)
        pr_html_monitor(&h, dir);
    if (!rc)
        rc = put_failures(&h, dir, err);
    pr_html_section(&h, "environment", "Environment");
    pr_html_environment(&h, dir);
    pr_html_section_end(&h);
    if (rc && !h.rc)
        h.rc = rc;
    return pr_html_end(&h, about);
}
