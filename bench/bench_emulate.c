/*
 * Emulated training with no computation, from the page cache: the program
 * against DLIO, a bare torch DataLoader, fio and the codecs, all of them on
 * the files that we made. Two threads or workers at most. Best of rounds.
 */
#include "codec.h"
#include "prony.h"

#include <errno.h>
#include <ftw.h>
#include <pthread.h>

enum { ROUNDS = 5, DLIO_ROUNDS = 1, WORKERS = 3, THREADS = 2 };

/* A set of files and the workload that reads it: peers/NAME.yaml. */
struct load {
    const char *dir, *format;
    char config[1024], data[1024];
    char set[2400]; /* parameters that everybody gets */
};

static void load_init(struct load *l, const char *dir, const char *name,
                      const char *format)
{
    *l = (struct load){.dir = dir, .format = format};
    snprintf(l->config, sizeof l->config, "%s/%s.yaml", bench_peers(), name);
    snprintf(l->data, sizeof l->data, "%s/data", dir);
    snprintf(l->set, sizeof l->set,
             "%s dataset.data_folder=%s dataset.format=%s", l->config, l->data,
             format);
    bench_generate("%s", l->set);
}

/* ---- its files */

struct paths {
    char **items;
    size_t count, room;
};

static struct paths *listed; /* nftw passes nothing on */

static int list_one(const char *path, const struct stat *st, int type,
                    struct FTW *ftw)
{
    (void)st;
    (void)ftw;
    if (type != FTW_F || !strstr(path, "/train/"))
        return 0;
    if (listed->count == listed->room) {
        listed->room = listed->room * 2 + 1024;
        listed->items =
            realloc(listed->items, listed->room * sizeof *listed->items);
    }
    if (!listed->items || !(listed->items[listed->count++] = strdup(path)))
        bench_die("out of memory");
    return 0;
}

static void load_list(const struct load *l, struct paths *ret)
{
    *ret = (struct paths){0};
    listed = ret;
    nftw(l->data, list_one, 16, FTW_PHYS);
    if (!ret->count)
        bench_die("%s has no files", l->data);
}

/* ---- what others do */

/* One program for each number of workers, 0 to 2. */
struct peers {
    struct bench_peer peer[WORKERS];
    char name[WORKERS][64];
    size_t count; /* those that started: all or none */
};

static void peers_start(struct peers *p, const char *name, const char *script,
                        const char *const *first_args)
{
    p->count = 0;
    for (int i = 0; i < WORKERS; i++) {
        char workers[16];
        const char *args[8] = {workers};

        for (int k = 0; first_args[k] && k < 6; k++)
            args[k + 1] = first_args[k];
        snprintf(workers, sizeof workers, "%d", i);
        snprintf(p->name[i], sizeof p->name[i], "%s with %d worker%s", name, i,
                 i == 1 ? "" : "s");
        if (!bench_peer_start(&p->peer[i], script, args))
            return;
        p->count++;
    }
}

static size_t peers_ways(struct peers *p, struct bench_way *ways)
{
    for (size_t i = 0; i < p->count; i++)
        ways[i] =
            (struct bench_way){p->name[i], bench_peer_once, &p->peer[i], 0};
    return p->count;
}

static void peers_stop(struct peers *p)
{
    for (size_t i = 0; i < p->count; i++)
        bench_peer_stop(&p->peer[i]);
}

static void peers_of_dlio(struct peers *p, const struct load *l)
{
    const char *program = getenv("PRONY_DLIO");
    const char *args[] = {NULL, l->config, l->dir, l->data, l->format, NULL};

    if (!program)
        program = getenv("DLIO");
    args[0] = program ? program : "dlio_benchmark";
    peers_start(p, "DLIO", "dlio_run.py", args);
}

/* DLIO against ours, which are ways[0 … n-1] with a goal each. */
static void against_dlio(const struct load *l, struct bench_way *ours, size_t n,
                         const char *const *what, const double *goals)
{
    struct bench_way ways[8];
    const struct bench_way *best;
    struct peers p;

    peers_of_dlio(&p, l);
    if (p.count < WORKERS)
        return;
    memcpy(ways, ours, n * sizeof *ours);
    peers_ways(&p, ways + n);
    bench_rounds(ways, n + WORKERS, bench_round_count(DLIO_ROUNDS));
    best = bench_fastest(ways + n, WORKERS);
    for (size_t i = 0; i < n; i++)
        if (goals[i] > 0)
            bench_samples(what[i], &ways[i], best, goals[i]);
    peers_stop(&p);
}

/* ---- fio */

struct fio {
    const char *dir;
    struct paths paths;
    double bytes; /* of a file */
    bool aligned; /* its buffers are whole pages */
};

/* Both threads read all files, each of them from its start to its end, as
 * often as gives a time that can be measured. fio's own buffers start 16 bytes
 * into a page, where some processors copy at a fifth of their speed: that is
 * no limit of anything, so only aligned ones are measured against. */
static void fio_write_job(const struct fio *f, const char *path)
{
    FILE *job = fopen(path, "w");

    if (!job)
        bench_die("%s: %s", path, strerror(errno));
    fprintf(job,
            "[global]\nrw=read\nbs=1M\nioengine=psync\nthread=1\n"
            "invalidate=0\nloops=4\ngroup_reporting=1\n"
            "file_service_type=sequential\n[read]\nnumjobs=%d\n",
            THREADS);
    for (size_t i = 0; i < f->paths.count; i++)
        fprintf(job, "%s%s", i ? ":" : "filename=", f->paths.items[i]);
    fprintf(job, "\n%s", f->aligned ? "iomem_align=4096\n" : "");
    fclose(job);
}

static double fio_rate(const char *path)
{
    struct pr_arena *a = pr_arena_new(0);
    const struct pr_value *v = a ? bench_json(a, path) : NULL;
    double rate = 0;

    v = v ? pr_get(v, "jobs") : NULL;
    v = v && v->kind == PR_LIST && v->len ? pr_get(&v->items[0], "read") : NULL;
    v = v ? pr_get(v, "bw_bytes") : NULL;
    if (v && pr_value_is_number(v))
        rate = pr_value_number(v);
    pr_arena_free(a);
    return rate;
}

static double fio_once(void *ctx)
{
    const struct fio *f = ctx;
    char job[1100], out[1100], format[] = "--output-format=json", fio[] = "fio";
    char *argv[] = {fio, format, job, NULL};
    double rate;

    snprintf(job, sizeof job, "%s/fio.job", f->dir);
    snprintf(out, sizeof out, "%s/fio.json", f->dir);
    fio_write_job(f, job);
    if (bench_spawn(argv, out, false))
        return -1;
    rate = fio_rate(out);
    return rate > 0 ? f->bytes / rate : -1;
}

/* ---- unet3d: large samples */

static void unet3d(const char *dir)
{
    static const char *const what[] = {
        "unet3d npz, checksum checked",
        "unet3d npz, checksum not checked",
        "unet3d npz, bytes only",
    };
    static const double of_dlio[] = {2, 4, 0}, of_fio[] = {0.4, 0, 0.85};
    static const char *const how[] = {"", "reader.checksum=false",
                                      "reader.decode=false"};
    struct load l;
    struct bench_run runs[3];
    struct bench_way ways[5];
    struct fio fio = {.dir = dir, .bytes = 20971520}, aligned;

    load_init(&l, dir, "unet3d", "npz");
    load_list(&l, &fio.paths);
    aligned = fio;
    aligned.aligned = true;
    for (int i = 0; i < 3; i++) {
        bench_run_init(&runs[i], dir, "%s reader.read_threads=%d %s", l.set,
                       THREADS, how[i]);
        ways[i] = (struct bench_way){"ours", bench_run_once, &runs[i], 0};
    }
    ways[3] = (struct bench_way){"fio, aligned", fio_once, &aligned, 0};
    ways[4] = (struct bench_way){"fio as it comes", fio_once, &fio, 0};
    bench_rounds(ways, 5, bench_round_count(ROUNDS));
    for (int i = 0; i < 3; i++) {
        bench_samples(what[i], &ways[i], &ways[3], of_fio[i]);
        bench_samples(what[i], &ways[i], &ways[4], 0);
    }
    against_dlio(&l, ways, 3, what, of_dlio);
}

/* ---- resnet50: one small sample a file */

static void resnet50(const char *dir, const char *format, double of_dlio,
                     double of_torch)
{
    struct load l;
    struct bench_run run;
    struct bench_way ways[1 + WORKERS];
    struct peers torch;
    size_t others = 0;
    char text[64];
    const char *what = text;
    const char *args[] = {format, l.data, NULL};

    load_init(&l, dir, "resnet50", format);
    bench_run_init(&run, dir, "%s reader.read_threads=%d train.epochs=10",
                   l.set, THREADS);
    snprintf(text, sizeof text, "resnet50 %s", format);
    ways[0] = (struct bench_way){"ours", bench_run_once, &run, 0};
    peers_start(&torch, "torch", "torch_read.py", args);
    ways[1] = (struct bench_way){.name = "torch", .best = -1};
    if (torch.count == WORKERS)
        others = peers_ways(&torch, ways + 1);
    bench_rounds(ways, 1 + others, bench_round_count(ROUNDS));
    bench_samples(what, &ways[0], bench_fastest(ways + 1, others), of_torch);
    peers_stop(&torch);
    against_dlio(&l, ways, 1, &what, &of_dlio);
}

static void resnet50_npz(const char *dir)
{
    resnet50(dir, "npz", 30, 4);
}

static void resnet50_hdf5(const char *dir)
{
    resnet50(dir, "hdf5", 20, 2);
}

/* ---- resnet50: pictures */

struct pictures {
    struct bench_codec codecs[THREADS];
    struct paths paths;
};

struct part {
    struct pictures *all;
    size_t number;
    pthread_t id;
};

static void *decode_part(void *arg)
{
    struct part *p = arg;

    for (size_t i = p->number; i < p->all->paths.count; i += THREADS)
        bench_codec_do(&p->all->codecs[p->number], AT_FDCWD,
                       p->all->paths.items[i]);
    return NULL;
}

static double decode_once(void *ctx)
{
    struct pictures *all = ctx;
    struct part parts[THREADS];
    double start = bench_now();

    for (size_t i = 0; i < THREADS; i++) {
        parts[i] = (struct part){.all = all, .number = i};
        if (pthread_create(&parts[i].id, NULL, decode_part, &parts[i]))
            bench_die("cannot start a thread");
    }
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(parts[i].id, NULL);
    return (bench_now() - start) / (double)all->paths.count;
}

static void pictures(const char *dir, const char *format)
{
    struct load l;
    struct bench_run run;
    struct pictures all = {0};
    struct bench_way ways[2];
    char text[64];
    const char *what = text;
    double goal = 4;

    for (int i = 0; i < THREADS; i++)
        if (!bench_codec_init(&all.codecs[i], format)) {
            bench_skip("%s: this build has no library for it", format);
            return;
        }
    load_init(&l, dir, "resnet50", format);
    load_list(&l, &all.paths);
    bench_run_init(&run, dir, "%s reader.read_threads=%d", l.set, THREADS);
    snprintf(text, sizeof text, "resnet50 %s", format);
    ways[0] = (struct bench_way){"ours", bench_run_once, &run, 0};
    ways[1] = (struct bench_way){all.codecs[0].name, decode_once, &all, 0};
    bench_rounds(ways, 2, bench_round_count(ROUNDS));
    bench_samples(what, &ways[0], &ways[1], 0.9);
    against_dlio(&l, ways, 1, &what, &goal);
}

static void jpeg(const char *dir)
{
    pictures(dir, "jpeg");
}

static void png(const char *dir)
{
    pictures(dir, "png");
}

int main(int argc, char **argv)
{
    static const struct bench_section sections[] = {
        {"unet3d", unet3d, false},
        {"npz", resnet50_npz, false},
        {"hdf5", resnet50_hdf5, false},
        {"jpeg", jpeg, false},
        {"png", png, false},
        {NULL, NULL, false},
    };

    return bench_prony_sections(argc, argv, sections);
}
