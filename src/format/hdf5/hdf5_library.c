/*
 * libhdf5: loading it, once a process, its element types and ours, and the way
 * on which it gets at objects.
 */
#include "format/hdf5/hdf5_library.h"

#include "base/mem.h"
#include "format/hdf5/hdf5_impl.h"
#include "prony_config.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* ---- types */

/* Sign, exponent and mantissa of the formats that IEEE 754 has. */
static const struct ieee {
    size_t bytes, sign, exp, exp_bits, man, man_bits, bias;
    enum pr_dtype dtype;
} ieee[] = {
    {2, 15, 10, 5, 0, 10, 15, PR_F16},
    {4, 31, 23, 8, 0, 23, 127, PR_F32},
    {8, 63, 52, 11, 0, 52, 1023, PR_F64},
};

static bool hdf5_is_plain_type(const struct pr_hdf5_api *h5, hid_t t,
                               size_t bytes)
{
    H5T_order_t order = h5->H5Tget_order(t);

    return (order == H5T_ORDER_LE || order == H5T_ORDER_BE || bytes == 1) &&
           h5->H5Tget_precision(t) == bytes * 8 && h5->H5Tget_offset(t) == 0;
}

static bool is_other_order(const struct pr_hdf5_api *h5, hid_t t, size_t bytes)
{
    const uint16_t one = 1;
    bool big = *(const uint8_t *)&one == 0;

    return bytes > 1 && (h5->H5Tget_order(t) == H5T_ORDER_BE) != big;
}

static void hdf5_set_type(const struct pr_hdf5_api *h5, hid_t t, size_t bytes,
                          enum pr_dtype dtype, struct pr_hdf5_type *ret)
{
    *ret = (struct pr_hdf5_type){
        .dtype = dtype,
        .bytes = bytes,
        .is_swapped = is_other_order(h5, t, bytes),
    };
}

/* libhdf5 takes the widths of such a type as they are. */
static const char *hdf5_set_odd_type(const struct pr_hdf5_api *h5, hid_t t,
                                     size_t bytes, enum pr_dtype dtype,
                                     struct pr_hdf5_type *ret)
{
    size_t bits = h5->H5Tget_precision(t);
    int low = h5->H5Tget_offset(t);
    H5T_order_t order = h5->H5Tget_order(t);

    if (bytes > 2 * sizeof(uint64_t) || !bits || low < 0 || bits > bytes * 8 ||
        (size_t)low > bytes * 8 - bits ||
        (order != H5T_ORDER_LE && order != H5T_ORDER_BE))
        return "has a type that is not understood";
    *ret =
        (struct pr_hdf5_type){.dtype = dtype, .bytes = bytes, .is_odd = true};
    return NULL;
}

static const char *learn_integer(const struct pr_hdf5_api *h5, hid_t t,
                                 size_t bytes, struct pr_hdf5_type *ret)
{
    bool is_signed = h5->H5Tget_sign(t) == H5T_SGN_2;
    enum pr_dtype dtype;

    if (!hdf5_is_plain_type(h5, t, bytes) ||
        !pr_dtype_of(is_signed ? 'i' : 'u', bytes, &dtype))
        return hdf5_set_odd_type(h5, t, bytes, is_signed ? PR_I64 : PR_U64,
                                 ret);
    hdf5_set_type(h5, t, bytes, dtype, ret);
    return NULL;
}

static const char *learn_float(const struct pr_hdf5_api *h5, hid_t t,
                               size_t bytes, struct pr_hdf5_type *ret)
{
    struct ieee f = {.bytes = bytes, .bias = h5->H5Tget_ebias(t)};

    if (h5->H5Tget_fields(t, &f.sign, &f.exp, &f.exp_bits, &f.man,
                          &f.man_bits) < 0)
        return "has a type that is not understood";
    for (size_t i = 0; i < sizeof ieee / sizeof *ieee; i++)
        if (memcmp(&f, &ieee[i], offsetof(struct ieee, dtype)) == 0 &&
            hdf5_is_plain_type(h5, t, bytes) &&
            h5->H5Tget_norm(t) == H5T_NORM_IMPLIED) {
            hdf5_set_type(h5, t, bytes, ieee[i].dtype, ret);
            return NULL;
        }
    if (f.sign >= bytes * 8 || f.exp_bits > 32 || f.exp > bytes * 8 ||
        f.exp_bits > bytes * 8 - f.exp || f.man > bytes * 8 ||
        f.man_bits > bytes * 8 - f.man || !f.exp_bits || !f.man_bits)
        return "has a type that is not understood";
    return hdf5_set_odd_type(h5, t, bytes, PR_F64, ret);
}

static bool is_member(const struct pr_hdf5_api *h5, hid_t t, unsigned i,
                      const char *name)
{
    char *have = h5->H5Tget_member_name(t, i);
    int8_t value = -1; /* the type has one byte */
    bool ok = have && strcmp(have, name) == 0 &&
              h5->H5Tget_member_value(t, i, &value) >= 0 && value == (int)i;

    h5->H5free_memory(have);
    return ok;
}

/* h5py stores bool as an enumeration; others are the numbers they stand for. */
static const char *learn_enum(const struct pr_hdf5_api *h5, hid_t t,
                              size_t bytes, struct pr_hdf5_type *ret)
{
    hid_t base = h5->H5Tget_super(t);
    const char *why;

    if (base < 0)
        return "has a type that is not understood";
    why = h5->H5Tget_size(base) == bytes ? learn_integer(h5, base, bytes, ret)
                                         : "has an enumeration of two widths";
    h5->H5Tclose(base);
    if (why)
        return why;
    if (bytes == 1 && !ret->is_odd && h5->H5Tget_nmembers(t) == 2 &&
        is_member(h5, t, 0, "FALSE") && is_member(h5, t, 1, "TRUE"))
        ret->dtype = PR_B8;
    /* A conversion would turn numbers without a name into something else. */
    return ret->is_odd ? "has an enumeration of an unusual width" : NULL;
}

static const char *learn_blob(const struct pr_hdf5_api *h5, hid_t t,
                              size_t bytes, struct pr_hdf5_type *ret)
{
    if (h5->H5Tdetect_class(t, H5T_VLEN) != 0 ||
        h5->H5Tdetect_class(t, H5T_REFERENCE) != 0 ||
        (h5->H5Tget_class(t) != H5T_OPAQUE &&
         h5->H5Tdetect_class(t, H5T_STRING) != 0 &&
         h5->H5Tis_variable_str(t) != 0))
        return "has elements that are kept elsewhere in the file";
    *ret =
        (struct pr_hdf5_type){.dtype = PR_U8, .bytes = bytes, .is_blob = true};
    return NULL;
}

const char *pr_hdf5_read_type(const struct pr_hdf5_api *h5, hid_t t,
                              struct pr_hdf5_type *ret)
{
    size_t bytes = h5->H5Tget_size(t);

    if (!bytes || bytes > INT32_MAX)
        return "has a type that is not understood";
    switch (h5->H5Tget_class(t)) {
    case H5T_INTEGER:
        return learn_integer(h5, t, bytes, ret);
    case H5T_FLOAT:
        return learn_float(h5, t, bytes, ret);
    case H5T_ENUM:
        return learn_enum(h5, t, bytes, ret);
    case H5T_BITFIELD:
    case H5T_COMPOUND:
    case H5T_OPAQUE:
    case H5T_ARRAY:
    case H5T_STRING:
        return learn_blob(h5, t, bytes, ret);
    default:
        return "has elements that are kept elsewhere in the file";
    }
}

/* ---- types: new ones */

static hid_t new_half(const struct pr_hdf5_api *h5)
{
    const struct ieee *f = &ieee[0];
    hid_t t = h5->H5Tcopy(*h5->H5T_IEEE_F32LE_g);

    if (t < 0)
        return t;
    if (h5->H5Tset_fields(t, f->sign, f->exp, f->exp_bits, f->man,
                          f->man_bits) >= 0 &&
        h5->H5Tset_size(t, f->bytes) >= 0 && h5->H5Tset_ebias(t, f->bias) >= 0)
        return t;
    h5->H5Tclose(t);
    return -1;
}

static hid_t new_bool(const struct pr_hdf5_api *h5)
{
    hid_t t = h5->H5Tenum_create(*h5->H5T_STD_I8LE_g);
    const int8_t no = 0, yes = 1;

    if (t < 0)
        return t;
    if (h5->H5Tenum_insert(t, "FALSE", &no) >= 0 &&
        h5->H5Tenum_insert(t, "TRUE", &yes) >= 0)
        return t;
    h5->H5Tclose(t);
    return -1;
}

hid_t pr_hdf5_type_new(const struct pr_hdf5_api *h5, enum pr_dtype t)
{
    const hid_t *const plain[PR_DTYPE_COUNT] = {
        [PR_U8] = h5->H5T_STD_U8LE_g,    [PR_I8] = h5->H5T_STD_I8LE_g,
        [PR_U16] = h5->H5T_STD_U16LE_g,  [PR_I16] = h5->H5T_STD_I16LE_g,
        [PR_U32] = h5->H5T_STD_U32LE_g,  [PR_I32] = h5->H5T_STD_I32LE_g,
        [PR_U64] = h5->H5T_STD_U64LE_g,  [PR_I64] = h5->H5T_STD_I64LE_g,
        [PR_F32] = h5->H5T_IEEE_F32LE_g, [PR_F64] = h5->H5T_IEEE_F64LE_g,
    };

    if (t == PR_F16)
        return new_half(h5);
    if (t == PR_B8)
        return new_bool(h5);
    return h5->H5Tcopy(*plain[t]);
}

/* ---- errors */

struct text {
    char *out;
    size_t cap;
};

/* Called for the innermost error first; one is enough. */
static herr_t hdf5_copy_error(unsigned n, const H5E_error2_t *e, void *ctx)
{
    struct text *t = ctx;

    (void)n;
    if (e->desc)
        snprintf(t->out, t->cap, "%s", e->desc);
    return e->desc && *e->desc ? 1 : 0;
}

/* What libhdf5 says went wrong in this thread, the innermost words; inside of
 * enter and leave. It forgets it. */
static void hdf5_read_error(const struct pr_hdf5_api *h5, char *out, size_t cap)
{
    struct text t = {out, cap};

    snprintf(out, cap, "libhdf5 does not say why");
    h5->H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, hdf5_copy_error, &t);
    h5->H5Eclear2(H5E_DEFAULT);
}

/* ---- the virtual file driver */

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

/* ---- the driver: its trail */

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

/* ---- the driver: its functions */

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

/* < 0: failed */
static hid_t hdf5_register_driver(const struct pr_hdf5_api *h5)
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

/* ---- the driver: files */

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

    hdf5_read_error(io->h5, why, sizeof why);
    if (io->rc) {
        if (err)
            *err = io->err;
        return io->rc;
    }
    return pr_fail(err, PR_E_FORMAT, name, "at byte %llu: %s: %s",
                   (unsigned long long)io->last, what, why);
}

/* ---- loading */

static const struct {
    const char *name;
    size_t at; /* offset of the pointer */
} symbols[] = {
#define TEXT(name) #name
#define FUNC(name) {TEXT(name), offsetof(struct pr_hdf5_api, name)},
#define ID(name) FUNC(name)
#include "format/hdf5/hdf5_api.def"
#undef FUNC
#undef ID
};

/* Filled once, by load(), and never changed again. */
static struct {
    pthread_once_t once;
    pthread_mutex_t lock;
    struct pr_hdf5_api api;
    bool is_there;
    char why[200];
} lib = {.once = PTHREAD_ONCE_INIT, .lock = PTHREAD_MUTEX_INITIALIZER};

static void *hdf5_open_library(void)
{
    /* The number in the name goes with the layout of H5FD_class_t. */
    void *so = dlopen(PR_SONAME_HDF5, RTLD_NOW | RTLD_LOCAL);

    if (!so)
        snprintf(lib.why, sizeof lib.why, "%s", dlerror());
    return so;
}

static bool find_symbols(void *so)
{
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *p = dlsym(so, symbols[i].name);
        if (!p) {
            snprintf(lib.why, sizeof lib.why, "libhdf5 has no %s",
                     symbols[i].name);
            return false;
        }
        memcpy((char *)&lib.api + symbols[i].at, &p, sizeof p);
    }
    return true;
}

static bool start_library(void)
{
    const struct pr_hdf5_api *h5 = &lib.api;
    unsigned major, minor, release;

    /* At exit another thread may still be inside. Before all else; it fails
     * when someone in this process has used libhdf5 already. */
    h5->H5dont_atexit();
    if (h5->H5get_libversion(&major, &minor, &release) < 0)
        return false;
    if (major != H5_VERS_MAJOR || minor != H5_VERS_MINOR ||
        (minor == 10 && release < 5)) {
        snprintf(lib.why, sizeof lib.why,
                 "libhdf5 is %u.%u.%u, this was built for %d.%d%s", major,
                 minor, release, H5_VERS_MAJOR, H5_VERS_MINOR,
                 minor == 10 ? ".5 or later" : "");
        return false;
    }
    if (h5->H5open() < 0)
        return false;
    h5->H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    lib.api.driver = hdf5_register_driver(h5);
    return lib.api.driver >= 0 && pr_hdf5_register_lzf(h5) >= 0;
}

static void hdf5_load_library(void)
{
    void *so;

    snprintf(lib.why, sizeof lib.why, "libhdf5 did not start");
    so = hdf5_open_library();
    lib.is_there = so && find_symbols(so) && start_library();
}

int pr_hdf5_library_load(const struct pr_hdf5_api **ret, struct pr_err *err)
{
    pthread_once(&lib.once, hdf5_load_library);
    if (!lib.is_there) {
        pr_fail(err, PR_E_UNAVAIL, "hdf5", "%s", lib.why);
        return pr_hint(err, "apt-get install libhdf5-dev, then make");
    }
    *ret = &lib.api;
    return PR_OK;
}

int pr_hdf5_library_version(char out[static 32], struct pr_err *err)
{
    const struct pr_hdf5_api *h5;
    unsigned major, minor, release;
    int rc = pr_hdf5_library_load(&h5, err);

    if (rc)
        return rc;
    h5->H5get_libversion(&major, &minor, &release);
    snprintf(out, 32, "%u.%u.%u", major, minor, release);
    return PR_OK;
}

void pr_hdf5_enter(const struct pr_hdf5_api *h5)
{
    pthread_mutex_lock(&lib.lock);
    /* Each thread has a stack of errors, and it prints until told not to. */
    h5->H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

void pr_hdf5_leave(const struct pr_hdf5_api *h5)
{
    (void)h5;
    pthread_mutex_unlock(&lib.lock);
}
