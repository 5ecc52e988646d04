/*
 * The bytes of one file, whatever it is. Its first bytes tell: JSON, events of
 * milabench, a table, else a log. What looks like JSON and is none was a log
 * after all.
 */
#include "analyse/results/results_take.h"

#include "analyse/results/results_impl.h"
#include "base/json/json_read.h"
#include "base/mem.h"
#include "record/log.h"

#include <string.h>

/* ---- lines of a stream, in bounded memory */

static const char *find_line_end(const char *p, const char *end)
{
    const char *nl = memchr(p, '\n', (size_t)(end - p));
    const char *cr = memchr(p, '\r', (size_t)((nl ? nl : end) - p));

    return cr ? cr : nl;
}

static int pass_line_on(struct pr_results_line_cutter *l, const char *p,
                        size_t len, pr_results_line_fn *line, void *ctx,
                        struct pr_err *err)
{
    int rc = PR_OK;

    if (l->part.len || l->skip) {
        pr_buf_add(&l->part, p, len);
        p = l->part.data;
        len = l->part.len;
        if (!pr_buf_ok(&l->part) && !l->part.over)
            return pr_fail_nomem(err);
        l->skip |= l->part.over;
    }
    if (l->skip)
        l->too_long++;
    else if (len)
        rc = line(ctx, p, len, err);
    pr_buf_clear(&l->part);
    l->part.failed = l->part.over = l->skip = false;
    return rc;
}

int pr_results_line_cutter_feed(struct pr_results_line_cutter *l,
                                const char *bytes, size_t len,
                                pr_results_line_fn *line, void *ctx,
                                struct pr_err *err)
{
    const char *p = bytes, *end = bytes + len;

    while (p < end) {
        const char *stop = find_line_end(p, end);
        int rc;

        if (!stop)
            break;
        rc = pass_line_on(l, p, (size_t)(stop - p), line, ctx, err);
        if (rc)
            return rc;
        p = stop + 1;
    }
    pr_buf_add(&l->part, p, (size_t)(end - p));
    if (!pr_buf_ok(&l->part) && !l->part.over)
        return pr_fail_nomem(err);
    if (l->part.over) {
        l->skip = true;
        pr_buf_clear(&l->part);
        l->part.failed = l->part.over = false;
    }
    return PR_OK;
}

int pr_results_line_cutter_end(struct pr_results_line_cutter *l,
                               pr_results_line_fn *line, void *ctx,
                               struct pr_err *err)
{
    int rc =
        l->part.len || l->skip ? pass_line_on(l, "", 0, line, ctx, err) : PR_OK;

    pr_buf_free(&l->part);
    return rc;
}

/* ---- a table of comma-separated values */

/*
 * The first line has the names, each other one is a result. Fields are as RFC
 * 4180 has them; what is a number in JSON is a number, the rest is text, and an
 * empty field is not there.
 */

enum {
    MAX_FIELD = 8 << 20,
    MAX_NAMES = 65536,
};

struct results_csv {
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

static struct results_csv *results_csv_new(struct pr_results_reader *r,
                                           const char *from)
{
    struct results_csv *c = pr_alloc_zeroed(sizeof *c);

    if (!c)
        return NULL;
    *c = (struct results_csv){
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

/* NULL is fine */
static void results_csv_free(struct results_csv *c)
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

static int results_csv_add_name(struct results_csv *c, struct pr_err *err)
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

static int results_csv_put_field(struct results_csv *c, struct pr_err *err)
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

static int end_field(struct results_csv *c, struct pr_err *err)
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

static int results_csv_end_line(struct results_csv *c, struct pr_err *err)
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
static bool results_csv_add_byte(struct results_csv *c, char ch)
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

static int results_csv_feed(struct results_csv *c, const char *bytes,
                            size_t len, struct pr_err *err)
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

/* The last line may lack its end. */
static int results_csv_end(struct results_csv *c, struct pr_err *err)
{
    return results_csv_end_line(c, err);
}

/* ---- the intake */

enum {
    HEAD = 64,           /* bytes that tell */
    MAX_DOC = 256 << 20, /* of a document that comes as a stream */
};

struct pr_results_intake {
    struct pr_results_reader *r;
    const char *name;
    enum pr_results_kind kind;
    enum { UNKNOWN, LOG, DOCUMENT, EVENTS, LAMBDA, TABLE } mode;
    struct pr_buf text; /* the head, or all of a document */
    struct pr_log_scanner *scanner;
    struct pr_results_line_cutter lines;
    struct pr_milabench_events *events;
    struct results_csv *table;
    uint64_t before; /* results when the table began */
};

struct pr_results_intake *pr_results_intake_new(struct pr_results_reader *r,
                                                const char *name,
                                                enum pr_results_kind kind,
                                                struct pr_err *err)
{
    struct pr_results_intake *in = pr_alloc_zeroed(sizeof *in);

    if (!in) {
        pr_fail_nomem(err);
        return NULL;
    }
    *in = (struct pr_results_intake){
        .r = r,
        .name = name,
        .kind = kind,
        .text = PR_BUF_INIT(MAX_DOC),
        .lines = PR_RESULTS_LINE_CUTTER_INIT,
    };
    r->counts.files++;
    return in;
}

struct pr_results_intake *
pr_results_intake_new_member(struct pr_results_reader *r, const char *archive,
                             const char *member, struct pr_err *err)
{
    char *name = pr_arena_printf(r->arena, "%s/%s", archive, member);

    if (!name) {
        pr_fail_nomem(err);
        return NULL;
    }
    /* Nothing else in there holds what a parsed list has. */
    return pr_results_intake_new(r, name, PR_RESULTS_FILE, err);
}

void pr_results_intake_free(struct pr_results_intake *in)
{
    if (!in)
        return;
    pr_buf_free(&in->text);
    pr_buf_free(&in->lines.part);
    pr_log_scanner_free(in->scanner);
    pr_milabench_events_free(in->events);
    results_csv_free(in->table);
    pr_free(in);
}

/* ---- kinds */

static int intake_put_param(void *ctx, const char *key, size_t len,
                            const struct pr_value *value, struct pr_err *err)
{
    return pr_results_row_put(ctx, key, len, value, err);
}

static int start_log(struct pr_results_intake *in, struct pr_err *err)
{
    in->mode = LOG;
    pr_results_row_begin(in->r);
    in->scanner = pr_log_scanner_new(in->name, intake_put_param, in->r);
    return in->scanner ? PR_OK : pr_fail_nomem(err);
}

/* Commas are in any text: here the name has to tell. */
static bool is_csv_name(const char *name)
{
    size_t n = strlen(name);

    if (n > 3 && strcmp(name + n - 3, ".gz") == 0)
        n -= 3;
    return n > 4 && memcmp(name + n - 4, ".csv", 4) == 0;
}

static int start_table(struct pr_results_intake *in, struct pr_err *err)
{
    in->mode = TABLE;
    pr_results_row_begin(in->r);
    in->before = in->r->counts.results;
    in->table = results_csv_new(in->r, in->name);
    return in->table ? PR_OK : pr_fail_nomem(err);
}

static int intake_detect_kind(struct pr_results_intake *in, struct pr_err *err)
{
    static const char bom[] = "\xef\xbb\xbf";
    const char *p = in->text.data ? in->text.data : "";
    const char *end = p + in->text.len;

    if (in->text.len >= 3 && memcmp(p, bom, 3) == 0)
        p += 3;
    while (p < end && strchr(" \t\r\n", *p))
        p++;
    if (pr_lambda_is_task_log(in->name)) {
        in->mode = LAMBDA;
        return PR_OK;
    }
    if (end - p >= 9 && (memcmp(p, "{\"event\":", 9) == 0 ||
                         memcmp(p, "{\"event\" ", 9) == 0)) {
        in->mode = EVENTS;
        in->events = pr_milabench_events_new();
        return in->events ? PR_OK : pr_fail_nomem(err);
    }
    if (p < end && (*p == '{' || *p == '[')) {
        in->mode = DOCUMENT;
        return PR_OK;
    }
    return is_csv_name(in->name) ? start_table(in, err) : start_log(in, err);
}

static int feed_kind(struct pr_results_intake *in, const char *bytes,
                     size_t len, struct pr_err *err)
{
    switch (in->mode) {
    case EVENTS:
        return pr_results_line_cutter_feed(
            &in->lines, bytes, len, pr_milabench_events_line, in->events, err);
    case LAMBDA:
        return pr_lambda_log_feed(&in->lines.part, bytes, len, err);
    case TABLE:
        return results_csv_feed(in->table, bytes, len, err);
    default:
        return pr_log_scanner_feed(in->scanner, bytes, len, err);
    }
}

/* A document too large to hold is read as the log it will be. */
static int feed_document(struct pr_results_intake *in, const char *bytes,
                         size_t len, struct pr_err *err)
{
    int rc;

    if (in->text.len + len <= MAX_DOC) {
        pr_buf_add(&in->text, bytes, len);
        return pr_buf_ok(&in->text) ? PR_OK : pr_fail_nomem(err);
    }
    rc = start_log(in, err);
    if (!rc)
        rc = feed_kind(in, in->text.data, in->text.len, err);
    pr_buf_free(&in->text);
    return rc ? rc : feed_kind(in, bytes, len, err);
}

int pr_results_intake_feed(struct pr_results_intake *in, const char *bytes,
                           size_t len, struct pr_err *err)
{
    int rc;

    if (in->mode == DOCUMENT)
        return feed_document(in, bytes, len, err);
    if (in->mode != UNKNOWN)
        return feed_kind(in, bytes, len, err);
    if (in->text.len + len < HEAD) {
        pr_buf_add(&in->text, bytes, len);
        return pr_buf_ok(&in->text) ? PR_OK : pr_fail_nomem(err);
    }
    if (!in->text.len) {
        struct pr_buf head = {.data = (char *)bytes, .len = len};
        in->text = head; /* borrowed while it is decided */
        rc = intake_detect_kind(in, err);
        in->text = (struct pr_buf)PR_BUF_INIT(MAX_DOC);
        return rc ? rc : pr_results_intake_feed(in, bytes, len, err);
    }
    rc = intake_detect_kind(in, err);
    if (!rc && in->mode != DOCUMENT) {
        rc = feed_kind(in, in->text.data, in->text.len, err);
        pr_buf_free(&in->text);
    }
    return rc ? rc : pr_results_intake_feed(in, bytes, len, err);
}

/* ---- the end */

static void count_log(struct pr_results_reader *r,
                      const struct pr_log_counts *n)
{
    r->counts.bad_lines += n->bad;
    r->counts.long_lines += n->too_long;
    if (n->bad)
        pr_results_add_warning(r, &n->first_bad);
}

static int end_log(struct pr_results_intake *in, struct pr_err *err)
{
    struct pr_log_counts n = {0};
    int rc = pr_log_scanner_finish(in->scanner, &n, err);

    if (rc)
        return rc;
    count_log(in->r, &n);
    in->r->counts.empty += in->r->count == 0;
    return pr_results_row_end(in->r, in->name, err);
}

static int intake_end_document(struct pr_results_intake *in, struct pr_err *err)
{
    struct pr_err e = {0};
    int rc = pr_results_json_read(in->r, in->name, in->text.data, in->text.len,
                                  in->kind, &e);

    return pr_results_intake_settle(in->r, in->name, in->text.data,
                                    in->text.len, rc, &e, in->kind, err);
}

int pr_results_intake_settle(struct pr_results_reader *r, const char *name,
                             const char *text, size_t len, int rc,
                             const struct pr_err *e, enum pr_results_kind kind,
                             struct pr_err *err)
{
    struct pr_results_intake *log;
    uint64_t before = r->counts.results;

    if (rc == 1)
        return PR_OK;
    if (rc == 0) {
        r->counts.empty++;
        return PR_OK;
    }
    if (rc != PR_E_FORMAT) {
        if (err)
            *err = *e;
        return rc;
    }
    pr_results_add_unreadable(r, e);
    if (kind == PR_RESULTS_FOUND)
        return PR_OK;
    log = pr_results_intake_new(r, name, kind, err);
    if (!log)
        return PR_E_NOMEM;
    r->counts.files--;
    rc = start_log(log, err);
    if (!rc)
        rc = feed_kind(log, text, len, err);
    if (!rc)
        rc = end_log(log, err);
    if (!rc && r->counts.results > before)
        r->counts.unreadable--;
    pr_results_intake_free(log);
    return rc;
}

static int end_events(struct pr_results_intake *in, struct pr_err *err)
{
    int rc = pr_results_line_cutter_end(&in->lines, pr_milabench_events_line,
                                        in->events, err);

    if (rc)
        return rc;
    in->r->counts.long_lines += in->lines.too_long;
    pr_results_row_begin(in->r);
    rc = pr_milabench_events_put(in->events, in->r, err);
    return rc ? rc : pr_results_row_end(in->r, in->name, err);
}

static int end_table(struct pr_results_intake *in, struct pr_err *err)
{
    int rc = results_csv_end(in->table, err);

    in->r->counts.empty += in->r->counts.results == in->before;
    return rc;
}

static int end_lambda(struct pr_results_intake *in, struct pr_err *err)
{
    int rc;

    pr_results_row_begin(in->r);
    rc = pr_lambda_log_put(in->name, &in->lines.part, in->r, err);
    return rc ? rc : pr_results_row_end(in->r, in->name, err);
}

int pr_results_intake_end(struct pr_results_intake *in, struct pr_err *err)
{
    int rc = PR_OK;

    if (in->mode == UNKNOWN) {
        rc = intake_detect_kind(in, err);
        if (!rc && in->mode != DOCUMENT)
            rc = feed_kind(in, in->text.data, in->text.len, err);
    }
    if (!rc)
        rc = in->mode == LOG        ? end_log(in, err)
             : in->mode == DOCUMENT ? intake_end_document(in, err)
             : in->mode == EVENTS   ? end_events(in, err)
             : in->mode == TABLE    ? end_table(in, err)
                                    : end_lambda(in, err);
    pr_results_intake_free(in);
    return rc;
}
