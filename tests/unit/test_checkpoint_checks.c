/* Parameters of a checkpoint that are refused, ranks of a part of a job, and
 * other kinds of models than transformers. */
#include "checkpoint/checkpoint_shape.h"

#include "values.h"

#define P "\"model.parallelism."
#define C "\"checkpoint."
#define SUBSET C "mode\": \"subset\""
#define LAYERS(n) "\"model.num_layers\": " #n

static void errors_name_the_key(void **state)
{
    static const struct {
        const char *params;
        uint64_t ranks;
        const char *where, *msg, *hint; /* parts of them */
    } rows[] = {
        {LAYERS(3) ", " P "pipeline\": 4", 4, "model.num_layers",
         "3 layers cannot be divided into 4 stages", "pipeline to 3 or less"},
        {LAYERS(8) ", " P "pipeline\": 2, " P "zero_stage\": 3", 2,
         "model.parallelism.zero_stage", "stage 3 does not go with a pipeline",
         "model.parallelism.pipeline=1"},
        {P "data\": 4, " P "tensor\": 2", 5, "exp.accelerators",
         "5 is not a multiple of 2", "exp.accelerators=6"},
        {SUBSET, 4, "model.parallelism.data", "the copies of the whole job",
         "divided by 1"},
        {SUBSET ", " P "data\": 4, " P "tensor\": 2", 9, "exp.accelerators",
         "ranks 0 to 8 are asked for, but the job has 8", "fewer"},
        {SUBSET ", " P "data\": 4, " C "first_rank\": 3", 2,
         "checkpoint.first_rank", "ranks 3 to 4", "fewer"},
        {C "first_rank\": 1", 2, "checkpoint.first_rank", "all are run",
         "checkpoint.mode=subset"},
        {P "pipeline\": 2, " P "tensor\": 3", 8, "exp.accelerators",
         "8 is not a multiple of 6", "exp.accelerators=12"},
        {C "num_checkpoints_write\": 2, " C "num_checkpoints_read\": 3", 1,
         "checkpoint.num_checkpoints_read", "3 cannot be read when only 2",
         "num_checkpoints_write=3"},
        {C "ksm\": {}", 1, "checkpoint.ksm", "contents are random",
         "randomize_tensor=false"},
        {C "ksm.await_time\": 100", 1, "checkpoint.ksm", "contents are random",
         "randomize_tensor=false"},
        {C "checkpoint_mechanism_classname\": \"my.Class\"", 1,
         "checkpoint.checkpoint_mechanism_classname",
         "Python classes cannot be used", "leave it out"},
        {"\"model.model_datatype\": \"fp8\"", 1, "",
         "'model.model_datatype' wants", ""},
        {"\"model.layer_parameters\": [16, -1]", 1, "model.layer_parameters",
         "whole numbers from 0 on", ""},
        {"\"model.optimization_groups\": [\"x\"]", 1,
         "model.optimization_groups", "whole numbers from 0 on", ""},
        {"\"model.optimization_groups\": [9000000000000000000]", 1,
         "model.optimization_groups", "larger than any storage", "digit"},
        {"\"model.model_size_bytes\": 9000000000000000000", 1,
         "model.model_size_bytes", "larger than any storage", "digit"},
        {"\"model.model_size_bytes\": 90000000000000000, " P "zero_stage\": 1",
         1000, "model.parallelism", "larger than any storage", "digit"},
        {LAYERS(100000) ", \"model.transformer.hidden_size\": 10000000", 1,
         "model.transformer", "larger than any storage", "digit"},
        {LAYERS(1) ", \"model.transformer.hidden_size\": 10000000, "
                   "\"model.transformer.num_attention_heads\": 1, "
                   "\"model.transformer.num_kv_heads\": 1000000",
         1, "model.transformer", "larger than any storage", "digit"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
        struct pr_value v = json(a, pr_arena_printf(a, "{%s}", rows[i].params));
        struct pr_checkpoint_shape s = {.all = 77};
        struct pr_err err = {0};
        if (pr_checkpoint_shape_init(&s, &v, rows[i].ranks, a, &err) !=
            PR_E_CONF)
            fail_msg("%s is accepted", rows[i].params);
        if (strcmp(err.where, rows[i].where) != 0 ||
            !strstr(err.msg, rows[i].msg) || !strstr(err.hint, rows[i].hint))
            fail_msg("%s: %s: %s (%s)", rows[i].params, err.where, err.msg,
                     err.hint);
        assert_int_equal(s.all, 77);
    }
}

static void ranks_are_spread(void **state)
{
    static const struct {
        const char *params;
        uint64_t ranks, dp, first, all;
    } rows[] = {
        {"", 4, 4, 0, 4},
        {P "data\": 0", 4, 4, 0, 4},
        {P "data\": 2, " P "tensor\": 2", 4, 2, 0, 4},
        {P "tensor\": 2, " P "pipeline\": 3", 12, 2, 0, 12},
        /* Ranks that are run decide, as in DLIO. */
        {P "data\": 4, " P "tensor\": 2", 4, 2, 0, 4},
        {P "data\": 2", 16, 16, 0, 16},
        {SUBSET ", " P "data\": 1024", 2, 1024, 0, 1024},
        {SUBSET ", " P "data\": 64, " P "tensor\": 8, " C "first_rank\": 510",
         2, 64, 510, 512},
        {C "num_checkpoints_write\": 0, " C "num_checkpoints_read\": 3", 1, 1,
         0, 1},
        {C "num_checkpoints_write\": 3, " C "num_checkpoints_read\": 3", 1, 1,
         0, 1},
        {C "ksm\": {}, " C "randomize_tensor\": false", 1, 1, 0, 1},
        {C "ksm\": \"None\", " C "checkpoint_mechanism_classname\": \"None\"",
         1, 1, 0, 1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
        struct pr_value v = json(a, pr_arena_printf(a, "{%s}", rows[i].params));
        struct pr_checkpoint_shape s;
        struct pr_err err = {0};
        if (pr_checkpoint_shape_init(&s, &v, rows[i].ranks, a, &err))
            fail_msg("%s: %s", rows[i].params, err.msg);
        assert_int_equal(s.dp, rows[i].dp);
        assert_int_equal(s.first, rows[i].first);
        assert_int_equal(s.ranks, rows[i].ranks);
        assert_int_equal(s.all, rows[i].all);
    }
}

/* Sizes are shares of the whole job, and so are the numbers in names. */
static void a_part_of_a_job_writes_what_it_would_write_there(void **state)
{
    static const char params[] =
        "{" SUBSET ", " P "data\": 4, " P "tensor\": 2, " P "zero_stage\": 3, "
        "\"emulate.framework\": \"pytorch\", " C
        "first_rank\": 5, " LAYERS(1) "}";
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_value v = json(a, params);
    struct pr_checkpoint_shape s;
    struct pr_checkpoint_file f;

    (void)state;
    assert_int_equal(pr_checkpoint_shape_init(&s, &v, 2, a, NULL), PR_OK);
    assert_int_equal(s.parameters, 2 * 32000LL * 2048 + 2048 + 2 * 2048 +
                                       2048 * (2048 + 1024) + 2048 * 2048 +
                                       3 * 2048 * 8192);
    pr_checkpoint_get_file(&s, 5, 0, &f);
    assert_string_equal(f.name, "model_states-5.pt");
    pr_checkpoint_get_file(&s, 5, 1, &f);
    assert_string_equal(f.name, "zero_pp_rank_2_mp_rank_1_model_states.pt");
    pr_checkpoint_get_file(&s, 6, 2, &f);
    assert_string_equal(f.name, "zero_pp_rank_3_mp_rank_0_optim_states.pt");
    assert_int_equal(f.bytes, 4 * 3 * (s.parameters / 8 + 5 * 2048));
}

static void other_models_have_a_state(void **state)
{
    static const struct {
        const char *params;
        uint64_t ranks, files, writers, model, optimizer;
    } rows[] = {
        {"", 4, 1, 1, 10240, 0},
        {P "zero_stage\": 1", 4, 4, 4, 4 * 10240, 0},
        {P "tensor\": 2", 4, 2, 2, 2 * 10240, 0},
        {"\"model.model_size_bytes\": 0", 4, 0, 0, 0, 0},
        {"\"model.type\": \"transformer\"", 4, 0, 0, 0, 0},
        {"\"model.optimization_groups\": [100, 0, 7]", 1, 2, 1, 10240, 321},
        {"\"model.optimization_groups\": [0]", 1, 1, 1, 10240, 0},
        /* The layers of the first copy, and nothing else. */
        {"\"model.type\": \"transformer\", \"model.layer_parameters\": [10], "
         "\"model.optimization_groups\": [0], " P "zero_stage\": 2, " P
         "pipeline\": 2, " LAYERS(3),
         4, 3, 2, 30, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
        struct pr_value v = json(a, pr_arena_printf(a, "{%s}", rows[i].params));
        struct pr_checkpoint_shape s;
        struct pr_checkpoint_sum sum;
        assert_int_equal(
            pr_checkpoint_shape_init(&s, &v, rows[i].ranks, a, NULL), PR_OK);
        pr_checkpoint_sum_ranks(&s, 0, s.all, &sum);
        assert_int_equal(sum.files, rows[i].files);
        assert_int_equal(sum.writers, rows[i].writers);
        assert_int_equal(sum.model_bytes, rows[i].model);
        assert_int_equal(sum.optimizer_bytes, rows[i].optimizer);
    }
}

static void folders_are_named_as_dlio_names_them(void **state)
{
    char out[64];

    (void)state;
    assert_string_equal(pr_checkpoint_folder_name(out, 2, 25),
                        "global_epoch2_step25");
    assert_string_equal(
        pr_checkpoint_folder_name(out, UINT64_MAX, UINT64_MAX),
        "global_epoch18446744073709551615_step18446744073709551615");
}

static int init_once(void)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(64);
    struct pr_value members = {.kind = PR_MAP};
    struct pr_checkpoint_shape s;
    struct pr_err err;

    if (!a)
        return PR_E_NOMEM;
    return pr_checkpoint_shape_init(&s, &members, 1, a, &err);
}

static void memory_may_run_out(void **state)
{
    (void)state;
    torture(init_once);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_name_the_key),
        cmocka_unit_test(ranks_are_spread),
        cmocka_unit_test(a_part_of_a_job_writes_what_it_would_write_there),
        cmocka_unit_test(other_models_have_a_state),
        cmocka_unit_test(folders_are_named_as_dlio_names_them),
        cmocka_unit_test(memory_may_run_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
