/*
 * A row in the making. Names are numbers, so that a value that comes again
 * finds its place at once. Texts and lists are copied; what was replaced stays
 * in the scratch arena until that has grown too much, then what still counts
 * moves to another: a log that says the same name a million times takes the
 * memory of one that says it once.
 */
#include "analyse/results/results_impl.h"
#include "base/json/json_read.h"
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

static int results_row_find_name(struct pr_results_reader *r, const char *key,
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

/* What is known of a name, for putting several values of it. 1: it is wanted;
 * 0; or PR_E_NOMEM. */
static int results_row_put_named(struct pr_results_reader *r,
                                 const struct pr_results_guess *n,
                                 const struct pr_value *value,
                                 struct pr_err *err)
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
    int rc = results_row_find_name(r, key, len, &name, err);

    return rc == 1 ? results_row_put_named(r, &name, value, err) : rc;
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

/* ---- a record of a list, the quick way */

/*
 * In a list of results each has the same names in the same order, so a name is
 * compared with the one that stood there before, and what is not wanted is
 * passed. Whatever is out of the ordinary, escapes or what is no JSON, is left
 * to the reader that knows it all.
 */

#if defined(__SSE2__)
#include <emmintrin.h>

/* Past blanks; sixteen bytes hold what an indented list has between two
 * members. */
static const char *record_skip_space(const char *p, const char *end)
{
    while (end - p >= 16) {
        __m128i x = _mm_loadu_si128((const __m128i *)(const void *)p);
        __m128i least = _mm_set1_epi8(' ' + 1);
        int ink = _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_max_epu8(x, least), x));

        if (ink)
            return p + __builtin_ctz((unsigned)ink);
        p += 16;
    }
    while (p < end && (unsigned char)*p <= ' ')
        p++;
    return p;
}

/* The first quote or backslash, or end. */
static const char *find_quote_or_backslash(const char *p, const char *end)
{
    const __m128i quote = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\');

    for (; end - p >= 16; p += 16) {
        __m128i x = _mm_loadu_si128((const __m128i *)(const void *)p);
        int hit = _mm_movemask_epi8(
            _mm_or_si128(_mm_cmpeq_epi8(x, quote), _mm_cmpeq_epi8(x, slash)));
        if (hit)
            return p + __builtin_ctz((unsigned)hit);
    }
    while (p < end && *p != '"' && *p != '\\')
        p++;
    return p;
}

static inline bool same_16(const char *p, const char *q)
{
    __m128i x = _mm_loadu_si128((const __m128i *)(const void *)p);
    __m128i y = _mm_loadu_si128((const __m128i *)(const void *)q);

    return _mm_movemask_epi8(_mm_cmpeq_epi8(x, y)) == 0xffff;
}
#else
static const char *record_skip_space(const char *p, const char *end)
{
    while (p < end && (unsigned char)*p <= ' ')
        p++;
    return p;
}

static const char *find_quote_or_backslash(const char *p, const char *end)
{
    while (p < end && *p != '"' && *p != '\\')
        p++;
    return p;
}

static inline bool same_16(const char *p, const char *q)
{
    return memcmp(p, q, 16) == 0;
}
#endif

/* Names are short: a call takes longer than comparing them. */
static inline bool is_same_text(const char *p, const char *q, size_t n)
{
    if (n < 16)
        return memcmp(p, q, n) == 0;
    for (size_t i = 0; i + 16 < n; i += 16)
        if (!same_16(p + i, q + i))
            return false;
    return same_16(p + n - 16, q + n - 16);
}

/* A member whose name is not the one that stood there before. */
static bool learn_name(struct pr_results_reader *r, struct pr_json_scan *s,
                       struct pr_results_guess *g)
{
    const char *start = s->pos, *text;
    size_t len;

    g->before_len = 0;
    s->pos = record_skip_space(s->pos, s->end);
    if (s->pos == s->end || *s->pos != '"' ||
        !pr_json_scan_plain(s, &text, &len) ||
        results_row_find_name(r, text, len, g, NULL) < 0)
        return false;
    s->pos = record_skip_space(s->pos, s->end);
    if (s->pos == s->end || *s->pos != ':')
        return false;
    s->pos = record_skip_space(s->pos + 1, s->end);
    if (s->pos == s->end)
        return false;
    g->before = start;
    g->before_len = (size_t)(s->pos - start);
    return true;
}

/* What stands before the value of a member: blanks, its name, a colon. False:
 * not a plain one, or no memory. */
static inline bool record_read_name(struct pr_results_reader *r,
                                    struct pr_json_scan *s,
                                    struct pr_results_guess *g)
{
    if (!g->before_len || (size_t)(s->end - s->pos) <= g->before_len ||
        !is_same_text(s->pos, g->before, g->before_len))
        return learn_name(r, s, g);
    s->pos += g->before_len;
    return true;
}

/* Past a value that is not wanted. */
static bool record_skip_value(struct pr_json_scan *s)
{
    const char *p = s->pos;

    if (*p == '[' || *p == '{')
        return pr_json_scan_skip(s) == PR_OK;
    if (*p == '"') {
        p = find_quote_or_backslash(p + 1, s->end);
        if (p == s->end || *p != '"')
            return pr_json_scan_skip(s) == PR_OK;
        s->pos = p + 1;
        return true;
    }
    while (p < s->end && *p != ',' && *p != '}' && (unsigned char)*p > ' ')
        p++;
    s->pos = p;
    return true;
}

static bool record_read_value(struct pr_results_reader *r,
                              struct pr_json_scan *s,
                              const struct pr_results_guess *name,
                              struct pr_err *err)
{
    struct pr_value v = {0};
    size_t len;

    if (*s->pos == '[' || *s->pos == '{')
        return false;
    if (*s->pos == '"') {
        if (!pr_json_scan_plain(s, &v.s, &len) || len > UINT32_MAX / 2)
            return false;
        v.kind = PR_STR;
        v.len = (uint32_t)len;
    } else if (pr_json_scan_word(s, &v)) {
        return false;
    }
    return results_row_put_named(r, name, &v, err) == PR_OK;
}

const char *pr_results_row_read_quick(struct pr_results_reader *r,
                                      const char *p, const char *end,
                                      struct pr_err *err)
{
    struct pr_json_scan s = {
        .pos = p, .end = end, .line_start = p, .name = "", .line = 1};

    pr_results_row_begin(r);
    s.pos++;
    for (struct pr_results_guess *g = r->guesses;;
         g += g < r->guesses + PR_RESULTS_GUESSES - 1) {
        if (!record_read_name(r, &s, g))
            return NULL;
        if (!(g->wanted ? record_read_value(r, &s, g, err)
                        : record_skip_value(&s)))
            return NULL;
        if (s.pos < end && *s.pos != ',')
            s.pos = record_skip_space(s.pos, end);
        if (s.pos == end)
            return NULL;
        if (*s.pos == '}')
            return s.pos + 1;
        if (*s.pos++ != ',')
            return NULL;
    }
}
