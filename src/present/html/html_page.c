/* The page: head, sections, text made harmless, foot. */
#include "present/html/html_page.h"

#include "base/text.h"
#include "present/html/html_impl.h"
#include "present/report/report_suite_json.h"
#include "present/screen.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* ---- escaping */

static void html_escape_marks(struct pr_buf *out, const char *s, size_t len)
{
    size_t start = 0;

    for (size_t i = 0; i < len; i++) {
        const char *with = s[i] == '&'    ? "&amp;"
                           : s[i] == '<'  ? "&lt;"
                           : s[i] == '>'  ? "&gt;"
                           : s[i] == '"'  ? "&quot;"
                           : s[i] == '\'' ? "&#39;"
                                          : NULL;
        if (!with)
            continue;
        pr_buf_add(out, s + start, i - start);
        pr_buf_str(out, with);
        start = i + 1;
    }
    pr_buf_add(out, s + start, len - start);
}

/* What HTML does not allow even as text: U+FFFE, U+FFFF and their like. */
static bool is_noncharacter(const char *s, size_t n)
{
    const unsigned char *p = (const unsigned char *)s;

    if (n == 3 && p[0] == 0xef)
        return (p[1] == 0xbf && p[2] >= 0xbe) ||
               (p[1] == 0xb7 && p[2] >= 0x90 && p[2] <= 0xaf);
    return n == 4 && (p[1] & 0x0f) == 0x0f && p[2] == 0xbf && p[3] >= 0xbe;
}

void pr_html_escape(struct pr_buf *out, const char *s, size_t len)
{
    size_t start = 0;

    for (size_t i = 0; i < len;) {
        size_t n = pr_utf8_len(s + i, len - i);

        n = n ? n : 1;
        if (n > 2 && is_noncharacter(s + i, n)) {
            html_escape_marks(out, s + start, i - start);
            pr_buf_str(out, "\xef\xbf\xbd");
            start = i + n;
        }
        i += n;
    }
    html_escape_marks(out, s + start, len - start);
}

enum { PIECE = 256 << 10 };

void pr_html_flush(struct pr_html *h)
{
    if (!h->rc && !pr_buf_ok(&h->out))
        h->rc = pr_fail_nomem(h->err);
    if (!h->rc && h->out.len)
        h->rc = pr_file_append(&h->file, h->out.data, h->out.len, h->err);
    pr_buf_clear(&h->out);
}

static void flush_full(struct pr_html *h)
{
    if (h->out.len >= PIECE)
        pr_html_flush(h);
}

void pr_html_raw(struct pr_html *h, const char *s)
{
    pr_buf_str(&h->out, s);
    flush_full(h);
}

void pr_html_printf(struct pr_html *h, const char *fmt, ...)
{
    char text[1024];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    pr_buf_str(&h->out, text);
}

/* ---- text */

void pr_html_textn(struct pr_html *h, const char *s, size_t len)
{
    PR_AUTO_BUF struct pr_buf clean = PR_BUF_INIT((size_t)1 << 30);

    pr_screen_clean(&clean, s, len);
    if (!pr_buf_ok(&clean))
        h->out.failed = true;
    else if (clean.len)
        pr_html_escape(&h->out, clean.data, clean.len);
}

void pr_html_text(struct pr_html *h, const char *s)
{
    if (s)
        pr_html_textn(h, s, strlen(s));
}

void pr_html_log(struct pr_html *h, const char *s, size_t len)
{
    for (size_t i = 0; i < len;) {
        size_t n = 0;

        while (i + n < len && s[i + n] != '\n' && s[i + n] != '\t')
            n++;
        /* A line that was drawn over itself ends with what came last. */
        if (n && s[i + n - 1] == '\r')
            pr_html_textn(h, s + i, n - 1);
        else
            pr_html_textn(h, s + i, n);
        i += n;
        if (i < len)
            pr_buf_char(&h->out, s[i++]);
    }
    flush_full(h);
}

void pr_html_number(struct pr_html *h, double v)
{
    char text[64], *point;
    size_t whole;

    if (!isfinite(v)) {
        pr_html_raw(h, "–");
        return;
    }
    if (fabs(v) < 1000 || fabs(v) >= 1e15) {
        pr_html_printf(h, "%.4g", v);
        return;
    }
    snprintf(text, sizeof text, "%.0f", v);
    point = text + (text[0] == '-');
    whole = strlen(point);
    pr_buf_add(&h->out, text, (size_t)(point - text));
    for (size_t i = 0; i < whole; i++) {
        if (i && (whole - i) % 3 == 0)
            pr_buf_str(&h->out, "\xe2\x80\xaf"); /* a narrow blank */
        pr_buf_char(&h->out, point[i]);
    }
}

/* ---- the page */

int pr_html_begin(struct pr_html *h, const char *path, const char *title,
                  struct pr_err *err)
{
    int rc;

    *h = (struct pr_html){.out = PR_BUF_INIT((size_t)1 << 31), .err = err};
    rc = pr_file_create(path, &h->file, err);
    if (rc)
        return rc;
    pr_html_raw(h, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
                   "<meta charset=\"utf-8\">\n"
                   "<meta http-equiv=\"Content-Security-Policy\" "
                   "content=\"default-src 'none'; base-uri 'none'; "
                   "form-action 'none'; style-src 'sha256-");
    pr_html_raw(h, pr_html_style_hash);
    pr_html_raw(h, "'; script-src 'sha256-");
    pr_html_raw(h, pr_html_script_hash);
    pr_html_raw(h,
                "'\">\n<meta name=\"viewport\" content=\"width=device-width, "
                "initial-scale=1\">\n"
                "<meta name=\"color-scheme\" content=\"light dark\">\n"
                "<meta name=\"referrer\" content=\"no-referrer\">\n"
                "<meta name=\"generator\" content=\"Prony\">\n<title>");
    pr_html_text(h, title);
    pr_html_raw(h, "</title>\n<style>");
    pr_html_raw(h, pr_html_style);
    pr_html_raw(h, "</style>\n</head>\n<body>\n"
                   "<a class=\"skip\" href=\"#main\">Skip to the report</a>\n"
                   "<header>\n<h1>");
    pr_html_text(h, title);
    pr_html_raw(h, "</h1>\n");
    return PR_OK;
}

int pr_html_end(struct pr_html *h, const struct pr_html_about *about)
{
    pr_html_raw(h, "</main>\n<footer><p>Written by Prony ");
    pr_html_text(h, about->version ? about->version : "");
    pr_html_raw(h, ". This file is complete in itself: it loads nothing and "
                   "sends nothing.</p></footer>\n<script>");
    pr_html_raw(h, pr_html_script);
    pr_html_raw(h, "</script>\n</body>\n</html>\n");
    pr_html_flush(h);
    if (!h->rc)
        h->rc = pr_file_commit(&h->file, h->err);
    if (h->rc)
        pr_file_discard(&h->file);
    pr_buf_free(&h->out);
    return h->rc;
}

void pr_html_section(struct pr_html *h, const char *id, const char *heading)
{
    pr_html_printf(h, "<section id=\"%s\">\n<h2>", id);
    pr_html_text(h, heading);
    pr_html_raw(h, "</h2>\n");
}

void pr_html_section_end(struct pr_html *h)
{
    pr_html_raw(h, "</section>\n");
}

/* ---- of a run that has not come to its end, at the top */

void pr_html_unfinished(struct pr_html *h, const struct pr_run_unfinished *u)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 16);

    if (!u->missing)
        return;
    pr_html_raw(h, "<p class=\"bad\">");
    pr_html_raw(h, u->running ? "The run still goes on: "
                              : "The run was interrupted: ");
    pr_unfinished_text(u, &text);
    pr_html_text(h, pr_buf_ok(&text) ? text.data : "something is missing");
    pr_html_raw(h, u->running ? ".</p>\n"
                              : ". <code>prony run --resume DIR</code> goes "
                                "on.</p>\n");
}
