/*
 * Random small models as text: layers of all kinds, taken from whatever came
 * before, with odd numbers of channels and values that have many users. Most
 * of what is drawn can be had; what cannot is drawn again.
 */
#ifndef TESTS_UNIT_NN_GRAPHS_H
#define TESTS_UNIT_NN_GRAPHS_H

#include "base/buf.h"
#include "base/random.h"

#include <string.h>

enum { GRAPH_VALUES = 40 };

struct graph_value {
    bool is_row; /* [c] */
    bool is_seq; /* [h, c]; else [c, h, w] */
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

    if (g->batch * (is.is_row ? 1 : is.is_seq ? is.h : is.h * is.w) < 6)
        return from;
    pr_buf_printf(g->out, "- {batch_norm: , epsilon: 0.01, scale: %s",
                  pick(g, 3) ? "true" : "false");
    return graph_end(g, from, is);
}

static inline int graph_simple(struct graph *g, int from)
{
    static const char *const what[] = {
        "relu: ",      "relu: ",       "relu: ",     "sigmoid: ",
        "tanh: ",      "dropout: 0.3", "dropout: 0", "scale: 0.7",
        "scale: -1.3", "gelu: ",       "gelu: ",     "leaky_relu: 0.2"};

    pr_buf_printf(g->out, "- {%s", what[pick(g, sizeof what / sizeof *what)]);
    return graph_end(g, from, g->v[from]);
}

static inline bool graph_fits(const struct graph_value *a,
                              const struct graph_value *b, bool add)
{
    return a->is_row == b->is_row && a->is_seq == b->is_seq &&
           (a->is_row || (a->h == b->h && (a->is_seq || a->w == b->w))) &&
           (!add || a->c == b->c);
}

enum graph_join { GRAPH_CONCAT, GRAPH_ADD, GRAPH_MULTIPLY };

/* Joins from with others that fit it; from itself is the first or the last. */
static inline int graph_join(struct graph *g, int from, enum graph_join how,
                             int most)
{
    static const char *const names[] = {"concat", "add", "multiply"};
    struct graph_value is = g->v[from];
    int parts[GRAPH_VALUES] = {from}, n = 1, first = pick(g, g->count);
    bool last = pick(g, 2), add = how != GRAPH_CONCAT;
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
    pr_buf_printf(g->out, "- {%s: ,%s name: v%d, from: [", names[how],
                  is.is_seq && !add ? " axis: 1," : "", g->count);
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

#endif
