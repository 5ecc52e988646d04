/* A data set of somebody's own, with a folder for each class. */
#include "format/dataset/dataset_classes.h"
#include "native/images/image_set_impl.h"

static void listed_so_far(void *ctx, uint64_t files)
{
    struct pr_image_set *s = ctx;

    if (s->o.progress)
        pr_progress_write(s->o.progress, 0, "listing files: %llu",
                          (unsigned long long)files);
}

static int list_split(struct pr_image_set *s, enum pr_split split,
                      struct pr_storage *st, struct pr_err *err)
{
    struct pr_dataset_classes_opts opts = {s->o.stop, listed_so_far, s};
    int rc = pr_dataset_classes_list(&s->e.set, split, st, &opts,
                                     &s->classes[split], err);

    if (rc)
        return rc;
    if (s->classes[split])
        pr_dataset_use_classes(&s->e.set, split, s->classes[split]);
    else if (split == PR_VALID)
        s->e.set.files[PR_VALID] = 0; /* they would be of other classes */
    return PR_OK;
}

static int check_classes(const struct pr_image_set *s, struct pr_err *err)
{
    const struct pr_dataset_classes *c = s->classes[PR_TRAIN];

    if (!c || c->count <= (uint64_t)s->o.classes)
        return PR_OK;
    pr_fail(err, PR_E_CONF, c->folder,
            "there are folders of %llu classes, the model tells %lld apart",
            (unsigned long long)c->count, (long long)s->o.classes);
    return pr_hint(err, "exp.model_opts='{\"classes\": %llu}'",
                   (unsigned long long)c->count);
}

int pr_image_set_list_classes(struct pr_image_set *s, struct pr_err *err)
{
    struct pr_storage *st = NULL;
    int rc;

    if (s->e.workflow.generate_data || !pr_emulate_has_files(&s->e))
        return PR_OK;
    rc = pr_storage_open(&s->e.storage, &st, err);
    if (rc)
        return rc;
    rc = list_split(s, PR_TRAIN, st, err);
    if (!rc && s->classes[PR_TRAIN] && s->o.evaluates)
        rc = list_split(s, PR_VALID, st, err);
    pr_storage_close(st);
    return rc ? rc : check_classes(s, err);
}

int pr_image_set_add_hint(struct pr_image_set *s, int rc, struct pr_err *err)
{
    static const char *const names[] = {"jpeg", "png"};
    struct pr_dataset_classes_opts opts = {.stop = s->o.stop};

    for (size_t i = 0; rc == PR_E_CONF && i < 2; i++) {
        struct pr_dataset set = s->e.set;
        struct pr_dataset_classes *c = NULL;

        if (pr_format_find(names[i], &set.format, NULL) ||
            pr_dataset_classes_list(&set, PR_TRAIN, s->data.st, &opts, &c,
                                    NULL) ||
            !c)
            continue;
        pr_dataset_classes_free(c);
        return pr_hint(err, "there are folders of classes: dataset.format=%s",
                       names[i]);
    }
    return rc;
}

void pr_image_set_warn_unread(const struct pr_image_set *s,
                              struct pr_buf *notes)
{
    const struct pr_dataset_classes *c = s->classes[PR_TRAIN];

    if (c && c->others)
        pr_buf_printf(notes,
                      "data: %llu of %llu files are left out, their names do "
                      "not end as those of format %s\n",
                      (unsigned long long)c->others,
                      (unsigned long long)c->others + c->files,
                      s->e.set.format->name);
}
