/*
 * The results of a native training, for programs and for people: the time of
 * each layer, what the machine can do, series of numbers, and the whole.
 */
#include "native/native_results.h"

#include "job/series.h"

#include "base/json/json.h"
#include "base/mem.h"
#include "base/stats/statistics.h"
#include "base/text.h"
#include "base/units.h"
#include "job/result_lines.h"
#include "native/native_run.h"
#include "nn/kernel/kernels.h"

#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- the time of each layer: a list in the results, and a table in the log */

enum { SHOWN = 20 }; /* rows of the table */

static double layer_total_s(const struct pr_net_row *row)
{
    return row->forward_s + row->backward_s + row->update_s;
}

static int compare_layer_times(const void *a, const void *b)
{
    double x = layer_total_s(a), y = layer_total_s(b);

    return (x < y) - (x > y);
}

/* Operations a second while it computes, in GFLOP/s; 0: it has none. */
static double layer_gflop_per_s(const struct pr_net_row *row)
{
    double s = row->forward_s + row->backward_s;

    return s > 0 ? (row->forward_flops + row->backward_flops) / s / 1e9 : 0;
}

static void put_profile_layer(struct pr_json_writer *jb,
                              const struct pr_net_row *row, double all)
{
    pr_json_open_object(jb, NULL);
    pr_json_put_str(jb, "layer", row->layer);
    pr_json_put_str(jb, "op", row->op);
    pr_json_put_str(jb, "impl", row->impl);
    pr_json_put_str(jb, "layout", row->layout);
    pr_json_put_float(jb, "forward_ms", row->forward_s * 1e3);
    pr_json_put_float(jb, "backward_ms", row->backward_s * 1e3);
    pr_json_put_float(jb, "update_ms", row->update_s * 1e3);
    pr_json_put_float(jb, "time_share", all > 0 ? layer_total_s(row) / all : 0);
    if (layer_gflop_per_s(row) > 0)
        pr_json_put_float(jb, "gflop_per_s", layer_gflop_per_s(row));
    pr_json_close(jb);
}

static void put_profile_layers(const struct pr_net_row *rows, unsigned count,
                               double all, struct pr_buf *out)
{
    struct pr_result_lines k;

    pr_result_lines_init(&k, out);
    pr_json_open_array(k.at, pr_result_lines_begin(&k, "layers"));
    for (unsigned i = 0; i < count; i++)
        put_profile_layer(k.at, &rows[i], all);
    pr_json_close(k.at);
    pr_result_lines_end(&k);
}

static void say_table(const struct pr_net_row *rows, unsigned count, double all,
                      struct pr_buf *out)
{
    double rest = 0;

    pr_buf_printf(out, "%-32s %-12s %9s %9s %9s %6s %8s  %s\n", "layer", "op",
                  "fwd ms", "bwd ms", "upd ms", "share", "GFLOP/s", "by");
    for (unsigned i = 0; i < count && i < SHOWN; i++) {
        const struct pr_net_row *r = &rows[i];

        pr_buf_printf(
            out, "%-32s %-12s %9.3f %9.3f %9.3f %5.1f%% %8.1f  %s %s\n",
            r->layer, r->op, r->forward_s * 1e3, r->backward_s * 1e3,
            r->update_s * 1e3, all > 0 ? 100 * layer_total_s(r) / all : 0,
            layer_gflop_per_s(r), *r->impl ? r->impl : "loop", r->layout);
    }
    for (unsigned i = SHOWN; i < count; i++)
        rest += layer_total_s(&rows[i]);
    if (count > SHOWN)
        pr_buf_printf(out, "%u more: %.3f ms, %.1f%%\n", count - SHOWN,
                      rest * 1e3, all > 0 ? 100 * rest / all : 0);
}

/* Sums over layers of one kind, in the order of the first of each. */
static void say_kinds(const struct pr_net_row *rows, unsigned count, double all,
                      struct pr_buf *out)
{
    for (unsigned i = 0; i < count; i++) {
        double sum = 0;
        unsigned layers = 0, first = count;

        for (unsigned k = 0; k < count; k++) {
            if (strcmp(rows[k].op, rows[i].op) != 0)
                continue;
            first = first == count ? k : first;
            sum += layer_total_s(&rows[k]);
            layers++;
        }
        if (first == i)
            pr_buf_printf(out, "all %-12s %4u layer%s %9.3f ms %5.1f%%\n",
                          rows[i].op, layers, layers == 1 ? " " : "s",
                          sum * 1e3, all > 0 ? 100 * sum / all : 0);
    }
}

/* results.layers, and a table of those that took longest. */
static int native_write_profile(const struct pr_native_session *r,
                                struct pr_buf *out, struct pr_err *err)
{
    struct pr_net_row row, *rows;
    unsigned count = 0;
    double all = 0;

    while (pr_net_row(r->net, count, &row))
        count++;
    rows = pr_alloc((count + 1) * sizeof *rows);
    if (!rows)
        return pr_fail_nomem(err);
    for (unsigned i = 0; i < count && pr_net_row(r->net, i, &rows[i]); i++)
        all += layer_total_s(&rows[i]);
    put_profile_layers(rows, count, all, out);
    qsort(rows, count, sizeof *rows, compare_layer_times);
    say_table(rows, count, all, out);
    say_kinds(rows, count, all, out);
    pr_free(rows);
    return PR_OK;
}

/* ---- the machine: asking /proc, and a loop of multiply-adds */

int pr_machine_peak(unsigned threads, double *ret, struct pr_err *err)
{
    struct pr_threads *par = NULL;

    PR_TRY(pr_threads_new(threads, &par, err));
    *ret = pr_kernel_peak(par);
    pr_threads_free(par);
    return PR_OK;
}

unsigned pr_machine_processors(void)
{
    cpu_set_t mask;
    long online;

    if (sched_getaffinity(0, sizeof mask, &mask) == 0)
        return (unsigned)CPU_COUNT(&mask);
    online = sysconf(_SC_NPROCESSORS_ONLN); /* more than fit into a mask */
    return online > 0 ? (unsigned)online : 1;
}

uint64_t pr_machine_cpu_ns(void)
{
    struct timespec t;

    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) < 0)
        return 0;
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* A small file of /proc as text; false: it cannot be read. */
static bool self_read_proc_file(const char *path, char *out, size_t room)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, out, room - 1);

    if (fd >= 0)
        (void)close(fd);
    out[n > 0 ? n : 0] = '\0';
    return n > 0;
}

double pr_machine_age_s(void)
{
    enum { AFTER_NAME = 20 }; /* fields from the state to the start */
    long ticks = sysconf(_SC_CLK_TCK);
    unsigned long long start;
    struct timespec now;
    char text[1024];
    char *at;

    if (!self_read_proc_file("/proc/self/stat", text, sizeof text) ||
        ticks <= 0 || clock_gettime(CLOCK_BOOTTIME, &now) < 0)
        return -1;
    at = strrchr(text, ')'); /* a name may hold anything */
    for (int i = 0; at && i < AFTER_NAME; i++)
        at = strchr(at + 1, ' ');
    if (!at || sscanf(at, "%llu", &start) != 1)
        return -1;
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9 -
           (double)start / (double)ticks;
}

uint64_t pr_machine_memory_peak(void)
{
    static const char key[] = "VmHWM:";
    unsigned long long kib;
    char text[4096];
    char *at;

    if (!self_read_proc_file("/proc/self/status", text, sizeof text))
        return 0;
    at = strstr(text, key);
    if (!at || sscanf(at + strlen(key), "%llu", &kib) != 1)
        return 0;
    return kib * 1024;
}

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
        rc = native_write_profile(r, out, err);
    if (rc)
        return rc;
    pr_result_lines_init(&k, out);
    put_texts(r, out);
    native_put_main(r, out);
    PR_TRY(pr_series_put_times(&r->times, &k, &times, err));
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
