/* What the scalars of YAML mean, with and without a tag; for yaml.c. */
#ifndef PR_CONF_YAML_SCALAR_H
#define PR_CONF_YAML_SCALAR_H

#include "base/value.h"

enum pr_yaml_tag {
    PR_YAML_NO_TAG,
    PR_YAML_STR,
    PR_YAML_INT,
    PR_YAML_FLOAT,
    PR_YAML_BOOL,
    PR_YAML_NULL,
    PR_YAML_SEQ,
    PR_YAML_MAP,
    PR_YAML_OTHER_TAG,
};

/* tag as libyaml resolved it, or NULL. */
enum pr_yaml_tag pr_yaml_find_tag(const char *tag);

/* The scalar as its tag wants it; false when it cannot be that. Text borrows
 * from text. */
bool pr_yaml_read_tagged(enum pr_yaml_tag tag, const char *text, size_t len,
                         struct pr_value *ret_value);

#endif
