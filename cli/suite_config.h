/* Options that take a file of configuration or JSON right away. */
#ifndef PR_CLI_SUITE_CONFIG_H
#define PR_CLI_SUITE_CONFIG_H

#include "base/value.h"
#include "cli/cli.h"

/* Whether the text is JSON and no path, as milarun tells: by its first
 * character. */
bool config_is_inline(const char *text);

/* Whether it is named as a file of YAML or TOML. */
bool config_is_document(const char *text);

/* A path with "~" and "~/…" replaced by the home directory. */
const char *config_path(struct pr_arena *a, const char *path);

/* Reads a .json, .yaml or .toml file, inline JSON, or, by name, the weights of
 * a bundled suite; option is for errors. */
int config_read(struct pr_arena *a, const char *text, const char *option,
                struct pr_value *ret, struct pr_err *err) PR_MUST_CHECK;

#endif
