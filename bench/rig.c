/* Rows, sections, rounds and Python programs; see rig.h. */
#include "rig.h"

#include "base/json/json_write.h"

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

/* ---- rows */

bool bench_has_peers(void)
{
    return !getenv("BENCH_OURS");
}

int bench_round_count(int otherwise)
{
    const char *text = getenv("BENCH_ROUNDS");
    int n = text ? atoi(text) : 0;

    return n > 0 ? n : otherwise;
}

size_t bench_rounds_of(size_t most)
{
    size_t n = (size_t)bench_round_count((int)most);

    return n < most ? n : most;
}

/* One line, one write: sections and what they start may share the file. */
static void add_line(struct pr_buf *line)
{
    const char *path = getenv("BENCH_ROWS");
    int fd = path && *path
                 ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644)
                 : -1;

    pr_buf_str(line, "\n");
    if (fd >= 0 && (!pr_buf_ok(line) ||
                    write(fd, line->data, line->len) != (ssize_t)line->len))
        bench_die("%s: cannot write a row", path);
    if (fd >= 0)
        close(fd);
    pr_buf_free(line);
}

void bench_skip(const char *fmt, ...)
{
    struct pr_buf line = PR_BUF_INIT(1 << 20);
    struct pr_json_writer jb;
    char text[2048];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    printf("skipped: %s\n", text);
    pr_json_writer_init(&jb, &line, 0);
    pr_json_open_object(&jb, NULL);
    pr_json_put_str(&jb, "skipped", text);
    pr_json_close(&jb);
    add_line(&line);
}

static double ratio_of(const struct bench_row *r)
{
    return r->is_cost && r->at_least > 0 ? r->other / r->ours
                                         : r->ours / r->other;
}

static bool is_met(const struct bench_row *r)
{
    double v = r->other > 0 && !r->of_ours ? ratio_of(r) : r->ours;

    return r->at_most > 0 ? v <= r->at_most : v >= r->at_least;
}

static void add_row(const struct bench_row *r)
{
    struct pr_buf line = PR_BUF_INIT(1 << 20);
    bool has_goal = r->at_least > 0 || r->at_most > 0;
    struct pr_json_writer jb;

    pr_json_writer_init(&jb, &line, 0);
    pr_json_open_object(&jb, NULL);
    pr_json_put_str(&jb, "what", r->what);
    pr_json_put_float(&jb, "ours", r->ours);
    pr_json_put_str(&jb, "unit", r->unit);
    pr_json_put_str(&jb, "better", r->is_cost ? "less" : "more");
    if (r->other > 0) {
        pr_json_put_str(&jb, "other_is", r->other_is);
        pr_json_put_float(&jb, "other", r->other);
        pr_json_put_float(&jb, "ratio", ratio_of(r));
    }
    if (has_goal) {
        pr_json_put_str(&jb, "goal_of",
                        r->other > 0 && !r->of_ours ? "ratio" : "ours");
        pr_json_put_float(&jb, r->at_most > 0 ? "at_most" : "at_least",
                          r->at_most > 0 ? r->at_most : r->at_least);
        pr_json_put_bool(&jb, "met", is_met(r));
    }
    pr_json_close(&jb);
    add_line(&line);
}

static void print_number(double v, const char *unit)
{
    int places = v >= 100 ? 0 : v >= 10 ? 1 : v >= 1 ? 2 : 3;

    printf("%.*f%s%s", places, v, *unit ? " " : "", unit);
}

void bench_row(const struct bench_row *r)
{
    printf("%s: %s%s", r->what, r->ours_is ? r->ours_is : "",
           r->ours_is ? " " : "");
    print_number(r->ours, r->unit);
    if (r->other > 0) {
        printf(", %s ", r->other_is);
        print_number(r->other, r->unit);
        printf(", ratio %.2f", ratio_of(r));
    }
    if (r->at_least > 0 || r->at_most > 0)
        printf(" (goal: at %s %g%s%s) %s", r->at_most > 0 ? "most" : "least",
               r->at_most > 0 ? r->at_most : r->at_least,
               r->of_ours && *r->unit ? " " : "", r->of_ours ? r->unit : "",
               is_met(r) ? "met" : "missed");
    printf("\n");
    add_row(r);
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

            if (!bench_has_peers() && strncmp(ways[i].name, "ours", 4) != 0)
                continue;
            sync();
            seconds = ways[i].once(ways[i].ctx);
            if (seconds > 0 && (ways[i].best < 0 || seconds < ways[i].best))
                ways[i].best = seconds;
        }
}

/* Whether there is a figure of ours, which is a row without the other, too. */
bool bench_is_measured(const char *what, const struct bench_way *ours,
                       const struct bench_way *other)
{
    if (ours->best < 0 || (other->best < 0 && bench_has_peers()))
        bench_skip("%s: %s did not run", what,
                   ours->best < 0 ? ours->name : other->name);
    return ours->best > 0;
}

/* Both in the same unit, that of the slower one. */
void bench_ratio(const char *what, const struct bench_way *ours,
                 const struct bench_way *other, double bytes, double goal)
{
    double a = bytes / ours->best, b = bytes / other->best;
    bool giga = a >= 1e9 && (b >= 1e9 || b < 0);

    if (bench_is_measured(what, ours, other))
        bench_row(&(struct bench_row){.what = what,
                                      .unit = giga ? "GB/s" : "MB/s",
                                      .ours_is = ours->name,
                                      .ours = a / (giga ? 1e9 : 1e6),
                                      .other_is = other->name,
                                      .other = b / (giga ? 1e9 : 1e6),
                                      .at_least = b > 0 ? goal : 0});
}

void bench_times(const char *what, const struct bench_way *ours,
                 const struct bench_way *other, double scale, const char *unit,
                 double goal)
{
    if (bench_is_measured(what, ours, other))
        bench_row(&(struct bench_row){.what = what,
                                      .unit = unit,
                                      .ours_is = ours->name,
                                      .ours = ours->best * scale,
                                      .other_is = other->name,
                                      .other = other->best * scale,
                                      .is_cost = true,
                                      .at_least = other->best > 0 ? goal : 0});
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

    if (!bench_has_peers())
        return false;
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
