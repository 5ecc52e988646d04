/* The driver of emulated accelerators: times add up exactly, barriers hold,
 * and shares that are not even come to an end. */
#include "emulate/emulate_phase.h"
#include "feed_tool.h"

struct rig {
    struct kit kit;
    struct virtual_clock clock;
    struct pr_job job;
    struct pr_emulate e;
    struct pr_emulate_stats stats;
    struct pr_feed *feed;
    struct pr_order order;
    uint64_t save_every;
    uint64_t saved[16], saves; /* after which steps */
};

/* A set of 60 samples that nobody made; json adds to its parameters. */
static void rig_init(struct rig *r, const char *json)
{
    struct pr_err err = {0};
    char text[1024];

    memset(r, 0, sizeof *r);
    snprintf(text, sizeof text,
             "{'dataset.format': 'npy', 'dataset.num_files_train': 60,"
             "'dataset.num_files_eval': 12, 'dataset.record_length_bytes': 64,"
             "'storage.engine': 'null', 'reader.data_loader': 'pytorch',"
             "'exp.workload': 'emulate', %s}",
             json);
    kit_init(&r->kit, text);
    virtual_clock_init(&r->clock);
    r->kit.clock = &r->clock;
    kit_check(
        pr_job_init(&r->job, "id", ".", &r->kit.params, r->kit.arena, &err),
        &err);
    r->job.clock = &r->clock.clock;
    kit_check(pr_emulate_init(&r->e, &r->job, &err), &err);
    r->feed = kit_feed(&r->kit, r->e.accelerators, 0);
}

static void rig_done(struct rig *r)
{
    pr_feed_free(r->feed);
    kit_done(&r->kit);
}

/* A checkpoint that takes a while; every accelerator is where it should be. */
static int on_save(void *ctx, struct pr_emulate_phase *p, uint64_t step,
                   struct pr_err *err)
{
    struct rig *r = ctx;

    (void)err;
    for (uint64_t a = 0; a < p->accelerators; a++)
        assert_true(p->accel[a].steps <= step);
    assert_int_equal(p->accel[0].steps, step);
    assert_true(r->saves < 16);
    r->saved[r->saves++] = step;
    pr_sleep_until(&r->clock.clock, r->clock.now + 7000000, NULL);
    return PR_OK;
}

static struct pr_emulate_phase *rig_run(struct rig *r, bool evaluation)
{
    struct pr_order_opts opts;
    struct pr_err err = {0};
    struct pr_emulate_phase_opts d = {.e = &r->e,
                                      .feed = r->feed,
                                      .order = &r->order,
                                      .save_every = r->save_every,
                                      .save = on_save,
                                      .save_ctx = r};

    pr_emulate_fill_order_opts(&r->e, evaluation, 1, &opts);
    kit_check(pr_order_init(&r->order, &opts, &err), &err);
    d.phase = pr_emulate_stats_add_phase(&r->stats, r->kit.arena,
                                         r->e.accelerators, r->order.batches);
    assert_non_null(d.phase);
    d.phase->epoch = 1;
    d.phase->evaluation = evaluation;
    d.phase->steps_planned = r->order.batches;
    kit_check(pr_emulate_phase_run(&d, &err), &err);
    return d.phase;
}

/* From the start to the end, without a barrier to an accelerator's last step,
 * there is nothing but waiting, computing and the barrier. */
static void assert_adds_up(const struct pr_emulate_phase *p, bool barrier)
{
    for (uint64_t a = 0; a < p->accelerators; a++) {
        const struct pr_emulate_accelerator_stats *s = &p->accel[a];

        assert_int_equal((barrier ? p->end_ns : s->last_ns) - p->start_ns -
                             p->pause_ns,
                         s->wait_ns + s->compute_ns + s->barrier_ns);
    }
}

static void fixed_times_are_kept_exactly(void **state)
{
    struct pr_emulate_phase *p;
    struct rig r;

    (void)state;
    rig_init(&r, "'exp.accelerators': 3, 'reader.batch_size': 2,"
                 "'train.computation_time': 0.003");
    p = rig_run(&r, false);
    assert_int_equal(r.order.batches, 10);
    for (int a = 0; a < 3; a++) {
        assert_int_equal(p->accel[a].steps, 10);
        assert_int_equal(p->accel[a].samples, 20);
        assert_int_equal(p->accel[a].compute_ns, 30000000);
    }
    assert_adds_up(p, true);
    assert_float_equal(pr_emulate_phase_utilisation(p), 1, 0);
    assert_float_equal(pr_emulate_phase_seconds(p), 0.03, 0);
    assert_int_equal(p->feed.samples, 60);
    assert_int_equal(p->live->wait.count, 30);
    rig_done(&r);
}

/* One sample is read while another one is computed with, and takes longer by
 * what the storage does: two calls' latency, and 192 bytes. */
static void an_hour_of_training_takes_no_time(void **state)
{
    static const uint64_t minute = UINT64_C(60000000000);
    struct pr_emulate_phase *p;
    struct rig r;

    (void)state;
    rig_init(&r, "'exp.accelerators': 1, 'reader.batch_size': 1,"
                 "'storage.throttle': '1M', 'storage.latency': 0.5,"
                 "'reader.preprocess_time': 60, 'reader.read_threads': 1,"
                 "'train.computation_time': 60");
    p = rig_run(&r, false);
    assert_int_equal(p->accel[0].compute_ns, 60 * minute);
    assert_int_equal(p->end_ns - p->start_ns,
                     61 * minute + 60 * UINT64_C(1000192000));
    assert_int_equal(p->end_wall_ns - p->start_wall_ns,
                     p->end_ns - p->start_ns);
    assert_int_equal(p->stall_ns, 0);
    assert_adds_up(p, true);
    rig_done(&r);
}

/* 20 steps: checkpoints after 6, 12 and 18, with a barrier and without. */
static void all_wait_for_a_checkpoint(void **state)
{
    static const char *const barriers[] = {"true", "false"};

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct pr_emulate_block b = {0};
        struct pr_emulate_phase *p;
        char text[256];
        struct rig r;

        snprintf(text, sizeof text,
                 "'exp.accelerators': 3, 'reader.batch_size': 1,"
                 "'train.barrier': %s, 'train.computation_time': "
                 "{'type': 'uniform', 'min': 0.0005, 'max': 0.002}",
                 barriers[i]);
        rig_init(&r, text);
        r.save_every = 6;
        p = rig_run(&r, false);
        assert_int_equal(r.saves, 3);
        for (int k = 0; k < 3; k++)
            assert_int_equal(r.saved[k], 6 * (k + 1));
        assert_int_equal(p->pause_ns, 21000000);
        assert_adds_up(p, i == 0);
        for (int k = 0; k < 4; k++) {
            assert_true(pr_emulate_phase_next_block(p, &b));
            assert_int_equal(b.steps, k < 3 ? 6 : 2);
            assert_true(b.end_ns > b.start_ns && b.end_ns <= p->end_ns);
        }
        assert_false(pr_emulate_phase_next_block(p, &b));
        rig_done(&r);
    }
}

/* The last step's is the caller's; and one beyond the end never comes. */
static void a_checkpoint_at_the_end_is_left_to_the_caller(void **state)
{
    static const uint64_t every[] = {20, 21, 10};

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct rig r;

        rig_init(&r, "'exp.accelerators': 3, 'reader.batch_size': 1,"
                     "'train.computation_time': 0.0005");
        r.save_every = every[i];
        rig_run(&r, false);
        assert_int_equal(r.saves, i == 2);
        rig_done(&r);
    }
}

static void a_barrier_makes_all_as_slow_as_the_slowest(void **state)
{
    uint64_t end = 0;
    struct pr_emulate_phase *p;
    struct rig r;

    (void)state;
    rig_init(&r, "'exp.accelerators': 4, 'reader.batch_size': 3,"
                 "'train.computation_time':"
                 "{'type': 'uniform', 'min': 0.0005, 'max': 0.003}");
    p = rig_run(&r, false);
    assert_adds_up(p, true);
    for (int a = 0; a < 4; a++) {
        assert_true(p->accel[a].barrier_ns > 0);
        if (p->accel[a].last_ns > end)
            end = p->accel[a].last_ns;
    }
    assert_int_equal(end, p->end_ns);
    rig_done(&r);

    rig_init(&r, "'exp.accelerators': 4, 'reader.batch_size': 3,"
                 "'train.barrier': false, 'train.computation_time':"
                 "{'type': 'uniform', 'min': 0.0005, 'max': 0.003}");
    p = rig_run(&r, false);
    assert_adds_up(p, false);
    for (int a = 0; a < 4; a++)
        assert_int_equal(p->accel[a].barrier_ns, 0);
    rig_done(&r);
}

static void uneven_shares_come_to_an_end(void **state)
{
    static const int accelerators[] = {1, 7, 8, 59, 60};

    (void)state;
    for (size_t i = 0; i < sizeof accelerators / sizeof *accelerators; i++) {
        uint64_t samples = 0, steps = 0;
        struct pr_emulate_phase *p;
        struct rig r;
        char json[256];

        snprintf(json, sizeof json,
                 "'exp.accelerators': %d, 'reader.batch_size': 4,"
                 "'reader.drop_last': false, 'reader.sample_shuffle': 'seed',"
                 "'train.computation_time': 0.0002",
                 accelerators[i]);
        rig_init(&r, json);
        p = rig_run(&r, false);
        for (uint64_t a = 0; a < p->accelerators; a++) {
            samples += p->accel[a].samples;
            steps += p->accel[a].steps;
            assert_int_equal(p->accel[a].steps, pr_order_batches(&r.order, a));
        }
        assert_int_equal(samples, 60);
        assert_int_equal(p->live->step.count, steps);
        assert_adds_up(p, true);
        rig_done(&r);
    }
}

static void no_computing_is_all_waiting(void **state)
{
    struct pr_emulate_phase *p;
    struct rig r;

    (void)state;
    rig_init(&r, "'exp.accelerators': 2, 'reader.batch_size': 5,"
                 "'reader.read_threads': 0, 'storage.latency': 0.01");
    p = rig_run(&r, false);
    assert_adds_up(p, true);
    assert_int_equal(p->accel[0].compute_ns + p->accel[1].compute_ns, 0);
    assert_true(p->accel[0].wait_ns > 0);
    assert_int_equal(p->accel[0].wait_ns % 10000000, 0);
    assert_true(pr_emulate_phase_samples_per_s(p) > 0);
    assert_int_equal(p->accel[0].late_max_ns + p->accel[1].late_max_ns, 0);
    rig_done(&r);
}

static void evaluating_reads_the_held_out_files(void **state)
{
    struct pr_emulate_phase *p;
    struct rig r;

    (void)state;
    rig_init(&r, "'exp.accelerators': 2, 'reader.batch_size_eval': 3,"
                 "'workflow.evaluation': true, 'evaluation.eval_time': 0.001");
    p = rig_run(&r, true);
    assert_int_equal(p->feed.samples, 12);
    assert_int_equal(p->accel[0].steps, 2);
    assert_int_equal(p->accel[0].compute_ns, 2000000);
    assert_int_equal(p->accel[0].barrier_ns, 0);
    rig_done(&r);
}

static void stopping_is_an_interruption(void **state)
{
    struct pr_order_opts opts;
    struct pr_err err = {0};
    struct rig r;
    struct pr_emulate_phase_opts d = {.e = &r.e, .order = &r.order};

    (void)state;
    rig_init(&r, "'exp.accelerators': 2, 'train.computation_time': 100");
    __atomic_store_n(&r.kit.stop, true, __ATOMIC_RELAXED);
    d.feed = r.feed;
    pr_emulate_fill_order_opts(&r.e, false, 1, &opts);
    kit_check(pr_order_init(&r.order, &opts, &err), &err);
    d.phase =
        pr_emulate_stats_add_phase(&r.stats, r.kit.arena, 2, r.order.batches);
    d.phase->steps_planned = r.order.batches;
    assert_int_equal(pr_emulate_phase_run(&d, &err), PR_E_INTR);
    rig_done(&r);
}

/* ---- what follows from parameters */

static void evaluations_come_when_they_should(void **state)
{
    static const struct {
        int after, between;
        const char *epochs; /* x: evaluated */
    } rows[] = {
        {1, 1, "xxxxxx"},
        {1, 2, "x-x-x-"},
        {3, 2, "--x-x-"},
        {7, 1, "------"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rig r;
        char json[256];

        snprintf(json, sizeof json,
                 "'workflow.evaluation': true, 'evaluation.eval_after_epoch':"
                 "%d, 'evaluation.epochs_between_evals': %d",
                 rows[i].after, rows[i].between);
        rig_init(&r, json);
        for (unsigned e = 1; e <= 6; e++)
            assert_int_equal(pr_emulate_has_evaluation(&r.e, e),
                             rows[i].epochs[e - 1] == 'x');
        rig_done(&r);
    }
}

static void a_cap_is_of_the_epoch_or_of_the_run(void **state)
{
    struct rig r;

    (void)state;
    rig_init(&r, "'train.total_training_steps': 25");
    assert_int_equal(pr_emulate_count_steps(&r.e, 60, 0), 25);
    assert_int_equal(pr_emulate_count_steps(&r.e, 60, 25), 25);
    assert_int_equal(pr_emulate_count_steps(&r.e, 10, 0), 10);
    rig_done(&r);
    rig_init(&r, "'train.total_training_steps': 25,"
                 "'train.total_training_steps_of': 'run'");
    assert_int_equal(pr_emulate_count_steps(&r.e, 10, 0), 10);
    assert_int_equal(pr_emulate_count_steps(&r.e, 10, 20), 5);
    assert_int_equal(pr_emulate_count_steps(&r.e, 10, 25), 0);
    rig_done(&r);
}

static void all_epochs_are_counted_without_going_through_them(void **state)
{
    static const struct {
        const char *json;
        uint64_t steps, evals;
    } rows[] = {
        {"'train.epochs': 1000000000", 60000000000, 0},
        {"'train.epochs': 3, 'train.total_training_steps': 25", 75, 0},
        {"'train.epochs': 3, 'train.total_training_steps': 70,"
         "'train.total_training_steps_of': 'run'",
         70, 0},
        {"'train.epochs': 6, 'workflow.evaluation': true,"
         "'evaluation.eval_after_epoch': 2,"
         "'evaluation.epochs_between_evals': 2",
         360, 3},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rig r;

        rig_init(&r, rows[i].json);
        assert_int_equal(pr_emulate_count_all_steps(&r.e, 60), rows[i].steps);
        assert_int_equal(pr_emulate_count_evaluations(&r.e), rows[i].evals);
        rig_done(&r);
    }
}

static void the_shuffle_follows_the_loader(void **state)
{
    struct pr_order_opts o, other;
    struct rig r;

    (void)state;
    rig_init(&r, "'reader.sample_shuffle': 'seed'");
    pr_emulate_fill_order_opts(&r.e, false, 1, &o);
    pr_emulate_fill_order_opts(&r.e, false, 2, &other);
    assert_true(o.shuffle_samples && !o.shuffle_files && !o.window);
    assert_int_not_equal(o.seed, other.seed);
    pr_emulate_fill_order_opts(&r.e, true, 1, &o);
    assert_false(o.shuffle_samples);
    rig_done(&r);

    rig_init(&r, "'reader.data_loader': 'tensorflow',"
                 "'reader.sample_shuffle': 'random',"
                 "'dataset.num_samples_per_file': 100,"
                 "'train.seed_change_epoch': false");
    pr_emulate_fill_order_opts(&r.e, false, 1, &o);
    pr_emulate_fill_order_opts(&r.e, false, 2, &other);
    assert_int_equal(o.window, 1024);
    assert_int_equal(o.seed, other.seed);
    assert_int_not_equal(o.seed, 123);
    rig_done(&r);

    /* A window that holds everything is none. */
    rig_init(&r, "'reader.shuffle_size': 60, 'reader.sample_shuffle': 'on',"
                 "'reader.file_access': 'shared'");
    pr_emulate_fill_order_opts(&r.e, false, 1, &o);
    assert_int_equal(o.window, 0);
    assert_true(o.shared);
    rig_done(&r);
}

static void nonsense_is_refused(void **state)
{
    static const struct {
        const char *json, *where;
        int code;
    } rows[] = {
        {"{'reader.data_loader': 'custom'}", "reader.data_loader", PR_E_CONF},
        {"{'reader.reader_classname': 'a.b'}", "reader.reader_classname",
         PR_E_CONF},
        {"{'workflow.train': false}", "workflow", PR_E_CONF},
        {"{'workflow.train': false, 'workflow.checkpoint': true}", "checkpoint",
         PR_E_CONF},
        {"{'workflow.checkpoint': true, 'model.parallelism.tensor': 2,"
         "'exp.accelerators': 3}",
         "exp.accelerators", PR_E_CONF},
        {"{'storage.storage_type': 's3'}", "storage.storage_type",
         PR_E_UNAVAIL},
        {"{'dataset.num_files_train': 3, 'reader.batch_size': 4}", "dataset",
         PR_E_CONF},
        {"{'output.log_file': '../x.log'}", "output.log_file", PR_E_CONF},
        {"{'output.log_file': 'log.txt'}", "output.log_file", PR_E_CONF},
        {"{'train.computation_time': 'long'}", "train.computation_time",
         PR_E_CONF},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_arena *a = pr_arena_new(65536);
        struct pr_json_in in = {.name = "test"};
        struct pr_err err = {0};
        struct pr_value params;
        struct pr_emulate e;
        struct pr_job job;
        char *text = pr_arena_str(a, rows[i].json);
        int rc;

        for (char *c = text; *c; c++)
            if (*c == '\'')
                *c = '"';
        in.text = text;
        in.len = strlen(text);
        kit_check(pr_json_read(&in, a, &params, NULL, &err), &err);
        kit_check(pr_job_init(&job, "id", ".", &params, a, &err), &err);
        rc = pr_emulate_init(&e, &job, &err);
        if (!rc)
            rc = pr_emulate_check(&e, &err);
        assert_int_equal(rc, rows[i].code);
        if (!strstr(err.where, rows[i].where) &&
            !strstr(err.msg, rows[i].where))
            fail_msg("%s: %s: %s", rows[i].json, err.where, err.msg);
        assert_true(*err.hint);
        pr_arena_free(a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fixed_times_are_kept_exactly),
        cmocka_unit_test(an_hour_of_training_takes_no_time),
        cmocka_unit_test(all_wait_for_a_checkpoint),
        cmocka_unit_test(a_checkpoint_at_the_end_is_left_to_the_caller),
        cmocka_unit_test(a_barrier_makes_all_as_slow_as_the_slowest),
        cmocka_unit_test(uneven_shares_come_to_an_end),
        cmocka_unit_test(no_computing_is_all_waiting),
        cmocka_unit_test(evaluating_reads_the_held_out_files),
        cmocka_unit_test(stopping_is_an_interruption),
        cmocka_unit_test(evaluations_come_when_they_should),
        cmocka_unit_test(a_cap_is_of_the_epoch_or_of_the_run),
        cmocka_unit_test(all_epochs_are_counted_without_going_through_them),
        cmocka_unit_test(the_shuffle_follows_the_loader),
        cmocka_unit_test(nonsense_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
