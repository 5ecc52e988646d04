/*
 * Wrapper trace: one line of JSON for every operation, appended to a file in
 * blocks of whole lines. A trace that cannot be written does not stop the
 * work: it ends, with a note. And hooks that all wrappers use.
 */
#include "storage/wrapper_trace.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/json/json.h"
#include "base/mem.h"
#include "storage/path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- hooks that leave everything to the storage inside */

int pr_wrap_open(struct pr_storage *st, struct pr_object *o, struct pr_err *err)
{
    int rc = st->inner->engine->open(st->inner, o, err);

    if (!rc)
        o->map = NULL;
    return rc;
}

void pr_wrap_close(struct pr_storage *st, struct pr_object *o)
{
    st->inner->engine->close(st->inner, o);
}

int pr_wrap_sync(struct pr_storage *st, struct pr_object *o, struct pr_err *err)
{
    const struct pr_engine *inner = st->inner->engine;

    return inner->sync ? inner->sync(st->inner, o, err) : PR_OK;
}

int pr_wrap_commit(struct pr_storage *st, struct pr_object *o,
                   struct pr_err *err)
{
    return st->inner->engine->commit(st->inner, o, err);
}

void pr_wrap_discard(struct pr_storage *st, struct pr_object *o)
{
    st->inner->engine->discard(st->inner, o);
}

int pr_wrap_stat(struct pr_storage *st, const char *name,
                 struct pr_object_info *ret, struct pr_err *err)
{
    return st->inner->engine->stat(st->inner, name, ret, err);
}

int pr_wrap_make_folder(struct pr_storage *st, const char *name,
                        struct pr_err *err)
{
    return st->inner->engine->make_folder(st->inner, name, err);
}

int pr_wrap_remove(struct pr_storage *st, const char *name, struct pr_err *err)
{
    return st->inner->engine->remove(st->inner, name, err);
}

int pr_wrap_publish(struct pr_storage *st, const char *from, const char *to,
                    bool sync, bool *ret_swapped, struct pr_err *err)
{
    return st->inner->engine->publish(st->inner, from, to, sync, ret_swapped,
                                      err);
}

int pr_wrap_list(struct pr_storage *st, const char *folder,
                 int (*each)(void *ctx, const char *name, bool is_folder),
                 void *ctx, struct pr_err *err)
{
    return st->inner->engine->list(st->inner, folder, each, ctx, err);
}

int pr_wrap_space(struct pr_storage *st, const char *name,
                  struct pr_storage_space *ret, struct pr_err *err)
{
    return st->inner->engine->space(st->inner, name, ret, err);
}

/* Names are at most 4 KiB, escapes make 6 bytes of one. */
enum { FLUSH_BYTES = 64 << 10, BUFFER_BYTES = FLUSH_BYTES + (32 << 10) };

struct trace {
    int fd; /* -1: given up */
    struct pr_buf text;
};

/* ---- the file of the trace */

/* A copy of storage.trace with the number of the thread for %t. */
static int trace_expand_path(const char *path, char out[static PR_PATH_BYTES],
                             struct pr_err *err)
{
    size_t used = 0;

    while (*path && used < PR_PATH_BYTES - 32) {
        bool number = path[0] == '%' && path[1] == 't';

        if (number)
            used += (size_t)snprintf(out + used, 32, "%d", (int)gettid());
        else
            out[used++] = *path;
        path += number ? 2 : 1;
    }
    out[used] = '\0';
    return *path ? pr_path_too_long(path, err) : PR_OK;
}

static int trace_open_file(struct trace *t, const char *path,
                           struct pr_err *err)
{
    char name[PR_PATH_BYTES];
    int rc = trace_expand_path(path, name, err);

    if (rc)
        return rc;
    if (!pr_buf_reserve(&t->text, BUFFER_BYTES))
        return pr_fail_nomem(err);
    t->fd = open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (t->fd >= 0)
        return PR_OK;
    pr_fail_errno(err, PR_E_IO, name, "cannot write the trace");
    return pr_hint(err, "check storage.trace");
}

static int trace_engine_start(struct pr_storage *st, struct pr_err *err)
{
    struct trace *t = pr_alloc_zeroed(sizeof *t);
    int rc;

    if (!t)
        return pr_fail_nomem(err);
    t->text = (struct pr_buf)PR_BUF_INIT(2 * BUFFER_BYTES);
    t->fd = -1;
    rc = trace_open_file(t, st->opts->trace, err);
    if (rc) {
        pr_buf_free(&t->text);
        pr_free(t);
        return rc;
    }
    st->data = t;
    return PR_OK;
}

static void trace_flush_lines(struct pr_storage *st)
{
    struct trace *t = st->data;

    if (t->fd >= 0 && (!pr_buf_ok(&t->text) ||
                       !pr_write_all(t->fd, t->text.data, t->text.len))) {
        pr_storage_set_warning(st, "the trace is not complete: %s",
                               strerror(errno));
        (void)close(t->fd);
        t->fd = -1;
    }
    pr_buf_clear(&t->text);
}

static void trace_engine_stop(struct pr_storage *st)
{
    struct trace *t = st->data;

    trace_flush_lines(st);
    if (t->fd >= 0)
        (void)close(t->fd);
    pr_buf_free(&t->text);
    pr_free(t);
}

/* ---- lines */

struct span {
    const char *op, *name;
    uint64_t wall_ns, begin_ns;
};

static struct span trace_begin_call(const struct pr_storage *st, const char *op,
                                    const char *name)
{
    return (struct span){op, name, pr_wall_now(st->clock), pr_now(st->clock)};
}

/* Without a place in the object: bytes is UINT64_MAX. */
static void end_at(struct pr_storage *st, const struct span *s, uint64_t off,
                   uint64_t bytes, int rc)
{
    uint64_t took = pr_now(st->clock) - s->begin_ns;
    struct trace *t = st->data;
    struct pr_buf *b = &t->text;

    if (t->fd < 0)
        return;
    pr_buf_printf(b, "{\"op\": \"%s\", \"name\": ", s->op);
    pr_json_write_string(b, s->name, strlen(s->name));
    if (bytes != UINT64_MAX)
        pr_buf_printf(b, ", \"offset\": %llu, \"bytes\": %llu",
                      (unsigned long long)off, (unsigned long long)bytes);
    pr_buf_printf(b, ", \"start_ns\": %llu, \"duration_ns\": %llu",
                  (unsigned long long)s->wall_ns, (unsigned long long)took);
    if (rc < 0)
        pr_buf_printf(b, ", \"error\": \"%s\"", pr_code_text(rc));
    pr_buf_str(b, "}\n");
    if (b->len >= FLUSH_BYTES || !pr_buf_ok(b))
        trace_flush_lines(st);
}

static void trace_end_call(struct pr_storage *st, const struct span *s, int rc)
{
    end_at(st, s, 0, UINT64_MAX, rc);
}

/* ---- hooks of the trace */

static int trace_open(struct pr_storage *st, struct pr_object *o,
                      struct pr_err *err)
{
    struct span s = trace_begin_call(st, "open", o->name);
    int rc = pr_wrap_open(st, o, err);

    trace_end_call(st, &s, rc);
    return rc;
}

static int trace_fetch(struct pr_storage *st, struct pr_object *o, uint64_t off,
                       size_t len, void *buf, size_t cap, const uint8_t **ret,
                       struct pr_err *err)
{
    struct span s = trace_begin_call(st, "read", o->name);
    int rc =
        st->inner->engine->fetch(st->inner, o, off, len, buf, cap, ret, err);

    end_at(st, &s, off, len, rc);
    return rc;
}

static int trace_read(struct pr_storage *st, struct pr_object *o, uint64_t off,
                      size_t len, void *buf, struct pr_err *err)
{
    struct span s = trace_begin_call(st, "read", o->name);
    int rc = st->inner->engine->read(st->inner, o, off, len, buf, err);

    end_at(st, &s, off, len, rc);
    return rc;
}

static void trace_close(struct pr_storage *st, struct pr_object *o)
{
    struct span s = trace_begin_call(st, "close", o->name);

    pr_wrap_close(st, o);
    trace_end_call(st, &s, PR_OK);
}

static int trace_create(struct pr_storage *st, struct pr_object *o,
                        uint64_t size, struct pr_err *err)
{
    struct span s = trace_begin_call(st, "create", o->name);
    int rc = st->inner->engine->create(st->inner, o, size, err);

    trace_end_call(st, &s, rc);
    return rc;
}

static int trace_write(struct pr_storage *st, struct pr_object *o, uint64_t off,
                       const void *data, size_t len, struct pr_err *err)
{
    struct span s = trace_begin_call(st, "write", o->name);
    int rc = st->inner->engine->write(st->inner, o, off, data, len, err);

    end_at(st, &s, off, len, rc);
    return rc;
}

static int trace_sync(struct pr_storage *st, struct pr_object *o,
                      struct pr_err *err)
{
    struct span s = trace_begin_call(st, "sync", o->name);
    int rc = pr_wrap_sync(st, o, err);

    trace_end_call(st, &s, rc);
    return rc;
}

static int trace_commit(struct pr_storage *st, struct pr_object *o,
                        struct pr_err *err)
{
    struct span s = trace_begin_call(st, "commit", o->name);
    int rc = pr_wrap_commit(st, o, err);

    trace_end_call(st, &s, rc);
    return rc;
}

static void trace_discard(struct pr_storage *st, struct pr_object *o)
{
    struct span s = trace_begin_call(st, "discard", o->name);

    pr_wrap_discard(st, o);
    trace_end_call(st, &s, PR_OK);
}

static int trace_stat(struct pr_storage *st, const char *name,
                      struct pr_object_info *ret, struct pr_err *err)
{
    struct span s = trace_begin_call(st, "stat", name);
    int rc = pr_wrap_stat(st, name, ret, err);

    trace_end_call(st, &s, rc);
    return rc;
}

static int trace_make_folder(struct pr_storage *st, const char *name,
                             struct pr_err *err)
{
    struct span s = trace_begin_call(st, "make_folder", name);
    int rc = pr_wrap_make_folder(st, name, err);

    trace_end_call(st, &s, rc);
    return rc;
}

static int trace_remove(struct pr_storage *st, const char *name,
                        struct pr_err *err)
{
    struct span s = trace_begin_call(st, "remove", name);
    int rc = pr_wrap_remove(st, name, err);

    trace_end_call(st, &s, rc);
    return rc;
}

/* Under the name that it gets. */
static int trace_publish(struct pr_storage *st, const char *from,
                         const char *to, bool sync, bool *ret_swapped,
                         struct pr_err *err)
{
    struct span s = trace_begin_call(st, "publish", to);
    int rc = pr_wrap_publish(st, from, to, sync, ret_swapped, err);

    trace_end_call(st, &s, rc);
    return rc;
}

/* What each does, other operations perhaps, is in the time of the list. */
static int trace_list(struct pr_storage *st, const char *folder,
                      int (*each)(void *ctx, const char *name, bool is_folder),
                      void *ctx, struct pr_err *err)
{
    struct span s = trace_begin_call(st, "list", folder);
    int rc = pr_wrap_list(st, folder, each, ctx, err);

    trace_end_call(st, &s, rc);
    return rc;
}

const struct pr_engine pr_wrapper_trace = {
    .name = "trace",
    .desc = "a line of JSON for every operation (storage.trace)",
    .start = trace_engine_start,
    .stop = trace_engine_stop,
    .open = trace_open,
    .fetch = trace_fetch,
    .read = trace_read,
    .close = trace_close,
    .create = trace_create,
    .write = trace_write,
    .sync = trace_sync,
    .commit = trace_commit,
    .discard = trace_discard,
    .stat = trace_stat,
    .make_folder = trace_make_folder,
    .remove = trace_remove,
    .publish = trace_publish,
    .list = trace_list,
    .space = pr_wrap_space,
};
