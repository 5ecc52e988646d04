/* Sections, rounds, lines and Python programs; see rig.h. */
#include "rig.h"

#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

/* What a section may need, in bytes. */
#define ROOM 2e9

static const char *peers = "bench/peers";
static volatile sig_atomic_t child, stopped;

const char *bench_peers(void)
{
    return peers;
}

static int remove_one(const char *path, const struct stat *st, int type,
                      struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

void bench_remove_tree(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

_Noreturn void bench_die(const char *fmt, ...)
{
    va_list ap;

    fflush(stdout);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
    exit(1);
}

void bench_skip(const char *fmt, ...)
{
    va_list ap;

    fputs("skipped: ", stdout);
    va_start(ap, fmt);
    vfprintf(stdout, fmt, ap);
    va_end(ap);
    fputc('\n', stdout);
}

/* ---- sections */

static void pass_on(int signo)
{
    stopped = 1;
    if (child)
        kill((pid_t)child, signo);
}

/* A process of its own: it may fail, be killed or use memory. */
static int run_section(const struct bench_section *s, const char *dir)
{
    pid_t pid;
    int status = 0;

    if (mkdir(dir, 0755) < 0)
        bench_die("%s: %s", dir, strerror(errno));
    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        signal(SIGINT, SIG_DFL);
        signal(SIGTERM, SIG_DFL);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        s->run(dir);
        fflush(stdout);
        _exit(0);
    }
    child = pid;
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    child = 0;
    bench_remove_tree(dir);
    if (pid < 0 || status)
        fprintf(stderr, "section %s failed\n", s->name);
    return pid < 0 || status;
}

static bool is_wanted(const char *name, int argc, char **argv)
{
    for (int i = 2; i < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return true;
    return argc <= 2;
}

static bool has_room(const char *folder, double bytes)
{
    struct statvfs v;

    return statvfs(folder, &v) == 0 &&
           (double)v.f_bavail * (double)v.f_frsize > bytes;
}

/* "TMPDIR/prony-bench.123.name", or in memory. */
static int run_in_folder(const struct bench_section *s)
{
    const char *temp = getenv("TMPDIR");
    char dir[1024];

    if (!temp || !*temp)
        temp = "/tmp";
    if (s->in_memory)
        temp = "/dev/shm";
    if (!has_room(temp, ROOM)) {
        bench_skip("%s: %s has no room for %.0f GB", s->name, temp, ROOM / 1e9);
        return 0;
    }
    snprintf(dir, sizeof dir, "%s/prony-bench.%ld.%s", temp, (long)getpid(),
             s->name);
    return run_section(s, dir);
}

int bench_sections(int argc, char **argv, const struct bench_section *sections)
{
    int failed = 0;

    if (argc > 1)
        peers = argv[1];
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (bench_is_cpu_clock())
        puts("all rates are by processor time");
    signal(SIGPIPE, SIG_IGN);
    signal(SIGINT, pass_on);
    signal(SIGTERM, pass_on);
    for (; sections->name && !stopped; sections++)
        if (is_wanted(sections->name, argc, argv))
            failed |= run_in_folder(sections);
    return failed || stopped;
}

/* ---- ways */

bool bench_is_cpu_clock(void)
{
    static int is_cpu = -1;

    if (is_cpu < 0) {
        const char *name = getenv("BENCH_CLOCK");
        is_cpu = name && strcmp(name, "cpu") == 0;
    }
    return is_cpu;
}

double bench_time(void)
{
    struct timespec t;

    clock_gettime(
        bench_is_cpu_clock() ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void bench_rounds(struct bench_way *ways, size_t n, int rounds)
{
    for (size_t i = 0; i < n; i++)
        ways[i].best = -1;
    for (int r = 0; r < rounds; r++)
        for (size_t i = 0; i < n; i++) {
            double seconds;

            sync();
            seconds = ways[i].once(ways[i].ctx);
            if (seconds > 0 && (ways[i].best < 0 || seconds < ways[i].best))
                ways[i].best = seconds;
        }
}

/* Both in the same unit, that of the slower one. */
static void print_rates(const struct bench_way *ours,
                        const struct bench_way *other, double bytes)
{
    double a = bytes / ours->best, b = bytes / other->best;
    bool giga = a >= 1e9 && b >= 1e9;
    double unit = giga ? 1e9 : 1e6;

    printf("%s %.*f, %s %.*f %s", ours->name, giga ? 2 : 0, a / unit,
           other->name, giga ? 2 : 0, b / unit, giga ? "GB/s" : "MB/s");
}

void bench_ratio(const char *what, const struct bench_way *ours,
                 const struct bench_way *other, double bytes, double goal)
{
    double ratio = other->best / ours->best;

    if (ours->best < 0 || other->best < 0) {
        bench_skip("%s: %s did not run", what,
                   ours->best < 0 ? ours->name : other->name);
        return;
    }
    printf("%s: ", what);
    print_rates(ours, other, bytes);
    printf(", ratio %.2f", ratio);
    if (goal > 0)
        printf(" (wanted: at least %.2f)%s", goal,
               ratio < goal ? " below" : "");
    printf("\n");
}

/* ---- Python programs */

static void peer_exec(const char *script, const char *const *args)
{
    const char *python = getenv("PYTHON");
    char path[1024], *argv[64] = {NULL};
    size_t n = 2;

    snprintf(path, sizeof path, "%s/%s", peers, script);
    if (!python || !*python)
        python = "python3";
    argv[0] = (char *)(uintptr_t)python;
    argv[1] = path;
    for (; *args && n < 63; args++)
        argv[n++] = (char *)(uintptr_t)*args;
    execvp(argv[0], argv);
    fprintf(stderr, "cannot run %s\n", python);
    _exit(127);
}

/* One line: "ready", or why it cannot. */
static bool peer_ready(struct bench_peer *p, const char *script)
{
    char line[512] = "";

    if (fgets(line, sizeof line, p->out) && strcmp(line, "ready\n") == 0)
        return true;
    line[strcspn(line, "\n")] = '\0';
    bench_skip("%s: %s", script, *line ? line : "it does not start");
    bench_peer_stop(p);
    return false;
}

bool bench_peer_start(struct bench_peer *p, const char *script,
                      const char *const *args)
{
    int to[2], from[2];

    if (pipe2(to, O_CLOEXEC) < 0 || pipe2(from, O_CLOEXEC) < 0)
        bench_die("pipe: %s", strerror(errno));
    fflush(stdout);
    *p = (struct bench_peer){.pid = fork()};
    if (p->pid == 0) {
        dup2(to[0], 0);
        dup2(from[1], 1);
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        peer_exec(script, args);
    }
    close(to[0]);
    close(from[1]);
    p->in = fdopen(to[1], "w");
    p->out = fdopen(from[0], "r");
    if (p->pid < 0 || !p->in || !p->out)
        bench_die("cannot start %s", script);
    return peer_ready(p, script);
}

double bench_peer_once(void *peer)
{
    struct bench_peer *p = peer;
    char line[256];
    double seconds;

    p->extra = 0;
    if (fputs("go\n", p->in) < 0 || fflush(p->in) < 0 ||
        !fgets(line, sizeof line, p->out) ||
        sscanf(line, "%lf %lf", &seconds, &p->extra) < 1)
        return -1;
    return seconds;
}

void bench_peer_stop(struct bench_peer *p)
{
    fclose(p->in);
    fclose(p->out);
    waitpid(p->pid, NULL, 0);
}

/* ---- memory */

double bench_peak_mb(void)
{
    char line[256];
    double kib = 0;
    FILE *f = fopen("/proc/self/status", "r");

    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "VmHWM: %lf kB", &kib) == 1)
            break;
    if (f)
        fclose(f);
    return kib * 1024 / 1e6;
}
