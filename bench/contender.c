/* Programs that take turns; see contender.h. */
#include "contender.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>

enum { MOST = 8, REST_US = 100000 };

/* ---- starting and ending */

static void error_path(const struct bench_contender *c, char *out, size_t size)
{
    size_t n = (size_t)snprintf(out, size, "%s/", c->dir);

    snprintf(out + n, size - n, "%s.stderr", c->name);
    for (char *p = out + n; *p; p++)
        if (isspace((unsigned char)*p) || *p == '/')
            *p = '_';
}

static _Noreturn void become(const struct bench_contender *c, const int *to,
                             const int *from, const char *const *argv,
                             const char *const *env)
{
    char path[1200];
    int fd;

    error_path(c, path, sizeof path);
    fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    dup2(to[0], 0);
    dup2(from[1], 1);
    if (fd >= 0)
        dup2(fd, 2);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (; env && *env; env++)
        putenv((char *)(uintptr_t)*env);
    execvp(argv[0], (char *const *)(uintptr_t)argv);
    printf("cannot run %s: %s\n", argv[0], strerror(errno));
    fflush(stdout);
    _exit(127);
}

/* The last line that it wrote to stderr. */
static void last_words(const struct bench_contender *c, char *out, size_t size)
{
    char path[1200], line[512];
    FILE *f;

    error_path(c, path, sizeof path);
    f = fopen(path, "r");
    snprintf(out, size, "it ended");
    while (f && fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = '\0';
        if (*line)
            snprintf(out, size, "%s", line);
    }
    if (f)
        fclose(f);
}

static bool is_ready(struct bench_contender *c)
{
    char line[512], why[512];

    while (fgets(line, sizeof line, c->out)) {
        line[strcspn(line, "\n")] = '\0';
        if (strcmp(line, "ready") == 0)
            return true;
        if (strncmp(line, "about ", 6) == 0)
            snprintf(c->about, sizeof c->about, "%.255s", line + 6);
        else if (strncmp(line, "cannot ", 7) == 0) {
            bench_skip("%s: cannot %s", c->name, line + 7);
            return false;
        }
        (void)sscanf(line, "params %lf", &c->params);
    }
    last_words(c, why, sizeof why);
    bench_skip("%s: %s", c->name, why);
    return false;
}

bool bench_contender_start(struct bench_contender *c, const char *dir,
                           const char *name, const char *const *argv,
                           const char *const *env)
{
    double start = bench_now();
    int to[2], from[2];

    *c = (struct bench_contender){.dir = dir};
    snprintf(c->name, sizeof c->name, "%s", name);
    if (pipe2(to, O_CLOEXEC) < 0 || pipe2(from, O_CLOEXEC) < 0)
        bench_die("pipe: %s", strerror(errno));
    fflush(stdout);
    c->pid = fork();
    if (c->pid == 0)
        become(c, to, from, argv, env);
    close(to[0]);
    close(from[1]);
    c->in = fdopen(to[1], "w");
    c->out = fdopen(from[0], "r");
    if (c->pid < 0 || !c->in || !c->out)
        bench_die("cannot start %s", name);
    if (!is_ready(c)) {
        bench_contender_stop(c);
        return false;
    }
    c->start_s = bench_now() - start;
    return true;
}

void bench_contender_stop(struct bench_contender *c)
{
    if (c->pid <= 0)
        return;
    fclose(c->in);
    fclose(c->out);
    kill(c->pid, SIGKILL); /* it has nothing to put in order */
    waitpid(c->pid, NULL, 0);
    c->pid = 0;
}

/* ---- what the kernel says of it */

static double cpu_seconds(const struct bench_contender *c)
{
    unsigned long long user = 0, system = 0;
    char path[64], text[1024];
    size_t n = 0;
    FILE *f;
    char *p;

    snprintf(path, sizeof path, "/proc/%ld/stat", (long)c->pid);
    f = fopen(path, "r");
    if (f) {
        n = fread(text, 1, sizeof text - 1, f);
        fclose(f);
    }
    text[n] = '\0';
    p = strrchr(text, ')'); /* a name may hold anything */
    if (!p || sscanf(p + 1,
                     " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu "
                     "%llu",
                     &user, &system) != 2)
        return 0;
    return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

double bench_contender_memory(const struct bench_contender *c)
{
    char path[64], line[256];
    double kib = 0;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%ld/status", (long)c->pid);
    f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "VmHWM: %lf kB", &kib) == 1)
            break;
    if (f)
        fclose(f);
    return kib * 1024;
}

/* ---- turns */

static bool read_steps(struct bench_contender *c, int steps, bool counts)
{
    double seconds;

    for (int i = 0; i < steps; i++) {
        if (fscanf(c->out, "%lf", &seconds) != 1)
            return false;
        if (counts && c->count < BENCH_STEPS)
            c->steps[c->count++] = seconds;
    }
    return true;
}

bool bench_contender_turn(struct bench_contender *c, int steps, bool counts)
{
    double cpu = cpu_seconds(c), start = bench_now();
    char why[512];

    if (fprintf(c->in, "%d\n", steps) < 0 || fflush(c->in) < 0 ||
        !read_steps(c, steps, counts)) {
        last_words(c, why, sizeof why);
        bench_skip("%s: %s", c->name, why);
        bench_contender_stop(c);
        return false;
    }
    if (counts) {
        c->wall_s += bench_now() - start;
        c->cpu_s += cpu_seconds(c) - cpu;
    }
    return true;
}

/* Threads of a pool look for work a while before they sleep. */
static void turn_among(struct bench_contender *const *all, size_t n, size_t i,
                       int steps)
{
    double before[MOST], start, seconds;

    usleep(REST_US);
    for (size_t k = 0; k < n; k++)
        before[k] = cpu_seconds(all[k]);
    start = bench_now();
    bench_contender_turn(all[i], steps, true);
    seconds = bench_now() - start;
    for (size_t k = 0; k < n; k++) {
        double used = all[k]->pid > 0 ? cpu_seconds(all[k]) - before[k] : 0;

        if (k != i && used > 0.03 && used > 0.02 * seconds)
            printf("%s did not sleep: %.2f s of processor in %s's %.2f s\n",
                   all[k]->name, used, all[i]->name, seconds);
    }
}

void bench_take_turns(struct bench_contender *const *all, size_t n, int rounds,
                      int steps)
{
    if (n > MOST)
        bench_die("too many contenders");
    for (int r = 0; r < rounds; r++)
        for (size_t k = 0; k < n; k++) {
            size_t i = r % 2 ? n - 1 - k : k;

            if (all[i]->pid > 0)
                turn_among(all, n, i, steps);
        }
}

double bench_contender_best(const struct bench_contender *c)
{
    double best = -1;

    for (size_t i = 0; i < c->count; i++)
        if (best < 0 || c->steps[i] < best)
            best = c->steps[i];
    return best;
}

double bench_contender_median(const struct bench_contender *c)
{
    double sorted[BENCH_STEPS];

    memcpy(sorted, c->steps, sizeof sorted);
    return c->count ? bench_median(sorted, c->count) : -1;
}
