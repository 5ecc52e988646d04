/* A network in several engines; see race.h. */
#include "race.h"

#include "base/json/json_write.h"
#include "native.h"
#include "prony.h"

enum { FINALISTS = 2, WARMUP = 2 };

#define DEBIAN "/usr/bin/python3"
#define TORCH "PyTorch "
#define TUNED                                                \
    "GLIBC_TUNABLES=glibc.malloc.mmap_threshold=4294967296:" \
    "glibc.malloc.trim_threshold=17179869184:glibc.malloc.hugetlb=1"

int bench_number(const char *variable, int otherwise)
{
    const char *text = getenv(variable);

    return text && atoi(text) > 0 ? atoi(text) : otherwise;
}

int bench_threads(void)
{
    return bench_number("BENCH_THREADS", 2);
}

static const char *phase_of(const struct bench_race *r)
{
    return r->training ? "training" : "inference";
}

static void write_model(struct bench_race *r, const struct pr_model *m)
{
    struct pr_buf text = PR_BUF_INIT(64 << 20);
    struct pr_json_writer jb;
    FILE *f;

    snprintf(r->json, sizeof r->json, "%s/model.json", r->dir);
    f = fopen(r->json, "w");
    pr_json_writer_init(&jb, &text, 0);
    pr_model_write_json(m, &jb);
    if (!f || !pr_buf_ok(&text) ||
        fwrite(text.data, 1, text.len, f) != text.len || fclose(f))
        bench_die("cannot write %s", r->json);
    pr_buf_free(&text);
}

void bench_race_init(struct bench_race *r, const char *dir, const char *model,
                     bool training, int batch, int steps)
{
    const struct pr_model *m = bench_model(bench_peers(), model);

    *r = (struct bench_race){.dir = dir,
                             .model = model,
                             .training = training,
                             .batch = bench_number("BENCH_BATCH", batch),
                             .steps = bench_number("BENCH_STEPS", steps),
                             .warmup = WARMUP,
                             .threads = bench_threads(),
                             .item = m->item};
    r->items = (double)r->batch * (double)m->items;
    write_model(r, m);
    snprintf(r->batches, sizeof r->batches, "%s/batches.safetensors", dir);
    if (!bench_write_batches(m, (uint64_t)r->batch, r->batches))
        r->batches[0] = '\0';
}

/* ---- starting */

static const char *torch_python(void)
{
    static const char *const names[] = {"PRONY_TORCH_PYTHON", "PYTHON"};

    for (int i = 0; i < 2; i++) {
        const char *text = getenv(names[i]);

        if (text && *text)
            return text;
    }
    return "python3";
}

static void check_in(struct bench_race *r, struct bench_contender *c)
{
    c->threads = r->threads;
    if (c->params > 0 && r->params > 0 && c->params != r->params)
        bench_die("%s has %.0f parameters, others have %.0f", c->name,
                  c->params, r->params);
    if (c->params > 0)
        r->params = c->params;
}

/* Numbers as words, for command lines. */
struct words {
    char batch[16], threads[16], block[16], script[1100];
};

static void fill_words(struct words *w, const struct bench_race *r,
                       const char *script)
{
    snprintf(w->batch, sizeof w->batch, "%d", r->batch);
    snprintf(w->threads, sizeof w->threads, "%d", r->threads);
    snprintf(w->block, sizeof w->block, "%d", r->block_ms);
    snprintf(w->script, sizeof w->script, "%s/%s", bench_peers(), script);
}

/* Who it is, and with how many threads when that is not the usual. */
static void fill_name(const struct bench_race *r, const char *who,
                      const char *how, char name[static 64])
{
    snprintf(name, 64, "%s%s%s", who, how,
             r->threads == bench_threads() ? "" : ", 1 thread");
}

bool bench_race_start_ours(struct bench_race *r, struct bench_contender *c)
{
    struct words w;
    char self[1024] = "", name[64];
    const char *argv[] = {self,      "ours",      bench_peers(),
                          r->model,  phase_of(r), w.batch,
                          w.threads, w.block,     NULL};

    fill_words(&w, r, "");
    fill_name(r, "ours", "", name);
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0 ||
        !bench_contender_start(c, r->dir, name, argv, NULL))
        return false;
    check_in(r, c);
    return true;
}

/* how: "eager", or words joined by +. */
static bool start_torch(struct bench_race *r, struct bench_contender *c,
                        const char *python, const char *who, const char *how)
{
    struct words w;
    char name[64], cache[1200];
    const char *argv[] = {python,    w.script, r->json, phase_of(r), w.batch,
                          w.threads, how,      w.block, r->batches,  NULL};
    const char *env[] = {cache, strstr(how, "tuned") ? TUNED : NULL, NULL};

    fill_words(&w, r, "torch_train.py");
    fill_name(r, who, how, name);
    snprintf(cache, sizeof cache, "TORCHINDUCTOR_CACHE_DIR=%s/compiled",
             r->dir);
    if (!bench_contender_start(c, r->dir, name, argv, env))
        return false;
    check_in(r, c);
    return true;
}

bool bench_race_start_torch(struct bench_race *r, struct bench_contender *c)
{
    return start_torch(r, c, torch_python(), TORCH, "eager");
}

static bool start_onnx(struct bench_race *r, struct bench_contender *c)
{
    struct words w;
    const char *argv[] = {torch_python(), w.script, r->json, w.batch,
                          w.threads,      r->dir,   NULL};

    fill_words(&w, r, "onnx_infer.py");
    if (!bench_contender_start(c, r->dir, "ONNX Runtime", argv, NULL))
        return false;
    check_in(r, c);
    return true;
}

/* ---- who takes turns */

static struct bench_contender *next_place(struct bench_race *r)
{
    if (r->count == BENCH_RACERS)
        bench_die("too many contenders");
    return &r->all[r->count];
}

/* The first steps make code and touch memory: they do not count. */
static struct bench_contender *enter(struct bench_race *r, bool started)
{
    struct bench_contender *c = next_place(r);

    if (!started)
        return NULL;
    printf("%s: %s\n", c->name, c->about);
    if (!bench_contender_turn(c, r->warmup, false))
        return NULL;
    r->runs[r->count++] = c;
    return c;
}

struct bench_contender *bench_race_ours(struct bench_race *r)
{
    struct bench_contender *c =
        enter(r, bench_race_start_ours(r, next_place(r)));

    if (!c)
        bench_die("ours does not run");
    return c;
}

struct bench_contender *bench_race_torch(struct bench_race *r, const char *how)
{
    return enter(r, start_torch(r, next_place(r), torch_python(), TORCH, how));
}

struct bench_contender *bench_race_debian(struct bench_race *r)
{
    char path[1100];
    char *argv[] = {(char *)(uintptr_t)DEBIAN, (char *)(uintptr_t) "-c",
                    (char *)(uintptr_t) "try:\n import torch\n"
                                        "except ImportError:\n exit(1)",
                    NULL};

    snprintf(path, sizeof path, "%s/debian", r->dir);
    if (strcmp(torch_python(), DEBIAN) == 0)
        return NULL;
    if (access(DEBIAN, X_OK) || bench_spawn(argv, path, false))
        return NULL;
    return enter(
        r, start_torch(r, next_place(r), DEBIAN, "Debian's " TORCH, "eager"));
}

struct bench_contender *bench_race_onnx(struct bench_race *r)
{
    return enter(r, start_onnx(r, next_place(r)));
}

/* ---- heats */

/* All, or words of $BENCH_HOW. */
static bool is_asked(const char *how)
{
    const char *text = getenv("BENCH_HOW");
    size_t n = strlen(how);

    if (!text || !*text)
        return true;
    for (const char *p = text; (p = strstr(p, how)); p += n)
        if ((p == text || p[-1] == ' ') && (p[n] == ' ' || !p[n]))
            return true;
    return false;
}

static double last_of(const struct bench_contender *c)
{
    return c->pid ? bench_contender_best(c) : 1e9;
}

/* It takes the place of the slowest, or ends. */
static void admit(struct bench_contender *best, struct bench_contender *c)
{
    struct bench_contender *slowest = best;

    for (int i = 1; i < FINALISTS; i++)
        if (last_of(&best[i]) > last_of(slowest))
            slowest = &best[i];
    if (last_of(slowest) <= last_of(c)) {
        bench_contender_stop(c);
        return;
    }
    bench_contender_stop(slowest);
    *slowest = *c;
}

static void forget_times(struct bench_contender *c)
{
    c->count = 0;
    c->wall_s = c->cpu_s = 0;
}

static void heat(struct bench_race *r, const char *how,
                 struct bench_contender *best)
{
    static struct bench_contender c;

    if (!is_asked(how) || !start_torch(r, &c, torch_python(), TORCH, how) ||
        !bench_contender_turn(&c, r->warmup, false) ||
        !bench_contender_turn(&c, r->steps, true))
        return;
    printf("heat: %s %.2f %ss/s\n", c.name, r->items / bench_contender_best(&c),
           r->item);
    admit(best, &c);
}

void bench_race_heats(struct bench_race *r, const char *const *ways, bool alone)
{
    static struct bench_contender best[FINALISTS];
    int threads = r->threads;

    for (; *ways; ways++) {
        heat(r, *ways, best);
        r->threads = 1;
        if (alone && threads > 1)
            heat(r, *ways, best);
        r->threads = threads;
    }
    for (int i = 0; i < FINALISTS; i++) {
        if (!best[i].pid)
            continue;
        forget_times(&best[i]);
        *next_place(r) = best[i];
        r->runs[r->count] = &r->all[r->count];
        r->count++;
    }
}

/* ---- figures */

static void print_one(const struct bench_contender *c)
{
    double best = bench_contender_best(c), median = bench_contender_median(c);
    bool small = best < 1e-3;
    double unit = small ? 1e6 : 1e3;

    printf("%s: best %.1f %s, median %.1f %s, %.0f %% of %d thread%s, %zu "
           "steps\n",
           c->name, best * unit, small ? "us" : "ms", median * unit,
           small ? "us" : "ms", 100 * c->cpu_s / c->wall_s / c->threads,
           c->threads, c->threads == 1 ? "" : "s", c->count);
}

void bench_race_run(struct bench_race *r, int rounds)
{
    bench_take_turns(r->runs, r->count, rounds, r->steps);
    for (size_t i = 0; i < r->count; i++)
        if (r->all[i].count)
            print_one(&r->all[i]);
}

void bench_race_end(struct bench_race *r)
{
    for (size_t i = 0; i < r->count; i++)
        bench_contender_stop(r->runs[i]);
}

const struct bench_contender *bench_race_best(const struct bench_race *r,
                                              const char *prefix)
{
    const struct bench_contender *best = NULL;

    for (size_t i = 0; i < r->count; i++) {
        const struct bench_contender *c = &r->all[i];

        if (strncmp(c->name, prefix, strlen(prefix)) == 0 && c->count &&
            (!best || bench_contender_best(c) < bench_contender_best(best)))
            best = c;
    }
    return best;
}

static void compare(const struct bench_race *r,
                    const struct bench_contender *ours, const char *other_is,
                    const struct bench_contender *other, double goal)
{
    char what[128], unit[32];

    if (!other || !other->count) /* which was said when it did not start */
        return;
    snprintf(what, sizeof what, "%s, %s, batch %d", r->model, phase_of(r),
             r->batch);
    snprintf(unit, sizeof unit, "%ss/s", r->item);
    bench_row(
        &(struct bench_row){.what = what,
                            .unit = unit,
                            .ours_is = ours->name,
                            .ours = r->items / bench_contender_best(ours),
                            .other_is = other_is,
                            .other = r->items / bench_contender_best(other),
                            .at_least = goal});
    printf("ratio of medians: %.2f\n",
           bench_contender_median(other) / bench_contender_median(ours));
}

void bench_race_compare(const struct bench_race *r,
                        const struct bench_contender *ours,
                        const struct bench_contender *other, double goal)
{
    compare(r, ours, other ? other->name : "", other, goal);
}

void bench_race_compare_fastest(const struct bench_race *r,
                                const struct bench_contender *ours, double goal)
{
    const struct bench_contender *other = bench_race_best(r, TORCH);
    char name[96];

    snprintf(name, sizeof name, "the fastest, %s", other ? other->name : "");
    compare(r, ours, name, other, goal);
}
