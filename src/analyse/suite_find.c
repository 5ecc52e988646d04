/*
 * Files of a suite. They come in the order in which the directory has them,
 * files before folders: milarun walks like this, and its sums, and the devices
 * in its summary, follow that order.
 */
#include "analyse/suite_impl.h"
#include "base/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_DEPTH = 64, LOOK = 4096 };

static bool ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), k = strlen(end);

    return n >= k && strcmp(s + n - k, end) == 0;
}

static bool is_worth(const char *name, const char *end)
{
    return ends_with(name, end) &&
           strncmp(name, PR_TEMP_PREFIX, sizeof PR_TEMP_PREFIX - 1) != 0;
}

/* 'f', 'd', or 0: neither. A link to a folder may lead back here. */
static char kind_of(const struct dirent *e, int fd)
{
    struct stat st;

    if (e->d_type == DT_REG)
        return 'f';
    if (e->d_type == DT_DIR)
        return 'd';
    if (fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW))
        return '\0';
    if (S_ISDIR(st.st_mode))
        return 'd';
    if (S_ISLNK(st.st_mode) && fstatat(fd, e->d_name, &st, 0))
        return '\0';
    return S_ISREG(st.st_mode) ? 'f' : '\0';
}

static int add(struct pr_suite_files *f, const char *dir, const char *name,
               struct pr_err *err)
{
    const char **paths =
        pr_arena_grow(f->arena, f->paths, f->count, &f->cap, sizeof *paths);

    if (!paths)
        return pr_fail_nomem(err);
    f->paths = paths;
    paths[f->count] = pr_arena_printf(f->arena, "%s/%s", dir, name);
    return paths[f->count++] ? PR_OK : pr_fail_nomem(err);
}

/* Files go to f, folders to ret_dirs. */
static int list(struct pr_suite_files *f, struct pr_suite_files *ret_dirs,
                const char *dir, const char *end, struct pr_err *err)
{
    DIR *d = opendir(dir);
    const struct dirent *e;
    int rc = PR_OK;

    if (!d)
        return pr_fail_errno(err, PR_E_IO, dir, "cannot open");
    while (!rc && (e = readdir(d))) {
        const char *name = e->d_name;
        bool worth = is_worth(name, end);
        char kind = strcmp(name, ".") == 0 || strcmp(name, "..") == 0
                        ? '\0'
                        : kind_of(e, dirfd(d));
        if (kind == 'd')
            rc = add(ret_dirs, dir, name, err);
        else if (kind == 'f' && worth)
            rc = add(f, dir, name, err);
    }
    closedir(d);
    return rc;
}

static int walk(struct pr_suite_files *f, const char *dir, const char *end,
                unsigned depth, struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_suite_files dirs = {.arena = a};
    int rc = a ? list(f, &dirs, dir, end, err) : pr_fail_nomem(err);

    if (rc == PR_E_IO && depth) /* one below that we may not see */
        rc = PR_OK;
    for (size_t i = 0; !rc && depth < MAX_DEPTH && i < dirs.count; i++)
        rc = walk(f, dirs.paths[i], end, depth + 1, err);
    return rc;
}

int pr_suite_files(struct pr_suite_files *f, const char *dir, const char *end,
                   struct pr_err *err)
{
    return walk(f, dir, end, 0, err);
}

/* "SUITE.JOB.J0.1.20200615-120044-000044.json", also with FAIL in it; the name
 * of a test may hold anything, the rest may not. */
static bool is_result_name(const char *name)
{
    const char *j = name;

    if (!ends_with(name, ".json"))
        return false;
    while ((j = strstr(j, ".J"))) {
        j += 2;
        if (*j >= '0' && *j <= '9')
            return true;
    }
    return false;
}

bool pr_suite_is_folder(const char *path)
{
    DIR *d = opendir(path);
    const struct dirent *e;
    bool found = false;

    if (!d)
        return false;
    for (unsigned i = 0; !found && i < LOOK && (e = readdir(d)); i++)
        found = is_result_name(e->d_name) || ends_with(e->d_name, ".data");
    closedir(d);
    return found;
}

bool pr_suite_is_tree(const char *path)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
    struct pr_suite_files f = {.arena = a};

    return a && ((!pr_suite_files(&f, path, ".json", NULL) && f.count) ||
                 (!pr_suite_files(&f, path, ".data", NULL) && f.count));
}
