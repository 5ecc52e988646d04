/* DLIO's files and what is laid over them: older names, maps, Python code. */
#include "plans.h"

static const struct pr_plan_opts usual = {.repeat = 1};

/* Whether the only experiment has `"name": json`. */
static void wants(const char *got, const char *name, const char *json)
{
    char text[256];

    snprintf(text, sizeof text, "\"%s\": %s", name, json);
    if (!strstr(got, text))
        fail_msg("no %s in %s", text, got);
}

static void lacks(const char *got, const char *name)
{
    char text[256];

    snprintf(text, sizeof text, "\"%s\"", name);
    if (strstr(got, text))
        fail_msg("%s is in %s", text, got);
}

#define PLAN(a, ...) \
    experiments(a, &usual, (const char *const[]){__VA_ARGS__, NULL})

/* All that the plan warns of, one line each. */
static const char *warnings(struct pr_arena *a, const char *const *args)
{
    const char *text = "";
    struct pr_plan *p;

    assert_int_equal(make_plan(&usual, args, &p, NULL), PR_OK);
    for (const struct pr_warning *w = pr_plan_warnings(p); w; w = w->next)
        text = pr_arena_printf(a, "%s%s|%s|%s\n", text, w->where, w->text,
                               w->remedy);
    pr_plan_free(p);
    return text;
}

#define WARNINGS(a, ...) warnings(a, (const char *const[]){__VA_ARGS__, NULL})

/* As the first documentation describes a config. */
static const char old_file[] = "model: unet3d\n"
                               "framework: pytorch\n"
                               "workflow: {train: True, profiling: none}\n"
                               "dataset:\n"
                               "  record_length: 4096\n"
                               "  format: npz\n"
                               "  num_files_train: 8\n"
                               "  num_files_val: 2\n"
                               "  data_dir: data/x\n"
                               "  batch_size: 4\n"
                               "  batch_size_eval: 2\n"
                               "data_loader:\n"
                               "  data_loader: pytorch\n"
                               "  read_threads: 2\n"
                               "  prefetch: True\n"
                               "  prefetch_size: 3\n"
                               "  read_shuffle: True\n"
                               "  file_shuffle: off\n"
                               "train:\n"
                               "  n_epochs: 3\n"
                               "  computation_time: 0.5\n"
                               "  eval_time: {type: normal, mean: 0.1}\n"
                               "  total_training_steps: 5\n"
                               "  do_eval: True\n"
                               "checkpoint:\n"
                               "  do_checkpoint: False\n"
                               "  checkpoing_after_epoch: 2\n"
                               "  output_folder: ck\n"
                               "  model_size: 10240\n";

static void a_file_in_the_first_names_is_understood(void **state)
{
    static const char *const rows[][2] = {
        {"exp.workload", "\"emulate\""},
        {"model.name", "\"unet3d\""},
        {"emulate.framework", "\"pytorch\""},
        {"workflow.profiling", "false"},
        {"dataset.record_length_bytes", "4096.0"},
        {"dataset.num_files_eval", "2"},
        {"dataset.data_folder", "\"data/x\""},
        {"reader.batch_size", "4"},
        {"reader.batch_size_eval", "2"},
        {"reader.data_loader", "\"pytorch\""},
        {"reader.read_threads", "2"},
        {"reader.prefetch_size", "3"},
        {"reader.sample_shuffle", "\"on\""},
        {"reader.file_shuffle", "\"off\""},
        {"train.epochs", "3"},
        {"train.total_training_steps", "5"},
        {"train.total_training_steps_of", "\"run\""},
        {"evaluation.eval_time", "{\"type\": \"normal\", \"mean\": 0.1}"},
        {"workflow.evaluation", "true"},
        {"workflow.checkpoint", "false"},
        {"checkpoint.checkpoint_after_epoch", "2"},
        {"checkpoint.checkpoint_folder", "\"ck\""},
        {"model.model_size_bytes", "10240"},
    };
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
    const char *got;

    (void)state;
    put_file("old.yaml", old_file);
    got = PLAN(a, "@old.yaml");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        wants(got, rows[i][0], rows[i][1]);
    lacks(got, "dataset.record_length");
    lacks(got, "train.eval_time.mean");
    assert_string_equal(WARNINGS(a, "@old.yaml"), "");
}

static void older_names_hold_in_every_form(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
    const char *got;

    (void)state;
    put_file("new.yaml", "dataset: {format: npz}\nreader: {batch_size: 7}\n");
    put_file("more.yaml", "exp.name: x\ntrain: {n_epochs: 6}\n"
                          "data_loader.batch_size: 5\n");
    got = PLAN(a, "@new.yaml", "--config more.yaml",
               "-P dataset.record_length=99",
               "++workload.dataset.num_files_val=8", "dataset.data_dir=d",
               "++workload.framework=pytorch", "++workload.model=m",
               "-P reader.read_shuffle=False");
    wants(got, "reader.batch_size", "5");
    wants(got, "train.epochs", "6");
    wants(got, "dataset.record_length_bytes", "99.0");
    wants(got, "dataset.num_files_eval", "8");
    wants(got, "dataset.data_folder", "\"d\"");
    wants(got, "emulate.framework", "\"pytorch\"");
    wants(got, "model.name", "\"m\"");
    wants(got, "reader.sample_shuffle", "\"off\"");

    /* sweeps, extensions, references */
    got = PLAN(a, "-V train.n_epochs=[3, 4]", "-P my.x=${train.n_epochs}",
               "-E {\"condition\": {\"train.n_epochs\": 4}, "
               "\"parameters\": {\"dataset.num_files_val\": 44}}");
    wants(got, "my.x", "\"3\"");
    wants(strchr(got, '\n'), "my.x", "\"4\"");
    wants(strchr(got, '\n'), "dataset.num_files_eval", "44");
    wants(got, "dataset.num_files_eval", "0");
    got = PLAN(a, "-V reader.prefetch=[true, false, 9]");
    wants(got, "reader.prefetch_size", "2");
    wants(got, "reader.prefetch_size", "0");
    wants(got, "reader.prefetch_size", "9");
    /* a word that only DLIO's files have such a meaning for */
    wants(PLAN(a, "framework=mine"), "framework", "\"mine\"");
}

static void the_environment_knows_older_names(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);

    (void)state;
    setenv("PRONY_TRAIN_N_EPOCHS", "7", 1);
    setenv("PRONY_DATA_LOADER_READ_SHUFFLE", "seed", 1);
    setenv("PRONY_READER_PREFETCH", "false", 1);
    wants(PLAN(a, "a=1"), "train.epochs", "7");
    wants(PLAN(a, "a=1"), "reader.sample_shuffle", "\"seed\"");
    wants(PLAN(a, "a=1"), "reader.prefetch_size", "0");
    setenv("PRONY_TRAIN_EPOCHS", "8", 1);
    wants(PLAN(a, "a=1"), "train.epochs", "8");
    unsetenv("PRONY_TRAIN_N_EPOCHS");
    unsetenv("PRONY_DATA_LOADER_READ_SHUFFLE");
    unsetenv("PRONY_READER_PREFETCH");
    unsetenv("PRONY_TRAIN_EPOCHS");
}

static void todays_name_is_stronger_in_one_file(void **state)
{
    static const char *const files[] = {
        "dataset: {record_length: 5, record_length_bytes: 7}\n",
        "dataset: {record_length_bytes: 7, record_length: 5}\n",
    };
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        put_file("both.yaml", files[i]);
        wants(PLAN(a, "@both.yaml"), "dataset.record_length_bytes", "7.0");
        assert_non_null(strstr(WARNINGS(a, "@both.yaml"),
                               "|'dataset.record_length' is not used: "
                               "'dataset.record_length_bytes' is set"));
    }
    put_file("both.yaml",
             "dataset: {record_length: 7, record_length_bytes: 7}\n");
    assert_string_equal(WARNINGS(a, "@both.yaml"), "");
    put_file("both.yaml", "reader: {batch_size: 3}\n"
                          "data_loader: {batch_size: 4, read_threads: 9}\n");
    wants(PLAN(a, "@both.yaml"), "reader.batch_size", "3");
    wants(PLAN(a, "@both.yaml"), "reader.read_threads", "9");
    put_file("both.yaml", "train: {do_eval: true}\nworkflow: {do_eval: no}\n");
    wants(PLAN(a, "@both.yaml"), "workflow.evaluation", "false");
    assert_non_null(strstr(WARNINGS(a, "@both.yaml"),
                           "'train.do_eval' is not used: "
                           "'workflow.do_eval' is set"));
    /* on the command line the last word counts */
    wants(PLAN(a, "train.epochs=3", "train.n_epochs=4"), "train.epochs", "4");
    wants(PLAN(a, "train.n_epochs=4", "train.epochs=3"), "train.epochs", "3");
}

static void first_names_count_steps_over_the_whole_run(void **state)
{
    static const char name[] = "train.total_training_steps_of";
    static const char new[] = "dataset: {format: npz}\n"
                              "data_reader: {batch_size: 3}\n"
                              "train: {total_training_steps: 5}\n";
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);

    (void)state;
    put_file("new.yaml", new);
    put_file("old.yaml", old_file);
    put_file("own.yaml", "exp.workload: emulate\ntrain.n_epochs: 3\n");
    wants(PLAN(a, "@new.yaml"), name, "\"epoch\"");
    wants(PLAN(a, "@old.yaml"), name, "\"run\"");
    wants(PLAN(a, "@own.yaml"), name, "\"epoch\"");
    wants(PLAN(a, "@new.yaml", "++workload.train.n_epochs=2"), name, "\"run\"");
    wants(PLAN(a, "@new.yaml", "-V train.n_epochs=[2]"), name, "\"run\"");
    wants(PLAN(a, "@new.yaml", "--config own.yaml"), name, "\"run\"");
    wants(
        PLAN(a, "@old.yaml", "++workload.train.total_training_steps_of=epoch"),
        name, "\"epoch\"");
}

static void keys_of_a_map_are_laid_over_it(void **state)
{
    static const char name[] = "train.computation_time";
    static const struct {
        const char *file;
        const char *args[4];
        const char *want;
    } rows[] = {
        /* over a number: it is replaced */
        {"1.0",
         {"++workload.train.computation_time.type=uniform",
          "++workload.train.computation_time.min=0.1",
          "++workload.train.computation_time.max=2"},
         "{\"type\": \"uniform\", \"min\": 0.1, \"max\": 2}"},
        /* over a map: the other keys stay */
        {"{type: normal, mean: 1, stdev: 0.2}",
         {"++workload.train.computation_time.mean=3"},
         "{\"type\": \"normal\", \"stdev\": 0.2, \"mean\": 3}"},
        {"{type: normal, mean: 1}",
         {"-P train.computation_time.stdev=0.5"},
         "{\"type\": \"normal\", \"mean\": 1, \"stdev\": 0.5}"},
        /* in the order given */
        {"1.0",
         {"-P train.computation_time.mean=3", "-P train.computation_time=2"},
         "2"},
        {"1.0",
         {"-P train.computation_time={\"type\": \"normal\", \"mean\": 4}",
          "train.computation_time.a.b=1", "train.computation_time.a.c=2"},
         "{\"type\": \"normal\", \"mean\": 4, \"a\": {\"b\": 1, \"c\": 2}}"},
        /* taken out again */
        {"{type: normal, mean: 1}",
         {"~workload.train.computation_time.type"},
         "{\"mean\": 1}"},
        {"1.0", {"~workload.train.computation_time.type"}, "1.0"},
        {"{a: {b: 1, c: 2}}",
         {"~train.computation_time.a.b"},
         "{\"a\": {\"c\": 2}}"},
        {"{a: 1}", {"~train.computation_time.x.y"}, "{\"a\": 1}"},
    };
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *args[6] = {"@w.yaml"};

        memcpy(args + 1, rows[i].args, sizeof rows[i].args);
        put_file("w.yaml", pr_arena_printf(a,
                                           "dataset: {format: npz}\n"
                                           "train: {computation_time: %s}\n",
                                           rows[i].file));
        wants(experiments(a, &usual, args), name, rows[i].want);
    }
}

static void keys_of_a_map_can_be_swept(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
    const char *got;

    (void)state;
    got = PLAN(a, "-P train.computation_time={\"type\": \"normal\"}",
               "-V train.computation_time.mean=[1, 2]",
               "-V train.computation_time.stdev=[0.1]",
               "-E {\"condition\": {}, \"parameters\": "
               "{\"train.computation_time.extra\": 9}}");
    wants(got, "train.computation_time",
          "{\"type\": \"normal\", \"mean\": 1, \"stdev\": 0.1, \"extra\": 9}");
    wants(got, "train.computation_time",
          "{\"type\": \"normal\", \"mean\": 2, \"stdev\": 0.1, \"extra\": 9}");
    got = PLAN(a, "-V train.computation_time=[1, {\"mean\": 2}]");
    wants(got, "train.computation_time", "1");
    wants(got, "train.computation_time", "{\"mean\": 2}");
}

static void python_code_is_refused_where_it_is_named(void **state)
{
    static const struct {
        const char *file, *arg, *want; /* want NULL: it plans */
    } rows[] = {
        {"reader: {data_loader: custom}\n", "a=1",
         "!w.yaml:1:10 'reader.data_loader' asks for Python code ('custom')"},
        {"reader:\n  reader_classname: my.Reader\n", "a=1",
         "!w.yaml:2:3 'reader.reader_classname' asks for Python code"},
        {"data_reader: {data_loader_classname: my.Loader}\n", "a=1",
         "!w.yaml:1:15 'reader.data_loader_classname' asks for"},
        {"checkpoint: {checkpoint_mechanism_classname: my.C}\n", "a=1",
         "!w.yaml:1:14 'checkpoint.checkpoint_mechanism_classname' asks"},
        {"reader: {data_loader: pytorch}\n",
         "++workload.reader.reader_classname=my.Reader",
         "!++workload.reader.reader_classname=my.Reader 'reader.reader_clas"},
        {"reader: {data_loader: custom}\n",
         "++workload.reader.data_loader=pytorch", NULL},
        {"reader: {reader_classname: null, data_loader_classname: ''}\n", "a=1",
         NULL},
    };
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *got;

        put_file("w.yaml", rows[i].file);
        got = PLAN(a, "@w.yaml", rows[i].arg);
        if (rows[i].want)
            assert_memory_equal(got, rows[i].want, strlen(rows[i].want));
        else
            assert_int_not_equal(got[0], '!');
    }
}

static void a_slip_in_a_section_is_warned_of(void **state)
{
    static const struct {
        const char *arg, *want; /* NULL: not a word */
    } rows[] = {
        {"datset.format=npz", "did you mean 'dataset.format'?"},
        {"workflwo.train=false", "did you mean 'workflow.train'?"},
        {"tran.epochs=3", "did you mean 'train.epochs'?"},
        {"loader.batch_size=3", "did you mean 'reader.batch_size'?"},
        /* the user's own */
        {"datset.mine=1", NULL},
        {"my.format=npz", NULL},
        {"data.format=npz", NULL},
        {"format=npz", NULL},
        {"exp.command=x", NULL},
    };
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *got = WARNINGS(a, rows[i].arg);

        if (rows[i].want)
            assert_non_null(strstr(got, rows[i].want));
        else
            assert_string_equal(got, "");
    }
}

static void a_profiler_may_be_named_by_the_workflow(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
    const char *got;

    (void)state;
    put_file("w.yaml", "workflow: {profiling: tensorboard}\n");
    got = PLAN(a, "@w.yaml");
    wants(got, "workflow.profiling", "true");
    wants(got, "profiling.profiler", "\"tensorboard\"");
    put_file("w.yaml", "workflow: {profiling: 'False'}\n");
    got = PLAN(a, "@w.yaml");
    wants(got, "workflow.profiling", "false");
    wants(got, "profiling.profiler", "\"iostat\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_in_the_first_names_is_understood),
        cmocka_unit_test(older_names_hold_in_every_form),
        cmocka_unit_test(the_environment_knows_older_names),
        cmocka_unit_test(todays_name_is_stronger_in_one_file),
        cmocka_unit_test(first_names_count_steps_over_the_whole_run),
        cmocka_unit_test(keys_of_a_map_are_laid_over_it),
        cmocka_unit_test(keys_of_a_map_can_be_swept),
        cmocka_unit_test(python_code_is_refused_where_it_is_named),
        cmocka_unit_test(a_slip_in_a_section_is_warned_of),
        cmocka_unit_test(a_profiler_may_be_named_by_the_workflow),
    };
    return cmocka_run_group_tests(tests, enter_dir, leave_dir);
}
