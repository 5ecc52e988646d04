/*
 * Running: 200 command experiments of /bin/true one after another, against a
 * plain loop of fork, exec and wait that writes the same files; with run.fsync
 * 100, against one that also syncs them, as often: a file system that has no
 * syncfs, or other programs that write much, make ours more. A device may take
 * 100 ms for a sync, so rounds end when their time is over.
 */
#include "bench.h"
#include "rig.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/stat.h>

enum { EXPERIMENTS = 200, SYNCED = 100, ROUNDS = 5, SECONDS = 15 };

/* As long as one of ours. */
#define EVENT                                                               \
    "{\"time\": \"2026-01-01T00:00:00.000000Z\", \"event\": "               \
    "\"experiment_end\", \"id\": \"0001-00000000\", \"attempt\": 1, "       \
    "\"status\": \"ok\", \"elapsed_s\": 0.000500, \"done\": 1, \"total\": " \
    "1000, \"failed\": 0}\n"

static void put_file(const char *dir, const char *name, const char *text)
{
    char temp[600], path[600];
    int fd;

    snprintf(temp, sizeof temp, "%s/.new-%s", dir, name);
    snprintf(path, sizeof path, "%s/%s", dir, name);
    fd = open(temp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0 || write(fd, text, strlen(text)) < 0)
        exit(1);
    close(fd);
    rename(temp, path);
}

static void spawn_true(const char *dir)
{
    char log[600], *argv[] = {NULL, NULL};
    char program[] = "/bin/true";
    pid_t pid = fork();

    argv[0] = program;
    if (pid == 0) {
        snprintf(log, sizeof log, "%s/log.txt", dir);
        int fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0644);
        int null = open("/dev/null", O_RDONLY);
        dup2(null, 0);
        dup2(fd, 1);
        dup2(fd, 2);
        execv(program, argv);
        _exit(127);
    }
    waitpid(pid, NULL, 0);
}

/* The texts are as long as ours. */
static double plain_loop(const char *dir, const char *params,
                         const char *result, int count, bool synced)
{
    static const char event[] = EVENT;
    char path[512];
    double start = bench_now();
    int events;

    mkdir(dir, 0755);
    snprintf(path, sizeof path, "%s/events.ndjson", dir);
    events = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    snprintf(path, sizeof path, "%s/experiments", dir);
    mkdir(path, 0755);
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/experiments/%04d", dir, i);
        mkdir(path, 0755);
        put_file(path, "params.json", params);
        if (write(events, event, strlen(event)) < 0)
            exit(1);
        spawn_true(path);
        put_file(path, "result.json", result);
        if (synced && syncfs(events) < 0) /* a run's one, before it says ok */
            exit(1);
        if (write(events, event, strlen(event)) < 0)
            exit(1);
    }
    close(events);
    return bench_now() - start;
}

static char *read_text(const char *path)
{
    FILE *f = fopen(path, "r");
    char *text = calloc(1, 65536);

    if (!f || !text || !fread(text, 1, 65535, f)) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(f);
    return text;
}

/* One result of ours, to know what the plain loop has to write. */
static char *sample(const char *dir, const char *name)
{
    char command[900], path[700];
    FILE *p;
    size_t n;

    snprintf(command, sizeof command,
             "ls %s/experiments | head -1 | tr -d '\\n'", dir);
    p = popen(command, "r");
    n = p ? (size_t)snprintf(path, 600, "%s/experiments/", dir) : 0;
    n += p ? fread(path + n, 1, 60, p) : 0;
    if (!p || pclose(p))
        exit(1);
    snprintf(path + n, sizeof path - n, "/%s", name);
    return read_text(path);
}

/* One variable with so many values. */
static void list_values(char *out, int count)
{
    out += sprintf(out, "i=[0");
    for (int i = 1; i < count; i++)
        out += sprintf(out, ",%d", i);
    sprintf(out, "]");
}

static void compare(char *prony, const char *base, bool synced)
{
    static char list[EXPERIMENTS * 8];
    int count = synced ? SYNCED : EXPERIMENTS;
    char ours[128], plain[128];
    char run[] = "run", quiet[] = "-q", o[] = "-o", p[] = "-P",
         command[] = "exp.command=[\"/bin/true\"]", v[] = "-V",
         on[] = "run.fsync=true", off[] = "run.fsync=false";
    double a[ROUNDS], b[ROUNDS];

    list_values(list, count);
    snprintf(ours, sizeof ours, "%s/ours", base);
    snprintf(plain, sizeof plain, "%s/plain", base);
    char *way[] = {prony, run,     quiet, o,    ours,
                   p,     command, v,     list, synced ? on : off,
                   NULL};
    double start = bench_now();
    size_t most = bench_rounds_of(ROUNDS), r = 0;
    for (; r < most && (!r || bench_now() - start < SECONDS); r++) {
        sync(); /* or the removal of the last round would be counted */
        a[r] = bench_program(way, "/dev/null").seconds;
        char *params = sample(ours, "params.json");
        char *result = sample(ours, "result.json");
        bench_remove_tree(ours);
        sync();
        b[r] = bench_has_peers()
                   ? plain_loop(plain, params, result, count, synced)
                   : 0;
        bench_remove_tree(plain);
        free(params);
        free(result);
    }
    bench_line(synced ? "100 experiments of /bin/true, synced"
                      : "200 experiments of /bin/true",
               "prony run", bench_median(a, r),
               synced ? "the same, and as many syncs"
                      : "fork, exec, wait and write",
               bench_median(b, r), 1, "s", 1.5);
}

int main(int argc, char **argv)
{
    char base[64];

    snprintf(base, sizeof base, "%s/prony-bench.XXXXXX",
             argc > 2 ? argv[2] : "/tmp");
    if (argc < 2 || !mkdtemp(base)) {
        fprintf(stderr, "usage: bench_run PRONY\n");
        return 2;
    }
    compare(argv[1], base, false);
    compare(argv[1], base, true);
    rmdir(base);
    return 0;
}
