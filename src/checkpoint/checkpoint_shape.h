/*
 * What a checkpoint is made of: which rank writes which files with which
 * tensors, from the parameters of the model and the way it is spread over
 * ranks. Everything is computed when asked for: a thousand ranks take no more
 * memory than one.
 */
#ifndef PR_CHECKPOINT_SHAPE_H
#define PR_CHECKPOINT_SHAPE_H

#include "conf/option/option.h"
#include "format/tensor_file.h"

/* Sizes that were given, without those that are 0. */
struct pr_checkpoint_list {
    bool is_given;
    uint64_t count, sum;
    const uint64_t *elements; /* of a rank's part */
    const uint64_t *numbers;  /* in the list as it was given */
};

/* What some ranks write. */
struct pr_checkpoint_sum {
    uint64_t model_bytes, optimizer_bytes; /* model: layers and state */
    uint64_t files;      /* with tensors; companions are not counted */
    uint64_t writers;    /* ranks that write anything */
    uint64_t disk_bytes; /* with what the layout adds */
};

struct pr_checkpoint_shape {
    struct pr_model_opts model;
    struct pr_model_parallelism_opts parallelism;
    struct pr_model_transformer_opts transformer;
    struct pr_checkpoint_opts opts;
    bool is_tensorflow;      /* emulate.framework: names and companions */
    uint64_t tp, pp, dp, mp; /* mp = tp * pp */
    uint64_t first, ranks;   /* that are run here, of `all` */
    uint64_t all;            /* tp * pp * dp */
    uint64_t parameters;     /* of a transformer; 0: not known */
    enum pr_tensor_type model_type, optimizer_type;
    struct pr_checkpoint_list layers,
        groups;                           /* model.layer_parameters and so on */
    bool has_sums;                        /* the two that follow */
    struct pr_checkpoint_sum here, whole; /* of the ranks run here, of all */
};

/* Reads and checks the sections. ranks is exp.accelerators; text and lists are
 * borrowed from params or live in the arena. Errors are those of DLIO, in our
 * words, with the key that is wrong. */
int pr_checkpoint_shape_init(struct pr_checkpoint_shape *s,
                             const struct pr_value *params, uint64_t ranks,
                             struct pr_arena *a,
                             struct pr_err *err) PR_MUST_CHECK;

enum pr_checkpoint_file_kind {
    PR_CHECKPOINT_STATE,
    PR_CHECKPOINT_LAYERS,
    PR_CHECKPOINT_OPTIMIZER
};

/* One file of one rank. */
struct pr_checkpoint_file {
    enum pr_checkpoint_file_kind kind;
    uint64_t rank, number; /* of the file, among those of its rank, from 0 */
    uint64_t first_layer, last_layer; /* that a file with layers holds */
    uint64_t tensors;
    uint64_t bytes; /* of the tensors, without what the layout adds */
    char name[128]; /* with its ending, without the folder */
};

/* How many files a rank writes, in the order it writes them; 0: none. */
uint64_t pr_checkpoint_file_count(const struct pr_checkpoint_shape *s,
                                  uint64_t rank);
void pr_checkpoint_get_file(const struct pr_checkpoint_shape *s, uint64_t rank,
                            uint64_t number, struct pr_checkpoint_file *ret);

/* Tensor i of a file: name, type, number of elements. */
void pr_checkpoint_get_tensor(const struct pr_checkpoint_shape *s,
                              const struct pr_checkpoint_file *f, uint64_t i,
                              struct pr_tensor *ret);

/* What ranks [first, first + count) write. */
void pr_checkpoint_sum_ranks(const struct pr_checkpoint_shape *s,
                             uint64_t first, uint64_t count,
                             struct pr_checkpoint_sum *ret);

/* "global_epoch2_step25". Returns out. */
const char *pr_checkpoint_folder_name(char out[static 64], uint64_t epoch,
                                      uint64_t step);

#endif
