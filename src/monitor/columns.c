/*
 * What is seen, from the files of the kernel to the summary: reading these
 * files, the columns with their values in this look and their sums over the
 * experiment, and asking the sources.
 */
#include "monitor/columns.h"

#include "base/clock.h"
#include "base/json/json.h"
#include "base/mem.h"
#include "monitor/monitor_source.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- files of /proc and /sys, read again and again through one descriptor */

/* The kernel gives tables in pieces of a page, each piece as full as the next
 * row allows. One shorter than this is the last: the read that would say so
 * can be spared. */
enum { SHORT_PIECE = 1024, ROOM = 8192 };

static int kernel_file_open_below(const char *root, const char *path)
{
    char full[PATH_MAX];

    if (snprintf(full, sizeof(full), "%s%s", root, path) >= (int)sizeof(full)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return open(full, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

void pr_kernel_file_close(struct pr_kernel_file *k)
{
    if (k->fd_plus_1)
        close(k->fd_plus_1 - 1);
    *k = (struct pr_kernel_file){0};
}

static bool kernel_file_read_all(int fd, struct pr_buf *out)
{
    pr_buf_clear(out);
    for (;;) {
        ssize_t n;

        if (!pr_buf_reserve(out, ROOM))
            return false;
        n = pread(fd, out->data + out->len, out->cap - out->len - 1,
                  (off_t)out->len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        out->len += (size_t)n;
        if (n < SHORT_PIECE)
            break;
    }
    out->data[out->len] = '\0';
    return out->len > 0;
}

const char *pr_kernel_file_read(struct pr_monitor_sample *l,
                                struct pr_kernel_file *k, const char *path,
                                size_t *ret_len)
{
    if (!k->fd_plus_1 && k->tried && !l->rescan)
        return NULL;
    if (!k->fd_plus_1)
        k->fd_plus_1 = kernel_file_open_below(l->root, path) + 1;
    if (!k->fd_plus_1 || !kernel_file_read_all(k->fd_plus_1 - 1, l->text)) {
        pr_kernel_file_close(k);
        k->tried = true;
        return NULL;
    }
    if (ret_len)
        *ret_len = l->text->len;
    return l->text->data;
}

bool pr_kernel_file_number(struct pr_monitor_sample *l,
                           struct pr_kernel_file *k, const char *path,
                           double *ret)
{
    const char *text = pr_kernel_file_read(l, k, path, NULL);
    char *end;
    long long v;

    if (!text)
        return false;
    errno = 0;
    v = strtoll(text, &end, 10);
    if (end == text || errno || (*end && !isspace((unsigned char)*end)))
        return false;
    *ret = (double)v;
    return true;
}

bool pr_kernel_file_read_line(struct pr_monitor_sample *l, const char *path,
                              char *out, size_t cap)
{
    int fd = kernel_file_open_below(l->root, path);
    ssize_t n;

    if (fd < 0)
        return false;
    n = read(fd, out, cap - 1);
    close(fd);
    if (n <= 0)
        return false;
    out[n] = '\0';
    out[strcspn(out, "\n")] = '\0';
    return true;
}

void pr_kernel_file_each_entry(
    struct pr_monitor_sample *l, const char *path, const char *prefix,
    void (*each)(void *ctx, struct pr_monitor_sample *l, const char *name),
    void *ctx)
{
    char full[PATH_MAX];
    struct dirent *e;
    DIR *d;

    if (snprintf(full, sizeof(full), "%s%s", l->root, path) >=
        (int)sizeof(full))
        return;
    d = opendir(full);
    while (d && (e = readdir(d)))
        if (strncmp(e->d_name, prefix, strlen(prefix)) == 0)
            each(ctx, l, e->d_name);
    if (d)
        closedir(d);
}

const char *pr_kernel_file_label(char *out, size_t cap, const char *label)
{
    size_t n = 0;

    for (; *label && n + 1 < cap; label++) {
        unsigned char c = (unsigned char)*label;

        out[n++] = (c < 128 && isalnum(c)) || strchr("._-", c)
                       ? (char)tolower(c)
                       : '_';
    }
    out[n] = '\0';
    return out;
}

/* ---- columns */

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

void *pr_monitor_list_reserve(void *list, size_t n, size_t *cap, size_t most,
                              size_t bytes)
{
    size_t more = *cap ? 2 * *cap : 16;
    void *r;

    if (n < *cap)
        return list;
    r = more <= most ? pr_realloc(list, more * bytes) : NULL;
    if (r)
        *cap = more;
    return r;
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
    struct pr_monitor_column_state *list;
    size_t len = strlen(column->name);
    uint32_t id = pr_names_find(c->names, column->name, len);

    if (id != PR_NO_NAME)
        return (int)id;
    if (!is_plain_column_name(column->name))
        return -1;
    list = pr_monitor_list_reserve(c->cols, c->n, &c->cap,
                                   PR_MONITOR_COLUMNS_MAX, sizeof(*list));
    if (!list)
        return -1;
    c->cols = list;
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

/* ---- sums over an experiment: means over time, extremes, totals, joules */

static void column_add_sample(struct pr_monitor_column_state *s,
                              const struct pr_monitor_source_sampled *l)
{
    double dt = l->dt;

    s->fresh = false;
    s->seconds += dt;
    s->integral += s->value * dt;
    s->total += isnan(s->amount) ? s->value * dt : s->amount;
    if (s->is.sum == PR_SUM_BITS && s->value > 0) {
        s->bits |= (uint64_t)s->value;
        s->set_seconds += dt;
    }
    if (l->extreme && s->value < s->min)
        s->min = s->value;
    if (l->extreme && s->value > s->max)
        s->max = s->value;
}

void pr_monitor_columns_add(struct pr_monitor_columns *c,
                            const struct pr_monitor_source_sampled *by_source)
{
    for (size_t i = 0; i < c->n; i++) {
        struct pr_monitor_column_state *s = &c->cols[i];
        const struct pr_monitor_source_sampled *l = &by_source[s->source];

        if (l->looked && l->dt > 0 && s->set)
            column_add_sample(s, l);
    }
}

static void write_column_number(struct pr_json_writer *jb, const char *key,
                                double v, unsigned digits)
{
    double unit = pow(10, digits);

    v = round(v * unit) / unit;
    if (!isfinite(v))
        return;
    if (v == round(v) && fabs(v) < 9e15)
        pr_json_put_int(jb, key, (int64_t)v);
    else
        pr_json_put_float(jb, key, v);
}

static void write_column_bits(const struct pr_monitor_column_state *s,
                              double seconds, struct pr_json_writer *jb)
{
    char words[160] = "";

    write_column_number(jb, "share", s->set_seconds / seconds, 4);
    pr_json_put_uint(jb, "bits", s->bits);
    if (s->bits && s->is.words)
        s->is.words(s->bits, words);
    if (*words)
        pr_json_put_str(jb, "words", words);
}

/* A source that is asked rarely may have been asked only once, at the
 * beginning: that is its mean, then. */
static struct pr_monitor_column_state
settle_column(const struct pr_monitor_column_state *s)
{
    struct pr_monitor_column_state r = *s;

    if (r.seconds == 0 && r.fresh && r.set && r.is.sum != PR_SUM_RATE) {
        struct pr_monitor_source_sampled once = {true, 1, true};

        column_add_sample(&r, &once);
    }
    /* Only ever seen for too short a time. */
    if (r.seconds > 0 && r.max < r.min)
        r.min = r.max = r.integral / r.seconds;
    return r;
}

static void write_column_sum(const struct pr_monitor_column_state *s,
                             struct pr_json_writer *jb)
{
    unsigned digits = s->is.decimals;

    pr_json_open_object(jb, s->is.name);
    if (s->is.sum == PR_SUM_BITS) {
        write_column_bits(s, s->seconds, jb);
    } else {
        if (s->is.flags & PR_MONITOR_COLUMN_MIN)
            write_column_number(jb, "min", s->min, digits);
        write_column_number(jb, "mean", s->integral / s->seconds, digits);
        if (s->is.sum == PR_SUM_LOW)
            write_column_number(jb, "min", s->min, digits);
        else
            write_column_number(jb, "max", s->max, digits);
        if (s->is.sum == PR_SUM_RATE)
            write_column_number(jb, "total", s->total, digits);
    }
    pr_json_close(jb);
}

void pr_monitor_columns_write_sums(const struct pr_monitor_columns *c,
                                   struct pr_json_writer *jb)
{
    double joules = 0;
    bool any = false;

    for (size_t i = 0; i < c->n; i++) {
        struct pr_monitor_column_state s = settle_column(&c->cols[i]);

        if (s.is.sum == PR_SUM_NONE || s.seconds == 0)
            continue;
        write_column_sum(&s, jb);
        if (s.is.flags & PR_MONITOR_COLUMN_ENERGY) {
            joules += s.total;
            any = true;
        }
    }
    if (any)
        write_column_number(jb, "energy_j", joules, 3);
}

/* ---- asking the sources */

#define SOURCE(n) extern const struct pr_monitor_source pr_source_##n;
#include "monitor/source_list.def"
#undef SOURCE

static const struct pr_monitor_source *const sources[PR_SOURCES] = {
#define SOURCE(n) &pr_source_##n,
#include "monitor/source_list.def"
#undef SOURCE
};

enum {
    RESCAN_NS = 1000000000,
    REST = 20, /* a source rests so many times longer than it took */
    QUICK_NS = 10000000,
    TEXT_BYTES = 16 << 20,
};

const struct pr_monitor_source *pr_monitor_source_at(unsigned i)
{
    return sources[i];
}

bool pr_monitor_sources_init(struct pr_monitor_sources *l, const char *root)
{
    size_t len = root ? strlen(root) : 0;
    bool ok;

    *l = (struct pr_monitor_sources){.text = PR_BUF_INIT(TEXT_BYTES)};
    atomic_init(&l->asking, "");
    ok = pr_monitor_columns_init(&l->columns);
    l->root = pr_alloc_zeroed(len + 1);
    if (l->root && len)
        memcpy(l->root, root, len);
    for (unsigned i = 0; i < PR_SOURCES; i++) {
        l->of[i].state = pr_alloc_zeroed(sources[i]->state_bytes);
        ok = ok && l->of[i].state;
    }
    if (!ok || !l->root) {
        pr_monitor_sources_close(l);
        return false;
    }
    return true;
}

void pr_monitor_sources_close(struct pr_monitor_sources *l)
{
    for (unsigned i = 0; i < PR_SOURCES; i++) {
        if (l->of[i].state && sources[i]->close)
            sources[i]->close(l->of[i].state);
        pr_free(l->of[i].state);
        l->of[i].state = NULL;
    }
    pr_monitor_columns_close(&l->columns);
    pr_buf_free(&l->text);
    pr_free(l->root);
    pr_free(l->ours);
    l->root = NULL;
    l->ours = NULL;
}

void pr_monitor_sources_begin(struct pr_monitor_sources *l)
{
    pr_monitor_columns_clear(&l->columns);
    l->last = false;
    l->used_s = 0;
    l->at_ns = 0;
    for (unsigned i = 0; i < PR_SOURCES; i++) {
        l->of[i].last_ns = 0;
        l->of[i].rescan_ns = 0;
        l->of[i].rest_ns = 0;
    }
}

/* A source with a period is not put off by looks that come a little early. The
 * last look is for the totals, and is worth a moment. */
static bool is_source_due(const struct pr_monitor_sources *l, unsigned i,
                          uint64_t now, double interval_s)
{
    double since = (double)(now - l->of[i].last_ns) / 1e9;

    if (!l->of[i].last_ns)
        return true;
    if (l->last && l->of[i].took_ns < QUICK_NS && sources[i]->period_s == 0)
        return true;
    return now >= l->of[i].rest_ns &&
           since >= sources[i]->period_s - interval_s / 2;
}

/* A device that is slow is slow every time; once, somebody else may have had
 * the processor, or devices were looked for. */
static uint64_t source_rest_ns(uint64_t took, uint64_t before)
{
    return REST * (took < before ? took : before);
}

static void sample_source(struct pr_monitor_sources *l, unsigned i,
                          struct pr_monitor_sample *look, double interval_s)
{
    uint64_t now = pr_clock_ns(), took;

    l->looked[i] = (struct pr_monitor_source_sampled){0};
    if (!is_source_due(l, i, now, interval_s))
        return;
    look->dt = l->of[i].last_ns ? (double)(now - l->of[i].last_ns) / 1e9 : 0;
    look->rescan = now >= l->of[i].rescan_ns;
    if (look->rescan)
        l->of[i].rescan_ns = now + RESCAN_NS;
    pr_monitor_columns_begin_source(&l->columns, i);
    atomic_store_explicit(&l->asking, sources[i]->name, memory_order_relaxed);
    sources[i]->sample(l->of[i].state, look);
    took = pr_clock_ns() - now;
    l->looked[i] = (struct pr_monitor_source_sampled){
        true, look->dt, look->dt >= interval_s / 2};
    l->of[i].dt = look->dt;
    l->of[i].last_ns = now;
    l->of[i].rest_ns = now + source_rest_ns(took, l->of[i].took_ns);
    l->of[i].took_ns = took;
}

/* ---- following */

/* Our column for one of the lead's; -1: there is no room. */
static int find_follower_column(struct pr_monitor_sources *l,
                                struct pr_monitor_sample *look, size_t theirs)
{
    if (theirs >= l->n_ours) {
        size_t n = l->lead->columns.n + 16;
        int *more = pr_realloc(l->ours, n * sizeof(*more));

        if (!more)
            return -1;
        for (size_t i = l->n_ours; i < n; i++)
            more[i] = -1;
        l->ours = more;
        l->n_ours = n;
    }
    if (l->ours[theirs] < 0)
        l->ours[theirs] =
            pr_monitor_sample_column(look, &l->lead->columns.cols[theirs].is);
    return l->ours[theirs];
}

/* What came in over another time than the lead's look tells of is in
 * proportion to it: an experiment began in between, or missed a look. */
static double scale_lead_amount(const struct pr_monitor_column_state *s,
                                double dt, double lead_dt)
{
    bool same = dt > 0.99 * lead_dt && dt < 1.01 * lead_dt;

    return same || lead_dt <= 0 ? s->amount : s->amount * (dt / lead_dt);
}

static void follow_lead_source(struct pr_monitor_sources *l, unsigned i,
                               struct pr_monitor_sample *look,
                               double interval_s)
{
    const struct pr_monitor_sources *lead = l->lead;
    uint64_t then = lead->of[i].last_ns, before = l->of[i].last_ns;
    double dt = before && then > before ? (double)(then - before) / 1e9 : 0;

    l->looked[i] = (struct pr_monitor_source_sampled){0};
    if (!then || (before && then <= before))
        return;
    pr_monitor_columns_begin_source(&l->columns, i);
    for (size_t k = 0; k < lead->columns.n; k++) {
        const struct pr_monitor_column_state *s = &lead->columns.cols[k];

        if (s->source == i && s->set)
            pr_monitor_sample_set_rate(
                look, find_follower_column(l, look, k), s->value,
                scale_lead_amount(s, dt, lead->of[i].dt));
    }
    l->looked[i] =
        (struct pr_monitor_source_sampled){true, dt, dt >= interval_s / 2};
    /* What the lead saw before our time is not ours. */
    l->of[i].last_ns = before || then >= l->at_ns ? then : l->at_ns;
}

/* Whether the lead has looked for somebody else since. */
static bool has_lead_news(const struct pr_monitor_sources *l)
{
    for (unsigned i = 0; i < PR_SOURCES; i++)
        if (l->lead->of[i].last_ns > l->of[i].last_ns)
            return true;
    return false;
}

/* Unless somebody else has just had it done: what came in over a moment says
 * little of the time before it. Who is alone has a last look for the totals. */
static void sample_lead(struct pr_monitor_sources *l, double interval_s)
{
    struct pr_monitor_sources *lead = l->lead;
    uint64_t fresh_ns = (uint64_t)(interval_s / 4 * 1e9);

    if (lead->at_ns && (!l->last || has_lead_news(l)) &&
        pr_clock_ns() - lead->at_ns < fresh_ns)
        return;
    lead->last = l->last;
    pr_monitor_sources_sample(lead, interval_s, 0);
    lead->last = false;
}

void pr_monitor_sources_sample(struct pr_monitor_sources *l, double interval_s,
                               int pid)
{
    struct pr_monitor_sample look = {.root = l->root,
                                     .pid = pid,
                                     .used_s = l->used_s,
                                     .columns = &l->columns,
                                     .text = &l->text};

    l->at_ns = pr_clock_ns();
    if (l->lead)
        sample_lead(l, interval_s);
    for (unsigned i = 0; i < PR_SOURCES; i++)
        if (l->lead && i != PR_SOURCE_job)
            follow_lead_source(l, i, &look, interval_s);
        else if (!l->leads || i != PR_SOURCE_job)
            sample_source(l, i, &look, interval_s);
    atomic_store_explicit(&l->asking, "", memory_order_relaxed);
    if (!l->leads)
        pr_monitor_columns_add(&l->columns, l->looked);
}
