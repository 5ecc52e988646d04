/* Tasks of words: how frequent they are, what follows what, and that the parts
 * of a sample belong together. */
#include "native/task/task_text.h"

#include "test_native_task.h"

#include "base/random.h"

#include <math.h>

enum { WORDS = 2000 };

static double slope_of(const unsigned *count, int ranks)
{
    double x = 0, y = 0, xx = 0, xy = 0;

    for (int i = 0; i < ranks; i++) {
        double a = log(i + 1), b = log(count[i]);

        x += a;
        y += b;
        xx += a * a;
        xy += a * b;
    }
    return (ranks * xy - x * y) / (ranks * xx - x * x);
}

/* The r-th word comes as often as 1/r says, but for chance. */
static void words_follow_zipfs_law(void **state)
{
    enum { DRAWS = 400000, HEAD = 50 };
    static unsigned count[WORDS];
    struct pr_words w;
    struct pr_rng rng;

    (void)state;
    pr_words_init(&w, 1, 3, WORDS + 3);
    assert_int_equal(w.count, WORDS);
    pr_rng_seed(&rng, 1, 1);
    for (unsigned i = 0; i < DRAWS; i++) {
        int32_t word = pr_words_draw(&w, pr_rng_u64(&rng));

        assert_in_range(word, 3, WORDS + 2);
        count[word - 3]++;
    }
    for (int i = 0; i < HEAD; i++) {
        double want = DRAWS * log1p(1.0 / (i + 1)) / log(WORDS + 1);

        assert_true(fabs(count[i] - want) < 5 * sqrt(want));
    }
    assert_true(fabs(slope_of(count, HEAD) + 1) < 0.1);
}

static void the_ends_of_the_draw_are_words(void **state)
{
    static const int64_t ids[] = {2, 3, 50, 33278, INT32_MAX};

    (void)state;
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        struct pr_words w;

        pr_words_init(&w, 1, 1, ids[i]);
        assert_int_equal(pr_words_draw(&w, 0), 1);
        assert_int_equal(pr_words_draw(&w, UINT64_MAX), ids[i] - 1);
    }
}

/* In texts, too, frequent words are the first; and about half of all words are
 * those that usually follow the one before. */
static void half_of_the_words_are_usual_successors(void **state)
{
    enum { LENGTH = 4000, TEXTS = 10 };
    static unsigned count[WORDS], follows[WORDS][2];
    static int32_t usual[WORDS];
    struct pr_words w;
    unsigned usually = 0, all = 0;

    (void)state;
    pr_words_init(&w, 9, 0, WORDS);
    /* Boyer and Moore's vote: a word that half of the places have wins. */
    for (uint64_t text = 0; text < TEXTS; text++)
        for (uint64_t i = 0; i < LENGTH; i++) {
            int32_t word = pr_words_get(&w, text, i),
                    next = pr_words_get(&w, text, i + 1);

            count[word]++;
            if (follows[word][0] == 0)
                usual[word] = next;
            follows[word][0] += usual[word] == next ? 1u : -1u;
        }
    for (uint64_t text = 0; text < TEXTS; text++)
        for (uint64_t i = 0; i < LENGTH; i++) {
            int32_t word = pr_words_get(&w, text, i);

            if (count[word] < 50)
                continue;
            all++;
            usually += pr_words_get(&w, text, i + 1) == usual[word];
        }
    assert_true(all > LENGTH * TEXTS / 2);
    assert_true(fabs((double)usually / all - 0.52) < 0.05);
    assert_true(count[0] > LENGTH * TEXTS / 40);
    assert_true(count[0] + count[1] + count[2] + count[3] >
                20 * (count[1000] + count[1001] + count[1002] + count[1003]));
}

/* A word follows from its place, whichever was asked for before. */
static void a_word_follows_from_its_place(void **state)
{
    struct pr_words w, v;
    unsigned same = 0;

    (void)state;
    pr_words_init(&w, 1, 1, WORDS);
    pr_words_init(&v, 2, 1, WORDS);
    for (uint64_t i = 0; i < 500; i++) {
        int32_t word = pr_words_get(&w, 3, 499 - i);

        assert_in_range(word, 1, WORDS - 1);
        assert_int_equal(word, pr_words_get(&w, 3, 499 - i));
        same += word == pr_words_get(&v, 3, 499 - i);
        same += word == pr_words_get(&w, 4, 499 - i);
    }
    assert_true(same < 200); /* frequent ones meet by chance */
}

/* ---- what models get */

static void texts_go_on_from_step_to_step(void **state)
{
    enum { COLUMNS = 5, STEPS = 6 };

    (void)state;
    for (int tiny = 0; tiny < 2; tiny++) {
        struct work w = work_of("wlm", tiny, 3);
        int64_t rows = size_of(&w, "words", 0);
        int32_t last[COLUMNS] = {0};

        for (unsigned s = 0; s < STEPS; s++) {
            struct batch b = made(&w, s, COLUMNS);

            for (unsigned c = 0; c < COLUMNS; c++) {
                const int32_t *words = sample_at(&w, &b, "words", c);
                const int32_t *next = sample_at(&w, &b, "next", c);

                if (s)
                    assert_int_equal(words[0], last[c]);
                for (int64_t i = 0; i + 1 < rows; i++)
                    assert_int_equal(next[i], words[i + 1]);
                for (int64_t i = 0; i < rows; i++)
                    assert_true(words[i] > 0);
                last[c] = next[rows - 1];
            }
            batch_done(&b);
        }
        work_done(&w);
    }
}

static void chapters_begin_anew(void **state)
{
    struct work w = work_of("gpt", true, 3);
    struct batch a = made(&w, 0, 40), b = made(&w, 1, 40);
    int64_t rows = size_of(&w, "words", 0);
    unsigned on = 0;

    (void)state;
    for (unsigned c = 0; c < 40; c++) {
        const int32_t *words = sample_at(&w, &a, "words", c);
        const int32_t *places = sample_at(&w, &a, "places", c);
        const int32_t *next = sample_at(&w, &a, "next", c);

        for (int64_t i = 0; i < rows; i++) {
            assert_int_equal(places[i], i);
            assert_true(words[i] > 0);
            if (i + 1 < rows)
                assert_int_equal(next[i], words[i + 1]);
        }
        on += next[rows - 1] == *(int32_t *)sample_at(&w, &b, "words", c);
    }
    assert_true(on < 20);
    batch_done(&a);
    batch_done(&b);
    work_done(&w);
}

/* From the last word to the first, each always as the same one. */
static void pairs_are_translations(void **state)
{
    enum { COUNT = 200, BEGIN = 1, END = 2, FIRST = 3 };
    struct work w = work_of("translator", true, 3);
    struct batch b = made(&w, 0, COUNT);
    int64_t rows = size_of(&w, "source", 0);
    int32_t dictionary[64] = {0}, back[64] = {0};
    int32_t shortest = (int32_t)rows, longest = 0;

    (void)state;
    assert_true(ids_of(&w, "source") <= 64);
    for (unsigned c = 0; c < COUNT; c++) {
        const int32_t *source = sample_at(&w, &b, "source", c);
        const int32_t *before = sample_at(&w, &b, "before", c);
        const int32_t *target = sample_at(&w, &b, "target", c);
        int32_t length = *(int32_t *)sample_at(&w, &b, "length", c);

        assert_in_range(length, rows / 2, rows - 1);
        shortest = length < shortest ? length : shortest;
        longest = length > longest ? length : longest;
        for (int64_t i = 0; i < rows; i++) {
            assert_int_equal(before[i], i ? target[i - 1] : BEGIN);
            if (i >= length) {
                assert_int_equal(source[i], 0);
                assert_int_equal(target[i], i == length ? END : 0);
                continue;
            }
            assert_true(source[i] >= FIRST && target[i] >= FIRST);
            if (!dictionary[source[i]])
                dictionary[source[i]] = target[length - 1 - i];
            if (!back[target[i]])
                back[target[i]] = source[length - 1 - i];
            assert_int_equal(target[length - 1 - i], dictionary[source[i]]);
            assert_int_equal(source[length - 1 - i], back[target[i]]);
            assert_int_not_equal(dictionary[source[i]], source[i]);
        }
    }
    assert_true(shortest == rows / 2 && longest == rows - 1);
    batch_done(&b);
    work_done(&w);
}

struct masks {
    unsigned masked, kept, other, follows, marks;
};

static void look_at_masks(const struct work *w, const struct batch *b,
                          unsigned c, uint64_t text, struct masks *m)
{
    enum { MASK = 1, MARK = 3, FIRST = 4 };
    const int32_t *words = sample_at(w, b, "words", c);
    const int32_t *sentences = sample_at(w, b, "sentences", c);
    const int32_t *masked = sample_at(w, b, "masked", c);
    const int32_t *missing = sample_at(w, b, "missing", c);
    int32_t length = *(int32_t *)sample_at(w, b, "length", c);
    bool follows = *(int32_t *)sample_at(w, b, "follows", c);
    int64_t rows = size_of(w, "words", 0), count = size_of(w, "masked", 0);
    struct pr_words from;

    pr_words_init(&from, w->task.seed, FIRST, ids_of(w, "words"));
    assert_in_range(length, rows - rows / 4 + 1, rows);
    assert_int_equal(words[0], 2);
    assert_int_equal(words[length / 2], MARK);
    for (int64_t i = 0; i < rows; i++) {
        assert_int_equal(sentences[i], i > length / 2 && i < length);
        if (i >= length)
            assert_int_equal(words[i], 0);
    }
    for (int64_t i = 0; i < count; i++) {
        int32_t at = masked[i];
        bool foreign = at > length / 2 && !follows;

        assert_in_range(at, 1, length - 1);
        assert_true(i == 0 || at > masked[i - 1]); /* so all are distinct */
        assert_int_not_equal(at, length / 2);
        assert_int_equal(missing[i], pr_words_get(&from, foreign ? ~text : text,
                                                  (uint64_t)at));
        m->masked += words[at] == MASK;
        m->kept += words[at] == missing[i];
        m->other += words[at] != MASK && words[at] != missing[i];
    }
    m->follows += follows;
}

static void masked_words_are_those_that_are_missing(void **state)
{
    (void)state;
    for (int tiny = 0; tiny < 2; tiny++) {
        uint64_t samples = tiny ? 600 : 120;
        struct work w = work_of("bert", tiny, 3);
        struct batch b = made(&w, 1, samples);
        double all = (double)samples * (double)size_of(&w, "masked", 0);
        struct masks m = {0};

        for (unsigned c = 0; c < samples; c++)
            look_at_masks(&w, &b, c, samples + c, &m);
        assert_true(fabs(m.masked / all - 0.8) < 0.05);
        assert_true(fabs(m.kept / all - 0.1) < 0.05);
        assert_true(m.other > all * 0.05 && m.other < all * 0.12);
        assert_true(fabs((double)m.follows / (double)samples - 0.5) < 0.12);
        batch_done(&b);
        work_done(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_follow_zipfs_law),
        cmocka_unit_test(the_ends_of_the_draw_are_words),
        cmocka_unit_test(half_of_the_words_are_usual_successors),
        cmocka_unit_test(a_word_follows_from_its_place),
        cmocka_unit_test(texts_go_on_from_step_to_step),
        cmocka_unit_test(chapters_begin_anew),
        cmocka_unit_test(pairs_are_translations),
        cmocka_unit_test(masked_words_are_those_that_are_missing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
