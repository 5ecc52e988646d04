/* Figures of results by their names: unit, label, text, tables. */
#ifndef PR_PRESENT_MEASURE_TEXT_H
#define PR_PRESENT_MEASURE_TEXT_H

#include "base/value.h"
#include "present/table/table.h"

/* "12.5 %", "3.2 GB", "140 ms" for wait_share, bytes_read, wait_ms_p50. False:
 * the value is no number. */
bool pr_measure_text(const char *name, const struct pr_value *v,
                     char out[static 64]);

/* "samples per second" for samples_per_second, "wait p50" for wait_ms_p50: a
 * unit stands with the value. Returns out. */
const char *pr_measure_label(const char *name, char out[static 96]);

/* A map of lists, one item for each accelerator, as a table; or, of maps with
 * min, mean and max, one row a figure. */
int pr_measure_lists(const struct pr_value *map, enum pr_table_format format,
                     const struct pr_table_style *style, struct pr_buf *out,
                     struct pr_err *err) PR_MUST_CHECK;

#endif
