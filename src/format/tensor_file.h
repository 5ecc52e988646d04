/*
 * Files of tensors, as checkpoints are. A layout says which bytes come before,
 * between and after the contents of the tensors; a walk gives the bytes of a
 * whole file in order, piece by piece: pieces that are text of the layout, and
 * pieces of a tensor, whose contents the caller makes. The same walk writes a
 * file and checks one that was written.
 */
#ifndef PR_FORMAT_TENSOR_FILE_H
#define PR_FORMAT_TENSOR_FILE_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* X(id, name in options, bytes, name in safetensors, storage type of torch,
 *   the number 1) */
#define PR_TENSOR_TYPES(X)                                         \
    X(FP16, "fp16", 2, "F16", "HalfStorage", 0x3c00)               \
    X(BF16, "bf16", 2, "BF16", "BFloat16Storage", 0x3f80)          \
    X(FP32, "fp32", 4, "F32", "FloatStorage", 0x3f800000)          \
    X(FP64, "fp64", 8, "F64", "DoubleStorage", 0x3ff0000000000000) \
    X(INT8, "int8", 1, "I8", "CharStorage", 1)                     \
    X(UINT8, "uint8", 1, "U8", "ByteStorage", 1)

enum pr_tensor_type {
#define X(id, name, bytes, safe, torch, one) PR_TENSOR_##id,
    PR_TENSOR_TYPES(X)
#undef X
        PR_TENSOR_TYPE_COUNT,
};

size_t pr_tensor_type_bytes(enum pr_tensor_type t);
const char *pr_tensor_type_name(enum pr_tensor_type t); /* as in options */
bool pr_tensor_type_find(const char *name, enum pr_tensor_type *ret);

/* The number 1 in this type, as it is in memory, repeated to eight bytes. */
uint64_t pr_tensor_type_one(enum pr_tensor_type t);

struct pr_tensor {
    char name[96]; /* plain ASCII, without quotes and backslashes */
    enum pr_tensor_type type;
    uint64_t elements; /* in one dimension */
};

/* Where a walk gets its tensors from: each may be asked for several times. */
struct pr_tensor_list {
    uint64_t count;
    void (*at)(const void *ctx, uint64_t i, struct pr_tensor *ret);
    const void *ctx;
};

struct pr_tensor_layout; /* "plain", "torch" */

/* NULL: there is none of this name. */
const struct pr_tensor_layout *pr_tensor_layout_find(const char *name);

/* The size of a whole file. */
uint64_t pr_tensor_file_bytes(const struct pr_tensor_layout *l,
                              const struct pr_tensor_list *list);

/* ---- a walk */

enum { PR_TENSOR_TEXT = 12 << 10 };

struct pr_tensor_walk {
    const struct pr_tensor_layout *layout;
    const struct pr_tensor_list *list;
    uint64_t at;     /* bytes given so far */
    uint64_t next;   /* tensor that comes next */
    bool is_counted; /* only lengths matter: nothing is kept */
    unsigned step;   /* of the layout's own, as all that follows */
    uint32_t crc;
    uint64_t sum;             /* bytes of tensors, or of all CRCs */
    uint64_t extent;          /* of the header, or the directory */
    uint64_t record, members; /* where the last one starts, how many */
    uint64_t pickled;         /* bytes */
    struct pr_tensor info;    /* of the tensor that is next */
    struct pr_buf later;      /* what comes at the end of the file */
    size_t len;               /* of text */
    uint8_t text[PR_TENSOR_TEXT];
};

struct pr_tensor_piece {
    const void *text; /* NULL: contents of a tensor */
    uint64_t bytes;
    uint64_t tensor; /* its number */
    struct pr_tensor info;
};

void pr_tensor_walk_init(struct pr_tensor_walk *w,
                         const struct pr_tensor_layout *l,
                         const struct pr_tensor_list *list);

/* 1: the next piece, which is not empty; text lives until the next call. 0:
 * that was the last one. After a piece of a tensor the caller gives the CRC-32
 * of its contents with pr_tensor_walk_crc, where the layout wants one.
 * PR_E_NOMEM. */
int pr_tensor_walk_next(struct pr_tensor_walk *w, struct pr_tensor_piece *ret,
                        struct pr_err *err) PR_MUST_CHECK;
bool pr_tensor_needs_crc(const struct pr_tensor_layout *l);
void pr_tensor_walk_crc(struct pr_tensor_walk *w, uint32_t crc);
void pr_tensor_walk_done(struct pr_tensor_walk *w);

/* ---- what a layout is */

struct pr_tensor_layout {
    const char *name;
    bool wants_crc;

    /* Optional: before the first piece. */
    void (*start)(struct pr_tensor_walk *w);

    /* As pr_tensor_walk_next; text is in w->text or w->later. An empty piece
     * is skipped. */
    int (*next)(struct pr_tensor_walk *w, struct pr_tensor_piece *ret,
                struct pr_err *err);
};

extern const struct pr_tensor_layout pr_tensor_layout_plain,
    pr_tensor_layout_torch;

const char *pr_tensor_type_torch_name(enum pr_tensor_type t);

static inline uint64_t pr_tensor_bytes(const struct pr_tensor *t)
{
    return t->elements * pr_tensor_type_bytes(t->type);
}

#endif
