/*
 * Finding an interpreter that has a package. Importing PyTorch to find out
 * takes seconds, so folders are looked at instead; whoever is chosen says
 * itself what it lacks.
 */
#include "workload/python.h"

#include "base/file.h"
#include "conf/read/bundled.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool python_has_match(const char *pattern)
{
    glob_t found = {0};
    bool ok = glob(pattern, GLOB_NOSORT, NULL, &found) == 0;

    globfree(&found);
    return ok;
}

/* In PREFIX/lib/…; Debian has names of its own for these folders. */
static bool prefix_has(const char *prefix, const char *package)
{
    static const char *const places[] = {
        "lib/python3*/site-packages",
        "lib64/python3*/site-packages",
        "lib/python3*/dist-packages",
        "local/lib/python3*/dist-packages",
    };
    char pattern[PATH_MAX];

    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        int n = snprintf(pattern, sizeof pattern, "%s/%s/%s", prefix, places[i],
                         package);
        if (n > 0 && (size_t)n < sizeof pattern && python_has_match(pattern))
            return true;
    }
    return false;
}

/* The folders of $PYTHONPATH, separated by ':'. */
static bool path_has(const char *package)
{
    const char *at = getenv("PYTHONPATH");
    char path[PATH_MAX];

    while (at && *at) {
        size_t n = strcspn(at, ":");
        int len = snprintf(path, sizeof path, "%.*s/%s",
                           n < PATH_MAX ? (int)n : 0, at, package);

        if (n && len > 0 && (size_t)len < sizeof path &&
            access(path, R_OK) == 0)
            return true;
        at += n + (at[n] == ':');
    }
    return false;
}

static bool home_has(const char *package)
{
    const char *home = getenv("HOME");
    char prefix[PATH_MAX];
    int n = snprintf(prefix, sizeof prefix, "%s/.local", home ? home : "");

    return home && *home && n > 0 && (size_t)n < sizeof prefix &&
           prefix_has(prefix, package);
}

/* DIR/bin/python3 to DIR. False: it is not in such a folder. */
static bool cut_prefix(char *python)
{
    for (int i = 0; i < 2; i++) {
        char *slash = strrchr(python, '/');

        if (!slash || slash == python)
            return false;
        *slash = '\0';
    }
    return true;
}

static bool in_own_environment(const char *prefix)
{
    char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%s/pyvenv.cfg", prefix);

    return n > 0 && (size_t)n < sizeof path && access(path, R_OK) == 0;
}

bool pr_python_has_package(const char *python, const char *package)
{
    char path[PATH_MAX], real[PATH_MAX];

    if (strchr(python, '/'))
        snprintf(path, sizeof path, "%s", python);
    else if (!pr_which(python, path))
        return false;
    if (access(path, X_OK) != 0)
        return false;
    if (path_has(package))
        return true;
    if (!realpath(path, real))
        return false;
    if (cut_prefix(path) && prefix_has(path, package))
        return true;
    /* What a virtual environment's interpreter links to is another one. */
    if (in_own_environment(path))
        return false;
    return home_has(package) || (cut_prefix(real) && prefix_has(real, package));
}

const char *pr_python_find_with(const char *package, const char *first,
                                const char *second, struct pr_arena *a)
{
    const char *share, *third = NULL;

    if (pr_python_has_package(first, package))
        return first;
    if (second && *second && pr_python_has_package(second, package))
        return second;
    share = pr_bundled_dir(a);
    if (share) {
        third = pr_arena_printf(a, "%s/build/venv/bin/python", share);
        if (!third)
            return NULL;
    }
    return third && pr_python_has_package(third, package) ? third : first;
}
