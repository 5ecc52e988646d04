/* Option tables: every row, casts, ranges, choices, and filling structs. */
#include "conf/option/option.h"

#include "values.h"

/* A default that is not computed has the type, range and choices of its row. */
static void every_default_is_a_value_of_its_row(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1024);
    size_t rows = 0;

    (void)state;
    for (const struct pr_opt_section *const *s = pr_opt_sections(); *s; s++) {
        for (size_t i = 0; i < (*s)->count; i++, rows++) {
            const struct pr_opt *o = &(*s)->opts[i];
            struct pr_value v = pr_opt_default(o), got;
            struct pr_err err = {0};

            if (v.kind == PR_STR && strchr(v.s, '$')) {
                assert_true(o->flags & PR_OPT_DERIVED);
                continue;
            }
            if (pr_opt_cast(o, &v, a, &got, &err))
                fail_msg("%s.%s: %s", (*s)->name, o->name, err.msg);
            /* Written as it is kept, so that a plan reads back the same. */
            assert_int_equal(got.kind, v.kind);
        }
    }
    assert_true(rows > 50);
}

static void every_row_is_well_written(void **state)
{
    (void)state;
    for (const struct pr_opt_section *const *s = pr_opt_sections(); *s; s++) {
        assert_true((*s)->desc[0] && (*s)->count);
        for (size_t i = 0; i < (*s)->count; i++) {
            const struct pr_opt *o = &(*s)->opts[i];
            size_t n = strlen(o->help);

            assert_true(n > 10 && o->help[n - 1] == '.');
            assert_true(o->since[0] && o->unit);
            assert_true(o->min <= o->max);
            assert_true(o->offset < (*s)->struct_bytes);
            for (size_t j = 0; j < i; j++)
                assert_string_not_equal(o->name, (*s)->opts[j].name);
        }
    }
}

static void rows_are_found_by_full_name(void **state)
{
    static const struct {
        const char *name, *section, *row;
    } rows[] = {
        {"exp.model", "exp", "model"},
        {"exp.modle", "exp", NULL},
        {"exp.", "exp", NULL},
        {"exp", NULL, NULL},
        {"expo.model", NULL, NULL},
        {"model", NULL, NULL},
        {"", NULL, NULL},
        {".model", NULL, NULL},
        {"runtime.env.PATH", "runtime", "env"},
        {"runtime.env.a.b", "runtime", "env"},
        {"runtime.env.", "runtime", NULL},
        {"runtime.env", "runtime", NULL},
        {"runtime.environment", "runtime", NULL},
        {"sys.plan_builder.var_order", "sys.plan_builder", "var_order"},
        {"sys.var_order", NULL, NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct pr_opt_section *s = &pr_exp_section;
        const struct pr_opt *o = pr_opt_find(rows[i].name, &s);

        assert_true((s != NULL) == (rows[i].section != NULL));
        assert_true((o != NULL) == (rows[i].row != NULL));
        if (s)
            assert_string_equal(s->name, rows[i].section);
        if (o)
            assert_string_equal(o->name, rows[i].row);
        assert_ptr_equal(pr_opt_find(rows[i].name, NULL), o);
    }
}

static void a_typo_finds_its_row(void **state)
{
    (void)state;
    assert_string_equal(pr_opt_nearest(&pr_exp_section, "exp.modle"), "model");
    assert_string_equal(pr_opt_nearest(&pr_exp_section, "exp.num_batch"),
                        "num_batches");
    assert_null(pr_opt_nearest(&pr_exp_section, "exp.zzzzzzzzzzzz"));
}

#define ROW(k)                         \
    {                                  \
        .kind = PR_OPT_##k, .name = #k \
    }

static const struct pr_opt free_int = ROW(INT), free_float = ROW(FLOAT),
                           free_bool = ROW(BOOL), free_size = ROW(SIZE),
                           free_time = ROW(SECONDS), free_str = ROW(STR),
                           free_list = ROW(LIST), free_any = ROW(ANY);
static const struct pr_opt small_int = {
    .kind = PR_OPT_INT, .name = "small", .min = 1, .max = 9};
static const struct pr_opt below_zero = {
    .kind = PR_OPT_FLOAT, .name = "cold", .min = -5, .max = 0};
static const struct pr_opt mean_size = {
    .kind = PR_OPT_FLOAT, .name = "mean", .unit = "bytes"};
static const struct pr_opt choice = {
    .kind = PR_OPT_STR, .name = "choice", .choices = "one|two|three"};
static const struct pr_opt or_none = {
    .kind = PR_OPT_STR, .name = "or_none", .choices = "|one|null"};

static void values_are_brought_to_the_type(void **state)
{
    static const struct {
        const struct pr_opt *opt;
        const char *in, *want; /* NULL: refused */
    } rows[] = {
        {&free_int, "5", "5"},
        {&free_int, "\"5\"", "5"},
        {&free_int, "\" 5 \"", "5"},
        {&free_int, "\"\\n5\\t\"", "5"},
        {&free_int, "\"1_000\"", "1000"},
        {&free_int, "5.0", "5"},
        {&free_int, "-5e3", "-5000"},
        {&free_int, "5.5", NULL},
        {&free_int, "\"5.0\"", NULL},
        {&free_int, "\"\"", NULL},
        {&free_int, "\"5\\u0000\"", NULL},
        {&free_int, "\"5\\u00006\"", NULL},
        {&free_int, "\"five\"", NULL},
        {&free_int, "true", NULL},
        {&free_int, "null", NULL},
        {&free_int, "[5]", NULL},
        {&free_int, "{}", NULL},
        {&free_int, "1e30", NULL},
        {&free_int, "-1e30", NULL},
        {&free_int, "9223372036854775808.0", NULL},
        {&free_int, "NaN", NULL},
        {&free_int, "Infinity", NULL},
        {&free_int, "9223372036854775807", "9223372036854775807"},
        {&small_int, "1", "1"},
        {&small_int, "9", "9"},
        {&small_int, "0", NULL},
        {&small_int, "10", NULL},
        {&small_int, "\"10\"", NULL},
        {&small_int, "-1", NULL},
        {&free_float, "5", "5.0"},
        {&free_float, "\"5\"", "5.0"},
        {&free_float, "\"1e3\"", "1000.0"},
        {&free_float, "0.1", "0.1"},
        {&free_float, "\"x\"", NULL},
        {&free_float, "false", NULL},
        {&free_float, "\"1.5M\"", NULL},
        {&mean_size, "\"1.5M\"", "1500000.0"},
        {&mean_size, "\"2KiB\"", "2048.0"},
        {&mean_size, "114660.07", "114660.07"},
        {&mean_size, "\"114660.07\"", "114660.07"},
        {&mean_size, "\"1.5X\"", NULL},
        {&below_zero, "-5", "-5.0"},
        {&below_zero, "0", "0.0"},
        {&below_zero, "0.1", NULL},
        {&below_zero, "NaN", NULL},
        {&free_bool, "true", "true"},
        {&free_bool, "0", "false"},
        {&free_bool, "1", "true"},
        {&free_bool, "2", NULL},
        {&free_bool, "1.0", NULL},
        {&free_bool, "\"TRUE\"", "true"},
        {&free_bool, "\"off\"", "false"},
        {&free_bool, "\"On\"", "true"},
        {&free_bool, "\"yes\"", "true"},
        {&free_bool, "\"No\"", "false"},
        {&free_bool, "\"0\"", "false"},
        {&free_bool, "\"\"", NULL},
        {&free_bool, "\"tru\"", NULL},
        {&free_bool, "null", NULL},
        {&free_size, "\"150k\"", "150000"},
        {&free_size, "\"2GiB\"", "2147483648"},
        {&free_size, "512", "512"},
        {&free_size, "512.0", "512"},
        {&free_size, "-1", NULL},
        {&free_size, "-1.0", NULL},
        {&free_size, "\"-1\"", NULL},
        {&free_size, "\"9223372036854775808\"", NULL},
        {&free_time, "\"2m\"", "120.0"},
        {&free_time, "90", "90.0"},
        {&free_time, "\"1.5s\"", "1.5"},
        {&free_time, "\"soon\"", NULL},
        {&free_str, "\"x\"", "\"x\""},
        {&free_str, "5", "\"5\""},
        {&free_str, "1.0", "\"1.0\""},
        {&free_str, "true", "\"True\""},
        {&free_str, "null", "\"\""},
        {&free_str, "[1, \"a\"]", "\"[1, 'a']\""},
        {&free_str, "{\"a\": 1}", NULL},
        {&choice, "\"two\"", "\"two\""},
        {&choice, "\"tw\"", NULL},
        {&choice, "\"two|three\"", NULL},
        {&choice, "\"\"", NULL},
        {&choice, "\"two\\u0000\"", NULL},
        {&choice, "null", NULL},
        {&or_none, "\"\"", "\"\""},
        {&or_none, "null", "\"null\""},
        {&free_list, "[]", "[]"},
        {&free_list, "[1, [2], {\"a\": null}]", "[1, [2], {\"a\": null}]"},
        {&free_list, "\"a b\"", NULL},
        {&free_list, "{}", NULL},
        {&free_any, "{\"a\": [1]}", "{\"a\": [1]}"},
        {&free_any, "null", "null"},
        {&free_any, "\"x\"", "\"x\""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1024);
        struct pr_value in = json(a, rows[i].in), got = pr_str("untouched");
        struct pr_err err = {0};
        int rc = pr_opt_cast(rows[i].opt, &in, a, &got, &err);

        if (!rows[i].want) {
            assert_int_equal(rc, PR_E_CONF);
            assert_string_equal(got.s, "untouched");
            assert_int_equal(strncmp(err.msg, "wants ", 6), 0);
        } else if (rc || strcmp(json_text(a, &got), rows[i].want) != 0) {
            fail_msg("%s from %s: %s %s", rows[i].opt->name, rows[i].in,
                     json_text(a, &got), err.msg);
        }
    }
}

static void messages_say_what_is_wanted(void **state)
{
    static const struct {
        const struct pr_opt *opt;
        const char *in, *want;
    } rows[] = {
        {&small_int, "10", "wants a whole number from 1 to 9, got 10"},
        {&choice, "\"x\"", "wants one of one, two, three, got \"x\""},
        {&or_none, "5", "wants one of one, null, got 5"},
        {&free_size, "\"x\"", "wants a size such as 150k or 2GiB, got \"x\""},
        {&free_time, "\"x\"", "wants a time such as 90, 1.5s or 2m, got \"x\""},
        {&free_list, "5", "wants a list, got 5"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1024);
        struct pr_value v = json(a, rows[i].in);
        struct pr_err err = {0};

        assert_int_equal(pr_opt_cast(rows[i].opt, &v, a, &v, &err), PR_E_CONF);
        assert_string_equal(err.msg, rows[i].want);
    }
}

/* Casting where it lies: the input may be the output. */
static void a_value_may_be_cast_in_place(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1024);
    struct pr_value v = json(a, "\"7\"");

    (void)state;
    assert_int_equal(pr_opt_cast(&free_int, &v, a, &v, NULL), PR_OK);
    assert_int_equal(v.i, 7);
    assert_int_equal(pr_opt_cast(&free_str, &v, a, &v, NULL), PR_OK);
    assert_string_equal(v.s, "7");
}

static void a_struct_is_filled_from_names(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1024);
    struct pr_value params =
        json(a, "{\"exp.num_batches\": \"7\", \"exp.timeout\": \"2m\", "
                "\"exp.docker\": \"yes\", \"exp.model\": 5, \"exp.args\": [1], "
                "\"exp.model_opts\": {\"x\": 1}, \"exp.device_type\": \"gpu\", "
                "\"num_batches\": 3, \"null.steps\": 4}");
    struct pr_exp_opts exp;
    struct pr_null_opts null;

    (void)state;
    assert_int_equal(pr_opt_fill(&pr_exp_section, &params, a, &exp, NULL), 0);
    assert_int_equal(exp.num_batches, 7);
    assert_true(exp.timeout == 120);
    assert_true(exp.docker);
    assert_string_equal(exp.model, "5");
    assert_int_equal(exp.args->len, 1);
    assert_int_equal(exp.model_opts->kind, PR_MAP);
    assert_string_equal(exp.device_type, "gpu");
    assert_string_equal(exp.phase, "training"); /* its default */
    assert_true(exp.grace == 5);
    assert_int_equal(pr_opt_fill(&pr_null_section, &params, a, &null, NULL), 0);
    assert_int_equal(null.steps, 4);
}

/* A plan made without defaults lacks what is derived. */
static void text_that_is_not_there_is_empty_not_null(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1024);
    struct pr_value none = json(a, "{}");

    (void)state;
    for (const struct pr_opt_section *const *s = pr_opt_sections(); *s; s++) {
        char *fields = pr_arena_zeroed(a, (*s)->struct_bytes);
        struct pr_err err = {0};

        assert_int_equal(pr_opt_fill(*s, &none, a, fields, &err), PR_OK);
        for (size_t i = 0; i < (*s)->count; i++) {
            const struct pr_opt *o = &(*s)->opts[i];
            const void *p;
            if (o->kind != PR_OPT_STR && o->kind != PR_OPT_LIST &&
                o->kind != PR_OPT_ANY)
                continue;
            memcpy(&p, fields + o->offset, sizeof p);
            assert_non_null(p);
        }
    }
}

static void filling_refuses_a_bad_value(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1024);
    struct pr_value params = json(a, "{\"exp.num_nodes\": 0}");
    struct pr_exp_opts exp;
    struct pr_err err = {0};

    (void)state;
    assert_int_equal(pr_opt_fill(&pr_exp_section, &params, a, &exp, &err),
                     PR_E_CONF);
    assert_non_null(strstr(err.msg, "num_nodes"));
}

static int fill_once(void)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(64);
    struct pr_value args = {.kind = PR_LIST};
    struct pr_member m[] = {{"exp.model", 9, 0, 0, pr_int(5)},
                            {"exp.args", 8, 0, 0, args}};
    struct pr_value params = {.kind = PR_MAP, .len = 2, .members = m};
    struct pr_exp_opts exp;

    return a ? pr_opt_fill(&pr_exp_section, &params, a, &exp, NULL)
             : PR_E_NOMEM;
}

static void out_of_memory(void **state)
{
    (void)state;
    torture(fill_once);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_default_is_a_value_of_its_row),
        cmocka_unit_test(every_row_is_well_written),
        cmocka_unit_test(rows_are_found_by_full_name),
        cmocka_unit_test(a_typo_finds_its_row),
        cmocka_unit_test(values_are_brought_to_the_type),
        cmocka_unit_test(messages_say_what_is_wanted),
        cmocka_unit_test(a_value_may_be_cast_in_place),
        cmocka_unit_test(a_struct_is_filled_from_names),
        cmocka_unit_test(text_that_is_not_there_is_empty_not_null),
        cmocka_unit_test(filling_refuses_a_bad_value),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
