/* Every engine, and one inside all wrappers: what the tests that are run for
 * each of them are given. */
#ifndef TESTS_UNIT_TEST_STORAGE_SETUPS_H
#define TESTS_UNIT_TEST_STORAGE_SETUPS_H

#include "test_storage.h"

struct setup {
    const char *title;
    struct pr_storage_opts opts;
    const char *below; /* folder of the test's folder */
    bool files;        /* objects are files */
};

#define UNTIL_NEVER                                 \
    "eio:read:1000000000,enospc:write:1000000000,"  \
    "eio:sync:1000000000,enospc:commit:1000000000," \
    "eio:publish:1000000000"

static struct setup setups[] = {
    {"pread", {.engine = "pread"}, "/tmp", true},
    {"pread, root",
     {.engine = "pread", .storage_root = "sub/root/"},
     "/tmp",
     true},
    {"direct", {.engine = "direct"}, "/tmp", true},
    {"direct, tmpfs", {.engine = "direct"}, "/dev/shm", true},
    {"mmap", {.engine = "mmap"}, "/tmp", true},
    {"io_uring", {.engine = "io_uring"}, "/tmp", true},
    {"io_uring, small blocks",
     {.engine = "io_uring", .block_size = 4096, .queue_depth = 3},
     "/tmp",
     true},
    {"io_uring, one by one",
     {.engine = "io_uring", .block_size = 100000, .queue_depth = 1},
     "/tmp",
     true},
    {"memory", {.engine = "memory"}, "/tmp", false},
    {"wrapped",
     {.engine = "direct",
      .fault = UNTIL_NEVER,
      .throttle = 1ull << 40,
      .trace = "trace.json",
      .storage_root = "sub"},
     "/tmp",
     true},
};

static struct setup *now; /* the setup of the running test */
static struct pr_storage *st;

static int begin(void **state)
{
    now = *state;
    if (enter_dir(now->below) && enter_dir("/tmp"))
        return -1;
    /* A seccomp filter or an old kernel: pread is used, tests must pass. */
    st = open_storage(&now->opts);
    return pr_storage_make_folder(st, "d", NULL);
}

static int end(void **state)
{
    (void)state;
    pr_storage_close(st);
    return leave_dir();
}

/* A path of the storage's as the kernel sees it. */
static inline const char *real_path(const char *name)
{
    static char path[256];
    const char *root = now->opts.storage_root;

    snprintf(path, sizeof path, "%s/%s", root ? root : ".", name);
    return path;
}

struct test {
    const char *name;
    CMUnitTestFunction run;
};
#define TEST(f) \
    {           \
#f, f   \
    }

/* Every test for every setup. */
static inline int run_for_all(const struct test *tests, size_t count)
{
    enum { SETUPS = sizeof setups / sizeof *setups, MAX = 64 };
    static struct CMUnitTest all[SETUPS * MAX];
    static char names[SETUPS * MAX][96];
    size_t n = 0;

    assert_true(count <= MAX);
    for (size_t s = 0; s < SETUPS; s++) {
        for (size_t i = 0; i < count; i++, n++) {
            snprintf(names[n], sizeof names[n], "%s: %s", setups[s].title,
                     tests[i].name);
            all[n] = (struct CMUnitTest){names[n], tests[i].run, begin, end,
                                         &setups[s]};
        }
    }
    return _cmocka_run_group_tests("storage", all, n, NULL, NULL);
}

#endif
