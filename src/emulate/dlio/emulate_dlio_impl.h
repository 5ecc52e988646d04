/* What the files that write DLIO's results share. */
#ifndef PR_EMULATE_DLIO_IMPL_H
#define PR_EMULATE_DLIO_IMPL_H

#include "base/json/json_write.h"
#include "emulate/dlio/emulate_dlio.h"

/* The machine, as DLIO describes it. Text is in an arena. */
struct pr_dlio_host {
    const char *cpuinfo, *meminfo; /* the files in /proc; NULL: not there */
    char name[80], processor[80];
    double memory_gb; /* powers of 1024; 0: not known */
    uint64_t cpus;
};
void pr_dlio_host_read(struct pr_dlio_host *h, struct pr_arena *a);

/* Lines "key: value" as an object; of a key that comes again, the last value
 * in the first place. NULL text: no object. */
void pr_dlio_put_pairs(struct pr_json_writer *jb, const char *key,
                       const char *text);

/* Size of the training data in GB of 1024 ** 3 bytes: of the files that were
 * found, or, where there are none, as DLIO reckons it. */
double pr_dlio_data_gb(const struct pr_emulate *e);

/* 1 when memory could hold the training data. */
int pr_dlio_can_cache(const struct pr_emulate *e, const struct pr_dlio_host *h);

/* A point in time, local: 2026-06-17T10:00:00.123456. */
const char *pr_dlio_format_time(char out[static 32], uint64_t wall_ns);

/* "[OUTPUT] 2026-06-17T10:00:00.123456 ", and a time as a member. */
void pr_dlio_put_stamp(struct pr_buf *out, uint64_t wall_ns);
void pr_dlio_put_time(struct pr_json_writer *jb, const char *key,
                      uint64_t wall_ns);

static inline uint64_t pr_dlio_batch_size(const struct pr_emulate *e,
                                          bool evaluation)
{
    return (uint64_t)(evaluation ? e->reader.batch_size_eval
                                 : e->reader.batch_size);
}

/* "success", or "fail": whether a mean utilisation in percent is enough. */
const char *pr_dlio_met_word(const struct pr_emulate *e, double au);

/* The phases of one epoch; NULL: there was none. */
struct pr_dlio_epoch_phases {
    const struct pr_emulate_phase *train, *eval;
};

static inline const struct pr_emulate_phase *
pr_dlio_first_phase(const struct pr_dlio_epoch_phases *x)
{
    return x->train ? x->train : x->eval;
}

static inline const struct pr_emulate_phase *
pr_dlio_last_phase(const struct pr_dlio_epoch_phases *x)
{
    return x->eval ? x->eval : x->train;
}

/* "block2". Returns out. */
const char *pr_dlio_block_name(const struct pr_emulate_block *b,
                               char out[static 32]);

/* Begins the object of an epoch. */
void pr_dlio_begin_epoch(struct pr_json_writer *jb,
                         const struct pr_dlio_epoch_phases *x);

/* The contents of R_per_epoch_stats.json; they differ in what a checkpoint
 * took. */
void pr_dlio_put_epoch_stats(const struct pr_emulate_stats *s, uint64_t r,
                             struct pr_buf *out);

/* Takes the next epoch off a list of phases. False: it was the last one. */
bool pr_dlio_next_epoch(const struct pr_emulate_phase **cursor,
                        struct pr_dlio_epoch_phases *ret);

/* The contents of summary.json. */
void pr_dlio_put_summary(const struct pr_emulate *e,
                         const struct pr_emulate_stats *s,
                         const struct pr_dlio_host *h, struct pr_buf *out);

/* ---- of checkpoints */

/* Of the ranks run here, in 1024 ** 3 bytes. */
void pr_dlio_log_checkpoints(const struct pr_emulate_stats *s,
                             struct pr_buf *out);
/* Members of the summary's metric. */
void pr_dlio_put_checkpoints(const struct pr_emulate *e,
                             const struct pr_emulate_stats *s,
                             struct pr_json_writer *jb);
/* Those of an epoch, or behind one block of it, taken off a list: save_ckpt1,
 * …; block 0: all. Times are those of rank r. */
void pr_dlio_put_checkpoint_ops(const struct pr_checkpoint_op **cursor,
                                uint64_t epoch, uint64_t block, uint64_t r,
                                struct pr_json_writer *jb);

#endif
