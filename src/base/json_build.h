/*
 * JSON written piece by piece, without building values first:
 *     struct pr_jb jb;
 *     pr_jb_init(&jb, &buf, 2);
 *     pr_jb_obj(&jb, NULL);
 *     pr_jb_str(&jb, "schema", "prony.result/1");
 *     pr_jb_end(&jb);
 * The key is NULL at the top and inside arrays, never inside objects. Failure
 * is the buffer's: check pr_buf_ok once, at the end. What is not known is left
 * out: NULL text and floats that are not finite vanish with their key (in an
 * array they become null, so that the others keep their places).
 */
#ifndef PR_BASE_JSON_BUILD_H
#define PR_BASE_JSON_BUILD_H

#include "base/buf.h"
#include "base/value.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PR_JB_MAX_DEPTH = 32 };

struct pr_jb {
    struct pr_buf *out;
    unsigned indent; /* blanks a level; 0: all on one line */
    unsigned depth;
    struct {
        bool array, filled;
    } level[PR_JB_MAX_DEPTH + 1];
};

void pr_jb_init(struct pr_jb *jb, struct pr_buf *out, unsigned indent);

/* Opens an object or array; pr_jb_end closes the innermost one. */
void pr_jb_obj(struct pr_jb *jb, const char *key);
void pr_jb_arr(struct pr_jb *jb, const char *key);
void pr_jb_end(struct pr_jb *jb);

void pr_jb_str(struct pr_jb *jb, const char *key, const char *s);
void pr_jb_strn(struct pr_jb *jb, const char *key, const char *s, size_t len);
void pr_jb_int(struct pr_jb *jb, const char *key, int64_t i);
void pr_jb_uint(struct pr_jb *jb, const char *key, uint64_t u);
void pr_jb_float(struct pr_jb *jb, const char *key, double f);
void pr_jb_bool(struct pr_jb *jb, const char *key, bool b);
void pr_jb_null(struct pr_jb *jb, const char *key);

/* Any value, written as pr_json_write does: NaN stays NaN in there. */
void pr_jb_value(struct pr_jb *jb, const char *key, const struct pr_value *v);

#endif
