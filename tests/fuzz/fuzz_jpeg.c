/* jpeg files, whole and in part: a part has the pixels of the whole. */
#include "fuzz_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* Some part that the bytes decide on. */
static struct pr_part some_part(const struct pr_shape *whole,
                                const uint8_t *data, size_t bytes)
{
    uint64_t at[4] = {0};

    for (size_t i = 0; i < bytes; i++)
        at[i % 4] = at[i % 4] * 31 + data[i];
    struct pr_part p = {.top = at[0] % whole->dim[0],
                        .left = at[1] % whole->dim[1]};
    p.rows = 1 + at[2] % (whole->dim[0] - p.top);
    p.columns = 1 + at[3] % (whole->dim[1] - p.left);
    return p;
}

static void compare(const struct pr_sample *all, const struct pr_sample *some,
                    const struct pr_part *p)
{
    size_t each = all->shape.ndim > 2 ? (size_t)all->shape.dim[2] : 1;
    struct pr_part there = some->part;

    if (!there.rows)
        there = (struct pr_part){.rows = all->shape.dim[0],
                                 .columns = all->shape.dim[1]};
    must(there.top <= p->top && there.left <= p->left);
    must(there.top + there.rows >= p->top + p->rows);
    must(there.left + there.columns >= p->left + p->columns);
    must(some->size == there.rows * there.columns * each);
    for (uint64_t y = p->top; y < p->top + p->rows; y++)
        must(memcmp(
                 (const uint8_t *)all->data +
                     (y * all->shape.dim[1] + p->left) * each,
                 (const uint8_t *)some->data +
                     ((y - there.top) * there.columns + p->left - there.left) *
                         each,
                 p->columns * each) == 0);
}

static void read_part(struct pr_reader *r, const uint8_t *data, size_t bytes)
{
    struct pr_part part = some_part(&r->whole, data, bytes);
    uint8_t *whole = pr_alloc_aligned(PR_IO_ALIGN, r->need);
    uint8_t *piece = pr_alloc_aligned(PR_IO_ALIGN, r->need);
    struct pr_sample all = {0}, some = {0};
    int rc, part_rc;

    must(whole && piece);
    rc = pr_reader_read(r, 0, whole, r->need, &all, NULL);
    part_rc = pr_reader_read_part(r, 0, &part, piece, r->need, &some, NULL);
    must(rc || !part_rc); /* what is wrong may be outside */
    if (!rc)
        compare(&all, &some, &part);
    pr_free(whole);
    pr_free(piece);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct pr_read_opts opts = {0};
    const struct pr_format *f;
    struct fuzz_place p;
    struct pr_reader *r;

    fuzz_place_init(&p);
    fuzz_put(&p, "f", data, bytes);
    fuzz_read(&p, "jpeg", &opts);
    must(pr_format_find("jpeg", &f, NULL) == PR_OK);
    must(pr_reader_new(f, p.st, &opts, &r, NULL) == PR_OK);
    if (pr_reader_open(r, "f", NULL) == PR_OK && r->need <= FUZZ_BUFFER_MAX)
        read_part(r, data, bytes);
    pr_reader_free(r);
    fuzz_place_done(&p);
    return 0;
}
