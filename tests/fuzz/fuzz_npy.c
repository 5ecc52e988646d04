/* npy files. The last byte says what the reader is told. */
#include "fuzz_reader.h"

/* In the last three bits; those above are a number of samples. */
enum { RAW = 6, LARGE = 7, MODE = 7, SAMPLES = 3 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    const size_t more = 1100 << 10; /* large files are read otherwise */
    unsigned how = bytes ? data[--bytes] : 0;
    struct pr_read_opts opts = {
        .skip_decode = (how & MODE) == RAW,
        .samples = how >> SAMPLES,
    };
    size_t total = bytes + ((how & MODE) == LARGE ? more : 0);
    uint8_t *copy = calloc(1, total + 1);

    must(copy != NULL);
    memcpy(copy, data, bytes);
    fuzz_reader("npy", copy, total, &opts);
    free(copy);
    return 0;
}
