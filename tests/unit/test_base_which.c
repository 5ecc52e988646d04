/* Programs on $PATH. */
#include "base/file.h"

#include "torture.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void make_file(const char *path, mode_t mode)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, mode);

    assert_true(fd >= 0);
    assert_int_equal(fchmod(fd, mode), 0);
    close(fd);
}

/* a/ has a folder and a text of the name, b/ the program, c/ another one. */
static void the_first_that_can_be_executed_is_found(void **state)
{
    static const struct {
        const char *path, *program, *want; /* NULL: none */
    } rows[] = {
        {"a:b:c", "folder", "b/folder"},
        {"a:b:c", "text", "b/text"},
        {"c:b", "text", "c/text"},
        {":b:", "text", "b/text"},
        {"missing:b", "text", "b/text"},
        {"a", "text", NULL},
        {"a", "folder", NULL},
        {"a:b:c", "nothing", NULL},
        {"", "text", NULL},
    };
    char dir[] = "/tmp/prony.which.XXXXXX", found[PATH_MAX];

    (void)state;
    assert_non_null(mkdtemp(dir));
    assert_int_equal(chdir(dir), 0);
    assert_int_equal(mkdir("a", 0755) | mkdir("b", 0755) | mkdir("c", 0755), 0);
    assert_int_equal(mkdir("a/folder", 0755), 0);
    make_file("a/text", 0644);
    make_file("b/folder", 0755);
    make_file("b/text", 0755);
    make_file("c/text", 0755);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bool there;

        setenv("PATH", rows[i].path, 1);
        there = pr_which(rows[i].program, found);
        assert_int_equal(there, rows[i].want != NULL);
        if (there)
            assert_string_equal(found, rows[i].want);
    }
    unsetenv("PATH");
    assert_false(pr_which("text", found));
    unlink("a/text");
    unlink("b/folder");
    unlink("b/text");
    unlink("c/text");
    rmdir("a/folder");
    assert_int_equal(rmdir("a") | rmdir("b") | rmdir("c"), 0);
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_that_can_be_executed_is_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
