/* What the curve says: the answer, the knee, what limits, what would help. */
#include "analyse/capacity/capacity.h"
#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- the answer */

static bool is_sure(const struct pr_capacity_opts *o,
                    const struct pr_capacity_point *p)
{
    return !p || p->p <= 1 - o->confidence;
}

static double get_error_chance(const struct pr_capacity_point *p)
{
    return p ? isnan(p->p) ? 0.5 : p->p : 0;
}

void pr_capacity_find_answer(const struct pr_capacity_opts *o,
                             const struct pr_capacity_curve *c,
                             struct pr_capacity_answer *ret)
{
    uint64_t low = c->low ? c->low->accelerators : 0;

    *ret = (struct pr_capacity_answer){.capacity = low, .p = 1};
    ret->at_least = !c->high;
    ret->known =
        c->high ? c->high->accelerators == low + 1 : c->low && low >= o->max;
    if (!c->count)
        return;
    ret->disturbed = (c->low && c->low->figures.disturbed) ||
                     (c->high && c->high->figures.disturbed);
    ret->p = fmax(get_error_chance(c->low), get_error_chance(c->high));
    ret->holds = ret->known && is_sure(o, c->low) && is_sure(o, c->high);
}

/* ---- the knee */

double pr_capacity_top_utilisation(const struct pr_capacity_curve *c)
{
    /* With equal steps nothing but data is waited for. */
    return isnan(c->points[0].figures.barrier_share) ? 1
                                                     : c->points[0].utilisation;
}

uint64_t pr_capacity_find_knee(const struct pr_capacity_curve *c,
                               bool *ret_exact)
{
    double level, at;
    uint64_t before, after;
    size_t i = 0;

    *ret_exact = true;
    if (!c->count)
        return 0;
    level = pr_capacity_top_utilisation(c) - PR_CAPACITY_KNEE;
    while (i < c->count && c->points[i].utilisation >= level)
        i++;
    if (i == c->count)
        return 0;
    if (!i) { /* with fewer it may begin, too */
        *ret_exact = c->points[0].accelerators == 1;
        return c->points[0].accelerators;
    }
    before = c->points[i - 1].accelerators;
    after = c->points[i].accelerators;
    if (after == before + 1 || level <= 0)
        return after;
    /* As 1/n from there on back. */
    *ret_exact = false;
    at = floor((double)after * c->points[i].utilisation / level) + 1;
    if (!(at > (double)before))
        return before + 1;
    return at < (double)after ? (uint64_t)at : after;
}

/* ---- what limits */

static const char *const limit_words[][2] = {
#define X(kind, word, people) {word, people},
    PR_CAPACITY_LIMITS(X)
#undef X
};

const char *pr_capacity_limit_word(enum pr_capacity_limit limit)
{
    return limit_words[limit][0];
}

const char *pr_capacity_limit_text(enum pr_capacity_limit limit)
{
    return limit_words[limit][1];
}

static bool is_network(const struct pr_capacity_measures *f)
{
    return strcmp(f->storage_kind, "network") == 0;
}

static enum pr_capacity_limit by_storage(const struct pr_capacity_measures *f,
                                         uint64_t throttle, char why[256])
{
    char rate[16];

    if (throttle) {
        snprintf(why, 256, "storage.throttle lets %s/s through",
                 pr_format_bytes(rate, throttle));
        return PR_CAPACITY_BY_THROTTLE;
    }
    if (f->network_share >= 0.8 || (is_network(f) && f->network_share >= 0.5)) {
        snprintf(why, 256, "the network is used to %.0f %%",
                 f->network_share * 100);
        return PR_CAPACITY_BY_NETWORK;
    }
    if (f->device_busy_share >= 0.8 && !is_network(f)) {
        snprintf(why, 256, "the device is busy %.0f %% of the time",
                 f->device_busy_share * 100);
        return PR_CAPACITY_BY_DEVICE;
    }
    if (is_network(f)) {
        snprintf(why, 256,
                 "the data comes over the network; neither this client's "
                 "processor nor its interface is full");
        return PR_CAPACITY_BY_NETWORK;
    }
    snprintf(why, 256,
             "accelerators wait for reads, and neither the processor nor the "
             "network is full");
    return PR_CAPACITY_BY_STORAGE;
}

enum pr_capacity_limit
pr_capacity_find_limit(const struct pr_capacity_measures *f, uint64_t throttle,
                       char why[static 256])
{
    double busy = f->cpu_share * 100;

    if (f->disturbed) {
        snprintf(why, 256,
                 "other work had this machine's processors, or the process "
                 "was stopped; the verdicts of its trials say which");
        return PR_CAPACITY_BY_DISTURBANCE;
    }
    if (f->barrier_share > f->wait_share) {
        snprintf(why, 256,
                 "their steps last differently, and they wait for each other "
                 "%.0f %% of the time (train.barrier), for data %.0f %%: this "
                 "says little of the storage",
                 f->barrier_share * 100, f->wait_share * 100);
        return PR_CAPACITY_BY_BARRIER;
    }
    if (f->cached_share > 0.5 && !throttle) {
        snprintf(why, 256,
                 "%.0f %% of the data was in the page cache: this measures "
                 "memory, not storage",
                 f->cached_share * 100);
        return PR_CAPACITY_BY_CACHE;
    }
    if (f->cpu_share >= 0.9 && f->decode_share > 0.5) {
        snprintf(why, 256,
                 "its processors are busy %.0f %% of the time, and decoding is "
                 "%.0f %% of the work of reading",
                 busy, f->decode_share * 100);
        return PR_CAPACITY_BY_DECODE;
    }
    if (f->decode_share > 0.5 && !throttle && !(f->device_busy_share >= 0.8)) {
        snprintf(why, 256,
                 "threads that read spend %.0f %% of their time decoding; more "
                 "reader.read_threads help only where processors have room",
                 f->decode_share * 100);
        return PR_CAPACITY_BY_DECODE;
    }
    if (f->cpu_share >= 0.9) {
        snprintf(why, 256,
                 "its processors are busy %.0f %% of the time, reading", busy);
        return PR_CAPACITY_BY_CPU;
    }
    return by_storage(f, throttle, why);
}

/* ---- what one needs */

struct pr_capacity_need
pr_capacity_compute_need(const struct pr_capacity_opts *o,
                         const struct pr_capacity_trial *trials, size_t count)
{
    struct pr_capacity_need need = {.samples = o->need / o->threshold};

    for (size_t i = count; i > 0 && need.bytes <= 0; i--)
        if (trials[i - 1].samples_per_second > 0 &&
            trials[i - 1].mb_per_second > 0)
            need.bytes = need.samples * trials[i - 1].mb_per_second * 1e6 /
                         trials[i - 1].samples_per_second;
    return need;
}

/* ---- more clients */

bool pr_capacity_compute_clients(const struct pr_capacity_opts *o,
                                 const struct pr_capacity_trial *probe,
                                 uint64_t capacity,
                                 struct pr_capacity_clients *ret)
{
    uint64_t all = pr_capacity_expect(o, probe);

    if (!all || !capacity)
        return false;
    *ret = (struct pr_capacity_clients){
        .mb_per_second = probe->mb_per_second,
        .accelerators = all > capacity ? all : capacity,
        .at_least = probe->figures.cpu_share >= 0.9,
    };
    ret->more = (ret->accelerators + capacity - 1) / capacity - 1;
    return true;
}
