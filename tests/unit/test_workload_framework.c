/* How the program of a framework is started: which interpreter, which
 * arguments, and what is written for it before. */
#include "test_workload_framework.h"
#include "workload/workload.h"

#include <sys/stat.h>

/* ---- the start */

struct rig {
    struct pr_arena *arena;
    struct pr_value params;
    struct pr_job job;
};

static void rig_init(struct rig *r, const char *dir, const char *text)
{
    r->arena = pr_arena_new(4096);
    assert_non_null(r->arena);
    r->params = json(r->arena, text);
    assert_int_equal(
        pr_job_init(&r->job, "id", dir, &r->params, r->arena, NULL), PR_OK);
}

static int prepare(struct rig *r, struct pr_start *ret, struct pr_err *err)
{
    const struct pr_workload *w;
    int rc = pr_workload_find_for_job(&r->job, &w, err);

    return rc ? rc : w->prepare(&r->job, ret, err);
}

/* Arguments as one text, a blank between them, without the scratch folder. */
static void joined(const char **argv, char *out, size_t size)
{
    size_t n = 0, skip = strlen(scratch_dir) + 1;

    out[0] = '\0';
    for (; *argv; argv++) {
        const char *word = *argv;

        if (strncmp(word, scratch_dir, skip - 1) == 0)
            word += skip;
        n += (size_t)snprintf(out + n, size - n, "%s%s", n ? " " : "", word);
        assert_true(n < size);
    }
}

static bool has_word(const char **list, const char *word)
{
    while (*list && strcmp(*list, word) != 0)
        list++;
    return *list != NULL;
}

#define BASIC                                                \
    "'exp.framework': 'pytorch', 'exp.model': 'tiny.yaml', " \
    "'runtime.python': 'with/bin/python3'"

static const char *quoted(const char *text)
{
    static char out[1024];
    size_t n = (size_t)snprintf(out, sizeof out, "{%s}", text);

    assert_true(n < sizeof out);
    for (size_t i = 0; i < n; i++)
        out[i] = out[i] == '\'' ? '"' : out[i];
    return out;
}

static void the_program_gets_two_files(void **state)
{
    static const struct {
        const char *params, *want;
    } rows[] = {
        {BASIC, "with/bin/python3 " PROGRAM
                " --model dir/model.json --params dir/params.json"},
        {BASIC ", 'runtime.launcher': 'X=1 nice -n 5', "
               "'exp.args': ['nn.seed=7', 'a b']",
         "nice -n 5 with/bin/python3 " PROGRAM
         " --model dir/model.json --params dir/params.json nn.seed=7 a b"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_start start = {0};
        struct pr_err err = {0};
        char text[1024], *model;
        struct rig r;

        rig_init(&r, "dir", quoted(rows[i].params));
        if (prepare(&r, &start, &err))
            fail_msg("%s: %s", err.where, err.msg);
        joined(start.argv, text, sizeof text);
        assert_string_equal(text, rows[i].want);
        assert_int_equal(has_word(start.env, "X=1"), i == 1);
        model = slurp("dir/model.json", NULL);
        assert_non_null(strstr(model, "\"prony.model/2\""));
        assert_non_null(strstr(model, "\"head\""));
        free(model);
        assert_int_equal(unlink("dir/model.json"), 0);
        pr_arena_free(r.arena);
    }
}

static void a_plan_is_checked_without_a_folder(void **state)
{
    struct pr_start start = {0};
    struct rig r;

    (void)state;
    rig_init(&r, "", quoted(BASIC));
    assert_int_equal(prepare(&r, &start, NULL), PR_OK);
    assert_int_equal(access("model.json", F_OK), -1);
    assert_int_equal(access("/model.json", F_OK), -1);
    pr_arena_free(r.arena);
}

static void another_python_may_be_named_in_the_environment(void **state)
{
    struct pr_start start = {0};
    struct rig r;

    (void)state;
    rig_init(&r, "dir",
             quoted("'exp.framework': 'pytorch', 'exp.model': 'tiny.yaml', "
                    "'runtime.python': 'none/bin/python3'"));
    assert_int_equal(prepare(&r, &start, NULL), PR_OK);
    assert_string_equal(start.argv[0], "none/bin/python3");
    assert_int_equal(setenv("PRONY_TORCH_PYTHON", "debian/bin/python3", 1), 0);
    assert_int_equal(prepare(&r, &start, NULL), PR_OK);
    assert_string_equal(start.argv[0], "debian/bin/python3");
    pr_arena_free(r.arena);
}

static void each_framework_has_a_program_and_a_variable(void **state)
{
    static const struct {
        const char *framework, *module, *variable;
    } rows[] = {
        {"pytorch", "torch", "PRONY_TORCH_PYTHON"},
        {"tensorflow", "tensorflow", "PRONY_TF_PYTHON"},
        {"onnxruntime", "onnxruntime", "PRONY_ORT_PYTHON"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char params[256], text[256], want[128];
        struct pr_start start = {0};
        struct rig r;

        snprintf(text, sizeof text,
                 "mkdir -p venv/lib/python3.11/site-packages/%s",
                 rows[i].module);
        shell(text);
        snprintf(params, sizeof params,
                 "'exp.framework': '%s', 'exp.model': 'tiny.yaml', "
                 "'exp.phase': 'inference', "
                 "'runtime.python': 'none/bin/python3'",
                 rows[i].framework);
        rig_init(&r, "dir", quoted(params));
        assert_int_equal(setenv(rows[i].variable, "venv/bin/python3", 1), 0);
        assert_int_equal(prepare(&r, &start, NULL), PR_OK);
        assert_string_equal(start.argv[0], "venv/bin/python3");
        snprintf(want, sizeof want, BACK_ENDS "%s.py", rows[i].framework);
        assert_non_null(strstr(start.argv[1], want));
        assert_int_equal(unsetenv(rows[i].variable), 0);
        pr_arena_free(r.arena);
    }
}

/* The image has an interpreter of its own. */
static void in_a_container_python_is_the_images(void **state)
{
    struct pr_start start = {0};
    struct rig r;

    (void)state;
    rig_init(&r, "dir",
             quoted("'exp.framework': 'pytorch', 'exp.model': 'tiny.yaml', "
                    "'runtime.python': 'python', 'exp.docker': true"));
    assert_int_equal(setenv("PRONY_TORCH_PYTHON", "with/bin/python3", 1), 0);
    assert_int_equal(prepare(&r, &start, NULL), PR_OK);
    assert_string_equal(start.argv[0], "python");
    assert_non_null(strstr(start.argv[1], PROGRAM));
    assert_false(start.contains_itself);
    pr_arena_free(r.arena);
}

/* A file of the user's may bring its own, wherever it is started. */
static void a_program_may_be_beside_the_file(void **state)
{
    struct pr_start start = {0};
    struct rig r;

    (void)state;
    shell("mkdir own && touch own/mine.py && mkdir -p python && "
          "touch python/mine.py share/python/mine.py");
    assert_int_equal(setenv("PRONY_FRAMEWORKS", "own", 1), 0);
    spit("own/mine.yaml", "framework: mine\nkind: python\nmodule: torch\n"
                          "program: ./mine.py\n");
    rig_init(&r, "dir",
             quoted("'exp.framework': 'mine', 'exp.model': 'tiny.yaml', "
                    "'runtime.python': 'with/bin/python3'"));
    assert_int_equal(prepare(&r, &start, NULL), PR_OK);
    assert_non_null(strstr(start.argv[1], "/own/mine.py"));
    spit("own/mine.yaml", "framework: mine\nkind: python\nmodule: torch\n"
                          "program: python/mine.py\n");
    assert_int_equal(prepare(&r, &start, NULL), PR_OK);
    assert_non_null(strstr(start.argv[1], "/share/python/mine.py"));
    pr_arena_free(r.arena);
}

static void a_launcher_of_the_users_is_started_instead(void **state)
{
    static const struct {
        const char *params, *want;
        bool itself;
    } rows[] = {
        {"'exp.framework': 'pytorch', 'pytorch.launcher': 'sh -c'", "sh", true},
        {"'exp.framework': 'toy', 'toy.launcher': ['sh']", "sh", true},
        {"'exp.framework': 'caffe2', 'caffe2.launcher': 'sh'", "sh", true},
        {"'exp.framework': 'toy', 'exp.docker': true, 'toy.command': 'go on'",
         "go", false},
        {"'exp.framework': 'fork', 'exp.framework_family': 'toy', "
         "'exp.docker': true, 'toy.command': ['go', 'on']",
         "go", false},
        {"'exp.framework': 'pytorch', 'exp.docker': true, "
         "'pytorch.command': 'go'",
         "go", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_start start = {0};
        struct pr_err err = {0};
        struct rig r;

        rig_init(&r, "dir", quoted(rows[i].params));
        if (prepare(&r, &start, &err))
            fail_msg("%s: %s", rows[i].params, err.msg);
        assert_string_equal(start.argv[0], rows[i].want);
        assert_int_equal(start.contains_itself, rows[i].itself);
        assert_non_null(start.log_file);
        pr_arena_free(r.arena);
    }
}

/* ---- the model's own data */

#define CURVE                                                 \
    "'exp.framework': 'pytorch', 'exp.model': 'curve.yaml', " \
    "'runtime.python': 'with/bin/python3', 'exp.replica_batch': 4"

static const char curve[] =
    "model: curve\n"
    "inputs: {powers: {shape: [4]}, value: {shape: [1]}}\n"
    "data: polynomial\n"
    "losses: [{mse: fit, target: value}]\n"
    "layers: [{linear: 1, name: fit}]\n";

static void batches_are_written_where_the_model_names_its_data(void **state)
{
    static const struct {
        const char *params;
        bool want;
    } rows[] = {
        {CURVE, true},
        {CURVE ", 'nn.data': 'noise'", false},
        {CURVE ", 'nn.batches': 'mine'", false},
        {CURVE ", 'nn.max_count': 9", true},
        {BASIC, false},
    };

    (void)state;
    spit("curve.yaml", curve);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_start start = {0};
        struct pr_err err = {0};
        char text[1024];
        struct rig r;

        rig_init(&r, "dir", quoted(rows[i].params));
        if (prepare(&r, &start, &err))
            fail_msg("%s: %s", err.where, err.msg);
        joined(start.argv, text, sizeof text);
        if ((strstr(text, "nn.batches=") != NULL) != rows[i].want)
            fail_msg("%s: %s", rows[i].params, text);
        assert_int_equal(unlink("dir/batches.safetensors"),
                         rows[i].want ? 0 : -1);
        pr_arena_free(r.arena);
    }
}

static void options_of_the_model_are_a_map_or_its_text(void **state)
{
    static const struct {
        const char *opts, *want; /* NULL: refused */
    } rows[] = {
        {"{'classes': 5}", "\"classes\": 5"},
        {"'{classes: 6}'", "es\": 6"},
        {"'{}'", "es\": 3"},
        {"''", "es\": 3"},
        {"{}", "es\": 3"},
        {"'[1]'", NULL},
        {"[1]", NULL},
        {"3", NULL},
        {"'{a'", NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_start start = {0};
        struct pr_err err = {0};
        char params[512], *model;
        struct rig r;
        int rc;

        snprintf(params, sizeof params, BASIC ", 'exp.model_opts': %s",
                 rows[i].opts);
        rig_init(&r, "dir", quoted(params));
        rc = prepare(&r, &start, &err);
        assert_int_equal(rc, rows[i].want ? PR_OK : PR_E_CONF);
        if (!rc) {
            model = slurp("dir/model.json", NULL);
            if (!strstr(model, rows[i].want))
                fail_msg("%s: %s", rows[i].opts, model);
            free(model);
        }
        pr_arena_free(r.arena);
    }
}

/* ---- which workload, and what is refused */

static void the_workload_follows_from_the_framework(void **state)
{
    static const struct {
        const char *params, *want; /* '!': the beginning of the message */
        int rc;
    } rows[] = {
        {"'exp.framework': 'pytorch'", "framework", PR_OK},
        {"'exp.framework': 'pytorch', 'exp.command': 'ls'", "command", PR_OK},
        {"'exp.framework': 'native', 'exp.command': 'ls'", "command", PR_OK},
        {"'exp.framework': 'pytorch', 'exp.workload': 'null'", "null", PR_OK},
        {"'exp.framework': 'toy'", "framework", PR_OK},
        {"'exp.framework': 'fork', 'exp.docker': true", "framework", PR_OK},
        {"'exp.framework': 'own'", PR_HAVE_ONEDNN ? "native" : "!",
         PR_HAVE_ONEDNN ? PR_OK : PR_E_UNAVAIL},
        {"'exp.framework': 'caffe2'", "!there is no framework 'caffe2'",
         PR_E_CONF},
        {"'exp.framework': 'caffe2', 'caffe2.launcher': 'sh'", "framework",
         PR_OK},
        {"'exp.framework': 'bad'", "!'framework' is not 'bad'", PR_E_CONF},
        {"'x': 1", "!nothing to run", PR_E_CONF},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *want = rows[i].want;
        const struct pr_workload *w;
        struct pr_err err = {0};
        struct rig r;

        rig_init(&r, "", quoted(rows[i].params));
        assert_int_equal(pr_workload_find_for_job(&r.job, &w, &err),
                         rows[i].rc);
        if (*want == '!')
            assert_memory_equal(err.msg, want + 1, strlen(want + 1));
        else
            assert_string_equal(w->name, want);
        pr_arena_free(r.arena);
    }
}

static void what_cannot_be_started_is_refused(void **state)
{
    static const struct {
        const char *params, *msg;
        int rc;
    } rows[] = {
        {"'exp.framework': 'pytorch'", "exp.model names no network", PR_E_CONF},
        {"'exp.workload': 'framework', 'exp.framework': 'caffe2'",
         "there is no framework 'caffe2'", PR_E_CONF},
        {"'exp.workload': 'framework'", "exp.framework names no framework",
         PR_E_CONF},
        {"'exp.workload': 'framework', 'exp.framework': 'own'",
         "exp.workload=framework is not for", PR_E_CONF},
        {"'exp.framework': 'toy'", "exp.framework=toy needs a launcher",
         PR_E_CONF},
        {"'exp.framework': 'fork', 'exp.docker': true, "
         "'exp.phase': 'inference'",
         "Fork trains, it does not infer", PR_E_UNAVAIL},
        {"'exp.framework': 'fork'", "Fork runs in a container alone",
         PR_E_UNAVAIL},
        {"'exp.framework': 'onnxruntime', 'exp.model': 'tiny.yaml'",
         "ONNX Runtime infers, it does not train", PR_E_UNAVAIL},
        {BASIC ", 'runtime.launcher': '\\''", "runtime.launcher: ", PR_E_CONF},
    };
    struct pr_start start = {0};
    struct pr_err err = {0};
    struct rig r;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        rig_init(&r, "dir", quoted(rows[i].params));
        assert_int_equal(prepare(&r, &start, &err), rows[i].rc);
        assert_memory_equal(err.msg, rows[i].msg, strlen(rows[i].msg));
        pr_arena_free(r.arena);
    }
    assert_int_equal(unlink(PROGRAM), 0);
    rig_init(&r, "dir", quoted(BASIC));
    assert_int_equal(prepare(&r, &start, &err), PR_E_UNAVAIL);
    assert_non_null(strstr(err.where, PROGRAM));
    pr_arena_free(r.arena);
}

static int attempt(void)
{
    struct pr_arena *a = pr_arena_new(4096);
    struct pr_start start = {0};
    struct pr_value params;
    struct pr_job job;
    struct pr_err err;
    struct pr_json_in in = {.text = quoted(BASIC), .name = "test"};
    int rc = a ? PR_OK : PR_E_NOMEM;

    in.len = strlen(in.text);
    if (!rc)
        rc = pr_json_read(&in, a, &params, NULL, &err);
    if (!rc)
        rc = pr_job_init(&job, "id", "dir", &params, a, &err);
    if (!rc) {
        const struct pr_workload *w;

        rc = pr_workload_find_for_job(&job, &w, &err);
        if (!rc)
            rc = w->prepare(&job, &start, &err);
    }
    pr_arena_free(a);
    return rc;
}

static void out_of_memory_is_an_error(void **state)
{
    (void)state;
    torture(attempt);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, enter_share, leave)
    const struct CMUnitTest tests[] = {
        T(the_program_gets_two_files),
        T(a_plan_is_checked_without_a_folder),
        T(another_python_may_be_named_in_the_environment),
        T(each_framework_has_a_program_and_a_variable),
        T(in_a_container_python_is_the_images),
        T(a_program_may_be_beside_the_file),
        T(a_launcher_of_the_users_is_started_instead),
        T(batches_are_written_where_the_model_names_its_data),
        T(options_of_the_model_are_a_map_or_its_text),
        T(the_workload_follows_from_the_framework),
        T(what_cannot_be_started_is_refused),
        T(out_of_memory_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
