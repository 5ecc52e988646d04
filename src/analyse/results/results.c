/*
 * The set of results: read, asked, and given parameters of one's own. Threads
 * take files in turn; what each found stands with its file, so that the order
 * does not depend on who was faster.
 */
#include "analyse/results/results.h"

#include "analyse/results/results_impl.h"
#include "base/file.h"
#include "base/json/json.h"
#include "base/mem.h"
#include "conf/expr/expand.h"

#include <math.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

enum { MAX_THREADS = PR_RESULTS_MAX_THREADS, MAX_QUERY = 1 << 20 };

struct worker {
    struct pr_results *set;
    struct pr_results_reader reader;
    pthread_t thread;
    int rc;
    struct pr_err err;
};

struct pr_results {
    struct pr_arena *arena;
    struct pr_results_list list;
    const struct pr_results_opts *opts;
    atomic_size_t next; /* file to read */
    atomic_bool stop;
    struct worker workers[MAX_THREADS];
    unsigned worker_count;
    const struct pr_results_row **rows;
    size_t count;
    struct pr_results_counts counts;
};

static void free_workers(struct pr_results *b)
{
    for (unsigned i = 0; i < b->worker_count; i++) {
        struct pr_results_reader *r = &b->workers[i].reader;
        pr_results_reader_free(r);
        pr_arena_free(r->arena);
        pr_names_free(r->names);
    }
    b->worker_count = 0;
}

void pr_results_free(struct pr_results *b)
{
    if (!b)
        return;
    free_workers(b);
    pr_arena_free(b->arena);
    pr_free(b);
}

static void *results_run_worker(void *arg)
{
    struct worker *w = arg;
    struct pr_results *b = w->set;
    size_t i;

    while (!w->rc && !b->stop && (i = b->next++) < b->list.count)
        w->rc = pr_results_read_item(&w->reader, &b->list.items[i], &w->err);
    if (w->rc)
        b->stop = true;
    return NULL;
}

static unsigned results_count_threads(const struct pr_results *b)
{
    long n = b->opts->threads ? (long)b->opts->threads
                              : sysconf(_SC_NPROCESSORS_ONLN);

    return n < 1 ? 1 : n > MAX_THREADS ? MAX_THREADS : (unsigned)n;
}

/* The first worker is the caller; where no thread can be had it does all. */
static int results_read_all(struct pr_results *b, struct pr_err *err)
{
    unsigned want = results_count_threads(b), started = 1;
    int rc = PR_OK;

    if (want > b->list.count)
        want = b->list.count ? (unsigned)b->list.count : 1;
    for (unsigned i = 0; !rc && i < want; i++) {
        b->workers[i] = (struct worker){.set = b};
        b->worker_count++;
        rc = pr_results_reader_init(&b->workers[i].reader, b->opts, err);
        b->workers[i].reader.thread = i;
    }
    if (rc)
        return rc;
    while (started < want &&
           pthread_create(&b->workers[started].thread, NULL, results_run_worker,
                          &b->workers[started]) == 0)
        started++;
    results_run_worker(&b->workers[0]);
    for (unsigned i = 1; i < started; i++)
        pthread_join(b->workers[i].thread, NULL);
    for (unsigned i = 0; !rc && i < started; i++)
        if ((rc = b->workers[i].rc) && err)
            *err = b->workers[i].err;
    return rc;
}

static void add_counts(struct pr_results_counts *to,
                       const struct pr_results_counts *from)
{
    to->files += from->files;
    to->results += from->results;
    to->empty += from->empty;
    to->unreadable += from->unreadable;
    if (!to->damaged)
        to->damage = from->damage;
    to->damaged += from->damaged;
    to->missing += from->missing;
    to->bad_lines += from->bad_lines;
    to->long_lines += from->long_lines;
    to->dropped += from->dropped;
    for (size_t i = 0; i < from->note_count; i++)
        if (to->note_count < PR_RESULTS_NOTES)
            to->notes[to->note_count++] = from->notes[i];
}

static int results_collect_rows(struct pr_results *b, struct pr_err *err)
{
    size_t n = 0;

    for (unsigned i = 0; i < b->worker_count; i++)
        add_counts(&b->counts, &b->workers[i].reader.counts);
    for (size_t i = 0; i < b->list.count; i++)
        n += b->list.items[i].count;
    b->rows = PR_ARENA_ARRAY(b->arena, const struct pr_results_row *, n);
    if (!b->rows)
        return pr_fail_nomem(err);
    for (size_t i = 0; i < b->list.count; i++)
        for (size_t k = 0; k < b->list.items[i].count; k++)
            b->rows[b->count++] = &b->list.items[i].rows[k];
    return PR_OK;
}

static int find_all(struct pr_results *b, const char *const *inputs,
                    size_t count, struct pr_err *err)
{
    int rc = PR_OK;

    for (size_t i = 0; !rc && i < count; i++)
        rc = pr_results_find(&b->list, inputs[i], b->opts->recursive, err);
    return rc;
}

static bool split_wrong(const struct pr_results *b)
{
    for (size_t i = 0; i < b->list.count; i++)
        if (b->list.items[i].split_wrong)
            return true;
    return false;
}

/* A cut was wrong, or what was cut is damaged: everything again, in one
 * piece. */
static int begin_again(struct pr_results *b, const char *const *inputs,
                       size_t count, struct pr_err *err)
{
    int rc;

    free_workers(b);
    b->list = (struct pr_results_list){.arena = b->arena};
    b->next = 0;
    b->stop = false;
    if (b->opts->restart)
        b->opts->restart(b->opts->ctx);
    rc = find_all(b, inputs, count, err);
    return rc ? rc : results_read_all(b, err);
}

int pr_results_read(const char *const *inputs, size_t count,
                    const struct pr_results_opts *opts, struct pr_results **ret,
                    struct pr_err *err)
{
    struct pr_results *b = pr_alloc_zeroed(sizeof *b);
    int rc;

    if (!b)
        return pr_fail_nomem(err);
    b->opts = opts;
    b->arena = pr_arena_new(65536);
    b->list.arena = b->arena;
    rc = b->arena ? find_all(b, inputs, count, err) : pr_fail_nomem(err);
    if (!rc)
        rc = pr_results_split_lists(&b->list, results_count_threads(b), err);
    if (!rc)
        rc = results_read_all(b, err);
    if (!rc && split_wrong(b))
        rc = begin_again(b, inputs, count, err);
    if (!rc)
        rc = results_collect_rows(b, err);
    if (rc) {
        pr_results_free(b);
        return rc;
    }
    *ret = b;
    return PR_OK;
}

size_t pr_results_size(const struct pr_results *b)
{
    return b->count;
}

const struct pr_results_row *pr_results_row_at(const struct pr_results *b,
                                               size_t i)
{
    return b->rows[i];
}

const struct pr_results_counts *
pr_results_get_counts(const struct pr_results *b)
{
    return &b->counts;
}

static struct pr_arena *results_arena(struct pr_results *b)
{
    return b->arena;
}

static struct pr_results_counts *results_own_counts(struct pr_results *b)
{
    return &b->counts;
}

bool pr_results_is_varied(const struct pr_results *b, const char *name)
{
    const struct pr_value *first =
        pr_get(&pr_results_row_at(b, 0)->params, name);

    for (size_t i = 1; i < pr_results_size(b); i++) {
        const struct pr_value *v =
            pr_get(&pr_results_row_at(b, i)->params, name);

        if (!v != !first || (v && !pr_value_equal(v, first)))
            return true;
    }
    return false;
}

/* Of the set, for those who change it when it has been read. */
static void results_replace_row(struct pr_results *b, size_t i,
                                const struct pr_results_row *row)
{
    b->rows[i] = row;
}

/* ---- queries */

static const struct pr_value *row_get_param(const void *ctx, const char *name,
                                            size_t len)
{
    const struct pr_value *map = ctx;

    for (uint32_t i = 0; i < map->len; i++) {
        const struct pr_member *m = &map->members[i];
        if (m->key_len == len && memcmp(m->key, name, len) == 0)
            return &m->value;
    }
    return NULL;
}

int pr_results_match_row(const struct pr_results_row *row,
                         const struct pr_results_filter *filters, size_t count,
                         struct pr_err *err)
{
    int rc = 1;

    for (size_t i = 0; rc == 1 && i < count; i++)
        rc = pr_query_match(filters[i].query, row_get_param, &row->params,
                            filters[i].policy, err);
    return rc;
}

int pr_results_parse_json(const char *text, const char *name,
                          struct pr_arena *a, struct pr_value **ret,
                          struct pr_err *err)
{
    struct pr_json_in in = {.text = text, .len = strlen(text), .name = name};
    struct pr_value *v = PR_ARENA_NEW(a, struct pr_value);
    struct pr_err e;
    int rc;

    if (!v)
        return pr_fail_nomem(err);
    rc = pr_json_read(&in, a, v, NULL, &e);
    if (rc == PR_E_FORMAT && text[strspn(text, " \t")] != '{' &&
        text[strspn(text, " \t")] != '[' && access(text, R_OK) == 0) {
        in.name = text;
        rc = pr_file_read(text, MAX_QUERY, a, &in.text, &in.len, &e);
        if (!rc)
            rc = pr_json_read(&in, a, v, NULL, &e);
    }
    *ret = v;
    if (!rc)
        return PR_OK;
    if (err)
        *err = e;
    return rc;
}

int pr_results_parse_query(const char *text, const char *name,
                           struct pr_arena *a, struct pr_query **ret,
                           struct pr_err *err)
{
    struct pr_value *v;
    int rc = pr_results_parse_json(text, name, a, &v, err);

    if (!rc)
        rc = pr_query_new(v, name, ret, err);
    if (rc != PR_E_FORMAT && rc != PR_E_CONF)
        return rc;
    if (err)
        err->code = PR_E_USAGE;
    pr_hint(err, "for example '{\"exp.framework\": \"caffe\", "
                 "\"exp.num_gpus\": [1, 2]}'");
    return PR_E_USAGE;
}

bool pr_results_is_good(const struct pr_results_row *row)
{
    const struct pr_value *time = pr_get(&row->params, "results.time");

    if (!time)
        time = pr_get(&row->params, "results.throughput");
    return time && pr_value_is_number(time) && pr_value_number(time) > 0;
}

/* A run measures every process that it starts; logs have nothing of that. */
bool pr_results_is_ours(const struct pr_results_row *row)
{
    return pr_get(&row->params, "results.exit_status") ||
           pr_get(&row->params, "results.elapsed_s");
}

double pr_results_rate(const struct pr_results_row *row)
{
    static const char *const names[] = {"results.throughput",
                                        "results.samples_per_second"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct pr_value *v = pr_get(&row->params, names[i]);

        if (v && pr_value_is_number(v))
            return pr_value_number(v);
    }
    return (double)NAN;
}

/* ---- parameters that follow from others */

/*
 * "${exp.model}, batch ${exp.effective_batch}". Only what is added is expanded:
 * what a log says is what it says.
 */

struct derive {
    struct pr_results *set;
    const struct pr_value *added;
    struct pr_names *names;
    const struct pr_decl **decls; /* none has one */
    struct pr_expander *expander;
    struct pr_params params;
    struct pr_arena *arena; /* of the names */
    struct pr_arena *work;  /* of a row */
    struct pr_results_counts *counts;
};

static int add_member_names(struct pr_names *names, const struct pr_value *map,
                            struct pr_err *err)
{
    for (uint32_t i = 0; i < map->len; i++)
        if (pr_names_add(names, map->members[i].key, map->members[i].key_len) ==
            PR_NO_NAME)
            return pr_fail_nomem(err);
    return PR_OK;
}

static int set_all(struct derive *d, const struct pr_value *map, bool expand,
                   struct pr_err *err)
{
    static const struct pr_origin log = {.kind = PR_FROM_TARGET, .name = ""};
    static const struct pr_origin given = {.kind = PR_FROM_COMMAND_LINE,
                                           .name = "-P"};

    for (uint32_t i = 0; i < map->len; i++) {
        const struct pr_member *m = &map->members[i];
        struct pr_setting *s =
            pr_setting_new(d->work, d->names, m->key, m->key_len, &m->value,
                           expand ? &given : &log);
        if (!s)
            return pr_fail_nomem(err);
        s->dynamic &= expand;
        pr_params_set(&d->params, s);
    }
    return PR_OK;
}

/* The members of the row, then those that are new; what was there before
 * keeps its place. */
static int join_derived_row(struct derive *d, const struct pr_results_row *row,
                            struct pr_arena *a, struct pr_results_row *ret,
                            struct pr_err *err)
{
    const struct pr_value *old = &row->params, *new = d->added;
    struct pr_member *m =
        PR_ARENA_ARRAY(a, struct pr_member, old->len + new->len);
    uint32_t n = old->len;

    if (!m)
        return pr_fail_nomem(err);
    memcpy(m, old->members, n * sizeof *m);
    for (uint32_t i = 0; i < new->len; i++) {
        const struct pr_member *from = &new->members[i];
        uint32_t name = pr_names_find(d->names, from->key, from->key_len);
        uint32_t at = 0;

        while (at < n && (m[at].key_len != from->key_len ||
                          memcmp(m[at].key, from->key, from->key_len) != 0))
            at++;
        if (at == n)
            m[n++] = *from;
        if (!pr_value_copy(a, pr_expanded_value(d->expander, name),
                           &m[at].value))
            return pr_fail_nomem(err);
    }
    *ret = *row;
    ret->params = (struct pr_value){.kind = PR_MAP, .len = n, .members = m};
    return PR_OK;
}

/* Where something it refers to is missing, a result stays what it was. */
static int derive_row(struct derive *d, size_t i, struct pr_arena *a,
                      struct pr_err *err)
{
    const struct pr_results_row *row = pr_results_row_at(d->set, i);
    struct pr_results_row *made = PR_ARENA_NEW(a, struct pr_results_row);
    struct pr_err why = {0};
    int rc;

    if (!made)
        return pr_fail_nomem(err);
    while (d->params.count)
        pr_params_unset(&d->params, d->params.order[d->params.count - 1]);
    pr_arena_reset(d->work);
    rc = set_all(d, &row->params, false, err);
    if (!rc)
        rc = set_all(d, d->added, true, err);
    if (rc)
        return rc;
    rc = pr_expand_params(d->expander, &d->params, &why);
    if (rc == PR_E_NOMEM)
        return pr_fail_nomem(err);
    if (rc) {
        if (!d->counts->underived++ &&
            d->counts->note_count < PR_RESULTS_NOTES) {
            pr_reword(&why, row->from, "%s", why.msg);
            why.hint[0] = '\0'; /* it is about plans */
            d->counts->notes[d->counts->note_count++] = why;
        }
        return PR_OK;
    }
    rc = join_derived_row(d, row, a, made, err);
    if (!rc)
        results_replace_row(d->set, i, made);
    return rc;
}

static int prepare_derivation(struct derive *d, struct pr_err *err)
{
    int rc = d->names && d->arena && d->work ? PR_OK : pr_fail_nomem(err);

    for (size_t i = 0; !rc && i < pr_results_size(d->set); i++)
        rc = add_member_names(d->names, &pr_results_row_at(d->set, i)->params,
                              err);
    if (!rc)
        rc = add_member_names(d->names, d->added, err);
    if (rc)
        return rc;
    d->decls = PR_ARENA_ARRAY(d->arena, const struct pr_decl *,
                              pr_names_count(d->names) + 1);
    d->expander = d->decls ? pr_expander_new(d->names, d->decls) : NULL;
    return d->expander && pr_params_reserve(&d->params, d->arena,
                                            pr_names_count(d->names))
               ? PR_OK
               : pr_fail_nomem(err);
}

int pr_results_derive(struct pr_results *b, const struct pr_value *added,
                      struct pr_err *err)
{
    struct derive d = {
        .set = b,
        .added = added,
        .names = pr_names_new(),
        .arena = pr_arena_new(4096),
        .work = pr_arena_new(65536),
        .counts = results_own_counts(b),
    };
    int rc = prepare_derivation(&d, err);

    for (size_t i = 0; !rc && i < pr_results_size(b); i++)
        rc = derive_row(&d, i, results_arena(b), err);
    pr_expander_free(d.expander);
    pr_names_free(d.names);
    pr_arena_free(d.arena);
    pr_arena_free(d.work);
    return rc;
}
