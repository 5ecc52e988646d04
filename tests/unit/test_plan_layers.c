/*
 * Building plans: who wins over whom, provenance, variables, extensions, and
 * names that are not known.
 */
#include "plan/plan.h"

#include "plans.h"

static const struct pr_plan_opts bare = {.no_defaults = true};
static const struct pr_plan_opts full = {0};

#define ARGS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Most arguments a row of a table has. */
struct row {
    const char *args[8];
    const char *want; /* "!…": part of the message */
};

static void check_rows(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
        const char *got = experiments(a, &bare, rows[i].args);
        bool same = rows[i].want[0] == '!'
                        ? got[0] == '!' && strstr(got, rows[i].want + 1)
                        : strcmp(got, rows[i].want) == 0;
        if (!same)
            fail_msg("row %zu (%s)\n gives %s\n want  %s", i, rows[i].args[0],
                     got, rows[i].want);
    }
}

#define CHECK(rows) check_rows(rows, sizeof rows / sizeof *rows)

/* The value and its origin in the only experiment of a plan. */
static const struct pr_setting *setting(struct pr_plan *p, const char *name,
                                        struct pr_walk **ret_walk)
{
    struct pr_experiment e;
    struct pr_err err = {0};

    *ret_walk = pr_walk_new(p);
    assert_non_null(*ret_walk);
    if (pr_walk_next(*ret_walk, &e, &err) != 1)
        fail_msg("%s: %s", err.where, err.msg);
    return pr_params_get(e.params,
                         pr_names_find(pr_plan_names(p), name, strlen(name)));
}

/* One layer more in each row; the last is the strongest. */
static void later_layers_win(void **state)
{
    static const char *const args[] = {
        NULL, /* the default alone */
        "@target.yaml",
        "--config config.yaml",
        NULL, /* the environment */
        "-P exp.num_batches=4",
        "-V exp.num_batches=[5]",
        "-E {\"parameters\": {\"exp.num_batches\": 6}}",
    };
    static const struct {
        int64_t value;
        enum pr_origin_kind kind;
        const char *where;
    } want[] = {
        {100, PR_FROM_DEFAULT, "built-in default"},
        {1, PR_FROM_TARGET, "target.yaml:2:1"},
        {2, PR_FROM_CONFIG, "config.yaml:1:1"},
        {3, PR_FROM_ENVIRONMENT, "PRONY_EXP_NUM_BATCHES"},
        {4, PR_FROM_COMMAND_LINE, "-P exp.num_batches"},
        {5, PR_FROM_VARIABLE, "-V exp.num_batches"},
        {6, PR_FROM_EXTENSION, "-E"},
    };

    (void)state;
    put_file("target.yaml", "# x\nexp.num_batches: 1\n");
    put_file("config.yaml", "exp.num_batches: 2\n");
    for (size_t top = 0; top < sizeof want / sizeof *want; top++) {
        const char *used[8] = {NULL};
        size_t n = 0;
        struct pr_err err = {0};
        struct pr_plan *p;
        struct pr_walk *w;
        const struct pr_setting *set;
        char where[256];

        if (top >= 3)
            setenv("PRONY_EXP_NUM_BATCHES", "3", 1);
        /* The order on the command line is not the order of the layers. */
        for (size_t i = top + 1; i-- > 0;)
            if (args[i])
                used[n++] = args[i];
        if (make_plan(&full, used, &p, &err))
            fail_msg("%s: %s", err.where, err.msg);
        set = setting(p, "exp.num_batches", &w);
        assert_int_equal(set->value.i, want[top].value);
        assert_int_equal(set->origin.kind, want[top].kind);
        assert_string_equal(pr_origin_text(&set->origin, where),
                            want[top].where);
        pr_walk_free(w);
        pr_plan_free(p);
    }
    unsetenv("PRONY_EXP_NUM_BATCHES");
}

static void files_and_arguments(void **state)
{
    static const struct row rows[] = {
        {{"-P a=1", "-P a=2"}, "{\"a\": 2}\n"},
        {{"-P a=1", "a=2", "-P a=3"}, "{\"a\": 3}\n"},
        {{"-P a=1", "++a=2"}, "{\"a\": 2}\n"},
        {{"a=1", "+b=2", "++workload.c=3"}, "{\"a\": 1, \"b\": 2, \"c\": 3}\n"},
        {{"-P a=1", "-P b=2", "~a"}, "{\"b\": 2}\n"},
        {{"-P a=1", "~a", "-P a=3"}, "{\"a\": 3}\n"},
        {{"-P a=1", "-P b=1", "~a", "-P a=3"}, "{\"b\": 1, \"a\": 3}\n"},
        {{"-P a=1", "~nobody"}, "{\"a\": 1}\n"},
        {{"@one.json", "~a"}, "{\"b\": \"one\"}\n"},
        /* JSON, or else text */
        {{"-P a=1.5", "-P b=true", "-P c=null", "-P d=[1,\"x\"]"},
         "{\"a\": 1.5, \"b\": true, \"c\": null, \"d\": \"1 x\"}\n"},
        {{"-P a=\"x\"", "-P b=foo", "-P c=\"a=b\"", "-P d=a=b"},
         "{\"a\": \"x\", \"b\": \"foo\", \"c\": \"a=b\", \"d\": \"a=b\"}\n"},
        {{"-P a={\"x\": 1}"}, "{\"a\": {\"x\": 1}}\n"},
        {{"-P a ={\"x\": 1}", "-P  d =  5 "},
         "{\"a\": {\"x\": 1}, \"d\": 5}\n"},
        {{"-P a=\"\""}, "{\"a\": \"\"}\n"},
        {{"-P a=NaN", "-P b=$(${c}*2)$", "-P c=4"},
         "{\"a\": NaN, \"b\": \"8\", \"c\": 4}\n"},
        {{"-P gr\303\274\303\237=\344\270\226"},
         "{\"gr\303\274\303\237\": \"\344\270\226\"}\n"},
        {{"-P a="}, "!expected name=value"},
        {{"-P a=  "}, "!expected name=value"},
        {{"-P a"}, "!expected name=value"},
        {{"-P =1"}, "!expected name=value"},
        {{"-P  =1"}, "!expected name=value"},
        {{"-P "}, "!expected name=value"},
        /* two configs, two targets */
        {{"--config one.json", "--config two.json"},
         "{\"a\": 2, \"b\": \"one\", \"c\": \"two\"}\n"},
        {{"--config two.json", "--config one.json"},
         "{\"a\": 1, \"c\": \"two\", \"b\": \"one\"}\n"},
        {{"@one.json", "@two.json", "-P z=1"},
         "{\"a\": 1, \"b\": \"one\", \"z\": 1}\n"
         "{\"a\": 2, \"c\": \"two\", \"z\": 1}\n"},
        {{"--set-file a=text"}, "{\"a\": \"line 1\\nline 2\"}\n"},
        {{"--set-file a=nobody"}, "!nobody"},
        {{"@nobody.json"}, "!nobody.json"},
    };

    (void)state;
    put_file("one.json", "{\"parameters\": {\"a\": 1, \"b\": \"one\"}}");
    put_file("two.json", "{\"parameters\": {\"a\": 2, \"c\": \"two\"}}");
    put_file("text", "line 1\nline 2\n\n");
    CHECK(rows);
}

static void variables(void **state)
{
    static const struct row rows[] = {
        {{"-V a=[1,2]"}, "{\"a\": 1}\n{\"a\": 2}\n"},
        {{"-V a=5"}, "{\"a\": 5}\n"},
        {{"-V a=[]"}, ""},
        {{"-V a=[]", "-V b=[1,2]"}, ""},
        {{"-V b=[1,2]", "-V a=[]", "-P c=1"}, ""},
        {{"-V a=[[1,2],[3]]"}, "{\"a\": \"1 2\"}\n{\"a\": \"3\"}\n"},
        {{"-V a=[null,true]"}, "{\"a\": null}\n{\"a\": true}\n"},
        {{"-V a=[1,1]"}, "{\"a\": 1}\n{\"a\": 1}\n"},
        /* the last varies fastest */
        {{"-V a=[1,2]", "-V b=[3,4]"},
         "{\"a\": 1, \"b\": 3}\n{\"a\": 1, \"b\": 4}\n"
         "{\"a\": 2, \"b\": 3}\n{\"a\": 2, \"b\": 4}\n"},
        {{"-V b=[3,4]", "-V a=[1,2]"},
         "{\"b\": 3, \"a\": 1}\n{\"b\": 3, \"a\": 2}\n"
         "{\"b\": 4, \"a\": 1}\n{\"b\": 4, \"a\": 2}\n"},
        {{"-V a=[1]", "-V a=[2,3]"}, "{\"a\": 2}\n{\"a\": 3}\n"},
        /* over the config's, in its place */
        {{"--config vars.json", "-V a=[7]"},
         "{\"a\": 7, \"b\": 3}\n{\"a\": 7, \"b\": 4}\n"},
        {{"--config vars.json", "-P a=9"},
         "{\"a\": 1, \"b\": 3}\n{\"a\": 1, \"b\": 4}\n"
         "{\"a\": 2, \"b\": 3}\n{\"a\": 2, \"b\": 4}\n"},
        {{"-P a=9", "-V a=[1]"}, "{\"a\": 1}\n"},
        {{"-P z=1", "-P a=9", "-P y=1", "-V a=[1]"},
         "{\"z\": 1, \"a\": 1, \"y\": 1}\n"},
        /* names and expressions see them */
        {{"-P s=\"<${a}>\"", "-V a=[1,2]"},
         "{\"s\": \"<1>\", \"a\": 1}\n{\"s\": \"<2>\", \"a\": 2}\n"},
        {{"-V a=[\"$(1+1)$\",\"${b}\"]", "-P b=7"},
         "{\"b\": 7, \"a\": \"2\"}\n{\"b\": 7, \"a\": \"7\"}\n"},
        {{"-V a=foo"}, "!expected a list of values as JSON"},
        {{"-V a"}, "!expected name=value"},
        {{"-V a=[1,"}, "!expected a list of values as JSON"},
        /* order by hand: those named first, the rest as given */
        {{"-V a=[1,2]", "-V z=[3,4]", "-V b=[5]",
          "-P sys.plan_builder.var_order=[\"z\",\"a\"]"},
         "{\"sys.plan_builder.var_order\": \"z a\", \"z\": 3, \"a\": 1, "
         "\"b\": 5}\n"
         "{\"sys.plan_builder.var_order\": \"z a\", \"z\": 3, \"a\": 2, "
         "\"b\": 5}\n"
         "{\"sys.plan_builder.var_order\": \"z a\", \"z\": 4, \"a\": 1, "
         "\"b\": 5}\n"
         "{\"sys.plan_builder.var_order\": \"z a\", \"z\": 4, \"a\": 2, "
         "\"b\": 5}\n"},
        {{"-V a=[1]", "-V b=[2]", "-V c=[3]",
          "-P sys.plan_builder.var_order=[\"nobody\",\"c\",\"c\",5,\"b\"]"},
         "{\"sys.plan_builder.var_order\": \"nobody c c 5 b\", \"c\": 3, "
         "\"b\": 2, \"a\": 1}\n"},
    };

    (void)state;
    put_file("vars.json", "{\"variables\": {\"a\": [1, 2], \"b\": [3, 4]}}");
    CHECK(rows);
}

static void extensions(void **state)
{
    static const struct row rows[] = {
        {{"-P a=1", "-E {\"parameters\": {\"b\": 2}}"},
         "{\"a\": 1, \"b\": 2}\n"},
        {{"-E {\"parameters\": {\"b\": 2}}"}, "{\"b\": 2}\n"},
        {{"-E {}"}, ""},
        {{"-P a=1", "-E {}"}, "{\"a\": 1}\n"},
        {{"-V f=[\"caffe\",\"caffe2\",\"bvlc_caffe\"]",
          "-E {\"condition\": {\"f\": \"caffe\"}, \"parameters\": {\"h\": 1}}"},
         "{\"f\": \"caffe\", \"h\": 1}\n{\"f\": \"caffe2\", \"h\": 1}\n"
         "{\"f\": \"bvlc_caffe\"}\n"},
        /* cases win over parameters; each is an experiment */
        {{"-P a=1", "-E {\"parameters\": {\"p\": 0}, \"cases\": [{\"c\": 1}, "
                    "{\"c\": 2, \"p\": 5}, {}]}"},
         "{\"a\": 1, \"p\": 0, \"c\": 1}\n{\"a\": 1, \"p\": 5, \"c\": 2}\n"
         "{\"a\": 1, \"p\": 0}\n"},
        {{"-P a=1", "-E {\"cases\": []}"}, "{\"a\": 1}\n"},
        /* later ones see what earlier ones did, cases multiply */
        {{"-P a=1",
          "-E {\"condition\": {\"a\": 1}, \"parameters\": "
          "{\"b\": 2}}",
          "-E {\"condition\": {\"b\": 2}, \"parameters\": {\"c\": 3}}"},
         "{\"a\": 1, \"b\": 2, \"c\": 3}\n"},
        {{"-P a=1", "-E {\"cases\": [{\"b\": 1}, {\"b\": 2}]}",
          "-E {\"condition\": {\"b\": 2}, \"cases\": [{\"c\": 1}, "
          "{\"c\": 2}]}"},
         "{\"a\": 1, \"b\": 1}\n{\"a\": 1, \"b\": 2, \"c\": 1}\n"
         "{\"a\": 1, \"b\": 2, \"c\": 2}\n"},
        /* over everything */
        {{"-P a=1", "-V a=[2]", "-E {\"parameters\": {\"a\": 3}}"},
         "{\"a\": 3}\n"},
        /* a name that is not there matches */
        {{"-P a=1", "-E {\"condition\": {\"zz\": \"x\"}, \"parameters\": "
                    "{\"h\": 1}}"},
         "{\"a\": 1, \"h\": 1}\n"},
        {{"-P a=1", "-E {\"condition\": [\"a\", \"zz\"], \"parameters\": "
                    "{\"h\": 1}}"},
         "{\"a\": 1}\n"},
        /* captures, also in lists and inside names and expressions */
        {{"-P m=\"resnet50\"",
          "-E {\"condition\": {\"m\": \"([a-z]+)([0-9]+)(x)?\"}, "
          "\"parameters\": {\"k\": \"${__condition.m_1}-${__condition.m_2}-"
          "${__condition.m_0}-${__condition.m_3}\", \"l\": "
          "[\"${__condition.m_2}\", 1]}, \"cases\": [{\"c\": "
          "\"$(${__condition.m_2}*2)$\"}]}"},
         "{\"m\": \"resnet50\", \"k\": \"resnet-50-resnet50-None\", "
         "\"l\": \"50 1\", \"c\": \"100\"}\n"},
        {{"-P m=\"x\"", "-P x.v=\"V\"",
          "-E {\"condition\": {\"m\": \"(.)\"}, \"parameters\": {\"k\": "
          "\"${${__condition.m_1}.v}\"}}"},
         "{\"m\": \"x\", \"x.v\": \"V\", \"k\": \"V\"}\n"},
        {{"-P b=16", "-E {\"condition\": {\"b\": [8, 16]}, \"parameters\": "
                     "{\"k\": \"${__condition.b_0}\"}}"},
         "{\"b\": 16, \"k\": \"16\"}\n"},
        {{"-P a.b_1=\"q7\"",
          "-E {\"condition\": {\"a.b_1\": \"q(.)\"}, \"parameters\": {\"k\": "
          "\"${__condition.a.b_1_1}${__condition.a.b_1_0}\"}}"},
         "{\"a.b_1\": \"q7\", \"k\": \"7q7\"}\n"},
        /* captured from the experiment as it was */
        {{"-P m=\"old\"",
          "-E {\"condition\": {\"m\": \"(o)\"}, \"parameters\": {\"m\": "
          "\"new\", \"k\": \"${__condition.m_0}${__condition.m_1}\"}}"},
         "{\"m\": \"new\", \"k\": \"oldo\"}\n"},
        /* a capture that is not there fails unless somebody replaces it */
        {{"-P m=\"x\"",
          "-E {\"condition\": {\"m\": \"x\"}, \"parameters\": {\"k\": "
          "\"${__condition.m_1}\"}}"},
         "!'${__condition.m_1}' names nothing"},
        {{"-P m=\"x\"",
          "-E {\"condition\": {\"m\": \"x\"}, \"parameters\": {\"k\": "
          "\"${__condition.m_1}\"}}",
          "-E {\"parameters\": {\"k\": 1}}"},
         "{\"m\": \"x\", \"k\": 1}\n"},
        /* what a condition speaks of must be plain */
        {{"-P n=\"${z}\"", "-P z=1",
          "-E {\"condition\": {\"n\": \"1\"}, \"parameters\": {\"k\": 1}}"},
         "!a condition must not use 'n'"},
        {{"-P n=\"$(1)$\"",
          "-E {\"condition\": {\"n\": \"1\"}, \"parameters\": {\"k\": 1}}"},
         "!a condition must not use 'n'"},
        {{"-P n=\"$5 {x}\"",
          "-E {\"condition\": {\"n\": \".5\"}, \"parameters\": {\"k\": 1}}"},
         "{\"n\": \"$5 {x}\", \"k\": 1}\n"},
        {{"-P n=[\"${z}\"]", "-P z=1",
          "-E {\"condition\": {\"n\": [1]}, \"parameters\": {\"k\": 1}}"},
         "{\"n\": \"1\", \"z\": 1}\n"},
        {{"-E {"}, "!-E"},
        {{"-E 5"}, "!-E"},
        {{"-E {\"condtion\": {}}"}, "!unknown key 'condtion'"},
    };

    (void)state;
    CHECK(rows);
}

/* Captured text lives as long as one combination; what was kept of an earlier
 * one must not be seen in the next. */
static void captures_in_a_long_sweep(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    PR_AUTO_BUF struct pr_buf values = PR_BUF_INIT(1 << 20);
    PR_AUTO_BUF struct pr_buf want = PR_BUF_INIT(1 << 22);

    (void)state;
    pr_buf_str(&values, "-V m=[");
    for (int i = 0; i < 300; i++) {
        const char *family = i % 3 ? "net" : "resnet";
        pr_buf_printf(&values, "%s\"%s%.*s%d\"", i ? ", " : "", family, i % 40,
                      "________________________________________", i);
        pr_buf_printf(&want,
                      "{\"d\": \"%s!\", \"m\": \"%s%.*s%d\", \"n\": \"%d\", "
                      "\"f\": \"%s\"}\n",
                      family, family, i % 40,
                      "________________________________________", i, i, family);
    }
    pr_buf_str(&values, "]");
    assert_string_equal(
        experiments(a, &bare,
                    ARGS("-P d=\"${f}!\"", values.data,
                         "-E {\"condition\": {\"m\": "
                         "\"([a-z]+)_*([0-9]+)\"}, \"parameters\": {\"n\": "
                         "\"${__condition.m_2}\", \"f\": "
                         "\"${__condition.m_1}\"}}")),
        want.data);
}

/* PRONY_SECTION_NAME for what is a parameter already. */
static void the_environment_sets_parameters(void **state)
{
    static const struct row rows[] = {
        {{"-P z=1", "@f"},
         "{\"my.tag\": 5, \"my-own.x\": \"text\", \"q\": \"a b\", "
         "\"z\": 1}\n"},
    };

    (void)state;
    put_file("f", "{\"parameters\": {\"my.tag\": 1, \"my-own.x\": "
                  "\"y\", \"q\": \"z\"}}");
    setenv("PRONY_MY_TAG", "5", 1);
    setenv("PRONY_MY_OWN_X", "\"text\"", 1);
    setenv("PRONY_Q", "a b", 1);
    setenv("PRONY_UNKNOWN_NAME", "5", 1);
    setenv("PRONY_Z", "7", 1); /* the command line wins */
    CHECK(rows);
    unsetenv("PRONY_MY_TAG");
    unsetenv("PRONY_MY_OWN_X");
    unsetenv("PRONY_Q");
    unsetenv("PRONY_UNKNOWN_NAME");
    unsetenv("PRONY_Z");
}

static void unknown_names_in_our_sections_are_refused(void **state)
{
    static const struct {
        const char *args[4], *where, *hint;
    } rows[] = {
        {{"-P exp.modle=1"}, "-P exp.modle", "did you mean 'exp.model'?"},
        {{"exp.modle=1"}, "exp.modle=1", "did you mean 'exp.model'?"},
        {{"~exp.modle"}, "~exp.modle", "did you mean 'exp.model'?"},
        {{"-V exp.num_batch=[1]"},
         "-V exp.num_batch",
         "did you mean 'exp.num_batches'?"},
        {{"-E {\"parameters\": {\"exp.modle\": 1}}"},
         "-E",
         "did you mean 'exp.model'?"},
        {{"-E {\"cases\": [{\"exp.modle\": 1}]}"},
         "-E",
         "did you mean 'exp.model'?"},
        {{"-E {\"condition\": {\"exp.modle\": 1}}"},
         "-E",
         "did you mean 'exp.model'?"},
        {{"@own.yaml"}, "own.yaml:2:7", "did you mean 'exp.model'?"},
        {{"--config own.yaml"}, "own.yaml:2:7", "did you mean 'exp.model'?"},
        {{"-P exp.zzzzzzzzzzz=1"},
         "-P exp.zzzzzzzzzzz",
         "'prony help --params ^exp' lists the names"},
    };

    (void)state;
    put_file("own.yaml", "a.b: 1\nexp: {\"modle\": 1}\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_err err = {0};
        struct pr_plan *p;

        assert_int_equal(make_plan(&full, rows[i].args, &p, &err), PR_E_CONF);
        assert_non_null(strstr(err.msg, "unknown key"));
        assert_string_equal(err.where, rows[i].where);
        assert_int_equal(strncmp(err.hint, rows[i].hint, strlen(rows[i].hint)),
                         0);
        /* Without our tables everything is the user's. */
        if (rows[i].args[0][0] != '~') {
            assert_int_equal(make_plan(&bare, rows[i].args, &p, &err), 0);
            pr_plan_free(p);
        }
    }
}

static void names_of_ones_own_pass(void **state)
{
    struct pr_plan *p;

    (void)state;
    assert_int_equal(
        make_plan(&full,
                  ARGS("-P my.thing=1", "-V other=[1]", "-P runtime.env.ANY=1"),
                  &p, NULL),
        PR_OK);
    assert_null(pr_plan_warnings(p));
    pr_plan_free(p);
}

/* In a peer's file an unknown name is passed on with a warning, and then may
 * be set from the command line too. */
static void unknown_names_of_peers_are_warned_of(void **state)
{
    struct pr_plan *p;
    const struct pr_warning *w;

    (void)state;
    put_file("peer.json", "{\"parameters\": {\"exp.bench_root\": \"x\"}}");
    assert_int_equal(make_plan(&full,
                               ARGS("@peer.json", "-P exp.bench_root=\"y\""),
                               &p, NULL),
                     PR_OK);
    w = pr_plan_warnings(p);
    assert_non_null(w);
    assert_string_equal(w->where, "peer.json:1:17");
    assert_non_null(strstr(w->text, "'exp.bench_root'"));
    assert_null(w->next);
    pr_plan_free(p);
}

static void slips_are_warned_of(void **state)
{
    static const struct {
        const char *args[4];
        const char *text; /* NULL: no warning */
    } rows[] = {
        {{"-P a=foo"}, NULL},
        {{"-P a=/some/path"}, NULL},
        {{"-P a=[1,2"}, "taken as the text '[1,2'"},
        {{"-P a='x'"}, "taken as the text ''x''"},
        {{"-P a={x:1}"}, "taken as the text"},
        {{"-P a=\"x"}, "taken as the text"},
        {{"-P a=1", "-V a=[2]"}, "'a' is a variable too"},
        {{"a=1", "--config v.json"}, "'a' is a variable too"},
        {{"-P b=1", "-V a=[2]"}, NULL},
    };

    (void)state;
    put_file("v.json", "{\"variables\": {\"a\": [1]}}");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct pr_warning *w;
        struct pr_plan *p;

        assert_int_equal(make_plan(&bare, rows[i].args, &p, NULL), PR_OK);
        w = pr_plan_warnings(p);
        if (!rows[i].text) {
            assert_null(w);
        } else {
            assert_non_null(w);
            assert_non_null(strstr(w->text, rows[i].text));
            assert_true(w->remedy[0] && w->where[0]);
        }
        pr_plan_free(p);
    }
}

#define HERE(test) cmocka_unit_test_setup_teardown(test, enter_dir, leave_dir)

/* Of a file with many parameters each is compared with few others, and what is
 * compared with all others has a limit that is said. */
static void large_files_take_linear_work(void **state)
{
    static const char *const formats[] = {"my.p%d: 1\n", "my.map.p%d: 1\n",
                                          "runtime.env.P%d: 1\n"};
    enum { MANY = 20000 };

    (void)state;
    for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
        PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(16 << 20);
        struct pr_plan *p;

        for (int i = 0; i < MANY; i++)
            pr_buf_printf(&text, formats[f], i);
        put_file("many.yaml", text.data);
        assert_int_equal(make_plan(&bare, ARGS("@many.yaml"), &p, NULL), PR_OK);
        assert_true(p->scope.comparisons < 20 * MANY);
        pr_plan_free(p);
    }
}

static void what_has_limits(void **state)
{
    static const struct {
        const char *head, *format, *want;
    } rows[] = {
        {"variables:\n", "  v%d: [1]\n", "more than 1000 variables"},
        {"exp.model: m\n", "exp.model_opts.k%d: 1\n",
         "more than 1000 keys of 'exp.model_opts' are set one by one"},
    };

    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (int n = 1000; n <= 1001; n++) {
            PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(16 << 20);
            struct pr_err err = {0};
            struct pr_plan *p;
            int rc;

            pr_buf_printf(&text, "%s%s", r ? "" : "experiments:\n- ",
                          rows[r].head);
            for (int i = 0; i < n; i++) {
                pr_buf_str(&text, r ? "" : "  ");
                pr_buf_printf(&text, rows[r].format, i);
            }
            put_file("much.yaml", text.data);
            rc = make_plan(&full, ARGS("@much.yaml"), &p, &err);
            assert_int_equal(rc, n > 1000 ? PR_E_CONF : PR_OK);
            if (rc)
                assert_string_equal(err.msg, rows[r].want);
            else
                pr_plan_free(p);
        }
}

/* The last case takes the experiment itself, and captures are still of what
 * matched. */
static void extensions_set_what_they_match(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);

    (void)state;
    assert_string_equal(
        experiments(a, &bare,
                    ARGS("-P m=\"ab\"",
                         "-E {\"condition\": {\"m\": \"(a)(b)\"}, "
                         "\"parameters\": {\"m\": \"${__condition.m_2}\", "
                         "\"x\": \"${__condition.m_1}\"}, "
                         "\"cases\": [{\"c\": 1}, "
                         "{\"c\": \"${__condition.m_0}\"}]}")),
        "{\"m\": \"b\", \"x\": \"a\", \"c\": 1}\n"
        "{\"m\": \"b\", \"x\": \"a\", \"c\": \"ab\"}\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HERE(later_layers_win),
        HERE(files_and_arguments),
        HERE(variables),
        HERE(extensions),
        HERE(captures_in_a_long_sweep),
        HERE(the_environment_sets_parameters),
        HERE(unknown_names_in_our_sections_are_refused),
        HERE(names_of_ones_own_pass),
        HERE(unknown_names_of_peers_are_warned_of),
        HERE(slips_are_warned_of),
        HERE(large_files_take_linear_work),
        HERE(what_has_limits),
        HERE(extensions_set_what_they_match),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
