/*
 * JSON documents with results: parsed logs {"data": […]} or the bare list,
 * what `prony run --format json` prints, one result of ours, of milarun or of
 * DLIO, or one flat map. Lists are walked item by item, so that memory is
 * needed for one at a time; of an item only what is wanted is read.
 */
#include "analyse/results/results_impl.h"
#include "base/json/json.h"
#include "base/text.h"

#include <string.h>

enum { MAX_VALUE = 64 << 20, MAX_SINGLE = 64 << 20 };

struct doc {
    struct pr_results_reader *r;
    const char *name;
    enum pr_results_kind kind;
    struct pr_json_walk walk;
    struct pr_arena *arena; /* of one item */
    bool any;               /* rows were made */
    const char *stop;       /* another part begins; NULL: none does */
    bool landed;            /* … and this one ended there */
    const char *counted;    /* lines, up to here */
    unsigned line;
};

/* ---- one flat map at the cursor */

static int document_put_span(struct doc *d, const char *key, size_t key_len,
                             const char *text, size_t len, struct pr_err *err)
{
    struct pr_json_in in = {.text = text, .len = len, .name = d->name};
    struct pr_value v;
    int rc;

    if (len > MAX_VALUE) {
        d->r->counts.dropped++;
        return PR_OK;
    }
    in.line = d->walk.line;
    rc = pr_json_read(&in, d->arena, &v, NULL, err);
    return rc ? rc : pr_results_row_put(d->r, key, key_len, &v, err);
}

static int document_read_members(struct doc *d, struct pr_err *err)
{
    const char *key, *text;
    size_t key_len, len;
    int rc = pr_json_walk_enter(&d->walk, '{', err);

    while (!rc && (rc = pr_json_walk_next_span(&d->walk, '}', d->arena, &key,
                                               &key_len, err)) == 1) {
        rc = pr_json_walk_span(&d->walk, &text, &len, err);
        if (!rc && pr_results_row_is_wanted(d->r, key, key_len))
            rc = document_put_span(d, key, key_len, text, len, err);
    }
    return rc;
}

/* ---- what is known of documents */

/* exp.status, of a name in the document that is text. */
static int put_renamed_member(struct pr_results_reader *r, const char *name,
                              const struct pr_value *map, const char *key,
                              struct pr_err *err)
{
    const struct pr_value *v = pr_get(map, key);

    return v ? pr_results_row_put(r, name, strlen(name), v, err) : PR_OK;
}

int pr_results_put_experiment(struct pr_results_reader *r,
                              const struct pr_value *result, struct pr_err *err)
{
    const struct pr_value *params = pr_get(result, "params");
    const struct pr_value *results = pr_get(result, "results");
    int rc = PR_OK;

    for (uint32_t i = 0;
         !rc && params && params->kind == PR_MAP && i < params->len; i++)
        rc = pr_results_row_put(r, params->members[i].key,
                                params->members[i].key_len,
                                &params->members[i].value, err);
    if (!rc)
        rc = put_renamed_member(r, "exp.id", result, "id", err);
    if (!rc)
        rc = put_renamed_member(r, "exp.status", result, "status", err);
    if (!rc)
        rc = put_renamed_member(r, "exp.status_msg", result, "reason", err);
    if (!rc)
        rc = put_renamed_member(r, "exp.repeat", result, "repeat", err);
    for (uint32_t i = 0;
         !rc && results && results->kind == PR_MAP && i < results->len; i++) {
        const struct pr_member *m = &results->members[i];
        const char *name = m->key;
        /* A program that spoke of itself said the whole name. */
        if (!pr_text_starts_with(name, "exp.") &&
            !pr_text_starts_with(name, "hw."))
            name = pr_arena_printf(r->scratch, "results.%s", m->key);
        rc = name ? pr_results_row_put(r, name, strlen(name), &m->value, err)
                  : pr_fail_nomem(err);
    }
    return rc;
}

static double mean_rate(const struct pr_value *timings)
{
    double all = 0;

    /* Several processes have train_0, train_1, …: together they are one. */
    for (uint32_t i = 0; timings && i < timings->len; i++) {
        const struct pr_member *m = &timings->members[i];
        const struct pr_value *rates = pr_get(&m->value, "rates");
        double sum = 0;

        if (!pr_text_starts_with(m->key, "train") || !rates ||
            rates->kind != PR_LIST || !rates->len)
            continue;
        for (uint32_t k = 0; k < rates->len; k++)
            sum += pr_value_is_number(&rates->items[k])
                       ? pr_value_number(&rates->items[k])
                       : 0;
        all += sum / rates->len;
    }
    return all;
}

static int put_milarun_result(struct pr_results_reader *r,
                              const struct pr_value *v, struct pr_err *err)
{
    const struct pr_value *ok = pr_get(v, "success");
    double rate = mean_rate(pr_get(v, "timings"));
    int rc = pr_results_row_put_flat(r, "", v, err);

    if (!rc)
        rc = put_renamed_member(r, "exp.name", v, "name", err);
    if (!rc)
        rc = put_renamed_member(r, "exp.id", v, "job_id", err);
    if (!rc)
        rc = put_renamed_member(r, "exp.node_id", v, "hostname", err);
    if (!rc)
        rc = put_renamed_member(r, "exp.gpu_title", v, "gpu", err);
    if (!rc)
        rc = put_renamed_member(r, "exp.num_gpus", v, "device_count", err);
    if (!rc)
        rc = pr_results_row_put_str(
            r, "exp.status",
            ok && ok->kind == PR_BOOL && ok->b ? "ok" : "failed", err);
    if (!rc && rate > 0)
        rc = pr_results_row_put_float(r, "results.throughput", rate, err);
    return rc;
}

static int put_dlio_result(struct pr_results_reader *r,
                           const struct pr_value *v, struct pr_err *err)
{
    static const char key[] = "train_throughput_mean_samples_per_second";
    const struct pr_value *metric = pr_get(v, "metric");
    double rate = pr_number_at(metric, key, 0);
    int rc = PR_OK;

    for (uint32_t i = 0; !rc && i < v->len; i++) {
        const struct pr_member *m = &v->members[i];
        struct pr_value one = {.kind = PR_MAP, .len = 1, .members = m};

        rc = &m->value == metric
                 ? pr_results_row_put_flat(r, "results.", metric, err)
                 : pr_results_row_put_flat(r, "exp.", &one, err);
    }
    if (!rc)
        rc = pr_results_row_put_str(r, "exp.status",
                                    pr_get(v, "end") ? "ok" : "failed", err);
    if (!rc && rate > 0)
        rc = pr_results_row_put_float(r, "results.throughput", rate, err);
    return rc;
}

static bool is_flat(const struct pr_value *v)
{
    for (uint32_t i = 0; i < v->len; i++)
        if (pr_text_starts_with(v->members[i].key, "exp.") ||
            pr_text_starts_with(v->members[i].key, "results."))
            return true;
    return false;
}

/* 1: it is a result; 0: nothing we know. */
static int put_known_result(struct pr_results_reader *r,
                            const struct pr_value *v, struct pr_err *err)
{
    int rc;

    if (v->kind != PR_MAP)
        return 0;
    if (pr_get(v, "status") && pr_get(v, "params"))
        rc = pr_results_put_experiment(r, v, err);
    else if (pr_get(v, "timings") && pr_get(v, "success"))
        rc = put_milarun_result(r, v, err);
    else if (pr_get(v, "metric") && pr_get(v, "num_accelerators"))
        rc = put_dlio_result(r, v, err);
    else if (is_flat(v))
        rc = pr_results_row_put_flat(r, "", v, err);
    else
        return 0;
    return rc ? rc : 1;
}

static int document_read_known(struct doc *d, const char *text, size_t len,
                               unsigned line, struct pr_err *err)
{
    struct pr_json_in in = {
        .text = text, .len = len, .name = d->name, .line = line};
    struct pr_value v;
    int rc = len > MAX_SINGLE ? pr_fail(err, PR_E_FORMAT, d->name,
                                        "a result of more than 64 MiB")
                              : pr_json_read(&in, d->arena, &v, NULL, err);

    if (rc)
        return rc;
    pr_results_row_begin(d->r);
    rc = put_known_result(d->r, &v, err);
    if (rc == 1) {
        d->any = true;
        rc = pr_results_row_end(d->r, d->name, err);
    }
    return rc;
}

/* ---- lists */

static bool is_cursor_at(const struct pr_json_walk *w, char bracket)
{
    struct pr_json_walk at = *w;

    return pr_json_walk_enter(&at, bracket, NULL) == PR_OK;
}

/* Quick records count no lines; who wants to say where it is must. */
static void count_lines(struct doc *d)
{
    const char *p = d->counted;

    while ((p = memchr(p, '\n', (size_t)(d->walk.pos - p)))) {
        d->line++;
        d->walk.text = ++p;
    }
    d->counted = d->walk.pos;
    d->walk.line = d->line;
}

/* After a record: the next one, if it is this part's and nothing is out of the
 * ordinary; or NULL. */
static const char *next_record(const struct doc *d)
{
    const char *p = d->walk.pos, *end = d->walk.end;

    if (p == end || *p++ != ',')
        return NULL;
    while (p < end && (unsigned char)*p <= ' ')
        p++;
    return p < end && *p == '{' && (!d->stop || p < d->stop) ? p : NULL;
}

/* Items of {"data": […]}, as far as that is quick, or one that is not: they are
 * what they are, nothing is looked for in them. */
static int take_rows(struct doc *d, struct pr_err *err)
{
    const char *p = d->walk.pos, *after;
    int rc = PR_OK;

    while (*p != '{')
        p++;
    d->any = true;
    while (p &&
           (after = pr_results_row_read_quick(d->r, p, d->walk.end, err))) {
        d->walk.pos = after;
        rc = pr_results_row_end(d->r, d->name, err);
        if (rc)
            return rc;
        p = next_record(d);
    }
    if (!p)
        return PR_OK;
    d->walk.pos = p;
    count_lines(d);
    pr_results_row_begin(d->r);
    rc = document_read_members(d, err);
    return rc ? rc : pr_results_row_end(d->r, d->name, err);
}

/* The cursor to the next item; an error is looked for again with the lines
 * counted. */
static int next_item(struct doc *d, struct pr_err *err)
{
    struct pr_json_walk at = d->walk;
    int rc = pr_json_walk_next(&d->walk, ']', d->arena, NULL, NULL);

    if (rc >= 0)
        return rc;
    d->walk = at;
    count_lines(d);
    return pr_json_walk_next(&d->walk, ']', d->arena, NULL, err);
}

/* 1: the item at the cursor is another part's. */
static int at_stop(struct doc *d)
{
    const char *p = d->walk.pos;

    while (p < d->walk.end && (unsigned char)*p <= ' ')
        p++;
    if (!d->stop || p < d->stop)
        return 0;
    d->landed = p == d->stop;
    return 1;
}

/* At an item. */
static int document_read_item(struct doc *d, bool rows, struct pr_err *err)
{
    bool map = is_cursor_at(&d->walk, '{');
    const char *text;
    size_t len;
    int rc = map && rows ? take_rows(d, err)
                         : pr_json_walk_span(&d->walk, &text, &len, err);

    if (!rc && map && !rows)
        rc = document_read_known(d, text, len, d->walk.line, err);
    pr_arena_reset(d->arena);
    return rc;
}

static int document_read_items(struct doc *d, bool rows, struct pr_err *err)
{
    int rc = PR_OK;

    d->counted = d->walk.pos;
    d->line = d->walk.line;
    memset(d->r->guesses, 0, sizeof d->r->guesses); /* of another document */
    while (!rc && (rc = next_item(d, err)) == 1) {
        if (at_stop(d))
            return PR_OK;
        rc = document_read_item(d, rows, err);
    }
    count_lines(d);
    return rc;
}

static int document_read_list(struct doc *d, bool rows, struct pr_err *err)
{
    int rc = pr_json_walk_enter(&d->walk, '[', err);

    return rc ? rc : document_read_items(d, rows, err);
}

/* ---- a document */

/* 1: it has a list of results; 0: it has none, so it may be one itself. */
static int document_read_object(struct doc *d, struct pr_err *err)
{
    const char *key, *text;
    size_t key_len, len;
    bool listed = false;
    int rc = pr_json_walk_enter(&d->walk, '{', err);

    while (!rc && !d->landed &&
           (rc = pr_json_walk_next_span(&d->walk, '}', d->arena, &key, &key_len,
                                        err)) == 1) {
        bool data = pr_text_is(key, key_len, "data");

        if (is_cursor_at(&d->walk, '[') &&
            (data || pr_text_is(key, key_len, "experiments"))) {
            if (d->kind == PR_RESULTS_FOUND)
                return 1;
            listed = true;
            rc = document_read_list(d, data, err);
        } else {
            rc = pr_json_walk_span(&d->walk, &text, &len, err);
        }
    }
    return rc ? rc : listed;
}

static int document_read_all(struct doc *d, const char *text, size_t len,
                             struct pr_err *err)
{
    int rc;

    if (is_cursor_at(&d->walk, '[')) {
        if (d->kind == PR_RESULTS_FOUND)
            return 0;
        rc = document_read_list(d, true, err);
        return rc ? rc : d->any;
    }
    rc = document_read_object(d, err);
    if (rc)
        return rc == 1 ? d->any || d->kind != PR_RESULTS_FOUND : rc;
    rc = document_read_known(d, text, len, 1, err);
    return rc ? rc : d->any;
}

int pr_results_json_read(struct pr_results_reader *r, const char *name,
                         const char *text, size_t len,
                         enum pr_results_kind kind, struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
    struct doc d = {.r = r, .name = name, .kind = kind, .arena = a};
    uint64_t before = r->counts.results;
    struct pr_err e = {0};
    int rc;

    if (!a)
        return pr_fail_nomem(err);
    pr_json_walk_init(&d.walk, text, len, name);
    rc = document_read_all(&d, text, len, &e);
    if (rc == PR_E_FORMAT && r->counts.results > before) {
        pr_results_add_damaged(r, &e); /* a list of results that is cut */
        return 1;
    }
    if (rc < 0 && err)
        *err = e;
    return rc;
}

/* What follows the list in the document must be JSON, too. */
static int document_read_rest(struct doc *d, char first, struct pr_err *err)
{
    const char *key, *text;
    size_t key_len, len;
    int rc = first == '{' ? 1 : PR_OK;

    while (rc == 1 && (rc = pr_json_walk_next_span(&d->walk, '}', d->arena,
                                                   &key, &key_len, err)) == 1) {
        rc = pr_json_walk_span(&d->walk, &text, &len, err);
        rc = rc ? rc : 1;
    }
    return rc;
}

int pr_results_json_read_part(struct pr_results_reader *r,
                              struct pr_results_item *item, const char *text,
                              size_t len, struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
    const char *from = pr_results_find_cut(text, len, item->part, item->parts);
    const char *to =
        pr_results_find_cut(text, len, item->part + 1, item->parts);
    struct doc d = {.r = r, .name = item->path, .kind = item->kind, .arena = a};
    struct pr_err e;
    int rc;

    if (!a)
        return pr_fail_nomem(err);
    if (from == text + len)
        return PR_OK; /* the part before has it all */
    pr_json_walk_init(&d.walk, text, len, item->path);
    d.stop = to == text + len ? NULL : to;
    if (item->part) {
        d.walk.pos = d.counted = from;
        d.line = 1; /* an error is told when all is read again */
        memset(r->guesses, 0, sizeof r->guesses);
        rc = document_read_item(&d, true, &e);
        if (!rc)
            rc = document_read_items(&d, true, &e);
        if (!rc && !d.stop)
            rc = document_read_rest(&d, text[strspn(text, " \t\r\n")], &e);
    } else {
        rc = document_read_all(&d, text, len, &e);
        rc = rc == 1 ? PR_OK : rc == 0 ? PR_E_FORMAT : rc;
    }
    item->split_wrong = rc == PR_E_FORMAT || (d.stop && !d.landed);
    if (rc && rc != PR_E_FORMAT && err)
        *err = e;
    return rc == PR_E_FORMAT ? PR_OK : rc;
}
