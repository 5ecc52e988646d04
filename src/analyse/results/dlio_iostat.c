/* iostat.json beside DLIO's results: what disks and processors did in each
 * phase, and over all phases. */
#include "analyse/results/dlio.h"

#include <math.h>
#include <string.h>

static const char *const disk_keys[] = {
#define X(name, key, label) key,
    PR_DLIO_DISK_MEASURES(X)
#undef X
};

static const char *const cpu_keys[] = {
#define X(name, key, label) key,
    PR_DLIO_CPU_MEASURES(X)
#undef X
};

/* A span of time; all: whatever fell into some phase. */
struct span {
    int64_t from, to;
    bool all;
};

struct reader {
    struct pr_arena *arena;
    struct pr_dlio_run *run;
    const struct pr_value *samples; /* a list */
    int64_t *times;                 /* of the samples */
    bool *used;                     /* of the samples: in some phase */
    double *series;                 /* room for one value of every sample */
};

enum { NO_TIME = -1 };

static void read_times(struct reader *r)
{
    for (uint32_t i = 0; i < r->samples->len; i++) {
        const struct pr_value *t = pr_get(&r->samples->items[i], "timestamp");
        if (!t || t->kind != PR_STR || !pr_dlio_parse_time(t->s, &r->times[i]))
            r->times[i] = NO_TIME;
    }
}

static bool in_span(const struct reader *r, const struct span *s, uint32_t i)
{
    return s->all ? r->used[i] : r->times[i] >= s->from && r->times[i] < s->to;
}

static bool iostat_get_number(const struct pr_value *map, const char *key,
                              double *ret)
{
    const struct pr_value *v = map ? pr_get(map, key) : NULL;

    if (!v || !pr_value_is_number(v) || !isfinite(pr_value_number(v)))
        return false;
    *ret = pr_value_number(v);
    return true;
}

static bool cpu_value(const struct pr_value *sample, size_t figure, double *ret)
{
    const struct pr_value *cpu = pr_get(sample, "avg-cpu");
    double nice = 0;

    if (!iostat_get_number(cpu, cpu_keys[figure], ret))
        return false;
    if (figure == PR_DLIO_CPU_USER && iostat_get_number(cpu, "nice", &nice))
        *ret += nice; /* one figure for both, as DLIO has it */
    return true;
}

static bool disk_value(const struct pr_value *sample, const char *disk,
                       size_t figure, double *ret)
{
    const struct pr_value *list = pr_get(sample, "disk");

    for (uint32_t i = 0; list && list->kind == PR_LIST && i < list->len; i++) {
        const struct pr_value *name = pr_get(&list->items[i], "disk_device");
        if (name && name->kind == PR_STR && strcmp(name->s, disk) == 0)
            return iostat_get_number(&list->items[i], disk_keys[figure], ret);
    }
    return false;
}

/* The series of one figure; disk NULL: of the processors. */
static void collect_iostat_series(struct reader *r, const struct span *s,
                                  const char *disk, size_t figure,
                                  struct pr_dlio_stats *ret)
{
    size_t n = 0;

    for (uint32_t i = 0; i < r->samples->len; i++) {
        const struct pr_value *sample = &r->samples->items[i];
        if (in_span(r, s, i) &&
            (disk ? disk_value(sample, disk, figure, &r->series[n])
                  : cpu_value(sample, figure, &r->series[n])))
            n++;
    }
    pr_dlio_stats(r->series, n, ret);
}

static int read_machine(struct reader *r, const struct span *s,
                        struct pr_dlio_machine *m, struct pr_err *err)
{
    m->disks =
        PR_ARENA_ARRAY(r->arena, struct pr_dlio_disk, r->run->disk_count + 1);
    if (!m->disks)
        return pr_fail_nomem(err);
    for (size_t f = 0; f < PR_DLIO_CPU_COUNT; f++)
        collect_iostat_series(r, s, NULL, f, &m->cpu[f]);
    for (size_t d = 0; d < r->run->disk_count; d++)
        for (size_t f = 0; f < PR_DLIO_DISK_COUNT; f++)
            collect_iostat_series(r, s, r->run->disks[d], f,
                                  &m->disks[d].figure[f]);
    return PR_OK;
}

static bool is_disk_known(const struct pr_dlio_run *run, const char *disk)
{
    for (size_t i = 0; i < run->disk_count; i++)
        if (strcmp(run->disks[i], disk) == 0)
            return true;
    return false;
}

static int find_disks(struct reader *r, struct pr_err *err)
{
    enum { MAX_DISKS = 64 };
    struct pr_dlio_run *run = r->run;

    run->disks = PR_ARENA_ARRAY(r->arena, const char *, MAX_DISKS);
    if (!run->disks)
        return pr_fail_nomem(err);
    for (uint32_t i = 0; i < r->samples->len; i++) {
        const struct pr_value *list = pr_get(&r->samples->items[i], "disk");
        for (uint32_t k = 0; list && list->kind == PR_LIST && k < list->len;
             k++) {
            const struct pr_value *name =
                pr_get(&list->items[k], "disk_device");
            if (name && name->kind == PR_STR && run->disk_count < MAX_DISKS &&
                !is_disk_known(run, name->s))
                run->disks[run->disk_count++] = name->s;
        }
    }
    return PR_OK;
}

/* sysstat.hosts[0].statistics; NULL when it has another form. */
static const struct pr_value *find_iostat_samples(const struct pr_value *root)
{
    const struct pr_value *v = pr_get(root, "sysstat");

    v = v ? pr_get(v, "hosts") : NULL;
    if (!v || v->kind != PR_LIST || !v->len)
        return NULL;
    v = pr_get(&v->items[0], "statistics");
    return v && v->kind == PR_LIST && v->len ? v : NULL;
}

static int read_iostat_phases(struct reader *r, struct pr_err *err)
{
    struct span s = {0};
    int rc = PR_OK;

    for (size_t i = 0; i < r->run->epoch_count; i++)
        for (struct pr_dlio_phase *p = r->run->epochs[i].phases; p && !rc;
             p = p->next) {
            if (!pr_dlio_parse_time(p->start, &s.from) ||
                !pr_dlio_parse_time(p->end, &s.to))
                s.from = s.to = 0;
            for (uint32_t k = 0; k < r->samples->len; k++)
                r->used[k] = r->used[k] || in_span(r, &s, k);
            rc = read_machine(r, &s, &p->machine, err);
        }
    s.all = true;
    return rc ? rc : read_machine(r, &s, &r->run->machine, err);
}

int pr_dlio_read_iostat(const char *dir, struct pr_arena *a,
                        struct pr_dlio_run *run, struct pr_err *err)
{
    struct reader r = {.arena = a, .run = run};
    struct pr_value *root = PR_ARENA_NEW(a, struct pr_value);
    int rc = root ? pr_dlio_read_json(dir, "iostat.json", a, root, err)
                  : pr_fail_nomem(err);

    if (rc != 1)
        return rc;
    r.samples = find_iostat_samples(root);
    if (!r.samples)
        return PR_OK;
    r.series = PR_ARENA_ARRAY(a, double, r.samples->len);
    r.times = PR_ARENA_ARRAY(a, int64_t, r.samples->len);
    r.used = PR_ARENA_ARRAY(a, bool, r.samples->len);
    if (!r.series || !r.times || !r.used)
        return pr_fail_nomem(err);
    read_times(&r);
    rc = find_disks(&r, err);
    if (!rc)
        rc = read_iostat_phases(&r, err);
    run->has_iostat = rc == PR_OK;
    return rc;
}
