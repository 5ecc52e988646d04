/*
 * Gradients over several processes: the mean of as many numbers as AlexNet and
 * ResNet-50 have, over two ranks and more, against memcpy() of the same bytes
 * by each rank at the same time; and how long a small one takes. Best of
 * rounds, of the slowest rank.
 */
#include "native/replica/replicas.h"
#include "rig.h"

#include <sys/mman.h>

enum { ROUNDS = 15, SMALL_ROUNDS = 2000 };
enum { ALEXNET = 61100840, RESNET50 = 25557032, SMALL = 1000 };

struct work {
    unsigned ranks;
    size_t count;
    int rounds;
    double mean, copy; /* seconds, of one */
};

/* As the engine maps its memory. */
static float *map_floats(size_t count)
{
    size_t bytes = count * sizeof(float);
    float *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED)
        bench_die("out of memory");
    (void)madvise(p, bytes, MADV_HUGEPAGE);
    for (size_t i = 0; i < count; i++)
        p[i] = (float)(i % 1000);
    return p;
}

/* How long the slowest took since, if that is less than before. */
static int note(struct pr_replicas *r, double start, double *best,
                struct pr_err *err)
{
    double took = bench_time() - start;
    int rc = pr_replicas_max(r, &took, 1, err);

    if (!rc && (*best == 0 || took < *best))
        *best = took;
    return rc;
}

static int take_turns(struct pr_replicas *r, void *ctx, struct pr_err *err)
{
    struct work *w = ctx;
    float *v = map_floats(w->count), *to = map_floats(w->count);
    int rc = pr_replicas_mean(r, v, w->count, err); /* makes it known */

    for (int i = 0; !rc && i < w->rounds; i++) {
        double start;

        rc = pr_replicas_meet(r, err);
        start = bench_time();
        memcpy(to, v, w->count * sizeof *v);
        if (!rc)
            rc = note(r, start, &w->copy, err);
        if (!rc)
            rc = pr_replicas_meet(r, err);
        start = bench_time();
        if (!rc)
            rc = pr_replicas_mean(r, v, w->count, err);
        if (!rc)
            rc = note(r, start, &w->mean, err);
    }
    return rc;
}

static void measure(struct work *w)
{
    struct pr_replicas_opts opts = {.ranks = w->ranks};
    struct pr_err err;

    if (pr_replicas_run(&opts, take_turns, w, &err))
        bench_die("%s", err.msg);
}

static void large(const char *model, size_t count, unsigned ranks, double goal)
{
    struct work w = {.ranks = ranks, .count = count, .rounds = ROUNDS};
    struct bench_way ours = {.name = "ours"}, other = {.name = "memcpy"};
    char what[100];

    if (sysconf(_SC_NPROCESSORS_ONLN) < (long)ranks) {
        bench_skip("%u ranks need as many processors", ranks);
        return;
    }
    measure(&w);
    ours.best = w.mean;
    other.best = w.copy;
    snprintf(what, sizeof what, "mean of %s's gradients, %u ranks", model,
             ranks);
    bench_ratio(what, &ours, &other, (double)count * sizeof(float), goal);
}

static void alexnet(const char *dir)
{
    (void)dir;
    for (unsigned ranks = 2; ranks <= 8; ranks *= 2)
        large("AlexNet", ALEXNET, ranks, ranks == 2 ? 0.9 : 0);
}

static void resnet50(const char *dir)
{
    (void)dir;
    large("ResNet-50", RESNET50, 2, 0.9);
}

static void small(const char *dir)
{
    struct work w = {.ranks = 2, .count = SMALL, .rounds = SMALL_ROUNDS};

    (void)dir;
    measure(&w);
    bench_row(&(struct bench_row){.what = "mean of 1,000 numbers, 2 ranks",
                                  .unit = "us",
                                  .ours = w.mean * 1e6,
                                  .is_cost = true});
}

int main(int argc, char **argv)
{
    static const struct bench_section sections[] = {
        {"alexnet", alexnet, false},
        {"resnet50", resnet50, false},
        {"small", small, false},
        {NULL, NULL, false},
    };

    return bench_sections(argc, argv, sections);
}
