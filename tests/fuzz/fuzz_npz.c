/*
 * npz files. The last byte says what the reader is told. A fuzzer does not
 * find checksums, so that they are skipped more often than not; now and then
 * the directory is moved away from the members, which makes the file a large
 * one.
 */
#include "fuzz_reader.h"

/* In the last three bits; those above are a number of samples. */
enum { SUM = 5, RAW = 6, LARGE = 7, MODE = 7, SAMPLES = 3 };

enum { END = 22, MORE = 1100 << 10 };

/* Where the directory starts, if the end of the file says so. */
static size_t directory_of(const uint8_t *data, size_t bytes)
{
    const uint8_t *end = data + bytes - END;
    size_t at;

    if (bytes < END || memcmp(end, "PK\x05\x06", 4) != 0)
        return bytes;
    at = end[16] | (size_t)end[17] << 8 | (size_t)end[18] << 16 |
         (size_t)end[19] << 24;
    return at <= bytes - END ? at : bytes;
}

static uint8_t *move_directory(const uint8_t *data, size_t *bytes)
{
    size_t at = directory_of(data, *bytes), moved = at + MORE;
    uint8_t *copy = calloc(1, *bytes + MORE + 1);

    must(copy != NULL);
    memcpy(copy, data, at);
    memcpy(copy + moved, data + at, *bytes - at);
    if (at < *bytes)
        for (int i = 0; i < 4; i++)
            copy[*bytes + MORE - END + 16 + i] = (uint8_t)(moved >> 8 * i);
    *bytes += MORE;
    return copy;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    unsigned how = bytes ? data[--bytes] : 0;
    struct pr_read_opts opts = {
        .skip_checksum = (how & MODE) != SUM,
        .skip_decode = (how & MODE) == RAW,
        .samples = how >> SAMPLES,
    };
    uint8_t *copy;

    if ((how & MODE) != LARGE) {
        fuzz_reader("npz", data, bytes, &opts);
        return 0;
    }
    copy = move_directory(data, &bytes);
    fuzz_reader("npz", copy, bytes, &opts);
    free(copy);
    return 0;
}
