/* Laying out text: wrapping, sentences, lists of choices. */
#include "cli/docs.h"

#include <string.h>

void text_blanks(struct pr_buf *out, size_t n)
{
    while (n-- > 0)
        pr_buf_char(out, ' ');
}

static size_t text_count_columns(const char *s, size_t len)
{
    size_t n = 0;

    for (size_t i = 0; i < len; i++)
        n += ((unsigned char)s[i] & 0xc0) != 0x80;
    return n;
}

void text_wrap(struct pr_buf *out, const char *text, size_t col, size_t indent)
{
    bool fresh = true; /* nothing on this line yet */

    while (*text) {
        size_t len = strcspn(text, " \n"), wide = text_count_columns(text, len);

        if (!fresh && col + 1 + wide > DOCS_WIDTH) {
            pr_buf_char(out, '\n');
            text_blanks(out, indent);
            col = indent;
            fresh = true;
        }
        if (!fresh && len) {
            pr_buf_char(out, ' ');
            col++;
        }
        pr_buf_add(out, text, len);
        col += wide;
        fresh = fresh && !len;
        text += len;
        if (*text == '\n') {
            pr_buf_char(out, '\n');
            text_blanks(out, text[1] == '\n' ? 0 : indent);
            col = indent;
            fresh = true;
        }
        text += *text != '\0';
    }
    pr_buf_char(out, '\n');
}

void text_clear(struct pr_buf *part, struct pr_buf *out)
{
    if (!pr_buf_ok(part))
        out->failed = true;
    pr_buf_clear(part);
}

size_t text_sentence(const char *text)
{
    const char *end = strstr(text, ". ");

    return end ? (size_t)(end - text) + 1 : strlen(text);
}

const char *choice_next(const char **at, size_t *ret_len)
{
    const char *item = *at;

    if (!item)
        return NULL;
    *ret_len = strcspn(item, "|");
    *at = item[*ret_len] ? item + *ret_len + 1 : NULL;
    return item;
}

void text_choices(struct pr_buf *out, const char *choices, const char *sep)
{
    const char *at = choices, *item;
    size_t len;

    while ((item = choice_next(&at, &len))) {
        if (item != choices)
            pr_buf_str(out, sep ? sep : at ? ", " : " or ");
        if (!len && !sep)
            pr_buf_str(out, "(empty)");
        pr_buf_add(out, item, len);
    }
}
