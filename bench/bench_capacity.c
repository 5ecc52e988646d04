/*
 * prony capacity against running every number of accelerators up to the first
 * that fails: the same steps, and a storage whose rate is known, so that the
 * answer is, too. Most of either is waiting, which takes the same time on any
 * machine: once each is enough.
 */
#include "prony.h"

#include <math.h>
#include <stdarg.h>

enum {
    CAPACITY = 24,
    STEPS = 60,
    EXCLUDED = 4, /* more than is read ahead */
    BATCH = 2,
    SAMPLE = 40000,
    HEADER = 128, /* of a npy file */
};
#define COMPUTING 0.05
#define THRESHOLD 0.9
#define GOAL 0.33

static const char *program;

/* What one accelerator reads a second when it is just busy enough. */
static double need(void)
{
    return (SAMPLE + HEADER) * BATCH / COMPUTING * THRESHOLD;
}

/* Half way from the capacity to the next number. */
static double rate(void)
{
    return floor((CAPACITY + 0.5) * need());
}

/* ---- running the program */

struct words {
    char text[4096];
    char *list[64];
    size_t used, count;
};

__attribute__((format(printf, 2, 3))) static void add(struct words *w,
                                                      const char *fmt, ...)
{
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(w->text + w->used, sizeof w->text - w->used, fmt, ap);
    va_end(ap);
    if (n < 0 || (size_t)n >= sizeof w->text - w->used || w->count >= 62)
        bench_die("too many words");
    w->list[w->count++] = w->text + w->used;
    w->used += (size_t)n + 1;
}

/* What both get. */
static void begin(struct words *w, const char *command, const char *dir)
{
    *w = (struct words){.count = 0};
    add(w, "%s", program);
    add(w, "%s", command);
    add(w, "-q");
    add(w, "--format");
    add(w, "json");
    add(w, "-o");
    add(w, "%s/%s", dir, command);
    add(w, "exp.workload=emulate");
    add(w, "dataset.format=npy");
    add(w, "dataset.data_folder=%s/data", dir);
    add(w, "dataset.record_length_bytes=%d", SAMPLE);
    add(w, "storage.engine=null");
    add(w, "storage.throttle=%.0f", rate());
    add(w, "reader.data_loader=pytorch");
    add(w, "reader.batch_size=%d", BATCH);
    add(w, "reader.read_threads=1");
    add(w, "train.computation_time=%g", COMPUTING);
    add(w, "metric.au=%g", THRESHOLD);
    add(w, "output.metric.exclude_start_steps=%d", EXCLUDED);
}

/* What it printed; *ret_seconds from its start to its end. */
static const struct pr_value *run(struct words *w, const char *dir,
                                  struct pr_arena *a, double *ret_seconds)
{
    char out[1100];
    double start = bench_now();
    const struct pr_value *v;
    int status;

    snprintf(out, sizeof out, "%s/%s.json", dir, w->list[1]);
    status = bench_spawn(w->list, out, false);
    *ret_seconds = bench_now() - start;
    v = status ? NULL : bench_json(a, out);
    if (!v)
        bench_die("'prony %s' ended with status %d", w->list[1], status);
    return v;
}

static double number(const struct pr_value *v, const char *name)
{
    v = v ? pr_get(v, name) : NULL;
    if (!v || !pr_value_is_number(v))
        bench_die("there is no '%s'", name);
    return pr_value_number(v);
}

static const struct pr_value *list(const struct pr_value *v, const char *name)
{
    v = pr_get(v, name);
    if (!v || v->kind != PR_LIST)
        bench_die("there is no list '%s'", name);
    return v;
}

/* ---- both ways */

struct found {
    double answer;
    double runs, trials_s, command_s;
};

static struct found search(const char *dir, struct pr_arena *a)
{
    struct words w;
    struct found f = {0};
    const struct pr_value *v, *trials;

    begin(&w, "capacity", dir);
    add(&w, "--steps");
    add(&w, "%d", STEPS);
    v = run(&w, dir, a, &f.command_s);
    f.answer = number(v, "capacity");
    trials = list(v, "trials");
    f.runs = trials->len;
    printf("trials:");
    for (uint32_t i = 0; i < trials->len; i++) {
        const struct pr_value *kind = pr_get(&trials->items[i], "kind");

        f.trials_s += number(&trials->items[i], "seconds");
        printf("%s %s of %.0f", i ? "," : "",
               kind && kind->kind == PR_STR ? kind->s : "",
               number(&trials->items[i], "accelerators"));
    }
    printf("\n");
    return f;
}

static struct found try_all(const char *dir, struct pr_arena *a)
{
    struct words w;
    struct found f = {0};
    const struct pr_value *all;
    char numbers[256] = "";

    for (int i = 1; i <= CAPACITY + 1; i++)
        snprintf(numbers + strlen(numbers), sizeof numbers - strlen(numbers),
                 "%s%d", i > 1 ? "," : "", i);
    begin(&w, "run", dir);
    add(&w, "dataset.num_files_train=%d",
        (STEPS + EXCLUDED) * BATCH * (CAPACITY + 1));
    add(&w, "train.total_training_steps=%d", STEPS + EXCLUDED);
    add(&w, "emulate.drop_cache=start");
    add(&w, "-V");
    add(&w, "exp.accelerators=[%s]", numbers);
    all = list(run(&w, dir, a, &f.command_s), "experiments");
    f.runs = all->len;
    for (uint32_t i = 0; i < all->len; i++) {
        const struct pr_value *r = pr_get(&all->items[i], "results");

        f.trials_s += number(r, "elapsed_s");
        if (number(r, "dlio.train_au_mean_percentage") >= 100 * THRESHOLD)
            f.answer = i + 1;
    }
    return f;
}

static void message_print(const char *who, const struct found *f)
{
    printf("%s: %.0f accelerators, %.0f runs, %.1f s; the whole command "
           "%.1f s\n",
           who, f->answer, f->runs, f->trials_s, f->command_s);
}

static void capacity(const char *dir)
{
    struct pr_arena *a = pr_arena_new(0);
    struct found ours, all;

    if (!a)
        bench_die("out of memory");
    printf("by arithmetic: %d accelerators at %.0f %% of %.0f MB/s\n", CAPACITY,
           100 * THRESHOLD, rate() / 1e6);
    ours = search(dir, a);
    message_print("search", &ours);
    all = try_all(dir, a);
    message_print("every number", &all);
    printf("the same answer: %s\n", ours.answer == all.answer ? "yes" : "NO");
    bench_line("capacity search, time of its runs", NULL, ours.trials_s,
               "every number", all.trials_s, 1, "s", GOAL);
    bench_line("capacity search, time of the command", NULL, ours.command_s,
               "every number", all.command_s, 1, "s", GOAL);
    pr_arena_free(a);
}

int main(int argc, char **argv)
{
    static const struct bench_section sections[] = {
        {"capacity", capacity, true},
        {NULL, NULL, false},
    };

    program = argc > 1 ? argv[1] : NULL;
    return bench_prony_sections(argc, argv, sections);
}
