/* Asking the sources. */
#include "monitor/looks.h"

#include "base/clock.h"
#include "base/mem.h"

#include <string.h>

#define SOURCE(n) extern const struct pr_monitor_source pr_source_##n;
#include "monitor/source_list.def"
#undef SOURCE

static const struct pr_monitor_source *const sources[PR_SOURCES] = {
#define SOURCE(n) &pr_source_##n,
#include "monitor/source_list.def"
#undef SOURCE
};

enum {
    RESCAN_NS = 1000000000,
    REST = 20, /* a source rests so many times longer than it took */
    QUICK_NS = 10000000,
    TEXT_BYTES = 16 << 20,
};

const struct pr_monitor_source *pr_monitor_source_at(unsigned i)
{
    return sources[i];
}

bool pr_monitor_sources_init(struct pr_monitor_sources *l, const char *root)
{
    size_t len = root ? strlen(root) : 0;
    bool ok;

    *l = (struct pr_monitor_sources){.text = PR_BUF_INIT(TEXT_BYTES)};
    atomic_init(&l->asking, "");
    ok = pr_monitor_columns_init(&l->columns);
    l->root = pr_alloc_zeroed(len + 1);
    if (l->root && len)
        memcpy(l->root, root, len);
    for (unsigned i = 0; i < PR_SOURCES; i++) {
        l->of[i].state = pr_alloc_zeroed(sources[i]->state_bytes);
        ok = ok && l->of[i].state;
    }
    if (!ok || !l->root) {
        pr_monitor_sources_close(l);
        return false;
    }
    return true;
}

void pr_monitor_sources_close(struct pr_monitor_sources *l)
{
    for (unsigned i = 0; i < PR_SOURCES; i++) {
        if (l->of[i].state && sources[i]->close)
            sources[i]->close(l->of[i].state);
        pr_free(l->of[i].state);
        l->of[i].state = NULL;
    }
    pr_monitor_columns_close(&l->columns);
    pr_buf_free(&l->text);
    pr_free(l->root);
    pr_free(l->ours);
    l->root = NULL;
    l->ours = NULL;
}

void pr_monitor_sources_begin(struct pr_monitor_sources *l)
{
    pr_monitor_columns_clear(&l->columns);
    l->last = false;
    l->used_s = 0;
    l->at_ns = 0;
    for (unsigned i = 0; i < PR_SOURCES; i++) {
        l->of[i].last_ns = 0;
        l->of[i].rescan_ns = 0;
        l->of[i].rest_ns = 0;
    }
}

/* A source with a period is not put off by looks that come a little early. The
 * last look is for the totals, and is worth a moment. */
static bool is_source_due(const struct pr_monitor_sources *l, unsigned i,
                          uint64_t now, double interval_s)
{
    double since = (double)(now - l->of[i].last_ns) / 1e9;

    if (!l->of[i].last_ns)
        return true;
    if (l->last && l->of[i].took_ns < QUICK_NS && sources[i]->period_s == 0)
        return true;
    return now >= l->of[i].rest_ns &&
           since >= sources[i]->period_s - interval_s / 2;
}

/* A device that is slow is slow every time; once, somebody else may have had
 * the processor, or devices were looked for. */
static uint64_t source_rest_ns(uint64_t took, uint64_t before)
{
    return REST * (took < before ? took : before);
}

static void sample_source(struct pr_monitor_sources *l, unsigned i,
                          struct pr_monitor_sample *look, double interval_s)
{
    uint64_t now = pr_clock_ns(), took;

    l->looked[i] = (struct pr_monitor_source_sampled){0};
    if (!is_source_due(l, i, now, interval_s))
        return;
    look->dt = l->of[i].last_ns ? (double)(now - l->of[i].last_ns) / 1e9 : 0;
    look->rescan = now >= l->of[i].rescan_ns;
    if (look->rescan)
        l->of[i].rescan_ns = now + RESCAN_NS;
    pr_monitor_columns_begin_source(&l->columns, i);
    atomic_store_explicit(&l->asking, sources[i]->name, memory_order_relaxed);
    sources[i]->look(l->of[i].state, look);
    took = pr_clock_ns() - now;
    l->looked[i] = (struct pr_monitor_source_sampled){
        true, look->dt, look->dt >= interval_s / 2};
    l->of[i].dt = look->dt;
    l->of[i].last_ns = now;
    l->of[i].rest_ns = now + source_rest_ns(took, l->of[i].took_ns);
    l->of[i].took_ns = took;
}

/* ---- following */

/* Our column for one of the lead's; -1: there is no room. */
static int find_follower_column(struct pr_monitor_sources *l,
                                struct pr_monitor_sample *look, size_t theirs)
{
    if (theirs >= l->n_ours) {
        size_t n = l->lead->columns.n + 16;
        int *more = pr_realloc(l->ours, n * sizeof(*more));

        if (!more)
            return -1;
        for (size_t i = l->n_ours; i < n; i++)
            more[i] = -1;
        l->ours = more;
        l->n_ours = n;
    }
    if (l->ours[theirs] < 0)
        l->ours[theirs] =
            pr_monitor_sample_column(look, &l->lead->columns.cols[theirs].is);
    return l->ours[theirs];
}

/* What came in over another time than the lead's look tells of is in
 * proportion to it: an experiment began in between, or missed a look. */
static double scale_lead_amount(const struct pr_monitor_column_state *s,
                                double dt, double lead_dt)
{
    bool same = dt > 0.99 * lead_dt && dt < 1.01 * lead_dt;

    return same || lead_dt <= 0 ? s->amount : s->amount * (dt / lead_dt);
}

static void follow_lead_source(struct pr_monitor_sources *l, unsigned i,
                               struct pr_monitor_sample *look,
                               double interval_s)
{
    const struct pr_monitor_sources *lead = l->lead;
    uint64_t then = lead->of[i].last_ns, before = l->of[i].last_ns;
    double dt = before && then > before ? (double)(then - before) / 1e9 : 0;

    l->looked[i] = (struct pr_monitor_source_sampled){0};
    if (!then || (before && then <= before))
        return;
    pr_monitor_columns_begin_source(&l->columns, i);
    for (size_t k = 0; k < lead->columns.n; k++) {
        const struct pr_monitor_column_state *s = &lead->columns.cols[k];

        if (s->source == i && s->set)
            pr_monitor_sample_set_rate(
                look, find_follower_column(l, look, k), s->value,
                scale_lead_amount(s, dt, lead->of[i].dt));
    }
    l->looked[i] =
        (struct pr_monitor_source_sampled){true, dt, dt >= interval_s / 2};
    /* What the lead saw before our time is not ours. */
    l->of[i].last_ns = before || then >= l->at_ns ? then : l->at_ns;
}

/* Whether the lead has looked for somebody else since. */
static bool has_lead_news(const struct pr_monitor_sources *l)
{
    for (unsigned i = 0; i < PR_SOURCES; i++)
        if (l->lead->of[i].last_ns > l->of[i].last_ns)
            return true;
    return false;
}

/* Unless somebody else has just had it done: what came in over a moment says
 * little of the time before it. Who is alone has a last look for the totals. */
static void sample_lead(struct pr_monitor_sources *l, double interval_s)
{
    struct pr_monitor_sources *lead = l->lead;
    uint64_t fresh_ns = (uint64_t)(interval_s / 4 * 1e9);

    if (lead->at_ns && (!l->last || has_lead_news(l)) &&
        pr_clock_ns() - lead->at_ns < fresh_ns)
        return;
    lead->last = l->last;
    pr_monitor_sources_sample(lead, interval_s, 0);
    lead->last = false;
}

void pr_monitor_sources_sample(struct pr_monitor_sources *l, double interval_s,
                               int pid)
{
    struct pr_monitor_sample look = {.root = l->root,
                                     .pid = pid,
                                     .used_s = l->used_s,
                                     .columns = &l->columns,
                                     .text = &l->text};

    l->at_ns = pr_clock_ns();
    if (l->lead)
        sample_lead(l, interval_s);
    for (unsigned i = 0; i < PR_SOURCES; i++)
        if (l->lead && i != PR_SOURCE_job)
            follow_lead_source(l, i, &look, interval_s);
        else if (!l->leads || i != PR_SOURCE_job)
            sample_source(l, i, &look, interval_s);
    atomic_store_explicit(&l->asking, "", memory_order_relaxed);
    if (!l->leads)
        pr_monitor_columns_add(&l->columns, l->looked);
}
