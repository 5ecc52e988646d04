/* Darshan: found in the maps, and told apart from merely being asked for. */
#include "observe/darshan.h"

#include "scratch.h"

#include <sys/stat.h>

static void forget(void)
{
    unsetenv("LD_PRELOAD");
    unsetenv("DARSHAN_DISABLE");
    unsetenv("DARSHAN_ENABLE_NONMPI");
}

static void make_maps(const char *text)
{
    assert_int_equal(mkdir("proc", 0755), 0);
    assert_int_equal(mkdir("proc/self", 0755), 0);
    spit("proc/self/maps", text);
}

#define LIBC "7f00-7f01 r-xp 0 08:01 12 /lib/x86_64-linux-gnu/libc.so.6\n"
#define DARSHAN "7f02-7f03 r-xp 0 08:01 13   /opt/d/lib/libdarshan.so.0.0.0\n"

static void found_or_not(void **state)
{
    static const struct {
        const char *maps, *preload; /* NULL: none */
        bool loaded, named;
        const char *path;
    } rows[] = {
        {LIBC, NULL, false, false, ""},
        {LIBC, "/lib/libother.so", false, false, ""},
        {LIBC DARSHAN LIBC, NULL, true, false,
         "/opt/d/lib/libdarshan.so.0.0.0"},
        {LIBC DARSHAN, "/x.so:/opt/d/lib/libdarshan.so /y.so", true, true,
         "/opt/d/lib/libdarshan.so.0.0.0"},
        /* asked for, but the loader did not find it */
        {LIBC, "/x.so:/no/libdarshan.so:/y.so", false, true,
         "/no/libdarshan.so"},
        {LIBC, "libdarshan.so", false, true, "libdarshan.so"},
        /* no maps to look at */
        {NULL, "/x.so /opt/libdarshan.so", true, true, "/opt/libdarshan.so"},
        {NULL, NULL, false, false, ""},
        {"", "", false, false, ""},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_darshan d;

        forget();
        if (rows[i].maps)
            make_maps(rows[i].maps);
        if (rows[i].preload)
            setenv("LD_PRELOAD", rows[i].preload, 1);
        assert_int_equal(pr_darshan_is_loaded("proc", &d), rows[i].loaded);
        unsetenv("LD_PRELOAD");
        assert_int_equal(d.loaded, rows[i].loaded);
        assert_int_equal(d.named, rows[i].named);
        assert_string_equal(d.path, rows[i].path);
        assert_int_equal(leave(state), 0);
        assert_int_equal(enter(state), 0);
    }
}

static void it_is_not_in_this_process(void **state)
{
    struct pr_darshan d;

    (void)state;
    forget();
    assert_false(pr_darshan_is_loaded("/proc", &d));
}

static void what_is_told(void **state)
{
    static const struct {
        struct pr_darshan d;
        const char *engine, *has, *has_not;
    } rows[] = {
        {{.loaded = false}, "pread", "LD_PRELOAD=", "sees"},
        {{.named = true, .path = "/no/libdarshan.so"},
         "pread",
         "'/no/libdarshan.so'",
         "sees"},
        {{.loaded = true, .path = "/l.so"},
         "pread",
         "DARSHAN_ENABLE_NONMPI=1",
         "sees"},
        {{.loaded = true, .serial = true, .disabled = true},
         "pread",
         "DARSHAN_DISABLE is set",
         "sees"},
        {{.loaded = true, .serial = true, .path = "/l.so"},
         "pread",
         "every read",
         "O_DIRECT"},
        {{.loaded = true, .serial = true}, "direct", "O_DIRECT", "ring"},
        {{.loaded = true, .serial = true}, "mmap", "faults", "ring"},
        {{.loaded = true, .serial = true}, "io_uring", "ring", "faults"},
        {{.loaded = true, .serial = true}, "memory", "sees nothing", "ring"},
        {{.loaded = true, .serial = true}, "null", "sees nothing", "ring"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_BUF struct pr_buf b = PR_BUF_INIT(4096);

        pr_darshan_describe(&rows[i].d, rows[i].engine, &b);
        assert_true(pr_buf_ok(&b));
        assert_non_null(strstr(b.data, rows[i].has));
        assert_null(strstr(b.data, rows[i].has_not));
        assert_int_equal(b.data[b.len - 1], '\n');
        if (*rows[i].d.path)
            assert_non_null(strstr(b.data, rows[i].d.path));
    }
}

static void the_environment_is_read(void **state)
{
    struct pr_darshan d;

    (void)state;
    forget();
    (void)pr_darshan_is_loaded("/proc", &d);
    assert_false(d.serial || d.disabled);
    setenv("DARSHAN_ENABLE_NONMPI", "1", 1);
    (void)pr_darshan_is_loaded("/proc", &d);
    assert_true(d.serial && !d.disabled);
    setenv("DARSHAN_DISABLE", "1", 1);
    (void)pr_darshan_is_loaded("/proc", &d);
    assert_true(d.serial && d.disabled);
    forget();
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, enter, leave)
    const struct CMUnitTest tests[] = {
        TEST(found_or_not),
        TEST(it_is_not_in_this_process),
        TEST(what_is_told),
        TEST(the_environment_is_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
