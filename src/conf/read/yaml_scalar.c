/*
 * Scalars of YAML 1.1 as PyYAML's safe loader resolves them, plus OmegaConf's
 * floats (1e3 without a point or a sign). Matched by hand: it is a handful of
 * shapes, and every unquoted word of a file comes through here.
 */
#include "conf/read/yaml_scalar.h"

#include "base/number.h"
#include "base/text.h"
#include "conf/read/yaml.h"

#include <math.h>
#include <string.h>
#include <strings.h>

/* A cursor over the scalar; end is exclusive. */
struct text {
    const char *pos, *end;
};

static bool yaml_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool yaml_is_at(const struct text *t, char c)
{
    return t->pos < t->end && *t->pos == c;
}

static bool skip_sign(struct text *t)
{
    if (!yaml_is_at(t, '-') && !yaml_is_at(t, '+'))
        return false;
    t->pos++;
    return true;
}

/* [0-9_]*, or [0-9]* */
static void yaml_skip_digits(struct text *t, bool underscores)
{
    while (t->pos < t->end &&
           (yaml_is_digit(*t->pos) || (underscores && *t->pos == '_')))
        t->pos++;
}

/* [0-9][0-9_]* */
static bool skip_number(struct text *t)
{
    if (t->pos == t->end || !yaml_is_digit(*t->pos))
        return false;
    yaml_skip_digits(t, true);
    return true;
}

/* ([eE][-+]?[0-9]+)? and then the end; at least one digit if there is an e. */
static bool ends_after_exponent(struct text t)
{
    const char *digits;

    if (t.pos == t.end)
        return true;
    if ((*t.pos++ | 32) != 'e')
        return false;
    skip_sign(&t);
    digits = t.pos;
    yaml_skip_digits(&t, false);
    return t.pos > digits && t.pos == t.end;
}

/* (:[0-5]?[0-9])+ */
static bool skip_sixties(struct text *t)
{
    const char *start = t->pos;

    while (yaml_is_at(t, ':')) {
        const char *digits = t->pos + 1;
        struct text part = {digits, t->end};
        yaml_skip_digits(&part, false);
        if (part.pos == digits || part.pos > digits + 2 ||
            (part.pos == digits + 2 && *digits > '5'))
            return false;
        t->pos = part.pos;
    }
    return t->pos > start;
}

static bool word_in(const struct text *t, const char *const *words)
{
    size_t len = (size_t)(t->end - t->pos);

    for (; *words; words++)
        if (pr_text_is(t->pos, len, *words))
            return true;
    return false;
}

static bool is_inf(struct text t)
{
    static const char *const words[] = {".inf", ".Inf", ".INF", NULL};

    skip_sign(&t);
    return word_in(&t, words);
}

static bool is_nan(const struct text *t)
{
    static const char *const words[] = {".nan", ".NaN", ".NAN", NULL};

    return word_in(t, words);
}

/* 12.5, 1., 1e3, .5 (a leading point takes no sign in PyYAML). */
static bool yaml_is_decimal(struct text t)
{
    bool sign = skip_sign(&t);

    if (yaml_is_at(&t, '.') && !sign) {
        t.pos++;
        return skip_number(&t) && ends_after_exponent(t);
    }
    if (!skip_number(&t) || t.pos == t.end)
        return false;
    if (yaml_is_at(&t, '.')) {
        t.pos++;
        yaml_skip_digits(&t, true);
    }
    return ends_after_exponent(t);
}

/* 1:30.5 */
static bool is_sixty_float(struct text t)
{
    skip_sign(&t);
    if (!skip_number(&t) || !skip_sixties(&t) || !yaml_is_at(&t, '.'))
        return false;
    t.pos++;
    yaml_skip_digits(&t, true);
    return t.pos == t.end;
}

/* From the last part to the first and adding up in doubles, as PyYAML does. */
static double sixty_float(struct text t)
{
    bool negative = yaml_is_at(&t, '-');
    double sum = 0, base = 1;
    const char *end = t.end;

    skip_sign(&t);
    for (const char *p = end; p-- > t.pos;) {
        if (*p == ':') {
            sum += pr_decimal_read(p + 1, (size_t)(end - p - 1)) * base;
            base *= 60;
            end = p;
        }
    }
    sum += pr_decimal_read(t.pos, (size_t)(end - t.pos)) * base;
    return negative ? -sum : sum;
}

static bool to_float(struct text t, double *ret)
{
    if (is_inf(t))
        *ret = yaml_is_at(&t, '-') ? -(double)INFINITY : (double)INFINITY;
    else if (is_nan(&t))
        *ret = (double)NAN;
    else if (yaml_is_decimal(t))
        *ret = pr_decimal_read(t.pos, (size_t)(t.end - t.pos));
    else if (is_sixty_float(t))
        *ret = sixty_float(t);
    else
        return false;
    return true;
}

static int digit_of(char c)
{
    if (yaml_is_digit(c))
        return c - '0';
    c |= 32;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

static struct pr_value signed_int(bool negative, uint64_t n, double rounded)
{
    if (n > (uint64_t)INT64_MAX + negative)
        return pr_float(negative ? -rounded : rounded);
    return pr_int(negative ? (int64_t)(0 - n) : (int64_t)n);
}

/* Digits of 1, 3 or 4 bits. Of a long number the top 64 bits are kept; what
 * falls off below sets the lowest, so that rounding to a double is right. */
static bool power_int(struct text t, int bits, bool negative,
                      struct pr_value *ret)
{
    uint64_t top = 0;
    int dropped = 0;
    bool any = false;

    for (; t.pos < t.end; t.pos++) {
        int digit = digit_of(*t.pos);
        if (*t.pos == '_')
            continue;
        if (digit >= 1 << bits)
            return false;
        any = true;
        for (int i = bits - 1; i >= 0; i--) {
            uint64_t bit = (uint64_t)digit >> i & 1;
            if (top >> 63) {
                top |= bit;
                dropped += dropped < 100000;
            } else {
                top = top << 1 | bit;
            }
        }
    }
    if (dropped)
        *ret = pr_float(ldexp(negative ? -(double)top : (double)top, dropped));
    else
        *ret = signed_int(negative, top, (double)top);
    return any;
}

/* 12, 1_000, 1:30. */
static bool decimal_int(struct text t, bool negative, struct pr_value *ret)
{
    struct text check = t;
    uint64_t n = 0, part = 0;
    double rounded;
    bool fits = true;

    if (!skip_number(&check) || (*t.pos == '0' && t.end - t.pos > 1))
        return false;
    if (check.pos < check.end &&
        (!skip_sixties(&check) || check.pos < check.end))
        return false;
    rounded = sixty_float(t);
    for (; fits && t.pos <= t.end; t.pos++) {
        if (t.pos == t.end || *t.pos == ':') {
            fits = !__builtin_mul_overflow(n, 60, &n) &&
                   !__builtin_add_overflow(n, part, &n);
            part = 0;
        } else if (*t.pos != '_') {
            fits = !__builtin_mul_overflow(part, 10, &part) &&
                   !__builtin_add_overflow(part, digit_of(*t.pos), &part);
        }
    }
    *ret = signed_int(negative, fits ? n : UINT64_MAX, rounded);
    return true;
}

static bool yaml_read_int(struct text t, struct pr_value *ret)
{
    bool negative = yaml_is_at(&t, '-');

    skip_sign(&t);
    if (t.end - t.pos > 1 && *t.pos == '0') {
        struct text digits = {t.pos + 2, t.end};
        if (t.pos[1] == 'b')
            return power_int(digits, 1, negative, ret);
        if (t.pos[1] == 'x')
            return power_int(digits, 4, negative, ret);
        return power_int(t, 3, negative, ret);
    }
    return decimal_int(t, negative, ret);
}

static bool yaml_read_bool(const struct text *t, bool *ret)
{
    static const char *const yes[] = {"yes",  "Yes", "YES", "true", "True",
                                      "TRUE", "on",  "On",  "ON",   NULL};
    static const char *const no[] = {"no",    "No",  "NO",  "false", "False",
                                     "FALSE", "off", "Off", "OFF",   NULL};

    *ret = word_in(t, yes);
    return *ret || word_in(t, no);
}

static bool is_null(const struct text *t)
{
    static const char *const words[] = {"", "~", "null", "Null", "NULL", NULL};

    return word_in(t, words);
}

struct pr_value pr_yaml_read_scalar(const char *text, size_t len)
{
    struct text t = {text, text + len};
    struct pr_value v;
    double f;
    bool b;

    if (is_null(&t))
        return pr_null();
    if (yaml_read_bool(&t, &b))
        return pr_bool(b);
    if (!yaml_is_digit(*text) && !memchr("+-.", *text, 3))
        return pr_strn(text, len);
    if (to_float(t, &f))
        return pr_float(f);
    return yaml_read_int(t, &v) ? v : pr_strn(text, len);
}

enum pr_yaml_tag pr_yaml_find_tag(const char *tag)
{
    static const char prefix[] = "tag:yaml.org,2002:";
    static const char *const names[] = {
        [PR_YAML_STR] = "str",     [PR_YAML_INT] = "int",
        [PR_YAML_FLOAT] = "float", [PR_YAML_BOOL] = "bool",
        [PR_YAML_NULL] = "null",   [PR_YAML_SEQ] = "seq",
        [PR_YAML_MAP] = "map",
    };

    if (!tag || strcmp(tag, "!") == 0)
        return PR_YAML_NO_TAG;
    if (!pr_text_starts_with(tag, prefix))
        return PR_YAML_OTHER_TAG;
    for (int i = PR_YAML_STR; i <= PR_YAML_MAP; i++)
        if (strcmp(tag + sizeof prefix - 1, names[i]) == 0)
            return (enum pr_yaml_tag)i;
    return PR_YAML_OTHER_TAG;
}

/* A tag makes a float of a whole number too, and of "-.5". */
static bool tagged_float(struct text t, struct pr_value *ret)
{
    struct text bare = t;
    struct pr_value v;
    double f;

    if (to_float(t, &f)) {
        *ret = pr_float(f);
        return true;
    }
    skip_sign(&bare);
    if (yaml_is_at(&bare, '.') && yaml_is_decimal(bare)) {
        f = pr_decimal_read(bare.pos, (size_t)(bare.end - bare.pos));
        *ret = pr_float(yaml_is_at(&t, '-') ? -f : f);
        return true;
    }
    if (!yaml_read_int(t, &v))
        return false;
    f = pr_value_number(&v);
    *ret = pr_float(f == 0 && yaml_is_at(&t, '-') ? -0.0 : f);
    return true;
}

static bool tagged_bool(const struct text *t, struct pr_value *ret)
{
    static const char *const words[] = {"yes", "true",  "on",
                                        "no",  "false", "off"};
    size_t len = (size_t)(t->end - t->pos);

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strlen(words[i]) == len &&
            strncasecmp(words[i], t->pos, len) == 0) {
            *ret = pr_bool(i < 3);
            return true;
        }
    }
    return false;
}

bool pr_yaml_read_tagged(enum pr_yaml_tag tag, const char *text, size_t len,
                         struct pr_value *ret_value)
{
    struct text t = {text, text + len};

    switch (tag) {
    case PR_YAML_STR:
        *ret_value = pr_strn(text, len);
        return true;
    case PR_YAML_NULL:
        *ret_value = pr_null();
        return true;
    case PR_YAML_INT:
        return yaml_read_int(t, ret_value);
    case PR_YAML_FLOAT:
        return tagged_float(t, ret_value);
    case PR_YAML_BOOL:
        return tagged_bool(&t, ret_value);
    default:
        return false;
    }
}
