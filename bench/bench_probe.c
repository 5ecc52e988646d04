/*
 * What it costs to time a loop: the same loop, with nothing to do in it, with
 * the calls of prony/probe.h and without, and with the two functions that the
 * library calls. Nanoseconds a batch, best of rounds; under 200 are wanted.
 */
#include "bench.h"
#include "prony/probe.h"

enum { ROUNDS = 7, BATCHES = 500000 };

static unsigned long fetched, used;

/* Calls that the compiler cannot leave out. */
static __attribute__((noinline)) void get_batch(void)
{
    __asm__ volatile("" : : : "memory");
    fetched++;
}

static __attribute__((noinline)) void use_batch(void)
{
    __asm__ volatile("" : : : "memory");
    used++;
}

static int fetch(void *ctx, void **ret_batch, uint64_t *ret_samples,
                 struct pr_err *err)
{
    (void)ret_samples;
    (void)err;
    *ret_batch = ctx;
    get_batch();
    return 1;
}

static int use(void *ctx, void *batch, struct pr_err *err)
{
    (void)ctx;
    (void)batch;
    (void)err;
    use_batch();
    return PR_OK;
}

static struct pr_probe *make(void)
{
    struct pr_probe_config config = {.size = sizeof config};
    struct pr_probe_opts opts = PR_PROBE_OPTS_INIT;
    struct pr_probe *p;

    pr_probe_config_init(&config);
    config.output[0] = '\0';
    for (int i = 0; i < PR_PROBE_PHASES; i++)
        config.phase[i] = (struct pr_probe_phase_config){
            .run = i == PR_PROBE_FULL, .batches = BATCHES, .trials = 1};
    opts.config = &config;
    opts.batch_size = 64;
    if (pr_probe_new(&opts, &p, NULL))
        exit(1);
    return p;
}

static double bare(void)
{
    double start = bench_now();

    for (int i = 0; i < BATCHES; i++) {
        get_batch();
        use_batch();
    }
    return bench_now() - start;
}

static double own_loop(void)
{
    struct pr_probe *p = make();
    double start;

    if (pr_probe_begin(p, PR_PROBE_FULL, NULL))
        exit(1);
    start = bench_now();
    do {
        get_batch();
        pr_probe_batch_ready(p, 0);
        use_batch();
    } while (pr_probe_step_done(p));
    start = bench_now() - start;
    pr_probe_free(p);
    return start;
}

static double callbacks(void)
{
    struct pr_probe_calls calls = PR_PROBE_CALLS_INIT;
    struct pr_probe *p = make();
    double start = bench_now();

    calls.fetch = fetch;
    calls.use = use;
    calls.ctx = p;
    if (pr_probe_run(p, &calls, NULL))
        exit(1);
    start = bench_now() - start;
    pr_probe_free(p);
    return start;
}

int main(void)
{
    double (*const ways[])(void) = {bare, own_loop, callbacks};
    static const char *const names[] = {"",
                                        "cost of a batch, a loop of one's own",
                                        "cost of a batch, two functions"};
    double best[3] = {1e9, 1e9, 1e9};

    for (int r = 0; r < ROUNDS; r++)
        for (int w = 0; w < 3; w++) {
            double s = ways[w]();

            best[w] = s < best[w] ? s : best[w];
        }
    for (int w = 1; w < 3; w++)
        bench_row(
            &(struct bench_row){.what = names[w],
                                .unit = "ns",
                                .ours = (best[w] - best[0]) / BATCHES * 1e9,
                                .is_cost = true,
                                .at_most = 200});
    return 0;
}
