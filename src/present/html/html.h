/*
 * Reports as one HTML file that needs nothing else: no request leaves it, the
 * script and the style in it are known by their hashes (CSP), everything that
 * came from files is text. Light and dark, for screens of any width and for
 * paper. It is written piece by piece, so that memory does not grow with it.
 */
#ifndef PR_PRESENT_HTML_H
#define PR_PRESENT_HTML_H

#include "analyse/suite/suite.h"
#include "base/err.h"

/* Points of a run's curve that a report shows: for pr_suite_opts.curve. */
enum { PR_HTML_CURVE = 96 };

struct pr_html_about {
    const char *version; /* of this program */
    const char *dir;     /* a run directory with env.json; or NULL */
};

/* A suite. The file appears whole or not at all. */
int pr_html_suite(const struct pr_suite_report *r,
                  const struct pr_html_about *about, const char *path,
                  struct pr_err *err) PR_MUST_CHECK;

/* A run directory, whatever its experiments are. title may be NULL. */
int pr_html_run(const char *dir, const char *title,
                const struct pr_html_about *about, const char *path,
                struct pr_err *err) PR_MUST_CHECK;

#endif
