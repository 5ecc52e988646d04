/*
 * Two copies of a native test side by side in two slots, one of them greedy:
 * it trains with four threads on its half of the machine. What the other one,
 * with as many threads as its slot has cores, makes of that: its rate and how
 * much that varies, alone, with isolation and without, in turn.
 */
#include "launch/keeper/keeper.h"
#include "native.h"
#include "rig.h"

#include <math.h>
#include <poll.h>
#include <signal.h>

enum { ROUNDS = 3, SLICES = 20, MOST = 256, BATCH = 128, GREEDY_THREADS = 4 };

#define SLICE_S 0.2
#define SETTLE_MS 700

enum how { ALONE, TOGETHER, ISOLATED, HOWS };

static const char *const how_names[] = {"alone", "without isolation",
                                        "with isolation"};

struct figures {
    double rates[MOST]; /* samples/s of each slice */
    int n;
};

/* ---- in the slots */

/* Samples a second in one slice. */
static double slice(struct pr_net *net)
{
    double start = bench_now(), took;
    struct pr_net_score score;
    int steps = 0;

    do {
        if (pr_net_train(net, &score, NULL))
            return -1;
        steps++;
        took = bench_now() - start;
    } while (took < SLICE_S);
    return steps * BATCH / took;
}

/* "greedy" trains until it is killed, a number with so many threads. */
static int body(void *ctx, const char *arg)
{
    bool greedy = strcmp(arg, "greedy") == 0;
    unsigned threads = greedy ? GREEDY_THREADS : (unsigned)atoi(arg);
    struct pr_net *net =
        bench_net(bench_model(ctx, "vae"), true, false, BATCH, threads);

    (void)slice(net);
    for (int i = 0; greedy || i < SLICES; i++)
        printf("%f\n", slice(net));
    fflush(stdout);
    _exit(0);
}

/* ---- around them */

static void spawn(struct pr_keeper *k, const struct pr_slots *slots,
                  uint32_t tag, const char *arg, const char *log)
{
    struct pr_spawn s = {.tag = tag,
                         .body_arg = arg,
                         .slot = pr_slots_get(slots, tag),
                         .log_path = tag ? log : NULL,
                         .id = tag ? "bench-other" : "bench-greedy"};
    struct pr_err err;

    if (pr_keeper_spawn(k, &s, &err))
        bench_die("%s", err.msg);
}

static void wait_end(struct pr_keeper *k, uint32_t tag)
{
    struct pr_child_event ev = {0};
    struct pr_err err;

    while (ev.kind != PR_CHILD_ENDED || ev.tag != tag) {
        struct pollfd p = {.fd = pr_keeper_fd(k), .events = POLLIN};

        if (poll(&p, 1, 60000) != 1 || pr_keeper_next(k, &ev, &err) < 0 ||
            ev.kind == PR_CHILD_FAILED)
            bench_die("a child could not be run: %s", ev.what);
    }
}

static void read_rates(const char *log, struct figures *f)
{
    FILE *in = fopen(log, "r");

    while (in && f->n < MOST && fscanf(in, "%lf", &f->rates[f->n]) == 1)
        f->n += f->rates[f->n] > 0;
    if (in)
        fclose(in);
    (void)unlink(log);
}

static struct pr_slots *make_slots(bool isolate)
{
    struct pr_slots_opts o = {.count = 2, .isolate = isolate};
    struct pr_slots *slots;
    struct pr_err err;

    if (pr_slots_new(&o, &slots, &err))
        bench_die("%s", err.msg);
    return slots;
}

static void once(const char *dir, enum how how, const char *threads,
                 struct figures *f)
{
    static char peers[1024];
    struct pr_slots *slots = make_slots(how == ISOLATED);
    struct pr_keeper *k;
    struct pr_err err;
    char log[1100];

    snprintf(peers, sizeof peers, "%s", bench_peers());
    snprintf(log, sizeof log, "%s/rates", dir);
    if (pr_keeper_new(&(struct pr_keeper_calls){.body = body, .ctx = peers}, &k,
                      &err) ||
        pr_keeper_hold_cgroups(k, slots, &err))
        bench_die("%s", err.msg);
    if (how != ALONE) {
        spawn(k, slots, 0, "greedy", log);
        poll(NULL, 0, SETTLE_MS);
    }
    spawn(k, slots, 1, threads, log);
    wait_end(k, 1);
    pr_keeper_free(k); /* with what is left */
    pr_slots_free(slots);
    read_rates(log, f);
}

static void print(const char *name, const struct figures *f, double alone)
{
    double sum = 0, squares = 0, least = 1e300;

    for (int i = 0; i < f->n; i++) {
        sum += f->rates[i];
        squares += f->rates[i] * f->rates[i];
        least = fmin(least, f->rates[i]);
    }
    sum /= f->n;
    printf("%-18s %9.0f samples/s %5.2f of alone, spread %5.1f %%, slowest "
           "slice %.2f of the mean\n",
           name, sum, alone > 0 ? sum / alone : 1,
           100 * sqrt(fmax(0, squares / f->n - sum * sum)) / sum, least / sum);
}

static double mean(const struct figures *f)
{
    double sum = 0;

    for (int i = 0; i < f->n; i++)
        sum += f->rates[i];
    return sum / f->n;
}

static void neighbours(const char *dir)
{
    static struct figures f[HOWS];
    struct pr_slots *slots = make_slots(true);
    char threads[16];

    if (sysconf(_SC_NPROCESSORS_ONLN) < 2) {
        bench_skip("two slots: this machine has one processor");
        return;
    }
    snprintf(threads, sizeof threads, "%u", pr_slots_get(slots, 0)->n_cores);
    printf("vae, %s thread(s), beside one with %d; CPUs held by %s, memory "
           "by %s\n",
           threads, GREEDY_THREADS,
           pr_slots_hold_name(pr_slots_cpu_hold(slots)),
           pr_slots_hold_name(pr_slots_memory_hold(slots)));
    pr_slots_free(slots);
    for (int i = 0; i < ROUNDS; i++)
        for (int how = 0; how < HOWS; how++)
            once(dir, (enum how)how, threads, &f[how]);
    for (int how = 0; how < HOWS; how++) {
        if (!f[how].n)
            bench_die("nothing was measured %s", how_names[how]);
        print(how_names[how], &f[how], mean(&f[ALONE]));
    }
    bench_row(&(struct bench_row){.what = "vae beside a greedy one, isolated",
                                  .unit = "samples/s",
                                  .ours = mean(&f[ISOLATED]),
                                  .other_is = "alone",
                                  .other = mean(&f[ALONE])});
    bench_row(&(struct bench_row){.what = "vae beside a greedy one, isolated",
                                  .unit = "samples/s",
                                  .ours = mean(&f[ISOLATED]),
                                  .other_is = "not isolated",
                                  .other = mean(&f[TOGETHER])});
}

int main(int argc, char **argv)
{
    static const struct bench_section sections[] = {
        {"neighbours", neighbours, true}, {NULL, NULL, false}};

    return bench_sections(argc, argv, sections);
}
