/*
 * YAML on libyaml's events: the document around its one value, and libyaml's
 * complaints in our words.
 */
#include "conf/read/yaml.h"

#include "base/mem.h"
#include "base/text.h"
#include "conf/read/yaml_load.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MAX_BYTES = 1 << 30 };

int pr_yaml_fail(struct pr_yaml_loader *l, const yaml_mark_t *at,
                 const char *fmt, ...)
{
    char msg[sizeof l->err->msg];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(msg, sizeof msg, fmt, ap);
    va_end(ap);
    return pr_fail_at(l->err, PR_E_FORMAT, l->name, (unsigned)at->line + 1,
                      (unsigned)at->column + 1, "%s", msg);
}

void *pr_yaml_grow(void *items, size_t item_bytes, size_t count, size_t *cap)
{
    size_t more = *cap ? *cap * 2 : 32;
    void *p;

    if (count < *cap)
        return items;
    p = pr_realloc(items, more * item_bytes);
    if (p)
        *cap = more;
    return p;
}

/* Line and column of a byte, from 0: libyaml's reader gives only an offset. */
static yaml_mark_t mark_of_offset(const struct pr_yaml_loader *l, size_t offset)
{
    yaml_mark_t m = {0};

    for (size_t i = 0; i < offset && i < l->len; i++) {
        m.column += ((unsigned char)l->text[i] & 0xc0) != 0x80;
        if (l->text[i] == '\n') {
            m.line++;
            m.column = 0;
        }
    }
    return m;
}

static bool indented_by_tab(const struct pr_yaml_loader *l, size_t line)
{
    const char *p = l->text, *end = l->text + l->len;

    for (; line && p < end; p++)
        line -= *p == '\n';
    while (p < end && *p == ' ')
        p++;
    return p < end && *p == '\t';
}

/* A few of libyaml's complaints have one usual cause. */
static void add_hint(struct pr_yaml_loader *l, const char *problem, size_t line)
{
    if (indented_by_tab(l, line))
        (void)pr_hint(l->err, "indent with spaces: YAML takes no tabs there");
    else if (strstr(problem, "mapping values are not allowed"))
        (void)pr_hint(l->err, "put quotes around text that holds ': '");
    else if (strstr(problem, "cannot start any token"))
        (void)pr_hint(l->err, "put quotes around text that starts like this");
}

static int parser_failed(struct pr_yaml_loader *l)
{
    const yaml_parser_t *p = &l->parser;
    const char *problem = p->problem ? p->problem : "unknown problem";
    yaml_mark_t at = p->problem_mark;
    int rc;

    if (p->error == YAML_MEMORY_ERROR)
        return pr_fail_nomem(l->err);
    if (p->error == YAML_READER_ERROR)
        at = mark_of_offset(l, p->problem_offset);
    if (p->context && p->context_mark.line != at.line)
        rc = pr_yaml_fail(l, &at, "not valid YAML: %s %s begun on line %zu",
                          problem, p->context, p->context_mark.line + 1);
    else
        rc = pr_yaml_fail(l, &at, "not valid YAML: %s%s%s", problem,
                          p->context ? " " : "", p->context ? p->context : "");
    add_hint(l, problem, at.line);
    return rc;
}

int pr_yaml_next_event(struct pr_yaml_loader *l, yaml_event_t *ret_event)
{
    return yaml_parser_parse(&l->parser, ret_event) ? PR_OK : parser_failed(l);
}

static int yaml_check_text(struct pr_yaml_loader *l)
{
    size_t n;

    if (l->len > MAX_BYTES)
        return pr_fail(l->err, PR_E_FORMAT, l->name,
                       "a YAML file of more than 1 GiB");
    for (size_t i = 0; i < l->len; i += n) {
        n = pr_utf8_len(l->text + i, l->len - i);
        if (!n) {
            yaml_mark_t at = mark_of_offset(l, i);
            return pr_yaml_fail(l, &at,
                                "not valid YAML: the text is not "
                                "UTF-8");
        }
    }
    return PR_OK;
}

/* After the value: nothing but the end of the one document. */
static int yaml_read_end(struct pr_yaml_loader *l)
{
    yaml_event_type_t type = YAML_NO_EVENT;

    while (type != YAML_STREAM_END_EVENT) {
        yaml_event_t e;
        int rc = pr_yaml_next_event(l, &e);

        if (rc)
            return rc;
        type = e.type;
        if (type == YAML_DOCUMENT_START_EVENT)
            rc = pr_yaml_fail(l, &e.start_mark,
                              "a second document starts here, but one file "
                              "holds one");
        yaml_event_delete(&e);
        if (rc)
            return rc;
    }
    return PR_OK;
}

/* The first event that belongs to a value, or the end of an empty file. */
static int yaml_read_start(struct pr_yaml_loader *l, yaml_event_t *ret_event)
{
    for (;;) {
        int rc = pr_yaml_next_event(l, ret_event);

        if (rc || (ret_event->type != YAML_STREAM_START_EVENT &&
                   ret_event->type != YAML_DOCUMENT_START_EVENT))
            return rc;
        yaml_event_delete(ret_event);
    }
}

/* An empty file is null. */
static int yaml_read_document(struct pr_yaml_loader *l,
                              struct pr_value *ret_value)
{
    struct pr_yaml_node root = {.value = {.line = 1, .col = 1}};
    yaml_event_t e;
    int rc = yaml_read_start(l, &e);

    if (rc)
        return rc;
    if (e.type != YAML_STREAM_END_EVENT) {
        rc = pr_yaml_read_node(l, &e, &root);
        if (rc == PR_OK)
            rc = yaml_read_end(l);
    }
    yaml_event_delete(&e);
    if (rc == PR_OK)
        *ret_value = root.value;
    return rc;
}

int pr_yaml_read(const char *text, size_t len, const char *name,
                 struct pr_arena *a, struct pr_value *ret_value,
                 struct pr_err *err)
{
    bool bom = len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0;
    struct pr_yaml_loader l = {
        .text = text + (bom ? 3 : 0),
        .len = len - (bom ? 3 : 0),
        .name = name,
        .arena = a,
        .err = err,
    };
    int rc = yaml_check_text(&l);

    if (rc)
        return rc;
    if (!yaml_parser_initialize(&l.parser))
        return pr_fail_nomem(err);
    yaml_parser_set_encoding(&l.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&l.parser, (const unsigned char *)l.text,
                                 l.len);
    rc = yaml_read_document(&l, ret_value);
    yaml_parser_delete(&l.parser);
    pr_keyset_free(&l.anchor_names);
    pr_free(l.anchors);
    pr_free(l.merges);
    pr_free(l.stack);
    return rc;
}

const char *pr_yaml_version(void)
{
    return yaml_get_version_string();
}
