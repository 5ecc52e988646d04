/* HDF5's element types and ours. */
#include "format/hdf5/hdf5_impl.h"

#include <string.h>

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

/* ---- new types */

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
