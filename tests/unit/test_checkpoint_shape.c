/* Which rank writes which files of a checkpoint, and how large they are. Sizes
 * of the tables come from a program of their own that follows DLIO. */
#include "checkpoint/checkpoint_shape.h"

#include "base/names.h"
#include "values.h"

#include <time.h>

typedef unsigned long long ull;

#define PT "\"emulate.framework\": \"pytorch\", "
#define P "\"model.parallelism."
#define T "\"model.transformer."
#define SPREAD(tp, pp, zero) \
    P "tensor\": " #tp ", " P "pipeline\": " #pp ", " P "zero_stage\": " #zero
#define SIZES(vocab, hidden, ffn, heads, kv)                             \
    T "vocab_size\": " #vocab ", " T "hidden_size\": " #hidden ", " T    \
      "ffn_hidden_size\": " #ffn ", " T "num_attention_heads\": " #heads \
      ", " T "num_kv_heads\": " #kv
#define TRANSFORMER(layers)                    \
    "{" PT "\"model.type\": \"transformer\", " \
    "\"model.num_layers\": " #layers ", "

static const char *const llama_8b =
    TRANSFORMER(32) SPREAD(1, 1, 3) ", " SIZES(128256, 4096, 14336, 32, 8) "}";
static const char *const llama_70b_zero3 =
    TRANSFORMER(80) SPREAD(8, 1, 3) ", " SIZES(128256, 8192, 28672, 128, 8) "}";
static const char *const llama_70b =
    TRANSFORMER(80) SPREAD(8, 4, 1) ", " SIZES(128256, 8192, 28672, 128, 8) "}";
static const char *const llama_405b = TRANSFORMER(126)
    SPREAD(8, 32, 1) ", " SIZES(128256, 16384, 53248, 128, 8) "}";
static const char *const llama_1t = TRANSFORMER(128)
    SPREAD(8, 64, 1) ", " SIZES(128256, 25872, 98304, 192, 32) "}";
static const char *const llama_7b =
    TRANSFORMER(32) SPREAD(1, 1, 1) ", " SIZES(32000, 4096, 11008, 32, 32) "}";

static struct pr_checkpoint_shape shape_of(struct pr_arena *a, const char *text,
                                           uint64_t ranks)
{
    struct pr_value *params = pr_arena_alloc(a, sizeof *params);
    struct pr_checkpoint_shape s;
    struct pr_err err = {0};

    *params = json(a, text);
    if (pr_checkpoint_shape_init(&s, params, ranks, a, &err))
        fail_msg("%s: %s: %s", text, err.where, err.msg);
    return s;
}

static struct pr_checkpoint_file file_of(const struct pr_checkpoint_shape *s,
                                         uint64_t rank, uint64_t number)
{
    struct pr_checkpoint_file f;

    assert_true(number < pr_checkpoint_file_count(s, rank));
    pr_checkpoint_get_file(s, rank, number, &f);
    assert_int_equal(f.rank, rank);
    assert_int_equal(f.number, number);
    return f;
}

struct list_ctx {
    const struct pr_checkpoint_shape *s;
    const struct pr_checkpoint_file *f;
};

static void at(const void *ctx, uint64_t i, struct pr_tensor *ret)
{
    const struct list_ctx *c = ctx;

    pr_checkpoint_get_tensor(c->s, c->f, i, ret);
}

static void add_name(struct pr_arena *a, struct pr_keyset *names,
                     const char *name)
{
    uint32_t seen;

    name = pr_arena_str(a, name);
    if (pr_keyset_put(names, name, (uint32_t)strlen(name), 0, &seen))
        fail_msg("%s is written twice", name);
}

/* The same sum, file by file and tensor by tensor; names must differ. */
static struct pr_checkpoint_sum sum_slowly(const struct pr_checkpoint_shape *s,
                                           uint64_t first, uint64_t count)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1 << 16);
    struct pr_keyset names = {0};
    struct pr_checkpoint_sum sum = {0};

    for (uint64_t r = first; r < first + count; r++) {
        uint64_t files = pr_checkpoint_file_count(s, r);
        sum.writers += files > 0;
        for (uint64_t i = 0; i < files; i++) {
            struct pr_checkpoint_file f = file_of(s, r, i);
            struct list_ctx ctx = {s, &f};
            struct pr_tensor_list list = {f.tensors, at, &ctx};
            uint64_t bytes = 0;
            add_name(a, &names, f.name);
            for (uint64_t t = 0; t < f.tensors; t++) {
                struct pr_tensor tensor;
                pr_checkpoint_get_tensor(s, &f, t, &tensor);
                assert_true(tensor.elements > 0);
                bytes += tensor.elements * pr_tensor_type_bytes(tensor.type);
            }
            assert_int_equal(bytes, f.bytes);
            *(f.kind == PR_CHECKPOINT_OPTIMIZER ? &sum.optimizer_bytes
                                                : &sum.model_bytes) += bytes;
            sum.disk_bytes += pr_tensor_file_bytes(
                pr_tensor_layout_find(s->opts.layout), &list);
            sum.files++;
        }
    }
    pr_keyset_free(&names);
    return sum;
}

static void assert_sums_equal(const struct pr_checkpoint_shape *s,
                              uint64_t first, uint64_t count)
{
    struct pr_checkpoint_sum fast, slow = sum_slowly(s, first, count);

    pr_checkpoint_sum_ranks(s, first, count, &fast);
    assert_int_equal(fast.model_bytes, slow.model_bytes);
    assert_int_equal(fast.optimizer_bytes, slow.optimizer_bytes);
    assert_int_equal(fast.files, slow.files);
    assert_int_equal(fast.writers, slow.writers);
    assert_int_equal(fast.disk_bytes, slow.disk_bytes);
}

static void sizes_of_known_models(void **state)
{
    const struct {
        const char *text;
        uint64_t ranks, parameters, model, optimizer, files, model0, optimizer0;
    } rows[] = {
        {llama_8b, 8, 8030261248, 16060522496, 96365101056, 16, 2007565312,
         12045637632},
        {llama_70b_zero3, 64, 69882617856, 139783700480, 838622871552, 128,
         2184120320, 13103482368},
        {llama_70b, 64, 69882617856, 139783700480, 838622871552, 728,
         4499570688, 13103482368},
        {llama_405b, 512, 405853388800, 811764809728, 4870743982080, 1544,
         3713269760, 9513171840},
        {llama_1t, 1024, 1183035102480, 2366163292416, 14198010802176, 2072,
         5425047936, 13865244924},
        {llama_7b, 8, 6738415616, 13476831232, 80862953472, 9, 13476831232,
         10107869184},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
        struct pr_checkpoint_shape s = shape_of(a, rows[i].text, rows[i].ranks);
        struct pr_checkpoint_sum sum;
        pr_checkpoint_sum_ranks(&s, 0, s.all, &sum);
        assert_int_equal(s.parameters, rows[i].parameters);
        assert_int_equal(sum.model_bytes, rows[i].model);
        assert_int_equal(sum.optimizer_bytes, rows[i].optimizer);
        assert_int_equal(sum.files, rows[i].files);
        assert_int_equal(sum.writers, rows[i].ranks);
        assert_true(sum.disk_bytes >= rows[i].model + rows[i].optimizer);
        assert_true(sum.disk_bytes <= rows[i].model + rows[i].optimizer +
                                          rows[i].files * (64 << 10));
        pr_checkpoint_sum_ranks(&s, 0, 1, &sum);
        assert_int_equal(sum.model_bytes, rows[i].model0);
        assert_int_equal(sum.optimizer_bytes, rows[i].optimizer0);
        assert_sums_equal(&s, 0, s.all);
        assert_sums_equal(&s, s.all / 3, s.all / 2);
    }
}

#define SMALL(tp, pp, zero)                                                  \
    TRANSFORMER(7)                                                           \
    SPREAD(tp, pp, zero)                                                     \
    ", " SIZES(1000, 60, 250, 6, 2) ", \"model.model_datatype\": \"bf16\", " \
                                    "\"model.optimizer_datatype\": \"fp64\"}"

static void zero_stages_divide_as_they_should(void **state)
{
    const struct {
        const char *text;
        uint64_t ranks, model, optimizer, files, model0, optimizer0, writers;
    } rows[] = {
        {SMALL(1, 1, 0), 1, 1006200, 12081600, 2, 1006200, 12081600, 1},
        {SMALL(2, 1, 0), 6, 1008000, 12088800, 4, 504000, 6044400, 2},
        {SMALL(2, 3, 0), 12, 1008000, 12117600, 12, 224520, 2019600, 6},
        {SMALL(4, 5, 0), 20, 1011600, 12218400, 40, 85080, 610920, 20},
        {SMALL(1, 1, 1), 1, 1006200, 12081600, 2, 1006200, 12081600, 1},
        {SMALL(2, 1, 1), 6, 1008000, 12117600, 8, 504000, 2019600, 6},
        {SMALL(2, 3, 1), 12, 1008000, 12160800, 32, 224520, 1013400, 12},
        {SMALL(4, 5, 1), 20, 1011600, 12218400, 60, 85080, 610920, 20},
        {SMALL(2, 1, 2), 6, 1008000, 12117600, 8, 504000, 2019600, 6},
        {SMALL(2, 3, 2), 12, 1008000, 12160800, 32, 224520, 1013400, 12},
        {SMALL(1, 1, 3), 1, 1006200, 12081600, 2, 1006200, 12081600, 1},
        {SMALL(2, 1, 3), 6, 1008000, 12117600, 12, 168000, 2019600, 6},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
        struct pr_checkpoint_shape s = shape_of(a, rows[i].text, rows[i].ranks);
        struct pr_checkpoint_sum sum;
        pr_checkpoint_sum_ranks(&s, 0, s.all, &sum);
        assert_int_equal(sum.model_bytes, rows[i].model);
        assert_int_equal(sum.optimizer_bytes, rows[i].optimizer);
        assert_int_equal(sum.files, rows[i].files);
        assert_int_equal(sum.writers, rows[i].writers);
        pr_checkpoint_sum_ranks(&s, 0, 1, &sum);
        assert_int_equal(sum.model_bytes, rows[i].model0);
        assert_int_equal(sum.optimizer_bytes, rows[i].optimizer0);
        for (uint64_t first = 0; first < s.all; first++)
            for (uint64_t n = 0; first + n <= s.all; n++)
                assert_sums_equal(&s, first, n);
        pr_checkpoint_sum_ranks(&s, s.all, UINT64_MAX, &sum);
        assert_int_equal(sum.files, 0);
    }
}

static void stages_have_their_layers(void **state)
{
    const struct {
        const char *text;
        uint64_t ranks, rank, files, first, last;
        const char *name0, *optimizer;
    } rows[] = {
        {llama_405b, 512, 0, 6, 0, 4, "layer_0-model_0_model_states.pt",
         "zero_pp_rank_0_mp_rank_0_optim_states.pt"},
        {llama_405b, 512, 7, 6, 0, 4, "layer_0-model_7_model_states.pt",
         "zero_pp_rank_0_mp_rank_7_optim_states.pt"},
        {llama_405b, 512, 8, 5, 5, 8, "layer_5-model_8_model_states.pt",
         "zero_pp_rank_0_mp_rank_8_optim_states.pt"},
        {llama_405b, 512, 255, 6, 124, 128,
         "layer_124-model_255_model_states.pt",
         "zero_pp_rank_0_mp_rank_255_optim_states.pt"},
        {llama_405b, 512, 256, 1, 0, 0,
         "zero_pp_rank_1_mp_rank_0_optim_states.pt",
         "zero_pp_rank_1_mp_rank_0_optim_states.pt"},
        {llama_70b, 64, 0, 22, 0, 20, "layer_0-model_0_model_states.pt",
         "zero_pp_rank_0_mp_rank_0_optim_states.pt"},
        {llama_70b, 64, 15, 21, 21, 40, "layer_21-model_15_model_states.pt",
         "zero_pp_rank_0_mp_rank_15_optim_states.pt"},
        {llama_70b, 64, 24, 23, 61, 82, "layer_61-model_24_model_states.pt",
         "zero_pp_rank_0_mp_rank_24_optim_states.pt"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
        struct pr_checkpoint_shape s = shape_of(a, rows[i].text, rows[i].ranks);
        uint64_t n = rows[i].files;
        struct pr_checkpoint_file f;
        assert_int_equal(pr_checkpoint_file_count(&s, rows[i].rank), n);
        f = file_of(&s, rows[i].rank, 0);
        assert_string_equal(f.name, rows[i].name0);
        assert_int_equal(f.first_layer, rows[i].first);
        f = file_of(&s, rows[i].rank, n - 1);
        assert_int_equal(f.kind, PR_CHECKPOINT_OPTIMIZER);
        assert_string_equal(f.name, rows[i].optimizer);
        if (n == 1)
            continue;
        f = file_of(&s, rows[i].rank, n - 2);
        assert_int_equal(f.kind, PR_CHECKPOINT_LAYERS);
        assert_int_equal(f.last_layer, rows[i].last);
    }
}

static void assert_tensor(const struct pr_checkpoint_shape *s,
                          const struct pr_checkpoint_file *f, uint64_t i,
                          const char *name, enum pr_tensor_type type,
                          uint64_t elements)
{
    struct pr_tensor t;

    pr_checkpoint_get_tensor(s, f, i, &t);
    assert_string_equal(t.name, name);
    assert_int_equal(t.type, type);
    assert_int_equal(t.elements, elements);
}

static void tensors_of_a_transformer(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_checkpoint_shape s = shape_of(a, llama_8b, 8);
    struct pr_checkpoint_file f = file_of(&s, 3, 0);

    (void)state;
    assert_string_equal(f.name, "zero_pp_rank_3_mp_rank_0_model_states.pt");
    assert_int_equal(f.tensors, 1 + 6 * 32 + 2);
    assert_tensor(&s, &f, 0, "0.0", PR_TENSOR_FP16, 4096ULL * 128256 / 8);
    assert_tensor(&s, &f, 1, "1.0", PR_TENSOR_FP16, 512);
    assert_tensor(&s, &f, 2, "1.1", PR_TENSOR_FP16, 4096 * 6144 / 8);
    assert_tensor(&s, &f, 3, "1.2", PR_TENSOR_FP16, 4096 * 4096 / 8);
    assert_tensor(&s, &f, 4, "1.3", PR_TENSOR_FP16, 512);
    assert_tensor(&s, &f, 5, "1.4", PR_TENSOR_FP16, 4096 * 14336 / 4);
    assert_tensor(&s, &f, 6, "1.5", PR_TENSOR_FP16, 4096 * 14336 / 8);
    assert_tensor(&s, &f, 7, "2.0", PR_TENSOR_FP16, 512);
    assert_tensor(&s, &f, 192, "32.5", PR_TENSOR_FP16, 4096 * 14336 / 8);
    assert_tensor(&s, &f, 193, "33.0", PR_TENSOR_FP16, 4096ULL * 128256 / 8);
    assert_tensor(&s, &f, 194, "34.0", PR_TENSOR_FP16, 512);
    f = file_of(&s, 3, 1);
    assert_tensor(&s, &f, 0, "0", PR_TENSOR_FP32, 8030261248 / 8);
    assert_tensor(&s, &f, 5, "5", PR_TENSOR_FP32, 5 * 4096);
}

/* More copies than a norm has elements: some tensors are gone. */
static void tensors_with_nothing_in_them_are_left_out(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_checkpoint_shape s = shape_of(
        a, TRANSFORMER(2) SPREAD(1, 1, 3) ", " SIZES(50, 4, 16, 2, 1) "}", 8);
    struct pr_checkpoint_file f = file_of(&s, 0, 0);

    (void)state;
    assert_int_equal(f.tensors, 1 + 4 * 2 + 1);
    assert_tensor(&s, &f, 1, "1.1", PR_TENSOR_FP16, 4);
    assert_tensor(&s, &f, 4, "1.5", PR_TENSOR_FP16, 8);
    assert_tensor(&s, &f, 5, "2.1", PR_TENSOR_FP16, 4);
    assert_tensor(&s, &f, 9, "3.0", PR_TENSOR_FP16, 25);
    assert_sums_equal(&s, 0, 8);
}

/* DLIO's own test: three files for each rank, whatever the framework. */
static void layers_and_groups_of_given_sizes(void **state)
{
    static const struct {
        const char *zero, *framework, *name;
    } rows[] = {
        {"0", "pytorch", "zero_pp_rank_0_mp_rank_1_model_states.pt"},
        {"3", "pytorch", "zero_pp_rank_0_mp_rank_1_model_states.pt"},
        {"0", "tensorflow",
         "zero_pp_rank_0_mp_rank_1_model_states.pb-1.data-00000-of-00001"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
        const char *text = pr_arena_printf(
            a,
            "{\"model.num_layers\": 2, \"model.layer_parameters\": [0, 16, 1], "
            "\"model.optimization_groups\": [1024, 128], " P "tensor\": 2, " P
            "zero_stage\": %s, \"emulate.framework\": \"%s\"}",
            rows[i].zero, rows[i].framework);
        struct pr_checkpoint_shape s = shape_of(a, text, 2);
        struct pr_checkpoint_file f = file_of(&s, 1, 0);
        assert_int_equal(s.parameters, 0);
        assert_int_equal(pr_checkpoint_file_count(&s, 0), 3);
        assert_int_equal(strncmp(f.name, "model_states-1.p", 16), 0);
        assert_tensor(&s, &f, 0, "a", PR_TENSOR_INT8, 10240);
        f = file_of(&s, 1, 1);
        assert_string_equal(f.name, rows[i].name);
        assert_int_equal(f.tensors, 1); /* both layers are the same one */
        assert_tensor(&s, &f, 0, "1.1", PR_TENSOR_INT8, 8);
        f = file_of(&s, 1, 2);
        assert_int_equal(f.bytes, 3 * 1152);
        assert_tensor(&s, &f, 1, "0.b", PR_TENSOR_INT8, 1024);
        assert_tensor(&s, &f, 2, "1.a", PR_TENSOR_INT8, 128);
        assert_tensor(&s, &f, 4, "combined", PR_TENSOR_INT8, 1152);
        assert_sums_equal(&s, 0, 2);
    }
}

/* Of this process: others do not count. */
static uint64_t cpu_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Ranks that write alike are looked at once. */
static void a_thousand_ranks_are_summed_at_once(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_checkpoint_shape s = shape_of(a, llama_1t, 1024);
    uint64_t slow = cpu_ns(), fast;
    struct pr_checkpoint_sum sum;

    (void)state;
    sum_slowly(&s, 0, 1024);
    slow = cpu_ns() - slow;
    fast = cpu_ns();
    pr_checkpoint_sum_ranks(&s, 0, 1024, &sum);
    fast = cpu_ns() - fast;
    assert_true(fast < slow / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_of_known_models),
        cmocka_unit_test(zero_stages_divide_as_they_should),
        cmocka_unit_test(stages_have_their_layers),
        cmocka_unit_test(tensors_of_a_transformer),
        cmocka_unit_test(tensors_with_nothing_in_them_are_left_out),
        cmocka_unit_test(layers_and_groups_of_given_sizes),
        cmocka_unit_test(a_thousand_ranks_are_summed_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
