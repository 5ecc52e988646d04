/* What went wrong: runs that failed with the end of their logs, and files that
 * could not be read. */
#include "present/html/html_impl.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *pr_html_tail(const char *dir, const char *path, struct pr_arena *a,
                         size_t *ret_len)
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

void pr_html_failure(struct pr_html *h, const struct pr_html_failure *f)
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
    return log && *log ? pr_html_tail(dir, log, a, ret_len) : NULL;
}

static void html_put_failed_run(struct pr_html *h, const char *dir,
                                const struct pr_suite_test *t,
                                const struct pr_suite_child *r,
                                struct pr_arena *a)
{
    char what[128], why[512];
    const char *log = r->error ? r->error : "";
    struct pr_html_failure f = {
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
    pr_html_failure(h, &f);
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
