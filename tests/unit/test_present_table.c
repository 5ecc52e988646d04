/* Typed tables: what people see, and what programs get. */
#include "present/table/table.h"

#include "base/json/json.h"
#include "present/screen.h"

#include "torture.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void expect(struct pr_table *t, enum pr_table_format f,
                   const struct pr_table_style *style, const char *want)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 20);

    pr_buf_str(&out, ">");
    assert_non_null(t);
    assert_int_equal(pr_table_print(t, f, style, &out, NULL), PR_OK);
    assert_string_equal(out.data + 1, want);
}

static const struct pr_table_column job_columns[] = {
    {.title = "job", .kind = PR_COL_STR},
    {.title = "Status", .kind = PR_COL_STATUS, .key = "state"},
    {.title = "runs", .kind = PR_COL_INT},
    {.title = "throughput", .kind = PR_COL_RATE, .unit = "samples/s"},
    {.title = "read", .kind = PR_COL_BYTES},
    {.title = "step", .kind = PR_COL_SECONDS},
    {.title = "Stall on data", .kind = PR_COL_PERCENT},
};

static struct pr_table *job_table(void)
{
    struct pr_table *t = pr_table_new(job_columns, 7);

    if (!t)
        return NULL;
    pr_table_row(t);
    pr_table_set_str(t, 0, "resnet50");
    pr_table_set_str(t, 1, "ok");
    pr_table_set_int(t, 2, 12);
    pr_table_set_float(t, 3, 812.4);
    pr_table_set_int(t, 4, 1940000000);
    pr_table_set_float(t, 5, 0.0394);
    pr_table_set_float(t, 6, 31.25);
    pr_table_row(t);
    pr_table_set_str(t, 0, "vae");
    pr_table_set_str(t, 1, "failed");
    pr_table_set_int(t, 2, 3);
    pr_table_set_float(t, 3, 99.5);
    pr_table_set_int(t, 4, 250000000);
    pr_table_set_float(t, 5, NAN);
    return t;
}

static void text_is_aligned_with_units_in_the_header(void **state)
{
    struct pr_table *t = job_table();

    (void)state;
    expect(t, PR_TABLE_TEXT, NULL,
           "job       Status  runs  throughput (samples/s)  read (GB)  "
           "step (ms)  Stall on data (%)\n"
           "resnet50  ok        12                   812.4      1.940      "
           "39.40               31.2\n"
           "vae       failed     3                    99.5      0.250        "
           "  -                  -\n");
    pr_table_free(t);
}

static void colour_is_only_for_status(void **state)
{
    static const struct pr_table_column cols[] = {
        {.title = "s", .kind = PR_COL_STATUS},
        {.title = "t", .kind = PR_COL_STR},
    };
    struct pr_table_style style = {.colour = true};
    struct pr_table *t = pr_table_new(cols, 2);

    (void)state;
    for (int i = 0; i < 3; i++) {
        static const char *const words[] = {"ok", "oom", "novel"};
        pr_table_row(t);
        pr_table_set_str(t, 0, words[i]);
        pr_table_set_str(t, 1, "ok");
    }
    expect(t, PR_TABLE_TEXT, &style,
           "s      t\n\x1b[32mok\x1b[0m     ok\n\x1b[31moom\x1b[0m    ok\n"
           "novel  ok\n");
    pr_table_free(t);
}

static void csv_has_raw_numbers(void **state)
{
    struct pr_table *t = job_table();

    (void)state;
    expect(t, PR_TABLE_CSV, NULL,
           "job,state,runs,throughput_per_s,read_bytes,step_s,"
           "stall_on_data_pct\r\n"
           "resnet50,ok,12,812.4,1940000000,0.0394,31.25\r\n"
           "vae,failed,3,99.5,250000000,,\r\n");
    pr_table_free(t);
}

static void json_leaves_missing_cells_out(void **state)
{
    struct pr_table *t = job_table();

    (void)state;
    expect(t, PR_TABLE_JSON, NULL,
           "[\n  {\n    \"job\": \"resnet50\",\n    \"state\": \"ok\",\n"
           "    \"runs\": 12,\n    \"throughput_per_s\": 812.4,\n"
           "    \"read_bytes\": 1940000000,\n    \"step_s\": 0.0394,\n"
           "    \"stall_on_data_pct\": 31.25\n  },\n"
           "  {\n    \"job\": \"vae\",\n    \"state\": \"failed\",\n"
           "    \"runs\": 3,\n    \"throughput_per_s\": 99.5,\n"
           "    \"read_bytes\": 250000000\n  }\n]\n");
    pr_table_free(t);
}

static void markdown_marks_the_side_of_numbers(void **state)
{
    static const struct pr_table_column cols[] = {
        {.title = "a|b", .kind = PR_COL_STR},
        {.title = "n", .kind = PR_COL_INT},
        {.title = "left", .kind = PR_COL_INT, .align = PR_ALIGN_LEFT},
    };
    struct pr_table *t = pr_table_new(cols, 3);

    (void)state;
    pr_table_row(t);
    pr_table_set_str(t, 0, "x|y\\|\n<b> read_threads _e_ **");
    pr_table_set_int(t, 1, -5);
    expect(t, PR_TABLE_MARKDOWN, NULL,
           "| a\\|b | n | left |\n| --- | ---: | --- |\n"
           "| x\\|y\\\\\\|\\\\n\\<b> read_threads \\_e\\_ \\*\\* | -5 | - |\n");
    pr_table_free(t);
}

/* One column, one cell a row. */
static struct pr_table *column_of(enum pr_table_column_kind kind,
                                  const char *unit, const double *f, size_t n)
{
    struct pr_table_column col = {.title = "x", .kind = kind, .unit = unit};
    struct pr_table *t = pr_table_new(&col, 1);

    assert_non_null(t);
    for (size_t i = 0; i < n; i++) {
        pr_table_row(t);
        pr_table_set_float(t, 0, f[i]);
    }
    return t;
}

static void numbers_have_the_digits_that_count(void **state)
{
    static const struct {
        enum pr_table_column_kind kind;
        const char *unit;
        double f[3];
        size_t n;
        const char *want;
    } rows[] = {
        {PR_COL_FLOAT, NULL, {1.23456, 2}, 2, "x\n1.235\n2.000\n"},
        {PR_COL_FLOAT, "°C", {12.3456}, 1, "x (°C)\n 12.35\n"},
        {PR_COL_FLOAT, NULL, {123456.7, 1000}, 2, "x\n123457\n1000\n"},
        {PR_COL_FLOAT, NULL, {0.00123456}, 1, "x\n0.001235\n"},
        {PR_COL_FLOAT, NULL, {-12.3456, 0}, 2, "x\n-12.35\n0.00\n"},
        {PR_COL_FLOAT, NULL, {123456, 0.25, 0}, 3, "x\n123456\n0.2500\n0\n"},
        {PR_COL_FLOAT, NULL, {1e12, 1e-9}, 2, "x\n1.000e+12\n1.000e-09\n"},
        {PR_COL_FLOAT,
         NULL,
         {INFINITY, -INFINITY, 1},
         3,
         "x\ninf\n-inf\n1.000\n"},
        {PR_COL_FLOAT, NULL, {NAN, 0}, 2, "x\n-\n0\n"},
        {PR_COL_BYTES, NULL, {512, 100}, 2, "x (B)\n512.0\n100.0\n"},
        {PR_COL_BYTES, NULL, {1500, 999}, 2, "x (kB)\n1.500\n0.999\n"},
        {PR_COL_BYTES, NULL, {2e12, 7e5}, 2, "x\n2.000 TB\n700.0 kB\n"},
        {PR_COL_BYTES, NULL, {3e18}, 1, "x (PB)\n3000\n"},
        {PR_COL_SECONDS, NULL, {2e-6, 5e-7}, 2, "x (µs)\n2.000\n0.500\n"},
        {PR_COL_SECONDS, NULL, {0.5, 0.25}, 2, "x (ms)\n500.0\n250.0\n"},
        {PR_COL_SECONDS, NULL, {90, 5}, 2, "x (s)\n90.00\n5.00\n"},
        {PR_COL_SECONDS, NULL, {90, 2e-6}, 2, "x\n90.00 s\n2.000 µs\n"},
        {PR_COL_RATE, "B/s", {1.5e9, 1e9}, 2, "x (GB/s)\n1.500\n1.000\n"},
        {PR_COL_RATE, "B/s", {1.5e9, 20}, 2, "x\n1.500 GB/s\n20.00 B/s\n"},
        {PR_COL_RATE, "img/s", {1e6, 2}, 2, "x (img/s)\n1000000\n2.000\n"},
        {PR_COL_PERCENT, NULL, {99.96, 0.01}, 2, "x (%)\n100.0\n0.0\n"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_table *t =
            column_of(rows[i].kind, rows[i].unit, rows[i].f, rows[i].n);
        PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(4096);
        PR_AUTO_BUF struct pr_buf got = PR_BUF_INIT(4096);

        assert_int_equal(pr_table_print(t, PR_TABLE_TEXT, NULL, &out, NULL), 0);
        /* without the blanks that align; a row tests them once */
        for (const char *p = out.data; *p; p++)
            if (*p != ' ' || (p > out.data && p[-1] != '\n' && p[-1] != ' ') ||
                i == 1)
                pr_buf_char(&got, *p);
        assert_string_equal(got.data, rows[i].want);
        pr_table_free(t);
    }
}

static void whole_numbers_stay_whole(void **state)
{
    static const struct pr_table_column col = {.title = "n",
                                               .kind = PR_COL_INT};
    struct pr_table *t = pr_table_new(&col, 1);

    (void)state;
    pr_table_row(t);
    pr_table_set_int(t, 0, INT64_MIN);
    pr_table_row(t);
    pr_table_set_int(t, 0, 7);
    pr_table_row(t);
    pr_table_set_str(t, 0, "n/a");
    expect(t, PR_TABLE_TEXT, NULL,
           "                   n\n-9223372036854775808\n"
           "                   7\n                 n/a\n");
    expect(t, PR_TABLE_CSV, NULL, "n\r\n-9223372036854775808\r\n7\r\nn/a\r\n");
    pr_table_free(t);
}

static struct pr_table *text_table(const char *a, const char *b)
{
    static const struct pr_table_column cols[] = {
        {.title = "one", .kind = PR_COL_STR},
        {.title = "number", .kind = PR_COL_INT},
        {.title = "two", .kind = PR_COL_STR},
    };
    struct pr_table *t = pr_table_new(cols, 3);

    assert_non_null(t);
    pr_table_row(t);
    pr_table_set_str(t, 0, a);
    pr_table_set_int(t, 1, 123456789);
    pr_table_set_str(t, 2, b);
    return t;
}

static void text_is_cut_to_the_terminal(void **state)
{
    static const struct {
        const char *a, *b;
        struct pr_table_style style;
        const char *want;
    } rows[] = {
        {"abcdefghij",
         "klmnopqrst",
         {.width = 33},
         "one            number  two\n"
         "abcdefghij  123456789  klmnopqrst\n"},
        {"abcdefghij",
         "klmnopqrst",
         {.width = 30},
         "one           number  two\n"
         "abcdefgh…  123456789  klmnopq…\n"},
        {"abcdefghij",
         "klm",
         {.width = 23},
         "one         number  two\n"
         "abcdef…  123456789  klm\n"},
        {"abcdefghij",
         "klm",
         {.width = 10, .ascii = true},
         "one        number  two\n"
         "abc...  123456789  klm\n"},
        {"日本語日本語",
         "x",
         {.width = 22},
         "one        number  two\n"
         "日本…   123456789  x\n"},
        {"日本語日本語",
         "x",
         {.width = 23},
         "one         number  two\n"
         "日本語…  123456789  x\n"},
        {"日本語日本語",
         "x",
         {.width = 24},
         "one          number  two\n"
         "日本語…   123456789  x\n"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_table *t = text_table(rows[i].a, rows[i].b);
        expect(t, PR_TABLE_TEXT, &rows[i].style, rows[i].want);
        pr_table_free(t);
    }
}

static void nothing_hostile_reaches_the_terminal(void **state)
{
    static const char evil[] =
        "a\x1b[2J\r\n\t\x07\x7f\xc2\x9b\xff\xe2\x80\xae.";
    static const char clean[] =
        "a\\x1b[2J\\r\\n\\t\\x07\\x7f\\u009b\xef\xbf\xbd\\u202e.";
    struct pr_table_column col = {.title = evil, .kind = PR_COL_STR};
    struct pr_table *t = pr_table_new(&col, 1);
    PR_AUTO_BUF struct pr_buf want = PR_BUF_INIT(4096);

    (void)state;
    pr_table_row(t);
    pr_table_set_str(t, 0, evil);
    pr_buf_printf(&want, "%s\n%s\n", clean, clean);
    expect(t, PR_TABLE_TEXT, NULL, want.data);
    for (int f = PR_TABLE_TEXT; f <= PR_TABLE_MARKDOWN; f++) {
        PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(4096);
        assert_int_equal(
            pr_table_print(t, (enum pr_table_format)f, NULL, &out, NULL), 0);
        assert_null(strpbrk(out.data, "\x1b\x07\x7f"));
        assert_null(strchr(out.data, '\xff'));
    }
    pr_table_free(t);
}

static void csv_quotes_what_needs_it(void **state)
{
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"plain", "plain"},
        {"a,b", "\"a,b\""},
        {"say \"x\"", "\"say \"\"x\"\"\""},
        {"a\nb", "\"a\nb\""},
        {" lead", "\" lead\""},
        {"", ""},
        {"é", "é"},
        /* A spreadsheet runs what begins like a formula; numbers do not. */
        {"=1+2", "'=1+2"},
        {"+cmd|'x'!A0", "'+cmd|'x'!A0"},
        {"-1+2", "'-1+2"},
        {"@SUM(A1)", "'@SUM(A1)"},
        {"\t=1", "'\t=1"},
        {"\r=1", "\"'\\x0d=1\""},
        {"=a,b", "\"'=a,b\""},
        {"-12.5", "-12.5"},
        {"+1e-3", "+1e-3"},
        {"-", "-"},
        {"a=b", "a=b"},
    };
    static const struct pr_table_column col = {.title = "t",
                                               .kind = PR_COL_STR};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_table *t = pr_table_new(&col, 1);
        PR_AUTO_BUF struct pr_buf want = PR_BUF_INIT(4096);
        pr_table_row(t);
        pr_table_set_str(t, 0, rows[i].text);
        pr_buf_printf(&want, "%s\r\n", rows[i].want);
        expect(t, PR_TABLE_CSV, &(struct pr_table_style){.no_header = true},
               want.data);
        pr_table_free(t);
    }
}

static void a_table_without_rows(void **state)
{
    struct pr_table_style words = {.empty = "no jobs"};
    struct pr_table *t = pr_table_new(job_columns, 3);

    (void)state;
    assert_int_equal(pr_table_rows(t), 0);
    expect(t, PR_TABLE_TEXT, NULL, "job  Status  runs\n");
    expect(t, PR_TABLE_TEXT, &words, "no jobs\n");
    expect(t, PR_TABLE_CSV, &words, "job,state,runs\r\n");
    expect(t, PR_TABLE_JSON, &words, "[]\n");
    pr_table_free(t);
}

static void keys_come_from_titles(void **state)
{
    static const struct {
        struct pr_table_column col;
        const char *want;
    } rows[] = {
        {{.title = "GPU (avg)", .kind = PR_COL_STR}, "gpu_avg"},
        {{.title = "p99", .kind = PR_COL_SECONDS}, "p99_s"},
        {{.title = "Disk", .kind = PR_COL_RATE, .unit = "B/s"},
         "disk_bytes_per_s"},
        {{.title = "x y", .kind = PR_COL_INT, .key = "X"}, "X"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_table *t = pr_table_new(&rows[i].col, 1);
        PR_AUTO_BUF struct pr_buf want = PR_BUF_INIT(100);
        pr_buf_printf(&want, "%s\r\n", rows[i].want);
        expect(t, PR_TABLE_CSV, NULL, want.data);
        pr_table_free(t);
    }
}

static void many_rows_and_the_callers_memory(void **state)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 20);
    char title[] = "name", text[32];
    struct pr_table_column col = {.title = title, .kind = PR_COL_STR};
    struct pr_table *t = pr_table_new(&col, 1);

    (void)state;
    memset(title, 'x', 4);
    for (int i = 0; i < 1000; i++) {
        pr_table_row(t);
        snprintf(text, sizeof text, "row%d", i);
        pr_table_set_str(t, 0, text);
    }
    assert_int_equal(pr_table_print(t, PR_TABLE_TEXT, NULL, &out, NULL), 0);
    assert_memory_equal(out.data, "name\nrow0\nrow1\n", 15);
    assert_string_equal(out.data + out.len - 7, "row999\n");
    pr_table_free(t);
}

static void widths_of_characters(void **state)
{
    static const struct {
        const char *text;
        size_t columns;
    } rows[] = {
        {"", 0},
        {"abc", 3},
        {"é", 1},
        {"e\xcc\x81", 1},
        {"日本", 4},
        {"🚀", 2},
        {"█▌", 2},
        {"\xff", 1},
        {"한글", 4},
        {"a\xe2\x80\x8d"
         "b",
         2},
        {"ｆ", 2},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(pr_screen_columns(rows[i].text, strlen(rows[i].text)),
                         rows[i].columns);
}

static void cutting_to_columns(void **state)
{
    static const struct {
        const char *text;
        size_t columns;
        bool ascii;
        const char *want;
        size_t took;
    } rows[] = {
        {"abc", 3, false, "abc", 3},
        {"abcd", 3, false, "ab…", 3},
        {"abcd", 3, true, "...", 3},
        {"abcd", 2, true, "ab", 2},
        {"abcd", 0, false, "", 0},
        {"日本", 3, false, "日…", 3},
        {"日本", 2, false, "…", 1},
        {"e\xcc\x81x", 1, false, "…", 1},
        {"xe\xcc\x81", 2, false, "xe\xcc\x81", 2},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(100);
        pr_buf_str(&out, "");
        assert_int_equal(pr_screen_cut(&out, rows[i].text, strlen(rows[i].text),
                                       rows[i].columns, rows[i].ascii),
                         rows[i].took);
        assert_string_equal(out.data, rows[i].want);
    }
}

static int attempt(void)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 20);
    struct pr_table *t = job_table();
    int rc = t ? PR_OK : PR_E_NOMEM;

    for (int f = PR_TABLE_TEXT; !rc && f <= PR_TABLE_MARKDOWN; f++)
        rc = pr_table_print(t, (enum pr_table_format)f, NULL, &out, NULL);
    pr_table_free(t);
    return rc;
}

static void out_of_memory_is_an_error(void **state)
{
    (void)state;
    torture(attempt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_aligned_with_units_in_the_header),
        cmocka_unit_test(colour_is_only_for_status),
        cmocka_unit_test(csv_has_raw_numbers),
        cmocka_unit_test(json_leaves_missing_cells_out),
        cmocka_unit_test(markdown_marks_the_side_of_numbers),
        cmocka_unit_test(numbers_have_the_digits_that_count),
        cmocka_unit_test(whole_numbers_stay_whole),
        cmocka_unit_test(text_is_cut_to_the_terminal),
        cmocka_unit_test(nothing_hostile_reaches_the_terminal),
        cmocka_unit_test(csv_quotes_what_needs_it),
        cmocka_unit_test(a_table_without_rows),
        cmocka_unit_test(keys_come_from_titles),
        cmocka_unit_test(many_rows_and_the_callers_memory),
        cmocka_unit_test(widths_of_characters),
        cmocka_unit_test(cutting_to_columns),
        cmocka_unit_test(out_of_memory_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
