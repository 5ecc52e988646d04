/*
 * Where a measure goes: a metric line of its own, or a member of an object. A
 * list of measures is written once and serves both.
 */
#ifndef PR_JOB_SINK_H
#define PR_JOB_SINK_H

#include "base/json/json_write.h"

struct pr_result_lines {
    struct pr_buf *lines;     /* NULL: into the object */
    struct pr_json_writer jb; /* of the line */
    struct pr_json_writer *at;
};

void pr_result_lines_init(struct pr_result_lines *k, struct pr_buf *lines);
void pr_result_lines_init_object(struct pr_result_lines *k,
                                 struct pr_json_writer *jb);

/* Around a value that is put into k->at: begin returns its key. */
const char *pr_result_lines_begin(struct pr_result_lines *k, const char *name);
void pr_result_lines_end(struct pr_result_lines *k);

/* A number that is not finite and a text that is NULL are left out. */
void pr_result_lines_put_float(struct pr_result_lines *k, const char *name,
                               double f);
void pr_result_lines_put_uint(struct pr_result_lines *k, const char *name,
                              uint64_t u);
void pr_result_lines_put_bool(struct pr_result_lines *k, const char *name,
                              bool b);
void pr_result_lines_put_str(struct pr_result_lines *k, const char *name,
                             const char *s);

#endif
