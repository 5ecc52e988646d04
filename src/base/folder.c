/* The names in a folder, sorted; where a folder is. */
#include "base/folder.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int folder_compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* A folder of a hundred thousand files is listed without a look at each. */
bool pr_entry_is_folder(int at, const struct dirent *e)
{
    struct stat st;

    if (e->d_type != DT_UNKNOWN && e->d_type != DT_LNK)
        return e->d_type == DT_DIR;
    return fstatat(at, e->d_name, &st, 0) == 0 && S_ISDIR(st.st_mode);
}

static bool folder_is_wanted(bool (*take)(int at, const struct dirent *e),
                             DIR *d, const struct dirent *e)
{
    if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
        return false;
    return take ? take(dirfd(d), e) : e->d_name[0] != '.';
}

int pr_folder_names(const char *dir,
                    bool (*take)(int at, const struct dirent *e),
                    struct pr_arena *a, const char ***ret, size_t *ret_count,
                    struct pr_err *err)
{
    DIR *d = opendir(dir);
    const char **names = NULL;
    size_t n = 0, cap = 0;
    const struct dirent *e;
    bool ok = true;

    if (!d)
        return pr_fail_errno(err, PR_E_IO, dir, "cannot open");
    while (ok && (e = readdir(d))) {
        if (!folder_is_wanted(take, d, e))
            continue;
        names = pr_arena_grow(a, names, n, &cap, sizeof *names);
        ok = names && (names[n] = pr_arena_str(a, e->d_name));
        n += ok;
    }
    closedir(d);
    if (!ok)
        return pr_fail_nomem(err);
    if (n)
        qsort(names, n, sizeof *names, folder_compare_names);
    *ret = names;
    *ret_count = n;
    return PR_OK;
}

const char *pr_folder_absolute(const char *dir, struct pr_arena *a)
{
    char here[PATH_MAX];

    if (*dir == '/')
        return pr_arena_str(a, dir);
    return getcwd(here, sizeof here) ? pr_arena_printf(a, "%s/%s", here, dir)
                                     : NULL;
}
