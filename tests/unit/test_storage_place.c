/* Every engine knows its folders and says clearly what is wrong. */
#include "test_storage_setups.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

enum { BIG = 3 << 20 };

static uint8_t model[BIG]; /* what an object should hold */

/* ---- the place */

struct seen {
    int files, folders, hidden, stop_after;
};

static int see(void *ctx, const char *name, bool is_folder)
{
    struct seen *s = ctx;

    s->files += !is_folder;
    s->folders += is_folder;
    s->hidden += *name == '.';
    assert_null(strchr(name, '/'));
    return s->stop_after && s->files + s->folders == s->stop_after ? 17 : 0;
}

static void folders_list_what_is_in_them(void **state)
{
    struct seen s = {0};
    struct pr_err err = {0};

    (void)state;
    assert_int_equal(pr_storage_make_folder(st, "d/a/b//c/", NULL), PR_OK);
    assert_int_equal(pr_storage_make_folder(st, "d/a/b", NULL), PR_OK);
    assert_int_equal(pr_storage_make_folder(st, "", NULL), PR_OK);
    make(st, "d/f", "1", 1);
    make(st, "./d//g", "2", 1);
    make(st, "d/a/deep", "3", 1);
    struct pr_object o = create(st, "d/h", 0);

    assert_int_equal(pr_storage_list(st, "d", see, &s, NULL), PR_OK);
    assert_int_equal(s.files, 3);
    assert_int_equal(s.folders, 1);
    assert_int_equal(s.hidden, 1);
    pr_object_discard(&o);
    s = (struct seen){.stop_after = 2};
    assert_int_equal(pr_storage_list(st, "d/", see, &s, NULL), 17);
    assert_int_equal(s.files + s.folders, 2);
    s = (struct seen){0};
    assert_int_equal(pr_storage_list(st, "", see, &s, NULL), PR_OK);
    assert_int_equal(s.folders, 1);
    assert_int_equal(pr_storage_list(st, "none", see, &s, &err), PR_E_IO);
    assert_int_equal(pr_storage_list(st, "d/f", see, &s, NULL), PR_E_IO);
}

static int remove_it(void *ctx, const char *name, bool is_folder)
{
    char path[64];

    (void)ctx;
    (void)is_folder;
    snprintf(path, sizeof path, "d/%s", name);
    return pr_storage_remove(st, path, NULL);
}

static void things_are_removed(void **state)
{
    struct pr_err err = {0};
    struct pr_object_info info;

    (void)state;
    make(st, "d/f", "1", 1);
    assert_int_equal(pr_storage_remove(st, "d", &err), PR_E_IO);
    assert_says(&err, "cannot remove");
    for (int i = 0; i < 100; i++) {
        char name[32];

        snprintf(name, sizeof name, "d/%d", i);
        make(st, name, name, strlen(name));
    }
    assert_int_equal(count_in(st, "d"), 101);
    assert_object(st, "d/57", "d/57", 4);
    assert_int_equal(pr_storage_list(st, "d", remove_it, NULL, NULL), PR_OK);
    assert_int_equal(count_in(st, "d"), 0);
    assert_int_equal(pr_storage_remove(st, "d", NULL), PR_OK);
    assert_int_equal(pr_storage_stat(st, "d", &info, NULL), 0);
    assert_int_equal(pr_storage_remove(st, "d", NULL), PR_OK);
    assert_int_equal(pr_storage_remove(st, "never/was", NULL), PR_OK);
}

static void stat_tells_what_is_there(void **state)
{
    struct pr_object_info info = {77, true};

    (void)state;
    make(st, "d/f", model, 12345);
    assert_int_equal(pr_storage_stat(st, "d/f", &info, NULL), 1);
    assert_int_equal(info.size, 12345);
    assert_false(info.is_folder);
    assert_int_equal(pr_storage_stat(st, "d", &info, NULL), 1);
    assert_true(info.is_folder);
    assert_int_equal(pr_storage_stat(st, "", &info, NULL), 1);
    assert_true(info.is_folder);
    info.size = 77;
    assert_int_equal(pr_storage_stat(st, "d/g", &info, NULL), 0);
    assert_int_equal(pr_storage_stat(st, "d/f/g", &info, NULL), 0);
    assert_int_equal(info.size, 77);
}

static void absolute_names_leave_the_root(void **state)
{
    char name[128];

    (void)state;
    snprintf(name, sizeof name, "%s/abs/x", test_dir);
    assert_int_equal(pr_storage_make_folder(st, name, NULL), PR_OK);
    strcat(name, "/f");
    make(st, name, "far", 3);
    assert_object(st, name, "far", 3);
    if (now->files)
        assert_int_equal(access("abs/x/f", R_OK), 0);
    assert_int_equal(pr_storage_remove(st, name, NULL), PR_OK);
}

static void space_is_told(void **state)
{
    struct pr_storage_space space = {0, 0};

    (void)state;
    assert_int_equal(pr_storage_space(st, "d/not/yet/there", &space, NULL), 0);
    assert_true(space.bytes > 0 && space.files > 0);
    assert_true(!now->files || space.bytes < UINT64_MAX);
    space = (struct pr_storage_space){0, 0};
    assert_int_equal(pr_storage_space(st, "/not/yet/there", &space, NULL), 0);
    assert_true(space.bytes > 0);
}

/* ---- errors */

static void wrong_names_get_clear_words(void **state)
{
    struct pr_object o = {.fd = 77};
    struct pr_err err = {0};

    (void)state;
    make(st, "d/f", "1", 1);
    assert_int_equal(pr_object_open(st, "d/none", &o, &err), PR_E_IO);
    assert_says(&err, "cannot open");
    assert_non_null(strstr(err.where, "d/none"));
    assert_int_equal(pr_object_open(st, "d/f/g", &o, &err), PR_E_IO);
    assert_int_equal(pr_object_open(st, "d", &o, &err), PR_E_IO);
    assert_says(&err, "is a folder, expected a file");
    assert_int_equal(pr_object_create(st, "d", 0, &o, &err), PR_E_IO);
    assert_says(&err, "is a folder, expected a file");
    assert_int_equal(pr_object_create(st, "no/f", 0, &o, &err), PR_E_IO);
    assert_int_equal(pr_object_create(st, "d/", 0, &o, &err), PR_E_IO);
    assert_int_equal(pr_object_create(st, "", 0, &o, &err), PR_E_IO);
    assert_int_equal(pr_object_create(st, "d/..", 0, &o, &err), PR_E_IO);
    assert_int_equal(pr_storage_make_folder(st, "d/f/g", &err), PR_E_IO);
    assert_int_equal(pr_storage_make_folder(st, "d/f", &err), PR_E_IO);
    assert_int_equal(o.fd, 77);
    assert_int_equal(count_in(st, "d"), 1);
}

static void long_names_are_refused(void **state)
{
    char name[5000];
    struct pr_object o;
    struct pr_object_info info;
    struct pr_storage_space space;

    (void)state;
    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = '\0';
    assert_int_equal(pr_object_open(st, name, &o, NULL), PR_E_IO);
    assert_int_equal(pr_object_create(st, name, 0, &o, NULL), PR_E_IO);
    assert_int_equal(pr_storage_make_folder(st, name, NULL), PR_E_IO);
    assert_int_equal(pr_storage_remove(st, name, NULL), PR_E_IO);
    assert_int_equal(pr_storage_stat(st, name, &info, NULL), PR_E_IO);
    if (now->files)
        assert_int_equal(pr_storage_space(st, name, &space, NULL), PR_E_IO);
}

static void no_write_reaches_beyond_any_file(void **state)
{
    struct pr_object o = create(st, "d/f", 0);
    struct pr_err err = {0};

    (void)state;
    assert_int_equal(pr_object_write(&o, UINT64_MAX, "x", 1, &err),
                     PR_E_FORMAT);
    assert_int_equal(pr_object_write(&o, INT64_MAX, "x", 1, &err), PR_E_FORMAT);
    put(&o, 123, "", 0);
    assert_int_equal(o.size, 0);
    pr_object_discard(&o);
}

static void pipes_do_not_hang(void **state)
{
    struct pr_object o;
    struct pr_err err = {0};

    (void)state;
    if (!now->files)
        return;
    assert_int_equal(mkfifo(real_path("d/p"), 0644), 0);
    alarm(20);
    assert_int_equal(pr_object_open(st, "d/p", &o, &err), PR_E_IO);
    assert_says(&err, "is not a regular file");
    assert_int_equal(pr_object_create(st, "d/p", 0, &o, &err), PR_E_IO);
    assert_says(&err, "is not a regular file");
    alarm(0);
    assert_int_equal(count_in(st, "d"), 1);
}

static void permissions_are_named(void **state)
{
    struct pr_object o;
    struct pr_err err = {0};
    bool is_root = geteuid() == 0;

    (void)state;
    if (!now->files)
        return;
    make(st, "d/f", "1", 1);
    assert_int_equal(chmod(real_path("d/f"), 0), 0);
    assert_int_equal(chmod(real_path("d"), 0555), 0);
    assert_int_equal(chmod(test_dir, 0755), 0);
    if (is_root)
        assert_int_equal(seteuid(65534), 0);
    assert_int_equal(pr_object_open(st, "d/f", &o, &err), PR_E_IO);
    assert_int_equal(err.sys_errno, EACCES);
    assert_says(&err, "cannot open");
    assert_non_null(strstr(err.hint, "permissions"));
    assert_int_equal(pr_object_create(st, "d/g", 0, &o, &err), PR_E_IO);
    assert_int_equal(err.sys_errno, EACCES);
    if (is_root)
        assert_int_equal(seteuid(0), 0);
    assert_int_equal(chmod(real_path("d"), 0755), 0);
}

/* The kernel refuses to go on in the middle of a write. */
static void a_failed_write_names_the_offset(void **state)
{
    struct rlimit old, low;
    struct pr_err err = {0};
    struct pr_object o;

    (void)state;
    if (!now->files)
        return;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    low = (struct rlimit){100000, old.rlim_max};
    o = create(st, "d/f", 0);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
    int rc = pr_object_write(&o, 0, model, 1 << 20, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(rc, PR_E_IO);
    assert_int_equal(err.sys_errno, EFBIG);
    assert_says(&err, "bytes at byte ");
    assert_non_null(strstr(err.where, "d/f"));
    assert_non_null(strstr(err.hint, "ulimit -f"));
    pr_object_discard(&o);
    assert_int_equal(count_in(st, "d"), 0);
}

static void a_file_cut_meanwhile_is_noticed(void **state)
{
    enum { SIZE = 3 << 20, CUT = (1 << 20) + 10000 };
    uint8_t *buf = pr_storage_buffer(st, SIZE + PR_IO_SLACK);
    const uint8_t *got;
    struct pr_err err = {0};

    (void)state;
    if (!now->files)
        return;
    memset(buf, 0, SIZE);
    fill(model, 0, SIZE);
    make(st, "d/f", model, SIZE);
    struct pr_object o = open_object(st, "d/f");

    assert_int_equal(truncate(real_path("d/f"), CUT), 0);
    assert_int_equal(
        pr_object_fetch(&o, 0, SIZE, buf, SIZE + PR_IO_SLACK, &got, &err),
        PR_E_IO);
    assert_says(&err, "but had 3145728 bytes when it was opened");
    assert_says(&err, "ends at byte 1058576");
    assert_int_equal(pr_object_read(&o, 1 << 20, 2 << 20, buf, &err), PR_E_IO);
    assert_says(&err, "ends at byte 1058576");
    assert_int_equal(pr_object_read(&o, 2 << 20, 7, buf, &err), PR_E_IO);
    /* The last request of a queue is the one that ends early. */
    assert_int_equal(pr_object_read(&o, CUT - 150000, 200000, buf, &err),
                     PR_E_IO);
    /* What is left can still be read. */
    assert_int_equal(pr_object_read(&o, 7, 1 << 20, buf, &err), PR_OK);
    assert_memory_equal(buf, model + 7, 1 << 20);
    pr_object_close(&o);
}

/* ---- memory */

static int everything_once(void)
{
    struct pr_storage *s = NULL;
    struct pr_object o;
    const uint8_t *got;
    uint8_t *buf;
    int n = 0;
    int rc = pr_storage_open(&now->opts, &s, NULL);

    if (rc)
        return rc;
    buf = pr_storage_buffer(s, 20000);
    rc = buf ? pr_storage_make_folder(s, "t/u", NULL) : PR_E_NOMEM;
    if (!rc)
        rc = pr_object_create(s, "t/f", 0, &o, NULL);
    if (!rc) {
        for (int i = 0; !rc && i < 20; i++)
            rc = pr_object_write(&o, (uint64_t)i * 1000, model, 1000, NULL);
        if (!rc)
            rc = pr_object_commit(&o, NULL);
        else
            pr_object_discard(&o);
    }
    if (!rc)
        rc = pr_object_open(s, "t/f", &o, NULL);
    if (!rc) {
        rc = pr_object_fetch(&o, 1, 9999, buf, 20000, &got, NULL);
        pr_object_close(&o);
    }
    if (!rc)
        rc = pr_storage_list(s, "t", count_one, &n, NULL);
    pr_storage_close(s);
    return rc;
}

static void out_of_memory_is_an_error(void **state)
{
    (void)state;
    torture(everything_once);
}

static void engines_are_called_by_their_names(void **state)
{
    (void)state;
    if (!*pr_storage_warning(st))
        assert_string_equal(pr_storage_engine(st), now->opts.engine);
    else
        print_message("%s: note: %s\n", now->title, pr_storage_warning(st));
}

int main(void)
{
    static const struct test tests[] = {
        TEST(folders_list_what_is_in_them),
        TEST(things_are_removed),
        TEST(stat_tells_what_is_there),
        TEST(absolute_names_leave_the_root),
        TEST(space_is_told),
        TEST(wrong_names_get_clear_words),
        TEST(long_names_are_refused),
        TEST(no_write_reaches_beyond_any_file),
        TEST(pipes_do_not_hang),
        TEST(permissions_are_named),
        TEST(a_failed_write_names_the_offset),
        TEST(a_file_cut_meanwhile_is_noticed),
        TEST(out_of_memory_is_an_error),
        TEST(engines_are_called_by_their_names),
    };
    return run_for_all(tests, sizeof tests / sizeof *tests);
}
