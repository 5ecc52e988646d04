/*
 * What the files that read YAML share: yaml.c talks to libyaml, yaml_node.c
 * makes values of its events, yaml_merge.c applies merge keys.
 */
#ifndef PR_CONF_YAML_LOAD_H
#define PR_CONF_YAML_LOAD_H

#include "base/err.h"
#include "base/names.h"
#include "base/value.h"

#include <yaml.h>

enum { PR_YAML_MAX_DEPTH = 200, PR_YAML_MAX_NODES = 1000000 };

/* A value as it was read, with what only its parents need to know. */
struct pr_yaml_node {
    struct pr_value value;
    const char *text; /* of a scalar, as written */
    uint32_t text_len;
    uint32_t nodes;  /* it stands for, itself included */
    unsigned height; /* levels of lists and maps in it */
    bool merge;      /* an unquoted << */
};

struct pr_yaml_anchor {
    struct pr_yaml_node node;
    uint32_t line;
    bool open; /* its value is still being read */
};

struct pr_yaml_loader {
    yaml_parser_t parser;
    const char *text, *name;
    size_t len;
    struct pr_arena *arena;
    struct pr_err *err;
    struct pr_member *stack; /* of open lists (.value alone) and maps */
    size_t used, cap;
    struct pr_value *merges; /* of open maps: what their << named */
    size_t merge_count, merge_cap;
    struct pr_yaml_anchor *anchors;
    size_t anchor_count, anchor_cap;
    struct pr_keyset anchor_names;
    uint32_t nodes; /* read so far, aliases written out */
    unsigned depth;
};

/* Fails with PR_E_FORMAT at a place of the file. */
int pr_yaml_fail(struct pr_yaml_loader *l, const yaml_mark_t *at,
                 const char *fmt, ...) PR_PRINTF(3, 4);

/* The next event; the caller deletes it. On failure there is none. */
int pr_yaml_next_event(struct pr_yaml_loader *l, yaml_event_t *ret_event);

/* The value that begins with event e, all of it. */
int pr_yaml_read_node(struct pr_yaml_loader *l, const yaml_event_t *e,
                      struct pr_yaml_node *ret_node);

/* Notes what a << of the map being read names: a map or a list of maps. */
int pr_yaml_add_merge(struct pr_yaml_loader *l, const yaml_mark_t *at,
                      const struct pr_value *source);

/* The map of n members, over what its merges (from first_merge on) give. */
int pr_yaml_merge_map(struct pr_yaml_loader *l, size_t first_merge,
                      const struct pr_member *own, size_t n,
                      struct pr_value *ret_map);

/* items with room for one more than count; NULL, and items as they were, when
 * out of memory. */
void *pr_yaml_grow(void *items, size_t item_bytes, size_t count, size_t *cap);

#endif
