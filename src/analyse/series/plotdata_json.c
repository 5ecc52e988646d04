/* Series as DLBS writes them. */
#include "analyse/series/plotdata.h"
#include "base/json/json.h"

#include <string.h>

static struct pr_value make_point_value(const struct pr_plot_data_point *p)
{
    return p->whole ? pr_int((int64_t)p->y) : pr_float(p->y);
}

static struct pr_member make_json_member(const char *key, struct pr_value v)
{
    return (struct pr_member){
        .key = key, .key_len = (uint32_t)strlen(key), .value = v};
}

static struct pr_value make_map_value(const struct pr_member *members, size_t n)
{
    return (struct pr_value){
        .kind = PR_MAP, .len = (uint32_t)n, .members = members};
}

static struct pr_value make_list_value(const struct pr_value *items, size_t n)
{
    return (struct pr_value){
        .kind = PR_LIST, .len = (uint32_t)n, .items = items};
}

static bool series_value(struct pr_arena *a,
                         const struct pr_plot_data_series *s,
                         struct pr_value *ret)
{
    struct pr_member *data = PR_ARENA_ARRAY(a, struct pr_member, s->count + 1);
    struct pr_member *both = PR_ARENA_ARRAY(a, struct pr_member, 2);

    if (!data || !both)
        return false;
    for (size_t i = 0; i < s->count; i++)
        data[i] =
            make_json_member(s->points[i].x, make_point_value(&s->points[i]));
    both[0] = make_json_member("filters", s->filters);
    both[1] = make_json_member("data", make_map_value(data, s->count));
    *ret = make_map_value(both, 2);
    return true;
}

int pr_plot_data_write_json(const struct pr_plot_data *s, struct pr_buf *out,
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
    all[0] = make_json_member("ylabel", pr_str(s->y));
    all[1] = make_json_member("xlabel", pr_str(s->x));
    all[2] = make_json_member("series", make_list_value(series, s->count));
    all[3] = make_json_member("xvals", make_list_value(xs, s->x_count));
    doc = make_map_value(all, 4);
    pr_json_write_indented(out, &doc, 4, 0);
    pr_buf_char(out, '\n');
    return pr_buf_ok(out) ? PR_OK : pr_fail_nomem(err);
}
