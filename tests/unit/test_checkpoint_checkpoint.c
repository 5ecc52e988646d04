/*
 * Checkpoints of all ranks: appear whole or not at all, replace older ones at
 * once, are read back as they were written, by the rank that should, and
 * counted.
 */
#include "base/json/json.h"
#include "checkpoint/checkpoint.h"
#include "scratch.h"

#include <sys/stat.h>

struct setup {
    struct pr_arena *arena;
    struct pr_checkpoint_shape shape;
    struct pr_storage_opts storage;
    struct pr_checkpoint_ops ops;
    struct pr_checkpoint *c;
    bool stop;
    struct pr_err err;
};

/* Two ranks, ZeRO 3: four files of some 100 kB. */
#define MODEL                                                                  \
    "\"model.type\": \"transformer\", \"model.num_layers\": 2, "               \
    "\"model.parallelism.zero_stage\": 3, \"model.transformer.hidden_size\": " \
    "64, \"model.transformer.vocab_size\": 500, "                              \
    "\"model.transformer.ffn_hidden_size\": 128, "                             \
    "\"model.transformer.num_attention_heads\": 4, "                           \
    "\"model.transformer.num_kv_heads\": 2, "                                  \
    "\"emulate.framework\": \"pytorch\", \"workflow.checkpoint\": true"

static void name_at(const void *ctx, uint64_t i, struct pr_checkpoint_at *ret)
{
    (void)ctx;
    *ret = (struct pr_checkpoint_at){.epoch = 1, .step = i + 1};
}

static int open_it(struct setup *s, const char *more, uint64_t ranks,
                   uint64_t writes)
{
    struct pr_checkpoint_open_opts opts = {.shape = &s->shape,
                                           .storage = &s->storage,
                                           .nodes = 1,
                                           .stop = &s->stop,
                                           .ops = &s->ops,
                                           .listed_ranks = 3};
    struct pr_checkpoint_names names = {.count = writes, .at = name_at};
    struct pr_json_in in;
    struct pr_value params;
    char text[2048];
    int rc;

    memset(s, 0, sizeof *s);
    s->arena = opts.arena = pr_arena_new(65536);
    assert_non_null(s->arena);
    snprintf(text, sizeof text, "{" MODEL "%s%s}", *more ? ", " : "", more);
    in = (struct pr_json_in){.text = text, .len = strlen(text), .name = "test"};
    assert_int_equal(pr_json_read(&in, s->arena, &params, NULL, &s->err),
                     PR_OK);
    assert_int_equal(
        pr_checkpoint_shape_init(&s->shape, &params, ranks, s->arena, &s->err),
        PR_OK);
    assert_int_equal(pr_opt_fill(&pr_storage_section, &params, s->arena,
                                 &s->storage, &s->err),
                     PR_OK);
    rc = pr_checkpoint_open(&opts, &names, &s->c, &s->err);
    return rc;
}

static void open_well(struct setup *s, const char *more, uint64_t ranks,
                      uint64_t writes)
{
    int rc = open_it(s, more, ranks, writes);

    if (rc)
        print_message("%s: %s\n", s->err.where, s->err.msg);
    assert_int_equal(rc, PR_OK);
}

static void close_it(struct setup *s)
{
    pr_checkpoint_close(s->c);
    pr_arena_free(s->arena);
}

static int save(struct setup *s, uint64_t step)
{
    struct pr_checkpoint_at at = {.epoch = 1, .step = step, .block = step};
    struct pr_checkpoint_op op;

    return pr_checkpoint_save(s->c, &at, &op, &s->err);
}

static int load(struct setup *s, uint64_t step)
{
    struct pr_checkpoint_at at = {.epoch = 1, .step = step, .block = step};
    struct pr_checkpoint_op op;

    return pr_checkpoint_load(s->c, &at, &op, &s->err);
}

/* By one thread, which takes the ranks in order: each has its own time, and the
 * last one that of the checkpoint. */
static void each_rank_has_its_own_time(void **state)
{
    struct pr_checkpoint_op *op;
    struct setup s;

    (void)state;
    open_well(&s, "\"checkpoint.writers\": 1", 3, 1);
    assert_int_equal(save(&s, 1), PR_OK);
    assert_int_equal(load(&s, 1), PR_OK);
    for (op = s.ops.first; op; op = op->next) {
        assert_true(op->rank_s[0] > 0);
        assert_true(op->rank_s[0] < op->rank_s[1]);
        assert_true(op->rank_s[1] < op->rank_s[2]);
        assert_float_equal(op->rank_s[2], op->slowest_s, 1e-6);
    }
    assert_float_equal(s.ops.total[0].slowest_s, s.ops.first->slowest_s, 1e-12);
    close_it(&s);

    open_well(&s, "\"checkpoint.writers\": 1, \"checkpoint.rank_sync\": true",
              3, 1);
    assert_int_equal(save(&s, 1), PR_OK);
    assert_float_equal(s.ops.first->rank_s[0], s.ops.first->slowest_s, 1e-6);
    close_it(&s);

    /* Without ZeRO the first rank writes all; nothing takes next to no time,
     * however long that one is at it. */
    open_well(&s,
              "\"checkpoint.writers\": 1, \"model.parallelism.zero_stage\": 0, "
              "\"storage.throttle\": 2000000",
              3, 1);
    assert_int_equal(save(&s, 1), PR_OK);
    assert_int_equal(s.ops.first->writers, 1);
    assert_float_equal(s.ops.first->rank_s[0], s.ops.first->slowest_s, 1e-6);
    assert_true(s.ops.first->rank_s[1] < s.ops.first->rank_s[0] / 2);
    assert_true(s.ops.first->rank_s[2] < s.ops.first->rank_s[0] / 2);
    close_it(&s);
}

static bool is_there(const char *path)
{
    return access(path, F_OK) == 0;
}

static void flip(const char *path, long at)
{
    FILE *f = fopen(path, "r+");
    int byte;

    assert_non_null(f);
    assert_int_equal(fseek(f, at, SEEK_SET), 0);
    byte = fgetc(f);
    assert_true(byte >= 0);
    assert_int_equal(fseek(f, at, SEEK_SET), 0);
    assert_int_equal(fputc(byte ^ 1, f), byte ^ 1);
    assert_int_equal(fclose(f), 0);
}

#define NAME(step) "checkpoints/global_epoch1_step" #step
#define FIRST(step) NAME(step) "/zero_pp_rank_0_mp_rank_0_optim_states.pt"
#define SECOND(step) NAME(step) "/zero_pp_rank_1_mp_rank_0_optim_states.pt"

/* ---- tests */

static void what_is_written_is_read_back_as_it_was(void **state)
{
    static const char *const more[] = {
        "",
        "\"checkpoint.layout\": \"torch\"",
        "\"checkpoint.engine\": \"direct\"",
        "\"checkpoint.engine\": \"io_uring\"",
        "\"checkpoint.engine\": \"memory\"",
        "\"checkpoint.fsync\": true, \"checkpoint.writers\": 1",
        "\"checkpoint.randomize_tensor\": false",
        "\"checkpoint.block_size\": 4096",
    };
    char text[256];
    struct setup s;

    (void)state;
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        snprintf(text, sizeof text, "\"checkpoint.verify\": true%s%s",
                 *more[i] ? ", " : "", more[i]);
        open_well(&s, text, 2, 2);
        assert_int_equal(save(&s, 1), PR_OK);
        assert_int_equal(save(&s, 2), PR_OK);
        assert_int_equal(load(&s, 1), PR_OK);
        assert_int_equal(load(&s, 2), PR_OK);
        assert_int_equal(s.ops.total[0].count, 2);
        assert_int_equal(s.ops.total[1].count, 2);
        assert_true(s.ops.total[0].slowest_s >= s.ops.total[0].mean_s);
        close_it(&s);
    }
    assert_int_equal(files_in("checkpoints"), 2);
    assert_int_equal(files_in(NAME(1)), 4);
}

static void a_byte_that_changed_is_found(void **state)
{
    struct setup s;
    struct stat sb;

    (void)state;
    open_well(&s, "\"checkpoint.verify\": true", 2, 1);
    assert_int_equal(save(&s, 1), PR_OK);
    assert_int_equal(stat(SECOND(1), &sb), 0);
    flip(SECOND(1), sb.st_size - 1);
    assert_int_equal(load(&s, 1), PR_E_FORMAT);
    assert_non_null(strstr(s.err.where, "zero_pp_rank_1_mp_rank_0_optim"));
    flip(SECOND(1), sb.st_size - 1);
    assert_int_equal(load(&s, 1), PR_OK);
    assert_int_equal(truncate(FIRST(1), 5000), 0);
    assert_int_equal(load(&s, 1), PR_E_FORMAT);
    assert_int_equal(s.ops.total[1].count, 1); /* failures do not count */
    close_it(&s);
}

static void without_verifying_a_changed_byte_goes_unnoticed(void **state)
{
    struct setup s;

    (void)state;
    open_well(&s, "", 2, 1);
    assert_int_equal(save(&s, 1), PR_OK);
    flip(SECOND(1), 9000);
    assert_int_equal(load(&s, 1), PR_OK);
    assert_int_equal(unlink(SECOND(1)), 0);
    assert_int_equal(load(&s, 1), PR_E_IO);
    close_it(&s);
}

/* The shift is seen in who finds the bad file: with one thread ranks are done
 * in order, so that the error comes after the good rank was read. */
static void a_shifted_rank_reads_what_another_wrote(void **state)
{
    struct setup s;
    char *a, *b;

    (void)state;
    open_well(&s, "", 3, 1);
    assert_int_equal(save(&s, 1), PR_OK);
    close_it(&s);
    for (int shift = 0; shift < 2; shift++) {
        open_well(&s,
                  shift ? "\"checkpoint.recovery_rank_shift\": true, "
                          "\"checkpoint.rank_shift\": 2, "
                          "\"checkpoint.writers\": 1, "
                          "\"storage.trace\": \"shifted\""
                        : "\"checkpoint.writers\": 1, "
                          "\"storage.trace\": \"straight\"",
                  3, 0);
        assert_int_equal(load(&s, 1), PR_OK);
        close_it(&s);
    }
    a = slurp("straight", NULL);
    b = slurp("shifted", NULL);
    assert_true(strstr(a, "pp_rank_0_mp") < strstr(a, "pp_rank_1_mp"));
    assert_true(strstr(a, "pp_rank_1_mp") < strstr(a, "pp_rank_2_mp"));
    assert_true(strstr(b, "pp_rank_2_mp") < strstr(b, "pp_rank_0_mp"));
    assert_true(strstr(b, "pp_rank_0_mp") < strstr(b, "pp_rank_1_mp"));
    free(a);
    free(b);
}

static void an_error_leaves_nothing_and_the_old_one_whole(void **state)
{
    static const char *const faults[] = {
        "eio:write:1",  "eio:write:3",     "enospc:write:2", "eio:sync:2",
        "eio:commit:3", "enospc:commit:1", "eio:publish:1",
    };
    char text[200];
    struct setup s;

    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        open_well(&s, "\"checkpoint.seed\": 7", 2, 1);
        assert_int_equal(save(&s, 1), PR_OK);
        close_it(&s);
        snprintf(
            text, sizeof text,
            "\"checkpoint.fsync\": true, \"checkpoint.block_size\": 65536, "
            "\"storage.fault\": \"%s\"",
            faults[i]);
        open_well(&s, text, 2, 1);
        assert_int_equal(save(&s, 1), PR_E_IO);
        assert_int_equal(save(&s, 1), PR_OK); /* and then it works */
        close_it(&s);
        open_well(&s, text, 2, 1);
        assert_int_equal(save(&s, 2), PR_E_IO);
        close_it(&s);
        assert_int_equal(files_in("checkpoints"), 1);
        assert_false(is_there(NAME(2)));
    }
    /* The one that the failed ones were to replace. */
    open_well(&s, "\"checkpoint.seed\": 7", 2, 1);
    assert_int_equal(save(&s, 1), PR_OK);
    close_it(&s);
    open_well(&s, "\"storage.fault\": \"eio:write:3\"", 2, 1);
    assert_int_equal(save(&s, 1), PR_E_IO);
    close_it(&s);
    open_well(&s, "\"checkpoint.seed\": 7, \"checkpoint.verify\": true", 2, 0);
    assert_int_equal(load(&s, 1), PR_OK);
    close_it(&s);
}

static void a_new_one_replaces_an_old_one_of_its_name(void **state)
{
    struct setup s;

    (void)state;
    open_well(&s, "\"checkpoint.seed\": 1", 3, 1);
    assert_int_equal(save(&s, 1), PR_OK);
    close_it(&s);
    assert_int_equal(files_in(NAME(1)), 6);
    open_well(&s, "\"checkpoint.seed\": 2, \"checkpoint.verify\": true", 2, 1);
    assert_int_equal(save(&s, 1), PR_OK);
    assert_int_equal(load(&s, 1), PR_OK);
    close_it(&s);
    assert_int_equal(files_in(NAME(1)), 4); /* nothing of the old one */
    assert_int_equal(files_in("checkpoints"), 1);
}

static void only_the_newest_are_kept(void **state)
{
    struct setup s;

    (void)state;
    open_well(&s, "\"checkpoint.keep\": 2", 2, 5);
    for (uint64_t step = 1; step <= 5; step++)
        assert_int_equal(save(&s, step), PR_OK);
    close_it(&s);
    assert_int_equal(files_in("checkpoints"), 2);
    assert_true(is_there(NAME(4)) && is_there(NAME(5)));
}

static void what_a_killed_run_left_is_taken_away(void **state)
{
    struct setup s;

    (void)state;
    assert_int_equal(mkdir("checkpoints", 0755), 0);
    assert_int_equal(mkdir("checkpoints/.part-global_epoch1_step1", 0755), 0);
    spit("checkpoints/.part-global_epoch1_step1/half", "x");
    /* Also what this run has no name for, but nothing of others. */
    assert_int_equal(mkdir("checkpoints/.part-global_epoch9_step9", 0755), 0);
    assert_int_equal(mkdir("checkpoints/.part-old-1-global_epoch1_step1", 0755),
                     0);
    assert_int_equal(mkdir("checkpoints/.part-old-0-global_epoch2_step2", 0755),
                     0);
    assert_int_equal(mkdir(NAME(1), 0755), 0);
    assert_int_equal(mkdir("checkpoints/.part-mine", 0755), 0);
    open_well(&s, "", 2, 1);
    /* The second of those put aside had lost its name. */
    assert_int_equal(files_in("checkpoints"), 3);
    assert_int_equal(rmdir("checkpoints/global_epoch2_step2"), 0);
    assert_int_equal(rmdir("checkpoints/.part-mine"), 0);
    assert_int_equal(save(&s, 1), PR_OK);
    close_it(&s);
    assert_int_equal(files_in("checkpoints"), 1);
    assert_int_equal(files_in(NAME(1)), 4);
}

static void reading_what_is_not_there_is_an_error(void **state)
{
    struct setup s;

    (void)state;
    open_well(&s, "", 2, 0);
    assert_int_equal(load(&s, 3), PR_E_IO);
    assert_non_null(strstr(s.err.msg, "global_epoch1_step3"));
    assert_true(*s.err.hint);
    close_it(&s);
    assert_false(is_there("checkpoints")); /* reading makes no folder */
}

static void being_stopped_leaves_nothing(void **state)
{
    struct setup s;

    (void)state;
    open_well(&s, "\"storage.throttle\": 1000", 2, 1);
    s.stop = true;
    assert_int_equal(save(&s, 1), PR_E_INTR);
    close_it(&s);
    assert_int_equal(files_in("checkpoints"), 0);
}

static void too_little_room_is_found_beforehand(void **state)
{
    struct setup s;

    (void)state;
    assert_int_equal(open_it(&s,
                             "\"model.transformer.hidden_size\": 1000000, "
                             "\"model.num_layers\": 200",
                             2, 1000),
                     PR_E_IO);
    assert_non_null(strstr(s.err.msg, "free"));
    assert_true(*s.err.hint);
    pr_arena_free(s.arena);
    assert_false(is_there("checkpoints"));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, enter, leave)
    static const struct CMUnitTest tests[] = {
        TEST(what_is_written_is_read_back_as_it_was),
        TEST(each_rank_has_its_own_time),
        TEST(a_byte_that_changed_is_found),
        TEST(without_verifying_a_changed_byte_goes_unnoticed),
        TEST(a_shifted_rank_reads_what_another_wrote),
        TEST(an_error_leaves_nothing_and_the_old_one_whole),
        TEST(a_new_one_replaces_an_old_one_of_its_name),
        TEST(only_the_newest_are_kept),
        TEST(what_a_killed_run_left_is_taken_away),
        TEST(reading_what_is_not_there_is_an_error),
        TEST(being_stopped_leaves_nothing),
        TEST(too_little_room_is_found_beforehand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
