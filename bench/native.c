/* Our engine as a contender; see native.h. */
#include "native.h"

#include "contender.h"
#include "nn/dnn.h"

/* Small, so that no network of random weights on noise blows up. */
#define RATE 1e-4

const struct pr_model *bench_model(const char *peers, const char *name)
{
    struct pr_arena *arena = pr_arena_new(1 << 16);
    struct pr_model *m;
    struct pr_err err = {0};
    char path[1024];

    snprintf(path, sizeof path, "%s/../../models/%s.yaml", peers, name);
    if (!arena || pr_model_load(path, NULL, arena, &m, &err))
        bench_die("%s: %s: %s", path, err.where, err.msg);
    return m;
}

static void fill(const struct pr_model *m, struct pr_net *net, uint64_t batch)
{
    size_t n = (size_t)batch;
    uint64_t x = 88172645463325252u;
    float *input = pr_net_input(net);

    for (unsigned i = 0; i < m->input.dims; i++)
        n *= (size_t)m->input.at[i];
    for (size_t i = 0; i < n; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        input[i] = (float)(x >> 40) / (1 << 23) - 1;
    }
    for (uint64_t i = 0; i < batch; i++)
        pr_net_labels(net)[i] = (int32_t)(i % (uint64_t)m->classes);
}

struct pr_net *bench_net(const struct pr_model *model, bool training,
                         bool profile, uint64_t batch, unsigned threads)
{
    struct pr_net_opts opts = {.batch = batch,
                               .training = training,
                               .threads = threads,
                               .profile = profile,
                               .seed = 1,
                               .optimizer = model->optimizer};
    struct pr_err err = {0};
    struct pr_net *net;

    opts.optimizer.learning_rate = RATE;
    if (pr_net_new(model, &opts, &net, &err)) {
        printf("cannot make the network: %s: %s\n", err.where, err.msg);
        fflush(stdout);
        exit(1);
    }
    fill(model, net, batch);
    return net;
}

static bool step(struct pr_net *net, bool training)
{
    struct pr_net_score score;
    struct pr_err err = {0};
    int rc = training ? pr_net_train(net, &score, &err)
                      : pr_net_infer(net, NULL, &err);

    if (rc)
        fprintf(stderr, "%s: %s\n", err.where, err.msg);
    return rc == 0;
}

static bool serve(struct pr_net *net, bool training)
{
    int steps;

    printf("ready\n");
    fflush(stdout);
    while (scanf("%d", &steps) == 1) {
        for (int i = 0; i < steps; i++) {
            double start = bench_time();

            if (!step(net, training))
                return false;
            printf("%.9f%c", bench_time() - start, i == steps - 1 ? '\n' : ' ');
        }
        fflush(stdout);
    }
    return true;
}

struct asked {
    const struct pr_model *model;
    bool training;
    uint64_t batch;
    unsigned threads;
};

static struct asked read_asked(char **argv)
{
    return (struct asked){bench_model(argv[0], argv[1]),
                          strcmp(argv[2], "training") == 0,
                          strtoull(argv[3], NULL, 10), (unsigned)atoi(argv[4])};
}

int bench_native_main(int argc, char **argv)
{
    struct pr_net_facts facts;
    struct asked a;
    struct pr_net *net;
    char version[32];

    if (argc != 5)
        return 2;
    a = read_asked(argv);
    net = bench_net(a.model, a.training, false, a.batch, a.threads);
    pr_net_facts(net, &facts);
    pr_net_is_there(version, NULL);
    printf("about oneDNN %s, %u threads, %u primitives and loops, %u of them "
           "change the layout, %.0f MB planned\n",
           version, facts.threads, facts.steps, facts.reorders,
           (double)facts.bytes / 1e6);
    printf("params %llu\n", (unsigned long long)a.model->params);
    return !serve(net, a.training);
}

int bench_native_about(unsigned threads)
{
    struct pr_err err = {0};
    struct pr_par *par;
    char version[32];

    if (!pr_net_is_there(version, &err))
        bench_skip("everything: %s: %s", err.where, err.msg);
    if (pr_par_new(threads, &par, &err))
        return 1;
    printf("%ld processors, %u threads at %.1f GFLOP/s of multiply-adds, "
           "oneDNN %s\n",
           sysconf(_SC_NPROCESSORS_ONLN), pr_par_threads(par),
           pr_k_peak(par) / 1e9, version);
    pr_par_free(par);
    return 0;
}

/* ---- what layers take */

static double rate(double flops, double seconds)
{
    return flops > 0 && seconds > 0 ? flops / seconds / 1e9 : 0;
}

static void print_rows(const struct pr_net *net)
{
    double forward = 0, backward = 0, update = 0;
    struct pr_net_row r;

    printf("%-28s %-12s %9s %9s %8s %7s %7s  %-8s %s\n", "layer", "op",
           "forward", "backward", "update", "GF/s", "GF/s", "layout", "by");
    for (unsigned i = 0; pr_net_row(net, i, &r); i++) {
        printf("%-28s %-12s %9.3f %9.3f %8.3f %7.1f %7.1f  %-8s %s\n", r.layer,
               r.op, r.forward_s * 1e3, r.backward_s * 1e3, r.update_s * 1e3,
               rate(r.forward_flops, r.forward_s),
               rate(r.backward_flops, r.backward_s), r.layout, r.impl);
        forward += r.forward_s;
        backward += r.backward_s;
        update += r.update_s;
    }
    printf("all: %.1f ms forward, %.1f backward, %.1f update\n", forward * 1e3,
           backward * 1e3, update * 1e3);
}

int bench_native_layers(int argc, char **argv)
{
    struct asked a;
    struct pr_net *net;

    if (argc != 6)
        return 2;
    a = read_asked(argv);
    net = bench_net(a.model, a.training, true, a.batch, a.threads);
    for (int i = 0; i <= atoi(argv[5]); i++) {
        if (!step(net, a.training))
            return 1;
        if (i == 0)
            pr_net_forget_times(net);
    }
    print_rows(net);
    return 0;
}
