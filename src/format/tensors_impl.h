/* What a layout of tensor files is; one file a layout (tensors_*.c). */
#ifndef PR_FORMAT_TENSORS_IMPL_H
#define PR_FORMAT_TENSORS_IMPL_H

#include "format/tensors.h"

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

const char *pr_tensor_type_safe_name(enum pr_tensor_type t);
const char *pr_tensor_type_torch_name(enum pr_tensor_type t);

static inline uint64_t pr_tensor_bytes(const struct pr_tensor *t)
{
    return t->elements * pr_tensor_type_bytes(t->type);
}

/* Text of the walk: a layout leaves room for what it adds. */
void pr_tensor_put(struct pr_tensor_walk *w, const void *bytes, size_t len);
void pr_tensor_put_str(struct pr_tensor_walk *w, const char *s);
void pr_tensor_put_number(struct pr_tensor_walk *w, uint64_t n); /* decimal */
size_t pr_tensor_digits(uint64_t n);

#endif
