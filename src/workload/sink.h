/*
 * Where a measure goes: a metric line of its own, or a member of an object. A
 * list of measures is written once and serves both.
 */
#ifndef PR_WORKLOAD_SINK_H
#define PR_WORKLOAD_SINK_H

#include "base/json_build.h"

struct pr_sink {
    struct pr_buf *lines; /* NULL: into the object */
    struct pr_jb jb;      /* of the line */
    struct pr_jb *at;
};

void pr_sink_lines(struct pr_sink *k, struct pr_buf *lines);
void pr_sink_object(struct pr_sink *k, struct pr_jb *jb);

/* Around a value that is put into k->at: begin returns its key. */
const char *pr_sink_begin(struct pr_sink *k, const char *name);
void pr_sink_end(struct pr_sink *k);

/* A number that is not finite and a text that is NULL are left out. */
void pr_sink_float(struct pr_sink *k, const char *name, double f);
void pr_sink_uint(struct pr_sink *k, const char *name, uint64_t u);
void pr_sink_bool(struct pr_sink *k, const char *name, bool b);
void pr_sink_str(struct pr_sink *k, const char *name, const char *s);

#endif
