/* JSON written piece by piece. */
#include "base/json/json_build.h"

#include "base/json/json.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

void pr_json_writer_init(struct pr_json_writer *jb, struct pr_buf *out,
                         unsigned indent)
{
    *jb = (struct pr_json_writer){.out = out, .indent = indent};
}

static void new_line(struct pr_json_writer *jb)
{
    size_t blanks = (size_t)jb->indent * jb->depth;

    if (!jb->indent || !pr_buf_reserve(jb->out, blanks + 1))
        return;
    pr_buf_char(jb->out, '\n');
    for (size_t i = 0; i < blanks; i++)
        pr_buf_char(jb->out, ' ');
}

/* Whatever stands before a value: comma, line break, key. */
static void json_put_lead(struct pr_json_writer *jb, const char *key)
{
    assert((key != NULL) == (jb->depth > 0 && !jb->level[jb->depth].array));
    if (jb->depth) {
        if (jb->level[jb->depth].filled)
            pr_buf_str(jb->out, jb->indent ? "," : ", ");
        new_line(jb);
    }
    jb->level[jb->depth].filled = true;
    if (key) {
        pr_json_write_string(jb->out, key, strlen(key));
        pr_buf_str(jb->out, ": ");
    }
}

static void json_open_group(struct pr_json_writer *jb, const char *key,
                            bool array)
{
    json_put_lead(jb, key);
    pr_buf_char(jb->out, array ? '[' : '{');
    assert(jb->depth < PR_JSON_WRITER_MAX_DEPTH);
    jb->depth++;
    jb->level[jb->depth].array = array;
    jb->level[jb->depth].filled = false;
}

void pr_json_open_object(struct pr_json_writer *jb, const char *key)
{
    json_open_group(jb, key, false);
}

void pr_json_open_array(struct pr_json_writer *jb, const char *key)
{
    json_open_group(jb, key, true);
}

void pr_json_close(struct pr_json_writer *jb)
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
static void json_put_unknown(struct pr_json_writer *jb, const char *key)
{
    if (!key)
        pr_json_put_null(jb, NULL);
}

void pr_json_put_strn(struct pr_json_writer *jb, const char *key, const char *s,
                      size_t len)
{
    json_put_lead(jb, key);
    pr_json_write_string(jb->out, s, len);
}

void pr_json_put_str(struct pr_json_writer *jb, const char *key, const char *s)
{
    if (s)
        pr_json_put_strn(jb, key, s, strlen(s));
    else
        json_put_unknown(jb, key);
}

void pr_json_put_int(struct pr_json_writer *jb, const char *key, int64_t i)
{
    json_put_lead(jb, key);
    pr_buf_printf(jb->out, "%" PRId64, i);
}

void pr_json_put_uint(struct pr_json_writer *jb, const char *key, uint64_t u)
{
    json_put_lead(jb, key);
    pr_buf_printf(jb->out, "%" PRIu64, u);
}

void pr_json_put_float(struct pr_json_writer *jb, const char *key, double f)
{
    if (!isfinite(f)) {
        json_put_unknown(jb, key);
        return;
    }
    json_put_lead(jb, key);
    pr_float_write_repr(jb->out, f);
}

void pr_json_put_bool(struct pr_json_writer *jb, const char *key, bool b)
{
    json_put_lead(jb, key);
    pr_buf_str(jb->out, b ? "true" : "false");
}

void pr_json_put_null(struct pr_json_writer *jb, const char *key)
{
    json_put_lead(jb, key);
    pr_buf_str(jb->out, "null");
}

void pr_json_put_value(struct pr_json_writer *jb, const char *key,
                       const struct pr_value *v)
{
    json_put_lead(jb, key);
    pr_json_write_indented(jb->out, v, jb->indent, jb->depth);
}
