/*
 * Data sets to measure with, and ways to read them: ours, and plain system
 * calls.
 */
#ifndef BENCH_DATA_H
#define BENCH_DATA_H

#include "base/mem.h"
#include "format/dataset/dataset.h"
#include "rig.h"

struct bench_set {
    struct pr_arena *arena;
    struct pr_dataset set;
    struct pr_storage_opts so;
};

/* A set in the folder dir. Parameters as members of a JSON map, with ' for ":
 * "'dataset.format': 'npz', 'dataset.num_files_train': 2". False, and said so,
 * when this build has no such format. */
bool bench_set_init(struct bench_set *s, const char *dir, const char *params);

/* Makes it; seconds. */
double bench_set_make(const struct bench_set *s, unsigned threads);

/* Files to read, with names relative to a folder. */
struct bench_files {
    int root;
    const char *dir;
    size_t count;
    char **names;
    double bytes; /* of all of them, as stored */
};

void bench_files_init(struct bench_files *f, const char *dir);
void bench_files_add(struct bench_files *f, const char *name);
void bench_files_of(struct bench_files *f, const struct bench_set *s,
                    const char *dir);

/* Our reader over files, one thread. */
struct bench_reading {
    const struct bench_files *files;
    struct pr_storage_opts so;
    struct pr_storage *st;
    struct pr_reader *reader;
    uint8_t *buf;
    size_t cap;
    uint64_t samples; /* of the last time */
};

bool bench_reading_init(struct bench_reading *r,
                        const struct bench_files *files, const char *format,
                        const char *engine, const struct pr_read_opts *opts);
double bench_reading_once(void *reading); /* as struct bench_way wants it */
void bench_reading_done(struct bench_reading *r);

/* Plain open, pread and close, into the buffer of a reading. */
struct bench_plain {
    const struct bench_files *files;
    uint8_t *buf;
    size_t piece; /* bytes of a pread */
};
double bench_plain_once(void *plain);

#endif
