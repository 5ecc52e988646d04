/* Jobs of fio, and what it says of them; see fio.h. */
#include "fio.h"

#include <errno.h>

/* fio's own buffers start 16 bytes into a page, where some processors copy at
 * a fifth of their speed: that is no limit of anything. */
static void write_job(const struct bench_fio *f, const char *path)
{
    FILE *job = fopen(path, "w");

    if (!job)
        bench_die("%s: %s", path, strerror(errno));
    fprintf(job,
            "[global]\nrw=%s\nbs=1M\nioengine=psync\nthread=1\nsize=%.0f\n"
            "group_reporting=1\niomem_align=4096\n%s",
            f->writes ? "write" : "read", f->bytes, f->options);
    for (size_t i = 0; i < f->count; i++)
        fprintf(job, "[%zu]\nfilename=%s\n", i, f->files[i]);
    fclose(job);
}

static double runtime(const struct bench_fio *f, const char *path)
{
    struct pr_arena *a = pr_arena_new(0);
    const struct pr_value *v = a ? bench_json(a, path) : NULL;
    double ms = -1;

    v = v ? pr_get(v, "jobs") : NULL;
    v = v && v->kind == PR_LIST && v->len
            ? pr_get(&v->items[0], f->writes ? "write" : "read")
            : NULL;
    v = v ? pr_get(v, "runtime") : NULL;
    if (v && pr_value_is_number(v))
        ms = pr_value_number(v);
    pr_arena_free(a);
    return ms > 0 ? ms / 1e3 : -1;
}

double bench_fio_once(void *ctx)
{
    const struct bench_fio *f = ctx;
    char job[1100], out[1100], format[] = "--output-format=json", fio[] = "fio";
    char *argv[] = {fio, format, job, NULL};
    int status;

    snprintf(job, sizeof job, "%s/fio.job", f->dir);
    snprintf(out, sizeof out, "%s/fio.json", f->dir);
    write_job(f, job);
    status = bench_spawn(argv, out, false);
    for (size_t i = 0; f->writes && i < f->count; i++)
        (void)unlink(f->files[i]);
    return status ? -1 : runtime(f, out);
}
