/* Which engine is used when the one asked for is not to be had, what several
 * threads share, and what the engine null makes up. */
#include "skip.h"
#include "test_storage.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static int enter(void **state)
{
    (void)state;
    return enter_dir("/tmp");
}

static int leave(void **state)
{
    (void)state;
    return leave_dir();
}

/* ---- what is asked for */

static void bad_options_are_refused(void **state)
{
    static const struct {
        struct pr_storage_opts opts;
        int code;
        const char *where, *says;
    } rows[] = {
        {{.engine = "flopppy"}, PR_E_CONF, "storage.engine", "'flopppy'"},
        {{.storage_type = "s3"},
         PR_E_UNAVAIL,
         "storage.storage_type",
         "object storage is for a later version"},
        {{.storage_type = "aistore", .engine = "memory"},
         PR_E_UNAVAIL,
         "storage.storage_type",
         "object storage is for a later version"},
        {{.storage_type = "tape"}, PR_E_CONF, "storage.storage_type", "'tape'"},
        {{.storage_root = "file"}, PR_E_IO, "file", "Not a directory"},
        {{.storage_root = "file", .engine = "direct"},
         PR_E_IO,
         "file",
         "Not a directory"},
        {{.storage_root = "file", .engine = "io_uring"},
         PR_E_IO,
         "file",
         "Not a directory"},
    };

    (void)state;
    assert_true(close(open("file", O_CREAT | O_WRONLY, 0644)) == 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_storage *st = (struct pr_storage *)&rows;
        struct pr_err err = {0};

        assert_int_equal(pr_storage_open(&rows[i].opts, &st, &err),
                         rows[i].code);
        assert_string_equal(err.where, rows[i].where);
        assert_says(&err, rows[i].says);
        assert_ptr_equal(st, &rows);
    }
    pr_storage_close(NULL);
}

static void defaults_are_pread_here(void **state)
{
    static const char *const types[] = {NULL, "", "local_fs", "parallel_fs"};

    (void)state;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        struct pr_storage_opts opts = {.storage_type = types[i]};
        struct pr_storage *st = open_storage(&opts);

        assert_string_equal(pr_storage_engine(st), "pread");
        assert_string_equal(pr_storage_warning(st), "");
        make(st, "f", "x", 1);
        pr_storage_close(st);
    }
    assert_int_equal(access("f", R_OK), 0);
}

/* A root that is not there is made with the first folder, not before. */
static void a_root_may_come_later(void **state)
{
    struct pr_storage_opts opts = {.storage_root = "not/yet//"};
    struct pr_storage *st = open_storage(&opts);
    struct pr_storage_space space = {0, 0};
    struct pr_object_info info;
    struct pr_object o;
    struct pr_err err = {0};

    (void)state;
    assert_int_equal(pr_storage_stat(st, "d/f", &info, NULL), 0);
    assert_int_equal(pr_object_open(st, "d/f", &o, &err), PR_E_IO);
    assert_string_equal(err.where, "not/yet/d/f");
    assert_int_equal(err.sys_errno, ENOENT);
    assert_non_null(strstr(err.hint, "storage_root"));
    assert_int_equal(pr_object_create(st, "f", 0, &o, &err), PR_E_IO);
    assert_int_equal(pr_storage_remove(st, "f", NULL), PR_OK);
    assert_int_equal(pr_storage_list(st, "", count_one, NULL, NULL), PR_E_IO);
    assert_int_equal(pr_storage_space(st, "d", &space, NULL), PR_OK);
    assert_true(space.bytes > 0);
    assert_int_equal(access("not", F_OK), -1);
    assert_int_equal(pr_storage_make_folder(st, "d", NULL), PR_OK);
    make(st, "d/f", "x", 1);
    assert_int_equal(access("not/yet/d/f", R_OK), 0);
    pr_storage_close(st);
}

/* The current folder may change; the storage stays where it was. */
static void the_root_does_not_move(void **state)
{
    struct pr_storage_opts opts = {.storage_root = "./"};
    struct pr_storage *st = open_storage(&opts);

    (void)state;
    assert_int_equal(chdir("/"), 0);
    make(st, "f", "x", 1);
    assert_int_equal(chdir(test_dir), 0);
    assert_int_equal(access("f", R_OK), 0);
    pr_storage_close(st);
}

/* ---- what is not to be had */

/* sysfs knows neither O_DIRECT nor maps; this file of it has a real size. */
static void a_refused_file_is_read_by_pread(void **state)
{
    static const char name[] = "/sys/kernel/notes";
    static const char *const engines[] = {"direct", "mmap", "io_uring"};
    uint8_t want[4096], got[4096 + PR_IO_SLACK];
    const uint8_t *at;
    int fd = open(name, O_RDONLY);
    ssize_t len = fd < 0 ? -1 : read(fd, want, sizeof want);

    (void)state;
    if (len <= 0 || len == sizeof want)
        skip_because("%s cannot be read; mount /proc", name);
    close(fd);
    for (size_t i = 0; i < 3; i++) {
        struct pr_storage_opts opts = {.engine = engines[i]};
        struct pr_storage *st = open_storage(&opts);
        struct pr_object o = open_object(st, name);
        struct pr_err err = {0};

        assert_int_equal(o.size, len);
        if (pr_object_fetch(&o, 1, (size_t)len - 1, got, sizeof got, &at, &err))
            fail_msg("%s: %s", engines[i], err.msg);
        assert_memory_equal(at, want + 1, (size_t)len - 1);
        pr_object_close(&o);
        assert_object(st, name, want, (size_t)len);
        if (i < 2)
            assert_non_null(strstr(pr_storage_warning(st), name));
        pr_storage_close(st);
    }
}

/* A filter as containers have it: io_uring is not permitted. */
static bool forbid_io_uring(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_io_uring_setup, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static int use_forbidden(void)
{
    struct pr_storage_opts opts = {.engine = "io_uring", .trace = "trace"};
    struct pr_storage *st = NULL;
    struct pr_object o;
    int rc = pr_storage_open(&opts, &st, NULL);

    if (rc)
        return 1;
    if (strcmp(pr_storage_engine(st), "pread") != 0 ||
        !strstr(pr_storage_warning(st), "io_uring"))
        return 2;
    if (!pr_storage_buffer(st, 4096) || pr_object_create(st, "f", 0, &o, NULL))
        return 3;
    if (pr_object_write(&o, 0, "x", 1, NULL) || pr_object_commit(&o, NULL))
        return 4;
    pr_storage_close(st);
    return 0;
}

static void without_io_uring_pread_is_used(void **state)
{
    int status;
    pid_t child = fork();

    (void)state;
    if (child == 0)
        _exit(forbid_io_uring() ? use_forbidden() : 77);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77)
        skip_because("no seccomp filters here; use a kernel with "
                     "CONFIG_SECCOMP_FILTER");
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_int_equal(access("f", R_OK), 0);
}

/* ---- threads */

enum { THREADS = 4, ROUNDS = 300 };

struct worker {
    struct pr_storage *st;
    int number;
    int failed;
};

static void *work(void *arg)
{
    struct worker *w = arg;
    char name[32];

    for (int i = 0; i < ROUNDS && !w->failed; i++) {
        struct pr_object o;
        const uint8_t *got;
        uint64_t value = (uint64_t)i * THREADS + (uint64_t)w->number;
        uint8_t buf[8 + PR_IO_SLACK];

        /* One object all of them replace, one of each thread's own. */
        snprintf(name, sizeof name, "d/%d", w->number);
        w->failed |= pr_object_create(w->st, name, 8, &o, NULL) ||
                     pr_object_write(&o, 0, &value, 8, NULL) ||
                     pr_object_commit(&o, NULL);
        w->failed |= pr_object_open(w->st, "d/all", &o, NULL) ||
                     pr_object_fetch(&o, 0, 8, buf, sizeof buf, &got, NULL) ||
                     memcmp(got, "contents", 8) != 0;
        pr_object_close(&o);
        w->failed |= pr_object_open(w->st, name, &o, NULL) ||
                     pr_object_fetch(&o, 0, 8, buf, sizeof buf, &got, NULL) ||
                     memcmp(got, &value, 8) != 0;
        pr_object_close(&o);
    }
    return NULL;
}

static void threads_share_objects(void **state)
{
    static const char *const engines[] = {"memory", "pread", "io_uring"};

    (void)state;
    for (size_t e = 0; e < 3; e++) {
        struct pr_storage_opts opts = {.engine = engines[e],
                                       .trace = "trace-%t"};
        struct pr_storage *first = open_storage(&opts);
        struct worker workers[THREADS] = {0};
        pthread_t threads[THREADS];

        assert_int_equal(pr_storage_make_folder(first, "d", NULL), PR_OK);
        make(first, "d/all", "contents", 8);
        for (int i = 0; i < THREADS; i++) {
            workers[i].number = i;
            assert_int_equal(
                pr_storage_open_beside(first, &workers[i].st, NULL), PR_OK);
            assert_string_equal(pr_storage_engine(workers[i].st),
                                pr_storage_engine(first));
        }
        pr_storage_close(first); /* the others live on */
        for (int i = 0; i < THREADS; i++)
            assert_int_equal(
                pthread_create(&threads[i], NULL, work, &workers[i]), 0);
        for (int i = 0; i < THREADS; i++) {
            assert_int_equal(pthread_join(threads[i], NULL), 0);
            assert_int_equal(workers[i].failed, 0);
        }
        assert_int_equal(count_in(workers[0].st, "d"), THREADS + 1);
        for (int i = 0; i < THREADS; i++)
            pr_storage_close(workers[i].st);
    }
}

static void memories_are_apart_otherwise(void **state)
{
    struct pr_storage_opts opts = {.engine = "memory"};
    struct pr_storage *a = open_storage(&opts);
    struct pr_storage *b = open_storage(&opts);
    struct pr_object_info info;

    (void)state;
    make(a, "f", "x", 1);
    assert_int_equal(pr_storage_stat(b, "f", &info, NULL), 0);
    pr_storage_close(a);
    pr_storage_close(b);
}

static void memory_is_read_in_place(void **state)
{
    struct pr_storage_opts opts = {.engine = "memory"};
    struct pr_storage *st = open_storage(&opts);
    uint8_t buf[16];
    const uint8_t *got;

    (void)state;
    make(st, "/x", "0123456789", 10);
    make(st, "x", "other", 5); /* not the absolute one */
    struct pr_object o = open_object(st, "/x");

    assert_memory_equal(o.map, "0123456789", 10);
    assert_int_equal(pr_object_fetch(&o, 3, 5, buf, sizeof buf, &got, NULL), 0);
    assert_ptr_equal(got, o.map + 3);
    pr_object_close(&o);
    assert_object(st, "y/.././x", "other", 5);
    pr_storage_close(st);
}

/* ---- nowhere */

static void null_keeps_sizes_and_gives_zeros(void **state)
{
    static const uint8_t zeros[100];
    struct pr_storage_opts opts = {.engine = "null"};
    struct pr_storage *st = open_storage(&opts);
    struct pr_object_info info;
    struct pr_object o;
    uint8_t buf[100 + PR_IO_SLACK];
    const uint8_t *got;

    (void)state;
    o = create(st, "no/folder/needed", 0);
    put(&o, 50, "x", 50);
    put(&o, 0, "x", 1);
    commit(&o);
    o = open_object(st, "no/folder/needed");
    assert_int_equal(o.size, 100);
    memset(buf, 1, sizeof buf);
    assert_int_equal(pr_object_fetch(&o, 0, 100, buf, sizeof buf, &got, NULL),
                     0);
    assert_memory_equal(got, zeros, 100);
    memset(buf, 1, sizeof buf);
    assert_int_equal(pr_object_read(&o, 50, 50, buf, NULL), 0);
    assert_memory_equal(buf, zeros, 50);
    assert_int_equal(pr_object_read(&o, 50, 51, buf, NULL), PR_E_FORMAT);
    pr_object_close(&o);

    assert_int_equal(pr_storage_stat(st, "never/made", &info, NULL), 0);
    o = open_object(st, "never/made");
    assert_int_equal(o.size, 0);
    pr_object_close(&o);
    assert_int_equal(pr_object_open(st, "no", &o, NULL), PR_E_IO);
    o = create(st, "gone", 0);
    pr_object_discard(&o);
    assert_int_equal(count_in(st, ""), 1);
    assert_int_equal(count_in(st, "no/folder"), 1);
    assert_int_equal(access("no", F_OK), -1);
    pr_storage_close(st);
}

/* ---- buffers */

static void buffers_are_aligned_and_apart(void **state)
{
    static const char *const engines[] = {"pread", "direct", "io_uring",
                                          "memory"};
    static const size_t sizes[] = {1, 4096, 5000, 1 << 20, (9 << 20) + 1};

    (void)state;
    for (size_t e = 0; e < 4; e++) {
        struct pr_storage_opts opts = {.engine = engines[e], .latency = 1e-9};
        struct pr_storage *st = open_storage(&opts);

        for (int round = 0; round < 20; round++) {
            size_t n = sizes[round % 5];
            uint8_t *b = pr_storage_buffer(st, n);

            assert_non_null(b);
            assert_int_equal((uintptr_t)b % PR_IO_ALIGN, 0);
            memset(b, round, n);
        }
        assert_null(pr_storage_buffer(st, SIZE_MAX - 100));
        pr_storage_close(st);
    }
}

/* ---- one program at a time, and how far it is */

static void a_folder_is_locked_once(void **state)
{
    static const char *const engines[] = {"pread", "direct", "mmap",
                                          "io_uring"};

    (void)state;
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++) {
        struct pr_storage_opts opts = {.engine = engines[i]};
        struct pr_storage *a = open_storage(&opts), *b = open_storage(&opts);
        struct pr_err err = {0};

        assert_int_equal(pr_storage_make_folder(a, "d", &err), PR_OK);
        assert_int_equal(pr_storage_lock(a, "d", &err), PR_OK);
        assert_int_equal(pr_storage_lock(a, "d", &err), PR_OK);
        assert_int_equal(pr_storage_lock(b, "d", &err), PR_E_IO);
        assert_says(&err, "another program is writing there");
        pr_storage_close(a);
        assert_int_equal(pr_storage_lock(b, "d", &err), PR_OK);
        pr_storage_close(b);
    }
}

static void what_was_written_is_counted(void **state)
{
    struct pr_storage_opts opts = {.engine = "memory",
                                   .fault = "enospc:write:3"};
    struct pr_storage *st = open_storage(&opts);
    struct pr_object o = create(st, "f", 0);
    struct pr_err err = {0};

    (void)state;
    put(&o, 0, "12345", 5);
    put(&o, 100, "678", 3);
    assert_int_equal(pr_storage_written(st), 8);
    assert_int_equal(pr_object_write(&o, 0, "9", 1, &err), PR_E_IO);
    assert_int_equal(pr_storage_written(st), 8);
    pr_object_discard(&o);
    pr_storage_close(st);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, enter, leave)
    const struct CMUnitTest tests[] = {
        TEST(bad_options_are_refused),
        TEST(defaults_are_pread_here),
        TEST(a_root_may_come_later),
        TEST(the_root_does_not_move),
        TEST(a_refused_file_is_read_by_pread),
        TEST(without_io_uring_pread_is_used),
        TEST(threads_share_objects),
        TEST(memories_are_apart_otherwise),
        TEST(memory_is_read_in_place),
        TEST(null_keeps_sizes_and_gives_zeros),
        TEST(buffers_are_aligned_and_apart),
        TEST(a_folder_is_locked_once),
        TEST(what_was_written_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
