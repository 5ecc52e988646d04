/*
 * Writes what is recorded beside a run, for other programs to read:
 *     trace_tool trace FILE THREADS SPANS     spans, by several threads
 *     trace_tool cost FILE SPANS              processor time of a span, in ns
 *     trace_tool board FOLDER COUNT           COUNT scalars of two tags
 *     trace_tool iostat FILE SECONDS [DEVICE]...
 *     trace_tool device PATH                  the device that it is on
 */
#include "observe/iostat.h"
#include "observe/tensorboard.h"
#include "observe/trace.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int fail(const struct pr_err *err)
{
    fprintf(stderr, "%s: %s\n", err->where, err->msg);
    if (*err->hint)
        fprintf(stderr, "hint: %s\n", err->hint);
    return pr_code_exit_status(err->code);
}

/* ---- traces */

enum { THREADS_MAX = 64 };

struct worker {
    struct pr_trace *t;
    uint64_t number, spans;
};

/* Span i of thread n: accelerator i % 3, from i µs on for n + 1 ns. */
static void *work(void *arg)
{
    struct worker *w = arg;
    struct pr_trace_lane *l = pr_trace_lane(w->t);

    for (uint64_t i = 0; i < w->spans; i++)
        pr_trace_span(l, i % 2 ? PR_SPAN_ITEM : PR_SPAN_FETCH, i % 3, w->number,
                      i * 1000, i * 1000 + w->number + 1, 1, i);
    return NULL;
}

static int write_trace(const char *path, int threads, uint64_t spans)
{
    struct worker w[THREADS_MAX];
    pthread_t id[THREADS_MAX];
    struct pr_err err = {0};
    struct pr_trace *t;

    if (threads < 1 || threads > THREADS_MAX)
        return 2;
    if (pr_trace_open(path, 0, &t, &err))
        return fail(&err);
    for (int i = 0; i < threads; i++) {
        w[i] = (struct worker){t, (uint64_t)i, spans};
        if (pthread_create(&id[i], NULL, work, &w[i]))
            return 1;
    }
    for (int i = 0; i < threads; i++)
        pthread_join(id[i], NULL);
    return pr_trace_close(t, &err) ? fail(&err) : 0;
}

/* Of this thread: what others do at the time is not our cost. */
static uint64_t cpu_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int show_cost(const char *path, uint64_t spans)
{
    struct pr_err err = {0};
    struct pr_trace *t;
    struct pr_trace_lane *l;
    uint64_t start = cpu_ns(), took;

    if (pr_trace_open(path, start, &t, &err))
        return fail(&err);
    l = pr_trace_lane(t);
    for (uint64_t i = 0; i < spans; i++) {
        uint64_t at = start + i * 12345;

        pr_trace_span(l, PR_SPAN_ITEM, i % 8, i % 4, at, at + 98765, 1, i);
    }
    took = cpu_ns() - start;
    printf("%.1f\n", (double)took / (double)spans);
    return pr_trace_close(t, &err) ? fail(&err) : 0;
}

/* ---- scalars */

static int write_board(const char *folder, int64_t count)
{
    struct pr_err err = {0};
    struct pr_tensorboard *b;

    if (pr_tensorboard_open(folder, &b, &err))
        return fail(&err);
    for (int64_t i = 0; i < count; i++)
        pr_tensorboard_add_scalar(
            b, i % 2 ? "train/samples_per_s" : "train/wait", i * 1000003,
            (double)i / 8 - 1, 1700000000000000000u + (uint64_t)i * 250000000u);
    return pr_tensorboard_close(b, &err) ? fail(&err) : 0;
}

/* ---- devices */

static int watch(const char *path, double seconds, char **devices, int count)
{
    struct timespec t = {(time_t)seconds,
                         (long)((seconds - (double)(time_t)seconds) * 1e9)};
    struct pr_err err = {0};
    struct pr_iostat *io;

    if (pr_iostat_start("/proc", (const char *const *)devices, (size_t)count, 1,
                        &io, &err))
        return fail(&err);
    nanosleep(&t, NULL);
    return pr_iostat_stop(io, path, &err) ? fail(&err) : 0;
}

static int show_device(const char *path)
{
    char name[64];

    if (!pr_iostat_find_device(path, name))
        return 1;
    puts(name);
    return 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";

    if (strcmp(what, "trace") == 0 && argc == 5)
        return write_trace(argv[2], atoi(argv[3]), strtoull(argv[4], NULL, 10));
    if (strcmp(what, "cost") == 0 && argc == 4)
        return show_cost(argv[2], strtoull(argv[3], NULL, 10));
    if (strcmp(what, "board") == 0 && argc == 4)
        return write_board(argv[2], atoll(argv[3]));
    if (strcmp(what, "iostat") == 0 && argc >= 4)
        return watch(argv[2], atof(argv[3]), argv + 4, argc - 4);
    if (strcmp(what, "device") == 0 && argc == 3)
        return show_device(argv[2]);
    fprintf(stderr, "usage: see the top of trace_tool.c\n");
    return 2;
}
