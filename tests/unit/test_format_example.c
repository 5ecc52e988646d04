/* tf.train.Example: what is found in messages, good, odd and broken. */
#include "format/tf_example.h"

#include "torture.h"

#include <stdlib.h>
#include <string.h>

/* "0a0b" as bytes. A copy of just that size, so that a sanitizer sees who
 * reads beyond it; free it. */
static uint8_t *bytes_of(const char *hex, size_t *len)
{
    uint8_t *out;

    *len = strlen(hex) / 2;
    out = malloc(*len ? *len : 1);
    assert_non_null(out);
    for (size_t i = 0; i < *len; i++) {
        char two[3] = {hex[2 * i], hex[2 * i + 1], 0};
        out[i] = (uint8_t)strtoul(two, NULL, 16);
    }
    return out;
}

struct row {
    const char *what, *hex;
    enum pr_tf_example_kind kind;
    const char *want; /* decoded, in hex */
    bool has_label;
    int64_t label;
};

static void check_row(const struct row *row)
{
    size_t len, want_len, bad = 0, unit = 1;
    uint8_t *in = bytes_of(row->hex, &len), *out;
    uint8_t *want = bytes_of(row->want, &want_len);
    struct pr_tf_example e = {0};

    if (!pr_tf_example_parse(in, len, &e, &bad))
        fail_msg("%s: bad at %zu", row->what, bad);
    if (e.kind != row->kind || e.has_label != row->has_label ||
        (e.has_label && e.label != row->label))
        fail_msg("%s: kind %d, label %d %lld", row->what, e.kind, e.has_label,
                 (long long)e.label);
    if (e.kind == PR_TF_EXAMPLE_INTS)
        unit = 8;
    if (e.kind == PR_TF_EXAMPLE_FLOATS)
        unit = 4;
    if (e.count * unit != want_len)
        fail_msg("%s: %llu elements", row->what, (unsigned long long)e.count);
    out = malloc(want_len + 1);
    assert_non_null(out);
    if (unit > 1)
        pr_tf_example_decode(&e, out);
    else if (want_len)
        memcpy(out, e.data, want_len);
    if (memcmp(out, want, want_len) != 0)
        fail_msg("%s: other bytes", row->what);
    free(out);
    free(in);
    free(want);
}

/* The first rows were written by TensorFlow. */
static const struct row rows[] = {
    {"DLIO's features",
     "0a230a120a05696d61676512090a070a0561626364650a0d0a0473697a6512051a030a01"
     "05",
     PR_TF_EXAMPLE_BYTES, "6162636465", false, 0},
    {"a label",
     "0a310a0f0a05696d61676512060a040a0261620a0f0a056c6162656c12061a040a02ac02"
     "0a0d0a0473697a6512051a030a0102",
     PR_TF_EXAMPLE_BYTES, "6162", true, 300},
    {"the longest list of int64s",
     "0a340a220a03696473121b1a190a1701ffffffffffffffffff01ac020080808080808080"
     "80400a0e0a046d61736b12061a040a020101",
     PR_TF_EXAMPLE_INTS,
     "0100000000000000ffffffffffffffff2c010000000000000000000000000000000000000"
     "0"
     "000040",
     false, 0},
    {"floats, and y as the label",
     "0a230a150a01661210120e0a0c0000803f000020c0000050400a0a0a017912051a030a01"
     "07",
     PR_TF_EXAMPLE_FLOATS, "0000803f000020c000005040", true, 7},

    {"nothing", "", PR_TF_EXAMPLE_NONE, "", false, 0},
    {"no features", "0a00", PR_TF_EXAMPLE_NONE, "", false, 0},
    {"an image without a string is none",
     "0a1d0a0e0a056c6162656c12051a030a01090a0b0a05696d61676512020a00",
     PR_TF_EXAMPLE_INTS, "0900000000000000", true, 9},
    {"image before longer strings",
     "0a220a0e0a05696d61676512050a030a01410a100a046161616112080a060a0442424242",
     PR_TF_EXAMPLE_BYTES, "41", false, 0},
    {"image/encoded before image_raw and x",
     "0a3a0a120a09696d6167655f72617712050a030a01420a0a0a017812050a030a01430a18"
     "0a0d696d6167652f656e636f64656412070a050a03414141",
     PR_TF_EXAMPLE_BYTES, "414141", false, 0},
    {"x before others",
     "0a1a0a0a0a017812050a030a01430a0c0a017712070a050a03414141",
     PR_TF_EXAMPLE_BYTES, "43", false, 0},
    {"the longest string",
     "0a1a0a0a0a017612050a030a01430a0c0a017712070a050a03414141",
     PR_TF_EXAMPLE_BYTES, "414141", false, 0},
    {"of two as long, the first by name, here the second",
     "0a180a0a0a017712050a030a01430a0a0a017612050a030a0144",
     PR_TF_EXAMPLE_BYTES, "44", false, 0},
    {"of two as long, the first by name, here the first",
     "0a180a0a0a017612050a030a01440a0a0a017712050a030a0143",
     PR_TF_EXAMPLE_BYTES, "44", false, 0},
    {"the last of the same name",
     "0a210a0f0a05696d61676512060a040a0241410a0e0a05696d61676512050a030a0142",
     PR_TF_EXAMPLE_BYTES, "42", false, 0},
    {"the last of the same other name",
     "0a180a0b0a017612060a040a0241410a090a017612040a020a00",
     PR_TF_EXAMPLE_BYTES, "", false, 0},
    {"features twice are one map",
     "0a0b0a090a017612040a020a000a0c0a0a0a017612050a030a0144",
     PR_TF_EXAMPLE_BYTES, "44", false, 0},
    {"the first of many strings", "0a0f0a0d0a017612080a060a01440a0145",
     PR_TF_EXAMPLE_BYTES, "44", false, 0},
    {"unknown fields everywhere",
     "10010a4a1d010203040a432131323334353637380a05696d61676512312a036162630a28"
     "1203010203faffffff0f01ff0a1841414141414141414141414141414141414141414141"
     "414108004805",
     PR_TF_EXAMPLE_BYTES, "414141414141414141414141414141414141414141414141",
     false, 0},
    {"int64s one by one, and packed", "0a110a0f0a0161120a1a08080108020a020304",
     PR_TF_EXAMPLE_INTS,
     "0100000000000000020000000000000003000000000000000400000000000000", false,
     0},
    {"floats one by one, and packed",
     "0a180a160a01611211120f0d0000803f0a080000004000004040",
     PR_TF_EXAMPLE_FLOATS, "0000803f0000004000004040", false, 0},
    {"a label that is not packed", "0a0f0a0d0a056c6162656c12041a020805",
     PR_TF_EXAMPLE_INTS, "0500000000000000", true, 5},
    {"a label of strings is none", "0a100a0e0a056c6162656c12050a030a0141",
     PR_TF_EXAMPLE_BYTES, "41", false, 0},
    {"image/class/label before y",
     "0a280a0a0a017912051a030a01070a1a0a11696d6167652f636c6173732f6c6162656c12"
     "051a030a010a",
     PR_TF_EXAMPLE_INTS, "0a00000000000000", true, 10},
    {"a long way to write a small number",
     "0a120a100a056c6162656c12071a050a03858000", PR_TF_EXAMPLE_INTS,
     "0500000000000000", true, 5},
    {"an empty name", "0a0a0a0812060a040a024142", PR_TF_EXAMPLE_BYTES, "4142",
     false, 0},
};

static void finds_the_sample(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_row(&rows[i]);
}

static void broken_messages(void **state)
{
    static const struct {
        const char *what, *hex;
        size_t at;
    } bad[] = {
        {"a tag alone", "0a", 0},
        {"a length beyond the end", "0a05", 0},
        {"field number 0", "0200", 0},
        {"a group", "0b0c", 0},
        {"wire type 7", "0f", 0},
        {"a number that does not end", "10ffffffffffffffffffff01", 0},
        {"a tag of more than 32 bits", "80808080801000", 0},
        {"four bytes cut short", "0a000d010203", 2},
        {"eight bytes cut short", "0a000901020304050607", 2},
        {"an entry beyond the features", "0a040a050a01", 2},
        {"a value beyond the entry", "0a080a060a0176120a41", 7},
        {"a list beyond the value", "0a090a070a017612020a05", 9},
        {"a string beyond the list", "0a0c0a0a0a017612050a030a0541", 11},
        {"a length of 64 bits", "0affffffffffffffffff01", 0},
        {"floats of three bytes", "0a0d0a0b0a0161120612040a024142", 13},
        {"a packed number that does not end", "0a0d0a0b0a016112061a040a0205ff",
         14},
        {"a label that does not end",
         "0a190a0a0a017812050a030a01410a0b0a0179"
         "12061a040a02ffff",
         25},
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        size_t len, at = 99;
        uint8_t *in = bytes_of(bad[i].hex, &len);
        struct pr_tf_example e = {.size = 77};

        if (pr_tf_example_parse(in, len, &e, &at) || at != bad[i].at)
            fail_msg("%s: bad at %zu", bad[i].what, at);
        assert_int_equal(e.size, 77);
        free(in);
    }
}

/* Floats may be decoded to where they are: no byte is lost. */
static void floats_in_place(void **state)
{
    size_t len, bad;
    uint8_t *in = bytes_of("0a1d0a1b0a016112161214"
                           "0d0000803f0d000000400d000040400d00008040",
                           &len);
    static const float want[] = {1, 2, 3, 4};
    struct pr_tf_example e;

    (void)state;
    assert_true(pr_tf_example_parse(in, len, &e, &bad));
    assert_int_equal(e.count, 4);
    pr_tf_example_decode(&e, in);
    assert_memory_equal(in, want, sizeof want);
    free(in);
}

/* ---- writing */

static void frames(void **state)
{
    static const struct {
        uint64_t bytes, classes;
        int64_t label;
        const char *hex; /* with bytes 'a', 'b' and so on */
    } want[] = {
        {5, 0, 0,
         "0a230a120a05696d61676512090a070a0561626364650a0d0a0473697a6512051a03"
         "0a0105"},
        {5, 1, 0,
         "0a230a120a05696d61676512090a070a0561626364650a0d0a0473697a6512051a03"
         "0a0105"},
        {2, 301, 300,
         "0a310a0f0a05696d61676512060a040a0261620a0d0a0473697a6512051a030a0102"
         "0a0f0a056c6162656c12061a040a02ac02"},
        {2, 301, 1,
         "0a310a0f0a05696d61676512060a040a0261620a0d0a0473697a6512051a030a0102"
         "0a0f0a056c6162656c12061a040a028100"},
        {2, 128, 127,
         "0a300a0f0a05696d61676512060a040a0261620a0d0a0473697a6512051a030a0102"
         "0a0e0a056c6162656c12051a030a017f"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        struct pr_tf_example_frame f;
        size_t len;
        uint8_t *all = bytes_of(want[i].hex, &len), *p = all;

        pr_tf_example_frame_init(&f, want[i].bytes, want[i].classes);
        pr_tf_example_frame_label(&f, want[i].label);
        assert_int_equal(f.head_len + want[i].bytes + f.tail_len, len);
        assert_memory_equal(p, f.head, f.head_len);
        p += f.head_len + want[i].bytes;
        assert_memory_equal(p, f.tail, f.tail_len);
        free(all);
    }
}

/* Whatever is written is read, and nothing runs over. */
static void frames_of_all_sizes(void **state)
{
    (void)state;
    for (uint64_t bytes = 0; bytes < 70000; bytes += bytes < 300 ? 1 : 4111)
        for (uint64_t classes = 0; classes < UINT64_MAX / 500;
             classes = classes * 131 + 1) {
            int64_t label = classes > 1 ? (int64_t)classes - 1 : 0;
            struct pr_tf_example_frame f;
            struct pr_tf_example e;
            uint8_t *all;
            size_t bad;

            pr_tf_example_frame_init(&f, bytes, classes);
            pr_tf_example_frame_label(&f, label);
            assert_true(f.head_len <= sizeof f.head);
            assert_true(f.tail_len <= sizeof f.tail);
            all = calloc(1, f.head_len + bytes + f.tail_len);
            assert_non_null(all);
            memcpy(all, f.head, f.head_len);
            memcpy(all + f.head_len + bytes, f.tail, f.tail_len);
            assert_true(pr_tf_example_parse(
                all, f.head_len + bytes + f.tail_len, &e, &bad));
            assert_ptr_equal(e.data, all + f.head_len);
            assert_int_equal(e.size, bytes);
            assert_int_equal(e.has_label, classes > 1);
            assert_true(e.label == label);
            free(all);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_sample),
        cmocka_unit_test(broken_messages),
        cmocka_unit_test(floats_in_place),
        cmocka_unit_test(frames),
        cmocka_unit_test(frames_of_all_sizes),
    };

    return cmocka_run_group_tests_name("example", tests, NULL, NULL);
}
