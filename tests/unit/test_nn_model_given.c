/* Definitions of models: their parameters, the small size, and what
 * exp.model_opts changes. */
#include "test_nn_model_bad.h"

/* ---- sizes */

static const char sized[] =
    "model: m\n"
    "given: {width: 8, twice: 2 * $width, deep: 2, rate: 0.5, how: same}\n"
    "tiny: {width: 3, classes: 2, input: [1, 4, 4], deep: $width - 2}\n"
    "input: [1, 8, 8]\nclasses: 5\n"
    "reference: {params: 8693, source: x}\n"
    "blocks:\n"
    "  b:\n"
    "    given: {width: $twice}\n"
    "    layers: [{conv: $width, kernel: 3, pad: $how}]\n"
    "layers:\n"
    "  - {conv: $width, kernel: 3, pad: $how}\n"
    "  - {b: , repeat: $deep}\n"
    "  - {dropout: $rate}\n"
    "  - {linear: $classes, name: head}\n";

static struct pr_model *sized_as(struct pr_arena *a, bool tiny,
                                 const char *opts)
{
    struct pr_value v = json(a, opts);
    struct pr_model_variant how = {.values = &v, .tiny = tiny};
    struct pr_model *m = NULL;
    struct pr_err err = {0};

    if (pr_model_parse(sized, strlen(sized), "t", &how, a, &m, &err))
        fail_msg("%s: %s", err.where, err.msg);
    return m;
}

static void sizes_are_laid_over_each_other(void **state)
{
    static const struct {
        bool tiny;
        const char *opts;
        int64_t width, twice, deep, classes, side;
    } rows[] = {
        {false, "{}", 8, 16, 2, 5, 8},
        {true, "{}", 3, 6, 1, 2, 4},
        {false, "{\"width\": 4}", 4, 8, 2, 5, 8},
        {true, "{\"width\": 4}", 4, 8, 2, 2, 4},
        {true, "{\"twice\": 5, \"deep\": 3}", 3, 5, 3, 2, 4},
        {true, "{\"input\": [1, 6, 6], \"classes\": 7}", 3, 6, 1, 7, 6},
        {false, "{\"rate\": 0, \"how\": \"same\"}", 8, 16, 2, 5, 8},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
        struct pr_model *m = sized_as(a, rows[i].tiny, rows[i].opts);
        const struct pr_layer *l = m->layers;

        assert_int_equal(l[0].shape.at[1], rows[i].side);
        assert_int_equal(l[2].out, rows[i].width);
        assert_int_equal(l[3].out, rows[i].twice);
        assert_int_equal(m->layer_count, 5 + rows[i].deep);
        assert_int_equal(m->classes, rows[i].classes);
        assert_int_equal(l[1].ids, rows[i].classes);
        assert_int_equal(pr_get(&m->given, "twice")->i, rows[i].twice);
        assert_int_equal(m->given.len, 5);
        assert_int_equal(m->reference_params, 8693);
    }
}

/* ---- what is wrong */

#define ONE "layers: [{linear: $classes}]\n"

static void sizes_are_sound(void **state)
{
    static const struct row rows[] = {
        {"given: [width]\n" ONE, "f:4:8",
         "'given' wants parameters and their values: {width: 768}, got a list",
         NULL},
        {"given: {a-b: 1}\n" ONE, "f:4:9",
         "'a-b' cannot be a parameter: letters, digits and '_' make one", NULL},
        {"given: {classes: 1}\n" ONE, "f:4:9",
         "a parameter cannot be called 'classes', which has a meaning already",
         NULL},
        {"given: {like: 1}\n" ONE, "f:4:9",
         "a parameter cannot be called 'like', which has a meaning already",
         NULL},
        {"given: {input: 1}\n" ONE, "f:4:9",
         "a parameter cannot be called 'input', which has a meaning already",
         NULL},
        {"given: {width: null}\n" ONE, "f:4:9",
         "parameter 'width' has no value",
         "exp.model_opts={\"width\": …} gives it one"},
        {"given: {a: $b, b: 1}\n" ONE, "f:4:12", "'$b' is not known yet here",
         NULL},
        {"given: {a: $classes}\n" ONE, "f:4:12",
         "there is no parameter '$classes' here",
         "parameters of a block or of the model stand under 'given'"},
        {"given: {width: 1}\nlayers: [{linear: $widht}]\n", "f:5:19",
         "there is no parameter '$widht' here", "did you mean '$width'?"},
        {"tiny: 3\n" ONE, "f:4:7",
         "'tiny' wants what a small size has: {classes: 10}, got 3", NULL},
        {"tiny: {}\n" ONE, "f:4:7",
         "'tiny' wants what a small size has: {classes: 10}, got a map", NULL},
        {"given: {width: 1}\ntiny: {widht: 2}\n" ONE, "f:5:8",
         "'tiny' sets 'widht', which is not a parameter of the model",
         "did you mean 'width'?"},
        {"items: 0\n" ONE, "f:4:8",
         "'items' wants a whole number of at least 1, got 0", NULL},
        {"data: [a]\n" ONE, "f:4:7", "'data' wants a word, got a list", NULL},
        {"data: a b\n" ONE, "f:4:7", "'data' wants a word, got 'a b'", NULL},
        {"optimizer: {name: sgd, clip: -1}\n" ONE, "f:4:30",
         "'clip' wants a number from 0 to 1e+09, got -1", NULL},
    };

    (void)state;
    CHECK(rows);
}

/* The small size alone, or what lies over it. */
static void check_variant(const char *text, const struct pr_model_variant *how,
                          const struct row *r)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_model *m = NULL;
    struct pr_err err = {0};
    int rc = pr_model_parse(text, strlen(text), "f", how, a, &m, &err);

    assert_int_equal(rc, PR_E_CONF);
    assert_string_equal(err.where, r->where);
    assert_string_equal(err.msg, r->msg);
    assert_string_equal(err.hint, r->hint ? r->hint : "");
}

static void the_small_size_is_sound(void **state)
{
    static const struct row rows[] = {
        {ONE, "f", "the model has no tiny size",
         "'tiny: {…}' in it says what is smaller"},
        {"tiny: {input: [3]}\n" ONE, "f:4:15", "'input' has 3 numbers, not 1",
         NULL},
        {"tiny: {input: 3}\n" ONE, "f:4:15",
         "'input' wants [channels, rows, columns], [rows, features] or "
         "[features], got 3",
         NULL},
        {"tiny: {classes: 0}\n" ONE, "f:4:17",
         "'classes' wants a whole number of at least 1, got 0", NULL},
    };
    struct pr_model_variant how = {.tiny = true};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);

        check_variant(pr_arena_printf(a, HEAD "%s", rows[i].text), &how,
                      &rows[i]);
    }
}

static void opts_fit_the_parameters(void **state)
{
    static const char text[] =
        HEAD "given: {n: 1, x: 0.5, on: true, how: same, k: [1, 2]}\n" ONE;
    static const struct row rows[] = {
        {"{\"n\": 1.5}", "exp.model_opts", "'n' wants a whole number", NULL},
        {"{\"n\": \"2 * 3\"}", "exp.model_opts", "'n' wants a whole number",
         NULL},
        {"{\"x\": true}", "exp.model_opts", "'x' wants a number", NULL},
        {"{\"on\": 1}", "exp.model_opts", "'on' wants true or false", NULL},
        {"{\"how\": 1}", "exp.model_opts", "'how' wants text", NULL},
        {"{\"how\": \"a b\"}", "exp.model_opts", "'how' wants text", NULL},
        {"{\"k\": [1, \"a\"]}", "exp.model_opts", "'k' wants a list", NULL},
        {"{\"z\": 1}", "exp.model_opts",
         "a model has no option 'z', only input, classes, n, x, on, how and k",
         NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
        struct pr_value opts = json(a, rows[i].text);

        check(text, &opts, &rows[i]);
    }
}

/* A model with several inputs has no 'input' that could be changed. */
static void opts_change_what_is_there(void **state)
{
    static const char text[] = "model: m\ninputs: {x: {shape: [3]}}\n"
                               "layers: [{linear: 3}]\n"
                               "losses: [{mse: linear1, target: 0}]\n";
    static const struct row row = {"", "exp.model_opts",
                                   "a model has no option 'input'", NULL};
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_value opts = json(a, "{\"input\": [4]}");

    (void)state;
    check(text, &opts, &row);
}

/* Without its own size the model need not be what was published. */
static void the_reference_is_about_the_own_size(void **state)
{
    static const struct row row = {
        "", "f:6:21", "the layers have 387 parameters, not 388", NULL};
    static const char text[] = HEAD "given: {n: 1}\ntiny: {n: 1}\n"
                                    "reference: {params: 388, source: x}\n" ONE;
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_value same = json(a, "{\"n\": 1}");
    struct pr_value other = json(a, "{\"n\": 2}");
    struct pr_model_variant tiny = {.tiny = true}, changed = {.values = &other};
    struct pr_model *m;

    (void)state;
    check(text, &same, &row);
    assert_int_equal(
        pr_model_parse(text, strlen(text), "f", &tiny, a, &m, NULL), PR_OK);
    assert_int_equal(
        pr_model_parse(text, strlen(text), "f", &changed, a, &m, NULL), PR_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_laid_over_each_other),
        cmocka_unit_test(sizes_are_sound),
        cmocka_unit_test(the_small_size_is_sound),
        cmocka_unit_test(opts_fit_the_parameters),
        cmocka_unit_test(opts_change_what_is_there),
        cmocka_unit_test(the_reference_is_about_the_own_size),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
