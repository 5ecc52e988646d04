/*
 * A whole channel, line by line: parameters to the caller, rates gathered,
 * what is not understood counted.
 */
#include "record/channel.h"

#include "base/json/json.h"
#include "base/mem.h"
#include "record/channel_rates.h"
#include "record/channel_row.h"
#include "record/channel_timings.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    MAX_NAME = 512,
    MAX_RATES = 1 << 20, /* as JSON */
};

static const char prefix[] = "results.";

struct pr_channel_scanner {
    const char *name;
    pr_log_param *param;
    void *ctx;
    struct pr_arena *arena; /* of one line */
    struct pr_buf line;     /* the beginning of a line that goes on */
    uint64_t number;        /* of the line, empty ones counted */
    bool too_long;          /* the line is */
    struct pr_channel_rates rates;
    struct pr_channel_timings timings;
    struct pr_channel_sum sum;
};

struct pr_channel_scanner *
pr_channel_scanner_new(const char *name, pr_log_param *param, void *ctx)
{
    struct pr_channel_scanner *s = pr_alloc_zeroed(sizeof *s);

    if (!s)
        return NULL;
    s->name = name;
    s->param = param;
    s->ctx = ctx;
    s->line = (struct pr_buf)PR_BUF_INIT(PR_LOG_MAX_LINE);
    s->arena = pr_arena_new(16384);
    if (!s->arena) {
        pr_free(s);
        return NULL;
    }
    return s;
}

void pr_channel_scanner_free(struct pr_channel_scanner *s)
{
    if (!s)
        return;
    pr_channel_rates_close(&s->rates);
    pr_channel_timings_close(&s->timings);
    pr_buf_free(&s->line);
    pr_arena_free(s->arena);
    pr_free(s);
}

static void channel_count_bad(struct pr_channel_scanner *s,
                              const struct pr_err *e)
{
    struct pr_channel_sum *sum = &s->sum;

    if (sum->bad++ > 0)
        return;
    sum->first_bad_line = s->number;
    sum->first_bad = *e;
    snprintf(sum->first_bad.where, sizeof sum->first_bad.where, "%.200s:%llu",
             s->name, (unsigned long long)s->number);
}

static void channel_count_bad_line(struct pr_channel_scanner *s,
                                   const char *words)
{
    struct pr_err e = {0};

    (void)!pr_fail(&e, PR_E_FORMAT, "", "%s", words);
    channel_count_bad(s, &e);
}

static int channel_set_param(struct pr_channel_scanner *s, const char *key,
                             size_t len, const struct pr_value *value,
                             struct pr_err *err)
{
    s->sum.params++;
    return s->param ? s->param(s->ctx, key, len, value, err) : PR_OK;
}

static bool channel_is_param_name(const char *key, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)key[i] < 0x20 || key[i] == 0x7f)
            return false;
    return len > 0 && len <= MAX_NAME;
}

/* A plain name is one of results; that of a warning is known to all. */
static int channel_read_member(struct pr_channel_scanner *s,
                               const struct pr_member *m, struct pr_err *err)
{
    char full[sizeof prefix + MAX_NAME];

    if (!channel_is_param_name(m->key, m->key_len)) {
        channel_count_bad_line(
            s, "a name is empty, too long or has control characters");
        return PR_OK;
    }
    if (memchr(m->key, '.', m->key_len) ||
        (strcmp(m->key, "warning") == 0 && m->value.kind == PR_STR))
        return channel_set_param(s, m->key, m->key_len, &m->value, err);
    memcpy(full, prefix, sizeof prefix - 1);
    memcpy(full + sizeof prefix - 1, m->key, m->key_len);
    return channel_set_param(s, full, sizeof prefix - 1 + m->key_len, &m->value,
                             err);
}

static int channel_read_rate(struct pr_channel_scanner *s,
                             const struct pr_channel_row *row,
                             struct pr_err *err)
{
    const struct pr_value *task = row->task, *units = row->units;
    bool named = task && task->len;
    double rate = pr_value_number(row->rate);
    int rc;

    if (!isfinite(rate)) {
        channel_count_bad_line(s, "a rate is not finite");
        return PR_OK;
    }
    rc = pr_channel_rates_add(&s->rates, named ? task->s : "main",
                              named ? task->len : 4, units ? units->s : "",
                              units ? units->len : 0, rate);
    if (rc < 0)
        return pr_fail_nomem(err);
    s->sum.dropped += rc == 0;
    return pr_channel_timings_add(&s->timings, row, err);
}

/* What went wrong in there, as its words have it. */
static int channel_read_error(struct pr_channel_scanner *s,
                              const struct pr_value *data, struct pr_err *err)
{
    const struct pr_value *type = pr_get(data, "type");
    const struct pr_value *words = pr_get(data, "message");
    struct pr_value text;
    const char *t;

    if (!words || words->kind != PR_STR)
        return PR_OK;
    t = pr_arena_printf(s->arena, "%s%s%s",
                        type && type->kind == PR_STR ? type->s : "",
                        type && type->kind == PR_STR ? ": " : "", words->s);
    if (!t)
        return pr_fail_nomem(err);
    text = pr_str(t);
    return channel_set_param(s, "warning", 7, &text, err);
}

static int channel_read_row(struct pr_channel_scanner *s,
                            const struct pr_value *line, struct pr_err *err)
{
    struct pr_channel_row row = pr_channel_row_read(line);
    int rc = PR_OK;

    if (row.event && row.data && strcmp(row.event, "error") == 0)
        return channel_read_error(s, row.data, err);
    if (row.event || !row.data)
        return PR_OK;
    if (row.machine) {
        s->sum.machine++;
        return PR_OK;
    }
    if (row.rate)
        rc = channel_read_rate(s, &row, err);
    for (uint32_t i = 0; !rc && i < row.data->len; i++)
        if (!pr_channel_row_owns(&row, row.data->members[i].key))
            rc = channel_read_member(s, &row.data->members[i], err);
    return rc;
}

static bool channel_is_blank_line(const char *p, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (p[i] != ' ' && p[i] != '\t' && p[i] != '\r')
            return false;
    return true;
}

static int channel_read_line(struct pr_channel_scanner *s, const char *p,
                             size_t len, struct pr_err *err)
{
    struct pr_json_in in = {.text = p, .len = len, .name = s->name};
    struct pr_value line;
    struct pr_err why = {0};
    int rc;

    if (channel_is_blank_line(p, len))
        return PR_OK;
    s->sum.lines++;
    rc = pr_json_read(&in, s->arena, &line, NULL, &why);
    if (!rc && line.kind != PR_MAP) {
        channel_count_bad_line(s, "not a JSON object");
    } else if (!rc) {
        rc = channel_read_row(s, &line, err);
    } else if (rc == PR_E_FORMAT) {
        channel_count_bad(s, &why);
        rc = PR_OK;
    } else if (err) {
        *err = why;
    }
    pr_arena_reset(s->arena);
    return rc;
}

/* Keeps a part of a line whose end has not come yet. */
static int channel_keep_part(struct pr_channel_scanner *s, const char *p,
                             size_t len, struct pr_err *err)
{
    if (s->too_long)
        return PR_OK;
    pr_buf_add(&s->line, p, len);
    if (pr_buf_ok(&s->line))
        return PR_OK;
    if (!s->line.over)
        return pr_fail_nomem(err);
    s->too_long = true;
    pr_buf_free(&s->line);
    return PR_OK;
}

/* The line ends after these last bytes of it. */
static int channel_end_line(struct pr_channel_scanner *s, const char *p,
                            size_t len, struct pr_err *err)
{
    int rc = PR_OK;

    s->number++;
    if (!s->line.len && !s->too_long && len <= PR_LOG_MAX_LINE)
        return channel_read_line(s, p, len, err);
    rc = channel_keep_part(s, p, len, err);
    if (s->too_long) {
        s->sum.lines++;
        channel_count_bad_line(s, "the line is too long");
    } else if (!rc) {
        rc = channel_read_line(s, s->line.data, s->line.len, err);
    }
    pr_buf_clear(&s->line);
    s->too_long = false;
    return rc;
}

int pr_channel_scanner_feed(struct pr_channel_scanner *s, const char *bytes,
                            size_t len, struct pr_err *err)
{
    const char *p = bytes, *end = bytes + len;

    while (p < end) {
        const char *nl = memchr(p, '\n', (size_t)(end - p));
        int rc;

        if (!nl)
            return channel_keep_part(s, p, (size_t)(end - p), err);
        rc = channel_end_line(s, p, (size_t)(nl - p), err);
        if (rc)
            return rc;
        p = nl + 1;
    }
    return PR_OK;
}

/* One figure a task for tables, in results.TASK_rate. */
static int set_medians(struct pr_channel_scanner *s, struct pr_err *err)
{
    for (size_t i = 0; i < s->rates.count; i++) {
        char full[sizeof prefix + PR_CHANNEL_RATES_TITLE + 8];
        struct pr_value median =
            pr_float(pr_channel_rates_median(&s->rates, i));
        int n = snprintf(full, sizeof full, "%s%s_rate", prefix,
                         s->rates.series[i].title);
        int rc = channel_set_param(s, full, (size_t)n, &median, err);
        if (rc)
            return rc;
    }
    return PR_OK;
}

/* What tells when it was measured is a timing of a suite's test, too. */
static int set_timings(struct pr_channel_scanner *s, struct pr_err *err)
{
    char name[sizeof prefix + PR_CHANNEL_TIMING_NAME + 16];
    struct pr_value v;
    int rc = 1;

    for (size_t i = 0; rc > 0 && i < s->timings.count; i++) {
        rc =
            pr_channel_timings_get(&s->timings, i, s->arena, name + 8, &v, err);
        if (rc <= 0)
            continue;
        memcpy(name, prefix, 8);
        rc = channel_set_param(s, name, strlen(name), &v, err);
        rc = rc ? rc : 1;
    }
    pr_arena_reset(s->arena);
    return rc < 0 ? rc : PR_OK;
}

int pr_channel_scanner_finish(struct pr_channel_scanner *s,
                              struct pr_channel_sum *ret, struct pr_err *err)
{
    bool open = s->line.len || s->too_long;
    struct pr_buf rates = PR_BUF_INIT(MAX_RATES);
    int rc = open ? channel_end_line(s, "", 0, err) : PR_OK;

    if (rc)
        return rc;
    pr_channel_rates_write(&s->rates, &rates);
    rc = pr_buf_ok(&rates) ? set_medians(s, err) : pr_fail_nomem(err);
    if (!rc)
        rc = set_timings(s, err);
    if (rc) {
        pr_buf_free(&rates);
        return rc;
    }
    *ret = s->sum;
    ret->rates = rates;
    return PR_OK;
}
