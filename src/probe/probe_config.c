/*
 * benchy's configuration file: four sections of plain values, of which a file
 * may name as few as it likes. One row here is one key.
 */
#include "base/err.h"
#include "base/file.h"
#include "base/text.h"
#include "conf/read/yaml.h"
#include "prony/probe.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { MAX_FILE = 1 << 20, MAX_COUNT = 100 * 1000 * 1000, PATH = 4096 };

enum kind { FLAG, COUNT, NAME, PATH_PART };

/* Where text goes that becomes a path only when all of it was read. */
struct raw {
    struct pr_probe_config *c;
    char mode[16], name[PATH], dir[PATH];
};

struct row {
    const char *section, *key;
    enum kind kind;
    uint64_t min;
    size_t offset; /* FLAG, COUNT: in the config; else in struct raw */
};

#define GLOBAL(key, kind, min)                                           \
    {                                                                    \
        "global", #key, kind, min, offsetof(struct pr_probe_config, key) \
    }
#define PHASE(section, i, key, kind, min, field)              \
    {                                                         \
        section, key, kind, min,                              \
            offsetof(struct pr_probe_config, phase) +         \
                (i) * sizeof(struct pr_probe_phase_config) +  \
                offsetof(struct pr_probe_phase_config, field) \
    }
#define PHASE_ROWS(section, i)                            \
    PHASE(section, i, "run_benchmark", FLAG, 0, run),     \
        PHASE(section, i, "nbatches", COUNT, 1, batches), \
        PHASE(section, i, "ntrials", COUNT, 0, trials),   \
        PHASE(section, i, "nwarmup", COUNT, 0, warmup)

static const struct row rows[] = {
    GLOBAL(report_freq, COUNT, 0),
    GLOBAL(exit_after_tests, FLAG, 0),
    GLOBAL(use_distributed_barrier, FLAG, 0),
    {"global", "profiler_mode", NAME, 0, offsetof(struct raw, mode)},
    {"global", "output_filename", PATH_PART, 0, offsetof(struct raw, name)},
    {"global", "output_dir", PATH_PART, 0, offsetof(struct raw, dir)},
    PHASE_ROWS("IO", PR_PROBE_IO),
    PHASE_ROWS("synthetic", PR_PROBE_SYNTHETIC),
    PHASE_ROWS("full", PR_PROBE_FULL),
};
enum { ROWS = sizeof rows / sizeof *rows };

struct reading {
    const char *file;
    struct raw raw;
    pr_probe_warn *warn;
    void *ctx;
};

/* ---- defaults and the path */

void pr_probe_config_init(struct pr_probe_config *config)
{
    struct pr_probe_config c = {.size = config->size,
                                .report_freq = 10,
                                .exit_after_tests = true,
                                .profiler_mode = "single",
                                .output = "benchy_result.json"};

    for (int i = 0; i < PR_PROBE_PHASES; i++)
        c.phase[i] = (struct pr_probe_phase_config){
            .run = true, .batches = 50, .trials = 3, .warmup = 1};
    memcpy(config, &c, config->size < sizeof c ? config->size : sizeof c);
}

/* "", "." and ".." at the end of a path: no file can be there, which would show
 * after the first trial. */
static bool names_a_folder(const char *path)
{
    const char *slash = strrchr(path, '/'), *last = slash ? slash + 1 : path;

    return last[strspn(last, ".")] == '\0' && strlen(last) < 3;
}

/* As os.path.join: an absolute name stands alone. */
static int probe_config_join_output(struct raw *raw, struct pr_err *err)
{
    char *out = raw->c->output;
    char here[PATH];
    int n;

    if (!*raw->dir && !getcwd(here, sizeof here))
        return pr_fail_errno(err, PR_E_IO, "", "the current folder");
    if (*raw->dir)
        memcpy(here, raw->dir, sizeof here);
    if (*raw->name == '/')
        n = snprintf(out, PATH, "%s", raw->name);
    else
        n = snprintf(out, PATH, "%s%s%s", here,
                     here[strlen(here) - 1] == '/' ? "" : "/", raw->name);
    if (n < 0 || n >= PATH)
        return pr_fail(err, PR_E_CONF, "output_filename",
                       "the path of the result is too long");
    if (names_a_folder(raw->name)) {
        (void)pr_fail(err, PR_E_CONF, "output_filename",
                      "'%.200s' is not a name of a file", raw->name);
        return pr_hint(err, "output_dir says in which folder it is");
    }
    return PR_OK;
}

/* ---- values */

static int probe_config_fail_kind(const struct reading *r,
                                  const struct row *row,
                                  const struct pr_value *v, const char *what,
                                  struct pr_err *err)
{
    return pr_fail_at(err, PR_E_CONF, r->file, v->line, v->col,
                      "'%s.%s' wants %s, got %s", row->section, row->key, what,
                      pr_kind_name(v->kind));
}

static int probe_config_read_flag(struct reading *r, const struct row *row,
                                  const struct pr_value *v, struct pr_err *err)
{
    bool *to = (bool *)((char *)r->raw.c + row->offset);

    if (v->kind == PR_BOOL)
        *to = v->b;
    else if (v->kind == PR_INT && (v->i == 0 || v->i == 1))
        *to = v->i == 1;
    else
        return probe_config_fail_kind(r, row, v, "True or False", err);
    return PR_OK;
}

static int probe_config_read_count(struct reading *r, const struct row *row,
                                   const struct pr_value *v, struct pr_err *err)
{
    uint64_t *to = (uint64_t *)(void *)((char *)r->raw.c + row->offset);

    if (v->kind != PR_INT)
        return probe_config_fail_kind(r, row, v, "a whole number", err);
    if (v->i < (int64_t)row->min || v->i > MAX_COUNT) {
        (void)pr_fail_at(err, PR_E_CONF, r->file, v->line, v->col,
                         "'%s.%s' must be between %llu and %d, got %lld",
                         row->section, row->key, (unsigned long long)row->min,
                         MAX_COUNT, (long long)v->i);
        return v->i == 0 ? pr_hint(err, "a phase that is not wanted has "
                                        "'run_benchmark: False'")
               : err     ? err->code
                         : PR_E_CONF;
    }
    *to = (uint64_t)v->i;
    return PR_OK;
}

static int probe_config_read_text(struct reading *r, const struct row *row,
                                  const struct pr_value *v, struct pr_err *err)
{
    char *to = (char *)&r->raw + row->offset;
    size_t room = row->kind == NAME ? sizeof r->raw.mode : PATH;

    if (v->kind != PR_STR || !v->len || memchr(v->s, '\0', v->len))
        return probe_config_fail_kind(r, row, v, "text", err);
    if (v->len >= room)
        return pr_fail_at(err, PR_E_CONF, r->file, v->line, v->col,
                          "'%s.%s' is too long", row->section, row->key);
    memcpy(to, v->s, v->len + 1);
    return PR_OK;
}

/* benchy takes any other word for "none", and so do we; a slip of the pen
 * should not end in a profile without anything in it. */
static int probe_config_read_mode(struct reading *r, const struct row *row,
                                  const struct pr_value *v, struct pr_err *err)
{
    static const char *const words[] = {"single", "all", "none"};
    char where[PATH + 32], text[128];
    int rc = probe_config_read_text(r, row, v, err);

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (rc || strcmp(r->raw.mode, words[i]) == 0)
            return rc;
    if (!r->warn)
        return PR_OK;
    snprintf(where, sizeof where, "%s:%u:%u", r->file, v->line, v->col);
    snprintf(text, sizeof text, "'%s.%s' is '%s', which is taken for 'none'",
             row->section, row->key, r->raw.mode);
    r->warn(r->ctx, where, text, "it knows 'single', 'all' and 'none'");
    return PR_OK;
}

static int probe_config_read_value(struct reading *r, const struct row *row,
                                   const struct pr_value *v, struct pr_err *err)
{
    if (row->kind == FLAG)
        return probe_config_read_flag(r, row, v, err);
    if (row->kind == NAME)
        return probe_config_read_mode(r, row, v, err);
    return row->kind == COUNT ? probe_config_read_count(r, row, v, err)
                              : probe_config_read_text(r, row, v, err);
}

/* ---- sections */

static void probe_config_warn_unknown(const struct reading *r,
                                      const struct pr_member *m,
                                      const struct pr_nearest *near,
                                      const char *section)
{
    char where[PATH + 32], text[512], remedy[128] = "it is ignored";

    if (!r->warn)
        return;
    snprintf(where, sizeof where, "%s:%u:%u", r->file, m->line, m->col);
    if (section)
        snprintf(text, sizeof text, "unknown key '%.200s' in section '%s'",
                 m->key, section);
    else
        snprintf(text, sizeof text, "unknown section '%.200s'", m->key);
    if (near->best)
        snprintf(remedy, sizeof remedy, "did you mean '%s'?", near->best);
    r->warn(r->ctx, where, text, remedy);
}

static int probe_config_read_key(struct reading *r, const char *section,
                                 const struct pr_member *m, struct pr_err *err)
{
    struct pr_nearest near;

    pr_nearest_init(&near, m->key);
    for (size_t i = 0; i < ROWS; i++) {
        if (strcmp(rows[i].section, section) != 0)
            continue;
        if (strcmp(rows[i].key, m->key) == 0)
            return probe_config_read_value(r, &rows[i], &m->value, err);
        pr_nearest_offer(&near, rows[i].key);
    }
    probe_config_warn_unknown(r, m, &near, section);
    return PR_OK;
}

static int probe_config_read_section(struct reading *r,
                                     const struct pr_member *m,
                                     struct pr_err *err)
{
    const struct pr_value *v = &m->value;
    struct pr_nearest near;
    int rc = PR_OK;
    bool known = false;

    pr_nearest_init(&near, m->key);
    for (size_t i = 0; !known && i < ROWS; i++) {
        known = strcmp(rows[i].section, m->key) == 0;
        pr_nearest_offer(&near, rows[i].section);
        if (strcasecmp(rows[i].section, m->key) == 0)
            near.best = rows[i].section;
    }
    if (!known) {
        probe_config_warn_unknown(r, m, &near, NULL);
        return PR_OK;
    }
    if (v->kind == PR_NULL) /* nothing below it, or comments alone */
        return PR_OK;
    if (v->kind != PR_MAP)
        return pr_fail_at(err, PR_E_CONF, r->file, v->line, v->col,
                          "section '%s' wants keys and values, got %s", m->key,
                          pr_kind_name(v->kind));
    for (uint32_t i = 0; !rc && i < v->len; i++)
        rc = probe_config_read_key(r, m->key, &v->members[i], err);
    return rc;
}

static int probe_config_read_file(struct reading *r, struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_value all;
    const char *text;
    size_t len;
    int rc = a ? pr_file_read(r->file, MAX_FILE, a, &text, &len, err)
               : pr_fail_nomem(err);

    if (!rc)
        rc = pr_yaml_read(text, len, r->file, a, &all, err);
    if (rc || all.kind == PR_NULL)
        return rc;
    if (all.kind != PR_MAP)
        return pr_fail_at(err, PR_E_CONF, r->file, all.line, all.col,
                          "expected the sections 'global', 'IO', 'synthetic' "
                          "and 'full', got %s",
                          pr_kind_name(all.kind));
    for (uint32_t i = 0; !rc && i < all.len; i++)
        rc = probe_config_read_section(r, &all.members[i], err);
    return rc;
}

/* Job scripts name each job's file. */
static int name_from_environment(struct raw *raw, struct pr_err *err)
{
    const char *name = getenv("BENCHY_OUTPUT_FILE");

    if (!name || !*name)
        return PR_OK;
    if (strlen(name) >= sizeof raw->name)
        return pr_fail(err, PR_E_CONF, "BENCHY_OUTPUT_FILE", "is too long");
    memcpy(raw->name, name, strlen(name) + 1);
    return PR_OK;
}

int pr_probe_config_read(const char *path, struct pr_probe_config *config,
                         pr_probe_warn *warn, void *ctx, struct pr_err *err)
{
    struct pr_probe_config c = {.size = sizeof c};
    struct reading r = {.raw = {.c = &c, .name = "benchy_result.json"},
                        .warn = warn,
                        .ctx = ctx};
    int rc = PR_OK;

    pr_probe_config_init(&c);
    memcpy(r.raw.mode, c.profiler_mode, sizeof r.raw.mode);
    r.file = path ? path : getenv("BENCHY_CONFIG_FILE");
    if (r.file && strlen(r.file) >= sizeof c.file)
        return pr_fail(err, PR_E_CONF, "",
                       "the name of the config is too "
                       "long");
    if (r.file && *r.file) {
        memcpy(c.file, r.file, strlen(r.file) + 1);
        rc = probe_config_read_file(&r, err);
    }
    if (!rc)
        rc = name_from_environment(&r.raw, err);
    if (!rc)
        rc = probe_config_join_output(&r.raw, err);
    if (rc)
        return rc;
    memcpy(c.profiler_mode, r.raw.mode, sizeof c.profiler_mode);
    c.size = config->size;
    memcpy(config, &c, config->size < sizeof c ? config->size : sizeof c);
    return PR_OK;
}
