/*
 * Methods of text that know letters: upper, lower, isdigit and so on. Beyond
 * ASCII they know Latin, Greek and Cyrillic letters that have one partner.
 */
#include "base/text.h"
#include "conf/expr/expr_call.h"

#include <string.h>

static unsigned to_lower(unsigned c)
{
    if (c < 0x80)
        return c >= 'A' && c <= 'Z' ? c + 32 : c;
    if ((c >= 0xc0 && c <= 0xde && c != 0xd7) || (c >= 0x391 && c <= 0x3a9) ||
        (c >= 0x410 && c <= 0x42f))
        return c + 32;
    if (c >= 0x400 && c <= 0x40f)
        return c + 80;
    if ((c >= 0x100 && c < 0x130) || (c >= 0x14a && c < 0x178))
        return c | 1;
    if ((c >= 0x139 && c < 0x149) || (c >= 0x179 && c < 0x17f))
        return c + (c & 1);
    return c;
}

static unsigned to_upper(unsigned c)
{
    if (c < 0x80)
        return c >= 'a' && c <= 'z' ? c - 32 : c;
    if ((c >= 0xe0 && c <= 0xfe && c != 0xf7) ||
        (c >= 0x3b1 && c <= 0x3c9 && c != 0x3c2) || (c >= 0x430 && c <= 0x44f))
        return c - 32;
    if (c >= 0x450 && c <= 0x45f)
        return c - 80;
    if ((c >= 0x100 && c < 0x130) || (c >= 0x14a && c < 0x178))
        return c & ~1u;
    if ((c >= 0x139 && c < 0x149) || (c >= 0x179 && c < 0x17f))
        return c - !(c & 1);
    return c;
}

static bool is_alpha(unsigned c)
{
    if (c < 0x80)
        return (c | 32) >= 'a' && (c | 32) <= 'z';
    return c == 0xaa || c == 0xb5 || c == 0xba ||
           (c >= 0xc0 && c < 0x2000 && c != 0xd7 && c != 0xf7) ||
           (c >= 0x3041 && c < 0xa000) || (c >= 0xac00 && c < 0xd7a4);
}

static bool is_unicode_digit(unsigned c)
{
    return c >= '0' && c <= '9';
}

enum change { UPPER, LOWER, SWAP, TITLE, CAPITAL };

static unsigned change_letter_case(unsigned c, enum change how, bool in_word)
{
    switch (how) {
    case UPPER:
        return to_upper(c);
    case LOWER:
        return to_lower(c);
    case SWAP:
        return to_lower(c) != c ? to_lower(c) : to_upper(c);
    default:
        return in_word ? to_lower(c) : to_upper(c);
    }
}

static bool change_text_case(struct pr_expr *x, const struct pr_expr_value *s,
                             enum change how, struct pr_expr_value *ret)
{
    /* Every pair above has the same number of bytes in UTF-8. */
    char *out = pr_expr_alloc(x, s->len);
    bool in_word = false;

    if (!out)
        return false;
    for (uint32_t i = 0; i < s->len;) {
        size_t n = pr_expr_codepoint_len(s->s + i, s->len - i);
        unsigned c = pr_expr_codepoint_at(s->s + i, s->len - i);
        unsigned to = change_letter_case(c, how, in_word);

        memcpy(out + i, s->s + i, n);
        if (to != c) {
            char utf8[4];
            if (pr_utf8_put(utf8, to) == n)
                memcpy(out + i, utf8, n);
        }
        in_word = how == CAPITAL || is_alpha(c);
        i += (uint32_t)n;
    }
    *ret = pr_expr_new_str(out, s->len);
    return true;
}

static bool str_change(struct pr_expr *x, const struct pr_expr_call *c,
                       struct pr_expr_value *ret)
{
    switch (c->def->name[0]) {
    case 'u':
        return change_text_case(x, c->self, UPPER, ret);
    case 'l':
        return change_text_case(x, c->self, LOWER, ret);
    case 's':
        return change_text_case(x, c->self, SWAP, ret);
    case 't':
        return change_text_case(x, c->self, TITLE, ret);
    default:
        return change_text_case(x, c->self, CAPITAL, ret);
    }
}

static bool test_all_letters(struct pr_expr *x, const struct pr_expr_call *c,
                             bool (*is)(unsigned), struct pr_expr_value *ret)
{
    const struct pr_expr_value *s = c->self;
    bool yes = s->len != 0;

    for (uint32_t i = 0; yes && i < s->len;) {
        yes = is(pr_expr_codepoint_at(s->s + i, s->len - i));
        i += (uint32_t)pr_expr_codepoint_len(s->s + i, s->len - i);
    }
    *ret = pr_expr_new_bool(yes);
    return pr_expr_charge_work(x, s->len);
}

static bool is_alnum(unsigned c)
{
    return is_alpha(c) || is_unicode_digit(c);
}

static bool is_unicode_space(unsigned c)
{
    char utf8[4];

    return pr_expr_space_len(utf8, pr_utf8_put(utf8, c)) != 0;
}

static bool str_isdigit(struct pr_expr *x, const struct pr_expr_call *c,
                        struct pr_expr_value *ret)
{
    return test_all_letters(x, c, is_unicode_digit, ret);
}

static bool str_isalpha(struct pr_expr *x, const struct pr_expr_call *c,
                        struct pr_expr_value *ret)
{
    return test_all_letters(x, c, is_alpha, ret);
}

static bool str_isalnum(struct pr_expr *x, const struct pr_expr_call *c,
                        struct pr_expr_value *ret)
{
    return test_all_letters(x, c, is_alnum, ret);
}

static bool str_isspace(struct pr_expr *x, const struct pr_expr_call *c,
                        struct pr_expr_value *ret)
{
    return test_all_letters(x, c, is_unicode_space, ret);
}

/* isupper, islower: some letter of this case and none of the other. */
static bool str_iscase(struct pr_expr *x, const struct pr_expr_call *c,
                       struct pr_expr_value *ret)
{
    bool upper = c->def->name[2] == 'u', some = false, other = false;
    const struct pr_expr_value *s = c->self;

    for (uint32_t i = 0; i < s->len && !other;) {
        unsigned cp = pr_expr_codepoint_at(s->s + i, s->len - i);
        bool is_upper = to_lower(cp) != cp, is_lower = to_upper(cp) != cp;

        some |= upper ? is_upper : is_lower;
        other = upper ? is_lower : is_upper;
        i += (uint32_t)pr_expr_codepoint_len(s->s + i, s->len - i);
    }
    *ret = pr_expr_new_bool(some && !other);
    return pr_expr_charge_work(x, s->len);
}

static const struct pr_expr_def expr_str_case_defs[] = {
    {"lower", str_change, 0, 0, NULL},
    {"upper", str_change, 0, 0, NULL},
    {"title", str_change, 0, 0, NULL},
    {"capitalize", str_change, 0, 0, NULL},
    {"swapcase", str_change, 0, 0, NULL},
    {"isdigit", str_isdigit, 0, 0, NULL},
    {"isdecimal", str_isdigit, 0, 0, NULL},
    {"isnumeric", str_isdigit, 0, 0, NULL},
    {"isalpha", str_isalpha, 0, 0, NULL},
    {"isalnum", str_isalnum, 0, 0, NULL},
    {"isspace", str_isspace, 0, 0, NULL},
    {"isupper", str_iscase, 0, 0, NULL},
    {"islower", str_iscase, 0, 0, NULL},
};

const struct pr_expr_table pr_expr_str_cases =
    PR_EXPR_TABLE(expr_str_case_defs);
