/*
 * Runs of milabench become benches as its own summary has them: all rates of a
 * bench in one heap, the smallest and the largest taken off where there are
 * five or more.
 */
#include "analyse/suite/suite_milabench.h"

#include "base/codec/archive.h"
#include "base/codec/deflate.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/stats/statistics.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ZIP_MEMBER = 1 << 28 };

struct pile {
    const char *id;
    struct pr_suite_numbers rates, memory, power;
};

struct bench {
    const char *name, *group;
    uint64_t gpus, n, failures;
    double weight;
    bool enabled;
    struct pr_suite_numbers rates, wall;
    struct pile *devices, *loads; /* as they come */
    size_t device_count, device_cap, load_count, load_cap;
    double energy, elapsed; /* of the first run */
    struct pr_suite_child **runs;
    size_t run_count, run_cap;
};

struct benches {
    struct pr_suite_build *w;
    const struct pr_suite_read_opts *opts;
    struct pr_arena *scratch;
    struct bench *list;
    size_t count, cap;
    struct pr_keyset names;
};

static void piles_done(struct pile *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        pr_free(p[i].rates.v);
        pr_free(p[i].memory.v);
        pr_free(p[i].power.v);
    }
}

static void benches_done(struct benches *b)
{
    for (size_t i = 0; i < b->count; i++) {
        struct bench *x = &b->list[i];
        pr_free(x->rates.v);
        pr_free(x->wall.v);
        piles_done(x->devices, x->device_count);
        piles_done(x->loads, x->load_count);
    }
    pr_keyset_free(&b->names);
    pr_arena_free(b->scratch);
}

/* ---- figures */

struct figures {
    struct pr_suite_stats stats;
    double q1, median, q3, sem;
};

/* Sorts the numbers in place. */
static struct figures compute_rate_stats(struct pr_suite_numbers *x)
{
    struct figures f;
    const double *v = x->v;
    size_t n = x->count;

    if (n)
        qsort(x->v, n, sizeof *x->v, pr_double_compare);
    if (n >= 5) {
        v++;
        n -= 2;
    }
    pr_suite_compute_stats(v, n, &f.stats);
    f.q1 = n ? pr_steady_quantile(v, n, 0.25) : (double)NAN;
    f.median = n ? pr_steady_quantile(v, n, 0.5) : (double)NAN;
    f.q3 = n ? pr_steady_quantile(v, n, 0.75) : (double)NAN;
    f.sem = f.stats.std / sqrt((double)n);
    return f;
}

/* ---- a file joins its bench */

static int append_numbers(struct pr_suite_numbers *to,
                          const struct pr_suite_numbers *x)
{
    int rc = PR_OK;

    for (size_t i = 0; !rc && i < x->count; i++)
        rc = pr_suite_numbers_add(to, x->v[i]);
    return rc;
}

static struct pile *get_pile(struct benches *b, struct pile **list,
                             size_t *count, size_t *cap, const char *id)
{
    struct pile *p;

    for (size_t i = 0; i < *count; i++)
        if (strcmp((*list)[i].id, id) == 0)
            return &(*list)[i];
    p = pr_arena_grow(b->w->arena, *list, *count, cap, sizeof *p);
    if (!p)
        return NULL;
    *list = p;
    p[*count] = (struct pile){.id = id};
    return &p[(*count)++];
}

static int find_bench(struct benches *b, const char *name, struct bench **ret)
{
    uint32_t at = (uint32_t)b->count;
    struct bench *list;
    int rc = pr_keyset_put(&b->names, name, (uint32_t)strlen(name), at, &at);

    if (rc < 0)
        return rc;
    if (!rc) {
        list = pr_arena_grow(b->w->arena, b->list, b->count, &b->cap,
                             sizeof *list);
        if (!list)
            return PR_E_NOMEM;
        b->list = list;
        list[b->count++] = (struct bench){.name = name};
    }
    *ret = &b->list[at];
    return PR_OK;
}

/* d's rates are sorted by this. */
static int milabench_add_run(struct benches *b, struct bench *x,
                             struct pr_milabench_data *d, const char *path)
{
    struct pr_suite_child **runs = pr_arena_grow(
        b->w->arena, x->runs, x->run_count, &x->run_cap, sizeof *runs);
    struct pr_suite_child *run =
        PR_ARENA_NEW(b->w->arena, struct pr_suite_child);
    struct pr_suite_rate *rate =
        PR_ARENA_NEW(b->w->arena, struct pr_suite_rate);
    struct figures f = compute_rate_stats(&d->rates);

    if (!runs || !run || !rate)
        return PR_E_NOMEM;
    *rate =
        (struct pr_suite_rate){f.stats.mean, f.stats.std, (uint32_t)f.stats.n,
                               (uint32_t)d->rates.count};
    *run = (struct pr_suite_child){.path = path,
                                   .job_id = "",
                                   .device = d->device,
                                   .error = d->error,
                                   .good = pr_milabench_data_is_good(d),
                                   .total = d->end_time - d->start_time,
                                   .rates = rate,
                                   .rate_count = d->rates.count ? 1 : 0};
    x->runs = runs;
    runs[x->run_count++] = run;
    return pr_suite_slices_keep(&d->slices, b->w->arena, run) ? PR_OK
                                                              : PR_E_NOMEM;
}

static int add_loads(struct benches *b, struct bench *x,
                     const struct pr_milabench_data *d)
{
    int rc = PR_OK;

    for (size_t i = 0; !rc && i < d->load_count; i++) {
        struct pile *p = get_pile(b, &x->loads, &x->load_count, &x->load_cap,
                                  d->loads[i].id);
        rc = p ? append_numbers(&p->memory, &d->loads[i].memory) : PR_E_NOMEM;
        if (!rc)
            rc = append_numbers(&p->power, &d->loads[i].power);
    }
    return rc;
}

static int milabench_join_run(struct benches *b, struct pr_milabench_data *d,
                              const char *path)
{
    struct bench *x;
    struct pile *p = NULL;
    int rc = find_bench(b, d->name, &x);

    if (!rc && !x->n++) {
        x->energy = d->energy / 1000;
        x->elapsed = d->last_time - d->first_time;
    }
    if (!rc)
        rc = append_numbers(&x->rates, &d->rates);
    if (!rc && d->has_device && d->rates.count) {
        p = get_pile(b, &x->devices, &x->device_count, &x->device_cap,
                     d->device);
        rc = p ? append_numbers(&p->rates, &d->rates) : PR_E_NOMEM;
    }
    if (!rc)
        rc = add_loads(b, x, d);
    if (!rc)
        rc = pr_suite_numbers_add(&x->wall, d->end_time - d->start_time);
    if (rc)
        return rc;
    x->group = d->group ? d->group : d->name;
    x->gpus = d->gpus > x->gpus ? d->gpus : x->gpus;
    x->weight = d->weight;
    x->enabled = d->enabled;
    x->failures += !pr_milabench_data_is_good(d);
    if (!b->w->suite.host.cpu && !b->w->suite.host.gpu)
        b->w->suite.host = d->host;
    return milabench_add_run(b, x, d, path);
}

/* A run that did not end is named, and left out. */
static int milabench_read_text(struct benches *b, const char *path,
                               const char *text, size_t len, struct pr_err *err)
{
    struct pr_suite_build *w = b->w;
    struct pr_milabench_data d;
    struct pr_err bad;
    int rc = pr_milabench_data_read(&d, text, len, w->arena, b->scratch,
                                    b->opts->curve, err);

    w->suite.files++;
    if (!rc && !d.has_config) {
        w->suite.skipped++;
    } else if (!rc && (!d.started || !d.ended)) {
        pr_fail(&bad, PR_E_FORMAT, path,
                "the run has not ended, and does not "
                "count");
        rc = pr_suite_add_bad_file(w, &bad, err);
    } else if (!rc && milabench_join_run(b, &d, path)) {
        rc = pr_fail_nomem(err);
    }
    pr_milabench_data_free(&d);
    return rc;
}

/* ---- benches become tests */

static double find_load_peak(const struct pile *p, size_t n, double *ret_watts)
{
    double most = (double)NAN, watts = 0;

    for (size_t i = 0; i < n; i++) {
        struct pr_suite_numbers memory = p[i].memory, power = p[i].power;
        struct figures f = compute_rate_stats(&memory);
        most = isnan(most) || f.stats.max > most ? f.stats.max : most;
        watts += compute_rate_stats(&power).median;
    }
    *ret_watts = n ? watts / (double)n : (double)NAN;
    return most;
}

/* Rates by power as its report has it: nothing where energy is unknown. */
static double per_watt(const struct bench *x, double mean)
{
    double watts;

    if (!(x->elapsed > 0))
        return 0;
    watts = x->energy / x->elapsed;
    return watts == 0 && isnan(mean) ? 0 : mean / watts;
}

static int fill_devices(struct benches *b, struct bench *x,
                        struct pr_suite_test *t)
{
    struct pr_suite_device *d =
        PR_ARENA_ARRAY(b->w->arena, struct pr_suite_device, x->device_count);

    if (!d)
        return PR_E_NOMEM;
    for (size_t i = 0; i < x->device_count; i++) {
        const char *id = x->devices[i].id;
        d[i].id = id;
        d[i].number = pr_suite_device_number(id, strlen(id));
        d[i].stats = compute_rate_stats(&x->devices[i].rates).stats;
    }
    t->devices = d;
    t->device_count = x->device_count;
    return PR_OK;
}

static int fill_test(struct benches *b, struct bench *x,
                     struct pr_suite_test *t)
{
    struct pr_milabench_test *ret =
        PR_ARENA_NEW(b->w->arena, struct pr_milabench_test);
    struct figures f = compute_rate_stats(&x->rates);

    if (!ret)
        return PR_E_NOMEM;
    *ret = (struct pr_milabench_test){.group = x->group,
                                      .gpus = x->gpus,
                                      .q1 = f.q1,
                                      .median = f.median,
                                      .q3 = f.q3,
                                      .sem = f.sem,
                                      .weight = x->weight,
                                      .enabled = x->enabled,
                                      .has_load = x->load_count > 0};
    ret->peak_memory = find_load_peak(x->loads, x->load_count, &ret->watts);
    ret->per_watt = per_watt(x, f.stats.mean);
    ret->kilojoules = x->elapsed > 0 ? x->energy : 0;
    *t = (struct pr_suite_test){.name = x->name,
                                .n = x->n,
                                .failures = x->failures,
                                .train = f.stats,
                                .total = compute_rate_stats(&x->wall).stats,
                                .peak_memory = ret->peak_memory,
                                .runs = x->runs,
                                .run_count = x->run_count,
                                .bench = ret};
    return fill_devices(b, x, t);
}

static int by_group(const void *a, const void *b)
{
    const struct pr_suite_test *x = a, *y = b;
    int order = strcmp(x->bench->group, y->bench->group);

    return order ? order : strcmp(x->name, y->name);
}

static int fill_suite(struct benches *b, struct pr_err *err)
{
    struct pr_suite_test *tests =
        PR_ARENA_ARRAY(b->w->arena, struct pr_suite_test, b->count);
    int rc = tests ? PR_OK : PR_E_NOMEM;

    for (size_t i = 0; !rc && i < b->count; i++)
        rc = fill_test(b, &b->list[i], &tests[i]);
    if (rc)
        return pr_fail_nomem(err);
    if (b->count)
        qsort(tests, b->count, sizeof *tests, by_group);
    b->w->suite.tests = tests;
    b->w->suite.count = b->count;
    return PR_OK;
}

/* ---- where they come from */

static int milabench_begin_suite(struct benches *b, struct pr_suite_build *w,
                                 const struct pr_suite_read_opts *opts,
                                 struct pr_err *err)
{
    *b = (struct benches){.w = w, .opts = opts, .scratch = pr_arena_new(65536)};
    w->suite.host.gpu_memory = (double)NAN;
    return b->scratch ? PR_OK : pr_fail_nomem(err);
}

static int milabench_finish_suite(struct benches *b, int rc, struct pr_err *err)
{
    if (!rc)
        rc = fill_suite(b, err);
    benches_done(b);
    return rc;
}

/* Folders of an installation or preparation hold no runs. */
static bool is_aside(const char *path, const char *root)
{
    size_t n = strlen(root);
    const char *p = strncmp(path, root, n) == 0 ? path + n : path;

    while ((p = strchr(p, '/'))) {
        p++;
        if ((pr_text_starts_with(p, "install") ||
             pr_text_starts_with(p, "prepare")) &&
            strchr(p, '/'))
            return true;
    }
    return false;
}

static int milabench_read_file(struct benches *b, const char *path,
                               struct pr_err *err)
{
    struct pr_view view;
    struct pr_err bad;
    int rc;

    if (is_aside(path, b->w->suite.path))
        return PR_OK;
    rc = pr_file_map(path, &view, &bad);
    if (rc)
        return pr_suite_add_bad_file(b->w, &bad, err);
    rc = milabench_read_text(b, path, view.data, view.len, err);
    pr_file_unmap(&view);
    return rc;
}

int pr_suite_read_milabench(struct pr_suite_build *w,
                            const struct pr_suite_paths *files,
                            const struct pr_suite_read_opts *opts,
                            struct pr_err *err)
{
    struct benches b;
    int rc = milabench_begin_suite(&b, w, opts, err);

    for (size_t i = 0; !rc && i < files->count; i++)
        rc = milabench_read_file(&b, files->list[i], err);
    return milabench_finish_suite(&b, rc, err);
}

static int milabench_read_member(struct benches *b, struct pr_inflate *z,
                                 const struct pr_archive_member *m,
                                 struct pr_buf *text, struct pr_err *err)
{
    const char *path = pr_arena_printf(b->w->arena, "%s/%.*s", b->w->suite.path,
                                       (int)m->name_len, m->name);
    struct pr_err bad;
    int rc;

    if (!path)
        return pr_fail_nomem(err);
    if (m->name_len < 5 || memcmp(m->name + m->name_len - 5, ".data", 5) != 0 ||
        is_aside(path, b->w->suite.path))
        return PR_OK;
    rc = pr_zipdir_read_member(m, z, text, path, &bad);
    if (rc == PR_E_NOMEM)
        return pr_fail_nomem(err);
    return rc ? pr_suite_add_bad_file(b->w, &bad, err)
              : milabench_read_text(b, path, text->data, text->len, err);
}

int pr_suite_read_milabench_zip(struct pr_suite_build *w, const char *text,
                                size_t len,
                                const struct pr_suite_read_opts *opts,
                                struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf room = PR_BUF_INIT(MAX_ZIP_MEMBER);
    struct pr_inflate *inflate = pr_inflate_new();
    struct pr_zipdir z;
    struct pr_archive_member m;
    struct benches b;
    int rc = milabench_begin_suite(&b, w, opts, err);

    if (!rc && !inflate)
        rc = pr_fail_nomem(err);
    if (!rc)
        rc = pr_zipdir_open(&z, text, len, w->suite.path, err);
    while (!rc && (rc = pr_zipdir_next(&z, &m, err)) == 1)
        rc = milabench_read_member(&b, inflate, &m, &room, err);
    pr_inflate_free(inflate);
    return milabench_finish_suite(&b, rc, err);
}
