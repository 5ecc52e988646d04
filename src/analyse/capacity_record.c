/* capacity.json read back. */
#include "analyse/capacity_record.h"

#include "base/file.h"
#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_FILE = 64 << 20 };

bool pr_capacity_add(struct pr_capacity_record *r, struct pr_arena *a,
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

bool pr_capacity_note(struct pr_capacity_record *r, struct pr_arena *a,
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

/* ---- members of an object; what is not there is otherwise */

static double number(const struct pr_value *v, const char *key,
                     double otherwise)
{
    const struct pr_value *m = pr_get(v, key);

    return m && pr_is_number(m) ? pr_number(m) : otherwise;
}

static uint64_t count_of(const struct pr_value *v, const char *key,
                         uint64_t otherwise)
{
    double f = number(v, key, (double)otherwise);

    return f >= 0 && f < 1e18 ? (uint64_t)f : otherwise;
}

static const char *text(const struct pr_value *v, const char *key)
{
    const struct pr_value *m = pr_get(v, key);

    return m && m->kind == PR_STR ? m->s : "";
}

static bool flag(const struct pr_value *v, const char *key)
{
    const struct pr_value *m = pr_get(v, key);

    return m && m->kind == PR_BOOL && m->b;
}

/* ---- the parts */

static bool read_trial(const struct pr_value *v, struct pr_capacity_trial *t)
{
    struct pr_capacity_figures *f = &t->figures;
    int kind = 0;

    *t = (struct pr_capacity_trial){0};
    while (kind < PR_CAPACITY_KIND_COUNT &&
           strcmp(text(v, "kind"),
                  pr_capacity_kind_word((enum pr_capacity_kind)kind)) != 0)
        kind++;
    t->kind = (enum pr_capacity_kind)kind;
    t->accelerators = count_of(v, "accelerators", 0);
    snprintf(t->name, sizeof t->name, "%s", text(v, "name"));
    t->utilisation = number(v, "utilisation", NAN);
    t->samples_per_second = number(v, "samples_per_second", NAN);
    t->mb_per_second = number(v, "mb_per_second", NAN);
    t->seconds = number(v, "seconds", 0);
    f->cached_share = number(v, "cached_share", NAN);
    f->cpu_share = number(v, "cpu_share", NAN);
    f->decode_share = number(v, "decode_share", NAN);
    f->device_busy_share = number(v, "device_busy_share", NAN);
    f->network_share = number(v, "network_share", NAN);
    f->wait_share = number(v, "wait_share", NAN);
    f->barrier_share = number(v, "barrier_share", NAN);
    f->disturbed = flag(v, "disturbed");
    snprintf(f->storage_kind, sizeof f->storage_kind, "%s",
             text(v, "storage_kind"));
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
        if (!pr_capacity_add(r, a, &t))
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
            (void)pr_capacity_note(r, a, list->items[i].s, &ok);
            if (!ok)
                return pr_fail_nomem(err);
        }
    return PR_OK;
}

static int check(const struct pr_capacity_record *r, const char *path,
                 struct pr_err *err)
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

static void read_options(const struct pr_value *root,
                         struct pr_capacity_record *r)
{
    r->target = text(root, "target");
    r->model = text(root, "model");
    r->accelerator = text(root, "accelerator");
    r->opts = (struct pr_capacity_opts){
        .threshold = number(root, "threshold", 0),
        .confidence = number(root, "confidence", 0),
        .min = count_of(root, "min", 0),
        .max = count_of(root, "max", 0),
        .repeats = (unsigned)count_of(root, "repeats", 0),
        .need = number(root, "samples_per_second_each", 0),
    };
    r->asked_max = count_of(root, "asked_max", r->opts.max);
    r->steps = count_of(root, "steps", 0);
    r->throttle = count_of(root, "throttle", 0);
    r->no_generate = flag(root, "no_generate");
    r->done = flag(root, "done");
}

int pr_capacity_read(const char *dir, struct pr_arena *a,
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
    if (strcmp(text(&root, "schema"), PR_CAPACITY_SCHEMA) != 0)
        return pr_fail(err, PR_E_FORMAT, path, "is not of the schema %s",
                       PR_CAPACITY_SCHEMA);
    read_options(&root, &r);
    rc = check(&r, path, err);
    if (!rc)
        rc = read_trials(&root, path, a, &r, err);
    if (!rc)
        rc = read_notes(&root, a, &r, err);
    if (!rc)
        *ret = r;
    return rc;
}
