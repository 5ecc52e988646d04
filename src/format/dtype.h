/* Element types of samples, under numpy's names. */
#ifndef PR_FORMAT_DTYPE_H
#define PR_FORMAT_DTYPE_H

#include <stdbool.h>
#include <stddef.h>

/* X(id, numpy name, bytes, numpy's letter in '<u2') */
#define PR_DTYPES(X)          \
    X(U8, "uint8", 1, 'u')    \
    X(I8, "int8", 1, 'i')     \
    X(U16, "uint16", 2, 'u')  \
    X(I16, "int16", 2, 'i')   \
    X(U32, "uint32", 4, 'u')  \
    X(I32, "int32", 4, 'i')   \
    X(U64, "uint64", 8, 'u')  \
    X(I64, "int64", 8, 'i')   \
    X(F16, "float16", 2, 'f') \
    X(F32, "float32", 4, 'f') \
    X(F64, "float64", 8, 'f') \
    X(B8, "bool", 1, 'b')

enum pr_dtype {
#define X(id, name, bytes, letter) PR_##id,
    PR_DTYPES(X)
#undef X
        PR_DTYPE_COUNT,
};

size_t pr_dtype_bytes(enum pr_dtype t);
const char *pr_dtype_name(enum pr_dtype t);
char pr_dtype_letter(enum pr_dtype t);

/* False when there is no such type. bool_ and half, single, double and so on,
 * numpy's other names, are understood. */
bool pr_dtype_find(const char *name, enum pr_dtype *ret);

/* By letter and size, as in '<u2'. */
bool pr_dtype_of(char letter, size_t bytes, enum pr_dtype *ret);

/* "a|b|c", for messages. */
const char *pr_dtype_list(void);

/* Turns elements around in place: from the other byte order to ours. */
void pr_dtype_swap(enum pr_dtype t, void *data, size_t bytes);

#endif
