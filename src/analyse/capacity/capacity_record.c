/*
 * capacity.json: the answer and the curve come first, then what they rest on,
 * of which alone a search that goes on is made again.
 */
#include "analyse/capacity/capacity_record.h"

#include "base/file.h"
#include "base/json/json.h"
#include "base/json/json_write.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- writing */

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

enum { MAX_FILE = 64 << 20 };

bool pr_capacity_add_trial(struct pr_capacity_record *r, struct pr_arena *a,
                           const struct pr_capacity_trial *t)
{
    struct pr_capacity_trial *all =
        pr_arena_grow(a, r->trials, r->count, &r->cap, sizeof *t);

    if (!all)
        return false;
    r->trials = all;
    all[r->count++] = *t;
    return true;
}

bool pr_capacity_add_warning(struct pr_capacity_record *r, struct pr_arena *a,
                             const char *text, bool *ret_ok)
{
    const char *copy;

    *ret_ok = true;
    for (size_t i = 0; i < r->note_count; i++)
        if (strcmp(r->notes[i], text) == 0)
            return false;
    if (r->note_count == PR_CAPACITY_NOTES)
        return false;
    copy = pr_arena_str(a, text);
    *ret_ok = copy != NULL;
    if (copy)
        r->notes[r->note_count++] = copy;
    return copy != NULL;
}

/* ---- reading: members of an object */

static uint64_t capacity_get_count(const struct pr_value *v, const char *key,
                                   uint64_t otherwise)
{
    double f = pr_number_at(v, key, (double)otherwise);

    return f >= 0 && f < 1e18 ? (uint64_t)f : otherwise;
}

/* ---- reading: the parts */

static bool read_trial(const struct pr_value *v, struct pr_capacity_trial *t)
{
    struct pr_capacity_measures *f = &t->figures;
    int kind = 0;

    *t = (struct pr_capacity_trial){0};
    while (kind < PR_CAPACITY_KIND_COUNT &&
           strcmp(pr_text_at(v, "kind", ""),
                  pr_capacity_kind_word((enum pr_capacity_kind)kind)) != 0)
        kind++;
    t->kind = (enum pr_capacity_kind)kind;
    t->accelerators = capacity_get_count(v, "accelerators", 0);
    snprintf(t->name, sizeof t->name, "%s", pr_text_at(v, "name", ""));
    t->utilisation = pr_number_at(v, "utilisation", NAN);
    t->samples_per_second = pr_number_at(v, "samples_per_second", NAN);
    t->mb_per_second = pr_number_at(v, "mb_per_second", NAN);
    t->seconds = pr_number_at(v, "seconds", 0);
    f->cached_share = pr_number_at(v, "cached_share", NAN);
    f->cpu_share = pr_number_at(v, "cpu_share", NAN);
    f->decode_share = pr_number_at(v, "decode_share", NAN);
    f->device_busy_share = pr_number_at(v, "device_busy_share", NAN);
    f->network_share = pr_number_at(v, "network_share", NAN);
    f->wait_share = pr_number_at(v, "wait_share", NAN);
    f->barrier_share = pr_number_at(v, "barrier_share", NAN);
    f->disturbed = pr_bool_at(v, "disturbed", false);
    snprintf(f->storage_kind, sizeof f->storage_kind, "%s",
             pr_text_at(v, "storage_kind", ""));
    return kind < PR_CAPACITY_KIND_COUNT && t->accelerators &&
           (t->kind != PR_CAPACITY_FULL || !isnan(t->utilisation));
}

static int read_trials(const struct pr_value *root, const char *path,
                       struct pr_arena *a, struct pr_capacity_record *r,
                       struct pr_err *err)
{
    const struct pr_value *list = pr_get(root, "trials");
    struct pr_capacity_trial t;

    if (!list || list->kind != PR_LIST)
        return pr_fail(err, PR_E_FORMAT, path, "has no list of trials");
    for (uint32_t i = 0; i < list->len; i++) {
        if (!read_trial(&list->items[i], &t))
            return pr_fail(err, PR_E_FORMAT, path, "trial %u is not whole",
                           i + 1);
        if (!pr_capacity_add_trial(r, a, &t))
            return pr_fail_nomem(err);
    }
    return PR_OK;
}

static int read_notes(const struct pr_value *root, struct pr_arena *a,
                      struct pr_capacity_record *r, struct pr_err *err)
{
    const struct pr_value *list = pr_get(root, "notes");
    bool ok = true;

    for (uint32_t i = 0; list && list->kind == PR_LIST && i < list->len; i++)
        if (list->items[i].kind == PR_STR) {
            (void)pr_capacity_add_warning(r, a, list->items[i].s, &ok);
            if (!ok)
                return pr_fail_nomem(err);
        }
    return PR_OK;
}

static int capacity_check_options(const struct pr_capacity_record *r,
                                  const char *path, struct pr_err *err)
{
    const struct pr_capacity_opts *o = &r->opts;

    if (o->threshold > 0 && o->threshold <= 1 && o->confidence > 0 &&
        o->confidence < 1 && o->min >= 1 && o->max >= o->min && o->repeats &&
        r->steps)
        return PR_OK;
    return pr_fail(err, PR_E_FORMAT, path,
                   "does not say what was asked for: threshold, confidence, "
                   "min, max, repeats, steps");
}

static void capacity_record_read_options(const struct pr_value *root,
                                         struct pr_capacity_record *r)
{
    r->target = pr_text_at(root, "target", "");
    r->model = pr_text_at(root, "model", "");
    r->accelerator = pr_text_at(root, "accelerator", "");
    r->opts = (struct pr_capacity_opts){
        .threshold = pr_number_at(root, "threshold", 0),
        .confidence = pr_number_at(root, "confidence", 0),
        .min = capacity_get_count(root, "min", 0),
        .max = capacity_get_count(root, "max", 0),
        .repeats = (unsigned)capacity_get_count(root, "repeats", 0),
        .need = pr_number_at(root, "samples_per_second_each", 0),
    };
    r->asked_max = capacity_get_count(root, "asked_max", r->opts.max);
    r->steps = capacity_get_count(root, "steps", 0);
    r->throttle = capacity_get_count(root, "throttle", 0);
    r->no_generate = pr_bool_at(root, "no_generate", false);
    r->done = pr_bool_at(root, "done", false);
}

int pr_capacity_record_read(const char *dir, struct pr_arena *a,
                            struct pr_capacity_record *ret, struct pr_err *err)
{
    struct pr_capacity_record r = {0};
    struct pr_json_in in = {0};
    struct pr_value root;
    char path[4096];
    int rc;

    snprintf(path, sizeof path, "%s/capacity.json", dir);
    in.name = path;
    rc = pr_file_read_in(dir, path, MAX_FILE, a, &in.text, &in.len, err);
    if (!rc)
        rc = pr_json_read(&in, a, &root, NULL, err);
    if (rc)
        return rc;
    if (strcmp(pr_text_at(&root, "schema", ""), PR_CAPACITY_SCHEMA) != 0)
        return pr_fail(err, PR_E_FORMAT, path, "is not of the schema %s",
                       PR_CAPACITY_SCHEMA);
    capacity_record_read_options(&root, &r);
    rc = capacity_check_options(&r, path, err);
    if (!rc)
        rc = read_trials(&root, path, a, &r, err);
    if (!rc)
        rc = read_notes(&root, a, &r, err);
    if (!rc)
        *ret = r;
    return rc;
}
