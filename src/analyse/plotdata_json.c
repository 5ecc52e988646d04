/* Series as DLBS writes them. */
#include "analyse/plotdata.h"
#include "base/json.h"

#include <string.h>

static struct pr_value number_of(const struct pr_plotdata_point *p)
{
    return p->whole ? pr_int((int64_t)p->y) : pr_float(p->y);
}

static struct pr_member member(const char *key, struct pr_value v)
{
    return (struct pr_member){
        .key = key, .key_len = (uint32_t)strlen(key), .value = v};
}

static struct pr_value map_of(const struct pr_member *members, size_t n)
{
    return (struct pr_value){
        .kind = PR_MAP, .len = (uint32_t)n, .members = members};
}

static struct pr_value list_of(const struct pr_value *items, size_t n)
{
    return (struct pr_value){
        .kind = PR_LIST, .len = (uint32_t)n, .items = items};
}

static bool series_value(struct pr_arena *a, const struct pr_plotdata_series *s,
                         struct pr_value *ret)
{
    struct pr_member *data = PR_ARENA_ARRAY(a, struct pr_member, s->count + 1);
    struct pr_member *both = PR_ARENA_ARRAY(a, struct pr_member, 2);

    if (!data || !both)
        return false;
    for (size_t i = 0; i < s->count; i++)
        data[i] = member(s->points[i].x, number_of(&s->points[i]));
    both[0] = member("filters", s->filters);
    both[1] = member("data", map_of(data, s->count));
    *ret = map_of(both, 2);
    return true;
}

int pr_plotdata_json(const struct pr_plotdata *s, struct pr_buf *out,
                     struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
    struct pr_value *series =
        a ? PR_ARENA_ARRAY(a, struct pr_value, s->count + 1) : NULL;
    struct pr_value *xs =
        a ? PR_ARENA_ARRAY(a, struct pr_value, s->x_count + 1) : NULL;
    struct pr_member all[4];
    struct pr_value doc;

    if (!series || !xs)
        return pr_fail_nomem(err);
    for (size_t i = 0; i < s->count; i++)
        if (!series_value(a, &s->series[i], &series[i]))
            return pr_fail_nomem(err);
    for (size_t i = 0; i < s->x_count; i++)
        xs[i] = pr_str(s->x_values[i]);
    all[0] = member("ylabel", pr_str(s->y));
    all[1] = member("xlabel", pr_str(s->x));
    all[2] = member("series", list_of(series, s->count));
    all[3] = member("xvals", list_of(xs, s->x_count));
    doc = map_of(all, 4);
    pr_json_write_indented(out, &doc, 4, 0);
    pr_buf_char(out, '\n');
    return pr_buf_ok(out) ? PR_OK : pr_fail_nomem(err);
}
