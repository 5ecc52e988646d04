/* Comparisons: of things with themselves, of things that changed, and of
 * numbers that are odd, all made up from fixed seeds. */
#include "analyse/compare/compare.h"
#include "base/random.h"

#include "brief.h"
#include "torture.h"

#include <math.h>
#include <string.h>

enum { SLICES = 60 };

/* ---- a machine and its noise */

/* Runs differ by a share that has heavy tails, repeats by something that is
 * common to all tests, slices hang together and have dips. */
struct machine {
    struct pr_rng rng;
    double run[32]; /* deviation of runs, by test */
};

static double heavy(struct pr_rng *r)
{
    double g = pr_rng_gauss(r);

    return pr_rng_double(r) < 0.05 ? 4 * g : g;
}

static double one_run(struct machine *m, double level, size_t test,
                      double *slices)
{
    const double rho = 0.6, spread = 0.03;
    double e = spread * pr_rng_gauss(&m->rng), sum = 0;

    level *= exp(m->run[test] * heavy(&m->rng));
    for (size_t i = 0; i < SLICES; i++) {
        e = rho * e + sqrt(1 - rho * rho) * spread * pr_rng_gauss(&m->rng);
        slices[i] = level * exp(e) * (pr_rng_double(&m->rng) < 0.01 ? 0.7 : 1);
        sum += slices[i];
    }
    return sum / SLICES;
}

static void fill_set(struct machine *m, struct pr_compare_set *s, size_t tests,
                     size_t repeats, double change, struct pr_arena *a)
{
    for (size_t r = 0; r < repeats; r++) {
        double common = exp(0.004 * pr_rng_gauss(&m->rng));

        for (size_t t = 0; t < tests; t++) {
            double level = 100 * (double)(t + 1) * common;
            double *slices = PR_ARENA_ARRAY(a, double, SLICES);
            struct pr_compare_run run = {.repeat = (int64_t)r,
                                         .device = "",
                                         .slices = slices,
                                         .slice_count = SLICES};

            run.value = one_run(m, level * (t ? 1 : 1 + change), t, slices);
            assert_true(pr_compare_add_run(
                pr_compare_get_test(s, pr_arena_printf(a, "t%zu", t),
                                    "throughput", a),
                &run, a));
        }
    }
}

/* One comparison; the first test of the second set is changed. */
static void compare_made_up(uint64_t seed, size_t tests, size_t repeats,
                            double change, struct pr_arena *a,
                            struct pr_compare *ret)
{
    struct pr_compare_opts o = {.least = 0.01};
    struct pr_compare_set sets[2] = {{.label = "a"}, {.label = "b"}};
    struct machine m;

    pr_rng_seed(&m.rng, seed, tests * 100 + repeats);
    for (size_t t = 0; t < tests; t++)
        m.run[t] = 0.004 + 0.012 * pr_rng_double(&m.rng);
    fill_set(&m, &sets[0], tests, repeats, 0, a);
    fill_set(&m, &sets[1], tests, repeats, change, a);
    assert_int_equal(pr_compare_sets(sets, 2, &o, a, ret, NULL), PR_OK);
}

static bool is_no_change(const struct pr_compare_row *r)
{
    return r->verdict == PR_VERDICT_SAME || r->verdict == PR_VERDICT_UNCLEAR;
}

static bool all_same(const struct pr_compare_pair *p)
{
    for (size_t i = 0; i < p->count; i++)
        if (!is_no_change(&p->rows[i]))
            return false;
    return !p->has_all || is_no_change(&p->all);
}

/* Of a hundred comparisons of a thing with itself, 95 say "same" throughout:
 * over all of these, and, but for the luck of the draw, for each. */
static void the_same_is_the_same(void **state)
{
    static const size_t tests[] = {1, 4, 18}, repeats[] = {1, 2, 3, 5, 10};
    size_t each = is_brief() ? 60 : 400, good = 0, all = 0;

    (void)state;
    for (size_t t = 0; t < 3; t++)
        for (size_t r = 0; r < 5; r++) {
            size_t same = 0;

            for (size_t i = 0; i < each; i++) {
                struct pr_arena *a = pr_arena_new(1 << 18);
                struct pr_compare c;

                compare_made_up(i, tests[t], repeats[r], 0, a, &c);
                same += all_same(&c.pairs[0]);
                pr_arena_free(a);
            }
            if (!is_brief() && same < each * 94 / 100)
                print_message("%zu tests, %zu repeats: %zu of %zu\n", tests[t],
                              repeats[r], same, each);
            assert_true(same >= each * 92 / 100);
            good += same;
            all += each;
        }
    print_message("# same: %zu of %zu\n", good, all);
    assert_true(good * 100 >= all * 95);
}

static void changes_are_found(void **state)
{
    static const struct {
        size_t tests, repeats;
        double change;
        unsigned least; /* of a hundred */
    } rows[] = {
        {1, 1, 0.10, 70},   {1, 3, 0.10, 90},  {1, 5, 0.05, 85},
        {1, 10, 0.05, 97},  {4, 3, 0.10, 90},  {4, 5, 0.05, 85},
        {18, 2, 0.10, 80},  {18, 3, 0.10, 90}, {18, 5, -0.05, 80},
        {18, 10, 0.05, 93},
    };

    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        enum pr_compare_verdict want =
            rows[k].change > 0 ? PR_VERDICT_FASTER : PR_VERDICT_SLOWER;
        size_t found = 0;

        for (size_t i = 0; i < 100; i++) {
            struct pr_arena *a = pr_arena_new(1 << 18);
            struct pr_compare c;

            compare_made_up(1000 + i, rows[k].tests, rows[k].repeats,
                            rows[k].change, a, &c);
            assert_string_equal(c.pairs[0].rows[0].name, "t0");
            found += c.pairs[0].rows[0].verdict == want;
            pr_arena_free(a);
        }
        if (found < rows[k].least)
            print_message("%zu tests, %zu repeats, %+.0f %%: %zu of 100\n",
                          rows[k].tests, rows[k].repeats, 100 * rows[k].change,
                          found);
        assert_true(found >= rows[k].least);
    }
}

/* The interval holds the true ratio as often as it says. */
static void intervals_hold_the_truth(void **state)
{
    size_t held = 0, n = is_brief() ? 100 : 600;

    (void)state;
    for (size_t i = 0; i < n; i++) {
        struct pr_arena *a = pr_arena_new(1 << 18);
        struct pr_compare c;
        const struct pr_compare_row *r;

        compare_made_up(5000 + i, 1, 5, 0.08, a, &c);
        r = &c.pairs[0].rows[0];
        held += r->low < 1.08 && 1.08 < r->high;
        assert_true(r->low < r->ratio && r->ratio < r->high);
        pr_arena_free(a);
    }
    assert_true(held >= n * 93 / 100);
    assert_true(held < n); /* it is not as wide as the world */
}

/* ---- small comparisons by hand */

struct made {
    struct pr_arena *arena;
    struct pr_compare_set sets[3];
    size_t count;
    struct pr_compare out;
};

static void begin(struct made *m, size_t count)
{
    static const char *const labels[] = {"a", "b", "c"};

    *m = (struct made){.arena = pr_arena_new(4096), .count = count};
    for (size_t i = 0; i < count; i++)
        m->sets[i].label = labels[i];
}

static void put(struct made *m, size_t set, const char *test,
                const char *measure, int64_t repeat, const char *device,
                double value)
{
    struct pr_compare_run run = {
        .value = value, .repeat = repeat, .device = device};

    assert_true(pr_compare_add_run(
        pr_compare_get_test(&m->sets[set], test, measure, m->arena), &run,
        m->arena));
}

static void put_all(struct made *m, size_t set, const char *test,
                    const char *measure, const double *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        put(m, set, test, measure, (int64_t)i + 1, "", v[i]);
}

static const struct pr_compare_row *judge_with(struct made *m,
                                               struct pr_compare_opts o)
{
    if (!(o.least > 0))
        o.least = 0.01;
    assert_int_equal(
        pr_compare_sets(m->sets, m->count, &o, m->arena, &m->out, NULL), PR_OK);
    return m->out.pairs[0].rows;
}

static const struct pr_compare_row *judge(struct made *m)
{
    return judge_with(m, (struct pr_compare_opts){0});
}

/* By hand: t is 10 errors, 8 degrees of freedom. */
static void welch_is_as_computed(void **state)
{
    const double a[] = {98, 99, 100, 101, 102}, b[] = {108, 109, 110, 111, 112};
    const struct pr_compare_row *r;
    struct made m;

    (void)state;
    begin(&m, 2);
    put_all(&m, 0, "t", "throughput", a, 5);
    put_all(&m, 1, "t", "throughput", b, 5);
    r = judge(&m);
    /* Computed apart from this, the quantile by integrating the density. */
    assert_float_equal(r->ratio, 1.1000191, 1e-6);
    assert_float_equal(r->low, 1.0760031, 1e-6);
    assert_float_equal(r->high, 1.1245711, 1e-6);
    assert_float_equal(r->p, 9.2247e-06, 1e-9);
    assert_int_equal(r->verdict, PR_VERDICT_FASTER);
    assert_int_equal(r->runs_a, 5);
    assert_float_equal(r->a, 99.99, 0.01);
    assert_false(m.out.pairs[0].has_all);
    pr_arena_free(m.arena);
}

static void each_measure_has_its_direction(void **state)
{
    static const struct {
        const char *measure;
        enum pr_compare_verdict up, down;
    } rows[] = {
        {"throughput", PR_VERDICT_FASTER, PR_VERDICT_SLOWER},
        {"samples_per_second", PR_VERDICT_FASTER, PR_VERDICT_SLOWER},
        {"storage_mb_per_second", PR_VERDICT_FASTER, PR_VERDICT_SLOWER},
        {"time", PR_VERDICT_SLOWER, PR_VERDICT_FASTER},
        {"time_p99", PR_VERDICT_SLOWER, PR_VERDICT_FASTER},
        {"wait_ms_p99", PR_VERDICT_SLOWER, PR_VERDICT_FASTER},
        {"elapsed_s", PR_VERDICT_SLOWER, PR_VERDICT_FASTER},
        {"checkpoint_write_s", PR_VERDICT_SLOWER, PR_VERDICT_FASTER},
        {"utilisation", PR_VERDICT_IMPROVED, PR_VERDICT_WORSENED},
        {"accuracy", PR_VERDICT_IMPROVED, PR_VERDICT_WORSENED},
        {"loss", PR_VERDICT_WORSENED, PR_VERDICT_IMPROVED},
        {"max_rss_bytes", PR_VERDICT_WORSENED, PR_VERDICT_IMPROVED},
        {"apples", PR_VERDICT_HIGHER, PR_VERDICT_LOWER},
    };
    const double a[] = {100, 101, 100, 99}, b[] = {120, 121, 119, 120};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int down = 0; down < 2; down++) {
            struct made m;

            begin(&m, 2);
            put_all(&m, down, "t", rows[i].measure, a, 4);
            put_all(&m, !down, "t", rows[i].measure, b, 4);
            assert_int_equal(judge(&m)->verdict,
                             down ? rows[i].down : rows[i].up);
            pr_arena_free(m.arena);
        }
}

/* Over all, times count the other way round, and a test counts once. */
static void over_all_is_a_speed(void **state)
{
    const double a[] = {100, 101, 100, 99, 100};
    double twice[5], half[5];
    struct made m;

    (void)state;
    for (size_t i = 0; i < 5; i++) {
        twice[i] = 2 * a[i];
        half[i] = a[i] / 2;
    }
    begin(&m, 2);
    put_all(&m, 0, "x", "throughput", a, 5);
    put_all(&m, 0, "x", "time", a, 5);
    put_all(&m, 0, "y", "time", a, 5);
    put_all(&m, 1, "x", "throughput", twice, 5);
    put_all(&m, 1, "x", "time", half, 5);
    put_all(&m, 1, "y", "time", half, 5);
    judge(&m);
    assert_int_equal(m.out.pairs[0].count, 3);
    assert_true(m.out.pairs[0].has_all);
    assert_float_equal(m.out.pairs[0].all.ratio, 2, 1e-9);
    assert_int_equal(m.out.pairs[0].all.runs_a, 2);
    assert_int_equal(m.out.pairs[0].all.verdict, PR_VERDICT_FASTER);
    pr_arena_free(m.arena);
}

static void small_changes_are_the_same(void **state)
{
    const double a[] = {1000, 1000.1, 999.9, 1000, 1000.1};
    double b[5];
    struct made m;

    (void)state;
    for (size_t i = 0; i < 5; i++)
        b[i] = a[i] * 1.008;
    begin(&m, 2);
    put_all(&m, 0, "t", "throughput", a, 5);
    put_all(&m, 1, "t", "throughput", b, 5);
    assert_int_equal(judge(&m)->verdict, PR_VERDICT_SAME);
    assert_int_equal(
        judge_with(&m, (struct pr_compare_opts){.least = 0.001})->verdict,
        PR_VERDICT_FASTER);
    pr_arena_free(m.arena);
}

/* An interval that holds everything from half to double is not "the same";
 * verdict and interval agree. */
static void what_cannot_be_told_is_unclear(void **state)
{
    const double a[] = {100, 150, 80}, b[] = {100, 240, 180};
    const double c[] = {100, 101, 99, 100, 100}, d[] = {100, 100, 101, 99, 100};
    const struct pr_compare_row *r;
    struct made m;

    (void)state;
    begin(&m, 2);
    put_all(&m, 0, "t", "throughput", a, 3);
    put_all(&m, 1, "t", "throughput", b, 3);
    r = judge(&m);
    assert_int_equal(r->verdict, PR_VERDICT_UNCLEAR);
    assert_true(r->low < 1 && r->high > 1.05 && r->ratio > 1.2);
    pr_arena_free(m.arena);
    begin(&m, 2);
    put_all(&m, 0, "t", "throughput", c, 5);
    put_all(&m, 1, "t", "throughput", d, 5);
    r = judge(&m);
    assert_int_equal(r->verdict, PR_VERDICT_SAME);
    assert_true(r->low > 1 / 1.05 && r->high < 1.05);
    assert_int_equal(
        judge_with(&m, (struct pr_compare_opts){.margin = 0.001})->verdict,
        PR_VERDICT_UNCLEAR);
    pr_arena_free(m.arena);
}

/* Eight devices that differ by 30 %: what one of them does in one repeat less
 * is no change, and eight devices at once are one observation. */
static void devices_are_no_repeats(void **state)
{
    static const char *const ids[] = {"0", "1", "2", "3", "4", "5", "6", "7"};
    const struct pr_compare_row *r;
    struct made m;

    (void)state;
    begin(&m, 2);
    for (int64_t set = 0; set < 2; set++)
        for (int64_t repeat = 0; repeat < 3; repeat++)
            for (size_t d = 0; d < 8; d++) {
                double wobble = 1 + 0.001 * (double)((repeat + set) % 3);

                if (set == 1 && repeat == 1 && d > 4)
                    put(&m, 1, "t", "throughput", repeat, ids[d], (double)NAN);
                else
                    put(&m, (size_t)set, "t", "throughput", repeat, ids[d],
                        (100 + 5 * (double)d) * wobble);
            }
    r = judge(&m);
    assert_int_equal(r->runs_a, 3);
    assert_int_equal(r->runs_b, 3);
    assert_int_equal(r->failed_b, 3);
    assert_float_equal(r->ratio, 1, 0.001);
    assert_int_equal(r->verdict, PR_VERDICT_SAME);
    pr_arena_free(m.arena);
}

static void what_is_not_there(void **state)
{
    const double v[] = {10, 10.1, 9.9};
    const double nothing[] = {NAN, NAN};
    const struct pr_compare_row *r;
    struct made m;

    (void)state;
    begin(&m, 2);
    put_all(&m, 0, "gone", "throughput", v, 3);
    put_all(&m, 0, "broken", "throughput", v, 3);
    put_all(&m, 0, "kept", "throughput", v, 3);
    put_all(&m, 1, "kept", "throughput", v, 3);
    put_all(&m, 1, "added", "throughput", v, 3);
    put_all(&m, 1, "broken", "", nothing, 2); /* it told no figure */
    r = judge(&m);
    assert_int_equal(m.out.pairs[0].count, 4);
    assert_string_equal(r[0].name, "added");
    assert_int_equal(r[0].verdict, PR_VERDICT_ADDED);
    assert_int_equal(r[1].verdict, PR_VERDICT_FAILED);
    assert_int_equal(r[1].failed_b, 2);
    assert_int_equal(r[2].verdict, PR_VERDICT_MISSING);
    assert_int_equal(r[3].verdict, PR_VERDICT_SAME);
    assert_true(isnan(r[2].ratio));
    pr_arena_free(m.arena);
}

static void names_are_in_peoples_order(void **state)
{
    static const char *const want[] = {"s.1", "s.2", "s.10"};
    const double v[] = {10, 10.1, 9.9};
    struct made m;

    (void)state;
    begin(&m, 2);
    for (size_t i = 3; i-- > 0;) {
        put_all(&m, 0, want[i], "throughput", v, 3);
        put_all(&m, 1, want[i], "throughput", v, 3);
    }
    judge(&m);
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(m.out.pairs[0].rows[i].name, want[i]);
    pr_arena_free(m.arena);
}

static void summaries_have_moments(void **state)
{
    const struct pr_compare_row *r;
    struct made m;

    (void)state;
    begin(&m, 2);
    for (size_t i = 0; i < 2; i++) {
        struct pr_compare_test *t =
            pr_compare_get_test(&m.sets[i], "t", "throughput", m.arena);

        t->repeats = 10;
        t->mean = i ? 106 : 100;
        t->deviation = 1;
        t->failures = i;
    }
    r = judge(&m);
    assert_float_equal(r->ratio, 1.06, 1e-4);
    assert_int_equal(r->verdict, PR_VERDICT_FASTER);
    assert_true(r->high / r->low > 1.015 && r->high / r->low < 1.025);
    assert_int_equal(r->failed_b, 1);
    pr_arena_free(m.arena);
}

/* One run against several borrows their spread. */
static void one_run_against_several(void **state)
{
    const double a[] = {100}, b[] = {118, 120, 122, 119, 121};
    struct made m;

    (void)state;
    begin(&m, 2);
    put_all(&m, 0, "t", "throughput", a, 1);
    put_all(&m, 1, "t", "throughput", b, 5);
    assert_int_equal(judge(&m)->verdict, PR_VERDICT_FASTER);
    pr_arena_free(m.arena);
}

/* ---- oddities */

static bool has_note(const struct pr_compare_row *r, enum pr_compare_odd odd,
                     char side)
{
    for (size_t i = 0; i < r->note_count; i++)
        if (r->notes[i].odd == odd && r->notes[i].side == side)
            return true;
    return false;
}

static void oddities_are_noted(void **state)
{
    static const struct {
        double b[8];
        size_t n;
        int odd; /* -1: nothing is */
    } rows[] = {
        {{100, 101, 99, 100, 100.5, 99.5, 100, 101}, 8, -1},
        {{80, 101, 99, 100, 100.5, 99.5, 100, 101}, 8, PR_ODD_FIRST},
        {{80, 101, 99}, 3, PR_ODD_FIRST},
        {{120, 101, 99, 100, 100.5, 99.5, 100, 101}, 8, PR_ODD_OUTLIER},
        {{100, 101, 99, 70, 100.5, 99.5, 100, 101}, 8, PR_ODD_OUTLIER},
        {{100, 99, 98.2, 97, 96.1, 95, 94, 93.1}, 8, PR_ODD_DRIFT},
        {{100, 130, 90, 115}, 4, PR_ODD_WIDE},
    };
    const double a[] = {100, 101, 99, 100, 100.5, 99.5, 100, 101};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct pr_compare_row *r;
        struct made m;

        begin(&m, 2);
        put_all(&m, 0, "t", "throughput", a, 8);
        put_all(&m, 1, "t", "throughput", rows[i].b, rows[i].n);
        r = judge(&m);
        if (rows[i].odd < 0)
            assert_int_equal(r->note_count, 0);
        else
            assert_true(has_note(r, (enum pr_compare_odd)rows[i].odd,
                                 rows[i].odd == PR_ODD_WIDE ? 0 : 'B'));
        for (size_t k = 0; k < r->note_count; k++)
            assert_non_null(strchr(r->notes[k].text, ';')); /* a remedy */
        pr_arena_free(m.arena);
    }
}

/* A first run that is slow hides what changed, until it is thrown away. */
static void the_first_can_be_thrown_away(void **state)
{
    const double a[] = {70, 100, 101, 100}, b[] = {77, 110, 111, 110};
    struct made m;

    (void)state;
    begin(&m, 2);
    put_all(&m, 0, "t", "throughput", a, 4);
    put_all(&m, 1, "t", "throughput", b, 4);
    assert_int_equal(judge(&m)->verdict, PR_VERDICT_UNCLEAR);
    assert_int_equal(
        judge_with(&m, (struct pr_compare_opts){.skip_first = 1})->verdict,
        PR_VERDICT_FASTER);
    assert_int_equal(m.out.pairs[0].rows[0].runs_a, 3);
    pr_arena_free(m.arena);
}

static void drift_within_a_run(void **state)
{
    double slices[SLICES];
    const struct pr_compare_row *r;
    struct made m;

    (void)state;
    begin(&m, 2);
    for (size_t set = 0; set < 2; set++) {
        struct pr_compare_run run = {.value = 100, .repeat = 1, .device = ""};

        if (set) {
            for (size_t i = 0; i < SLICES; i++)
                slices[i] = 105 - 10 * (double)i / SLICES + (double)(i % 3);
            run.slices = slices;
            run.slice_count = SLICES;
        }
        assert_true(pr_compare_add_run(
            pr_compare_get_test(&m.sets[set], "t", "throughput", m.arena), &run,
            m.arena));
    }
    r = judge(&m);
    assert_true(has_note(r, PR_ODD_SINGLE, 0));
    assert_true(has_note(r, PR_ODD_WITHIN, 'B'));
    assert_false(has_note(r, PR_ODD_WITHIN, 'A'));
    pr_arena_free(m.arena);
}

/* ---- errors of means */

/* Neighbours that hang together do not count as many: the error found is that
 * of means over many series, within a third. */
static void batches_see_what_hangs_together(void **state)
{
    const double rho = 0.8;
    double sum = 0, squares = 0, errors = 0, v[200], e2, freedom, mean, var;
    size_t n = 500;

    (void)state;
    for (size_t k = 0; k < n; k++) {
        struct pr_rng r;
        double e;

        pr_rng_seed(&r, k, 77);
        e = pr_rng_gauss(&r);
        for (size_t i = 0; i < 200; i++) {
            e = rho * e + sqrt(1 - rho * rho) * pr_rng_gauss(&r);
            v[i] = e;
        }
        pr_compare_moments(v, 200, &mean, &var);
        assert_true(pr_compare_batch_error(v, 200, &e2, &freedom));
        sum += mean;
        squares += mean * mean;
        errors += e2;
    }
    squares = squares / (double)n - sum * sum / (double)(n * n);
    assert_true(errors / (double)n > squares * 0.8);
    assert_true(errors / (double)n < squares * 1.6);
    assert_false(pr_compare_batch_error(v, 7, &e2, &freedom));
}

static void variances_learn(void **state)
{
    double v[40], f[40];
    struct pr_variance_prior p;

    (void)state;
    for (size_t i = 0; i < 40; i++) {
        v[i] = 1e-4;
        f[i] = 2;
    }
    pr_compare_fit_prior(v, f, 3, &p);
    assert_true(p.freedom == 0);
    pr_compare_fit_prior(v, f, 40, &p); /* all alike */
    assert_true(p.freedom > 3);
    assert_true(p.variance > 1e-4 && p.variance < 4e-4);
    for (size_t i = 0; i < 40; i += 2)
        v[i] = 1; /* nothing in common */
    pr_compare_fit_prior(v, f, 40, &p);
    assert_true(p.freedom < 1);
}

/* ---- rules */

static void rules_are_read(void **state)
{
    static const char *const good[] = {"slower", "slower:5%", "slower:0.05",
                                       "faster:2 %,failed", "missing,slower"};
    static const char *const bad[] = {
        "",          "slow",    "slower:",    "slower:x",  "slower:-1%",
        "failed:3%", "slower,", "slower:nan", "slower:5%%"};
    struct pr_arena *a = pr_arena_new(4096);
    struct pr_compare_rule *rules;
    struct pr_err err;
    size_t n;

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_int_equal(pr_compare_parse_rules(good[i], a, &rules, &n, &err),
                         PR_OK);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(pr_compare_parse_rules(bad[i], a, &rules, &n, &err),
                         PR_E_USAGE);
        assert_true(*err.hint);
    }
    pr_arena_free(a);
}

static void rules_are_broken(void **state)
{
    static const struct {
        const char *rules;
        enum pr_better better;
        enum pr_compare_verdict verdict;
        double ratio;
        bool breaks;
    } rows[] = {
        {"slower", PR_BETTER_FASTER, PR_VERDICT_SLOWER, 0.99, true},
        {"slower:5%", PR_BETTER_FASTER, PR_VERDICT_SLOWER, 0.97, false},
        {"slower:5%", PR_BETTER_FASTER, PR_VERDICT_SLOWER, 0.94, true},
        {"slower:5%", PR_BETTER_SHORTER, PR_VERDICT_SLOWER, 1.2, true},
        {"slower:5%", PR_BETTER_FASTER, PR_VERDICT_SAME, 0.5, false},
        {"slower:5%", PR_BETTER_FASTER, PR_VERDICT_UNCLEAR, 0.5, false},
        {"unclear", PR_BETTER_FASTER, PR_VERDICT_UNCLEAR, 0.5, true},
        {"unclear", PR_BETTER_FASTER, PR_VERDICT_SAME, 1, false},
        {"slower", PR_BETTER_LESS, PR_VERDICT_WORSENED, 1.5, true},
        {"slower", PR_BETTER_FASTER, PR_VERDICT_FASTER, 1.5, false},
        {"faster:10%", PR_BETTER_SHORTER, PR_VERDICT_FASTER, 0.8, true},
        {"missing", PR_BETTER_FASTER, PR_VERDICT_MISSING, NAN, true},
        {"failed", PR_BETTER_FASTER, PR_VERDICT_MISSING, NAN, false},
        {"slower,failed", PR_BETTER_FASTER, PR_VERDICT_FAILED, NAN, true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_arena *a = pr_arena_new(4096);
        struct pr_compare_row r = {.better = rows[i].better,
                                   .verdict = rows[i].verdict,
                                   .ratio = rows[i].ratio};
        struct pr_compare_rule *rules;
        size_t n;

        assert_int_equal(
            pr_compare_parse_rules(rows[i].rules, a, &rules, &n, NULL), PR_OK);
        assert_int_equal(pr_compare_is_rule_broken(&r, rules, n),
                         rows[i].breaks);
        pr_arena_free(a);
    }
}

/* ---- memory */

static int attempt(void)
{
    const double v[] = {70, 100, 101, 100, 99, 150};
    struct pr_compare_opts o = {.least = 0.01};
    struct pr_arena *a = pr_arena_new(256);
    struct pr_compare_set sets[2] = {{.label = "a"}, {.label = "b"}};
    struct pr_compare out;
    int rc = a ? PR_OK : PR_E_NOMEM;

    for (size_t i = 0; !rc && i < 2 * 6 * 3; i++) {
        struct pr_compare_run run = {
            .value = v[i % 6], .repeat = (int64_t)(i % 6), .device = ""};
        char *name = pr_arena_printf(a, "test %zu", i / 6 % 3);
        struct pr_compare_test *t =
            name ? pr_compare_get_test(&sets[i / 18], name, "throughput", a)
                 : NULL;

        rc = t && pr_compare_add_run(t, &run, a) ? PR_OK : PR_E_NOMEM;
    }
    if (!rc)
        rc = pr_compare_sets(sets, 2, &o, a, &out, NULL);
    pr_arena_free(a);
    return rc;
}

static void memory_may_run_out(void **state)
{
    (void)state;
    torture(attempt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_is_the_same),
        cmocka_unit_test(changes_are_found),
        cmocka_unit_test(intervals_hold_the_truth),
        cmocka_unit_test(welch_is_as_computed),
        cmocka_unit_test(each_measure_has_its_direction),
        cmocka_unit_test(over_all_is_a_speed),
        cmocka_unit_test(small_changes_are_the_same),
        cmocka_unit_test(what_cannot_be_told_is_unclear),
        cmocka_unit_test(devices_are_no_repeats),
        cmocka_unit_test(what_is_not_there),
        cmocka_unit_test(names_are_in_peoples_order),
        cmocka_unit_test(summaries_have_moments),
        cmocka_unit_test(one_run_against_several),
        cmocka_unit_test(oddities_are_noted),
        cmocka_unit_test(the_first_can_be_thrown_away),
        cmocka_unit_test(drift_within_a_run),
        cmocka_unit_test(batches_see_what_hangs_together),
        cmocka_unit_test(variances_learn),
        cmocka_unit_test(rules_are_read),
        cmocka_unit_test(rules_are_broken),
        cmocka_unit_test(memory_may_run_out),
    };

    return cmocka_run_group_tests_name("analyse/compare", tests, NULL, NULL);
}
