/*
 * The result files that DLIO writes, with its schema, so that programs that
 * read them read ours: summary.json, R_output.json, R_per_epoch_stats.json,
 * and its log lines.
 */
#ifndef PR_EMULATE_DLIO_FILES_H
#define PR_EMULATE_DLIO_FILES_H

#include "base/json/json_write.h"
#include "emulate/emulate.h"

/* Accelerators that have files of their own. */
enum { PR_DLIO_RANKS = 1000 };

/* Writes all of them into a folder that is there, each whole or not at all. */
int pr_dlio_write_files(const struct pr_emulate *e,
                        const struct pr_emulate_stats *s, const char *folder,
                        struct pr_err *err) PR_MUST_CHECK;

/* DLIO's log lines, as they fall due; each appends to out. The first one says
 * what is run. */
void pr_dlio_log_mode(const struct pr_emulate *e, struct pr_buf *out);
void pr_dlio_log_making(bool is_end, struct pr_buf *out);
void pr_dlio_log_start(const struct pr_emulate *e, uint64_t steps,
                       struct pr_buf *out);
void pr_dlio_log_epoch(const struct pr_emulate *e, unsigned epoch,
                       uint64_t steps, struct pr_buf *out);
void pr_dlio_log_phase(const struct pr_emulate *e,
                       const struct pr_emulate_phase *p, struct pr_buf *out);
/* A block of steps ended with a checkpoint; the next one begins. */
void pr_dlio_log_block(const struct pr_emulate *e,
                       const struct pr_emulate_phase *p,
                       const struct pr_emulate_block *b, struct pr_buf *out);
void pr_dlio_log_next_block(uint64_t block, struct pr_buf *out);
void pr_dlio_log_end(const struct pr_emulate *e,
                     const struct pr_emulate_stats *s, struct pr_buf *out);

/* ---- log lines of checkpoints */

void pr_dlio_log_sizes(const struct pr_emulate *e, struct pr_buf *out);
void pr_dlio_log_checkpoints_only(bool is_read, bool is_end,
                                  struct pr_buf *out);
void pr_dlio_log_checkpoint_start(bool is_read,
                                  const struct pr_checkpoint_at *at,
                                  uint64_t steps, struct pr_buf *out);
void pr_dlio_log_checkpoint_end(const struct pr_checkpoint_op *op,
                                struct pr_buf *out);

/* ---- what the files of DLIO's results share */

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

/* FOLDER/NAME. */
int pr_dlio_file_path(char out[static 4096], const char *folder,
                      const char *name, struct pr_err *err) PR_MUST_CHECK;

/* The contents of summary.json. */
void pr_dlio_put_summary(const struct pr_emulate *e,
                         const struct pr_emulate_stats *s,
                         const struct pr_dlio_host *h, struct pr_buf *out);

/* ---- checkpoints in the files */

/* Of the ranks run here, in 1024 ** 3 bytes. */
void pr_dlio_log_checkpoints(const struct pr_emulate_stats *s,
                             struct pr_buf *out);
/* Those of an epoch, or behind one block of it, taken off a list: save_ckpt1,
 * …; block 0: all. Times are those of rank r. */
void pr_dlio_put_checkpoint_ops(const struct pr_checkpoint_op **cursor,
                                uint64_t epoch, uint64_t block, uint64_t r,
                                struct pr_json_writer *jb);

#endif
