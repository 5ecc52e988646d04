/*
 * Random small models as text: layers of all kinds, taken from whatever came
 * before, with odd numbers of channels and values that have many users. Most
 * of what is drawn can be had; what cannot is drawn again.
 */
#ifndef TESTS_UNIT_NN_GRAPHS_H
#define TESTS_UNIT_NN_GRAPHS_H

#include "base/buf.h"
#include "base/rng.h"

#include <string.h>

enum { GRAPH_VALUES = 40 };

struct graph_value {
    bool is_row; /* [c], else [c, h, w] */
    int c, h, w;
    unsigned users;
};

struct graph {
    struct pr_rng rng;
    struct pr_buf *out;
    struct graph_value v[GRAPH_VALUES]; /* v0 is the input */
    int count;
    int batch;
};

static inline int pick(struct graph *g, int n)
{
    return (int)(pr_rng_u64(&g->rng) % (uint64_t)n);
}

static inline int pick_channels(struct graph *g)
{
    static const int some[] = {1, 2,  3,  4,  5,  6,  7, 8,
                               8, 11, 12, 16, 16, 17, 24};

    return some[pick(g, sizeof some / sizeof *some)];
}

static inline const char *graph_name(int i, char out[static 16])
{
    if (i)
        snprintf(out, 16, "v%d", i);
    else
        snprintf(out, 16, "input");
    return out;
}

/* One more value from another; its line ends the text that was begun. */
static inline int graph_end(struct graph *g, int from, struct graph_value is)
{
    char name[16];

    pr_buf_printf(g->out, ", from: %s, name: v%d}\n", graph_name(from, name),
                  g->count);
    g->v[from].users++;
    is.users = 0;
    g->v[g->count] = is;
    return g->count++;
}

static inline int window_out(int in, int kernel, int stride, int pads, int dil)
{
    int span = in + pads - dil * (kernel - 1) - 1;

    return span < 0 ? 0 : span / stride + 1;
}

static inline int graph_conv(struct graph *g, int from, int out, bool same)
{
    struct graph_value is = g->v[from];
    int k = same ? 1 + 2 * pick(g, 2) : 1 + pick(g, 3);
    int stride = same ? 1 : 1 + pick(g, 4) / 3;
    int dil = !same && k > 1 && pick(g, 5) == 0 ? 2 : 1;
    int pad = same ? k / 2 : pick(g, 2), extra = !same && pick(g, 4) == 0;
    int h = window_out(is.h, k, stride, 2 * pad + extra, dil);
    int w = window_out(is.w, k, stride, 2 * pad, dil);
    bool depthwise = pick(g, 6) == 0 && out % is.c == 0;
    bool grouped =
        !depthwise && pick(g, 4) == 0 && out % 2 == 0 && is.c % 2 == 0;

    if (h < 1 || w < 1)
        return from;
    pr_buf_printf(g->out,
                  "- {conv: %d, kernel: %d, stride: %d, dilation: %d, "
                  "pad: [%d, %d, %d, %d], bias: %s%s",
                  out, k, stride, dil, pad, pad, pad + extra, pad,
                  pick(g, 2) ? "true" : "false",
                  depthwise ? ", depthwise: true"
                  : grouped ? ", groups: 2"
                            : "");
    is.c = out;
    is.h = h;
    is.w = w;
    return graph_end(g, from, is);
}

static inline int graph_pool(struct graph *g, int from)
{
    struct graph_value is = g->v[from];
    int k = 2 + pick(g, 2), stride = 1 + pick(g, 2), pad = pick(g, 2);
    bool max = pick(g, 2);

    if (is.h + 2 * pad < k || is.w + 2 * pad < k || is.h < 2 || is.w < 2)
        return from;
    pr_buf_printf(g->out, "- {%s: %d, stride: %d, pad: %d%s",
                  max ? "max_pool" : "average_pool", k, stride, pad,
                  max          ? ""
                  : pick(g, 2) ? ", count_pad: false"
                               : ", count_pad: true");
    is.h = window_out(is.h, k, stride, 2 * pad, 1);
    is.w = window_out(is.w, k, stride, 2 * pad, 1);
    return graph_end(g, from, is);
}

static inline int graph_norm(struct graph *g, int from)
{
    struct graph_value is = g->v[from];

    if (g->batch * (is.is_row ? 1 : is.h * is.w) < 6)
        return from;
    pr_buf_printf(g->out, "- {batch_norm: , epsilon: 0.01, scale: %s",
                  pick(g, 3) ? "true" : "false");
    return graph_end(g, from, is);
}

static inline int graph_simple(struct graph *g, int from)
{
    static const char *const what[] = {
        "relu: ",       "relu: ",     "relu: ",     "sigmoid: ",  "tanh: ",
        "dropout: 0.3", "dropout: 0", "scale: 0.7", "scale: -1.3"};

    pr_buf_printf(g->out, "- {%s", what[pick(g, sizeof what / sizeof *what)]);
    return graph_end(g, from, g->v[from]);
}

static inline bool graph_fits(const struct graph_value *a,
                              const struct graph_value *b, bool add)
{
    return a->is_row == b->is_row &&
           (a->is_row || (a->h == b->h && a->w == b->w)) &&
           (!add || a->c == b->c);
}

/* Joins from with others that fit it; from itself is the first or the last. */
static inline int graph_join(struct graph *g, int from, bool add, int most)
{
    struct graph_value is = g->v[from];
    int parts[GRAPH_VALUES] = {from}, n = 1, first = pick(g, g->count);
    bool last = pick(g, 2);
    char name[16];

    for (int i = 0; i < g->count && n < most; i++) {
        int k = (first + i) % g->count;

        if (k == from || !graph_fits(&g->v[from], &g->v[k], add) ||
            (!add && is.c + g->v[k].c > 60))
            continue;
        is.c += add ? 0 : g->v[k].c;
        parts[n++] = k;
    }
    if (n == 1)
        return from;
    pr_buf_printf(g->out, "- {%s: , name: v%d, from: [", add ? "add" : "concat",
                  g->count);
    for (int i = 0; i < n; i++) {
        int k = parts[(i + last) % n];

        pr_buf_printf(g->out, "%s%s", i ? ", " : "", graph_name(k, name));
        g->v[k].users++;
    }
    pr_buf_str(g->out, "]}\n");
    is.users = 0;
    g->v[g->count] = is;
    return g->count++;
}

/* conv, batch norm, add, relu; now and then without the one or other, and
 * added to something else of the same shape. */
static inline int graph_residual(struct graph *g, int from)
{
    int x = graph_conv(g, from, g->v[from].c, true), other = from;
    char a[16], b[16];

    x = graph_norm(g, x);
    if (pick(g, 3) == 0)
        other = graph_norm(g, graph_conv(g, from, g->v[from].c, true));
    if (x == other || g->count >= GRAPH_VALUES)
        return x;
    if (pick(g, 2))
        pr_buf_printf(g->out, "- {add: , name: v%d, from: [%s, %s]}\n",
                      g->count, graph_name(x, a), graph_name(other, b));
    else
        pr_buf_printf(g->out, "- {add: , name: v%d, from: [%s, %s]}\n",
                      g->count, graph_name(other, b), graph_name(x, a));
    g->v[x].users++;
    g->v[other].users++;
    g->v[g->count] = g->v[from];
    g->v[g->count].users = 0;
    x = g->count++;
    if (pick(g, 4)) {
        pr_buf_printf(g->out, "- {relu: ");
        x = graph_end(g, x, g->v[x]);
    }
    return x;
}

static inline int graph_row(struct graph *g, int from)
{
    struct graph_value is = {.is_row = true, .c = g->v[from].c};

    switch (pick(g, 3)) {
    case 0:
        is.c = pick_channels(g);
        pr_buf_printf(g->out, "- {linear: %d, bias: %s", is.c,
                      pick(g, 2) ? "true" : "false");
        break;
    case 1:
        is.c *= g->v[from].is_row ? 1 : g->v[from].h * g->v[from].w;
        pr_buf_printf(g->out, "- {flatten: ");
        break;
    default:
        pr_buf_str(g->out,
                   g->v[from].is_row ? "- {softmax: " : "- {global_pool: ");
    }
    return graph_end(g, from, is);
}

static inline int graph_grow(struct graph *g, int from)
{
    if (g->v[from].is_row)
        switch (pick(g, 6)) {
        case 0:
            return graph_norm(g, from);
        case 1:
            return graph_join(g, from, true, 2 + pick(g, 5));
        case 2:
            return graph_join(g, from, false, 2 + pick(g, 3));
        case 3:
            return graph_simple(g, from);
        default:
            return graph_row(g, from);
        }
    switch (pick(g, 15)) {
    case 0:
    case 1:
    case 2:
        return graph_conv(g, from, pick_channels(g), pick(g, 2));
    case 3:
        return graph_pool(g, from);
    case 4:
        return graph_norm(g, from);
    case 5:
        return graph_norm(g, graph_conv(g, from, pick_channels(g), true));
    case 6:
        pr_buf_printf(g->out, "- {lrn: %d, alpha: 0.2", 3 + 2 * pick(g, 2));
        return graph_end(g, from, g->v[from]);
    case 7:
        return graph_row(g, from);
    case 8:
        return graph_join(g, from, true, 2 + pick(g, 5));
    case 9:
        return graph_join(g, from, false, 2 + pick(g, 3));
    case 10:
    case 11:
        return graph_residual(g, from);
    default:
        return graph_simple(g, from);
    }
}

/* What nobody uses becomes a row of 4, and all rows go to the last layer. */
static inline void graph_close(struct graph *g)
{
    int ends[GRAPH_VALUES], n = 0;

    for (int i = g->count; i-- > 1;)
        if (!g->v[i].users)
            ends[n++] = i;
    for (int i = 0; i < n; i++) {
        char name[16];

        pr_buf_printf(g->out, "- {linear: 4, from: %s, name: e%d}\n",
                      graph_name(ends[i], name), i);
    }
    if (n > 1)
        pr_buf_str(g->out, "- {concat: , from: [");
    for (int i = 0; n > 1 && i < n; i++)
        pr_buf_printf(g->out, "%se%d", i ? ", " : "", i);
    pr_buf_printf(g->out, "%s- {linear: $classes}\n", n > 1 ? "]}\n" : "");
}

/* Layers go to out; input is written as a list. */
static inline void graph_draw(struct graph *g, uint64_t seed,
                              struct pr_buf *out, char input[static 32])
{
    int layers, at;

    memset(g, 0, sizeof *g);
    pr_rng_seed(&g->rng, seed, 3);
    g->out = out;
    g->batch = 1 + pick(g, 5);
    g->count = 1;
    g->v[0] = (struct graph_value){pick(g, 8) == 0, pick_channels(g),
                                   2 + pick(g, 6), 2 + pick(g, 6), 0};
    if (g->v[0].is_row)
        snprintf(input, 32, "[%d]", g->v[0].c);
    else
        snprintf(input, 32, "[%d, %d, %d]", g->v[0].c, g->v[0].h, g->v[0].w);
    layers = 2 + pick(g, 12);
    /* The gradient of what follows shows in the weights of the first. */
    at = g->v[0].is_row ? graph_row(g, 0)
                        : graph_conv(g, 0, pick_channels(g), true);
    for (int i = 0; i < layers && g->count + 6 < GRAPH_VALUES; i++)
        at = graph_grow(g, pick(g, 3) ? at : pick(g, g->count));
    graph_close(g);
}

#endif
