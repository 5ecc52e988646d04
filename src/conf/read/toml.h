/*
 * TOML to values, as far as profiles and settings need it: tables, dotted and
 * quoted keys, all kinds of strings, numbers, booleans, arrays, inline tables.
 * Dates become text. Arrays of tables ([[name]]) are refused.
 */
#ifndef PR_CONF_TOML_H
#define PR_CONF_TOML_H

#include "base/err.h"
#include "base/value.h"

/* Whether text looks like TOML rather than YAML or JSON: its first line that
 * says something is a table's head or an assignment. */
bool pr_toml_is_likely(const char *text);

/* Reads a document into a map, in the order of the text. PR_E_FORMAT names
 * line and column; PR_E_NOMEM. text has a NUL after it. In the arena. */
int pr_toml_read(const char *text, size_t len, const char *name,
                 struct pr_arena *a, struct pr_value *ret_value,
                 struct pr_err *err) PR_MUST_CHECK;

#endif
