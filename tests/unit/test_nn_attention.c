/* Attention of heads, against doubles and its own slopes. */
#include "test_nn_attention.h"

static const struct shape {
    size_t samples, heads, queries, keys, width;
    bool packed, causal, lengths;
} shapes[] = {
    {1, 1, 1, 1, 1, false, false, false},
    {2, 3, 5, 7, 4, false, false, false},
    {3, 2, 9, 9, 8, true, false, true},
    {2, 2, 130, 130, 5, true, true, false},
    {2, 1, 150, 150, 3, true, true, true},
    {2, 2, 130, 1100, 2, false, false, true},
    {1, 4, 64, 64, 16, true, true, false},
    {4, 12, 16, 16, 64, true, false, false},
    {2, 2, 3, 200, 33, false, false, true},
};

/* Rows are three numbers longer than they need be. */
struct heads {
    struct pr_attention a;
    const struct shape *s;
    size_t in[3], probs, out; /* floats of q, k, v; the packed one is q */
    float *x[3], *dx[3], *y, *dy, *work;
    int32_t lengths[4];
};

static void heads_new(const struct pr_threads *p, const struct shape *s,
                      struct heads *h)
{
    size_t all = s->heads * s->width, ld = (s->packed ? 3 * all : all) + 3;
    struct pr_attention *a = &h->a;

    *h = (struct heads){.s = s};
    *a = (struct pr_attention){
        s->samples, s->heads,  s->queries, s->keys, s->width, s->width,
        NULL,       NULL,      NULL,       ld,      ld,       ld,
        all + 3,    s->causal, NULL,       NULL,    NULL};
    for (size_t i = 0; i < s->samples; i++)
        h->lengths[i] = (int32_t)(i == 0 ? s->keys : 1 + s->keys / (i + 1));
    a->lengths = s->lengths ? h->lengths : NULL;
    for (size_t i = 0; i < (s->packed ? 1 : 3); i++) {
        h->in[i] = s->samples * (i == 0 ? s->queries : s->keys) * ld;
        h->x[i] = drawn(h->in[i], 10 + i, 0);
        h->dx[i] = tensor(h->in[i]);
    }
    a->q = h->x[0];
    a->k = s->packed ? a->q + all : h->x[1];
    a->v = s->packed ? a->q + 2 * all : h->x[2];
    h->probs = s->samples * s->heads * s->queries * s->keys;
    h->out = s->samples * s->queries * a->ldy;
    a->p = tensor(h->probs);
    a->work = h->work = tensor(pr_kernel_attention_work(p, a));
    h->y = tensor(h->out);
    h->dy = drawn(h->out, 20, 0);
}

static void heads_free(const struct pr_threads *p, struct heads *h)
{
    for (size_t i = 0; i < 3 && h->x[i]; i++) {
        tensor_free(h->x[i], h->in[i]);
        tensor_free(h->dx[i], h->in[i]);
    }
    tensor_free(h->work, pr_kernel_attention_work(p, &h->a));
    tensor_free(h->a.p, h->probs);
    tensor_free(h->y, h->out);
    tensor_free(h->dy, h->out);
}

/* What query i of a head gives; probabilities are left in p. */
static void head_row(const struct heads *h, size_t n, size_t head, size_t i,
                     const struct moved *m, double *p, double *y)
{
    const struct pr_attention *a = &h->a;
    size_t w = a->width, keys = h->s->lengths ? (size_t)h->lengths[n] : a->keys;
    const float *q = a->q + (n * a->queries + i) * a->ldq + head * w;

    keys = a->causal && i + 1 < keys ? i + 1 : keys;
    for (size_t k = 0; k < keys; k++) {
        const float *key = a->k + (n * a->keys + k) * a->ldk + head * w;

        p[k] = 0;
        for (size_t c = 0; c < w; c++)
            p[k] += value(q + c, m) * value(key + c, m) / sqrt((double)w);
    }
    soften(p, keys);
    for (size_t c = 0; c < w; c++) {
        y[c] = 0;
        for (size_t k = 0; k < keys; k++)
            y[c] += p[k] *
                    value(a->v + (n * a->keys + k) * a->ldv + head * w + c, m);
    }
}

static double head_objective(const struct heads *h, size_t n, size_t head,
                             const float *at, double by)
{
    const struct pr_attention *a = &h->a;
    struct moved m = {at, by};
    double p[MOST], y[64], sum = 0;

    for (size_t i = 0; i < a->queries; i++) {
        head_row(h, n, head, i, &m, p, y);
        for (size_t c = 0; c < a->width; c++)
            sum +=
                y[c] *
                (double)
                    h->dy[(n * a->queries + i) * a->ldy + head * a->width + c];
    }
    return sum;
}

static void check_heads(const struct heads *h)
{
    const struct pr_attention *a = &h->a;
    struct moved none = {NULL, 0};
    double p[MOST], y[64];

    for (size_t r = 0; r < a->samples * a->queries; r++)
        for (size_t head = 0; head < a->heads; head++) {
            head_row(h, r / a->queries, head, r % a->queries, &none, p, y);
            for (size_t c = 0; c < a->width; c++)
                assert_near(h->y[r * a->ldy + head * a->width + c], y[c], 3e-6);
        }
    for (size_t i = 0; i < h->out; i++)
        if (i % a->ldy >= a->heads * a->width)
            assert_true(h->y[i] == 777);
}

/* Some numbers of q, k or v against the slope; those of keys that nobody sees
 * are 0 in both. */
static void check_head_slopes(const struct heads *h, const float *x, size_t ld,
                              size_t rows, const float *dx)
{
    const struct pr_attention *a = &h->a;

    for (size_t t = 0; t < (is_brief() ? 3 : 10); t++) {
        size_t n = t % a->samples, head = t * 5 % a->heads;
        size_t at = (n * rows + (t < 2 ? rows - 1 : t * 31 % rows)) * ld +
                    head * a->width + t * 7 % a->width;
        double up = head_objective(h, n, head, x + at, 1e-4);
        double down = head_objective(h, n, head, x + at, -1e-4);

        assert_near(dx[at], (up - down) / 2e-4, 2e-5);
    }
}

static void heads_once(const struct pr_threads *p, const struct pr_onednn *d,
                       const struct shape *s)
{
    size_t all = s->heads * s->width;
    struct pr_attention_back b;
    struct heads h;
    float *y, *dq;

    heads_new(p, s, &h);
    b = (struct pr_attention_back){h.dy, h.dx[0],
                                   s->packed ? h.dx[0] + all : h.dx[1],
                                   s->packed ? h.dx[0] + 2 * all : h.dx[2]};
    assert_int_equal(pr_kernel_attention(p, d, &h.a, h.y, NULL), PR_OK);
    check_heads(&h);
    assert_int_equal(pr_kernel_attention_back(p, d, &h.a, &b, NULL), PR_OK);
    check_head_slopes(&h, h.a.q, h.a.ldq, s->queries, b.dq);
    check_head_slopes(&h, h.a.k, h.a.ldk, s->keys, b.dk);
    check_head_slopes(&h, h.a.v, h.a.ldv, s->keys, b.dv);
    dq = copied(h.dx[0], h.in[0]);
    if (!s->packed) { /* one gradient alone is the same */
        b.dk = b.dv = NULL;
        assert_int_equal(pr_kernel_attention_back(p, d, &h.a, &b, NULL), PR_OK);
        assert_same_bits(h.dx[0], dq, h.in[0]);
    }
    for (size_t i = 0; i < h.in[0]; i++) /* nothing beside it was written */
        assert_true((dq[i] == 777) ==
                    (i % h.a.ldq >= (s->packed ? 3 : 1) * all));
    y = copied(h.y, h.out);
    float *probs = h.a.p; /* without backward: the same */
    h.a.p = NULL;
    assert_int_equal(pr_kernel_attention(p, d, &h.a, h.y, NULL), PR_OK);
    assert_same_bits(h.y, y, h.out);
    h.a.p = probs;
    tensor_free(y, h.out);
    tensor_free(dq, h.in[0]);
    heads_free(p, &h);
}

static void heads_all(const struct pr_threads *p)
{
    struct pr_onednn *d = dnn_new();

    for (size_t k = 0; k < COUNT(shapes); k++)
        heads_once(p, d, &shapes[k]);
    pr_onednn_free(d);
}

static void attention_and_its_slope(void **state)
{
    (void)state;
    with_threads(heads_all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attention_and_its_slope),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
