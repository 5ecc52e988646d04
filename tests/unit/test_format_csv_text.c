/* Numbers of csv: elements as text, and text as elements or errors. */
#include "files_tool.h"
#include "format/csv.h"

#include <math.h>

/* ---- elements as text */

static void assert_text(enum pr_dtype type, const void *v, size_t n,
                        const char *want)
{
    struct pr_csv_table table;
    char out[256];

    pr_csv_table_init(&table);
    *pr_csv_text(&table, type, v, n, out) = '\0';
    assert_string_equal(out, want);
}

static void whole_numbers_have_no_more_digits_than_they_need(void **state)
{
    (void)state;
    assert_text(PR_U8, (const uint8_t[]){0, 7, 10, 99, 100, 255}, 6,
                "0,7,10,99,100,255,");
    assert_text(PR_I8, (const int8_t[]){0, -1, 127, -128, 10}, 5,
                "0,-1,127,-128,10,");
    assert_text(PR_U16, (const uint16_t[]){0, 9, 65535, 1000}, 4,
                "0,9,65535,1000,");
    assert_text(PR_I16, (const int16_t[]){-32768, 32767}, 2, "-32768,32767,");
    assert_text(PR_U32, (const uint32_t[]){UINT32_MAX, 100}, 2,
                "4294967295,100,");
    assert_text(PR_I32, (const int32_t[]){INT32_MIN, INT32_MAX}, 2,
                "-2147483648,2147483647,");
    assert_text(PR_U64, (const uint64_t[]){UINT64_MAX, 0}, 2,
                "18446744073709551615,0,");
    assert_text(PR_I64, (const int64_t[]){INT64_MIN, INT64_MAX, -5}, 3,
                "-9223372036854775808,9223372036854775807,-5,");
    assert_text(PR_B8, (const uint8_t[]){0, 1, 1}, 3, "False,True,True,");
}

static void floats_are_the_shortest_that_read_back(void **state)
{
    (void)state;
    assert_text(PR_F64, (const double[]){0.1, -2.5, 1e300, 0}, 4,
                "0.1,-2.5,1e+300,0.0,");
    assert_text(PR_F32,
                (const float[]){0.1f, 1 / 3.0f, 16777216, -0.5f, 0, 0x1p-24f},
                6, "0.1,0.33333334,16777216.0,-0.5,0.0,5.9604645e-08,");
    assert_text(PR_F16, (const uint16_t[]){0x3c00, 0x2e66, 0x3555, 0x7bff}, 4,
                "1.0,0.1,0.3333,65500.0,");
    /* 0.01562 would read as the half below. */
    assert_text(PR_F16, (const uint16_t[]){0x2400}, 1, "0.01563,");
}

static void every_half_comes_back(void **state)
{
    struct pr_csv_table table;

    (void)state;
    pr_csv_table_init(&table);
    for (unsigned h = 0; h < 0x10000; h++) {
        uint16_t half = (uint16_t)h, back = 0;
        char text[32];
        struct pr_csv_scan s = {.p = (const uint8_t *)text,
                                .last = true,
                                .out = (uint8_t *)&back,
                                .out_end = (uint8_t *)&back + 2};

        if ((h & 0x7fff) > 0x7c00)
            continue; /* one of the many that are no number */
        s.end = (uint8_t *)pr_csv_text(&table, PR_F16, &half, 1, text) - 1;
        assert_true(s.end - s.p < (long)pr_csv_widest(PR_F16));
        assert_int_equal(pr_csv_parse(PR_F16, &s), PR_CSV_ROW);
        assert_int_equal(back, half);
    }
}

static void halves_round_to_even(void **state)
{
    (void)state;
    assert_int_equal(pr_csv_half_of(65519.99), 0x7bff);
    assert_int_equal(pr_csv_half_of(65520), 0x7c00);
    assert_int_equal(pr_csv_half_of(2049), 0x6800); /* 2048 */
    assert_int_equal(pr_csv_half_of(2051), 0x6802); /* 2052 */
    assert_int_equal(pr_csv_half_of(-0x1p-25), 0x8000);
    assert_int_equal(pr_csv_half_of(0x1.8p-24), 2);
    assert_int_equal(pr_csv_half_of(0x1.ffcp-15), 0x400); /* carries */
    assert_int_equal(pr_csv_half_of(NAN) & 0x7c00, 0x7c00);
}

/* ---- what is understood */

static void open_text(struct place *p, struct reading *x, const char *text,
                      size_t len, enum pr_dtype type, uint64_t samples)
{
    struct pr_read_opts opts = {.dtype = type, .samples = samples};

    put_file(p, "f", text, len);
    assert_int_equal(reading_init(x, p, "csv", &opts), PR_OK);
    if (reading_open(x, "f"))
        fail_msg("%s", x->err.msg);
}

#define CASE(type, ctype)        \
    case type: {                 \
        ctype c;                 \
        memcpy(&c, e, sizeof c); \
        return (double)c;        \
    }

static double element(const struct pr_sample *s, size_t i)
{
    const uint8_t *e = (const uint8_t *)s->data + i * pr_dtype_bytes(s->dtype);
    uint16_t half;

    switch (s->dtype) {
        CASE(PR_U8, uint8_t)
        CASE(PR_I8, int8_t)
        CASE(PR_U16, uint16_t)
        CASE(PR_I16, int16_t)
        CASE(PR_U32, uint32_t)
        CASE(PR_I32, int32_t)
        CASE(PR_U64, uint64_t)
        CASE(PR_I64, int64_t)
        CASE(PR_F32, float)
        CASE(PR_F64, double)
        CASE(PR_B8, uint8_t)
    default:
        memcpy(&half, e, 2);
        return pr_csv_half_value(half);
    }
}

static void text_is_read_as_people_write_it(void **state)
{
    static const struct {
        const char *text;
        enum pr_dtype type;
        unsigned rows;
        double want[8]; /* all rows */
        unsigned last;  /* elements of the last row */
    } rows[] = {
        {"1,2\n3,4\n", PR_U8, 2, {1, 2, 3, 4}, 2},
        {"1,2\n3,4", PR_U8, 2, {1, 2, 3, 4}, 2},
        {"1,2\r\n3,4\r\n", PR_U8, 2, {1, 2, 3, 4}, 2},
        {"1,2\r\n3,4\r", PR_U8, 2, {1, 2, 3, 4}, 2},
        {"1,2\n3,4\n\n\r\n  \n", PR_U8, 2, {1, 2, 3, 4}, 2},
        {" 1 ,\t2 \n 3,4 ", PR_U8, 2, {1, 2, 3, 4}, 2},
        {"1,2,3\n4\n", PR_U8, 2, {1, 2, 3, 4}, 1},
        {"007,0000000000000000000000255,+3,-0", PR_U8, 1, {7, 255, 3, 0}, 4},
        {"", PR_U8, 0, {0}, 0},
        {"\n\n", PR_U8, 0, {0}, 0},
        {"-128,127", PR_I8, 1, {-128, 127}, 2},
        {"-32768,32767", PR_I16, 1, {-32768, 32767}, 2},
        {"65535", PR_U16, 1, {65535}, 1},
        {"-2147483648,2147483647", PR_I32, 1, {INT32_MIN, INT32_MAX}, 2},
        {"4294967295", PR_U32, 1, {UINT32_MAX}, 1},
        {"-9223372036854775808,12345678901",
         PR_I64,
         1,
         {-0x1p63, 12345678901},
         2},
        {"18446744073709549568", PR_U64, 1, {18446744073709549568.0}, 1},
        {"1,.5,2.,-1e3,1E+2,+1.5e-1", PR_F64, 1, {1, .5, 2, -1e3, 100, .15}, 6},
        {"0.1,16777217", PR_F32, 1, {0.1f, 16777216}, 2},
        {"inf,-Infinity,1e-999", PR_F64, 1, {INFINITY, -INFINITY, 0}, 3},
        {"-inf", PR_F16, 1, {-INFINITY}, 1},
        {"True,False,true,FALSE,1,0", PR_B8, 1, {1, 0, 1, 0, 1, 0}, 6},
    };
    struct place place;

    (void)state;
    place_init(&place, "memory");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t k = 0;
        struct reading x;

        open_text(&place, &x, rows[i].text, strlen(rows[i].text), rows[i].type,
                  0);
        assert_int_equal(x.r->samples, rows[i].rows);
        for (uint64_t row = 0; row < x.r->samples; row++) {
            if (reading_read(&x, row))
                fail_msg("'%s': %s", rows[i].text, x.err.msg);
            for (size_t j = 0; j < x.s.shape.dim[0]; j++, k++)
                if (element(&x.s, j) != rows[i].want[k])
                    fail_msg("'%s': element %zu is %.17g", rows[i].text, k,
                             element(&x.s, j));
        }
        assert_int_equal(rows[i].rows ? x.s.shape.dim[0] : 0, rows[i].last);
        reading_done(&x);
    }
    place_done(&place);
}

static void what_is_no_number_is_told(void **state)
{
    static const struct {
        const char *text;
        enum pr_dtype type;
        const char *want; /* of the first row that fails */
    } rows[] = {
        {"1,2\n3,256\n", PR_U8,
         "at byte 6: row 2, column 2: '256' is out of range for uint8"},
        {"1,-1", PR_U8,
         "at byte 2: row 1, column 2: '-1' is out of range for uint8"},
        {"128", PR_I8, "at byte 0: row 1, column 1: '128' is out of range"},
        {"-129", PR_I8, "'-129' is out of range for int8"},
        {"65536", PR_U16, "'65536' is out of range for uint16"},
        {"-32769", PR_I16, "out of range for int16"},
        {"4294967296", PR_U32, "out of range for uint32"},
        {"2147483648", PR_I32, "out of range for int32"},
        {"-2147483649", PR_I32, "out of range for int32"},
        {"1:2", PR_I32, "'1:2' is no int32"},
        {"1/2", PR_I32, "'1/2' is no int32"},
        {"12:", PR_U8, "'12:' is no uint8"},
        {"18446744073709551616", PR_U64, "out of range for uint64"},
        {"9223372036854775808", PR_I64, "out of range for int64"},
        {"-9223372036854775809", PR_I64, "out of range for int64"},
        {"99999999999999999999999999999999", PR_U8,
         "is out of range for uint8"},
        {"1,,2", PR_U8, "at byte 2: row 1, column 2 is empty"},
        {"1,2,", PR_U8, "at byte 4: row 1, column 3 is empty"},
        {",1", PR_U8, "at byte 0: row 1, column 1 is empty"},
        {"1, ,2", PR_U8, "at byte 2: row 1, column 2 is empty"},
        {"1\n\n2\n", PR_U8, "at byte 2: row 2, column 1 is empty"},
        {"1,2x,3", PR_U8, "at byte 2: row 1, column 2: '2x' is no uint8"},
        {"1 2", PR_U8, "'1 2' is no uint8"},
        {"1.0", PR_U8, "'1.0' is no uint8"},
        {"a,b\n1,2\n", PR_U8, "row 1, column 1: 'a' is no uint8"},
        {"\"1\",2", PR_U8, "'\"1\"' is no uint8"},
        {"1\r2", PR_U8, "'1?2' is no uint8"},
        {"-", PR_I8, "'-' is no int8"},
        {"--1", PR_I8, "'--1' is no int8"},
        {"1e5", PR_I32, "'1e5' is no int32"},
        {"\x1f,1", PR_U8, "'?' is no uint8"},
        {"1e999", PR_F64, "'1e999' is out of range for float64"},
        {"1e39", PR_F32, "'1e39' is out of range for float32"},
        {"65520", PR_F16, "'65520' is out of range for float16"},
        {"1e", PR_F64, "'1e' is no float64"},
        {".", PR_F64, "'.' is no float64"},
        {"0x10", PR_F64, "'0x10' is no float64"},
        {"1_0", PR_F64, "'1_0' is no float64"},
        {"infinite", PR_F64, "'infinite' is no float64"},
        {"2", PR_B8, "'2' is no bool"},
        {"Truth", PR_B8, "'Truth' is no bool"},
        {"10", PR_B8, "'10' is no bool"},
    };
    struct place place;

    (void)state;
    place_init(&place, "memory");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct reading x;
        int rc = PR_OK;

        open_text(&place, &x, rows[i].text, strlen(rows[i].text), rows[i].type,
                  0);
        for (uint64_t row = 0; !rc && row < x.r->samples; row++)
            rc = reading_read(&x, row);
        assert_int_equal(rc, PR_E_FORMAT);
        if (!strstr(x.err.msg, rows[i].want))
            fail_msg("'%s': %s", rows[i].text, x.err.msg);
        assert_string_equal(x.err.where, "f");
        reading_done(&x);
    }
    place_done(&place);
}

static void good_rows_can_be_read_after_a_bad_one(void **state)
{
    static const char text[] = "1,2\n3,x\n5,6\n";
    struct place place;
    struct reading x;

    (void)state;
    place_init(&place, "memory");
    open_text(&place, &x, text, strlen(text), PR_U8, 0);
    assert_int_equal(reading_read(&x, 1), PR_E_FORMAT);
    assert_int_equal(reading_read(&x, 2), PR_OK);
    assert_memory_equal(x.s.data, "\5\6", 2);
    assert_int_equal(reading_read(&x, 1), PR_E_FORMAT);
    assert_int_equal(reading_read(&x, 0), PR_OK);
    assert_memory_equal(x.s.data, "\1\2", 2);
    reading_done(&x);
    place_done(&place);
}

/* The fast way and the plain one agree about any text, to the byte. */
static void fast_parsing_is_parsing(void **state)
{
    static const char odd[] = "\n\n\r -+x.0123456789,,,,";
    uint32_t seed = 1;

    (void)state;
    for (int round = 0; round < 20000; round++) {
        uint8_t *text = malloc(600), a[700], b[700];
        size_t len = 0, wrong = round % 7;
        struct pr_csv_scan fast, plain;
        enum pr_csv_end end;

        assert_non_null(text);
        while (len < 500) {
            seed = seed * 1103515245 + 12345;
            len += (size_t)sprintf((char *)text + len, "%u,", seed >> 16 & 255);
        }
        while (wrong--) {
            seed = seed * 1103515245 + 12345;
            text[(seed >> 16) % len] =
                (uint8_t)odd[(seed >> 8) % (sizeof odd - 1)];
        }
        text = realloc(text, len); /* nothing behind it may be read */
        assert_non_null(text);
        memset(a, 0xee, sizeof a);
        memset(b, 0xee, sizeof b);
        fast = (struct pr_csv_scan){
            .p = text,
            .end = text + len,
            .last = round % 2,
            .out = a,
            .out_end = a + (round % 5 ? sizeof a : (size_t)round % 200)};
        plain = fast;
        plain.out = b;
        plain.out_end = b + (fast.out_end - a);
        end = pr_csv_parse_plainly(PR_U8, &plain);
        assert_int_equal(pr_csv_parse(PR_U8, &fast), end);
        assert_ptr_equal(fast.p, plain.p);
        assert_int_equal(fast.out - a, plain.out - b);
        assert_memory_equal(a, b, fast.out - a);
        if (end == PR_CSV_BAD)
            assert_int_equal(fast.why, plain.why);
        free(text);
    }
}

static void every_uint8_is_read_the_fast_way(void **state)
{
    char text[2048];
    uint8_t out[256 + 64 + PR_CSV_PAD];
    struct pr_csv_scan s = {
        .p = (const uint8_t *)text, .out = out, .out_end = out + sizeof out};
    size_t len = 0;

    (void)state;
    for (int i = 0; i < 256; i++)
        len += (size_t)sprintf(text + len, "%d%c", i, i < 255 ? ',' : '\n');
    len += (size_t)sprintf(text + len, "%0100d\n", 0); /* room to look ahead */
    s.end = s.p + len;
#ifdef __SSE2__
    assert_true(pr_csv_parse_u8(&s));
#else
    assert_int_equal(pr_csv_parse(PR_U8, &s), PR_CSV_ROW);
#endif
    assert_int_equal(s.out - out, 256);
    for (int i = 0; i < 256; i++)
        assert_int_equal(out[i], i);
    assert_int_equal(*s.p, '0');
}

static void bytes_are_counted(void **state)
{
    uint8_t text[10000];

    (void)state;
    for (size_t len = 0; len < sizeof text; len += len < 300 ? 1 : 977) {
        memset(text, ',', sizeof text);
        assert_int_equal(pr_csv_count(text, len, ','), len);
        assert_int_equal(pr_csv_count(text, len, 'x'), 0);
        if (len)
            text[len - 1] = 'x';
        assert_int_equal(pr_csv_count(text, len, 'x'), len > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_numbers_have_no_more_digits_than_they_need),
        cmocka_unit_test(floats_are_the_shortest_that_read_back),
        cmocka_unit_test(every_half_comes_back),
        cmocka_unit_test(halves_round_to_even),
        cmocka_unit_test(text_is_read_as_people_write_it),
        cmocka_unit_test(what_is_no_number_is_told),
        cmocka_unit_test(good_rows_can_be_read_after_a_bad_one),
        cmocka_unit_test(fast_parsing_is_parsing),
        cmocka_unit_test(every_uint8_is_read_the_fast_way),
        cmocka_unit_test(bytes_are_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
