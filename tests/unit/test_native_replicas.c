/*
 * Replicas: what several processes compute together is exact and the same
 * everywhere, however arrays lie; and how the processes are started.
 */
#include "test_native_replicas.h"
#include "base/mem.h"
#include "brief.h"
#include "machine/cpuset.h"
#include "skip.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

/* ---- figures */

static int add_figures(struct pr_replicas *r, void *ctx, struct pr_err *err)
{
    unsigned n = pr_replicas_count(r), rank = pr_replicas_rank(r);
    double sums[3] = {1 << rank, 1, rank ? 0.1 * rank : 1e16};
    double most[2] = {rank, -(double)rank};
    double want = 1e16;
    int rc = pr_replicas_sum(r, sums, 3, err);

    WANT(n == *(unsigned *)ctx && rank < n);
    WANT(rc || (sums[0] == (1 << n) - 1 && sums[1] == n));
    for (unsigned i = 1; i < n; i++)
        want += 0.1 * i;
    WANT(rc || sums[2] == want);
    if (!rc)
        rc = pr_replicas_max(r, most, 2, err);
    WANT(rc || (most[0] == n - 1 && most[1] == 0));
    return rc ? rc : pr_replicas_meet(r, err);
}

static void figures_are_added_in_order(void **state)
{
    (void)state;
    for (unsigned n = 1; n <= MOST; n++)
        run_well(n, add_figures, &n);
}

static int too_many_figures(struct pr_replicas *r, void *ctx,
                            struct pr_err *err)
{
    static double values[PR_REPLICAS_VALUES + 1];

    return pr_replicas_sum(r, values, *(size_t *)ctx, err);
}

static void figures_have_a_limit(void **state)
{
    size_t count = PR_REPLICAS_VALUES;

    (void)state;
    run_well(2, too_many_figures, &count);
    count++;
    assert_int_equal(run_ranks(2, too_many_figures, &count, NULL), PR_E_BUG);
}

/* ---- means */

/* Of sizes so different that the order of adding matters. */
static float number(unsigned rank, size_t i, unsigned round)
{
    uint32_t x = (uint32_t)i * 2654435761u + rank * 40503u + round * 977u;

    x ^= x >> 15;
    x *= 2246822519u;
    x ^= x >> 13;
    return ((float)(x & 0xffffff) - 8388608.0f) *
           (1.0f / (float)(1u << (x >> 27)));
}

static float wanted(unsigned ranks, size_t i, unsigned round)
{
    float sum = number(0, i, round);

    for (unsigned rank = 1; rank < ranks; rank++)
        sum += number(rank, i, round);
    return sum / (float)ranks;
}

static int mean_once(struct pr_replicas *r, float *v, size_t count,
                     unsigned round, struct pr_err *err)
{
    unsigned rank = pr_replicas_rank(r), n = pr_replicas_count(r);
    int rc;

    for (size_t i = 0; i < count; i++)
        v[i] = number(rank, i, round);
    rc = pr_replicas_mean(r, v, count, err);
    for (size_t i = 0; !rc && i < count; i++)
        if (v[i] != wanted(n, i, round))
            rc = pr_fail(err, PR_E_BUG, "",
                         "rank %u of %u, element %zu of %zu, round %u: %.9g, "
                         "not %.9g",
                         rank, n, i, count, round, (double)v[i],
                         (double)wanted(n, i, round));
    return rc;
}

static float *map_floats(size_t count)
{
    float *p = mmap(NULL, count * sizeof *p, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return p == MAP_FAILED ? NULL : p;
}

/* On whole pages and beside them; twice, as the second time is another way. */
static int mean_sizes(struct pr_replicas *r, void *ctx, struct pr_err *err)
{
    static const size_t counts[] = {1,     7,     8,     1000,   1024,  32767,
                                    32768, 32769, 40001, 131072, 300007};
    static const unsigned offsets[] = {0, 1, 511, 1023};
    enum { LARGEST = 300007 + 1024 };
    float *v = map_floats(LARGEST);
    int rc = PR_OK;

    (void)ctx;
    WANT(v);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (size_t k = 0; k < sizeof offsets / sizeof *offsets; k++)
            for (unsigned round = 0; !rc && round < 2; round++)
                rc = mean_once(r, v + offsets[k], counts[i], round, err);
    munmap(v, LARGEST * sizeof *v);
    return rc;
}

static void means_are_exact(void **state)
{
    (void)state;
    for (unsigned n = 1; n <= MOST; n++)
        run_well(n, mean_sizes, NULL);
}

/* What is around the array stays, in every rank. */
static int mean_inside(struct pr_replicas *r, void *ctx, struct pr_err *err)
{
    enum { COUNT = 50001, BEFORE = 3000, ALL = COUNT + 2 * BEFORE };
    float *v = map_floats(ALL);
    float mine = (float)pr_replicas_rank(r) + 0.5f;
    int rc = PR_OK;

    (void)ctx;
    WANT(v);
    for (size_t i = 0; i < ALL; i++)
        v[i] = mine;
    for (unsigned round = 0; !rc && round < 3; round++)
        rc = mean_once(r, v + BEFORE, COUNT, round, err);
    for (size_t i = 0; !rc && i < BEFORE; i++)
        WANT(v[i] == mine && v[BEFORE + COUNT + i] == mine);
    munmap(v, ALL * sizeof *v);
    return rc;
}

static void neighbours_of_an_array_are_not_touched(void **state)
{
    (void)state;
    run_well(3, mean_inside, NULL);
}

/* Arrays in turn, parts of them, and others that lie where one was. */
static int mean_changing(struct pr_replicas *r, void *ctx, struct pr_err *err)
{
    enum { COUNT = 60000 };
    float *a = map_floats(COUNT), *b = map_floats(COUNT);
    void *again;
    int rc = PR_OK;

    (void)ctx;
    WANT(a && b);
    rc = mean_once(r, a, 33000, 0, err); /* grows */
    for (unsigned round = 0; !rc && round < 4; round++) {
        rc = mean_once(r, a, COUNT, round, err);
        if (!rc)
            rc = mean_once(r, b, COUNT, round, err);
        if (!rc)
            rc = mean_once(r, a, 40000 + round, round, err);
    }
    for (unsigned round = 0; !rc && round < 12; round++) {
        munmap(a, COUNT * sizeof *a);
        again = mmap(a, COUNT * sizeof *a, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        WANT(again == a);
        rc = mean_once(r, a, COUNT, round, err);
        if (!rc)
            rc = mean_once(r, b, COUNT, round, err);
    }
    munmap(a, COUNT * sizeof *a);
    munmap(b, COUNT * sizeof *b);
    return rc;
}

static void arrays_may_change(void **state)
{
    (void)state;
    run_well(2, mean_changing, NULL);
    run_well(3, mean_changing, NULL);
}

/* What makes a long one fast: others see the array itself. */
static int look_at_pages(struct pr_replicas *r, void *ctx, struct pr_err *err)
{
    enum { COUNT = 100000 };
    float *v = map_floats(COUNT);
    char line[512], want[32];
    bool found = false;
    FILE *f;
    int rc;

    (void)ctx;
    WANT(v);
    rc = mean_once(r, v, COUNT, 0, err);
    if (rc)
        return rc;
    snprintf(want, sizeof want, "%08lx-", (unsigned long)(uintptr_t)v);
    f = fopen("/proc/self/maps", "r");
    WANT(f);
    while (fgets(line, sizeof line, f))
        if (strncmp(line, want, strlen(want)) == 0)
            found = strstr(line, "memfd:prony-replicas") != NULL;
    fclose(f);
    WANT(found);
    munmap(v, COUNT * sizeof *v);
    return PR_OK;
}

static void long_arrays_are_shared_where_they_are(void **state)
{
    (void)state;
    run_well(2, look_at_pages, NULL);
    run_well(3, look_at_pages, NULL);
}

/* Not at the same place within a page in all ranks. */
static int mean_shifted(struct pr_replicas *r, void *ctx, struct pr_err *err)
{
    enum { COUNT = 100000 };
    float *v = map_floats(COUNT + MOST);
    int rc = PR_OK;

    (void)ctx;
    WANT(v);
    for (unsigned round = 0; !rc && round < 2; round++)
        rc = mean_once(r, v + pr_replicas_rank(r), COUNT, round, err);
    munmap(v, (COUNT + MOST) * sizeof *v);
    return rc;
}

static void arrays_may_lie_differently(void **state)
{
    (void)state;
    run_well(3, mean_shifted, NULL);
}

static int mean_threaded(struct pr_replicas *r, void *ctx, struct pr_err *err)
{
    return mean_sizes(r, ctx, err);
}

static void threads_change_nothing(void **state)
{
    struct pr_replicas_opts opts = {.ranks = 2, .threads = 3};
    struct pr_err err = {0};

    (void)state;
    if (pr_replicas_run(&opts, mean_threaded, NULL, &err))
        fail_msg("%s", err.msg);
}

/* A step of a small model, again and again, of unlike lengths. */
static int many_rounds(struct pr_replicas *r, void *ctx, struct pr_err *err)
{
    unsigned rounds = *(unsigned *)ctx, n = pr_replicas_count(r);
    float *v = map_floats(40000);
    int rc = PR_OK;

    WANT(v);
    for (unsigned round = 0; !rc && round < rounds; round++) {
        double loss = round;

        rc = mean_once(r, v, 1 + round % 50, round, err);
        if (!rc)
            rc = pr_replicas_sum(r, &loss, 1, err);
        WANT(rc || loss == (double)round * n);
        if (!rc && round % 100 == 0)
            rc = mean_once(r, v, 40000, round, err);
    }
    munmap(v, 40000 * sizeof *v);
    return rc;
}

static void thousands_of_rounds_are_right(void **state)
{
    unsigned rounds = is_brief() ? 50 : 5000;

    (void)state;
    for (unsigned n = 2; n <= MOST; n++)
        run_well(n, many_rounds, &rounds);
}

static int use_hook(struct pr_replicas *r, void *ctx, struct pr_err *err)
{
    const struct pr_net_reduce *hook = pr_replicas_reduce(r);
    float v = (float)pr_replicas_rank(r);
    int rc;

    (void)ctx;
    if (pr_replicas_count(r) == 1) {
        WANT(!hook);
        return PR_OK;
    }
    WANT(hook && hook->ranks == 3);
    rc = hook->mean(hook->ctx, &v, 1, err);
    WANT(rc || v == 1);
    return rc;
}

static void an_engine_gets_a_hook(void **state)
{
    (void)state;
    run_well(1, use_hook, NULL);
    run_well(3, use_hook, NULL);
}

/* ---- starting */

static void numbers_of_ranks_are_checked(void **state)
{
    struct pr_err err = {0};

    (void)state;
    assert_int_equal(run_ranks(0, use_hook, NULL, &err), PR_E_CONF);
    assert_int_equal(run_ranks(PR_REPLICAS_MOST + 1, use_hook, NULL, &err),
                     PR_E_CONF);
    assert_string_equal(err.where, "exp.num_local_replicas");
}

static void without_memory_nothing_starts(void **state)
{
    struct pr_err err = {0};

    (void)state;
    pr_mem_fail_after(0);
    assert_int_equal(run_ranks(2, use_hook, NULL, &err), PR_E_NOMEM);
    pr_mem_fail_after(-1);
}

/* No share can be made: the array goes over the desks. */
static int mean_poor(struct pr_replicas *r, void *ctx, struct pr_err *err)
{
    float *v = map_floats(100000);
    int rc = PR_OK;

    (void)ctx;
    WANT(v);
    if (pr_replicas_rank(r) == 1)
        pr_mem_fail_after(0);
    for (unsigned round = 0; !rc && round < 3; round++)
        rc = mean_once(r, v, 100000, round, err);
    munmap(v, 100000 * sizeof *v);
    return rc;
}

static void memory_that_lacks_in_one_costs_only_time(void **state)
{
    (void)state;
    run_well(3, mean_poor, NULL);
}

static int look_at_stdout(struct pr_replicas *r, void *ctx, struct pr_err *err)
{
    struct stat st;

    (void)ctx;
    WANT(fstat(1, &st) == 0);
    if (pr_replicas_rank(r))
        WANT(S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3));
    return PR_OK;
}

static void only_rank_0_writes(void **state)
{
    (void)state;
    run_well(3, look_at_stdout, NULL);
}

/* ---- processors */

/* Bits of the processors this rank has; the first 50 are enough here. */
static int look_at_processors(struct pr_replicas *r, void *ctx,
                              struct pr_err *err)
{
    unsigned n = pr_replicas_count(r), all = *(unsigned *)ctx, own;
    PR_AUTO_BUF struct pr_buf notes = PR_BUF_INIT(4096);
    double sum[50] = {0}, most, least;
    cpu_set_t mask;
    int rc;

    WANT(sched_getaffinity(0, sizeof mask, &mask) == 0);
    own = (unsigned)CPU_COUNT(&mask);
    most = own;
    least = -(double)own;
    for (int i = 0; i < 50; i++)
        sum[i] = CPU_ISSET(i, &mask) != 0;
    rc = pr_replicas_sum(r, sum, 50, err);
    if (!rc)
        rc = pr_replicas_max(r, &most, 1, err);
    if (!rc)
        rc = pr_replicas_max(r, &least, 1, err);
    if (rc)
        return rc;
    pr_replicas_add_warning(r, &notes);
    WANT((notes.len > 0) == (n > all));
    WANT(most + least <= 1); /* even */
    for (int i = 0; i < 50 && n <= all; i++)
        WANT(sum[i] <= 1);
    WANT(n <= all || own == 1);
    return PR_OK;
}

static void processors_are_dealt_out_and_given_back(void **state)
{
    cpu_set_t before, after;
    unsigned all;

    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    all = (unsigned)CPU_COUNT(&before);
    for (unsigned n = 1; n <= MOST; n++) {
        run_well(n, look_at_processors, &all);
        assert_int_equal(sched_getaffinity(0, sizeof after, &after), 0);
        assert_true(CPU_EQUAL(&before, &after));
    }
}

static void say_place(unsigned cpu, const char *name, int value)
{
    char path[256];
    FILE *f;

    snprintf(path, sizeof path,
             "mkdir -p sys/devices/system/cpu/cpu%u/topology", cpu);
    assert_int_equal(system(path), 0);
    snprintf(path, sizeof path, "sys/devices/system/cpu/cpu%u/topology/%s", cpu,
             name);
    f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "%d\n", value);
    fclose(f);
}

/* Processor 0 and the last one are threads of the same core: together they
 * come after those of the other package. */
static void threads_of_a_core_stay_together(void **state)
{
    struct pr_cpu_slices c;
    unsigned n;

    (void)state;
    pr_cpu_slices_init(&c, NULL);
    n = c.count;
    if (n < 2)
        skip_because("one core; run it on two");
    for (unsigned i = 0; i < n; i++) {
        bool is_end = i == 0 || i == n - 1;

        say_place(c.list[i], "physical_package_id", is_end);
        say_place(c.list[i], "core_id", is_end ? 0 : (int)i);
    }
    struct pr_cpu_slices d;
    pr_cpu_slices_init(&d, "sys");
    assert_int_equal(d.count, n);
    assert_int_equal(d.list[n - 1], c.list[n - 1]);
    assert_int_equal(d.list[n - 2], c.list[0]);
}

static void slices_are_even(void **state)
{
    static struct pr_cpu_slices c = {.count = 7, .list = {0, 4, 1, 5, 2, 6, 3}};
    static const struct {
        unsigned i, n, count;
        int first, last;
    } rows[] = {
        {0, 1, 7, 0, 3}, {0, 2, 3, 0, 1}, {1, 2, 4, 5, 3},
        {0, 3, 2, 0, 4}, {2, 3, 3, 2, 3}, {6, 7, 1, 3, 3},
        {0, 9, 1, 0, 0}, {8, 9, 1, 3, 3}, {4, 9, 1, 5, 5},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cpu_set_t slice;

        assert_int_equal(pr_cpu_slices_get(&c, rows[i].i, rows[i].n, &slice),
                         rows[i].count);
        assert_int_equal(CPU_COUNT(&slice), rows[i].count);
        assert_true(CPU_ISSET(rows[i].first, &slice));
        assert_true(CPU_ISSET(rows[i].last, &slice));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_are_added_in_order),
        cmocka_unit_test(figures_have_a_limit),
        cmocka_unit_test(means_are_exact),
        cmocka_unit_test(neighbours_of_an_array_are_not_touched),
        cmocka_unit_test(arrays_may_change),
        cmocka_unit_test(long_arrays_are_shared_where_they_are),
        cmocka_unit_test(arrays_may_lie_differently),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(thousands_of_rounds_are_right),
        cmocka_unit_test(an_engine_gets_a_hook),
        cmocka_unit_test(numbers_of_ranks_are_checked),
        cmocka_unit_test(without_memory_nothing_starts),
        cmocka_unit_test(memory_that_lacks_in_one_costs_only_time),
        cmocka_unit_test(only_rank_0_writes),
        cmocka_unit_test(processors_are_dealt_out_and_given_back),
        cmocka_unit_test_setup_teardown(threads_of_a_core_stay_together, enter,
                                        leave),
        cmocka_unit_test(slices_are_even),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
