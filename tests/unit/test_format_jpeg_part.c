/* Parts of jpeg images: the pixels are those of the whole image, and so are
 * the errors. */
#include "base/random.h"
#include "files_tool.h"

#include <turbojpeg.h>

/* What turbojpeg makes of a picture, a noisy one so that no two pixels are
 * alike. */
struct made {
    unsigned char *file;
    unsigned long len;
};

static struct made make(int width, int height, int sampling, int flags)
{
    int channels = sampling == TJSAMP_GRAY ? 1 : 3;
    size_t bytes = (size_t)width * (size_t)height * (size_t)channels;
    uint8_t *pixels = malloc(bytes);
    struct made m = {NULL, 0};
    tjhandle tj = tjInitCompress();
    struct pr_rng rng;

    assert_true(tj && pixels);
    pr_rng_seed(&rng, (uint64_t)width, (uint64_t)height);
    for (size_t i = 0; i < bytes; i++)
        pixels[i] = (uint8_t)(i / 7 + pr_rng_u64(&rng) % 90);
    assert_int_equal(tjCompress2(tj, pixels, width, 0, height,
                                 channels == 1 ? TJPF_GRAY : TJPF_RGB, &m.file,
                                 &m.len, sampling, 85, flags),
                     0);
    tjDestroy(tj);
    free(pixels);
    return m;
}

/* A reader with the whole image, and memory for parts of it. */
struct image {
    struct reading x;
    uint8_t *buf; /* not a byte more than the image */
    struct pr_sample part;
};

static void image_init(struct image *m, struct place *p, const void *file,
                       size_t len)
{
    put_file(p, "f", file, len);
    assert_int_equal(reading_init(&m->x, p, "jpeg", NULL), PR_OK);
    m->buf = NULL;
    m->part = (struct pr_sample){0};
}

static int image_part(struct image *m, const struct pr_part *p)
{
    if (!m->buf)
        m->buf = pr_alloc_aligned(PR_IO_ALIGN, m->x.r->need);
    assert_non_null(m->buf);
    memset(m->buf, 0x55, m->x.r->need);
    return pr_reader_read_part(m->x.r, 0, p, m->buf, m->x.r->need, &m->part,
                               &m->x.err);
}

static void image_done(struct image *m)
{
    reading_done(&m->x);
    pr_free(m->buf);
}

/* Whether less than all was decoded. */
static bool is_less(const struct image *m)
{
    return m->part.part.rows && m->part.size < m->x.s.size;
}

static void compare(const struct image *m, const struct pr_part *p)
{
    const struct pr_shape *shape = &m->x.s.shape;
    size_t each = shape->ndim > 2 ? (size_t)shape->dim[2] : 1;
    struct pr_part there = m->part.part;

    if (!there.rows)
        there =
            (struct pr_part){.rows = shape->dim[0], .columns = shape->dim[1]};
    assert_memory_equal(&m->part.shape, shape, sizeof *shape);
    assert_int_equal(m->part.size, there.rows * there.columns * each);
    assert_true(there.top <= p->top && there.left <= p->left);
    assert_true(there.top + there.rows >= p->top + p->rows);
    assert_true(there.left + there.columns >= p->left + p->columns);
    for (uint64_t y = p->top; y < p->top + p->rows; y++)
        assert_memory_equal(
            (const uint8_t *)m->part.data +
                ((y - there.top) * there.columns + p->left - there.left) * each,
            (const uint8_t *)m->x.s.data + (y * shape->dim[1] + p->left) * each,
            p->columns * each);
}

static struct pr_part draw(struct pr_rng *rng, uint64_t rows, uint64_t columns)
{
    struct pr_part p = {.top = pr_rng_u64(rng) % rows,
                        .left = pr_rng_u64(rng) % columns};

    p.rows = 1 + pr_rng_u64(rng) % (rows - p.top);
    p.columns = 1 + pr_rng_u64(rng) % (columns - p.left);
    return p;
}

/* Random parts of one image; answers how many were less than all. */
static unsigned try_parts(struct place *place, const struct made *made,
                          unsigned parts)
{
    unsigned less = 0;
    struct pr_rng rng;
    struct image m;

    image_init(&m, place, made->file, made->len);
    assert_int_equal(reading_open(&m.x, "f"), PR_OK);
    assert_int_equal(reading_read(&m.x, 0), PR_OK);
    assert_memory_equal(&m.x.r->whole, &m.x.s.shape, sizeof m.x.s.shape);
    assert_int_equal(m.x.s.part.rows, 0);
    pr_rng_seed(&rng, made->len, 1);
    for (unsigned i = 0; i < parts; i++) {
        struct pr_part p = draw(&rng, m.x.s.shape.dim[0], m.x.s.shape.dim[1]);

        if (image_part(&m, &p))
            fail_msg("%s", m.x.err.msg);
        compare(&m, &p);
        less += is_less(&m);
    }
    image_done(&m);
    return less;
}

static void a_part_has_the_pixels_of_the_whole(void **state)
{
    static const int samplings[] = {TJSAMP_444, TJSAMP_422,  TJSAMP_420,
                                    TJSAMP_440, TJSAMP_GRAY, TJSAMP_411};
    static const int sides[][2] = {{1, 1},    {2, 40},   {40, 2},   {8, 8},
                                   {16, 16},  {17, 33},  {31, 64},  {48, 48},
                                   {100, 37}, {65, 129}, {225, 151}};
    static const char *const restarts[] = {"", "1B", "1"};
    enum { PARTS = 60 };
    struct place place;

    (void)state;
    place_init(&place, "memory");
    for (size_t r = 0; r < 3; r++) {
        assert_int_equal(setenv("TJ_RESTART", restarts[r], 1), 0);
        for (size_t i = 0; i < sizeof samplings / sizeof *samplings; i++)
            for (size_t k = 0; k < sizeof sides / sizeof *sides; k++)
                for (int flags = 0; flags <= TJFLAG_PROGRESSIVE;
                     flags += TJFLAG_PROGRESSIVE) {
                    struct made made =
                        make(sides[k][0], sides[k][1], samplings[i], flags);
                    unsigned less = try_parts(&place, &made, flags ? 8 : PARTS);

#if PR_HAVE_LIBJPEG
                    if (!flags && samplings[i] != TJSAMP_411 &&
                        sides[k][0] > 16 && sides[k][1] > 16)
                        assert_true(less > PARTS / 2);
#endif
                    assert_true(!flags || !less);
                    tjFree(made.file);
                }
    }
    unsetenv("TJ_RESTART");
    place_done(&place);
}

/* All of them, of a small one. */
static void every_part_has_the_pixels_of_the_whole(void **state)
{
    enum { W = 35, H = 34 };
    struct made made = make(W, H, TJSAMP_420, 0);
    struct place place;
    struct image m;

    (void)state;
    place_init(&place, "memory");
    image_init(&m, &place, made.file, made.len);
    assert_int_equal(reading_open(&m.x, "f"), PR_OK);
    assert_int_equal(reading_read(&m.x, 0), PR_OK);
    for (uint64_t from = 0; from < H; from++)
        for (uint64_t to = from + 1; to <= H; to++) {
            struct pr_part rows = {from, 3, to - from, 20};
            struct pr_part columns = {5, from, 20, to - from};

            assert_int_equal(image_part(&m, &rows), PR_OK);
            compare(&m, &rows);
            assert_int_equal(image_part(&m, &columns), PR_OK);
            compare(&m, &columns);
        }
    image_done(&m);
    tjFree(made.file);
    place_done(&place);
}

/* ---- bad files */

/* The same file whole and in part: a part fails only where the whole does, and
 * then in the same words. Answers whether the part did. */
static bool try_both(struct place *place, const void *file, size_t len,
                     const struct pr_part *p)
{
    struct pr_err whole_err;
    struct image m;
    int rc, part_rc;

    image_init(&m, place, file, len);
    if (reading_open(&m.x, "f")) {
        image_done(&m);
        return true;
    }
    if (p->top + p->rows > m.x.r->whole.dim[0] ||
        p->left + p->columns > m.x.r->whole.dim[1]) {
        image_done(&m);
        return false;
    }
    rc = reading_read(&m.x, 0);
    whole_err = m.x.err;
    m.x.err = (struct pr_err){0};
    part_rc = image_part(&m, p);
    if (part_rc) {
        assert_int_equal(part_rc, rc);
        assert_string_equal(m.x.err.msg, whole_err.msg);
        assert_string_equal(m.x.err.where, whole_err.where);
    } else if (!rc) {
        compare(&m, p);
    }
    image_done(&m);
    return part_rc != 0;
}

static void every_cut_is_noticed(void **state)
{
    static const struct pr_part top = {0, 0, 3, 20}, low = {30, 9, 9, 12};
    struct made made = make(40, 40, TJSAMP_420, 0);
    struct place place;

    (void)state;
    place_init(&place, "memory");
    for (size_t len = 0; len < made.len; len++) {
        assert_true(try_both(&place, made.file, len, &top));
        assert_true(try_both(&place, made.file, len, &low));
    }
    assert_false(try_both(&place, made.file, made.len, &top));
    tjFree(made.file);
    place_done(&place);
}

static void damage_does_no_harm(void **state)
{
    static const struct pr_part part = {9, 9, 14, 12};
    struct made made = make(33, 33, TJSAMP_420, 0);
    unsigned noticed = 0;
    struct place place;

    (void)state;
    place_init(&place, "memory");
    for (size_t at = 0; at < made.len; at++)
        for (int bit = 0; bit < 8; bit += 3) {
            made.file[at] ^= (unsigned char)(1 << bit);
            noticed += try_both(&place, made.file, made.len, &part);
            made.file[at] ^= (unsigned char)(1 << bit);
        }
    assert_true(noticed > 100);
    tjFree(made.file);
    place_done(&place);
}

static void a_reader_goes_on_after_a_bad_file(void **state)
{
    static const struct pr_part part = {9, 9, 14, 12};
    struct made made = make(33, 33, TJSAMP_422, 0);
    unsigned char *bad = malloc(made.len);
    struct place place;
    struct image m;

    (void)state;
    assert_non_null(bad);
    memcpy(bad, made.file, made.len);
    memcpy(bad + made.len / 2, "\xff\xd9", 2); /* an end in the pixels */
    place_init(&place, "memory");
    put_file(&place, "bad", bad, made.len);
    image_init(&m, &place, made.file, made.len);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(reading_open(&m.x, "bad"), PR_OK);
        assert_int_equal(image_part(&m, &part), PR_E_FORMAT);
        assert_string_equal(m.x.err.where, "bad");
        assert_int_equal(reading_open(&m.x, "f"), PR_OK);
        assert_int_equal(reading_read(&m.x, 0), PR_OK);
        assert_int_equal(image_part(&m, &part), PR_OK);
        compare(&m, &part);
    }
    image_done(&m);
    tjFree(made.file);
    free(bad);
    place_done(&place);
}

static void a_small_buffer_is_refused(void **state)
{
    static const struct pr_part part = {9, 9, 2, 2};
    struct made made = make(33, 33, TJSAMP_444, 0);
    struct place place;
    uint8_t small[99];
    struct image m;

    (void)state;
    place_init(&place, "memory");
    image_init(&m, &place, made.file, made.len);
    assert_int_equal(reading_open(&m.x, "f"), PR_OK);
    assert_int_equal(pr_reader_read_part(m.x.r, 0, &part, small, sizeof small,
                                         &m.part, &m.x.err),
                     PR_E_CONF);
    assert_int_equal(pr_reader_read_part(m.x.r, 1, &part, small, sizeof small,
                                         &m.part, &m.x.err),
                     PR_E_FORMAT);
    image_done(&m);
    tjFree(made.file);
    place_done(&place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_part_has_the_pixels_of_the_whole),
        cmocka_unit_test(every_part_has_the_pixels_of_the_whole),
        cmocka_unit_test(every_cut_is_noticed),
        cmocka_unit_test(damage_does_no_harm),
        cmocka_unit_test(a_reader_goes_on_after_a_bad_file),
        cmocka_unit_test(a_small_buffer_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
