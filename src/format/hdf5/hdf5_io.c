/* The virtual file driver. */
#include "format/hdf5/hdf5_io.h"

#include "base/mem.h"

#include <string.h>

/* libhdf5 keeps a pointer to this, in the worst case longer than the reader
 * lives; so it has memory of its own, and io is taken from it at the end. */
struct pr_hdf5_file {
    H5FD_t pub; /* first */
    struct pr_hdf5_io *io;
    haddr_t eoa;
};

struct info {
    struct pr_hdf5_io *io;
};

/* Everything but what wants a descriptor; the same as the default driver has,
 * so that files look the same. */
enum {
    WRITE_FEATURES = H5FD_FEAT_AGGREGATE_METADATA |
                     H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
                     H5FD_FEAT_AGGREGATE_SMALLDATA |
                     H5FD_FEAT_DEFAULT_VFD_COMPATIBLE,
};

/* ---- trail */

static bool trail_has(const struct pr_hdf5_trail *t, uint64_t off, size_t len)
{
    for (unsigned i = 0; i < t->count; i++) {
        const struct pr_hdf5_range *g = &t->range[i];
        if (off >= g->off && off + len <= g->off + g->len)
            return true;
    }
    return false;
}

static void trail_add(struct pr_hdf5_trail *t, uint64_t off, const void *data,
                      size_t len)
{
    if (t->is_full)
        return;
    if (t->count == PR_HDF5_TRAIL_RANGES ||
        len > PR_HDF5_TRAIL_BYTES - t->used) {
        t->is_full = true;
        return;
    }
    memcpy(t->bytes + t->used, data, len);
    t->range[t->count++] =
        (struct pr_hdf5_range){off, (uint32_t)len, (uint32_t)t->used};
    t->used += len;
}

void pr_hdf5_trail_clear(struct pr_hdf5_trail *t)
{
    t->count = 0;
    t->used = 0;
    t->is_full = false;
}

void pr_hdf5_trail_add(struct pr_hdf5_trail *t, uint64_t off, const void *data,
                       size_t len)
{
    if (!trail_has(t, off, len))
        trail_add(t, off, data, len);
}

/* ---- the driver's functions */

static H5FD_t *vfd_open(const char *name, unsigned flags, hid_t fapl,
                        haddr_t maxaddr)
{
    const struct pr_hdf5_api *h5;
    const struct info *info;
    struct pr_hdf5_file *f;

    (void)name;
    (void)flags;
    (void)maxaddr;
    if (pr_hdf5_library_load(&h5, NULL)) /* for its functions: it is loaded */
        return NULL;
    info = h5->H5Pget_driver_info(fapl);
    /* Links into other files end here: a storage's object is one file. */
    if (!info || !info->io->may_open || info->io->file)
        return NULL;
    f = pr_alloc_zeroed(sizeof *f);
    if (!f) {
        info->io->rc = pr_fail_nomem(&info->io->err);
        return NULL;
    }
    f->io = info->io;
    f->io->file = f;
    return &f->pub;
}

static struct pr_hdf5_io *io_of(const H5FD_t *file)
{
    return ((const struct pr_hdf5_file *)file)->io;
}

static herr_t vfd_close(H5FD_t *file)
{
    if (io_of(file))
        io_of(file)->file = NULL;
    pr_free(file);
    return 0;
}

/* Also asked without a file. */
static herr_t vfd_query(const H5FD_t *file, unsigned long *flags)
{
    if (flags)
        *flags =
            file && io_of(file) && io_of(file)->is_new ? WRITE_FEATURES : 0;
    return 0;
}

static haddr_t vfd_get_eoa(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    return ((const struct pr_hdf5_file *)file)->eoa;
}

static herr_t vfd_set_eoa(H5FD_t *file, H5FD_mem_t type, haddr_t addr)
{
    (void)type;
    ((struct pr_hdf5_file *)file)->eoa = addr;
    return 0;
}

static haddr_t vfd_get_eof(const H5FD_t *file, H5FD_mem_t type)
{
    const struct pr_hdf5_io *io = io_of(file);

    (void)type;
    if (!io)
        return 0;
    return io->is_new ? io->end : io->obj->size;
}

static void note_raw(struct pr_hdf5_io *io, haddr_t addr, size_t size)
{
    io->has_raw = true;
    io->raw_off = addr;
    io->raw_len = size;
}

static herr_t hdf5_io_fill(struct pr_hdf5_io *io, haddr_t addr, size_t size,
                           void *buf)
{
    struct pr_err *err = io->rc ? NULL : &io->err;
    int rc;

    if (addr <= io->head_len && size <= io->head_len - addr) {
        memcpy(buf, io->head + addr, size);
        return 0;
    }
    if (io->ask)
        return io->ask(addr, size, buf) ? -1 : 0;
    rc = pr_object_read(io->obj, addr, size, buf, err);
    if (rc && !io->rc)
        io->rc = rc;
    return rc ? -1 : 0;
}

static herr_t vfd_read(H5FD_t *file, H5FD_mem_t type, hid_t dxpl, haddr_t addr,
                       size_t size, void *buf)
{
    struct pr_hdf5_io *io = io_of(file);

    (void)dxpl;
    if (!io || io->is_new)
        return -1;
    io->last = addr;
    if (addr > io->obj->size || size > io->obj->size - addr)
        return -1;
    if (io->is_learning && type == H5FD_MEM_DRAW) {
        note_raw(io, addr, size);
        return 0;
    }
    if (hdf5_io_fill(io, addr, size, buf) < 0)
        return -1;
    if (io->trail)
        pr_hdf5_trail_add(io->trail, addr, buf, size);
    return 0;
}

static herr_t vfd_write(H5FD_t *file, H5FD_mem_t type, hid_t dxpl, haddr_t addr,
                        size_t size, const void *buf)
{
    struct pr_hdf5_io *io = io_of(file);

    (void)dxpl;
    if (!io || !io->is_new)
        return -1;
    if (addr + size > io->end)
        io->end = addr + size;
    if (io->is_learning && type == H5FD_MEM_DRAW) {
        note_raw(io, addr, size);
        return 0;
    }
    if (io->trail)
        trail_add(io->trail, addr, buf, size);
    /* libhdf5 does not let go of a file that it cannot write: it hears of no
     * failure, and pr_hdf5_finish_file does. */
    if (!io->rc)
        io->rc = pr_object_write(io->obj, addr, buf, size, &io->err);
    return 0;
}

static herr_t vfd_truncate(H5FD_t *file, hid_t dxpl, hbool_t closing)
{
    const struct pr_hdf5_file *f = (const struct pr_hdf5_file *)file;

    (void)dxpl;
    (void)closing;
    if (f->io)
        f->io->wanted = f->eoa;
    return 0;
}

hid_t pr_hdf5_register_driver(const struct pr_hdf5_api *h5)
{
    static const H5FD_class_t driver = {
#ifdef H5FD_CLASS_VERSION /* since 1.14 */
        .version = H5FD_CLASS_VERSION,
        .value = (H5FD_class_value_t)416, /* 256 to 511 are for anybody */
#endif
        .name = "prony",
        .maxaddr = (haddr_t)INT64_MAX,
        .fc_degree = H5F_CLOSE_STRONG,
        .fapl_size = sizeof(struct info),
        .open = vfd_open,
        .close = vfd_close,
        .query = vfd_query,
        .get_eoa = vfd_get_eoa,
        .set_eoa = vfd_set_eoa,
        .get_eof = vfd_get_eof,
        .read = vfd_read,
        .write = vfd_write,
        .truncate = vfd_truncate,
        .fl_map = H5FD_FLMAP_DICHOTOMY,
    };

    return h5->H5FDregister(&driver);
}

/* ---- files */

hid_t pr_hdf5_io_access(struct pr_hdf5_io *io)
{
    const struct pr_hdf5_api *h5 = io->h5;
    struct info info = {io};
    hid_t list = h5->H5Pcreate(*h5->H5P_CLS_FILE_ACCESS_ID_g);

    if (list < 0)
        return list;
    if (h5->H5Pset_driver(list, h5->driver, &info) >= 0 &&
        h5->H5Pset_fclose_degree(list, H5F_CLOSE_STRONG) >= 0)
        return list;
    h5->H5Pclose(list);
    return -1;
}

static void hdf5_io_start(struct pr_hdf5_io *io)
{
    io->rc = PR_OK;
    io->last = 0;
    io->end = 0;
    io->wanted = 0;
    io->is_learning = false;
    io->may_open = true;
    if (io->trail)
        pr_hdf5_trail_clear(io->trail);
}

/* If libhdf5 could not let go of the file, it keeps a shell of it. */
static void hdf5_io_detach(struct pr_hdf5_io *io)
{
    if (io->file)
        io->file->io = NULL;
    io->file = NULL;
}

/* The name is never used, but a relative one would be looked up in the current
 * folder. */
#define ANY_NAME "/prony"

hid_t pr_hdf5_io_open(struct pr_hdf5_io *io, hid_t access)
{
    hid_t file;

    hdf5_io_start(io);
    file = io->h5->H5Fopen(ANY_NAME, H5F_ACC_RDONLY, access);
    io->may_open = false;
    if (file < 0)
        hdf5_io_detach(io);
    return file;
}

hid_t pr_hdf5_io_create(struct pr_hdf5_io *io, hid_t creation, hid_t access)
{
    hid_t file;

    hdf5_io_start(io);
    file = io->h5->H5Fcreate(ANY_NAME, H5F_ACC_TRUNC, creation, access);
    io->may_open = false;
    if (file < 0)
        hdf5_io_detach(io);
    return file;
}

int pr_hdf5_io_close(struct pr_hdf5_io *io, hid_t file)
{
    herr_t rc = io->h5->H5Fclose(file);

    hdf5_io_detach(io);
    return rc < 0 ? -1 : 0;
}

int pr_hdf5_io_fail(struct pr_hdf5_io *io, const char *name, struct pr_err *err,
                    const char *what)
{
    char why[200];

    pr_hdf5_read_error(io->h5, why, sizeof why);
    if (io->rc) {
        if (err)
            *err = io->err;
        return io->rc;
    }
    return pr_fail(err, PR_E_FORMAT, name, "at byte %llu: %s: %s",
                   (unsigned long long)io->last, what, why);
}
