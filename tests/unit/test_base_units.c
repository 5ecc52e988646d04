/* Numbers with units, both ways. */
#include "base/units.h"

#include "base/clock.h"

#include "torture.h"

#include <math.h>
#include <string.h>

static void whole_numbers(void **state)
{
    static const struct {
        const char *text;
        bool ok;
        int64_t want;
    } rows[] = {
        {"0", true, 0},
        {"42", true, 42},
        {"-7", true, -7},
        {"+7", true, 7},
        {"007", true, 7},
        {"1_000_000", true, 1000000},
        {"9223372036854775807", true, INT64_MAX},
        {"-9223372036854775808", true, INT64_MIN},
        {"9223372036854775808", false, 0},
        {"-9223372036854775809", false, 0},
        {"", false, 0},
        {"-", false, 0},
        {"+-1", false, 0},
        {"--1", false, 0},
        {"1-", false, 0},
        {"1_", false, 0},
        {"_1", false, 0},
        {"1__0", false, 0},
        {"-_1", false, 0},
        {"1.0", false, 0},
        {"1e3", false, 0},
        {"0x10", false, 0},
        {" 1", false, 0},
        {"1 ", false, 0},
        {"1k", false, 0},
        {"00000000000000000000000000000000000000000000000000000000000000000001",
         false, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t got = 99;
        if (pr_parse_int(rows[i].text, &got) != rows[i].ok ||
            got != (rows[i].ok ? rows[i].want : 99))
            fail_msg("'%s' gives %lld", rows[i].text, (long long)got);
    }
}

static void broken_numbers(void **state)
{
    static const struct {
        const char *text;
        bool ok;
        double want;
    } rows[] = {
        {"0", true, 0},        {"1.5", true, 1.5},       {"-1.5", true, -1.5},
        {".5", true, 0.5},     {"5.", true, 5},          {"1e3", true, 1000},
        {"1E-3", true, 0.001}, {"1_0.2_5", true, 10.25}, {"1e1_0", true, 1e10},
        {"1e-400", true, 0},   {"4e-324", true, 5e-324}, {"1e400", false, 0},
        {"-1e400", false, 0},  {"nan", false, 0},        {"inf", false, 0},
        {"", false, 0},        {".", false, 0},          {"e5", false, 0},
        {"1e", false, 0},      {"1e+", false, 0},        {"1._5", false, 0},
        {"1,5", false, 0},     {"1.5s", false, 0},       {"0x1p3", false, 0},
        {"1.2.3", false, 0},   {"1-2", false, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double got = 99;
        if (pr_parse_float(rows[i].text, &got) != rows[i].ok ||
            got != (rows[i].ok ? rows[i].want : 99))
            fail_msg("'%s' gives %g", rows[i].text, got);
    }
}

static void sizes(void **state)
{
    static const struct {
        const char *text;
        bool ok;
        uint64_t want;
    } rows[] = {
        {"0", true, 0},
        {"-0", true, 0},
        {"512", true, 512},
        {"512B", true, 512},
        {"150k", true, 150000},
        {"150K", true, 150000},
        {"150kB", true, 150000},
        {"1Ki", true, 1024},
        {"1KiB", true, 1024},
        {"2GiB", true, 2147483648},
        {"2G", true, 2000000000},
        {"2 GB", true, 2000000000},
        {"1.5M", true, 1500000},
        {"0.5Ki", true, 512},
        {"1e3", true, 1000},
        {"1e3k", true, 1000000},
        {"1T", true, 1000000000000},
        {"1TiB", true, 1099511627776},
        {"3P", true, 3000000000000000},
        {"1PiB", true, 1125899906842624},
        {"1_000k", true, 1000000},
        {"4503599627370497", true, 4503599627370497}, /* odd, above 2^52 */
        {"9007199254740993", true, 9007199254740993}, /* no double is it */
        {"9223372036854775807", true, INT64_MAX},
        {"18P", true, 18000000000000000},
        {"18446P", true, 18446000000000000000u},
        {"18447P", false, 0},
        {"1e30", false, 0},
        {"-1", false, 0},
        {"-1k", false, 0},
        {"1m", false, 0}, /* a thousandth? */
        {"1g", false, 0},
        {"1Kb", false, 0},
        {"1iB", false, 0},
        {"1KiBs", false, 0},
        {"1kk", false, 0},
        {"k", false, 0},
        {"B", false, 0},
        {"", false, 0},
        {"1 2", false, 0},
        {"ten", false, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t got = 99;
        if (pr_parse_size(rows[i].text, &got) != rows[i].ok ||
            got != (rows[i].ok ? rows[i].want : 99))
            fail_msg("'%s' gives %llu", rows[i].text, (unsigned long long)got);
    }
}

static void times(void **state)
{
    static const struct {
        const char *text;
        bool ok;
        double want;
    } rows[] = {
        {"90", true, 90},     {"1.5s", true, 1.5},  {"250ms", true, 0.25},
        {"20us", true, 2e-5}, {"2m", true, 120},    {"2min", true, 120},
        {"1h", true, 3600},   {"3d", true, 259200}, {"2 m", true, 120},
        {"0", true, 0},       {"1e3", true, 1000},  {"-1", false, 0},
        {"-1s", false, 0},    {"1M", false, 0},     {"1 s s", false, 0},
        {"s", false, 0},      {"", false, 0},       {"1:30", false, 0},
        {"1m30s", false, 0},  {"inf", false, 0},    {"1w", false, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double got = 99, want = rows[i].ok ? rows[i].want : 99;
        if (pr_parse_seconds(rows[i].text, &got) != rows[i].ok ||
            fabs(got - want) > 1e-12)
            fail_msg("'%s' gives %g", rows[i].text, got);
    }
}

static void sizes_are_written_with_two_digits_or_three(void **state)
{
    static const struct {
        uint64_t bytes;
        const char *want;
    } rows[] = {
        {0, "0 B"},
        {999, "999 B"},
        {1000, "1.0 kB"},
        {1500, "1.5 kB"},
        {99949, "99.9 kB"},
        {99950, "100 kB"},
        {999499, "999 kB"},
        {999500, "1.0 MB"},
        {2147483648, "2.1 GB"},
        {1000000000000, "1.0 TB"},
        {999600000000000000, "1.0 EB"},
        {UINT64_MAX, "18.4 EB"},
    };
    char out[16];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(pr_format_bytes(out, rows[i].bytes), rows[i].want);
}

static void times_are_written_in_the_unit_that_suits(void **state)
{
    static const struct {
        double s;
        const char *want;
    } rows[] = {
        {0, "0 µs"},           {0.0000042, "4 µs"},      {0.001, "1.0 ms"},
        {0.0009996, "1.0 ms"}, {0.0065, "6.5 ms"},       {0.00996, "10 ms"},
        {0.035, "35 ms"},      {0.9994, "999 ms"},       {0.9996, "1.0 s"},
        {12.34, "12.3 s"},     {59.94, "59.9 s"},        {59.96, "1 min 00 s"},
        {245, "4 min 05 s"},   {3599.4, "59 min 59 s"},  {3599.6, "1 h 00 min"},
        {7380, "2 h 03 min"},  {360000, "100 h 00 min"}, {1e18, "2.78e+14 h"},
        {INFINITY, "inf h"},   {(double)NAN, "nan h"},
    };
    char out[24];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(pr_format_seconds(out, rows[i].s), rows[i].want);
}

static void points_in_time_are_utc(void **state)
{
    char out[32];

    (void)state;
    assert_string_equal(pr_time_text(out, 1794780222123456789u),
                        "2026-11-15T22:03:42.123456Z");
    assert_string_equal(pr_time_text(out, 0), "1970-01-01T00:00:00.000000Z");
    assert_string_equal(pr_time_text(out, 999), "1970-01-01T00:00:00.000000Z");
    assert_string_equal(pr_time_name(out, 1794780222123456789u),
                        "20261115T220342Z");
}

static void clocks_go_forward(void **state)
{
    uint64_t t = pr_clock_ns();

    (void)state;
    for (int i = 0; i < 1000; i++) {
        uint64_t now = pr_clock_ns();
        assert_true(now >= t);
        t = now;
    }
    /* After 2020 and before 2200. */
    assert_in_range(pr_wall_clock_ns() / 1000000000u, 1577836800, 7258118400);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_numbers),
        cmocka_unit_test(broken_numbers),
        cmocka_unit_test(sizes),
        cmocka_unit_test(times),
        cmocka_unit_test(sizes_are_written_with_two_digits_or_three),
        cmocka_unit_test(times_are_written_in_the_unit_that_suits),
        cmocka_unit_test(points_in_time_are_utc),
        cmocka_unit_test(clocks_go_forward),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
