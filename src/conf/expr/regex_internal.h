/* What the files of the regular expressions share; nobody else needs it. */
#ifndef PR_CONF_REGEX_INTERNAL_H
#define PR_CONF_REGEX_INTERNAL_H

#include "conf/expr/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#define PCRE2_CODE_UNIT_WIDTH 8

struct pr_regex {
    pcre2_general_context *general; /* our allocator */
    pcre2_match_context *match;     /* the limits; read only */
    pcre2_code *code;
    uint32_t groups;
    bool utf8;
};

/* Python's pattern as PCRE2 wants it, appended to out. *ret_utf8 is whether
 * the pattern is valid UTF-8. */
int pr_regex_translate(const char *pattern, size_t len, struct pr_buf *out,
                       bool *ret_utf8, struct pr_err *err);

#endif
