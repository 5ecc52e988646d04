/*
 * Files and folders that parameters name. A container sees these alone, so
 * that what is missing here is not there inside, and what is written elsewhere
 * is lost with it.
 */
#include "job/job_places.h"

#include "storage/path.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 16 };

struct places {
    const struct pr_job *job;
    struct pr_place *items;
    size_t count;
    bool failed; /* no memory */
};

static bool places_is_param_true(const struct pr_job *job, const char *name)
{
    const struct pr_value *v = pr_get(job->params, name);

    return v && v->kind == PR_BOOL && v->b;
}

static void places_add(struct places *p, const char *path,
                       enum pr_place_use use)
{
    if (!path)
        p->failed = true;
    else if (*path && p->count < MOST)
        p->items[p->count++] = (struct pr_place){path, use};
}

/* What is relative to another folder, if there is one. */
static void add_below(struct places *p, const char *root, const char *path,
                      enum pr_place_use use)
{
    bool below = *root && *path && *path != '/';

    places_add(
        p, below ? pr_arena_printf(p->job->arena, "%s/%s", root, path) : path,
        use);
}

static void add_folder_of(struct places *p, const char *file,
                          enum pr_place_use use)
{
    const char *slash = strrchr(file, '/');

    if (slash)
        places_add(p,
                   slash == file ? "/"
                                 : pr_arena_copy(p->job->arena, file,
                                                 (size_t)(slash - file)),
                   use);
    else
        places_add(p, *file ? "." : "", use);
}

/* Data sets and checkpoints. Roots come first: what is in them is seen in its
 * own place even where a link leads there. */
static void add_data(struct places *p)
{
    const struct pr_job *job = p->job;
    const char *all = getenv("PRONY_DATA");
    const char *root = pr_job_param_text(job, "storage.storage_root");
    const char *engine = pr_job_param_text(job, "storage.engine");
    bool files = strcmp(engine, "memory") != 0 && strcmp(engine, "null") != 0;
    bool own = *root && strcmp(root, "./") != 0;

    all = all ? all : "";
    places_add(p, all, PR_PLACE_KEPT);
    if (*root == '/')
        places_add(p, root, PR_PLACE_KEPT);
    add_below(p, own ? root : all,
              pr_job_param_text(job, "dataset.data_folder"),
              files && places_is_param_true(job, "workflow.generate_data")
                  ? PR_PLACE_MADE
                  : PR_PLACE_KEPT);
    add_below(p, all, pr_job_param_text(job, "checkpoint.checkpoint_folder"),
              files && places_is_param_true(job, "workflow.checkpoint")
                  ? PR_PLACE_MADE
                  : PR_PLACE_KEPT);
    places_add(p, job->exp.data_dir, PR_PLACE_KEPT);
}

static void add_results(struct places *p)
{
    const char *folder = pr_job_param_text(p->job, "output.folder");

    places_add(p, *folder ? folder : pr_job_param_text(p->job, "hydra.run.dir"),
               PR_PLACE_MADE);
    add_folder_of(p, pr_job_param_text(p->job, "nn.save"), PR_PLACE_KEPT);
    add_folder_of(p, pr_job_param_text(p->job, "storage.trace"), PR_PLACE_KEPT);
}

static int add_inputs(struct places *p, struct pr_err *err)
{
    const struct pr_job *job = p->job;
    const struct pr_framework *f = NULL;
    int rc = *job->exp.framework ? pr_job_find_framework(job, &f, err) : 0;

    if (rc < 0)
        return rc;
    places_add(p, pr_job_param_text(job, "nn.batches"), PR_PLACE_READ);
    places_add(p, pr_job_param_text(job, "nn.load"), PR_PLACE_READ);
    places_add(p, pr_job_param_text(job, "probe.config"), PR_PLACE_READ);
    if (strchr(job->exp.model, '/')) /* the name of a bundled one is no path */
        places_add(p, job->exp.model, PR_PLACE_READ);
    if (f && f->program && *f->program == '/') /* with what it imports */
        add_folder_of(p, f->program, PR_PLACE_READ);
    return PR_OK;
}

int pr_job_find_places(const struct pr_job *job, struct pr_place **ret,
                       size_t *ret_count, struct pr_err *err)
{
    struct places p = {
        .job = job, .items = PR_ARENA_ARRAY(job->arena, struct pr_place, MOST)};
    int rc;

    if (!p.items)
        return pr_fail_nomem(err);
    add_data(&p);
    add_results(&p);
    rc = add_inputs(&p, err);
    if (rc)
        return rc;
    if (p.failed)
        return pr_fail_nomem(err);
    *ret = p.items;
    *ret_count = p.count;
    return PR_OK;
}

int pr_job_absolute_path(const char *path, struct pr_arena *a, const char **ret,
                         struct pr_err *err)
{
    char cwd[PATH_MAX] = "/", clean[PR_PATH_BYTES];
    int rc;

    if (*path != '/') {
        (void)!getcwd(cwd, sizeof cwd);
        path = pr_arena_printf(a, "%s/%s", cwd, path);
        if (!path)
            return pr_fail_nomem(err);
    }
    rc = pr_path_clean(path, clean, err);
    if (rc)
        return rc;
    *ret = pr_arena_str(a, clean);
    return *ret ? PR_OK : pr_fail_nomem(err);
}
