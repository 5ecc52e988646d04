/*
 * A row in the making. Names are numbers, so that a value that comes again
 * finds its place at once. Texts and lists are copied; what was replaced stays
 * in the scratch arena until that has grown too much, then what still counts
 * moves to another: a log that says the same name a million times takes the
 * memory of one that says it once.
 */
#include "analyse/results/bench_impl.h"
#include "base/mem.h"

#include <stdio.h>
#include <string.h>

enum {
    MAX_NAMES = 1 << 20, /* of a thread's rows */
    MAX_NAME = 4096,
    MAX_MEMBERS = 1 << 20,
    TIDY_AFTER = 4 << 20,
};

int pr_results_reader_init(struct pr_results_reader *r,
                           const struct pr_results_opts *opts,
                           struct pr_err *err)
{
    *r = (struct pr_results_reader){
        .opts = opts,
        .arena = pr_arena_new(1 << 18),
        .scratch = pr_arena_new(1 << 16),
        .names = pr_names_new(),
        .piece = pr_alloc(PR_RESULTS_PIECE),
        .tidy_at = TIDY_AFTER,
    };
    return r->arena && r->scratch && r->names && r->piece ? PR_OK
                                                          : pr_fail_nomem(err);
}

void pr_results_reader_free(struct pr_results_reader *r)
{
    pr_arena_free(r->scratch);
    pr_free(r->slots);
    pr_free(r->members);
    pr_free(r->piece);
}

void pr_results_row_begin(struct pr_results_reader *r)
{
    r->round++;
    r->count = 0;
    r->full = false;
    r->tidy_at = TIDY_AFTER;
    pr_arena_reset(r->scratch);
}

static bool in_query(const struct pr_query *q, const char *name)
{
    const char *other;

    for (size_t i = 0; (other = pr_query_name(q, i)); i++)
        if (strcmp(other, name) == 0)
            return true;
    return false;
}

static bool is_name_wanted(const struct pr_results_opts *o, const char *name)
{
    if (!o->names)
        return true;
    for (size_t i = 0; i < o->name_count; i++)
        if (strcmp(o->names[i], name) == 0)
            return true;
    for (size_t i = 0; i < o->filter_count; i++)
        if (in_query(o->filters[i].query, name))
            return true;
    return false;
}

/* Room for what is known of names up to this one. */
static int grow_slots(struct pr_results_reader *r, uint32_t name,
                      struct pr_err *err)
{
    size_t cap = r->slot_cap ? r->slot_cap * 2 : 256;
    struct pr_results_slot *slots;

    while (cap <= name)
        cap *= 2;
    slots = pr_realloc(r->slots, cap * sizeof *slots);
    if (!slots)
        return pr_fail_nomem(err);
    memset(slots + r->slot_cap, 0, (cap - r->slot_cap) * sizeof *slots);
    r->slots = slots;
    r->slot_cap = cap;
    return PR_OK;
}

/* 1 and the slot of a name that is wanted, 0, or PR_E_NOMEM. */
static int find_slot(struct pr_results_reader *r, const char *key, size_t len,
                     uint32_t *ret_name, struct pr_err *err)
{
    uint32_t name = pr_names_find(r->names, key, len);
    struct pr_results_slot *s;

    if (name == PR_NO_NAME) {
        if (pr_names_count(r->names) >= MAX_NAMES || len > MAX_NAME) {
            r->counts.dropped++;
            return 0;
        }
        name = pr_names_add(r->names, key, len);
        if (name == PR_NO_NAME)
            return pr_fail_nomem(err);
    }
    if (name >= r->slot_cap) {
        int rc = grow_slots(r, name, err);
        if (rc)
            return rc;
    }
    s = &r->slots[name];
    if (!s->known) {
        s->known = true;
        s->unwanted = !is_name_wanted(r->opts, pr_names_text(r->names, name));
    }
    *ret_name = name;
    return !s->unwanted;
}

bool pr_results_row_is_wanted(struct pr_results_reader *r, const char *key,
                              size_t len)
{
    uint32_t name;

    /* Out of memory shows when it is put. */
    return !r->opts->names || find_slot(r, key, len, &name, NULL) != 0;
}

/* Moves what counts to a new arena. */
static int compact_scratch(struct pr_results_reader *r, struct pr_err *err)
{
    struct pr_arena *a = pr_arena_new(1 << 16);
    size_t live;

    for (size_t i = 0; a && i < r->count; i++)
        if (!pr_value_copy(a, &r->members[i].value, &r->members[i].value)) {
            /* Some point into a now; both must go, with the row. */
            pr_arena_free(a);
            a = NULL;
        }
    if (!a) {
        r->count = 0;
        return pr_fail_nomem(err);
    }
    pr_arena_free(r->scratch);
    r->scratch = a;
    live = pr_arena_bytes(a);
    r->full = live >= PR_RESULTS_MAX_ROW / 2;
    r->tidy_at = live * 2 > TIDY_AFTER ? live * 2 : TIDY_AFTER;
    return PR_OK;
}

static int new_member(struct pr_results_reader *r, uint32_t name, size_t len,
                      struct pr_err *err)
{
    if (r->count == r->cap) {
        size_t cap = r->cap ? r->cap * 2 : 64;
        struct pr_member *m = pr_realloc(r->members, cap * sizeof *m);
        if (!m)
            return pr_fail_nomem(err);
        r->members = m;
        r->cap = cap;
    }
    r->slots[name].round = r->round;
    r->slots[name].index = (uint32_t)r->count;
    r->members[r->count++] = (struct pr_member){
        .key = pr_names_text(r->names, name),
        .key_len = (uint32_t)len,
    };
    return PR_OK;
}

int pr_results_row_find_name(struct pr_results_reader *r, const char *key,
                             size_t len, struct pr_results_guess *ret,
                             struct pr_err *err)
{
    uint32_t name = PR_NO_NAME;
    int rc = find_slot(r, key, len, &name, err);

    if (rc < 0)
        return rc;
    *ret = (struct pr_results_guess){
        .text = name == PR_NO_NAME ? NULL : pr_names_text(r->names, name),
        .len = (uint32_t)len,
        .name = name,
        .wanted = rc == 1};
    return rc;
}

int pr_results_row_put_named(struct pr_results_reader *r,
                             const struct pr_results_guess *n,
                             const struct pr_value *value, struct pr_err *err)
{
    bool inside = value->kind < PR_STR; /* nothing to copy */
    bool is_new = r->slots[n->name].round != r->round;
    struct pr_value *to;
    int rc = PR_OK;

    if (!inside && pr_arena_bytes(r->scratch) >= r->tidy_at)
        rc = compact_scratch(r, err);
    if (rc)
        return rc;
    if ((!inside && r->full) || (is_new && r->count == MAX_MEMBERS)) {
        r->counts.dropped++;
        return PR_OK;
    }
    if (is_new)
        rc = new_member(r, n->name, n->len, err);
    if (rc)
        return rc;
    to = &r->members[r->slots[n->name].index].value;
    if (!inside)
        return pr_value_copy(r->scratch, value, to) ? PR_OK
                                                    : pr_fail_nomem(err);
    *to = *value;
    return PR_OK;
}

int pr_results_row_put(struct pr_results_reader *r, const char *key, size_t len,
                       const struct pr_value *value, struct pr_err *err)
{
    struct pr_results_guess name;
    int rc = pr_results_row_find_name(r, key, len, &name, err);

    return rc == 1 ? pr_results_row_put_named(r, &name, value, err) : rc;
}

int pr_results_row_put_str(struct pr_results_reader *r, const char *key,
                           const char *s, struct pr_err *err)
{
    struct pr_value v = pr_str(s);

    return pr_results_row_put(r, key, strlen(key), &v, err);
}

int pr_results_row_put_float(struct pr_results_reader *r, const char *key,
                             double f, struct pr_err *err)
{
    struct pr_value v = pr_float(f);

    return pr_results_row_put(r, key, strlen(key), &v, err);
}

int pr_results_row_put_flat(struct pr_results_reader *r, const char *prefix,
                            const struct pr_value *map, struct pr_err *err)
{
    char name[512];

    for (uint32_t i = 0; i < map->len; i++) {
        const struct pr_member *m = &map->members[i];
        int n = snprintf(name, sizeof name, "%s%s", prefix, m->key), rc;

        if ((size_t)n + 2 >= sizeof name) {
            r->counts.dropped++;
            continue;
        }
        if (m->value.kind == PR_MAP) {
            memcpy(name + n, ".", 2);
            rc = pr_results_row_put_flat(r, name, &m->value, err);
        } else {
            rc = pr_results_row_put(r, name, (size_t)n, &m->value, err);
        }
        if (rc)
            return rc;
    }
    return PR_OK;
}

static int keep_result_row(struct pr_results_reader *r,
                           const struct pr_results_row *row, struct pr_err *err)
{
    struct pr_results_item *item = r->item;
    struct pr_member *members =
        PR_ARENA_ARRAY(r->arena, struct pr_member, r->count);
    struct pr_results_row *rows = pr_arena_grow(
        r->arena, item->rows, item->count, &item->cap, sizeof *rows);

    if (rows)
        item->rows = rows;
    if (!rows || !members)
        return pr_fail_nomem(err);
    for (size_t i = 0; i < r->count; i++) {
        members[i] = r->members[i];
        if (!pr_value_copy(r->arena, &r->members[i].value, &members[i].value))
            return pr_fail_nomem(err);
    }
    rows[item->count] = *row;
    rows[item->count++].params.members = members;
    return PR_OK;
}

int pr_results_row_end(struct pr_results_reader *r, const char *from,
                       struct pr_err *err)
{
    struct pr_results_row row = {
        .from = from,
        .params = {.kind = PR_MAP,
                   .len = (uint32_t)r->count,
                   .members = r->members},
    };
    int rc;

    if (!r->count)
        return PR_OK;
    r->counts.results++;
    rc = r->opts->keep_all ? 1
                           : pr_results_match_row(&row, r->opts->filters,
                                                  r->opts->filter_count, err);
    if (rc != 1)
        return rc;
    return r->opts->each ? r->opts->each(r->opts->ctx, r->thread, &row, err)
                         : keep_result_row(r, &row, err);
}

void pr_results_add_warning(struct pr_results_reader *r, const struct pr_err *e)
{
    if (r->counts.note_count < PR_RESULTS_NOTES)
        r->counts.notes[r->counts.note_count++] = *e;
}

void pr_results_add_unreadable(struct pr_results_reader *r,
                               const struct pr_err *e)
{
    r->counts.unreadable++;
    pr_results_add_warning(r, e);
}

void pr_results_add_damaged(struct pr_results_reader *r, const struct pr_err *e)
{
    if (!r->counts.damaged++)
        r->counts.damage = *e;
    pr_results_add_unreadable(r, e);
}
