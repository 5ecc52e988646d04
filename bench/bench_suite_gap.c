/*
 * The jobs of a suite one after another: the time between a job's end and the
 * next child's start, in which the result of the one is written and the other
 * one made ready, against a bare fork and exec.
 */
#include "bench.h"
#include "rig.h"

#include <ftw.h>
#include <sys/stat.h>

enum { JOBS = 200, ROUNDS = 5 };

/* ---- bare */

/* From the end of a child to the moment its successor has executed its
 * program: a pipe that closes with exec tells. */
static double bare_gap(void)
{
    char program[] = "/bin/true", *argv[] = {program, NULL}, byte;
    double gaps[JOBS], end = bench_now();

    for (int i = 0; i < JOBS; i++) {
        int fds[2];
        pid_t pid = -1;

        if (pipe2(fds, O_CLOEXEC) < 0 || (pid = fork()) < 0)
            bench_die("cannot fork");
        if (pid == 0) {
            execv(program, argv);
            _exit(127);
        }
        close(fds[1]);
        if (read(fds[0], &byte, 1) != 0)
            bench_die("the pipe has something to say");
        gaps[i] = bench_now() - end;
        close(fds[0]);
        waitpid(pid, NULL, 0);
        end = bench_now();
    }
    return bench_median(gaps, JOBS);
}

/* ---- ours */

static void write_profile(const char *path)
{
    FILE *f = fopen(path, "w");

    if (!f)
        bench_die("cannot write %s", path);
    fprintf(f, "{\"*\": {\"experiment\": \"command\", \"command\": "
               "[\"/bin/true\"], \"arguments\": {}}");
    for (int i = 0; i < JOBS; i++)
        fprintf(f, ",\n\"j%d\": {}", i);
    fprintf(f, "}\n");
    if (fclose(f))
        bench_die("cannot write %s", path);
}

/* Seconds since midnight of the member `"key": "2026-11-15T22:17:02.123456Z"`
 * in text. */
static double time_in(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    int h, m;
    double s;

    if (!at || !(at = strchr(at, 'T')) ||
        sscanf(at, "T%d:%d:%lf", &h, &m, &s) != 3)
        bench_die("a result without '%s'", key);
    return h * 3600 + m * 60 + s;
}

static char *slurp(const char *path)
{
    static char text[1 << 20];
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;

    if (!f)
        bench_die("cannot read %s", path);
    fclose(f);
    text[n] = '\0';
    return text;
}

struct span {
    double start, end;
};

static struct span spans[JOBS + 1];
static int seen;

static int see(const char *path, const struct stat *st, int type,
               struct FTW *ftw)
{
    const char *id = path + ftw->base - 14; /* NNNN-xxxxxxxx/result.json */
    char *text;
    int i;

    (void)st;
    if (type != FTW_F || strcmp(path + ftw->base, "result.json") != 0)
        return 0;
    i = atoi(id);
    if (i < 1 || i > JOBS)
        bench_die("what experiment is %s?", path);
    text = slurp(path);
    spans[i] =
        (struct span){time_in(text, "\"started\""), time_in(text, "\"ended\"")};
    seen++;
    return 0;
}

static double our_gap(const char *dir)
{
    char at[600];
    double gaps[JOBS];

    seen = 0;
    snprintf(at, sizeof at, "%s/experiments", dir);
    if (nftw(at, see, 16, FTW_PHYS) || seen != JOBS)
        bench_die("%d results of %d", seen, JOBS);
    for (int i = 1; i < JOBS; i++)
        gaps[i - 1] = spans[i + 1].start - spans[i].end;
    return bench_median(gaps, JOBS - 1);
}

/* A job leaves six new files, so this is what a slow folder costs it. ext4 for
 * one takes 20 us, and up to 1 ms for minutes after many files were removed. */
static double new_file(const char *dir)
{
    char path[600];
    double took[JOBS];

    for (int i = 0; i < JOBS; i++) {
        double start = bench_now();
        int fd;

        snprintf(path, sizeof path, "%s/new%d", dir, i);
        fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
        if (fd < 0)
            bench_die("cannot write %s", path);
        close(fd);
        took[i] = bench_now() - start;
    }
    return bench_median(took, JOBS);
}

int main(int argc, char **argv)
{
    char base[400], profile[500], out[500];
    char run[] = "run", quiet[] = "-q", o[] = "-o";
    double a[ROUNDS], b[ROUNDS];

    snprintf(base, sizeof base, "%s/prony-bench.XXXXXX",
             argc > 2 ? argv[2] : "/tmp");
    if (argc < 2 || !mkdtemp(base)) {
        fprintf(stderr, "usage: bench_suite_gap PRONY [FOLDER]\n");
        return 2;
    }
    snprintf(profile, sizeof profile, "%s/gap.json", base);
    write_profile(profile);
    char *way[] = {argv[1], run, quiet, profile, o, out, NULL};
    for (int r = 0; r < ROUNDS; r++) {
        snprintf(out, sizeof out, "%s/out%d", base, r);
        bench_program(way, "/dev/null");
        a[r] = our_gap(out);
        b[r] = bare_gap();
    }
    printf("a new file in that folder: %.0f us\n", new_file(base) * 1e6);
    bench_remove_tree(base);
    bench_line("from a job's end to the next one's start", "prony run",
               bench_median(a, ROUNDS) * 1e6, "fork and exec",
               bench_median(b, ROUNDS) * 1e6, 1, "us", 3);
    return 0;
}
