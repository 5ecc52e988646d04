/* Reading the list of tasks of GPU systems, and lists of systems. */
#include "catalog/gpu_tasks.h"

#include "base/file.h"
#include "base/text.h"
#include "conf/read/bundled.h"
#include "conf/read/yaml.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    MAX_TASKS_FILE = 1 << 20,
    MAX_SYSTEMS_FILE = 4 << 20,
    MAX_GPUS = 100000,
};

/* In the order of their enums. */
static const char *const ages[] = {"old", "mid", "new", NULL};
static const char *const dialect_words[] = {"g1", "v1", "v2", NULL};

/* ---- systems */

struct row {
    const char *name; /* of the file */
    const struct pr_value *map;
    struct pr_err *err;
};

static int system_fail_key(const struct row *r, const struct pr_value *at,
                           const char *key, const char *wanted)
{
    return pr_fail_at(r->err, PR_E_CONF, r->name, at->line, at->col,
                      "'%s' of a system must be %s", key, wanted);
}

/* A number may be a name: 3090. */
static int system_read_text(const struct row *r, const char *key,
                            struct pr_arena *a, const char **ret)
{
    const struct pr_value *v = pr_get(r->map, key);
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(4096);

    if (!v || (v->kind != PR_STR && v->kind != PR_INT))
        return system_fail_key(r, v ? v : r->map, key, "text");
    pr_value_write_text(&text, v);
    *ret =
        pr_buf_ok(&text) ? pr_arena_str(a, text.data ? text.data : "") : NULL;
    return *ret ? PR_OK : pr_fail_nomem(r->err);
}

static int system_read_number(const struct row *r, const char *key,
                              struct pr_value *ret)
{
    const struct pr_value *v = pr_get(r->map, key);

    if (v && (!pr_value_is_number(v) || !(pr_value_number(v) >= 0)))
        return system_fail_key(r, v, key, "a number");
    *ret = v ? *v : pr_null();
    return PR_OK;
}

/* One of a few words; *ret is left alone without the key. */
static int system_read_word(const struct row *r, const char *key,
                            const char *const *words, const char *wanted,
                            int *ret)
{
    const struct pr_value *v = pr_get(r->map, key);

    if (!v)
        return PR_OK;
    for (int i = 0; v->kind == PR_STR && words[i]; i++)
        if (strcmp(words[i], v->s) == 0) {
            *ret = i;
            return PR_OK;
        }
    return system_fail_key(r, v, key, wanted);
}

static int read_row(const struct row *r, struct pr_arena *a,
                    struct pr_system *s)
{
    const struct pr_value *gpus = pr_get(r->map, "gpus");
    int dialect = PR_GPU_TASK_V1, rc;

    *s = (struct pr_system){.age = -1};
    if (r->map->kind != PR_MAP)
        return system_fail_key(r, r->map, "folder", "in a map");
    rc = system_read_text(r, "folder", a, &s->folder);
    s->name = s->folder;
    if (!rc && pr_get(r->map, "name"))
        rc = system_read_text(r, "name", a, &s->name);
    if (!rc && gpus &&
        (gpus->kind != PR_INT || gpus->i < 1 || gpus->i > MAX_GPUS))
        rc = system_fail_key(r, gpus, "gpus", "a whole number from 1");
    if (!rc)
        s->gpus = gpus ? (int)gpus->i : pr_system_gpus(s->folder);
    if (!rc)
        rc = system_read_number(r, "watt", &s->watt);
    if (!rc)
        rc = system_read_number(r, "price", &s->price);
    if (!rc)
        rc = system_read_word(r, "dialect", dialect_words, "g1, v1 or v2",
                              &dialect);
    s->dialect = (enum pr_gpu_task_dialect_kind)dialect;
    return rc ? rc
              : system_read_word(r, "rules", ages, "old, mid or new", &s->age);
}

static int systems_set_row(struct pr_systems *s, const struct pr_system *row,
                           struct pr_arena *a, struct pr_err *err)
{
    struct pr_system *new;

    for (size_t i = 0; i < s->count; i++)
        if (strcmp(s->items[i].folder, row->folder) == 0) {
            s->items[i] = *row;
            return PR_OK;
        }
    new = PR_PUSH(a, s);
    if (!new)
        return pr_fail_nomem(err);
    *new = *row;
    return PR_OK;
}

int pr_systems_read(struct pr_systems *s, const char *path, struct pr_arena *a,
                    struct pr_err *err)
{
    const struct pr_value *list;
    struct pr_value root;
    struct pr_system row;
    const char *text;
    size_t len;
    int rc = pr_file_read(path, MAX_SYSTEMS_FILE, a, &text, &len, err);

    if (!rc)
        rc = pr_yaml_read(text, len, path, a, &root, err);
    if (rc)
        return rc;
    list = pr_get(&root, "systems");
    if (!list || list->kind != PR_LIST) {
        pr_fail(err, PR_E_CONF, path, "has no list 'systems'");
        return pr_hint(err, "systems: [{folder: MINE, name: My system, gpus: "
                            "8, watt: 700, price: 36000}]");
    }
    for (uint32_t i = 0; i < list->len && !rc; i++) {
        struct row r = {path, &list->items[i], err};
        rc = read_row(&r, a, &row);
        if (!rc)
            rc = systems_set_row(s, &row, a, err);
    }
    return rc;
}

int pr_systems_load(struct pr_systems *s, struct pr_arena *a,
                    struct pr_err *err)
{
    const char *path = pr_bundled_find(a, "systems", "lambda-systems");

    /* Without the list there are no names, watts and prices; figures stay. */
    return path ? pr_systems_read(s, path, a, err) : PR_OK;
}

const struct pr_system *pr_system_find(const struct pr_systems *s,
                                       const char *folder)
{
    for (size_t i = 0; i < s->count; i++)
        if (strcmp(s->items[i].folder, folder) == 0)
            return &s->items[i];
    return NULL;
}

/* "8x" with nothing but a sign before it; p3.2xlarge has other words. */
int pr_system_gpus(const char *name)
{
    for (const char *p = name; *p; p++) {
        char *end;
        long n;

        if (!isdigit((unsigned char)*p) ||
            (p > name && isalnum((unsigned char)p[-1])))
            continue;
        n = strtol(p, &end, 10);
        if (*end == 'x' && isalnum((unsigned char)end[1]) &&
            !islower((unsigned char)end[1]) && n >= 1 && n <= MAX_GPUS)
            return (int)n;
    }
    return 1;
}

/* ---- tasks */

const char *pr_gpu_task_dialect_word(enum pr_gpu_task_dialect_kind kind)
{
    return dialect_words[kind];
}

struct reader {
    const char *name; /* of the file */
    struct pr_arena *arena;
    struct pr_err *err;
};

static int gpu_task_fail_key(const struct reader *r, const struct pr_value *at,
                             const char *key, const char *wanted)
{
    return pr_fail_at(r->err, PR_E_CONF, r->name, at->line, at->col,
                      "'%s' must be %s", key, wanted);
}

/* Text, or NULL where the key is not. */
static int gpu_task_read_text(const struct reader *r,
                              const struct pr_value *map, const char *key,
                              const char **ret)
{
    const struct pr_value *v = pr_get(map, key);

    if (v && (v->kind != PR_STR || !v->len))
        return gpu_task_fail_key(r, v, key, "text");
    *ret = v ? v->s : NULL;
    return PR_OK;
}

static int need_text(const struct reader *r, const struct pr_value *map,
                     const char *key, const char **ret)
{
    int rc = gpu_task_read_text(r, map, key, ret);

    return !rc && !*ret ? gpu_task_fail_key(r, map, key, "there") : rc;
}

static int gpu_task_read_bool(const struct reader *r,
                              const struct pr_value *map, const char *key,
                              bool *ret)
{
    const struct pr_value *v = pr_get(map, key);

    if (v && v->kind != PR_BOOL)
        return gpu_task_fail_key(r, v, key, "true or false");
    *ret = v && v->b;
    return PR_OK;
}

static int gpu_task_read_int(const struct reader *r, const struct pr_value *map,
                             const char *key, int *ret)
{
    const struct pr_value *v = pr_get(map, key);

    if (v && (v->kind != PR_INT || v->i < -1000 || v->i > 1000))
        return gpu_task_fail_key(r, v, key, "a small whole number");
    if (v)
        *ret = (int)v->i;
    return PR_OK;
}

static int gpu_task_read_launch(const struct reader *r,
                                const struct pr_value *map, const char *key,
                                const struct pr_value **ret)
{
    const struct pr_value *v = pr_get(map, key);

    if (!v || v->kind != PR_LIST || !v->len)
        return gpu_task_fail_key(r, v ? v : map, key, "a list of arguments");
    for (uint32_t i = 0; i < v->len; i++)
        if (v->items[i].kind != PR_STR)
            return gpu_task_fail_key(r, &v->items[i], key, "a list of texts");
    *ret = v;
    return PR_OK;
}

static int gpu_task_read_rules(const struct reader *r,
                               const struct pr_value *map,
                               struct pr_gpu_task *t)
{
    const struct pr_value *rules = pr_get(map, "rules");

    for (int i = 0; i < PR_GPU_TASK_AGES; i++) {
        const struct pr_value *v = rules ? pr_get(rules, ages[i]) : NULL;
        struct pr_gpu_task_rule *rule = &t->rules[i];

        if (!v)
            continue;
        PR_TRY(need_text(r, v, "text", &rule->text));
        if (!pr_get(v, "word"))
            return gpu_task_fail_key(r, v, "word", "there");
        PR_TRY(gpu_task_read_int(r, v, "word", &rule->word));
        PR_TRY(gpu_task_read_bool(r, v, "per_step", &rule->per_step));
        rule->len = strlen(rule->text);
    }
    return PR_OK;
}

static int gpu_task_read_half(const struct reader *r,
                              const struct pr_value *map, struct pr_gpu_task *t)
{
    const struct pr_value *half = pr_get(map, "half");

    if (!half)
        return gpu_task_fail_key(r, map, "half", "there");
    for (int i = 0; i < PR_GPU_TASK_AGES; i++)
        PR_TRY(need_text(r, half, ages[i], &t->half[i]));
    return PR_OK;
}

static int gpu_task_read_batch(const struct reader *r,
                               const struct pr_value *map,
                               struct pr_gpu_task *t)
{
    const struct pr_value *batch = pr_get(map, "batch");
    const char *of;

    t->batch_place = -1;
    if (!batch)
        return PR_OK;
    PR_TRY(gpu_task_read_text(r, batch, "flag", &t->batch_flag));
    PR_TRY(gpu_task_read_int(r, batch, "place", &t->batch_place));
    PR_TRY(need_text(r, batch, "of", &of));
    if (!pr_text_equal(of, "gpu") && !pr_text_equal(of, "all"))
        return gpu_task_fail_key(r, batch, "of", "gpu or all");
    t->batch_of_all = pr_text_equal(of, "all");
    return PR_OK;
}

static int gpu_task_read_steps(const struct reader *r,
                               const struct pr_value *map,
                               struct pr_gpu_task *t)
{
    const struct pr_value *steps = pr_get(map, "steps");

    if (!steps)
        return PR_OK;
    PR_TRY(need_text(r, steps, "bar", &t->steps_bar));
    return need_text(r, steps, "seconds", &t->steps_seconds);
}

/* ---- tasks: data */

static int read_dataset(const struct reader *r, const struct pr_value *map,
                        struct pr_gpu_dataset *d)
{
    PR_TRY(need_text(r, map, "folder", &d->folder));
    PR_TRY(gpu_task_read_text(r, map, "prepare", &d->prepare));
    d->make = pr_get(map, "make");
    if (d->make && d->make->kind != PR_MAP)
        return gpu_task_fail_key(r, d->make, "make",
                                 "parameters of a data set");
    if (!d->make == !d->prepare)
        return gpu_task_fail_key(r, map, "datasets",
                                 "each with one of prepare and make");
    return PR_OK;
}

static int read_datasets(const struct reader *r, const struct pr_value *root,
                         struct pr_gpu_tasks *t)
{
    const struct pr_value *list = pr_get(root, "datasets");

    if (!list)
        return PR_OK;
    if (list->kind != PR_LIST)
        return gpu_task_fail_key(r, list, "datasets", "a list");
    t->datasets = PR_ARENA_ARRAY(r->arena, struct pr_gpu_dataset, list->len);
    if (!t->datasets)
        return pr_fail_nomem(r->err);
    t->dataset_count = list->len;
    for (uint32_t i = 0; i < list->len; i++)
        PR_TRY(read_dataset(r, &list->items[i], &t->datasets[i]));
    return PR_OK;
}

static int gpu_task_read_data(const struct reader *r,
                              const struct pr_value *map,
                              const struct pr_gpu_tasks *all,
                              struct pr_gpu_task *t)
{
    const struct pr_value *list = pr_get(map, "data");

    if (!list)
        return PR_OK;
    if (list->kind != PR_LIST)
        return gpu_task_fail_key(r, list, "data", "a list of folders");
    t->data =
        PR_ARENA_ARRAY(r->arena, const struct pr_gpu_dataset *, list->len);
    if (!t->data)
        return pr_fail_nomem(r->err);
    for (uint32_t i = 0; i < list->len; i++) {
        const struct pr_value *v = &list->items[i];

        for (size_t k = 0; v->kind == PR_STR && k < all->dataset_count; k++)
            if (strcmp(all->datasets[k].folder, v->s) == 0)
                t->data[i] = &all->datasets[k];
        if (!t->data[i])
            return gpu_task_fail_key(r, v, "data", "folders of datasets");
    }
    t->data_count = list->len;
    return PR_OK;
}

static int read_task(const struct reader *r, const struct pr_value *map,
                     const struct pr_gpu_tasks *all, struct pr_gpu_task *t)
{
    const struct pr_value *most = pr_get(map, "most");

    PR_TRY(need_text(r, map, "name", &t->name));
    PR_TRY(need_text(r, map, "column", &t->column));
    PR_TRY(need_text(r, map, "unit", &t->unit));
    PR_TRY(gpu_task_read_half(r, map, t));
    PR_TRY(gpu_task_read_rules(r, map, t));
    PR_TRY(gpu_task_read_bool(r, map, "by_para", &t->by_para));
    PR_TRY(gpu_task_read_batch(r, map, t));
    PR_TRY(gpu_task_read_text(r, map, "subset", &t->subset_flag));
    PR_TRY(gpu_task_read_steps(r, map, t));
    PR_TRY(gpu_task_read_launch(r, map, "launch", &t->launch));
    PR_TRY(gpu_task_read_launch(r, map, "launch_old", &t->launch_old));
    PR_TRY(gpu_task_read_data(r, map, all, t));
    if (most && !pr_value_is_number(most))
        return gpu_task_fail_key(r, most, "most", "a number");
    t->most = most ? pr_value_number(most) : 0;
    return PR_OK;
}

/* ---- tasks: dialects */

static int gpu_task_read_columns(const struct reader *r,
                                 const struct pr_gpu_tasks *t,
                                 const struct pr_value *list,
                                 struct pr_gpu_task_dialect *d)
{
    d->columns =
        PR_ARENA_ARRAY(r->arena, const struct pr_gpu_task *, list->len);
    if (!d->columns)
        return pr_fail_nomem(r->err);
    for (uint32_t i = 0; i < list->len; i++) {
        const struct pr_value *v = &list->items[i];

        for (size_t k = 0; v->kind == PR_STR && k < t->count; k++)
            if (strcmp(t->items[k].column, v->s) == 0)
                d->columns[d->count] = &t->items[k];
        if (!d->columns[d->count])
            return gpu_task_fail_key(r, v, "columns", "columns of tasks");
        d->count++;
    }
    return PR_OK;
}

static int read_dialect(const struct reader *r, const struct pr_gpu_tasks *t,
                        const struct pr_value *map,
                        struct pr_gpu_task_dialect *d)
{
    const struct pr_value *offset = pr_get(map, "offset");
    const struct pr_value *columns = pr_get(map, "columns");
    const char *rules;
    int age = 0, rc = need_text(r, map, "rules", &rules);

    while (!rc && age < PR_GPU_TASK_AGES && strcmp(rules, ages[age]) != 0)
        age++;
    if (!rc && age == PR_GPU_TASK_AGES)
        rc = gpu_task_fail_key(r, map, "rules", "old, mid or new");
    if (!rc && (!offset || !pr_value_is_number(offset)))
        rc = gpu_task_fail_key(r, map, "offset", "a number");
    if (!rc && (!columns || columns->kind != PR_LIST))
        rc = gpu_task_fail_key(r, map, "columns", "a list");
    if (rc)
        return rc;
    d->rules = (enum pr_gpu_task_age)age;
    d->offset = pr_value_number(offset);
    return gpu_task_read_columns(r, t, columns, d);
}

static int gpu_tasks_read_root(const struct reader *r,
                               const struct pr_value *root,
                               struct pr_gpu_tasks *t)
{
    const struct pr_value *list = pr_get(root, "tasks");
    const struct pr_value *dialects = pr_get(root, "dialects");
    int rc = PR_OK;

    if (!list || list->kind != PR_LIST || !dialects)
        return pr_fail(r->err, PR_E_CONF, r->name,
                       "a list of tasks has the keys tasks and dialects");
    t->count = list->len;
    t->items = PR_ARENA_ARRAY(r->arena, struct pr_gpu_task, list->len + 1);
    if (!t->items)
        return pr_fail_nomem(r->err);
    rc = read_datasets(r, root, t);
    for (uint32_t i = 0; i < list->len && !rc; i++)
        rc = read_task(r, &list->items[i], t, &t->items[i]);
    for (int i = 0; i < PR_GPU_TASK_DIALECTS && !rc; i++) {
        const struct pr_value *d =
            pr_get(dialects,
                   pr_gpu_task_dialect_word((enum pr_gpu_task_dialect_kind)i));
        rc = d ? read_dialect(r, t, d, &t->dialects[i])
               : gpu_task_fail_key(r, dialects, "dialects", "g1, v1 and v2");
    }
    return rc;
}

int pr_gpu_tasks_parse(const char *text, size_t len, const char *name,
                       struct pr_arena *a, struct pr_gpu_tasks *ret,
                       struct pr_err *err)
{
    struct reader r = {name, a, err};
    struct pr_gpu_tasks t = {0};
    struct pr_value root;
    int rc = pr_yaml_read(text, len, name, a, &root, err);

    if (!rc)
        rc = gpu_tasks_read_root(&r, &root, &t);
    if (!rc)
        *ret = t;
    return rc;
}

int pr_gpu_tasks_load(struct pr_arena *a, struct pr_gpu_tasks *ret,
                      struct pr_err *err)
{
    const char *path = pr_bundled_find(a, "systems", "lambda-tasks"), *text;
    size_t len;
    int rc;

    if (!path) {
        pr_fail(err, PR_E_UNAVAIL, "systems/lambda-tasks.yaml",
                "is not among the files that come with Prony");
        return pr_hint(err, "set PRONY_SHARE to where they lie");
    }
    rc = pr_file_read(path, MAX_TASKS_FILE, a, &text, &len, err);
    return rc ? rc : pr_gpu_tasks_parse(text, len, path, a, ret, err);
}

/* ---- tasks: names */

static bool gpu_task_has_name(const char *name, const char *model,
                              const char *precision)
{
    size_t n = strlen(model);

    return strncmp(name, model, n) == 0 && name[n] == '_' &&
           strcmp(name + n + 1, precision) == 0;
}

const struct pr_gpu_task *pr_gpu_task_find(const struct pr_gpu_tasks *t,
                                           const char *name)
{
    if (!pr_text_starts_with(name, "PyTorch_"))
        return NULL;
    for (size_t i = 0; i < t->count; i++) {
        const struct pr_gpu_task *task = &t->items[i];

        if (gpu_task_has_name(name + 8, task->name, "FP32"))
            return task;
        for (int k = 0; k < PR_GPU_TASK_AGES; k++)
            if (gpu_task_has_name(name + 8, task->name, task->half[k]))
                return task;
    }
    return NULL;
}

/* Where part, of any case, begins in text; NULL. */
static const char *find_part(const char *text, const char *part, size_t len)
{
    for (; *text; text++)
        if (strncasecmp(text, part, len) == 0)
            return text;
    return NULL;
}

bool pr_gpu_task_is_selected(const char *name, const char *words, size_t len)
{
    const char *at = name, *end = words + len;

    if (len == 3 && strncasecmp(words, "all", 3) == 0)
        return true;
    while (words < end) {
        const char *stop = memchr(words, '_', (size_t)(end - words));
        size_t n = (size_t)((stop ? stop : end) - words);

        at = n ? find_part(at, words, n) : at;
        if (!at)
            return false;
        at += n;
        words += n + 1;
    }
    return len > 0;
}

const char *pr_gpu_task_precision(const char *name)
{
    const char *last = strrchr(name, '_');

    if (!last)
        return "";
    return strcmp(last, "_FP32") == 0   ? "fp32"
           : strcmp(last, "_FP16") == 0 ? "fp16"
           : strcmp(last, "_AMP") == 0  ? "amp"
                                        : "";
}
