/* Measures as lines or as members. */
#include "workload/sink.h"

#include <math.h>

void pr_sink_lines(struct pr_sink *k, struct pr_buf *lines)
{
    *k = (struct pr_sink){.lines = lines};
    k->at = &k->jb;
}

void pr_sink_object(struct pr_sink *k, struct pr_jb *jb)
{
    *k = (struct pr_sink){.at = jb};
}

const char *pr_sink_begin(struct pr_sink *k, const char *name)
{
    if (!k->lines)
        return name;
    pr_buf_printf(k->lines, "__results.%s__= ", name);
    pr_jb_init(&k->jb, k->lines, 0);
    return NULL;
}

void pr_sink_end(struct pr_sink *k)
{
    if (k->lines)
        pr_buf_char(k->lines, '\n');
}

void pr_sink_float(struct pr_sink *k, const char *name, double f)
{
    if (!isfinite(f))
        return;
    pr_jb_float(k->at, pr_sink_begin(k, name), f);
    pr_sink_end(k);
}

void pr_sink_uint(struct pr_sink *k, const char *name, uint64_t u)
{
    pr_jb_uint(k->at, pr_sink_begin(k, name), u);
    pr_sink_end(k);
}

void pr_sink_bool(struct pr_sink *k, const char *name, bool b)
{
    pr_jb_bool(k->at, pr_sink_begin(k, name), b);
    pr_sink_end(k);
}

void pr_sink_str(struct pr_sink *k, const char *name, const char *s)
{
    if (!s)
        return;
    pr_jb_str(k->at, pr_sink_begin(k, name), s);
    pr_sink_end(k);
}
