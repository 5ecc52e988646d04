/*
 * A tar archive as it streams by: each member that may hold results is a file
 * in turn.
 */
#include "analyse/results/bench_impl.h"
#include "base/mem.h"

#include <stdio.h>
#include <string.h>

enum { BENCH_TAR_BLOCK = PR_RESULTS_TAR_BLOCK };

struct pr_results_tar {
    struct pr_results_reader *r;
    const char *path;
    struct pr_results_intake *in; /* of the member */
    char head[BENCH_TAR_BLOCK];
    size_t have;   /* of the head */
    uint64_t left; /* of the member, then of its padding */
    uint64_t pad;
    uint64_t bytes, members; /* that came, and of these were read */
    bool ended;
    char name[4096];
    char next_name[4096]; /* from a long-name member; "": none */
    size_t next_len;
    enum { HEADER, LONG_NAME, MEMBER, SKIP, PADDING } state;
};

bool pr_results_is_tar(const char *head, size_t len)
{
    return len >= 262 && memcmp(head + 257, "ustar", 5) == 0;
}

struct pr_results_tar *pr_results_tar_new(struct pr_results_reader *r,
                                          const char *path, struct pr_err *err)
{
    struct pr_results_tar *t = pr_alloc_zeroed(sizeof *t);

    if (!t) {
        pr_fail_nomem(err);
        return NULL;
    }
    t->r = r;
    t->path = path;
    return t;
}

void pr_results_tar_free(struct pr_results_tar *t)
{
    if (t)
        pr_results_intake_free(t->in);
    pr_free(t);
}

/* Octal, or, with the high bit set, eight big-endian bytes at the end. */
static uint64_t tar_number(const char *p, size_t len)
{
    uint64_t n = 0;

    if ((unsigned char)p[0] & 0x80) {
        for (size_t i = len - 8; i < len; i++)
            n = n << 8 | (unsigned char)p[i];
        return n;
    }
    for (size_t i = 0; i < len && p[i] && p[i] != ' '; i++) {
        if (p[i] < '0' || p[i] > '7')
            return UINT64_MAX;
        n = n << 3 | (uint64_t)(p[i] - '0');
    }
    return n;
}

static void tar_name(struct pr_results_tar *t)
{
    const char *h = t->head;

    if (t->next_len) {
        memcpy(t->name, t->next_name, sizeof t->name);
        t->next_len = 0;
    } else if (h[345]) {
        snprintf(t->name, sizeof t->name, "%.155s/%.100s", h + 345, h);
    } else {
        snprintf(t->name, sizeof t->name, "%.100s", h);
    }
}

static int tar_header(struct pr_results_tar *t, struct pr_err *err)
{
    char kind = t->head[156];

    t->have = 0;
    if (!t->head[0]) {
        t->ended = true; /* zeros are the end */
        return PR_OK;
    }
    t->left = tar_number(t->head + 124, 12);
    if (!pr_results_is_tar(t->head, BENCH_TAR_BLOCK) || t->left > (uint64_t)1
                                                                      << 50)
        return pr_fail(err, PR_E_FORMAT, t->path,
                       "a damaged archive: no member begins after '%.100s'",
                       t->name);
    t->pad = (BENCH_TAR_BLOCK - t->left % BENCH_TAR_BLOCK) % BENCH_TAR_BLOCK;
    if (kind == 'L') {
        t->state = LONG_NAME;
        t->next_len = 0;
        return PR_OK;
    }
    tar_name(t);
    t->state = SKIP;
    if ((kind == '0' || !kind) && pr_results_is_candidate(t->name)) {
        t->state = MEMBER;
        t->in = pr_results_intake_new_member(t->r, t->path, t->name, err);
        return t->in ? PR_OK : PR_E_NOMEM;
    }
    return PR_OK;
}

static int end_member(struct pr_results_tar *t, struct pr_err *err)
{
    struct pr_results_intake *in = t->in;

    t->in = NULL;
    t->members++;
    return in ? pr_results_intake_end(in, err) : PR_OK;
}

static void keep_name(struct pr_results_tar *t, const char *p, size_t n)
{
    size_t room = sizeof t->next_name - 1 - t->next_len;

    if (n > room)
        n = room;
    memcpy(t->next_name + t->next_len, p, n);
    t->next_len += n;
    t->next_name[t->next_len] = '\0';
}

int pr_results_tar_feed(struct pr_results_tar *t, const char *bytes, size_t len,
                        struct pr_err *err)
{
    int rc = PR_OK;

    t->bytes += len;
    while (!rc && len && !t->ended) {
        size_t n;

        if (t->state == HEADER) {
            n = len < BENCH_TAR_BLOCK - t->have ? len
                                                : BENCH_TAR_BLOCK - t->have;
            memcpy(t->head + t->have, bytes, n);
            t->have += n;
            if (t->have == BENCH_TAR_BLOCK)
                rc = tar_header(t, err);
        } else {
            n = len < t->left ? len : (size_t)t->left;
            t->left -= n;
            if (t->state == LONG_NAME)
                keep_name(t, bytes, n);
            else if (t->state == MEMBER && n)
                rc = pr_results_intake_feed(t->in, bytes, n, err);
        }
        bytes += n;
        len -= n;
        if (t->state != HEADER && !t->left && !rc) {
            if (t->state == MEMBER)
                rc = end_member(t, err);
            t->left = t->pad;
            t->pad = 0;
            t->state = t->left ? PADDING : HEADER;
        }
    }
    return rc;
}

/* An archive has its end marked; one that is cut between two members, too. */
int pr_results_tar_end(struct pr_results_tar *t, struct pr_err *err)
{
    if (t->ended)
        return PR_OK;
    return pr_fail(err, PR_E_FORMAT, t->path,
                   "the archive is cut short: it has no end after %llu bytes, "
                   "%llu of its files were read, the last header is of "
                   "'%.100s'",
                   (unsigned long long)t->bytes, (unsigned long long)t->members,
                   t->name);
}
