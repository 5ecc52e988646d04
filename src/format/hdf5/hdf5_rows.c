/* Rows of a data set, from wherever its bytes are. */
#include "format/hdf5/hdf5_impl.h"

#include <string.h>

static struct pr_hdf5_reader *hdf5_rows_state(struct pr_reader *r)
{
    return r->data;
}

/* ---- by libhdf5 itself */

int pr_hdf5_library_rows_here(struct pr_reader *r, const struct pr_hdf5_set *s,
                              uint64_t first, uint64_t count, uint8_t *dst,
                              struct pr_err *err)
{
    const struct pr_hdf5_api *h5 = hdf5_rows_state(r)->h5;
    hsize_t start[PR_HDF5_AXES] = {first}, n[PR_HDF5_AXES] = {count};
    hid_t file, mem, type;
    int rc = PR_OK;

    for (unsigned a = 1; a < s->ndim; a++)
        n[a] = s->dim[a];
    file = h5->H5Dget_space(s->id);
    mem = h5->H5Screate_simple((int)s->ndim, n, NULL);
    type = h5->H5Dget_type(s->id);
    if (file < 0 || mem < 0 || type < 0 ||
        h5->H5Sselect_hyperslab(file, H5S_SELECT_SET, start, NULL, n, NULL) <
            0 ||
        h5->H5Dread(s->id, type, mem, file, H5P_DEFAULT, dst) < 0)
        rc = pr_hdf5_io_fail(&hdf5_rows_state(r)->io, r->name, err,
                             "samples cannot be read");
    h5->H5Tclose(type);
    h5->H5Sclose(mem);
    h5->H5Sclose(file);
    return rc;
}

int pr_hdf5_convert_here(struct pr_reader *r, const struct pr_hdf5_set *s,
                         uint8_t *data, struct pr_err *err)
{
    struct pr_hdf5_reader *h = hdf5_rows_state(r);
    const struct pr_hdf5_api *h5 = h->h5;
    hid_t from, to;
    int rc = PR_OK;

    from = h5->H5Dget_type(s->id);
    to = pr_hdf5_type_new(h5, s->type.dtype);
    if (from < 0 || to < 0 ||
        h5->H5Tconvert(from, to, (size_t)(s->row_bytes / s->type.bytes), data,
                       NULL, H5P_DEFAULT) < 0)
        rc = pr_hdf5_io_fail(&h->io, r->name, err, "cannot be converted");
    h5->H5Tclose(to);
    h5->H5Tclose(from);
    return rc;
}

/* ---- boxes of elements */

/* The part of a chunk that is in the wanted rows. */
struct box {
    uint64_t from[PR_HDF5_AXES]; /* in the chunk */
    uint64_t to[PR_HDF5_AXES];   /* in the rows */
    uint64_t n[PR_HDF5_AXES];
    uint64_t dim[PR_HDF5_AXES]; /* of the rows */
};

static void box_of(const struct pr_hdf5_set *s, const uint64_t *at,
                   uint64_t first, uint64_t count, struct box *b)
{
    for (unsigned a = 0; a < s->ndim; a++) {
        uint64_t lo = a ? 0 : first;
        uint64_t hi = a ? s->dim[a] : first + count;
        uint64_t start = at[a] > lo ? at[a] : lo;
        uint64_t end = s->chunk[a] < hi - at[a] ? at[a] + s->chunk[a] : hi;

        b->from[a] = start - at[a];
        b->to[a] = start - lo;
        b->n[a] = end - start;
        b->dim[a] = hi - lo;
    }
}

static uint64_t offset_of(unsigned ndim, const uint64_t *at,
                          const uint64_t *add, const uint64_t *dim)
{
    uint64_t n = 0;

    for (unsigned a = 0; a < ndim; a++)
        n = n * dim[a] + at[a] + add[a];
    return n;
}

/* Axes after this one are whole in the box, the chunk and the rows: a run of
 * elements goes over all of them. */
static unsigned hdf5_box_run_axis(const struct pr_hdf5_set *s,
                                  const struct box *b)
{
    unsigned a = s->ndim - 1;

    while (a > 0 && b->n[a] == s->chunk[a] && b->n[a] == b->dim[a])
        a--;
    return a;
}

static void copy_box(const struct pr_hdf5_set *s, const struct box *b,
                     const uint8_t *src, uint8_t *dst)
{
    unsigned axis = hdf5_box_run_axis(s, b);
    uint64_t at[PR_HDF5_AXES] = {0};
    uint64_t run = s->type.bytes;

    for (unsigned a = axis; a < s->ndim; a++)
        run *= b->n[a];
    for (;;) {
        unsigned a = axis;

        memcpy(dst + offset_of(s->ndim, b->to, at, b->dim) * s->type.bytes,
               src + offset_of(s->ndim, b->from, at, s->chunk) * s->type.bytes,
               (size_t)run);
        while (a > 0 && ++at[a - 1] == b->n[a - 1])
            at[--a] = 0;
        if (!a)
            return;
    }
}

/* A chunk that is one piece of the rows: it can be decoded to its place. */
static bool is_one_piece(const struct pr_hdf5_set *s, const struct box *b)
{
    unsigned axis = hdf5_box_run_axis(s, b);

    for (unsigned a = 0; a < axis; a++)
        if (b->n[a] != 1)
            return false;
    for (unsigned a = 0; a < s->ndim; a++)
        if (b->n[a] != s->chunk[a])
            return false;
    return true;
}

static int chunk_rows(struct pr_reader *r, const struct pr_hdf5_set *s,
                      uint64_t index, uint64_t first, uint64_t count,
                      uint8_t *dst, struct pr_err *err)
{
    static const uint64_t none[PR_HDF5_AXES];
    uint64_t at[PR_HDF5_AXES];
    const uint8_t *chunk = NULL;
    struct box b;
    int rc;

    pr_hdf5_chunk_start(s, index, at);
    box_of(s, at, first, count, &b);
    if (is_one_piece(s, &b)) {
        dst += offset_of(s->ndim, b.to, none, b.dim) * s->type.bytes;
        return pr_hdf5_chunk_read(r, s, index, dst, err);
    }
    rc = pr_hdf5_chunk_load(r, s, index, &chunk, err);
    if (!rc)
        copy_box(s, &b, chunk, dst);
    return rc;
}

int pr_hdf5_read_rows(struct pr_reader *r, const struct pr_hdf5_set *s,
                      uint64_t first, uint64_t count, uint8_t *dst,
                      struct pr_err *err)
{
    uint64_t begin, end;

    if (s->way == PR_HDF5_FLAT)
        return pr_hdf5_read_bytes(r, s->offset + first * s->row_bytes,
                                  count * s->row_bytes, dst, err);
    if (s->way == PR_HDF5_LIBRARY)
        return pr_hdf5_library_rows(r, s, first, count, dst, err);
    begin = first / s->chunk[0] * s->row_chunks;
    end = ((first + count - 1) / s->chunk[0] + 1) * s->row_chunks;
    for (uint64_t i = begin; i < end; i++) {
        int rc = chunk_rows(r, s, i, first, count, dst, err);

        if (rc == 1) /* libhdf5 knows what stands for those never written */
            return pr_hdf5_library_rows(r, s, first, count, dst, err);
        if (rc)
            return rc;
    }
    return PR_OK;
}
