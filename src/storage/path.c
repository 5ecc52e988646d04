/* Names of objects taken apart. */
#include "storage/path.h"

#include "storage/storage.h"

#include <stdio.h>
#include <string.h>

int pr_path_too_long(const char *name, struct pr_err *err)
{
    return pr_fail(err, PR_E_IO, "", "the name '%.100s…' is too long", name);
}

size_t pr_path_base(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? (size_t)(slash - path) + 1 : 0;
}

static bool is_dots(const char *base)
{
    return !*base || strcmp(base, ".") == 0 || strcmp(base, "..") == 0;
}

int pr_path_folder(const char *name, char out[static PR_PATH_BYTES],
                   struct pr_err *err)
{
    size_t len = strlen(name);

    if (len >= PR_PATH_BYTES)
        return pr_path_too_long(name, err);
    while (len && name[len - 1] == '/')
        len--;
    memcpy(out, name, len);
    out[len] = '\0';
    if (is_dots(out + pr_path_base(out)))
        return pr_fail(err, PR_E_IO, name, "is not a name for a folder");
    return PR_OK;
}

int pr_path_part(const char *name, char out[static PR_PATH_BYTES],
                 struct pr_err *err)
{
    size_t base = pr_path_base(name);
    int n;

    if (is_dots(name + base))
        return pr_fail(err, PR_E_IO, name, "is not a name for a file");
    n = snprintf(out, PR_PATH_BYTES, "%.*s" PR_PART_PREFIX "%s", (int)base,
                 name, name + base);
    return n < 0 || n >= PR_PATH_BYTES ? pr_path_too_long(name, err) : PR_OK;
}

bool pr_path_up(char *path)
{
    size_t len = strlen(path);
    size_t base;

    while (len > 1 && path[len - 1] == '/')
        path[--len] = '\0';
    if (!len || strcmp(path, "/") == 0)
        return false;
    base = pr_path_base(path);
    path[base > 1 ? base - 1 : base] = '\0';
    return true;
}

int pr_path_clean(const char *name, char out[static PR_PATH_BYTES],
                  struct pr_err *err)
{
    size_t root = *name == '/';
    size_t used = root;

    if (strlen(name) >= PR_PATH_BYTES - 1)
        return pr_path_too_long(name, err);
    memcpy(out, "/", 2);
    out[used] = '\0';
    while (*name) {
        size_t n = strcspn(name, "/");

        if (n == 2 && memcmp(name, "..", 2) == 0) {
            (void)pr_path_up(out);
            used = strlen(out);
        } else if (n && !(n == 1 && *name == '.')) {
            if (used > root)
                out[used++] = '/';
            memcpy(out + used, name, n);
            used += n;
            out[used] = '\0';
        }
        name += n + (name[n] == '/');
    }
    return PR_OK;
}

bool pr_path_is_within(const char *path, const char *folder)
{
    size_t n = strlen(folder);

    return strncmp(path, folder, n) == 0 && (!path[n] || path[n] == '/');
}
