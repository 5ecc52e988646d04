/*
 * Checkpoints of 2 GiB: two ranks with a file of 1 GiB each, by the program,
 * against fio with the same blocks, jobs and fsync, and against PyTorch with
 * the same tensors. Virtual disks have slow minutes, and so has the memory of
 * virtual machines that give it back when it is free: both the best round and
 * the median are printed, and what is wanted is of the best.
 */
#include "base/codec/checksum.h"
#include "base/random.h"
#include "fio.h"

#include <sys/statvfs.h>

enum { ROUNDS = 6, MAX_ROUNDS = 64, MAX_SERIES = 6, RANKS = 2 };

/* Three tensors and a header that fills a page: 1 GiB. */
#define GROUP 357912576
#define FILE_BYTES 1073741824.0
#define BYTES (RANKS * FILE_BYTES)

/* ---- ways with all their rounds */

struct series {
    const char *name;
    double (*once)(void *ctx);
    void *ctx;
    double seconds[MAX_ROUNDS];
    size_t count;
    struct bench_way way; /* best */
};

static double series_once(void *ctx)
{
    struct series *s = ctx;
    double seconds = s->once(s->ctx);

    if (seconds > 0 && s->count < MAX_ROUNDS)
        s->seconds[s->count++] = seconds;
    return seconds;
}

static void measure(struct series *all, size_t n)
{
    struct bench_way ways[MAX_SERIES];

    for (size_t i = 0; i < n; i++)
        ways[i] = (struct bench_way){all[i].name, series_once, &all[i], -1};
    bench_rounds(ways, n, bench_round_count(ROUNDS));
    for (size_t i = 0; i < n; i++)
        all[i].way = ways[i];
}

static struct bench_way median_of(const struct series *s)
{
    struct bench_way w = s->way;
    double sorted[MAX_ROUNDS];

    memcpy(sorted, s->seconds, sizeof sorted);
    w.best = s->count ? bench_median(sorted, s->count) : -1;
    return w;
}

static void compare(const char *what, const struct series *ours,
                    const struct series *other, double goal)
{
    struct bench_way a = median_of(ours), b = median_of(other);
    char text[160];

    bench_ratio(what, &ours->way, &other->way, BYTES, goal);
    snprintf(text, sizeof text, "%s, medians", what);
    if (a.best > 0 && b.best > 0)
        bench_ratio(text, &a, &b, BYTES, 0);
}

/* ---- ours */

struct ours {
    struct bench_run run;
    bool is_read;
    char folder[1024]; /* of checkpoints */
};

/* more: further parameters. What is written is removed at once, unless it is
 * kept for those that read it. */
static void ours_init(struct ours *o, const char *dir, bool is_read,
                      const char *more)
{
    o->is_read = is_read;
    snprintf(o->folder, sizeof o->folder, "%s/checkpoints", dir);
    bench_run_init(&o->run, dir,
                   "exp.workload=emulate emulate.framework=pytorch "
                   "workflow.train=false workflow.checkpoint=true "
                   "model.type=transformer model.optimization_groups=[%d] "
                   "model.parallelism.data=%d model.parallelism.zero_stage=1 "
                   "checkpoint.block_size=1MiB checkpoint.checkpoint_folder=%s "
                   "checkpoint.num_checkpoints_write=%d "
                   "checkpoint.num_checkpoints_read=%d %s",
                   GROUP, RANKS, o->folder, !is_read, is_read, more);
}

static double ours_once(void *ctx)
{
    struct ours *o = ctx;
    bool works = bench_run_do(&o->run);

    if (!o->is_read)
        bench_remove_tree(o->folder);
    return !works
               ? -1
               : bench_run_number(&o->run, o->is_read ? "checkpoint_read_s"
                                                      : "checkpoint_write_s");
}

/* Writes a checkpoint to read. Returns its folder. */
static const char *keep_one(const char *dir, const char *layout)
{
    static char folder[1100];
    struct ours o;
    char more[128];

    snprintf(more, sizeof more, "checkpoint.layout=%s checkpoint.fsync=true",
             layout);
    ours_init(&o, dir, false, more);
    if (!bench_run_do(&o.run))
        bench_die("there is no checkpoint to read");
    snprintf(folder, sizeof folder, "%s/global_epoch1_step1", o.folder);
    return folder;
}

static bool has_room(const char *dir, double bytes)
{
    struct statvfs v;

    if (statvfs(dir, &v) == 0 &&
        (double)v.f_bavail * (double)v.f_frsize > bytes)
        return true;
    bench_skip("%s has no room for %.1f GB", dir, bytes / 1e9);
    return false;
}

/* ---- writing, against fio */

/* fio fills its buffers once; with refill_buffers before each write, which is
 * what making contents that do not repeat takes. */
static void write_with(const char *dir, const char *what, const char *engine,
                       const char *options)
{
    char more[128], refill[128], names[RANKS][1100];
    const char *files[RANKS];
    struct ours o;
    struct bench_fio plain = {dir, options, files, RANKS, true, FILE_BYTES};
    struct bench_fio noise = plain;
    struct series all[] = {{.name = "ours", .once = ours_once, .ctx = &o},
                           {.name = "fio", .once = bench_fio_once},
                           {.name = "fio as it comes", .once = bench_fio_once}};

    if (!has_room(dir, 1.2 * BYTES))
        return;
    snprintf(more, sizeof more, "checkpoint.engine=%s checkpoint.fsync=true",
             engine);
    ours_init(&o, dir, false, more);
    for (int i = 0; i < RANKS; i++) {
        snprintf(names[i], sizeof names[i], "%s/fio.%d", dir, i);
        files[i] = names[i];
    }
    snprintf(refill, sizeof refill, "%srefill_buffers=1\n", options);
    noise.options = refill;
    all[1].ctx = &noise;
    all[2].ctx = &plain;
    measure(all, 3);
    compare(what, &all[0], &all[1], 0.9);
    compare(what, &all[0], &all[2], 0);
}

static void write_buffered(const char *dir)
{
    write_with(dir, "write, page cache and fsync", "pread", "end_fsync=1\n");
}

static void write_direct(const char *dir)
{
    write_with(dir, "write, O_DIRECT and fsync", "direct",
               "direct=1\nend_fsync=1\n");
}

/* ---- reading, against fio */

static void read_with(const char *dir, const char *what, const char *params,
                      const char *options)
{
    struct ours o[2];
    char names[RANKS][1300], more[128], text[128];
    const char *files[RANKS], *folder;
    struct bench_fio fio = {dir, options, files, RANKS, false, FILE_BYTES};
    struct series all[] = {
        {.name = "ours", .once = ours_once, .ctx = &o[0]},
        {.name = "ours", .once = ours_once, .ctx = &o[1]},
        {.name = "fio", .once = bench_fio_once, .ctx = &fio}};

    if (!has_room(dir, 1.2 * BYTES))
        return;
    folder = keep_one(dir, "plain");
    for (int i = 0; i < RANKS; i++) {
        snprintf(names[i], sizeof names[i],
                 "%s/zero_pp_rank_%d_mp_rank_0_optim_states.pt", folder, i);
        files[i] = names[i];
    }
    ours_init(&o[0], dir, true, params);
    snprintf(more, sizeof more, "%s checkpoint.verify=true", params);
    ours_init(&o[1], dir, true, more);
    measure(all, 3);
    compare(what, &all[0], &all[2], 0.9);
    snprintf(text, sizeof text, "%s, verified", what);
    compare(text, &all[1], &all[2], 0.5);
}

static void read_hot(const char *dir)
{
    read_with(dir, "read, page cache",
              "checkpoint.engine=pread emulate.drop_cache=never",
              "invalidate=0\n");
}

static void read_cold(const char *dir)
{
    read_with(dir, "read, from the device",
              "checkpoint.engine=pread emulate.drop_cache=start",
              "invalidate=1\n");
}

static void read_direct(const char *dir)
{
    read_with(dir, "read, O_DIRECT",
              "checkpoint.engine=direct emulate.drop_cache=start",
              "direct=1\n");
}

/* ---- PyTorch */

/* Two ways of ours: as params say, and with more of them. */
struct rivals {
    const char *how, *what; /* of torch */
    bool is_read;
    const char *params, *more, *more_is;
    double goal, more_goal;
};

static void against_torch(const char *dir, const struct rivals *r)
{
    char out[1100], params[300], text[128];
    struct ours o[2];
    struct bench_peer torch;
    const char *args[] = {r->how, keep_one(dir, "torch"), out, NULL};
    struct series all[] = {
        {.name = "torch", .once = bench_peer_once, .ctx = &torch},
        {.name = "ours", .once = ours_once, .ctx = &o[0]},
        {.name = "ours", .once = ours_once, .ctx = &o[1]},
    };

    snprintf(out, sizeof out, "%s/torch", dir);
    if (!bench_peer_start(&torch, "torch_checkpoint.py", args))
        return;
    snprintf(params, sizeof params, "checkpoint.layout=torch %s", r->params);
    ours_init(&o[0], dir, r->is_read, params);
    snprintf(params, sizeof params, "checkpoint.layout=torch %s %s", r->params,
             r->more);
    ours_init(&o[1], dir, r->is_read, params);
    measure(all, 3);
    bench_peer_stop(&torch);
    compare(r->what, &all[1], &all[0], r->goal);
    snprintf(text, sizeof text, "%s, %s", r->what, r->more_is);
    compare(text, &all[2], &all[0], r->more_goal);
}

static void torch_save(const char *dir)
{
    static const struct rivals rows[] = {
        {"save1", "torch.save, one process", false, "",
         "checkpoint.engine=direct", "ours with O_DIRECT", 3, 0},
        {"save", "torch.save, two processes", false, "",
         "checkpoint.engine=direct", "ours with O_DIRECT", 3, 0},
        {"sync", "torch.save and fsync, two processes", false,
         "checkpoint.fsync=true", "checkpoint.engine=direct",
         "ours with O_DIRECT", 3, 0},
    };

    for (int i = 0; i < 3 && has_room(dir, 2.2 * BYTES); i++)
        against_torch(dir, &rows[i]);
}

static void torch_load(const char *dir)
{
    static const struct rivals row = {"load",
                                      "torch.load, page cache",
                                      true,
                                      "emulate.drop_cache=never",
                                      "checkpoint.verify=true",
                                      "ours verified",
                                      3,
                                      0};

    if (has_room(dir, 1.2 * BYTES))
        against_torch(dir, &row);
}

/* ---- what limits: one core, from and to memory */

enum { BLOCK = 1 << 20, BLOCKS = 512 };

static uint8_t *memory, *block; /* of BLOCKS blocks; of one */

static void make_noise(int i)
{
    pr_noise_fill(block, BLOCK, 7, (uint64_t)i * (BLOCK / PR_NOISE_BLOCK));
}

static void copy(int i)
{
    memcpy(block, memory + (size_t)i * BLOCK, BLOCK);
}

static void check_noise(int i)
{
    if (!pr_noise_is_intact(memory + (size_t)i * BLOCK, BLOCK, 7,
                            (uint64_t)i * (BLOCK / PR_NOISE_BLOCK)))
        bench_die("noise is not the same again");
}

static void sum_up(int i)
{
    static uint32_t crc;

    crc = pr_crc32(crc, memory + (size_t)i * BLOCK, BLOCK);
}

static void limits(const char *dir)
{
    static const struct {
        const char *name;
        void (*one)(int i);
    } rows[] = {{"one core, making contents", make_noise},
                {"one core, copying", copy},
                {"one core, checking contents in memory", check_noise},
                {"one core, CRC-32", sum_up}};

    (void)dir;
    memory = aligned_alloc(4096, (size_t)BLOCKS * BLOCK);
    block = aligned_alloc(4096, BLOCK);
    if (!memory || !block)
        bench_die("out of memory");
    pr_noise_fill(memory, (size_t)BLOCKS * BLOCK, 7, 0);
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        double best = -1;

        for (int round = 0; round < ROUNDS; round++) {
            double start = bench_now(), seconds;

            for (int i = 0; i < BLOCKS; i++)
                rows[r].one(i);
            seconds = bench_now() - start;
            best = best < 0 || seconds < best ? seconds : best;
        }
        bench_row(
            &(struct bench_row){.what = rows[r].name,
                                .unit = "GB/s",
                                .ours = (double)BLOCKS * BLOCK / best / 1e9});
    }
}

int main(int argc, char **argv)
{
    static const struct bench_section sections[] = {
        {"limits", limits, false},
        {"write", write_buffered, false},
        {"direct", write_direct, false},
        {"read", read_hot, false},
        {"cold", read_cold, false},
        {"read-direct", read_direct, false},
        {"save", torch_save, false},
        {"load", torch_load, false},
        {NULL, NULL, false},
    };

    return bench_prony_sections(argc, argv, sections);
}
