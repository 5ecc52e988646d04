/*
 * The OpenMP runtime is found when the engine starts, as oneDNN finds it: the
 * library of that name is in the process once, and so is its pool. The pool
 * ends threads that a smaller loop of oneDNN's had no use for and starts new
 * ones later: each loop of ours looks where it is and moves if that is wrong.
 * The caller itself is never pinned: whatever thread it starts would inherit
 * its only processor.
 */
#include "nn/engine/threads.h"

#include "base/mem.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdbool.h>
#include <unistd.h>

struct omp {
    void (*parallel)(void (*fn)(void *), void *ctx, unsigned threads,
                     unsigned flags);
    int (*thread_num)(void);
    int (*num_threads)(void);
    int (*max_threads)(void);
    void (*set_num_threads)(int threads);
    void (*set_dynamic)(int on);
    int (*pause_all)(int how); /* NULL in older ones */
};

struct pr_threads {
    struct omp omp;
    void *lib;
    unsigned threads;
    int max_before; /* what the runtime would have used */
    bool pinned;
    cpu_set_t mask; /* of the caller */
    char *scratch;
    int cpu[]; /* of each thread */
};

/* How many there are: the last one ends the pool. */
static unsigned in_use;

/* One loop on the pool. */
struct job {
    const struct pr_threads *par;
    pr_threads_fn *fn;
    void *ctx;
};

static int find_openmp_functions(struct omp *omp, void *lib, struct pr_err *err)
{
    const struct {
        const char *name;
        void *to;
    } rows[] = {
        {"GOMP_parallel", &omp->parallel},
        {"omp_get_thread_num", &omp->thread_num},
        {"omp_get_num_threads", &omp->num_threads},
        {"omp_get_max_threads", &omp->max_threads},
        {"omp_set_num_threads", &omp->set_num_threads},
        {"omp_set_dynamic", &omp->set_dynamic},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        void *p = dlsym(lib, rows[i].name);

        if (!p)
            return pr_fail(err, PR_E_UNAVAIL, "libgomp.so.1", "has no '%s'",
                           rows[i].name);
        *(void **)rows[i].to = p;
    }
    *(void **)(void *)&omp->pause_all = dlsym(lib, "omp_pause_resource_all");
    return PR_OK;
}

static void pin_to(int cpu)
{
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET((size_t)cpu, &one);
    (void)sched_setaffinity(0, sizeof one, &one); /* at worst it wanders */
}

static void run_job_on_thread(void *data)
{
    const struct job *j = data;
    const struct pr_threads *p = j->par;
    unsigned thread = (unsigned)p->omp.thread_num();

    if (thread && p->pinned && sched_getcpu() != p->cpu[thread])
        pin_to(p->cpu[thread]);
    j->fn(j->ctx, thread, (unsigned)p->omp.num_threads());
}

void pr_threads_run(const struct pr_threads *p, pr_threads_fn *fn, void *ctx)
{
    struct job j = {p, fn, ctx};

    if (p->threads == 1)
        fn(ctx, 0, 1);
    else
        p->omp.parallel(run_job_on_thread, &j, p->threads, 0);
}

/* The mask of this process, and how many processors are in it. */
static unsigned count_processors(cpu_set_t *mask)
{
    long online;

    if (sched_getaffinity(0, sizeof *mask, mask) == 0)
        return (unsigned)CPU_COUNT(mask);
    CPU_ZERO(mask); /* more than fit: none is pinned */
    online = sysconf(_SC_NPROCESSORS_ONLN);
    if (online > PR_THREADS_MAX)
        return PR_THREADS_MAX;
    return online > 0 ? (unsigned)online : 1;
}

/* Thread i goes to the i-th processor of the mask. */
static void choose_processors(struct pr_threads *p)
{
    unsigned i = 0;

    if ((unsigned)CPU_COUNT(&p->mask) < p->threads)
        return;
    for (int cpu = 0; i < p->threads; cpu++)
        if (CPU_ISSET((size_t)cpu, &p->mask))
            p->cpu[i++] = cpu;
    p->pinned = true;
}

static void pin_self(void *ctx, unsigned thread, unsigned threads)
{
    struct pr_threads *p = ctx;

    (void)threads;
    if (thread && p->pinned)
        pin_to(p->cpu[thread]);
}

static void unpin_self(void *ctx, unsigned thread, unsigned threads)
{
    const struct pr_threads *p = ctx;

    (void)threads;
    if (thread)
        (void)sched_setaffinity(0, sizeof p->mask, &p->mask);
}

static void count_threads(void *ctx, unsigned thread, unsigned threads)
{
    if (thread == 0)
        *(unsigned *)ctx = threads;
}

/* The runtime may be told from outside to start fewer than asked for. */
static void start_pool(struct pr_threads *p)
{
    unsigned got = p->threads;

    p->max_before = p->omp.max_threads();
    p->omp.set_dynamic(0);
    pr_threads_run(p, count_threads, &got);
    p->threads = got;
    p->omp.set_num_threads((int)got);
    choose_processors(p);
    pr_threads_run(p, pin_self, p);
}

static int open_runtime(struct pr_threads *p, struct pr_err *err)
{
    /* Its threads outlive us: it must stay where it is. */
    p->lib = dlopen("libgomp.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!p->lib) {
        pr_fail(err, PR_E_UNAVAIL, "libgomp.so.1",
                "the OpenMP runtime is not installed");
        pr_hint(err, "apt-get install libgomp1");
        return PR_E_UNAVAIL;
    }
    return find_openmp_functions(&p->omp, p->lib, err);
}

static void threads_release(struct pr_threads *p)
{
    if (p->lib)
        dlclose(p->lib);
    pr_free(p->scratch);
    pr_free(p);
}

int pr_threads_new(unsigned threads, struct pr_threads **ret,
                   struct pr_err *err)
{
    cpu_set_t mask;
    unsigned cpus = count_processors(&mask);
    struct pr_threads *p;
    int r;

    if (threads == 0)
        threads = cpus;
    if (threads > PR_THREADS_MAX)
        return pr_fail(err, PR_E_CONF, "",
                       "%u threads are too many, at most %d", threads,
                       PR_THREADS_MAX);
    p = pr_alloc_zeroed(sizeof *p + threads * sizeof *p->cpu);
    if (!p)
        return pr_fail_nomem(err);
    p->threads = threads;
    p->mask = mask;
    p->scratch =
        pr_alloc_aligned(64, (size_t)threads * PR_THREADS_SCRATCH_BYTES);
    r = p->scratch ? open_runtime(p, err) : pr_fail_nomem(err);
    if (r < 0) {
        threads_release(p);
        return r;
    }
    start_pool(p);
    __atomic_add_fetch(&in_use, 1, __ATOMIC_RELAXED);
    *ret = p;
    return PR_OK;
}

void pr_threads_free(struct pr_threads *p)
{
    enum { SOFT = 1 }; /* omp_pause_soft */
    bool is_last;

    if (!p)
        return;
    is_last = __atomic_sub_fetch(&in_use, 1, __ATOMIC_RELAXED) == 0;
    if (is_last && p->pinned) {
        p->pinned = false;
        pr_threads_run(p, unpin_self, p);
    }
    p->omp.set_num_threads(p->max_before);
    if (is_last && p->omp.pause_all)
        (void)p->omp.pause_all(SOFT);
    threads_release(p);
}

unsigned pr_threads_count(const struct pr_threads *p)
{
    return p->threads;
}

void *pr_threads_scratch(const struct pr_threads *p, unsigned thread)
{
    return p->scratch + (size_t)thread * PR_THREADS_SCRATCH_BYTES;
}

void pr_threads_part(size_t count, size_t grain, unsigned thread,
                     unsigned threads, size_t *ret_from, size_t *ret_to)
{
    size_t grains = count / grain + (count % grain != 0);
    size_t each = grains / threads, more = grains % threads;
    size_t from = each * thread + (thread < more ? thread : more);
    size_t to = from + each + (thread < more);

    *ret_from = from < grains ? from * grain : count;
    *ret_to = to < grains ? to * grain : count;
}
