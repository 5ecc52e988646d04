/* benchy's configuration files: what they mean, and what is wrong with them. */
#include "prony/probe.h"

#include "scratch.h"
#include "torture.h"

static struct pr_probe_config config;
static struct pr_err err;
static char warned[1024];

static void warn(void *ctx, const char *where, const char *text,
                 const char *remedy)
{
    size_t used = strlen(warned);

    (void)ctx;
    snprintf(warned + used, sizeof warned - used, "%s: %s; %s\n", where, text,
             remedy);
}

static int read_text(const char *text)
{
    FILE *f = fopen("benchy.yaml", "w");

    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
    assert_int_equal(fclose(f), 0);
    *warned = '\0';
    memset(&config, 0xff, sizeof config);
    config.size = sizeof config;
    return pr_probe_config_read("benchy.yaml", &config, warn, NULL, &err);
}

static void assert_phase(int i, bool run, uint64_t batches, uint64_t trials,
                         uint64_t warmup)
{
    const struct pr_probe_phase_config *c = &config.phase[i];

    assert_int_equal(c->run, run);
    assert_int_equal(c->batches, batches);
    assert_int_equal(c->trials, trials);
    assert_int_equal(c->warmup, warmup);
}

static void assert_output(const char *below)
{
    char want[256];

    snprintf(want, sizeof want, "%s/%s", scratch_dir, below);
    assert_string_equal(config.output, want);
}

static void defaults_are_benchys(void **state)
{
    static const char *const texts[] = {"", "# nothing\n", "IO:\n", "{}"};

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_int_equal(read_text(texts[i]), PR_OK);
        assert_int_equal(config.report_freq, 10);
        assert_true(config.exit_after_tests);
        assert_false(config.use_distributed_barrier);
        assert_string_equal(config.profiler_mode, "single");
        assert_string_equal(config.file, "benchy.yaml");
        assert_output("benchy_result.json");
        for (int k = 0; k < PR_PROBE_PHASES; k++)
            assert_phase(k, true, 50, 3, 1);
        assert_string_equal(warned, "");
    }
}

/* A section that names one key keeps the others, which benchy dies of. */
static void sections_are_merged_key_by_key(void **state)
{
    (void)state;
    assert_int_equal(read_text("IO:\n  nwarmup: 3\n"
                               "synthetic: {run_benchmark: off}\n"
                               "full:\n  nbatches: 7\n  ntrials: 0\n"
                               "global:\n  report_freq: 5 # often\n"),
                     PR_OK);
    assert_phase(PR_PROBE_IO, true, 50, 3, 3);
    assert_phase(PR_PROBE_SYNTHETIC, false, 50, 3, 1);
    assert_phase(PR_PROBE_FULL, true, 7, 0, 1);
    assert_int_equal(config.report_freq, 5);
    assert_true(config.exit_after_tests);
    assert_string_equal(warned, "");
}

/* As job scripts leave it after their sed. */
static void files_of_tutorials_are_read(void **state)
{
    (void)state;
    assert_int_equal(
        read_text("global:\n"
                  "        report_freq: 5           # how often\n"
                  "        exit_after_tests: False\n"
                  "        profiler_mode: 'all'\n"
                  "        output_filename: job-17.json\n"
                  "        output_dir: './out/'\n"
                  "        use_distributed_barrier: True\n"
                  "IO:\n        run_benchmark: True\n        nbatches: 50\n"
                  "        ntrials: 3\n        nwarmup: 3\n"),
        PR_OK);
    assert_string_equal(config.output, "./out/job-17.json");
    assert_string_equal(config.profiler_mode, "all");
    assert_false(config.exit_after_tests);
    assert_true(config.use_distributed_barrier);
    assert_phase(PR_PROBE_IO, true, 50, 3, 3);
}

static void paths_are_joined_as_python_does(void **state)
{
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"global: {output_dir: out, output_filename: a}", "out/a"},
        {"global: {output_dir: /x, output_filename: /y/a}", "/y/a"},
        {"global: {output_dir: /x/}", "/x/benchy_result.json"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(read_text(rows[i].text), PR_OK);
        assert_string_equal(config.output, rows[i].want);
    }
}

static void the_environment_names_files(void **state)
{
    (void)state;
    setenv("BENCHY_OUTPUT_FILE", "job-42.json", 1);
    assert_int_equal(read_text("global: {output_dir: out}"), PR_OK);
    assert_string_equal(config.output, "out/job-42.json");
    setenv("BENCHY_CONFIG_FILE", "benchy.yaml", 1);
    assert_int_equal(pr_probe_config_read(NULL, &config, warn, NULL, &err),
                     PR_OK);
    assert_string_equal(config.file, "benchy.yaml");
    setenv("BENCHY_CONFIG_FILE", "", 1);
    assert_int_equal(pr_probe_config_read(NULL, &config, warn, NULL, &err),
                     PR_OK);
    assert_string_equal(config.file, "");
    unsetenv("BENCHY_CONFIG_FILE");
    unsetenv("BENCHY_OUTPUT_FILE");
    assert_int_equal(pr_probe_config_read(NULL, &config, warn, NULL, &err),
                     PR_OK);
    assert_output("benchy_result.json");
}

static void what_is_unknown_is_a_warning(void **state)
{
    (void)state;
    assert_int_equal(read_text("io:\n  nbatches: 3\n"
                               "full:\n  nbatch: 3\n  colour: red\n"),
                     PR_OK);
    assert_string_equal(
        warned, "benchy.yaml:1:1: unknown section 'io'; did you mean 'IO'?\n"
                "benchy.yaml:4:3: unknown key 'nbatch' in section 'full'; did "
                "you mean 'nbatches'?\n"
                "benchy.yaml:5:3: unknown key 'colour' in section 'full'; it "
                "is ignored\n");
    assert_phase(PR_PROBE_FULL, true, 50, 3, 1);
    assert_int_equal(read_text("global:\n  profiler_mode: sigle\n"), PR_OK);
    assert_string_equal(
        warned, "benchy.yaml:2:18: 'global.profiler_mode' is 'sigle', which is "
                "taken for 'none'; it knows 'single', 'all' and 'none'\n");
    /* And nobody need listen. */
    assert_int_equal(
        pr_probe_config_read("benchy.yaml", &config, NULL, NULL, &err), PR_OK);
}

static void what_is_wrong_is_an_error(void **state)
{
    static const struct {
        const char *text, *where, *msg;
        int code;
    } rows[] = {
        {"IO: {nbatches: 0}", "benchy.yaml:1:16",
         "'IO.nbatches' must be between 1 and 100000000, got 0", PR_E_CONF},
        {"full:\n  ntrials: -1", "benchy.yaml:2:12",
         "'full.ntrials' must be between 0 and 100000000, got -1", PR_E_CONF},
        {"full:\n  nwarmup: one", "benchy.yaml:2:12",
         "'full.nwarmup' wants a whole number, got text", PR_E_CONF},
        {"full:\n  nwarmup: 1.5", "benchy.yaml:2:12",
         "'full.nwarmup' wants a whole number, got a number", PR_E_CONF},
        {"full:\n  run_benchmark: 2", "benchy.yaml:2:18",
         "'full.run_benchmark' wants True or False, got a whole number",
         PR_E_CONF},
        {"global:\n  output_filename: 12", "benchy.yaml:2:20",
         "'global.output_filename' wants text, got a whole number", PR_E_CONF},
        {"global:\n  output_dir: ''", "benchy.yaml:2:15",
         "'global.output_dir' wants text, got text", PR_E_CONF},
        {"global:\n  profiler_mode: aaaaaaaaaaaaaaaaaaaaaaaa",
         "benchy.yaml:2:18", "'global.profiler_mode' is too long", PR_E_CONF},
        {"IO: 3", "benchy.yaml:1:5",
         "section 'IO' wants keys and values, got a whole number", PR_E_CONF},
        {"[1]", "benchy.yaml:1:1",
         "expected the sections 'global', 'IO', 'synthetic' and 'full', got a "
         "list",
         PR_E_CONF},
        {"IO: {", "benchy.yaml:1:6", NULL, PR_E_FORMAT},
    };
    static const char *const folders[] = {
        "global: {output_filename: out/}", "global: {output_filename: .}",
        "global: {output_filename: a/..}", "global: {output_filename: /}"};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(read_text(rows[i].text), rows[i].code);
        if (rows[i].msg)
            assert_string_equal(err.msg, rows[i].msg);
        assert_memory_equal(err.where, "benchy.yaml:", 12);
        if (rows[i].code == PR_E_CONF)
            assert_string_equal(err.where, rows[i].where);
    }
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        assert_int_equal(read_text(folders[i]), PR_E_CONF);
        assert_string_equal(err.where, "output_filename");
    }
    assert_int_equal(read_text("global: {output_filename: ...}"), PR_OK);
    assert_int_equal(read_text("IO: {nbatches: 0}"), PR_E_CONF);
    assert_non_null(strstr(err.hint, "run_benchmark: False"));
    assert_int_equal(
        pr_probe_config_read("nowhere.yaml", &config, warn, NULL, &err),
        PR_E_IO);
    assert_string_equal(err.where, "nowhere.yaml");
}

/* An older program knows less of the struct. */
static void a_smaller_struct_is_not_overrun(void **state)
{
    (void)state;
    memset(&config, 0x5a, sizeof config);
    config.size = offsetof(struct pr_probe_config, phase);
    pr_probe_config_init(&config);
    assert_int_equal(config.report_freq, 10);
    assert_int_equal(*(unsigned char *)&config.phase, 0x5a);
}

static int attempt(void)
{
    config.size = sizeof config;
    return pr_probe_config_read("benchy.yaml", &config, warn, NULL, &err);
}

static void no_memory_is_an_error(void **state)
{
    (void)state;
    assert_int_equal(read_text("IO: {nbatches: 5}\nfull:\n  x: 1\n"), PR_OK);
    torture(attempt);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, enter, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(defaults_are_benchys),
        TEST(sections_are_merged_key_by_key),
        TEST(files_of_tutorials_are_read),
        TEST(paths_are_joined_as_python_does),
        TEST(the_environment_names_files),
        TEST(what_is_unknown_is_a_warning),
        TEST(what_is_wrong_is_an_error),
        TEST(a_smaller_struct_is_not_overrun),
        TEST(no_memory_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
