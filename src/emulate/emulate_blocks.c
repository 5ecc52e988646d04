/*
 * Blocks of a phase, that is the steps between two checkpoints, and the figures
 * that DLIO's formulas give: it takes them by block, then their mean by steps.
 */
#include "base/mem.h"
#include "emulate/emulate_stats.h"

#include <math.h>

static double block_seconds(uint64_t ns)
{
    return (double)ns / 1e9;
}

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

    return (end_ns > start ? block_seconds(end_ns - start) : 0) -
           block_seconds(p->accel[accelerator].outside_ns);
}

static double open_au(const struct pr_emulate_phase *p, uint64_t end_ns,
                      uint64_t r)
{
    double compute = block_seconds(p->accel[r].window_compute_ns);
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
    mean = block_seconds(a->window_compute_ns) / n;
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

/* ---- ending one */

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
