/* Random small models: sequences, more of images, and drawing a whole one. */
#ifndef TESTS_UNIT_NN_GRAPHS_MORE_H
#define TESTS_UNIT_NN_GRAPHS_MORE_H

#include "nn_graphs.h"

enum { GRAPH_POINTS = 90 }; /* an image or sequence does not grow beyond */

static inline int size_of(const struct graph_value *v)
{
    return v->is_row ? v->c : v->is_seq ? v->c * v->h : v->c * v->h * v->w;
}

/* ---- images */

static inline int graph_transposed(struct graph *g, int from)
{
    struct graph_value is = g->v[from];
    int k = 1 + pick(g, 4), stride = 1 + pick(g, 2), pad = k > 2 && pick(g, 2);

    is.c = pick_channels(g);
    is.h = (is.h - 1) * stride + k - 2 * pad;
    is.w = (is.w - 1) * stride + k - 2 * pad;
    if (is.h * is.w > GRAPH_POINTS || is.h < 1 || is.w < 1)
        return from;
    pr_buf_printf(g->out,
                  "- {transposed_conv: %d, kernel: %d, stride: %d, pad: %d, "
                  "bias: %s",
                  is.c, k, stride, pad, pick(g, 2) ? "true" : "false");
    return graph_end(g, from, is);
}

static inline int graph_slice(struct graph *g, int from)
{
    struct graph_value is = g->v[from];
    int axis = is.is_row ? 0 : pick(g, is.is_seq ? 2 : 3);
    int *at = is.is_row   ? &is.c
              : is.is_seq ? (axis ? &is.c : &is.h)
              : axis == 0 ? &is.c
              : axis == 1 ? &is.h
                          : &is.w;
    int first = pick(g, *at);

    if (*at < 2)
        return from;
    *at = 1 + pick(g, *at - first);
    pr_buf_printf(g->out, "- {slice: %d, count: %d, axis: %d", first, *at,
                  axis);
    return graph_end(g, from, is);
}

static inline int graph_points(struct graph *g, int from)
{
    struct graph_value is = g->v[from];
    int n = 2 + pick(g, 2);

    switch (pick(g, 3)) {
    case 0:
        if (is.h * is.w * n * n > GRAPH_POINTS)
            return from;
        pr_buf_printf(g->out, "- {upsample: %d", n);
        is.h *= n;
        is.w *= n;
        break;
    case 1:
        if (is.c % (n * n) || is.h * is.w * n * n > GRAPH_POINTS)
            return from;
        pr_buf_printf(g->out, "- {pixel_shuffle: %d", n);
        is.c /= n * n;
        is.h *= n;
        is.w *= n;
        break;
    default:
        if (is.h < 3 || is.w < 2 || (is.h + 3) * (is.w + 1) > GRAPH_POINTS)
            return from;
        pr_buf_str(g->out, "- {reflect_pad: [1, 0, 2, 1]");
        is.h += 3;
        is.w += 1;
    }
    return graph_end(g, from, is);
}

/* From an image or a row to a sequence. */
static inline int graph_unroll(struct graph *g, int from)
{
    struct graph_value is = g->v[from];
    int n = size_of(&is), rows = is.c;

    if (!is.is_row && pick(g, 3) == 0 && is.c < 18 && is.h * is.w > 1) {
        pr_buf_str(g->out, "- {gram: ");
        is.h = is.c;
    } else {
        for (int i = 2; i < 5 && is.is_row; i++)
            rows = n % i == 0 ? i : rows;
        pr_buf_printf(g->out, "- {reshape: [%d, -1]", rows);
        is.h = rows;
        is.c = n / rows;
    }
    is.is_row = false;
    is.is_seq = true;
    return graph_end(g, from, is);
}

static inline int graph_image(struct graph *g, int from)
{
    switch (pick(g, 7)) {
    case 0:
        return graph_transposed(g, from);
    case 1:
        return graph_slice(g, from);
    case 2:
    case 3:
        return graph_points(g, from);
    case 4:
        return graph_unroll(g, from);
    case 5:
        return graph_join(g, from, GRAPH_MULTIPLY, 2 + pick(g, 2));
    default:
        if (g->v[from].h * g->v[from].w < 4)
            return from;
        pr_buf_printf(g->out, "- {instance_norm: , epsilon: 0.01, scale: %s",
                      pick(g, 3) ? "true" : "false");
        return graph_end(g, from, g->v[from]);
    }
}

/* ---- sequences */

static inline int graph_recurrent(struct graph *g, int from)
{
    struct graph_value is = g->v[from];

    is.c = 1 + pick(g, 18);
    pr_buf_printf(g->out, "- {%s: %d, reverse: %s, carry: %s",
                  pick(g, 2) ? "lstm" : "gru", is.c,
                  pick(g, 2) ? "true" : "false", pick(g, 3) ? "false" : "true");
    return graph_end(g, from, is);
}

/* Of one, or of three; not of sequences that are too long to be quick. */
static inline int graph_attention(struct graph *g, int from)
{
    struct graph_value is = g->v[from];
    int heads = 1 + pick(g, 3), each = 1 + pick(g, 5), at;

    if (is.h > 20)
        return from;
    is.c = heads * each * 3;
    pr_buf_printf(g->out, "- {linear: %d", is.c);
    at = graph_end(g, from, is);
    is.c = heads * each;
    if (pick(g, 4) == 0) {
        is.c *= 3;
        pr_buf_printf(g->out, "- {%s, name: v%d, from: [v%d, v%d, v%d]}\n",
                      pick(g, 2) ? "attention: 3" : "additive_attention: ",
                      g->count, at, at, at);
        g->v[at].users++;
        is.users = 0;
        g->v[g->count] = is;
        return g->count++;
    }
    pr_buf_printf(g->out, "- {attention: %d, causal: %s", heads,
                  pick(g, 2) ? "true" : "false");
    return graph_end(g, at, is);
}

/* To a row, an image, or turned round. */
static inline int graph_roll(struct graph *g, int from)
{
    struct graph_value is = g->v[from], was = is;

    switch (pick(g, 3)) {
    case 0:
        pr_buf_str(g->out, "- {flatten: ");
        is = (struct graph_value){.is_row = true, .c = size_of(&was)};
        break;
    case 1:
        pr_buf_printf(g->out, "- {reshape: [%d, %d, 1]", is.h, is.c);
        is = (struct graph_value){.c = was.h, .h = was.c, .w = 1};
        break;
    default:
        pr_buf_str(g->out, "- {transpose: ");
        is.h = was.c;
        is.c = was.h;
    }
    return graph_end(g, from, is);
}

static inline int graph_seq(struct graph *g, int from)
{
    struct graph_value is = g->v[from];

    switch (pick(g, 13)) {
    case 0:
    case 1:
        return graph_recurrent(g, from);
    case 2:
    case 3:
        return graph_attention(g, from);
    case 4:
        return graph_roll(g, from);
    case 5:
        return graph_slice(g, from);
    case 6:
        return graph_join(g, from, GRAPH_MULTIPLY, 2 + pick(g, 2));
    case 7:
        return graph_join(g, from, GRAPH_ADD, 2 + pick(g, 3));
    case 8:
        return graph_join(g, from, GRAPH_CONCAT, 2 + pick(g, 3));
    case 9:
        return graph_norm(g, from);
    case 10:
        pr_buf_str(g->out, is.c > 2 && pick(g, 3)
                               ? "- {layer_norm: , epsilon: 0.01"
                               : "- {softmax: ");
        return graph_end(g, from, is);
    case 11:
        is.c = pick_channels(g);
        pr_buf_printf(g->out, "- {linear: %d", is.c);
        return graph_end(g, from, is);
    default:
        return graph_simple(g, from);
    }
}

/* ---- all of them */

static inline int graph_grow(struct graph *g, int from)
{
    if (g->v[from].is_seq)
        return graph_seq(g, from);
    if (!g->v[from].is_row && pick(g, 4) == 0)
        return graph_image(g, from);
    if (g->v[from].is_row)
        switch (pick(g, 7)) {
        case 0:
            return graph_norm(g, from);
        case 1:
            return graph_join(g, from, GRAPH_ADD, 2 + pick(g, 5));
        case 2:
            return graph_join(g, from, GRAPH_CONCAT, 2 + pick(g, 3));
        case 3:
            return graph_simple(g, from);
        case 4:
            return graph_unroll(g, from);
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
        return graph_join(g, from, GRAPH_ADD, 2 + pick(g, 5));
    case 9:
        return graph_join(g, from, GRAPH_CONCAT, 2 + pick(g, 3));
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

        graph_name(ends[i], name);
        if (g->v[ends[i]].is_seq)
            pr_buf_printf(g->out, "- {flatten: , from: %s}\n", name);
        pr_buf_printf(g->out, "- {linear: 4, %s%s%sname: e%d}\n",
                      g->v[ends[i]].is_seq ? "" : "from: ",
                      g->v[ends[i]].is_seq ? "" : name,
                      g->v[ends[i]].is_seq ? "" : ", ", i);
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
    g->v[0] =
        (struct graph_value){pick(g, 8) == 0, false,          pick_channels(g),
                             2 + pick(g, 6),  2 + pick(g, 6), 0};
    g->v[0].is_seq = !g->v[0].is_row && pick(g, 3) == 0;
    if (g->v[0].is_row)
        snprintf(input, 32, "[%d]", g->v[0].c);
    else if (g->v[0].is_seq)
        snprintf(input, 32, "[%d, %d]", g->v[0].h, g->v[0].c);
    else
        snprintf(input, 32, "[%d, %d, %d]", g->v[0].c, g->v[0].h, g->v[0].w);
    layers = 2 + pick(g, 12);
    /* The gradient of what follows shows in the weights of the first. */
    at = g->v[0].is_row   ? graph_row(g, 0)
         : g->v[0].is_seq ? graph_recurrent(g, 0)
                          : graph_conv(g, 0, pick_channels(g), true);
    for (int i = 0; i < layers && g->count + 6 < GRAPH_VALUES; i++)
        at = graph_grow(g, pick(g, 3) ? at : pick(g, g->count));
    graph_close(g);
}

#endif
