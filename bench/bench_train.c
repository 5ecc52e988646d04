/*
 * Networks in our engine against the same networks in PyTorch, as it comes and
 * in its best way, and in ONNX Runtime; convolutions inside of a training
 * against each alone; memory; and how soon a first step begins. Contenders run
 * in processes of their own, warm, and take turns. The best step and the one
 * in the middle are printed; what is wanted is of the best.
 */
#include "convs.h"
#include "native.h"
#include "prony.h"
#include "race.h"

enum { ROUNDS = 3, BATCH = 16, MAX_STARTS = 64 };

static struct bench_race race;

/* ---- ResNet-50 */

/* The most that each process had resident. */
static void compare_memory(const struct bench_contender *ours,
                           const struct bench_contender *eager)
{
    bench_row(&(struct bench_row){.what = "memory of training resnet50",
                                  .unit = "MB",
                                  .ours = bench_contender_memory(ours) / 1e6,
                                  .other_is = eager->name,
                                  .other = bench_contender_memory(eager) / 1e6,
                                  .is_cost = true,
                                  .at_most = 1});
}

static void resnet50_train(const char *dir)
{
    static const char *const ways[] = {"channels_last",
                                       "tuned",
                                       "channels_last+tuned",
                                       "compile",
                                       "compile+tuned",
                                       "compile+channels_last+tuned",
                                       NULL};
    struct bench_contender *ours, *eager, *debian;

    bench_race_init(&race, dir, "resnet50", true, BATCH, 3);
    ours = bench_race_ours(&race);
    eager = bench_race_torch(&race, "eager");
    if (eager)
        bench_race_heats(&race, ways, false);
    debian = bench_race_debian(&race);
    bench_race_run(&race, bench_round_count(ROUNDS));
    bench_race_compare(&race, ours, eager, 1.2);
    if (eager && eager->pid)
        compare_memory(ours, eager);
    bench_race_compare_fastest(&race, ours, 1.0);
    if (debian)
        bench_race_compare(&race, ours, debian, 0);
    bench_race_end(&race);
}

static void resnet50_infer(const char *dir)
{
    static const char *const ways[] = {"channels_last",
                                       "tuned",
                                       "channels_last+tuned",
                                       "frozen",
                                       "frozen+tuned",
                                       "frozen+channels_last+tuned",
                                       "compile+tuned",
                                       "folded+tuned",
                                       "folded+channels_last+tuned",
                                       NULL};
    struct bench_contender *ours, *eager, *debian, *onnx;

    bench_race_init(&race, dir, "resnet50", false, 8, 10);
    ours = bench_race_ours(&race);
    eager = bench_race_torch(&race, "eager");
    if (eager)
        bench_race_heats(&race, ways, false);
    debian = bench_race_debian(&race);
    onnx = bench_race_onnx(&race);
    bench_race_run(&race, bench_round_count(ROUNDS));
    bench_race_compare(&race, ours, eager, 1.3);
    bench_race_compare_fastest(&race, ours, 1.0);
    if (debian)
        bench_race_compare(&race, ours, debian, 0);
    bench_race_compare(&race, ours, onnx, 0.95);
    bench_race_end(&race);
}

/* ---- other networks: training, against eager; with the allocator tuned for
 * comparison */

static void train(const char *dir, const char *model, int batch)
{
    struct bench_contender *ours, *eager, *tuned, *debian;

    bench_race_init(&race, dir, model, true, batch, 3);
    ours = bench_race_ours(&race);
    eager = bench_race_torch(&race, "eager");
    tuned = eager ? bench_race_torch(&race, "tuned") : NULL;
    debian = bench_race_debian(&race);
    bench_race_run(&race, bench_round_count(ROUNDS));
    bench_race_compare(&race, ours, eager, 1.0);
    if (tuned)
        bench_race_compare(&race, ours, tuned, 0);
    if (debian)
        bench_race_compare(&race, ours, debian, 0);
    bench_race_end(&race);
}

static void vgg16(const char *dir)
{
    train(dir, "vgg16", 8);
}

static void alexnet(const char *dir)
{
    train(dir, "alexnet", 32);
}

static void googlenet(const char *dir)
{
    train(dir, "googlenet", 16);
}

static void inception3(const char *dir)
{
    train(dir, "inception3", 8);
}

/* ---- convolutions */

/* Of the last step. */
static struct bench_convs_sum convs_of(const struct pr_net *net)
{
    struct bench_convs_sum sum = {0};
    struct pr_net_row row;

    for (unsigned i = 0; pr_net_row(net, i, &row); i++) {
        if (strcmp(row.op, "conv") != 0)
            continue;
        sum.flops += row.forward_flops + row.backward_flops;
        sum.seconds += row.forward_s + row.backward_s;
    }
    return sum;
}

/* The step whose convolutions were fastest; the first one warms up. */
static void measure_inside(struct pr_net *net, struct bench_convs_sum *best)
{
    struct pr_net_score score;
    struct pr_err err = {0};

    for (int i = 0; i < 4; i++) {
        struct bench_convs_sum sum;

        pr_net_forget_times(net);
        if (pr_net_train(net, &score, &err))
            bench_die("%s: %s", err.where, err.msg);
        sum = convs_of(net);
        if (i && (best->seconds <= 0 || sum.seconds < best->seconds))
            *best = sum;
    }
}

static void convs(const char *dir)
{
    const struct pr_model *m = bench_model(bench_peers(), "resnet50");
    uint64_t batch = (uint64_t)bench_number("BENCH_BATCH", BATCH);
    struct pr_net *net =
        bench_net(m, true, true, batch, (unsigned)bench_threads());
    struct bench_convs *c = bench_convs_new(m, batch);
    struct bench_convs_sum in = {0}, alone;
    int rounds = bench_round_count(3);
    double a, b;

    (void)dir;
    for (int i = 0; i < rounds; i++) {
        measure_inside(net, &in);
        bench_convs_pass(c);
    }
    alone = bench_convs_sum(c);
    if (getenv("BENCH_LAYERS"))
        bench_convs_print(c);
    if (in.flops < 0.999 * alone.flops || in.flops > 1.001 * alone.flops)
        bench_die("%.4g FLOP are not %.4g", in.flops, alone.flops);
    a = in.flops / in.seconds / 1e9;
    b = alone.flops / alone.seconds / 1e9;
    bench_row(&(struct bench_row){.what = "convolutions of resnet50",
                                  .unit = "GFLOP/s",
                                  .ours_is = "in a training",
                                  .ours = a,
                                  .other_is = "oneDNN, each alone",
                                  .other = b,
                                  .at_least = 0.85});
}

/* ---- start */

/* Best is the first of those that bench_median sorted. */
static void print_starts(const char *what, double *ours, double *other,
                         size_t n, double goal)
{
    double a = bench_median(ours, n), b = bench_median(other, n);

    bench_row(&(struct bench_row){.what = what,
                                  .unit = "s",
                                  .ours = ours[0],
                                  .other_is = "PyTorch",
                                  .other = other[0],
                                  .is_cost = true,
                                  .at_least = goal});
    printf("ratio of medians: %.1f\n", b / a);
}

/* A whole run of one step, without that step. */
static double run_without_step(const char *dir, const char *framework)
{
    struct bench_run run;
    double seconds;

    bench_run_init(&run, dir,
                   "exp.framework=%s exp.model=resnet50 exp.replica_batch=%d "
                   "exp.num_warmup_batches=0 exp.num_batches=1 nn.threads=%d "
                   "nn.peak=false",
                   framework, race.batch, bench_threads());
    if (!bench_run_do(&run))
        return -1;
    seconds = run.seconds - bench_run_number(&run, "time") / 1e3;
    pr_arena_free(run.arena);
    return seconds;
}

static void start_of_runs(const char *dir, size_t n)
{
    double ours[MAX_STARTS], other[MAX_STARTS];

    for (size_t i = 0; i < n; i++) {
        ours[i] = run_without_step(dir, "native");
        other[i] = ours[i] < 0 ? -1 : run_without_step(dir, "pytorch");
        if (other[i] < 0)
            return;
    }
    print_starts("'prony run' of resnet50 without its step", ours, other, n, 5);
}

static void start(const char *dir)
{
    double ours[MAX_STARTS], other[MAX_STARTS];
    size_t n = (size_t)bench_round_count(ROUNDS);
    static struct bench_contender c;

    n = n > MAX_STARTS ? MAX_STARTS : n;
    bench_race_init(&race, dir, "resnet50", true, BATCH, 1);
    for (size_t i = 0; i < n; i++) {
        if (!bench_race_start_ours(&race, &c))
            bench_die("ours does not run");
        ours[i] = c.start_s;
        bench_contender_stop(&c);
        if (!bench_race_start_torch(&race, &c))
            return;
        other[i] = c.start_s;
        bench_contender_stop(&c);
    }
    print_starts("start to the first step of resnet50", ours, other, n, 5);
    start_of_runs(dir, n);
}

/* ---- */

/* In a process of its own: one that has an OpenMP pool must not fork. */
static void say_machine(const char *self)
{
    pid_t pid = fork();

    if (pid == 0) {
        execl("/proc/self/exe", self, "about", (char *)NULL);
        _exit(127);
    }
    waitpid(pid, NULL, 0);
}

/* "bench_train ours …" is a process that it starts; "bench_train layers …" is
 * for looking at single layers by hand. */
int main(int argc, char **argv)
{
    static const struct bench_section sections[] = {
        {"resnet50_train", resnet50_train, false},
        {"resnet50_infer", resnet50_infer, false},
        {"vgg16", vgg16, false},
        {"alexnet", alexnet, false},
        {"googlenet", googlenet, false},
        {"inception3", inception3, false},
        {"convs", convs, false},
        {"start", start, false},
        {NULL, NULL, false},
    };

    if (argc > 1 && strcmp(argv[1], "ours") == 0)
        return bench_native_main(argc - 2, argv + 2);
    if (argc > 1 && strcmp(argv[1], "layers") == 0)
        return bench_native_layers(argc - 2, argv + 2);
    if (argc > 1 && strcmp(argv[1], "about") == 0)
        return bench_native_about((unsigned)bench_threads());
    if (argc > 2)
        say_machine(argv[0]);
    return bench_prony_sections(argc, argv, sections);
}
