/* The structure of a new file: what libhdf5 does of it. */
#include "format/hdf5/hdf5_write.h"

#include <stdio.h>

/* Data sets of this size start at a page of the file. */
enum { ALIGN_FROM = 64 << 10 };

static int set_filter(struct pr_hdf5_writer *h, hid_t list)
{
    const unsigned level = (unsigned)h->plan.level;
    const unsigned lzf[] = {PR_HDF5_LZF_REVISION, PR_HDF5_LZF_VERSION,
                            (unsigned)h->plan.chunk_bytes};

    if (h->plan.compression == PR_GZIP)
        return h->h5->H5Pset_filter(list, H5Z_FILTER_DEFLATE, H5Z_FLAG_OPTIONAL,
                                    1, &level);
    if (h->plan.compression == PR_LZF)
        return h->h5->H5Pset_filter(list, PR_HDF5_LZF, H5Z_FLAG_OPTIONAL, 3,
                                    lzf);
    return 0;
}

static int set_storage(struct pr_hdf5_writer *h, hid_t list, bool is_chunked)
{
    const struct pr_hdf5_api *h5 = h->h5;
    hsize_t chunk[PR_HDF5_AXES];

    if (h5->H5Pset_obj_track_times(list, 0) < 0 ||
        h5->H5Pset_fill_time(list, H5D_FILL_TIME_NEVER) < 0)
        return -1;
    if (!is_chunked)
        return h5->H5Pset_alloc_time(list, H5D_ALLOC_TIME_EARLY);
    for (unsigned a = 0; a < h->plan.ndim; a++)
        chunk[a] = h->plan.chunk[a];
    if (h5->H5Pset_chunk(list, (int)h->plan.ndim, chunk) < 0)
        return -1;
    return set_filter(h, list);
}

static hid_t make_space(struct pr_hdf5_writer *h, bool is_labels)
{
    const struct pr_hdf5_plan *p = &h->plan;
    hsize_t dim[PR_HDF5_AXES], max[PR_HDF5_AXES];

    for (unsigned a = 0; a < p->ndim; a++) {
        dim[a] = p->dim[a];
        max[a] = p->max[a]; /* UINT64_MAX is H5S_UNLIMITED */
    }
    return h->h5->H5Screate_simple(is_labels ? 1 : (int)p->ndim, dim,
                                   !is_labels && p->max[0] ? max : NULL);
}

/* The data set stays open if it is in chunks. */
static int hdf5_make_set(struct pr_hdf5_writer *h, const char *name,
                         bool is_labels, struct pr_hdf5_spot *ret)
{
    const struct pr_hdf5_api *h5 = h->h5;
    bool is_chunked = !is_labels && h->plan.chunk[0];
    enum pr_dtype dtype = is_labels ? PR_I64 : (enum pr_dtype)h->plan.dtype;
    hid_t type = pr_hdf5_type_new(h5, dtype);
    hid_t space = make_space(h, is_labels);
    hid_t list = h5->H5Pcreate(*h5->H5P_CLS_DATASET_CREATE_ID_g);
    hid_t id = -1;

    if (type >= 0 && space >= 0 && list >= 0 &&
        set_storage(h, list, is_chunked) >= 0)
        id = h5->H5Dcreate2(h->file, name, type, space, H5P_DEFAULT, list,
                            H5P_DEFAULT);
    h5->H5Pclose(list);
    h5->H5Sclose(space);
    h5->H5Tclose(type);
    if (id < 0)
        return -1;
    ret->id = id;
    if (is_chunked)
        return 0;
    ret->offset = h5->H5Dget_offset(id);
    h5->H5Dclose(id);
    return ret->offset == HADDR_UNDEF ? -1 : 0;
}

static int hdf5_make_lists(struct pr_hdf5_writer *h)
{
    const struct pr_hdf5_api *h5 = h->h5;

    if (h->creation > 0)
        return 0;
    if (h->access <= 0)
        h->access = pr_hdf5_io_access(&h->io);
    if (h->access < 0 ||
        h5->H5Pset_libver_bounds(h->access, H5F_LIBVER_LATEST,
                                 H5F_LIBVER_LATEST) < 0 ||
        h5->H5Pset_alignment(h->access, ALIGN_FROM, PR_IO_ALIGN) < 0)
        return -1;
    h->creation = h5->H5Pcreate(*h5->H5P_CLS_FILE_CREATE_ID_g);
    return h->creation < 0 ? -1 : h5->H5Pset_obj_track_times(h->creation, 0);
}

static int make_sets(struct pr_hdf5_writer *h)
{
    char name[32];
    int rc = 0;

    for (uint64_t k = 0; rc >= 0 && k < h->plan.sets; k++) {
        snprintf(name, sizeof name, "records_%llu", (unsigned long long)k);
        rc = hdf5_make_set(h, name, false, &h->sets[k]);
    }
    if (rc >= 0 && h->plan.has_labels)
        rc = hdf5_make_set(h, "labels", true, &h->labels);
    return rc;
}

int pr_hdf5_make_file(struct pr_hdf5_writer *h, struct pr_err *err)
{
    int rc = PR_OK;

    pr_hdf5_enter(h->h5);
    if (hdf5_make_lists(h) >= 0)
        h->file = pr_hdf5_io_create(&h->io, h->creation, h->access);
    if (h->file <= 0 || make_sets(h) < 0)
        rc = pr_hdf5_io_fail(&h->io, h->obj.name, err, "cannot be made");
    pr_hdf5_leave(h->h5);
    return rc;
}

int pr_hdf5_finish_file(struct pr_hdf5_writer *h, struct pr_err *err)
{
    int rc = PR_OK;

    if (h->file <= 0)
        return PR_OK;
    pr_hdf5_enter(h->h5);
    if (pr_hdf5_io_close(&h->io, h->file) < 0 || h->io.rc)
        rc = pr_hdf5_io_fail(&h->io, h->obj.name, err, "cannot be finished");
    pr_hdf5_leave(h->h5);
    h->file = 0;
    return rc;
}
