/* Whole files: a failed write leaves the old file and nothing beside it. */
#include "base/file.h"

#include "torture.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[64]; /* of the test */

static int enter(void **state)
{
    (void)state;
    strcpy(dir, "/tmp/prony-test-XXXXXX");
    return mkdtemp(dir) && chdir(dir) == 0 ? 0 : -1;
}

static int leave(void **state)
{
    char command[128];

    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    return chdir("/") == 0 && system(command) == 0 ? 0 : -1;
}

/* Names in the folder of the test. */
static int files_here(void)
{
    DIR *d = opendir(".");
    struct dirent *e;
    int n = 0;

    assert_non_null(d);
    while ((e = readdir(d)))
        n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(d);
    return n;
}

static void assert_holds(const char *path, const char *want)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(64);
    const char *text;
    size_t len;

    assert_int_equal(pr_file_read(path, 1 << 20, a, &text, &len, NULL), 0);
    assert_int_equal(len, strlen(want));
    assert_string_equal(text, want);
}

static void what_is_written_is_read(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(64);
    static char big[300000];
    const char *text;
    size_t len;

    (void)state;
    assert_int_equal(pr_file_write("empty", "", 0, NULL), PR_OK);
    assert_holds("empty", "");
    assert_int_equal(pr_file_write("f", "old", 3, NULL), PR_OK);
    assert_int_equal(pr_file_write("f", "new text", 8, NULL), PR_OK);
    assert_holds("f", "new text");
    for (size_t i = 0; i < sizeof big; i++)
        big[i] = (char)(i % 251);
    assert_int_equal(pr_file_write("big", big, sizeof big, NULL), PR_OK);
    assert_int_equal(pr_file_read("big", sizeof big, a, &text, &len, NULL), 0);
    assert_int_equal(len, sizeof big);
    assert_memory_equal(text, big, sizeof big);
    assert_int_equal(text[len], 0);
    assert_int_equal(files_here(), 3);
}

static void a_file_of_at_most_max_bytes_is_read(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(64);
    static char bytes[10001];
    const char *text;
    size_t len;

    (void)state;
    for (size_t n = 0; n < sizeof bytes; n = n * 3 + 1) {
        struct pr_err err = {0};
        assert_int_equal(pr_file_write("f", bytes, n, NULL), PR_OK);
        assert_int_equal(pr_file_read("f", n, a, &text, &len, &err), PR_OK);
        assert_int_equal(len, n);
        if (!n)
            continue;
        text = "untouched";
        assert_int_equal(pr_file_read("f", n - 1, a, &text, &len, &err),
                         PR_E_FORMAT);
        assert_string_equal(text, "untouched");
        assert_string_equal(err.where, "f");
    }
}

/* Their size is 0 or unknown. */
static void pipes_and_proc_are_read_to_their_end(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(64);
    const char *text;
    char path[32];
    size_t len;
    int fds[2];

    (void)state;
    assert_int_equal(
        pr_file_read("/proc/self/stat", 1 << 20, a, &text, &len, NULL), PR_OK);
    assert_true(len > 10 && text[len - 1] == '\n');
    assert_int_equal(pipe(fds), 0);
    assert_int_equal(write(fds[1], "through a pipe", 14), 14);
    close(fds[1]);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fds[0]);
    assert_int_equal(pr_file_read(path, 100, a, &text, &len, NULL), PR_OK);
    assert_string_equal(text, "through a pipe");
    close(fds[0]);
}

static void a_missing_file_and_a_folder_say_so(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(64);
    struct pr_view view;
    struct pr_err err = {0};
    const char *text;
    size_t len;

    (void)state;
    assert_int_equal(pr_file_read("gone", 9, a, &text, &len, &err), PR_E_IO);
    assert_int_equal(err.sys_errno, ENOENT);
    assert_string_equal(err.where, "gone");
    assert_int_equal(pr_file_read(".", 9, a, &text, &len, &err), PR_E_IO);
    assert_non_null(strstr(err.msg, "folder"));
    assert_int_equal(pr_file_map("gone", &view, &err), PR_E_IO);
    assert_int_equal(pr_file_map(".", &view, &err), PR_E_IO);
    assert_int_equal(pr_file_write("no/such/folder", "x", 1, &err), PR_E_IO);
    assert_int_equal(err.sys_errno, ENOENT);
    assert_int_equal(mkdir("d", 0755), 0);
    assert_int_equal(pr_file_write("d", "x", 1, &err), PR_E_IO);
    assert_int_equal(files_here(), 1);
}

static void a_map_shows_the_file(void **state)
{
    struct pr_view view;

    (void)state;
    assert_int_equal(pr_file_write("f", "mapped", 6, NULL), PR_OK);
    assert_int_equal(pr_file_map("f", &view, NULL), PR_OK);
    assert_int_equal(view.len, 6);
    assert_memory_equal(view.data, "mapped", 6);
    pr_file_unmap(&view);
    assert_int_equal(view.len, 0);
    pr_file_unmap(&view); /* again is harmless */
    assert_int_equal(pr_file_write("f", "", 0, NULL), PR_OK);
    assert_int_equal(pr_file_map("f", &view, NULL), PR_OK);
    assert_int_equal(view.len, 0);
    pr_file_unmap(&view);
}

static void readers_see_the_old_file_until_it_is_whole(void **state)
{
    struct pr_new_file f;

    (void)state;
    assert_int_equal(pr_file_write("f", "old", 3, NULL), PR_OK);
    assert_int_equal(pr_file_create("f", &f, NULL), PR_OK);
    assert_int_equal(pr_file_append(&f, "ne", 2, NULL), PR_OK);
    assert_holds("f", "old");
    assert_int_equal(files_here(), 2);
    assert_int_equal(pr_file_append(&f, "w", 1, NULL), PR_OK);
    assert_int_equal(pr_file_commit(&f, NULL), PR_OK);
    assert_holds("f", "new");
    assert_int_equal(files_here(), 1);
    pr_file_discard(&f); /* after a commit it does nothing */
    assert_holds("f", "new");
}

static void discarding_leaves_no_trace(void **state)
{
    struct pr_new_file f;

    (void)state;
    assert_int_equal(pr_file_create("f", &f, NULL), PR_OK);
    assert_int_equal(pr_file_append(&f, "half", 4, NULL), PR_OK);
    pr_file_discard(&f);
    pr_file_discard(&f);
    assert_int_equal(files_here(), 0);
}

/* A disk that is full in the middle. */
static void a_write_that_fails_leaves_the_old_file(void **state)
{
    static char bytes[100000];
    struct rlimit was, low;
    struct pr_err err = {0};
    int rc;

    (void)state;
    assert_int_equal(pr_file_write("f", "old", 3, NULL), PR_OK);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
    low = was;
    low.rlim_cur = 4096;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
    rc = pr_file_write("f", bytes, sizeof bytes, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
    signal(SIGXFSZ, SIG_DFL);
    assert_int_equal(rc, PR_E_IO);
    assert_int_equal(err.sys_errno, EFBIG);
    assert_string_equal(err.where, "f");
    assert_holds("f", "old");
    assert_int_equal(files_here(), 1);
}

static void a_commit_that_fails_removes_what_was_written(void **state)
{
    struct pr_new_file f;

    (void)state;
    assert_int_equal(pr_file_create("f", &f, NULL), PR_OK);
    assert_int_equal(pr_file_append(&f, "x", 1, NULL), PR_OK);
    /* A folder of that name appears meanwhile: rename refuses. */
    assert_int_equal(mkdir("f", 0755), 0);
    assert_int_equal(pr_file_commit(&f, NULL), PR_E_IO);
    assert_int_equal(files_here(), 1);
}

/* "-o /dev/null" must not put a file in its place. */
static void a_device_or_pipe_is_written_not_replaced(void **state)
{
    struct stat st;
    char text[8] = "";
    int fd;

    (void)state;
    assert_int_equal(mkfifo("pipe", 0600), 0);
    fd = open("pipe", O_RDWR);
    assert_true(fd >= 0);
    assert_int_equal(pr_file_write("pipe", "hello", 5, NULL), PR_OK);
    assert_int_equal(read(fd, text, 5), 5);
    assert_string_equal(text, "hello");
    close(fd);
    assert_int_equal(lstat("pipe", &st), 0);
    assert_true(S_ISFIFO(st.st_mode));
    assert_int_equal(symlink("/dev/full", "full"), 0);
    struct pr_err err = {0};
    assert_int_equal(pr_file_write("full", "hello", 5, &err), PR_E_IO);
    assert_int_equal(err.sys_errno, ENOSPC);
    assert_int_equal(lstat("full", &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(files_here(), 2);
}

static void paths_that_are_too_long_are_refused(void **state)
{
    static char path[5000];
    struct pr_new_file f;
    struct pr_err err = {0};

    (void)state;
    for (size_t len = 4080; len < 4110; len++) {
        memset(path, 'x', len);
        path[len] = '\0';
        assert_int_equal(pr_file_create(path, &f, &err), PR_E_IO);
        assert_int_equal(f.fd, -1);
        pr_file_discard(&f);
        assert_int_equal(pr_make_dirs(path, &err), PR_E_IO);
    }
    assert_int_equal(files_here(), 0);
}

static void folders_are_made_with_their_parents(void **state)
{
    static const char *const good[] = {"a",        "b/c/d", "b/c/d", "e//f/",
                                       "./g/../h", ".",     "/",     "a/"};
    struct stat st;
    struct pr_err err = {0};

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        if (pr_make_dirs(good[i], &err))
            fail_msg("'%s': %s", good[i], err.msg);
        assert_int_equal(stat(good[i], &st), 0);
        assert_true(S_ISDIR(st.st_mode));
    }
    assert_int_equal(pr_file_write("file", "", 0, NULL), PR_OK);
    assert_int_equal(pr_make_dirs("file", &err), PR_E_IO);
    assert_int_equal(pr_make_dirs("file/x", &err), PR_E_IO);
    assert_int_equal(err.sys_errno, ENOTDIR);
}

/* What a path below "run" gives: its text, or the words of the error. */
static const char *inside(const char *path, struct pr_arena *a)
{
    static struct pr_err err;
    const char *text;
    size_t len;

    if (!pr_file_read_in("run", path, 1 << 20, a, &text, &len, &err))
        return text;
    assert_int_equal(err.code, PR_E_IO);
    return err.msg;
}

static void nothing_outside_a_folder_is_read_through_it(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(64);
    static const char no_link[] = "a link leads there, which is not followed";
    struct pr_view v;

    (void)state;
    assert_int_equal(pr_make_dirs("run/e/x", NULL), PR_OK);
    assert_int_equal(pr_make_dirs("other", NULL), PR_OK);
    assert_int_equal(pr_file_write("run/e/x/f", "in", 2, NULL), PR_OK);
    assert_int_equal(pr_file_write("other/f", "out", 3, NULL), PR_OK);
    assert_int_equal(symlink("../../../other/f", "run/e/x/link"), 0);
    assert_int_equal(symlink("../../other", "run/e/y"), 0);
    assert_int_equal(symlink("f", "run/e/x/near"), 0);
    assert_int_equal(symlink("run", "run.link"), 0);
    assert_int_equal(mkfifo("run/e/x/pipe", 0600), 0);

    assert_string_equal(inside("run/e/x/f", a), "in");
    assert_string_equal(inside("run//e/x//f", a), "in");
    assert_string_equal(inside("run/e/x/link", a), no_link);
    assert_string_equal(inside("run/e/x/near", a), no_link);
    assert_string_equal(inside("run/e/y/f", a), no_link);
    assert_string_equal(inside("run/e/x/pipe", a), "is not a regular file");
    assert_string_equal(inside("run/e/x", a), "is a folder, expected a file");
    assert_non_null(strstr(inside("run/e/z/f", a), strerror(ENOENT)));
    assert_non_null(strstr(inside("run/e/x/f/g", a), strerror(ENOTDIR)));
    /* The folder itself is where its user says it is. */
    assert_int_equal(pr_file_map_in("run.link", "run.link/e/x/f", &v, NULL),
                     PR_OK);
    pr_file_unmap(&v);
    assert_int_equal(pr_file_map_in(NULL, "run/e/y/f", &v, NULL), PR_OK);
    pr_file_unmap(&v);
    assert_int_equal(pr_file_map("run/e/x/pipe", &v, NULL), PR_E_IO);
}

static int read_once(void)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(64);
    const char *text;
    size_t len;

    return a ? pr_file_read("f", 1 << 20, a, &text, &len, NULL) : PR_E_NOMEM;
}

static void out_of_memory_while_reading(void **state)
{
    static char bytes[20000];

    (void)state;
    assert_int_equal(pr_file_write("f", bytes, sizeof bytes, NULL), PR_OK);
    torture(read_once);
}

#define HERE(test) cmocka_unit_test_setup_teardown(test, enter, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        HERE(what_is_written_is_read),
        HERE(a_file_of_at_most_max_bytes_is_read),
        HERE(pipes_and_proc_are_read_to_their_end),
        HERE(a_missing_file_and_a_folder_say_so),
        HERE(a_map_shows_the_file),
        HERE(nothing_outside_a_folder_is_read_through_it),
        HERE(readers_see_the_old_file_until_it_is_whole),
        HERE(discarding_leaves_no_trace),
        HERE(a_write_that_fails_leaves_the_old_file),
        HERE(a_commit_that_fails_removes_what_was_written),
        HERE(a_device_or_pipe_is_written_not_replaced),
        HERE(paths_that_are_too_long_are_refused),
        HERE(folders_are_made_with_their_parents),
        HERE(out_of_memory_while_reading),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
