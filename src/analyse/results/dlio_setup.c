/* What a run of DLIO's was told: from hydra's config and overrides, from our
 * own params.json, or from its log. */
#include "analyse/results/dlio.h"
#include "base/file.h"
#include "conf/read/yaml.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CONFIG = 16 << 20, MAX_LOG = 64 << 20 };

/* "reader.batch_size" in a tree, or as a name in a flat map. */
static const struct pr_value *setup_find(const struct pr_value *map,
                                         const char *path)
{
    const struct pr_value *v = pr_get(map, path);
    const char *dot = strchr(path, '.');
    char part[64];

    if (v || !dot || (size_t)(dot - path) >= sizeof part)
        return v;
    memcpy(part, path, (size_t)(dot - path));
    part[dot - path] = '\0';
    map = pr_get(map, part);
    return map ? setup_find(map, dot + 1) : NULL;
}

/* The first of several names that has a number above 0. */
static double setup_find_number(const struct pr_value *map,
                                const char *const *paths)
{
    for (; *paths; paths++) {
        const struct pr_value *v = setup_find(map, *paths);
        if (v && pr_value_is_number(v) && pr_value_number(v) > 0 &&
            pr_value_number(v) < 1e18)
            return pr_value_number(v);
    }
    return 0;
}

static void setup_read_count(const struct pr_value *map,
                             const char *const *paths, uint64_t *to)
{
    double n = setup_find_number(map, paths);

    if (n >= 1)
        *to = (uint64_t)n;
}

static void setup_read_name(struct pr_arena *a, const struct pr_value *map,
                            struct pr_dlio_setup *s)
{
    const struct pr_value *v = setup_find(map, "model.name");

    if (!v || v->kind != PR_STR)
        v = pr_get(map, "model");
    if (v && v->kind == PR_STR && v->len)
        s->name = pr_arena_str(a, v->s);
}

/* Old names beside those of today. */
static void setup_read_map(struct pr_arena *a, const struct pr_value *map,
                           struct pr_dlio_setup *s)
{
    static const char *const epochs[] = {"train.epochs", "train.n_epochs",
                                         NULL};
    static const char *const batch[] = {
        "data_reader.batch_size", "reader.batch_size", "data_loader.batch_size",
        "dataset.batch_size", NULL};
    static const char *const batch_eval[] = {
        "data_reader.batch_size_eval", "reader.batch_size_eval",
        "data_loader.batch_size_eval", "dataset.batch_size_eval", NULL};
    static const char *const record[] = {"dataset.record_length_bytes",
                                         "dataset.record_length", NULL};
    const struct pr_value *eval = setup_find(map, "workflow.evaluation");
    double bytes = setup_find_number(map, record);

    setup_read_name(a, map, s);
    setup_read_count(map, epochs, &s->epochs);
    setup_read_count(map, batch, &s->batch);
    setup_read_count(map, batch_eval, &s->batch_eval);
    if (bytes > 0)
        s->record_bytes = bytes;
    if (eval && eval->kind == PR_BOOL)
        s->evaluation = eval->b;
}

/* 1: read; 0: not there or no YAML. */
static int read_yaml(const char *dir, const char *folder, const char *name,
                     struct pr_arena *a, struct pr_value *ret,
                     struct pr_err *err)
{
    const char *path = *folder == '/'
                           ? pr_arena_printf(a, "%s/%s", folder, name)
                           : pr_arena_printf(a, "%s/%s/%s", dir, folder, name);
    const char *text;
    size_t len;
    int rc;

    if (!path)
        return pr_fail_nomem(err);
    rc = pr_file_read_in(*folder == '/' ? NULL : dir, path, MAX_CONFIG, a,
                         &text, &len, err);
    if (!rc)
        rc = pr_yaml_read(text, len, path, a, ret, err);
    return rc == PR_E_NOMEM ? rc : rc == PR_OK;
}

/* Overrides count over the config: old versions wrote it without them. */
static void setup_read_override(const char *text, struct pr_dlio_setup *s)
{
    static const struct {
        const char *name;
        size_t offset;
    } rows[] = {
        {"train.epochs=", offsetof(struct pr_dlio_setup, epochs)},
        {"reader.batch_size=", offsetof(struct pr_dlio_setup, batch)},
        {"reader.batch_size_eval=", offsetof(struct pr_dlio_setup, batch_eval)},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *at = strstr(text, rows[i].name);
        long n = at ? strtol(at + strlen(rows[i].name), NULL, 10) : 0;
        if (n > 0)
            *(uint64_t *)((char *)s + rows[i].offset) = (uint64_t)n;
    }
}

static int setup_read_hydra(const char *dir, const char *folder,
                            struct pr_arena *a, struct pr_dlio_setup *s,
                            struct pr_err *err)
{
    struct pr_value v;
    const struct pr_value *tree;
    int rc = read_yaml(dir, folder, "config.yaml", a, &v, err), config = rc;

    if (rc == 1) {
        tree = pr_get(&v, "workload");
        setup_read_map(a, tree ? tree : &v, s);
    }
    if (rc >= 0)
        rc = read_yaml(dir, folder, "overrides.yaml", a, &v, err);
    for (uint32_t i = 0; rc == 1 && v.kind == PR_LIST && i < v.len; i++)
        if (v.items[i].kind == PR_STR)
            setup_read_override(v.items[i].s, s);
    return rc < 0 ? rc : rc || config;
}

/* "Max steps per epoch: 8 = 1 * 32 / 4 / 1 (samples per file …": the third
 * number is the batch. */
static int setup_read_log(const char *dir, struct pr_arena *a,
                          struct pr_dlio_setup *s, struct pr_err *err)
{
    const char *path = pr_arena_printf(a, "%s/dlio.log", dir), *text, *at;
    unsigned long long batch;
    size_t len;
    int rc = path ? pr_file_read_in(dir, path, MAX_LOG, a, &text, &len, err)
                  : pr_fail_nomem(err);

    if (rc)
        return rc == PR_E_NOMEM ? rc : PR_OK;
    at = strstr(text, "Max steps per epoch:");
    if (at && sscanf(at, "Max steps per epoch: %*u = %*u * %*u / %20llu",
                     &batch) == 1)
        s->batch = batch;
    return PR_OK;
}

int pr_dlio_read_setup(const char *dir, const char *hydra, struct pr_arena *a,
                       struct pr_dlio_setup *setup, struct pr_err *err)
{
    struct pr_dlio_setup found = *setup;
    struct pr_value params;
    int rc;

    if (hydra) {
        rc = setup_read_hydra(dir, hydra, a, &found, err);
    } else {
        rc = setup_read_hydra(dir, ".hydra", a, &found, err);
        if (!rc)
            rc = setup_read_hydra(dir, "dlio_config", a, &found, err);
    }
    if (!rc) {
        rc = pr_dlio_read_json(dir, "params.json", a, &params, err);
        if (rc == 1)
            setup_read_map(a, &params, &found);
    }
    if (rc == 1) { /* what DLIO has when its config does not say */
        found.batch += !found.batch;
        found.batch_eval += !found.batch_eval;
    }
    if (rc == 0 && !found.batch)
        rc = setup_read_log(dir, a, &found, err);
    if (rc < 0)
        return rc;
    *setup = found;
    return PR_OK;
}
