/* What a file is, told from its content; and what readers make of it. */
#include "plan/source.h"

#include "plans.h"

static const struct pr_plan_opts bare = {.no_defaults = true};

static int parse(struct pr_arena *a, const char *text,
                 struct pr_config_source *ret, struct pr_err *err)
{
    return pr_config_source_parse(text, strlen(text), "in", a, ret, err);
}

static void every_kind_is_told_from_its_content(void **state)
{
    static const struct {
        const char *text;
        int want; /* enum pr_config_source_kind, or an error */
    } rows[] = {
        /* DLBS */
        {"{\"parameters\": {\"a\": 1}}", PR_SOURCE_DLBS},
        {"{\"variables\": {}}", PR_SOURCE_DLBS},
        {"  \n{\"extensions\": []}", PR_SOURCE_DLBS},
        {"parameters:\n  exp.model: x\n", PR_SOURCE_DLBS},
        {"{\"parameters\": {}, \"comment\": 1}", PR_SOURCE_DLBS},
        /* Prony */
        {"experiments:\n- name: x\n", PR_SOURCE_PRONY},
        {"{\"experiments\": [{}], \"parameters\": {}}", PR_SOURCE_PRONY},
        {"exp.model: x\n", PR_SOURCE_PRONY},
        {"{\"exp.model\": \"x\", \"my.tag\": 1}", PR_SOURCE_PRONY},
        {"exp: {model: x}\n", PR_SOURCE_PRONY},
        {"exp: {model: x}\nruntime: {env: {A: 1}}\n", PR_SOURCE_PRONY},
        {"sys: {plan_builder: {var_order: []}}\n", PR_SOURCE_PRONY},
        /* a plan */
        {"{\"schema\": \"prony.plan/1\", \"experiments\": []}", PR_SOURCE_PLAN},
        {"{\"schema\": \"prony.plan/7\"}", PR_SOURCE_PLAN},
        /* DLIO */
        {"dataset:\n  num_files_train: 8\nreader:\n  batch_size: 4\n",
         PR_SOURCE_DLIO},
        {"model: unet3d\nframework: pytorch\nworkflow: {train: true}\n"
         "dataset: {format: npz}\n",
         PR_SOURCE_DLIO},
        {"workload:\n  dataset: {}\n", PR_SOURCE_DLIO},
        {"data_loader: {batch_size: 1}\n", PR_SOURCE_DLIO},
        {"dataset: {format: npz}\nstorage: {engine: mmap}\n", PR_SOURCE_DLIO},
        /* what DLIO does not have makes it ours */
        {"dataset: {format: npz}\nexp: {name: x}\n", PR_SOURCE_PRONY},
        {"dataset: {format: npz}\nexp.name: x\n", PR_SOURCE_PRONY},
        /* milarun */
        {"{\"*\": {\"prepare\": []}, \"a\": {\"experiment\": \"m:main\"}}",
         PR_SOURCE_MILARUN},
        {"[vae]\nexperiment = \"m:main\"\n", PR_SOURCE_MILARUN},
        {"vae.experiment = \"m:main\" # TOML\n", PR_SOURCE_MILARUN},
        /* jobs may be called like sections of ours */
        {"{\"exp\": {\"experiment\": \"m:f\"}, "
         "\"dataset\": {\"experiment\": \"m:f\"}}",
         PR_SOURCE_MILARUN},
        {"{\"*\": {\"experiment\": \"m:f\"}, \"model\": {}}",
         PR_SOURCE_MILARUN},
        {"vae:\n  experiment: m:main\n  arguments: {--epochs: 1}\n",
         PR_SOURCE_MILARUN},
        /* Lambda */
        {"NUM_GPU=2\n", PR_SOURCE_LAMBDA},
        {"#!/bin/bash\nsource x.sh\n\nNUM_GPU=2\n", PR_SOURCE_LAMBDA},
        {"# NUM_GPU=1\nNUM_GPU=2\n", PR_SOURCE_LAMBDA},
        {"PyTorch_SSD_FP32_PARAMS=( \"d\" args )\n", PR_SOURCE_LAMBDA},
        /* words of theirs inside other files do not make them so */
        {"{\"parameters\": {\"c\": \"X_PARAMS=(1)\"}}", PR_SOURCE_DLBS},
        {"exp.command: \"sh -c 'NUM_GPU=2 x'\"\n", PR_SOURCE_PRONY},
        {"exp.command: |\n  NUM_GPU=2\n  A_PARAMS=(1)\n", PR_SOURCE_PRONY},
        {"exp.name: dataset\n", PR_SOURCE_PRONY},
        /* YAML's flow style looks like JSON */
        {"{exp.model: x}\n", PR_SOURCE_PRONY},
        /* unknown */
        {"", PR_E_CONF},
        {"# nothing\n", PR_E_CONF},
        {"{}", PR_E_CONF},
        {"[]", PR_E_CONF},
        {"[1, 2]", PR_E_CONF},
        {"just text\n", PR_E_CONF},
        {"42", PR_E_CONF},
        {"name: x\nversion: 3\n", PR_E_CONF},
        {"dataset: imagenet\n", PR_E_CONF},
        {"ex: {model: x}\n", PR_E_CONF}, /* not the section exp */
        {"e: 1\n", PR_E_CONF},
        {"NUM_GPUS=2\n", PR_E_CONF},
        {"{\"schema\": \"prony.result/1\"}", PR_E_CONF},
        /* more than one */
        {"parameters: {}\ndataset: {format: npz}\n", PR_E_CONF},
        {"{\"parameters\": [], \"a\": {\"experiment\": \"m:f\"}}", PR_E_CONF},
        {"experiments: []\nreader: {}\n", PR_E_CONF},
        {"dataset: {}\na: {experiment: m:f}\n", PR_E_CONF},
        /* malformed */
        {"{\"parameters\": ", PR_E_CONF},
        {"a: [1\n", PR_E_CONF},
        {"\t- x: 1\n", PR_E_CONF},
        {"exp.model: \xff\xfe\n", PR_E_CONF},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
        struct pr_config_source src = {.path = "untouched"};
        struct pr_err err = {0};
        int rc = parse(a, rows[i].text, &src, &err);

        if ((rc ? rc : (int)src.kind) != rows[i].want)
            fail_msg("<%s> is %d %s: %s", rows[i].text, rc,
                     rc ? "" : pr_config_source_kind_words(src.kind), err.msg);
        assert_int_equal(rc, err.code);
        assert_string_equal(src.path, rc ? "untouched" : "in");
        assert_true(!rc || strncmp(err.where, "in", 2) == 0);
    }
}

static void an_unknown_file_is_told_what_was_looked_for(void **state)
{
    static const char *const words[] = {"experiments", "parameters", "dataset",
                                        "arguments", "NUM_GPU"};
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_config_source src;
    struct pr_err err = {0};

    (void)state;
    assert_int_equal(parse(a, "x: 1\n", &src, &err), PR_E_CONF);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        assert_non_null(strstr(err.hint, words[i]));
    assert_int_equal(parse(a, "parameters: {}\ndataset: {x: 1}\n", &src, &err),
                     PR_E_CONF);
    assert_non_null(strstr(err.msg, "DLBS"));
    assert_non_null(strstr(err.msg, "DLIO"));
}

static void mistakes_name_file_line_and_column(void **state)
{
    static const struct {
        const char *text, *where, *msg;
    } rows[] = {
        {"{\"parameters\":\n {\"a\": ]}", "f:2:", ""},
        {"{\"parameters\":\n  {\"a\": null}}", "f:2:9", "'a'"},
        {"{\"parameters\": {\"a\": {\"type\": \"int\"}}}", "f:1:22",
         "no 'val'"},
        {"{\"parameters\": {\"a\": {\"val\": 1, \"type\": \"list\"}}}",
         "f:1:41", "type must be one of"},
        {"{\"parameters\": {\"a\": {\"val\": 1, \"type\": 5}}}",
         "f:1:", "type"},
        {"{\"parameters\": {\"a\": {\"val\": 1, \"val_domain\": 5}}}", "f:1:47",
         "val_domain"},
        {"{\"parameters\": {\"a\": {\"val\": 1, \"val_regexp\": \"(\"}}}",
         "f:1:47", "val_regexp"},
        {"{\"parameters\": {\"a\": {\"val\": 1, \"val_regexp\": 1}}}", "f:1:47",
         "val_regexp"},
        {"{\"parameters\": []}", "f:1:16", "'parameters' must be a map"},
        {"{\"variables\": 5}", "f:1:15", "'variables' must be a map"},
        {"{\"extensions\": {}}", "f:1:16", "'extensions' must be a list"},
        {"{\"extensions\": [5]}", "f:1:17", "must be a map"},
        {"{\"extensions\": [{\"condition\": 5}]}", "f:1:", "condition"},
        {"{\"extensions\": [{\"condition\": {\"a\": \"[\"}}]}", "f:1:37",
         "'a'"},
        {"{\"extensions\": [{\"parameters\": [1]}]}", "f:1:32",
         "parameters of an extension must be a map"},
        {"{\"extensions\": [{\"cases\": {}}]}", "f:1:27",
         "cases of an extension must be a list"},
        {"{\"extensions\": [{\"cases\": [5]}]}", "f:1:28",
         "a case of an extension must be a map"},
        {"experiments: 5\n", "f:1:14", "'experiments' must be a list"},
        {"experiments: []\n", "f:1:14", "'experiments' must be a list"},
        {"experiments: [x]\n", "f:1:15", "must be a map"},
        {"experiments:\n- nmae: x\n", "f:2:3", "unknown key 'nmae'"},
        {"experiments: [{name: 5}]\n", "f:1:22", "'name' must be text"},
        {"experiments: [{}]\nparamters: {}\n", "f:2:1",
         "unknown key 'paramters'"},
        {"experiments:\n- parameters: 5\n", "f:2:15", "'parameters' must be"},
        {"experiments:\n- extensions: [{conditoin: {}}]\n", "f:2:17",
         "unknown key 'conditoin'"},
        {"a:\n  experiment: x\n", "f:2:15", "not of the form module:function"},
        {"a: {experiment: command}\n", "f:1:17", "needs a 'command'"},
        {"a: {experiment: [m:f]}\n", "f", "cannot tell"},
        {"a: {experiment: m:f, arguments: 5}\n", "f:1:33", "'arguments'"},
        {"a: {experiment: m:f, prepare: [5]}\n", "f:1:32", "'prepare'"},
        {"a: {experiment: m:f, prepare: 5}\n", "f:1:31", "'prepare'"},
        {"a: {experiment: m:f, exec_prefix: {}}\n", "f:1:35", "'exec_prefix'"},
        {"a: {experiment: m:f, partition_scheme: 5}\n", "f:1:40",
         "a map with a 'type'"},
        {"a: {experiment: m:f, partition_scheme: {type: x}}\n", "f:1:47",
         "unknown partition_scheme 'x' of job 'a'"},
        {"a: {experiment: m:f, parameters: 5}\n", "f:1:34", "'parameters'"},
        {"a/b: {experiment: m:f}\n", "f:1:1", "name of a job"},
        {"'*': 5\na: {experiment: m:f}\n", "f", "'*' must be a map"},
        {"'*': {}\na: {experiment: m:f}\nb: {}\n", "f:3:1",
         "job 'b' has no 'experiment'"},
        {"[a]\nexperiment = m:f\n", "f:2:14", "expected a value"},
        {"{\"schema\": \"prony.plan/1\"}", "f", "finished plan"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *const args[] = {"@f", NULL};
        struct pr_err err = {0};
        struct pr_plan *p;

        put_file("f", rows[i].text);
        assert_true(make_plan(&bare, args, &p, &err) < 0);
        if (strncmp(err.where, rows[i].where, strlen(rows[i].where)) != 0 ||
            !strstr(err.msg, rows[i].msg))
            fail_msg("<%s>: %s: %s", rows[i].text, err.where, err.msg);
        assert_int_equal(err.code, strstr(rows[i].msg, "read yet")
                                       ? PR_E_UNAVAIL
                                       : PR_E_CONF);
    }
}

static const char *of_file(struct pr_arena *a, const char *text)
{
    const char *const args[] = {"@f", NULL};

    put_file("f", text);
    return experiments(a, &bare, args);
}

static void prony_files(void **state)
{
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"exp.model: x\nmy.tag: 5\n",
         "{\"exp.model\": \"x\", \"my.tag\": 5}\n"},
        {"exp: {model: x, args: [1, a]}\n",
         "{\"exp.model\": \"x\", \"exp.args\": [1, \"a\"]}\n"},
        {"exp:\n  a:\n    b: {c: 1}\n  d: 2\n",
         "{\"exp.a.b.c\": 1, \"exp.d\": 2}\n"},
        {"exp.a: {b: 1}\n", "{\"exp.a.b\": 1}\n"},
        {"exp.a: {}\nexp.b: 1\n", "{\"exp.b\": 1}\n"},
        {"exp.a: null\nexp.b: ~\n", "{\"exp.a\": null, \"exp.b\": null}\n"},
        /* groups one after another */
        {"experiments:\n- name: one\n  parameters: {a: 1}\n"
         "- parameters: {a: 2}\n",
         "{\"exp.name\": \"one\", \"a\": 1}\n{\"a\": 2}\n"},
        /* what stands at the top is shared, and a group is over it */
        {"parameters: {a: 1, b: 1}\nvariables: {v: [1, 2]}\n"
         "experiments:\n- parameters: {b: 2}\n- variables: {v: [3]}\n",
         "{\"a\": 1, \"b\": 2, \"v\": 1}\n{\"a\": 1, \"b\": 2, \"v\": 2}\n"
         "{\"a\": 1, \"b\": 1, \"v\": 3}\n"},
        {"experiments:\n- name: x\n  parameters: {exp: {name: y}}\n",
         "{\"exp.name\": \"y\"}\n"},
        {"extensions: [{condition: {a: 1}, parameters: {hit: 1}}]\n"
         "experiments:\n- parameters: {a: 1}\n- parameters: {a: 2}\n",
         "{\"a\": 1, \"hit\": 1}\n{\"a\": 2}\n"},
        {"experiments:\n- variables: {a: [x, y]}\n"
         "  extensions: [{condition: {a: y}, cases: [{c: 1}, {c: 2}]}]\n",
         "{\"a\": \"x\"}\n{\"a\": \"y\", \"c\": 1}\n{\"a\": \"y\", \"c\": "
         "2}\n"},
        /* names nest in variables as they do in parameters */
        {"experiments:\n- variables: {exp: {a: [1, 2], b: 3}}\n",
         "{\"exp.a\": 1, \"exp.b\": 3}\n{\"exp.a\": 2, \"exp.b\": 3}\n"},
        {"experiments:\n- variables: {a: [{x: 1}, {x: 2}]}\n",
         "{\"a\": {\"x\": 1}}\n{\"a\": {\"x\": 2}}\n"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
        const char *got = of_file(a, rows[i].text);
        if (strcmp(got, rows[i].want) != 0)
            fail_msg("%s\n gives %s\n want  %s", rows[i].text, got,
                     rows[i].want);
    }
}

/* DLBS's own files have notes and slips in them. */
static void dlbs_files_are_read_leniently(void **state)
{
    static const char text[] =
        "{\"note\": [1], \"parameters\": {\"a\": {\"val\": \"x\", \"type\": "
        "\"str\", \"desc\": [\"one\", \"two\"], \"val_regex\": \"[0-9]\"}},\n"
        "\"extensions\": [{\"comment\": \"x\", \"parameters\": {\"b\": 1}}]}";
    const char *const args[] = {"@f", NULL};
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    static const char *const where[] = {"f:1:2", "f:1:87", "f:2:17"};
    struct pr_plan *p;
    int n = 0;

    (void)state;
    assert_string_equal(of_file(a, text), "{\"a\": \"x\", \"b\": 1}\n");
    assert_int_equal(make_plan(&bare, args, &p, NULL), PR_OK);
    for (const struct pr_warning *w = pr_plan_warnings(p); w; w = w->next) {
        assert_true(n < 3);
        assert_string_equal(w->where, where[n]);
        assert_non_null(strstr(w->text, "unknown key"));
        assert_true(w->remedy[0]);
        n++;
    }
    assert_int_equal(n, 3);
    pr_plan_free(p);
}

/* As in DLBS: who declares first is right, later files give values. */
static void the_first_declaration_stands(void **state)
{
    static const struct {
        const char *first, *second, *want;
    } rows[] = {
        {"{\"val\": \"1\", \"type\": \"int\"}", "\"2\"", "2"},
        {"{\"val\": \"1\", \"type\": \"int\"}",
         "{\"val\": \"2\", \"type\": \"str\"}", "2"},
        {"\"1\"", "{\"val\": \"2\", \"type\": \"int\"}", "\"2\""},
        {"5", "\"6\"", "6"}, /* a plain value declares its own type */
        {"5", "\"x\"", "!"},
        {"true", "\"off\"", "false"},
        {"1.5", "\"2\"", "2.0"},
        {"[\"a\"]", "\"2\"", "\"2\""},
        {"{\"val\": \"1\"}", "\"2\"", "\"2\""},
        {"{\"val\": \"1\"}", "2", "2"},
        {"{\"val\": \"a\", \"val_domain\": [\"a\", \"b\"]}", "\"b\"", "\"b\""},
        {"{\"val\": \"a\", \"val_domain\": [\"a\", \"b\"]}", "\"c\"", "!"},
        {"{\"val\": \"a\", \"val_domain\": [\"a\"]}",
         "{\"val\": \"c\", \"val_domain\": [\"c\"]}", "!"},
        {"\"a\"", "{\"val\": \"c\", \"val_domain\": [\"d\"]}", "\"c\""},
        {"\"a\"", "{\"val\": \"c\", \"val_regexp\": \"x\"}", "\"c\""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
        const char *const args[] = {"--config one", "--config two", NULL};
        const char *got;

        put_file("one", pr_arena_printf(a, "{\"parameters\": {\"a\": %s}}",
                                        rows[i].first));
        put_file("two", pr_arena_printf(a, "{\"parameters\": {\"a\": %s}}",
                                        rows[i].second));
        got = experiments(a, &bare, args);
        if (rows[i].want[0] == '!'
                ? got[0] != '!'
                : strcmp(got, pr_arena_printf(a, "{\"a\": %s}\n",
                                              rows[i].want)) != 0)
            fail_msg("%s then %s gives %s", rows[i].first, rows[i].second, got);
    }
}

static int read_once(void)
{
    static const char *const texts[] = {
        ("{\"parameters\": {\"a\": {\"val\": \"x\", \"val_regexp\": \"x\", "
         "\"note\": 1}}, \"variables\": {\"b\": [1, 2]}, \"extensions\": "
         "[{\"condition\": {\"a\": \"(x)\"}, \"cases\": [{\"c\": 1}]}]}"),
        "{exp: {a: {b: 1}}}",
        ("experiments:\n- name: x\n  parameters: {exp: {a: 1}}\n"
         "  variables: {v: [1]}\n  extensions: [{parameters: {z: 1}}]\n"),
    };
    int rc = PR_OK;

    for (size_t i = 0; i < 3 && !rc; i++) {
        struct pr_plan_scope s = {.arena = pr_arena_new(256),
                                  .names = pr_names_new()};
        struct pr_config_part *f;
        struct pr_config_source src;
        size_t n;

        s.warnings.arena = s.arena;
        rc = s.arena && s.names
                 ? pr_config_source_parse(texts[i], strlen(texts[i]), "in",
                                          s.arena, &src, NULL)
                 : PR_E_NOMEM;
        if (!rc)
            rc = pr_config_source_read_parts(&s, &src, PR_FROM_TARGET, &f, &n,
                                             NULL);
        pr_plan_scope_close(&s);
    }
    return rc;
}

static void out_of_memory(void **state)
{
    (void)state;
    torture(read_once);
}

#define HERE(test) cmocka_unit_test_setup_teardown(test, enter_dir, leave_dir)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_is_told_from_its_content),
        cmocka_unit_test(an_unknown_file_is_told_what_was_looked_for),
        HERE(mistakes_name_file_line_and_column),
        HERE(prony_files),
        HERE(dlbs_files_are_read_leniently),
        HERE(the_first_declaration_stands),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
