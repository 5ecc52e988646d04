/*
 * A loop of one's own, watched as it is: a call after each part of a step. The
 * share of the time that it waits for data says what holds it back.
 *     cc probe_loop.c $(pkg-config --cflags --libs prony) && ./a.out
 */
#include <prony/probe.h>

#include <stdio.h>
#include <time.h>

static void wait_ms(long ms)
{
    struct timespec t = {0, ms * 1000000};

    nanosleep(&t, NULL);
}

static void print_line(void *ctx, const char *text, size_t len)
{
    (void)ctx;
    (void)len;
    puts(text);
}

/* One pass over the data, as the program had it before, and four calls. */
static int train(struct pr_probe *probe, struct pr_err *err)
{
    int rc = pr_probe_begin(probe, PR_PROBE_FULL, err);

    if (rc)
        return rc;
    do {
        wait_ms(1); /* get a batch … */
        pr_probe_batch_ready(probe, 0);
        wait_ms(20); /* … and compute with it */
    } while (pr_probe_step_done(probe));
    return pr_probe_end(probe, err);
}

int main(void)
{
    struct pr_probe_config config = {.size = sizeof config};
    struct pr_probe_opts opts = PR_PROBE_OPTS_INIT;
    struct pr_probe_numbers numbers = {.size = sizeof numbers};
    struct pr_probe_verdict verdict = {.size = sizeof verdict};
    struct pr_probe *probe = NULL;
    struct pr_err err = {0};
    int rc;

    pr_probe_config_init(&config);
    config.output[0] = '\0';
    config.phase[PR_PROBE_IO].run = false;
    config.phase[PR_PROBE_SYNTHETIC].run = false;
    config.phase[PR_PROBE_FULL].batches = 10;
    opts.config = &config;
    opts.batch_size = 32;
    opts.line = print_line;
    rc = pr_probe_new(&opts, &probe, &err);
    while (!rc && pr_probe_next(probe) != PR_PROBE_PHASES)
        rc = train(probe, &err);
    if (!rc)
        rc = pr_probe_finish(probe, &err);
    if (!rc) {
        pr_probe_numbers(probe, &numbers);
        pr_probe_judge(&numbers, &verdict);
        printf("waiting for a batch: %.1f ms, p99 %.1f ms\n%s\n",
               1e3 * numbers.phase[PR_PROBE_FULL].fetch.mean,
               1e3 * numbers.phase[PR_PROBE_FULL].fetch.p99, verdict.text);
    }
    if (rc)
        fprintf(stderr, "%s: %s\n", pr_code_text(rc), err.msg);
    pr_probe_free(probe);
    return pr_code_exit_status(rc);
}
