/* DLBS's series. Sizes are in KiB, as top has them, and processors in percent
 * of one; power is in watts. What is not known is -1. */
#include "monitor/timeseries.h"

#include "base/json/json.h"
#include "base/mem.h"
#include "base/units.h"
#include "base/value.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { SERIES_MAX = 64, NAME_BYTES = 64, BYTES_MAX = 64 << 20 };

enum { PID, TIME, VIRT, RES, SHRD, CPU, MEM, POWER, GPUS, GPUS_MAX = 64 };

enum type { STR, INT, FLOAT, BOOL, TYPES };

static const char *const type_names[TYPES] = {"str", "int", "float", "bool"};

struct series {
    char name[NAME_BYTES];
    enum type type;
    int64_t index;
    bool list, to_end;
    int64_t count;
    struct pr_buf text; /* without the brackets */
};

struct pr_timeseries {
    struct series series[SERIES_MAX];
    size_t n, lines;
};

static int fail_timeseries_item(struct pr_err *err, const char *item,
                                const char *why)
{
    pr_fail(err, PR_E_CONF, "monitor.timeseries",
            "'%.80s' in monitor.timeseries %s", item, why);
    return pr_hint(err, "NAME:TYPE:INDEX[:[COUNT]], for example "
                        "'cpu:float:5' or 'gpus:float:8:'");
}

/* The next word up to a colon; false: there is none. */
static bool read_timeseries_word(const char **s, char *out, size_t cap)
{
    size_t n = strcspn(*s, ":");

    if (n >= cap)
        return false;
    memcpy(out, *s, n);
    out[n] = '\0';
    *s += n;
    return true;
}

static bool is_timeseries_name(const char *s)
{
    return *s &&
           strspn(s, "abcdefghijklmnopqrstuvwxyz"
                     "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") == strlen(s);
}

static bool read_timeseries_type(const char *s, enum type *ret)
{
    for (enum type i = STR; i < TYPES; i++) {
        if (strcmp(s, type_names[i]) == 0) {
            *ret = i;
            return true;
        }
    }
    return false;
}

static int read_timeseries_count(const char *at, const char *item,
                                 struct series *s, struct pr_err *err)
{
    s->list = *at == ':';
    s->to_end = s->list && !at[1];
    if (s->list && !s->to_end &&
        (!pr_parse_int(at + 1, &s->count) || s->count < 1 ||
         s->count > GPUS + GPUS_MAX))
        return fail_timeseries_item(err, item,
                                    "has a count that is not a number");
    if (s->type != STR && s->index <= TIME &&
        (s->index == TIME || s->to_end || s->count > TIME))
        return fail_timeseries_item(
            err, item, "takes the time, which is text, for a number");
    return PR_OK;
}

static int read_timeseries_item(const char *item, struct series *s,
                                struct pr_err *err)
{
    const char *at = item;
    char text[NAME_BYTES];

    *s = (struct series){.text = PR_BUF_INIT(BYTES_MAX)};
    if (!read_timeseries_word(&at, s->name, sizeof(s->name)) ||
        !is_timeseries_name(s->name))
        return fail_timeseries_item(err, item, "has no name that can be used");
    if (*at++ != ':' || !read_timeseries_word(&at, text, sizeof(text)) ||
        !read_timeseries_type(text, &s->type))
        return fail_timeseries_item(
            err, item, "has none of the types str, int, float, bool");
    if (*at++ != ':' || !read_timeseries_word(&at, text, sizeof(text)) ||
        !pr_parse_int(text, &s->index) || s->index < 0 ||
        s->index >= GPUS + GPUS_MAX)
        return fail_timeseries_item(err, item, "has no index into the line");
    return read_timeseries_count(at, item, s, err);
}

static int timeseries_add_item(struct pr_timeseries *t, const char *item,
                               struct pr_err *err)
{
    int rc;

    if (t->n == SERIES_MAX)
        return fail_timeseries_item(err, item, "is one series too many");
    rc = read_timeseries_item(item, &t->series[t->n], err);
    for (size_t i = 0; !rc && i < t->n; i++)
        if (strcmp(t->series[i].name, t->series[t->n].name) == 0)
            return fail_timeseries_item(err, item,
                                        "has the name of a series before it");
    t->n += rc == PR_OK;
    return rc;
}

int pr_timeseries_new(const char *text, struct pr_timeseries **ret,
                      struct pr_err *err)
{
    struct pr_timeseries *t = pr_alloc_zeroed(sizeof(*t));
    int rc = t ? PR_OK : pr_fail_nomem(err);

    while (!rc) {
        size_t n = strcspn(text, ",");
        const char *from = text, *to = text + n;
        char item[160];

        while (from < to && *from == ' ')
            from++;
        while (to > from && to[-1] == ' ')
            to--;
        snprintf(item, sizeof(item), "%.*s", (int)(to - from), from);
        rc = timeseries_add_item(t, item, err);
        if (!text[n])
            break;
        text += n + 1;
    }
    if (rc)
        pr_timeseries_free(t);
    else
        *ret = t;
    return rc;
}

void pr_timeseries_free(struct pr_timeseries *t)
{
    for (size_t i = 0; t && i < t->n; i++)
        pr_buf_free(&t->series[i].text);
    pr_free(t);
}

struct line {
    char time[40];
    double number[GPUS + GPUS_MAX];
    int64_t n;
};

static double nan_to_minus_1(double v)
{
    return isnan(v) ? -1 : v;
}

/* What the whole machine draws, else what its processors do. */
static double sum_machine_power_w(const struct pr_monitor_columns *c)
{
    double sum = NAN;

    for (size_t i = 0; i < c->n; i++) {
        const struct pr_monitor_column_state *s = &c->cols[i];

        if (!s->set || strncmp(s->is.name, "power.", 6) != 0)
            continue;
        if (strncmp(s->is.name, "power.power_meter", 17) == 0)
            return s->value;
        if (s->is.flags & PR_MONITOR_COLUMN_ENERGY)
            sum = isnan(sum) ? s->value : sum + s->value;
    }
    return sum;
}

static void format_series_time(char out[static 40], uint64_t wall_ns)
{
    time_t s = (time_t)(wall_ns / 1000000000);
    struct tm tm;
    size_t n;

    localtime_r(&s, &tm);
    n = strftime(out, 32, "%Y-%m-%d:%H:%M:%S", &tm);
    snprintf(out + n, 40 - n, ":%03u", (unsigned)(wall_ns / 1000000 % 1000));
}

static void fill_series_line(struct line *l, const struct pr_monitor_columns *c,
                             int pid, uint64_t wall_ns)
{
    double rss = pr_monitor_columns_value(c, "job.rss_bytes");

    format_series_time(l->time, wall_ns);
    l->number[PID] = pid;
    l->number[VIRT] = pr_monitor_columns_value(c, "job.virt_bytes") / 1024;
    l->number[RES] = rss / 1024;
    l->number[SHRD] = pr_monitor_columns_value(c, "job.shared_bytes") / 1024;
    l->number[CPU] = pr_monitor_columns_value(c, "job.cpu") * 100;
    l->number[MEM] = rss / pr_monitor_columns_value(c, "mem.total_bytes") * 100;
    l->number[POWER] = sum_machine_power_w(c);
    l->n = GPUS;
    /* Without any GPU there is one of which nothing is known. */
    do {
        char name[32];

        snprintf(name, sizeof(name), "gpu.%d.power_w", (int)(l->n - GPUS));
        l->number[l->n] = pr_monitor_columns_value(c, name);
        if (isnan(l->number[l->n]) && l->n > GPUS &&
            pr_names_find(c->names, name, strlen(name)) == PR_NO_NAME)
            break;
        l->n++;
    } while (l->n < GPUS + GPUS_MAX);
    for (int64_t i = 0; i < l->n; i++)
        l->number[i] = nan_to_minus_1(l->number[i]);
}

static void series_put_value(struct series *s, const struct line *l, int64_t i)
{
    double v = i < l->n ? l->number[i] : -1;
    char text[32];

    if (i == TIME) {
        pr_json_write_string(&s->text, l->time, strlen(l->time));
        return;
    }
    pr_monitor_column_text(text, v, 3);
    switch (s->type) {
    case STR:
        pr_buf_printf(&s->text, "\"%s\"", text);
        break;
    case INT:
        pr_buf_printf(&s->text, "%lld", (long long)v);
        break;
    case BOOL:
        pr_buf_str(&s->text, v != 0 ? "true" : "false");
        break;
    default:
        pr_buf_printf(&s->text, strchr(text, '.') ? "%s" : "%s.0", text);
    }
}

static void series_put_line(struct series *s, const struct line *l)
{
    int64_t end = s->to_end ? l->n : s->index + (s->list ? s->count : 1);

    if (s->text.len)
        pr_buf_str(&s->text, ", ");
    if (s->list)
        pr_buf_char(&s->text, '[');
    for (int64_t i = s->index; i < end; i++) {
        if (i > s->index)
            pr_buf_str(&s->text, ", ");
        series_put_value(s, l, i);
    }
    if (s->list)
        pr_buf_char(&s->text, ']');
}

void pr_timeseries_add_line(struct pr_timeseries *t,
                            const struct pr_monitor_columns *c, int pid,
                            uint64_t wall_ns)
{
    struct line l = {.n = 0};

    if (isnan(pr_monitor_columns_value(c, "job.rss_bytes")))
        return;
    fill_series_line(&l, c, pid, wall_ns);
    for (size_t i = 0; i < t->n; i++)
        series_put_line(&t->series[i], &l);
    t->lines++;
}

void pr_timeseries_write_log(struct pr_timeseries *t, struct pr_buf *out)
{
    for (size_t i = 0; t->lines && i < t->n; i++) {
        struct series *s = &t->series[i];

        if (!pr_buf_ok(&s->text))
            continue; /* half of a list would be no JSON */
        pr_buf_printf(out, "__results.use.%s__=[", s->name);
        if (s->text.len)
            pr_buf_add(out, s->text.data, s->text.len);
        pr_buf_str(out, "]\n");
    }
}
