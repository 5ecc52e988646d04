/* png files. The last byte says whether checksums are looked at. */
#include "fuzz_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct pr_read_opts opts = {
        .skip_checksum = bytes ? data[--bytes] & 1 : false,
    };

    fuzz_reader("png", data, bytes, &opts);
    return 0;
}
