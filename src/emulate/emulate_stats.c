/*
 * Counting steps of an emulated training, and the figures of one phase: ours,
 * and those that DLIO's formulas give. A step is counted in a few dozen
 * instructions and without memory of its own, but for the lists.
 */
#include "emulate/emulate_stats.h"

#include "base/file.h"
#include "base/mem.h"

#include <assert.h>

/* Steps of each accelerator that lists are kept of. */
static uint64_t list_room(const struct pr_emulate_stats *s,
                          uint64_t accelerators, uint64_t steps)
{
    uint64_t left = (uint64_t)PR_LIST_ALL - s->listed;
    uint64_t room = steps < PR_LIST_STEPS ? steps : PR_LIST_STEPS;

    return room < left / accelerators ? room : left / accelerators;
}

/* The lists are not cleared: what no step came for is never touched. */
static bool stats_make_lists(struct pr_emulate_stats *s, struct pr_arena *a,
                             struct pr_emulate_phase *p)
{
    struct pr_emulate_step_lists *l = &p->lists;
    size_t count;

    l->room = list_room(s, p->accelerators, p->steps_planned);
    count = (size_t)(p->accelerators * l->room);
    if (!count)
        return true;
    l->wait = pr_arena_alloc(a, count * sizeof *l->wait);
    l->compute = pr_arena_alloc(a, count * sizeof *l->compute);
    return l->wait && l->compute;
}

struct pr_emulate_phase_waits
pr_emulate_phase_get_waits(const struct pr_emulate_phase *p)
{
    const struct pr_histogram *h = p->live ? &p->live->wait : NULL;

    if (!h)
        return p->waits;
    return (struct pr_emulate_phase_waits){h->count, pr_histogram_at(h, 0.5),
                                           pr_histogram_at(h, 0.99), h->max};
}

/* The times of the last phase become a part of the sums, and their memory that
 * of the next one. NULL: out of memory. */
static struct pr_emulate_phase_times *
stats_take_times(struct pr_emulate_stats *s, struct pr_arena *a)
{
    struct pr_emulate_phase *p = s->last;
    struct pr_emulate_phase_times *times = p ? p->live : NULL;

    if (!times)
        return PR_ARENA_NEW(a, struct pr_emulate_phase_times);
    p->waits = pr_emulate_phase_get_waits(p);
    p->live = NULL;
    pr_histogram_merge(&s->past[p->evaluation].wait, &times->wait);
    pr_histogram_merge(&s->past[p->evaluation].step, &times->step);
    *times = (struct pr_emulate_phase_times){0};
    return times;
}

static void read_meminfo(struct pr_emulate_stats *s, struct pr_emulate_phase *p,
                         struct pr_arena *a)
{
    size_t len;

    if (s->phases++ >= PR_MEMINFO_PHASES ||
        pr_file_read("/proc/meminfo", 1 << 16, a, &p->meminfo, &len, NULL))
        p->meminfo = NULL;
}

struct pr_emulate_phase *pr_emulate_stats_add_phase(struct pr_emulate_stats *s,
                                                    struct pr_arena *a,
                                                    uint64_t accelerators,
                                                    uint64_t steps)
{
    struct pr_emulate_phase *p = PR_ARENA_NEW(a, struct pr_emulate_phase);

    assert(accelerators > 0);
    if (!p)
        return NULL;
    p->accelerators = accelerators;
    p->steps_planned = steps;
    p->cached = -1;
    p->device_bytes = UINT64_MAX;
    p->accel =
        PR_ARENA_ARRAY(a, struct pr_emulate_accelerator_stats, accelerators);
    p->live = stats_take_times(s, a);
    if (!p->accel || !p->live || !stats_make_lists(s, a, p))
        return NULL;
    read_meminfo(s, p, a);
    s->listed += accelerators * p->lists.room;
    if (s->last)
        s->last->next = p;
    else
        s->first = p;
    s->last = p;
    return p;
}

static double stats_seconds(uint64_t ns)
{
    return (double)ns / 1e9;
}

static void list_step(struct pr_emulate_step_lists *l,
                      const struct pr_emulate_step *s)
{
    size_t at = (size_t)(s->accelerator * l->room + s->step);

    if (s->step >= l->room)
        return;
    l->wait[at] = (float)stats_seconds(s->ready_ns - s->asked_ns);
    l->compute[at] = (float)stats_seconds(s->end_ns - s->ready_ns);
}

void pr_emulate_stats_drop_last(struct pr_emulate_stats *s)
{
    struct pr_emulate_phase **at = &s->first, *before = NULL;

    while (*at && (*at)->next) {
        before = *at;
        at = &(*at)->next;
    }
    *at = NULL;
    s->last = before;
}

void pr_emulate_stats_add_step(struct pr_emulate_phase *p,
                               const struct pr_emulate_step *s, bool window)
{
    struct pr_emulate_accelerator_stats *a = &p->accel[s->accelerator];
    uint64_t wait = s->ready_ns - s->asked_ns;
    uint64_t compute = s->end_ns - s->ready_ns, late = s->woke_ns - s->end_ns;

    assert(s->accelerator < p->accelerators);
    assert(s->asked_ns <= s->ready_ns && s->ready_ns <= s->end_ns &&
           s->end_ns <= s->woke_ns);
    if (a->steps++ == 0)
        a->first_ns = s->end_ns;
    a->last_ns = s->end_ns;
    a->samples += s->samples;
    a->wait_ns += wait;
    a->compute_ns += compute;
    a->late_ns += late;
    if (late > a->late_max_ns)
        a->late_max_ns = late;
    if (window) {
        if (a->window_steps++ == 0)
            a->window_ns = s->asked_ns;
        a->counted_steps++;
        a->ahead_steps += s->came_ns <= a->window_ns;
        a->window_compute_ns += compute;
        a->compute_square += stats_seconds(compute) * stats_seconds(compute);
    } else {
        a->outside_ns += wait + compute;
    }
    pr_histogram_add(&p->live->wait, wait);
    pr_histogram_add(&p->live->step, s->end_ns - s->asked_ns);
    list_step(&p->lists, s);
}

double pr_emulate_phase_seconds(const struct pr_emulate_phase *p)
{
    uint64_t start = p->start_ns + p->pause_ns;

    return p->end_ns > start ? stats_seconds(p->end_ns - start) : 0;
}

double pr_emulate_phase_utilisation(const struct pr_emulate_phase *p)
{
    double all = pr_emulate_phase_seconds(p) * (double)p->accelerators,
           compute = 0;

    for (uint64_t i = 0; i < p->accelerators; i++)
        compute += stats_seconds(p->accel[i].compute_ns);
    return all > 0 ? compute / all : 0;
}

double pr_emulate_phase_samples_per_s(const struct pr_emulate_phase *p)
{
    double s = pr_emulate_phase_seconds(p);
    uint64_t samples = 0;

    for (uint64_t i = 0; i < p->accelerators; i++)
        samples += p->accel[i].samples;
    samples -= p->feed.failed < samples ? p->feed.failed : samples;
    return s > 0 ? (double)samples / s : 0;
}
