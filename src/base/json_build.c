/* JSON written piece by piece. */
#include "base/json_build.h"

#include "base/json.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

void pr_jb_init(struct pr_jb *jb, struct pr_buf *out, unsigned indent)
{
    *jb = (struct pr_jb){.out = out, .indent = indent};
}

static void new_line(struct pr_jb *jb)
{
    size_t blanks = (size_t)jb->indent * jb->depth;

    if (!jb->indent || !pr_buf_reserve(jb->out, blanks + 1))
        return;
    pr_buf_char(jb->out, '\n');
    for (size_t i = 0; i < blanks; i++)
        pr_buf_char(jb->out, ' ');
}

/* Whatever stands before a value: comma, line break, key. */
static void lead(struct pr_jb *jb, const char *key)
{
    assert((key != NULL) == (jb->depth > 0 && !jb->level[jb->depth].array));
    if (jb->depth) {
        if (jb->level[jb->depth].filled)
            pr_buf_str(jb->out, jb->indent ? "," : ", ");
        new_line(jb);
    }
    jb->level[jb->depth].filled = true;
    if (key) {
        pr_json_string(jb->out, key, strlen(key));
        pr_buf_str(jb->out, ": ");
    }
}

static void open_group(struct pr_jb *jb, const char *key, bool array)
{
    lead(jb, key);
    pr_buf_char(jb->out, array ? '[' : '{');
    assert(jb->depth < PR_JB_MAX_DEPTH);
    jb->depth++;
    jb->level[jb->depth].array = array;
    jb->level[jb->depth].filled = false;
}

void pr_jb_obj(struct pr_jb *jb, const char *key)
{
    open_group(jb, key, false);
}

void pr_jb_arr(struct pr_jb *jb, const char *key)
{
    open_group(jb, key, true);
}

void pr_jb_end(struct pr_jb *jb)
{
    assert(jb->depth > 0);
    bool array = jb->level[jb->depth].array;
    bool filled = jb->level[jb->depth].filled;

    jb->depth--;
    if (filled)
        new_line(jb);
    pr_buf_char(jb->out, array ? ']' : '}');
}

/* What cannot be said: nothing in an object, null in an array. */
static void unknown(struct pr_jb *jb, const char *key)
{
    if (!key)
        pr_jb_null(jb, NULL);
}

void pr_jb_strn(struct pr_jb *jb, const char *key, const char *s, size_t len)
{
    lead(jb, key);
    pr_json_string(jb->out, s, len);
}

void pr_jb_str(struct pr_jb *jb, const char *key, const char *s)
{
    if (s)
        pr_jb_strn(jb, key, s, strlen(s));
    else
        unknown(jb, key);
}

void pr_jb_int(struct pr_jb *jb, const char *key, int64_t i)
{
    lead(jb, key);
    pr_buf_printf(jb->out, "%" PRId64, i);
}

void pr_jb_uint(struct pr_jb *jb, const char *key, uint64_t u)
{
    lead(jb, key);
    pr_buf_printf(jb->out, "%" PRIu64, u);
}

void pr_jb_float(struct pr_jb *jb, const char *key, double f)
{
    if (!isfinite(f)) {
        unknown(jb, key);
        return;
    }
    lead(jb, key);
    pr_float_text(jb->out, f);
}

void pr_jb_bool(struct pr_jb *jb, const char *key, bool b)
{
    lead(jb, key);
    pr_buf_str(jb->out, b ? "true" : "false");
}

void pr_jb_null(struct pr_jb *jb, const char *key)
{
    lead(jb, key);
    pr_buf_str(jb->out, "null");
}

void pr_jb_value(struct pr_jb *jb, const char *key, const struct pr_value *v)
{
    lead(jb, key);
    pr_json_write_indented(jb->out, v, jb->indent, jb->depth);
}
