/* The steps of a training, and the evaluation after it. */
#include "base/clock.h"
#include "workload/emulate_log.h"
#include "workload/native_machine.h"
#include "workload/native_run.h"

#include <stdio.h>

/* Between lines of the log; in a long run they become rare. */
enum { LINE_NS = 2000000000, LINES_SHARE = 16 };

static bool stopped(const struct pr_native_run *r)
{
    return __atomic_load_n(r->stop, __ATOMIC_RELAXED);
}

static int train_once(struct pr_native_run *r, struct pr_err *err)
{
    struct pr_net_score score = {.loss = 0};
    int rc = pr_net_train(r->net, &score, err);

    if (!rc)
        pr_series_add(&r->losses, score.loss);
    return rc;
}

static int step(struct pr_native_run *r, struct pr_err *err)
{
    bool counts = r->steps >= r->n.warmup;
    uint64_t start = pr_clock_ns(), wait = 0;
    int rc = pr_source_next(&r->source, pr_net_input(r->net),
                            pr_net_labels(r->net), &wait, err);
    uint64_t cpu = pr_machine_cpu_ns(), got = pr_clock_ns(), end;

    if (!rc)
        rc = r->n.net.training ? train_once(r, err)
                               : pr_net_infer(r->net, NULL, err);
    if (rc)
        return rc;
    r->steps++;
    if (!counts)
        return PR_OK;
    end = pr_clock_ns();
    pr_series_add(&r->times, (double)(end - start) / 1e6);
    r->wait_ns += wait;
    r->compute_ns += end - got;
    r->cpu_ns += pr_machine_cpu_ns() - cpu;
    return PR_OK;
}

static void say_progress(struct pr_native_run *r)
{
    const struct pr_native *n = &r->n;
    double done = (double)r->steps / (double)(n->warmup + n->batches);
    char speed[64], loss[32] = "";

    if (!pr_progress_due(&r->progress))
        return;
    if (n->net.training)
        snprintf(loss, sizeof loss, ", loss %.4g", r->losses.last);
    if (r->steps <= n->warmup)
        pr_progress_say(&r->progress, done, "warming up: batch %llu of %llu",
                        (unsigned long long)r->steps,
                        (unsigned long long)n->warmup);
    else
        pr_progress_say(&r->progress, done, "batch %llu of %llu, %s%s",
                        (unsigned long long)(r->steps - n->warmup),
                        (unsigned long long)n->batches,
                        pr_native_speed(r, speed), loss);
}

static int say_line(struct pr_native_run *r, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf line = PR_BUF_INIT(4096);
    uint64_t now = pr_clock_ns();

    if (now < r->next_line_ns)
        return PR_OK;
    r->next_line_ns = now + LINE_NS + (now - r->first_ns) / LINES_SHARE;
    pr_native_say_step(r, &line);
    return pr_log_write(&line, err);
}

int pr_native_steps(struct pr_native_run *r, struct pr_err *err)
{
    uint64_t total = r->n.warmup + r->n.batches;
    int rc = PR_OK;

    r->start_s = pr_machine_age_s();
    if (r->start_s >= 0)
        r->start_s -= r->apart_s;
    pr_progress_start(&r->progress);
    r->first_ns = pr_clock_ns();
    r->next_line_ns = r->first_ns + LINE_NS;
    while (!rc && r->steps < total) {
        if (r->steps == r->n.warmup && r->n.net.profile)
            pr_net_forget_times(r->net);
        rc = step(r, err);
        if (!rc && stopped(r))
            rc = pr_fail(err, PR_E_INTR, "", "interrupted");
        if (rc)
            break;
        say_progress(r);
        rc = say_line(r, err);
    }
    return rc;
}

/* ---- evaluation */

/* How many of the first rows have their largest value at the label. */
static uint64_t count_right(const float *rows, const int32_t *labels,
                            uint64_t count, int64_t classes)
{
    uint64_t right = 0;

    for (uint64_t i = 0; i < count; i++, rows += classes) {
        int64_t best = 0;

        for (int64_t c = 1; c < classes; c++)
            if (rows[c] > rows[best])
                best = c;
        right += best == labels[i];
    }
    return right;
}

static int evaluate_with(struct pr_native_run *r, struct pr_net *net,
                         struct pr_err *err)
{
    const struct pr_native *n = &r->n;
    int rc = PR_OK;

    while (!rc && r->evaluated < n->evaluate) {
        uint64_t left = n->evaluate - r->evaluated;
        uint64_t count = left < n->batch ? left : n->batch;

        pr_source_held_out(&r->source, r->evaluated, pr_net_input(net),
                           pr_net_labels(net));
        rc = pr_net_infer(net, NULL, err);
        if (rc)
            break;
        r->right += count_right(pr_net_output(net), pr_net_labels(net), count,
                                n->model->classes);
        r->evaluated += count;
        if (stopped(r))
            rc = pr_fail(err, PR_E_INTR, "", "interrupted");
        pr_progress_say(
            &r->progress, (double)r->evaluated / (double)n->evaluate,
            "evaluating: %llu of %llu", (unsigned long long)r->evaluated,
            (unsigned long long)n->evaluate);
    }
    return rc;
}

int pr_native_evaluate(struct pr_native_run *r, struct pr_err *err)
{
    struct pr_net_opts opts = r->n.net;
    struct pr_net *net = NULL;
    int rc;

    opts.training = opts.keep_gradients = opts.profile = false;
    rc = pr_net_new(r->n.model, &opts, &net, err);
    if (!rc)
        rc = pr_net_copy(net, r->net, err);
    pr_progress_start(&r->progress);
    if (!rc)
        rc = evaluate_with(r, net, err);
    pr_net_free(net);
    return rc;
}
