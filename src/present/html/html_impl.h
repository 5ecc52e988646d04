/* The writer of an HTML report, and the sections of one. */
#ifndef PR_PRESENT_HTML_IMPL_H
#define PR_PRESENT_HTML_IMPL_H

#include "base/buf.h"
#include "base/file.h"
#include "present/html/html.h"

enum {
    PR_HTML_CARDS = 200,    /* tests with curves of their own, at most */
    PR_HTML_LINES = 8,      /* runs drawn as lines; more become a band */
    PR_HTML_DOTS = 400,     /* runs of a test drawn as dots, at most */
    PR_HTML_FAILURES = 100, /* told one by one, at most */
    PR_HTML_LOG = 4096,     /* bytes of the end of a log */
    PR_HTML_DEVICES = 64,   /* columns of the matrix, at most */
    PR_HTML_MATRIX = 2000,  /* rows of it */
    PR_HTML_MONITORS = 60,  /* curves of the monitor, at most */
};

/* The page being written. A failure is remembered until pr_html_end. */
struct pr_html {
    struct pr_buf out;
    struct pr_new_file file;
    int rc;
    struct pr_err *err;
};

/* The constant parts: style and script, and their hashes for CSP. */
extern const char pr_html_style[], pr_html_script[];
extern const char pr_html_style_hash[], pr_html_script_hash[];

/* Opens the file and writes everything up to the first section. */
int pr_html_begin(struct pr_html *h, const char *path, const char *title,
                  struct pr_err *err) PR_MUST_CHECK;
/* Writes what is left, and the file gets its name; or not, after a failure. */
int pr_html_end(struct pr_html *h,
                const struct pr_html_about *about) PR_MUST_CHECK;

/* Text as it stands. */
void pr_html_raw(struct pr_html *h, const char *s);
void pr_html_printf(struct pr_html *h, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Text of others: escaped, in one line; control characters, and those that
 * turn the direction, are shown as what they are. */
void pr_html_text(struct pr_html *h, const char *s);
void pr_html_textn(struct pr_html *h, const char *s, size_t len);
/* The same for logs: ends of lines and tabs stay. */
void pr_html_log(struct pr_html *h, const char *s, size_t len);

/* Hands to the file what there is; call it now and then. */
void pr_html_flush(struct pr_html *h);

/* <section>, with a heading and what leads to it. */
void pr_html_section(struct pr_html *h, const char *id, const char *heading);
void pr_html_section_end(struct pr_html *h);

/* A number as people read it: four digits, thousands apart. */
void pr_html_number(struct pr_html *h, double v);

/* ---- pictures */

struct pr_html_curve {
    const float *points;
    size_t count;
    size_t slices;    /* that the points stand for; 0: as many */
    const char *name; /* in the key; or NULL */
};

/* Curves over one another on the same scale; many become a band from the
 * lowest to the highest and their median. label is for who does not see. */
void pr_html_curves(struct pr_html *h, const struct pr_html_curve *curves,
                    size_t count, const char *label);

/* Values on a line, with quartiles. Sorts them. */
void pr_html_strip(struct pr_html *h, double *values, size_t count,
                   const char *label);

/* ---- sections */

/* What a run that has not come to its end lacks; nothing of one that has. */
void pr_html_unfinished(struct pr_html *h, const struct pr_run_unfinished *u);

void pr_html_devices(struct pr_html *h, const struct pr_suite_report *r,
                     struct pr_arena *a);
void pr_html_failures(struct pr_html *h, const struct pr_suite_report *r,
                      struct pr_arena *a);
void pr_html_unread_files(struct pr_html *h, const struct pr_suite *s);
/* env.json of a run directory; nothing when there is none. */
void pr_html_environment(struct pr_html *h, const char *dir);
/* What the monitor saw, and rates over time. */
void pr_html_monitor(struct pr_html *h, const char *dir);

#endif
