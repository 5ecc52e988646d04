/* A data set to train with, by what emulated training has for it. */
#include "native/images/image_set.h"

#include "base/clock.h"
#include "base/mem.h"
#include "format/dataset/dataset_classes.h"
#include "generate/generate.h"
#include "native/images/image_set_impl.h"

#include <errno.h>
#include <string.h>

enum { WAIT_NS = 50000000 }; /* between looks whether a set is made */

static bool image_set_is_text(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

/* ---- which one */

static const char *image_set_data_folder(const struct pr_job *job)
{
    const struct pr_value *v = pr_get(job->params, "dataset.data_folder");

    return v && v->kind == PR_STR ? v->s : "./data/";
}

static bool is_on(const struct pr_job *job, const char *name)
{
    const struct pr_value *v = pr_get(job->params, name);

    return v && v->kind == PR_BOOL && v->b;
}

bool pr_image_set_is_wanted(const struct pr_job *job)
{
    return *job->exp.data_dir || image_set_is_text(job->exp.data, "real") ||
           !image_set_is_text(image_set_data_folder(job), "./data/") ||
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
        if (!image_set_is_text(old->members[i].key, "dataset.data_folder"))
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

static int image_set_init(struct pr_image_set *s, const struct pr_job *job,
                          struct pr_err *err)
{
    int rc = place_folder(job, &s->job, err);

    if (!rc)
        rc = pr_emulate_init(&s->e, &s->job, err);
    if (!rc)
        rc = pr_storage_check(&s->e.storage, err);
    /* Which loader to behave like is a matter of emulated training. */
    if (!rc && !pr_emulate_needs_storage(&s->e))
        s->e.reader.data_loader = "pytorch";
    return rc;
}

/* ---- before it runs */

int pr_image_set_check(const struct pr_job *job, struct pr_err *err)
{
    struct pr_image_set *s = PR_ARENA_NEW(job->arena, struct pr_image_set);
    int rc = s ? image_set_init(s, job, err) : pr_fail_nomem(err);

    if (!rc && s->e.set.format->flags & PR_FORMAT_EMPTY)
        rc = pr_fail(err, PR_E_CONF, "dataset.format",
                     "there is nothing to read in the format '%s'",
                     s->e.set.format->name);
    return rc;
}

int pr_image_set_estimate_bytes(const struct pr_job *job, uint64_t *ret,
                                struct pr_err *err)
{
    struct pr_image_set *s = PR_ARENA_NEW(job->arena, struct pr_image_set);
    bool exact;
    int rc = s ? image_set_init(s, job, err) : pr_fail_nomem(err);

    *ret = 0;
    if (!rc && s->e.workflow.generate_data)
        rc = pr_generate_bytes(&s->e.set, ret, &exact, err);
    return rc;
}

/* ---- reading */

static int image_set_start_batches(struct pr_image_set *s, enum pr_split split,
                                   struct pr_batches **ret, struct pr_err *err)
{
    const struct pr_image_set_opts *o = &s->o;
    struct pr_batches_opts opts = {
        .set = &s->e.set,
        .split = split,
        .in_order = split == PR_VALID,
        .first = s->data.st,
        .reader = &s->e.reader,
        .batch = o->batch,
        .seed = o->seed,
        .dims = o->dims,
        .classes = o->classes,
        .augment = o->augment && split == PR_TRAIN,
        .stop = o->stop,
    };

    memcpy(opts.shape, o->shape, sizeof opts.shape);
    return pr_batches_new(&opts, ret, err);
}

static bool image_set_is_stopped(const struct pr_image_set *s)
{
    return s->o.stop && __atomic_load_n(s->o.stop, __ATOMIC_RELAXED);
}

/* Copies of a test on several devices make one set: the first one does, the
 * others wait for it. */
static int image_set_make_data(struct pr_image_set *s, struct pr_err *err)
{
    struct pr_err why = {0};
    int rc = pr_data_session_make(&s->data, &why);

    while (rc && why.sys_errno == EWOULDBLOCK && !image_set_is_stopped(s)) {
        if (s->o.progress)
            pr_progress_write(s->o.progress, 0,
                              "another program makes the data");
        pr_sleep_until(NULL, pr_clock_ns() + WAIT_NS, s->o.stop);
        why = (struct pr_err){0};
        rc = pr_data_session_make(&s->data, &why);
    }
    if (rc && err)
        *err = why;
    return rc;
}

static int image_set_start(struct pr_image_set *s, struct pr_err *err)
{
    int rc = image_set_make_data(s, err);

    if (!rc)
        rc = pr_image_set_list_classes(s, err);
    if (rc)
        return rc;
    rc = pr_data_session_open(&s->data, err);
    return rc ? pr_image_set_add_hint(s, rc, err)
              : image_set_start_batches(s, PR_TRAIN, &s->batches, err);
}

int pr_image_set_open(const struct pr_job *job,
                      const struct pr_image_set_opts *opts,
                      struct pr_image_set **ret, struct pr_err *err)
{
    struct pr_image_set *s = pr_alloc_zeroed(sizeof *s);
    int rc = s ? image_set_init(s, job, err) : pr_fail_nomem(err);

    if (rc) {
        pr_free(s);
        return rc;
    }
    s->notes = (struct pr_buf)PR_BUF_INIT(65536);
    s->data = (struct pr_data_session){.e = &s->e,
                                       .stats = &s->stats,
                                       .progress = opts->progress,
                                       .stop = opts->stop,
                                       .notes = &s->notes};
    s->o = *opts;
    s->e.workflow.evaluation = opts->evaluates;
    rc = image_set_start(s, err);
    if (rc)
        pr_image_set_free(s);
    else
        *ret = s;
    return rc;
}

static void look_at_labels(struct pr_image_set *s, const int32_t *labels)
{
    if (!s->count)
        s->label = labels[0];
    for (uint64_t i = 0; !s->differ && i < s->o.batch; i++)
        s->differ = labels[i] != s->label;
    s->count += s->o.batch;
}

int pr_image_set_next(struct pr_image_set *s, float *input, int32_t *labels,
                      uint64_t *ret_wait_ns, struct pr_err *err)
{
    int rc = pr_batches_next(s->batches, input, labels, ret_wait_ns, err);

    if (!rc)
        look_at_labels(s, labels);
    return rc;
}

int pr_image_set_borrow(struct pr_image_set *s, const float **ret_input,
                        const int32_t **ret_labels, uint64_t *ret_wait_ns,
                        struct pr_err *err)
{
    int rc =
        pr_batches_borrow(s->batches, ret_input, ret_labels, ret_wait_ns, err);

    if (!rc)
        look_at_labels(s, *ret_labels);
    return rc;
}

uint64_t pr_image_set_held_out_count(const struct pr_image_set *s)
{
    uint64_t samples = s->e.set.files[PR_VALID] * s->e.set.spec.samples;

    return s->o.evaluates ? samples / s->o.batch * s->o.batch : 0;
}

int pr_image_set_next_held_out(struct pr_image_set *s, float *input,
                               int32_t *labels, struct pr_err *err)
{
    int rc = PR_OK;

    pr_batches_end(s->batches);
    if (!s->held_out)
        rc = image_set_start_batches(s, PR_VALID, &s->held_out, err);
    return rc ? rc : pr_batches_next(s->held_out, input, labels, NULL, err);
}

void pr_image_set_print(const struct pr_image_set *s, struct pr_buf *out)
{
    struct pr_batches_stats f;

    pr_batches_stats(s->batches, &f);
    pr_buf_printf(out, "data: %llu batches in an epoch, %u thread%s read; %s\n",
                  (unsigned long long)f.epoch_batches, f.threads,
                  f.threads == 1 ? "" : "s", pr_batches_warning(s->batches));
}

/* What is learned is not in the data. */
static void note_labels(const struct pr_image_set *s, struct pr_buf *notes)
{
    const char *whose = pr_batches_warning(s->batches);

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

void pr_image_set_add_warnings(const struct pr_image_set *s,
                               struct pr_buf *notes)
{
    struct pr_batches_stats f;

    pr_batches_stats(s->batches, &f);
    if (f.failed)
        pr_buf_printf(notes,
                      "samples that could not be read and were replaced: %llu; "
                      "the first: %s: %s\n",
                      (unsigned long long)f.failed, f.first_error.where,
                      f.first_error.msg);
    pr_image_set_warn_unread(s, notes);
    if (s->o.learns && s->count)
        note_labels(s, notes);
}

/* Ends what is read ahead. False: it hangs, and uses what there is. */
static bool image_set_end_batches(struct pr_image_set *s)
{
    pr_batches_end(s->batches);
    pr_batches_end(s->held_out);
    return !pr_batches_is_hung(s->batches) && !pr_batches_is_hung(s->held_out);
}

int pr_image_set_remove(struct pr_image_set *s, struct pr_err *err)
{
    if (!image_set_end_batches(s))
        return PR_OK; /* what it reads stays */
    pr_batches_free(s->batches);
    pr_batches_free(s->held_out);
    s->batches = s->held_out = NULL;
    return pr_data_session_remove(&s->data, err);
}

double pr_image_set_made_s(const struct pr_image_set *s)
{
    return s->stats.generated_s;
}

void pr_image_set_free(struct pr_image_set *s)
{
    bool is_over;

    if (!s)
        return;
    is_over = image_set_end_batches(s); /* may find out that it hangs */
    pr_batches_free(s->batches);
    pr_batches_free(s->held_out);
    if (!is_over)
        return; /* what it uses stays, until the process ends */
    pr_data_session_close(&s->data);
    for (int i = 0; i < PR_SPLITS; i++)
        pr_dataset_classes_free(s->classes[i]);
    pr_buf_free(&s->notes);
    pr_free(s);
}
