/* Eight bytes a round: multiply, rotate, mix at the end. */
#include "base/hash.h"

#include <string.h>

uint64_t pr_hash_bytes(const void *data, size_t len, uint64_t seed)
{
    const char *p = data;
    uint64_t h = seed ^ (len * 0x9e3779b97f4a7c15u);
    uint64_t word;

    for (; len >= 8; p += 8, len -= 8) {
        memcpy(&word, p, 8);
        h = (h ^ word) * 0x9fb21c651e98df25u;
        h = h << 29 | h >> 35;
    }
    word = 0;
    if (len)
        memcpy(&word, p, len);
    return pr_hash_mix((h ^ word) * 0x9fb21c651e98df25u);
}
