/* Definitions of models: counts, tensors, JSON, options. */
#include "test_nn_model.h"
#include "skip.h"

#include <glob.h>

/* ---- by hand */

static const char small[] = "model: small\n"
                            "input: [1, 8, 8]\n"
                            "classes: 3\n"
                            "layers:\n"
                            "  - {conv: 4, kernel: 3, pad: 1}\n"
                            "  - batch_norm\n"
                            "  - relu\n"
                            "  - {max_pool: 2}\n"
                            "  - {conv: 8, kernel: 3, stride: 2, pad: 1, "
                            "groups: 2, bias: false}\n"
                            "  - global_pool\n"
                            "  - {linear: $classes, name: head}\n";

static void counts_are_those_of_paper_and_pencil(void **state)
{
    static const struct {
        uint64_t params, flops;
    } want[] = {
        {0, 0}, {0, 0},   {40, 4608},  /* 4 * 9 + 4; 2 * 36 * 64 */
        {8, 0},                        /* gamma and beta */
        {0, 0}, {0, 0},   {144, 1152}, /* 8 * 2 * 9; times 2 * 4 */
        {0, 0}, {27, 48},              /* 3 * 8 + 3; 2 * 24 */
    };
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_model *m = parse(a, small, NULL);

    (void)state;
    assert_int_equal(m->layer_count, 9);
    for (unsigned i = 0; i < 9; i++) {
        assert_int_equal(m->layers[i].params, want[i].params);
        assert_int_equal(m->layers[i].flops, want[i].flops);
    }
    assert_int_equal(m->params, 219);
    assert_int_equal(m->flops, 5808);
    assert_int_equal(m->output, 8);
    assert_string_equal(m->title, "small");
    assert_string_equal(m->item, "image");
    assert_string_equal(m->path, "test");
    assert_int_equal(m->layers[6].line, 9);
}

static void tensors_have_names_and_shapes(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_model *m = parse(a, small, NULL);
    struct pr_layer_tensor t[PR_LAYER_TENSORS];

    (void)state;
    assert_int_equal(pr_layer_tensors(m, &m->layers[0], t), 0);
    assert_int_equal(pr_layer_tensors(m, &m->layers[6], t), 1);
    assert_string_equal(t[0].suffix, "weight");
    assert_int_equal(t[0].dims, 4);
    assert_memory_equal(t[0].at, ((int64_t[]){8, 2, 3, 3}), 32);
    assert_int_equal(pr_layer_tensors(m, &m->layers[3], t), 4);
    assert_string_equal(t[3].suffix, "var");
    assert_true(t[0].is_learned && t[1].is_learned && !t[2].is_learned &&
                !t[3].is_learned);
    assert_int_equal(t[3].at[0], 4);
    m = parse_body(a, "layers:\n  - {batch_norm: , scale: false}\n"
                      "  - {linear: 3}\n");
    assert_int_equal(pr_layer_tensors(m, &m->layers[2], t), 3);
    assert_string_equal(t[0].suffix, "bias");
    assert_int_equal(m->layers[2].params, 1);
    assert_int_equal(pr_layer_tensors(m, &m->layers[3], t), 2);
    assert_int_equal(t[0].dims, 2);
    assert_memory_equal(t[0].at, ((int64_t[]){3, 64}), 16);
    assert_string_equal(t[1].suffix, "bias");
}

/* What the tensors of a layer hold is what it counts as learned. */
static void tensors_and_counts_agree(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_model *m = parse(a, small, NULL);

    (void)state;
    for (unsigned i = 0; i < m->layer_count; i++) {
        struct pr_layer_tensor t[PR_LAYER_TENSORS];
        unsigned n = pr_layer_tensors(m, &m->layers[i], t);
        uint64_t learned = 0;

        for (unsigned k = 0; k < n; k++) {
            uint64_t elements = 1;

            for (unsigned d = 0; d < t[k].dims; d++)
                elements *= (uint64_t)t[k].at[d];
            learned += t[k].is_learned ? elements : 0;
        }
        assert_int_equal(learned, m->layers[i].params);
    }
}

static void json_is_complete(void **state)
{
    static const char text[] =
        "model: tiny\ntitle: Tiny\nsays: Of nobody.\nitem: thing\n"
        "input: [2, 4, 4]\nclasses: 2\n"
        "reference: {params: 18, flops: 32, source: here}\n"
        "optimizer: {name: adam, learning_rate: 0.01, beta2: 0.99}\n"
        "layers:\n"
        "  - {average_pool: [2, 1], stride: 1, pad: [1, 0, 0, 0]}\n"
        "  - {lrn: 3}\n"
        "  - {dropout: 0.5}\n"
        "  - {scale: 2}\n"
        "  - add: [[relu], []]\n"
        "  - {max_pool: 2}\n"
        "  - {batch_norm: , scale: false}\n"
        "  - {linear: 2, bias: false}\n";
    static const char want[] =
        "{\"schema\": \"prony.model/2\", \"name\": \"tiny\", \"title\": "
        "\"Tiny\", \"item\": \"thing\", \"says\": \"Of nobody.\", \"given\": "
        "{}, \"input\": [2, 4, 4], \"classes\": 2, \"output\": \"linear1\", "
        "\"data\": \"\", \"items\": 1, \"turns\": 1, \"optimizer\": "
        "{\"name\": \"adam\", \"learning_rate\": 0.01, \"momentum\": 0.0, "
        "\"weight_decay\": 0.0, \"beta1\": 0.9, \"beta2\": 0.99, \"epsilon\": "
        "1e-08, \"clip\": 0.0}, \"params\": 18, \"flops\": 32, \"reference\": "
        "{\"params\": "
        "18, \"flops\": 32.0, \"source\": \"here\"}, \"inputs\": [{\"name\": "
        "\"input\", \"shape\": [2, 4, 4], \"ids\": 0}, {\"name\": \"labels\", "
        "\"shape\": [1], \"ids\": 2}], \"losses\": [{\"name\": \"loss1\", "
        "\"kind\": \"cross_entropy\", \"of\": [\"linear1\"], \"target\": "
        "[\"labels\"], \"weights\": null, \"lengths\": null, \"reduce\": "
        "\"mean\", \"factor\": 1.0, \"smoothing\": 0.0, \"beta\": 1.0, "
        "\"ignore\": null, \"turn\": 0}], \"layers\": ["
        "{\"name\": \"input\", \"op\": \"input\", \"inputs\": [], \"shape\": "
        "[2, 4, 4], \"params\": 0, \"flops\": 0}, "
        "{\"name\": \"labels\", \"op\": \"input\", \"inputs\": [], "
        "\"shape\": [1], \"params\": 0, \"flops\": 0, \"ids\": 2}, "
        "{\"name\": \"average_pool1\", \"op\": \"average_pool\", \"inputs\": "
        "[\"input\"], \"shape\": [2, 4, 4], \"params\": 0, \"flops\": 0, "
        "\"kernel\": [2, 1], \"stride\": [1, 1], \"dilation\": [1, 1], "
        "\"pad\": [1, 0, 0, 0], \"count_pad\": true}, "
        "{\"name\": \"lrn1\", \"op\": \"lrn\", \"inputs\": "
        "[\"average_pool1\"], \"shape\": [2, 4, 4], \"params\": 0, \"flops\": "
        "0, \"size\": 3, \"alpha\": 0.0001, \"beta\": 0.75, \"k\": 1.0}, "
        "{\"name\": \"dropout1\", \"op\": \"dropout\", \"inputs\": "
        "[\"lrn1\"], \"shape\": [2, 4, 4], \"params\": 0, \"flops\": 0, "
        "\"rate\": 0.5}, "
        "{\"name\": \"scale1\", \"op\": \"scale\", \"inputs\": "
        "[\"dropout1\"], \"shape\": [2, 4, 4], \"params\": 0, \"flops\": 0, "
        "\"factor\": 2.0}, "
        "{\"name\": \"relu1\", \"op\": \"relu\", \"inputs\": [\"scale1\"], "
        "\"shape\": [2, 4, 4], \"params\": 0, \"flops\": 0}, "
        "{\"name\": \"add1\", \"op\": \"add\", \"inputs\": [\"relu1\", "
        "\"scale1\"], \"shape\": [2, 4, 4], \"params\": 0, \"flops\": 0}, "
        "{\"name\": \"max_pool1\", \"op\": \"max_pool\", \"inputs\": "
        "[\"add1\"], \"shape\": [2, 2, 2], \"params\": 0, \"flops\": 0, "
        "\"kernel\": [2, 2], \"stride\": [2, 2], \"dilation\": [1, 1], "
        "\"pad\": [0, 0, 0, 0]}, "
        "{\"name\": \"batch_norm1\", \"op\": \"batch_norm\", \"inputs\": "
        "[\"max_pool1\"], \"shape\": [2, 2, 2], \"params\": 2, \"flops\": 0, "
        "\"epsilon\": 1e-05, \"momentum\": 0.1, \"scale\": false}, "
        "{\"name\": \"linear1\", \"op\": \"linear\", \"inputs\": "
        "[\"batch_norm1\"], \"shape\": [2], \"params\": 16, \"flops\": 32, "
        "\"out\": 2, \"bias\": false}]}";
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 16);
    struct pr_json_writer jb;

    (void)state;
    pr_json_writer_init(&jb, &out, 0);
    pr_model_write_json(parse(a, text, NULL), &jb);
    assert_true(pr_buf_ok(&out));
    assert_string_equal(out.data, want);
}

/* ---- options of the model, optimisers, files */

static void opts_change_input_and_classes(void **state)
{
    static const char with_reference[] =
        "model: m\ninput: [1, 8, 8]\nclasses: 3\n"
        "reference: {params: 195, flops: 384, source: x}\n"
        "layers: [{linear: $classes}]\n";
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_model *m =
        parse(a, with_reference, "{\"input\": [2, 4, 5], \"classes\": 7}");

    (void)state;
    assert_int_equal(m->layers[2].shape.at[0], 7);
    assert_int_equal(m->params, 7 * 40 + 7);
    assert_int_equal(m->classes, 7);
    assert_int_equal(m->reference_params, 195);
    m = parse(a, with_reference, "{}");
    assert_int_equal(m->params, 195);
    m = parse(a, with_reference, "{\"classes\": 3}");
    assert_int_equal(m->params, 195);
}

static void optimisers_have_defaults(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_model *m = parse_body(a, "layers: [{linear: 3}]\n");

    (void)state;
    assert_int_equal(m->optimizer.kind, PR_SGD);
    assert_true(m->optimizer.momentum == 0.9);
    m = parse_body(a, "optimizer: {name: adam}\nlayers: [{linear: 3}]\n");
    assert_int_equal(m->optimizer.kind, PR_ADAM);
    assert_true(m->optimizer.learning_rate == 1e-3);
    assert_true(m->optimizer.beta2 == 0.999);
    m = parse_body(a, "optimizer: {name: sgd, learning_rate: 0.5, momentum: 0, "
                      "weight_decay: 1e-4}\nlayers: [{linear: 3}]\n");
    assert_true(m->optimizer.learning_rate == 0.5);
    assert_true(m->optimizer.momentum == 0 &&
                m->optimizer.weight_decay == 1e-4);
}

/* Every definition there is can be read, counts what was published (else it
 * could not), and shrinks. */
static void bundled_models_are_right(void **state)
{
    glob_t found;

    (void)state;
    if (glob("models/*.yaml", 0, NULL, &found))
        skip_because("no models/ here; run it in the project's folder");
    for (size_t i = 0; i < found.gl_pathc; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1 << 16);
        struct pr_model_variant tiny = {.tiny = true};
        struct pr_model *m = NULL, *small_one = NULL;
        struct pr_err err = {0};

        if (pr_model_load(found.gl_pathv[i], NULL, a, &m, &err))
            fail_msg("%s: %s", err.where, err.msg);
        assert_true(*m->says && m->flops > 0);
        if (pr_model_load(found.gl_pathv[i], &tiny, a, &small_one, &err))
            fail_msg("%s: %s", err.where, err.msg);
        assert_true(small_one->flops < m->flops);
        assert_int_equal(small_one->input_count, m->input_count);
        assert_int_equal(small_one->loss_count, m->loss_count);
    }
    globfree(&found);
}

static int attempt(void)
{
    static const char text[] =
        HEAD "blocks:\n  b:\n    given: {k: [1, 2], n: null}\n    layers:\n"
             "      - concat: [[{conv: 2 * $n, kernel: $k, pad: [0, $n, 0, "
             "0]}], []]\n"
             "layers:\n  - {b: , n: 1, repeat: 3, name: x}\n"
             "  - {add: [[relu], []], from: x}\n  - {linear: 3}\n";
    struct pr_arena *a = pr_arena_new(256);
    struct pr_model *m = NULL;
    int rc = a ? pr_model_parse(text, sizeof text - 1, "t", NULL, a, &m, NULL)
               : PR_E_NOMEM;

    pr_arena_free(a);
    return rc;
}

static void no_allocation_is_taken_for_granted(void **state)
{
    (void)state;
    torture(attempt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_those_of_paper_and_pencil),
        cmocka_unit_test(tensors_have_names_and_shapes),
        cmocka_unit_test(tensors_and_counts_agree),
        cmocka_unit_test(json_is_complete),
        cmocka_unit_test(opts_change_input_and_classes),
        cmocka_unit_test(optimisers_have_defaults),
        cmocka_unit_test(bundled_models_are_right),
        cmocka_unit_test(no_allocation_is_taken_for_granted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
