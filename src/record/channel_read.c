/* Reading a channel from its file: all of it, and its last lines. */
#include "base/json/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "record/channel.h"
#include "record/channel_row.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE_BYTES = 64 << 10, TAIL_BYTES = 8 << 10, WORDS = 160 };

/* Of the child's own text and units, so that both fit. */
enum { TEXT = 100, UNITS = 32 };

static int channel_feed_file(struct pr_channel_scanner *s, int fd,
                             const char *path, char *piece, struct pr_err *err)
{
    for (;;) {
        ssize_t n = read(fd, piece, PIECE_BYTES);
        int rc;

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return pr_fail_errno(err, PR_E_IO, path, "cannot read");
        if (n == 0)
            return PR_OK;
        rc = pr_channel_scanner_feed(s, piece, (size_t)n, err);
        if (rc)
            return rc;
    }
}

/* A child may have put anything there, also a pipe that never ends. 1: open;
 * 0: nothing to read; PR_E_FORMAT: what is there cannot be read. */
static int channel_open(const char *path, int *ret_fd, struct stat *ret_st,
                        struct pr_err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    bool file;

    if (fd < 0 && errno == ENOENT)
        return 0;
    if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM))
        return pr_fail_errno(err, PR_E_IO, path, "cannot open");
    if (fd < 0)
        return pr_fail_errno(err, PR_E_FORMAT, path, "cannot open");
    file = fstat(fd, ret_st) == 0 && S_ISREG(ret_st->st_mode);
    if (file && ret_st->st_size > 0) {
        *ret_fd = fd;
        return 1;
    }
    close(fd);
    return file ? 0
                : pr_fail(err, PR_E_FORMAT, path, "it is not a file any more");
}

int pr_channel_collect(const char *path, pr_log_param *param, void *ctx,
                       struct pr_channel_sum *ret, struct pr_err *err)
{
    struct pr_channel_sum none = {0};
    struct pr_channel_scanner *s;
    struct stat st;
    char *piece;
    int fd, rc = channel_open(path, &fd, &st, &none.first_bad);

    if (rc == 0 || rc == PR_E_FORMAT) {
        none.bad = rc != 0;
        *ret = none;
        return PR_OK;
    }
    if (rc < 0 && err)
        *err = none.first_bad;
    if (rc < 0)
        return rc;
    s = pr_channel_scanner_new(path, param, ctx);
    piece = pr_alloc(PIECE_BYTES);
    rc = s && piece ? channel_feed_file(s, fd, path, piece, err)
                    : pr_fail_nomem(err);
    if (!rc)
        rc = pr_channel_scanner_finish(s, ret, err);
    pr_free(piece);
    pr_channel_scanner_free(s);
    close(fd);
    return rc;
}

/* What was found so far, going back from the end. */
struct tail {
    bool has_progress, has_rate;
    double done;
    char words[TEXT], rate[UNITS + 16];
};

/* As much of it as fits. */
static void copy_words(char *to, size_t room, const struct pr_value *text)
{
    size_t n = pr_utf8_fit(text->s, text->len, room - 1);

    memcpy(to, text->s, n);
    to[n] = '\0';
}

static void channel_tail_read_progress(struct tail *t,
                                       const struct pr_channel_row *row)
{
    const struct pr_value *p = row->progress;

    t->done = -1;
    if (p->kind == PR_LIST) {
        double at = pr_value_number(&p->items[0]),
               of = pr_value_number(&p->items[1]);

        if (of > 0 && at >= 0)
            t->done = at < of ? at / of : 1;
        if (of > 0)
            snprintf(t->words, TEXT, "%.10g of %.10g", at, of);
        else
            snprintf(t->words, TEXT, "%.10g", at);
    } else if (pr_value_number(p) >= 0 && pr_value_number(p) <= 1) {
        t->done = pr_value_number(p);
        snprintf(t->words, TEXT, "%.0f %%", 100 * t->done);
    }
    if (row->text && row->text->len)
        copy_words(t->words, TEXT, row->text);
    t->has_progress = t->done >= 0 || *t->words;
}

static void channel_tail_read_rate(struct tail *t,
                                   const struct pr_channel_row *row)
{
    char units[UNITS] = "";
    double rate = pr_value_number(row->rate);

    if (!isfinite(rate))
        return;
    if (row->units)
        copy_words(units, UNITS, row->units);
    snprintf(t->rate, sizeof t->rate, "%.4g %s", rate, *units ? units : "/s");
    t->has_rate = true;
}

static void channel_tail_read_line(struct tail *t, const char *p, size_t len,
                                   struct pr_arena *a)
{
    struct pr_json_in in = {.text = p, .len = len, .name = ""};
    struct pr_channel_row row;
    struct pr_value line;

    if (len && pr_json_read(&in, a, &line, NULL, NULL) == PR_OK) {
        row = pr_channel_row_read(&line);
        if (!t->has_progress && !row.event && row.progress)
            channel_tail_read_progress(t, &row);
        if (!t->has_rate && !row.event && row.rate)
            channel_tail_read_rate(t, &row);
    }
    pr_arena_reset(a);
}

/* From the last whole line back, until both are known. */
static void channel_tail_read_back(struct tail *t, const char *text, size_t len,
                                   struct pr_arena *a)
{
    const char *end = memrchr(text, '\n', len);

    while (end && !(t->has_progress && t->has_rate)) {
        const char *nl = memrchr(text, '\n', (size_t)(end - text));
        const char *start = nl ? nl + 1 : text;

        channel_tail_read_line(t, start, (size_t)(end - start), a);
        end = nl;
    }
}

bool pr_channel_progress(const char *path, double *ret_done,
                         char words[static 160])
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct tail t = {.done = -1};
    char text[TAIL_BYTES];
    struct stat st;
    ssize_t n;
    int fd;

    if (!a || channel_open(path, &fd, &st, NULL) != 1)
        return false;
    n = pread(fd, text, sizeof text,
              st.st_size > TAIL_BYTES ? st.st_size - TAIL_BYTES : 0);
    close(fd);
    if (n > 0)
        channel_tail_read_back(&t, text, (size_t)n, a);
    if (!t.has_progress && !t.has_rate)
        return false;
    *ret_done = t.done;
    snprintf(words, WORDS, "%s%s%s", t.words, *t.words && *t.rate ? ", " : "",
             t.rate);
    return true;
}
