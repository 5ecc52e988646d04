/*
 * Walking plans: repeats, selection, ids that stay, derived parameters, and
 * the story of a parameter.
 */
#include "plan/plan_write.h"

#include "plans.h"

static const struct pr_plan_opts bare = {.no_defaults = true};
static const struct pr_plan_opts full = {0};

#define ARGS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void nothing_gives_nothing(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_plan *p;
    uint64_t n = 9;

    (void)state;
    assert_string_equal(experiments(a, &bare, ARGS(NULL)), "");
    assert_int_equal(make_plan(&full, ARGS(NULL), &p, NULL), PR_OK);
    assert_int_equal(pr_plan_count(p, &n, NULL), PR_OK);
    assert_int_equal(n, 1); /* defaults are something to run */
    pr_plan_free(p);
}

static void repeats_are_the_outer_loop(void **state)
{
    struct pr_plan_opts opts = {.no_defaults = true, .repeat = 2};
    static const struct {
        unsigned repeat;
        int64_t a, b;
    } want[] = {{1, 1, 0}, {1, 2, 0}, {1, 0, 9},
                {2, 1, 0}, {2, 2, 0}, {2, 0, 9}};
    struct pr_plan *p;
    struct pr_walk *w;
    struct pr_experiment e;
    char ids[6][40];
    uint32_t a, b;
    uint64_t n;

    (void)state;
    put_file("f", "experiments:\n- variables: {a: [1, 2]}\n"
                  "- parameters: {b: 9}\n");
    assert_int_equal(make_plan(&opts, ARGS("@f"), &p, NULL), PR_OK);
    assert_int_equal(pr_plan_count(p, &n, NULL), PR_OK);
    assert_int_equal(n, 6);
    a = pr_names_find(pr_plan_names(p), "a", 1);
    b = pr_names_find(pr_plan_names(p), "b", 1);
    w = pr_walk_new(p);
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(pr_walk_next(w, &e, NULL), 1);
        assert_int_equal(e.index, i + 1);
        assert_int_equal(e.repeat, want[i].repeat);
        if (want[i].a)
            assert_int_equal(pr_expanded_value(e.values, a)->i, want[i].a);
        else
            assert_null(pr_expanded_value(e.values, a));
        if (want[i].b)
            assert_int_equal(pr_expanded_value(e.values, b)->i, want[i].b);
        memcpy(ids[i], e.id, sizeof ids[i]);
        /* Neither the index nor the hash is that of another. */
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(ids[i] + 5, ids[j] + 5);
    }
    assert_int_equal(pr_walk_next(w, &e, NULL), 0);
    assert_int_equal(pr_walk_next(w, &e, NULL), 0);
    pr_walk_free(w);
    pr_plan_free(p);
}

/* Nothing else is computed of the others, whose 'b' could not be. */
static void a_walk_has_only_what_it_is_asked_for(void **state)
{
    static const struct {
        const char *name, *text;
        uint64_t index; /* 0: none */
    } rows[] = {{"a", "y", 2}, {"a", "", 0}, {"c", "y", 0}};
    struct pr_plan *p;

    (void)state;
    put_file("f", "parameters: {b: '${b.${a}}', b.y: 7}\n"
                  "variables: {a: [x, '$(\"Y\".lower())$', z]}\n");
    assert_int_equal(make_plan(&bare, ARGS("@f"), &p, NULL), PR_OK);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_walk *w = pr_walk_new(p);
        struct pr_experiment e;

        pr_walk_only(w, rows[i].name, rows[i].text);
        if (rows[i].index) {
            assert_int_equal(pr_walk_next(w, &e, NULL), 1);
            assert_int_equal(e.index, rows[i].index);
        }
        assert_int_equal(pr_walk_next(w, &e, NULL), 0);
        pr_walk_free(w);
    }
    pr_plan_free(p);
}

static void only_those_named_are_kept_with_their_index(void **state)
{
    static const struct {
        const char *only, *want;
    } rows[] = {
        {"b", "2"},  {"a,c", "1 3"}, {"c,a", "1 3"},     {"", ""},    {"d", ""},
        {"a,", "1"}, {"ab", ""},     {"a,b,c", "1 2 3"}, {"a b", ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_BUF struct pr_buf got = PR_BUF_INIT(100);
        struct pr_plan_opts opts = {.only = rows[i].only};
        struct pr_experiment e;
        struct pr_plan *p;
        struct pr_walk *w;
        uint64_t n = 0, count;

        assert_int_equal(
            make_plan(&opts, ARGS("-V exp.name=[\"a\",\"$('b')$\",\"c\"]"), &p,
                      NULL),
            PR_OK);
        w = pr_walk_new(p);
        while (pr_walk_next(w, &e, NULL) == 1)
            pr_buf_printf(&got, "%s%d", n++ ? " " : "", (int)e.index);
        pr_walk_free(w);
        assert_string_equal(got.data ? got.data : "", rows[i].want);
        assert_int_equal(pr_plan_count(p, &count, NULL), PR_OK);
        assert_int_equal(count, n);
        pr_plan_free(p);
    }
}

/* The hash in the id of the first experiment. */
static const char *id_of(struct pr_arena *a, const struct pr_plan_opts *opts,
                         const char *const *args)
{
    struct pr_experiment e;
    struct pr_plan *p;
    struct pr_walk *w;

    assert_int_equal(make_plan(opts, args, &p, NULL), PR_OK);
    w = pr_walk_new(p);
    assert_int_equal(pr_walk_next(w, &e, NULL), 1);
    pr_walk_free(w);
    pr_plan_free(p);
    assert_int_equal(strncmp(e.id, "0001-", 5), 0);
    assert_int_equal(strlen(e.id), 13);
    return pr_arena_str(a, e.id + 5);
}

static void ids_depend_on_what_is_set_and_nothing_else(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    const char *id = id_of(a, &full, ARGS("-P x=1", "-P y=\"2\""));
    static const char *const other[][3] = {
        {"-P x=1", NULL},
        {"-P x=1", "-P y=2", NULL},
        {"-P x=1.0", "-P y=\"2\"", NULL},
        {"-P x=true", "-P y=\"2\"", NULL},
        {"-P x=\"2\"", "-P y=1", NULL}, /* the values swapped */
        {"-P y=\"2\"", "-P z=1", NULL},
        {"-P x=1", "-P y=\"3\"", NULL},
    };

    (void)state;
    /* Order, origin, defaults and what was overridden do not matter. */
    assert_string_equal(id, id_of(a, &full, ARGS("-P y=\"2\"", "-P x=1")));
    assert_string_equal(id, id_of(a, &bare, ARGS("-P x=1", "-P y=\"2\"")));
    assert_string_equal(
        id, id_of(a, &full, ARGS("-P x=5", "-P y=\"2\"", "-P x=1")));
    assert_string_equal(id, id_of(a, &full, ARGS("-V x=[1]", "-P y=\"2\"")));
    assert_string_equal(id, id_of(a, &full,
                                  ARGS("-P y=\"2\"", "-E {\"parameters\": "
                                                     "{\"x\": 1}}")));
    put_file("f.json", "{\"parameters\": {\"y\": \"2\", \"x\": 1}}");
    assert_string_equal(id, id_of(a, &full, ARGS("@f.json")));
    assert_string_equal(id, id_of(a, &full, ARGS("--config f.json")));
    /* exp.id is no part of it */
    assert_string_equal(
        id,
        id_of(a, &full, ARGS("-P x=1", "-P y=\"2\"", "-P exp.id=\"mine\"")));
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        assert_string_not_equal(id, id_of(a, &full, other[i]));
}

static void exp_id_is_the_plans_unless_set(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_experiment e;
    struct pr_plan *p;
    struct pr_walk *w;
    uint32_t id;

    (void)state;
    assert_int_equal(
        make_plan(&full, ARGS("-V x=[1,2,3]", "-P exp.proj=\"<${exp.id}>\""),
                  &p, NULL),
        PR_OK);
    id = pr_names_find(pr_plan_names(p), "exp.id", 6);
    w = pr_walk_new(p);
    for (int i = 0; i < 3; i++) {
        const struct pr_value *proj;
        assert_int_equal(pr_walk_next(w, &e, NULL), 1);
        assert_string_equal(pr_expanded_value(e.values, id)->s, e.id);
        proj = pr_expanded_value(
            e.values, pr_names_find(pr_plan_names(p), "exp.proj", 8));
        assert_string_equal(proj->s, pr_arena_printf(a, "<%s>", e.id));
    }
    pr_walk_free(w);
    pr_plan_free(p);
    assert_non_null(strstr(experiments(a, &full, ARGS("-P exp.id=\"mine\"")),
                           "\"exp.id\": \"mine\""));
}

/* The derived parameters of DLBS, by Prony's own table. */
static void derived_parameters(void **state)
{
    static const struct {
        const char *gpus;
        int nodes, batch;
        const char *want;
    } rows[] = {
        {"\"0\"", 1, 16, "1 1 1 1 gpu 16 0"},
        {"0", 1, 16, "1 1 1 1 gpu 16 0"},
        {"\"0,1,2,3\"", 1, 16, "4 4 4 4 gpu 64 0,1,2,3"},
        {"\"0:1\"", 1, 16, "1 2 2 1 gpu 16 0,1"},
        {"\"0:1,2:3\"", 1, 16, "2 4 4 2 gpu 32 0,1,2,3"},
        {"\"\"", 1, 16, "1 0 0 1 cpu 16 "},
        {"\" \"", 1, 16, "1 0 0 1 cpu 16  "},
        {"\"0,1,\"", 1, 16, "2 2 2 2 gpu 32 0,1,"},
        {"\"0,1\"", 4, 32, "2 2 8 8 gpu 256 0,1"},
        {"\"\"", 4, 32, "1 0 0 4 cpu 128 "},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
        const char *got = experiments(
            a, &full,
            ARGS(pr_arena_printf(a, "-P exp.gpus=%s", rows[i].gpus),
                 pr_arena_printf(a, "-P exp.num_nodes=%d", rows[i].nodes),
                 pr_arena_printf(a, "-P exp.replica_batch=%d", rows[i].batch),
                 "-P all=\"${exp.num_local_replicas} ${exp.num_local_gpus} "
                 "${exp.num_gpus} ${exp.num_replicas} ${exp.device_type} "
                 "${exp.effective_batch} ${runtime.visible_gpus}\""));
        const char *want = pr_arena_printf(a, "\"all\": \"%s\"", rows[i].want);
        if (!strstr(got, want))
            fail_msg("gpus %s: no %s in %s", rows[i].gpus, want, got);
    }
}

static void values_out_of_range_are_refused_by_name(void **state)
{
    static const struct {
        const char *args[2], *want;
    } rows[] = {
        {{"-P exp.num_nodes=0"},
         "-P exp.num_nodes parameter 'exp.num_nodes': wants a whole number "
         "from 1"},
        {{"-P exp.phase=\"x\""}, "'exp.phase'"},
        {{"-P exp.num_batches=\"$(1/2)$\""}, "'exp.num_batches'"},
        {{"-V exp.num_nodes=[1,0]"}, "-V exp.num_nodes"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
        const char *got = experiments(a, &full, rows[i].args);
        if (!strstr(got, rows[i].want))
            fail_msg("%s gives %s", rows[i].args[0], got);
    }
}

static void explain_tells_the_whole_story(void **state)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 20);
    struct pr_err err = {0};
    struct pr_plan *p;

    (void)state;
    put_file("t.yaml", "exp.num_batches: 1\n");
    put_file("c.yaml", "exp.num_batches: 2\n");
    assert_int_equal(
        make_plan(&full,
                  ARGS("@t.yaml", "--config c.yaml", "-P exp.num_batches=3"),
                  &p, NULL),
        PR_OK);
    assert_int_equal(pr_plan_explain(p, "exp.num_batches", &out, NULL), 0);
    assert_non_null(strstr(out.data,
                           ": exp.num_batches = 3\n"
                           "  from command line -P exp.num_batches: 3\n"
                           "  over --config c.yaml:1:1: 2\n"
                           "  over target t.yaml:1:1: 1\n"
                           "  over built-in default: 100\n"));
    assert_int_equal(pr_plan_explain(p, "exp.num_batchs", &out, &err),
                     PR_E_USAGE);
    assert_string_equal(err.hint, "did you mean 'exp.num_batches'?");
    pr_plan_free(p);
}

/* A million experiments in the memory of ten: here, that a count needs no
 * walk, and that a walk may stop at any time. */
static void a_large_product_is_cheap(void **state)
{
    PR_AUTO_BUF struct pr_buf list = PR_BUF_INIT(1 << 20);
    const char *args[7] = {NULL};
    struct pr_plan *p;
    struct pr_walk *w;
    struct pr_experiment e;
    uint64_t n;

    (void)state;
    pr_buf_str(&list, "-V a=[0");
    for (int i = 1; i < 1000; i++)
        pr_buf_printf(&list, ",%d", i);
    pr_buf_char(&list, ']');
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    for (int i = 0; i < 6; i++)
        args[i] = pr_arena_printf(a, "-V %c%s", 'a' + i, list.data + 4);
    /* more than anybody can mean, and more than 64 bits */
    assert_int_equal(make_plan(&bare, args, &p, NULL), PR_E_CONF);
    args[3] = NULL;
    assert_int_equal(make_plan(&bare, args, &p, NULL), PR_OK);
    assert_int_equal(pr_plan_count(p, &n, NULL), PR_OK);
    assert_true(n == 1000000000u);
    w = pr_walk_new(p);
    for (int i = 0; i < 2500; i++)
        assert_int_equal(pr_walk_next(w, &e, NULL), 1);
    assert_int_equal(
        pr_expanded_value(e.values, pr_names_find(pr_plan_names(p), "b", 1))->i,
        2);
    assert_int_equal(
        pr_expanded_value(e.values, pr_names_find(pr_plan_names(p), "c", 1))->i,
        499);
    pr_walk_free(w);
    pr_plan_free(p);
}

static int plan_once(void)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 20);
    struct pr_plan_opts opts = {.repeat = 2};
    struct pr_err err = {0};
    struct pr_plan *p;
    uint64_t n;
    int rc = make_plan(
        &opts,
        ARGS("@t.json", "--config c.yaml", "-P a='slip", "b=${m}", "~gone",
             "-V m=[\"net1\",\"net2\"]", "--set-file s=t.json",
             "-E {\"condition\": {\"m\": \"([a-z]+)(.)\"}, \"parameters\": "
             "{\"k\": \"${__condition.m_1}\", \"l\": "
             "[\"${__condition.m_2}\"]}, \"cases\": [{\"c\": 1}, {\"c\": "
             "\"${k}\"}]}"),
        &p, &err);

    if (rc)
        return rc;
    rc = pr_plan_write(p, false, to_buf, &out, &n, &err);
    if (!rc)
        assert_int_equal(n, 8);
    if (!rc)
        rc = pr_plan_explain(p, "m", &out, &err);
    pr_plan_free(p);
    if (rc)
        assert_int_equal(rc, err.code);
    return rc;
}

static void out_of_memory(void **state)
{
    (void)state;
    put_file("t.json", "{\"parameters\": {\"exp.unknown\": {\"val\": \"5\", "
                       "\"type\": \"int\"}}}");
    put_file("c.yaml", "exp: {name: x}\n");
    setenv("PRONY_EXP_PROJ", "x", 1);
    torture(plan_once);
    unsetenv("PRONY_EXP_PROJ");
}

#define HERE(test) cmocka_unit_test_setup_teardown(test, enter_dir, leave_dir)

int main(void)
{
    const struct CMUnitTest tests[] = {
        HERE(nothing_gives_nothing),
        HERE(repeats_are_the_outer_loop),
        HERE(a_walk_has_only_what_it_is_asked_for),
        HERE(only_those_named_are_kept_with_their_index),
        HERE(ids_depend_on_what_is_set_and_nothing_else),
        HERE(exp_id_is_the_plans_unless_set),
        HERE(derived_parameters),
        HERE(values_out_of_range_are_refused_by_name),
        HERE(explain_tells_the_whole_story),
        HERE(a_large_product_is_cheap),
        HERE(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
