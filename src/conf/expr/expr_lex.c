/* The tokens of an expression, one at a time as the parser asks for them. */
#include "conf/expr/expr_tree.h"

#include <string.h>

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

void pr_expr_record_syntax(struct pr_expr_lexer *l)
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
        return pr_expr_lex_string(l);
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
    return pr_expr_fail_syntax(l);
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
        return pr_expr_fail_syntax(l);
    }
    return lex_set_punctuation(l, singles[u], 1);
}

bool pr_expr_next_token(struct pr_expr_lexer *l)
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
        return pr_expr_lex_number(l);
    if (c == '\'' || c == '"') {
        l->len = 0;
        return pr_expr_lex_string(l);
    }
    if (c == '.')
        return lex_set_punctuation(l, ET_DOT, 1);
    return lex_operator(l, (char)c);
}
