/*
 * Interned names: each distinct text gets a dense number, so that a parameter
 * set is an array and comparing names is comparing numbers.
 */
#ifndef PR_BASE_NAMES_H
#define PR_BASE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pr_names;

#define PR_NO_NAME UINT32_MAX

struct pr_names *pr_names_new(void); /* NULL when out of memory */
void pr_names_free(struct pr_names *n);

/* The number of a name, new or old; PR_NO_NAME when out of memory. */
uint32_t pr_names_add(struct pr_names *n, const char *text, size_t len);

/* PR_NO_NAME when it was never added. */
uint32_t pr_names_find(const struct pr_names *n, const char *text, size_t len);

uint32_t pr_names_count(const struct pr_names *n);
const char *pr_names_text(const struct pr_names *n, uint32_t id); /* borrowed */

#endif
