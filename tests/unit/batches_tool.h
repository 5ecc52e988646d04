/* For tests of batches: a set in memory, and batches of it. */
#ifndef TESTS_UNIT_BATCHES_TOOL_H
#define TESTS_UNIT_BATCHES_TOOL_H

#include "loader/batches.h"

#include "feed_tool.h"
#include "format/content.h"

static inline void set_up(struct kit *k, const char *more)
{
    char json[1024];

    snprintf(json, sizeof json,
             "{'storage.engine': 'memory', 'dataset.num_files_train': 20,"
             "'reader.read_threads': 2, %s}",
             more);
    kit_init(k, json);
}

static inline struct pr_batches_opts opts_of(struct kit *k, uint64_t batch,
                                             unsigned dims, int64_t c,
                                             int64_t h, int64_t w)
{
    return (struct pr_batches_opts){.set = &k->set,
                                    .first = k->st,
                                    .reader = &k->reader,
                                    .batch = batch,
                                    .seed = 11,
                                    .dims = dims,
                                    .shape = {c, h, w},
                                    .classes = INT32_MAX,
                                    .stop = &k->stop,
                                    .clock =
                                        k->clock ? &k->clock->clock : NULL};
}

static inline struct pr_batches *begin(const struct pr_batches_opts *o)
{
    struct pr_batches *b = NULL;
    struct pr_err err = {0};

    kit_check(pr_batches_new(o, &b, &err), &err);
    return b;
}

/* The first batches, one after another, into memory of the caller's. */
static inline void take(struct pr_batches *b, uint64_t batches, uint64_t batch,
                        size_t each, float *input, int32_t *labels)
{
    struct pr_err err = {0};

    for (uint64_t i = 0; i < batches; i++)
        kit_check(pr_batches_next(b, input + i * batch * each,
                                  labels + i * batch, NULL, &err),
                  &err);
}

/* The number of a sample whose label follows from it. */
static inline uint64_t sample_of(int32_t label, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        if ((int32_t)(pr_mix64(i) % INT32_MAX) == label)
            return i;
    fail_msg("%d is no sample's label", label);
    return 0;
}

static inline void write_labels(struct kit *k)
{
    const struct pr_format *npy;
    struct pr_err err = {0};
    struct pr_writer *w;
    uint64_t bytes;

    kit_check(pr_format_find("npy", &npy, &err), &err);
    kit_check(pr_writer_new(npy, k->st, &w, &err), &err);
    for (uint64_t f = 0; f < pr_dataset_files(&k->set); f++) {
        struct pr_file_spec of, spec;
        char name[PR_NAME_BYTES];

        pr_dataset_spec(&k->set, NULL, f, &of);
        pr_dataset_label_spec(&of, &spec);
        pr_dataset_name(&k->set, f, PR_NAME_LABELS, name);
        kit_check(pr_writer_write(w, &spec, name, &bytes, &err), &err);
    }
    pr_writer_free(w);
}

/* Which sample these numbers are; bytes became -1 to 1. */
static inline uint64_t recognise(const struct kit *k, const float *input,
                                 size_t n)
{
    uint64_t each = k->set.spec.samples;

    for (uint64_t s = 0; s < pr_dataset_files(&k->set) * each; s++) {
        _Alignas(8) uint8_t want[64];
        struct pr_file_spec spec;
        size_t i = 0;

        pr_dataset_spec(&k->set, NULL, s / each, &spec);
        pr_content_fill(&spec, s % each, 0, want, n);
        while (i < n && (int)((input[i] * 0.5f + 0.5f) * 255 + 0.5f) == want[i])
            i++;
        if (i == n)
            return s;
    }
    fail_msg("nobody has made this sample");
    return 0;
}

#endif
