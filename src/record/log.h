/*
 * Logs of experiments: parameter lines "__results.time__= 11.5" among the
 * chatter of a framework (the grammar of DLBS), and the last lines of a log
 * for a report. Logs are written by strangers: nothing here trusts them.
 */
#ifndef PR_RECORD_LOG_H
#define PR_RECORD_LOG_H

#include "base/err.h"
#include "base/value.h"

#include <stdint.h>

/*
 * Reads one line, given without its line end, by the rule
 *     [ \t]*__(.+?(?=__[ \t]*[=]))__[ \t]*=(.+)
 * Key and value are stripped of blanks, the value is JSON, none is null.
 * 1: a parameter line; 0: not one; PR_E_FORMAT: one whose value is not JSON
 * or that is not UTF-8; PR_E_NOMEM. The key points into line, the value lives
 * in the arena.
 */
int pr_log_parse_line(const char *line, size_t len, struct pr_arena *a,
                      const char **ret_key, size_t *ret_key_len,
                      struct pr_value *ret_value,
                      struct pr_err *err) PR_MUST_CHECK;

/* Called for each parameter line; key (not NUL-terminated) and value are
 * borrowed until it returns. Not 0: stop, and the scan returns that. */
typedef int pr_log_param(void *ctx, const char *key, size_t key_len,
                         const struct pr_value *value, struct pr_err *err);

struct pr_log_counts {
    uint64_t lines;          /* all of them */
    uint64_t params;         /* parameter lines */
    uint64_t bad;            /* parameter lines whose value is unreadable */
    uint64_t too_long;       /* lines over PR_LOG_MAX_LINE, not looked at */
    uint64_t first_bad_line; /* 1-based; 0: there was none */
    struct pr_err first_bad; /* what was wrong with it */
};

#define PR_LOG_MAX_LINE ((size_t)8 << 20)

/* Reads a log from its beginning to its end in bounded memory. A line ends
 * with \n, \r\n or, as for Python, \r; the last may lack its end. NULs and
 * stray bytes do no harm. *ret_counts is filled on success. PR_E_IO,
 * PR_E_NOMEM, or what the callback returned. */
int pr_log_scan(const char *path, pr_log_param *param, void *ctx,
                struct pr_log_counts *ret_counts,
                struct pr_err *err) PR_MUST_CHECK;

/* The same for bytes that come from elsewhere, in pieces of any size: a
 * compressed log, a pipe. Free with pr_log_scanner_free. */
struct pr_log_scanner;
struct pr_log_scanner *pr_log_scanner_new(const char *name, pr_log_param *param,
                                          void *ctx); /* NULL: no memory */
int pr_log_scanner_feed(struct pr_log_scanner *s, const char *bytes, size_t len,
                        struct pr_err *err) PR_MUST_CHECK;
int pr_log_scanner_finish(struct pr_log_scanner *s,
                          struct pr_log_counts *ret_counts,
                          struct pr_err *err) PR_MUST_CHECK;
void pr_log_scanner_free(struct pr_log_scanner *s);

/* Appends the last lines of a log, at most max_lines of them from its last
 * max_bytes bytes (of which at most 64 MiB are looked at), each with its \n.
 * Escape sequences and control characters other than tab are removed, bytes
 * that are not UTF-8 become U+FFFD. A line that begins before the last
 * max_bytes is left out, unless it is the only one. */
int pr_log_tail(const char *path, size_t max_lines, size_t max_bytes,
                struct pr_buf *out, struct pr_err *err) PR_MUST_CHECK;

#endif
