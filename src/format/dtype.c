/* Element types of samples. */
#include "format/dtype.h"

#include <stdint.h>
#include <string.h>

static const struct {
    const char *name;
    size_t bytes;
    char letter;
} types[] = {
#define X(id, name, bytes, letter) {name, bytes, letter},
    PR_DTYPES(X)
#undef X
};

size_t pr_dtype_bytes(enum pr_dtype t)
{
    return types[t].bytes;
}

const char *pr_dtype_name(enum pr_dtype t)
{
    return types[t].name;
}

char pr_dtype_letter(enum pr_dtype t)
{
    return types[t].letter;
}

bool pr_dtype_find(const char *name, enum pr_dtype *ret)
{
    static const struct {
        const char *name;
        enum pr_dtype type;
    } also[] = {
        {"bool_", PR_B8},   {"half", PR_F16},  {"single", PR_F32},
        {"double", PR_F64}, {"float", PR_F64}, {"int", PR_I64},
        {"byte", PR_I8},    {"ubyte", PR_U8},  {"short", PR_I16},
        {"ushort", PR_U16}, {"intc", PR_I32},  {"uintc", PR_U32},
    };

    for (int t = 0; t < PR_DTYPE_COUNT; t++)
        if (strcmp(types[t].name, name) == 0) {
            *ret = (enum pr_dtype)t;
            return true;
        }
    for (size_t i = 0; i < sizeof also / sizeof *also; i++)
        if (strcmp(also[i].name, name) == 0) {
            *ret = also[i].type;
            return true;
        }
    return false;
}

bool pr_dtype_of(char letter, size_t bytes, enum pr_dtype *ret)
{
    for (int t = 0; t < PR_DTYPE_COUNT; t++)
        if (types[t].letter == letter && types[t].bytes == bytes) {
            *ret = (enum pr_dtype)t;
            return true;
        }
    return false;
}

const char *pr_dtype_list(void)
{
    static const char list[] =
#define X(id, name, bytes, letter) ", " name
        PR_DTYPES(X)
#undef X
        ;
    return list + 2;
}

void pr_dtype_swap(enum pr_dtype t, void *data, size_t bytes)
{
    uint8_t *p = data, *end = p + bytes;

    switch (types[t].bytes) {
    case 2:
        for (; p + 2 <= end; p += 2) {
            uint16_t v;
            memcpy(&v, p, 2);
            v = __builtin_bswap16(v);
            memcpy(p, &v, 2);
        }
        break;
    case 4:
        for (; p + 4 <= end; p += 4) {
            uint32_t v;
            memcpy(&v, p, 4);
            v = __builtin_bswap32(v);
            memcpy(p, &v, 4);
        }
        break;
    case 8:
        for (; p + 8 <= end; p += 8) {
            uint64_t v;
            memcpy(&v, p, 8);
            v = __builtin_bswap64(v);
            memcpy(p, &v, 8);
        }
        break;
    default:
        break;
    }
}
