/* The results of a native training, for programs and for people. */
#include "base/json/json.h"
#include "base/text.h"
#include "base/units.h"
#include "job/result_lines.h"
#include "native/native_run.h"

#include <stdio.h>
#include <string.h>

enum { PLOT_WIDTH = 60 };

/* "157 GFLOP/s"; out needs 32 bytes. */
static const char *format_flops_rate(char out[static 32], double rate)
{
    static const char units[] = " kMGTPE";
    int i = 0;

    while (rate >= 999.5 && units[i + 1]) {
        rate /= 1000;
        i++;
    }
    snprintf(out, 32, "%.3g %.*sFLOP/s", rate, i > 0, units + i);
    return out;
}

static double native_flops_rate(const struct pr_native_session *r)
{
    double flops = r->facts.flops * (double)r->n.ranks;

    return r->times.mean > 0 ? flops / (r->times.mean / 1e3) : 0;
}

static double items_a_second(const struct pr_native_session *r)
{
    double seconds = r->times.mean * (double)r->times.count / 1e3;

    return seconds > 0 ? (double)r->items / seconds : 0;
}

const char *pr_native_speed_text(const struct pr_native_session *r,
                                 char out[static 64])
{
    double speed = items_a_second(r);

    snprintf(out, 64, speed < 100 ? "%.3g %.40ss/s" : "%.0f %.40ss/s", speed,
             r->n.model->item);
    return out;
}

const char *pr_native_batches_text(const struct pr_native *n,
                                   char out[static 32])
{
    out[0] = '\0';
    if (!n->open_ended)
        snprintf(out, 32, " of %llu", (unsigned long long)n->batches);
    return out;
}

/* ---- lines for people */

static const char *type_name(const struct pr_native *n)
{
    return n->net.dtype == PR_NN_BF16 ? "bfloat16" : "float32";
}

void pr_native_print_start(const struct pr_native_session *r,
                           struct pr_buf *out)
{
    const struct pr_native *n = &r->n;
    char size[16];

    pr_buf_printf(
        out, "%s (%s): %llu parameters, %.4g GFLOP forward for one %s\n",
        n->model->name, n->model->title, (unsigned long long)n->model->params,
        (double)n->model->flops / 1e9, n->model->item);
    pr_buf_printf(out,
                  "%s in %s, batch %llu, %u thread%s, oneDNN %s, %s planned\n",
                  n->net.training ? "training" : "inference", type_name(n),
                  (unsigned long long)n->batch, r->facts.threads,
                  r->facts.threads == 1 ? "" : "s", r->version,
                  pr_format_bytes(size, r->facts.bytes));
    if (n->net.training)
        pr_buf_printf(out, "%s, learning rate %g%s",
                      n->net.optimizer.kind == PR_ADAM ? "adam" : "sgd",
                      n->net.optimizer.learning_rate,
                      n->net.optimizer.kind == PR_ADAM ? "\n" : ", momentum ");
    if (n->net.training && n->net.optimizer.kind == PR_SGD)
        pr_buf_printf(out, "%g, weight decay %g\n", n->net.optimizer.momentum,
                      n->net.optimizer.weight_decay);
}

void pr_native_print_step(const struct pr_native_session *r, struct pr_buf *out)
{
    const struct pr_native *n = &r->n;
    uint64_t done = r->steps < n->warmup ? 0 : r->steps - n->warmup;
    char speed[64], of[32];

    if (!done) {
        pr_buf_printf(out, "warm-up batch %llu of %llu\n",
                      (unsigned long long)r->steps,
                      (unsigned long long)n->warmup);
        return;
    }
    pr_buf_printf(out, "batch %llu%s: %s", (unsigned long long)done,
                  pr_native_batches_text(n, of),
                  pr_native_speed_text(r, speed));
    if (n->net.training)
        pr_buf_printf(out, ", loss %.4f", r->losses.last);
    pr_buf_char(out, '\n');
}

static void say_curve(const struct pr_native_session *r, struct pr_buf *out)
{
    const struct pr_series *l = &r->losses;

    if (l->count < 2)
        return;
    pr_buf_printf(out, "loss %.4g ", l->kept[0]);
    pr_spark_write(l->kept, l->kept_count, PLOT_WIDTH, out);
    pr_buf_printf(out, " %.4g over %llu steps\n", l->last,
                  (unsigned long long)l->count);
}

/* The peak is that of all replicas together, and so are the threads. */
static void say_efficiency(const struct pr_native_session *r,
                           struct pr_buf *text)
{
    uint64_t threads = r->facts.threads * r->n.ranks;

    if (r->peak <= 0)
        return;
    pr_buf_printf(text, ", %.0f %% of what ",
                  100 * native_flops_rate(r) / r->peak);
    if (threads < r->n.processors)
        pr_buf_printf(text, "%llu thread%s can do", (unsigned long long)threads,
                      threads == 1 ? "" : "s");
    else
        pr_buf_str(text, "this machine can do");
}

/* "resnet50 trains 6.3 images/s (batch 16 in 2.53 s, p99 2.61 s): 157 GFLOP/s,
 * 77 % of what this machine can do; 2.0 GB" */
static void native_put_verdict(struct pr_result_lines *k,
                               const struct pr_native_session *r,
                               const struct pr_series_summary *times)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(4096);
    const struct pr_native *n = &r->n;
    char took[PR_SERIES_TEXT], rate[32], size[16], speed[64];

    pr_buf_printf(&text, "%s %s %s (", n->model->name,
                  n->net.training ? "trains" : "infers",
                  pr_native_speed_text(r, speed));
    if (n->ranks > 1)
        pr_buf_printf(&text, "%llu replicas, each ",
                      (unsigned long long)n->ranks);
    pr_buf_printf(&text, "batch %llu in %s): %s", (unsigned long long)n->batch,
                  pr_series_text(times, took),
                  format_flops_rate(rate, native_flops_rate(r)));
    say_efficiency(r, &text);
    if (r->memory_peak)
        pr_buf_printf(&text, "; %s", pr_format_bytes(size, r->memory_peak));
    if (r->scored)
        pr_buf_printf(&text, "; %.1f %% of %llu held-out %s right",
                      100 * (double)r->right / (double)r->scored,
                      (unsigned long long)r->scored,
                      r->scored == r->evaluated ? "samples" : "classes");
    if (pr_buf_ok(&text))
        pr_result_lines_put_str(k, "verdict", text.data);
}

/* ---- metric lines */

static void put_texts(const struct pr_native_session *r, struct pr_buf *out)
{
    const char *title = r->n.model->title;

    pr_buf_printf(out,
                  "__exp.framework_title__= \"Native\"\n"
                  "__exp.framework_ver__= \"oneDNN %s\"\n"
                  "__exp.model_title__= ",
                  r->version);
    pr_json_write_string(out, title, strlen(title));
    pr_buf_str(out, "\n");
}

static void native_put_main(const struct pr_native_session *r,
                            struct pr_buf *out)
{
    pr_buf_printf(out,
                  "__results.prony.main__= [\"throughput\", \"time\"%s%s%s]\n",
                  r->peak > 0 ? ", \"efficiency\"" : "",
                  r->n.net.training ? ", \"loss\"" : "",
                  r->scored ? ", \"accuracy\"" : "");
}

/* Each of several, by its name. */
static void native_put_losses(struct pr_result_lines *k,
                              const struct pr_native_session *r)
{
    const struct pr_model *m = r->n.model;

    pr_result_lines_put_float(k, "loss", r->losses.last);
    for (unsigned i = 0; m->loss_count > 1 && i < m->loss_count; i++) {
        char name[192];

        snprintf(name, sizeof name, "loss.%s", m->losses[i].name);
        pr_result_lines_put_float(k, name, r->each_loss[i]);
    }
    pr_series_put(&r->losses, k, "loss_data");
}

static void put_learned(struct pr_result_lines *k,
                        const struct pr_native_session *r)
{
    if (r->losses.count)
        native_put_losses(k, r);
    if (r->n.from == PR_NATIVE_CARTPOLE)
        pr_result_lines_put_float(k, "reward", r->cart.reward);
    if (r->scored)
        pr_result_lines_put_float(k, "accuracy",
                                  (double)r->right / (double)r->scored);
    if (r->evaluated) {
        pr_result_lines_put_float(k, "evaluate_loss",
                                  r->held_out_loss * (double)r->n.batch /
                                      (double)r->evaluated);
        pr_result_lines_put_uint(k, "evaluated", r->evaluated);
    }
}

double pr_native_cpu_share(const struct pr_native_session *r)
{
    double most = (double)r->compute_ns * r->facts.threads;
    double share = most > 0 ? (double)r->cpu_ns / most : 0;

    return share > 1 ? 1 : share; /* threads that read work, too */
}

static void native_put_machine(struct pr_result_lines *k,
                               const struct pr_native_session *r)
{
    double measured_ns = r->times.mean * 1e6 * (double)r->times.count;

    pr_result_lines_put_float(k, "flops", r->facts.flops);
    pr_result_lines_put_float(k, "flops_rate", native_flops_rate(r));
    if (r->peak > 0) {
        pr_result_lines_put_float(k, "peak_flops_rate", r->peak);
        pr_result_lines_put_float(k, "efficiency",
                                  native_flops_rate(r) / r->peak);
    }
    if (r->memory_peak)
        pr_result_lines_put_uint(k, "memory_peak", r->memory_peak);
    pr_result_lines_put_uint(k, "memory_planned", r->facts.bytes);
    pr_result_lines_put_uint(k, "threads", r->facts.threads);
    pr_result_lines_put_uint(k, "replicas", r->n.ranks);
    if (r->cpu_ns)
        pr_result_lines_put_float(k, "cpu_share", pr_native_cpu_share(r));
    if (r->start_s >= 0)
        pr_result_lines_put_float(k, "start_s", r->start_s);
    pr_result_lines_put_uint(k, "params", r->n.model->params);
    if (r->source.set)
        pr_result_lines_put_float(
            k, "data_wait",
            measured_ns > 0 ? (double)r->wait_ns / measured_ns : 0);
}

int pr_native_write_results(const struct pr_native_session *r,
                            struct pr_buf *out, struct pr_err *err)
{
    struct pr_result_lines k;
    struct pr_series_summary times;
    int rc = PR_OK;

    say_curve(r, out);
    if (r->n.net.profile)
        rc = pr_native_write_profile(r, out, err);
    if (rc)
        return rc;
    pr_result_lines_init(&k, out);
    put_texts(r, out);
    native_put_main(r, out);
    rc = pr_series_put_times(&r->times, &k, &times, err);
    if (rc)
        return rc;
    pr_result_lines_put_float(&k, "throughput", items_a_second(r));
    native_put_verdict(&k, r, &times);
    pr_result_lines_put_str(&k, "item", r->n.model->item);
    pr_result_lines_put_uint(&k, "items", r->items);
    if (r->n.from != PR_NATIVE_CARTPOLE) /* whose episodes end when they end */
        pr_result_lines_put_uint(&k, "batch", r->n.batch * r->n.ranks);
    put_learned(&k, r);
    native_put_machine(&k, r);
    return pr_native_timings_put(r, &k, err);
}

void pr_native_write_part_results(const struct pr_native_session *r,
                                  struct pr_buf *out)
{
    struct pr_result_lines k;

    if (!r->steps)
        return;
    pr_result_lines_init(&k, out);
    put_texts(r, out);
    pr_result_lines_put_uint(&k, "steps", r->steps);
    if (r->losses.count)
        put_learned(&k, r);
}
