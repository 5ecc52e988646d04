/* The command that starts replicas with mpirun, and when there is none. */
#include "native/replica/replicas_mpi.h"

#include "scratch.h"
#include "skip.h"
#include "values.h"

#include <limits.h>
#include <sys/stat.h>

struct kit {
    struct pr_arena *arena;
    struct pr_value params;
    struct pr_job job;
    struct pr_nn_opts nn;
    struct pr_start start;
};

/* Parameters as JSON; the experiment's folder is here. */
static int start(struct kit *k, const char *params, uint64_t ranks,
                 struct pr_err *err)
{
    k->arena = pr_arena_new(4096);
    k->params = json(k->arena, params);
    k->start = (struct pr_start){0};
    assert_int_equal(
        pr_job_init(&k->job, "0001", ".", &k->params, k->arena, NULL), PR_OK);
    assert_int_equal(
        pr_opt_fill(&pr_nn_section, &k->params, k->arena, &k->nn, NULL), PR_OK);
    return pr_mpi_fill_start(&k->job, &k->nn, ranks, &k->start, err);
}

/* An mpirun of ours, alone on PATH. */
static void set_path(const char *program)
{
    char folder[PATH_MAX], path[PATH_MAX + 64];

    assert_non_null(getcwd(folder, sizeof folder));
    snprintf(path, sizeof path, "/nowhere::%s", folder);
    assert_int_equal(setenv("PATH", path, 1), 0);
    if (!program)
        return;
    spit(program, "#!/bin/sh\n");
    assert_int_equal(chmod(program, 0755), 0);
}

/* What takes the folder away is a program. */
static int leave_path(void **state)
{
    return setenv("PATH", "/usr/bin:/bin", 1) || leave(state);
}

static int find(const char **words, const char *word)
{
    for (int i = 0; words[i]; i++)
        if (strcmp(words[i], word) == 0)
            return i;
    return -1;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static void need_mpi(void)
{
    if (PR_HAVE_MPI)
        return;
    skip_because("this build has no Open MPI; install libopenmpi-dev");
}

static void a_rank_is_this_program_again(void **state)
{
    char folder[PATH_MAX];
    const char **argv;
    struct kit k;
    int n = 0;

    (void)state;
    need_mpi();
    set_path("mpirun");
    assert_int_equal(start(&k, "{}", 12, NULL), PR_OK);
    argv = k.start.argv;
    while (argv[n])
        n++;
    assert_string_equal(last_part(argv[0]), "mpirun");
    assert_string_equal(argv[1], "-np");
    assert_string_equal(argv[2], "12");
    assert_true(find(argv, "--oversubscribe") > 0);
    assert_int_equal(find(argv, "--allow-run-as-root") > 0, geteuid() == 0);
    assert_string_equal(argv[find(argv, "--bind-to") + 1], "none");
    assert_non_null(realpath("/proc/self/exe", folder));
    assert_string_equal(argv[n - 3], folder);
    assert_string_equal(argv[n - 2], PR_MPI_VERB);
    assert_non_null(realpath(".", folder));
    assert_string_equal(argv[n - 1], folder); /* whatever exp.cwd is */
    assert_true(find(k.start.env, "OMPI_MCA_mpi_yield_when_idle=1") >= 0);
    pr_arena_free(k.arena);
}

static void the_name_of_open_mpi_comes_first(void **state)
{
    struct kit k;

    (void)state;
    need_mpi();
    set_path("mpirun");
    set_path("mpirun.openmpi");
    assert_int_equal(start(&k, "{}", 2, NULL), PR_OK);
    assert_string_equal(last_part(k.start.argv[0]), "mpirun.openmpi");
    pr_arena_free(k.arena);
}

static void own_arguments_come_last(void **state)
{
    static const struct {
        const char *params;
        bool binds;
        const char *first, *second;
    } rows[] = {
        {"{\"nn.mpi_args\": \"--host 'a:2,b:2'\"}", false, "--host", "a:2,b:2"},
        {"{\"nn.mpi_args\": [\"--host\", \"a b\"]}", false, "--host", "a b"},
        {"{\"nn.mpi_args\": \"--bind-to core\"}", true, "--bind-to", "core"},
        {"{\"nn.mpi_args\": [\"--map-by\", \"node\"]}", true, "--map-by",
         "node"},
        {"{\"nn.mpi_args\": \"-x --cpu-set 1,2\"}", true, "--cpu-set", "1,2"},
    };

    (void)state;
    need_mpi();
    set_path("mpirun");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct kit k;
        int at;

        assert_int_equal(start(&k, rows[i].params, 2, NULL), PR_OK);
        assert_int_equal(pr_mpi_has_binding(&k.nn), rows[i].binds);
        assert_int_equal(find(k.start.argv, "none") < 0, rows[i].binds);
        at = find(k.start.argv, rows[i].first);
        assert_true(at > find(k.start.argv, "--oversubscribe"));
        assert_string_equal(k.start.argv[at + 1], rows[i].second);
        assert_string_equal(k.start.argv[at + 3], PR_MPI_VERB);
        pr_arena_free(k.arena);
    }
}

static void a_launcher_is_in_front(void **state)
{
    struct kit k;

    (void)state;
    need_mpi();
    set_path("mpirun");
    assert_int_equal(
        start(&k,
              "{\"runtime.launcher\": \"A=1 OMPI_MCA_mpi_yield_when_idle=0 "
              "nice -n 5\"}",
              2, NULL),
        PR_OK);
    assert_string_equal(k.start.argv[0], "nice");
    assert_string_equal(last_part(k.start.argv[3]), "mpirun");
    assert_true(find(k.start.env, "A=1") >= 0);
    assert_true(find(k.start.env, "OMPI_MCA_mpi_yield_when_idle=0") >= 0);
    assert_true(find(k.start.env, "OMPI_MCA_mpi_yield_when_idle=1") < 0);
    pr_arena_free(k.arena);
}

static void without_mpirun_there_is_a_remedy(void **state)
{
    struct pr_err err = {0};
    struct kit k;

    (void)state;
    set_path(NULL);
    assert_int_equal(start(&k, "{}", 2, &err), PR_E_UNAVAIL);
    assert_non_null(strstr(err.hint, "apt-get install"));
    assert_null(k.start.argv);
    pr_arena_free(k.arena);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, enter, leave_path)
    const struct CMUnitTest tests[] = {
        TEST(a_rank_is_this_program_again),
        TEST(the_name_of_open_mpi_comes_first),
        TEST(own_arguments_come_last),
        TEST(a_launcher_is_in_front),
        TEST(without_mpirun_there_is_a_remedy),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
