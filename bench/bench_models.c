/*
 * Networks beside those that tell images apart (bench_train), small and large,
 * in our engine against the same in PyTorch, as it comes and in its best way;
 * loading of images; and two processes that train together against two that
 * train alone. Contenders run in processes of their own, warm, and take turns.
 * The best step and the one in the middle are printed; what is wanted is of
 * the best.
 */
#include "loading.h"
#include "native.h"
#include "prony.h"
#include "race.h"

#include <pthread.h>
#include <sys/stat.h>

enum { ROUNDS = 3, BLOCK_MS = 50 };

static struct bench_race race;

/* ---- small ones: what a framework costs beside arithmetic. One thread may be
 * faster than several, on both sides. */

static void with_one_thread(struct bench_contender *(*enter)(void))
{
    int threads = race.threads;

    enter();
    if (threads > 1) {
        race.threads = 1;
        enter();
        race.threads = threads;
    }
}

static struct bench_contender *enter_ours(void)
{
    return bench_race_ours(&race);
}

static struct bench_contender *enter_eager(void)
{
    return bench_race_torch(&race, "eager");
}

/* eager: how many times its speed is the goal */
static void small(const char *const *ways, double eager)
{
    const struct bench_contender *ours;

    with_one_thread(enter_ours);
    with_one_thread(enter_eager);
    bench_race_heats(&race, ways, true);
    bench_race_run(&race, bench_round_count(ROUNDS));
    ours = bench_race_best(&race, "ours");
    bench_race_compare(&race, ours, bench_race_best(&race, "PyTorch eager"),
                       eager);
    bench_race_compare_fastest(&race, ours, 1.3);
    bench_race_end(&race);
}

static const char *const small_ways[] = {
    "tuned",         "fused+tuned",         "compile",
    "compile+tuned", "compile+fused+tuned", NULL};

static void toy_reg(const char *dir)
{
    bench_race_init(&race, dir, "toy_reg", true, 256, 20);
    race.block_ms = BLOCK_MS;
    small(small_ways, 2);
}

static void toy_lstm(const char *dir)
{
    bench_race_init(&race, dir, "toy_lstm", true, 97, 3);
    small(small_ways, 2);
}

/* Episodes differ in length: rates are in steps of the world. */
static void cart(const char *dir)
{
    static const char *const ways[] = {
        "tuned",   "batched",         "batched+fused+tuned",
        "compile", "batched+compile", "batched+compile+fused+tuned",
        NULL};

    bench_race_init(&race, dir, "cart", true, 1, 20);
    race.block_ms = BLOCK_MS;
    small(ways, 2);
}

static void vae(const char *dir)
{
    bench_race_init(&race, dir, "vae", true, 128, 10);
    race.block_ms = BLOCK_MS;
    small(small_ways, 1.7);
}

/* ---- large ones: against eager; its other ways for comparison */

static void race_eager(bool has_images)
{
    static const char *const ways[] = {"tuned", "compile", "compile+tuned",
                                       "channels_last+tuned", NULL};
    static const char *const without_images[] = {"tuned", "compile",
                                                 "compile+tuned", NULL};
    struct bench_contender *ours = bench_race_ours(&race), *eager;

    eager = bench_race_torch(&race, "eager");
    if (eager)
        bench_race_heats(&race, has_images ? ways : without_images, false);
    bench_race_run(&race, bench_round_count(ROUNDS));
    bench_race_compare(&race, ours, eager, 1.0);
    if (eager)
        bench_race_compare_fastest(&race, ours, 0);
    bench_race_end(&race);
}

static void train(const char *dir, const char *model, int batch, int steps,
                  bool has_images)
{
    bench_race_init(&race, dir, model, true, batch, steps);
    race_eager(has_images);
}

static void wlm(const char *dir)
{
    train(dir, "wlm", 64, 2, false);
}

/* Rows of large tables are touched for the first time by the first batches. */
static void recom(const char *dir)
{
    bench_race_init(&race, dir, "recom", true, 2048, 10);
    race.warmup = 20;
    race_eager(false);
}

/* PyTorch's example has 64; there is time for 16. */
static void reso(const char *dir)
{
    train(dir, "reso", 16, 3, true);
}

static void dcgan(const char *dir)
{
    train(dir, "dcgan", 32, 3, true);
}

static void ssd(const char *dir)
{
    train(dir, "ssd", 4, 2, true);
}

/* Layers of BERT-base; few words, so that these are what is measured. */
static void bert(const char *dir)
{
    train(dir, "bert {depth: 2, words: 2000}", 8, 3, false);
}

/* ---- two processes that train together */

enum { SCALED_BATCH = 16, SCALED_STEPS = 10 };

/* NULL: it failed. */
static void *run_copy(void *run)
{
    return bench_run_do(run) ? run : NULL;
}

/* Both at the same time. Mean seconds of a step. */
static double copies_once(void *ctx)
{
    struct bench_run *runs = ctx;
    pthread_t threads[2];
    void *done[2];

    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, run_copy, &runs[i]))
            bench_die("cannot start a thread");
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], &done[i]);
    if (!done[0] || !done[1])
        return -1;
    return (bench_run_number(&runs[0], "time") +
            bench_run_number(&runs[1], "time")) /
           2e3;
}

static double together_once(void *ctx)
{
    struct bench_run *r = ctx;

    return bench_run_do(r) ? bench_run_number(r, "time") / 1e3 : -1;
}

static void init_run(struct bench_run *r, const char *dir, const char *name,
                     int replicas)
{
    char *path = malloc(strlen(dir) + strlen(name) + 2);

    if (!path)
        bench_die("out of memory");
    sprintf(path, "%s/%s", dir, name); /* stays with the run */
    mkdir(path, 0755);
    bench_run_init(r, path,
                   "exp.framework=native exp.model=alexnet "
                   "exp.replica_batch=%d exp.num_local_replicas=%d "
                   "exp.num_warmup_batches=2 exp.num_batches=%d nn.threads=1 "
                   "nn.peak=false",
                   bench_number("BENCH_BATCH", SCALED_BATCH), replicas,
                   bench_number("BENCH_STEPS", SCALED_STEPS));
}

static void scaling(const char *dir)
{
    static struct bench_run together, alone[2];
    struct bench_way ways[] = {
        {"two replicas", together_once, &together, 0},
        {"two copies", copies_once, alone, 0},
    };
    int batch = bench_number("BENCH_BATCH", SCALED_BATCH);

    init_run(&together, dir, "together", 2);
    init_run(&alone[0], dir, "copy0", 1);
    init_run(&alone[1], dir, "copy1", 1);
    bench_rounds(ways, 2, bench_round_count(ROUNDS));
    if (ways[0].best < 0 || ways[1].best < 0)
        return;
    bench_row(&(struct bench_row){
        .what = "alexnet, training by two processes of one thread",
        .unit = "images/s",
        .ours_is = ways[0].name,
        .ours = 2 * batch / ways[0].best,
        .other_is = "two that train alone",
        .other = 2 * batch / ways[1].best,
        .at_least = 0.95});
}

/* ---- */

/* "bench_models ours …" is a process that it starts; "bench_models layers …"
 * is for looking at single layers by hand. */
int main(int argc, char **argv)
{
    static const struct bench_section sections[] = {
        {"toy_reg", toy_reg, false},
        {"toy_lstm", toy_lstm, false},
        {"cart", cart, false},
        {"vae", vae, false},
        {"wlm", wlm, false},
        {"recom", recom, false},
        {"reso", reso, false},
        {"dcgan", dcgan, false},
        {"ssd", ssd, false},
        {"bert", bert, false},
        {"loader", bench_loading, true},
        {"scaling", scaling, false},
        {NULL, NULL, false},
    };

    if (argc > 1 && strcmp(argv[1], "ours") == 0)
        return bench_native_main(argc - 2, argv + 2);
    if (argc > 1 && strcmp(argv[1], "layers") == 0)
        return bench_native_layers(argc - 2, argv + 2);
    return bench_prony_sections(argc, argv, sections);
}
