/* Results of GPU systems, gathered: what counts, what is doubted, and what
 * happens without memory. */
#include "analyse/gpu_systems.h"

#include "analyse/suite/suite.h"

#include "torture.h"

#include "scratch.h"

#include <math.h>
#include <sys/stat.h>

static struct pr_arena *arena;
static struct pr_gpu_tasks tasks;
static struct pr_systems systems;

static void make(const char *path)
{
    if (mkdir(path, 0755) < 0)
        fail_msg("cannot make %s", path);
}

/* Enters a scratch folder that has a tree of one system. */
static int build(void **state)
{
    arena = pr_arena_new(65536);
    systems = (struct pr_systems){0};
    if (enter(state) || !arena || setenv("PRONY_SHARE", getenv("SRC"), 1) ||
        pr_gpu_tasks_load(arena, &tasks, NULL) ||
        pr_systems_load(&systems, arena, NULL))
        return -1;
    make("r");
    make("r/2x3090_v1");
    make("r/2x3090_v1/PyTorch_gnmt_FP32");
    spit("r/2x3090_v1/PyTorch_gnmt_FP32/a.txt", "1: 2 3 4 Training: 900\n");
    spit("r/2x3090_v1/PyTorch_gnmt_FP32/b.txt",
         "0: P E: 0\tTraining: 1100 Tok/s\nDONE!\n");
    spit("r/2x3090_v1/PyTorch_gnmt_FP32/c.txt",
         "0: P E: 0\tTraining: 900 Tok/s\nDONE!\n");
    spit("r/2x3090_v1/PyTorch_gnmt_FP32/d.log", "Training: 1 1 1 1 1\n");
    return 0;
}

static int clear(void **state)
{
    pr_arena_free(arena);
    return leave(state);
}

static void gather(struct pr_gpu_systems_opts *o, struct pr_gpu_systems *ret)
{
    struct pr_err err = {0};

    o->tasks = &tasks;
    o->systems = &systems;
    o->system = o->system ? o->system : "all";
    if (pr_gpu_systems_read("r", o, arena, ret, &err))
        fail_msg("%s: %s", err.where, err.msg);
}

static const struct pr_gpu_systems_cell *cell_of(const struct pr_gpu_systems *g,
                                                 size_t row, const char *column)
{
    for (size_t i = 0; i < g->rows[row].count; i++)
        if (strcmp(g->rows[row].cells[i].task->column, column) == 0)
            return &g->rows[row].cells[i];
    fail_msg("no column %s", column);
    return NULL;
}

static void a_table(void **state)
{
    struct pr_gpu_systems_opts o = {.dialect = PR_GPU_TASK_V2};
    const struct pr_gpu_systems_cell *c;
    struct pr_gpu_systems g;

    (void)state;
    for (o.threads = 1; o.threads <= 3; o.threads++) {
        gather(&o, &g);
        assert_int_equal(g.count, 1);
        c = cell_of(&g, 0, "gnmt");
        assert_true(c->there && c->count == 3);
        assert_true(c->logs[0].value == 4 || c->logs[0].value == 0);
        assert_true(c->logs[1].value == 1100 && c->logs[2].value == 900);
        assert_false(cell_of(&g, 0, "ssd")->there);
        assert_int_equal(g.logs, 3);
    }
}

static void doubts(void **state)
{
    struct pr_gpu_systems_opts o = {.full = true,
                                    .precision = PR_GPU_SYSTEMS_BOTH};
    struct pr_gpu_systems_stat s;
    struct pr_gpu_systems g;

    (void)state;
    spit("r/2x3090_v1/PyTorch_gnmt_FP32/a.txt", "Traceback\nValueError: x\n");
    gather(&o, &g);
    assert_int_equal(g.rows[0].count, 1);
    assert_int_equal(g.rows[0].gpus, 2);
    pr_gpu_systems_compute_stat(&g.rows[0], &g.rows[0].cells[0], &s);
    assert_true(s.n == 2 && s.failed == 1 && s.mean == 1000);
    assert_true(fabs(s.deviation - sqrt(20000)) < 1e-9);
    assert_true(s.min == 900 && s.max == 1100);
    assert_int_equal(s.flags, PR_GPU_SYSTEMS_SPREAD);
    assert_int_equal(s.why, PR_GPU_TASK_ERROR);
    assert_string_equal(s.words, "ValueError: x");
    assert_true(fabs(s.per_watt - 1000 / 700.0) < 1e-12);
    assert_true(fabs(s.per_dollar - 1000 / 5500.0) < 1e-12);
    /* More than two such GPUs can do. */
    spit("r/2x3090_v1/PyTorch_gnmt_FP32/b.txt",
         "0: P E: 0\tT Training: x\n"
         "0: P E: 0\tTraining: 1e9 Tok/s\n");
    gather(&o, &g);
    pr_gpu_systems_compute_stat(&g.rows[0], &g.rows[0].cells[0], &s);
    assert_true(s.flags & PR_GPU_SYSTEMS_IMPLAUSIBLE);
    assert_true(s.flags & PR_GPU_SYSTEMS_NO_DONE);
}

/* The figure of a long log may stand before its end. */
static void long_logs(void **state)
{
    struct pr_gpu_systems_opts o = {.dialect = PR_GPU_TASK_V2};
    FILE *f = fopen("r/2x3090_v1/PyTorch_gnmt_FP32/a.txt", "w");
    struct pr_gpu_systems g;

    (void)state;
    assert_non_null(f);
    fprintf(f, "0: P E: 0\tTraining: 77 Tok/s\n");
    for (int i = 0; i < 5000; i++)
        fprintf(f, "a line that says nothing, number %d\n", i);
    fclose(f);
    gather(&o, &g);
    assert_true(cell_of(&g, 0, "gnmt")->logs[0].value == 77);
    /* One that begins before the part that is read, and ends in it. */
    f = fopen("r/2x3090_v1/PyTorch_gnmt_FP32/a.txt", "w");
    assert_non_null(f);
    fprintf(f, "0: P E:");
    for (int i = 0; i < 100000; i++)
        fputc('x', f);
    fprintf(f, " 0\tTraining: 78 Tok/s\nDONE!\n");
    fclose(f);
    gather(&o, &g);
    assert_true(cell_of(&g, 0, "gnmt")->logs[0].value == 78);
}

static void names_of_systems(void **state)
{
    struct pr_gpu_systems_opts o = {.dialect = PR_GPU_TASK_V1,
                                    .tasks = &tasks,
                                    .systems = &systems,
                                    .system = "2x RTX 3090"};
    enum pr_gpu_task_dialect_kind kind;
    struct pr_gpu_systems g;
    struct pr_err err = {0};

    (void)state;
    gather(&o, &g);
    assert_int_equal(g.count, 1);
    assert_string_equal(g.rows[0].folder, "2x3090_v1");
    assert_int_equal(pr_gpu_systems_find_dialect("r", &systems, &kind, NULL),
                     PR_OK);
    assert_int_equal(kind, PR_GPU_TASK_V1);
    o.system = "2x3091_v1";
    assert_int_equal(pr_gpu_systems_read("r", &o, arena, &g, &err), PR_E_USAGE);
    assert_non_null(strstr(err.hint, "2x3090_v1"));
    assert_true(pr_gpu_systems_is_tree("r"));
    assert_false(pr_gpu_systems_is_tree("r/2x3090_v1"));
    assert_false(pr_gpu_systems_is_tree("nowhere"));
    assert_int_equal(pr_system_gpus("SMC_8xH100_v1"), 8);
    assert_int_equal(pr_system_gpus("3090_v1"), 1);
    assert_int_equal(pr_system_gpus("p3.16xlarge"), 1);
}

static int gather_once(void)
{
    struct pr_gpu_systems_opts o = {.tasks = &tasks,
                                    .systems = &systems,
                                    .system = "all",
                                    .full = true,
                                    .precision = PR_GPU_SYSTEMS_BOTH,
                                    .threads = 1};
    struct pr_arena *a = pr_arena_new(256);
    struct pr_gpu_systems g;
    int rc = a ? pr_gpu_systems_read("r", &o, a, &g, NULL) : PR_E_NOMEM;

    pr_arena_free(a);
    return rc;
}

static void out_of_memory(void **state)
{
    (void)state;
    torture(gather_once);
}

#define IN_TREE(f) cmocka_unit_test_setup_teardown(f, build, clear)

/* ---- as a suite */

static int read_suite(const char *path, const char *system,
                      struct pr_suite **ret, struct pr_err *err)
{
    struct pr_suite_read_opts o = {.threads = 2, .system = system};

    return pr_suite_read(path, &o, ret, err);
}

static void refuse(const char *path, const char *system, const char *words)
{
    struct pr_suite *s = NULL;
    struct pr_err err = {0};

    assert_int_equal(read_suite(path, system, &s, &err), PR_E_USAGE);
    assert_non_null(strstr(err.msg, words));
}

/* Two figures, and a log without one; another task has no log at all. */
static void check_suite(const char *path, const char *system)
{
    const struct pr_suite_test *t;
    struct pr_suite *s = NULL;
    struct pr_err err = {0};

    if (read_suite(path, system, &s, &err))
        fail_msg("%s: %s", err.where, err.msg);
    assert_int_equal(s->kind, PR_SUITE_SYSTEMS);
    assert_int_equal(s->count, 1);
    t = &s->tests[0];
    assert_string_equal(t->name, "PyTorch_gnmt_FP32");
    assert_int_equal(t->n, 3);
    assert_int_equal(t->failures, 1);
    assert_int_equal(t->train.n, 2);
    assert_true(fabs(t->train.mean - 1000) < 1e-9);
    assert_string_equal(s->host.name, "2x RTX 3090");
    assert_int_equal(s->host.gpus, 2);
    pr_suite_free(s);
}

static void a_suite(void **state)
{
    (void)state;
    spit("r/2x3090_v1/PyTorch_gnmt_FP32/a.txt", "RuntimeError: no\nDONE!\n");
    make("r/2x3090_v1/PyTorch_SSD_FP32");
    make("r/charts");
    check_suite("r", NULL);
    check_suite("r/2x3090_v1/", NULL);
    make("r/other");
    make("r/other/PyTorch_ncf_FP16");
    refuse("r", NULL, "2 systems");
    refuse("r", "all", "2 systems");
    refuse("r", "othr", "no system is called 'othr'");
    refuse("r/charts", "other", "no folder of results");
    check_suite("r", "2x3090_v1");
    check_suite("r", "2x RTX 3090");
    check_suite("r/other/../2x3090_v1", NULL);
}

/* It counts, and is doubted. */
static void an_implausible_suite(void **state)
{
    struct pr_suite *s = NULL;

    (void)state;
    spit("r/2x3090_v1/PyTorch_gnmt_FP32/e.txt",
         "0: P E: 0\tTraining: 2.1e10 Tok/s\nDONE!\n");
    assert_int_equal(read_suite("r", NULL, &s, NULL), PR_OK);
    assert_int_equal(s->note_count, 1);
    assert_int_equal(s->bad, 0);
    assert_string_equal(s->notes[0].where, "PyTorch_gnmt_FP32");
    pr_suite_free(s);
}

static int suite_and_free(void)
{
    struct pr_suite *s = NULL;
    int rc = read_suite("r/2x3090_v1", NULL, &s, NULL);

    pr_suite_free(s);
    return rc;
}

static void a_suite_without_memory(void **state)
{
    (void)state;
    torture(suite_and_free);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TREE(a_table),
        IN_TREE(doubts),
        IN_TREE(long_logs),
        IN_TREE(names_of_systems),
        IN_TREE(out_of_memory),
        IN_TREE(a_suite),
        IN_TREE(an_implausible_suite),
        IN_TREE(a_suite_without_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
