/* A new search: what was asked for, and whether it can be found. */
#include "analyse/mlperf.h"
#include "base/file.h"
#include "study/capacity_impl.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_ACCELERATORS = 1000000 };

static int check_empty(const char *dir, struct pr_err *err)
{
    DIR *d = opendir(dir);
    struct dirent *e;
    bool used = false, ours = false;

    if (!d)
        return pr_fail_errno(err, PR_E_IO, dir, "cannot open");
    while ((e = readdir(d))) {
        used |= *e->d_name != '.';
        ours |= strcmp(e->d_name, "capacity.json") == 0;
    }
    closedir(d);
    if (!used)
        return PR_OK;
    pr_fail(err, PR_E_USAGE, dir, "is not empty");
    if (ours)
        return pr_hint(err,
                       "go on with its search by 'prony capacity --resume %s', "
                       "or choose another directory with -o",
                       dir);
    return pr_hint(err, "choose another directory with -o");
}

/* "unet3d_h100": by its samples and the time of a step, not by its name. */
static int find_accelerator(struct pr_capacity_study *s, struct pr_err *err)
{
    struct pr_capacity_record *r = &s->rec;
    struct pr_mlperf_in in = {.params = s->job.params};
    const char *mark;
    struct pr_mlperf m;
    char *name;
    int rc;

    r->accelerator = "";
    if (!pr_mlperf_is_concerned(s->job.params))
        return PR_OK;
    rc = pr_mlperf_judge_experiment(&in, s->arena, &m, err);
    mark = rc || !m.workload ? NULL : strrchr(m.workload, '_');
    if (!mark)
        return rc;
    name = pr_arena_str(s->arena, mark + 1);
    for (char *c = name; c && *c; c++)
        *c = (char)toupper((unsigned char)*c);
    r->accelerator = name;
    return name ? PR_OK : pr_fail_nomem(err);
}

static int check_ask(const struct pr_capacity_opts *o, struct pr_err *err)
{
    if (!(o->threshold > 0 && o->threshold <= 1))
        return pr_fail(err, PR_E_CONF, "--au",
                       "wants a share above 0 and up to 1, such as 0.9");
    if (!(o->confidence > 0.5 && o->confidence < 1))
        return pr_fail(err, PR_E_CONF, "--confidence",
                       "wants a share above 0.5 and below 1, such as 0.95");
    if (o->max > MAX_ACCELERATORS)
        return pr_fail(err, PR_E_CONF, "--max", "is %d at most",
                       MAX_ACCELERATORS);
    if (o->min > o->max)
        return pr_fail(err, PR_E_CONF, "--min", "is larger than --max");
    if (o->repeats < 2)
        return pr_fail(err, PR_E_CONF, "--repeats",
                       "is 2 at least: one run says nothing of the spread");
    return PR_OK;
}

static int fill_record(struct pr_capacity_study *s,
                       const struct pr_capacity_ask *ask, struct pr_err *err)
{
    struct pr_capacity_record *r = &s->rec;
    double compute = pr_duration_mean(&s->e.compute);
    int rc = find_accelerator(s, err);

    if (rc)
        return rc;
    r->target = ask->target;
    r->model = strcmp(s->e.model, "default") == 0 ? "" : s->e.model;
    r->opts = (struct pr_capacity_opts){
        .threshold = ask->threshold > 0 ? ask->threshold : s->e.metric.au,
        .confidence = ask->confidence > 0 ? ask->confidence : 0.95,
        .min = ask->min ? ask->min : 1,
        .max = ask->max ? ask->max : MAX_ACCELERATORS,
        .repeats = ask->repeats ? (unsigned)ask->repeats : 8,
    };
    r->opts.need = (double)s->e.reader.batch_size * r->opts.threshold / compute;
    r->asked_max = r->opts.max;
    r->steps = ask->steps
                   ? ask->steps
                   : pr_capacity_default_steps(&s->e, pr_capacity_is_mlperf(s));
    r->throttle = s->e.storage.throttle;
    r->no_generate = ask->no_generate;
    return check_ask(&r->opts, err);
}

bool pr_capacity_remove_unused(const char *dir)
{
    static const char *const ours[] = {"target.json", "capacity.svg",
                                       "capacity.json"};
    char path[4096];

    snprintf(path, sizeof path, "%s/trials", dir);
    if (rmdir(path) < 0 && errno != ENOENT)
        return false; /* somebody may want to see what is in it */
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, ours[i]);
        (void)unlink(path);
    }
    (void)rmdir(dir);
    return true;
}

int pr_capacity_create(const char *dir, struct pr_plan *plan,
                       const struct pr_capacity_ask *ask, struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
    const struct pr_capacity_watch nobody = {0};
    struct pr_capacity_study s = {.dir = dir, .watch = &nobody, .arena = a};
    bool made;
    int rc;

    if (!a)
        return pr_fail_nomem(err);
    if (strlen(dir) > 2000)
        return pr_fail(err, PR_E_USAGE, dir, "the path is too long");
    made = access(dir, F_OK) != 0;
    rc = pr_make_dirs(dir, err);
    if (!rc)
        rc = check_empty(dir, err);
    if (rc)
        return rc;
    rc = pr_capacity_target_write(dir, plan, err);
    if (!rc)
        rc = pr_capacity_target_read(&s, err);
    if (!rc)
        rc = fill_record(&s, ask, err);
    if (!rc)
        rc = pr_capacity_write_files(&s, err);
    if (rc)
        (void)pr_capacity_remove_unused(dir);
    if (rc && !made)
        (void)mkdir(dir, 0755); /* an empty folder of the user's stays */
    return rc;
}
