/* Telling the format of a folder's files by their names. */
#include "format/dataset/dataset_classes.h"

#include <string.h>

struct guess {
    const struct pr_format *format;
    char folder[256]; /* the first that there is */
};

static int dataset_guess_file(void *ctx, const char *name, bool is_folder)
{
    struct guess *g = ctx;

    if (*name == '.')
        return 0;
    if (is_folder) {
        if ((!*g->folder || strcmp(name, g->folder) < 0) &&
            strlen(name) < sizeof g->folder)
            memcpy(g->folder, name, strlen(name) + 1);
        return 0;
    }
    for (size_t i = 0; !g->format && pr_format_at(i); i++)
        if (pr_dataset_is_format_file(pr_format_at(i), name))
            g->format = pr_format_at(i);
    return g->format != NULL;
}

int pr_dataset_guess_format(const char *folder, struct pr_storage *st,
                            const struct pr_format **ret, struct pr_err *err)
{
    struct guess g = {.format = NULL};
    char below[PR_NAME_BYTES];
    int rc = pr_storage_list(st, folder, dataset_guess_file, &g, err);

    if (rc >= 0 && !g.format && *g.folder &&
        strlen(folder) + strlen(g.folder) + 2 <= sizeof below) {
        char *at = stpcpy(below, folder);

        *at++ = '/';
        (void)stpcpy(at, g.folder);
        rc = pr_storage_list(st, below, dataset_guess_file, &g, err);
    }
    *ret = g.format;
    return rc < 0 ? rc : PR_OK;
}
