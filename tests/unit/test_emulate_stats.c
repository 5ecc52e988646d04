/* What is measured while training is emulated: sums, lists, and the figures
 * that follow, ours and DLIO's. */
#include "test_workload_emulate.h"

#include <malloc.h>

static void a_step_is_split_into_wait_compute_and_lateness(void **state)
{
    struct bench b;
    struct pr_emulate_phase *p;
    const struct pr_emulate_accelerator_stats *a;

    (void)state;
    bench_init(&b);
    p = add_phase(&b, 1, 3, 3);
    add_step(&b, p, 2, 0.5, 0.25, 0.001);
    add_step(&b, p, 2, 0.125, 0.25, 0.003);
    add_step(&b, p, 2, 0, 0.5, 0.002);
    a = &p->accel[2];
    assert_int_equal(a->steps, 3);
    assert_int_equal(a->samples, 12);
    assert_int_equal(a->wait_ns, 625000000);
    assert_int_equal(a->compute_ns, 1000000000);
    assert_int_equal(a->late_ns, 6000000);
    assert_int_equal(a->late_max_ns, 3000000);
    assert_int_equal(a->first_ns, p->start_ns + 750000000);
    assert_int_equal(a->last_ns, p->start_ns + 1625000000);
    assert_int_equal(a->window_steps, 2); /* the first is left out */
    assert_int_equal(a->window_compute_ns, 750000000);
    assert_int_equal(a->outside_ns, 750000000);
    assert_near(a->compute_square, 0.25 * 0.25 + 0.5 * 0.5, 1e-9);
    assert_int_equal(p->accel[1].steps, 0);
    bench_done(&b);
}

static void histograms_cover_all_accelerators(void **state)
{
    struct bench b;
    struct pr_emulate_phase *p;

    (void)state;
    bench_init(&b);
    p = add_phase(&b, 1, 1, 3);
    add_step(&b, p, 0, 0.5, 0.25, 0.001);
    add_step(&b, p, 15, 0.25, 1, 0.002);
    assert_int_equal(p->live->wait.count, 2);
    assert_int_equal(p->live->wait.sum, 750000000);
    assert_int_equal(p->live->wait.max, 500000000);
    assert_int_equal(p->live->step.sum, 2000000000);
    assert_int_equal(p->live->step.max, 1250000000);
    bench_done(&b);
}

/* Of an epoch before the last one its waits and what goes into totals stay. */
static void earlier_phases_keep_sums(void **state)
{
    struct pr_emulate_phase_waits w;
    struct pr_emulate_phase *p, *q;
    struct pr_emulate_totals t;
    struct bench b;

    (void)state;
    bench_init(&b);
    p = add_phase(&b, 1, 1, 3);
    add_step(&b, p, 0, 0.5, 0.25, 0);
    add_step(&b, p, 1, 0.25, 1, 0);
    q = add_phase(&b, 2, 1, 3);
    add_step(&b, q, 0, 0.125, 1, 0);
    assert_null(p->live);
    w = pr_emulate_phase_get_waits(p);
    assert_int_equal(w.count, 2);
    assert_int_equal(w.max_ns, 500000000);
    assert_near((double)w.p50_ns, 250e6, 250e6 * 0.02);
    assert_int_equal(pr_emulate_phase_get_waits(q).max_ns, 125000000);
    pr_emulate_stats_sum(&b.s, false, &t);
    assert_int_equal(t.wait.count, 3);
    assert_int_equal(t.wait.sum, 875000000);
    assert_int_equal(t.step.max, 1250000000);
    pr_emulate_stats_drop_last(&b.s); /* as one that was not finished */
    pr_emulate_stats_sum(&b.s, false, &t);
    assert_int_equal(t.wait.count, 2);
    bench_done(&b);
}

/* Some hundred bytes, and so many for each accelerator; it was 28 kB. */
static void an_epoch_takes_little_memory(void **state)
{
    enum { EPOCHS = 20000, MOST = 2048, ACCELERATORS = 2 };
    struct pr_arena *a = pr_arena_new(65536);
    struct pr_emulate_stats *s = calloc(1, sizeof *s);
    size_t before, after;

    (void)state;
    assert_non_null(a);
    assert_non_null(s);
    for (int i = 0; i < PR_MEMINFO_PHASES; i++)
        assert_non_null(pr_emulate_stats_add_phase(s, a, ACCELERATORS, 1));
    before = mallinfo2().uordblks + mallinfo2().hblkhd;
    for (int i = 0; i < EPOCHS; i++)
        assert_non_null(pr_emulate_stats_add_phase(s, a, ACCELERATORS, 1));
    after = mallinfo2().uordblks + mallinfo2().hblkhd;
    if (after - before > (size_t)EPOCHS * MOST)
        fail_msg("%zu bytes an epoch", (after - before) / EPOCHS);
    pr_arena_free(a);
    free(s);
}

static void lists_hold_waits_and_computing(void **state)
{
    struct bench b;
    struct pr_emulate_phase *p;

    (void)state;
    bench_init(&b);
    p = add_phase(&b, 1, 2, 3);
    assert_int_equal(p->lists.room, 2);
    add_step(&b, p, 3, 0.5, 0.25, 0.125);
    add_step(&b, p, 3, 0.75, 1, 0);
    add_step(&b, p, 3, 7, 7, 0); /* one too many is counted, not listed */
    add_step(&b, p, 4, 2, 3, 0);
    assert_true(p->lists.wait[6] == 0.5f && p->lists.wait[7] == 0.75f);
    assert_true(p->lists.compute[6] == 0.25f && p->lists.compute[7] == 1);
    assert_true(p->lists.wait[8] == 2 && p->lists.compute[8] == 3);
    assert_int_equal(p->accel[3].steps, 3);
    bench_done(&b);
}

static void lists_have_a_limit(void **state)
{
    static const struct {
        uint64_t accelerators, steps, room;
    } rows[] = {
        /* In one run: each takes from what is left of 8 million. */
        {1, 10, 10},          {1, 1000000, 100000},
        {1000, 1000, 1000},   {1000, 100000, 6899},
        {10, 100, 99},        {64, 1000000, 0},
        {100000, 1000000, 0}, {1, 0, 0},
    };
    struct bench b;

    (void)state;
    bench_init(&b);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_emulate_phase *p = pr_emulate_stats_add_phase(
            &b.s, b.a, rows[i].accelerators, rows[i].steps);

        assert_non_null(p);
        if (p->lists.room != rows[i].room)
            fail_msg("row %zu: room for %llu", i,
                     (unsigned long long)p->lists.room);
    }
    assert_true(b.s.listed <= PR_LIST_ALL);
    bench_done(&b);
}

static void phases_come_in_order_and_know_nothing_yet(void **state)
{
    struct bench b;
    struct pr_emulate_phase *p, *q;

    (void)state;
    bench_init(&b);
    p = pr_emulate_stats_add_phase(&b.s, b.a, 2, 5);
    q = pr_emulate_stats_add_phase(&b.s, b.a, 2, 6);
    assert_ptr_equal(b.s.first, p);
    assert_ptr_equal(p->next, q);
    assert_ptr_equal(b.s.last, q);
    assert_null(q->next);
    assert_true(p->cached == -1);
    assert_true(p->device_bytes == UINT64_MAX);
    assert_int_equal(q->steps_planned, 6);
    if (access("/proc/meminfo", R_OK) == 0)
        assert_non_null(strstr(p->meminfo, "MemTotal:"));
    bench_done(&b);
}

static int make_phase(void)
{
    struct pr_arena *a = pr_arena_new(256);
    struct pr_emulate_stats s = {0};
    struct pr_emulate_phase *p =
        a ? pr_emulate_stats_add_phase(&s, a, 4, 1000) : NULL;

    if (!p)
        assert_null(s.first);
    pr_arena_free(a);
    return p ? PR_OK : PR_E_NOMEM;
}

static void no_memory_is_no_phase(void **state)
{
    (void)state;
    torture(make_phase);
}

static void our_figures_count_every_step(void **state)
{
    struct bench b;
    struct pr_emulate_phase *p;

    (void)state;
    bench_init(&b);
    b.e.accelerators = 2;
    p = add_phase(&b, 1, 2, 4);
    add_step(&b, p, 0, 0.5, 1, 0.1);
    add_step(&b, p, 0, 0.5, 1, 0.1);
    add_step(&b, p, 1, 0, 1, 0.1);
    assert_near(pr_emulate_phase_seconds(p), 4, 1e-12);
    assert_near(pr_emulate_phase_utilisation(p), 3.0 / 8, 1e-12);
    assert_near(pr_emulate_phase_samples_per_s(p), 3.0, 1e-12);
    p->end_ns = p->start_ns;
    assert_true(pr_emulate_phase_utilisation(p) == 0);
    assert_true(pr_emulate_phase_samples_per_s(p) == 0);
    assert_true(pr_dlio_au(p, 0) == 0);
    assert_true(pr_dlio_throughput(p, 0, 4) == 0);
    bench_done(&b);
}

/* n = 5, batches of 4, the first step takes 20 s, the wall says 26 s. */
static void worked_example_of_dlios_formulas(void **state)
{
    struct bench b;
    struct pr_emulate_phase *p;

    (void)state;
    bench_init(&b);
    p = add_phase(&b, 1, 5, 26);
    add_step(&b, p, 0, 20 - 1.36, 1.36, 0);
    for (int i = 0; i < 4; i++)
        add_step(&b, p, 0, 1.4 - 1.36, 1.36, 0);
    assert_near(pr_dlio_au(p, 0), 90.66666666, 1e-8);
    assert_near(pr_dlio_throughput(p, 0, 4), 2.0, 1e-9);
    p->evaluation = true; /* there the rate leaves nothing out */
    assert_near(pr_dlio_au(p, 0), 90.66666666, 1e-8);
    assert_near(pr_dlio_throughput(p, 0, 4), 5.0 / 26 * 4, 1e-9);
    bench_done(&b);
}

static void few_steps_give_no_negative_rate(void **state)
{
    struct bench b;
    struct pr_emulate_phase *p;

    (void)state;
    bench_init(&b);
    p = add_phase(&b, 1, 3, 10);
    for (int i = 0; i < 3; i++) {
        assert_true(pr_dlio_throughput(p, 0, 4) == 0);
        add_step(&b, p, 0, 0, 1, 0);
    }
    assert_near(pr_dlio_throughput(p, 0, 4), 1.0 / 9 * 4, 1e-9);
    bench_done(&b);
}

static void late_wakeups_do_not_make_dlios_utilisation_larger(void **state)
{
    struct bench b;
    struct pr_emulate_phase *p;

    (void)state;
    bench_init(&b);
    p = add_phase(&b, 1, 4, 4);
    for (int i = 0; i < 4; i++)
        add_step(&b, p, 0, 0, 1, 0.5);
    assert_near(pr_dlio_au(p, 0), 100, 1e-9);
    assert_near(pr_emulate_phase_utilisation(p), 1.0 / 16, 1e-9);
    bench_done(&b);
}

static void figures_over_ranks_and_epochs(void **state)
{
    struct bench b;
    struct pr_emulate_phase *p;
    struct pr_dlio_measures f;

    (void)state;
    bench_init(&b);
    b.e.accelerators = 2;
    b.e.window.exclude_start_steps = 0;
    for (unsigned epoch = 1; epoch <= 2; epoch++) {
        p = add_phase(&b, epoch, 4, 8);
        for (int i = 0; i < 4; i++) {
            add_step(&b, p, 0, 0, epoch, 0); /* 50, 100 % */
            add_step(&b, p, 1, 1, 1, 0);     /* 50 % */
        }
        p = add_phase(&b, epoch, 1, 4);
        p->evaluation = true;
        add_step(&b, p, 0, 1, 3, 0);
        add_step(&b, p, 1, 3, 1, 0);
    }
    pr_dlio_compute_measures(&b.s, false, 4, &f);
    assert_int_equal(f.epochs, 2);
    assert_near(f.au, 62.5, 1e-9); /* epochs 50 and 75 */
    assert_near(f.au_stdev, 12.5, 1e-9);
    assert_near(f.throughput, 2 * 2.0 / 8 * 4, 1e-9);
    assert_true(f.throughput_stdev < 1e-9);
    /* Evaluation: mean and sum over ranks, not lists one after another. */
    pr_dlio_compute_measures(&b.s, true, 2, &f);
    assert_int_equal(f.epochs, 2);
    assert_near(f.au, 50, 1e-9);
    assert_near(f.throughput, 2 * 1.0 / 4 * 2, 1e-9);
    bench_done(&b);
}

static void totals_add_up(void **state)
{
    struct bench b;
    struct pr_emulate_phase *p, *q;
    struct pr_emulate_totals t;

    (void)state;
    bench_init(&b);
    p = even_phase(&b, 1, 4, 0.1, 0.1);
    q = even_phase(&b, 2, 4, 0.3, 0.1);
    even_phase(&b, 2, 4, 9, 9)->evaluation = true;
    p->feed = (struct pr_feed_stats){.samples = 100,
                                     .bytes = 7,
                                     .storage_bytes = 3000,
                                     .storage_share = 0.2};
    q->feed = (struct pr_feed_stats){.samples = 300,
                                     .bytes = 5,
                                     .storage_bytes = 1000,
                                     .failed = 2,
                                     .storage_share = 0.6};
    strcpy(q->feed.first_error.msg, "bad");
    p->feed.timed = 1;
    p->feed.timed_ns = 4000000;
    q->feed.timed = 1;
    q->feed.timed_ns = 8000000;
    p->cached = 0;
    q->cached = 1;
    p->accel[3].barrier_ns = second;
    q->device_bytes = 1;
    pr_emulate_stats_sum(&b.s, false, &t);
    assert_int_equal(t.phases, 2);
    assert_int_equal(t.accelerators, 16);
    assert_int_equal(t.steps, 2 * 4 * 16);
    assert_int_equal(t.samples, 2 * 4 * 16 * 4 - 2); /* skipped */
    assert_near(t.seconds, 0.8 + 1.6, 1e-9);
    assert_near(t.accelerator_s, 16 * 2.4, 1e-9);
    assert_near(t.compute_s, 16 * 0.8, 1e-9);
    assert_near(t.wait_s, 16 * 1.6, 1e-9);
    assert_near(t.barrier_s, 1, 1e-9);
    assert_near(pr_emulate_totals_utilisation(&t), 1.0 / 3, 1e-9);
    assert_int_equal(t.bytes, 12);
    assert_int_equal(t.storage_bytes, 4000);
    assert_int_equal(t.failed, 2);
    assert_string_equal(t.first_error->msg, "bad");
    assert_true(t.device_bytes == UINT64_MAX); /* of one it is not known */
    assert_near(t.cached, 0.25, 1e-9);
    assert_near(t.storage_share, 0.5, 1e-9);
    assert_near(t.sample_s, 0.007, 1e-9);
    assert_int_equal(t.wait.count, t.steps);
    p->device_bytes = 2;
    pr_emulate_stats_sum(&b.s, false, &t);
    assert_int_equal(t.device_bytes, 3);
    bench_done(&b);
}

static void nothing_adds_up_to_nothing(void **state)
{
    struct pr_emulate_stats s = {0};
    struct pr_dlio_measures f;
    struct pr_emulate_totals t;

    (void)state;
    pr_emulate_stats_sum(&s, false, &t);
    pr_dlio_compute_measures(&s, true, 4, &f);
    assert_int_equal(t.phases, 0);
    assert_true(t.device_bytes == UINT64_MAX);
    assert_true(t.cached == -1 && t.storage_share == -1);
    assert_true(pr_emulate_totals_utilisation(&t) == 0);
    assert_true(f.epochs == 0 && f.au == 0 && f.throughput_stdev == 0);
}

/* The lists that DLIO wrote give what it printed. Its own clock readings in
 * between are the difference: less than 0.2 %. */
static void formulas_give_what_the_real_dlio_printed(void **state)
{
    (void)state;
    for (int i = 0; i < REAL_RUNS; i++) {
        struct real x = real_runs[i];
        struct bench b;
        struct pr_dlio_measures f;
        const struct pr_value *au, *rate;
        uint32_t n = 0;

        real_bench(&b, &x);
        au = at(&x.summary, "metric.train_au_percentage");
        rate = at(&x.summary, "metric.train_throughput_samples_per_second");
        for (struct pr_emulate_phase *p = b.s.first; p; p = p->next, n++) {
            assert_near(pr_dlio_au(p, 0), pr_value_number(&au->items[n]),
                        0.002);
            assert_near(pr_dlio_throughput(p, 0, (uint64_t)x.batch),
                        pr_value_number(&rate->items[n]), 0.002);
        }
        assert_int_equal(n, au->len);
        pr_dlio_compute_measures(&b.s, false, (uint64_t)x.batch, &f);
        assert_near(f.au,
                    number_at(&x.summary, "metric.train_au_mean_percentage"),
                    0.002);
        assert_near(f.au_stdev,
                    number_at(&x.summary, "metric.train_au_stdev_percentage"),
                    0.01);
        assert_near(
            f.throughput_stdev,
            number_at(&x.summary,
                      "metric.train_throughput_stdev_samples_per_second"),
            0.01);
        bench_done(&b);
    }
}

/* The worked example, a checkpoint of 10 s, and four steps more. */
static void a_checkpoint_ends_a_block_and_takes_no_time(void **state)
{
    struct pr_emulate_block x = {0};
    struct pr_emulate_phase *p;
    struct bench b;

    (void)state;
    bench_init(&b);
    b.e.accelerators = 2;
    p = add_phase(&b, 1, 9, 41);
    for (uint64_t r = 0; r < 2; r++) {
        add_step(&b, p, r, 18.64, 1.36, 0);
        for (int i = 0; i < 4; i++)
            add_step(&b, p, r, 0.04, 1.36, 0);
    }
    assert_true(pr_emulate_stats_pause(p, b.a, p->start_ns + 26 * second));
    pr_emulate_stats_resume(p, p->start_ns + 36 * second);
    assert_int_equal(p->pause_ns, 10 * second);
    for (uint64_t r = 0; r < 2; r++)
        for (int i = 0; i < 4; i++) {
            struct pr_emulate_step step = {.accelerator = r,
                                           .step = 5u + (unsigned)i,
                                           .asked_ns =
                                               p->start_ns + 36 * second,
                                           .samples = 4};

            step.ready_ns = step.asked_ns + second / 10;
            step.end_ns = step.woke_ns = step.asked_ns + second;
            pr_emulate_stats_add_step(p, &step, i > 0);
        }
    assert_near(pr_emulate_phase_seconds(p), 31, 1e-9);
    assert_true(pr_emulate_phase_next_block(p, &x));
    assert_int_equal(x.number, 1);
    assert_int_equal(x.first, 0);
    assert_int_equal(x.steps, 5);
    assert_near(x.au, 100 * 5.44 / 6, 1e-9);
    assert_near(x.rate * 4, 2, 1e-9);
    assert_near(x.compute, 1.36, 1e-9);
    assert_near((double)x.rank_au[1], x.au, 1e-5);
    assert_int_equal(x.end_wall_ns - x.start_wall_ns, 26 * second);
    assert_true(pr_emulate_phase_next_block(p, &x));
    assert_int_equal(x.number, 2);
    assert_int_equal(x.first, 5);
    assert_int_equal(x.steps, 4);
    assert_near(x.au, 100 * 2.7 / 4, 1e-9);
    assert_near(x.rate * 4, 2, 1e-9);
    assert_int_equal(x.start_wall_ns - p->start_wall_ns, 36 * second);
    assert_null(x.rank_au);
    assert_false(pr_emulate_phase_next_block(p, &x));
    /* By steps: 5 of the first, 4 of the second. */
    assert_near(pr_dlio_au(p, 1), (5 * 100 * 5.44 / 6 + 4 * 67.5) / 9, 1e-9);
    assert_near(pr_dlio_throughput(p, 1, 4), 2, 1e-9);
    bench_done(&b);
}

static void without_a_checkpoint_there_is_one_block(void **state)
{
    struct pr_emulate_block x = {0};
    struct pr_emulate_phase *p;
    struct bench b;

    (void)state;
    bench_init(&b);
    p = add_phase(&b, 1, 0, 2);
    assert_true(
        pr_emulate_phase_next_block(p, &x)); /* also of an empty phase */
    assert_int_equal(x.number, 1);
    assert_int_equal(x.steps, 0);
    assert_int_equal(x.end_ns - x.start_ns, 2 * second);
    assert_false(pr_emulate_phase_next_block(p, &x));
    bench_done(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_is_split_into_wait_compute_and_lateness),
        cmocka_unit_test(histograms_cover_all_accelerators),
        cmocka_unit_test(earlier_phases_keep_sums),
        cmocka_unit_test(an_epoch_takes_little_memory),
        cmocka_unit_test(lists_hold_waits_and_computing),
        cmocka_unit_test(lists_have_a_limit),
        cmocka_unit_test(phases_come_in_order_and_know_nothing_yet),
        cmocka_unit_test(no_memory_is_no_phase),
        cmocka_unit_test(our_figures_count_every_step),
        cmocka_unit_test(worked_example_of_dlios_formulas),
        cmocka_unit_test(few_steps_give_no_negative_rate),
        cmocka_unit_test(late_wakeups_do_not_make_dlios_utilisation_larger),
        cmocka_unit_test(figures_over_ranks_and_epochs),
        cmocka_unit_test(totals_add_up),
        cmocka_unit_test(nothing_adds_up_to_nothing),
        cmocka_unit_test(a_checkpoint_ends_a_block_and_takes_no_time),
        cmocka_unit_test(without_a_checkpoint_there_is_one_block),
        cmocka_unit_test(formulas_give_what_the_real_dlio_printed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
