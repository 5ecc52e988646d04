/*
 * The trace file: an array with one event a line, in the form that Chrome and
 * Perfetto read. A lane makes text of its spans at once, and takes the lock
 * only to write when it is full. Which rows there are is remembered on the
 * way; their names come last, so that every span's line may end in a comma.
 */
#include "observe/trace.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    LANE_BYTES = 64 << 10,
    /* Of the longest event: six numbers of 20 digits, and words. */
    EVENT_BYTES = 512,
    /* A lane with more rows leaves the rest without names. */
    ROWS_MAX = 1 << 16,
};

/* A line of the picture. */
struct row {
    uint64_t pid, tid;
    bool used, reader;
};

struct pr_trace_lane {
    struct pr_trace *trace;
    struct pr_trace_lane *next;
    struct row last;   /* of the span before: mostly the same again */
    struct row *rows;  /* a hash table, a power of two in size */
    size_t count, cap; /* of rows */
    size_t len;        /* of text */
    char text[LANE_BYTES];
};

struct pr_trace {
    uint64_t start_ns;
    pthread_mutex_t lock; /* of all that follows */
    struct pr_trace_lane *lanes;
    struct pr_new_file file;
    int failed; /* errno of the first write that failed, 0: none */
};

/* ---- opening */

int pr_trace_open(const char *path, uint64_t start_ns, struct pr_trace **ret,
                  struct pr_err *err)
{
    struct pr_trace *t = pr_alloc_zeroed(sizeof *t);
    int rc;

    if (!t)
        return pr_fail_nomem(err);
    rc = pr_file_create(path, &t->file, err);
    t->file.later = true; /* until the experiment has its result */
    if (!rc)
        rc = pr_file_append(&t->file, "[\n", 2, err);
    if (rc) {
        pr_file_discard(&t->file);
        pr_free(t);
        return rc;
    }
    t->start_ns = start_ns;
    pthread_mutex_init(&t->lock, NULL);
    *ret = t;
    return PR_OK;
}

struct pr_trace_lane *pr_trace_lane(struct pr_trace *t)
{
    struct pr_trace_lane *l = pr_alloc(sizeof *l);

    if (!l)
        return NULL;
    /* The text is not touched before it is needed. */
    memset(l, 0, offsetof(struct pr_trace_lane, text));
    l->trace = t;
    pthread_mutex_lock(&t->lock);
    l->next = t->lanes;
    t->lanes = l;
    pthread_mutex_unlock(&t->lock);
    return l;
}

/* ---- rows */

static bool same_row(const struct row *a, const struct row *b)
{
    return a->pid == b->pid && a->tid == b->tid && a->reader == b->reader;
}

/* Where the row is, or where it belongs. */
static struct row *trace_find_row(struct row *rows, size_t cap,
                                  const struct row *r)
{
    uint64_t h = (r->pid * 2 + r->reader) * 0x9e3779b97f4a7c15u;

    h = (h ^ h >> 29 ^ r->tid) * 0xbf58476d1ce4e5b9u;
    for (size_t i = (size_t)(h >> 32);; i++) {
        struct row *at = &rows[i & (cap - 1)];

        if (!at->used || same_row(at, r))
            return at;
    }
}

static bool grow_rows(struct pr_trace_lane *l)
{
    size_t cap = l->cap ? 2 * l->cap : 16;
    struct row *rows =
        cap > 2 * ROWS_MAX ? NULL : pr_alloc_zeroed(cap * sizeof *rows);

    if (!rows)
        return false;
    for (size_t i = 0; i < l->cap; i++)
        if (l->rows[i].used)
            *trace_find_row(rows, cap, &l->rows[i]) = l->rows[i];
    pr_free(l->rows);
    l->rows = rows;
    l->cap = cap;
    return true;
}

/* Without memory the row has no name; its spans are in the file all the
 * same. */
static void note_row(struct pr_trace_lane *l, const struct row *r)
{
    struct row *at;

    l->last = *r;
    if (2 * (l->count + 1) > l->cap && !grow_rows(l))
        return;
    at = trace_find_row(l->rows, l->cap, r);
    if (!at->used) {
        *at = *r;
        l->count++;
    }
}

/* ---- spans */

static char *trace_put_text(char *at, const char *s, size_t len)
{
    memcpy(at, s, len);
    return at + len;
}

#define PUT(at, literal) trace_put_text(at, literal, sizeof(literal) - 1)

static char *trace_put_number(char *at, uint64_t n)
{
    static const char pairs[] = "00010203040506070809"
                                "10111213141516171819"
                                "20212223242526272829"
                                "30313233343536373839"
                                "40414243444546474849"
                                "50515253545556575859"
                                "60616263646566676869"
                                "70717273747576777879"
                                "80818283848586878889"
                                "90919293949596979899";
    char digits[20], *end = digits + sizeof digits, *p = end;

    for (; n >= 100; n /= 100)
        p = memcpy(p - 2, &pairs[n % 100 * 2], 2);
    if (n >= 10)
        p = memcpy(p - 2, &pairs[n * 2], 2);
    else
        *--p = (char)('0' + n);
    return trace_put_text(at, p, (size_t)(end - p));
}

/* Microseconds with three decimals. */
static char *trace_put_time(char *at, uint64_t ns)
{
    unsigned rest = (unsigned)(ns % 1000);

    at = trace_put_number(at, ns / 1000);
    *at++ = '.';
    *at++ = (char)('0' + rest / 100);
    *at++ = (char)('0' + rest / 10 % 10);
    *at++ = (char)('0' + rest % 10);
    return at;
}

/* A lane is written whole or not at all; after a failure nothing more is. */
static void trace_flush_lane(struct pr_trace_lane *l)
{
    struct pr_trace *t = l->trace;

    pthread_mutex_lock(&t->lock);
    if (!t->failed && !pr_write_all(t->file.fd, l->text, l->len))
        t->failed = errno ? errno : EIO;
    pthread_mutex_unlock(&t->lock);
    l->len = 0;
}

static char *put_args(char *at, bool sample, uint64_t epoch, uint64_t step)
{
    if (epoch == UINT64_MAX && step == UINT64_MAX)
        return at;
    at = PUT(at, ",\"args\":{");
    if (epoch != UINT64_MAX) {
        at = PUT(at, "\"epoch\":");
        at = trace_put_number(at, epoch);
    }
    if (epoch != UINT64_MAX && step != UINT64_MAX)
        *at++ = ',';
    if (step != UINT64_MAX) {
        at = sample ? PUT(at, "\"sample\":") : PUT(at, "\"step\":");
        at = trace_put_number(at, step);
    }
    *at++ = '}';
    return at;
}

void pr_trace_span(struct pr_trace_lane *l, enum pr_trace_span_kind kind,
                   uint64_t pid, uint64_t tid, uint64_t start_ns,
                   uint64_t end_ns, uint64_t epoch, uint64_t step)
{
    static const struct {
        const char *text;
        size_t len;
    } heads[] = {
#define HEAD(category, name) \
    "{\"name\":\"" name "\",\"cat\":\"" category "\",\"ph\":\"X\",\"ts\":"
#define X(kind_, category, name) \
    [PR_SPAN_##                  \
        kind_] = {HEAD(category, name), sizeof(HEAD(category, name)) - 1},
        PR_SPANS(X)
#undef X
#undef HEAD
    };
    bool reader = kind == PR_SPAN_ITEM || kind == PR_SPAN_PREPROCESS;
    struct row r = {pid, tid, true, reader};
    uint64_t zero;
    char *at;

    if (!l)
        return;
    zero = l->trace->start_ns;
    if (l->len > LANE_BYTES - EVENT_BYTES)
        trace_flush_lane(l);
    if (!l->last.used || !same_row(&l->last, &r))
        note_row(l, &r);
    at = trace_put_text(l->text + l->len, heads[kind].text, heads[kind].len);
    at = trace_put_time(at, start_ns > zero ? start_ns - zero : 0);
    at = PUT(at, ",\"dur\":");
    at = trace_put_time(at, end_ns > start_ns ? end_ns - start_ns : 0);
    at = PUT(at, ",\"pid\":");
    at = trace_put_number(at, pid);
    at = PUT(at, ",\"tid\":");
    at = trace_put_number(at, tid);
    at = put_args(at, reader, epoch, step);
    at = PUT(at, "},\n");
    l->len = (size_t)(at - l->text);
}

/* ---- closing */

static int trace_compare_rows(const void *a, const void *b)
{
    const struct row *x = a, *y = b;

    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    return (int)x->reader - (int)y->reader;
}

/* All rows of all lanes, in order, one more for accelerator 0: there is
 * something to name even without spans. */
static struct row *trace_gather_rows(const struct pr_trace *t,
                                     size_t *ret_count)
{
    size_t count = 1;
    struct row *all;

    for (struct pr_trace_lane *l = t->lanes; l; l = l->next)
        count += l->count;
    all = pr_alloc_zeroed(count * sizeof *all);
    if (!all)
        return NULL;
    *ret_count = count;
    for (struct pr_trace_lane *l = t->lanes; l; l = l->next)
        for (size_t i = 0; i < l->cap; i++)
            if (l->rows[i].used)
                all[--count] = l->rows[i];
    qsort(all, *ret_count, sizeof *all, trace_compare_rows);
    return all;
}

static void name_process(struct pr_buf *b, const struct row *r)
{
    pr_buf_printf(b,
                  "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%llu,"
                  "\"args\":{\"name\":\"accelerator %llu\"}}",
                  (unsigned long long)r->pid, (unsigned long long)r->pid);
}

static void name_thread(struct pr_buf *b, const struct row *r)
{
    pr_buf_printf(b,
                  "{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":%llu,"
                  "\"tid\":%llu,\"args\":{\"name\":\"",
                  (unsigned long long)r->pid, (unsigned long long)r->tid);
    if (r->reader)
        pr_buf_printf(b, "reader %llu\"}}", (unsigned long long)r->tid);
    else
        pr_buf_str(b, "training\"}}");
}

static int write_names(struct pr_trace *t, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf b = PR_BUF_INIT(SIZE_MAX / 2);
    size_t count;
    struct row *all = trace_gather_rows(t, &count);

    if (!all)
        return pr_fail_nomem(err);
    for (size_t i = 0; i < count; i++) {
        bool new_pid = !i || all[i].pid != all[i - 1].pid;

        if (new_pid) {
            pr_buf_str(&b, i ? ",\n" : "");
            name_process(&b, &all[i]);
        }
        if (all[i].used &&
            (new_pid || all[i].tid != all[i - 1].tid || !all[i - 1].used)) {
            pr_buf_str(&b, ",\n");
            name_thread(&b, &all[i]);
        }
    }
    pr_buf_str(&b, "\n]\n");
    pr_free(all);
    if (!pr_buf_ok(&b))
        return pr_fail_nomem(err);
    return pr_file_append(&t->file, b.data, b.len, err);
}

static int trace_finish(struct pr_trace *t, struct pr_err *err)
{
    int rc;

    for (struct pr_trace_lane *l = t->lanes; l; l = l->next)
        trace_flush_lane(l);
    if (t->failed) {
        errno = t->failed;
        rc =
            pr_fail_errno(err, PR_E_IO, t->file.path, "cannot write the trace");
    } else {
        rc = write_names(t, err);
    }
    if (!rc)
        return pr_file_commit(&t->file, err);
    pr_file_discard(&t->file);
    return rc;
}

int pr_trace_close(struct pr_trace *t, struct pr_err *err)
{
    int rc;

    if (!t)
        return PR_OK;
    rc = trace_finish(t, err);
    while (t->lanes) {
        struct pr_trace_lane *l = t->lanes;

        t->lanes = l->next;
        pr_free(l->rows);
        pr_free(l);
    }
    pthread_mutex_destroy(&t->lock);
    pr_free(t);
    return rc;
}
