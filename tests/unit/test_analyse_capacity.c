/* The search for the largest number of accelerators, against storages that are
 * a formula: exact ones, noisy ones, cliffs, and scouts that are wrong. */
#include "analyse/capacity/capacity.h"
#include "base/random.h"
#include "base/stats/statistics.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_TRIALS = 400 };

/* A storage: utilisation is top until knee, then knee / n, times noise; beyond
 * the cliff there is next to nothing left. */
struct sim {
    double top, knee;
    uint64_t cliff;    /* 0: none */
    double noise;      /* deviation of utilisation */
    double scout;      /* what scouts see, of what is there */
    double per_reader; /* accelerators' worth that one reader gets; 0: any */
    struct pr_rng rng;
    uint64_t wrong_at; /* the first trial there is a hiccup */
    double wrong;
};

static double utilisation(struct sim *s, uint64_t n, bool noisy)
{
    double u = fmin(s->top, s->top * s->knee / (double)n);

    if (s->cliff && n > s->cliff)
        u = 0.05;
    if (noisy && s->noise > 0)
        u += s->noise * pr_rng_gauss(&s->rng);
    if (noisy && n == s->wrong_at) {
        s->wrong_at = 0;
        u = s->wrong;
    }
    return fmax(0.001, fmin(1, u));
}

struct search {
    struct pr_capacity_opts o;
    struct pr_capacity_trial t[MAX_TRIALS];
    size_t count;
    double cost; /* in runs of one that never waits */
};

static struct pr_capacity_opts options(double need)
{
    return (struct pr_capacity_opts){.threshold = 0.9,
                                     .confidence = 0.95,
                                     .min = 1,
                                     .max = 1000000,
                                     .repeats = 8,
                                     .need = need};
}

static void try_one(struct search *s, struct sim *sim,
                    const struct pr_capacity_step *step)
{
    struct pr_capacity_trial *t = &s->t[s->count++];
    uint64_t n = step->accelerators;
    double rate = sim->knee * sim->top;

    *t = (struct pr_capacity_trial){
        .kind = step->kind, .accelerators = n, .utilisation = NAN};
    if (step->kind == PR_CAPACITY_SCOUT) {
        if (sim->per_reader > 0)
            rate = fmin(rate, sim->per_reader * (double)n);
        rate *= sim->scout;
        t->samples_per_second = rate; /* one sample a step of one second */
        s->cost += 0.3 * (double)n / rate;
    } else {
        t->utilisation = utilisation(sim, n, true);
        t->samples_per_second = (double)n * t->utilisation;
        s->cost += 1 / t->utilisation;
    }
}

static struct pr_capacity_answer find(struct search *s, struct sim *sim)
{
    struct pr_arena *a = pr_arena_new(4096);
    struct pr_capacity_answer answer;
    struct pr_capacity_curve c;
    struct pr_capacity_step step;

    for (;;) {
        assert_int_equal(
            pr_capacity_next_step(&s->o, s->t, s->count, &step, NULL), PR_OK);
        if (step.done)
            break;
        assert_true(s->count < MAX_TRIALS);
        assert_in_range(step.accelerators, 1, s->o.max);
        try_one(s, sim, &step);
    }
    assert_int_equal(pr_capacity_fill_curve(&s->o, s->t, s->count, a, &c, NULL),
                     PR_OK);
    pr_capacity_find_answer(&s->o, &c, &answer);
    pr_arena_free(a);
    return answer;
}

static uint64_t truth(struct sim *sim, double threshold)
{
    uint64_t n = 0;

    while (n < 100000 && utilisation(sim, n + 1, false) >= threshold)
        n++;
    return n;
}

static double cost_of_all(struct sim *sim, uint64_t to)
{
    double sum = 0;

    for (uint64_t n = 1; n <= to; n++)
        sum += 1 / utilisation(sim, n, false);
    return sum;
}

/* Of the nearer of two neighbours to the threshold. */
static double distance(struct sim *sim, uint64_t n)
{
    return fmin(fabs(utilisation(sim, n ? n : 1, false) - 0.9),
                fabs(utilisation(sim, n + 1, false) - 0.9));
}

/* ---- exact storages */

static void every_capacity_is_found(void **state)
{
    (void)state;
    for (double knee = 0.3; knee < 700; knee *= 1.07) {
        struct sim sim = {.top = 0.995, .knee = knee, .scout = 1};
        struct search s = {.o = options(0.9)};
        struct pr_capacity_answer got = find(&s, &sim);
        uint64_t want = truth(&sim, 0.9);

        assert_true(got.known);
        assert_int_equal(got.capacity, want);
        assert_false(got.at_least);
        /* What is at the threshold itself takes all repeats. */
        if (distance(&sim, want) < 0.002)
            continue;
        assert_true(got.holds);
        if (want >= 17)
            assert_true(s.cost <= cost_of_all(&sim, want + 1) / 3);
    }
}

static void without_scouts_it_is_found_too(void **state)
{
    (void)state;
    for (double knee = 0.5; knee < 700; knee *= 1.23) {
        struct sim sim = {.top = 1, .knee = knee, .scout = 1};
        struct search s = {.o = options(0)};

        assert_int_equal(find(&s, &sim).capacity, truth(&sim, 0.9));
        assert_true(s.count < 20);
    }
}

static void scouts_that_are_wrong_only_cost_time(void **state)
{
    static const double wrong[] = {0.05, 0.3, 0.8, 1.3, 3, 20};

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        for (double knee = 0.5; knee < 500; knee *= 1.9) {
            struct sim sim = {.top = 1, .knee = knee, .scout = wrong[i]};
            struct search s = {.o = options(0.9)};

            assert_int_equal(find(&s, &sim).capacity, truth(&sim, 0.9));
            assert_true(s.count < 40);
        }
}

/* One reader gets little, many get all: scouts follow. */
static void readers_that_add_up_are_followed(void **state)
{
    struct sim sim = {.top = 1, .knee = 300.2, .scout = 1, .per_reader = 2};
    struct search s = {.o = options(0.9)};

    (void)state;
    assert_int_equal(find(&s, &sim).capacity, 333);
    assert_true(s.cost < 15);
}

/* Jitter, not the storage: 1/n says too little again and again. */
static void a_slow_decline_is_not_walked_step_by_step(void **state)
{
    struct search s = {.o = options(0)};
    struct pr_capacity_step step;
    double n;

    (void)state;
    for (;;) {
        assert_int_equal(pr_capacity_next_step(&s.o, s.t, s.count, &step, NULL),
                         PR_OK);
        if (step.done)
            break;
        assert_true(s.count < 25);
        n = (double)step.accelerators;
        s.t[s.count++] = (struct pr_capacity_trial){
            .accelerators = step.accelerators,
            .utilisation = n < 2      ? 1
                           : n <= 200 ? 0.96
                                      : 0.96 * 200 / n};
    }
    /* Of the two that decide, either may be the last. */
    assert_in_range(s.t[s.count - 1].accelerators, 213, 214);
}

static void a_cliff_is_found(void **state)
{
    static const uint64_t at[] = {1, 2, 3, 7, 50, 511};

    (void)state;
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        struct sim sim = {
            .top = 0.99, .knee = 1e6, .cliff = at[i], .scout = 0.001};
        struct search s = {.o = options(0.9)};
        struct pr_capacity_answer got = find(&s, &sim);

        assert_int_equal(got.capacity, at[i]);
        assert_true(got.holds);
        assert_true(s.count < 40);
    }
}

static void not_even_one(void **state)
{
    struct sim sim = {.top = 0.85, .knee = 100, .scout = 1};
    struct search s = {.o = options(0.9)};
    struct pr_capacity_answer got = find(&s, &sim);

    (void)state;
    assert_true(got.known);
    assert_true(got.holds);
    assert_int_equal(got.capacity, 0);
    assert_int_equal(s.count, 2);
}

static void the_largest_allowed_is_at_least(void **state)
{
    static const uint64_t max[] = {1, 2, 10, 1000000};

    (void)state;
    for (size_t i = 0; i < sizeof max / sizeof *max; i++) {
        struct sim sim = {.top = 0.99, .knee = 1e9, .scout = 1};
        struct search s = {.o = options(0.9)};
        struct pr_capacity_answer got;

        s.o.max = max[i];
        got = find(&s, &sim);
        assert_true(got.known);
        assert_true(got.at_least);
        assert_true(got.holds);
        assert_int_equal(got.capacity, max[i]);
    }
}

static void a_start_above_the_answer_goes_down(void **state)
{
    struct sim sim = {.top = 1, .knee = 5, .scout = 1};
    struct search s = {.o = options(0.9)};

    (void)state;
    s.o.min = 40;
    assert_int_equal(find(&s, &sim).capacity, 5);
}

/* ---- noise */

static void noise_moves_the_answer_by_one_at_most(void **state)
{
    unsigned exact = 0, all = 0;

    (void)state;
    for (uint64_t seed = 0; seed < 300; seed++) {
        struct sim sim = {.top = 0.99,
                          .knee = 3 + (double)(seed % 40),
                          .noise = 0.004,
                          .scout = 0.9};
        struct search s = {.o = options(0.9)};
        uint64_t want = truth(&sim, 0.9);
        struct pr_capacity_answer got;

        pr_rng_seed(&sim.rng, 7, seed);
        got = find(&s, &sim);
        assert_true(got.known);
        assert_in_range(got.capacity, want - 1, want + 1);
        exact += got.capacity == want;
        all++;
    }
    assert_true(exact >= all * 9 / 10);
}

static void a_hiccup_is_repeated_away(void **state)
{
    (void)state;
    for (uint64_t at = 1; at < 40; at++) {
        struct sim sim = {.top = 0.99,
                          .knee = 30,
                          .scout = 1,
                          .noise = 0.001,
                          .wrong_at = at,
                          .wrong = 0.6};
        struct search s = {.o = options(0.9)};
        uint64_t want = truth(&sim, 0.9);

        pr_rng_seed(&sim.rng, 11, at);
        assert_in_range(find(&s, &sim).capacity, want - 1, want + 1);
    }
}

static void what_cannot_be_decided_says_so(void **state)
{
    /* 20 accelerators are at the threshold itself. */
    struct sim sim = {.top = 1, .knee = 18.0, .noise = 0.01, .scout = 1};
    unsigned open = 0;

    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct search s = {.o = options(0.9)};
        struct pr_capacity_answer got;

        pr_rng_seed(&sim.rng, 3, seed);
        got = find(&s, &sim);
        assert_in_range(got.capacity, 19, 20);
        assert_true(got.holds == (got.p <= 0.05 + 1e-12));
        open += !got.holds;
        for (size_t i = 0; i < s.count; i++) {
            unsigned runs = 0;
            for (size_t k = 0; k < s.count; k++)
                runs += s.t[k].accelerators == s.t[i].accelerators &&
                        s.t[k].kind == s.t[i].kind;
            assert_true(runs <= 8);
        }
    }
    assert_true(open > 0);
}

/* ---- the curve */

static void deciding_points_are_run_twice(void **state)
{
    struct sim sim = {.top = 1, .knee = 33.5, .scout = 1};
    struct search s = {.o = options(0.9)};
    unsigned low = 0, high = 0;

    (void)state;
    assert_int_equal(find(&s, &sim).capacity, 37);
    for (size_t i = 0; i < s.count; i++) {
        low += s.t[i].kind == PR_CAPACITY_FULL && s.t[i].accelerators == 37;
        high += s.t[i].kind == PR_CAPACITY_FULL && s.t[i].accelerators == 38;
    }
    assert_int_equal(low, 2);
    assert_int_equal(high, 2);
}

static void spread_is_pooled_over_repeated_points(void **state)
{
    const struct pr_capacity_trial t[] = {
        {.accelerators = 4, .utilisation = 0.92, .mb_per_second = 10},
        {.accelerators = 4, .utilisation = 0.94, .mb_per_second = 20},
        {.accelerators = 5, .utilisation = 0.80, .mb_per_second = 30},
        {.accelerators = 5, .utilisation = 0.84, .mb_per_second = 40},
        {.accelerators = 1, .utilisation = 0.99, .mb_per_second = 50},
    };
    struct pr_capacity_opts o = options(0);
    struct pr_arena *a = pr_arena_new(4096);
    struct pr_capacity_curve c;

    (void)state;
    assert_int_equal(pr_capacity_fill_curve(&o, t, 5, a, &c, NULL), PR_OK);
    assert_int_equal(c.count, 3);
    assert_int_equal(c.points[0].accelerators, 1);
    assert_true(isnan(c.points[0].stdev));
    assert_int_equal(c.freedom, 2);
    /* variances 0.0002 and 0.0008 */
    assert_float_equal(c.stdev, sqrt(0.0005), 1e-9);
    assert_float_equal(c.points[1].mb_per_second, 15, 1e-9);
    assert_int_equal(c.low->accelerators, 4);
    assert_int_equal(c.high->accelerators, 5);
    /* t = 0.03 / (0.02236 / sqrt 2) = 1.897, two degrees: 0.0992; the first
     * look of one of two spends a quarter of what may be wrong. */
    assert_float_equal(c.low->p, 4 * 0.0992, 1e-3);
    pr_arena_free(a);
}

static void student_is_that_of_the_tables(void **state)
{
    static const struct {
        unsigned freedom;
        double chance, t;
    } rows[] = {
        {1, 0.05, 6.3138},  {1, 0.025, 12.7062}, {2, 0.05, 2.9200},
        {2, 0.005, 9.9248}, {5, 0.05, 2.0150},   {10, 0.01, 2.7638},
        {30, 0.05, 1.6973}, {200, 0.05, 1.6525},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_float_equal(pr_student_t(rows[i].chance, rows[i].freedom),
                           rows[i].t, 1e-3);
        assert_float_equal(pr_student_above(rows[i].t, rows[i].freedom),
                           rows[i].chance, 1e-5);
        assert_float_equal(pr_student_above(-rows[i].t, rows[i].freedom),
                           1 - rows[i].chance, 1e-5);
    }
    assert_float_equal(pr_student_above(0, 4), 0.5, 1e-12);
    assert_float_equal(pr_student_above(INFINITY, 4), 0, 0);
}

static void the_knee_is_where_waiting_begins(void **state)
{
    static const struct {
        double u[3];
        uint64_t n[3], want;
        bool exact;
    } rows[] = {
        {{0.99, 0.99, 0.95}, {1, 4, 5}, 5, true},
        {{0.99, 0.99, 0.985}, {1, 4, 5}, 0, true},
        {{0.99, 0.99, 0.90}, {1, 8, 20}, 19, false},
        {{0.99, 0.30, 0.20}, {1, 8, 20}, 3, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_capacity_point p[3] = {{0}};
        struct pr_capacity_curve c = {.points = p, .count = 3};
        bool exact;

        for (int k = 0; k < 3; k++) {
            p[k].accelerators = rows[i].n[k];
            p[k].utilisation = rows[i].u[k];
        }
        assert_int_equal(pr_capacity_find_knee(&c, &exact), rows[i].want);
        assert_int_equal(exact, rows[i].exact);
    }
}

/* Equal steps: whoever is at 90.3 % waits, even if it is the first one. */
static void waiting_may_begin_at_the_first(void **state)
{
    struct pr_capacity_point p[2] = {
        {.accelerators = 1, .utilisation = 0.903, .figures.barrier_share = NAN},
        {.accelerators = 2, .utilisation = 0.46, .figures.barrier_share = NAN}};
    struct pr_capacity_curve c = {.points = p, .count = 2};
    bool exact;

    (void)state;
    assert_int_equal(pr_capacity_find_knee(&c, &exact), 1);
    assert_true(exact);
    p[0].accelerators = 4;
    p[1].accelerators = 8;
    assert_int_equal(pr_capacity_find_knee(&c, &exact), 4);
    assert_false(exact);
    /* Steps that differ: it waits for others, perhaps not for data. */
    p[0].figures.barrier_share = 0.09;
    p[1].utilisation = 0.9;
    assert_int_equal(pr_capacity_find_knee(&c, &exact), 0);
}

static void what_one_needs_follows_from_what_was_read(void **state)
{
    struct pr_capacity_opts o = options(90);
    struct pr_capacity_trial t[] = {
        {.samples_per_second = 50, .mb_per_second = 100},
        {.samples_per_second = NAN, .mb_per_second = NAN}};
    struct pr_capacity_need n = pr_capacity_compute_need(&o, t, 2);

    (void)state;
    assert_float_equal(n.samples, 100, 1e-9);
    assert_float_equal(n.bytes, 200e6, 1e-3);
    assert_true(pr_capacity_compute_need(&o, NULL, 0).bytes == 0);
}

/* ---- trials that were disturbed */

static void a_disturbed_trial_is_run_again(void **state)
{
    struct pr_capacity_opts o = options(1);
    struct pr_capacity_trial t[4] = {
        {.accelerators = 3, .utilisation = 0.5, .figures.disturbed = true},
        {.accelerators = 3, .utilisation = 0.6, .figures.disturbed = true},
        {.accelerators = 3, .utilisation = 0.95},
        {.accelerators = 3, .utilisation = 0.4, .figures.disturbed = true}};
    struct pr_arena *a = pr_arena_new(4096);
    struct pr_capacity_answer answer;
    struct pr_capacity_curve c;
    struct pr_capacity_step step;

    (void)state;
    o.min = o.max = 3;
    for (size_t n = 1; n <= 2; n++) {
        assert_int_equal(pr_capacity_next_step(&o, t, n, &step, NULL), PR_OK);
        assert_true(!step.done && step.accelerators == 3);
    }
    /* One that was not counts alone, whatever comes later. */
    assert_int_equal(pr_capacity_fill_curve(&o, t, 4, a, &c, NULL), PR_OK);
    assert_int_equal(c.points[0].runs, 1);
    assert_int_equal(c.points[0].discarded, 3);
    assert_float_equal(c.points[0].utilisation, 0.95, 1e-12);
    pr_capacity_find_answer(&o, &c, &answer);
    assert_false(answer.disturbed);
    pr_arena_free(a);
}

static void who_is_always_disturbed_comes_to_an_end(void **state)
{
    struct pr_capacity_opts o = options(1);
    struct pr_capacity_trial t[60] = {{0}};
    struct pr_arena *a = pr_arena_new(4096);
    struct pr_capacity_step step = {0};
    struct pr_capacity_answer answer;
    struct pr_capacity_curve c;
    size_t n = 0;
    char why[256];

    (void)state;
    for (; n < 60; n++) {
        assert_int_equal(pr_capacity_next_step(&o, t, n, &step, NULL), PR_OK);
        if (step.done)
            break;
        t[n] = (struct pr_capacity_trial){.kind = step.kind,
                                          .accelerators = step.accelerators,
                                          .utilisation = 0.5,
                                          .samples_per_second = 0.5,
                                          .figures.disturbed = true};
    }
    assert_true(step.done);
    assert_int_equal(pr_capacity_fill_curve(&o, t, n, a, &c, NULL), PR_OK);
    pr_capacity_find_answer(&o, &c, &answer);
    assert_true(answer.disturbed && answer.capacity == 0);
    assert_int_equal(pr_capacity_find_limit(&c.high->figures, 1000, why),
                     PR_CAPACITY_BY_DISTURBANCE);
    pr_arena_free(a);
}

/* ---- what limits */

static void limits_are_told_apart(void **state)
{
    static const struct {
        struct pr_capacity_measures f;
        uint64_t throttle;
        enum pr_capacity_limit want;
    } rows[] = {
        {{0.9, 0.2, 0.1, NAN, NAN, NAN, NAN, "", false},
         0,
         PR_CAPACITY_BY_CACHE},
        {{0.9, 0.2, 0.1, NAN, NAN, NAN, NAN, "", false},
         1000000,
         PR_CAPACITY_BY_THROTTLE},
        {{0, 0.95, 0.8, NAN, NAN, NAN, NAN, "", false},
         0,
         PR_CAPACITY_BY_DECODE},
        {{0, 0.95, 0.2, 1, NAN, NAN, NAN, "", false}, 0, PR_CAPACITY_BY_CPU},
        {{0, 0.95, NAN, 1, NAN, NAN, NAN, "", false}, 0, PR_CAPACITY_BY_CPU},
        {{0, 0.5, 0.8, 0.97, 0, NAN, NAN, "local disk", false},
         0,
         PR_CAPACITY_BY_DEVICE},
        {{0, 0.5, 0.8, 0.1, 0, NAN, NAN, "local disk", false},
         0,
         PR_CAPACITY_BY_DECODE},
        {{0, 0.5, 0.8, 0.1, 0, NAN, NAN, "", false},
         1000,
         PR_CAPACITY_BY_THROTTLE},
        {{0, 0.5, 0.2, NAN, 0.9, NAN, NAN, "network", false},
         0,
         PR_CAPACITY_BY_NETWORK},
        {{0, 0.5, 0.2, NAN, NAN, NAN, NAN, "network", false},
         0,
         PR_CAPACITY_BY_NETWORK},
        {{NAN, NAN, NAN, NAN, NAN, NAN, NAN, "", false},
         0,
         PR_CAPACITY_BY_STORAGE},
        {{0, 0.95, 0.8, NAN, NAN, 0.01, 0.3, "", false},
         9,
         PR_CAPACITY_BY_BARRIER},
        {{0, 0.95, 0.8, NAN, NAN, 0.3, 0.1, "", false},
         0,
         PR_CAPACITY_BY_DECODE},
        {{0, 0.3, 0.3, 0.2, 0.1, NAN, NAN, "fuse", false},
         0,
         PR_CAPACITY_BY_STORAGE},
    };
    char why[256];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(
            pr_capacity_find_limit(&rows[i].f, rows[i].throttle, why),
            rows[i].want);
        assert_true(strlen(why) > 10);
    }
}

static void more_clients_are_counted(void **state)
{
    static const struct {
        double rate, cpu;
        uint64_t capacity, all, more;
        bool at_least;
    } rows[] = {
        {90, 0.3, 10, 100, 9, false}, {91, 0.3, 10, 101, 10, false},
        {9, 0.95, 10, 10, 0, true},   {4, 0.2, 10, 10, 0, false},
        {45, NAN, 20, 50, 2, false},
    };
    struct pr_capacity_opts o = options(0.9);
    struct pr_capacity_clients got;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_capacity_trial t = {.samples_per_second = rows[i].rate,
                                      .figures = {.cpu_share = rows[i].cpu}};

        assert_true(
            pr_capacity_compute_clients(&o, &t, rows[i].capacity, &got));
        assert_int_equal(got.accelerators, rows[i].all);
        assert_int_equal(got.more, rows[i].more);
        assert_int_equal(got.at_least, rows[i].at_least);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_capacity_is_found),
        cmocka_unit_test(without_scouts_it_is_found_too),
        cmocka_unit_test(scouts_that_are_wrong_only_cost_time),
        cmocka_unit_test(readers_that_add_up_are_followed),
        cmocka_unit_test(a_slow_decline_is_not_walked_step_by_step),
        cmocka_unit_test(a_cliff_is_found),
        cmocka_unit_test(not_even_one),
        cmocka_unit_test(the_largest_allowed_is_at_least),
        cmocka_unit_test(a_start_above_the_answer_goes_down),
        cmocka_unit_test(noise_moves_the_answer_by_one_at_most),
        cmocka_unit_test(a_hiccup_is_repeated_away),
        cmocka_unit_test(what_cannot_be_decided_says_so),
        cmocka_unit_test(deciding_points_are_run_twice),
        cmocka_unit_test(spread_is_pooled_over_repeated_points),
        cmocka_unit_test(student_is_that_of_the_tables),
        cmocka_unit_test(the_knee_is_where_waiting_begins),
        cmocka_unit_test(waiting_may_begin_at_the_first),
        cmocka_unit_test(what_one_needs_follows_from_what_was_read),
        cmocka_unit_test(a_disturbed_trial_is_run_again),
        cmocka_unit_test(who_is_always_disturbed_comes_to_an_end),
        cmocka_unit_test(limits_are_told_apart),
        cmocka_unit_test(more_clients_are_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
