/*
 * Whole files: read, mapped, and written so that they appear whole or not at
 * all. Then what else lies around a program: folders, the programs on $PATH and
 * environments.
 */
#ifndef PR_BASE_FILE_H
#define PR_BASE_FILE_H

#include "base/err.h"
#include "base/mem.h"

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

/* Reads a file of at most max bytes into the arena, a NUL after it. */
int pr_file_read(const char *path, size_t max, struct pr_arena *a,
                 const char **ret_text, size_t *ret_len,
                 struct pr_err *err) PR_MUST_CHECK;

/* A read-only view of a regular file, for large ones. */
struct pr_view {
    const char *data;
    size_t len;
};
int pr_file_map(const char *path, struct pr_view *ret,
                struct pr_err *err) PR_MUST_CHECK;

/* What lies in a folder that others may have made, such as a run directory:
 * path begins with dir, and from there on no link is followed, nor anything but
 * a regular file opened, so that a folder discloses nothing outside and a pipe
 * stops nobody. dir NULL: links are followed. A descriptor, or an error. */
int pr_file_open_in(const char *dir, const char *path, struct stat *ret,
                    struct pr_err *err) PR_MUST_CHECK;
int pr_file_read_in(const char *dir, const char *path, size_t max,
                    struct pr_arena *a, const char **ret_text, size_t *ret_len,
                    struct pr_err *err) PR_MUST_CHECK;
int pr_file_map_in(const char *dir, const char *path, struct pr_view *ret,
                   struct pr_err *err) PR_MUST_CHECK;
void pr_file_unmap(struct pr_view *v);

/* A file being written under a name of its own beside path, renamed to path by
 * pr_file_commit. A process killed meanwhile leaves path as it was. When commit
 * returns, the file outlives a power cut; with `later` it does so once somebody
 * has synced its folder. */
struct pr_new_file {
    int fd; /* -1: not open */
    bool later;
    char path[4096];
    char temp[4096]; /* empty: path is a device or pipe, written directly */
};

/* What the temporary name of a file starts with. */
#define PR_TEMP_PREFIX ".new-"

int pr_file_create(const char *path, struct pr_new_file *ret,
                   struct pr_err *err) PR_MUST_CHECK;
int pr_file_append(struct pr_new_file *f, const void *data, size_t len,
                   struct pr_err *err) PR_MUST_CHECK;
int pr_file_commit(struct pr_new_file *f, struct pr_err *err) PR_MUST_CHECK;
void pr_file_discard(struct pr_new_file *f); /* after a failure; or no-op */

/* All of it at once. */
int pr_file_write(const char *path, const void *data, size_t len,
                  struct pr_err *err) PR_MUST_CHECK;
int pr_file_write_later(const char *path, const void *data, size_t len,
                        struct pr_err *err) PR_MUST_CHECK;

/* Writes all of it, whatever the kernel takes at a time. False: errno. */
bool pr_write_all(int fd, const void *data, size_t len);

/* mkdir -p; what is made outlives a power cut. */
int pr_make_dirs(const char *path, struct pr_err *err) PR_MUST_CHECK;

/* ---- environments: words NAME=value, in lists that end with NULL */

/* Whether both are about the same variable. */
bool pr_environ_is_same(const char *a, const char *b);

/* Whether the list (NULL: none) has the variable that word is about. */
bool pr_environ_has(const char *const *list, const char *word);

/* ---- folders */

/* The names that take() wants (NULL: all but hidden ones), in the order of
 * their bytes. at is the folder, for fstatat() and the like. In the arena. */
int pr_folder_names(const char *dir,
                    bool (*take)(int at, const struct dirent *e),
                    struct pr_arena *a, const char ***ret, size_t *ret_count,
                    struct pr_err *err) PR_MUST_CHECK;

/* The path from the root on, whether it is there or not. In the arena; NULL:
 * out of memory, or we are nowhere. */
const char *pr_folder_absolute(const char *dir, struct pr_arena *a);

/* Whether an entry is a folder, or a link to one. */
bool pr_entry_is_folder(int at, const struct dirent *e);

/* ---- programs */

/* The first file of that name on $PATH that can be executed, as a shell finds
 * it; false: none. */
bool pr_which(const char *program, char out[static PATH_MAX]);

#endif
