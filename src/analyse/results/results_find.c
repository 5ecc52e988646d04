/* What there is to read: files as named, folders by what is in them. */
#include "analyse/results/results_take.h"
#include "analyse/suite/suite_impl.h"
#include "base/file.h"
#include "base/text.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- files of a suite */

/*
 * They come in the order in which the directory has them, files before
 * folders: milarun walks like this, and its sums, and the devices in its
 * summary, follow that order.
 */

enum { MAX_DEPTH = 64, LOOK = 4096 };

/* 'f', 'd', or 0: neither. A link to a folder may lead back here. */
static char get_entry_type(const struct dirent *e, int fd)
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

static int suite_add_path(struct pr_arena *a, struct pr_suite_paths *p,
                          const char *dir, const char *name, struct pr_err *err)
{
    size_t n = strlen(dir), k = strlen(name);
    const char **list =
        pr_arena_grow(a, p->list, p->count, &p->cap, sizeof *list);
    char *path = list ? pr_arena_alloc(a, n + k + 2) : NULL;

    if (list)
        p->list = list;
    if (!path)
        return pr_fail_nomem(err);
    memcpy(path, dir, n);
    path[n] = '/';
    memcpy(path + n + 1, name, k + 1);
    list[p->count++] = path;
    return PR_OK;
}

/* NULL: of no use. */
static struct pr_suite_paths *list_for(struct pr_suite_files *f,
                                       const char *name)
{
    if (pr_text_starts_with(name, PR_TEMP_PREFIX))
        return NULL;
    return pr_text_ends_with(name, ".json")   ? &f->json
           : pr_text_ends_with(name, ".data") ? &f->data
                                              : NULL;
}

/* Whether more of the tree would change the answer. */
static bool is_enough(const struct pr_suite_files *f)
{
    return f->first_only && (f->json.count || f->data.count);
}

/* A folder under way. */
struct visit {
    struct pr_suite_files *f;
    struct pr_arena *a;
    struct pr_suite_paths dirs; /* in it */
};

static int suite_visit_entry(struct visit *v, int fd, const char *dir,
                             const struct dirent *e, struct pr_err *err)
{
    const char *name = e->d_name;
    struct pr_suite_paths *p = list_for(v->f, name);
    char kind;

    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return PR_OK;
    kind = get_entry_type(e, fd);
    v->f->has_folders |= pr_entry_is_folder(fd, e);
    if (kind == 'd')
        return suite_add_path(v->a, &v->dirs, dir, name, err);
    return kind == 'f' && p ? suite_add_path(v->f->arena, p, dir, name, err)
                            : PR_OK;
}

static int suite_list_folder(struct visit *v, const char *dir,
                             struct pr_err *err)
{
    DIR *d = opendir(dir);
    const struct dirent *e;
    int rc = PR_OK;

    if (!d)
        return pr_fail_errno(err, PR_E_IO, dir, "cannot open");
    while (!rc && !is_enough(v->f) && (e = readdir(d)))
        rc = suite_visit_entry(v, dirfd(d), dir, e, err);
    closedir(d);
    return rc;
}

static int suite_walk_folder(struct pr_suite_files *f, const char *dir,
                             unsigned depth, struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct visit v = {.f = f, .a = a};
    int rc = a ? suite_list_folder(&v, dir, err) : pr_fail_nomem(err);

    if (rc == PR_E_IO && depth) /* one below that we may not see */
        rc = PR_OK;
    for (size_t i = 0;
         !rc && !is_enough(f) && depth < MAX_DEPTH && i < v.dirs.count; i++)
        rc = suite_walk_folder(f, v.dirs.list[i], depth + 1, err);
    return rc;
}

int pr_suite_find_files(struct pr_suite_files *f, const char *dir,
                        struct pr_err *err)
{
    return suite_walk_folder(f, dir, 0, err);
}

/* "SUITE.JOB.J0.1.20200615-120044-000044.json", also with FAIL in it; the name
 * of a test may hold anything, the rest may not. */
static bool is_result_name(const char *name)
{
    const char *j = name;

    if (!pr_text_ends_with(name, ".json"))
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
        found =
            is_result_name(e->d_name) || pr_text_ends_with(e->d_name, ".data");
    closedir(d);
    return found;
}

bool pr_suite_is_tree(const char *path)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
    struct pr_suite_files f = {.arena = a, .first_only = true};

    return a && !pr_suite_find_files(&f, path, NULL) && is_enough(&f);
}

/* ---- what may hold results */

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

    if (pr_text_ends_with(base, ".log") || pr_text_ends_with(base, ".log.gz") ||
        pr_text_ends_with(base, ".data"))
        return true;
    if (pr_text_ends_with(base, ".txt"))
        return pr_lambda_is_task_log(path);
    if (strcmp(base, "summary.json") == 0)
        return !strstr(path, "experiments/");
    return (pr_text_ends_with(base, ".json") ||
            pr_text_ends_with(base, ".json.gz")) &&
           !is_name_listed(base, parts);
}

static int find_add_item(struct pr_results_list *l, const char *path,
                         enum pr_results_kind kind, struct pr_err *err)
{
    struct pr_results_item *item = path ? PR_PUSH(l->arena, l) : NULL;

    if (!item)
        return pr_fail_nomem(err);
    item->path = path;
    item->kind = kind;
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
