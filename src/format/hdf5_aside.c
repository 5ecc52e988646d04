/*
 * libhdf5 in a process of its own. It reads files that anybody may have made,
 * and some make it crash: then the process is gone, and the reader says so.
 *
 * The process is a fork, made while libhdf5 is ours (pr_h5_enter), so that what
 * it holds is in order there. It has nothing open but a socket, and asks for
 * the bytes that libhdf5 wants to see: they are read here, by whatever engine.
 * It calls libhdf5 and malloc, which glibc keeps usable in a fork of a program
 * with threads, and nothing else that could have a lock.
 * One that has nothing left to tell is ended, unless files differ so that the
 * next one will be asked for soon.
 */
#include "base/mem.h"
#include "format/hdf5_impl.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum kind { LEARN, ATTACH, PLACE, ROWS, CONVERT, READ, DONE };

/* Of what is asked: LEARN and ATTACH a: size of the file, b: so many of its
 * first bytes follow. PLACE and ROWS b: first, c: count. PLACE, ROWS, CONVERT
 * a: which set. CONVERT: data follows. READ a: offset, b: length. DONE rc, 0: a
 * bytes follow; else: the error. */
struct note {
    uint32_t kind;
    int32_t rc;
    uint64_t a, b, c;
};

enum {
    LABELS = -1,        /* which set */
    SETS_MAX = 1 << 20, /* of a file */
    PIECE = 64 << 10,   /* of bytes that are read for it */
    HEAD = 64 << 10,    /* of a file, that it gets at once */
    PATIENCE = 60,      /* seconds that an answer may take */
};

static struct pr_h5_reader *of(struct pr_reader *r)
{
    return r->data;
}

static struct pr_h5_set *set_at(struct pr_h5_layout *lay, uint64_t which)
{
    if (which == (uint64_t)LABELS)
        return lay->has_labels ? &lay->labels : NULL;
    return which < lay->count ? &lay->sets[which] : NULL;
}

static bool give(int fd, const void *data, size_t len)
{
    const uint8_t *p = data;

    while (len) {
        ssize_t n = send(fd, p, len, MSG_NOSIGNAL);

        if (n < 0 && errno != EINTR)
            return false;
        p += n > 0 ? n : 0;
        len -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

/* ---- in the process aside */

/* Its only descriptor. */
enum { LINE = 0 };

static bool take_here(void *data, size_t len)
{
    uint8_t *p = data;

    while (len) {
        ssize_t n = recv(LINE, p, len, 0);

        if (n == 0 || (n < 0 && errno != EINTR))
            return false;
        p += n > 0 ? n : 0;
        len -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

static int ask_for_bytes(uint64_t off, size_t len, void *buf)
{
    struct note n = {.kind = READ, .a = off, .b = len}, back;

    if (!give(LINE, &n, sizeof n) || !take_here(&back, sizeof back))
        _exit(0);
    if (back.rc)
        return -1;
    if (!take_here(buf, len))
        _exit(0);
    return 0;
}

static void reply(int rc, const struct pr_err *err, const void *data,
                  size_t len)
{
    struct note n = {.kind = DONE, .rc = rc, .a = rc ? 0 : len};

    if (!give(LINE, &n, sizeof n) ||
        !(rc ? give(LINE, err, sizeof *err) : give(LINE, data, len)))
        _exit(0);
}

/* What was learnt, but for sets and bytes, which follow or are known. */
struct learnt {
    struct pr_h5_layout lay;
    unsigned ranges;
    bool is_full;
    struct pr_h5_range range[PR_H5_TRAIL_RANGES];
};

static void learn_here(struct pr_reader *r)
{
    static struct learnt found;
    struct pr_h5_reader *h = of(r);
    struct pr_err err = {0};
    int rc;

    h->io.trail = h->trail;
    pr_h5_trail_clear(h->trail);
    rc = pr_h5_learn_here(r, &err);
    h->io.trail = NULL;
    found.lay = h->lay;
    found.ranges = h->trail->count;
    found.is_full = h->trail->is_full;
    memcpy(found.range, h->trail->range, sizeof found.range);
    reply(rc, &err, &found, sizeof found);
    if (!rc && !give(LINE, h->lay.sets, h->lay.count * sizeof *h->lay.sets))
        _exit(0);
}

static void open_here(struct pr_reader *r, const struct note *q)
{
    static uint8_t head[HEAD];
    struct pr_h5_reader *h = of(r);
    struct pr_err err = {0};

    pr_h5_detach(r);
    r->obj.size = q->a;
    h->io.head_len = 0;
    if (q->b > sizeof head || !take_here(head, (size_t)q->b))
        _exit(0);
    h->io.head = head;
    h->io.head_len = (size_t)q->b;
    if (q->kind == LEARN)
        learn_here(r);
    else
        reply(pr_h5_attach(r, &err), &err, NULL, 0);
}

static void places_here(struct pr_reader *r, const struct note *q,
                        const struct pr_h5_set *s)
{
    struct pr_h5_place *place = (struct pr_h5_place *)pr_h5_grow(
        &of(r)->raw, PR_H5_BLOCK * sizeof *place);
    struct pr_err err = {0};
    int rc = place && q->c <= PR_H5_BLOCK ? PR_OK : pr_fail_nomem(&err);

    for (uint64_t i = 0; !rc && i < q->c; i++)
        rc = pr_h5_find_place_here(r, s, q->b + i, &place[i], &err);
    reply(rc, &err, place, (size_t)(q->c * sizeof *place));
}

static void rows_here(struct pr_reader *r, const struct note *q,
                      const struct pr_h5_set *s)
{
    uint64_t bytes = q->c * s->row_bytes;
    uint8_t *data = pr_h5_grow(&of(r)->raw, bytes);
    struct pr_err err = {0};
    int rc = data ? pr_h5_library_rows_here(r, s, q->b, q->c, data, &err)
                  : pr_fail_nomem(&err);

    reply(rc, &err, data, (size_t)bytes);
}

static void pass_over(uint64_t bytes)
{
    uint8_t nowhere[4096];

    for (uint64_t n; bytes; bytes -= n) {
        n = bytes < sizeof nowhere ? bytes : sizeof nowhere;
        if (!take_here(nowhere, (size_t)n))
            _exit(0);
    }
}

static void convert_here(struct pr_reader *r, const struct pr_h5_set *s)
{
    uint64_t most = s->row_bytes > s->out_bytes ? s->row_bytes : s->out_bytes;
    uint8_t *data = pr_h5_grow(&of(r)->raw, most);
    struct pr_err err = {0};
    int rc;

    if (!data)
        pass_over(s->row_bytes);
    else if (!take_here(data, (size_t)s->row_bytes))
        _exit(0);
    rc = data ? pr_h5_convert_here(r, s, data, &err) : pr_fail_nomem(&err);
    reply(rc, &err, data, (size_t)s->out_bytes);
}

static void answer(struct pr_reader *r, const struct note *q)
{
    const struct pr_h5_set *s = NULL;

    if (q->kind == LEARN || q->kind == ATTACH) {
        open_here(r, q);
        return;
    }
    s = set_at(&of(r)->lay, q->a);
    if (!s)
        _exit(0);
    if (q->kind == PLACE)
        places_here(r, q, s);
    else if (q->kind == ROWS)
        rows_here(r, q, s);
    else
        convert_here(r, s);
}

/* Nothing of the program's is left to it but memory: no descriptor, no handler,
 * no core when it crashes. Whoever interrupts the program ends it by that. */
static void settle(int fd)
{
    static const int ignored[] = {SIGINT,  SIGTERM, SIGHUP,
                                  SIGQUIT, SIGUSR1, SIGUSR2};
    struct rlimit none = {0, 0};
    sigset_t all;

    for (int i = 1; i < NSIG; i++)
        (void)signal(i, SIG_DFL);
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        (void)signal(ignored[i], SIG_IGN);
    sigemptyset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    if (dup2(fd, LINE) < 0)
        _exit(0);
    closefrom(LINE + 1);
    (void)setrlimit(RLIMIT_CORE, &none);
    (void)setrlimit(RLIMIT_NOFILE, &none);
    (void)prctl(PR_SET_NAME, "prony-hdf5");
}

__attribute__((noreturn)) static void live_aside(struct pr_reader *r, int fd)
{
    struct pr_h5_reader *h = of(r);
    struct note q;

    pr_h5_leave(h->h5);
    settle(fd);
    h->io.ask = ask_for_bytes;
    h->access = h->file = 0;
    while (take_here(&q, sizeof q))
        answer(r, &q);
    _exit(0);
}

/* ---- in the program */

static int start_aside(struct pr_reader *r, struct pr_err *err)
{
    struct pr_h5_reader *h = of(r);
    sigset_t all, before;
    int ends[2];
    pid_t pid;

    if (h->aside.pid)
        return PR_OK;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
        return pr_fail_errno(err, PR_E_IO, r->name,
                             "no process can be started to read it");
    sigfillset(&all);
    pr_h5_enter(h->h5);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid = fork();
    if (!pid)
        live_aside(r, ends[1]);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pr_h5_leave(h->h5);
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return pr_fail_errno(err, PR_E_IO, r->name,
                             "no process can be started to read it");
    }
    h->aside.pid = pid;
    h->aside.fd = ends[0];
    h->aside.is_attached = false;
    return PR_OK;
}

/* Its status, or 0 if somebody else was told. One that crashed keeps the signal
 * it died by; one that said what makes no sense still waits for a question. */
static int end_aside(struct pr_h5_aside *a)
{
    int status = 0;

    (void)kill(a->pid, SIGKILL);
    while (waitpid(a->pid, &status, 0) < 0 && errno == EINTR)
        ;
    close(a->fd);
    a->pid = 0;
    a->is_attached = false;
    return status;
}

void pr_h5_aside_stop(struct pr_reader *r)
{
    struct pr_h5_aside *a = &of(r)->aside;

    if (a->pid)
        (void)end_aside(a);
}

static int crashed(struct pr_reader *r, struct pr_err *err)
{
    int status = end_aside(&of(r)->aside);
    char how[40] = "";

    if (WIFSIGNALED(status))
        snprintf(how, sizeof how, " (signal %d)", WTERMSIG(status));
    pr_fail(err, PR_E_FORMAT, r->name, "libhdf5 crashed on it%s", how);
    return pr_hint(err, "the file is damaged, or made to do harm");
}

/* Waits in short turns, to hear of an interrupt. */
static int wait_for(struct pr_reader *r, struct pr_err *err)
{
    enum { TURN = 200 };
    struct pollfd p = {.fd = of(r)->aside.fd, .events = POLLIN};

    for (int ms = 0; ms < PATIENCE * 1000; ms += TURN) {
        int n = poll(&p, 1, TURN);

        if (n > 0)
            return PR_OK;
        if (pr_storage_stopped(r->st)) {
            pr_h5_aside_stop(r);
            return pr_fail(err, PR_E_INTR, "", "interrupted");
        }
    }
    pr_h5_aside_stop(r);
    return pr_fail(err, PR_E_FORMAT, r->name,
                   "libhdf5 timed out after %d s over it", PATIENCE);
}

static int take(struct pr_reader *r, void *data, size_t len, struct pr_err *err)
{
    uint8_t *p = data;

    while (len) {
        int rc = wait_for(r, err);
        ssize_t n = rc ? 0 : recv(of(r)->aside.fd, p, len, 0);

        if (rc)
            return rc;
        if (n == 0 || (n < 0 && errno != EINTR))
            return crashed(r, err);
        p += n > 0 ? n : 0;
        len -= n > 0 ? (size_t)n : 0;
    }
    return PR_OK;
}

/* A piece of what it wants to see: in memory already, or read. */
static int piece_of(struct pr_reader *r, uint64_t off, size_t len,
                    const uint8_t **ret, struct pr_err *err)
{
    struct pr_h5_reader *h = of(r);
    uint8_t *buf;

    if (off <= h->io.head_len && len <= h->io.head_len - off) {
        *ret = h->io.head + off;
        return PR_OK;
    }
    buf = pr_h5_grow(&h->aside.buf, PIECE);
    *ret = buf;
    return buf ? pr_object_read(&r->obj, off, len, buf, err)
               : pr_fail_nomem(err);
}

/* An error of the storage is kept for the end: libhdf5 only hears of it. Once
 * bytes are on their way there is nothing to say but the end. */
static int give_bytes(struct pr_reader *r, const struct note *n,
                      struct pr_err *err)
{
    struct pr_h5_aside *a = &of(r)->aside;
    struct note back = {.kind = READ};
    uint64_t off = n->a, left = n->b;
    bool first = true;

    if (off > r->obj.size || left > r->obj.size - off || !left)
        back.rc = PR_E_FORMAT;
    while (!back.rc && left) {
        size_t len = left < PIECE ? (size_t)left : PIECE;
        const uint8_t *data = NULL;
        int rc = piece_of(r, off, len, &data, &a->err);

        if (rc) {
            a->rc = back.rc = rc;
            if (!first) {
                pr_h5_aside_stop(r);
                *err = a->err;
                return rc;
            }
            break;
        }
        if ((first && !give(a->fd, &back, sizeof back)) ||
            !give(a->fd, data, len))
            return crashed(r, err);
        first = false;
        off += len;
        left -= len;
    }
    return !back.rc || give(a->fd, &back, sizeof back) ? PR_OK
                                                       : crashed(r, err);
}

/* Asks, gives it what it wants to see, and takes the answer: len bytes. */
static int ask(struct pr_reader *r, const struct note *q, const void *data,
               size_t data_len, void *ret, size_t len, struct pr_err *err)
{
    struct pr_h5_aside *a = &of(r)->aside;
    struct pr_err local = {0}, *why = err ? err : &local;
    struct note n;
    int rc = PR_OK;

    a->rc = PR_OK;
    if (!give(a->fd, q, sizeof *q) || !give(a->fd, data, data_len))
        return crashed(r, why);
    do {
        rc = take(r, &n, sizeof n, why);
        if (!rc && n.kind == READ)
            rc = give_bytes(r, &n, why);
    } while (!rc && n.kind == READ);
    if (rc)
        return rc;
    if (!n.rc)
        return n.a == len ? take(r, ret, len, why) : crashed(r, why);
    rc = take(r, why, sizeof *why, why);
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
static bool is_sane_set(const struct pr_h5_layout *lay,
                        const struct pr_h5_set *s)
{
    return (unsigned)s->type.dtype < PR_DTYPE_COUNT && s->type.bytes &&
           (unsigned)s->way <= PR_H5_LIBRARY && s->ndim &&
           s->ndim <= PR_H5_AXES && s->filter_count <= PR_H5_FILTERS &&
           s->slot < PR_H5_KEPT && (s->way != PR_H5_CHUNKED || s->chunk[0]) &&
           (!lay->has_places || s->way != PR_H5_CHUNKED ||
            (s->first_place <= lay->place_count &&
             s->chunk_count <= lay->place_count - s->first_place));
}

static bool is_sane(const struct pr_h5_layout *lay)
{
    if (lay->place_count > PR_H5_PLACES ||
        (lay->has_labels && !is_sane_set(lay, &lay->labels)))
        return false;
    for (size_t i = 0; i < lay->count; i++)
        if (!is_sane_set(lay, &lay->sets[i]))
            return false;
    return true;
}

/* The sets behind a layout. */
static int take_sets(struct pr_reader *r, struct pr_h5_layout *lay,
                     struct pr_h5_set *mine, size_t cap, struct pr_err *err)
{
    int rc;

    if (!lay->count || lay->count > SETS_MAX)
        return crashed(r, err);
    if (lay->count > cap) {
        struct pr_h5_set *p = pr_realloc(mine, lay->count * sizeof *p);

        if (!p) {
            pr_h5_aside_stop(r);
            return pr_fail_nomem(err);
        }
        mine = p;
        cap = lay->count;
    }
    lay->sets = mine;
    lay->cap = cap;
    of(r)->lay = *lay;
    rc = take(r, mine, lay->count * sizeof *mine, err);
    return rc || is_sane(&of(r)->lay) ? rc : crashed(r, err);
}

/* The file is opened there. */
static int ask_to_open(struct pr_reader *r, enum kind kind, void *ret,
                       size_t len, struct pr_err *err)
{
    const struct pr_h5_io *io = &of(r)->io;
    size_t head = io->head_len < HEAD ? io->head_len : HEAD;
    struct note q = {.kind = kind, .a = r->obj.size, .b = head};

    return ask(r, &q, io->head, head, ret, len, err);
}

/* The bytes that libhdf5 saw, which a file must have to be taken for alike. */
static int keep_trail(struct pr_reader *r, const struct learnt *found,
                      struct pr_err *err)
{
    struct pr_h5_trail *t = of(r)->trail;

    pr_h5_trail_clear(t);
    t->is_full = found->is_full || found->ranges > PR_H5_TRAIL_RANGES;
    for (unsigned i = 0; i < found->ranges && !t->is_full; i++) {
        const struct pr_h5_range *g = &found->range[i];
        const uint8_t *data;
        int rc;

        t->is_full = g->len > PIECE || g->off > r->obj.size ||
                     g->len > r->obj.size - g->off;
        if (t->is_full)
            break;
        rc = piece_of(r, g->off, g->len, &data, err);
        if (rc)
            return rc;
        pr_h5_trail_note(t, g->off, data, g->len);
    }
    return PR_OK;
}

int pr_h5_learn(struct pr_reader *r, struct pr_err *err)
{
    struct pr_h5_reader *h = of(r);
    struct learnt found;
    int rc;

    h->is_known = false;
    rc = start_aside(r, err);
    if (!rc)
        rc = ask_to_open(r, LEARN, &found, sizeof found, err);
    if (!rc)
        rc = take_sets(r, &found.lay, h->lay.sets, h->lay.cap, err);
    h->aside.learnt++;
    h->aside.is_attached = !rc && pr_h5_has_questions(&h->lay);
    if (!rc)
        rc = keep_trail(r, &found, err);
    h->is_known = !rc && !h->trail->is_full;
    h->known_size = r->obj.size;
    if (!h->aside.is_attached && h->aside.learnt == 1)
        pr_h5_aside_stop(r);
    return rc;
}

/* A question about a set of the open file. */
static int ask_of_set(struct pr_reader *r, const struct pr_h5_set *s,
                      struct note q, const void *data, size_t data_len,
                      void *ret, size_t len, struct pr_err *err)
{
    struct pr_h5_reader *h = of(r);
    int rc = start_aside(r, err);

    if (!rc && !h->aside.is_attached)
        rc = ask_to_open(r, ATTACH, NULL, 0, err);
    if (rc)
        return rc;
    h->aside.is_attached = true;
    q.a = s == &h->lay.labels ? (uint64_t)LABELS : (uint64_t)(s - h->lay.sets);
    return ask(r, &q, data, data_len, ret, len, err);
}

/* Chunks to ask for at once. Of a file with a moderate number of them more each
 * time, until all are known; of others a few, for they may be wanted in any
 * order. */
static uint64_t block_size(const struct pr_h5_set *s, uint64_t last)
{
    enum { FIRST = 16, GROWTH = 8 };

    if (s->chunk_count > PR_H5_BLOCK || !last)
        return FIRST;
    return last < PR_H5_BLOCK / GROWTH ? last * GROWTH : PR_H5_BLOCK;
}

int pr_h5_find_place(struct pr_reader *r, const struct pr_h5_set *s,
                     uint64_t index, struct pr_h5_place *ret,
                     struct pr_err *err)
{
    struct pr_h5_block *b = &of(r)->block;
    uint64_t first, n;
    int rc;

    if (b->set == s && index >= b->first && index - b->first < b->count) {
        *ret = b->place[index - b->first];
        return PR_OK;
    }
    if (!b->place)
        b->place = pr_alloc(PR_H5_BLOCK * sizeof *b->place);
    if (!b->place)
        return pr_fail_nomem(err);
    n = block_size(s, b->set == s ? b->asked : 0);
    first = index - index % n;
    b->set = NULL;
    b->asked = n;
    n = n < s->chunk_count - first ? n : s->chunk_count - first;
    rc = ask_of_set(r, s, (struct note){.kind = PLACE, .b = first, .c = n},
                    NULL, 0, b->place, (size_t)(n * sizeof *b->place), err);
    if (rc)
        return rc;
    b->set = s;
    b->first = first;
    b->count = n;
    *ret = b->place[index - first];
    return PR_OK;
}

int pr_h5_library_rows(struct pr_reader *r, const struct pr_h5_set *s,
                       uint64_t first, uint64_t count, uint8_t *dst,
                       struct pr_err *err)
{
    struct note q = {.kind = ROWS, .b = first, .c = count};

    return ask_of_set(r, s, q, NULL, 0, dst, (size_t)(count * s->row_bytes),
                      err);
}

int pr_h5_convert(struct pr_reader *r, const struct pr_h5_set *s, uint8_t *data,
                  struct pr_err *err)
{
    struct note q = {.kind = CONVERT};

    return ask_of_set(r, s, q, data, (size_t)s->row_bytes, data,
                      (size_t)s->out_bytes, err);
}
