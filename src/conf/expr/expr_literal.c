/* The numbers and texts that stand in an expression as such. */
#include "base/number.h"
#include "base/text.h"
#include "conf/expr/expr_tree.h"

#include <string.h>

static int digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return 99;
}

static bool lex_is_word_char(char c)
{
    return digit_value(c) < 10 || c == '_' || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80;
}

/* '1if x else 2': Python lets some keywords follow without a blank. */
static bool keyword_follows(const char *p, const char *end)
{
    static const char *const words[] = {"and", "else", "for", "if",
                                        "in",  "is",   "not", "or"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t n = strlen(words[i]);
        if ((size_t)(end - p) >= n && memcmp(p, words[i], n) == 0)
            return true;
    }
    return false;
}

static bool bad_number(struct pr_expr_lexer *l)
{
    const char *p = l->s;

    while (p < l->end && p - l->s < 24 && (lex_is_word_char(*p) || *p == '.'))
        p++;
    while (p > l->s && (unsigned char)p[-1] >= 0x80)
        p--;
    return pr_expr_fail(l->x, "invalid number '%.*s'", (int)(p - l->s), l->s);
}

static bool number_done(struct pr_expr_lexer *l, const char *p,
                        struct pr_expr_value v)
{
    if (p < l->end && lex_is_word_char(*p) && !keyword_follows(p, l->end))
        return bad_number(l);
    l->pos = p;
    l->len = (uint32_t)(p - l->s);
    l->kind = ET_CONST;
    l->value = v;
    return true;
}

/* Digits of a base with single underscores between them, from p on. NULL when
 * there is none or an underscore is misplaced; *ret_big: over 64 bits. */
static const char *lex_read_digits(const char *p, const char *end, int base,
                                   int64_t *ret, bool *ret_big)
{
    int64_t n = 0;
    bool after_digit = false;

    for (; p < end; p++) {
        if (*p == '_') {
            if (!after_digit)
                return NULL;
            after_digit = false;
            continue;
        }
        if (digit_value(*p) >= base)
            break;
        after_digit = true;
        if (__builtin_mul_overflow(n, base, &n) ||
            __builtin_add_overflow(n, digit_value(*p), &n))
            *ret_big = true;
    }
    *ret = n;
    return after_digit ? p : NULL;
}

static bool lex_prefixed_number(struct pr_expr_lexer *l, int base)
{
    const char *p = l->pos + 2;
    bool big = false;
    int64_t n;

    if (p < l->end && *p == '_')
        p++;
    p = lex_read_digits(p, l->end, base, &n, &big);
    if (!p)
        return bad_number(l);
    return big ? pr_expr_fail_too_big(l->x)
               : number_done(l, p, pr_expr_new_int(n));
}

/* The fraction and exponent after the whole part at p; NULL: misplaced. */
static const char *float_end(const char *p, const char *end)
{
    int64_t ignored;
    bool big;

    if (p < end && *p == '.') {
        p++;
        if (p < end && digit_value(*p) < 10)
            p = lex_read_digits(p, end, 10, &ignored, &big);
        else if (p < end && *p == '_')
            return NULL;
    }
    if (p && p < end && (*p == 'e' || *p == 'E')) {
        const char *e = p + 1;
        if (e < end && (*e == '+' || *e == '-'))
            e++;
        if (e < end && digit_value(*e) < 10)
            p = lex_read_digits(e, end, 10, &ignored, &big);
    }
    return p;
}

static bool float_done(struct pr_expr_lexer *l, const char *end)
{
    double f = pr_decimal_read(l->s, (size_t)(end - l->s));

    return number_done(l, end, pr_expr_new_float(f));
}

bool pr_expr_lex_number(struct pr_expr_lexer *l)
{
    const char *p = l->pos, *end;
    char second = l->end - p > 1 ? (char)(p[1] | 0x20) : '\0';
    bool big = false;
    int64_t n = 0;

    if (*p == '0' && (second == 'x' || second == 'o' || second == 'b'))
        return lex_prefixed_number(l, second == 'x'   ? 16
                                      : second == 'o' ? 8
                                                      : 2);
    if (*p != '.')
        p = lex_read_digits(p, l->end, 10, &n, &big);
    if (!p)
        return bad_number(l);
    end = float_end(p, l->end);
    if (!end)
        return bad_number(l);
    if (end != p)
        return float_done(l, end);
    if (*l->s == '0' && (n || big))
        return bad_number(l); /* 0777 */
    return big ? pr_expr_fail_too_big(l->x)
               : number_done(l, p, pr_expr_new_int(n));
}

/* \x41, \u0041, \U00000041: the escape letter is at p. */
static const char *code_escape(struct pr_expr_buf *b, const char *p,
                               const char *end)
{
    unsigned want = *p == 'x' ? 2 : *p == 'u' ? 4 : 8, code = 0;
    char utf8[4];

    for (p++; want; want--, p++) {
        if (p >= end || digit_value(*p) > 15 || code > 0x10ffff)
            break;
        code = code * 16 + (unsigned)digit_value(*p);
    }
    if (want || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) {
        pr_expr_record_error(b->x, "bad \\x, \\u or \\U escape in text");
        return NULL;
    }
    pr_expr_buf_add(b, utf8, pr_utf8_put(utf8, code));
    return p;
}

static const char *octal_escape(struct pr_expr_buf *b, const char *p,
                                const char *end)
{
    unsigned code = 0;
    char utf8[4];

    for (int i = 0; i < 3 && p < end && *p >= '0' && *p <= '7'; i++)
        code = code * 8 + (unsigned)(*p++ - '0');
    pr_expr_buf_add(b, utf8, pr_utf8_put(utf8, code));
    return p;
}

/* p is after the backslash. NULL: recorded. */
static const char *lex_read_escape(struct pr_expr_buf *b, const char *p,
                                   const char *end)
{
    static const char from[] = "ntr\\'\"abfv", to[] = "\n\t\r\\'\"\a\b\f\v";
    const char *at;

    if (*p == '\n')
        return p + 1;
    at = memchr(from, *p, sizeof from - 1);
    if (at) {
        pr_expr_buf_add(b, to + (at - from), 1);
        return p + 1;
    }
    if (*p == 'x' || *p == 'u' || *p == 'U')
        return code_escape(b, p, end);
    if (*p >= '0' && *p <= '7')
        return octal_escape(b, p, end);
    if (*p == 'N') {
        pr_expr_record_error(b->x, "\\N{...} is not supported in text");
        return NULL;
    }
    pr_expr_buf_add(b, "\\", 1); /* unknown: both stay, as with \$ */
    return p;
}

static bool lex_unescape_text(struct pr_expr_lexer *l, const char *p,
                              const char *end)
{
    struct pr_expr_buf b = {.x = l->x};

    while (p < end) {
        const char *slash = memchr(p, '\\', (size_t)(end - p));
        if (!slash) {
            pr_expr_buf_add(&b, p, (size_t)(end - p));
            break;
        }
        pr_expr_buf_add(&b, p, (size_t)(slash - p));
        p = lex_read_escape(&b, slash + 1, end);
        if (!p)
            return false;
    }
    return pr_expr_buf_value(&b, &l->value);
}

/* Where the text that starts at p ends: its closing quote, or NULL. */
static const char *lex_find_closing_quote(const char *p, const char *end,
                                          char quote, bool triple,
                                          bool *ret_escaped)
{
    for (; p < end; p++) {
        if (*p == '\\') {
            *ret_escaped = true;
            if (++p == end)
                return NULL;
        } else if (*p == quote) {
            if (!triple)
                return p;
            if (end - p > 2 && p[1] == quote && p[2] == quote)
                return p;
        } else if (*p == '\n' && !triple) {
            return NULL;
        }
    }
    return NULL;
}

/* The prefix, if any, is l->s[0..len). */
static bool check_prefix(struct pr_expr_lexer *l, bool *ret_raw)
{
    for (uint32_t i = 0; i < l->len; i++) {
        char c = (char)(l->s[i] | 0x20);
        if (c == 'f')
            return pr_expr_fail(l->x, "f'...' is not supported; use "
                                      "'...'.format()");
        if (c == 'b')
            return pr_expr_fail(l->x, "b'...' is not supported");
        if (c == 'r')
            *ret_raw = true;
    }
    return l->len < 2 || pr_expr_fail_syntax(l);
}

bool pr_expr_lex_string(struct pr_expr_lexer *l)
{
    const char *p = l->pos, *end;
    bool raw = false, escaped = false;
    char quote = *p;
    bool triple = l->end - p > 2 && p[1] == quote && p[2] == quote;

    l->kind = ET_CONST;
    if (!check_prefix(l, &raw))
        return false;
    p += triple ? 3 : 1;
    end = lex_find_closing_quote(p, l->end, quote, triple, &escaped);
    if (!end)
        return pr_expr_fail(l->x, "unterminated string");
    l->pos = end + (triple ? 3 : 1);
    l->len = (uint32_t)(l->pos - l->s);
    if (escaped && !raw)
        return lex_unescape_text(l, p, end);
    l->value = pr_expr_new_str(p, (size_t)(end - p));
    return true;
}
