/*
 * TFRecord files. A fuzzer does not find checksums: with a bit of the last
 * byte set they are mended, so that what is behind them is reached, and with
 * another all of it is compressed.
 */
#include "base/codec/checksum.h"
#include "base/codec/deflate.h"
#include "format/tfrecord.h"

#include "fuzz_reader.h"

#include <endian.h>

enum {
    MEND = 1,
    COMPRESS = 2,
    SKIP_CHECKSUM = 4,
    SKIP_DECODE = 8,
    SAMPLES = 4, /* bits from here on are the count that the reader is told */
};

static void put_crc(uint8_t *at, const uint8_t *data, size_t len)
{
    uint32_t crc = htole32(pr_tfrecord_mask(pr_crc32c(0, data, len)));

    memcpy(at, &crc, sizeof crc);
}

static void mend(uint8_t *data, size_t bytes)
{
    size_t at = 0;

    while (bytes - at >= PR_TFRECORD_FRAME) {
        uint64_t len;

        memcpy(&len, data + at, sizeof len);
        len = le64toh(len);
        put_crc(data + at + 8, data + at, 8);
        if (len > bytes - at - PR_TFRECORD_FRAME)
            return;
        put_crc(data + at + PR_TFRECORD_HEAD + len,
                data + at + PR_TFRECORD_HEAD, (size_t)len);
        at += (size_t)len + PR_TFRECORD_FRAME;
    }
}

static void compress(uint8_t **data, size_t *bytes)
{
    struct pr_deflate *z = pr_deflate_new(1);
    size_t cap = (size_t)pr_deflate_bound(*bytes), n = cap, left = *bytes;
    uint8_t *out = malloc(cap);
    const uint8_t *in = *data;

    must(z && out);
    pr_deflate_start(z, left % 2 ? PR_WRAP_ZLIB : PR_WRAP_GZIP);
    must(pr_deflate_run(z, &in, &left, true, out, &n));
    pr_deflate_free(z);
    free(*data);
    *data = out;
    *bytes = n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    unsigned how = bytes ? data[--bytes] : 0;
    struct pr_read_opts opts = {
        .skip_checksum = how & SKIP_CHECKSUM,
        .skip_decode = how & SKIP_DECODE,
        .samples = how >> SAMPLES,
    };
    uint8_t *copy = malloc(bytes + 1);

    must(copy != NULL);
    memcpy(copy, data, bytes);
    if (how & MEND)
        mend(copy, bytes);
    if (how & COMPRESS)
        compress(&copy, &bytes);
    fuzz_reader("tfrecord", copy, bytes, &opts);
    free(copy);
    return 0;
}
