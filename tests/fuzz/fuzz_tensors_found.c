/*
 * Files of tensors of torch.save and TensorFlow. The last byte says what the
 * rest is: a pickle, an archive, a table, or the entries of a block, which is
 * made into a table here, for a fuzzer does not find checksums. Whatever the
 * bytes, tensors lie in the file and do not overlap.
 */
#include "base/codec/checksum.h"
#include "format/tensor_file_find.h"
#include "format/tfrecord.h"
#include "fuzz_reader.h"

enum { DATA_BYTES = 1 << 20 };

static void look_at(const struct pr_tensor_found_list *l, uint64_t bytes)
{
    uint64_t end = 0;

    for (size_t i = 0; i < l->count; i++) {
        must(l->items[i].type < PR_TENSOR_TYPE_COUNT && l->items[i].bytes);
        must(l->items[i].at >= end && l->items[i].at <= bytes);
        must(l->items[i].bytes <= bytes - l->items[i].at);
        end = l->items[i].at + l->items[i].bytes;
    }
}

static void try_pickle(const uint8_t *data, size_t bytes)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_tensor_torch_storage *found;
    struct pr_err err = {0};
    size_t count;
    int rc = pr_tensor_find_pickle(data, bytes, "x", a, &found, &count, &err);

    must(rc == PR_OK || (rc == PR_E_FORMAT && err.msg[0]));
    must(rc || count <= bytes);
}

static void try_archive(const uint8_t *data, size_t bytes)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_tensor_found_list found;
    struct pr_err err = {0};
    struct fuzz_place p;
    int rc;

    fuzz_place_init(&p);
    fuzz_put(&p, "x.pt", data, bytes);
    rc = pr_tensor_find_torch(p.st, "x.pt", a, &found, &err);
    must(rc == PR_OK || (rc == PR_E_FORMAT && err.msg[0]));
    if (!rc)
        look_at(&found, bytes);
    fuzz_place_done(&p);
}

static void try_table(const uint8_t *data, size_t bytes)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_tensor_found_list found;
    struct pr_err err = {0};
    int rc = pr_tensor_find_bundle(data, bytes, DATA_BYTES, "x.index", a,
                                   &found, &err);

    must(rc == PR_OK || (rc == PR_E_FORMAT && err.msg[0]));
    if (!rc)
        look_at(&found, DATA_BYTES);
}

static size_t add_block(uint8_t *out, const void *entries, size_t len)
{
    uint32_t crc;

    memcpy(out, entries, len);
    memset(out + len, 0, 5); /* no restarts, not packed */
    crc = pr_tfrecord_mask(pr_crc32c(0, out, len + 5));
    memcpy(out + len + 5, &crc, 4);
    return len + 9;
}

static size_t add_varint(uint8_t *out, size_t n)
{
    size_t len = 0;

    for (; n >= 0x80; n >>= 7)
        out[len++] = (uint8_t)(n | 0x80);
    out[len++] = (uint8_t)n;
    return len;
}

static void try_block(const uint8_t *data, size_t bytes)
{
    uint8_t *t = calloc(1, bytes + 200), index[32] = {0, 0};
    size_t at = add_block(t, data, bytes), first = at, n, len;

    must(t != NULL);
    n = 1 + add_varint(index + 4, bytes + 4); /* handle: 0, length */
    index[2] = (uint8_t)n;
    len = 3 + n;
    at += add_block(t + at, index, len);
    n = at; /* footer: a handle of nothing, then that of the index */
    at += 2;
    at += add_varint(t + at, first);
    add_varint(t + at, len + 4);
    memcpy(t + n + 40, "\x57\xfb\x80\x8b\x24\x75\x47\xdb", 8);
    try_table(t, n + 48);
    free(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static void (*const ways[])(const uint8_t *, size_t) = {
        try_pickle, try_archive, try_table, try_block};
    unsigned how = bytes ? data[--bytes] : 0;

    ways[how % 4](data, bytes);
    return 0;
}
