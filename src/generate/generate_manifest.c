/*
 * FOLDER/.prony-dataset.json: the parameters a data set was made with, and
 * whether it is complete. It is written before the first file, so that files
 * without it are somebody else's. While a set grows it also says what from, for
 * files may have names of both.
 */
#include "base/file.h"
#include "base/json/json.h"
#include "base/json/json_write.h"
#include "base/sync.h"
#include "generate/generate.h"

#include <stdio.h>
#include <string.h>

static const char file_name[] = "/.prony-dataset.json";

static const char *const count_names[PR_SPLITS] = {"num_files_train",
                                                   "num_files_eval"};

enum { MAX_MANIFEST = 1 << 20 };

/* Parameters that change no file. */
static bool manifest_is_relevant(const char *name)
{
    static const char *const others[] = {
        "data_folder", "keep_files", "record_length_bytes_resize",
        "record_element_bytes", "generation_buffer_size"};

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(name, others[i]) == 0)
            return false;
    return true;
}

/* The value of a field, whatever its kind. */
static struct pr_value manifest_get_field(const struct pr_opt *o,
                                          const void *opts)
{
    const char *at = (const char *)opts + o->offset;

    switch (o->kind) {
    case PR_OPT_BOOL:
        return pr_bool(*(const bool *)at);
    case PR_OPT_INT:
        return pr_int(*(const int64_t *)at);
    case PR_OPT_FLOAT:
    case PR_OPT_SECONDS:
        return pr_float(*(const double *)at);
    case PR_OPT_SIZE:
        return pr_int((int64_t) * (const uint64_t *)at);
    case PR_OPT_STR:
        return pr_str(*(const char *const *)at);
    default:
        return **(const struct pr_value *const *)at;
    }
}

/* A parameter that matters and differs; NULL: none. */
static const char *manifest_find_difference(const struct pr_dataset *a,
                                            const struct pr_dataset *b)
{
    const struct {
        const struct pr_opt_section *section;
        const void *a, *b;
    } parts[] = {
        {&pr_dataset_section, &a->opts, &b->opts},
        {&pr_dataset_hdf5_section, &a->hdf5, &b->hdf5},
    };

    for (size_t p = 0; p < 2; p++)
        for (size_t i = 0; i < parts[p].section->count; i++) {
            const struct pr_opt *o = &parts[p].section->opts[i];
            struct pr_value x = manifest_get_field(o, parts[p].a);
            struct pr_value y = manifest_get_field(o, parts[p].b);
            if (manifest_is_relevant(o->name) && !pr_value_equal(&x, &y))
                return o->name;
        }
    return NULL;
}

bool pr_generate_is_same(const struct pr_dataset *a, const struct pr_dataset *b,
                         const char **ret_name)
{
    const char *name = manifest_find_difference(a, b);

    if (ret_name)
        *ret_name = name;
    return !name;
}

static void add_section(struct pr_json_writer *jb,
                        const struct pr_opt_section *s, const void *opts)
{
    char name[128];

    for (size_t i = 0; i < s->count; i++) {
        struct pr_value v = manifest_get_field(&s->opts[i], opts);
        if (!manifest_is_relevant(s->opts[i].name))
            continue;
        snprintf(name, sizeof name, "%s.%s", s->name, s->opts[i].name);
        pr_json_put_value(jb, name, &v);
    }
}

static void add_growth(struct pr_json_writer *jb, const struct pr_dataset *from)
{
    pr_json_open_object(jb, "growing_from");
    for (int s = 0; s < PR_SPLITS; s++)
        pr_json_put_uint(jb, count_names[s], from->files[s]);
    pr_json_close(jb);
}

static bool has_files(const struct pr_generate_job *j)
{
    return strcmp(j->so->engine, "null") != 0;
}

static int sync_names(const struct pr_generate_job *j, const char *folder,
                      struct pr_err *err)
{
    char path[2 * PR_NAME_BYTES];

    if (j->opts->later || !has_files(j))
        return PR_OK;
    return pr_sync_names(pr_generate_path(j, folder, path), err);
}

int pr_manifest_write(struct pr_generate_job *j, const struct pr_dataset *d,
                      bool complete, const struct pr_dataset *from,
                      struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(MAX_MANIFEST);
    char name[sizeof d->folder + sizeof file_name];
    struct pr_object obj;
    struct pr_json_writer jb;
    int rc;

    pr_json_writer_init(&jb, &text, 2);
    pr_json_open_object(&jb, NULL);
    pr_json_put_str(&jb, "schema", "prony.dataset/1");
    pr_json_put_bool(&jb, "complete", complete);
    if (from)
        add_growth(&jb, from);
    pr_json_open_object(&jb, "parameters");
    add_section(&jb, &pr_dataset_section, &d->opts);
    add_section(&jb, &pr_dataset_hdf5_section, &d->hdf5);
    pr_json_close(&jb);
    pr_json_close(&jb);
    pr_buf_char(&text, '\n');
    if (!pr_buf_ok(&text))
        return pr_fail_nomem(err);
    snprintf(name, sizeof name, "%s%s", d->folder, file_name);
    PR_TRY(pr_object_create(j->st, name, text.len, &obj, err));
    rc = pr_object_write(&obj, 0, text.data, text.len, err);
    if (!rc && !j->opts->later)
        rc = pr_object_sync(&obj, err);
    if (rc) {
        pr_object_discard(&obj);
        return rc;
    }
    rc = pr_object_commit(&obj, err);
    return rc ? rc : sync_names(j, d->folder, err);
}

int pr_manifest_remove(struct pr_storage *st, const struct pr_dataset *d,
                       struct pr_err *err)
{
    char name[sizeof d->folder + sizeof file_name];

    snprintf(name, sizeof name, "%s%s", d->folder, file_name);
    return pr_storage_remove(st, name, err);
}

static int manifest_load(struct pr_storage *st, const char *name,
                         struct pr_arena *a, const char **ret, size_t *ret_len,
                         struct pr_err *err)
{
    struct pr_object obj;
    char *text;
    int rc = pr_object_open(st, name, &obj, err);

    if (rc)
        return rc;
    if (obj.size > MAX_MANIFEST) {
        rc = pr_fail(err, PR_E_FORMAT, name, "too large to be ours");
    } else if (!(text = pr_arena_alloc(a, (size_t)obj.size + 1))) {
        rc = pr_fail_nomem(err);
    } else {
        rc = pr_object_read(&obj, 0, (size_t)obj.size, text, err);
        text[obj.size] = '\0';
        *ret = text;
        *ret_len = (size_t)obj.size;
    }
    pr_object_close(&obj);
    return rc;
}

/* False: not what we write. */
static bool read_growth(const struct pr_value *root, struct pr_manifest *ret)
{
    const struct pr_value *from = pr_get(root, "growing_from");

    if (!from)
        return true;
    for (int s = 0; s < PR_SPLITS; s++) {
        const struct pr_value *n =
            from->kind == PR_MAP ? pr_get(from, count_names[s]) : NULL;
        if (!n || n->kind != PR_INT || n->i < 0)
            return false;
        ret->from[s] = (uint64_t)n->i;
    }
    ret->is_growing = true;
    return true;
}

int pr_manifest_read(struct pr_storage *st, const struct pr_dataset *d,
                     struct pr_arena *a, struct pr_manifest *ret,
                     struct pr_err *err)
{
    struct pr_manifest m = {.state = PR_MANIFEST_NONE};
    char *name = pr_arena_printf(a, "%s%s", d->folder, file_name);
    struct pr_json_in in = {.name = name};
    const struct pr_value *params, *complete;
    struct pr_object_info info;
    struct pr_value root;
    int rc = name ? pr_storage_stat(st, name, &info, err) : pr_fail_nomem(err);

    if (rc < 0)
        return rc;
    if (rc == 0) {
        *ret = m;
        return PR_OK;
    }
    rc = manifest_load(st, name, a, &in.text, &in.len, err);
    if (!rc)
        rc = pr_json_read(&in, a, &root, NULL, err);
    if (rc)
        return rc;
    params = pr_get(&root, "parameters");
    complete = pr_get(&root, "complete");
    if (!params || params->kind != PR_MAP || !complete ||
        !read_growth(&root, &m))
        return pr_fail(err, PR_E_FORMAT, name, "not what prony wrote there");
    m.params = *params;
    m.state = complete->kind == PR_BOOL && complete->b ? PR_MANIFEST_COMPLETE
                                                       : PR_MANIFEST_PARTIAL;
    *ret = m;
    return PR_OK;
}

/* What makes files of another size or form. */
static bool manifest_is_shape_param(const char *name)
{
    static const char *const names[] = {"record_length_bytes",
                                        "record_length_bytes_stdev",
                                        "record_dims",
                                        "record_element_type",
                                        "num_samples_per_file",
                                        "compression",
                                        "payload"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static void find_difference(const struct pr_dataset *old,
                            const struct pr_dataset *d, const char **ret_name)
{
    for (size_t i = 0; i < pr_dataset_section.count && !*ret_name; i++) {
        const struct pr_opt *o = &pr_dataset_section.opts[i];
        struct pr_value x = manifest_get_field(o, &old->opts),
                        y = manifest_get_field(o, &d->opts);

        if (manifest_is_shape_param(o->name) && !pr_value_equal(&x, &y))
            *ret_name = o->name;
    }
}

int pr_generate_find_difference(const struct pr_dataset *d,
                                const struct pr_storage_opts *so,
                                const char **ret_name, bool *ret_marked,
                                struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(16384);
    struct pr_storage_opts plain = pr_generate_plain(so);
    struct pr_dataset old;
    struct pr_storage *st;
    struct pr_manifest m;
    int rc = a ? pr_storage_open(&plain, &st, err) : pr_fail_nomem(err);

    *ret_name = NULL;
    if (rc)
        return rc;
    rc = pr_manifest_read(st, d, a, &m, err);
    /* Of another version nobody can tell. */
    if (!rc && m.state != PR_MANIFEST_NONE &&
        pr_dataset_init(&old, &m.params, a, NULL) == PR_OK)
        find_difference(&old, d, ret_name);
    if (ret_marked)
        *ret_marked = !rc && m.state != PR_MANIFEST_NONE;
    pr_storage_close(st);
    return rc;
}
