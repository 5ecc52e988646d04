/*
 * The process aside: libhdf5 reads files there that anybody may have made, and
 * some make it crash. It is the program, started again (hdf5_process.c) and
 * taken over before its main; it has nothing open but a socket, and asks for
 * the bytes that libhdf5 wants to see.
 */
#include "format/hdf5/hdf5_server.h"

#include "base/mem.h"
#include "format/hdf5/hdf5_layout.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#ifndef SYS_close_range /* since Linux 5.9 */
#define SYS_close_range 436
#endif

enum {
    LOOK = 2,         /* seconds after which it looks whether we are there */
    MEMORY = 1 << 30, /* that it may take, and SHARE times the file's size */
    SHARE = 4,
};

static const char *hdf5_child_set_name(const struct pr_hdf5_layout *lay,
                                       size_t i, char name[static PR_HDF5_NAME])
{
    if (!lay->is_records)
        return lay->name;
    snprintf(name, PR_HDF5_NAME, "records_%zu", i);
    return name;
}

/* ---- opening and closing in libhdf5 */

static int hdf5_child_open_file(struct pr_reader *r, struct pr_err *err)
{
    struct pr_hdf5_reader *h = pr_hdf5_state(r);
    hid_t file;

    if (h->access <= 0)
        h->access = pr_hdf5_io_access(&h->io);
    if (h->access < 0)
        return pr_hdf5_io_fail(&h->io, r->name, err, "cannot be opened");
    file = pr_hdf5_io_open(&h->io, h->access);
    if (file < 0)
        return pr_hdf5_io_fail(&h->io, r->name, err, "not a whole HDF5 file");
    h->file = file;
    return PR_OK;
}

static void hdf5_child_close_file(struct pr_hdf5_reader *h)
{
    h->io.is_learning = false;
    if (h->file > 0)
        pr_hdf5_io_close(&h->io, h->file); /* and its data sets */
    h->file = 0;
    h->h5->H5Eclear2(H5E_DEFAULT);
}

static int hdf5_child_open_set(struct pr_reader *r, const char *name,
                               hid_t *ret, struct pr_err *err)
{
    struct pr_hdf5_reader *h = pr_hdf5_state(r);
    char what[PR_HDF5_NAME + 40];
    hid_t id = h->h5->H5Dopen2(h->file, name, H5P_DEFAULT);

    if (id < 0) {
        snprintf(what, sizeof what, "data set '%.200s' cannot be opened", name);
        return pr_hdf5_io_fail(&h->io, r->name, err, what);
    }
    *ret = id;
    return PR_OK;
}

static int open_sets(struct pr_reader *r, struct pr_err *err)
{
    struct pr_hdf5_layout *lay = &pr_hdf5_state(r)->lay;
    char name[PR_HDF5_NAME];
    int rc = hdf5_child_open_file(r, err);

    for (size_t i = 0; !rc && i < lay->count; i++)
        rc = hdf5_child_open_set(r, hdf5_child_set_name(lay, i, name),
                                 &lay->sets[i].id, err);
    if (!rc && lay->has_labels)
        rc = hdf5_child_open_set(r, "labels", &lay->labels.id, err);
    if (rc)
        hdf5_child_close_file(pr_hdf5_state(r));
    return rc;
}

/* ---- learning */

static int add_set(struct pr_reader *r, const char *name, struct pr_err *err)
{
    struct pr_hdf5_layout *lay = &pr_hdf5_state(r)->lay;
    const char *why;
    hid_t id;
    int rc;

    if (lay->count == lay->cap) {
        size_t cap = lay->cap ? 2 * lay->cap : 1;
        struct pr_hdf5_set *p = pr_realloc(lay->sets, cap * sizeof *p);
        if (!p)
            return pr_fail_nomem(err);
        lay->sets = p;
        lay->cap = cap;
    }
    rc = hdf5_child_open_set(r, name, &id, err);
    if (rc)
        return rc;
    why = pr_hdf5_read_set(pr_hdf5_state(r)->h5, id, r->obj.size,
                           &lay->sets[lay->count]);
    if (why)
        return pr_reader_bad(r, pr_hdf5_state(r)->io.last, err,
                             "data set '%.200s' %s", name, why);
    lay->sets[lay->count].slot = (unsigned)(lay->count % (PR_HDF5_KEPT - 1));
    lay->count++;
    return PR_OK;
}

static int add_records(struct pr_reader *r, struct pr_err *err)
{
    struct pr_hdf5_reader *h = pr_hdf5_state(r);
    struct pr_hdf5_layout *lay = &h->lay;
    char name[PR_HDF5_NAME];
    int rc = PR_OK;

    lay->is_records = true;
    while (!rc) {
        htri_t is = h->h5->H5Lexists(
            h->file, hdf5_child_set_name(lay, lay->count, name), H5P_DEFAULT);

        if (is < 0)
            return pr_hdf5_io_fail(&h->io, r->name, err,
                                   "the list of data sets cannot be read");
        if (!is)
            break;
        rc = add_set(r, name, err);
    }
    lay->is_records = lay->count > 0;
    return rc;
}

struct search {
    struct pr_hdf5_reader *h;
    uint64_t size;
    const char *why; /* the last one will not do */
};

static bool is_for_labels(const char *name)
{
    return strcmp(name, "labels") == 0 || strcmp(name, "label") == 0 ||
           strcmp(name, "y") == 0;
}

/* Called for what is in the root group, by name; stops at a data set. */
static herr_t find_set(hid_t group, const char *name, const H5L_info_t *info,
                       void *ctx)
{
    struct search *s = ctx;
    const struct pr_hdf5_api *h5 = s->h->h5;
    struct pr_hdf5_set set;
    hid_t id;

    (void)info;
    if (is_for_labels(name) || strlen(name) >= PR_HDF5_NAME)
        return 0;
    id = h5->H5Dopen2(group, name, H5P_DEFAULT);
    if (id < 0)
        return 0;
    s->why = pr_hdf5_read_set(h5, id, s->size, &set);
    h5->H5Dclose(id);
    memcpy(s->h->lay.name, name, strlen(name) + 1);
    return s->why ? 0 : 1;
}

static int add_first(struct pr_reader *r, struct pr_err *err)
{
    struct pr_hdf5_reader *h = pr_hdf5_state(r);
    struct search s = {.h = h, .size = r->obj.size};
    herr_t rc = h->h5->H5Literate(h->file, H5_INDEX_NAME, H5_ITER_INC, NULL,
                                  find_set, &s);

    if (rc < 0)
        return pr_hdf5_io_fail(&h->io, r->name, err,
                               "the list of data sets cannot be read");
    if (!rc && s.why)
        return pr_reader_bad(r, h->io.last, err, "data set '%.200s' %s",
                             h->lay.name, s.why);
    if (!rc)
        return pr_reader_bad(r, 0, err,
                             "there is no data set of samples at the top");
    return add_set(r, h->lay.name, err);
}

static bool is_label_set(const struct pr_hdf5_set *s, uint64_t samples)
{
    char letter = pr_dtype_letter(s->type.dtype);

    return s->ndim == 1 && s->dim[0] == samples && !s->type.is_blob &&
           !s->type.is_odd && (letter == 'i' || letter == 'u');
}

/* One that is no list of whole numbers is not for us: no error. */
static int add_labels(struct pr_reader *r, struct pr_err *err)
{
    struct pr_hdf5_reader *h = pr_hdf5_state(r);
    struct pr_hdf5_layout *lay = &h->lay;
    htri_t is = h->h5->H5Lexists(h->file, "labels", H5P_DEFAULT);
    hid_t id;
    int rc;

    if (is < 0)
        return pr_hdf5_io_fail(&h->io, r->name, err,
                               "the list of data sets cannot be read");
    if (!is)
        return PR_OK;
    rc = hdf5_child_open_set(r, "labels", &id, err);
    if (rc)
        return rc;
    lay->has_labels = !pr_hdf5_read_set(h->h5, id, r->obj.size, &lay->labels) &&
                      is_label_set(&lay->labels, lay->samples);
    lay->labels.slot = PR_HDF5_KEPT - 1;
    return PR_OK;
}

static int hdf5_child_sum_samples(struct pr_reader *r, struct pr_err *err)
{
    struct pr_hdf5_layout *lay = &pr_hdf5_state(r)->lay;

    lay->samples = lay->sets[0].dim[0];
    for (size_t i = 0; i < lay->count; i++) {
        if (lay->sets[i].dim[0] != lay->samples)
            return pr_reader_bad(
                r, 0, err, "records_0 has %llu samples but records_%zu %llu",
                (unsigned long long)lay->samples, i,
                (unsigned long long)lay->sets[i].dim[0]);
        /* Each is below 1033 times the size: no overflow that a file of less
         * than some petabytes could bring about. */
        if (__builtin_add_overflow(lay->sample_bytes, lay->sets[i].out_bytes,
                                   &lay->sample_bytes))
            return pr_reader_bad(r, 0, err, "samples are larger than memory");
    }
    return PR_OK;
}

/* ---- chunks */

static int place_set(struct pr_reader *r, struct pr_hdf5_set *s,
                     struct pr_err *err)
{
    struct pr_hdf5_layout *lay = &pr_hdf5_state(r)->lay;

    s->first_place = lay->place_count;
    if (s->way != PR_HDF5_CHUNKED)
        return PR_OK;
    for (uint64_t i = 0; i < s->chunk_count; i++) {
        int rc = pr_hdf5_find_place_here(r, s, i, &lay->place[lay->place_count],
                                         err);
        if (rc)
            return rc;
        lay->place_count++;
    }
    return PR_OK;
}

/* Where all chunks are, if they are few. */
static int place_all(struct pr_reader *r, struct pr_err *err)
{
    struct pr_hdf5_layout *lay = &pr_hdf5_state(r)->lay;
    uint64_t n = lay->has_labels ? lay->labels.chunk_count : 0;
    int rc = PR_OK;

    for (size_t i = 0; i < lay->count && n <= PR_HDF5_PLACES; i++)
        n += lay->sets[i].chunk_count;
    if (n > PR_HDF5_PLACES)
        return PR_OK;
    for (size_t i = 0; !rc && i < lay->count; i++)
        rc = place_set(r, &lay->sets[i], err);
    if (!rc && lay->has_labels)
        rc = place_set(r, &lay->labels, err);
    lay->has_places = !rc;
    return rc;
}

static int learn_all(struct pr_reader *r, struct pr_err *err)
{
    struct pr_hdf5_layout *lay = &pr_hdf5_state(r)->lay;
    int rc = hdf5_child_open_file(r, err);

    if (!rc)
        rc = add_records(r, err);
    if (!rc && !lay->count)
        rc = add_first(r, err);
    if (!rc)
        rc = hdf5_child_sum_samples(r, err);
    if (!rc)
        rc = add_labels(r, err);
    if (!rc)
        rc = place_all(r, err);
    return rc;
}

static bool is_open_question(const struct pr_hdf5_layout *lay,
                             const struct pr_hdf5_set *s)
{
    return s->way == PR_HDF5_LIBRARY || s->type.is_odd ||
           (s->way == PR_HDF5_CHUNKED && !lay->has_places);
}

bool pr_hdf5_has_questions(const struct pr_hdf5_layout *lay)
{
    bool any = lay->has_labels && is_open_question(lay, &lay->labels);

    for (size_t i = 0; i < lay->count && !any; i++)
        any = is_open_question(lay, &lay->sets[i]);
    return any;
}

static int learn_file(struct pr_reader *r, struct pr_err *err)
{
    struct pr_hdf5_reader *h = pr_hdf5_state(r);
    struct pr_hdf5_set *sets = h->lay.sets;
    size_t cap = h->lay.cap;
    int rc;

    h->lay = (struct pr_hdf5_layout){.sets = sets, .cap = cap};
    rc = learn_all(r, err);
    if (rc || !pr_hdf5_has_questions(&h->lay))
        hdf5_child_close_file(h);
    return rc;
}

static struct pr_hdf5_set *set_at(struct pr_hdf5_layout *lay, uint64_t which)
{
    if (which == (uint64_t)PR_HDF5_LABEL_SET)
        return lay->has_labels ? &lay->labels : NULL;
    return which < lay->count ? &lay->sets[which] : NULL;
}

/* ---- the process */

static struct {
    struct pr_reader r;
    struct pr_hdf5_reader h;
    struct pr_hdf5_trail trail;
    uint8_t head[PR_HDF5_HEAD];
    bool is_known; /* h.lay is what the program has */
    pid_t parent;
    uint64_t memory; /* that it had at the start */
    struct rlimit limit;
} me;

static void end_if_alone(int signal)
{
    (void)signal;
    if (getppid() != me.parent)
        _exit(0);
}

/* Another process may hold the other end, so that the end of the program is
 * not the end of the line. */
static void take_here(void *data, size_t len)
{
    uint8_t *p = data;

    while (len) {
        ssize_t n = recv(PR_HDF5_LINE, p, len, 0);

        if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
            _exit(0);
        if (n < 0)
            end_if_alone(0);
        p += n > 0 ? n : 0;
        len -= n > 0 ? (size_t)n : 0;
    }
}

static int ask_for_bytes(uint64_t off, size_t len, void *buf)
{
    struct pr_hdf5_message n = {.kind = PR_HDF5_READ, .a = off, .b = len}, back;

    if (!pr_hdf5_send_message(PR_HDF5_LINE, &n, NULL, 0))
        _exit(0);
    take_here(&back, sizeof back);
    if (back.rc)
        return -1;
    take_here(buf, len);
    return 0;
}

static void hdf5_child_reply(int rc, const struct pr_err *err, const void *data,
                             size_t len)
{
    struct pr_hdf5_message n = {
        .kind = PR_HDF5_DONE, .rc = rc, .a = rc ? 0 : len};

    if (!pr_hdf5_send_message(PR_HDF5_LINE, &n, rc ? err : data,
                              rc ? sizeof *err : len))
        _exit(0);
}

static int tell_here(struct pr_err *err)
{
    const struct pr_hdf5_layout *lay = &me.h.lay;
    size_t sets = lay->count * sizeof *lay->sets;
    struct pr_hdf5_layout_message *found =
        (struct pr_hdf5_layout_message *)(void *)pr_hdf5_buf_grow(
            &me.h.raw, sizeof *found + sets);

    if (!found)
        return pr_fail_nomem(err);
    found->lay = *lay;
    found->ranges = me.trail.count;
    found->is_full = me.trail.is_full;
    memcpy(found->range, me.trail.range, sizeof found->range);
    memcpy(found + 1, lay->sets, sets);
    hdf5_child_reply(PR_OK, NULL, found, sizeof *found + sets);
    return PR_OK;
}

static int learn_here(struct pr_err *err)
{
    int rc;

    me.h.io.trail = &me.trail;
    rc = learn_file(&me.r, err);
    me.h.io.trail = NULL;
    me.is_known = !rc;
    return rc;
}

/* The library itself needs files, and memory. */
static int load_here(struct pr_err *err)
{
    struct rlimit line = {1, 1};
    int rc = me.h.h5 ? PR_OK : pr_hdf5_library_load(&me.h.h5, err);

    if (rc || me.h.io.h5)
        return rc;
    me.h.io.h5 = me.h.h5;
    pr_hdf5_enter(me.h.h5);
    (void)setrlimit(RLIMIT_NOFILE, &line);
    return PR_OK;
}

static void limit_memory(uint64_t size)
{
    struct rlimit l = me.limit;
    rlim_t most;

    if (__builtin_mul_overflow(size, (uint64_t)SHARE, &most) ||
        __builtin_add_overflow(most, me.memory + MEMORY, &most))
        return;
    l.rlim_cur = most < l.rlim_cur ? most : l.rlim_cur;
    (void)setrlimit(RLIMIT_AS, &l);
}

static void open_here(const struct pr_hdf5_message *q)
{
    struct pr_err err = {0};
    int rc;

    if (q->b > sizeof me.head)
        _exit(0);
    take_here(me.head, (size_t)q->b);
    rc = load_here(&err);
    if (!rc) {
        if (me.h.file > 0)
            hdf5_child_close_file(&me.h);
        limit_memory(q->a);
        me.r.obj.size = q->a;
        me.h.io.head_len = (size_t)q->b;
    }
    if (!rc && (q->kind == PR_HDF5_LEARN || !me.is_known))
        rc = learn_here(&err);
    if (!rc && q->kind == PR_HDF5_LEARN)
        rc = tell_here(&err);
    else if (!rc && me.h.file <= 0)
        rc = open_sets(&me.r, &err);
    if (!rc && q->kind != PR_HDF5_LEARN)
        hdf5_child_reply(PR_OK, NULL, NULL, 0);
    if (rc)
        hdf5_child_reply(rc, &err, NULL, 0);
}

static void places_here(const struct pr_hdf5_message *q,
                        const struct pr_hdf5_set *s)
{
    struct pr_hdf5_place *place = (struct pr_hdf5_place *)pr_hdf5_buf_grow(
        &me.h.raw, PR_HDF5_BLOCK * sizeof *place);
    struct pr_err err = {0};
    int rc = place && q->c <= PR_HDF5_BLOCK ? PR_OK : pr_fail_nomem(&err);

    for (uint64_t i = 0; !rc && i < q->c; i++)
        rc = pr_hdf5_find_place_here(&me.r, s, q->b + i, &place[i], &err);
    hdf5_child_reply(rc, &err, place, (size_t)(q->c * sizeof *place));
}

static void rows_here(const struct pr_hdf5_message *q,
                      const struct pr_hdf5_set *s)
{
    uint64_t bytes = q->c * s->row_bytes;
    uint8_t *data = pr_hdf5_buf_grow(&me.h.raw, bytes);
    struct pr_err err = {0};
    int rc = data ? pr_hdf5_library_rows_here(&me.r, s, q->b, q->c, data, &err)
                  : pr_fail_nomem(&err);

    hdf5_child_reply(rc, &err, data, (size_t)bytes);
}

static void convert_here(const struct pr_hdf5_set *s)
{
    uint64_t most = s->row_bytes > s->out_bytes ? s->row_bytes : s->out_bytes;
    uint8_t *data = pr_hdf5_buf_grow(&me.h.raw, most);
    struct pr_err err = {0};
    int rc = data ? PR_OK : pr_fail_nomem(&err);

    for (uint64_t left = s->row_bytes, n; rc && left; left -= n) {
        n = left < sizeof me.head ? left : sizeof me.head;
        take_here(me.head, (size_t)n); /* to nowhere */
    }
    if (!rc) {
        take_here(data, (size_t)s->row_bytes);
        rc = pr_hdf5_convert_here(&me.r, s, data, &err);
    }
    hdf5_child_reply(rc, &err, data, (size_t)s->out_bytes);
}

static void hdf5_child_answer(const struct pr_hdf5_message *q)
{
    const struct pr_hdf5_set *s = NULL;

    if (q->kind == PR_HDF5_LEARN || q->kind == PR_HDF5_ATTACH) {
        open_here(q);
        return;
    }
    s = set_at(&me.h.lay, q->a);
    if (!s)
        _exit(0);
    if (q->kind == PR_HDF5_PLACE)
        places_here(q, s);
    else if (q->kind == PR_HDF5_ROWS)
        rows_here(q, s);
    else
        convert_here(s);
}

/* Signals are for the program: its end is the end of this. While libhdf5 is
 * busy nobody listens to the line, so it looks once a second of that. */
static void settle_signals(void)
{
    static const int ignored[] = {SIGINT,  SIGTERM, SIGHUP,
                                  SIGQUIT, SIGUSR1, SIGUSR2};
    struct itimerval second = {{1, 0}, {1, 0}};
    sigset_t none;

    for (int i = 1; i < NSIG; i++) /* a sanitizer may have some */
        (void)signal(i, SIG_DFL);
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        (void)signal(ignored[i], SIG_IGN);
    (void)signal(SIGPROF, end_if_alone);
    (void)setitimer(ITIMER_PROF, &second, NULL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Memory is counted from what a sanitizer may have taken; if the machine runs
 * out of it, this goes first. */
static void settle_memory(void)
{
    FILE *f = fopen("/proc/self/statm", "re");
    unsigned long pages = 0;

    if (f && fscanf(f, "%lu", &pages) == 1)
        me.memory = (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
    if (f)
        fclose(f);
    (void)getrlimit(RLIMIT_AS, &me.limit);
    f = fopen("/proc/self/oom_score_adj", "we");
    if (f) {
        fputs("1000", f);
        fclose(f);
    }
}

/* Nothing of the program's is left to it, and it leaves no core. */
static void hdf5_child_settle(void)
{
    enum { FEW = 4096 };
    struct timeval look = {.tv_sec = LOOK};
    struct rlimit none = {0, 0};

    me.parent = getppid();
    settle_signals();
    settle_memory();
    if (syscall(SYS_close_range, PR_HDF5_LINE + 1, ~0U, 0) < 0)
        for (int fd = PR_HDF5_LINE + 1; fd < FEW; fd++)
            (void)close(fd);
    (void)setsockopt(PR_HDF5_LINE, SOL_SOCKET, SO_RCVTIMEO, &look, sizeof look);
    (void)setrlimit(RLIMIT_CORE, &none);
    (void)prctl(PR_SET_NAME, "prony-hdf5");
}

__attribute__((noreturn)) static void live_aside(void)
{
    struct pr_hdf5_message q;

    hdf5_child_settle();
    me.r.data = &me.h;
    me.h.trail = &me.trail;
    me.h.io.obj = &me.r.obj;
    me.h.io.ask = ask_for_bytes;
    me.h.io.head = me.head;
    hdf5_child_reply(PR_OK, NULL, NULL, 0);
    for (;;) {
        take_here(&q, sizeof q);
        hdf5_child_answer(&q);
    }
}

__attribute__((constructor)) static void be_aside(void)
{
    if (strcmp(program_invocation_name, PR_HDF5_PROCESS) == 0)
        live_aside();
}
