/* Cells that line up as pandas and milabench print them. */
#ifndef PR_PRESENT_SUITE_FRAME_H
#define PR_PRESENT_SUITE_FRAME_H

#include "analyse/suite/suite.h"
#include "base/buf.h"
#include "base/mem.h"

#include <stdbool.h>
#include <stddef.h>

struct pr_text_frame {
    struct pr_arena *arena;
    size_t rows, cols, filled; /* filled: columns so far */
    const char **head, **names;
    const char **cells; /* column by column */
    bool failed;        /* out of memory: printing says so */
};

/* Room for so many rows and columns. */
void pr_text_frame_init(struct pr_text_frame *f, struct pr_arena *a,
                        size_t rows, size_t cols);

/* Sets the name of a row; it is made harmless for a screen. */
void pr_text_frame_name(struct pr_text_frame *f, size_t row, const char *name);

/* Begins a column; its cells are set one by one. */
void pr_text_frame_column(struct pr_text_frame *f, const char *head);

/* "%10.2f" as Python's format has it; with percent times 100 and a "%" within
 * the width. none: what stands for NaN, or NULL: "nan" in the format. */
struct pr_text_frame_number {
    int width, digits;
    bool percent;
    const char *none;
};
void pr_text_frame_set(struct pr_text_frame *f, size_t row, double v,
                       const struct pr_text_frame_number *how);
void pr_text_frame_set_text(struct pr_text_frame *f, size_t row, const char *s);

/* The same number on its own. */
void pr_text_frame_number(struct pr_buf *out, double v,
                          const struct pr_text_frame_number *how);

/* head: what stands over the names; sep: between columns. Columns whose head
 * is ragged are not padded. */
void pr_text_frame_print(const struct pr_text_frame *f, const char *head,
                         const char *sep, const char *ragged,
                         struct pr_buf *out);

/* Devices side by side, a column each. */
struct pr_text_frame_devices {
    const char *head, *sep; /* as of pr_text_frame_print */
    int wide;               /* of the number of a device, at least */
    struct pr_text_frame_number how;
};
void pr_text_frame_devices(const struct pr_suite_matrix *m,
                           const struct pr_text_frame_devices *look,
                           struct pr_arena *a, struct pr_buf *out);

/* A title between rules of '=', a heading over one of '-'. */
void pr_text_frame_title(struct pr_buf *out, const char *title);
void pr_text_frame_section(struct pr_buf *out, const char *title);

#endif
