/*
 * LZF: any bytes decode or do not, within their room; what is encoded decodes
 * to what it was.
 */
#include "format/hdf5/hdf5_chunk.h"

#include <stdlib.h>
#include <string.h>

static void must(bool ok)
{
    if (!ok)
        abort();
}

/* Memory of exactly this size, so that a byte too far is seen. */
static uint8_t *room(size_t bytes)
{
    uint8_t *p = malloc(bytes ? bytes : 1);

    must(p != NULL);
    return p;
}

static void decode_it(const uint8_t *data, size_t bytes, size_t len)
{
    uint8_t *out = room(len);

    (void)pr_lzf_decode(data, bytes, out, len);
    free(out);
}

static void encode_it(const uint8_t *data, size_t bytes, size_t cap)
{
    static struct pr_lzf z; /* whatever is in it */
    uint8_t *out = room(cap), *back = room(bytes);
    size_t n = pr_lzf_encode(&z, data, bytes, out, cap);

    must(n <= cap);
    if (n) {
        must(pr_lzf_decode(out, n, back, bytes));
        must(memcmp(back, data, bytes) == 0);
        must(!bytes || !pr_lzf_decode(out, n, back, bytes - 1));
    }
    must(n || !bytes || cap < bytes + bytes / 32 + 1);
    free(back);
    free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* The first two bytes are a size. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    size_t len;

    if (bytes < 2)
        return 0;
    len = (size_t)data[0] | (size_t)data[1] << 8;
    decode_it(data + 2, bytes - 2, len);
    encode_it(data + 2, bytes - 2, len);
    encode_it(data + 2, bytes - 2, bytes * 2);
    return 0;
}
