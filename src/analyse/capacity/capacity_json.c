/* capacity.json: the answer and the curve first, then what they rest on. */
#include "analyse/capacity/capacity_record.h"
#include "base/json/json_write.h"

#include <math.h>

const struct pr_capacity_trial *
pr_capacity_find_trial(const struct pr_capacity_record *r,
                       enum pr_capacity_kind kind)
{
    for (size_t i = r->count; i > 0; i--)
        if (r->trials[i - 1].kind == kind)
            return &r->trials[i - 1];
    return NULL;
}

static void capacity_put_measures(struct pr_json_writer *jb,
                                  const struct pr_capacity_measures *f)
{
    pr_json_put_float(jb, "cached_share", f->cached_share);
    pr_json_put_float(jb, "cpu_share", f->cpu_share);
    pr_json_put_float(jb, "decode_share", f->decode_share);
    pr_json_put_float(jb, "device_busy_share", f->device_busy_share);
    pr_json_put_float(jb, "network_share", f->network_share);
    pr_json_put_float(jb, "wait_share", f->wait_share);
    pr_json_put_float(jb, "barrier_share", f->barrier_share);
    if (*f->storage_kind)
        pr_json_put_str(jb, "storage_kind", f->storage_kind);
    if (f->disturbed)
        pr_json_put_bool(jb, "disturbed", true);
}

static void put_points(struct pr_json_writer *jb,
                       const struct pr_capacity_record *r,
                       const struct pr_capacity_curve *c)
{
    char why[256];

    pr_json_open_array(jb, "points");
    for (size_t i = 0; i < c->count; i++) {
        const struct pr_capacity_point *p = &c->points[i];

        pr_json_open_object(jb, NULL);
        pr_json_put_uint(jb, "accelerators", p->accelerators);
        pr_json_put_float(jb, "utilisation", p->utilisation);
        pr_json_put_float(jb, "stdev", p->stdev);
        pr_json_put_float(jb, "error", p->error);
        pr_json_put_uint(jb, "repeats", p->runs);
        if (p->discarded)
            pr_json_put_uint(jb, "discarded", p->discarded);
        pr_json_put_float(jb, "p", p->p);
        pr_json_put_float(jb, "mb_per_second", p->mb_per_second);
        pr_json_put_bool(jb, "meets", p->meets);
        if (!p->meets)
            pr_json_put_str(jb, "limit",
                            pr_capacity_limit_word(pr_capacity_find_limit(
                                &p->figures, r->throttle, why)));
        capacity_put_measures(jb, &p->figures);
        pr_json_close(jb);
    }
    pr_json_close(jb);
}

static void put_answer(struct pr_json_writer *jb,
                       const struct pr_capacity_record *r,
                       const struct pr_capacity_curve *c)
{
    struct pr_capacity_answer answer;

    pr_capacity_find_answer(&r->opts, c, &answer);
    if (!answer.known)
        return;
    if (answer.disturbed)
        pr_json_put_bool(jb, "disturbed", true);
    pr_json_put_uint(jb, "capacity", answer.capacity);
    pr_json_put_bool(jb, "at_least", answer.at_least);
    pr_json_put_bool(jb, "holds", answer.holds);
    pr_json_put_bool(jb, "target_met", answer.capacity >= r->opts.min);
    pr_json_put_float(jb, "p", answer.p);
}

static void put_knee(struct pr_json_writer *jb,
                     const struct pr_capacity_curve *c)
{
    bool exact;
    uint64_t knee = pr_capacity_find_knee(c, &exact);

    if (!knee)
        return;
    pr_json_open_object(jb, "knee");
    pr_json_put_uint(jb, "accelerators", knee);
    pr_json_put_bool(jb, "measured", exact);
    pr_json_close(jb);
}

static void put_limit(struct pr_json_writer *jb,
                      const struct pr_capacity_record *r,
                      const struct pr_capacity_curve *c)
{
    const struct pr_capacity_trial *probe =
        pr_capacity_find_trial(r, PR_CAPACITY_STORAGE);
    struct pr_capacity_clients more;
    char why[256];

    if (!c->high)
        return;
    pr_json_open_object(jb, "limit");
    pr_json_put_str(jb, "kind",
                    pr_capacity_limit_word(pr_capacity_find_limit(
                        &c->high->figures, r->throttle, why)));
    pr_json_put_str(jb, "why", why);
    pr_json_close(jb);
    if (!probe ||
        !pr_capacity_compute_clients(&r->opts, probe,
                                     c->low ? c->low->accelerators : 0, &more))
        return;
    pr_json_open_object(jb, "clients");
    pr_json_put_float(jb, "storage_mb_per_second", more.mb_per_second);
    pr_json_put_uint(jb, "storage_capacity", more.accelerators);
    pr_json_put_bool(jb, "at_least", more.at_least);
    pr_json_put_uint(jb, "more_clients", more.more);
    pr_json_close(jb);
}

static void capacity_put_trials(struct pr_json_writer *jb,
                                const struct pr_capacity_record *r)
{
    pr_json_open_array(jb, "trials");
    for (size_t i = 0; i < r->count; i++) {
        const struct pr_capacity_trial *t = &r->trials[i];

        pr_json_open_object(jb, NULL);
        pr_json_put_str(jb, "name", t->name);
        pr_json_put_str(jb, "kind", pr_capacity_kind_word(t->kind));
        pr_json_put_uint(jb, "accelerators", t->accelerators);
        pr_json_put_float(jb, "utilisation", t->utilisation);
        pr_json_put_float(jb, "samples_per_second", t->samples_per_second);
        pr_json_put_float(jb, "mb_per_second", t->mb_per_second);
        pr_json_put_float(jb, "seconds", t->seconds);
        capacity_put_measures(jb, &t->figures);
        pr_json_close(jb);
    }
    pr_json_close(jb);
}

static void put_need(struct pr_json_writer *jb,
                     const struct pr_capacity_record *r)
{
    struct pr_capacity_need need =
        pr_capacity_compute_need(&r->opts, r->trials, r->count);

    if (!(need.samples > 0))
        return;
    pr_json_open_object(jb, "accelerator_needs");
    pr_json_put_float(jb, "samples_per_second", need.samples);
    if (need.bytes > 0)
        pr_json_put_float(jb, "bytes_per_second", need.bytes);
    pr_json_close(jb);
}

static void put_asked(struct pr_json_writer *jb,
                      const struct pr_capacity_record *r)
{
    pr_json_put_str(jb, "target", r->target);
    pr_json_put_str(jb, "model", r->model);
    pr_json_put_str(jb, "accelerator", r->accelerator);
    pr_json_put_float(jb, "threshold", r->opts.threshold);
    pr_json_put_float(jb, "confidence", r->opts.confidence);
    pr_json_put_uint(jb, "min", r->opts.min);
    pr_json_put_uint(jb, "max", r->opts.max);
    pr_json_put_uint(jb, "asked_max", r->asked_max);
    pr_json_put_uint(jb, "repeats", r->opts.repeats);
    pr_json_put_uint(jb, "steps", r->steps);
    pr_json_put_float(jb, "samples_per_second_each", r->opts.need);
    if (r->throttle)
        pr_json_put_uint(jb, "throttle", r->throttle);
    pr_json_put_bool(jb, "no_generate", r->no_generate);
}

int pr_capacity_record_write(const struct pr_capacity_record *r,
                             struct pr_buf *out, struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(8192);
    struct pr_capacity_curve c;
    struct pr_json_writer jb;
    int rc =
        a ? pr_capacity_fill_curve(&r->opts, r->trials, r->count, a, &c, err)
          : pr_fail_nomem(err);

    if (rc)
        return rc;
    pr_json_writer_init(&jb, out, 2);
    pr_json_open_object(&jb, NULL);
    pr_json_put_str(&jb, "schema", PR_CAPACITY_SCHEMA);
    pr_json_put_bool(&jb, "done", r->done);
    put_answer(&jb, r, &c);
    put_knee(&jb, &c);
    put_limit(&jb, r, &c);
    put_need(&jb, r);
    put_asked(&jb, r);
    put_points(&jb, r, &c);
    pr_json_open_array(&jb, "notes");
    for (size_t i = 0; i < r->note_count; i++)
        pr_json_put_str(&jb, NULL, r->notes[i]);
    pr_json_close(&jb);
    capacity_put_trials(&jb, r);
    pr_json_close(&jb);
    pr_buf_char(out, '\n');
    return pr_buf_ok(out) ? PR_OK : pr_fail_nomem(err);
}
