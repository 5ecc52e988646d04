/* R_output.json, one file a rank: how long each step loaded and took. */
#include "analyse/results/dlio.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    uint64_t rank, *items;

    if (!d)
        return pr_fail_errno(err, PR_E_IO, dir, "cannot open");
    while ((e = readdir(d)) && ret->count < MAX_RANKS) {
        if (!parse_rank_name(e->d_name, &rank))
            continue;
        items =
            pr_arena_grow(a, ret->items, ret->count, &ret->cap, sizeof *items);
        if (!items) {
            closedir(d);
            return pr_fail_nomem(err);
        }
        ret->items = items;
        items[ret->count++] = rank;
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

static double number_or_nan(const struct pr_value *map, const char *key)
{
    const struct pr_value *v = map ? pr_get(map, key) : NULL;

    return v && pr_value_is_number(v) ? pr_value_number(v) : (double)NAN;
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
        .au = number_or_nan(pr_get(epoch, "au"), p->name),
        .throughput = number_or_nan(pr_get(epoch, "throughput"), p->name)};
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
        struct pr_dlio_phase *p = name ? pr_dlio_get_phase(a, e, name) : NULL;
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
    rc = pr_dlio_read_json(dir, name, file, &v, err);
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

int pr_dlio_read_ranks(const char *dir, struct pr_arena *a,
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
