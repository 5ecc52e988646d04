/* Names of objects taken apart. Whole folders are in storage.h. */
#ifndef PR_STORAGE_PATH_H
#define PR_STORAGE_PATH_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

enum { PR_PATH_BYTES = 4096 };

/* Of a/b/c: a/.part-c. */
int pr_path_part(const char *name, char out[static PR_PATH_BYTES],
                 struct pr_err *err) PR_MUST_CHECK;

/* Without doubled slashes, dots and what .. takes back: ./a//x/../b is a/b,
 * the place itself is the empty name. */
int pr_path_clean(const char *name, char out[static PR_PATH_BYTES],
                  struct pr_err *err) PR_MUST_CHECK;

/* Cuts the last name off a/b/c: a/b. What is left of /a is /, of a is empty.
 * False: there is nothing to cut. */
bool pr_path_up(char *path);

/* Whether a clean path is a folder's own or that of something in it. */
bool pr_path_is_within(const char *path, const char *folder);

/* Where the last name begins. */
size_t pr_path_base(const char *path);

int pr_path_too_long(const char *name, struct pr_err *err);

#endif
