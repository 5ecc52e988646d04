/* Runs of the program, and lines for what they report; see prony.h. */
#include "prony.h"

#include "base/json/json.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdarg.h>

enum { MAX_ARGS = 128 };

static const char *program, *bare;

int bench_prony_sections(int argc, char **argv,
                         const struct bench_section *sections)
{
    if (argc < 3) {
        fprintf(stderr, "usage: %s PRONY BARE [PEERS [SECTION]...]\n", argv[0]);
        return 2;
    }
    program = argv[1];
    bare = argv[2];
    return bench_sections(argc - 2, argv + 2, sections);
}

const char *bench_bare(void)
{
    return bare;
}

/* ---- programs */

static void stay_on_one_core(void)
{
    cpu_set_t all, one;

    CPU_ZERO(&one);
    sched_getaffinity(0, sizeof all, &all);
    for (int i = CPU_SETSIZE - 1; i >= 0; i--)
        if (CPU_ISSET(i, &all)) {
            CPU_SET(i, &one);
            sched_setaffinity(0, sizeof one, &one);
            return;
        }
}

int bench_spawn(char *const *argv, const char *out, bool one_core)
{
    int status = 0;
    pid_t pid;

    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        int fd = open(out, O_WRONLY | O_CREAT | O_TRUNC, 0644);

        if (one_core)
            stay_on_one_core();
        dup2(fd, 1);
        execvp(argv[0], argv);
        _exit(127);
    }
    if (pid < 0 || waitpid(pid, &status, 0) < 0)
        bench_die("cannot run %s: %s", argv[0], strerror(errno));
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Words of text, which they stay in, after those that are there. */
static void add_words(char **argv, size_t n, char *text)
{
    char *rest;

    for (char *w = strtok_r(text, " ", &rest); w;
         w = strtok_r(NULL, " ", &rest))
        if (n < MAX_ARGS - 1)
            argv[n++] = w;
    argv[n] = NULL;
}

void bench_generate(const char *fmt, ...)
{
    char words[4096], *argv[MAX_ARGS];
    va_list ap;
    int n = snprintf(words, sizeof words, "%s generate -q ", program);

    va_start(ap, fmt);
    vsnprintf(words + n, sizeof words - (size_t)n, fmt, ap);
    va_end(ap);
    add_words(argv, 0, words);
    if (bench_spawn(argv, "/dev/null", false))
        bench_die("'prony generate' failed");
    sync();
}

const struct pr_value *bench_json(struct pr_arena *a, const char *path)
{
    struct pr_json_in in = {.name = path};
    struct pr_value *value = PR_ARENA_NEW(a, struct pr_value);
    struct pr_err err = {0};
    FILE *f = fopen(path, "r");
    char *text;
    long len;

    if (!f || fseek(f, 0, SEEK_END) || (len = ftell(f)) < 0)
        bench_die("%s: %s", path, strerror(errno));
    rewind(f);
    text = pr_arena_alloc(a, (size_t)len + 1);
    if (!text || !value || fread(text, 1, (size_t)len, f) != (size_t)len)
        bench_die("cannot read %s", path);
    fclose(f);
    in.text = text;
    in.len = (size_t)len;
    if (!pr_json_read(&in, a, value, NULL, &err))
        return value;
    fprintf(stderr, "%s: %s\n", path, err.msg);
    return NULL;
}

/* ---- runs */

void bench_run_init(struct bench_run *r, const char *dir, const char *fmt, ...)
{
    va_list ap;

    *r = (struct bench_run){.dir = dir, .arena = pr_arena_new(0)};
    if (!r->arena)
        bench_die("out of memory");
    va_start(ap, fmt);
    vsnprintf(r->params, sizeof r->params, fmt, ap);
    va_end(ap);
}

/* The only experiment that the run tells of; NULL: it does not. */
static const struct pr_value *experiment_of(struct bench_run *r,
                                            const char *path)
{
    const struct pr_value *v = bench_json(r->arena, path);

    v = v ? pr_get(v, "experiments") : NULL;
    return v && v->kind == PR_LIST && v->len == 1 ? &v->items[0] : NULL;
}

/* The folder is removed soon: what is known of a failure is said now. */
static void say_why(const struct bench_run *r, const struct pr_value *e,
                    int status)
{
    static const char *const names[] = {"status", "reason", "log_tail"};

    bench_skip("'prony run %s' ended with status %d", r->params, status);
    for (int i = 0; i < 3; i++) {
        const struct pr_value *v = e ? pr_get(e, names[i]) : NULL;

        if (v && v->kind == PR_STR)
            printf("  %s: %s\n", names[i], v->s);
    }
}

bool bench_run_do(struct bench_run *r)
{
    char words[4096], out[1100], run[1100], *argv[MAX_ARGS];
    const struct pr_value *e, *results;
    double start;
    int status;

    snprintf(out, sizeof out, "%s/run.json", r->dir);
    snprintf(run, sizeof run, "%s/run", r->dir);
    snprintf(words, sizeof words, "%s run -q --format json -o %s %s", program,
             run, r->params);
    add_words(argv, 0, words);
    bench_remove_tree(run);
    pr_arena_reset(r->arena);
    start = bench_now();
    status = bench_spawn(argv, out, r->one_core);
    r->seconds = bench_now() - start;
    e = experiment_of(r, out);
    results = e ? pr_get(e, "results") : NULL;
    if (status || !results) {
        say_why(r, e, status);
        return false;
    }
    r->results = *results;
    return true;
}

double bench_run_number(const struct bench_run *r, const char *name)
{
    const struct pr_value *v = pr_get(&r->results, name);

    if (!v || !pr_value_is_number(v))
        bench_die("the results have no '%s'", name);
    return pr_value_number(v);
}

double bench_run_once(void *run)
{
    struct bench_run *r = run;

    if (!bench_run_do(r))
        return -1;
    return 1 / bench_run_number(r, "samples_per_second");
}

void bench_run_file(const struct bench_run *r, char *ret, size_t size)
{
    char folder[1100];
    const struct dirent *e;
    DIR *d;

    snprintf(folder, sizeof folder, "%s/run/experiments", r->dir);
    d = opendir(folder);
    while (d && (e = readdir(d)))
        if (e->d_name[0] != '.')
            snprintf(ret, size, "%s/%s/result.json", folder, e->d_name);
    if (!d)
        bench_die("%s: %s", folder, strerror(errno));
    closedir(d);
}

/* ---- figures */

const struct bench_way *bench_fastest(const struct bench_way *ways, size_t n)
{
    const struct bench_way *best = ways;

    for (size_t i = 1; i < n; i++)
        if (ways[i].best > 0 && (best->best < 0 || ways[i].best < best->best))
            best = &ways[i];
    return best;
}

void bench_samples(const char *what, const struct bench_way *ours,
                   const struct bench_way *other, double goal)
{
    if (bench_is_measured(what, ours, other))
        bench_row(&(struct bench_row){.what = what,
                                      .unit = "samples/s",
                                      .ours_is = ours->name,
                                      .ours = 1 / ours->best,
                                      .other_is = other->name,
                                      .other = 1 / other->best,
                                      .at_least = other->best > 0 ? goal : 0});
}

void bench_at_least(const char *what, double value, const char *unit,
                    double goal)
{
    bench_row(&(struct bench_row){
        .what = what, .unit = unit, .ours = value, .at_least = goal});
}

void bench_at_most(const char *what, double value, const char *unit,
                   double goal)
{
    bench_row(&(struct bench_row){.what = what,
                                  .unit = unit,
                                  .ours = value,
                                  .is_cost = true,
                                  .at_most = goal});
}
