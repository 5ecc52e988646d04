/* Convolutions alone; see convs.h. */
#include "convs.h"

#include "nn/engine/onednn.h"
#include "rig.h"

#include <sys/mman.h>

enum { PASSES = 3, CALLS = 5, MOST = 256, HUGE_PAGE = 2 << 20 };

struct conv {
    const struct pr_layer *layer;
    struct pr_layer_shape in;
    unsigned count;  /* that are like it */
    bool needs_data; /* the gradient of what goes in */
    struct pr_primitive *prims[PASSES];
    double best[PASSES]; /* seconds */
};

struct bench_convs {
    const struct pr_model *model;
    int64_t batch;
    struct pr_onednn *dnn;
    struct conv all[MOST];
    unsigned count;
    size_t bytes[PR_ARG_COUNT]; /* the most that an argument takes */
    void *memory[PR_ARG_COUNT];
};

static const int args[PASSES][6] = {
    [PR_FORWARD] = {PR_ARG_SRC, PR_ARG_WEIGHTS, PR_ARG_BIAS, PR_ARG_DST,
                    PR_ARG_SCRATCH, -1},
    [PR_BACKWARD_DATA] = {PR_ARG_DIFF_DST, PR_ARG_WEIGHTS, PR_ARG_DIFF_SRC,
                          PR_ARG_SCRATCH, -1},
    [PR_BACKWARD_WEIGHTS] = {PR_ARG_SRC, PR_ARG_DIFF_DST, PR_ARG_DIFF_WEIGHTS,
                             PR_ARG_DIFF_BIAS, PR_ARG_SCRATCH, -1},
};

/* ---- which there are */

static bool is_like(const struct conv *c, const struct conv *other)
{
    const struct pr_layer *a = c->layer, *b = other->layer;

    return memcmp(&c->in, &other->in, sizeof c->in) == 0 && a->out == b->out &&
           memcmp(a->kernel, b->kernel, sizeof a->kernel) == 0 &&
           memcmp(a->stride, b->stride, sizeof a->stride) == 0 &&
           memcmp(a->dilation, b->dilation, sizeof a->dilation) == 0 &&
           memcmp(a->pad, b->pad, sizeof a->pad) == 0 &&
           a->groups == b->groups && a->bias == b->bias &&
           c->needs_data == other->needs_data;
}

static void collect(struct bench_convs *c)
{
    for (unsigned i = 0; i < c->model->layer_count; i++) {
        const struct pr_layer *l = &c->model->layers[i];
        struct conv new = {.layer = l, .count = 1};
        unsigned k = 0;

        if (l->op != PR_LAYER_CONV)
            continue;
        new.in = c->model->layers[l->inputs[0]].shape;
        new.needs_data = l->inputs[0] != 0;
        while (k < c->count && !is_like(&c->all[k], &new))
            k++;
        if (k == MOST)
            bench_die("too many kinds of convolutions");
        if (k < c->count)
            c->all[k].count++;
        else
            c->all[c->count++] = new;
    }
}

/* ---- primitives */

static const struct pr_layout *lay(struct bench_convs *c,
                                   enum pr_layout_kind kind, unsigned dims,
                                   const int64_t *at)
{
    const struct pr_layout *ret =
        pr_layout_new(c->dnn, kind, PR_LAYOUT_F32, dims, at);

    if (!ret)
        bench_die("out of memory");
    return ret;
}

static struct pr_product describe(struct bench_convs *c, const struct conv *v)
{
    const struct pr_layer *l = v->layer;
    const int64_t *s = v->in.at, g = l->groups;
    int64_t src[] = {c->batch, s[0], s[1], s[2]};
    int64_t dst[] = {c->batch, l->shape.at[0], l->shape.at[1], l->shape.at[2]};
    int64_t weights[] = {g, l->out / g, s[0] / g, l->kernel[0], l->kernel[1]};
    bool grouped = g > 1;
    struct pr_product p = {.training = true};

    p.src = lay(c, PR_LAYOUT_ANY, 4, src);
    p.dst = lay(c, PR_LAYOUT_ANY, 4, dst);
    p.weights = lay(c, PR_LAYOUT_ANY, grouped ? 5 : 4, weights + !grouped);
    if (l->bias)
        p.bias = lay(c, PR_LAYOUT_PLAIN, 1, &l->out);
    memcpy(p.stride, l->stride, sizeof p.stride);
    memcpy(p.dilation, l->dilation, sizeof p.dilation);
    memcpy(p.pad, l->pad, sizeof p.pad);
    return p;
}

static void make(struct bench_convs *c, struct conv *v)
{
    struct pr_product what = describe(c, v);
    struct pr_err err = {0};

    for (int pass = 0; pass < PASSES; pass++) {
        if (pass == PR_BACKWARD_DATA && !v->needs_data)
            continue;
        if (pr_primitive_product(c->dnn, (enum pr_pass)pass, &what, v->prims[0],
                                 &v->prims[pass], &err))
            bench_die("%s: %s", err.where, err.msg);
        for (const int *a = args[pass]; *a >= 0; a++) {
            const struct pr_layout *l =
                *a == PR_ARG_SCRATCH ? NULL
                                     : pr_primitive_layout(v->prims[pass], *a);
            size_t n = *a == PR_ARG_SCRATCH
                           ? pr_primitive_scratch_bytes(v->prims[pass])
                       : l ? pr_layout_bytes(l)
                           : 0;

            if (n > c->bytes[*a])
                c->bytes[*a] = n;
        }
        v->best[pass] = -1;
    }
}

/* As the engine has it: huge pages where they are to be had. */
static void allocate(struct bench_convs *c)
{
    for (int i = 0; i < PR_ARG_COUNT; i++) {
        size_t n = (c->bytes[i] + HUGE_PAGE) / HUGE_PAGE * HUGE_PAGE;
        float *p;

        if (!c->bytes[i])
            continue;
        p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                 -1, 0);
        if (p == MAP_FAILED)
            bench_die("out of memory");
        madvise(p, n, MADV_HUGEPAGE);
        for (size_t k = 0; k < n / sizeof *p; k++)
            p[k] = (float)(k % 251) / 251 - 0.5f;
        c->memory[i] = p;
    }
}

static void bind_memory(struct bench_convs *c, struct conv *v)
{
    struct pr_err err = {0};
    int rc = 0;

    for (int pass = 0; pass < PASSES; pass++) {
        struct pr_primitive *p = v->prims[pass];

        for (const int *a = args[pass]; p && *a >= 0 && !rc; a++) {
            bool used = *a == PR_ARG_SCRATCH
                            ? pr_primitive_scratch_bytes(p) > 0
                            : pr_primitive_layout(p, *a) != NULL;

            if (used)
                rc = pr_primitive_bind(p, *a, c->memory[*a], &err);
        }
        if (p && !rc)
            rc = pr_primitive_make_ready(p, &err);
    }
    if (rc)
        bench_die("%s: %s", err.where, err.msg);
}

struct bench_convs *bench_convs_new(const struct pr_model *model,
                                    uint64_t batch)
{
    struct bench_convs *c = calloc(1, sizeof *c);
    struct pr_err err = {0};

    if (!c || pr_onednn_new(&c->dnn, &err))
        bench_die("%s: %s", err.where, err.msg);
    c->model = model;
    c->batch = (int64_t)batch;
    collect(c);
    for (unsigned i = 0; i < c->count; i++)
        make(c, &c->all[i]);
    allocate(c);
    for (unsigned i = 0; i < c->count; i++)
        bind_memory(c, &c->all[i]);
    return c;
}

/* ---- figures */

void bench_convs_pass(struct bench_convs *c)
{
    struct pr_err err = {0};

    for (unsigned i = 0; i < c->count; i++)
        for (int pass = 0; pass < PASSES; pass++)
            for (int k = 0; c->all[i].prims[pass] && k <= CALLS; k++) {
                double *best = &c->all[i].best[pass], start = bench_now(), s;

                if (pr_primitive_run(c->all[i].prims[pass], &err))
                    bench_die("%s: %s", err.where, err.msg);
                s = bench_now() - start;
                if (k && (*best < 0 || s < *best))
                    *best = s;
            }
}

struct bench_convs_sum bench_convs_sum(const struct bench_convs *c)
{
    struct bench_convs_sum sum = {0};

    for (unsigned i = 0; i < c->count; i++)
        for (int pass = 0; pass < PASSES; pass++) {
            const struct conv *v = &c->all[i];

            if (!v->prims[pass])
                continue;
            sum.flops += (double)v->layer->flops * (double)c->batch * v->count;
            sum.seconds += v->best[pass] * v->count;
        }
    return sum;
}

void bench_convs_print(const struct bench_convs *c)
{
    printf("%-28s %2s  %-20s  each: ms, GFLOP/s, by: forward, gradient of "
           "input, of weights\n",
           "convolution alone", "x", "first of them");
    for (unsigned i = 0; i < c->count; i++) {
        const struct conv *v = &c->all[i];
        const struct pr_layer *l = v->layer;
        double flops = (double)l->flops * (double)c->batch;
        char shape[64];

        snprintf(shape, sizeof shape, "%lld->%lld %lldx%lld k%lldx%lld s%lld",
                 (long long)v->in.at[0], (long long)l->out,
                 (long long)v->in.at[1], (long long)v->in.at[2],
                 (long long)l->kernel[0], (long long)l->kernel[1],
                 (long long)l->stride[0]);
        printf("%-28s %2u  %-20s", shape, v->count, l->name);
        for (int pass = 0; pass < PASSES; pass++)
            if (v->prims[pass])
                printf("  %.3f %.1f %s", v->best[pass] * 1e3,
                       flops / v->best[pass] / 1e9,
                       pr_primitive_impl(v->prims[pass]));
            else
                printf("  -");
        printf("\n");
    }
}
