/* A plot on one line: numbers as blocks of eight heights, ▇▅▃▂▁. */
#ifndef PR_BASE_SPARK_H
#define PR_BASE_SPARK_H

#include "base/buf.h"

/* At most width blocks, each the mean of some numbers that follow one another;
 * the lowest block is the smallest of them. Numbers are finite. */
void pr_spark_write(const double *numbers, size_t count, unsigned width,
                    struct pr_buf *out);

#endif
