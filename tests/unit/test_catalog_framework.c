/* Files of frameworks: what they may say, what is refused and where, and where
 * they are looked for. */
#include "catalog/framework.h"
#include "scratch.h"
#include "values.h"

static int parse(struct pr_arena *a, const char *text, struct pr_framework **f,
                 struct pr_err *err)
{
    return pr_framework_parse(text, strlen(text), "toy", "d/toy.yaml", a, f,
                              err);
}

static struct pr_framework *good(struct pr_arena *a, const char *text)
{
    struct pr_framework *f = NULL;
    struct pr_err err = {0};

    if (parse(a, text, &f, &err))
        fail_msg("%s: %s: %s", text, err.where, err.msg);
    return f;
}

static const char whole[] = "framework: toy\n"
                            "title: The Toy\n"
                            "about: >-\n"
                            "  It does\n"
                            "  nothing.\n"
                            "kind: python\n"
                            "program: python/toy.py\n"
                            "module: toys\n"
                            "python: TOY_PYTHON\n"
                            "find: {program: toy, module: toys}\n"
                            "remedy: buy one\n"
                            "image: toy/toy\n"
                            "phases: [inference]\n"
                            "places: [container]\n"
                            "models: [a, b]\n"
                            "results: [time]\n"
                            "parameters:\n"
                            "  depth: 3\n"
                            "  rate: {default: 2, type: float}\n"
                            "  mode: {default: a, choices: [a, b c],\n"
                            "         help: Which., launcher: true}\n"
                            "  toy.wide: {default: '$(1 + 1)$', type: int}\n"
                            "  open: {help: No default.}\n"
                            "  words: [a, 1]\n"
                            "  map: {default: {x: 1}}\n";

static void a_file_says_everything(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_framework *f = good(a, whole);

    (void)state;
    assert_string_equal(f->name, "toy");
    assert_string_equal(f->title, "The Toy");
    assert_string_equal(f->desc, "It does nothing.");
    assert_string_equal(f->family, "toy");
    assert_string_equal(f->path, "d/toy.yaml");
    assert_int_equal(f->kind, PR_FRAMEWORK_PYTHON);
    assert_string_equal(f->program, "python/toy.py");
    assert_string_equal(f->module, "toys");
    assert_string_equal(f->python_var, "TOY_PYTHON");
    assert_string_equal(f->find_program, "toy");
    assert_string_equal(f->find_module, "toys");
    assert_string_equal(f->remedy, "buy one");
    assert_string_equal(f->image, "toy/toy");
    assert_true(!f->trains && f->infers && !f->bare && f->contained);
    assert_string_equal(f->models[1], "b");
    assert_null(f->models[2]);
    assert_string_equal(f->results[0], "time");
    assert_null(f->results[1]);
}

static void parameters_have_a_type_and_a_place(void **state)
{
    static const struct {
        const char *name, *type, *def, *choices, *help;
        uint32_t line;
        bool contract;
    } rows[] = {
        {"toy.depth", "int", "3", NULL, "", 18, false},
        {"toy.rate", "float", "2.0", NULL, "", 19, false},
        {"toy.mode", "str", "\"a\"", "a|b c", "Which.", 20, true},
        {"toy.wide", "int", "\"$(1 + 1)$\"", NULL, "", 22, false},
        {"toy.open", "any", "null", NULL, "No default.", 23, false},
        {"toy.words", "list", "[\"a\", 1]", NULL, "", 24, false},
        {"toy.map", "any", "{\"x\": 1}", NULL, "", 25, false},
    };
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_framework *f = good(a, whole);

    (void)state;
    assert_int_equal(f->param_count, sizeof rows / sizeof *rows);
    for (size_t i = 0; i < f->param_count; i++) {
        const struct pr_framework_param *p = &f->params[i];

        assert_string_equal(p->name, rows[i].name);
        assert_string_equal(p->type, rows[i].type);
        assert_string_equal(json_text(a, &p->def), rows[i].def);
        assert_int_equal(p->choices != NULL, rows[i].choices != NULL);
        if (p->choices)
            assert_string_equal(p->choices, rows[i].choices);
        assert_string_equal(p->help, rows[i].help);
        assert_int_equal(p->contract, rows[i].contract);
        assert_int_equal(p->line, rows[i].line);
        assert_int_equal(p->col, 3);
    }
}

static void little_need_be_said(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_framework *f = good(a, "framework: toy");

    (void)state;
    assert_string_equal(f->title, "toy");
    assert_string_equal(f->desc, "");
    assert_int_equal(f->kind, PR_FRAMEWORK_SCRIPT);
    assert_true(f->trains && f->infers && f->bare && f->contained);
    assert_null(f->image);
    assert_null(f->models);
    assert_int_equal(f->param_count, 0);
}

static void what_is_beside_the_file_has_its_folder(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_framework *f = good(a, "framework: toy\nlauncher: ./go.sh\n"
                                     "family: f\nparameters: {a: 1}\n");

    (void)state;
    assert_int_equal(f->param_count, 2);
    assert_string_equal(f->params[0].name, "f.launcher");
    assert_string_equal(f->params[0].def.s, "d/go.sh");
    assert_string_equal(f->params[1].name, "f.a");
    f = good(a, "framework: toy\nlauncher: /go\n");
    assert_string_equal(f->params[0].def.s, "/go");
    f = good(a, "framework: toy\nkind: python\nmodule: m\nprogram: ./p.py\n");
    assert_string_equal(f->program, "d/p.py");
}

#define TOY "framework: toy\n"

static void what_is_wrong_is_told_with_its_place(void **state)
{
    static const struct {
        const char *text, *where, *msg, *hint;
    } rows[] = {
        {"", ":", "is a map", ""},
        {"[1]", ":1:1", "a framework is a map, got a list", ""},
        {"a: [", ":", "", ""},
        {"title: X", ":1:1", "lacks 'framework'", ""},
        {"framework: yot", ":1:12", "is not 'toy'", ""},
        {"framework: 3", ":1:12", "is not 'toy'", ""},
        {TOY "titel: X", ":2:1", "has no 'titel'", "'title'"},
        {TOY "qqqqqqqqq: X", ":2:1", "has no 'qqq", "docs/frameworks.md"},
        {TOY "title: 3", ":2:8", "'title' wants text on one line, got a", ""},
        {TOY "title: ''", ":2:8", "'title' wants text", ""},
        {TOY "title: \"a\\nb\"", ":2:8", "'title' wants text", ""},
        {TOY "kind: scrip", ":2:7", "native, python or script", ""},
        {TOY "family: a b", ":2:9", "letters, digits", ""},
        {TOY "family: exp", ":1:1", "section of Prony's", ""},
        {TOY "kind: python", ":1:1", "'program' and 'module'", ""},
        {TOY "module: m", ":1:1", "for the kind python", ""},
        {TOY "kind: native\nlauncher: a", ":3:11", "for the kind script", ""},
        {TOY "phases: training", ":2:9", "a list of text", ""},
        {TOY "phases: []", ":2:9", "lists nothing", ""},
        {TOY "phases: [all]", ":2:9", "training and inference, not 'all'", ""},
        {TOY "places: [bare]", ":2:9", "host and container, not 'bare'", ""},
        {TOY "honours: [a]", ":2:10", "'honours' wants a map", ""},
        {TOY "honours: {exp.nonesuch: any}", ":2:11",
         "'exp.nonesuch' is not a parameter", ""},
        {TOY "honours: {exp.dtype: some}", ":2:22",
         "'exp.dtype' wants any, none, or a list", ""},
        {TOY "models: [1]", ":2:10", "'models' wants text", ""},
        {TOY "find: [a]", ":2:7", "find is a map", ""},
        {TOY "find: {modul: a}", ":2:8", "find has no 'modul'", "'module'"},
        {TOY "parameters: [a]", ":2:13", "a map", ""},
        {TOY "parameters: {a-b: 1}", ":2:14", "'a-b' is not a name",
         "toy.NAME"},
        {TOY "parameters: {exp.a: 1}", ":2:14", "'exp.a' is not a name", ""},
        {TOY "parameters: {toy.: 1}", ":2:14", "is not a name", ""},
        {TOY "parameters: {to.a: 1}", ":2:14", "is not a name", ""},
        {TOY "parameters: {a: 1, toy.a: 2}", ":2:20", "'toy.a' is there", ""},
        {TOY "parameters: {a: {defalt: 1}}", ":2:18", "'defalt'", "'default'"},
        {TOY "parameters: {a: {type: text}}", ":2:24", "bool, int", ""},
        {TOY "parameters: {a: {default: x, type: int}}", ":2:14",
         "the default of", ""},
        {TOY "parameters: {a: {default: x, choices: [y, z]}}", ":2:14",
         "the default of", ""},
        {TOY "parameters: {a: {choices: []}}", ":2:27", "lists nothing", ""},
        {TOY "parameters: {a: {choices: ['x|y']}}", ":2:27", "'|'", ""},
        {TOY "parameters: {a: {help: 1}}", ":2:24", "'help' wants text", ""},
        {TOY "parameters: {a: {launcher: 1}}", ":2:28", "true or false", ""},
        {TOY "launcher: a\nparameters: {launcher: b}", ":3:14", "twice", ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
        struct pr_framework *f = NULL;
        struct pr_err err = {0};
        int rc = parse(a, rows[i].text, &f, &err);

        if ((rc != PR_E_CONF && rc != PR_E_FORMAT) || rc != err.code || f ||
            strncmp(err.where, "d/toy.yaml", 10) != 0 ||
            !strstr(err.where, rows[i].where) ||
            !strstr(err.msg, rows[i].msg) || !strstr(err.hint, rows[i].hint))
            fail_msg("%s: %d %s: %s (%s)", rows[i].text, rc, err.where, err.msg,
                     err.hint);
    }
}

/* ---- folders */

static int enter_folders(void **state)
{
    if (enter(state))
        return -1;
    if (system("mkdir -p share/workloads share/frameworks own"))
        return -1;
    spit("share/frameworks/toy.yaml", TOY "title: Shared\n");
    spit("share/frameworks/a.yaml", "framework: a\n");
    spit("share/frameworks/README.md", "nothing\n");
    spit("share/frameworks/not-one.yaml", "nothing\n");
    spit("own/toy.yaml", TOY "title: Own\n");
    spit("own/z.yaml", "framework: z\n");
    (void)setenv("PRONY_FRAMEWORKS", "own", 1);
    return setenv("PRONY_SHARE", "share", 1);
}

static void ones_own_folder_is_first(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    const struct pr_framework *f = NULL;

    (void)state;
    assert_int_equal(pr_framework_find("toy", a, &f, NULL), 1);
    assert_string_equal(f->title, "Own");
    assert_int_equal(f->path[0], '/');
    assert_non_null(strstr(f->path, "/own/toy.yaml"));
    assert_int_equal(unsetenv("PRONY_FRAMEWORKS"), 0);
    assert_int_equal(pr_framework_find("toy", a, &f, NULL), 1);
    assert_string_equal(f->title, "Shared");
    assert_int_equal(pr_framework_find("z", a, &f, NULL), 0);
    assert_int_equal(setenv("PRONY_SHARE", "nowhere", 1), 0);
    assert_int_equal(pr_framework_find("toy", a, &f, NULL), 0);
}

static void a_name_is_no_path(void **state)
{
    static const char *const names[] = {
        "", ".", "..", "../own/toy", "own/toy", "toy.yaml", "to y", "Toy"};
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    const struct pr_framework *f;

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (pr_framework_find(names[i], a, &f, NULL) != 0)
            fail_msg("%s", names[i]);
}

static int note(void *ctx, const struct pr_framework *f, struct pr_err *err)
{
    (void)err;
    strcat(strcat(ctx, f->title), " ");
    return PR_OK;
}

static void each_comes_once_and_sorted(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_err err = {0};
    char seen[64] = "";

    (void)state;
    assert_int_equal(pr_framework_each(a, note, seen, &err), PR_OK);
    assert_string_equal(seen, "a Own z ");
    spit("own/b.yaml", "framework: c\n");
    seen[0] = '\0';
    assert_int_equal(pr_framework_each(a, note, seen, &err), PR_E_CONF);
    assert_non_null(strstr(err.where, "/own/b.yaml:1:12"));
    assert_string_equal(seen, "a ");
}

static void a_name_that_is_none_gets_a_hint(void **state)
{
    struct pr_err err = {0};

    (void)state;
    pr_fail(&err, PR_E_CONF, "", "x");
    assert_int_equal(pr_framework_hint("toyy", &err), PR_E_CONF);
    assert_non_null(strstr(err.hint, "'toy'"));
    pr_fail(&err, PR_E_CONF, "", "x");
    assert_int_equal(pr_framework_hint("something", &err), PR_E_CONF);
    assert_non_null(strstr(err.hint, "PRONY_FRAMEWORKS"));
}

static void what_was_read_is_kept(void **state)
{
    struct pr_frameworks *fs = pr_frameworks_new();
    const struct pr_framework *f = NULL, *again = NULL;
    struct pr_err err = {0};

    (void)state;
    assert_non_null(fs);
    assert_int_equal(pr_frameworks_get(fs, "toy", &f, &err), 1);
    assert_int_equal(pr_frameworks_get(fs, "none", &again, &err), 0);
    spit("own/toy.yaml", "wrong");
    spit("own/none.yaml", "wrong");
    assert_int_equal(pr_frameworks_get(fs, "toy", &again, &err), 1);
    assert_ptr_equal(f, again);
    assert_int_equal(pr_frameworks_get(fs, "none", &again, &err), 0);
    spit("own/a.yaml", "wrong");
    assert_true(pr_frameworks_get(fs, "a", &again, &err) < 0);
    assert_string_equal(f->title, "Own");
    pr_frameworks_free(fs);
    pr_frameworks_free(NULL);
}

static int attempt(void)
{
    struct pr_frameworks *fs = pr_frameworks_new();
    const struct pr_framework *f;
    int rc = fs ? pr_frameworks_get(fs, "toy", &f, NULL) : PR_E_NOMEM;

    if (rc >= 0) {
        assert_int_equal(rc, 1);
        rc = pr_frameworks_get(fs, "none", &f, NULL);
    }
    pr_frameworks_free(fs);
    return rc;
}

static int attempt_each(void)
{
    struct pr_arena *a = pr_arena_new(4096);
    char seen[64] = "";
    int rc = a ? pr_framework_each(a, note, seen, NULL) : PR_E_NOMEM;

    pr_arena_free(a);
    return rc;
}

static void out_of_memory_is_an_error(void **state)
{
    (void)state;
    spit("own/toy.yaml", whole);
    torture(attempt);
    torture(attempt_each);
}

static void honours_are_found_in_order(void **state)
{
    static const char text[] = "framework: toy\n"
                               "honours: {nn.seed: none, \"nn.*\": any, "
                               "exp.num_replicas: [1], exp.gpus: [\"\", 0]}\n";
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_value one = pr_int(1), two = pr_int(2), none = pr_str("");
    const struct pr_honour *h;
    struct pr_framework *f;

    (void)state;
    assert_int_equal(
        pr_framework_parse(text, sizeof text - 1, "toy", "toy", a, &f, NULL),
        PR_OK);
    assert_null(pr_honour_find(f->honours, "nn.seed"));
    assert_null(pr_honour_find(f->honours, "nnn"));
    assert_null(pr_honour_find(f->honours, "exp.num"));
    h = pr_honour_find(f->honours, "nn.threads");
    assert_true(h && pr_honour_has(h, &two));
    h = pr_honour_find(f->honours, "exp.num_replicas");
    assert_true(h && pr_honour_has(h, &one) && !pr_honour_has(h, &two) &&
                !pr_honour_has(h, &none));
    h = pr_honour_find(f->honours, "exp.gpus");
    assert_true(h && pr_honour_has(h, &none) && !pr_honour_has(h, &one));
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, enter_folders, leave)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_says_everything),
        cmocka_unit_test(parameters_have_a_type_and_a_place),
        cmocka_unit_test(little_need_be_said),
        cmocka_unit_test(what_is_beside_the_file_has_its_folder),
        cmocka_unit_test(what_is_wrong_is_told_with_its_place),
        cmocka_unit_test(honours_are_found_in_order),
        T(ones_own_folder_is_first),
        T(a_name_is_no_path),
        T(each_comes_once_and_sorted),
        T(a_name_that_is_none_gets_a_hint),
        T(what_was_read_is_kept),
        T(out_of_memory_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
