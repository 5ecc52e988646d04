/* Measures as lines or as members. */
#include "job/sink.h"

#include <math.h>

void pr_result_lines_init(struct pr_result_lines *k, struct pr_buf *lines)
{
    *k = (struct pr_result_lines){.lines = lines};
    k->at = &k->jb;
}

void pr_result_lines_init_object(struct pr_result_lines *k,
                                 struct pr_json_writer *jb)
{
    *k = (struct pr_result_lines){.at = jb};
}

const char *pr_result_lines_begin(struct pr_result_lines *k, const char *name)
{
    if (!k->lines)
        return name;
    pr_buf_printf(k->lines, "__results.%s__= ", name);
    pr_json_writer_init(&k->jb, k->lines, 0);
    return NULL;
}

void pr_result_lines_end(struct pr_result_lines *k)
{
    if (k->lines)
        pr_buf_char(k->lines, '\n');
}

void pr_result_lines_put_float(struct pr_result_lines *k, const char *name,
                               double f)
{
    if (!isfinite(f))
        return;
    pr_json_put_float(k->at, pr_result_lines_begin(k, name), f);
    pr_result_lines_end(k);
}

void pr_result_lines_put_uint(struct pr_result_lines *k, const char *name,
                              uint64_t u)
{
    pr_json_put_uint(k->at, pr_result_lines_begin(k, name), u);
    pr_result_lines_end(k);
}

void pr_result_lines_put_bool(struct pr_result_lines *k, const char *name,
                              bool b)
{
    pr_json_put_bool(k->at, pr_result_lines_begin(k, name), b);
    pr_result_lines_end(k);
}

void pr_result_lines_put_str(struct pr_result_lines *k, const char *name,
                             const char *s)
{
    if (!s)
        return;
    pr_json_put_str(k->at, pr_result_lines_begin(k, name), s);
    pr_result_lines_end(k);
}
