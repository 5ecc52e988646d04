/* Parameters of frameworks in plans: which experiments get them, what they
 * give way to, and that ids do not depend on them. */
#include "plans.h"

#include "plan/plan_write.h"

static const char toy[] = "framework: toy\n"
                          "title: Toy\n"
                          "image: toy/toy\n"
                          "parameters:\n"
                          "  depth: 3\n"
                          "  twice: {default: '$(${toy.depth} * 2)$',\n"
                          "          type: int}\n"
                          "  list: [a, b]\n"
                          "  open: {type: int}\n"
                          "  mode: {default: a, choices: [a, b]}\n"
                          "  theirs: {default: 1, launcher: true}\n";

static const char fork_yaml[] = "framework: fork\n"
                                "family: toy\n"
                                "parameters:\n"
                                "  depth: 4\n"
                                "  fork.own: x\n";

static int enter_frameworks(void **state)
{
    if (enter_dir(state) || system("mkdir -p share/workloads share/frameworks"))
        return -1;
    put_file("share/frameworks/toy.yaml", toy);
    put_file("share/frameworks/fork.yaml", fork_yaml);
    (void)unsetenv("PRONY_FRAMEWORKS");
    return setenv("PRONY_SHARE", "share", 1);
}

/* What an experiment has of these names, "a=1 b=2", one line each. */
static const char *shown(struct pr_arena *a, const char *const *args,
                         bool no_defaults)
{
    static const char *const names[] = {
        "exp.framework_title",
        "exp.framework_family",
        "exp.docker_image",
        "exp.data_dir",
        "toy.depth",
        "toy.twice",
        "toy.list",
        "toy.open",
        "toy.mode",
        "toy.theirs",
        "fork.own",
    };
    struct pr_plan_opts opts = {.no_defaults = no_defaults};
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 20);
    const char *text = experiments(a, &opts, args);

    if (*text == '!')
        return text;
    while (*text) {
        size_t n = strcspn(text, "\n");
        struct pr_value v = json(a, pr_arena_copy(a, text, n));
        const char *sep = "";

        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            const struct pr_value *m = pr_get(&v, names[i]);

            if (!m || (m->kind == PR_STR && !m->len))
                continue;
            pr_buf_printf(&out, "%s%s=", sep, strrchr(names[i], '.') + 1);
            pr_value_write_text(&out, m);
            sep = " ";
        }
        pr_buf_char(&out, '\n');
        text += n + 1;
    }
    return pr_arena_copy(a, out.data ? out.data : "", out.len);
}

#define TOY "framework_title=Toy framework_family=toy docker_image=toy/toy "

static void an_experiment_has_what_its_framework_has(void **state)
{
    static const struct {
        const char *args[5], *want;
        bool no_defaults;
    } rows[] = {
        {{"-P exp.framework=\"toy\""},
         TOY "depth=3 twice=6 list=['a', 'b'] mode=a\n",
         false},
        {{"-P exp.framework=\"toy\"", "-P toy.depth=5", "-P toy.open=\"7\""},
         TOY "depth=5 twice=10 list=['a', 'b'] open=7 mode=a\n",
         false},
        {{"-P exp.framework=\"fork\""},
         "framework_title=fork framework_family=toy depth=4 own=x\n",
         false},
        {{"-V exp.framework=[\"fork\", \"none\", \"toy\"]"},
         "framework_title=fork framework_family=toy depth=4 own=x\n"
         "framework_family=none\n" TOY
         "depth=3 twice=6 list=['a', 'b'] mode=a\n",
         false},
        /* somebody sets what the file would */
        {{"-P exp.framework=\"toy\"", "-P exp.framework_title=\"T\"",
          "-P exp.docker_image=\"\"", "-P toy.list=[]"},
         "framework_title=T framework_family=toy depth=3 twice=6 list=[] "
         "mode=a\n",
         false},
        {{"-P exp.framework=\"toy\"", "-P toy.docker_image=\"i\"",
          "-P toy.data_dir=\"d\""},
         "framework_title=Toy framework_family=toy docker_image=i data_dir=d "
         "depth=3 twice=6 list=['a', 'b'] mode=a\n",
         false},
        {{"-P exp.framework=\"fork\"", "-P toy.docker_image=\"i\""},
         "framework_title=fork framework_family=toy docker_image=i depth=4 "
         "own=x\n",
         false},
        {{"-P exp.framework=\"fork\"", "-P toy.docker_image=\"i\"",
          "-P fork.docker_image=\"j\""},
         "framework_title=fork framework_family=toy docker_image=j depth=4 "
         "own=x\n",
         false},
        {{"-P exp.framework=\"toy\"", "-P toy.launcher=\"l\""},
         TOY "depth=3 twice=6 list=['a', 'b'] mode=a theirs=1\n",
         false},
        {{"-P exp.framework=\"toy\"", "-P toy.mode=\"c\""},
         "!-P toy.mode parameter 'toy.mode': \"c\" must be one of "
         "[\"a\", \"b\"]",
         false},
        {{"-P exp.framework=\"toy\"", "-P toy.open=\"x\""},
         "!-P toy.open parameter 'toy.open': wants a whole number, got 'x'",
         false},
        {{"-P exp.framework=\"${exp.model}\"", "-P exp.model=\"toy\""},
         "framework_family=toy\n",
         false},
        {{"-P exp.framework=\"toy\"", "-P a=1"}, "\n", true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
        const char *got = shown(a, rows[i].args, rows[i].no_defaults);

        if (strcmp(got, rows[i].want) != 0)
            fail_msg("row %zu: %s", i, got);
    }
}

#define WHEN(c, p) "-E {\"condition\": {" c "}, \"parameters\": {" p "}}"

static void extensions_see_and_change_it(void **state)
{
    static const struct {
        const char *args[5], *want;
    } rows[] = {
        /* a default of the file matches */
        {{"-P exp.framework=\"toy\"",
          WHEN("\"toy.mode\": \"a\"", "\"toy.depth\": 1")},
         TOY "depth=1 twice=2 list=['a', 'b'] mode=a\n"},
        /* another framework */
        {{"-P exp.framework=\"toy\"",
          WHEN("\"toy.mode\": \"a\"", "\"exp.framework\": \"fork\"")},
         "framework_title=fork framework_family=toy depth=4 own=x\n"},
        {{"-P exp.framework=\"toy\"", "-P exp.model=\"m\"",
          WHEN("\"exp.model\": \"m\"",
               "\"exp.framework\": \"none\", \"toy.depth\": 9")},
         "framework_family=none depth=9\n"},
        /* what is followed */
        {{"-P exp.framework=\"toy\"",
          WHEN("\"toy.mode\": \"a\"", "\"toy.docker_image\": \"i\"")},
         "framework_title=Toy framework_family=toy docker_image=i depth=3 "
         "twice=6 list=['a', 'b'] mode=a\n"},
        /* a name that was captured */
        {{"-P exp.model=\"toy-1\"",
          WHEN("\"exp.model\": \"(.*)-1\"",
               "\"exp.framework\": \"${__condition.exp.model_1}\"")},
         TOY "depth=3 twice=6 list=['a', 'b'] mode=a\n"},
        {{"-P exp.framework=\"fork\"",
          "-E {\"cases\": [{\"exp.framework\": \"toy\"}, {\"x\": 1}]}"},
         TOY "depth=3 twice=6 list=['a', 'b'] mode=a\n"
             "framework_title=fork framework_family=toy depth=4 own=x\n"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
        const char *got = shown(a, rows[i].args, false);

        if (strcmp(got, rows[i].want) != 0)
            fail_msg("row %zu: %s", i, got);
    }
}

static void first_id(const char *const *args, char out[static 40])
{
    struct pr_plan_opts opts = {0};
    struct pr_experiment e;
    struct pr_plan *p;
    struct pr_walk *w;

    assert_int_equal(make_plan(&opts, args, &p, NULL), PR_OK);
    w = pr_walk_new(p);
    assert_non_null(w);
    assert_int_equal(pr_walk_next(w, &e, NULL), 1);
    strcpy(out, e.id);
    pr_walk_free(w);
    pr_plan_free(p);
}

static void ids_do_not_depend_on_the_file(void **state)
{
    static const char *const args[] = {"-P exp.framework=\"toy\"", NULL};
    static const char *const more[] = {"-P exp.framework=\"toy\"",
                                       "-P toy.depth=3", NULL};
    char with[40], without[40], set[40];

    (void)state;
    first_id(args, with);
    first_id(more, set);
    assert_int_equal(unlink("share/frameworks/toy.yaml"), 0);
    first_id(args, without);
    assert_string_equal(with, without);
    assert_string_not_equal(with, set);
}

static void the_story_names_file_and_line(void **state)
{
    static const char *const args[] = {"-P exp.framework=\"toy\"", NULL};
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 20);
    struct pr_plan_opts opts = {0};
    struct pr_plan *p;

    (void)state;
    assert_int_equal(make_plan(&opts, args, &p, NULL), PR_OK);
    assert_int_equal(pr_plan_explain(p, "toy.depth", &out, NULL), PR_OK);
    assert_non_null(
        strstr(out.data, "from framework share/frameworks/toy.yaml:5:3: 3"));
    pr_plan_free(p);
}

static void a_wrong_file_stops_the_plan(void **state)
{
    static const char *const args[] = {"-P exp.framework=\"toy\"", NULL};
    static const char *const other[] = {"-P exp.framework=\"fork\"", NULL};
    struct pr_plan_opts opts = {0};
    struct pr_err err = {0};
    struct pr_plan *p;

    (void)state;
    put_file("share/frameworks/toy.yaml", "framework: toy\nkin: 1\n");
    assert_int_equal(make_plan(&opts, args, &p, &err), PR_E_CONF);
    assert_string_equal(err.where, "share/frameworks/toy.yaml:2:1");
    assert_int_equal(make_plan(&opts, other, &p, &err), PR_OK);
    pr_plan_free(p);
}

static void a_slip_in_a_name_is_told_of(void **state)
{
    static const struct {
        const char *arg, *remedy; /* NULL: nothing is said */
    } rows[] = {
        {"-P toy.deptth=1", "did you mean 'toy.depth'?"},
        {"-V toy.detph=[1, 2]", "did you mean 'toy.depth'?"},
        {"-P toy.lancher=1", "did you mean 'toy.launcher'?"},
        {"-P toy.depth=1", NULL},
        {"-P toy.launcher=1", NULL},
        {"-P toy.mine=1", NULL},
        {"-P toys.deptth=1", NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *args[] = {"-P exp.framework=\"toy\"", rows[i].arg, NULL};
        struct pr_plan_opts opts = {0};
        const struct pr_warning *w;
        struct pr_plan *p;

        assert_int_equal(make_plan(&opts, args, &p, NULL), PR_OK);
        w = pr_plan_warnings(p);
        if ((w != NULL) != (rows[i].remedy != NULL))
            fail_msg("%s: %s", rows[i].arg, w ? w->text : "no warning");
        if (w) {
            assert_string_equal(w->remedy, rows[i].remedy);
            assert_null(w->next);
        }
        pr_plan_free(p);
    }
}

static int attempt(void)
{
    static const char *const args[] = {
        "-V exp.framework=[\"toy\", \"fork\"]",
        WHEN("\"toy.depth\": 3", "\"toy.docker_image\": \"i\""),
        "-P toy.deptth=1", NULL};
    struct pr_plan_opts opts = {0};
    struct pr_experiment e;
    struct pr_walk *w = NULL;
    struct pr_plan *p;
    int rc = make_plan(&opts, args, &p, NULL);

    if (!rc && !(w = pr_walk_new(p)))
        rc = PR_E_NOMEM;
    while (!rc && (rc = pr_walk_next(w, &e, NULL)) == 1)
        rc = PR_OK;
    pr_walk_free(w);
    pr_plan_free(p);
    return rc;
}

static void out_of_memory_is_an_error(void **state)
{
    (void)state;
    torture(attempt);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, enter_frameworks, leave_dir)
    const struct CMUnitTest tests[] = {
        T(an_experiment_has_what_its_framework_has),
        T(extensions_see_and_change_it),
        T(ids_do_not_depend_on_the_file),
        T(the_story_names_file_and_line),
        T(a_wrong_file_stops_the_plan),
        T(a_slip_in_a_name_is_told_of),
        T(out_of_memory_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
