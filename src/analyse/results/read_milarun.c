/*
 * One result file of milarun's, in one pass: what the summary needs is kept,
 * the rest is stepped over. Rates are folded as they come, so that a run of a
 * week takes the memory of one of a minute.
 */
#include "analyse/suite/suite_impl.h"
#include "base/json/json.h"
#include "base/json/json_read.h"
#include "base/json/json_walk.h"
#include "base/number.h"
#include "base/text.h"

#include <math.h>
#include <string.h>

/* ---- the list of rates of a rank */

/*
 * All that is exact is at its end: the slices that count. Those before are
 * passed over, or, for a curve, read roughly.
 */

/* ---- rates: the part that only a curve needs */

enum { MOST_PLACES = 18 };

static const double tenth[] = {1e0,   1e-1,  1e-2,  1e-3,  1e-4,  1e-5,  1e-6,
                               1e-7,  1e-8,  1e-9,  1e-10, 1e-11, 1e-12, 1e-13,
                               1e-14, 1e-15, 1e-16, 1e-17, 1e-18};

/* Digits before and after the point. */
struct digits {
    uint64_t all;
    unsigned places; /* after it */
};

enum { PLAIN = 32 }; /* bytes that are looked at, at most */

/* Past "318.7812345678901": up to eight digits, a point, up to sixteen, and no
 * more than eighteen in all. NULL: another number. PLAIN bytes are there. */
static const char *read_plain(const char *p, struct digits *ret)
{
    static const uint64_t tens[] = {1,      10,      100,      1000,     10000,
                                    100000, 1000000, 10000000, 100000000};
    uint32_t whole = 0, part = 0, rest = 0;
    unsigned before = pr_decimal_read_eight(p, &whole), n, more = 0;

    if (!before || p[before] != '.')
        return NULL;
    p += before + 1;
    n = pr_decimal_read_eight(p, &part);
    p += n;
    if (n == 8) {
        more = pr_decimal_read_eight(p, &rest);
        p += more;
    }
    if (!n || before + n + more > MOST_PLACES || (*p >= '0' && *p <= '9') ||
        (*p | 32) == 'e')
        return NULL;
    ret->all = (whole * tens[n] + part) * tens[more] + rest;
    ret->places = n + more;
    return p;
}

/* From the first digit to what is none; NULL: too large to be rough about. */
static const char *rates_read_digits(const char *p, const char *end,
                                     struct digits *ret)
{
    struct digits d = {0};
    bool point = false;

    for (; p < end && ((*p >= '0' && *p <= '9') || *p == '.'); p++) {
        if (*p == '.')
            point = true;
        else if (d.all < UINT64_MAX / 100 && d.places < MOST_PLACES) {
            d.all = d.all * 10 + (uint64_t)(*p - '0');
            d.places += point;
        } else if (!point)
            return NULL;
    }
    *ret = d;
    return p;
}

/* What is after the letter. */
static int rates_read_exponent(const char *p, const char *end)
{
    bool less = p < end && *p == '-';
    int e = 0;

    for (; p < end && e < 400 && *p != ','; p++)
        if (*p >= '0' && *p <= '9')
            e = e * 10 + (*p - '0');
    return less ? -e : e;
}

/* Any number, to some fifteen digits; NaN: none. */
static double read_rough_number(const char *p, const char *end)
{
    struct digits d;
    bool minus = p < end && *p == '-';
    double v;

    p += minus;
    if (p == end || *p < '0' || *p > '9')
        return (double)NAN;
    p = rates_read_digits(p, end, &d);
    if (!p)
        return (double)NAN;
    v = p < end && (*p | 32) == 'e'
            ? (double)d.all *
                  pow(10, rates_read_exponent(p + 1, end) - (int)d.places)
            : (double)d.all * tenth[d.places];
    return minus ? -v : v;
}

static const char *rates_skip_space(const char *p, const char *end)
{
    do {
        while (p < end && (unsigned char)*p < ' ')
            p++;
        p = pr_json_skip_blanks(p, end);
    } while (p < end && (unsigned char)*p < ' ');
    return p;
}

/* Up to a comma or the end. The last twenty are behind that. */
static const char *rates_add_one_early(struct pr_suite_slices *s, const char *p,
                                       const char *end)
{
    const char *start = rates_skip_space(p, end), *after, *comma;
    struct digits d;

    after = start < end ? read_plain(start, &d) : NULL;
    if (after && after <= end && (after == end || *after == ',')) {
        pr_suite_slices_add(s, (double)d.all * tenth[d.places]);
        return after;
    }
    comma = memchr(p, ',', (size_t)(end - p));
    comma = comma ? comma : end;
    pr_suite_slices_add(
        s, read_rough_number(start < comma ? start : comma, comma));
    return comma;
}

static void rates_add_early(struct pr_suite_slices *s, const char *p,
                            const char *end, size_t count)
{
    if (!s->points) {
        s->count += count;
        return;
    }
    for (; p < end; p++)
        p = rates_add_one_early(s, p, end);
}

/* Where the last twenty begin, and how many are before them. from: there are
 * no more than that. */
static const char *find_last_rates(const char *from, const char *end,
                                   size_t *ret_early)
{
    size_t commas = pr_count_byte(from, end, ',');

    if (commas < PR_SUITE_STEADY)
        return from;
    for (int i = 0; i < PR_SUITE_STEADY; i++)
        end = memrchr(from, ',', (size_t)(end - from));
    *ret_early = commas + 1 - PR_SUITE_STEADY;
    return end + 1;
}

/* After the bracket: past all but the last twenty. A list that holds more than
 * numbers is left alone. */
static void skip_early(struct pr_json_scan *scan, struct pr_suite_slices *s)
{
    const char *from = scan->pos, *last;
    const char *end = memchr(from, ']', (size_t)(scan->end - from));
    size_t n = 0;

    if (!end || memchr(from, '"', (size_t)(end - from)) ||
        memchr(from, '[', (size_t)(end - from)) ||
        memchr(from, '{', (size_t)(end - from)))
        return;
    last = find_last_rates(from, end, &n);
    if (last == from)
        return;
    rates_add_early(s, from, last - 1, n);
    scan->line += (unsigned)pr_count_byte(from, last, '\n');
    scan->pos = last;
    from = memrchr(scan->line_start, '\n', (size_t)(last - scan->line_start));
    scan->line_start = from ? from + 1 : scan->line_start;
}

/* ---- rates: all */

static int rates_read_one(struct pr_json_scan *scan, struct pr_suite_slices *s)
{
    struct pr_value v = {0};
    int rc;

    pr_json_skip_space(scan);
    if (scan->pos == scan->end)
        return pr_json_scan_fail(scan, scan->pos,
                                 "the text ends inside a list");
    rc = strchr("\"[{", *scan->pos) ? pr_json_scan_skip(scan)
                                    : pr_json_scan_word(scan, &v);
    if (!rc)
        pr_suite_slices_add(s, pr_value_is_number(&v) ? pr_value_number(&v)
                                                      : (double)NAN);
    return rc;
}

/* The list at the cursor, which is at its bracket or blanks before it. What is
 * no number among them counts as NaN. */
static int milarun_rates_read(struct pr_json_walk *w, struct pr_suite_slices *s,
                              struct pr_arena *scratch, struct pr_err *err)
{
    struct pr_json_scan scan = {.pos = w->pos,
                                .end = w->end,
                                .line_start = w->text,
                                .name = w->name,
                                .line = w->line,
                                .arena = scratch,
                                .err = err};
    bool more;

    pr_json_skip_space(&scan);
    scan.pos++; /* the bracket */
    skip_early(&scan, s);
    pr_json_skip_space(&scan);
    more = scan.pos == scan.end || *scan.pos != ']';
    while (more) {
        int rc = rates_read_one(&scan, s);
        if (rc)
            return rc;
        pr_json_skip_space(&scan);
        more = scan.pos < scan.end && *scan.pos == ',';
        scan.pos += more;
    }
    if (scan.pos == scan.end || *scan.pos != ']')
        return pr_json_scan_fail(&scan, scan.pos, "expected ',' or ']'");
    w->pos = scan.pos + 1;
    w->text = scan.line_start;
    w->line = scan.line;
    return PR_OK;
}

enum { MAX_RANKS = 4096, MAX_ERROR = 4096, CURVE_MAX = 4096 };

struct peak {
    const char *id;
    double memory;
    bool whole;
};

struct parse {
    struct pr_suite_reader *r;
    struct pr_suite_item *item;
    struct pr_json_walk w;
    const char *name, *scheme;
    bool has_job, is_sub_job, success, nan_metric;
    int64_t device_count;
    struct pr_suite_rate *rates;
    size_t rate_count, rate_cap;
    struct peak *peaks;
    size_t peak_count, peak_cap;
    struct pr_err *err;
};

/* ---- members */

/* The kind of the value at the cursor by its first byte. */
static char milarun_peek_byte(struct parse *p)
{
    const char *s = p->w.pos;

    while (s < p->w.end && (unsigned char)*s <= ' ')
        s++;
    return s < p->w.end ? *s : '\0';
}

static int milarun_skip_value(struct parse *p)
{
    const char *text;
    size_t len;

    return pr_json_walk_span(&p->w, &text, &len, p->err);
}

static int milarun_read_value(struct parse *p, struct pr_value *ret)
{
    return pr_json_walk_read(&p->w, p->r->scratch, ret, p->err);
}

/* Calls each for the members of the map at the cursor; each must take or skip
 * the value. What is no map is skipped. */
static int milarun_each_member(struct parse *p,
                               int (*each)(struct parse *p, const char *key,
                                           size_t len))
{
    const char *key;
    size_t len;
    int rc;

    if (milarun_peek_byte(p) != '{')
        return milarun_skip_value(p);
    rc = pr_json_walk_enter(&p->w, '{', p->err);
    while (!rc && (rc = pr_json_walk_next_span(&p->w, '}', p->r->scratch, &key,
                                               &len, p->err)) == 1)
        rc = each(p, key, len);
    return rc;
}

/* Text is kept; *ret is left alone when the value is none. */
static int milarun_read_text(struct parse *p, const char **ret)
{
    struct pr_value v;
    int rc = milarun_read_value(p, &v);

    if (rc || v.kind != PR_STR)
        return rc;
    *ret = pr_arena_copy(p->r->keep, v.s, v.len);
    return *ret ? PR_OK : pr_fail_nomem(p->err);
}

static int milarun_read_number(struct parse *p, double *ret)
{
    struct pr_value v;
    int rc = milarun_read_value(p, &v);

    if (!rc && pr_value_is_number(&v))
        *ret = pr_value_number(&v);
    return rc;
}

static bool is_python_true(const struct pr_value *v)
{
    switch (v->kind) {
    case PR_NULL:
        return false;
    case PR_BOOL:
        return v->b;
    case PR_INT:
        return v->i != 0;
    case PR_FLOAT:
        return v->f != 0;
    default:
        return v->len != 0;
    }
}

static int milarun_read_flag(struct parse *p, bool *ret)
{
    struct pr_value v;
    int rc = milarun_read_value(p, &v);

    if (!rc)
        *ret = is_python_true(&v);
    return rc;
}

/* ---- job, environ, metrics */

static int scheme_member(struct parse *p, const char *key, size_t len)
{
    return pr_text_is(key, len, "type") ? milarun_read_text(p, &p->scheme)
                                        : milarun_skip_value(p);
}

static int job_member(struct parse *p, const char *key, size_t len)
{
    return pr_text_is(key, len, "partition_scheme")
               ? milarun_each_member(p, scheme_member)
               : milarun_skip_value(p);
}

static int environ_member(struct parse *p, const char *key, size_t len)
{
    return pr_text_is(key, len, "CUDA_VISIBLE_DEVICES")
               ? milarun_read_text(p, &p->item->run.device)
               : milarun_skip_value(p);
}

static int metric_member(struct parse *p, const char *key, size_t len)
{
    double value = 0;
    int rc = milarun_read_number(p, &value);

    (void)key;
    (void)len;
    p->nan_metric |= isnan(value);
    return rc;
}

/* ---- timings */

static int rates_member(struct parse *p, const char *key, size_t len)
{
    struct pr_suite_slices s = {.each = 1};
    unsigned points = p->r->opts->curve;
    int rc;

    if (!pr_text_is(key, len, "rates") || milarun_peek_byte(p) != '[' ||
        !p->rate_count)
        return milarun_skip_value(p);
    if (points && !p->item->run.curve) {
        s.room = (points > CURVE_MAX ? CURVE_MAX : points + points % 2);
        s.points = PR_ARENA_ARRAY(p->r->scratch, double, s.room);
        if (!s.points)
            return pr_fail_nomem(p->err);
    }
    rc = milarun_rates_read(&p->w, &s, p->r->scratch, p->err);
    if (rc)
        return rc;
    pr_suite_slices_end(&s, &p->rates[p->rate_count - 1]);
    return pr_suite_slices_keep(&s, p->r->keep, &p->item->run)
               ? PR_OK
               : pr_fail_nomem(p->err);
}

static int program_member(struct parse *p, const char *key, size_t len)
{
    if (pr_text_is(key, len, "time"))
        return milarun_read_number(p, &p->item->run.total);
    return pr_text_is(key, len, "start")
               ? milarun_read_text(p, &p->item->run.started)
               : milarun_skip_value(p);
}

/* A rank without a list of rates has none: NaN, as of too few. */
static int timing_member(struct parse *p, const char *key, size_t len)
{
    struct pr_suite_rate *rates;

    if (pr_text_is(key, len, "program"))
        return milarun_each_member(p, program_member);
    if (len < 5 || memcmp(key, "train", 5) != 0 || p->rate_count == MAX_RANKS)
        return milarun_skip_value(p);
    rates = pr_arena_grow(p->r->scratch, p->rates, p->rate_count, &p->rate_cap,
                          sizeof *rates);
    if (!rates)
        return pr_fail_nomem(p->err);
    p->rates = rates;
    rates[p->rate_count++] =
        (struct pr_suite_rate){.rate = (double)NAN, .std = (double)NAN};
    return milarun_each_member(p, rates_member);
}

/* ---- gpu_monitor */

static int memory_member(struct parse *p, const char *key, size_t len)
{
    struct peak *peak = &p->peaks[p->peak_count - 1];
    struct pr_value v;
    int rc;

    if (!pr_text_is(key, len, "max"))
        return milarun_skip_value(p);
    rc = milarun_read_value(p, &v);
    if (!rc && pr_value_is_number(&v)) {
        peak->memory = pr_value_number(&v);
        peak->whole = v.kind == PR_INT;
    }
    return rc;
}

static int device_member(struct parse *p, const char *key, size_t len)
{
    return pr_text_is(key, len, "memory")
               ? milarun_each_member(p, memory_member)
               : milarun_skip_value(p);
}

/* The run has one device, and this is another. */
static bool is_other(const struct parse *p, const char *key, size_t len)
{
    const char *device = p->item->run.device;

    return device && !strchr(device, ',') && !pr_text_is(key, len, device);
}

static int monitor_member(struct parse *p, const char *key, size_t len)
{
    struct peak *peaks;

    if (is_other(p, key, len))
        return milarun_skip_value(p);
    peaks = pr_arena_grow(p->r->scratch, p->peaks, p->peak_count, &p->peak_cap,
                          sizeof *peaks);
    if (!peaks)
        return pr_fail_nomem(p->err);
    p->peaks = peaks;
    peaks[p->peak_count] = (struct peak){
        .id = pr_arena_copy(p->r->scratch, key, len), .memory = -1};
    if (!peaks[p->peak_count++].id)
        return pr_fail_nomem(p->err);
    return milarun_each_member(p, device_member);
}

/* One device: its own peak. Several, or none named: the largest of all. */
static void find_peak(struct parse *p)
{
    const char *device = p->item->run.device;
    bool one = device && !strchr(device, ',');

    for (size_t i = 0; i < p->peak_count; i++) {
        const struct peak *k = &p->peaks[i];
        if ((one && strcmp(k->id, device) != 0) || !(k->memory > p->item->peak))
            continue;
        p->item->peak = k->memory;
        p->item->peak_is_whole = k->whole;
    }
}

/* ---- the file */

/* A traceback says at its end what it is about. */
static int milarun_read_error(struct parse *p)
{
    struct pr_value v;
    int rc = milarun_read_value(p, &v);
    size_t n;

    if (rc || v.kind != PR_STR)
        return rc;
    n = v.len > MAX_ERROR ? MAX_ERROR : v.len;
    p->item->run.error = pr_arena_copy(p->r->keep, v.s + v.len - n, n);
    return p->item->run.error ? PR_OK : pr_fail_nomem(p->err);
}

static int milarun_read_job_id(struct parse *p)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(PR_SUITE_MAX_FILE);
    struct pr_value v;
    int rc = milarun_read_value(p, &v);

    p->has_job = !rc && v.kind != PR_NULL;
    if (!p->has_job)
        return rc;
    pr_value_write_text(&text, &v);
    p->item->run.job_id =
        text.data ? pr_arena_copy(p->r->keep, text.data, text.len) : NULL;
    return text.failed ? pr_fail_nomem(p->err) : PR_OK;
}

/* What our runner adds: how often it was tried. */
static int prony_member(struct parse *p, const char *key, size_t len)
{
    double attempts = 1;
    int rc;

    if (!pr_text_is(key, len, "attempts"))
        return milarun_skip_value(p);
    rc = milarun_read_number(p, &attempts);
    p->item->run.unavailable = attempts == 0;
    return rc;
}

static int milarun_read_device_count(struct parse *p)
{
    struct pr_value v;
    int rc = milarun_read_value(p, &v);

    if (!rc && v.kind == PR_INT)
        p->device_count = v.i;
    return rc;
}

static int result_member(struct parse *p, const char *key, size_t len)
{
    if (pr_text_is(key, len, "name"))
        return milarun_read_text(p, &p->name);
    if (pr_text_is(key, len, "job_id"))
        return milarun_read_job_id(p);
    if (pr_text_is(key, len, "sub_job"))
        return milarun_read_flag(p, &p->is_sub_job);
    if (pr_text_is(key, len, "job"))
        return milarun_each_member(p, job_member);
    if (pr_text_is(key, len, "success"))
        return milarun_read_flag(p, &p->success);
    if (pr_text_is(key, len, "error"))
        return milarun_read_error(p);
    if (pr_text_is(key, len, "hostname"))
        return milarun_read_text(p, &p->item->host);
    if (pr_text_is(key, len, "gpu"))
        return milarun_read_text(p, &p->item->gpu);
    if (pr_text_is(key, len, "device_count"))
        return milarun_read_device_count(p);
    if (pr_text_is(key, len, "environ"))
        return milarun_each_member(p, environ_member);
    if (pr_text_is(key, len, "metrics"))
        return milarun_each_member(p, metric_member);
    if (pr_text_is(key, len, "prony"))
        return milarun_each_member(p, prony_member);
    if (pr_text_is(key, len, "timings")) {
        p->rate_count = 0; /* said twice: the last one counts */
        return milarun_each_member(p, timing_member);
    }
    if (pr_text_is(key, len, "gpu_monitor")) {
        p->peak_count = 0;
        return milarun_each_member(p, monitor_member);
    }
    return milarun_skip_value(p);
}

static int milarun_finish_result(struct parse *p)
{
    struct pr_suite_item *item = p->item;
    struct pr_suite_rate *rates;
    bool progression = p->scheme && strcmp(p->scheme, "gpu-progression") == 0;

    find_peak(p);
    item->run.good = p->success && !p->nan_metric;
    item->run.unavailable &= !p->success;
    item->group = p->name;
    if (progression)
        item->group = pr_arena_printf(p->r->keep, "%s.%lld", p->name,
                                      (long long)p->device_count);
    rates = PR_ARENA_ARRAY(p->r->keep, struct pr_suite_rate, p->rate_count);
    if (!item->group || !rates)
        return pr_fail_nomem(p->err);
    if (p->rate_count)
        memcpy(rates, p->rates, p->rate_count * sizeof *rates);
    item->run.rates = rates;
    item->run.rate_count = (uint32_t)p->rate_count;
    return 1;
}

int pr_milarun_result_read(struct pr_suite_reader *r, const char *text,
                           size_t len, struct pr_suite_item *item,
                           struct pr_err *err)
{
    struct parse p = {.r = r, .item = item, .err = err};
    int rc;

    pr_arena_reset(r->scratch);
    item->run =
        (struct pr_suite_child){.path = item->path, .total = (double)NAN};
    pr_json_walk_init(&p.w, text, len, item->path);
    if (milarun_peek_byte(&p) != '{')
        return milarun_peek_byte(&p)
                   ? pr_fail(err, PR_E_FORMAT, item->path,
                             "not a result: expected a map")
                   : pr_fail(err, PR_E_FORMAT, item->path, "the file is empty");
    rc = milarun_each_member(&p, result_member);
    if (!rc && milarun_peek_byte(&p))
        rc = pr_fail(err, PR_E_FORMAT, item->path,
                     "not valid JSON: text after the end");
    if (rc || !p.has_job || p.is_sub_job)
        return rc;
    return p.name ? milarun_finish_result(&p)
                  : pr_fail(err, PR_E_FORMAT, item->path,
                            "not a result: it has a job_id but no name");
}
