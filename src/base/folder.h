/* The names in a folder, and its own. */
#ifndef PR_BASE_FOLDER_H
#define PR_BASE_FOLDER_H

#include "base/arena.h"
#include "base/err.h"

#include <dirent.h>
#include <stdbool.h>

/* Those that take() wants (NULL: all but hidden ones), in the order of their
 * bytes. at is the folder, for fstatat() and the like. In the arena. */
int pr_folder_names(const char *dir,
                    bool (*take)(int at, const struct dirent *e),
                    struct pr_arena *a, const char ***ret, size_t *ret_count,
                    struct pr_err *err) PR_MUST_CHECK;

/* Its path from the root on, whether it is there or not. In the arena; NULL:
 * out of memory, or we are nowhere. */
const char *pr_folder_absolute(const char *dir, struct pr_arena *a);

/* Whether that is a folder, or a link to one. */
bool pr_entry_is_folder(int at, const struct dirent *e);

#endif
