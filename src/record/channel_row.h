/* One line of the channel, taken apart: what the reader of results and the
 * one of progress share. */
#ifndef PR_RECORD_CHANNEL_ROW_H
#define PR_RECORD_CHANNEL_ROW_H

#include "base/value.h"

struct pr_channel_row {
    const struct pr_value *data;     /* the object; NULL: no data */
    const struct pr_value *rate;     /* as the next: NULL when there is none */
    const struct pr_value *progress; /* a number, or a list of two */
    const struct pr_value *task, *units, *text; /* text */
    const char *event; /* of milabench's lines about a run; NULL: data */
    bool machine;      /* about the machine: gpudata and the like */
    bool stamped;      /* "time" in it is when, not how long */
};

/* Looks at a line's object, in milabench's wrapping or without. Borrowed. */
struct pr_channel_row pr_channel_row_read(const struct pr_value *line);

/* Whether a plain name in such a row is no parameter. */
bool pr_channel_row_owns(const struct pr_channel_row *row, const char *key);

#endif
