/*
 * For tests of the loader: a data set that exists in a null or memory storage,
 * and the settings of a reader, both from parameters in JSON.
 */
#ifndef TESTS_UNIT_FEED_TOOL_H
#define TESTS_UNIT_FEED_TOOL_H

#include "base/json/json.h"
#include "base/random.h"
#include "loader/feed.h"

#include "torture.h"
#include "virtual_clock.h"

#include <stdio.h>
#include <string.h>

struct kit {
    struct pr_arena *arena;
    struct pr_value params;
    struct pr_dataset set;
    struct pr_reader_opts reader;
    struct pr_storage_opts storage;
    struct pr_storage *st;
    bool stop;
    struct virtual_clock *clock; /* time of its own; NULL: the machine's */
};

static inline void kit_check(int rc, const struct pr_err *err)
{
    if (rc)
        fail_msg("%s: %s (%s)", err->where, err->msg, err->hint);
}

static inline void kit_write(struct kit *k)
{
    char name[PR_NAME_BYTES];
    struct pr_writer *w;
    struct pr_file_spec spec;
    struct pr_dataset_sides sides;
    struct pr_err err = {0};
    uint64_t bytes;

    kit_check(pr_writer_new(k->set.format, k->st, &w, &err), &err);
    for (uint64_t i = 0; pr_dataset_folder(&k->set, i, name), *name; i++)
        kit_check(pr_storage_make_folder(k->st, name, &err), &err);
    pr_dataset_sides_start(&sides);
    for (uint64_t f = 0; f < pr_dataset_files(&k->set); f++) {
        pr_dataset_spec(&k->set, &sides, f, &spec);
        pr_dataset_name(&k->set, f, PR_NAME_DATA, name);
        kit_check(pr_writer_write(w, &spec, name, &bytes, &err), &err);
    }
    pr_writer_free(w);
}

/* Parameters as a JSON object with ' for ". Engine null serves the set, engine
 * memory holds it. */
static inline void kit_init(struct kit *k, const char *json)
{
    struct pr_json_in in = {.name = "test"};
    struct pr_err err = {0};
    char *text;

    memset(k, 0, sizeof *k);
    k->arena = pr_arena_new(65536);
    text = pr_arena_str(k->arena, json);
    for (char *c = text; *c; c++)
        if (*c == '\'')
            *c = '"';
    in.text = text;
    in.len = strlen(text);
    kit_check(pr_json_read(&in, k->arena, &k->params, NULL, &err), &err);
    kit_check(pr_dataset_init(&k->set, &k->params, k->arena, &err), &err);
    kit_check(
        pr_opt_fill(&pr_reader_section, &k->params, k->arena, &k->reader, &err),
        &err);
    kit_check(pr_opt_fill(&pr_storage_section, &k->params, k->arena,
                          &k->storage, &err),
              &err);
    kit_check(pr_storage_open(&k->storage, &k->st, &err), &err);
    if (strcmp(k->storage.engine, "null") == 0)
        kit_check(pr_dataset_serve(&k->set, k->st, &err), &err);
    else
        kit_write(k);
}

static inline void kit_done(struct kit *k)
{
    pr_storage_close(k->st);
    pr_arena_free(k->arena);
}

static inline struct pr_feed *kit_feed(struct kit *k, uint64_t accelerators,
                                       unsigned threads)
{
    struct pr_feed_opts o = {.set = &k->set,
                             .first = k->st,
                             .reader = &k->reader,
                             .accelerators = accelerators,
                             .threads = threads,
                             .seed = 1,
                             .stop = &k->stop,
                             .clock = k->clock ? &k->clock->clock : NULL};
    struct pr_err err = {0};
    struct pr_feed *f;

    kit_check(pr_feed_new(&o, &f, &err), &err);
    return f;
}

/* What the loader's sum of an order should be. */
static inline uint64_t order_sum(const struct pr_order *o, uint64_t steps)
{
    uint64_t sum = 0;

    for (uint64_t a = 0; a < o->o.accelerators; a++) {
        uint64_t n = pr_order_samples(o, a);
        uint64_t read = pr_order_needed(
            o, a, steps < n / o->o.batch + 1 ? steps * o->o.batch : n);

        for (uint64_t q = 0; q < read; q++)
            sum += pr_mix64(pr_mix64(a << 40 ^ pr_order_place(o, a, q)) ^
                            pr_order_read(o, a, q));
    }
    return sum;
}

#endif
