/*
 * A folder of result files. Threads take files in turn; what each file gave
 * stands in its own place, so that nothing depends on who was faster.
 */
#include "analyse/suite/suite_impl.h"
#include "base/file.h"
#include "base/mem.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

enum { MAX_THREADS = 16, PER_THREAD = 64, PIECE = 65536 };

struct crew;

struct worker {
    struct crew *crew;
    struct pr_suite_reader reader;
    pthread_t thread;
    int rc;
    struct pr_err err;
};

struct crew {
    struct pr_suite_item *items;
    struct pr_err **bad; /* one for each file; NULL: it was fine */
    bool *skipped;
    size_t count;
    atomic_size_t next;
    atomic_bool stop;
    struct worker workers[MAX_THREADS];
    unsigned worker_count;
};

static int suite_reader_init(struct pr_suite_reader *r,
                             const struct pr_suite_read_opts *opts,
                             struct pr_err *err)
{
    *r = (struct pr_suite_reader){
        .keep = pr_arena_new(65536),
        .scratch = pr_arena_new(65536),
        .opts = opts,
        .text = PR_BUF_INIT((size_t)PR_SUITE_MAX_FILE + 2 * PIECE)};
    return r->keep && r->scratch ? PR_OK : pr_fail_nomem(err);
}

/* keep stays */
static void suite_reader_free(struct pr_suite_reader *r)
{
    pr_arena_free(r->scratch);
    r->scratch = NULL;
    pr_buf_free(&r->text);
}

/* A short read of what is a file, not a pipe, is its end. */
static int suite_read_fd(int fd, const char *path, struct pr_buf *text,
                         struct pr_err *err)
{
    size_t room;
    ssize_t n;

    do {
        if (text->len > PR_SUITE_MAX_FILE)
            return pr_fail(err, PR_E_FORMAT, path, "too large for a result");
        if (!pr_buf_reserve(text, PIECE))
            return pr_fail_nomem(err);
        room = text->cap - text->len - 1;
        n = read(fd, text->data + text->len, room);
        if (n < 0 && errno != EINTR)
            return pr_fail_errno(err, PR_E_IO, path, "cannot read");
        text->len += n > 0 ? (size_t)n : 0;
    } while (n < 0 || (size_t)n == room);
    return PR_OK;
}

/* 1, 0, or what is wrong with the file. */
static int suite_read_result_file(struct pr_suite_reader *r,
                                  struct pr_suite_item *item,
                                  struct pr_err *err)
{
    struct stat st;
    int fd = pr_file_open_in(r->root, item->path, &st, err);
    int rc;

    if (fd < 0)
        return fd;
    pr_buf_clear(&r->text);
    rc = suite_read_fd(fd, item->path, &r->text, err);
    close(fd);
    return rc ? rc
              : pr_milarun_result_read(r, r->text.data, r->text.len, item, err);
}

static int suite_read_item(struct worker *w, size_t i)
{
    struct crew *c = w->crew;
    struct pr_err e = {0};
    int rc = suite_read_result_file(&w->reader, &c->items[i], &e);

    if (rc == 1)
        return PR_OK;
    c->items[i].group = NULL;
    c->skipped[i] = rc == 0;
    if (!rc)
        return PR_OK;
    if (rc != PR_E_NOMEM) {
        c->bad[i] = pr_arena_alloc(w->reader.keep, sizeof e);
        if (c->bad[i]) {
            *c->bad[i] = e;
            return PR_OK;
        }
    }
    return pr_fail_nomem(&w->err);
}

static void *suite_run_worker(void *arg)
{
    struct worker *w = arg;
    struct crew *c = w->crew;
    size_t i;

    while (!w->rc && !c->stop && (i = c->next++) < c->count)
        w->rc = suite_read_item(w, i);
    if (w->rc)
        c->stop = true;
    return NULL;
}

/* The first worker is the caller; where no thread can be had it does all. */
static unsigned suite_count_threads(const struct pr_suite_read_opts *o,
                                    size_t files)
{
    long n = o->threads ? (long)o->threads : sysconf(_SC_NPROCESSORS_ONLN);
    size_t most = files / PER_THREAD + 1;

    n = n < 1 ? 1 : n > MAX_THREADS ? MAX_THREADS : n;
    return (size_t)n > most && !o->threads ? (unsigned)most : (unsigned)n;
}

static int suite_run_workers(struct pr_suite_build *w, struct crew *c,
                             const struct pr_suite_read_opts *opts,
                             struct pr_err *err)
{
    unsigned want = suite_count_threads(opts, c->count), started = 1;
    int rc = PR_OK;

    for (unsigned i = 0; !rc && i < want; i++) {
        struct worker *k = &c->workers[c->worker_count++];
        k->crew = c;
        rc = suite_reader_init(&k->reader, opts, err);
        k->reader.root = w->is_run ? w->suite.path : NULL;
        if (pr_suite_adopt_arena(w, k->reader.keep, rc ? NULL : err) && !rc) {
            k->reader.keep = NULL;
            rc = PR_E_NOMEM;
        }
    }
    if (rc)
        return rc;
    while (started < want &&
           pthread_create(&c->workers[started].thread, NULL, suite_run_worker,
                          &c->workers[started]) == 0)
        started++;
    suite_run_worker(&c->workers[0]);
    for (unsigned i = 1; i < started; i++)
        pthread_join(c->workers[i].thread, NULL);
    for (unsigned i = 0; !rc && i < started; i++)
        if ((rc = c->workers[i].rc) && err)
            *err = c->workers[i].err;
    return rc;
}

static int count_up(struct pr_suite_build *w, const struct crew *c,
                    struct pr_err *err)
{
    int rc = PR_OK;

    w->suite.files = c->count;
    for (size_t i = 0; !rc && i < c->count; i++) {
        w->suite.skipped += c->skipped[i];
        if (c->bad[i])
            rc = pr_suite_add_bad_file(w, c->bad[i], err);
        if (!w->suite.host.name)
            w->suite.host.name = c->items[i].host;
        if (!w->suite.host.gpu)
            w->suite.host.gpu = c->items[i].gpu;
    }
    return rc;
}

static int suite_read_all(struct pr_suite_build *w,
                          const struct pr_suite_paths *f, struct pr_arena *a,
                          const struct pr_suite_read_opts *opts,
                          struct pr_err *err)
{
    struct crew *c = PR_ARENA_NEW(a, struct crew);
    int rc;

    if (c) {
        c->count = f->count;
        c->items = PR_ARENA_ARRAY(w->arena, struct pr_suite_item, f->count);
        c->bad = PR_ARENA_ARRAY(a, struct pr_err *, f->count);
        c->skipped = PR_ARENA_ARRAY(a, bool, f->count);
    }
    if (!c || !c->items || !c->bad || !c->skipped)
        return pr_fail_nomem(err);
    for (size_t i = 0; i < f->count; i++)
        c->items[i].path = f->list[i];
    rc = suite_run_workers(w, c, opts, err);
    for (unsigned i = 0; i < c->worker_count; i++)
        suite_reader_free(&c->workers[i].reader);
    if (!rc)
        rc = count_up(w, c, err);
    return rc ? rc : pr_suite_group_runs(w, c->items, c->count, err);
}

int pr_suite_read_results(struct pr_suite_build *w,
                          const struct pr_suite_paths *files,
                          const struct pr_suite_read_opts *opts,
                          struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);

    return a ? suite_read_all(w, files, a, opts, err) : pr_fail_nomem(err);
}
