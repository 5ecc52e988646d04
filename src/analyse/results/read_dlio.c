/*
 * A folder of DLIO's results: what the run was told, its summary and epochs,
 * the steps of every rank, and what iostat saw.
 */
#include "analyse/results/read_dlio.h"

#include "base/file.h"
#include "base/json/json.h"
#include "base/stats/statistics.h"
#include "base/text.h"
#include "conf/read/yaml.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what a run was told */

/*
 * From hydra's config and overrides, from our own params.json, or from its
 * log.
 */

enum { MAX_FILE = 1 << 30, MAX_CONFIG = 16 << 20, MAX_LOG = 64 << 20 };

/* A JSON file of the folder. 1: read; 0: it is not there, or no JSON. */
static int dlio_read_json(const char *dir, const char *name, struct pr_arena *a,
                          struct pr_value *ret, struct pr_err *err)
{
    const char *path = pr_arena_printf(a, "%s/%s", dir, name);
    struct pr_json_in in = {.name = path};
    int rc;

    if (!path)
        return pr_fail_nomem(err);
    rc = pr_file_read_in(dir, path, MAX_FILE, a, &in.text, &in.len, err);
    if (!rc)
        rc = pr_json_read(&in, a, ret, NULL, err);
    return rc == PR_E_NOMEM ? rc : rc == PR_OK;
}

/* "reader.batch_size" in a tree, or as a name in a flat map. */
static const struct pr_value *setup_find(const struct pr_value *map,
                                         const char *path)
{
    const struct pr_value *v = pr_get(map, path);
    const char *dot = strchr(path, '.');
    char part[64];

    if (v || !dot || (size_t)(dot - path) >= sizeof part)
        return v;
    memcpy(part, path, (size_t)(dot - path));
    part[dot - path] = '\0';
    map = pr_get(map, part);
    return map ? setup_find(map, dot + 1) : NULL;
}

/* The first of several names that has a number above 0. */
static double setup_find_number(const struct pr_value *map,
                                const char *const *paths)
{
    for (; *paths; paths++) {
        const struct pr_value *v = setup_find(map, *paths);
        if (v && pr_value_is_number(v) && pr_value_number(v) > 0 &&
            pr_value_number(v) < 1e18)
            return pr_value_number(v);
    }
    return 0;
}

static void setup_read_count(const struct pr_value *map,
                             const char *const *paths, uint64_t *to)
{
    double n = setup_find_number(map, paths);

    if (n >= 1)
        *to = (uint64_t)n;
}

static void setup_read_name(struct pr_arena *a, const struct pr_value *map,
                            struct pr_dlio_setup *s)
{
    const struct pr_value *v = setup_find(map, "model.name");

    if (!v || v->kind != PR_STR)
        v = pr_get(map, "model");
    if (v && v->kind == PR_STR && v->len)
        s->name = pr_arena_str(a, v->s);
}

/* Old names beside those of today. */
static void setup_read_map(struct pr_arena *a, const struct pr_value *map,
                           struct pr_dlio_setup *s)
{
    static const char *const epochs[] = {"train.epochs", "train.n_epochs",
                                         NULL};
    static const char *const batch[] = {
        "data_reader.batch_size", "reader.batch_size", "data_loader.batch_size",
        "dataset.batch_size", NULL};
    static const char *const batch_eval[] = {
        "data_reader.batch_size_eval", "reader.batch_size_eval",
        "data_loader.batch_size_eval", "dataset.batch_size_eval", NULL};
    static const char *const record[] = {"dataset.record_length_bytes",
                                         "dataset.record_length", NULL};
    const struct pr_value *eval = setup_find(map, "workflow.evaluation");
    double bytes = setup_find_number(map, record);

    setup_read_name(a, map, s);
    setup_read_count(map, epochs, &s->epochs);
    setup_read_count(map, batch, &s->batch);
    setup_read_count(map, batch_eval, &s->batch_eval);
    if (bytes > 0)
        s->record_bytes = bytes;
    if (eval && eval->kind == PR_BOOL)
        s->evaluation = eval->b;
}

/* 1: read; 0: not there or no YAML. */
static int read_yaml(const char *dir, const char *folder, const char *name,
                     struct pr_arena *a, struct pr_value *ret,
                     struct pr_err *err)
{
    const char *path = *folder == '/'
                           ? pr_arena_printf(a, "%s/%s", folder, name)
                           : pr_arena_printf(a, "%s/%s/%s", dir, folder, name);
    const char *text;
    size_t len;
    int rc;

    if (!path)
        return pr_fail_nomem(err);
    rc = pr_file_read_in(*folder == '/' ? NULL : dir, path, MAX_CONFIG, a,
                         &text, &len, err);
    if (!rc)
        rc = pr_yaml_read(text, len, path, a, ret, err);
    return rc == PR_E_NOMEM ? rc : rc == PR_OK;
}

/* Overrides count over the config: old versions wrote it without them. */
static void setup_read_override(const char *text, struct pr_dlio_setup *s)
{
    static const struct {
        const char *name;
        size_t offset;
    } rows[] = {
        {"train.epochs=", offsetof(struct pr_dlio_setup, epochs)},
        {"reader.batch_size=", offsetof(struct pr_dlio_setup, batch)},
        {"reader.batch_size_eval=", offsetof(struct pr_dlio_setup, batch_eval)},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *at = strstr(text, rows[i].name);
        long n = at ? strtol(at + strlen(rows[i].name), NULL, 10) : 0;
        if (n > 0)
            *(uint64_t *)((char *)s + rows[i].offset) = (uint64_t)n;
    }
}

static int setup_read_hydra(const char *dir, const char *folder,
                            struct pr_arena *a, struct pr_dlio_setup *s,
                            struct pr_err *err)
{
    struct pr_value v;
    const struct pr_value *tree;
    int rc = read_yaml(dir, folder, "config.yaml", a, &v, err), config = rc;

    if (rc == 1) {
        tree = pr_get(&v, "workload");
        setup_read_map(a, tree ? tree : &v, s);
    }
    if (rc >= 0)
        rc = read_yaml(dir, folder, "overrides.yaml", a, &v, err);
    for (uint32_t i = 0; rc == 1 && v.kind == PR_LIST && i < v.len; i++)
        if (v.items[i].kind == PR_STR)
            setup_read_override(v.items[i].s, s);
    return rc < 0 ? rc : rc || config;
}

/* "Max steps per epoch: 8 = 1 * 32 / 4 / 1 (samples per file …": the third
 * number is the batch. */
static int setup_read_log(const char *dir, struct pr_arena *a,
                          struct pr_dlio_setup *s, struct pr_err *err)
{
    const char *path = pr_arena_printf(a, "%s/dlio.log", dir), *text, *at;
    unsigned long long batch;
    size_t len;
    int rc = path ? pr_file_read_in(dir, path, MAX_LOG, a, &text, &len, err)
                  : pr_fail_nomem(err);

    if (rc)
        return rc == PR_E_NOMEM ? rc : PR_OK;
    at = strstr(text, "Max steps per epoch:");
    if (at && sscanf(at, "Max steps per epoch: %*u = %*u * %*u / %20llu",
                     &batch) == 1)
        s->batch = batch;
    return PR_OK;
}

/* Fills in what config.yaml, overrides.yaml, params.json or the log of the
 * run say. */
static int dlio_read_setup(const char *dir, const char *hydra,
                           struct pr_arena *a, struct pr_dlio_setup *setup,
                           struct pr_err *err)
{
    struct pr_dlio_setup found = *setup;
    struct pr_value params;
    int rc;

    if (hydra) {
        rc = setup_read_hydra(dir, hydra, a, &found, err);
    } else {
        rc = setup_read_hydra(dir, ".hydra", a, &found, err);
        if (!rc)
            rc = setup_read_hydra(dir, "dlio_config", a, &found, err);
    }
    if (!rc) {
        rc = dlio_read_json(dir, "params.json", a, &params, err);
        if (rc == 1)
            setup_read_map(a, &params, &found);
    }
    if (rc == 1) { /* what DLIO has when its config does not say */
        found.batch += !found.batch;
        found.batch_eval += !found.batch_eval;
    }
    if (rc == 0 && !found.batch)
        rc = setup_read_log(dir, a, &found, err);
    if (rc < 0)
        return rc;
    *setup = found;
    return PR_OK;
}

/* ---- R_output.json, one a rank: how long each step loaded and took */

/* The phase of an epoch, made when it is new. NULL: out of memory. */
static struct pr_dlio_phase *dlio_get_phase(struct pr_arena *a,
                                            struct pr_dlio_read_epoch *e,
                                            const char *name)
{
    struct pr_dlio_phase *p;

    for (p = e->phases; p; p = p->next)
        if (strcmp(p->name, name) == 0)
            return p;
    p = PR_ARENA_NEW(a, struct pr_dlio_phase);
    if (!p)
        return NULL;
    p->name = name;
    p->start = p->end = p->duration = "";
    p->seconds = (double)NAN;
    p->evaluation = pr_text_starts_with(name, "eval");
    *(e->last ? &e->last->next : &e->phases) = p;
    e->last = p;
    return p;
}

enum { MAX_RANKS = 10000000 };

struct numbers {
    uint64_t *items;
    size_t count, cap;
};

/* "12_output.json". */
static bool parse_rank_name(const char *name, uint64_t *ret)
{
    size_t n = strspn(name, "0123456789");

    if (!n || n > 8 || strcmp(name + n, "_output.json") != 0)
        return false;
    *ret = strtoull(name, NULL, 10);
    return true;
}

static int by_rank_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static int find_ranks(const char *dir, struct pr_arena *a, struct numbers *ret,
                      struct pr_err *err)
{
    DIR *d = opendir(dir);
    struct dirent *e;
    uint64_t rank, *item;

    if (!d)
        return pr_fail_errno(err, PR_E_IO, dir, "cannot open");
    while ((e = readdir(d)) && ret->count < MAX_RANKS) {
        if (!parse_rank_name(e->d_name, &rank))
            continue;
        item = PR_PUSH(a, ret);
        if (!item) {
            closedir(d);
            return pr_fail_nomem(err);
        }
        *item = rank;
    }
    closedir(d);
    if (ret->count)
        qsort(ret->items, ret->count, sizeof *ret->items, by_rank_number);
    return PR_OK;
}

static double sum_number_list(const struct pr_value *list)
{
    long double sum = 0;

    if (!list || list->kind != PR_LIST)
        return 0;
    for (uint32_t i = 0; i < list->len; i++)
        if (pr_value_is_number(&list->items[i]) &&
            isfinite(pr_value_number(&list->items[i])))
            sum += pr_value_number(&list->items[i]);
    return (double)sum;
}

/* Adds a rank's samples a second, step by step; steps that not all ranks have
 * are left out, and so is one that took no time at all. */
static bool add_rates(struct pr_arena *a, struct pr_dlio_phase *p,
                      const struct pr_value *proc, uint64_t batch)
{
    if (!p->rated) {
        p->rates = PR_ARENA_ARRAY(a, double, proc->len + 1);
        if (!p->rates)
            return false;
        p->rate_count = proc->len;
        p->rated = true;
    }
    if (proc->len < p->rate_count)
        p->rate_count = proc->len;
    for (size_t i = 0; i < p->rate_count; i++) {
        const struct pr_value *v = &proc->items[i];
        double s = pr_value_is_number(v) ? pr_value_number(v) : 0;
        p->rates[i] += s > 0 && isfinite(s) ? (double)batch / s : (double)NAN;
    }
    return true;
}

static struct pr_dlio_rank *dlio_add_rank(struct pr_arena *a,
                                          struct pr_dlio_phase *p)
{
    struct pr_dlio_rank *ranks =
        pr_arena_grow(a, p->ranks, p->rank_count, &p->rank_cap, sizeof *ranks);

    if (!ranks)
        return NULL;
    p->ranks = ranks;
    return &ranks[p->rank_count++];
}

static int read_phase(struct pr_arena *a, const struct pr_dlio_run *run,
                      struct pr_dlio_phase *p, const struct pr_value *epoch,
                      uint64_t rank, struct pr_err *err)
{
    static const char *const names[] = {"load", "proc", "compute"};
    const struct pr_value *lists[3];
    struct pr_dlio_rank *r = dlio_add_rank(a, p);
    uint64_t batch = p->evaluation ? run->setup.batch_eval : run->setup.batch;

    if (!r)
        return pr_fail_nomem(err);
    for (int i = 0; i < 3; i++) {
        lists[i] = pr_get(epoch, names[i]);
        lists[i] = lists[i] ? pr_get(lists[i], p->name) : NULL;
    }
    *r = (struct pr_dlio_rank){
        .rank = rank,
        .load_s = sum_number_list(lists[0]),
        .proc_s = sum_number_list(lists[1]),
        .compute_s = sum_number_list(lists[2]),
        .au = pr_number_at(pr_get(epoch, "au"), p->name, NAN),
        .throughput = pr_number_at(pr_get(epoch, "throughput"), p->name, NAN)};
    p->steps_known = true;
    if (!lists[1] || lists[1]->kind != PR_LIST)
        return PR_OK;
    r->steps = lists[1]->len;
    if (!lists[2] || lists[2]->kind != PR_LIST) /* of an older version */
        r->compute_s = r->proc_s - r->load_s;
    return !batch || add_rates(a, p, lists[1], batch) ? PR_OK
                                                      : pr_fail_nomem(err);
}

static int read_rank_epoch(struct pr_arena *a, const struct pr_dlio_run *run,
                           struct pr_dlio_read_epoch *e,
                           const struct pr_value *epoch, uint64_t rank,
                           struct pr_err *err)
{
    const struct pr_value *load = pr_get(epoch, "load");
    int rc = PR_OK;

    for (uint32_t i = 0; load && load->kind == PR_MAP && i < load->len && !rc;
         i++) {
        const char *name = pr_arena_str(a, load->members[i].key);
        struct pr_dlio_phase *p = name ? dlio_get_phase(a, e, name) : NULL;
        rc = p ? read_phase(a, run, p, epoch, rank, err) : pr_fail_nomem(err);
    }
    return rc;
}

static int read_rank(const char *dir, struct pr_arena *a, struct pr_arena *file,
                     struct pr_dlio_run *run, uint64_t rank, struct pr_err *err)
{
    struct pr_value v;
    char name[48], key[24];
    int rc;

    snprintf(name, sizeof name, "%llu_output.json", (unsigned long long)rank);
    rc = dlio_read_json(dir, name, file, &v, err);
    if (rc != 1)
        return rc < 0 ? rc : err->code;
    for (size_t i = 0; i < run->epoch_count && rc >= 0; i++) {
        const struct pr_value *epoch;
        snprintf(key, sizeof key, "%zu", i + 1);
        epoch = pr_get(&v, key);
        rc = epoch ? read_rank_epoch(a, run, &run->epochs[i], epoch, rank, err)
                   : PR_OK;
    }
    run->ranks++;
    return rc < 0 ? rc : PR_OK;
}

static void settle_phase(struct pr_dlio_run *run, struct pr_dlio_phase *p)
{
    size_t kept = 0;

    for (size_t i = 0; i < p->rank_count; i++) {
        p->load_s += p->ranks[i].load_s;
        p->proc_s += p->ranks[i].proc_s;
    }
    p->load_s /= (double)run->ranks;
    p->proc_s /= (double)run->ranks;
    run->load_s += p->load_s;
    run->proc_s += p->proc_s;
    for (size_t i = 0; i < p->rate_count; i++)
        if (isfinite(p->rates[i]))
            p->rates[kept++] = p->rates[i];
    pr_dlio_stats(p->rates, kept, &p->samples);
    for (size_t i = 0; i < kept; i++)
        p->rates[i] *= run->setup.record_bytes / 1024 / 1024;
    pr_dlio_stats(p->rates, run->setup.record_bytes > 0 ? kept : 0, &p->mb);
}

/* Reads R_output.json of all ranks into the phases of run. */
static int dlio_read_ranks(const char *dir, struct pr_arena *a,
                           struct pr_dlio_run *run, struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *file = pr_arena_new(65536);
    struct numbers ranks = {0};
    struct pr_err local = {0};
    struct pr_err *why = err ? err : &local;
    int rc = file ? find_ranks(dir, a, &ranks, why) : pr_fail_nomem(why);

    for (size_t i = 0; i < ranks.count && !rc; i++) {
        rc = read_rank(dir, a, file, run, ranks.items[i], why);
        pr_arena_reset(file);
    }
    for (size_t i = 0; i < run->epoch_count && run->ranks && !rc; i++)
        for (struct pr_dlio_phase *p = run->epochs[i].phases; p; p = p->next)
            settle_phase(run, p);
    return rc;
}

/* ---- iostat.json: disks and processors in each phase, and over all */

static const char *const disk_keys[] = {
#define X(name, key, label) key,
    PR_DLIO_DISK_MEASURES(X)
#undef X
};

static const char *const cpu_keys[] = {
#define X(name, key, label) key,
    PR_DLIO_CPU_MEASURES(X)
#undef X
};

/* A span of time; all: whatever fell into some phase. */
struct span {
    int64_t from, to;
    bool all;
};

struct reader {
    struct pr_arena *arena;
    struct pr_dlio_run *run;
    const struct pr_value *samples; /* a list */
    int64_t *times;                 /* of the samples */
    bool *used;                     /* of the samples: in some phase */
    double *series;                 /* room for one value of every sample */
};

enum { NO_TIME = -1 };

static void read_times(struct reader *r)
{
    for (uint32_t i = 0; i < r->samples->len; i++) {
        const struct pr_value *t = pr_get(&r->samples->items[i], "timestamp");
        if (!t || t->kind != PR_STR || !pr_dlio_parse_time(t->s, &r->times[i]))
            r->times[i] = NO_TIME;
    }
}

static bool in_span(const struct reader *r, const struct span *s, uint32_t i)
{
    return s->all ? r->used[i] : r->times[i] >= s->from && r->times[i] < s->to;
}

static bool iostat_get_number(const struct pr_value *map, const char *key,
                              double *ret)
{
    const struct pr_value *v = map ? pr_get(map, key) : NULL;

    if (!v || !pr_value_is_number(v) || !isfinite(pr_value_number(v)))
        return false;
    *ret = pr_value_number(v);
    return true;
}

static bool cpu_value(const struct pr_value *sample, size_t figure, double *ret)
{
    const struct pr_value *cpu = pr_get(sample, "avg-cpu");
    double nice = 0;

    if (!iostat_get_number(cpu, cpu_keys[figure], ret))
        return false;
    if (figure == PR_DLIO_CPU_USER && iostat_get_number(cpu, "nice", &nice))
        *ret += nice; /* one figure for both, as DLIO has it */
    return true;
}

static bool disk_value(const struct pr_value *sample, const char *disk,
                       size_t figure, double *ret)
{
    const struct pr_value *list = pr_get(sample, "disk");

    for (uint32_t i = 0; list && list->kind == PR_LIST && i < list->len; i++) {
        const struct pr_value *name = pr_get(&list->items[i], "disk_device");
        if (name && name->kind == PR_STR && strcmp(name->s, disk) == 0)
            return iostat_get_number(&list->items[i], disk_keys[figure], ret);
    }
    return false;
}

/* The series of one figure; disk NULL: of the processors. */
static void collect_iostat_series(struct reader *r, const struct span *s,
                                  const char *disk, size_t figure,
                                  struct pr_dlio_stats *ret)
{
    size_t n = 0;

    for (uint32_t i = 0; i < r->samples->len; i++) {
        const struct pr_value *sample = &r->samples->items[i];
        if (in_span(r, s, i) &&
            (disk ? disk_value(sample, disk, figure, &r->series[n])
                  : cpu_value(sample, figure, &r->series[n])))
            n++;
    }
    pr_dlio_stats(r->series, n, ret);
}

static int read_machine(struct reader *r, const struct span *s,
                        struct pr_dlio_machine *m, struct pr_err *err)
{
    m->disks =
        PR_ARENA_ARRAY(r->arena, struct pr_dlio_disk, r->run->disk_count + 1);
    if (!m->disks)
        return pr_fail_nomem(err);
    for (size_t f = 0; f < PR_DLIO_CPU_COUNT; f++)
        collect_iostat_series(r, s, NULL, f, &m->cpu[f]);
    for (size_t d = 0; d < r->run->disk_count; d++)
        for (size_t f = 0; f < PR_DLIO_DISK_COUNT; f++)
            collect_iostat_series(r, s, r->run->disks[d], f,
                                  &m->disks[d].figure[f]);
    return PR_OK;
}

static bool is_disk_known(const struct pr_dlio_run *run, const char *disk)
{
    for (size_t i = 0; i < run->disk_count; i++)
        if (strcmp(run->disks[i], disk) == 0)
            return true;
    return false;
}

static int find_disks(struct reader *r, struct pr_err *err)
{
    enum { MAX_DISKS = 64 };
    struct pr_dlio_run *run = r->run;

    run->disks = PR_ARENA_ARRAY(r->arena, const char *, MAX_DISKS);
    if (!run->disks)
        return pr_fail_nomem(err);
    for (uint32_t i = 0; i < r->samples->len; i++) {
        const struct pr_value *list = pr_get(&r->samples->items[i], "disk");
        for (uint32_t k = 0; list && list->kind == PR_LIST && k < list->len;
             k++) {
            const struct pr_value *name =
                pr_get(&list->items[k], "disk_device");
            if (name && name->kind == PR_STR && run->disk_count < MAX_DISKS &&
                !is_disk_known(run, name->s))
                run->disks[run->disk_count++] = name->s;
        }
    }
    return PR_OK;
}

/* sysstat.hosts[0].statistics; NULL when it has another form. */
static const struct pr_value *find_iostat_samples(const struct pr_value *root)
{
    const struct pr_value *v = pr_get(root, "sysstat");

    v = v ? pr_get(v, "hosts") : NULL;
    if (!v || v->kind != PR_LIST || !v->len)
        return NULL;
    v = pr_get(&v->items[0], "statistics");
    return v && v->kind == PR_LIST && v->len ? v : NULL;
}

static int read_iostat_phases(struct reader *r, struct pr_err *err)
{
    struct span s = {0};
    int rc = PR_OK;

    for (size_t i = 0; i < r->run->epoch_count; i++)
        for (struct pr_dlio_phase *p = r->run->epochs[i].phases; p && !rc;
             p = p->next) {
            if (!pr_dlio_parse_time(p->start, &s.from) ||
                !pr_dlio_parse_time(p->end, &s.to))
                s.from = s.to = 0;
            for (uint32_t k = 0; k < r->samples->len; k++)
                r->used[k] = r->used[k] || in_span(r, &s, k);
            rc = read_machine(r, &s, &p->machine, err);
        }
    s.all = true;
    return rc ? rc : read_machine(r, &s, &r->run->machine, err);
}

/* Lays iostat.json over the phases, if there is one. */
static int dlio_read_iostat(const char *dir, struct pr_arena *a,
                            struct pr_dlio_run *run, struct pr_err *err)
{
    struct reader r = {.arena = a, .run = run};
    struct pr_value *root = PR_ARENA_NEW(a, struct pr_value);
    int rc = root ? dlio_read_json(dir, "iostat.json", a, root, err)
                  : pr_fail_nomem(err);

    if (rc != 1)
        return rc;
    r.samples = find_iostat_samples(root);
    if (!r.samples)
        return PR_OK;
    r.series = PR_ARENA_ARRAY(a, double, r.samples->len);
    r.times = PR_ARENA_ARRAY(a, int64_t, r.samples->len);
    r.used = PR_ARENA_ARRAY(a, bool, r.samples->len);
    if (!r.series || !r.times || !r.used)
        return pr_fail_nomem(err);
    read_times(&r);
    rc = find_disks(&r, err);
    if (!rc)
        rc = read_iostat_phases(&r, err);
    run->has_iostat = rc == PR_OK;
    return rc;
}

/* ---- the folder: summary and epochs */

enum { MAX_EPOCHS = 1000000 };

/* Python's inclusive cut point i of 100. */
static double cut_point(const double *sorted, size_t n, size_t i)
{
    size_t whole = i * (n - 1) / 100, part = i * (n - 1) % 100;

    if (!part)
        return sorted[whole];
    return (sorted[whole] * (double)(100 - part) +
            sorted[whole + 1] * (double)part) /
           100;
}

void pr_dlio_stats(double *series, size_t n, struct pr_dlio_stats *ret)
{
    long double sum = 0, squares = 0, mean;

    *ret = (struct pr_dlio_stats){.n = n};
    if (n < 2)
        return;
    qsort(series, n, sizeof *series, pr_double_compare);
    for (size_t i = 0; i < n; i++)
        sum += series[i];
    mean = sum / n;
    for (size_t i = 0; i < n; i++)
        squares += (series[i] - mean) * (series[i] - mean);
    ret->mean = (double)mean;
    ret->std = (double)sqrtl(squares / (n - 1));
    ret->min = series[0];
    ret->max = series[n - 1];
    ret->median =
        n % 2 ? series[n / 2] : (series[n / 2 - 1] + series[n / 2]) / 2;
    ret->p90 = cut_point(series, n, 90);
    ret->p99 = cut_point(series, n, 99);
}

/* Days since 1970, by the proleptic Gregorian calendar. */
static int64_t days_since_1970(int64_t y, int64_t m, int64_t d)
{
    y -= m <= 2;
    int64_t era = (y >= 0 ? y : y - 399) / 400, of_era = y - era * 400;
    int64_t of_year = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;

    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year -
           719468;
}

/* ".920473" in microseconds. */
static int64_t parse_fraction_us(const char *p)
{
    int64_t us = 0;

    if (*p != '.')
        return 0;
    for (int64_t unit = 100000; unit && isdigit((unsigned char)*++p);
         unit /= 10)
        us += (*p - '0') * unit;
    return us;
}

bool pr_dlio_parse_time(const char *text, int64_t *ret_us)
{
    int y, mo, d, h, mi, s, used = 0;

    if (sscanf(text, "%4d-%2d-%2d%*1[T ]%2d:%2d:%2d%n", &y, &mo, &d, &h, &mi,
               &s, &used) != 6) {
        if (sscanf(text, "%2d/%2d/%4d %2d:%2d:%2d%n", &mo, &d, &y, &h, &mi, &s,
                   &used) != 6)
            return false;
        y += y < 100 ? 2000 : 0;
        if (strcmp(text + used, " PM") == 0 && h < 12)
            h += 12;
        else if (strcmp(text + used, " AM") == 0 && h == 12)
            h = 0;
    }
    if (mo < 1 || mo > 12 || d < 1 || d > 31)
        return false;
    *ret_us =
        (((days_since_1970(y, mo, d) * 24 + h) * 60 + mi) * 60 + s) * 1000000 +
        parse_fraction_us(text + used);
    return true;
}

/* A member as text; "" when it is missing. Numbers with two decimals. */
static const char *dlio_get_text(struct pr_arena *a, const struct pr_value *map,
                                 const char *key)
{
    const struct pr_value *v = pr_get(map, key);
    const char *text = "";

    if (v && v->kind == PR_STR)
        text = v->s;
    else if (v && pr_value_is_number(v))
        text = pr_arena_printf(a, "%.2f", pr_value_number(v));
    return text ? text : "";
}

static double seconds_between(const char *start, const char *end)
{
    int64_t from, to;

    if (!pr_dlio_parse_time(start, &from) || !pr_dlio_parse_time(end, &to))
        return (double)NAN;
    return (double)(to - from) / 1e6;
}

static int read_epoch_times(struct pr_arena *a, struct pr_dlio_read_epoch *e,
                            const struct pr_value *times, struct pr_err *err)
{
    e->start = dlio_get_text(a, times, "start");
    e->end = dlio_get_text(a, times, "end");
    e->duration = dlio_get_text(a, times, "duration");
    for (uint32_t i = 0; i < times->len; i++) {
        const struct pr_member *m = &times->members[i];
        struct pr_dlio_phase *p;

        if (m->value.kind != PR_MAP)
            continue;
        p = dlio_get_phase(a, e, m->key);
        if (!p)
            return pr_fail_nomem(err);
        p->start = dlio_get_text(a, &m->value, "start");
        p->end = dlio_get_text(a, &m->value, "end");
        p->duration = dlio_get_text(a, &m->value, "duration");
        p->seconds = seconds_between(p->start, p->end);
    }
    return PR_OK;
}

/* Epochs are the keys "1", "2", …, without a gap. */
static size_t count_epochs(const struct pr_value *stats)
{
    size_t n = 0;
    char key[24];

    if (stats->kind != PR_MAP)
        return 0;
    while (n < stats->len && n < MAX_EPOCHS) {
        const struct pr_value *v;
        snprintf(key, sizeof key, "%zu", n + 1);
        v = pr_get(stats, key);
        if (!v || v->kind != PR_MAP)
            break;
        n++;
    }
    return n;
}

static int read_epoch_stats(const char *dir, struct pr_arena *a,
                            struct pr_value *ret, struct pr_err *err)
{
    int rc = dlio_read_json(dir, "0_per_epoch_stats.json", a, ret, err);

    if (!rc)
        rc = dlio_read_json(dir, "per_epoch_stats.json", a, ret, err);
    if (!rc) /* the ranks may still tell how many there were */
        rc = dlio_read_json(dir, "0_output.json", a, ret, err);
    if (!rc)
        *ret = pr_null();
    return rc < 0 ? rc : PR_OK;
}

static int read_epochs(const char *dir, struct pr_arena *a,
                       struct pr_dlio_run *run, struct pr_err *err)
{
    struct pr_value stats;
    size_t n;
    char key[24];
    int rc = read_epoch_stats(dir, a, &stats, err);

    if (rc)
        return rc;
    n = count_epochs(&stats);
    if (run->setup.epochs && run->setup.epochs < n)
        n = (size_t)run->setup.epochs;
    run->epochs = PR_ARENA_ARRAY(a, struct pr_dlio_read_epoch, n + 1);
    if (!run->epochs)
        return pr_fail_nomem(err);
    run->epoch_count = n;
    for (size_t i = 0; i < n && !rc; i++) {
        struct pr_dlio_read_epoch *e = &run->epochs[i];
        e->number = (unsigned)(i + 1);
        e->start = e->end = e->duration = "";
        snprintf(key, sizeof key, "%zu", i + 1);
        /* Of a rank's own file only the number of epochs counts here. */
        if (!pr_get(pr_get(&stats, key), "load"))
            rc = read_epoch_times(a, e, pr_get(&stats, key), err);
    }
    return rc;
}

/* Samples a second of the epochs, as summary.json has them. */
static int read_throughput(struct pr_arena *a, struct pr_dlio_run *run,
                           struct pr_err *err)
{
    const struct pr_value *list = pr_get(&run->summary, "metric");
    size_t n = 0;
    double *series;

    list = list ? pr_get(list, "train_throughput_samples_per_second") : NULL;
    if (!list || list->kind != PR_LIST)
        return PR_OK;
    series = PR_ARENA_ARRAY(a, double, list->len + 1);
    if (!series)
        return pr_fail_nomem(err);
    for (uint32_t i = 0; i < list->len; i++)
        if (pr_value_is_number(&list->items[i]) &&
            isfinite(pr_value_number(&list->items[i])))
            series[n++] = pr_value_number(&list->items[i]);
    pr_dlio_stats(series, n, &run->samples);
    for (size_t i = 0; i < n; i++)
        series[i] *= run->setup.record_bytes / 1024 / 1024;
    pr_dlio_stats(series, run->setup.record_bytes > 0 ? n : 0, &run->mb);
    return PR_OK;
}

/* One number of a map by another; 0: there is none. */
static double divide_members(const struct pr_value *map, const char *of,
                             const char *by)
{
    const struct pr_value *a = map ? pr_get(map, of) : NULL;
    const struct pr_value *b = map ? pr_get(map, by) : NULL;

    return a && b && pr_value_is_number(a) && pr_value_is_number(b) &&
                   pr_value_number(b) > 0
               ? pr_value_number(a) / pr_value_number(b)
               : 0;
}

/* Of runs of ours it is known how much was read, whatever the config says. Of
 * others the mean size of a record follows from samples/s and MB/s, too. */
static void guess_record(struct pr_dlio_run *run)
{
    double ours =
        divide_members(pr_get(&run->summary, "prony"), "bytes_read", "samples");

    if (ours > 0)
        run->setup.record_bytes = ours;
    if (run->setup.record_bytes <= 0)
        run->setup.record_bytes =
            divide_members(pr_get(&run->summary, "metric"),
                           "train_io_mean_MB_per_second",
                           "train_throughput_mean_samples_per_second") *
            1048576;
}

static void read_span(struct pr_arena *a, struct pr_dlio_run *run)
{
    run->start = dlio_get_text(a, &run->summary, "start");
    run->end = dlio_get_text(a, &run->summary, "end");
    if (run->epoch_count && *run->epochs[0].start)
        run->start = run->epochs[0].start;
    if (run->epoch_count && *run->epochs[run->epoch_count - 1].end)
        run->end = run->epochs[run->epoch_count - 1].end;
    run->seconds = seconds_between(run->start, run->end);
}

int pr_dlio_read(const char *dir, const struct pr_dlio_opts *opts,
                 struct pr_arena *a, struct pr_dlio_run *ret,
                 struct pr_err *err)
{
    struct pr_dlio_run run = {.setup = opts->setup};
    struct pr_err local = {0};
    struct pr_err *why = err ? err : &local;
    int rc = dlio_read_json(dir, "summary.json", a, &run.summary, why);

    if (rc != 1) {
        if (why->code == PR_E_IO)
            pr_hint(why, "expected a folder of results, as DLIO makes one");
        return why->code;
    }
    if (run.summary.kind != PR_MAP)
        return pr_fail(err, PR_E_FORMAT, dir, "summary.json holds no map");
    rc = dlio_read_setup(dir, opts->hydra, a, &run.setup, err);
    if (rc)
        return rc;
    guess_record(&run);
    rc = read_epochs(dir, a, &run, err);
    if (!rc)
        rc = dlio_read_ranks(dir, a, &run, err);
    if (!rc && !run.ranks) {
        pr_fail(err, PR_E_FORMAT, dir,
                "there is a summary.json, but no RANK_output.json beside it");
        return pr_hint(err, "expected a folder of results, as DLIO makes one");
    }
    if (!rc)
        rc = read_throughput(a, &run, err);
    if (!rc)
        rc = dlio_read_iostat(dir, a, &run, err);
    if (rc)
        return rc;
    read_span(a, &run);
    *ret = run;
    return PR_OK;
}
