/*
 * YAML events to values. Items of a list or map are collected on one stack and
 * copied to the arena when it closes; an alias shares what its anchor names.
 * What a document stands for with every alias written out is counted and
 * limited, so that a small file cannot stand for a huge one.
 */
#include "conf/read/yaml.h"
#include "conf/read/yaml_load.h"
#include "conf/read/yaml_scalar.h"

#include <string.h>

/* A list or map under construction. */
struct group {
    size_t base, first_merge; /* where its part of the stacks begins */
    unsigned height;          /* of its highest item */
    struct pr_keyset keys;    /* of a large map */
};

static int count_nodes(struct pr_yaml_loader *l, const yaml_mark_t *at,
                       uint32_t more)
{
    if (more > PR_YAML_MAX_NODES - l->nodes)
        return pr_yaml_fail(l, at,
                            "the document stands for more than %d values, "
                            "aliases written out",
                            PR_YAML_MAX_NODES);
    l->nodes += more;
    return PR_OK;
}

static int check_depth(struct pr_yaml_loader *l, const yaml_mark_t *at,
                       unsigned more)
{
    if (l->depth + more > PR_YAML_MAX_DEPTH)
        return pr_yaml_fail(l, at, "nested more than %d deep",
                            PR_YAML_MAX_DEPTH);
    return PR_OK;
}

static int refuse_tag(struct pr_yaml_loader *l, const yaml_mark_t *at,
                      const char *tag)
{
    static const char prefix[] = "tag:yaml.org,2002:";
    bool core = strncmp(tag, prefix, sizeof prefix - 1) == 0;
    int rc =
        pr_yaml_fail(l, at, "the tag '%s%s' is not known here",
                     core ? "!!" : "", core ? tag + sizeof prefix - 1 : tag);

    (void)pr_hint(l->err, "known are !!str !!int !!float !!bool !!null !!seq "
                          "and !!map; plain values need none");
    return rc;
}

/* Registers &name for the value that begins with e; its place is *ret_index,
 * SIZE_MAX without a name. A name may be given once, as in PyYAML. */
static int open_anchor(struct pr_yaml_loader *l, const yaml_event_t *e,
                       const yaml_char_t *name, size_t *ret_index)
{
    struct pr_yaml_anchor fresh = {.line = (uint32_t)e->start_mark.line + 1,
                                   .open = true};
    uint32_t old;
    char *copy;
    void *p;
    int rc;

    *ret_index = SIZE_MAX;
    if (!name)
        return PR_OK;
    copy = pr_arena_str(l->arena, (const char *)name);
    p = pr_yaml_grow(l->anchors, sizeof *l->anchors, l->anchor_count,
                     &l->anchor_cap);
    l->anchors = p ? p : l->anchors;
    if (!copy || !p)
        return pr_fail_nomem(l->err);
    rc = pr_keyset_put(&l->anchor_names, copy, (uint32_t)strlen(copy),
                       (uint32_t)l->anchor_count, &old);
    if (rc < 0)
        return pr_fail_nomem(l->err);
    if (rc)
        return pr_yaml_fail(l, &e->start_mark,
                            "the anchor '&%s' is given twice, first on line "
                            "%u",
                            copy, l->anchors[old].line);
    *ret_index = l->anchor_count;
    l->anchors[l->anchor_count++] = fresh;
    return PR_OK;
}

static int read_alias(struct pr_yaml_loader *l, const yaml_event_t *e,
                      struct pr_yaml_node *ret_node)
{
    const char *name = (const char *)e->data.alias.anchor;
    const yaml_mark_t *at = &e->start_mark;
    const struct pr_yaml_anchor *anchor;
    uint32_t i;
    int rc;

    if (!pr_keyset_find(&l->anchor_names, name, (uint32_t)strlen(name), &i))
        return pr_yaml_fail(l, at, "the alias '*%s' names no anchor above it",
                            name);
    anchor = &l->anchors[i];
    if (anchor->open)
        return pr_yaml_fail(
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

static int read_scalar(struct pr_yaml_loader *l, const yaml_event_t *e,
                       struct pr_yaml_node *n)
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
            return pr_yaml_fail(l, &e->start_mark,
                                "'%.80s' is not what its tag '!!%s' says",
                                n->text, strrchr(tag_name, ':') + 1);
    } else if (e->data.scalar.plain_implicit) {
        n->value = pr_yaml_read_scalar(n->text, len);
        n->merge = len == 2 && memcmp(n->text, "<<", 2) == 0;
    } else {
        n->value = pr_strn(n->text, len);
    }
    return PR_OK;
}

static int yaml_push_member(struct pr_yaml_loader *l, const struct pr_member *m)
{
    void *p = pr_yaml_grow(l->stack, sizeof *l->stack, l->used, &l->cap);

    if (!p)
        return pr_fail_nomem(l->err);
    l->stack = p;
    l->stack[l->used++] = *m;
    return PR_OK;
}

/* One event and the node it begins; *ret_more is false at the closing one. */
static int read_next(struct pr_yaml_loader *l, struct pr_yaml_node *ret_node,
                     yaml_mark_t *ret_at, bool *ret_more)
{
    yaml_event_t e;
    int rc = pr_yaml_next_event(l, &e);

    if (rc)
        return rc;
    *ret_at = e.start_mark;
    *ret_more =
        e.type != YAML_SEQUENCE_END_EVENT && e.type != YAML_MAPPING_END_EVENT;
    if (*ret_more)
        rc = pr_yaml_read_node(l, &e, ret_node);
    yaml_event_delete(&e);
    return rc;
}

static void note_height(struct group *g, const struct pr_yaml_node *n)
{
    if (n->height > g->height)
        g->height = n->height;
}

static int yaml_read_list(struct pr_yaml_loader *l, struct group *g,
                          struct pr_value *v)
{
    struct pr_value *items;
    size_t n;

    for (;;) {
        struct pr_yaml_node item;
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

static int yaml_add_member(struct pr_yaml_loader *l, struct group *g,
                           const struct pr_member *m, const yaml_mark_t *at)
{
    size_t n = l->used - g->base, i;
    struct pr_member *own = n ? l->stack + g->base : NULL;
    int found = pr_keyset_member(&g->keys, own, n, m, &i);

    if (found < 0)
        return pr_fail_nomem(l->err);
    if (found)
        return pr_yaml_fail(
            l, at, "'%.80s' stands twice in the same map, first on line %u",
            m->key, own[i].line);
    return yaml_push_member(l, m);
}

static int yaml_read_member(struct pr_yaml_loader *l, struct group *g,
                            bool *more)
{
    struct pr_yaml_node key, value;
    yaml_mark_t at, value_at;
    struct pr_member m = {0};
    bool unused;
    int rc = read_next(l, &key, &at, more);

    if (rc || !*more)
        return rc;
    if (!key.text) {
        rc = pr_yaml_fail(l, &at, "%s cannot be a key",
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
        return pr_yaml_add_merge(l, &value_at, &value.value);
    m.key = key.text;
    m.key_len = key.text_len;
    m.line = (uint32_t)at.line + 1;
    m.col = (uint32_t)at.column + 1;
    m.value = value.value;
    return yaml_add_member(l, g, &m, &at);
}

static int yaml_read_map(struct pr_yaml_loader *l, struct group *g,
                         struct pr_value *v)
{
    for (bool more = true; more;) {
        int rc = yaml_read_member(l, g, &more);
        if (rc)
            return rc;
    }
    return pr_yaml_merge_map(l, g->first_merge,
                             l->stack ? l->stack + g->base : NULL,
                             l->used - g->base, v);
}

/* A list or map from its first event to its last. */
static int yaml_read_collection(struct pr_yaml_loader *l, const yaml_event_t *e,
                                struct pr_yaml_node *n)
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
        return pr_yaml_fail(
            l, &e->start_mark, "%s is not what its tag '!!%s' says",
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
static int read_own(struct pr_yaml_loader *l, const yaml_event_t *e,
                    struct pr_yaml_node *n)
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

int pr_yaml_read_node(struct pr_yaml_loader *l, const yaml_event_t *e,
                      struct pr_yaml_node *ret_node)
{
    struct pr_yaml_node n = {0};
    int rc =
        e->type == YAML_ALIAS_EVENT ? read_alias(l, e, &n) : read_own(l, e, &n);

    if (rc)
        return rc;
    n.value.line = (uint32_t)e->start_mark.line + 1;
    n.value.col = (uint32_t)e->start_mark.column + 1;
    *ret_node = n;
    return PR_OK;
}
