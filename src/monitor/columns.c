/* Columns: their numbers, their values in this look, and how they are written
 * to monitor.ndjson. Sums are in columns_sum.c. */
#include "monitor/columns.h"

#include "base/json/json.h"
#include "base/mem.h"

#include <math.h>
#include <string.h>

/* No value has this: the file says nothing about the column yet. null is one
 * more. */
#define NOTHING_WRITTEN INT64_MIN
#define NULL_WRITTEN (INT64_MIN + 1)

bool pr_monitor_columns_init(struct pr_monitor_columns *c)
{
    *c = (struct pr_monitor_columns){.names = pr_names_new()};
    return c->names != NULL;
}

void pr_monitor_columns_close(struct pr_monitor_columns *c)
{
    pr_names_free(c->names);
    pr_free(c->cols);
    *c = (struct pr_monitor_columns){0};
}

static void column_reset(struct pr_monitor_column_state *s)
{
    s->set = s->announced = s->fresh = false;
    s->written = NOTHING_WRITTEN;
    s->seconds = s->integral = s->total = s->set_seconds = 0;
    s->min = HUGE_VAL;
    s->max = -HUGE_VAL;
    s->bits = 0;
}

void pr_monitor_columns_clear(struct pr_monitor_columns *c)
{
    for (size_t i = 0; i < c->n; i++)
        column_reset(&c->cols[i]);
}

void pr_monitor_columns_begin_source(struct pr_monitor_columns *c,
                                     unsigned source)
{
    c->source = source;
    for (size_t i = 0; i < c->n; i++)
        if (c->cols[i].source == source)
            c->cols[i].set = false;
}

static bool columns_grow(struct pr_monitor_columns *c)
{
    size_t cap = c->cap ? 2 * c->cap : 128;
    struct pr_monitor_column_state *more =
        pr_realloc(c->cols, cap * sizeof(*c->cols));

    if (!more)
        return false;
    c->cols = more;
    c->cap = cap;
    return true;
}

/* Lines are written without a look at the names. */
static bool is_plain_column_name(const char *name)
{
    for (; *name; name++)
        if (*name <= ' ' || *name > '~' || *name == '"' || *name == '\\')
            return false;
    return true;
}

int pr_monitor_sample_column(struct pr_monitor_sample *l,
                             const struct pr_monitor_column *column)
{
    struct pr_monitor_columns *c = l->columns;
    size_t len = strlen(column->name);
    uint32_t id = pr_names_find(c->names, column->name, len);

    if (id != PR_NO_NAME)
        return (int)id;
    if (!is_plain_column_name(column->name) || c->n == PR_MONITOR_COLUMNS_MAX ||
        (c->n == c->cap && !columns_grow(c)))
        return -1;
    id = pr_names_add(c->names, column->name, len);
    if (id == PR_NO_NAME)
        return -1;
    c->cols[id] =
        (struct pr_monitor_column_state){.is = *column, .source = c->source};
    c->cols[id].is.name = pr_names_text(c->names, id);
    column_reset(&c->cols[id]);
    c->n = id + 1;
    return (int)id;
}

void pr_monitor_sample_set(struct pr_monitor_sample *l, int column,
                           double value)
{
    pr_monitor_sample_set_rate(l, column, value, NAN);
}

void pr_monitor_sample_set_rate(struct pr_monitor_sample *l, int column,
                                double value, double amount)
{
    struct pr_monitor_column_state *s;

    if (column < 0 || !isfinite(value))
        return;
    s = &l->columns->cols[column];
    s->set = s->fresh = true;
    s->value = value;
    s->amount = amount;
}

double pr_monitor_columns_value(const struct pr_monitor_columns *c,
                                const char *name)
{
    uint32_t id = pr_names_find(c->names, name, strlen(name));

    return id != PR_NO_NAME && c->cols[id].set ? c->cols[id].value : NAN;
}

size_t pr_monitor_columns_announce(struct pr_monitor_columns *c,
                                   struct pr_buf *out)
{
    size_t n = 0;

    for (size_t i = 0; i < c->n; i++) {
        struct pr_monitor_column_state *s = &c->cols[i];

        if (!s->set || s->announced)
            continue;
        s->announced = true;
        if (n++)
            pr_buf_char(out, ',');
        pr_json_write_string(out, s->is.name, strlen(s->is.name));
        pr_buf_char(out, ':');
        pr_json_write_string(out, s->is.unit, strlen(s->is.unit));
    }
    return n;
}

static const double tens[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6};

static int64_t scale_column_value(double value, unsigned decimals)
{
    double v = round(value * tens[decimals]);

    /* Well inside of what an int64_t holds. */
    return v > 9e18 ? INT64_MAX : v < -9e18 ? -INT64_MAX : (int64_t)v;
}

/* Half of what a look costs would be printf without this. */
static size_t format_scaled_value(char out[static 32], int64_t v,
                                  unsigned decimals)
{
    uint64_t u = v < 0 ? -(uint64_t)v : (uint64_t)v;
    char tmp[32];
    size_t at = sizeof(tmp), len;

    while (decimals && u % 10 == 0) {
        u /= 10;
        decimals--;
    }
    for (unsigned i = 0; u || i <= decimals; i++) {
        if (i && i == decimals)
            tmp[--at] = '.';
        tmp[--at] = (char)('0' + u % 10);
        u /= 10;
    }
    if (v < 0)
        tmp[--at] = '-';
    len = sizeof(tmp) - at;
    memcpy(out, tmp + at, len);
    out[len] = '\0';
    return len;
}

size_t pr_monitor_column_text(char out[static 32], double value,
                              unsigned decimals)
{
    return format_scaled_value(out, scale_column_value(value, decimals),
                               decimals);
}

void pr_monitor_columns_write_line(struct pr_monitor_columns *c,
                                   struct pr_buf *out)
{
    for (size_t i = 0; i < c->n; i++) {
        struct pr_monitor_column_state *s = &c->cols[i];
        int64_t v = s->set ? scale_column_value(s->value, s->is.decimals)
                           : NULL_WRITTEN;
        char text[32];

        if (!s->announced || v == s->written)
            continue;
        s->written = v;
        pr_buf_str(out, ",\"");
        pr_buf_str(out, s->is.name);
        pr_buf_str(out, "\":");
        if (s->set)
            pr_buf_add(out, text, format_scaled_value(text, v, s->is.decimals));
        else
            pr_buf_str(out, "null");
    }
}
