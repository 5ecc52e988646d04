/*
 * What holds a loop back, with two functions: one fetches a batch, the other
 * uses it. Here fetching takes 2 ms and computing 1 ms, so data are the limit.
 *     cc probe_callbacks.c $(pkg-config --cflags --libs prony) && ./a.out
 */
#include <prony/probe.h>

#include <stdio.h>
#include <time.h>

enum { BATCH = 32 };

static void wait_ms(long ms)
{
    struct timespec t = {0, ms * 1000000};

    nanosleep(&t, NULL);
}

/* Reads a batch. 1: it is there; 0 would mean that the data ended. */
static int fetch(void *ctx, void **ret_batch, uint64_t *ret_samples,
                 struct pr_err *err)
{
    static float batch[BATCH];

    (void)ctx;
    (void)ret_samples; /* as many as always */
    (void)err;
    wait_ms(2);
    *ret_batch = batch;
    return 1;
}

/* A step of the training. */
static int use(void *ctx, void *batch, struct pr_err *err)
{
    (void)ctx;
    (void)batch;
    (void)err;
    wait_ms(1);
    return PR_OK;
}

int main(void)
{
    struct pr_probe_config config = {.size = sizeof config};
    struct pr_probe_opts opts = PR_PROBE_OPTS_INIT;
    struct pr_probe_calls calls = PR_PROBE_CALLS_INIT;
    struct pr_probe_numbers numbers = {.size = sizeof numbers};
    struct pr_probe_verdict verdict = {.size = sizeof verdict};
    struct pr_probe *probe = NULL;
    struct pr_err err = {0};
    int rc;

    pr_probe_config_init(&config);
    config.output[0] = '\0'; /* no file */
    for (int i = 0; i < PR_PROBE_PHASES; i++)
        config.phase[i].batches = 20;
    opts.config = &config;
    opts.batch_size = BATCH;
    calls.fetch = fetch;
    calls.use = use;
    rc = pr_probe_new(&opts, &probe, &err);
    if (!rc)
        rc = pr_probe_run(probe, &calls, &err);
    if (!rc) {
        pr_probe_numbers(probe, &numbers);
        pr_probe_judge(&numbers, &verdict);
        for (int i = 0; i < PR_PROBE_PHASES; i++)
            printf("%-10s %8.1f +/- %.1f samples/s\n",
                   pr_probe_phase_name((enum pr_probe_phase)i),
                   numbers.phase[i].rate, numbers.phase[i].deviation);
        printf("%s\n", verdict.text);
    }
    if (rc)
        fprintf(stderr, "%s: %s\n", pr_code_text(rc), err.msg);
    pr_probe_free(probe);
    return pr_code_exit_status(rc);
}
