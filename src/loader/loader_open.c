/* From a folder and a few settings to a data set that can be read. */
#include "base/mem.h"
#include "conf/read/literal.h"
#include "loader/loader_impl.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

/* ---- parameters */

struct made {
    struct pr_arena *a;
    struct pr_member *members;
    uint32_t count, room;
};

static void loader_set_param(struct made *m, const char *key, struct pr_value v)
{
    for (uint32_t i = 0; i < m->count; i++)
        if (strcmp(m->members[i].key, key) == 0) {
            m->members[i].value = v; /* the last one counts */
            return;
        }
    m->members[m->count++] = (struct pr_member){
        .key = key, .key_len = (uint32_t)strlen(key), .value = v};
}

static bool is_loader_param(const char *name)
{
    return strncmp(name, "dataset.", 8) == 0 ||
           strncmp(name, "reader.", 7) == 0 ||
           strncmp(name, "storage.", 8) == 0;
}

static int loader_refuse_unknown(const char *name, struct pr_err *err)
{
    const struct pr_opt_section *section = NULL;
    const char *near;

    (void)pr_opt_find(name, &section);
    (void)pr_fail(err, PR_E_CONF, name, "there is no such parameter here");
    near = section ? pr_opt_nearest(section, name) : NULL;
    return near ? pr_hint(err, "did you mean '%s.%s'?", section->name, near)
                : pr_hint(err, "a loader takes those of dataset, reader and "
                               "storage");
}

/* "name=value" */
static int loader_parse_param(struct made *m, const char *text,
                              struct pr_err *err)
{
    const char *eq = strchr(text, '=');
    struct pr_value v;
    char *name;
    int rc;

    if (!eq)
        return pr_fail(err, PR_E_CONF, text, "'name=value' is wanted");
    name = pr_arena_copy(m->a, text, (size_t)(eq - text));
    if (!name)
        return pr_fail_nomem(err);
    if (!is_loader_param(name) || !pr_opt_find(name, NULL))
        return loader_refuse_unknown(name, err);
    rc = pr_literal_read(name, eq + 1, strlen(eq + 1), m->a, &v, NULL, err);
    if (!rc)
        loader_set_param(m, name, v);
    return rc;
}

/* As many threads as there are processors for them. */
static int64_t loader_count_threads(const struct pr_loader_opts *o)
{
    cpu_set_t mask;

    if (o->threads)
        return o->threads;
    return sched_getaffinity(0, sizeof mask, &mask) == 0 ? CPU_COUNT(&mask) : 1;
}

static int loader_make_params(struct pr_loader *l, struct made *m,
                              struct pr_err *err)
{
    const struct pr_loader_opts *o = &l->o;
    const char *path = pr_arena_str(l->arena, o->path), *format = NULL;
    int rc = PR_OK;

    m->a = l->arena;
    m->room = (uint32_t)o->param_count + 8;
    m->members = PR_ARENA_ARRAY(l->arena, struct pr_member, m->room);
    if (o->format)
        format = pr_arena_str(l->arena, o->format);
    if (!m->members || !path || (o->format && !format))
        return pr_fail_nomem(err);
    loader_set_param(m, "dataset.data_folder", pr_str(path));
    loader_set_param(m, "dataset.num_files_train", pr_int(1));
    loader_set_param(m, "reader.read_threads", pr_int(loader_count_threads(o)));
    loader_set_param(m, "reader.prefetch_size",
                     pr_int(o->prefetch ? o->prefetch : 2));
    if (format)
        loader_set_param(m, "dataset.format", pr_str(format));
    for (size_t i = 0; !rc && i < o->param_count; i++)
        rc = loader_parse_param(m, o->params[i], err);
    return rc;
}

/* ---- the folder */

/* 1: there is a folder of that name in path, which out becomes. */
static int find_below(struct pr_loader *l, const char *name,
                      char out[static PR_NAME_BYTES], struct pr_err *err)
{
    struct pr_object_info info;
    int n = snprintf(out, PR_NAME_BYTES, "%s/%s", l->o.path, name), rc;

    if (n < 0 || n >= PR_NAME_BYTES - 512)
        return pr_fail(err, PR_E_CONF, "",
                       "the name of the folder is too "
                       "long");
    rc = pr_storage_stat(l->first, out, &info, err);
    return rc == 1 ? info.is_folder : rc;
}

static int loader_find_folder(struct pr_loader *l,
                              char out[static PR_NAME_BYTES],
                              struct pr_err *err)
{
    struct pr_object_info info;
    int rc = pr_storage_stat(l->first, l->o.path, &info, err);

    if (rc < 0)
        return rc;
    if (rc == 0 || !info.is_folder)
        return pr_fail(err, PR_E_IO, l->o.path, "there is no such folder");
    rc = find_below(l, l->o.split ? l->o.split : "train", out, err);
    if (rc == 0 && l->o.split && strcmp(l->o.split, "valid") == 0)
        rc = find_below(l, "val", out, err);
    if (rc < 0)
        return rc;
    if (rc == 0 && l->o.split)
        return pr_fail(err, PR_E_IO, l->o.path, "there is no folder '%s' in it",
                       l->o.split);
    if (rc == 0)
        (void)snprintf(out, PR_NAME_BYTES, "%s", l->o.path);
    return PR_OK;
}

static int find_format(struct pr_loader *l, struct made *m, const char *folder,
                       struct pr_err *err)
{
    struct pr_value params = {
        .kind = PR_MAP, .len = m->count, .members = m->members};
    const struct pr_format *format;
    int rc;

    if (pr_get(&params, "dataset.format"))
        return PR_OK;
    rc = pr_dataset_guess_format(folder, l->first, &format, err);
    if (rc)
        return rc;
    if (!format) {
        (void)pr_fail(err, PR_E_CONF, folder,
                      "no file there has the name of a format");
        return pr_hint(err, "name the format: jpeg, npz and so on");
    }
    loader_set_param(m, "dataset.format", pr_str(format->name));
    return PR_OK;
}

/* ---- the first sample */

/* A format may learn from a read in vain how much memory one takes. */
static int read_first(struct pr_reader *r, struct pr_sample *ret,
                      struct pr_err *err)
{
    int rc = PR_E_CONF;

    for (size_t cap = 0; rc == PR_E_CONF && cap < r->need;) {
        void *buf = pr_alloc_aligned(PR_IO_ALIGN, r->need);

        cap = r->need;
        rc =
            buf ? pr_reader_read(r, 0, buf, cap, ret, err) : pr_fail_nomem(err);
        pr_free(buf);
    }
    ret->data = NULL;
    return rc;
}

/* How many samples a file has, if that is not known, and what the first one is
 * like. */
static int look_at_first(struct pr_loader *l, uint64_t samples, bool all,
                         struct pr_err *err)
{
    struct pr_read_opts read = {.samples = samples, .dtype = l->set.spec.dtype};
    struct pr_reader *r;
    char name[PR_NAME_BYTES];
    int rc = pr_reader_new(l->set.format, l->first, &read, &r, err);

    if (rc)
        return rc;
    pr_dataset_name(&l->set, 0, PR_NAME_DATA, name);
    rc = pr_reader_open(r, name, err);
    if (!rc && !r->samples)
        rc = pr_fail(err, PR_E_FORMAT, name, "there is no sample in it");
    if (!rc)
        l->set.spec.samples = r->samples;
    if (!rc && all)
        rc = read_first(r, &l->like, err);
    pr_reader_free(r);
    return rc;
}

/* Where files do not say which axis counts samples, an array is one. What is
 * learned is what the threads will see, who know the number. */
static int loader_read_layout(struct pr_loader *l, bool counted,
                              struct pr_err *err)
{
    int rc = counted ? PR_OK : look_at_first(l, 0, false, err);

    if (!rc)
        rc = look_at_first(l, l->set.spec.samples, true, err);
    l->has_labels = l->like.has_label;
    return rc;
}

static bool loader_has_param(const struct pr_value *params, const char *name)
{
    return pr_get(params, name) != NULL;
}

static int loader_read_params(struct pr_loader *l,
                              const struct pr_value *params, struct pr_err *err)
{
    int rc = pr_opt_fill(&pr_reader_section, params, l->arena, &l->reader, err);

    return rc ? rc : pr_dataset_init(&l->set, params, l->arena, err);
}

static int use_files(struct pr_loader *l, const char *folder, bool counted,
                     struct pr_err *err)
{
    struct pr_dataset_classes_opts opts = {.stop = &l->stop};
    uint64_t samples = l->set.spec.samples;
    int rc = pr_dataset_classes_list_in(&l->set, folder, l->first, &opts,
                                        &l->classes, err);

    if (rc)
        return rc;
    pr_dataset_use_classes(&l->set, PR_TRAIN, l->classes);
    l->set.files[PR_VALID] = l->set.named[PR_VALID] = 0;
    if (counted)
        l->set.spec.samples = samples;
    rc = loader_read_layout(l, counted, err);
    if (!l->classes->is_flat)
        l->has_labels = true;
    return rc;
}

int pr_loader_open(struct pr_loader *l, struct pr_err *err)
{
    struct made m = {.count = 0};
    struct pr_value params = {.kind = PR_MAP};
    char folder[PR_NAME_BYTES];
    int rc = loader_make_params(l, &m, err);

    if (rc)
        return rc;
    params.members = m.members;
    params.len = m.count;
    rc = pr_storage_read_opts(&params, l->arena, &l->storage, err);
    if (!rc)
        rc = pr_storage_check(&l->storage, err);
    if (!rc)
        rc = pr_storage_open(&l->storage, &l->first, err);
    if (!rc)
        rc = loader_find_folder(l, folder, err);
    if (!rc)
        rc = find_format(l, &m, folder, err);
    params.len = m.count;
    if (!rc)
        rc = loader_read_params(l, &params, err);
    return rc ? rc
              : use_files(
                    l, folder,
                    loader_has_param(&params, "dataset.num_samples_per_file"),
                    err);
}
