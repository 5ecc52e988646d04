/*
 * YAML to values, on libyaml: what PyYAML's safe loader reads, with the float
 * rule of OmegaConf (1e3 is a number) and dates left as text. Every value
 * keeps its line and column. JSON is YAML, but read JSON with base/json/json.h.
 */
#ifndef PR_CONF_YAML_H
#define PR_CONF_YAML_H

#include "base/err.h"
#include "base/value.h"

/* The version of libyaml. */
const char *pr_yaml_version(void);

/* Reads one document. Anchors, aliases and merge keys (<<) work; their
 * expansion is limited. A key given twice, a tag that is not YAML's own and a
 * second document are errors. PR_E_FORMAT names line and column. */
int pr_yaml_read(const char *text, size_t len, const char *name,
                 struct pr_arena *a, struct pr_value *ret_value,
                 struct pr_err *err) PR_MUST_CHECK;

/* What an unquoted scalar means: null, bool, int, float or text. */
struct pr_value pr_yaml_read_scalar(const char *text, size_t len);

#endif
