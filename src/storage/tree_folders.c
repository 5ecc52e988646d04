/* Names, folders and contents in the process: the folders. */
#include "base/buf.h"
#include "base/mem.h"
#include "storage/path.h"
#include "storage/tree_impl.h"

#include <errno.h>
#include <string.h>

int pr_tree_stat(struct pr_tree *t, const char *name,
                 struct pr_object_info *ret, struct pr_err *err)
{
    char clean[PR_PATH_BYTES];
    int rc = pr_path_clean(name, clean, err);

    if (rc)
        return rc;
    pthread_mutex_lock(&t->lock);
    struct pr_tree_entry *e = *pr_tree_slot(t, clean);
    const struct pr_blob *b = e ? e->blob : NULL;
    bool found = e || pr_tree_is_top(clean);

    if (found)
        *ret = (struct pr_object_info){b && b->whole ? b->size : 0, !b};
    pthread_mutex_unlock(&t->lock);
    return found;
}

int pr_tree_make_folder(struct pr_tree *t, const char *name, struct pr_err *err)
{
    char clean[PR_PATH_BYTES];
    int rc = pr_path_clean(name, clean, err);

    if (rc)
        return rc;
    pthread_mutex_lock(&t->lock);
    for (size_t i = 1; !rc && !pr_tree_is_top(clean); i++) {
        char c = clean[i];
        struct pr_tree_entry *e;

        if (c && c != '/')
            continue;
        clean[i] = '\0';
        e = *pr_tree_slot(t, clean);
        if (e && e->blob)
            rc = pr_fail(err, PR_E_IO, clean, "is a file, expected a folder");
        else if (!e)
            rc = pr_tree_put(t, clean, NULL, err);
        clean[i] = c;
        if (!c)
            break;
    }
    pthread_mutex_unlock(&t->lock);
    return rc;
}

/* The name of e below folder; NULL: it is not directly there. */
static const char *name_in(const struct pr_tree_entry *e, const char *folder)
{
    size_t n = strlen(folder);
    const char *base = e->name + pr_path_base(e->name);

    if (pr_tree_is_top(folder))
        return base == e->name + n ? base : NULL;
    if (strncmp(e->name, folder, n) != 0 || e->name[n] != '/')
        return NULL;
    return base == e->name + n + 1 ? base : NULL;
}

static bool has_any(struct pr_tree *t, const char *folder)
{
    for (size_t i = 0; i < t->slots; i++)
        for (struct pr_tree_entry *e = t->table[i]; e; e = e->next)
            if (name_in(e, folder))
                return true;
    return false;
}

int pr_tree_remove(struct pr_tree *t, const char *name, struct pr_err *err)
{
    char clean[PR_PATH_BYTES];
    int rc = pr_path_clean(name, clean, err);

    if (rc)
        return rc;
    pthread_mutex_lock(&t->lock);
    if (pr_tree_is_folder(t, clean) && has_any(t, clean)) {
        errno = ENOTEMPTY;
        rc = pr_fail_errno(err, PR_E_IO, name, "cannot remove");
    }
    if (!rc)
        pr_tree_cut(t, clean);
    pthread_mutex_unlock(&t->lock);
    return rc;
}

static void tree_add_name(struct pr_buf *names, const struct pr_tree_entry *e,
                          const char *folder)
{
    const char *name = name_in(e, folder);

    if (!name)
        return;
    pr_buf_char(names, e->blob ? 'o' : 'f');
    pr_buf_add(names, name, strlen(name) + 1);
}

/* Copies of the names first: each may well remove what it is given. */
int pr_tree_list(struct pr_tree *t, const char *folder,
                 int (*each)(void *ctx, const char *name, bool is_folder),
                 void *ctx, struct pr_err *err)
{
    char clean[PR_PATH_BYTES];
    PR_AUTO_BUF struct pr_buf names = PR_BUF_INIT(SIZE_MAX / 2);
    int rc = pr_path_clean(folder, clean, err);

    if (rc)
        return rc;
    pthread_mutex_lock(&t->lock);
    if (!pr_tree_is_folder(t, clean))
        rc = pr_fail(err, PR_E_IO, folder, "there is no such folder");
    for (size_t i = 0; !rc && i < t->slots; i++)
        for (struct pr_tree_entry *e = t->table[i]; e; e = e->next)
            tree_add_name(&names, e, clean);
    pthread_mutex_unlock(&t->lock);
    if (!rc && !pr_buf_ok(&names))
        rc = pr_fail_nomem(err);
    for (size_t i = 0; !rc && i < names.len; i += strlen(names.data + i) + 1)
        rc = each(ctx, names.data + i + 1, names.data[i] == 'f');
    return rc;
}

/* ---- another name for a folder */

/* A copy of e under the name that its folder gets; *list grows by it. */
static int add_renamed(const struct pr_tree_entry *e, const char *from,
                       const char *to, struct pr_tree_entry **list,
                       struct pr_err *err)
{
    const char *rest = e->name + strlen(from);
    char name[PR_PATH_BYTES];
    struct pr_tree_entry *made;

    if (strlen(to) + strlen(rest) >= sizeof name)
        return pr_path_too_long(e->name, err);
    memcpy(name, to, strlen(to));
    memcpy(name + strlen(to), rest, strlen(rest) + 1);
    made = pr_tree_entry_new(name, e->blob);
    if (!made)
        return pr_fail_nomem(err);
    made->next = *list;
    *list = made;
    return PR_OK;
}

/* Everything in both folders, under its new name. */
static int rename_all(const struct pr_tree *t, const char *from, const char *to,
                      struct pr_tree_entry **list, struct pr_err *err)
{
    int rc = PR_OK;

    for (size_t i = 0; !rc && i < t->slots; i++)
        for (struct pr_tree_entry *e = t->table[i]; !rc && e; e = e->next) {
            if (pr_path_is_within(e->name, from))
                rc = add_renamed(e, from, to, list, err);
            else if (pr_path_is_within(e->name, to))
                rc = add_renamed(e, to, from, list, err);
        }
    return rc;
}

static void free_list(struct pr_tree_entry *list)
{
    while (list) {
        struct pr_tree_entry *e = list;

        list = e->next;
        pr_free(e);
    }
}

/* The old entries go, the new ones take their contents over. */
static void tree_replace_entries(struct pr_tree *t, const char *from,
                                 const char *to, struct pr_tree_entry *list)
{
    for (size_t i = 0; i < t->slots; i++) {
        struct pr_tree_entry **at = &t->table[i];

        while (*at) {
            struct pr_tree_entry *e = *at;

            if (!pr_path_is_within(e->name, from) &&
                !pr_path_is_within(e->name, to)) {
                at = &e->next;
                continue;
            }
            *at = e->next;
            pr_free(e);
        }
    }
    while (list) {
        struct pr_tree_entry *e = list;
        struct pr_tree_entry **slot = pr_tree_slot(t, e->name);

        list = e->next;
        e->next = *slot;
        *slot = e;
    }
}

static int check_names(struct pr_tree *t, const char *from, const char *to,
                       struct pr_err *err)
{
    const struct pr_tree_entry *taken = *pr_tree_slot(t, to);

    if (pr_tree_is_top(from) || pr_tree_is_top(to) ||
        pr_path_is_within(from, to) || pr_path_is_within(to, from))
        return pr_fail(err, PR_E_IO, to,
                       "a folder and what is in it cannot change places");
    if (!pr_tree_is_folder(t, from))
        return pr_fail(err, PR_E_IO, from, "there is no such folder");
    if (taken && taken->blob)
        return pr_fail(err, PR_E_IO, to, "is not a folder");
    return pr_tree_check_parent(t, to, err);
}

int pr_tree_publish(struct pr_tree *t, const char *from, const char *to,
                    bool *ret_swapped, struct pr_err *err)
{
    char old_name[PR_PATH_BYTES], new_name[PR_PATH_BYTES];
    struct pr_tree_entry *list = NULL;
    bool taken = false;
    int rc = pr_path_clean(from, old_name, err);

    if (!rc)
        rc = pr_path_clean(to, new_name, err);
    if (rc)
        return rc;
    pthread_mutex_lock(&t->lock);
    rc = check_names(t, old_name, new_name, err);
    if (!rc) {
        taken = *pr_tree_slot(t, new_name);
        rc = rename_all(t, old_name, new_name, &list, err);
    }
    if (rc)
        free_list(list);
    else
        tree_replace_entries(t, old_name, new_name, list);
    pthread_mutex_unlock(&t->lock);
    if (!rc)
        *ret_swapped = taken;
    return rc;
}
