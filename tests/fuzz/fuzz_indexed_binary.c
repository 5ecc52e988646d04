/*
 * Indexed binary files: the first two bytes are the bytes of both indexes,
 * which come next, and the rest are the samples.
 */
#include "fuzz_reader.h"

static size_t take(const uint8_t **data, size_t *bytes, size_t want,
                   const uint8_t **ret)
{
    size_t n = want < *bytes ? want : *bytes;

    *ret = *data;
    *data += n;
    *bytes -= n;
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    const uint8_t *sizes, *part;
    struct fuzz_place p;
    size_t n;

    if (take(&data, &bytes, 2, &sizes) < 2)
        return 0;
    fuzz_place_init(&p);
    n = take(&data, &bytes, sizes[0], &part);
    fuzz_put(&p, "f.off.idx", part, n);
    n = take(&data, &bytes, sizes[1], &part);
    fuzz_put(&p, "f.sz.idx", part, n);
    fuzz_put(&p, "f", data, bytes);
    fuzz_read(&p, "indexed_binary", NULL);
    fuzz_place_done(&p);
    return 0;
}
