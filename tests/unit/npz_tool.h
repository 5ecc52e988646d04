/*
 * For tests of npz files: what numpy wrote, what we write, and reading it all.
 */
#ifndef TESTS_UNIT_NPZ_TOOL_H
#define TESTS_UNIT_NPZ_TOOL_H

#include "files_tool.h"

/* A checksum of our own, bit by bit, so that the one tested is not judge. */
static inline uint32_t slow_crc(const uint8_t *p, size_t n)
{
    uint32_t c = ~0u;

    for (size_t i = 0; i < n; i++) {
        c ^= p[i];
        for (int k = 0; k < 8; k++)
            c = c & 1 ? c >> 1 ^ 0xedb88320u : c >> 1;
    }
    return ~c;
}

static inline void put32(uint8_t *p, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(v >> 8 * i);
}

static inline uint32_t get32(const uint8_t *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
           (uint32_t)p[3] << 24;
}

/* ---- what numpy writes */

#define HEAD_X "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3, 1), }"
#define HEAD_Y "{'descr': '<i8', 'fortran_order': False, 'shape': (1,), }"
#define SPACES_54 "                                                      "
#define LOCAL(crc, bytes, name)                                           \
    "PK\x03\x04\x14\0\0\0\0\0\0\0\x21\0" crc bytes "\0\0\0" bytes         \
    "\0\0\0\x05\0\x14\0" name "\x01\0\x10\0" bytes "\0\0\0\0\0\0\0" bytes \
    "\0\0\0\0\0\0\0"
#define ENTRY(crc, bytes, at, name)                                       \
    "PK\x01\x02\x14\x03\x14\0\0\0\0\0\0\0\x21\0" crc bytes "\0\0\0" bytes \
    "\0\0\0\x05\0\0\0\0\0\0\0\0\0\0\0\x80\x01" at "\0\0\0" name
#define CRC_X "\x54\x47\x89\xdd"
#define CRC_Y "\xa0\x9a\xbe\x92"

/* numpy.savez(f, x=arange(6, dtype='u1').reshape(2, 3, 1), y=zeros(1, 'i8'))
 * of numpy 1.24 under Python 3.11.2. */
static const uint8_t by_numpy[] = LOCAL(
    CRC_X, "\x86",
    "x.npy") "\x93NUMPY\x01\0\x76\0" HEAD_X SPACES_54
             " \n\0\1\2\3\4\5" LOCAL(
                 CRC_Y, "\x88",
                 "y.npy") "\x93NUMPY\x01\0\x76\0" HEAD_Y SPACES_54
                          "      \n\0\0\0\0\0\0\0\0" ENTRY(CRC_X, "\x86", "\0",
                                                           "x.npy")
                              ENTRY(CRC_Y, "\x88", "\xbd",
                                    "y.npy") "PK\x05\x06\0\0\0\0\x02\0\x02\0"
                                             "\x66\0\0\0\x7c\x01\0\0\0";

enum { NUMPY_LEN = 504, X_DATA = 183, Y_AT = 189, DIR_AT = 380 };

/* savez_compressed of x = arange(12, dtype='>i2').reshape(2, 3, 2) in Fortran
 * order and labels = [7, -1] of int8. */
static const char deflated_by_numpy[] =
    "\x50\x4b\x03\x04\x14\x00\x00\x00\x08\x00\x00\x00\x21\x00\x74"
    "\x13\x50\x3d\x60\x00\x00\x00\x98\x00\x00\x00\x05\x00\x14\x00"
    "\x78\x2e\x6e\x70\x79\x01\x00\x10\x00\x98\x00\x00\x00\x00\x00"
    "\x00\x00\x60\x00\x00\x00\x00\x00\x00\x00\x9b\xec\x17\xea\x1b"
    "\x10\xc9\xc8\x50\xc6\x50\xad\x9e\x92\x5a\x9c\x5c\xa4\x6e\xa5"
    "\xa0\x6e\x97\x69\xa4\xae\xa3\xa0\x9e\x96\x5f\x54\x52\x94\x98"
    "\x17\x9f\x5f\x94\x92\x0a\x12\x0f\x29\x2a\x4d\x05\x0a\x17\x67"
    "\x24\x16\xa4\x02\xb9\x1a\x46\x3a\x0a\xc6\x3a\x0a\x46\x9a\x3a"
    "\x0a\xb5\x0a\x64\x02\x2e\x06\x06\x06\x36\x06\x26\x06\x0e\x06"
    "\x16\x06\x2e\x06\x46\x06\x76\x06\x66\x06\x4e\x06\x56\x06\x6e"
    "\x00\x50\x4b\x03\x04\x14\x00\x00\x00\x08\x00\x00\x00\x21\x00"
    "\xe9\x0c\xae\x33\x46\x00\x00\x00\x82\x00\x00\x00\x0a\x00\x14"
    "\x00\x6c\x61\x62\x65\x6c\x73\x2e\x6e\x70\x79\x01\x00\x10\x00"
    "\x82\x00\x00\x00\x00\x00\x00\x00\x46\x00\x00\x00\x00\x00\x00"
    "\x00\x9b\xec\x17\xea\x1b\x10\xc9\xc8\x50\xc6\x50\xad\x9e\x92"
    "\x5a\x9c\x5c\xa4\x6e\xa5\xa0\x5e\x93\x69\xa8\xae\xa3\xa0\x9e"
    "\x96\x5f\x54\x52\x94\x98\x17\x9f\x5f\x94\x92\x0a\x12\x77\x4b"
    "\xcc\x29\x4e\x05\x8a\x17\x67\x24\x16\xa4\x02\xf9\x1a\x46\x3a"
    "\x9a\x3a\x0a\xb5\x0a\x14\x00\x2e\xf6\xff\x00\x50\x4b\x01\x02"
    "\x14\x03\x14\x00\x00\x00\x08\x00\x00\x00\x21\x00\x74\x13\x50"
    "\x3d\x60\x00\x00\x00\x98\x00\x00\x00\x05\x00\x00\x00\x00\x00"
    "\x00\x00\x00\x00\x00\x00\x80\x01\x00\x00\x00\x00\x78\x2e\x6e"
    "\x70\x79\x50\x4b\x01\x02\x14\x03\x14\x00\x00\x00\x08\x00\x00"
    "\x00\x21\x00\xe9\x0c\xae\x33\x46\x00\x00\x00\x82\x00\x00\x00"
    "\x0a\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80\x01\x97"
    "\x00\x00\x00\x6c\x61\x62\x65\x6c\x73\x2e\x6e\x70\x79\x50\x4b"
    "\x05\x06\x00\x00\x00\x00\x02\x00\x02\x00\x6b\x00\x00\x00\x19"
    "\x01\x00\x00\x00\x00";

/* ---- what we write */

static const struct pr_file_spec specs[] = {
    {.shape = {2, {64, 64}}, .dtype = PR_U8, .samples = 1, .key = 1},
    {.shape = {2, {64, 65}}, .dtype = PR_U8, .samples = 7, .key = 2},
    {.shape = {3, {3, 8, 8}}, .dtype = PR_F32, .samples = 3, .key = 3},
    {.shape = {0, {0}}, .dtype = PR_I16, .samples = 9, .key = 4},
    {.shape = {2, {338, 338}}, .dtype = PR_U8, .samples = 20, .key = 6},
    {.shape = {2, {1201, 1207}}, .dtype = PR_F16, .samples = 2, .key = 7},
    {.shape = {1, {3000001}}, .dtype = PR_B8, .samples = 1, .key = 8},
    {.shape = {2, {600, 500}}, .dtype = PR_U64, .samples = 1, .key = 9},
};

enum { SPECS = sizeof specs / sizeof *specs };

/* The sample that was read is the one that was written. */
static inline void must_match(struct reading *x,
                              const struct pr_file_spec *spec, uint64_t i)
{
    size_t bytes = (size_t)pr_spec_sample_bytes(spec);
    uint8_t *want = pr_alloc_aligned(64, bytes);

    pr_content_fill(spec, i, 0, want, bytes);
    assert_int_equal(x->s.dtype, spec->dtype);
    assert_int_equal(x->s.size, bytes);
    assert_int_equal(x->s.shape.ndim, spec->shape.ndim);
    for (unsigned d = 0; d < spec->shape.ndim; d++)
        assert_int_equal(x->s.shape.dim[d], spec->shape.dim[d]);
    assert_memory_equal(x->s.data, want, bytes);
    assert_int_equal(x->s.has_label, spec->labels_inside);
    if (spec->labels_inside)
        assert_int_equal(x->s.label, pr_content_label(spec, i));
    pr_free(want);
}

static inline void check_written(struct reading *x,
                                 const struct pr_file_spec *spec, uint64_t i)
{
    if (reading_read(x, i))
        fail_msg("%s", x->err.msg);
    must_match(x, spec, i);
}

/* Opens "f" and reads its samples in order; the first failure. */
static inline int try_read(struct place *p, const struct pr_read_opts *opts,
                           struct pr_err *err)
{
    struct reading x;
    int rc;

    assert_int_equal(reading_init(&x, p, "npz", opts), PR_OK);
    rc = reading_open(&x, "f");
    for (uint64_t i = 0; !rc && i < x.r->samples; i++)
        rc = reading_read(&x, i);
    *err = x.err;
    reading_done(&x);
    return rc;
}

#endif
