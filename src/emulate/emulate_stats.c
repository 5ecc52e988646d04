/*
 * Counting steps of an emulated training, and the figures of one phase: ours,
 * and those that DLIO's formulas give. A step is counted in a few dozen
 * instructions and without memory of its own, but for the lists.
 */
#include "emulate/emulate_stats.h"

#include "base/file.h"
#include "base/mem.h"

#include <assert.h>
#include <math.h>

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

/* ---- blocks of a phase, that is the steps between two checkpoints, and the
 * figures that DLIO's formulas give: it takes them by block, then their mean by
 * steps */

static uint64_t block_start(const struct pr_emulate_phase *p)
{
    return p->block_ns ? p->block_ns : p->start_ns;
}

/* ---- the block that runs, up to a point in time */

/* The time that DLIO divides by: without the steps left out. */
static double window_seconds(const struct pr_emulate_phase *p, uint64_t end_ns,
                             uint64_t accelerator)
{
    uint64_t start = block_start(p);

    return (end_ns > start ? stats_seconds(end_ns - start) : 0) -
           stats_seconds(p->accel[accelerator].outside_ns);
}

static double open_au(const struct pr_emulate_phase *p, uint64_t end_ns,
                      uint64_t r)
{
    double compute = stats_seconds(p->accel[r].window_compute_ns);
    double time = window_seconds(p, end_ns, r);

    /* Rounding must not make more than all of it. */
    return compute > 0 && time > 0 ? fmin(100, 100 * compute / time) : 0;
}

static uint64_t open_steps(const struct pr_emulate_accelerator_stats *a)
{
    return a->steps - a->blocks_steps;
}

/* Batches a second. DLIO takes two steps off, however many it left out; with
 * one step its figure is negative, which says nothing. */
static double open_rate(const struct pr_emulate_phase *p, uint64_t end_ns,
                        uint64_t r)
{
    uint64_t steps = open_steps(&p->accel[r]);
    uint64_t counted = p->evaluation ? steps : steps > 2 ? steps - 2 : 0;
    double time = p->evaluation ? pr_emulate_phase_seconds(p)
                                : window_seconds(p, end_ns, r);

    return time > 0 ? (double)counted / time : 0;
}

/* Mean and deviation of computing in the window. */
static void compute_times(const struct pr_emulate_accelerator_stats *a,
                          struct pr_emulate_block *b)
{
    double n = (double)a->window_steps, mean, square;

    b->compute = b->compute_dev = 0;
    if (!a->window_steps)
        return;
    mean = stats_seconds(a->window_compute_ns) / n;
    square = a->compute_square / n - mean * mean;
    b->compute = mean;
    b->compute_dev = square > 0 ? sqrt(square) : 0;
}

static void fill_open(const struct pr_emulate_phase *p, uint64_t end_ns,
                      struct pr_emulate_block *b)
{
    uint64_t start = block_start(p);

    b->first = p->accel[0].blocks_steps;
    b->steps = open_steps(&p->accel[0]);
    b->start_ns = start;
    b->end_ns = end_ns;
    b->start_wall_ns = p->block_ns ? p->block_wall_ns : p->start_wall_ns;
    b->end_wall_ns = b->start_wall_ns + (end_ns > start ? end_ns - start : 0);
    b->au = open_au(p, end_ns, 0);
    b->rate = open_rate(p, end_ns, 0);
    compute_times(&p->accel[0], b);
}

/* ---- ending a block */

static void block_close_rank(struct pr_emulate_phase *p, uint64_t end_ns,
                             uint64_t r, struct pr_emulate_block *b)
{
    struct pr_emulate_accelerator_stats *a = &p->accel[r];
    double au = open_au(p, end_ns, r), rate = open_rate(p, end_ns, r);
    double steps = (double)open_steps(a);

    if (b->rank_au) {
        b->rank_au[r] = (float)au;
        b->rank_rate[r] = (float)rate;
    }
    a->blocks_au += au * steps;
    a->blocks_rate += rate * steps;
    a->blocks_steps = a->steps;
    a->window_steps = a->window_compute_ns = a->outside_ns = 0;
    a->compute_square = 0;
}

bool pr_emulate_stats_pause(struct pr_emulate_phase *p, struct pr_arena *a,
                            uint64_t at_ns)
{
    struct pr_emulate_block *b = PR_ARENA_NEW(a, struct pr_emulate_block);

    if (!b)
        return false;
    /* Of blocks whose steps are listed, that is of a limited number. */
    if (p->accel[0].blocks_steps < p->lists.room) {
        b->rank_au = PR_ARENA_ARRAY(a, float, p->accelerators);
        b->rank_rate = PR_ARENA_ARRAY(a, float, p->accelerators);
        if (!b->rank_au || !b->rank_rate)
            return false;
    }
    b->number = p->last_block ? p->last_block->number + 1 : 1;
    fill_open(p, at_ns, b);
    for (uint64_t r = 0; r < p->accelerators; r++)
        block_close_rank(p, at_ns, r, b);
    if (p->last_block)
        p->last_block->next = b;
    else
        p->blocks = b;
    p->last_block = b;
    return true;
}

void pr_emulate_stats_resume(struct pr_emulate_phase *p, uint64_t at_ns)
{
    uint64_t paused = at_ns - p->last_block->end_ns;

    p->pause_ns += paused;
    p->block_ns = at_ns;
    p->block_wall_ns = p->last_block->end_wall_ns + paused;
}

bool pr_emulate_phase_next_block(const struct pr_emulate_phase *p,
                                 struct pr_emulate_block *b)
{
    const struct pr_emulate_block *next = b->number ? b->next : p->blocks;
    uint64_t before = b->number;
    uint64_t ended = p->last_block ? p->last_block->number : 0;

    if (next) {
        *b = *next;
        return true;
    }
    /* The one that ran to the end, if it has a step or is the only one. */
    if (before > ended || (before && !open_steps(&p->accel[0])))
        return false;
    *b = (struct pr_emulate_block){.number = before + 1};
    fill_open(p, p->end_ns, b);
    b->end_wall_ns = p->end_wall_ns;
    return true;
}

/* ---- DLIO's figures of a phase */

double pr_dlio_au(const struct pr_emulate_phase *p, uint64_t accelerator)
{
    const struct pr_emulate_accelerator_stats *a = &p->accel[accelerator];
    double open = open_au(p, p->end_ns, accelerator);

    if (!a->blocks_steps)
        return open;
    return (a->blocks_au + open * (double)open_steps(a)) / (double)a->steps;
}

double pr_dlio_throughput(const struct pr_emulate_phase *p,
                          uint64_t accelerator, uint64_t batch)
{
    const struct pr_emulate_accelerator_stats *a = &p->accel[accelerator];
    double open = open_rate(p, p->end_ns, accelerator);

    if (a->blocks_steps)
        open =
            (a->blocks_rate + open * (double)open_steps(a)) / (double)a->steps;
    return open * (double)batch;
}

/* ---- figures over several phases: sums and means of ours, and means and
 * deviations as DLIO has them */

static void add_accelerators(struct pr_emulate_totals *t,
                             const struct pr_emulate_phase *p)
{
    for (uint64_t i = 0; i < p->accelerators; i++) {
        const struct pr_emulate_accelerator_stats *a = &p->accel[i];
        double late_max_s = (double)a->late_max_ns / 1e9;

        t->steps += a->steps;
        t->samples += a->samples;
        t->compute_s += (double)a->compute_ns / 1e9;
        t->wait_s += (double)a->wait_ns / 1e9;
        t->barrier_s += (double)a->barrier_ns / 1e9;
        t->late_s += (double)a->late_ns / 1e9;
        if (late_max_s > t->late_max_s)
            t->late_max_s = late_max_s;
        t->counted_steps += a->counted_steps;
        t->ahead_steps += a->ahead_steps;
    }
}

static void add_feed(struct pr_emulate_totals *t, const struct pr_feed_stats *f)
{
    t->bytes += f->bytes;
    t->storage_bytes += f->storage_bytes;
    t->failed += f->failed;
    if (f->failed && !t->first_error)
        t->first_error = &f->first_error;
}

/* Sums that become means once all phases are in. */
struct means {
    double cached, cached_bytes, share, sample_s, samples;
};

static void totals_add_means(struct means *m, const struct pr_emulate_phase *p)
{
    const struct pr_feed_stats *f = &p->feed;
    double bytes = (double)f->storage_bytes, samples = (double)f->samples;

    if (p->cached >= 0) {
        m->cached += p->cached * bytes;
        m->cached_bytes += bytes;
    }
    m->share += f->storage_share * samples;
    if (f->timed)
        m->sample_s += (double)f->timed_ns / (double)f->timed / 1e9 * samples;
    m->samples += samples;
}

static void totals_add_device_bytes(struct pr_emulate_totals *t,
                                    const struct pr_emulate_phase *p)
{
    if (p->device_bytes == UINT64_MAX || t->device_bytes == UINT64_MAX)
        t->device_bytes = UINT64_MAX;
    else
        t->device_bytes += p->device_bytes;
}

void pr_emulate_stats_sum(const struct pr_emulate_stats *s, bool evaluation,
                          struct pr_emulate_totals *ret)
{
    struct means m = {0};

    *ret = (struct pr_emulate_totals){.wait = s->past[evaluation].wait,
                                      .step = s->past[evaluation].step};
    for (const struct pr_emulate_phase *p = s->first; p; p = p->next) {
        if (p->evaluation != evaluation)
            continue;
        ret->phases++;
        if (p->accelerators > ret->accelerators)
            ret->accelerators = p->accelerators;
        ret->seconds += pr_emulate_phase_seconds(p);
        ret->accelerator_s +=
            pr_emulate_phase_seconds(p) * (double)p->accelerators;
        ret->stall_s += (double)p->stall_ns / 1e9;
        ret->stall_max_s =
            fmax(ret->stall_max_s, (double)p->stall_max_ns / 1e9);
        add_accelerators(ret, p);
        add_feed(ret, &p->feed);
        totals_add_device_bytes(ret, p);
        totals_add_means(&m, p);
        if (p->live) {
            pr_histogram_merge(&ret->wait, &p->live->wait);
            pr_histogram_merge(&ret->step, &p->live->step);
        }
    }
    /* What could not be read was not delivered. */
    ret->samples -= ret->failed < ret->samples ? ret->failed : ret->samples;
    if (!ret->phases)
        ret->device_bytes = UINT64_MAX;
    ret->cached = m.cached_bytes > 0 ? m.cached / m.cached_bytes : -1;
    ret->storage_share = m.samples > 0 ? m.share / m.samples : -1;
    ret->sample_s = m.samples > 0 ? m.sample_s / m.samples : 0;
}

double pr_emulate_totals_utilisation(const struct pr_emulate_totals *t)
{
    return t->accelerator_s > 0 ? t->compute_s / t->accelerator_s : 0;
}

double pr_dlio_phase_au(const struct pr_emulate_phase *p)
{
    double sum = 0;

    for (uint64_t i = 0; i < p->accelerators; i++)
        sum += pr_dlio_au(p, i);
    return sum / (double)p->accelerators;
}

double pr_dlio_phase_throughput(const struct pr_emulate_phase *p,
                                uint64_t batch)
{
    double sum = 0;

    for (uint64_t i = 0; i < p->accelerators; i++)
        sum += pr_dlio_throughput(p, i, batch);
    return sum;
}

/* DLIO multiplies by the length that was configured; files may be smaller. */
static double phase_mb(const struct pr_emulate_phase *p, uint64_t batch)
{
    double samples = (double)p->feed.samples;

    return samples > 0 ? pr_dlio_phase_throughput(p, batch) *
                             (double)p->feed.storage_bytes / samples / 1048576
                       : 0;
}

static double square_of(double x)
{
    return x * x;
}

void pr_dlio_compute_measures(const struct pr_emulate_stats *s, bool evaluation,
                              uint64_t batch, struct pr_dlio_measures *ret)
{
    const struct pr_emulate_phase *p;
    double n;

    *ret = (struct pr_dlio_measures){0};
    for (p = s->first; p; p = p->next)
        if (p->evaluation == evaluation) {
            ret->epochs++;
            ret->au += pr_dlio_phase_au(p);
            ret->throughput += pr_dlio_phase_throughput(p, batch);
            ret->mb += phase_mb(p, batch);
        }
    if (!ret->epochs)
        return;
    n = (double)ret->epochs;
    ret->au /= n;
    ret->throughput /= n;
    ret->mb /= n;
    for (p = s->first; p; p = p->next)
        if (p->evaluation == evaluation) {
            ret->au_stdev += square_of(pr_dlio_phase_au(p) - ret->au);
            ret->throughput_stdev +=
                square_of(pr_dlio_phase_throughput(p, batch) - ret->throughput);
            ret->mb_stdev += square_of(phase_mb(p, batch) - ret->mb);
        }
    ret->au_stdev = sqrt(ret->au_stdev / n);
    ret->throughput_stdev = sqrt(ret->throughput_stdev / n);
    ret->mb_stdev = sqrt(ret->mb_stdev / n);
}
