/*
 * YAML on libyaml's events: values and merge keys, the document around its one
 * value, and libyaml's complaints in our words.
 */
#include "conf/read/yaml.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/text.h"
#include "base/value.h"
#include "conf/read/yaml_scalar.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

enum { MAX_DEPTH = 200, MAX_NODES = 1000000 };

/* A value as it was read, with what only its parents need to know. */
struct yaml_node {
    struct pr_value value;
    const char *text; /* of a scalar, as written */
    uint32_t text_len;
    uint32_t nodes;  /* it stands for, itself included */
    unsigned height; /* levels of lists and maps in it */
    bool merge;      /* an unquoted << */
};

struct yaml_anchor {
    struct yaml_node node;
    uint32_t line;
    bool open; /* its value is still being read */
};

struct yaml_loader {
    yaml_parser_t parser;
    const char *text, *name;
    size_t len;
    struct pr_arena *arena;
    struct pr_err *err;
    struct pr_member *stack; /* of open lists (.value alone) and maps */
    size_t used, cap;
    struct pr_value *merges; /* of open maps: what their << named */
    size_t merge_count, merge_cap;
    struct yaml_anchor *anchors;
    size_t anchor_count, anchor_cap;
    struct pr_keyset anchor_names;
    uint32_t nodes; /* read so far, aliases written out */
    unsigned depth;
};

static int yaml_fail(struct yaml_loader *l, const yaml_mark_t *at,
                     const char *fmt, ...) PR_PRINTF(3, 4);

static int yaml_fail(struct yaml_loader *l, const yaml_mark_t *at,
                     const char *fmt, ...)
{
    char msg[sizeof l->err->msg];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(msg, sizeof msg, fmt, ap);
    va_end(ap);
    return pr_fail_at(l->err, PR_E_FORMAT, l->name, (unsigned)at->line + 1,
                      (unsigned)at->column + 1, "%s", msg);
}

/* items with room for one more than count; NULL, and items as they were, when
 * out of memory. */
static void *yaml_grow(void *items, size_t item_bytes, size_t count,
                       size_t *cap)
{
    size_t more = *cap ? *cap * 2 : 32;
    void *p;

    if (count < *cap)
        return items;
    p = pr_realloc(items, more * item_bytes);
    if (p)
        *cap = more;
    return p;
}

/* Line and column of a byte, from 0: libyaml's reader gives only an offset. */
/* ---- merge keys: <<: *a or <<: [*a, *b]
 * As in PyYAML, what is merged comes first in the order of the map, the first
 * map of a list wins over the next, a later << over an earlier one, and the
 * map's own keys over all. */

/* A map that is being put together; keys may come again. */
struct sum {
    struct pr_member *members;
    size_t n;
    struct pr_keyset keys;
};

static int yaml_push_merge(struct yaml_loader *l, const struct pr_value *map)
{
    void *p =
        yaml_grow(l->merges, sizeof *l->merges, l->merge_count, &l->merge_cap);

    if (!p)
        return pr_fail_nomem(l->err);
    l->merges = p;
    l->merges[l->merge_count++] = *map;
    return PR_OK;
}

/* Notes what a << of the map being read names: a map or a list of maps. */
static int yaml_add_merge(struct yaml_loader *l, const yaml_mark_t *at,
                          const struct pr_value *source)
{
    bool list = source->kind == PR_LIST;

    if (source->kind == PR_MAP)
        return yaml_push_merge(l, source);
    for (uint32_t i = 0; list && i < source->len; i++)
        list = source->items[i].kind == PR_MAP;
    if (!list)
        return yaml_fail(l, at, "'<<' wants a map or a list of maps to merge");
    for (uint32_t i = source->len; i-- > 0;) {
        PR_TRY(yaml_push_merge(l, &source->items[i]));
    }
    return PR_OK;
}

static int yaml_merge_members(struct sum *s, const struct pr_member *members,
                              size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t place = s->n;
        int found =
            pr_keyset_member(&s->keys, s->members, s->n, &members[i], &place);

        if (found < 0)
            return PR_E_NOMEM;
        s->members[place] = members[i];
        s->n += !found;
    }
    return PR_OK;
}

/* The map of n members, over what its merges (from first_merge on) give. */
static int yaml_merge_map(struct yaml_loader *l, size_t first_merge,
                          const struct pr_member *own, size_t n,
                          struct pr_value *ret_map)
{
    size_t most = n;
    struct sum s = {0};
    int rc = PR_OK;

    for (size_t i = first_merge; i < l->merge_count; i++)
        most += l->merges[i].len;
    s.members = pr_arena_alloc(l->arena, most * sizeof *s.members);
    if (!s.members)
        return pr_fail_nomem(l->err);
    for (size_t i = first_merge; rc == PR_OK && i < l->merge_count; i++)
        rc = yaml_merge_members(&s, l->merges[i].members, l->merges[i].len);
    if (rc == PR_OK && s.n) {
        rc = yaml_merge_members(&s, own, n);
    } else if (rc == PR_OK && n) {
        memcpy(s.members, own, n * sizeof *own);
        s.n = n;
    }
    pr_keyset_free(&s.keys);
    if (rc)
        return pr_fail_nomem(l->err);
    ret_map->kind = PR_MAP;
    ret_map->len = (uint32_t)s.n;
    ret_map->members = s.members;
    return PR_OK;
}

/* ---- libyaml's events, and its complaints in our words */

static yaml_mark_t mark_of_offset(const struct yaml_loader *l, size_t offset)
{
    yaml_mark_t m = {0};

    for (size_t i = 0; i < offset && i < l->len; i++) {
        m.column += ((unsigned char)l->text[i] & 0xc0) != 0x80;
        if (l->text[i] == '\n') {
            m.line++;
            m.column = 0;
        }
    }
    return m;
}

static bool indented_by_tab(const struct yaml_loader *l, size_t line)
{
    const char *p = l->text, *end = l->text + l->len;

    for (; line && p < end; p++)
        line -= *p == '\n';
    while (p < end && *p == ' ')
        p++;
    return p < end && *p == '\t';
}

/* A few of libyaml's complaints have one usual cause. */
static void add_hint(struct yaml_loader *l, const char *problem, size_t line)
{
    if (indented_by_tab(l, line))
        (void)pr_hint(l->err, "indent with spaces: YAML takes no tabs there");
    else if (strstr(problem, "mapping values are not allowed"))
        (void)pr_hint(l->err, "put quotes around text that holds ': '");
    else if (strstr(problem, "cannot start any token"))
        (void)pr_hint(l->err, "put quotes around text that starts like this");
}

static int parser_failed(struct yaml_loader *l)
{
    const yaml_parser_t *p = &l->parser;
    const char *problem = p->problem ? p->problem : "unknown problem";
    yaml_mark_t at = p->problem_mark;
    int rc;

    if (p->error == YAML_MEMORY_ERROR)
        return pr_fail_nomem(l->err);
    if (p->error == YAML_READER_ERROR)
        at = mark_of_offset(l, p->problem_offset);
    if (p->context && p->context_mark.line != at.line)
        rc = yaml_fail(l, &at, "not valid YAML: %s %s begun on line %zu",
                       problem, p->context, p->context_mark.line + 1);
    else
        rc = yaml_fail(l, &at, "not valid YAML: %s%s%s", problem,
                       p->context ? " " : "", p->context ? p->context : "");
    add_hint(l, problem, at.line);
    return rc;
}

/* The next event; the caller deletes it. On failure there is none. */
static int yaml_next_event(struct yaml_loader *l, yaml_event_t *ret_event)
{
    return yaml_parser_parse(&l->parser, ret_event) ? PR_OK : parser_failed(l);
}

/* ---- events to values
 * Items of a list or map are collected on one stack and
 * copied to the arena when it closes; an alias shares what its anchor names.
 * What a document stands for with every alias written out is counted and
 * limited, so that a small file cannot stand for a huge one. */

static int yaml_read_node(struct yaml_loader *l, const yaml_event_t *e,
                          struct yaml_node *ret_node);

/* A list or map under construction. */
struct group {
    size_t base, first_merge; /* where its part of the stacks begins */
    unsigned height;          /* of its highest item */
    struct pr_keyset keys;    /* of a large map */
};

static int count_nodes(struct yaml_loader *l, const yaml_mark_t *at,
                       uint32_t more)
{
    if (more > MAX_NODES - l->nodes)
        return yaml_fail(l, at,
                         "the document stands for more than %d values, "
                         "aliases written out",
                         MAX_NODES);
    l->nodes += more;
    return PR_OK;
}

static int check_depth(struct yaml_loader *l, const yaml_mark_t *at,
                       unsigned more)
{
    if (l->depth + more > MAX_DEPTH)
        return yaml_fail(l, at, "nested more than %d deep", MAX_DEPTH);
    return PR_OK;
}

static int refuse_tag(struct yaml_loader *l, const yaml_mark_t *at,
                      const char *tag)
{
    static const char prefix[] = "tag:yaml.org,2002:";
    bool core = pr_text_starts_with(tag, prefix);
    int rc = yaml_fail(l, at, "the tag '%s%s' is not known here",
                       core ? "!!" : "", core ? tag + sizeof prefix - 1 : tag);

    (void)pr_hint(l->err, "known are !!str !!int !!float !!bool !!null !!seq "
                          "and !!map; plain values need none");
    return rc;
}

/* Registers &name for the value that begins with e; its place is *ret_index,
 * SIZE_MAX without a name. A name may be given once, as in PyYAML. */
static int open_anchor(struct yaml_loader *l, const yaml_event_t *e,
                       const yaml_char_t *name, size_t *ret_index)
{
    struct yaml_anchor fresh = {.line = (uint32_t)e->start_mark.line + 1,
                                .open = true};
    uint32_t old;
    char *copy;
    void *p;
    int rc;

    *ret_index = SIZE_MAX;
    if (!name)
        return PR_OK;
    copy = pr_arena_str(l->arena, (const char *)name);
    p = yaml_grow(l->anchors, sizeof *l->anchors, l->anchor_count,
                  &l->anchor_cap);
    l->anchors = p ? p : l->anchors;
    if (!copy || !p)
        return pr_fail_nomem(l->err);
    rc = pr_keyset_put(&l->anchor_names, copy, (uint32_t)strlen(copy),
                       (uint32_t)l->anchor_count, &old);
    if (rc < 0)
        return pr_fail_nomem(l->err);
    if (rc)
        return yaml_fail(l, &e->start_mark,
                         "the anchor '&%s' is given twice, first on line "
                         "%u",
                         copy, l->anchors[old].line);
    *ret_index = l->anchor_count;
    l->anchors[l->anchor_count++] = fresh;
    return PR_OK;
}

static int read_alias(struct yaml_loader *l, const yaml_event_t *e,
                      struct yaml_node *ret_node)
{
    const char *name = (const char *)e->data.alias.anchor;
    const yaml_mark_t *at = &e->start_mark;
    const struct yaml_anchor *anchor;
    uint32_t i;
    int rc;

    if (!pr_keyset_find(&l->anchor_names, name, (uint32_t)strlen(name), &i))
        return yaml_fail(l, at, "the alias '*%s' names no anchor above it",
                         name);
    anchor = &l->anchors[i];
    if (anchor->open)
        return yaml_fail(
            l, at, "the alias '*%s' stands inside the value it names", name);
    rc = check_depth(l, at, anchor->node.height);
    if (rc)
        return rc;
    rc = count_nodes(l, at, anchor->node.nodes);
    if (rc)
        return rc;
    *ret_node = anchor->node;
    return PR_OK;
}

static int read_scalar(struct yaml_loader *l, const yaml_event_t *e,
                       struct yaml_node *n)
{
    const char *tag_name = (const char *)e->data.scalar.tag;
    enum pr_yaml_tag tag = pr_yaml_find_tag(tag_name);
    size_t len = e->data.scalar.length;

    n->text_len = (uint32_t)len;
    n->text = pr_arena_copy(l->arena, (const char *)e->data.scalar.value, len);
    if (!n->text)
        return pr_fail_nomem(l->err);
    if (tag == PR_YAML_OTHER_TAG)
        return refuse_tag(l, &e->start_mark, tag_name);
    if (tag != PR_YAML_NO_TAG) {
        if (!pr_yaml_read_tagged(tag, n->text, len, &n->value))
            return yaml_fail(l, &e->start_mark,
                             "'%.80s' is not what its tag '!!%s' says", n->text,
                             strrchr(tag_name, ':') + 1);
    } else if (e->data.scalar.plain_implicit) {
        n->value = pr_yaml_read_scalar(n->text, len);
        n->merge = pr_text_is(n->text, len, "<<");
    } else {
        n->value = pr_strn(n->text, len);
    }
    return PR_OK;
}

static int yaml_push_member(struct yaml_loader *l, const struct pr_member *m)
{
    void *p = yaml_grow(l->stack, sizeof *l->stack, l->used, &l->cap);

    if (!p)
        return pr_fail_nomem(l->err);
    l->stack = p;
    l->stack[l->used++] = *m;
    return PR_OK;
}

/* One event and the node it begins; *ret_more is false at the closing one. */
static int read_next(struct yaml_loader *l, struct yaml_node *ret_node,
                     yaml_mark_t *ret_at, bool *ret_more)
{
    yaml_event_t e;
    int rc = yaml_next_event(l, &e);

    if (rc)
        return rc;
    *ret_at = e.start_mark;
    *ret_more =
        e.type != YAML_SEQUENCE_END_EVENT && e.type != YAML_MAPPING_END_EVENT;
    if (*ret_more)
        rc = yaml_read_node(l, &e, ret_node);
    yaml_event_delete(&e);
    return rc;
}

static void note_height(struct group *g, const struct yaml_node *n)
{
    if (n->height > g->height)
        g->height = n->height;
}

static int yaml_read_list(struct yaml_loader *l, struct group *g,
                          struct pr_value *v)
{
    struct pr_value *items;
    size_t n;

    for (;;) {
        struct yaml_node item;
        yaml_mark_t at;
        bool more;
        int rc = read_next(l, &item, &at, &more);

        if (rc == PR_OK && more)
            rc = yaml_push_member(l, &(struct pr_member){.value = item.value});
        if (rc)
            return rc;
        if (!more)
            break;
        note_height(g, &item);
    }
    n = l->used - g->base;
    items = pr_arena_alloc(l->arena, n * sizeof *items);
    if (!items)
        return pr_fail_nomem(l->err);
    for (size_t i = 0; i < n; i++)
        items[i] = l->stack[g->base + i].value;
    v->kind = PR_LIST;
    v->len = (uint32_t)n;
    v->items = items;
    return PR_OK;
}

static int yaml_add_member(struct yaml_loader *l, struct group *g,
                           const struct pr_member *m, const yaml_mark_t *at)
{
    size_t n = l->used - g->base, i;
    struct pr_member *own = n ? l->stack + g->base : NULL;
    int found = pr_keyset_member(&g->keys, own, n, m, &i);

    if (found < 0)
        return pr_fail_nomem(l->err);
    if (found)
        return yaml_fail(
            l, at, "'%.80s' stands twice in the same map, first on line %u",
            m->key, own[i].line);
    return yaml_push_member(l, m);
}

static int yaml_read_member(struct yaml_loader *l, struct group *g, bool *more)
{
    struct yaml_node key, value;
    yaml_mark_t at, value_at;
    struct pr_member m = {0};
    bool unused;
    int rc = read_next(l, &key, &at, more);

    if (rc || !*more)
        return rc;
    if (!key.text) {
        rc = yaml_fail(l, &at, "%s cannot be a key",
                       pr_kind_name(key.value.kind));
        (void)pr_hint(l->err, "put quotes around text that starts with a "
                              "bracket or a brace");
        return rc;
    }
    rc = read_next(l, &value, &value_at, &unused);
    if (rc)
        return rc;
    note_height(g, &value);
    if (key.merge)
        return yaml_add_merge(l, &value_at, &value.value);
    m.key = key.text;
    m.key_len = key.text_len;
    m.line = (uint32_t)at.line + 1;
    m.col = (uint32_t)at.column + 1;
    m.value = value.value;
    return yaml_add_member(l, g, &m, &at);
}

static int yaml_read_map(struct yaml_loader *l, struct group *g,
                         struct pr_value *v)
{
    for (bool more = true; more;) {
        PR_TRY(yaml_read_member(l, g, &more));
    }
    return yaml_merge_map(l, g->first_merge,
                          l->stack ? l->stack + g->base : NULL,
                          l->used - g->base, v);
}

/* A list or map from its first event to its last. */
static int yaml_read_collection(struct yaml_loader *l, const yaml_event_t *e,
                                struct yaml_node *n)
{
    bool map = e->type == YAML_MAPPING_START_EVENT;
    const char *tag_name = (const char *)(map ? e->data.mapping_start.tag
                                              : e->data.sequence_start.tag);
    enum pr_yaml_tag tag = pr_yaml_find_tag(tag_name);
    struct group g = {.base = l->used, .first_merge = l->merge_count};
    int rc;

    if (tag == PR_YAML_OTHER_TAG)
        return refuse_tag(l, &e->start_mark, tag_name);
    if (tag != PR_YAML_NO_TAG && tag != (map ? PR_YAML_MAP : PR_YAML_SEQ))
        return yaml_fail(l, &e->start_mark,
                         "%s is not what its tag '!!%s' says",
                         map ? "a map" : "a list", strrchr(tag_name, ':') + 1);
    rc = check_depth(l, &e->start_mark, 1);
    if (rc)
        return rc;
    l->depth++;
    rc = map ? yaml_read_map(l, &g, &n->value)
             : yaml_read_list(l, &g, &n->value);
    l->depth--;
    pr_keyset_free(&g.keys);
    l->used = g.base;
    l->merge_count = g.first_merge;
    n->height = g.height + 1;
    return rc;
}

static const yaml_char_t *anchor_of(const yaml_event_t *e)
{
    if (e->type == YAML_SCALAR_EVENT)
        return e->data.scalar.anchor;
    return e->type == YAML_MAPPING_START_EVENT ? e->data.mapping_start.anchor
                                               : e->data.sequence_start.anchor;
}

/* Anything but an alias. */
static int read_own(struct yaml_loader *l, const yaml_event_t *e,
                    struct yaml_node *n)
{
    uint32_t before = l->nodes;
    size_t anchor;
    int rc = count_nodes(l, &e->start_mark, 1);

    if (rc == PR_OK)
        rc = open_anchor(l, e, anchor_of(e), &anchor);
    if (rc)
        return rc;
    rc = e->type == YAML_SCALAR_EVENT ? read_scalar(l, e, n)
                                      : yaml_read_collection(l, e, n);
    if (rc)
        return rc;
    n->nodes = l->nodes - before;
    if (anchor != SIZE_MAX) {
        l->anchors[anchor].node = *n;
        l->anchors[anchor].open = false;
    }
    return PR_OK;
}

/* The value that begins with event e, all of it. */
static int yaml_read_node(struct yaml_loader *l, const yaml_event_t *e,
                          struct yaml_node *ret_node)
{
    struct yaml_node n = {0};
    int rc =
        e->type == YAML_ALIAS_EVENT ? read_alias(l, e, &n) : read_own(l, e, &n);

    if (rc)
        return rc;
    n.value.line = (uint32_t)e->start_mark.line + 1;
    n.value.col = (uint32_t)e->start_mark.column + 1;
    *ret_node = n;
    return PR_OK;
}

enum { MAX_BYTES = 1 << 30 };

/* Fails with PR_E_FORMAT at a place of the file. */
/* ---- the document */

static int yaml_check_text(struct yaml_loader *l)
{
    size_t n;

    if (l->len > MAX_BYTES)
        return pr_fail(l->err, PR_E_FORMAT, l->name,
                       "a YAML file of more than 1 GiB");
    for (size_t i = 0; i < l->len; i += n) {
        n = pr_utf8_len(l->text + i, l->len - i);
        if (!n) {
            yaml_mark_t at = mark_of_offset(l, i);
            return yaml_fail(l, &at,
                             "not valid YAML: the text is not "
                             "UTF-8");
        }
    }
    return PR_OK;
}

/* After the value: nothing but the end of the one document. */
static int yaml_read_end(struct yaml_loader *l)
{
    yaml_event_type_t type = YAML_NO_EVENT;

    while (type != YAML_STREAM_END_EVENT) {
        yaml_event_t e;
        int rc = yaml_next_event(l, &e);

        if (rc)
            return rc;
        type = e.type;
        if (type == YAML_DOCUMENT_START_EVENT)
            rc = yaml_fail(l, &e.start_mark,
                           "a second document starts here, but one file "
                           "holds one");
        yaml_event_delete(&e);
        if (rc)
            return rc;
    }
    return PR_OK;
}

/* The first event that belongs to a value, or the end of an empty file. */
static int yaml_read_start(struct yaml_loader *l, yaml_event_t *ret_event)
{
    for (;;) {
        int rc = yaml_next_event(l, ret_event);

        if (rc || (ret_event->type != YAML_STREAM_START_EVENT &&
                   ret_event->type != YAML_DOCUMENT_START_EVENT))
            return rc;
        yaml_event_delete(ret_event);
    }
}

/* An empty file is null. */
static int yaml_read_document(struct yaml_loader *l, struct pr_value *ret_value)
{
    struct yaml_node root = {.value = {.line = 1, .col = 1}};
    yaml_event_t e;
    int rc = yaml_read_start(l, &e);

    if (rc)
        return rc;
    if (e.type != YAML_STREAM_END_EVENT) {
        rc = yaml_read_node(l, &e, &root);
        if (rc == PR_OK)
            rc = yaml_read_end(l);
    }
    yaml_event_delete(&e);
    if (rc == PR_OK)
        *ret_value = root.value;
    return rc;
}

int pr_yaml_read(const char *text, size_t len, const char *name,
                 struct pr_arena *a, struct pr_value *ret_value,
                 struct pr_err *err)
{
    bool bom = len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0;
    struct yaml_loader l = {
        .text = text + (bom ? 3 : 0),
        .len = len - (bom ? 3 : 0),
        .name = name,
        .arena = a,
        .err = err,
    };
    int rc = yaml_check_text(&l);

    if (rc)
        return rc;
    if (!yaml_parser_initialize(&l.parser))
        return pr_fail_nomem(err);
    yaml_parser_set_encoding(&l.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&l.parser, (const unsigned char *)l.text,
                                 l.len);
    rc = yaml_read_document(&l, ret_value);
    yaml_parser_delete(&l.parser);
    pr_keyset_free(&l.anchor_names);
    pr_free(l.anchors);
    pr_free(l.merges);
    pr_free(l.stack);
    return rc;
}

const char *pr_yaml_version(void)
{
    return yaml_get_version_string();
}
