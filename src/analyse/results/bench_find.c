/* What there is to read: files as named, folders by what is in them. */
#include "analyse/results/bench_lines.h"
#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_DEPTH = 64 };

static bool result_name_ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), k = strlen(end);

    return n >= k && strcmp(s + n - k, end) == 0;
}

static bool is_name_listed(const char *base, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(base, *names) == 0)
            return true;
    return false;
}

bool pr_results_is_candidate(const char *path)
{
    /* Parts of a run directory or of DLIO's results, which count once. */
    static const char *const parts[] = {"plan.json",   "params.json",
                                        "env.json",    "capacity.json",
                                        "target.json", NULL};
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;

    if (result_name_ends_with(base, ".log") ||
        result_name_ends_with(base, ".log.gz") ||
        result_name_ends_with(base, ".data"))
        return true;
    if (result_name_ends_with(base, ".txt"))
        return pr_lambda_is_task_log(path);
    if (strcmp(base, "summary.json") == 0)
        return !strstr(path, "experiments/");
    return (result_name_ends_with(base, ".json") ||
            result_name_ends_with(base, ".json.gz")) &&
           !is_name_listed(base, parts);
}

static int find_add_item(struct pr_results_list *l, const char *path,
                         enum pr_results_kind kind, struct pr_err *err)
{
    struct pr_results_item *items =
        pr_arena_grow(l->arena, l->items, l->count, &l->cap, sizeof *items);

    if (!items || !path)
        return pr_fail_nomem(err);
    l->items = items;
    items[l->count++] = (struct pr_results_item){.path = path, .kind = kind};
    return PR_OK;
}

static bool folder_has_file(const char *dir, const char *name)
{
    char path[4096];
    struct stat st;

    return (size_t)snprintf(path, sizeof path, "%s/%s", dir, name) <
               sizeof path &&
           stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static int add_in(struct pr_results_list *l, const char *dir, const char *name,
                  enum pr_results_kind kind, struct pr_err *err)
{
    return find_add_item(l, pr_arena_printf(l->arena, "%s/%s", dir, name), kind,
                         err);
}

/* A folder that is one thing. 1: it was added. */
static int add_known(struct pr_results_list *l, const char *dir,
                     struct pr_err *err)
{
    int rc;

    if (folder_has_file(dir, "plan.json"))
        rc = find_add_item(l, pr_arena_str(l->arena, dir), PR_RESULTS_RUN, err);
    else if (folder_has_file(dir, "prony/plan.json"))
        rc = add_in(l, dir, "prony", PR_RESULTS_RUN, err);
    else if (folder_has_file(dir, "result.json"))
        rc = add_in(l, dir, "result.json", PR_RESULTS_FILE, err);
    else if (folder_has_file(dir, "summary.json") &&
             (folder_has_file(dir, "0_output.json") ||
              folder_has_file(dir, "per_epoch_stats.json") ||
              folder_has_file(dir, "0_per_epoch_stats.json")))
        rc = add_in(l, dir, "summary.json", PR_RESULTS_FILE, err);
    else
        return 0;
    return rc ? rc : 1;
}

static int find_walk_folder(struct pr_results_list *l, const char *dir,
                            bool recursive, unsigned depth, struct pr_err *err);

static int find_visit_path(struct pr_results_list *l, const char *path,
                           bool recursive, unsigned depth, struct pr_err *err)
{
    struct stat st;

    if (lstat(path, &st))
        return PR_OK; /* gone meanwhile */
    if (S_ISLNK(st.st_mode) && (stat(path, &st) || S_ISDIR(st.st_mode)))
        return PR_OK; /* a link to a folder may lead back here */
    if (S_ISREG(st.st_mode))
        return pr_results_is_candidate(path)
                   ? find_add_item(l, pr_arena_str(l->arena, path),
                                   PR_RESULTS_FOUND, err)
                   : PR_OK;
    return S_ISDIR(st.st_mode) && recursive && depth < MAX_DEPTH
               ? find_walk_folder(l, path, recursive, depth + 1, err)
               : PR_OK;
}

static int find_walk_folder(struct pr_results_list *l, const char *dir,
                            bool recursive, unsigned depth, struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    const char **names = NULL;
    size_t count = 0;
    int rc = a ? add_known(l, dir, err) : pr_fail_nomem(err);

    if (rc)
        return rc == 1 ? PR_OK : rc;
    rc = pr_folder_names(dir, NULL, a, &names, &count, err);
    if (rc == PR_E_IO && depth) /* one below that we may not see */
        rc = PR_OK;
    for (size_t i = 0; !rc && i < count; i++) {
        const char *path = pr_arena_printf(a, "%s/%s", dir, names[i]);
        rc = path ? find_visit_path(l, path, recursive, depth, err)
                  : pr_fail_nomem(err);
    }
    return rc;
}

int pr_results_find(struct pr_results_list *l, const char *input,
                    bool recursive, struct pr_err *err)
{
    size_t n = strlen(input);
    const char *path;
    struct stat st;

    while (n > 1 && input[n - 1] == '/')
        n--;
    path = pr_arena_copy(l->arena, input, n);
    if (!path)
        return pr_fail_nomem(err);
    if (stat(path, &st)) {
        pr_fail_errno(err, PR_E_IO, path, "cannot open");
        return pr_hint(err, "give logs, parsed results (.json, .json.gz), run "
                            "directories, or folders of these");
    }
    if (S_ISDIR(st.st_mode))
        return find_walk_folder(l, path, recursive, 0, err);
    return find_add_item(l, path, PR_RESULTS_FILE, err);
}
