/* What a path is, and the suite that is made of it. */
#include "analyse/suite/suite.h"

#include "analyse/gather.h"
#include "analyse/suite/suite_impl.h"
#include "base/codec/archive.h"
#include "base/file.h"
#include "base/mem.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_SUMMARY = 1 << 28 };

static struct pr_suite_build *
suite_build_new(const char *path, enum pr_suite_kind kind, struct pr_err *err)
{
    struct pr_suite_build *w = pr_alloc_zeroed(sizeof *w);

    if (w && (w->arena = pr_arena_new(65536))) {
        w->suite.path = pr_arena_str(w->arena, path);
        w->suite.kind = kind;
        w->suite.notes = w->notes;
    }
    if (w && w->suite.path)
        return w;
    pr_suite_free(w ? &w->suite : NULL);
    pr_fail_nomem(err);
    return NULL;
}

void pr_suite_free(struct pr_suite *s)
{
    struct pr_suite_build *w = (struct pr_suite_build *)s;

    if (!w)
        return;
    for (size_t i = 0; i < w->more_count; i++)
        pr_arena_free(w->more[i]);
    pr_free(w->more);
    pr_arena_free(w->arena);
    pr_free(w);
}

/* Takes the arena, also when it fails. */
int pr_suite_adopt_arena(struct pr_suite_build *w, struct pr_arena *a,
                         struct pr_err *err)
{
    struct pr_arena **more =
        pr_realloc(w->more, (w->more_count + 1) * sizeof(struct pr_arena *));

    if (!more) {
        pr_arena_free(a);
        return pr_fail_nomem(err);
    }
    w->more = more;
    more[w->more_count++] = a;
    return PR_OK;
}

int pr_suite_add_bad_file(struct pr_suite_build *w, const struct pr_err *e,
                          struct pr_err *err)
{
    w->suite.bad++;
    return pr_suite_add_warning(w, e, err);
}

int pr_suite_add_warning(struct pr_suite_build *w, const struct pr_err *e,
                         struct pr_err *err)
{
    struct pr_suite_warning *n = &w->notes[w->suite.note_count];

    if (w->suite.note_count == PR_SUITE_NOTES)
        return PR_OK;
    n->where = pr_arena_str(w->arena, e->where);
    n->text = pr_arena_str(w->arena, e->msg);
    if (!n->where || !n->text)
        return pr_fail_nomem(err);
    w->suite.note_count++;
    return PR_OK;
}

static bool suite_has_file(const char *dir, const char *name)
{
    char path[4096];

    return (size_t)snprintf(path, sizeof path, "%s/%s", dir, name) <
               sizeof path &&
           access(path, F_OK) == 0;
}

static int no_systems(const char *path, struct pr_err *err)
{
    pr_fail(err, PR_E_USAGE, path, "no folder of results of GPU systems");
    return pr_hint(err, "only these have systems to pick from");
}

/* Any .data file makes it milabench's, but in a folder with a plan of ours. */
static enum pr_suite_kind detect_suite_kind(const char *path,
                                            const struct pr_suite_files *f)
{
    if (suite_has_file(path, "plan.json"))
        return PR_SUITE_RESULTS;
    if (f->data.count)
        return PR_SUITE_MILABENCH;
    if (f->has_folders &&
        (pr_gpu_systems_is_tree(path) || pr_gpu_systems_is_system(path)))
        return PR_SUITE_SYSTEMS;
    return PR_SUITE_RESULTS;
}

static int suite_read_folder(struct pr_suite_build *w,
                             const struct pr_suite_read_opts *opts,
                             struct pr_err *err)
{
    const char *path = w->suite.path;
    bool run = !pr_suite_is_folder(path) && suite_has_file(path, "plan.json");
    struct pr_suite_files f = {.arena = w->arena};
    int rc = run ? PR_OK : pr_suite_find_files(&f, path, err);

    if (rc)
        return rc;
    w->is_run = suite_has_file(path, "plan.json");
    w->suite.kind = run ? PR_SUITE_RUN : detect_suite_kind(path, &f);
    if (opts->system && w->suite.kind != PR_SUITE_SYSTEMS)
        return no_systems(path, err);
    if (w->suite.kind == PR_SUITE_RESULTS || run)
        rc = pr_run_unfinished_find(path, w->arena, &w->suite.left, err);
    if (rc)
        return rc;
    if (run)
        return pr_suite_read_run(w, err);
    if (w->suite.kind == PR_SUITE_MILABENCH)
        return pr_suite_read_milabench(w, &f.data, opts, err);
    if (w->suite.kind == PR_SUITE_SYSTEMS)
        return pr_suite_read_systems(w, opts, err);
    return pr_suite_read_results(w, &f.json, opts, err);
}

static int suite_read_document(struct pr_suite_build *w,
                               const struct pr_suite_read_opts *opts,
                               struct pr_err *err)
{
    const char *text;
    size_t len;
    int rc = opts->system ? no_systems(w->suite.path, err)
                          : pr_file_read(w->suite.path, MAX_SUMMARY, w->arena,
                                         &text, &len, err);

    if (rc)
        return rc;
    if (pr_zipdir_is_archive(text, len)) {
        w->suite.kind = PR_SUITE_MILABENCH;
        return pr_suite_read_milabench_zip(w, text, len, opts, err);
    }
    return pr_suite_read_summary(w, text, len, w->suite.path, err);
}

static int hand_out(struct pr_suite_build *w, int rc, struct pr_suite **ret)
{
    if (rc)
        pr_suite_free(&w->suite);
    else
        *ret = &w->suite;
    return rc;
}

int pr_suite_read(const char *path, const struct pr_suite_read_opts *opts,
                  struct pr_suite **ret, struct pr_err *err)
{
    static const struct pr_suite_read_opts plain = {0};
    struct pr_suite_build *w;
    struct stat st;
    size_t n = strlen(path);

    if (!opts)
        opts = &plain;
    if (stat(path, &st))
        return pr_fail_errno(err, PR_E_IO, path, "cannot open");
    w = suite_build_new(path, PR_SUITE_SUMMARY, err);
    if (!w)
        return PR_E_NOMEM;
    while (n > 1 && path[n - 1] == '/')
        n--;
    w->suite.path = pr_arena_copy(w->arena, path, n);
    if (!w->suite.path)
        return hand_out(w, pr_fail_nomem(err), ret);
    return hand_out(w,
                    S_ISDIR(st.st_mode) ? suite_read_folder(w, opts, err)
                                        : suite_read_document(w, opts, err),
                    ret);
}

int pr_suite_from_value(const struct pr_value *v, const char *name,
                        struct pr_suite **ret, struct pr_err *err)
{
    struct pr_suite_build *w = suite_build_new(name, PR_SUITE_SUMMARY, err);
    struct pr_value copy;

    if (!w)
        return PR_E_NOMEM;
    return hand_out(w,
                    pr_value_copy(w->arena, v, &copy)
                        ? pr_suite_summary_from_value(w, &copy, name, err)
                        : pr_fail_nomem(err),
                    ret);
}
