/*
 * A sample made fit for a model: which part of a picture is taken, that part
 * resized into the batch, or numbers converted. What has loops over vectors is
 * in augment_simd.c.
 */
#include "loader/augment.h"

#include "base/mem.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- the part of a picture: at random, as is usual for training on ImageNet,
 * or its middle */

enum { TRIES = 10 };

static double crop_draw_between(struct pr_rng *rng, double from, double to)
{
    return from + (to - from) * pr_rng_double(rng);
}

/* A whole number from 0 to most. */
static double draw_place(struct pr_rng *rng, double most)
{
    double x = floor(pr_rng_double(rng) * (most + 1));

    return x < most ? x : most;
}

/* As wide as can be, in the middle. */
static void crop_fall_back(double rows, double columns, struct pr_crop *ret)
{
    double ratio = columns / rows;

    ret->rows = rows;
    ret->columns = columns;
    if (ratio < 3. / 4)
        ret->rows = round(columns * 4 / 3);
    else if (ratio > 4. / 3)
        ret->columns = round(rows * 4 / 3);
    ret->top = floor((rows - ret->rows) / 2);
    ret->left = floor((columns - ret->columns) / 2);
}

void pr_crop_draw(struct pr_rng *rng, uint64_t rows, uint64_t columns,
                  struct pr_crop *ret)
{
    double h = (double)rows, w = (double)columns;
    bool found = false;

    *ret = (struct pr_crop){.alone = true};
    for (int i = 0; !found && i < TRIES; i++) {
        double area = h * w * crop_draw_between(rng, 0.08, 1);
        double ratio = exp(crop_draw_between(rng, log(3. / 4), log(4. / 3)));

        ret->columns = round(sqrt(area * ratio));
        ret->rows = round(sqrt(area / ratio));
        found = ret->columns >= 1 && ret->columns <= w && ret->rows >= 1 &&
                ret->rows <= h;
    }
    if (found) {
        ret->top = draw_place(rng, h - ret->rows);
        ret->left = draw_place(rng, w - ret->columns);
    } else {
        crop_fall_back(h, w, ret);
    }
    ret->flip = pr_rng_double(rng) < 0.5;
}

/* What resizing to `resized` pixels and cutting out the middle takes of one
 * side. */
static void middle_of(double side, double resized, double want, double *ret_at,
                      double *ret_len)
{
    double scale = side / resized;

    *ret_at = rint((resized - want) / 2) * scale; /* half to even */
    *ret_len = want * scale;
}

void pr_crop_middle(uint64_t rows, uint64_t columns, uint64_t want_rows,
                    uint64_t want_columns, struct pr_crop *ret)
{
    double h = (double)rows, w = (double)columns;
    double want_h = (double)want_rows, want_w = (double)want_columns;
    double big_h = round(want_h * 256 / 224), big_w = round(want_w * 256 / 224);

    *ret = (struct pr_crop){.rows = h, .columns = w};
    if (rows == want_rows && columns == want_columns)
        return;
    if (big_h * w >= big_w * h)
        big_w = floor(big_h * w / h);
    else
        big_h = floor(big_w * h / w);
    middle_of(h, big_h, want_h, &ret->top, &ret->rows);
    middle_of(w, big_w, want_w, &ret->left, &ret->columns);
}

/* ---- numbers of any type as floats, and how pixels are normalised */

/* Of the pictures of ImageNet, red, green and blue, where white is 1. */
static const double mean[] = {0.485, 0.456, 0.406},
                    deviation[] = {0.229, 0.224, 0.225};

/* What an element is multiplied by and what is added; most is 255 or 65535. */
static void augment_norm(const struct pr_augment *a, uint64_t channel,
                         double most, float *ret_factor, float *ret_plus)
{
    bool known = a->dims == 3 && a->shape[0] == 3 && channel < 3;
    double m = known ? mean[channel] : 0.5;
    double d = known ? deviation[channel] : 0.5;

    *ret_factor = (float)(1 / (most * d));
    *ret_plus = (float)(-m / d);
}

static float half_to_float(uint16_t half)
{
    int exponent = half >> 10 & 31, fraction = half & 1023;
    float x = exponent == 31 ? (fraction ? NAN : INFINITY)
              : exponent     ? ldexpf((float)(fraction + 1024), exponent - 25)
                             : ldexpf((float)fraction, -24);

    return half >> 15 ? -x : x;
}

/* Samples may lie anywhere in a file that is mapped. */
#define ANY(type, name) typedef type name __attribute__((aligned(1), may_alias))
ANY(uint16_t, any_u16);
ANY(int16_t, any_i16);
ANY(uint32_t, any_u32);
ANY(int32_t, any_i32);
ANY(uint64_t, any_u64);
ANY(int64_t, any_i64);
ANY(double, any_f64);

#define CONVERT(type)                    \
    do {                                 \
        const type *from = data;         \
        for (uint64_t i = 0; i < n; i++) \
            out[i] = (float)from[i];     \
    } while (0)

static void numbers_to_floats(const void *data, enum pr_dtype dtype, uint64_t n,
                              float *out)
{
    const any_u16 *half = data;

    switch (dtype) {
    case PR_U8:
        CONVERT(uint8_t);
        break;
    case PR_I8:
        CONVERT(int8_t);
        break;
    case PR_U16:
        CONVERT(any_u16);
        break;
    case PR_I16:
        CONVERT(any_i16);
        break;
    case PR_U32:
        CONVERT(any_u32);
        break;
    case PR_I32:
        CONVERT(any_i32);
        break;
    case PR_U64:
        CONVERT(any_u64);
        break;
    case PR_I64:
        CONVERT(any_i64);
        break;
    case PR_F64:
        CONVERT(any_f64);
        break;
    case PR_F16:
        for (uint64_t i = 0; i < n; i++)
            out[i] = half_to_float(half[i]);
        break;
    case PR_F32:
        memcpy(out, data, n * sizeof *out);
        break;
    case PR_B8:
        CONVERT(uint8_t);
        break;
    case PR_DTYPE_COUNT:
        break;
    }
}

/* Elements in C order to floats. */
static void augment_numbers(const struct pr_augment *a, const void *data,
                            enum pr_dtype dtype, float *out)
{
    uint64_t channels = a->dims == 3 ? a->shape[0] : 1;
    uint64_t each = a->count / channels;

    numbers_to_floats(data, dtype, a->count, out);
    if (dtype != PR_U8 && dtype != PR_U16)
        return;
    for (uint64_t c = 0; c < channels; c++) {
        float factor, plus, *at = out + c * each;

        augment_norm(a, c, dtype == PR_U8 ? 255 : 65535, &factor, &plus);
        pr_augment_scale(at, each, factor, plus, at);
    }
}

enum { PIXEL = 4 }; /* floats that are loaded at once */

typedef uint16_t any_u16 __attribute__((aligned(1), may_alias));

/* ---- resizing: memory */

/* Memory for more, if it has to be; keeps nothing. */
static void *augment_grow(void *old, size_t *room, size_t count, size_t bytes)
{
    size_t all;

    if (count <= *room)
        return old;
    pr_free(old);
    *room = 0;
    if (__builtin_mul_overflow(count, bytes, &all))
        return NULL;
    old = pr_alloc_aligned(64, all);
    *room = old ? count : 0;
    return old;
}

static bool grow_taps(struct pr_augment_taps *t, size_t count, unsigned taps)
{
    t->taps = taps = (taps + 3) / 4 * 4;
    t->most = 0;
    t->first = augment_grow(t->first, &t->room, 2 * count, sizeof *t->first);
    t->weights = augment_grow(t->weights, &t->weights_room, count * taps,
                              sizeof *t->weights);
    t->count = t->first ? t->first + count : NULL;
    return t->first && t->weights;
}

void pr_augment_done(struct pr_augment *a)
{
    pr_free(a->down.first);
    pr_free(a->down.weights);
    pr_free(a->across.first);
    pr_free(a->across.weights);
    pr_free(a->row);
    pr_free(a->turned);
}

int pr_augment_init(struct pr_augment *a, unsigned dims, const int64_t *shape,
                    struct pr_err *err)
{
    const uint64_t most = (uint64_t)1 << 31; /* more is a mistake */

    memset(a, 0, sizeof *a);
    a->dims = dims;
    a->count = 1;
    for (unsigned i = 0; i < dims; i++) {
        if (shape[i] < 1 || (uint64_t)shape[i] > most ||
            a->count * (uint64_t)shape[i] > most)
            return pr_fail(err, PR_E_CONF, "",
                           "a model's input of %lld in dimension %u cannot be "
                           "made",
                           (long long)shape[i], i + 1);
        a->shape[i] = (uint64_t)shape[i];
        a->count *= a->shape[i];
    }
    return PR_OK;
}

/* ---- resizing: tables */

/* One side: len pixels from `at` become want. Pixels from low to below high
 * may be looked at. */
struct side {
    double at, len;
    uint64_t want, low, high;
    bool flip;
};

/* A triangle around the middle of what becomes this pixel. */
static void taps_set_weights(struct pr_augment_taps *t, const struct side *s,
                             uint64_t i)
{
    double scale = s->len / (double)s->want, reach = fmax(scale, 1);
    double middle = s->at + ((double)i + 0.5) * scale, sum = 0;
    double low = fmax(floor(middle - reach + 0.5), (double)s->low);
    double high = fmin(floor(middle + reach + 0.5), (double)s->high);
    uint64_t to = s->flip ? s->want - 1 - i : i;
    float *w = t->weights + to * t->taps;
    uint32_t n = 0;

    /* Rounding of a crop that ends where the picture does. */
    low = fmin(low, (double)s->high - 1);
    high = fmax(high, low + 1);
    while (n < t->taps && low + n < high) {
        double x = 1 - fabs(low + n + 0.5 - middle) / reach;

        w[n++] = (float)fmax(x, 0);
        sum += fmax(x, 0);
    }
    if (sum <= 0)
        w[0] = 1;
    for (uint32_t k = 0; k < n; k++)
        w[k] = (float)(w[k] / (sum > 0 ? sum : 1));
    while (n > 1 && w[n - 1] == 0)
        n--;
    for (uint32_t k = n; k < t->taps; k++)
        w[k] = 0;
    t->most = n > t->most ? n : t->most;
    t->first[to] = (uint32_t)low;
    t->count[to] = n;
}

static bool make_taps(struct pr_augment_taps *t, const struct side *s)
{
    double scale = s->len / (double)s->want;

    if (!grow_taps(t, s->want, 2 * (unsigned)ceil(fmax(scale, 1)) + 1))
        return false;
    for (uint64_t i = 0; i < s->want; i++)
        taps_set_weights(t, s, i);
    return true;
}

/* Both sides of a crop of a picture. */
static void find_sides(const struct pr_augment *a, const struct pr_crop *c,
                       uint64_t rows, uint64_t columns, struct side *ret_down,
                       struct side *ret_across)
{
    *ret_down = (struct side){c->top, c->rows, a->shape[1], 0, rows, false};
    *ret_across =
        (struct side){c->left, c->columns, a->shape[2], 0, columns, c->flip};
    if (c->alone) {
        ret_down->low = (uint64_t)c->top;
        ret_down->high = (uint64_t)(c->top + c->rows);
        ret_across->low = (uint64_t)c->left;
        ret_across->high = (uint64_t)(c->left + c->columns);
    }
}

/* What any of its pixels may be made of. */
static void find_reach(const struct side *s, uint64_t *ret_at,
                       uint64_t *ret_len)
{
    double reach = fmax(s->len / (double)s->want, 1) + 1;
    double low = fmax(floor(s->at - reach), (double)s->low);
    double high = fmin(ceil(s->at + s->len + reach), (double)s->high);

    *ret_at = (uint64_t)low;
    *ret_len = (uint64_t)(high - low);
}

/* What is looked at of a picture of so many rows and columns, or a little
 * more. */
static void crop_part(const struct pr_augment *a, const struct pr_crop *c,
                      uint64_t rows, uint64_t columns, struct pr_part *ret)
{
    struct side down, across;

    find_sides(a, c, rows, columns, &down, &across);
    find_reach(&down, &ret->top, &ret->rows);
    find_reach(&across, &ret->left, &ret->columns);
}

/* ---- resizing: passes */

/* What is done to one picture. */
struct job {
    const struct pr_augment *a;
    const struct pr_picture *p;
    struct pr_part there;   /* of the picture */
    uint64_t left, columns; /* of the picture that are looked at */
    unsigned channels;      /* of a row, once it was converted */
    float *row, *out;
};

/* A row of the picture, resized in height. */
static void blend_row(const struct job *j, uint64_t y)
{
    const struct pr_picture *p = j->p;
    const struct pr_augment_taps *t = &j->a->down;
    const float *w = t->weights + y * t->taps;
    size_t stride = j->there.columns * p->channels;
    size_t n = j->columns * p->channels;
    size_t at = (t->first[y] - j->there.top) * stride +
                (j->left - j->there.left) * p->channels;
    const any_u16 *wide = (const any_u16 *)p->data + at;

    if (!p->is_16) {
        pr_augment_blend((const uint8_t *)p->data + at, stride, w, t->count[y],
                         n, j->row);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        float sum = 0;

        for (uint32_t k = 0; k < t->count[y]; k++)
            sum += w[k] * (float)wide[k * stride + i];
        j->row[i] = sum;
    }
}

/* The inks take light away one after another. */
static void cmyk_to_rgb(float *row, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        float light = (255 - row[4 * i + 3]) / 255;

        for (int c = 0; c < 3; c++)
            row[4 * i + c] = (255 - row[4 * i + c]) * light;
    }
}

/* From the picture's channels to as many as the job has: 1, 3, or the same. */
static void convert_row(const struct job *j)
{
    unsigned have = j->p->channels, want = j->channels;
    float *row = j->row;

    if (have == want)
        return;
    if (have == 4 && j->p->is_cmyk)
        cmyk_to_rgb(row, j->columns);
    for (uint64_t i = 0; i < j->columns; i++) {
        const float *from = row + i * have;

        if (want == 3) {
            memmove(row + 3 * i, from, 3 * sizeof *row);
        } else if (have == 2) {
            row[i] = from[0];
        } else { /* as bright as ITU-R BT.601 has it */
            row[i] = 0.299f * from[0] + 0.587f * from[1] + 0.114f * from[2];
        }
    }
}

/* One channel of those there are; the answer is not normalised. */
static float across_one(const struct job *j, uint64_t x, unsigned c)
{
    const struct pr_augment_taps *t = &j->a->across;
    const float *from = j->row + (t->first[x] - j->left) * j->channels + c;
    const float *w = t->weights + x * t->taps;
    float sum = 0;

    for (uint32_t k = 0; k < t->most; k++)
        sum += w[k] * from[(size_t)k * j->channels];
    return sum;
}

static void across_any(const struct job *j, uint64_t y)
{
    const struct pr_augment *a = j->a;
    uint64_t columns = a->shape[2], plane = a->shape[1] * columns;
    struct pr_augment_across gray = {.row = j->row,
                                     .left = j->left,
                                     .columns = columns,
                                     .taps = &a->across,
                                     .out = j->out + y * columns};

    if (j->channels == 1)
        pr_augment_gray(&gray);
    for (unsigned c = 0; j->channels > 1 && c < j->channels; c++)
        for (uint64_t x = 0; x < columns; x++)
            gray.out[c * plane + x] = across_one(j, x, c);
    for (uint64_t c = a->shape[0]; c-- > 0;) {
        const float *from = gray.out + (j->channels == 1 ? 0 : c * plane);
        float factor, plus;

        /* The first one last: the others may be made from it. */
        augment_norm(a, c, j->p->is_16 ? 65535 : 255, &factor, &plus);
        pr_augment_scale(from, columns, factor, plus, gray.out + c * plane);
    }
}

/* ---- resizing: a picture */

/* How many channels a row gets; 0: there is no way to the model's. */
static unsigned channels_for(uint64_t want, unsigned have)
{
    if (want == have)
        return have;
    if (want == 1 || have < 3)
        return 1;
    return want == 3 ? 3 : 0;
}

static int augment_check_picture(const struct pr_augment *a,
                                 const struct pr_picture *p, struct pr_err *err)
{
    const uint64_t most = (uint64_t)1 << 30; /* of a side */

    if (p->channels >= 1 && p->channels <= PIXEL && p->rows && p->columns &&
        p->rows <= most && p->columns <= most &&
        channels_for(a->shape[0], p->channels))
        return PR_OK;
    return pr_fail(err, PR_E_CONF, "",
                   "a picture of %llu x %llu with %u channels cannot be given "
                   "to a model with %llu",
                   (unsigned long long)p->columns, (unsigned long long)p->rows,
                   p->channels, (unsigned long long)a->shape[0]);
}

/* What is looked at along one side. */
static void find_span(const struct pr_augment_taps *t, uint64_t n,
                      uint64_t *ret_at, uint64_t *ret_len)
{
    uint32_t low = UINT32_MAX, high = 0;

    for (uint64_t x = 0; x < n; x++) {
        uint32_t end = t->first[x] + t->count[x];

        low = t->first[x] < low ? t->first[x] : low;
        high = end > high ? end : high;
    }
    *ret_at = low;
    *ret_len = high - low;
}

static void find_there(struct job *j)
{
    const struct pr_picture *p = j->p;
    const struct pr_part *there = &j->there;
    uint64_t top, rows;

    j->there = p->part.rows
                   ? p->part
                   : (struct pr_part){.rows = p->rows, .columns = p->columns};
    find_span(&j->a->across, j->a->shape[2], &j->left, &j->columns);
    find_span(&j->a->down, j->a->shape[1], &top, &rows);
    assert(top >= there->top && top + rows <= there->top + there->rows &&
           j->left >= there->left &&
           j->left + j->columns <= there->left + there->columns);
    (void)there;
}

static int augment_prepare(struct pr_augment *a, const struct pr_crop *c,
                           struct job *j, struct pr_err *err)
{
    const struct pr_picture *p = j->p;
    struct side down, across;
    size_t n;

    find_sides(a, c, p->rows, p->columns, &down, &across);
    if (!make_taps(&a->down, &down) || !make_taps(&a->across, &across))
        return pr_fail_nomem(err);
    find_there(j);
    /* Pixels after the last one count for nothing, and are loaded. */
    n = j->columns * p->channels;
    a->row = augment_grow(a->row, &a->row_room,
                          n + (a->across.most + 1) * PIXEL, sizeof *a->row);
    if (!a->row)
        return pr_fail_nomem(err);
    memset(a->row + n, 0, (a->across.most + 1) * PIXEL * sizeof *a->row);
    j->row = a->row;
    j->channels = channels_for(a->shape[0], p->channels);
    return PR_OK;
}

static void resize_colour(const struct job *j)
{
    const struct pr_augment *a = j->a;
    struct pr_augment_across x = {.row = j->row,
                                  .left = j->left,
                                  .columns = a->shape[2],
                                  .plane = a->shape[1] * a->shape[2],
                                  .taps = &a->across};

    for (unsigned i = 0; i < 3; i++)
        augment_norm(a, i, j->p->is_16 ? 65535 : 255, &x.factor[i], &x.plus[i]);
    for (uint64_t y = 0; y < a->shape[1]; y++) {
        blend_row(j, y);
        convert_row(j);
        x.out = j->out + y * a->shape[2];
        pr_augment_across(&x);
    }
}

int pr_augment_picture(struct pr_augment *a, const struct pr_picture *p,
                       const struct pr_crop *c, float *out, struct pr_err *err)
{
    struct job j = {.a = a, .p = p, .out = out};
    int rc = augment_check_picture(a, p, err);

    if (!rc)
        rc = augment_prepare(a, c, &j, err);
    if (rc)
        return rc;
    if (j.channels == 3) {
        resize_colour(&j);
        return PR_OK;
    }
    for (uint64_t y = 0; y < a->shape[1]; y++) {
        blend_row(&j, y);
        convert_row(&j);
        across_any(&j, y);
    }
    return PR_OK;
}

/* ---- what a sample is. A picture: what a format of pictures gives; bytes in
 * rows of columns, perhaps of channels. Numbers: as many as the model's input
 * has. All else does not fit, and is never cut or repeated until it does. */

static void augment_format_shape(const struct pr_shape *s, char *out,
                                 size_t cap)
{
    int at = snprintf(out, cap, "[");

    for (unsigned i = 0; i < s->ndim && at > 0 && (size_t)at < cap; i++)
        at += snprintf(out + at, cap - (size_t)at, i ? ", %llu" : "%llu",
                       (unsigned long long)s->dim[i]);
    if (at > 0 && (size_t)at < cap)
        (void)snprintf(out + at, cap - (size_t)at, "]");
}

static struct pr_shape augment_wanted_shape(const struct pr_augment *a)
{
    struct pr_shape s = {.ndim = a->dims};

    memcpy(s.dim, a->shape, a->dims * sizeof *s.dim);
    return s;
}

static int augment_refuse_shape(const struct pr_augment *a,
                                const struct pr_sample *s,
                                const struct pr_shape *shape, const char *where,
                                struct pr_err *err)
{
    struct pr_shape want = augment_wanted_shape(a);
    char have_text[128], want_text[128];

    augment_format_shape(shape, have_text, sizeof have_text);
    augment_format_shape(&want, want_text, sizeof want_text);
    (void)pr_fail(err, PR_E_CONF, where,
                  "a sample of %s %s does not fit the model's input %s",
                  pr_dtype_name(s->dtype), have_text, want_text);
    if (a->dims == 3)
        return pr_hint(err,
                       "make the data with dataset.record_dims=%s, or with "
                       "uint8 in two dimensions (dataset.record_length_bytes) "
                       "or [rows, columns, 3], which is a picture",
                       want_text);
    return pr_hint(err, "make the data with dataset.record_dims=%s", want_text);
}

/* ---- order in memory */

/* From the first dimension fastest to the last one fastest. */
static void sample_to_row_major(const struct pr_shape *s, size_t each,
                                const uint8_t *from, uint8_t *to)
{
    uint64_t at[PR_MAX_DIMS] = {0}, step[PR_MAX_DIMS] = {0}, n = 1, off = 0;
    unsigned last = s->ndim - 1;

    for (unsigned i = 0; i < s->ndim; i++) {
        step[i] = n;
        n *= s->dim[i];
    }
    for (uint64_t k = 0; k < n; k++, to += each) {
        unsigned i = last;

        memcpy(to, from + off * each, each);
        off += step[i];
        while (++at[i] == s->dim[i] && i > 0) {
            off -= at[i] * step[i];
            at[i--] = 0;
            off += step[i];
        }
    }
}

static int in_c_order(struct pr_augment *a, const struct pr_sample *s,
                      const struct pr_shape *shape, const void **ret,
                      struct pr_err *err)
{
    *ret = s->data;
    if (!s->fortran || shape->ndim < 2 || !s->size)
        return PR_OK;
    if (s->size > a->turned_room) {
        pr_free(a->turned);
        a->turned = pr_alloc_aligned(64, s->size);
        a->turned_room = a->turned ? s->size : 0;
    }
    if (!a->turned)
        return pr_fail_nomem(err);
    sample_to_row_major(shape, pr_dtype_bytes(s->dtype), s->data, a->turned);
    *ret = a->turned;
    return PR_OK;
}

/* ---- what it is */

static bool as_picture(const struct pr_augment *a, const struct pr_sample *s,
                       const struct pr_shape *shape, struct pr_picture *ret)
{
    struct pr_shape want = augment_wanted_shape(a);
    bool is_flat = shape->ndim == 2;

    if (a->dims != 3 || (s->dtype != PR_U8 && s->dtype != PR_U16) ||
        (!is_flat && shape->ndim != 3))
        return false;
    if (!a->is_image &&
        (is_flat ? pr_shape_count(shape) == a->count
                 : pr_shape_is_same(shape, &want) || shape->dim[2] > 4))
        return false;
    *ret =
        (struct pr_picture){.rows = shape->dim[0],
                            .columns = shape->dim[1],
                            .channels = is_flat ? 1 : (unsigned)shape->dim[2],
                            .is_16 = s->dtype == PR_U16,
                            .is_cmyk = a->is_cmyk,
                            .part = s->part};
    return true;
}

static void choose_crop(const struct pr_augment *a, uint64_t rows,
                        uint64_t columns, struct pr_rng *rng,
                        struct pr_crop *ret)
{
    if (a->random)
        pr_crop_draw(rng, rows, columns, ret);
    else
        pr_crop_middle(rows, columns, a->shape[1], a->shape[2], ret);
}

void pr_augment_part(const struct pr_augment *a, const struct pr_shape *whole,
                     struct pr_rng *rng, struct pr_part *ret)
{
    struct pr_crop crop;

    choose_crop(a, whole->dim[0], whole->dim[1], rng, &crop);
    crop_part(a, &crop, whole->dim[0], whole->dim[1], ret);
}

static int give_picture(struct pr_augment *a, const struct pr_picture *p,
                        struct pr_rng *rng, const char *where, float *out,
                        struct pr_err *err)
{
    struct pr_crop crop;
    int rc;

    choose_crop(a, p->rows, p->columns, rng, &crop);
    rc = pr_augment_picture(a, p, &crop, out, err);
    if (rc == PR_E_CONF && err)
        return pr_reword(err, where, "%s", err->msg);
    return rc;
}

/* Elements that should be there. */
static uint64_t sample_count_elements(const struct pr_sample *s,
                                      const struct pr_shape *shape)
{
    if (!s->part.rows)
        return pr_shape_count(shape);
    return s->part.rows * s->part.columns *
           (shape->ndim > 2 ? shape->dim[2] : 1);
}

int pr_augment_sample(struct pr_augment *a, const struct pr_sample *s,
                      struct pr_rng *rng, const char *where, float *out,
                      struct pr_err *err)
{
    const struct pr_shape *shape = &s->shape;
    struct pr_picture picture;
    const void *data;
    int rc;

    if (shape->ndim == 1 && shape->dim[0] == pr_shape_count(&a->as))
        shape = &a->as;
    /* What the shape promises is there: formats see to it, this is so that a
     * mistake of theirs does not become one of ours. */
    if (sample_count_elements(s, shape) > s->size / pr_dtype_bytes(s->dtype))
        return augment_refuse_shape(a, s, shape, where, err);
    rc = in_c_order(a, s, shape, &data, err);
    if (rc)
        return rc;
    if (as_picture(a, s, shape, &picture)) {
        picture.data = data;
        return give_picture(a, &picture, rng, where, out, err);
    }
    if (s->part.rows || pr_shape_count(shape) != a->count)
        return augment_refuse_shape(a, s, shape, where, err);
    augment_numbers(a, data, s->dtype, out);
    return PR_OK;
}
