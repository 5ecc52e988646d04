/* Every engine has bytes on the device when asked to, and whole folders can be
 * taken away and given their names at once. */
#include "storage/files.h"
#include "storage/path.h"
#include "test_storage_setups.h"

#include <errno.h>
#include <sys/stat.h>

static bool is_there(const char *name)
{
    struct pr_object_info info;

    return pr_storage_stat(st, name, &info, NULL) == 1;
}

static void make_folder(const char *name)
{
    struct pr_err err = {0};

    if (pr_storage_make_folder(st, name, &err))
        fail_msg("%s: %s", err.where, err.msg);
}

/* A folder with a folder and two files that tell whose they are. */
static void make_tree(const char *folder, const char *mark)
{
    char name[320];

    snprintf(name, sizeof name, "%s/in", folder);
    make_folder(name);
    snprintf(name, sizeof name, "%s/f", folder);
    make(st, name, mark, strlen(mark));
    snprintf(name, sizeof name, "%s/in/f", folder);
    make(st, name, mark, strlen(mark));
}

static void assert_tree(const char *folder, const char *mark)
{
    char name[320];

    snprintf(name, sizeof name, "%s/f", folder);
    assert_object(st, name, mark, strlen(mark));
    snprintf(name, sizeof name, "%s/in/f", folder);
    assert_object(st, name, mark, strlen(mark));
    assert_int_equal(count_in(st, folder), 2);
}

static bool publish(const char *from, const char *to, bool sync)
{
    struct pr_err err = {0};
    bool swapped = !sync; /* it must be set, whatever it was */

    if (pr_storage_publish(st, from, to, sync, &swapped, &err))
        fail_msg("%s: %s", err.where, err.msg);
    return swapped;
}

/* Not to root, whom nothing is refused. */
static void become_nobody(bool on)
{
    if (on)
        assert_int_equal(chmod(test_dir, 0777), 0);
    if (getuid() == 0)
        assert_int_equal(seteuid(on ? 65534 : 0), 0);
}

/* ---- sync */

static void what_was_written_can_be_synced(void **state)
{
    struct pr_object o = create(st, "d/f", 0);

    (void)state;
    assert_int_equal(pr_object_sync(&o, NULL), PR_OK);
    put(&o, 0, "12345", 5);
    assert_int_equal(pr_object_sync(&o, NULL), PR_OK);
    put(&o, 5, "678", 3);
    commit(&o);
    assert_object(st, "d/f", "12345678", 8);
}

/* The kernel is really asked. */
static void syncing_what_is_closed_is_an_error(void **state)
{
    struct pr_object o = create(st, "d/f", 0);
    struct pr_err err = {0};

    (void)state;
    put(&o, 0, "1", 1);
    commit(&o);
    if (!now->files) {
        assert_int_equal(pr_object_sync(&o, &err), PR_OK);
        return;
    }
    assert_int_equal(pr_object_sync(&o, &err), PR_E_IO);
    assert_int_equal(err.sys_errno, EBADF);
    assert_says(&err, "cannot bring to the device");
    assert_non_null(strstr(err.where, "d/f"));
}

/* ---- remove_all */

static void a_folder_goes_with_all_in_it(void **state)
{
    (void)state;
    make_tree("d/a", "a");
    make_tree("d/a/in/deeper", "b");
    make_tree("d/ab", "c");
    for (int i = 0; i < 1000; i++) {
        char name[32];

        snprintf(name, sizeof name, "d/a/in/%d", i);
        make(st, name, "", 0);
    }
    struct pr_object o = create(st, "d/a/in/half", 0);

    assert_int_equal(pr_storage_remove_all(st, "d/a//", NULL), PR_OK);
    assert_false(is_there("d/a"));
    assert_tree("d/ab", "c"); /* whose name only begins the same */
    assert_int_equal(pr_storage_remove_all(st, "d/a", NULL), PR_OK);
    assert_int_equal(pr_storage_remove_all(st, "never/was", NULL), PR_OK);
    assert_int_equal(count_in(st, "d"), 1);
    pr_object_discard(&o);
}

static void the_place_itself_is_not_taken_away(void **state)
{
    static const char *const names[] = {"",   "/",   "//",   ".",
                                        "./", "d/.", "d/..", "../"};
    struct pr_err err;
    bool swapped;

    (void)state;
    make(st, "d/f", "1", 1);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_int_equal(pr_storage_remove_all(st, names[i], &err), PR_E_IO);
        assert_says(&err, "is not a name for a folder");
        assert_int_equal(
            pr_storage_publish(st, "d", names[i], false, &swapped, &err),
            PR_E_IO);
        assert_int_equal(
            pr_storage_publish(st, names[i], "e", false, &swapped, &err),
            PR_E_IO);
    }
    assert_object(st, "d/f", "1", 1);
}

static void links_are_removed_not_followed(void **state)
{
    (void)state;
    if (!now->files)
        return;
    make_tree("d/outside", "x");
    make_tree("d/a", "a");
    assert_int_equal(symlink("../outside", real_path("d/a/link")), 0);
    assert_int_equal(symlink("../../outside", real_path("d/a/in/link")), 0);
    assert_int_equal(symlink("nowhere", real_path("d/a/in/broken")), 0);
    assert_int_equal(symlink(".", real_path("d/a/in/round")), 0);
    assert_int_equal(pr_storage_remove_all(st, "d/a", NULL), PR_OK);
    assert_false(is_there("d/a"));
    assert_tree("d/outside", "x");
    assert_int_equal(symlink("outside", real_path("d/link")), 0);
    assert_int_equal(pr_storage_remove_all(st, "d/link/", NULL), PR_OK);
    assert_int_equal(count_in(st, "d"), 1);
    assert_tree("d/outside", "x");
}

/* One that cannot be removed must not be followed instead. */
static void links_that_stay_are_not_followed(void **state)
{
    struct pr_err err = {0};
    int rc;

    (void)state;
    if (!now->files)
        return;
    make_tree("d/outside", "x");
    make_folder("d/a");
    assert_int_equal(symlink("../outside", real_path("d/a/link")), 0);
    assert_int_equal(chmod(real_path("d/a"), 0555), 0);
    assert_int_equal(chmod(real_path("d/outside"), 0777), 0);
    become_nobody(true);
    rc = pr_storage_remove_all(st, "d/a", &err);
    become_nobody(false);
    assert_int_equal(rc, PR_E_IO);
    assert_int_equal(chmod(real_path("d/a"), 0755), 0);
    assert_tree("d/outside", "x");
}

static void depth_has_a_limit(void **state)
{
    char name[300] = "d";
    struct pr_err err = {0};

    (void)state;
    for (int i = 0; i < 64; i++)
        strcat(name, "/x");
    make_folder(name);
    assert_int_equal(pr_storage_remove_all(st, "d/x", NULL), PR_OK);
    assert_int_equal(count_in(st, "d"), 0);
    strcat(name, "/x/x");
    make_folder(name);
    assert_int_equal(pr_storage_remove_all(st, "d/x", &err), PR_E_IO);
    assert_says(&err, "more than 64 folders");
    assert_int_equal(pr_storage_remove_all(st, "d/x/x", NULL), PR_OK);
    assert_int_equal(pr_storage_remove_all(st, "d", NULL), PR_OK);
}

/* ---- publish */

static void a_folder_gets_its_name(void **state)
{
    (void)state;
    for (int sync = 0; sync < 2; sync++) {
        make_tree("d/.part-a", "new");
        assert_false(publish("d/.part-a/", "d/a//", sync));
        assert_tree("d/a", "new");
        assert_false(is_there("d/.part-a"));
        assert_int_equal(count_in(st, "d"), 1);
        assert_int_equal(pr_storage_remove_all(st, "d/a", NULL), PR_OK);
    }
    /* from one folder to another, and to the place itself */
    make_folder("d/e");
    make_tree("d/.part-a", "new");
    assert_false(publish("d/.part-a", "d/e/a", true));
    assert_tree("d/e/a", "new");
    assert_false(publish("d/e/a", "top", true));
    assert_tree("top", "new");
    assert_int_equal(count_in(st, "d/e"), 0);
}

static void folders_change_places(void **state)
{
    (void)state;
    for (int sync = 0; sync < 2; sync++) {
        make_tree("d/a", "old");
        make_tree("d/ab", "other");
        make_folder("d/.part-a/in");
        make(st, "d/.part-a/f", "new", 3);
        make(st, "d/.part-a/in/f", "new", 3);
        make(st, "d/a/only", "old", 3);
        assert_true(publish("d/.part-a", "d/a", sync));
        assert_tree("d/a", "new");
        assert_tree("d/ab", "other");
        assert_object(st, "d/.part-a/only", "old", 3);
        assert_object(st, "d/.part-a/in/f", "old", 3);
        assert_int_equal(pr_storage_remove_all(st, "d/.part-a", NULL), PR_OK);
        assert_int_equal(count_in(st, "d"), 2);
        assert_tree("d/a", "new");
    }
    make_folder("d/empty"); /* it is swapped, not replaced */
    assert_true(publish("d/a", "d/empty", true));
    assert_tree("d/empty", "new");
    assert_int_equal(count_in(st, "d/a"), 0);
}

static void absolute_names_can_be_published(void **state)
{
    char from[128], to[128];

    (void)state;
    snprintf(from, sizeof from, "%s/abs/.part-a", test_dir);
    snprintf(to, sizeof to, "%s/abs/a", test_dir);
    make_tree(from, "one");
    assert_false(publish(from, to, true));
    make_tree(from, "two");
    assert_true(publish(from, to, true));
    assert_tree(to, "two");
    assert_tree(from, "one");
    if (now->files)
        assert_int_equal(access("abs/a/f", R_OK), 0);
    make_tree("d/a", "three"); /* one of each kind */
    assert_true(publish("d/a", to, true));
    assert_tree(to, "three");
    assert_tree("d/a", "two");
    assert_int_equal(pr_storage_remove_all(st, to, NULL), PR_OK);
    assert_false(is_there(to));
}

static void what_cannot_be_published_stays(void **state)
{
    static const struct {
        const char *from, *to;
    } rows[] = {
        {"d/none", "d/new"}, {"d/none", "d/b"},      {"d/f", "d/new"},
        {"d/f", "d/b"},      {"d/a", "d/f"},         {"d/a", "no/b"},
        {"d/a", "d/f/b"},    {"d/a", "d/a"},         {"d/a", "d/./a"},
        {"d/a", "d/a/in"},   {"d/a/in", "d/a"},      {"d/a", "d/a/new"},
        {"d", "d/a"},        {"d/a", "./d/../d/a/"},
    };

    (void)state;
    make_tree("d/a", "a");
    make_tree("d/b", "b");
    make(st, "d/f", "f", 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_err err = {0};
        bool swapped = i % 2;
        int rc = pr_storage_publish(st, rows[i].from, rows[i].to, true,
                                    &swapped, &err);

        if (rc != PR_E_IO || !*err.msg || !*err.where)
            fail_msg("%s to %s: %d %s", rows[i].from, rows[i].to, rc, err.msg);
        assert_int_equal(swapped, i % 2);
        assert_tree("d/a", "a");
        assert_tree("d/b", "b");
        assert_object(st, "d/f", "f", 1);
        assert_int_equal(count_in(st, "d"), 3);
    }
}

static void links_have_their_names(void **state)
{
    struct pr_err err = {0};
    bool swapped;

    (void)state;
    if (!now->files)
        return;
    make_tree("d/a", "a");
    make_tree("d/b", "b");
    assert_int_equal(symlink("b", real_path("d/link")), 0);
    assert_int_equal(
        pr_storage_publish(st, "d/a", "d/link", false, &swapped, &err),
        PR_E_IO);
    assert_says(&err, "is not a folder");
    assert_int_equal(
        pr_storage_publish(st, "d/link", "d/c", false, &swapped, &err),
        PR_E_IO);
    assert_tree("d/a", "a");
    assert_tree("d/b", "b");
}

/* Folders that may be written but not read cannot be synced: that shows which
 * ones are. */
static void folders_are_synced_if_asked_for(void **state)
{
    struct pr_err err = {0};
    bool swapped;
    int rc[3];

    (void)state;
    if (!now->files)
        return;
    make_folder("d/from/a");
    make_folder("d/to");
    assert_int_equal(chmod(real_path("d/from"), 0777), 0);
    assert_int_equal(chmod(real_path("d/from/a"), 0333), 0);
    assert_int_equal(chmod(real_path("d/to"), 0333), 0);
    if (geteuid() == 0)
        assert_int_equal(chown(real_path("d/from/a"), 65534, 65534), 0);
    become_nobody(true);
    rc[0] = pr_storage_publish(st, "d/from/a", "d/to/a", true, &swapped, &err);
    assert_int_equal(chmod(real_path("d/from/a"), 0777), 0);
    rc[1] = pr_storage_publish(st, "d/from/a", "d/to/a", true, &swapped, &err);
    rc[2] = pr_storage_publish(st, "d/to/a", "d/from/a", false, &swapped, NULL);
    become_nobody(false);
    assert_int_equal(rc[0], PR_E_IO);
    assert_int_equal(rc[1], PR_E_IO); /* in place, but not for sure */
    assert_int_equal(err.sys_errno, EACCES);
    assert_says(&err, "cannot bring the folder to the device");
    assert_int_equal(rc[2], PR_OK);
    assert_int_equal(chmod(real_path("d/to"), 0755), 0);
}

/* ---- file systems that cannot exchange two names */

static struct pr_storage *innermost(void)
{
    struct pr_storage *s = st;

    while (s->inner)
        s = s->inner;
    return s;
}

static void three_renames_do_as_well(void **state)
{
    char name[300];

    (void)state;
    if (!now->files)
        return;
    make_tree("d/a", "old");
    make_tree("d/.part-a", "new");
    make_tree("d/.part-old-0-a", "left by a killed run");
    assert_int_equal(
        pr_files_swap_by_names(innermost(), "d/.part-a", "d/a", NULL), PR_OK);
    assert_tree("d/a", "new");
    assert_tree("d/.part-a", "old");
    assert_tree("d/.part-old-0-a", "left by a killed run");
    assert_int_equal(count_in(st, "d"), 3);
    /* The longest name that a file system takes. */
    memcpy(name, "d/", 2);
    memset(name + 2, 'n', 255);
    name[257] = '\0';
    make_tree(name, "old");
    make_tree("d/other", "new");
    assert_int_equal(pr_files_swap_by_names(innermost(), "d/other", name, NULL),
                     PR_OK);
    assert_tree(name, "new");
    assert_tree("d/other", "old");
}

static void a_swap_that_fails_is_undone(void **state)
{
    struct pr_err err = {0};

    (void)state;
    if (!now->files)
        return;
    make_tree("d/a", "old");
    assert_int_equal(pr_files_swap_by_names(innermost(), "d/none", "d/a", &err),
                     PR_E_IO);
    assert_int_equal(err.sys_errno, ENOENT);
    assert_non_null(strstr(err.where, "d/none"));
    assert_tree("d/a", "old");
    assert_int_equal(count_in(st, "d"), 1);
}

/* ---- memory */

static int folders_once(void)
{
    struct pr_storage *s = NULL;
    struct pr_object o;
    bool swapped = false;
    int rc = pr_storage_open(&now->opts, &s, NULL);

    if (rc)
        return rc;
    rc = pr_storage_make_folder(s, "t/a/b", NULL);
    if (!rc)
        rc = pr_storage_make_folder(s, "t/c/d", NULL);
    if (!rc)
        rc = pr_object_create(s, "t/a/f", 0, &o, NULL);
    if (!rc) {
        rc = pr_object_write(&o, 0, "x", 1, NULL);
        if (!rc)
            rc = pr_object_commit(&o, NULL);
        else
            pr_object_discard(&o);
    }
    if (!rc)
        rc = pr_storage_publish(s, "t/a", "t/c", false, &swapped, NULL);
    if (!rc) {
        assert_true(swapped);
        rc = pr_storage_remove_all(s, "t", NULL);
    }
    pr_storage_close(s);
    return rc;
}

static void out_of_memory_is_an_error(void **state)
{
    (void)state;
    torture(folders_once);
}

static void long_names_are_refused(void **state)
{
    static char name[5000];
    bool swapped;

    (void)state;
    memset(name, 'x', sizeof name - 1);
    assert_int_equal(pr_storage_remove_all(st, name, NULL), PR_E_IO);
    assert_int_equal(pr_storage_publish(st, name, "d", true, &swapped, NULL),
                     PR_E_IO);
    assert_int_equal(pr_storage_publish(st, "d", name, true, &swapped, NULL),
                     PR_E_IO);
}

int main(void)
{
    static const struct test tests[] = {
        TEST(what_was_written_can_be_synced),
        TEST(syncing_what_is_closed_is_an_error),
        TEST(a_folder_goes_with_all_in_it),
        TEST(the_place_itself_is_not_taken_away),
        TEST(links_are_removed_not_followed),
        TEST(links_that_stay_are_not_followed),
        TEST(depth_has_a_limit),
        TEST(a_folder_gets_its_name),
        TEST(folders_change_places),
        TEST(absolute_names_can_be_published),
        TEST(what_cannot_be_published_stays),
        TEST(links_have_their_names),
        TEST(folders_are_synced_if_asked_for),
        TEST(three_renames_do_as_well),
        TEST(a_swap_that_fails_is_undone),
        TEST(out_of_memory_is_an_error),
        TEST(long_names_are_refused),
    };
    return run_for_all(tests, sizeof tests / sizeof *tests);
}
