/*
 * Data for trials: each reads its own samples once, so more accelerators need
 * more files. They are made ahead of need, twice as many each time, while the
 * disk has room; then trials visit what there is several times.
 */
#include "base/clock.h"
#include "base/units.h"
#include "generate/generate.h"
#include "study/capacity_search.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* So much is not written before somebody agreed, if there is anybody to ask;
 * of less than a tenth of it nobody is asked, however full the disk gets. */
#define ASK_FROM UINT64_C(10000000000)

/* Left free, or a tenth of what is free if that is less. */
#define LEFT_FREE (UINT64_C(2) << 30)

/* Making data is not what is measured. */
static struct pr_storage_opts
make_plain_storage_opts(const struct pr_capacity_study *s)
{
    struct pr_storage_opts so = s->e.storage;

    so.throttle = 0;
    so.latency = 0;
    so.fault = so.trace = "";
    return so;
}

static struct pr_dataset make_sized_dataset(const struct pr_capacity_study *s,
                                            uint64_t files)
{
    struct pr_dataset d = s->e.set;

    d.files[PR_TRAIN] = d.named[PR_TRAIN] = files;
    d.opts.num_files_train = (int64_t)files;
    return d;
}

/* ---- what is there */

/* Names have the number of all files in them. */
static int capacity_count_files(struct pr_capacity_study *s, struct pr_err *err)
{
    struct pr_dataset_find_opts opts = {.wanted = {[PR_TRAIN] = true},
                                        .check = PR_CHECK_NONE};
    struct pr_storage_opts so = make_plain_storage_opts(s);
    struct pr_dataset d = make_sized_dataset(s, 1);
    struct pr_dataset_found found;
    struct pr_storage *st;
    int rc = pr_storage_open(&so, &st, err);

    if (rc)
        return rc;
    rc = pr_dataset_find(&d, st, &opts, &found, err);
    pr_storage_close(st);
    s->have = rc ? 0 : d.named[PR_TRAIN];
    return rc == PR_E_CONF ? PR_OK : rc; /* nothing there */
}

static int find_usable_bytes(struct pr_capacity_study *s, uint64_t *ret,
                             struct pr_err *err)
{
    struct pr_storage_opts so = make_plain_storage_opts(s);
    struct pr_storage_space space;
    struct pr_storage *st;
    uint64_t left;
    int rc = pr_storage_open(&so, &st, err);

    if (rc)
        return rc;
    rc = pr_storage_space(st, s->e.set.folder, &space, err);
    pr_storage_close(st);
    if (rc)
        return rc;
    left = space.bytes / 10 < LEFT_FREE ? space.bytes / 10 : LEFT_FREE;
    *ret = space.bytes - left;
    return PR_OK;
}

/* What so many files take beyond those that are there. */
static int bytes_more(struct pr_capacity_study *s, uint64_t files,
                      uint64_t *ret, struct pr_err *err)
{
    struct pr_dataset d = make_sized_dataset(s, files);
    uint64_t all, old = 0;
    bool exact;
    int rc = pr_generate_bytes(&d, &all, &exact, err);

    if (!rc && s->have) {
        d = make_sized_dataset(s, s->have);
        rc = pr_generate_bytes(&d, &old, &exact, err);
    }
    if (!rc)
        *ret = all > old ? all - old : 0;
    return rc;
}

/* ---- making more */

static int update_generate_progress(void *ctx,
                                    const struct pr_generate_status *g)
{
    struct pr_capacity_study *s = ctx;
    double done =
        g->bytes_total ? (double)g->bytes / (double)g->bytes_total : 0;
    double passed = (double)(pr_clock_ns() - s->make_ns) / 1e9;
    char text[160], a[16], b[16], left[40] = "", time[24];

    pr_stop_read(&s->stop);
    if (done > 0 && passed > 1)
        snprintf(left, sizeof left, ", %s left",
                 pr_format_seconds(time, passed / done - passed));
    snprintf(text, sizeof text, "%" PRIu64 " of %" PRIu64 " files, %s of %s%s",
             g->files, g->files_total, pr_format_bytes(a, g->bytes),
             pr_format_bytes(b, g->bytes_total), left);
    pr_live_update(s->watch->live, s->rec.count, 0, 0, "making data", text);
    return s->stop.count;
}

static int capacity_make_files(struct pr_capacity_study *s, uint64_t files,
                               struct pr_err *err)
{
    struct pr_generate_opts opts = {
        .resume = true, .later = !pr_job_needs_sync(s->e.job->params)};
    struct pr_storage_opts so = make_plain_storage_opts(s);
    struct pr_dataset d = make_sized_dataset(s, files);
    struct pr_generate_result made;
    char size[16], time[24], place[PR_NAME_BYTES];
    int rc;

    s->make_ns = pr_clock_ns();
    rc = pr_generate(&d, &so, &opts, update_generate_progress, s, &made, err);
    if (rc)
        return rc;
    s->have = files;
    if (made.made)
        pr_capacity_print(s,
                          "%s: %" PRIu64 " files made, %s in %s; now %" PRIu64,
                          pr_generate_place(&d, &so, place), made.made,
                          pr_format_bytes(size, made.bytes),
                          pr_format_seconds(time, made.seconds), files);
    return PR_OK;
}

double pr_capacity_sample_bytes(const struct pr_capacity_study *s)
{
    struct pr_dataset d = make_sized_dataset(s, 1);
    uint64_t bytes;
    bool exact;

    d.files[PR_VALID] = d.named[PR_VALID] = 0;
    d.opts.num_files_eval = 0;
    return pr_generate_bytes(&d, &bytes, &exact, NULL)
               ? 0
               : (double)bytes / (double)d.spec.samples;
}

/* How much is about to be written, before it is; of a lot somebody may say
 * no. */
static int announce_files(struct pr_capacity_study *s, uint64_t files,
                          struct pr_err *err)
{
    struct pr_storage_opts so = make_plain_storage_opts(s);
    struct pr_dataset d = make_sized_dataset(s, files);
    uint64_t more = s->have ? files - s->have : pr_dataset_files(&d);
    uint64_t bytes, free_bytes;
    char text[PR_NAME_BYTES + 160], a[16], b[16], place[PR_NAME_BYTES];
    int rc = bytes_more(s, files, &bytes, err);

    if (!rc)
        rc = find_usable_bytes(s, &free_bytes, err);
    if (rc)
        return rc;
    snprintf(text, sizeof text,
             "%s: %" PRIu64 " files are to be made, %s of the %s that can be "
             "used",
             pr_generate_place(&s->e.set, &so, place), more,
             pr_format_bytes(a, bytes), pr_format_bytes(b, free_bytes));
    if (!s->watch->ask || bytes < ASK_FROM / 10 ||
        (bytes < ASK_FROM && bytes < free_bytes / 2)) {
        pr_capacity_print(s, "%s", text);
        return PR_OK;
    }
    if (s->watch->ask(s->watch->ctx, text, s->stop.fd))
        return PR_OK;
    rc = pr_capacity_check_interrupt(s, err);
    if (rc)
        return rc;
    pr_fail(err, PR_E_USAGE, place, "no data was made: the answer was no");
    return pr_hint(err, "fewer --steps or a smaller --max take less, "
                        "--no-generate uses what is there");
}

static uint64_t samples_for(const struct pr_capacity_study *s, uint64_t n)
{
    double all =
        (double)n * (double)s->rec.steps * (double)s->e.reader.batch_size;

    return all < 1e18 ? (uint64_t)all : (uint64_t)1e18;
}

/* Twice what is needed, but no more than the search can need. */
static uint64_t plan_files_ahead(const struct pr_capacity_study *s,
                                 uint64_t needed)
{
    uint64_t most = samples_for(s, s->rec.opts.max) / s->e.set.spec.samples + 1;
    uint64_t want = needed < most / 2 ? 2 * needed : most;

    if (!s->have && want < s->e.set.files[PR_TRAIN])
        want = s->e.set.files[PR_TRAIN];
    return want > needed ? want : needed;
}

/* How many files there can be: as many as it takes, or those that fit. */
static int choose_file_count(struct pr_capacity_study *s, uint64_t needed,
                             uint64_t *ret, struct pr_err *err)
{
    uint64_t want = plan_files_ahead(s, needed), bytes = 0, free_bytes = 0;
    int rc = find_usable_bytes(s, &free_bytes, err);

    if (!rc)
        rc = bytes_more(s, want, &bytes, err);
    if (!rc && bytes > free_bytes) {
        want = needed;
        rc = bytes_more(s, want, &bytes, err);
    }
    if (!rc && bytes > free_bytes)
        want = s->have ? s->have
                       : (uint64_t)((double)free_bytes / (double)bytes *
                                    (double)needed);
    if (!rc)
        *ret = want;
    return rc;
}

/* Once: the next trial would say the same with another number. */
static int warn_short_of_files(struct pr_capacity_study *s, uint64_t needed,
                               const char *why, struct pr_err *err)
{
    static const char once[] =
        " files would be needed to read each sample once";

    for (size_t i = 0; i < s->rec.note_count; i++)
        if (strstr(s->rec.notes[i], once))
            return PR_OK;
    return pr_capacity_warn(s, err,
                            "%" PRIu64 "%s, and %s: "
                            "trials visit the %" PRIu64
                            " files that are there several times",
                            needed, once, why, s->have);
}

static int no_room(const struct pr_capacity_study *s, uint64_t needed,
                   uint64_t bytes, uint64_t free_bytes, struct pr_err *err)
{
    const struct pr_dataset_opts *o = &s->e.set.opts;
    struct pr_storage_opts so = make_plain_storage_opts(s);
    char a[16], b[16], place[PR_NAME_BYTES];

    pr_fail(err, PR_E_IO, pr_generate_place(&s->e.set, &so, place),
            "%" PRIu64 " files need %s, but only %s can be used", needed,
            pr_format_bytes(a, bytes), pr_format_bytes(b, free_bytes));
    if (o->record_length_bytes_stdev > o->record_length_bytes)
        return pr_hint(err, "dataset.record_length_bytes_stdev is larger than "
                            "record_length_bytes: set it, too");
    return pr_hint(err, "use -d for a larger disk, or fewer --steps");
}

static int capacity_grow_files(struct pr_capacity_study *s, uint64_t needed,
                               struct pr_err *err)
{
    uint64_t want, had = s->have, bytes, free_bytes;
    char why[96], a[16], b[16];
    int rc = choose_file_count(s, needed, &want, err);

    if (!rc && want > had)
        rc = announce_files(s, want, err);
    if (!rc && want > had)
        rc = capacity_make_files(s, want, err);
    if (rc == PR_E_CONF && had) { /* not ours to change */
        s->may_grow = false;
        return warn_short_of_files(s, needed, "they were not made by prony",
                                   err);
    }
    if (rc || s->have >= needed)
        return rc;
    s->may_grow = false;
    rc = find_usable_bytes(s, &free_bytes, err);
    if (!rc)
        rc = bytes_more(s, needed, &bytes, err);
    if (rc)
        return rc;
    if (s->have < 2 * (uint64_t)s->e.reader.batch_size / s->e.set.spec.samples)
        return no_room(s, needed, bytes, free_bytes, err);
    snprintf(why, sizeof why, "%s more are not free (%s are)",
             pr_format_bytes(a, bytes), pr_format_bytes(b, free_bytes));
    return warn_short_of_files(s, needed, why, err);
}

/* ---- all of it */

/* Samples of another size would be measured as if they were those asked for. */
static int refuse_other(struct pr_capacity_study *s, struct pr_err *err)
{
    struct pr_storage_opts so = make_plain_storage_opts(s);
    char place[PR_NAME_BYTES];
    const char *name = NULL;
    int rc = pr_generate_find_difference(&s->e.set, &so, &name, NULL, err);

    if (rc == PR_E_FORMAT || rc == PR_E_IO)
        return PR_OK; /* a marker that cannot be read says nothing */
    if (rc || !name)
        return rc;
    pr_fail(err, PR_E_CONF, pr_generate_place(&s->e.set, &so, place),
            "the data set there was made with another dataset.%s", name);
    return pr_hint(err, "choose another dataset.data_folder, or replace it: "
                        "prony generate … --force");
}

static int capacity_find_files(struct pr_capacity_study *s, struct pr_err *err)
{
    int rc = refuse_other(s, err);

    if (!rc)
        rc = capacity_count_files(s, err);

    s->may_grow = !s->rec.no_generate;
    if (!rc && s->have && s->may_grow) {
        rc = capacity_make_files(s, s->have,
                                 err); /* what was begun is finished */
        if (rc == PR_E_CONF) {
            s->may_grow = false;
            rc = PR_OK;
        }
    }
    s->looked = !rc;
    return rc;
}

static int fail_no_dataset(const struct pr_capacity_study *s,
                           struct pr_err *err)
{
    struct pr_storage_opts so = make_plain_storage_opts(s);
    char place[PR_NAME_BYTES];

    pr_fail(err, PR_E_CONF, pr_generate_place(&s->e.set, &so, place),
            "there is no data set");
    return pr_hint(err, "leave out --no-generate, or check "
                        "dataset.data_folder and -d");
}

int pr_capacity_provide_files(struct pr_capacity_study *s, uint64_t needed,
                              uint64_t *ret_files, struct pr_err *err)
{
    int rc = PR_OK;

    if (!pr_emulate_has_files(&s->e)) {
        /* In memory there is what the target says; nowhere there is all. */
        bool memory = strcmp(s->e.storage.engine, "memory") == 0;
        uint64_t files = s->e.set.files[PR_TRAIN];
        *ret_files = memory && files < needed ? files : needed;
        return PR_OK;
    }
    if (!s->looked)
        rc = capacity_find_files(s, err);
    if (!rc && s->have < needed && s->may_grow)
        rc = capacity_grow_files(s, needed, err);
    else if (!rc && !s->have)
        rc = fail_no_dataset(s, err);
    else if (!rc && s->have < needed && s->rec.no_generate)
        rc = warn_short_of_files(s, needed,
                                 "--no-generate forbids to make more", err);
    else if (!rc && s->have < needed)
        rc = warn_short_of_files(s, needed, "they were not made by prony", err);
    if (!rc)
        *ret_files = s->have < needed ? s->have : needed;
    return rc;
}
