/*
 * What is asked of libhdf5, in a process of its own: it does not survive every
 * file. Then the process is gone, and the reader says so.
 *
 * The process is this program, started again: whatever program the library is
 * in, it is taken over before its main (hdf5_server.c). A fork would do only
 * where there are no threads, and a program apart would have to be found. The
 * bytes that libhdf5 wants to see are read here, by whatever engine.
 * One that has nothing left to tell is ended, unless files differ so that the
 * next one will be asked for soon.
 */
#include "base/clock.h"
#include "base/mem.h"
#include "format/hdf5/hdf5_server.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    SETS_MAX = 1 << 20, /* of a file */
    PIECE = 64 << 10,   /* of bytes that are read for it */
    HEAD_FIRST = 4096,  /* of the first file, that it gets at once */
    TURN_MS = 200,      /* that we wait before we look for an interrupt */
};

int pr_hdf5_patience_s = 60;

static struct iovec hdf5_make_iovec(const void *data, size_t len)
{
    return (struct iovec){(void *)(uintptr_t)data, len};
}

/* A note, or none, and what follows it, at once: whoever waits wakes up once.
 */
bool pr_hdf5_send_message(int fd, const struct pr_hdf5_message *n,
                          const void *data, size_t len)
{
    struct iovec v[2] = {hdf5_make_iovec(n, n ? sizeof *n : 0),
                         hdf5_make_iovec(data, len)};
    struct msghdr m = {.msg_iov = v, .msg_iovlen = 2};

    while (v[0].iov_len + v[1].iov_len) {
        ssize_t n_sent = sendmsg(fd, &m, MSG_NOSIGNAL);
        size_t sent = n_sent > 0 ? (size_t)n_sent : 0;

        if (n_sent < 0 && errno != EINTR)
            return false;
        for (int i = 0; i < 2; i++) {
            size_t k = sent < v[i].iov_len ? sent : v[i].iov_len;

            if (k)
                v[i] = hdf5_make_iovec((uint8_t *)v[i].iov_base + k,
                                       v[i].iov_len - k);
            sent -= k;
        }
    }
    return true;
}

/* ---- starting it and ending it */

/* The shared object that the library is in, such as Python's extension; or "".
 */
static const char *path_of_object(void)
{
    static const char here;
    Dl_info info;

    if (!dladdr(&here, &info) || !info.dli_fname ||
        (getauxval(AT_PHDR) & ~0xfffUL) == (uintptr_t)info.dli_fbase)
        return "";
    return info.dli_fname;
}

/* The environment, with one more object to load before the program starts. In
 * that list a path with a separator in it needs another name. Free it. */
static char **hdf5_make_environment(const char *object)
{
    const char *list = getenv("LD_PRELOAD");
    const char *path = strpbrk(object, ": ") ? "/proc/self/fd/3" : object;
    size_t n = 1, len = strlen(path) + (list ? strlen(list) : 0) + 32;
    char **env, *text;

    for (char **e = environ; *e; e++)
        n++;
    env = pr_alloc((n + 1) * sizeof *env + len);
    if (!env)
        return NULL;
    text = (char *)&env[n + 1];
    snprintf(text, len, "LD_PRELOAD=%s%s%s", list ? list : "", list ? ":" : "",
             path);
    env[0] = text;
    n = 1;
    for (char **e = environ; *e; e++)
        if (strncmp(*e, text, sizeof "LD_PRELOAD") != 0)
            env[n++] = *e;
    env[n] = NULL;
    return env;
}

/* By its name, which tools that run a program within theirs make up; or the
 * program itself, should it be replaced by now. 0 or an errno. */
static int spawn_self(const posix_spawn_file_actions_t *files,
                      char *const env[], pid_t *ret)
{
    static const char self[] = "/proc/self/exe";
    /* Python, should it come to its main, runs "". */
    char name[] = PR_HDF5_PROCESS, run[] = "-c", nothing[] = "", path[4096];
    char *const argv[] = {name, run, nothing, NULL};
    ssize_t n = readlink(self, path, sizeof path - 1);

    path[n > 0 ? n : 0] = '\0';
    return n > 0 && posix_spawn(ret, path, files, NULL, argv, env) == 0
               ? 0
               : posix_spawn(ret, self, files, NULL, argv, env);
}

/* Signals are blocked until it has settled. */
static int hdf5_spawn_child(int line, pid_t *ret)
{
    const char *object = path_of_object();
    char **env = *object ? hdf5_make_environment(object) : environ;
    posix_spawn_file_actions_t files;
    sigset_t all, before;
    int rc = env ? posix_spawn_file_actions_init(&files) : ENOMEM;

    if (rc)
        return rc;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    rc = posix_spawn_file_actions_adddup2(&files, line, PR_HDF5_LINE);
    if (!rc && *object)
        rc = posix_spawn_file_actions_addopen(&files, 3, object, O_RDONLY, 0);
    if (!rc)
        rc = spawn_self(&files, env, ret);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    posix_spawn_file_actions_destroy(&files);
    if (*object)
        pr_free(env);
    return rc;
}

/* Its status, or 0 if somebody else was told. One that crashed keeps the signal
 * it died by; one that said what makes no sense still waits for a question. In
 * a fork of the program it is another's. */
static int end_aside(struct pr_hdf5_process *a)
{
    int status = 0;

    if (a->owner == getpid()) {
        (void)kill(a->pid, SIGKILL);
        while (waitpid(a->pid, &status, 0) < 0 && errno == EINTR)
            ;
    }
    close(a->fd);
    a->pid = 0;
    a->is_attached = false;
    return status;
}

void pr_hdf5_process_stop(struct pr_reader *r)
{
    struct pr_hdf5_process *a = &pr_hdf5_state(r)->aside;

    if (a->pid)
        (void)end_aside(a);
}

static int hdf5_fail_crashed(struct pr_reader *r, struct pr_err *err)
{
    struct pr_hdf5_process *a = &pr_hdf5_state(r)->aside;
    int status = end_aside(a);
    char how[40] = "";

    if (WIFSIGNALED(status))
        snprintf(how, sizeof how, " (signal %d)", WTERMSIG(status));
    else if (status)
        snprintf(how, sizeof how, " (status %d)", WEXITSTATUS(status));
    if (!a->is_there) {
        pr_fail(err, PR_E_IO, r->name,
                "the process that is to read it did not start%s", how);
        return pr_hint(err, "it is this program, started again by "
                            "/proc/self/exe: /proc must be mounted");
    }
    pr_fail(err, PR_E_FORMAT, r->name, "libhdf5 crashed on it%s", how);
    return pr_hint(err, "the file is damaged, or made to do harm");
}

static int timed_out(struct pr_reader *r, struct pr_err *err)
{
    pr_hdf5_process_stop(r);
    return pr_fail(err, PR_E_FORMAT, r->name,
                   "libhdf5 timed out after %d s over it", pr_hdf5_patience_s);
}

/* Whether there is a point in waiting. */
static int hdf5_check_deadline(struct pr_reader *r, struct pr_err *err)
{
    if (pr_storage_is_stopped(r->st)) {
        pr_hdf5_process_stop(r);
        return pr_fail(err, PR_E_INTR, "", "interrupted");
    }
    return pr_clock_ns() < pr_hdf5_state(r)->aside.deadline ? PR_OK
                                                            : timed_out(r, err);
}

/* Waits in short turns, to hear of an interrupt. */
static int hdf5_receive(struct pr_reader *r, void *data, size_t len,
                        struct pr_err *err)
{
    uint8_t *p = data;
    int rc = PR_OK;

    while (!rc && len) {
        ssize_t n = recv(pr_hdf5_state(r)->aside.fd, p, len, 0);

        if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
            return hdf5_fail_crashed(r, err);
        if (n < 0)
            rc = hdf5_check_deadline(r, err);
        p += n > 0 ? n : 0;
        len -= n > 0 ? (size_t)n : 0;
    }
    return rc;
}

static void set_deadline(struct pr_hdf5_process *a)
{
    a->deadline = pr_clock_ns() + (uint64_t)pr_hdf5_patience_s * 1000000000u;
}

/* It takes what it gets, or it is at an end. */
static int hdf5_send(struct pr_reader *r, const struct pr_hdf5_message *n,
                     const void *data, size_t len, struct pr_err *err)
{
    if (pr_hdf5_send_message(pr_hdf5_state(r)->aside.fd, n, data, len))
        return PR_OK;
    return errno == EAGAIN ? timed_out(r, err) : hdf5_fail_crashed(r, err);
}

static int start_aside(struct pr_reader *r, struct pr_err *err)
{
    struct pr_hdf5_process *a = &pr_hdf5_state(r)->aside;
    struct timeval turn = {.tv_usec = TURN_MS * 1000},
                   most = {.tv_sec = pr_hdf5_patience_s};
    struct pr_hdf5_message hello;
    int ends[2], rc;

    if (a->pid && a->owner == getpid())
        return PR_OK;
    pr_hdf5_process_stop(r);
    rc = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) ? errno : 0;
    if (!rc) {
        rc = hdf5_spawn_child(ends[1], &a->pid);
        close(ends[1]);
        if (rc)
            close(ends[0]);
    }
    if (rc) {
        a->pid = 0;
        errno = rc;
        return rc == ENOMEM
                   ? pr_fail_nomem(err)
                   : pr_fail_errno(err, PR_E_IO, r->name,
                                   "no process can be started to read it");
    }
    (void)setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &turn, sizeof turn);
    (void)setsockopt(ends[0], SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most);
    a->owner = getpid();
    a->fd = ends[0];
    a->is_attached = a->is_there = false;
    set_deadline(a);
    rc = hdf5_receive(r, &hello, sizeof hello, err);
    a->is_there = !rc;
    return rc;
}

/* ---- questions */

/* A piece of what it wants to see: in memory already, or read. */
static int hdf5_get_piece(struct pr_reader *r, uint64_t off, size_t len,
                          const uint8_t **ret, struct pr_err *err)
{
    struct pr_hdf5_reader *h = pr_hdf5_state(r);
    uint8_t *buf;

    if (off <= h->io.head_len && len <= h->io.head_len - off) {
        *ret = h->io.head + off;
        return PR_OK;
    }
    buf = pr_hdf5_buf_grow(&h->aside.buf, PIECE);
    *ret = buf;
    return buf ? pr_object_read(&r->obj, off, len, buf, err)
               : pr_fail_nomem(err);
}

/* An error of the storage is kept for the end: libhdf5 only hears of it. Once
 * bytes are on their way there is nothing to say but the end. */
static int give_bytes(struct pr_reader *r, const struct pr_hdf5_message *n,
                      struct pr_err *err)
{
    struct pr_hdf5_process *a = &pr_hdf5_state(r)->aside;
    struct pr_hdf5_message back = {.kind = PR_HDF5_READ};
    const struct pr_hdf5_message *first = &back;
    uint64_t off = n->a, left = n->b;
    int rc = PR_OK;

    if (off > r->obj.size || left > r->obj.size - off || !left)
        back.rc = PR_E_FORMAT;
    while (!rc && !back.rc && left) {
        size_t len = left < PIECE ? (size_t)left : PIECE;
        const uint8_t *data = NULL;

        a->rc = back.rc = hdf5_get_piece(r, off, len, &data, &a->err);
        if (back.rc)
            break;
        rc = hdf5_send(r, first, data, len, err);
        first = NULL;
        off += len;
        left -= len;
    }
    if (rc || !back.rc)
        return rc;
    if (first)
        return hdf5_send(r, &back, NULL, 0, err);
    pr_hdf5_process_stop(r);
    *err = a->err;
    return back.rc;
}

/* Asks, gives it what it wants to see, and takes the answer: len bytes; after
 * those of PR_HDF5_LEARN more follow. */
static int hdf5_ask_child(struct pr_reader *r, const struct pr_hdf5_message *q,
                          const void *data, size_t data_len, void *ret,
                          size_t len, struct pr_err *err)
{
    struct pr_hdf5_process *a = &pr_hdf5_state(r)->aside;
    struct pr_err local = {0}, *why = err ? err : &local;
    struct pr_hdf5_message n;
    int rc = hdf5_send(r, q, data, data_len, why);

    a->rc = PR_OK;
    set_deadline(a);
    while (!rc) {
        uint64_t from;

        rc = hdf5_receive(r, &n, sizeof n, why);
        if (rc || n.kind != PR_HDF5_READ)
            break;
        from = pr_clock_ns();
        rc = give_bytes(r, &n, why);
        a->deadline += pr_clock_ns() - from; /* the storage's time is its own */
        if (!rc)
            rc = hdf5_check_deadline(r, why);
    }
    if (rc)
        return rc;
    if (!n.rc && (q->kind == PR_HDF5_LEARN ? n.a < len : n.a != len))
        return hdf5_fail_crashed(r, why);
    if (!n.rc)
        return hdf5_receive(r, ret, len, why);
    rc = hdf5_receive(r, why, sizeof *why, why);
    if (rc)
        return rc;
    why->where[sizeof why->where - 1] = why->msg[sizeof why->msg - 1] =
        why->hint[sizeof why->hint - 1] = '\0';
    if (a->rc)
        *why = a->err;
    else if (why->code == PR_E_FORMAT)
        (void)pr_reword(why, r->name, "%s", why->msg);
    return a->rc ? a->rc : n.rc < 0 ? n.rc : PR_E_FORMAT;
}

/* One whose memory is in disorder but that did not crash might say anything. */
static bool is_sane_set(const struct pr_hdf5_layout *lay,
                        const struct pr_hdf5_set *s)
{
    return (unsigned)s->type.dtype < PR_DTYPE_COUNT && s->type.bytes &&
           (unsigned)s->way <= PR_HDF5_LIBRARY && s->ndim &&
           s->ndim <= PR_HDF5_AXES && s->filter_count <= PR_HDF5_FILTERS &&
           s->slot < PR_HDF5_KEPT &&
           (s->way != PR_HDF5_CHUNKED || s->chunk[0]) &&
           (!lay->has_places || s->way != PR_HDF5_CHUNKED ||
            (s->first_place <= lay->place_count &&
             s->chunk_count <= lay->place_count - s->first_place));
}

static bool is_sane(const struct pr_hdf5_layout *lay)
{
    if (lay->place_count > PR_HDF5_PLACES ||
        (lay->has_labels && !is_sane_set(lay, &lay->labels)))
        return false;
    for (size_t i = 0; i < lay->count; i++)
        if (!is_sane_set(lay, &lay->sets[i]))
            return false;
    return true;
}

/* The sets behind a layout. */
static int take_sets(struct pr_reader *r, struct pr_hdf5_layout *lay,
                     struct pr_hdf5_set *mine, size_t cap, struct pr_err *err)
{
    int rc;

    if (!lay->count || lay->count > SETS_MAX)
        return hdf5_fail_crashed(r, err);
    if (lay->count > cap) {
        struct pr_hdf5_set *p = pr_realloc(mine, lay->count * sizeof *p);

        if (!p) {
            pr_hdf5_process_stop(r);
            return pr_fail_nomem(err);
        }
        mine = p;
        cap = lay->count;
    }
    lay->sets = mine;
    lay->cap = cap;
    pr_hdf5_state(r)->lay = *lay;
    rc = hdf5_receive(r, mine, lay->count * sizeof *mine, err);
    return rc || is_sane(&pr_hdf5_state(r)->lay) ? rc
                                                 : hdf5_fail_crashed(r, err);
}

/* The file is opened there. */
static int ask_to_open(struct pr_reader *r, uint32_t kind, void *ret,
                       size_t len, struct pr_err *err)
{
    const struct pr_hdf5_io *io = &pr_hdf5_state(r)->io;
    size_t most = pr_hdf5_state(r)->aside.head ? pr_hdf5_state(r)->aside.head
                                               : HEAD_FIRST;
    size_t head = io->head_len < most ? io->head_len : most;
    struct pr_hdf5_message q = {.kind = kind, .a = r->obj.size, .b = head};

    return hdf5_ask_child(r, &q, io->head, head, ret, len, err);
}

/* What it wanted to see of this file it gets of the next one unasked. */
static void note_head(struct pr_hdf5_process *a,
                      const struct pr_hdf5_layout_message *found)
{
    uint64_t end = HEAD_FIRST;

    for (unsigned i = 0; i < found->ranges && i < PR_HDF5_TRAIL_RANGES; i++) {
        uint64_t last = found->range[i].off + found->range[i].len;

        if (last > end && last <= PR_HDF5_HEAD)
            end = last;
    }
    a->head = found->is_full ? PR_HDF5_HEAD : (size_t)end;
}

/* The bytes that libhdf5 saw, which a file must have to be taken for alike. */
static int keep_trail(struct pr_reader *r,
                      const struct pr_hdf5_layout_message *found,
                      struct pr_err *err)
{
    struct pr_hdf5_trail *t = pr_hdf5_state(r)->trail;

    pr_hdf5_trail_clear(t);
    t->is_full = found->is_full || found->ranges > PR_HDF5_TRAIL_RANGES;
    for (unsigned i = 0; i < found->ranges && !t->is_full; i++) {
        const struct pr_hdf5_range *g = &found->range[i];
        const uint8_t *data;
        int rc;

        t->is_full = g->len > PIECE || g->off > r->obj.size ||
                     g->len > r->obj.size - g->off;
        if (t->is_full)
            break;
        rc = hdf5_get_piece(r, g->off, g->len, &data, err);
        if (rc)
            return rc;
        pr_hdf5_trail_add(t, g->off, data, g->len);
    }
    return PR_OK;
}

int pr_hdf5_read_layout(struct pr_reader *r, struct pr_err *err)
{
    struct pr_hdf5_reader *h = pr_hdf5_state(r);
    struct pr_hdf5_layout_message found;
    int rc;

    h->is_known = false;
    rc = start_aside(r, err);
    if (!rc)
        rc = ask_to_open(r, PR_HDF5_LEARN, &found, sizeof found, err);
    if (!rc)
        rc = take_sets(r, &found.lay, h->lay.sets, h->lay.cap, err);
    h->aside.learnt++;
    h->aside.is_attached = !rc && pr_hdf5_has_questions(&h->lay);
    if (!rc)
        note_head(&h->aside, &found);
    if (!rc)
        rc = keep_trail(r, &found, err);
    h->is_known = !rc && !h->trail->is_full;
    h->known_size = r->obj.size;
    if (!h->aside.is_attached && h->aside.learnt == 1)
        pr_hdf5_process_stop(r);
    return rc;
}

/* A question about a set of the open file. */
static int ask_of_set(struct pr_reader *r, const struct pr_hdf5_set *s,
                      struct pr_hdf5_message q, const void *data,
                      size_t data_len, void *ret, size_t len,
                      struct pr_err *err)
{
    struct pr_hdf5_reader *h = pr_hdf5_state(r);
    int rc = start_aside(r, err);

    if (!rc && !h->aside.is_attached)
        rc = ask_to_open(r, PR_HDF5_ATTACH, NULL, 0, err);
    if (rc)
        return rc;
    h->aside.is_attached = true;
    q.a = s == &h->lay.labels ? (uint64_t)PR_HDF5_LABEL_SET
                              : (uint64_t)(s - h->lay.sets);
    return hdf5_ask_child(r, &q, data, data_len, ret, len, err);
}

/* Chunks to ask for at once. Of a file with a moderate number of them more each
 * time, until all are known; of others a few, for they may be wanted in any
 * order. */
static uint64_t block_size(const struct pr_hdf5_set *s, uint64_t last)
{
    enum { FIRST = 16, GROWTH = 8 };

    if (s->chunk_count > PR_HDF5_BLOCK || !last)
        return FIRST;
    return last < PR_HDF5_BLOCK / GROWTH ? last * GROWTH : PR_HDF5_BLOCK;
}

int pr_hdf5_find_place(struct pr_reader *r, const struct pr_hdf5_set *s,
                       uint64_t index, struct pr_hdf5_place *ret,
                       struct pr_err *err)
{
    struct pr_hdf5_place_block *b = &pr_hdf5_state(r)->block;
    uint64_t first, n;
    int rc;

    if (b->set == s && index >= b->first && index - b->first < b->count) {
        *ret = b->place[index - b->first];
        return PR_OK;
    }
    if (!b->place)
        b->place = pr_alloc(PR_HDF5_BLOCK * sizeof *b->place);
    if (!b->place)
        return pr_fail_nomem(err);
    n = block_size(s, b->set == s ? b->asked : 0);
    first = index - index % n;
    b->set = NULL;
    b->asked = n;
    n = n < s->chunk_count - first ? n : s->chunk_count - first;
    rc = ask_of_set(
        r, s,
        (struct pr_hdf5_message){.kind = PR_HDF5_PLACE, .b = first, .c = n},
        NULL, 0, b->place, (size_t)(n * sizeof *b->place), err);
    if (rc)
        return rc;
    b->set = s;
    b->first = first;
    b->count = n;
    *ret = b->place[index - first];
    return PR_OK;
}

int pr_hdf5_library_rows(struct pr_reader *r, const struct pr_hdf5_set *s,
                         uint64_t first, uint64_t count, uint8_t *dst,
                         struct pr_err *err)
{
    struct pr_hdf5_message q = {.kind = PR_HDF5_ROWS, .b = first, .c = count};

    return ask_of_set(r, s, q, NULL, 0, dst, (size_t)(count * s->row_bytes),
                      err);
}

int pr_hdf5_convert(struct pr_reader *r, const struct pr_hdf5_set *s,
                    uint8_t *data, struct pr_err *err)
{
    struct pr_hdf5_message q = {.kind = PR_HDF5_CONVERT};

    return ask_of_set(r, s, q, data, (size_t)s->row_bytes, data,
                      (size_t)s->out_bytes, err);
}
