/* Our engine as a contender; see native.h. */
#include "native.h"

#include "conf/read/yaml.h"
#include "contender.h"
#include "native/native_source.h"
#include "native/task/task.h"
#include "nn/engine/onednn.h"

/* Small, so that no network of random weights on noise blows up. */
#define RATE 1e-4

/* BATCHES that are gone through again and again; the clock is looked at after
 * CALLS where many steps are measured together. */
enum { SEED = 1, BATCHES = 8, CALLS = 8 };

/* "NAME {OPTIONS}"; the name is cut off where they begin. */
static const struct pr_value *take_opts(char *name, struct pr_arena *arena)
{
    struct pr_value *v = PR_ARENA_NEW(arena, struct pr_value);
    char *text = strchr(name, ' ');
    struct pr_err err = {0};

    if (!text)
        return NULL;
    *text++ = '\0';
    if (!v || pr_yaml_read(text, strlen(text), name, arena, v, &err))
        bench_die("%s: %s", text, err.msg);
    return v;
}

const struct pr_model *bench_model(const char *peers, const char *name)
{
    struct pr_arena *arena = pr_arena_new(1 << 16);
    struct pr_model_variant variant = {.tiny = false};
    struct pr_model *m;
    struct pr_err err = {0};
    char path[1024], text[512];

    if (!arena)
        bench_die("out of memory");
    snprintf(text, sizeof text, "%s", name);
    variant.values = take_opts(text, arena);
    snprintf(path, sizeof path, "%s/../../models/%s.yaml", peers, text);
    if (pr_model_load(path, &variant, arena, &m, &err))
        bench_die("%s: %s: %s", path, err.where, err.msg);
    return m;
}

static uint64_t next(uint64_t *x)
{
    *x ^= *x << 13;
    *x ^= *x >> 7;
    *x ^= *x << 17;
    return *x >> 40;
}

/* Noise for a model without data of its own. */
static void fill_noise(const struct pr_layer *l, uint64_t batch, void *out)
{
    uint64_t x = 88172645463325252u, n = batch;

    for (unsigned i = 0; i < l->shape.dims; i++)
        n *= (uint64_t)l->shape.at[i];
    for (uint64_t i = 0; i < n; i++)
        if (l->ids)
            ((int32_t *)out)[i] = (int32_t)(next(&x) % (uint64_t)l->ids);
        else
            ((float *)out)[i] = (float)next(&x) / (1 << 23) - 1;
}

static void open_batches(struct pr_task_batches *b, const struct pr_model *m,
                         uint64_t batch)
{
    struct pr_err err = {0};

    if (pr_task_batches_open(b, m, SEED, batch, BATCHES, &err))
        bench_die("%s: %s", err.where, err.msg);
}

bool bench_write_batches(const struct pr_model *model, uint64_t batch,
                         const char *path)
{
    struct pr_task_batches task;
    struct pr_err err = {0};

    if (!pr_task_find(model->data))
        return false;
    open_batches(&task, model, batch);
    if (pr_task_batches_save(&task, path, &err))
        bench_die("%s: %s", err.where, err.msg);
    pr_task_batches_close(&task);
    return true;
}

static void find_inputs(const struct pr_model *m, struct pr_net *net,
                        void **inputs)
{
    for (unsigned i = 0; i < m->input_count; i++)
        inputs[i] = pr_net_input(net, i);
}

static void fill(const struct pr_model *m, struct pr_net *net, uint64_t batch)
{
    struct pr_task_batches task;
    void *inputs[PR_MODEL_INPUTS];

    find_inputs(m, net, inputs);
    if (!pr_task_find(m->data)) {
        for (unsigned i = 0; i < m->input_count; i++)
            fill_noise(&m->layers[i], batch, inputs[i]);
        return;
    }
    open_batches(&task, m, batch);
    pr_task_batches_get(&task, 0, inputs);
    pr_task_batches_close(&task);
}

static struct pr_net_opts opts_of(const struct pr_model *model, bool training,
                                  uint64_t batch, unsigned threads)
{
    struct pr_net_opts opts = {.batch = batch,
                               .training = training,
                               .threads = threads,
                               .seed = SEED,
                               .optimizer = model->optimizer};

    opts.optimizer.learning_rate = RATE;
    return opts;
}

static _Noreturn void cannot(const struct pr_err *err)
{
    printf("cannot make the network: %s: %s\n", err->where, err->msg);
    fflush(stdout);
    exit(1);
}

struct pr_net *bench_net(const struct pr_model *model, bool training,
                         bool profile, uint64_t batch, unsigned threads)
{
    struct pr_net_opts opts = opts_of(model, training, batch, threads);
    struct pr_err err = {0};
    struct pr_net *net;

    opts.profile = profile;
    if (pr_net_new(model, &opts, &net, &err))
        cannot(&err);
    fill(model, net, batch);
    return net;
}

/* ---- steps */

struct asked {
    const struct pr_model *model;
    bool training;
    uint64_t batch;
    unsigned threads;
};

static struct asked read_asked(char **argv)
{
    struct asked a = {bench_model(argv[0], argv[1]),
                      strcmp(argv[2], "training") == 0,
                      strtoull(argv[3], NULL, 10), (unsigned)atoi(argv[4])};

    if (strcmp(a.model->data, "cartpole") == 0)
        a.batch = PR_CARTPOLE_STEPS; /* of an episode, at most */
    return a;
}

/* A net at work. */
struct work {
    struct asked a;
    struct pr_net *net;
    struct pr_native n; /* as far as episodes look at it */
    struct pr_cartpole_agent cart;
    struct pr_task_batches batches;
    void *inputs[PR_MODEL_INPUTS];
    bool plays, has_batches;
    uint64_t steps;
};

static void work_init(struct work *w, struct asked a, bool profile)
{
    struct pr_err err = {0};

    *w = (struct work){.a = a};
    w->net = bench_net(a.model, a.training, profile, a.batch, a.threads);
    w->plays = strcmp(a.model->data, "cartpole") == 0;
    w->has_batches = pr_task_find(a.model->data) != NULL;
    find_inputs(a.model, w->net, w->inputs);
    if (w->has_batches)
        open_batches(&w->batches, a.model, a.batch);
    if (!w->plays)
        return;
    w->n = (struct pr_native){
        .model = (struct pr_model *)(uintptr_t)a.model,
        .net = opts_of(a.model, a.training, a.batch, a.threads),
        .batch = a.batch};
    w->n.nn.seed = SEED;
    if (pr_cartpole_open(&w->cart, &w->n, w->net, &err))
        cannot(&err);
}

/* How many items it was; 0, and said why: it failed. */
static uint64_t step(struct work *w)
{
    struct pr_net_score score;
    struct pr_err err = {0};
    uint64_t items = 1;
    int rc;

    if (w->has_batches)
        pr_task_batches_get(&w->batches, w->steps, w->inputs);
    w->steps++;
    if (w->plays)
        rc = pr_cartpole_run_episode(&w->cart, &w->n, w->net, &items, &score,
                                     &err);
    else if (w->a.training)
        rc = pr_net_train(w->net, &score, &err);
    else
        rc = pr_net_infer(w->net, NULL, &err);
    if (rc)
        fprintf(stderr, "%s: %s\n", err.where, err.msg);
    return rc ? 0 : items;
}

/* Seconds of one item; negative: it failed. */
static double measure(struct work *w, double block_s)
{
    double start = bench_time(), took;
    uint64_t items = 0;

    do {
        for (int i = 0; i < (block_s > 0 ? CALLS : 1); i++) {
            uint64_t n = step(w);

            if (!n)
                return -1;
            items += n;
        }
        took = bench_time() - start;
    } while (took < block_s);
    return took / (double)items;
}

static bool serve(struct work *w, double block_s)
{
    int steps;

    printf("ready\n");
    fflush(stdout);
    while (scanf("%d", &steps) == 1) {
        for (int i = 0; i < steps; i++) {
            double seconds = measure(w, block_s);

            if (seconds < 0)
                return false;
            printf("%.9f%c", seconds, i == steps - 1 ? '\n' : ' ');
        }
        fflush(stdout);
    }
    return true;
}

int bench_native_main(int argc, char **argv)
{
    static struct work w;
    struct pr_net_facts facts;
    char version[32];

    if (argc != 6)
        return 2;
    work_init(&w, read_asked(argv), false);
    pr_net_facts(w.net, &facts);
    pr_net_is_available(version, NULL);
    printf("about oneDNN %s, %u threads, %u primitives and loops, %u of them "
           "change the layout, %.0f MB planned\n",
           version, facts.threads, facts.steps, facts.reorders,
           (double)facts.bytes / 1e6);
    printf("params %llu\n", (unsigned long long)w.a.model->params);
    return !serve(&w, atoi(argv[5]) / 1e3);
}

int bench_native_about(unsigned threads)
{
    struct pr_err err = {0};
    struct pr_threads *par;
    char version[32];

    if (!pr_net_is_available(version, &err))
        bench_skip("everything: %s: %s", err.where, err.msg);
    if (pr_threads_new(threads, &par, &err))
        return 1;
    printf("%ld processors, %u threads at %.1f GFLOP/s of multiply-adds, "
           "oneDNN %s\n",
           sysconf(_SC_NPROCESSORS_ONLN), pr_threads_count(par),
           pr_kernel_peak(par) / 1e9, version);
    pr_threads_free(par);
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
    static struct work w;

    if (argc != 6)
        return 2;
    work_init(&w, read_asked(argv), true);
    for (int i = 0; i <= atoi(argv[5]); i++) {
        if (!step(&w))
            return 1;
        if (i == 0)
            pr_net_forget_times(w.net);
    }
    print_rows(w.net);
    return 0;
}
