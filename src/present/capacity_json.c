/* capacity.json: the answer and the curve first, then what they rest on. */
#include "analyse/capacity_record.h"

#include "base/json_build.h"

#include <math.h>

const struct pr_capacity_trial *
pr_capacity_find(const struct pr_capacity_record *r, enum pr_capacity_kind kind)
{
    for (size_t i = r->count; i > 0; i--)
        if (r->trials[i - 1].kind == kind)
            return &r->trials[i - 1];
    return NULL;
}

static void put_figures(struct pr_jb *jb, const struct pr_capacity_figures *f)
{
    pr_jb_float(jb, "cached_share", f->cached_share);
    pr_jb_float(jb, "cpu_share", f->cpu_share);
    pr_jb_float(jb, "decode_share", f->decode_share);
    pr_jb_float(jb, "device_busy_share", f->device_busy_share);
    pr_jb_float(jb, "network_share", f->network_share);
    pr_jb_float(jb, "wait_share", f->wait_share);
    pr_jb_float(jb, "barrier_share", f->barrier_share);
    if (*f->storage_kind)
        pr_jb_str(jb, "storage_kind", f->storage_kind);
    if (f->disturbed)
        pr_jb_bool(jb, "disturbed", true);
}

static void put_points(struct pr_jb *jb, const struct pr_capacity_record *r,
                       const struct pr_capacity_curve *c)
{
    char why[256];

    pr_jb_arr(jb, "points");
    for (size_t i = 0; i < c->count; i++) {
        const struct pr_capacity_point *p = &c->points[i];

        pr_jb_obj(jb, NULL);
        pr_jb_uint(jb, "accelerators", p->accelerators);
        pr_jb_float(jb, "utilisation", p->utilisation);
        pr_jb_float(jb, "stdev", p->stdev);
        pr_jb_float(jb, "error", p->error);
        pr_jb_uint(jb, "repeats", p->runs);
        if (p->discarded)
            pr_jb_uint(jb, "discarded", p->discarded);
        pr_jb_float(jb, "p", p->p);
        pr_jb_float(jb, "mb_per_second", p->mb_per_second);
        pr_jb_bool(jb, "meets", p->meets);
        if (!p->meets)
            pr_jb_str(jb, "limit",
                      pr_capacity_limit_word(
                          pr_capacity_limit_of(&p->figures, r->throttle, why)));
        put_figures(jb, &p->figures);
        pr_jb_end(jb);
    }
    pr_jb_end(jb);
}

static void put_answer(struct pr_jb *jb, const struct pr_capacity_record *r,
                       const struct pr_capacity_curve *c)
{
    struct pr_capacity_answer answer;

    pr_capacity_answer(&r->opts, c, &answer);
    if (!answer.known)
        return;
    if (answer.disturbed)
        pr_jb_bool(jb, "disturbed", true);
    pr_jb_uint(jb, "capacity", answer.capacity);
    pr_jb_bool(jb, "at_least", answer.at_least);
    pr_jb_bool(jb, "holds", answer.holds);
    pr_jb_bool(jb, "target_met", answer.capacity >= r->opts.min);
    pr_jb_float(jb, "p", answer.p);
}

static void put_knee(struct pr_jb *jb, const struct pr_capacity_curve *c)
{
    bool exact;
    uint64_t knee = pr_capacity_knee(c, &exact);

    if (!knee)
        return;
    pr_jb_obj(jb, "knee");
    pr_jb_uint(jb, "accelerators", knee);
    pr_jb_bool(jb, "measured", exact);
    pr_jb_end(jb);
}

static void put_limit(struct pr_jb *jb, const struct pr_capacity_record *r,
                      const struct pr_capacity_curve *c)
{
    const struct pr_capacity_trial *probe =
        pr_capacity_find(r, PR_CAPACITY_STORAGE);
    struct pr_capacity_clients more;
    char why[256];

    if (!c->high)
        return;
    pr_jb_obj(jb, "limit");
    pr_jb_str(jb, "kind",
              pr_capacity_limit_word(
                  pr_capacity_limit_of(&c->high->figures, r->throttle, why)));
    pr_jb_str(jb, "why", why);
    pr_jb_end(jb);
    if (!probe ||
        !pr_capacity_clients(&r->opts, probe, c->low ? c->low->accelerators : 0,
                             &more))
        return;
    pr_jb_obj(jb, "clients");
    pr_jb_float(jb, "storage_mb_per_second", more.mb_per_second);
    pr_jb_uint(jb, "storage_capacity", more.accelerators);
    pr_jb_bool(jb, "at_least", more.at_least);
    pr_jb_uint(jb, "more_clients", more.more);
    pr_jb_end(jb);
}

static void put_trials(struct pr_jb *jb, const struct pr_capacity_record *r)
{
    pr_jb_arr(jb, "trials");
    for (size_t i = 0; i < r->count; i++) {
        const struct pr_capacity_trial *t = &r->trials[i];

        pr_jb_obj(jb, NULL);
        pr_jb_str(jb, "name", t->name);
        pr_jb_str(jb, "kind", pr_capacity_kind_word(t->kind));
        pr_jb_uint(jb, "accelerators", t->accelerators);
        pr_jb_float(jb, "utilisation", t->utilisation);
        pr_jb_float(jb, "samples_per_second", t->samples_per_second);
        pr_jb_float(jb, "mb_per_second", t->mb_per_second);
        pr_jb_float(jb, "seconds", t->seconds);
        put_figures(jb, &t->figures);
        pr_jb_end(jb);
    }
    pr_jb_end(jb);
}

static void put_need(struct pr_jb *jb, const struct pr_capacity_record *r)
{
    struct pr_capacity_need need =
        pr_capacity_need(&r->opts, r->trials, r->count);

    if (!(need.samples > 0))
        return;
    pr_jb_obj(jb, "accelerator_needs");
    pr_jb_float(jb, "samples_per_second", need.samples);
    if (need.bytes > 0)
        pr_jb_float(jb, "bytes_per_second", need.bytes);
    pr_jb_end(jb);
}

static void put_asked(struct pr_jb *jb, const struct pr_capacity_record *r)
{
    pr_jb_str(jb, "target", r->target);
    pr_jb_str(jb, "model", r->model);
    pr_jb_str(jb, "accelerator", r->accelerator);
    pr_jb_float(jb, "threshold", r->opts.threshold);
    pr_jb_float(jb, "confidence", r->opts.confidence);
    pr_jb_uint(jb, "min", r->opts.min);
    pr_jb_uint(jb, "max", r->opts.max);
    pr_jb_uint(jb, "asked_max", r->asked_max);
    pr_jb_uint(jb, "repeats", r->opts.repeats);
    pr_jb_uint(jb, "steps", r->steps);
    pr_jb_float(jb, "samples_per_second_each", r->opts.need);
    if (r->throttle)
        pr_jb_uint(jb, "throttle", r->throttle);
    pr_jb_bool(jb, "no_generate", r->no_generate);
}

int pr_capacity_json(const struct pr_capacity_record *r, struct pr_buf *out,
                     struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(8192);
    struct pr_capacity_curve c;
    struct pr_jb jb;
    int rc = a ? pr_capacity_curve(&r->opts, r->trials, r->count, a, &c, err)
               : pr_fail_nomem(err);

    if (rc)
        return rc;
    pr_jb_init(&jb, out, 2);
    pr_jb_obj(&jb, NULL);
    pr_jb_str(&jb, "schema", PR_CAPACITY_SCHEMA);
    pr_jb_bool(&jb, "done", r->done);
    put_answer(&jb, r, &c);
    put_knee(&jb, &c);
    put_limit(&jb, r, &c);
    put_need(&jb, r);
    put_asked(&jb, r);
    put_points(&jb, r, &c);
    pr_jb_arr(&jb, "notes");
    for (size_t i = 0; i < r->note_count; i++)
        pr_jb_str(&jb, NULL, r->notes[i]);
    pr_jb_end(&jb);
    put_trials(&jb, r);
    pr_jb_end(&jb);
    pr_buf_char(out, '\n');
    return pr_buf_ok(out) ? PR_OK : pr_fail_nomem(err);
}
