/* jpeg files. */
#include "fuzz_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct pr_read_opts opts = {0};

    fuzz_reader("jpeg", data, bytes, &opts);
    return 0;
}
