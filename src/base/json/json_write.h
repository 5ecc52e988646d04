/*
 * JSON written piece by piece, without building values first:
 *     struct pr_json_writer jb;
 *     pr_json_writer_init(&jb, &buf, 2);
 *     pr_json_open_object(&jb, NULL);
 *     pr_json_put_str(&jb, "schema", "prony.result/1");
 *     pr_json_close(&jb);
 * The key is NULL at the top and inside arrays, never inside objects. Failure
 * is the buffer's: check pr_buf_ok once, at the end. What is not known is left
 * out: NULL text and floats that are not finite vanish with their key (in an
 * array they become null, so that the others keep their places).
 */
#ifndef PR_BASE_JSON_WRITE_H
#define PR_BASE_JSON_WRITE_H

#include "base/buf.h"
#include "base/value.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PR_JSON_WRITER_MAX_DEPTH = 32 };

struct pr_json_writer {
    struct pr_buf *out;
    unsigned indent; /* blanks a level; 0: all on one line */
    unsigned depth;
    struct {
        bool array, filled;
    } level[PR_JSON_WRITER_MAX_DEPTH + 1];
};

void pr_json_writer_init(struct pr_json_writer *jb, struct pr_buf *out,
                         unsigned indent);

/* Opens an object or array; pr_json_close closes the innermost one. */
void pr_json_open_object(struct pr_json_writer *jb, const char *key);
void pr_json_open_array(struct pr_json_writer *jb, const char *key);
void pr_json_close(struct pr_json_writer *jb);

void pr_json_put_str(struct pr_json_writer *jb, const char *key, const char *s);
void pr_json_put_strn(struct pr_json_writer *jb, const char *key, const char *s,
                      size_t len);
void pr_json_put_int(struct pr_json_writer *jb, const char *key, int64_t i);
void pr_json_put_uint(struct pr_json_writer *jb, const char *key, uint64_t u);
void pr_json_put_float(struct pr_json_writer *jb, const char *key, double f);
void pr_json_put_bool(struct pr_json_writer *jb, const char *key, bool b);
void pr_json_put_null(struct pr_json_writer *jb, const char *key);

/* Any value, written as pr_json_write does: NaN stays NaN in there. */
void pr_json_put_value(struct pr_json_writer *jb, const char *key,
                       const struct pr_value *v);

#endif
