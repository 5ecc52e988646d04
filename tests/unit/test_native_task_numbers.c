/* Tasks of numbers: a polynomial, waves, ratings, letters that sound. */
#include "test_native_task.h"

#include "base/random.h"

#include <math.h>

/* The value at 0 and the coefficients, found by solving for them; then each
 * other sample has the value that they give. */
enum { TERMS = 5 };

static void solve(double m[TERMS][TERMS + 1], double *out)
{
    for (int i = 0; i < TERMS; i++) {
        int best = i;

        for (int k = i; k < TERMS; k++)
            best = fabs(m[k][i]) > fabs(m[best][i]) ? k : best;
        for (int k = 0; k <= TERMS; k++) {
            double x = m[i][k];

            m[i][k] = m[best][k];
            m[best][k] = x;
        }
        for (int k = 0; k < TERMS; k++)
            for (int j = TERMS; k != i && j >= i; j--)
                m[k][j] -= m[k][i] / m[i][i] * m[i][j];
    }
    for (int i = 0; i < TERMS; i++)
        out[i] = m[i][TERMS] / m[i][i];
}

static double value_at(const double *terms, double x)
{
    double sum = 0;

    for (int i = TERMS; i-- > 0;)
        sum = sum * x + terms[i];
    return sum;
}

static void values_are_of_one_polynomial(void **state)
{
    enum { COUNT = 400 };
    struct work w = work_of("toy_reg", false, 3), v = work_of("toy_reg", 0, 4);
    struct batch b = made(&w, 0, COUNT), other = made(&v, 0, COUNT);
    double m[TERMS][TERMS + 1], terms[TERMS], x, squares = 0, mean = 0;
    bool differs = false;

    (void)state;
    assert_int_equal(size_of(&w, "powers", 0), TERMS - 1);
    for (int i = 0; i < TERMS; i++) {
        const float *powers = sample_at(&w, &b, "powers", (uint64_t)i);

        m[i][0] = 1;
        for (int k = 1; k < TERMS; k++)
            m[i][k] = powers[k - 1];
        m[i][TERMS] = *(float *)sample_at(&w, &b, "value", (uint64_t)i);
    }
    solve(m, terms);
    for (unsigned i = 0; i < COUNT; i++) {
        const float *powers = sample_at(&w, &b, "powers", i);
        double got = *(float *)sample_at(&w, &b, "value", i), size = 1;

        x = powers[0];
        mean += x / COUNT;
        squares += x * x / COUNT;
        for (int k = 0; k + 1 < TERMS; k++)
            assert_true(fabs(powers[k] - pow(x, k + 1)) <=
                        1e-5 * (1 + fabs(pow(x, k + 1))));
        for (int k = 0; k < TERMS; k++)
            size += fabs(terms[k] * pow(x, k));
        assert_true(fabs(value_at(terms, x) - got) < 2e-4 * size);
        x = *(float *)sample_at(&v, &other, "powers", i);
        got = *(float *)sample_at(&v, &other, "value", i);
        differs = differs || fabs(value_at(terms, x) - got) > 0.1;
    }
    assert_true(differs); /* another seed, another polynomial */
    assert_true(fabs(mean) < 0.2 && fabs(squares - 1) < 0.3);
    batch_done(&b);
    batch_done(&other);
    work_done(&w);
    work_done(&v);
}

/* Whether a wave is sin(n / 20) from some n on. */
static bool begins_at(const float *wave, int64_t rows, int n)
{
    for (int64_t i = 0; i < rows; i++)
        if (fabs(wave[i] - sin(0.05 * (double)(n + i))) > 1e-6)
            return false;
    return true;
}

static void waves_are_sines_one_row_on(void **state)
{
    enum { COUNT = 300, LEAST = -80, MOST = 79 };
    struct work w = work_of("toy_lstm", true, 3);
    struct batch b = made(&w, 0, COUNT);
    int64_t rows = size_of(&w, "wave", 0);
    bool seen[MOST - LEAST + 1] = {false};
    unsigned found = 0;

    (void)state;
    for (unsigned c = 0; c < COUNT; c++) {
        const float *wave = sample_at(&w, &b, "wave", c);
        const float *next = sample_at(&w, &b, "next", c);
        int begin = LEAST;

        while (begin <= MOST && !begins_at(wave, rows, begin))
            begin++;
        assert_in_range(begin - LEAST, 0, MOST - LEAST);
        assert_true(begins_at(next, rows, begin + 1));
        found += !seen[begin - LEAST];
        seen[begin - LEAST] = true;
    }
    assert_true(found > 120); /* of 160: it begins anywhere */
    batch_done(&b);
    work_done(&w);
}

/* The product of four hidden numbers of each, from -1 to 1. */
static double taste(uint64_t seed, int32_t user, int32_t thing)
{
    uint64_t a = pr_mix64(seed ^ 2 * (uint64_t)user);
    uint64_t b = pr_mix64(seed ^ (2 * (uint64_t)thing + 1));
    double sum = 0;

    for (; a || b; a >>= 16, b >>= 16)
        sum += ((double)(a % 65536) / 32768 - 1) *
               ((double)(b % 65536) / 32768 - 1);
    return sum;
}

static void what_is_liked_suits_better(void **state)
{
    enum { COUNT = 2000 };

    (void)state;
    for (int tiny = 0; tiny < 2; tiny++) {
        struct work w = work_of("recom", tiny, 3);
        struct batch b = made(&w, 0, COUNT);
        double liked = 0, others = 0;

        for (unsigned i = 0; i < COUNT; i++) {
            double x = taste(3, *(int32_t *)sample_at(&w, &b, "user", i),
                             *(int32_t *)sample_at(&w, &b, "thing", i));

            if (*(float *)sample_at(&w, &b, "liked", i) > 0)
                liked += x / (COUNT / 5.0);
            else
                others += x / (COUNT * 0.8);
        }
        assert_true(liked > others + 0.5);
        batch_done(&b);
        work_done(&w);
    }
}

/* One in five is liked. Whether a user likes a thing is a matter of taste: who
 * likes one thing of a pair more often does so in the next step, too. */
static void one_in_five_is_liked(void **state)
{
    enum { COUNT = 20000 };
    struct work w = work_of("recom", true, 3);
    struct batch b = made(&w, 0, COUNT), later = made(&w, 1, COUNT);
    int64_t users = ids_of(&w, "user"), things = ids_of(&w, "thing");
    static int liked[2][64][64], all[2][64][64];
    double same = 0, a2 = 0, b2 = 0;
    unsigned yes = 0;

    (void)state;
    assert_true(users <= 64 && things <= 64);
    for (unsigned s = 0; s < 2; s++)
        for (unsigned i = 0; i < COUNT; i++) {
            const struct batch *from = s ? &later : &b;
            int32_t user = *(int32_t *)sample_at(&w, from, "user", i);
            int32_t thing = *(int32_t *)sample_at(&w, from, "thing", i);
            float how = *(float *)sample_at(&w, from, "liked", i);

            assert_true(how == 0 || how == 1);
            yes += how > 0;
            liked[s][user][thing] += how > 0;
            all[s][user][thing]++;
        }
    assert_int_equal(yes, 2 * COUNT / 5);
    /* The share that is liked, above its mean, in both halves: they agree. */
    for (int64_t u = 0; u < 12; u++)
        for (int64_t t = 0; t < 12; t++) {
            double x = 0, y = 0;

            if (all[0][u][t] < 10 || all[1][u][t] < 10)
                continue;
            x = (double)liked[0][u][t] / all[0][u][t] - 0.2;
            y = (double)liked[1][u][t] / all[1][u][t] - 0.2;
            same += x * y;
            a2 += x * x;
            b2 += y * y;
        }
    assert_true(same / sqrt(a2 * b2) > 0.7);
    assert_true(a2 > 1); /* far from one in five for many */
    batch_done(&b);
    batch_done(&later);
    work_done(&w);
}

static double loudest(const float *row, int64_t from, int64_t to)
{
    double most = 0;

    for (int64_t x = from; x < to; x++)
        most = row[x] > most ? row[x] : most;
    return most;
}

/* Frequencies that are loud in the middle of a letter: its chord, and the same
 * chord for the same letter everywhere. */
static void each_letter_has_its_chord(void **state)
{
    enum { COUNT = 60 };
    struct work w = work_of("deep_speech2", true, 3);
    struct batch b = made(&w, 0, COUNT);
    int64_t frequencies = size_of(&w, "sound", 1),
            times = size_of(&w, "sound", 2);
    int64_t longest = size_of(&w, "spoken", 0);
    uint64_t chords[32] = {0};
    unsigned lengths = 0;

    (void)state;
    assert_true(frequencies <= 64 && ids_of(&w, "spoken") <= 32);
    for (unsigned c = 0; c < COUNT; c++) {
        const float *sound = sample_at(&w, &b, "sound", c);
        const int32_t *spoken = sample_at(&w, &b, "spoken", c);
        int32_t length = *(int32_t *)sample_at(&w, &b, "length", c);

        assert_in_range(length, longest / 2 + 1, longest);
        lengths |= 1u << length;
        for (int64_t i = 0; i < longest; i++) {
            int64_t from = i * times / length, to = (i + 1) * times / length;
            uint64_t chord = 0;

            if (i >= length) {
                assert_int_equal(spoken[i], 0);
                continue;
            }
            assert_true(spoken[i] > 0);
            for (int64_t f = 0; f < frequencies; f++)
                if (loudest(sound + f * times, from, to) > 1)
                    chord |= (uint64_t)1 << f;
            assert_in_range(__builtin_popcountll(chord), 1, 3);
            if (!chords[spoken[i]])
                chords[spoken[i]] = chord;
            assert_true(chords[spoken[i]] == chord);
        }
    }
    for (unsigned i = 2; i < 8; i++)
        assert_true(chords[i] != chords[i - 1]);
    assert_true(__builtin_popcount(lengths) >= 3);
    batch_done(&b);
    work_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_of_one_polynomial),
        cmocka_unit_test(waves_are_sines_one_row_on),
        cmocka_unit_test(one_in_five_is_liked),
        cmocka_unit_test(what_is_liked_suits_better),
        cmocka_unit_test(each_letter_has_its_chord),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
