/* Figures by their names, and tables of them. */
#include "present/table/measure_text.h"

#include "base/text.h"
#include "base/units.h"
#include "present/report/report_experiment.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_COLUMNS = 24 };

enum unit {
    PLAIN,
    RATE,
    SHARE,
    PERCENT,
    BYTES,
    SECONDS,
    MILLI,
    MICRO,
    FLOP,
    FLOP_RATE,
};

/* Figures of a training, whose names are older than our units: DLBS's, and
 * those that frameworks share with the native engine. */
static enum unit measure_training_unit(const char *name)
{
    static const struct {
        const char *name;
        enum unit unit;
    } rows[] = {
        {"time", MILLI},
        {"time_std", MILLI},
        {"time_min", MILLI},
        {"time_max", MILLI},
        {"time_p50", MILLI},
        {"time_p90", MILLI},
        {"time_p99", MILLI},
        {"memory_peak", BYTES},
        {"memory_planned", BYTES},
        {"efficiency", SHARE},
        {"accuracy", SHARE},
        {"data_wait", SHARE},
        {"flops", FLOP},
        {"flops_rate", FLOP_RATE},
        {"peak_flops_rate", FLOP_RATE},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, name) == 0)
            return rows[i].unit;
    return PLAIN;
}

static enum unit measure_find_unit(const char *name)
{
    if (measure_training_unit(name))
        return measure_training_unit(name);
    if (pr_text_ends_with(name, "mb_per_second") ||
        pr_text_ends_with(name, "gb_per_second"))
        return RATE;
    if (strstr(name, "per_second") || strstr(name, "per_s"))
        return PLAIN;
    if (pr_text_ends_with(name, "utilisation") ||
        pr_text_ends_with(name, "_share"))
        return SHARE;
    if (pr_text_ends_with(name, "_percentage") ||
        pr_text_ends_with(name, "_pct"))
        return PERCENT;
    if (strstr(name, "bytes"))
        return BYTES;
    if (pr_text_ends_with(name, "seconds") || pr_text_ends_with(name, "_s"))
        return SECONDS;
    if (strstr(name, "_ms"))
        return MILLI;
    return strstr(name, "_us") ? MICRO : PLAIN;
}

static const char *rate_unit(const char *name)
{
    return pr_text_ends_with(name, "gb_per_second") ? "GB/s" : "MB/s";
}

bool pr_measure_text(const char *name, const struct pr_value *v,
                     char out[static 64])
{
    double f = pr_value_is_number(v) ? pr_value_number(v) : (double)NAN;
    enum unit unit = measure_find_unit(name);
    char text[24];

    if (!isfinite(f))
        return false;
    if (unit == SHARE || unit == PERCENT)
        snprintf(out, 64, "%.1f %%", unit == SHARE ? 100 * f : f);
    else if (unit == RATE)
        snprintf(out, 64, "%.4g %s", f, rate_unit(name));
    else if (unit == BYTES && f >= 0 && f < 1.8e19)
        snprintf(out, 64, "%s", pr_format_bytes(text, (uint64_t)f));
    else if (unit == SECONDS && f >= 0)
        snprintf(out, 64, "%s", pr_format_seconds(text, f));
    else if (unit == MILLI || unit == MICRO)
        snprintf(out, 64, "%.4g %s", f, unit == MILLI ? "ms" : "µs");
    else if (unit == FLOP || unit == FLOP_RATE)
        snprintf(out, 64, "%.4g GFLOP%s", f / 1e9, unit == FLOP ? "" : "/s");
    else if (v->kind == PR_INT)
        snprintf(out, 64, "%lld", (long long)v->i);
    else
        snprintf(out, 64, "%.6g", f);
    return true;
}

/* Cuts "_ms" or the like out of a name. */
static void measure_cut_word(char *name, const char *word)
{
    size_t n = strlen(word);

    for (char *at = name; (at = strstr(at, word)); at++)
        if (at > name && (at[n] == '_' || !at[n])) {
            memmove(at, at + n, strlen(at + n) + 1);
            return;
        }
}

const char *pr_measure_label(const char *name, char out[static 96])
{
    static const char *const words[] = {
        [PERCENT] = "_percentage", [BYTES] = "_bytes", [SECONDS] = "_s",
        [MILLI] = "_ms",           [MICRO] = "_us",    [FLOP_RATE] = NULL,
    };
    enum unit unit = measure_find_unit(name);

    /* The unit of a time depends on its size. */
    snprintf(out, 96, "%.95s", strcmp(name, "seconds") ? name : "duration");
    if (words[unit])
        measure_cut_word(out, words[unit]);
    if (unit == RATE) /* "mb_per_second", "gb_per_second" */
        snprintf(out + strlen(out) - 13, 8, "rate");
    for (char *p = out; *p; p++)
        if (*p == '_')
            *p = ' ';
    return out;
}

static enum pr_table_column_kind measure_column_kind(const char *name,
                                                     const struct pr_value *v)
{
    switch (measure_find_unit(name)) {
    case SHARE:
    case PERCENT:
        return PR_COL_PERCENT;
    case BYTES:
        return PR_COL_BYTES;
    case SECONDS:
        return PR_COL_SECONDS;
    default:
        return v->kind == PR_INT       ? PR_COL_INT
               : pr_value_is_number(v) ? PR_COL_FLOAT
                                       : PR_COL_STR;
    }
}

struct layout {
    struct pr_table_column cols[MAX_COLUMNS];
    char labels[MAX_COLUMNS][96];
    size_t count;
};

static size_t measure_find_column(const struct layout *l, const char *key)
{
    size_t i = 0;

    while (i < l->count && strcmp(l->cols[i].key, key) != 0)
        i++;
    return i;
}

static void measure_add_column(struct layout *l, const char *key,
                               const struct pr_value *v)
{
    if (l->count == MAX_COLUMNS || measure_find_column(l, key) < l->count)
        return;
    l->cols[l->count] = (struct pr_table_column){
        .title = pr_measure_label(key, l->labels[l->count]),
        .kind = measure_column_kind(key, v),
        .unit = measure_find_unit(key) == MILLI   ? "ms"
                : measure_find_unit(key) == MICRO ? "us"
                : measure_find_unit(key) == RATE  ? rate_unit(key)
                                                  : NULL,
        .key = key};
    l->count++;
}

/* People get a share in percent, a program gets it as it is. */
static void measure_set_cell(struct pr_table *t, size_t col, const char *key,
                             bool people, const struct pr_value *v)
{
    bool share = people && measure_find_unit(key) == SHARE;

    if (v->kind == PR_INT && !share)
        pr_table_set_int(t, col, v->i);
    else if (pr_value_is_number(v))
        pr_table_set_float(t, col, pr_value_number(v) * (share ? 100 : 1));
    else if (v->kind == PR_STR)
        pr_table_set_strn(t, col, v->s, v->len);
}

static void measure_fill_table(struct pr_table *t, const struct layout *l,
                               bool people, const struct pr_value *list)
{
    for (uint32_t i = 0; i < list->len; i++) {
        const struct pr_value *row = &list->items[i];

        if (row->kind != PR_MAP)
            continue;
        pr_table_row(t);
        for (uint32_t k = 0; k < row->len; k++) {
            size_t col = measure_find_column(l, row->members[k].key);
            if (col < l->count)
                measure_set_cell(t, col, row->members[k].key, people,
                                 &row->members[k].value);
        }
    }
}

int pr_measure_rows(const struct pr_value *list, enum pr_table_format format,
                    const struct pr_table_style *style, struct pr_buf *out,
                    struct pr_err *err)
{
    struct layout l = {.count = 0};
    struct pr_table *t;
    int rc;

    for (uint32_t i = 0; list->kind == PR_LIST && i < list->len; i++)
        for (uint32_t k = 0;
             list->items[i].kind == PR_MAP && k < list->items[i].len; k++)
            measure_add_column(&l, list->items[i].members[k].key,
                               &list->items[i].members[k].value);
    if (!l.count)
        return PR_OK;
    t = pr_table_new(l.cols, l.count);
    if (!t)
        return pr_fail_nomem(err);
    measure_fill_table(
        t, &l, format == PR_TABLE_TEXT || format == PR_TABLE_MARKDOWN, list);
    rc = pr_table_print(t, format, style, out, err);
    pr_table_free(t);
    return rc;
}

/* ---- by accelerator */

/* {"utilisation": {"min": …, "mean": …, "max": …}}: one row a figure. */
static int measure_print_spreads(const struct pr_value *map,
                                 enum pr_table_format format,
                                 const struct pr_table_style *style,
                                 struct pr_buf *out, struct pr_err *err)
{
    static const struct pr_table_column cols[] = {
        {"figure", PR_COL_STR, NULL, PR_ALIGN_AUTO, "figure"},
        {"min", PR_COL_STR, NULL, PR_ALIGN_RIGHT, "min"},
        {"mean", PR_COL_STR, NULL, PR_ALIGN_RIGHT, "mean"},
        {"max", PR_COL_STR, NULL, PR_ALIGN_RIGHT, "max"}};
    struct pr_table *t = pr_table_new(cols, 4);
    char text[96];
    int rc;

    if (!t)
        return pr_fail_nomem(err);
    for (uint32_t i = 0; i < map->len; i++) {
        const struct pr_member *m = &map->members[i];
        if (m->value.kind != PR_MAP)
            continue;
        pr_table_row(t);
        pr_table_set_str(t, 0, pr_measure_label(m->key, text));
        for (size_t c = 1; c < 4; c++) {
            const struct pr_value *v = pr_get(&m->value, cols[c].key);
            if (v && pr_measure_text(m->key, v, text))
                pr_table_set_str(t, c, text);
        }
    }
    rc = pr_table_rows(t) ? pr_table_print(t, format, style, out, err) : PR_OK;
    pr_table_free(t);
    return rc;
}

int pr_measure_lists(const struct pr_value *map, enum pr_table_format format,
                     const struct pr_table_style *style, struct pr_buf *out,
                     struct pr_err *err)
{
    struct layout l = {.count = 0};
    struct pr_value number = pr_int(0);
    struct pr_table *t;
    uint32_t rows = 0;
    int rc;

    measure_add_column(&l, "accelerator", &number);
    for (uint32_t i = 0; i < map->len; i++) {
        const struct pr_value *v = &map->members[i].value;
        if (v->kind != PR_LIST || !v->len)
            continue;
        measure_add_column(&l, map->members[i].key, &v->items[0]);
        rows = v->len > rows ? v->len : rows;
    }
    if (!rows)
        return measure_print_spreads(map, format, style, out, err);
    t = pr_table_new(l.cols, l.count);
    if (!t)
        return pr_fail_nomem(err);
    for (uint32_t r = 0; r < rows; r++) {
        pr_table_row(t);
        pr_table_set_int(t, 0, r);
        for (size_t c = 1; c < l.count; c++) {
            const struct pr_value *v = pr_get(map, l.cols[c].key);
            if (v && v->kind == PR_LIST && r < v->len)
                measure_set_cell(t, c, l.cols[c].key, true, &v->items[r]);
        }
    }
    rc = pr_table_print(t, format, style, out, err);
    pr_table_free(t);
    return rc;
}
