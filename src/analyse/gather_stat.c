/* Mean, spread and doubts. */
#include "analyse/gather_stat.h"

#include <math.h>

static void stat_add_reading(struct pr_gpu_systems_stat *s,
                             const struct pr_gpu_task_reading *r)
{
    if (r->printed <= 0) {
        if (!s->failed++) {
            s->why = r->end;
            s->words = r->words;
        }
        return;
    }
    s->n++;
    s->mean += r->value;
    s->printed += r->printed;
    s->min = s->n == 1 || r->value < s->min ? r->value : s->min;
    s->max = s->n == 1 || r->value > s->max ? r->value : s->max;
    if (!r->done)
        s->flags |= PR_GPU_SYSTEMS_NO_DONE;
}

static void stat_set_spread(struct pr_gpu_systems_stat *s,
                            const struct pr_gpu_systems_cell *c)
{
    double squares = 0;

    s->deviation = NAN;
    for (size_t i = 0; i < c->count; i++) {
        const struct pr_gpu_task_reading *r = &c->logs[i].reading;
        if (r->printed > 0)
            squares += (r->value - s->mean) * (r->value - s->mean);
    }
    if (s->n > 1)
        s->deviation = sqrt(squares / (double)(s->n - 1));
    if (s->n > 1 && s->max - s->min >= 0.1 * s->mean)
        s->flags |= PR_GPU_SYSTEMS_SPREAD;
}

static double divide_by_gpus(double value, const struct pr_value *one, int gpus)
{
    return pr_value_is_number(one) && pr_value_number(one) > 0
               ? value / (pr_value_number(one) * gpus)
               : NAN;
}

void pr_gpu_systems_compute_stat(const struct pr_gpu_systems_row *row,
                                 const struct pr_gpu_systems_cell *cell,
                                 struct pr_gpu_systems_stat *ret)
{
    struct pr_gpu_systems_stat s = {.words = ""};
    int gpus = cell->para.has_gpus && cell->para.gpus > 0 ? (int)cell->para.gpus
                                                          : row->gpus;

    for (size_t i = 0; i < cell->count; i++)
        stat_add_reading(&s, &cell->logs[i].reading);
    s.per_dollar = s.per_watt = s.deviation = NAN;
    if (s.n) {
        s.mean /= (double)s.n;
        s.printed /= (double)s.n;
        stat_set_spread(&s, cell);
        if (fabs(s.mean - s.printed) > 0.02 * s.mean)
            s.flags |= PR_GPU_SYSTEMS_CORRECTED;
        if (cell->task->most > 0 && s.max > cell->task->most * gpus)
            s.flags |= PR_GPU_SYSTEMS_IMPLAUSIBLE;
        if (row->system) {
            s.per_dollar =
                divide_by_gpus(s.mean, &row->system->price, row->gpus);
            s.per_watt = divide_by_gpus(s.mean, &row->system->watt, row->gpus);
        }
    }
    *ret = s;
}
