/*
 * Event files for TensorBoard: a TFRecord file whose records are protobuf
 * messages "Event". The file only grows and may be watched meanwhile, so it is
 * written in place, once a second by a thread of its own: a step of training
 * does not wait for it.
 */
#include "observe/tensorboard.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/codec/checksum.h"
#include "base/file.h"
#include "base/mem.h"
#include "format/tfrecord.h"

#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    EARLY_BYTES = 64 << 10, /* wakes the writer before its second is over */
    FULL_BYTES = 1 << 20,   /* then scalars wait for it */
    TAG_MAX = 4096,
    NAMES_MAX = 100, /* boards of one process in one second */
};

struct pr_tensorboard {
    int fd;
    off_t good; /* length of the file: whole records. The writer's own */
    pthread_t thread;
    struct pr_buf writing; /* the writer's own */
    pthread_mutex_t lock;  /* of all that follows */
    pthread_cond_t wake, room;
    struct pr_buf out;
    bool stop;
    int failed; /* errno of the first failure, 0: none */
    char path[4096];
};

/* ---- messages */

static size_t varint_bytes(uint64_t v)
{
    size_t n = 1;

    for (; v >= 0x80; v >>= 7)
        n++;
    return n;
}

static void protobuf_put_varint(struct pr_buf *b, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        pr_buf_char(b, (char)(v | 0x80));
    pr_buf_char(b, (char)v);
}

/* Field numbers and kinds of wire are from event.proto and summary.proto. */
enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

static void protobuf_put_key(struct pr_buf *b, unsigned field, unsigned wire)
{
    protobuf_put_varint(b, field << 3 | wire);
}

static void protobuf_put_double(struct pr_buf *b, unsigned field, double d)
{
    uint64_t bits;

    memcpy(&bits, &d, sizeof bits);
    bits = htole64(bits);
    protobuf_put_key(b, field, FIXED64);
    pr_buf_add(b, &bits, sizeof bits);
}

static void protobuf_put_float(struct pr_buf *b, unsigned field, float f)
{
    uint32_t bits;

    memcpy(&bits, &f, sizeof bits);
    bits = htole32(bits);
    protobuf_put_key(b, field, FIXED32);
    pr_buf_add(b, &bits, sizeof bits);
}

static void protobuf_put_bytes(struct pr_buf *b, unsigned field, const char *s,
                               size_t len)
{
    protobuf_put_key(b, field, BYTES);
    protobuf_put_varint(b, len);
    pr_buf_add(b, s, len);
}

/* ---- records */

static void put_checksum(uint8_t out[static 4], const void *data, size_t len)
{
    uint32_t crc = htole32(pr_tfrecord_mask(pr_crc32c(0, data, len)));

    memcpy(out, &crc, sizeof crc);
}

/* The head is left open until the length is known. Returns where. */
static size_t begin_record(struct pr_buf *b, uint64_t wall_ns)
{
    static const uint8_t head[PR_TFRECORD_HEAD];
    uint64_t seconds = wall_ns / 1000000000u, rest = wall_ns % 1000000000u;
    size_t at = b->len;

    pr_buf_add(b, head, sizeof head);
    /* wall_time; nanoseconds since 1970 are more than a double holds */
    protobuf_put_double(b, 1, (double)seconds + (double)rest / 1e9);
    return at;
}

/* False, and nothing added: out of memory. */
static bool end_record(struct pr_buf *b, size_t at)
{
    uint8_t foot[PR_TFRECORD_FOOT];
    uint64_t len;

    if (pr_buf_reserve(b, sizeof foot)) {
        uint8_t *head = (uint8_t *)b->data + at;

        len = htole64(b->len - at - PR_TFRECORD_HEAD);
        memcpy(head, &len, sizeof len);
        put_checksum(head + 8, head, 8);
        put_checksum(foot, head + PR_TFRECORD_HEAD,
                     b->len - at - PR_TFRECORD_HEAD);
        pr_buf_add(b, foot, sizeof foot);
        return true;
    }
    b->failed = b->over = false;
    b->len = at;
    return false;
}

static bool put_version(struct pr_buf *b)
{
    static const char version[] = "brain.Event:2";
    size_t at = begin_record(b, pr_wall_clock_ns());

    protobuf_put_bytes(b, 3, version, sizeof version - 1); /* file_version */
    return end_record(b, at);
}

static bool tensorboard_put_scalar(struct pr_buf *b, const char *tag,
                                   int64_t step, double value, uint64_t wall_ns)
{
    size_t tag_len = strlen(tag);
    size_t value_len = 1 + varint_bytes(tag_len) + tag_len + 1 + sizeof(float);
    size_t at = begin_record(b, wall_ns);

    protobuf_put_key(b, 2, VARINT); /* step */
    protobuf_put_varint(b, (uint64_t)step);
    protobuf_put_key(b, 5, BYTES); /* summary */
    protobuf_put_varint(b, 1 + varint_bytes(value_len) + value_len);
    protobuf_put_key(b, 1, BYTES); /* its value */
    protobuf_put_varint(b, value_len);
    protobuf_put_bytes(b, 1, tag, tag_len); /* tag */
    protobuf_put_float(b, 2, (float)value); /* simple_value */
    return end_record(b, at);
}

/* ---- the writer */

/* What a failed write has left is cut off: readers see whole records. */
static int write_out(struct pr_tensorboard *b)
{
    int code;

    if (pr_write_all(b->fd, b->writing.data, b->writing.len)) {
        b->good += (off_t)b->writing.len;
        return 0;
    }
    code = errno ? errno : EIO;
    if (ftruncate(b->fd, b->good) < 0)
        b->good = 0; /* readers skip the torn one; nothing more comes */
    return code;
}

/* Called with the lock held, which is open during the write. */
static void tensorboard_flush(struct pr_tensorboard *b)
{
    struct pr_buf full = b->out;
    int code = 0;

    b->out = b->writing;
    b->writing = full;
    if (!b->failed && b->writing.len) {
        pthread_mutex_unlock(&b->lock);
        code = write_out(b);
        pthread_mutex_lock(&b->lock);
    }
    pr_buf_clear(&b->writing);
    if (code && !b->failed)
        b->failed = code;
    pthread_cond_broadcast(&b->room);
}

static void *writer_main(void *arg)
{
    struct pr_tensorboard *b = arg;
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    pthread_mutex_lock(&b->lock);
    while (!b->stop) {
        int rc = 0;

        t.tv_sec++;
        while (!b->stop && rc != ETIMEDOUT && b->out.len < EARLY_BYTES)
            rc = pthread_cond_timedwait(&b->wake, &b->lock, &t);
        tensorboard_flush(b);
        clock_gettime(CLOCK_MONOTONIC, &t);
    }
    pthread_mutex_unlock(&b->lock);
    return NULL;
}

void pr_tensorboard_add_scalar(struct pr_tensorboard *b, const char *tag,
                               int64_t step, double value, uint64_t wall_ns)
{
    if (!b)
        return;
    assert(strlen(tag) <= TAG_MAX);
    pthread_mutex_lock(&b->lock);
    while (b->out.len >= FULL_BYTES && !b->failed)
        pthread_cond_wait(&b->room, &b->lock);
    if (!b->failed &&
        !tensorboard_put_scalar(&b->out, tag, step, value, wall_ns))
        b->failed = ENOMEM;
    if (b->out.len >= EARLY_BYTES)
        pthread_cond_signal(&b->wake);
    pthread_mutex_unlock(&b->lock);
}

/* ---- opening and closing */

/* A name of its own for a second board within a second. */
static int tensorboard_open_file(struct pr_tensorboard *b, const char *folder,
                                 struct pr_err *err)
{
    unsigned long long seconds = pr_wall_clock_ns() / 1000000000u;
    char host[256] = "";
    char more[16] = "";

    if (gethostname(host, sizeof host - 1) < 0 || !*host)
        snprintf(host, sizeof host, "localhost");
    for (int i = 0; i < NAMES_MAX; i++) {
        int n;

        if (i)
            snprintf(more, sizeof more, ".%d", i);
        n = snprintf(b->path, sizeof b->path,
                     "%s/events.out.tfevents.%llu.%s.%ld%s", folder, seconds,
                     host, (long)getpid(), more);
        if (n < 0 || (size_t)n >= sizeof b->path)
            return pr_fail(err, PR_E_IO, "", "the path '%.100s…' is too long",
                           folder);
        b->fd = open(b->path,
                     O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644);
        if (b->fd >= 0)
            return PR_OK;
        if (errno != EEXIST)
            break;
    }
    return pr_fail_errno(err, PR_E_IO, b->path, "cannot create");
}

static int write_version(struct pr_tensorboard *b, struct pr_err *err)
{
    int code;

    if (!put_version(&b->writing))
        return pr_fail_nomem(err);
    code = write_out(b);
    pr_buf_clear(&b->writing);
    errno = code;
    return code ? pr_fail_errno(err, PR_E_IO, b->path, "cannot write") : PR_OK;
}

static int start_writer(struct pr_tensorboard *b, struct pr_err *err)
{
    pthread_condattr_t monotonic;

    pthread_mutex_init(&b->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&b->wake, &monotonic);
    pthread_cond_init(&b->room, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (pthread_create(&b->thread, NULL, writer_main, b) == 0)
        return PR_OK;
    pthread_cond_destroy(&b->room);
    pthread_cond_destroy(&b->wake);
    pthread_mutex_destroy(&b->lock);
    return pr_fail(err, PR_E_IO, "", "cannot start a thread");
}

static void tensorboard_free(struct pr_tensorboard *b)
{
    if (b->fd >= 0)
        (void)close(b->fd);
    pr_buf_free(&b->out);
    pr_buf_free(&b->writing);
    pr_free(b);
}

int pr_tensorboard_open(const char *folder, struct pr_tensorboard **ret,
                        struct pr_err *err)
{
    struct pr_tensorboard *b;
    int rc;

    PR_TRY(pr_make_dirs(folder, err));
    b = pr_alloc_zeroed(sizeof *b);
    if (!b)
        return pr_fail_nomem(err);
    b->fd = -1;
    b->out = (struct pr_buf)PR_BUF_INIT(2 * FULL_BYTES);
    b->writing = b->out;
    rc = tensorboard_open_file(b, folder, err);
    if (!rc) {
        rc = write_version(b, err);
        if (!rc)
            rc = start_writer(b, err);
        if (rc)
            (void)unlink(b->path);
    }
    if (rc) {
        tensorboard_free(b);
        return rc;
    }
    *ret = b;
    return PR_OK;
}

int pr_tensorboard_close(struct pr_tensorboard *b, struct pr_err *err)
{
    int rc = PR_OK;

    if (!b)
        return PR_OK;
    pthread_mutex_lock(&b->lock);
    b->stop = true;
    pthread_cond_signal(&b->wake);
    pthread_mutex_unlock(&b->lock);
    pthread_join(b->thread, NULL);
    pthread_mutex_lock(&b->lock);
    tensorboard_flush(b); /* what came while the writer was ending */
    pthread_mutex_unlock(&b->lock);
    pthread_cond_destroy(&b->room);
    pthread_cond_destroy(&b->wake);
    pthread_mutex_destroy(&b->lock);
    errno = b->failed;
    if (b->failed == ENOMEM)
        rc = pr_fail_nomem(err);
    else if (b->failed)
        rc = pr_fail_errno(err, PR_E_IO, b->path, "cannot write");
    tensorboard_free(b);
    return rc;
}
