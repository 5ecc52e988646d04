/*
 * A table as text: the first line has the names, each other one is a result.
 * Fields are as RFC 4180 has them; what is a number in JSON is a number, the
 * rest is text, and an empty field is not there.
 */
#include "analyse/results/bench_csv.h"

#include "base/json/json_read.h"
#include "base/mem.h"

#include <string.h>

enum {
    MAX_FIELD = 8 << 20,
    MAX_NAMES = 65536,
};

struct pr_results_csv {
    struct pr_results_reader *r;
    const char *from;
    struct pr_arena *arena; /* of the names */
    const char **names;
    size_t name_count, name_cap;
    size_t column; /* of the field */
    bool headed;   /* the names are known */
    struct pr_buf field;
    enum { START, PLAIN, QUOTED, QUOTE } state;
    bool was_quoted; /* the field began with a quote */
    bool began;      /* the line has bytes */
};

struct pr_results_csv *pr_results_csv_new(struct pr_results_reader *r,
                                          const char *from)
{
    struct pr_results_csv *c = pr_alloc_zeroed(sizeof *c);

    if (!c)
        return NULL;
    *c = (struct pr_results_csv){
        .r = r,
        .from = from,
        .arena = pr_arena_new(4096),
        .field = PR_BUF_INIT(MAX_FIELD),
    };
    if (c->arena)
        return c;
    pr_free(c);
    return NULL;
}

void pr_results_csv_free(struct pr_results_csv *c)
{
    if (!c)
        return;
    pr_arena_free(c->arena);
    pr_buf_free(&c->field);
    pr_free(c);
}

/* The whole field as one word of JSON; false: it is text. */
static bool results_csv_read_number(const char *text, size_t len,
                                    struct pr_value *ret)
{
    struct pr_json_scan s = {
        .pos = text, .end = text + len, .line_start = text, .name = ""};

    return len && (*text == '-' || (*text >= '0' && *text <= '9')) &&
           pr_json_scan_word(&s, ret) == PR_OK && s.pos == s.end &&
           pr_value_is_number(ret);
}

static int results_csv_add_name(struct pr_results_csv *c, struct pr_err *err)
{
    const char **names;
    const char *text;
    size_t len = c->field.len;

    if (c->name_count == MAX_NAMES) {
        c->r->counts.dropped++;
        return PR_OK;
    }
    text = len ? c->field.data : "";
    if (!c->name_count && len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
        text += 3;
        len -= 3;
    }
    names = pr_arena_grow(c->arena, c->names, c->name_count, &c->name_cap,
                          sizeof *names);
    if (names)
        c->names = names;
    if (!names ||
        !(names[c->name_count++] = pr_arena_copy(c->arena, text, len)))
        return pr_fail_nomem(err);
    return PR_OK;
}

static int results_csv_put_field(struct pr_results_csv *c, struct pr_err *err)
{
    struct pr_value v;
    const char *name;

    if (c->column >= c->name_count) {
        c->r->counts.dropped++;
        return PR_OK;
    }
    name = c->names[c->column];
    if (!*name || (!c->field.len && !c->was_quoted))
        return PR_OK;
    if (!c->field.len)
        v = pr_str("");
    else if (c->was_quoted ||
             !results_csv_read_number(c->field.data, c->field.len, &v))
        v = pr_strn(c->field.data, c->field.len);
    return pr_results_row_put(c->r, name, strlen(name), &v, err);
}

static int end_field(struct pr_results_csv *c, struct pr_err *err)
{
    int rc = PR_OK;

    if (c->field.over)
        c->r->counts.dropped++;
    else if (!pr_buf_ok(&c->field))
        rc = pr_fail_nomem(err);
    else
        rc = c->headed ? results_csv_put_field(c, err)
                       : results_csv_add_name(c, err);
    pr_buf_clear(&c->field);
    c->state = START;
    c->was_quoted = false;
    c->column++;
    return rc;
}

static int results_csv_end_line(struct pr_results_csv *c, struct pr_err *err)
{
    int rc;

    if (!c->began)
        return PR_OK;
    rc = end_field(c, err);
    if (!rc && c->headed)
        rc = pr_results_row_end(c->r, c->from, err);
    c->headed = true;
    c->began = false;
    c->column = 0;
    pr_results_row_begin(c->r);
    return rc;
}

/* One byte; true: it ended a field or a line. */
static bool results_csv_add_byte(struct pr_results_csv *c, char ch)
{
    switch (c->state) {
    case QUOTED:
        if (ch == '"')
            c->state = QUOTE;
        else
            pr_buf_char(&c->field, ch);
        return false;
    case QUOTE:
        if (ch == '"') { /* two of them are one */
            pr_buf_char(&c->field, ch);
            c->state = QUOTED;
            return false;
        }
        c->state = PLAIN;
        break;
    case START:
        if (ch == '"') {
            c->state = QUOTED;
            c->was_quoted = true;
            return false;
        }
        c->state = PLAIN;
        break;
    default:
        break;
    }
    if (ch == ',' || ch == '\n' || ch == '\r')
        return true;
    pr_buf_char(&c->field, ch);
    return false;
}

int pr_results_csv_feed(struct pr_results_csv *c, const char *bytes, size_t len,
                        struct pr_err *err)
{
    int rc = PR_OK;

    for (size_t i = 0; !rc && i < len; i++) {
        bool ends =
            c->state != QUOTED && (bytes[i] == '\n' || bytes[i] == '\r');

        if (!ends)
            c->began = true;
        if (ends) {
            rc = results_csv_end_line(c, err);
            c->state = START;
        } else if (results_csv_add_byte(c, bytes[i])) {
            rc = end_field(c, err);
        }
    }
    return rc;
}

int pr_results_csv_end(struct pr_results_csv *c, struct pr_err *err)
{
    return results_csv_end_line(c, err);
}
