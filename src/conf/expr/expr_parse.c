/*
 * From the text of an expression to its tree: tokens, one at a time as the
 * parser asks for them, and recursive descent.
 */
#include "base/number.h"
#include "base/text.h"
#include "conf/expr/expr_tree.h"

#include <string.h>

/* ---- numbers and texts that stand in an expression as such */

/* Records "invalid syntax at ...". */
static void expr_record_syntax(struct pr_expr_lexer *l);
#define fail_syntax(l) (expr_record_syntax(l), false)

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

static bool expr_lex_number(struct pr_expr_lexer *l)
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
        return number_done(
            l, end,
            pr_expr_new_float(pr_decimal_read(l->s, (size_t)(end - l->s))));
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
    return l->len < 2 || fail_syntax(l);
}

static bool expr_lex_string(struct pr_expr_lexer *l)
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

/* ---- tokens */

static bool is_name_start(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool lex_is_digit(unsigned char c)
{
    return c >= '0' && c <= '9';
}

static const char *const op_texts[ET_COUNT] = {
    [ET_OR] = "or",         [ET_AND] = "and",       [ET_NOT] = "not",
    [ET_IN] = "in",         [ET_NOT_IN] = "not in", [ET_IS] = "is",
    [ET_IS_NOT] = "is not", [ET_EQ] = "==",         [ET_NE] = "!=",
    [ET_LT] = "<",          [ET_LE] = "<=",         [ET_GT] = ">",
    [ET_GE] = ">=",         [ET_BAR] = "|",         [ET_CARET] = "^",
    [ET_AMP] = "&",         [ET_SHL] = "<<",        [ET_SHR] = ">>",
    [ET_PLUS] = "+",        [ET_MINUS] = "-",       [ET_STAR] = "*",
    [ET_SLASH] = "/",       [ET_FLOOR] = "//",      [ET_PERCENT] = "%",
    [ET_POWER] = "**",      [ET_TILDE] = "~",
};

const char *pr_expr_op_text(int op)
{
    return op_texts[op] ? op_texts[op] : "?";
}

static void expr_record_syntax(struct pr_expr_lexer *l)
{
    char shown[32];
    size_t n = 0;

    if (l->kind == ET_END) {
        pr_expr_record_error(l->x,
                             "invalid syntax at the end: something is missing");
        return;
    }
    if (l->kind == ET_ASSIGN) {
        pr_expr_record_error(l->x,
                             "invalid syntax at '=': to compare, write '=='");
        return;
    }
    for (const char *p = l->s; p < l->s + l->len && n < sizeof shown - 1; p++)
        shown[n++] = (unsigned char)*p < 0x20 || *p == 0x7f ? ' ' : *p;
    /* Not half a character at the end of the message. */
    if (n == sizeof shown - 1)
        while (n && (unsigned char)shown[n - 1] >= 0x80)
            n--;
    shown[n] = '\0';
    pr_expr_record_error(l->x, "invalid syntax at '%s'", shown);
}

static const struct {
    const char *text;
    uint8_t len, kind;
} keywords[] = {
    {"if", 2, ET_IF},           {"or", 2, ET_OR},
    {"in", 2, ET_IN},           {"is", 2, ET_IS},
    {"as", 2, ET_BANNED},       {"and", 3, ET_AND},
    {"not", 3, ET_NOT},         {"for", 3, ET_FOR},
    {"def", 3, ET_BANNED},      {"del", 3, ET_BANNED},
    {"try", 3, ET_BANNED},      {"else", 4, ET_ELSE},
    {"True", 4, ET_TRUE},       {"None", 4, ET_NONE},
    {"from", 4, ET_BANNED},     {"pass", 4, ET_BANNED},
    {"with", 4, ET_BANNED},     {"elif", 4, ET_BANNED},
    {"False", 5, ET_FALSE},     {"async", 5, ET_BANNED},
    {"await", 5, ET_BANNED},    {"break", 5, ET_BANNED},
    {"class", 5, ET_BANNED},    {"raise", 5, ET_BANNED},
    {"while", 5, ET_BANNED},    {"yield", 5, ET_BANNED},
    {"assert", 6, ET_BANNED},   {"except", 6, ET_BANNED},
    {"global", 6, ET_BANNED},   {"import", 6, ET_BANNED},
    {"lambda", 6, ET_BANNED},   {"return", 6, ET_BANNED},
    {"finally", 7, ET_BANNED},  {"continue", 8, ET_BANNED},
    {"nonlocal", 8, ET_BANNED},
};

static int lex_find_keyword(const char *s, size_t len)
{
    /* Sorted by length: where each length begins. */
    static const uint8_t from[] = {0, 0, 0, 5, 11, 18, 26, 32, 33, 35};

    if (len < 2 || len > 8)
        return ET_NAME;
    for (unsigned i = from[len]; i < from[len + 1]; i++)
        if (memcmp(keywords[i].text, s, len) == 0)
            return keywords[i].kind;
    return ET_NAME;
}

/* r'..', u'..': text with a prefix; others are refused by their name. */
static bool is_prefix(const struct pr_expr_lexer *l)
{
    if (l->pos == l->end || (*l->pos != '\'' && *l->pos != '"') || l->len > 2)
        return false;
    for (uint32_t i = 0; i < l->len; i++)
        if (!strchr("rRuUbBfF", l->s[i]))
            return false;
    return true;
}

static bool lex_name(struct pr_expr_lexer *l)
{
    l->s = l->pos;
    while (l->pos < l->end && (is_name_start((unsigned char)*l->pos) ||
                               lex_is_digit((unsigned char)*l->pos)))
        l->pos++;
    l->len = (uint32_t)(l->pos - l->s);
    if (is_prefix(l))
        return expr_lex_string(l);
    l->kind = (uint8_t)lex_find_keyword(l->s, l->len);
    if (l->kind != ET_BANNED)
        return true;
    return pr_expr_fail(l->x, "'%.*s' is not supported in an expression",
                        (int)l->len, l->s);
}

/* Outside of brackets a line end closes the expression: only blanks, more line
 * ends and comments may follow. */
static bool only_blanks_follow(const struct pr_expr_lexer *l)
{
    const char *p = l->pos;

    while (p < l->end && *p && strchr(" \t\f\r\n", *p))
        p++;
    return p == l->end || *p == '#';
}

/* Skips what stands between tokens. False: recorded. */
static bool lex_skip_blanks(struct pr_expr_lexer *l)
{
    for (; l->pos < l->end; l->pos++) {
        char c = *l->pos;

        if (c == ' ' || c == '\t' || c == '\f')
            continue;
        if (c == '#') {
            const char *nl = memchr(l->pos, '\n', (size_t)(l->end - l->pos));
            l->pos = nl ? nl - 1 : l->end - 1;
        } else if (c == '\\' && l->end - l->pos > 2 && l->pos[1] == '\n') {
            l->pos++;
        } else if (c != '\n' && c != '\r') {
            break;
        } else if (!l->brackets && l->started && !only_blanks_follow(l)) {
            return pr_expr_fail(l->x, "invalid syntax: the expression goes on "
                                      "after the end of the line");
        }
    }
    return true;
}

static bool lex_set_punctuation(struct pr_expr_lexer *l, int kind, uint32_t len)
{
    l->kind = (uint8_t)kind;
    l->len = len;
    l->pos += len;
    return true;
}

/* One character, or two when the second follows. */
static bool maybe_two(struct pr_expr_lexer *l, int one, char second, int two)
{
    if (l->end - l->pos > 1 && l->pos[1] == second)
        return lex_set_punctuation(l, two, 2);
    return lex_set_punctuation(l, one, 1);
}

static bool lex_set_bracket(struct pr_expr_lexer *l, int kind)
{
    if (kind == ET_OPEN || kind == ET_SQUARE || kind == ET_CURLY)
        l->brackets++;
    else if (l->brackets)
        l->brackets--;
    return lex_set_punctuation(l, kind, 1);
}

static bool bad_char(struct pr_expr_lexer *l)
{
    l->kind = ET_BANNED;
    l->len = (uint32_t)pr_expr_codepoint_len(l->pos, (size_t)(l->end - l->pos));
    return fail_syntax(l);
}

static bool angle_or_bang(struct pr_expr_lexer *l, char c)
{
    char second = l->end - l->pos > 1 ? l->pos[1] : '\0';

    if (c == '!')
        return second == '=' ? lex_set_punctuation(l, ET_NE, 2) : bad_char(l);
    if (second == c)
        return lex_set_punctuation(l, c == '<' ? ET_SHL : ET_SHR, 2);
    return maybe_two(l, c == '<' ? ET_LT : ET_GT, '=',
                     c == '<' ? ET_LE : ET_GE);
}

static const uint8_t singles[128] = {
    ['('] = ET_OPEN,         [')'] = ET_CLOSE, ['['] = ET_SQUARE,
    [']'] = ET_SQUARE_CLOSE, ['{'] = ET_CURLY, ['}'] = ET_CURLY_CLOSE,
    [','] = ET_COMMA,        [':'] = ET_COLON, ['~'] = ET_TILDE,
    ['|'] = ET_BAR,          ['^'] = ET_CARET, ['&'] = ET_AMP,
    ['+'] = ET_PLUS,         ['-'] = ET_MINUS, ['%'] = ET_PERCENT,
};

static bool lex_operator(struct pr_expr_lexer *l, char c)
{
    unsigned char u = (unsigned char)c;

    if (c == '<' || c == '>' || c == '!')
        return angle_or_bang(l, c);
    if (c == '=')
        return maybe_two(l, ET_ASSIGN, '=', ET_EQ);
    if (c == '*')
        return maybe_two(l, ET_STAR, '*', ET_POWER);
    if (c == '/')
        return maybe_two(l, ET_SLASH, '/', ET_FLOOR);
    if (u >= 128 || !singles[u])
        return bad_char(l);
    if (singles[u] >= ET_OPEN && singles[u] <= ET_CURLY_CLOSE)
        return lex_set_bracket(l, singles[u]);
    if (l->end - l->pos > 1 && l->pos[1] == '=' && c != ',') {
        l->kind = ET_BANNED; /* ':=', '+=' and so on */
        l->len = 2;
        return fail_syntax(l);
    }
    return lex_set_punctuation(l, singles[u], 1);
}

static bool expr_next_token(struct pr_expr_lexer *l)
{
    unsigned char c;

    if (!lex_skip_blanks(l))
        return false;
    if (l->pos == l->end) {
        l->kind = ET_END;
        return true;
    }
    l->started = true;
    l->s = l->pos;
    c = (unsigned char)*l->pos;
    if (is_name_start(c))
        return lex_name(l);
    if (lex_is_digit(c) || (c == '.' && l->end - l->pos > 1 &&
                            lex_is_digit((unsigned char)l->pos[1])))
        return expr_lex_number(l);
    if (c == '\'' || c == '"') {
        l->len = 0;
        return expr_lex_string(l);
    }
    if (c == '.')
        return lex_set_punctuation(l, ET_DOT, 1);
    return lex_operator(l, (char)c);
}

/* ---- brackets: tuples, lists, dicts, sets and comprehensions */

enum {
    PREC_OR = 1,
    PREC_NOT = 3,
    PREC_BITS = 5, /* above the comparisons */
};

static bool expr_parse_test(struct pr_expr_lexer *l, struct pr_expr_node **ret);
static bool expr_parse_binary(struct pr_expr_lexer *l, int min,
                              struct pr_expr_node **ret);

static struct pr_expr_node *expr_new_node(struct pr_expr_lexer *l, int kind)
{
    struct pr_expr_node *n = pr_expr_alloc(l->x, sizeof *n);

    if (!n)
        return NULL;
    n->kind = (uint8_t)kind;
    n->op = n->sub = 0;
    n->len = 0;
    n->next = NULL;
    n->a = n->b = n->c = NULL;
    return n;
}

static bool expr_expect(struct pr_expr_lexer *l, int kind)
{
    return l->kind == kind ? expr_next_token(l) : fail_syntax(l);
}

/* An item of a list or an argument: may be *items. */
static bool expr_parse_item(struct pr_expr_lexer *l, struct pr_expr_node **ret)
{
    if (l->kind != ET_STAR)
        return expr_parse_test(l, ret);
    *ret = expr_new_node(l, EN_STAR);
    return *ret && expr_next_token(l) &&
           expr_parse_binary(l, PREC_BITS, &(*ret)->a);
}

/* for a, b in ... : the names, with or without brackets around them. */
static bool parse_for_names(struct pr_expr_lexer *l,
                            struct pr_expr_node *clause)
{
    struct pr_expr_node **tail = &clause->a;
    bool bracket = l->kind == ET_OPEN;

    if (bracket && !expr_next_token(l))
        return false;
    for (;;) {
        if (l->kind != ET_NAME)
            return fail_syntax(l);
        *tail = expr_new_node(l, EN_NAME);
        if (!*tail)
            return false;
        (*tail)->name = l->s;
        (*tail)->len = l->len;
        tail = &(*tail)->next;
        if (!expr_next_token(l))
            return false;
        if (l->kind != ET_COMMA)
            break;
        clause->sub = true;
        if (!expr_next_token(l))
            return false;
        if (l->kind == ET_IN || l->kind == ET_CLOSE)
            break;
    }
    return !bracket || expr_expect(l, ET_CLOSE);
}

/* for x in L if c for y in ...: stands at 'for'. */
static bool expr_parse_comp(struct pr_expr_lexer *l, struct pr_expr_node *item,
                            int kind, struct pr_expr_node **ret)
{
    struct pr_expr_node *n = expr_new_node(l, EN_COMP);
    struct pr_expr_node **tail;
    int clauses = 0;

    if (!n)
        return false;
    if (item->kind == EN_STAR)
        return pr_expr_fail(l->x, "'*' cannot be used in a comprehension");
    n->sub = (uint8_t)kind;
    n->a = item;
    tail = &n->b;
    for (; l->kind == ET_FOR || l->kind == ET_IF; tail = &(*tail)->next) {
        bool loop = l->kind == ET_FOR;

        if (++clauses > 10)
            return pr_expr_fail(l->x, "too many 'for' and 'if' in one list");
        *tail = expr_new_node(l, loop ? EN_FOR : EN_FILTER);
        if (!*tail || !expr_next_token(l))
            return false;
        if (loop && (!parse_for_names(l, *tail) || !expr_expect(l, ET_IN)))
            return false;
        if (!expr_parse_binary(l, PREC_OR, loop ? &(*tail)->b : &(*tail)->a))
            return false;
    }
    *ret = n;
    return true;
}

/* Items up to the closing bracket, the first of them already there. Stands
 * after the first. */
static bool rest_of_items(struct pr_expr_lexer *l, struct pr_expr_node *first,
                          int close)
{
    struct pr_expr_node *last = first;

    while (l->kind == ET_COMMA) {
        if (!expr_next_token(l))
            return false;
        if (l->kind == close)
            break;
        if (!expr_parse_item(l, &last->next))
            return false;
        last = last->next;
    }
    return expr_expect(l, close);
}

static bool expr_parse_paren(struct pr_expr_lexer *l, struct pr_expr_node **ret)
{
    struct pr_expr_node *first, *tuple;

    if (!expr_next_token(l))
        return false;
    if (l->kind != ET_CLOSE) {
        if (!expr_parse_item(l, &first))
            return false;
        if (l->kind == ET_FOR)
            return expr_parse_comp(l, first, EV_ITER, ret) &&
                   expr_expect(l, ET_CLOSE);
        if (l->kind == ET_CLOSE && first->kind != EN_STAR) {
            *ret = first;
            return expr_next_token(l);
        }
        if (l->kind != ET_COMMA)
            return fail_syntax(l);
    } else {
        first = NULL;
    }
    tuple = expr_new_node(l, EN_TUPLE);
    if (!tuple)
        return false;
    tuple->a = first;
    *ret = tuple;
    return first ? rest_of_items(l, first, ET_CLOSE) : expr_next_token(l);
}

static bool expr_parse_square(struct pr_expr_lexer *l,
                              struct pr_expr_node **ret)
{
    struct pr_expr_node *list;

    if (!expr_next_token(l))
        return false;
    list = expr_new_node(l, EN_LIST);
    if (!list)
        return false;
    *ret = list;
    if (l->kind == ET_SQUARE_CLOSE)
        return expr_next_token(l);
    if (!expr_parse_item(l, &list->a))
        return false;
    if (l->kind == ET_FOR)
        return expr_parse_comp(l, list->a, EV_LIST, ret) &&
               expr_expect(l, ET_SQUARE_CLOSE);
    return rest_of_items(l, list->a, ET_SQUARE_CLOSE);
}

/* Stands at the colon after the first key. */
static bool dict_items(struct pr_expr_lexer *l, struct pr_expr_node *dict)
{
    struct pr_expr_node *key = dict->a;

    for (;;) {
        if (!expr_expect(l, ET_COLON) || !expr_parse_test(l, &key->next))
            return false;
        if (l->kind == ET_FOR)
            return pr_expr_fail(l->x, "{k: v for ...} is not supported");
        if (l->kind != ET_COMMA)
            break;
        if (!expr_next_token(l))
            return false;
        if (l->kind == ET_CURLY_CLOSE)
            break;
        if (!expr_parse_test(l, &key->next->next))
            return false;
        key = key->next->next;
    }
    return expr_expect(l, ET_CURLY_CLOSE);
}

static bool expr_parse_curly(struct pr_expr_lexer *l, struct pr_expr_node **ret)
{
    struct pr_expr_node *n;

    if (!expr_next_token(l))
        return false;
    n = expr_new_node(l, EN_DICT);
    if (!n)
        return false;
    *ret = n;
    if (l->kind == ET_CURLY_CLOSE)
        return expr_next_token(l);
    if (l->kind == ET_POWER)
        return pr_expr_fail(l->x, "{**x} is not supported");
    if (!expr_parse_item(l, &n->a))
        return false;
    if (l->kind == ET_COLON && n->a->kind != EN_STAR)
        return dict_items(l, n);
    n->kind = EN_SET;
    if (l->kind == ET_FOR)
        return expr_parse_comp(l, n->a, EV_SET, ret) &&
               expr_expect(l, ET_CURLY_CLOSE);
    return rest_of_items(l, n->a, ET_CURLY_CLOSE);
}

/* ---- conditions, operators and what they stand between
 * Operators of one precedence make one node with a list of operands, so that
 * a long sum is not a deep tree. */

static bool expr_parse_trailers(struct pr_expr_lexer *l,
                                struct pr_expr_node *first,
                                struct pr_expr_node **ret);

static const uint8_t precedence[ET_COUNT] = {
    [ET_OR] = PREC_OR, [ET_AND] = 2,         [ET_IN] = 4,
    [ET_NOT] = 4, /* of 'not in' */
    [ET_IS] = 4,       [ET_EQ] = 4,          [ET_NE] = 4,
    [ET_LT] = 4,       [ET_LE] = 4,          [ET_GT] = 4,
    [ET_GE] = 4,       [ET_BAR] = PREC_BITS, [ET_CARET] = 6,
    [ET_AMP] = 7,      [ET_SHL] = 8,         [ET_SHR] = 8,
    [ET_PLUS] = 9,     [ET_MINUS] = 9,       [ET_STAR] = 10,
    [ET_SLASH] = 10,   [ET_FLOOR] = 10,      [ET_PERCENT] = 10,
};

static bool parse_enter_depth(struct pr_expr_lexer *l)
{
    if (++l->depth > PR_EXPR_DEPTH)
        return pr_expr_fail(l->x, "the expression is nested more than %d deep",
                            PR_EXPR_DEPTH);
    return true;
}

static bool parse_constant(struct pr_expr_lexer *l, struct pr_expr_value v,
                           struct pr_expr_node **ret)
{
    *ret = expr_new_node(l, EN_CONST);
    if (!*ret)
        return false;
    (*ret)->value = v;
    return expr_next_token(l);
}

/* 'a' 'b' is 'ab'. */
static bool parse_literal(struct pr_expr_lexer *l, struct pr_expr_node **ret)
{
    struct pr_expr_buf b = {.x = l->x};

    if (!parse_constant(l, l->value, ret))
        return false;
    if ((*ret)->value.kind != EV_STR || l->kind != ET_CONST)
        return true;
    pr_expr_buf_add(&b, (*ret)->value.s, (*ret)->value.len);
    while (l->kind == ET_CONST && l->value.kind == EV_STR) {
        pr_expr_buf_add(&b, l->value.s, l->value.len);
        if (!expr_next_token(l))
            return false;
    }
    return pr_expr_buf_value(&b, &(*ret)->value);
}

static bool parse_name_node(struct pr_expr_lexer *l, struct pr_expr_node **ret)
{
    *ret = expr_new_node(l, EN_NAME);
    if (!*ret)
        return false;
    (*ret)->name = l->s;
    (*ret)->len = l->len;
    return expr_next_token(l);
}

static bool parse_atom(struct pr_expr_lexer *l, struct pr_expr_node **ret)
{
    switch (l->kind) {
    case ET_CONST:
        return parse_literal(l, ret);
    case ET_NAME:
        return parse_name_node(l, ret);
    case ET_TRUE:
    case ET_FALSE:
        return parse_constant(l, pr_expr_new_bool(l->kind == ET_TRUE), ret);
    case ET_NONE:
        return parse_constant(l, (struct pr_expr_value){.kind = EV_NONE}, ret);
    case ET_OPEN:
        return expr_parse_paren(l, ret);
    case ET_SQUARE:
        return expr_parse_square(l, ret);
    case ET_CURLY:
        return expr_parse_curly(l, ret);
    default:
        return fail_syntax(l);
    }
}

static bool parse_unary(struct pr_expr_lexer *l, struct pr_expr_node **ret);

/* Whatever is inside something else comes through here, or is a sign or a
 * 'not' more: these three count the depth. */
static bool parse_power(struct pr_expr_lexer *l, struct pr_expr_node **ret)
{
    struct pr_expr_node *base, *n;

    if (!parse_enter_depth(l) || !parse_atom(l, &base))
        return false;
    if ((l->kind == ET_DOT || l->kind == ET_OPEN || l->kind == ET_SQUARE) &&
        !expr_parse_trailers(l, base, &base))
        return false;
    if (l->kind == ET_POWER) {
        n = expr_new_node(l, EN_POWER);
        if (!n || !expr_next_token(l) || !parse_unary(l, &n->b))
            return false;
        n->a = base;
        base = n;
    }
    l->depth--;
    *ret = base;
    return true;
}

static bool parse_unary(struct pr_expr_lexer *l, struct pr_expr_node **ret)
{
    struct pr_expr_node *n;

    if (l->kind != ET_MINUS && l->kind != ET_PLUS && l->kind != ET_TILDE)
        return parse_power(l, ret);
    n = expr_new_node(l, EN_UNARY);
    if (!n || !parse_enter_depth(l))
        return false;
    n->sub = l->kind;
    if (!expr_next_token(l) || !parse_unary(l, &n->a))
        return false;
    l->depth--;
    *ret = n;
    return true;
}

static bool parse_not(struct pr_expr_lexer *l, struct pr_expr_node **ret)
{
    struct pr_expr_node *n = expr_new_node(l, EN_NOT);

    if (!n || !parse_enter_depth(l) || !expr_next_token(l) ||
        !expr_parse_binary(l, PREC_NOT, &n->a))
        return false;
    l->depth--;
    *ret = n;
    return true;
}

/* Steps over the operator; 'not in' and 'is not' are two words. */
static bool parse_operator(struct pr_expr_lexer *l, int *ret)
{
    int op = l->kind;

    if (!expr_next_token(l))
        return false;
    if (op == ET_NOT) {
        if (l->kind != ET_IN)
            return fail_syntax(l);
        op = ET_NOT_IN;
    } else if (op == ET_IS && l->kind == ET_NOT) {
        op = ET_IS_NOT;
    } else {
        *ret = op;
        return true;
    }
    *ret = op;
    return expr_next_token(l);
}

static int list_kind(int prec)
{
    return prec == 1   ? EN_OR
           : prec == 2 ? EN_AND
           : prec == 4 ? EN_COMPARE
                       : EN_CHAIN;
}

static bool expr_parse_binary(struct pr_expr_lexer *l, int min,
                              struct pr_expr_node **ret)
{
    struct pr_expr_node *left, *last = NULL;
    int list_prec = 0; /* of the list that left is, when it is one of ours */
    /* After 'not x' only operators that bind less may follow. */
    bool negated = l->kind == ET_NOT && min <= PREC_NOT;

    if (!(negated ? parse_not(l, &left) : parse_unary(l, &left)))
        return false;
    for (;;) {
        int prec = precedence[l->kind], op;
        struct pr_expr_node *right;

        if (!prec || prec < min || (negated && prec > PREC_NOT))
            break;
        if (!parse_operator(l, &op) || !expr_parse_binary(l, prec + 1, &right))
            return false;
        right->op = (uint8_t)op;
        if (prec != list_prec) {
            struct pr_expr_node *list = expr_new_node(l, list_kind(prec));
            if (!list)
                return false;
            list->a = last = left;
            left = list;
            list_prec = prec;
        }
        last->next = right;
        last = right;
    }
    *ret = left;
    return true;
}

/* A if C else B; B may be another such, which is a loop here and no deeper. */
static bool expr_parse_test(struct pr_expr_lexer *l, struct pr_expr_node **ret)
{
    for (;;) {
        struct pr_expr_node *n;

        if (!expr_parse_binary(l, PREC_OR, ret))
            return false;
        if (l->kind != ET_IF)
            return true;
        n = expr_new_node(l, EN_IF);
        if (!n || !expr_next_token(l) ||
            !expr_parse_binary(l, PREC_OR, &n->a) || !expr_expect(l, ET_ELSE))
            return false;
        n->b = *ret;
        *ret = n;
        ret = &n->c;
    }
}

/* 1, 2 without brackets is a tuple too. */
static bool parse_top_level(struct pr_expr_lexer *l, struct pr_expr_node **ret)
{
    struct pr_expr_node *tuple, **tail;

    if (!expr_parse_test(l, ret))
        return false;
    if (l->kind != ET_COMMA)
        return true;
    tuple = expr_new_node(l, EN_TUPLE);
    if (!tuple)
        return false;
    tuple->a = *ret;
    tail = &tuple->a->next;
    *ret = tuple;
    while (l->kind == ET_COMMA) {
        if (!expr_next_token(l))
            return false;
        if (l->kind == ET_END)
            break;
        if (!expr_parse_test(l, tail))
            return false;
        tail = &(*tail)->next;
    }
    return true;
}

bool pr_expr_parse(struct pr_expr *x, const char *text, size_t len,
                   struct pr_expr_node **ret)
{
    struct pr_expr_lexer l = {.x = x, .pos = text, .end = text + len};

    if (len && memchr(text, '\0', len))
        return pr_expr_fail(x, "the expression holds a NUL byte");
    if (!expr_next_token(&l))
        return false;
    if (l.kind == ET_END)
        return pr_expr_fail(x, "the expression is empty");
    if (!parse_top_level(&l, ret))
        return false;
    return l.kind == ET_END || fail_syntax(&l);
}

/* ---- what follows a value: .name, (arguments), [index], [slice] */

static bool parse_attribute(struct pr_expr_lexer *l, struct pr_expr_node **ret)
{
    if (!expr_next_token(l))
        return false;
    if (l->kind != ET_NAME)
        return fail_syntax(l);
    *ret = expr_new_node(l, EN_ATTR);
    if (!*ret)
        return false;
    (*ret)->name = l->s;
    (*ret)->len = l->len;
    return expr_next_token(l);
}

/* name=value; *ret is the name, already parsed. */
static bool keyword_argument(struct pr_expr_lexer *l, struct pr_expr_node **ret)
{
    struct pr_expr_node *n = *ret;

    if (n->kind != EN_NAME)
        return fail_syntax(l);
    n->kind = EN_KWARG;
    return expr_next_token(l) && expr_parse_test(l, &n->b);
}

static bool parse_argument(struct pr_expr_lexer *l, bool after_keyword,
                           struct pr_expr_node **ret)
{
    if (l->kind == ET_POWER)
        return pr_expr_fail(l->x, "'**' before an argument is not supported");
    if (!expr_parse_item(l, ret))
        return false;
    if (l->kind == ET_ASSIGN)
        return keyword_argument(l, ret);
    if (after_keyword && (*ret)->kind != EN_STAR)
        return pr_expr_fail(l->x, "an argument without a name follows one with "
                                  "a name");
    return true;
}

static bool parse_call(struct pr_expr_lexer *l, struct pr_expr_node **ret)
{
    struct pr_expr_node *n = expr_new_node(l, EN_CALL), **tail;
    bool keyword = false;

    if (!n || !expr_next_token(l))
        return false;
    *ret = n;
    tail = &n->a;
    while (l->kind != ET_CLOSE) {
        if (!parse_argument(l, keyword, tail))
            return false;
        keyword |= (*tail)->kind == EN_KWARG;
        if (l->kind == ET_FOR) {
            /* f(x for x in y): only as the one argument. */
            if (tail != &n->a || !expr_parse_comp(l, *tail, EV_ITER, tail))
                return !l->x->rc ? fail_syntax(l) : false;
            break;
        }
        tail = &(*tail)->next;
        if (l->kind != ET_COMMA)
            break;
        if (!expr_next_token(l))
            return false;
    }
    return expr_expect(l, ET_CLOSE);
}

static bool at_slice_part(const struct pr_expr_lexer *l)
{
    return l->kind != ET_COLON && l->kind != ET_SQUARE_CLOSE;
}

static bool parse_subscript(struct pr_expr_lexer *l, struct pr_expr_node **ret)
{
    struct pr_expr_node *n = expr_new_node(l, EN_INDEX);

    if (!n || !expr_next_token(l))
        return false;
    *ret = n;
    if (l->kind == ET_SQUARE_CLOSE)
        return fail_syntax(l);
    if (at_slice_part(l) && !expr_parse_test(l, &n->a))
        return false;
    if (l->kind == ET_COLON) {
        n->kind = EN_SLICE;
        if (!expr_next_token(l) ||
            (at_slice_part(l) && !expr_parse_test(l, &n->b)))
            return false;
        if (l->kind == ET_COLON &&
            (!expr_next_token(l) ||
             (at_slice_part(l) && !expr_parse_test(l, &n->c))))
            return false;
    }
    if (l->kind == ET_COMMA)
        return pr_expr_fail(l->x, "an index of several parts is not supported");
    return expr_expect(l, ET_SQUARE_CLOSE);
}

static bool expr_parse_trailers(struct pr_expr_lexer *l,
                                struct pr_expr_node *first,
                                struct pr_expr_node **ret)
{
    struct pr_expr_node *n = expr_new_node(l, EN_POSTFIX), **tail;

    if (!n)
        return false;
    n->a = first;
    tail = &first->next;
    for (; l->kind == ET_DOT || l->kind == ET_OPEN || l->kind == ET_SQUARE;
         tail = &(*tail)->next) {
        bool ok = l->kind == ET_DOT    ? parse_attribute(l, tail)
                  : l->kind == ET_OPEN ? parse_call(l, tail)
                                       : parse_subscript(l, tail);
        if (!ok)
            return false;
    }
    *ret = n;
    return true;
}
