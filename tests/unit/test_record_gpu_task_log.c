/* The figure in a task's log: lines of every rule of every age, made up here,
 * and logs of runs that went wrong. */
#include "record/gpu_task_log.h"

#include "torture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct pr_arena *arena;
static struct pr_gpu_tasks tasks;

static int load(void **state)
{
    (void)state;
    arena = pr_arena_new(65536);
    return !arena || setenv("PRONY_SHARE", getenv("SRC"), 1) ||
           pr_gpu_tasks_load(arena, &tasks, NULL);
}

static int unload(void **state)
{
    (void)state;
    pr_arena_free(arena);
    return 0;
}

static const struct pr_gpu_task *task_of(const char *column)
{
    for (size_t i = 0; i < tasks.count; i++)
        if (strcmp(tasks.items[i].column, column) == 0)
            return &tasks.items[i];
    fail_msg("no task '%s'", column);
    return NULL;
}

static void each_rule(void **state)
{
    static const struct {
        const char *column;
        enum pr_gpu_task_age age;
        const char *log;
        double want; /* -1: nothing is found */
    } rows[] = {
        {"ssd", PR_GPU_TASK_OLD, "Training performance = 136.75 FPS\n", 136.75},
        {"ssd", PR_GPU_TASK_MID, "Training performance = 136.75 FPS", 136.75},
        {"ssd", PR_GPU_TASK_NEW,
         "Done. Total images: 16\ttotal time: 1.6\tAverage images/sec: "
         "144.660\tMedian images/sec: 144.631\n",
         144.631},
        {"resnet50", PR_GPU_TASK_OLD,
         "DLL d t - Summary: train.loss : 7.2  train.total_ips : 368.66 "
         "img/s\n",
         368.66},
        {"resnet50", PR_GPU_TASK_NEW,
         "DLL d t - Summary: train.loss : 4.4 None train.compute_ips : 905.44 "
         "images/s train.total_ips : 1.0 images/s\n",
         905.44},
        {"maskrcnn", PR_GPU_TASK_OLD, "Training perf is: 10.153659 FPS\n",
         10.153659},
        {"maskrcnn", PR_GPU_TASK_NEW,
         "INFO: Total training time: 0:09:50 (1.4773 s / it)\n", 1.4773},
        {"gnmt", PR_GPU_TASK_OLD,
         "0: Performance: Epoch: 1\tTraining: 22744 Tok/s\tValidation: 58461 "
         "Tok/s\n",
         22744},
        /* Without the second half only the newer place is right. */
        {"gnmt", PR_GPU_TASK_OLD,
         "0: Performance: Epoch: 0\tTraining: 79794 Tok/s\n", -1},
        {"gnmt", PR_GPU_TASK_NEW,
         "0: Performance: Epoch: 0\tTraining: 79794 Tok/s\n", 79794},
        {"ncf", PR_GPU_TASK_OLD,
         ":::NVLOGv0.1.0 ncf 1.2 (ncf.py:356) best_train_throughput: "
         "9799954.803401543\n",
         9799954.803401543},
        {"ncf", PR_GPU_TASK_NEW,
         "DLL d t - () best_train_throughput : 14714953.928735057 samples/s\n",
         14714953.928735057},
        {"transformerxlbase", PR_GPU_TASK_NEW,
         "Training throughput: 12101.26 tok/s\n", 12101.26},
        {"transformerxllarge", PR_GPU_TASK_OLD,
         "Training throughput: 8463.88 tok/s\n", 8463.88},
        {"tacotron2", PR_GPU_TASK_OLD,
         ":::NVLOGv0.2.2 T train_epoch_avg_items/sec: 17604.70810537515\n",
         17604.70810537515},
        {"tacotron2", PR_GPU_TASK_MID,
         "DLL d t - () train_items_per_sec : 29822.185585698007 \n",
         29822.185585698007},
        {"waveglow", PR_GPU_TASK_NEW,
         "DLL d t - () train_items_per_sec : 25350.419276205655 items/s\n",
         25350.419276205655},
        {"bert_base_squad", PR_GPU_TASK_OLD, " training throughput: 42.3873\n",
         42.3873},
        {"bert_large_squad", PR_GPU_TASK_NEW,
         "DLL d t -  e2e_train_time : 56.02  training_sequences_per_second : "
         "85.68310497744616  final_loss : 5.918 \n",
         85.68310497744616},
        /* The last line that has a number in its place. */
        {"ssd", PR_GPU_TASK_OLD,
         "Training performance = 1 FPS\rTraining performance = 2 FPS\r\n"
         "Training performance = x FPS\nTraining performance =\nother\n",
         2},
        {"ssd", PR_GPU_TASK_OLD, "Training performance = -2 FPS\n", -2},
        {"ssd", PR_GPU_TASK_OLD, "Training performance = 1e3 FPS\n", 1000},
        {"ssd", PR_GPU_TASK_OLD, "Training performance = 1_0 FPS\n", 10},
        {"ssd", PR_GPU_TASK_OLD, "Training performance = \t7\t FPS\n", 7},
        {"ssd", PR_GPU_TASK_OLD, "Training performance = nan FPS\n", -1},
        {"ssd", PR_GPU_TASK_OLD, "Training performance = 1__0 FPS\n", -1},
        {"ssd", PR_GPU_TASK_OLD, "Training performance = 0x10 FPS\n", -1},
        {"ssd", PR_GPU_TASK_OLD, "Training performance = 1e999 FPS\n", -1},
        {"ssd", PR_GPU_TASK_OLD, "Training performance\n= 3 FPS\n", -1},
        {"ssd", PR_GPU_TASK_OLD, "", -1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct pr_gpu_task *t = task_of(rows[i].column);
        double got = -1;
        bool found = pr_gpu_task_log_find(&t->rules[rows[i].age], rows[i].log,
                                          strlen(rows[i].log), false, &got);

        if (got != rows[i].want || found != (rows[i].want != -1))
            fail_msg("row %zu: %g", i, got);
    }
}

/* Of the end of a log a line that begins before it is not looked at. */
static void ends_of_logs(void **state)
{
    static const char log[] = "Training performance = 9 FPS\nmore\n";
    const struct pr_gpu_task_rule *rule = &task_of("ssd")->rules[0];
    double f = -1;

    (void)state;
    assert_false(pr_gpu_task_log_find(rule, log, strlen(log), true, &f));
    assert_true(pr_gpu_task_log_find(rule, log, strlen(log), false, &f));
    assert_true(f == 9);
}

static void read_log(const char *column, const char *text,
                     const char *para_text, struct pr_gpu_task_reading *ret)
{
    struct pr_gpu_task_para para = {.there = false};

    if (para_text)
        pr_gpu_task_para_read(para_text, strlen(para_text), &para);
    pr_gpu_task_log_read(task_of(column), text, strlen(text), &para, ret);
}

static void ages_are_told(void **state)
{
    static const char ssd[] =
        "x Average images/sec: 1 Median images/sec: 144.5\n"
        "Training performance = 289 FPS\nDONE!\n";
    struct pr_gpu_task_reading r;

    (void)state;
    read_log("ssd", ssd, NULL, &r);
    assert_true(r.printed == 289 && r.done && r.end == PR_GPU_TASK_OK);
    read_log("ssd", ssd, "GLOBAL_BATCH 16\nGPU 2\n", &r);
    assert_true(r.printed == 144.5);
    /* Mask R-CNN's is the batch over the time of a step. */
    read_log("maskrcnn", "Total training time: 1 (0.5 s / it)",
             "GLOBAL_BATCH 16\nGPU 2\n", &r);
    assert_true(r.printed == 32 && !r.done);
    read_log("maskrcnn", "Total training time: 1 (0.5 s / it)", NULL, &r);
    assert_true(r.printed == 0);
}

static void bad_logs(void **state)
{
    static const struct {
        const char *log;
        enum pr_gpu_task_end end;
        bool done;
        const char *words;
    } rows[] = {
        {"", PR_GPU_TASK_EMPTY, false, ""},
        {" \n\r\n", PR_GPU_TASK_EMPTY, false, ""},
        {"RuntimeError: CUDA out of memory. Tried\nDONE!\n", PR_GPU_TASK_OOM,
         true, "RuntimeError: CUDA out of memory. Tried"},
        {"Traceback (most recent\n  x\nAssertionError: y\n\nDONE!\n\n",
         PR_GPU_TASK_ERROR, true, "AssertionError: y"},
        {"step 1\nstep 2", PR_GPU_TASK_TRUNCATED, false, ""},
        {"step 1\nDONE!", PR_GPU_TASK_NO_FIGURE, true, ""},
        {"Training throughput: 0 tok/s\nDONE!\n", PR_GPU_TASK_NO_FIGURE, true,
         ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_gpu_task_reading r;

        read_log("transformerxlbase", rows[i].log, NULL, &r);
        assert_int_equal(r.end, rows[i].end);
        assert_int_equal(r.done, rows[i].done);
        assert_string_equal(r.words, rows[i].words);
        assert_true(r.printed == 0 && r.value == 0);
    }
}

/* Two epochs of 35 steps are 70, not the 100 that were planned. */
static void steps_really_done(void **state)
{
    static const char log[] =
        "Iteration:   0%|          | 0/35 [00:00<?, ?it/s]\r"
        "Iteration:  97%|#########7| 34/35 [00:12<00:00,  2.65it/s]\r"
        "Iteration: 100%|##########| 35/35 [00:13<00:00,  2.96it/s]\n"
        "DLL d t - Training Epoch: 0 Training Iteration: 1  step_loss : 5.8 \n"
        "Iteration:   0%|          | 0/35 [00:00<?, ?it/s]\r"
        "Iteration: 100%|##########| 35/35 [00:13<00:00,  2.67it/s]\n"
        "DLL d t -  e2e_train_time : 28.0  training_sequences_per_second : "
        "1000.0  final_loss : 5.9 \nDONE!\n";
    struct pr_gpu_task_reading r;

    (void)state;
    read_log("bert_base_squad", log, "GLOBAL_BATCH 280\nGPU 8\n", &r);
    assert_int_equal(r.steps, 70);
    assert_true(r.printed == 1000);
    assert_true(fabs(r.value - 700) < 1e-9);
    /* Without the batch nothing can be said. */
    read_log("bert_base_squad", log, NULL, &r);
    assert_true(r.value == 1000);
}

static void names(void **state)
{
    static const struct {
        const char *name, *words;
        bool want;
    } rows[] = {
        {"PyTorch_resnet50_FP32", "resnet_fp32", true},
        {"PyTorch_resnet50_AMP", "resnet_fp32", false},
        {"PyTorch_SSD_AMP", "SSD", true},
        {"PyTorch_SSD_AMP", "ssd_AMP", true},
        {"PyTorch_SSD_AMP", "amp_ssd", false},
        {"PyTorch_bert_base_squad_FP16", "bert_fp16", true},
        {"PyTorch_bert_base_squad_FP16", "All", true},
        {"PyTorch_bert_base_squad_FP16", "large", false},
        {"PyTorch_SSD_AMP", "", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(pr_gpu_task_is_selected(rows[i].name, rows[i].words,
                                                 strlen(rows[i].words)),
                         rows[i].want);
    assert_ptr_equal(pr_gpu_task_find(&tasks, "PyTorch_SSD_AMP"),
                     task_of("ssd"));
    assert_ptr_equal(pr_gpu_task_find(&tasks, "PyTorch_resnet50_FP16"),
                     task_of("resnet50"));
    assert_null(pr_gpu_task_find(&tasks, "PyTorch_SSD_FP16"));
    assert_null(pr_gpu_task_find(&tasks, "PyTorch_bert_base_squad_FP32_20"));
    assert_null(pr_gpu_task_find(&tasks, "SSD_FP32"));
    assert_string_equal(pr_gpu_task_precision("PyTorch_SSD_AMP"), "amp");
}

#define DIALECT "{rules: new, offset: 0, columns: []}"
#define DIALECTS "{g1: " DIALECT ", v1: " DIALECT ", v2: " DIALECT "}\n"
#define EMPTY "tasks: []\ndialects: " DIALECTS

/* What the rows of bad_lists about data have is enough otherwise. */
static void data_of_tasks(void **state)
{
    static const char list[] =
        "tasks: [{name: x, column: x, unit: x, half: {old: a, mid: b, new: c}, "
        "launch: [x], launch_old: [x], data: [y, x]}]\n"
        "datasets: [{folder: x, prepare: z}, {folder: y, make: {a: 3}}]\n"
        "dialects: " DIALECTS;
    struct pr_gpu_tasks t;

    (void)state;
    assert_int_equal(
        pr_gpu_tasks_parse(list, strlen(list), "list", arena, &t, NULL), PR_OK);
    assert_int_equal(t.items[0].data_count, 2);
    assert_string_equal(t.items[0].data[0]->folder, "y");
    assert_non_null(t.items[0].data[0]->make);
    assert_string_equal(t.items[0].data[1]->prepare, "z");
    for (size_t i = 0; i < tasks.count; i++) /* the bundled list says all */
        assert_true(tasks.items[i].data_count > 0);
}

static void bad_lists(void **state)
{
    static const char *const rows[] = {
        "tasks: 3\n",
        "tasks: [{name: x}]\ndialects: {}\n",
        "tasks: []\ndialects: {g1: {rules: new, offset: 0, columns: []}}\n",
        "tasks: []\ndialects: {g1: {rules: none, offset: 0, columns: []}}\n",
        "tasks: []\ndialects: {g1: {rules: new, offset: 0, columns: [x]}}\n",
        ("tasks: [{name: x, column: x, unit: x, half: {old: a, mid: b, new: "
         "c}, rules: {new: {text: x}}}]\ndialects: {}\n"),
        "datasets: 3\n" EMPTY,
        "datasets: [{prepare: x}]\n" EMPTY,
        "datasets: [{folder: x}]\n" EMPTY,
        "datasets: [{folder: x, make: 3}]\n" EMPTY,
        "datasets: [{folder: x, prepare: x, make: {a: 3}}]\n" EMPTY,
        "tasks: [{name: x, column: x, unit: x, half: {old: a, mid: b, new: "
        "c}, launch: [x], launch_old: [x], data: [y]}]\n"
        "datasets: [{folder: x, prepare: x}]\ndialects: " DIALECTS,
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_err err = {0};
        struct pr_gpu_tasks t;

        assert_int_equal(pr_gpu_tasks_parse(rows[i], strlen(rows[i]), "list",
                                            arena, &t, &err),
                         PR_E_CONF);
        assert_true(*err.msg);
    }
}

static int load_once(void)
{
    struct pr_arena *a = pr_arena_new(4096);
    struct pr_gpu_tasks t;
    int rc = a ? pr_gpu_tasks_load(a, &t, NULL) : PR_E_NOMEM;

    pr_arena_free(a);
    return rc == PR_E_UNAVAIL ? PR_E_NOMEM : rc; /* no memory for its path */
}

static void out_of_memory(void **state)
{
    (void)state;
    torture(load_once);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_rule),         cmocka_unit_test(ends_of_logs),
        cmocka_unit_test(ages_are_told),     cmocka_unit_test(bad_logs),
        cmocka_unit_test(steps_really_done), cmocka_unit_test(names),
        cmocka_unit_test(data_of_tasks),     cmocka_unit_test(bad_lists),
        cmocka_unit_test(out_of_memory),
    };

    return cmocka_run_group_tests(tests, load, unload);
}
