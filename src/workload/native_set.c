/* A data set to train with, by what emulated training has for it. */
#include "workload/native_set.h"

#include "base/mem.h"
#include "loader/batches.h"
#include "workload/emulate_data.h"
#include "workload/generate.h"

#include <string.h>

struct pr_native_set {
    struct pr_job job; /* with the folder of exp.data_dir */
    struct pr_emulate e;
    struct pr_emulate_stats stats;
    struct pr_emulate_data data;
    struct pr_buf notes; /* of emulated training: its measures are not ours */
    struct pr_batches *batches;
    bool learns;           /* labels matter */
    uint64_t batch, count; /* samples in one, and that came */
    int32_t label;         /* of the first */
    bool differ;           /* some sample has another */
};

static bool is(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

/* ---- which one */

static const char *folder_of(const struct pr_job *job)
{
    const struct pr_value *v = pr_get(job->params, "dataset.data_folder");

    return v && v->kind == PR_STR ? v->s : "./data/";
}

static bool is_on(const struct pr_job *job, const char *name)
{
    const struct pr_value *v = pr_get(job->params, name);

    return v && v->kind == PR_BOOL && v->b;
}

bool pr_native_set_wanted(const struct pr_job *job)
{
    return *job->exp.data_dir || is(job->exp.data, "real") ||
           !is(folder_of(job), "./data/") ||
           is_on(job, "workflow.generate_data");
}

/* The parameters, with the folder of exp.data_dir where it is set. */
static int place_folder(const struct pr_job *job, struct pr_job *ret,
                        struct pr_err *err)
{
    const struct pr_value *old = job->params;
    struct pr_member *members;
    struct pr_value *map;
    uint32_t n = 0;

    *ret = *job;
    if (!*job->exp.data_dir)
        return PR_OK;
    map = PR_ARENA_NEW(job->arena, struct pr_value);
    members = PR_ARENA_ARRAY(job->arena, struct pr_member, old->len + 1);
    if (!map || !members)
        return pr_fail_nomem(err);
    for (uint32_t i = 0; i < old->len; i++)
        if (!is(old->members[i].key, "dataset.data_folder"))
            members[n++] = old->members[i];
    members[n++] = (struct pr_member){.key = "dataset.data_folder",
                                      .key_len = 19,
                                      .value = pr_str(job->exp.data_dir)};
    *map = *old;
    map->len = n;
    map->members = members;
    ret->params = map;
    return PR_OK;
}

static int init(struct pr_native_set *s, const struct pr_job *job,
                struct pr_err *err)
{
    int rc = place_folder(job, &s->job, err);

    if (!rc)
        rc = pr_emulate_init(&s->e, &s->job, err);
    if (!rc)
        rc = pr_storage_check(&s->e.storage, err);
    /* Which loader to behave like is a matter of emulated training. */
    if (!rc && !pr_emulate_reads(&s->e))
        s->e.reader.data_loader = "pytorch";
    return rc;
}

/* ---- before it runs */

int pr_native_set_check(const struct pr_job *job, struct pr_err *err)
{
    struct pr_native_set *s = PR_ARENA_NEW(job->arena, struct pr_native_set);
    int rc = s ? init(s, job, err) : pr_fail_nomem(err);

    if (!rc && s->e.set.format->flags & PR_FORMAT_EMPTY)
        rc = pr_fail(err, PR_E_CONF, "dataset.format",
                     "there is nothing to read in the format '%s'",
                     s->e.set.format->name);
    return rc;
}

int pr_native_set_bytes(const struct pr_job *job, uint64_t *ret,
                        struct pr_err *err)
{
    struct pr_native_set *s = PR_ARENA_NEW(job->arena, struct pr_native_set);
    bool exact;
    int rc = s ? init(s, job, err) : pr_fail_nomem(err);

    *ret = 0;
    if (!rc && s->e.workflow.generate_data)
        rc = pr_generate_bytes(&s->e.set, ret, &exact, err);
    return rc;
}

/* ---- reading */

static int start(struct pr_native_set *s, const struct pr_native_set_opts *o,
                 struct pr_err *err)
{
    struct pr_batches_opts opts = {
        .set = &s->e.set,
        .reader = &s->e.reader,
        .batch = o->batch,
        .seed = o->seed,
        .dims = o->dims,
        .classes = o->classes,
        .augment = o->augment,
        .stop = o->stop,
    };
    int rc = pr_data_make(&s->data, err);

    if (!rc)
        rc = pr_data_open(&s->data, err);
    if (rc)
        return rc;
    opts.first = s->data.st;
    memcpy(opts.shape, o->shape, sizeof opts.shape);
    return pr_batches_new(&opts, &s->batches, err);
}

int pr_native_set_open(const struct pr_job *job,
                       const struct pr_native_set_opts *opts,
                       struct pr_native_set **ret, struct pr_err *err)
{
    struct pr_native_set *s = pr_alloc_zeroed(sizeof *s);
    int rc = s ? init(s, job, err) : pr_fail_nomem(err);

    if (rc) {
        pr_free(s);
        return rc;
    }
    s->notes = (struct pr_buf)PR_BUF_INIT(65536);
    s->data = (struct pr_emulate_data){.e = &s->e,
                                       .stats = &s->stats,
                                       .progress = opts->progress,
                                       .stop = opts->stop,
                                       .notes = &s->notes};
    s->learns = opts->learns;
    s->batch = opts->batch;
    rc = start(s, opts, err);
    if (rc)
        pr_native_set_free(s);
    else
        *ret = s;
    return rc;
}

static void look_at_labels(struct pr_native_set *s, const int32_t *labels)
{
    if (!s->count)
        s->label = labels[0];
    for (uint64_t i = 0; !s->differ && i < s->batch; i++)
        s->differ = labels[i] != s->label;
    s->count += s->batch;
}

int pr_native_set_next(struct pr_native_set *s, float *input, int32_t *labels,
                       uint64_t *ret_wait_ns, struct pr_err *err)
{
    int rc = pr_batches_next(s->batches, input, labels, ret_wait_ns, err);

    if (!rc)
        look_at_labels(s, labels);
    return rc;
}

void pr_native_set_say(const struct pr_native_set *s, struct pr_buf *out)
{
    struct pr_batches_figures f;

    pr_batches_figures(s->batches, &f);
    pr_buf_printf(out, "data: %llu batches in an epoch, %u thread%s read; %s\n",
                  (unsigned long long)f.epoch_batches, f.threads,
                  f.threads == 1 ? "" : "s", pr_batches_note(s->batches));
}

/* What is learned is not in the data. */
static void note_labels(const struct pr_native_set *s, struct pr_buf *notes)
{
    const char *whose = pr_batches_note(s->batches);

    if (strstr(whose, "follow"))
        pr_buf_printf(notes, "data: %s; there is nothing to learn in them\n",
                      whose);
    else if (s->count > 1 && !s->differ)
        pr_buf_printf(notes,
                      "data: all %llu samples that came are of class %d, "
                      "which is learned at once; data that are made get more "
                      "classes by dataset.num_classes\n",
                      (unsigned long long)s->count, s->label);
}

void pr_native_set_note(const struct pr_native_set *s, struct pr_buf *notes)
{
    struct pr_batches_figures f;

    pr_batches_figures(s->batches, &f);
    if (f.failed)
        pr_buf_printf(notes,
                      "samples that could not be read and were replaced: %llu; "
                      "the first: %s: %s\n",
                      (unsigned long long)f.failed, f.first_error.where,
                      f.first_error.msg);
    if (s->learns && s->count)
        note_labels(s, notes);
}

int pr_native_set_remove(struct pr_native_set *s, struct pr_err *err)
{
    pr_batches_end(s->batches); /* reads ahead */
    if (pr_batches_hangs(s->batches))
        return PR_OK; /* what it reads stays */
    pr_batches_free(s->batches);
    s->batches = NULL;
    return pr_data_remove(&s->data, err);
}

double pr_native_set_made_s(const struct pr_native_set *s)
{
    return s->stats.generated_s;
}

void pr_native_set_free(struct pr_native_set *s)
{
    bool hangs;

    if (!s)
        return;
    pr_batches_end(s->batches); /* may find out that it hangs */
    hangs = s->batches && pr_batches_hangs(s->batches);
    pr_batches_free(s->batches);
    if (hangs)
        return; /* what it uses stays, until the process ends */
    pr_data_close(&s->data);
    pr_buf_done(&s->notes);
    pr_free(s);
}
