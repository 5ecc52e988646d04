/*
 * The live progress of a long command, on stderr: one line redrawn in place on
 * a terminal, a plain line now and then elsewhere, or JSON for programs. One
 * owner, one thread; the caller's loop calls pr_live_tick.
 */
#ifndef PR_PRESENT_LIVE_H
#define PR_PRESENT_LIVE_H

#include <stdint.h>

enum pr_live_mode {
    PR_LIVE_AUTO,   /* the line on a terminal in the foreground, else plain */
    PR_LIVE_ALWAYS, /* the line, whatever fd is */
    PR_LIVE_NEVER,
    PR_LIVE_JSON,  /* one object a line, once a second, and one at the end */
    PR_LIVE_PLAIN, /* "12 of 100 done, 1 failed, eta 3 min 20 s" every 30 s */
};

enum pr_live_chars {
    PR_LIVE_CHARS_AUTO, /* by LC_ALL, LC_CTYPE, LANG */
    PR_LIVE_CHARS_UTF8,
    PR_LIVE_CHARS_ASCII,
};

struct pr_live_opts {
    int fd;
    enum pr_live_mode mode;
    enum pr_live_chars chars;
    const char *unit; /* what is counted, "experiments"; NULL: not said.
                         Borrowed. */
    /* For tests; NULL is the real thing. */
    uint64_t (*clock_ns)(void *ctx);
    unsigned (*width)(void *ctx); /* columns of the terminal */
    void *ctx;
};

struct pr_live_line;

/* NULL when out of memory; every call below accepts that and does nothing. */
struct pr_live_line *pr_live_new(const struct pr_live_opts *opts);
void pr_live_free(struct pr_live_line *l); /* pr_live_close included */

/* How far things are. total 0: not known. label (what runs now) and extra
 * ("812 img/s") are copied and made harmless; NULL or "": none. What is done
 * at the first call was done before, and does not count for the eta. Paints
 * if it is time to. */
void pr_live_update(struct pr_live_line *l, uint64_t done, uint64_t total,
                    uint64_t failed, const char *label, const char *extra);

/* Paints if it is time to: 1 s after the start, then 4 times a second. */
void pr_live_tick(struct pr_live_line *l);

/* Milliseconds until a tick would paint, for poll(); -1: never. */
int pr_live_wait_ms(const struct pr_live_line *l);

/* Prints a line of the caller's, above the live one. The text is printed as it
 * is (as a string of an object in JSON); a missing line end is added. */
void pr_live_message(struct pr_live_line *l, const char *text);

/* Takes the line away until the next tick: before writing to stdout. */
void pr_live_hide(struct pr_live_line *l);

/* Takes the line away for good; in JSON, says how it ended. */
void pr_live_close(struct pr_live_line *l);

#endif
