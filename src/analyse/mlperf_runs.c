/* Several runs of one benchmark, judged together. */
#include "analyse/mlperf_runs.h"

#include "analyse/mlperf_impl.h"
#include "base/file.h"
#include "base/json/json.h"
#include "base/names.h"

#include <math.h>
#include <string.h>

/* What runs of one benchmark may differ in. */
static bool may_differ(const char *key)
{
    static const char *const names[] = {
        "exp.id",        "exp.log_file",  "exp.name",      "train.seed",
        "hydra.run.dir", "output.folder", "exp.status_msg"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(key, names[i]) == 0)
            return true;
    return false;
}

static int hash_params(const struct pr_value *params, uint64_t *ret,
                       struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(64 << 20);
    uint64_t sum = 0;

    for (uint32_t i = 0; i < params->len; i++) {
        const struct pr_member *m = &params->members[i];

        if (may_differ(m->key))
            continue;
        pr_buf_clear(&text);
        pr_buf_add(&text, m->key, m->key_len + 1);
        pr_json_write(&text, &m->value);
        if (!pr_buf_ok(&text))
            return pr_fail_nomem(err);
        sum += pr_hash_bytes(text.data, text.len, 0);
    }
    *ret = sum;
    return PR_OK;
}

static struct pr_mlperf_group *mlperf_find_group(struct pr_mlperf_groups *g,
                                                 uint64_t hash)
{
    for (struct pr_mlperf_group *i = g->first; i; i = i->next)
        if (i->hash == hash)
            return i;
    return NULL;
}

static struct pr_mlperf_group *mlperf_add_group(struct pr_mlperf_groups *g,
                                                const struct pr_mlperf *m,
                                                uint64_t hash, int64_t seed,
                                                struct pr_arena *a)
{
    struct pr_mlperf_group *one = PR_ARENA_NEW(a, struct pr_mlperf_group);

    if (!one)
        return NULL;
    one->workload = pr_arena_str(a, m->workload ? m->workload : "no workload");
    if (!one->workload)
        return NULL;
    one->is_checkpoint = m->is_checkpoint;
    one->accelerators = m->accelerators;
    one->hash = hash;
    one->seed = seed;
    if (g->last)
        g->last->next = one;
    else
        g->first = one;
    g->last = one;
    return one;
}

static double get_train_rate(const struct pr_value *results)
{
    const struct pr_value *v =
        pr_get(results, "dlio.train_throughput_mean_samples_per_second");

    return v && pr_value_is_number(v) ? pr_value_number(v) : NAN;
}

int pr_mlperf_groups_add(struct pr_mlperf_groups *g, const struct pr_mlperf *m,
                         const struct pr_mlperf_in *in, struct pr_arena *a,
                         struct pr_err *err)
{
    const struct pr_value *v = pr_get(in->params, "train.seed");
    int64_t seed = v && v->kind == PR_INT ? v->i : 123;
    struct pr_mlperf_group *one;
    uint64_t hash = 0;
    int rc = hash_params(in->params, &hash, err);

    if (rc || !in->results)
        return rc;
    one = mlperf_find_group(g, hash);
    if (!one)
        one = mlperf_add_group(g, m, hash, seed, a);
    if (!one)
        return pr_fail_nomem(err);
    one->rate[one->runs % PR_MLPERF_RUNS] = get_train_rate(in->results);
    one->runs++;
    one->invalid += m->verdict == PR_MLPERF_INVALID;
    one->seeds_differ |= seed != one->seed;
    return PR_OK;
}

/* ---- judging */

static bool mlperf_add_group_check(struct pr_mlperf_group *g,
                                   struct pr_arena *a, const char *rule,
                                   enum pr_mlperf_status status,
                                   const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

static bool mlperf_add_group_check(struct pr_mlperf_group *g,
                                   struct pr_arena *a, const char *rule,
                                   enum pr_mlperf_status status,
                                   const char *fmt, ...)
{
    va_list args;
    bool ok;

    va_start(args, fmt);
    ok = pr_mlperf_checks_add(&g->checks, a, rule, status, fmt, args);
    va_end(args);
    return ok;
}

static bool judge_run_count(struct pr_mlperf_group *g, struct pr_arena *a)
{
    const char *rule = g->is_checkpoint ? "2.2.3" : "6.6";
    uint64_t want = PR_MLPERF_RUNS + !g->is_checkpoint;

    if (g->runs < want)
        return mlperf_add_group_check(
            g, a, rule, PR_MLPERF_FAIL, "%llu of %llu runs were made%s",
            (unsigned long long)g->runs, (unsigned long long)want,
            g->is_checkpoint ? ": run it with --repeat 5"
                             : ", one to warm up and 5 that count: run "
                               "it with -V train.seed='[1, 2, 3, 4, 5, "
                               "6]'");
    return mlperf_add_group_check(
        g, a, rule, PR_MLPERF_PASS, "%llu runs were made, %llu are wanted",
        (unsigned long long)g->runs, (unsigned long long)want);
}

static bool judge_seeds(struct pr_mlperf_group *g, struct pr_arena *a)
{
    if (g->runs < 2 || g->is_checkpoint)
        return true;
    if (g->seeds_differ)
        return mlperf_add_group_check(g, a, "6.6", PR_MLPERF_PASS,
                                      "runs have different seeds");
    return mlperf_add_group_check(
        g, a, "6.6", PR_MLPERF_WARN,
        "all runs have train.seed=%lld, each should have its own: use "
        "-V train.seed='[…]' instead of --repeat",
        (long long)g->seed);
}

/* The mean of those that count, and how far from it the worst is. */
static bool judge_spread(struct pr_mlperf_group *g, struct pr_arena *a)
{
    double sum = 0, most = 0, mean;

    if (g->is_checkpoint || g->runs <= PR_MLPERF_RUNS)
        return true;
    for (int i = 0; i < PR_MLPERF_RUNS; i++)
        sum += g->rate[i];
    mean = sum / PR_MLPERF_RUNS;
    if (!(mean > 0))
        return true;
    for (int i = 0; i < PR_MLPERF_RUNS; i++)
        most = fmax(most, fabs(g->rate[i] - mean) / mean);
    return mlperf_add_group_check(
        g, a, "6.7", most <= 0.05 ? PR_MLPERF_PASS : PR_MLPERF_WARN,
        "the result is %.2f samples/s, the mean of the last 5 runs; the "
        "farthest is %.1f %% from it, within 5 %% is wanted",
        mean, 100 * most);
}

int pr_mlperf_groups_judge(struct pr_mlperf_groups *g, struct pr_arena *a,
                           struct pr_err *err)
{
    for (struct pr_mlperf_group *i = g->first; i; i = i->next)
        if (!judge_run_count(i, a) || !judge_seeds(i, a) || !judge_spread(i, a))
            return pr_fail_nomem(err);
    return PR_OK;
}

uint64_t pr_mlperf_read_run_memory(const char *dir)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
    const char *path = a ? pr_arena_printf(a, "%s/env.json", dir) : NULL;
    struct pr_json_in in = {.name = path};
    const struct pr_value *v;
    struct pr_value env;

    if (!path ||
        pr_file_read_in(dir, path, 16 << 20, a, &in.text, &in.len, NULL) ||
        pr_json_read(&in, a, &env, NULL, NULL))
        return 0;
    v = pr_get(&env, "memory");
    v = v ? pr_get(v, "total_bytes") : NULL;
    return v && v->kind == PR_INT && v->i > 0 ? (uint64_t)v->i : 0;
}
