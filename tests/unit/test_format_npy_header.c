/* The heads of .npy arrays: read, refused, written. */
#include "format/npy.h"

#include "files_tool.h"

/* A reader with nothing but a name, for parsers that want one for messages. */
static struct pr_reader nobody = {.name = "f"};

/* ---- heads */

static size_t head_of(const char *dict, int version, uint8_t *out)
{
    size_t n = strlen(dict), start = version == 1 ? 10 : 12;

    memcpy(out, "\x93NUMPY", 6);
    out[6] = (uint8_t)version;
    out[7] = 0;
    out[8] = (uint8_t)n;
    out[9] = (uint8_t)(n >> 8);
    out[10] = out[11] = 0;
    memcpy(out + start, dict, n);
    return start + n;
}

static void heads_are_understood(void **state)
{
    static const struct {
        const char *dict;
        enum pr_dtype dtype;
        bool swapped, fortran;
        struct pr_shape shape;
    } rows[] = {
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }   \n",
         PR_F32,
         false,
         false,
         {2, {3, 4}}},
        {"{'descr': '>f8', 'fortran_order': True, 'shape': (3, 4), }\n",
         PR_F64,
         true,
         true,
         {2, {3, 4}}},
        {"{\"shape\":(7,),\"fortran_order\":False,\"descr\":\"=i2\"}",
         PR_I16,
         false,
         false,
         {1, {7}}},
        {"\n { 'shape' : ( ) ,\t'descr' : '|u1' , 'fortran_order' : True } ",
         PR_U8,
         false,
         true,
         {0, {0}}},
        {"{'descr': '>u1', 'fortran_order': False, 'shape': (0, 18446744073)}",
         PR_U8,
         false,
         false,
         {2, {0, 18446744073}}},
        {"{'descr': '|b1', 'fortran_order': False, 'shape': (1, 2, 3,)}",
         PR_B8,
         false,
         false,
         {3, {1, 2, 3}}},
        {"{'descr': '>u8', 'fortran_order': False, 'shape': (2,)}",
         PR_U64,
         true,
         false,
         {1, {2}}},
        {"{'descr': 'f2', 'fortran_order': False, 'shape': (2,)}",
         PR_F16,
         false,
         false,
         {1, {2}}},
    };

    (void)state;
    for (unsigned k = 0; k < 3 * sizeof rows / sizeof *rows; k++) {
        const unsigned i = k / 3;
        struct pr_npy a;
        struct pr_err err = {0};
        uint8_t head[256];
        size_t len = head_of(rows[i].dict, (int)(k % 3) + 1, head), measured;

        assert_int_equal(pr_npy_head_length(&nobody, 0, head, &measured, &err),
                         0);
        assert_int_equal(measured, len);
        if (pr_npy_parse(&nobody, 0, head, len, &a, &err))
            fail_msg("row %u: %s", i, err.msg);
        assert_int_equal(a.dtype, rows[i].dtype);
        assert_int_equal(a.is_swapped, rows[i].swapped);
        assert_int_equal(a.fortran, rows[i].fortran);
        assert_int_equal(a.head_bytes, len);
        assert_int_equal(a.shape.ndim, rows[i].shape.ndim);
        for (unsigned d = 0; d < a.shape.ndim; d++)
            assert_int_equal(a.shape.dim[d], rows[i].shape.dim[d]);
        assert_int_equal(a.count, pr_shape_count(&a.shape));
        assert_int_equal(a.data_bytes, a.count * pr_dtype_bytes(a.dtype));
    }
}

#define D "{'descr': '<f4', 'fortran_order': False, "

static void bad_heads_are_refused(void **state)
{
    static const struct {
        const char *dict, *msg;
    } rows[] = {
        {"", "at byte 10: bad .npy head: '{' is missing"},
        {"[]", "'{' is missing"},
        {"{}", "descr, fortran_order or shape is missing"},
        {D "}", "descr, fortran_order or shape is missing"},
        {D "'shape': (3, 4)", "',' or '}' is missing"},
        {D "'shape': (3, 4) 'x': 1}", "',' or '}' is missing"},
        {D "'shape': (3, 4), 'x': 1}", "a key other than"},
        {D "'shape': (3,), 'shape': (3,)}", "a key comes twice"},
        {D "'shape' (3,)}", "':' is missing"},
        {D "shape: (3,)}", "a string is missing"},
        {D "'shape: (3,)}", "a string does not end"},
        {D "'shape\": (3,)}", "a string does not end"},
        {D "'sha\\x70e': (3,)}", "odd character"},
        {D "'a very long key indeed': (3,)}", "a string is too long"},
        {D "'shape': 3}", "'shape' is not a tuple"},
        {D "'shape': (3)}", "'shape' is not a tuple"},
        {D "'shape': [3]}", "'shape' is not a tuple"},
        {D "'shape': (3 4)}", "',' or ')' is missing"},
        {D "'shape': (3,,4)}", "not a whole number"},
        {D "'shape': (,)}", "not a whole number"},
        {D "'shape': (-3,)}", "not a whole number"},
        {D "'shape': (3.5,)}", "',' or ')' is missing"},
        {D "'shape': (03,)}", "starts with 0"},
        {D "'shape': (18446744073709551616,)}", "a dimension is too large"},
        {D "'shape': (99999999999, 99999999999)}", "larger than any file"},
        {D "'shape': (4611686018427387904,)}", "larger than any file"},
        {D "'shape': (1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)}",
         "too many dimensions"},
        {D "'shape': (3,)} x", "something follows"},
        {D "'shape': (3,)}{", "something follows"},
        {"{'descr': '<f4', 'fortran_order': 0, 'shape': (3,)}",
         "neither True nor False"},
        {"{'descr': '<f4', 'fortran_order': Tru", "neither True nor False"},
        {"{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (3,)}",
         "a structured type cannot be read"},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (3,)}",
         "'|O' (Python objects) cannot be read"},
        {"{'descr': '<c8', 'fortran_order': False, 'shape': (3,)}",
         "'<c8' (complex numbers) cannot be read"},
        {"{'descr': '<U5', 'fortran_order': False, 'shape': (3,)}",
         "'<U5' (strings) cannot be read"},
        {"{'descr': '|S5', 'fortran_order': False, 'shape': (3,)}",
         "'|S5' (strings) cannot be read"},
        {"{'descr': '|V8', 'fortran_order': False, 'shape': (3,)}",
         "'|V8' (records) cannot be read"},
        {"{'descr': '<M8[ns]', 'fortran_order': False, 'shape': (3,)}",
         "'<M8[ns]' (times) cannot be read"},
        {"{'descr': '<f16', 'fortran_order': False, 'shape': (3,)}",
         "elements of type '<f16' are not known"},
        {"{'descr': '<i3', 'fortran_order': False, 'shape': (3,)}",
         "elements of type '<i3' are not known"},
        {"{'descr': '|i4', 'fortran_order': False, 'shape': (3,)}",
         "elements of type '|i4' are not known"},
        {"{'descr': '', 'fortran_order': False, 'shape': (3,)}",
         "elements of type '' are not known"},
    };

    (void)state;
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_npy a;
        struct pr_err err = {0};
        uint8_t head[256];
        size_t len = head_of(rows[i].dict, 1, head);

        assert_int_equal(pr_npy_parse(&nobody, 0, head, len, &a, &err),
                         PR_E_FORMAT);
        assert_string_equal(err.where, "f");
        if (!strstr(err.msg, rows[i].msg))
            fail_msg("row %u: '%s'", i, err.msg);
    }
}

static void bad_starts_are_refused(void **state)
{
    static const struct {
        const char *bytes, *msg;
    } rows[] = {
        {"\x93NUMPX\1\0\0\0\0\0", "at byte 7: this is not a .npy array"},
        {"\x93NUMPY\0\0\0\0\0\0", "at byte 13: version 0.0 of .npy"},
        {"\x93NUMPY\4\0\0\0\0\0", "version 4.0 of .npy is not known"},
        {"\x93NUMPY\1\1\0\0\0\0", "version 1.1 of .npy is not known"},
        {"\x93NUMPY\2\0\0\0\1\0", "a .npy head of 65536 bytes is too long"},
        {"\x93NUMPY\3\0\xff\xff\xff\xff", "of 4294967295 bytes is too long"},
    };

    (void)state;
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_err err = {0};
        size_t len;

        assert_int_equal(pr_npy_head_length(&nobody, 7,
                                            (const uint8_t *)rows[i].bytes,
                                            &len, &err),
                         PR_E_FORMAT);
        if (!strstr(err.msg, rows[i].msg))
            fail_msg("row %u: '%s'", i, err.msg);
    }
}

#define ONES 111111111111111111u

/* What numpy 1.24 writes, and how long its heads are. */
static void heads_are_numpys(void **state)
{
    static const struct {
        struct pr_npy a;
        size_t len;
        const char *dict;
    } rows[] = {
        {{.dtype = PR_U8, .shape = {3, {32, 32, 4}}},
         128,
         "{'descr': '|u1', 'fortran_order': False, 'shape': (32, 32, 4), }"},
        {{.dtype = PR_I64, .shape = {1, {5}}},
         128,
         "{'descr': '<i8', 'fortran_order': False, 'shape': (5,), }"},
        {{.dtype = PR_F32, .shape = {0, {0}}},
         128,
         "{'descr': '<f4', 'fortran_order': False, 'shape': (), }"},
        /* just short of 128, and just not */
        {{.dtype = PR_B8, .shape = {3, {1, ONES, ONES}}},
         128,
         "{'descr': '|b1', 'fortran_order': False, 'shape': (1, "
         "111111111111111111, 111111111111111111), }"},
        {{.dtype = PR_B8, .shape = {3, {1, ONES, ONES * 10 + 1}}},
         192,
         "{'descr': '|b1', 'fortran_order': False, 'shape': (1, "
         "111111111111111111, 1111111111111111111), }"},
        /* as long as C's, though it is shorter */
        {{.dtype = PR_B8,
          .fortran = true,
          .shape = {3, {1, ONES, ONES * 10 + 1}}},
         192,
         "{'descr': '|b1', 'fortran_order': True, 'shape': (1, "
         "111111111111111111, 1111111111111111111), }"},
    };

    (void)state;
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint8_t head[PR_NPY_HEAD_BUF + 1];
        size_t n = strlen(rows[i].dict), len = rows[i].len;

        memset(head, 'x', sizeof head);
        assert_int_equal(pr_npy_build(&rows[i].a, head), len);
        assert_memory_equal(head, "\x93NUMPY\1\0", 8);
        assert_int_equal(head[8] | head[9] << 8, len - 10);
        assert_memory_equal(head + 10, rows[i].dict, n);
        for (size_t k = 10 + n; k < len - 1; k++)
            assert_int_equal(head[k], ' ');
        assert_int_equal(head[len - 1], '\n');
    }
}

/* The same answer as without memory, whatever came before. */
static void a_head_seen_before_is_understood(void **state)
{
    static const struct {
        const char *dict;
        bool is_same, is_bad;
    } rows[] = {
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }", 0, 0},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }", 1, 0},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 5), }", 0, 0},
        {"{'descr': '<f4', 'fortran_order': True, 'shape': (3, 5), }", 0, 0},
        {"{'descr': '<f4', 'fortran_order': Trui, 'shape': (3, 5), }", 0, 1},
        {"{'descr': '<f4', 'fortran_order': Trui, 'shape': (3, 5), }", 0, 1},
        {"{'descr': '<f4', 'fortran_order': True, 'shape': (3, 5), }", 0, 0},
        {"{'descr': '<f4', 'fortran_order': True, 'shape': (3, 5), }", 1, 0},
        {"{'descr': '<f4', 'fortran_order': True, 'shape': (3, 5), }  ", 0, 0},
    };
    struct pr_npy_last_head last = {0};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint8_t head[256];
        size_t len = head_of(rows[i].dict, 1, head);
        struct pr_err err = {0};
        struct pr_npy a;
        int rc = pr_npy_parse(&nobody, 0, head, len, &a, &err);

        assert_int_equal(rc, rows[i].is_bad ? PR_E_FORMAT : PR_OK);
        assert_int_equal(pr_npy_parse_head(&last, &nobody, 0, head, len, &err),
                         rc);
        assert_int_equal(last.is_same, rows[i].is_same);
        if (rc)
            continue;
        assert_int_equal(last.npy.fortran, a.fortran);
        assert_int_equal(last.npy.shape.dim[1], a.shape.dim[1]);
        assert_int_equal(last.npy.head_bytes, a.head_bytes);
        assert_int_equal(last.npy.data_bytes, a.data_bytes);
    }
}

/* Too long to be kept: no memory is written that is not there. */
static void long_heads_are_parsed_each_time(void **state)
{
    static const char dict[] =
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }";
    uint8_t head[2 * PR_NPY_KEPT];
    struct pr_npy_last_head last = {0};
    size_t n = head_of(dict, 1, head);

    (void)state;
    for (int i = 0; i < 4; i++) {
        size_t len = i % 2 ? PR_NPY_KEPT + 1 : PR_NPY_KEPT;

        memset(head + n, ' ', sizeof head - n);
        head[8] = (uint8_t)(len - 10);
        head[9] = (uint8_t)((len - 10) >> 8);
        assert_int_equal(pr_npy_parse_head(&last, &nobody, 0, head, len, NULL),
                         PR_OK);
        assert_false(last.is_same);
        assert_int_equal(last.npy.head_bytes, len);
        assert_int_equal(last.npy.count, 12);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heads_are_understood),
        cmocka_unit_test(bad_heads_are_refused),
        cmocka_unit_test(bad_starts_are_refused),
        cmocka_unit_test(heads_are_numpys),
        cmocka_unit_test(a_head_seen_before_is_understood),
        cmocka_unit_test(long_heads_are_parsed_each_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
