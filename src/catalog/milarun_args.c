/*
 * Arguments of milarun's tests, taken apart as Python's argparse does it:
 * unambiguous beginnings are enough, --name=value, --no-flag, -f 64 and -f64,
 * and the last one counts.
 */
#include "base/number.h"
#include "base/text.h"
#include "catalog/milarun_impl.h"
#include "conf/read/literal.h"
#include "conf/read/words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- values */

/* Python's int(): a sign, digits, single underscores between them. */
static bool milarun_read_int(const char *s, int64_t *ret)
{
    char digits[32];
    size_t n = 0;
    char before = '_';

    for (const char *p = s; *p; before = *p++) {
        if ((*p == '-' || *p == '+') && p == s) {
            digits[n++] = *p;
            continue;
        }
        if (*p == '_' ? before < '0' || before > '9' : *p < '0' || *p > '9')
            return false;
        if (*p != '_' && n + 1 == sizeof digits)
            return false;
        if (*p != '_')
            digits[n++] = *p;
    }
    if (before < '0' || before > '9')
        return false;
    digits[n] = '\0';
    errno = 0;
    *ret = strtoll(digits, NULL, 10);
    return !errno;
}

static int milarun_fail_value(struct pr_milarun_build *b,
                              const struct pr_milarun_arg *arg,
                              const char *text)
{
    return pr_fail(b->err, PR_E_CONF, b->ask->experiment,
                   "%s wants %s, got '%.100s'", arg->name,
                   arg->takes == PR_TAKES_INT ? "a whole number" : "a number",
                   text);
}

int pr_milarun_read_value(struct pr_milarun_build *b,
                          const struct pr_milarun_arg *arg, const char *text,
                          struct pr_value *ret)
{
    int64_t i;

    switch (arg->takes) {
    case PR_TAKES_INT:
        if (!milarun_read_int(text, &i))
            return milarun_fail_value(b, arg, text);
        *ret = pr_int(i);
        return PR_OK;
    case PR_TAKES_FLOAT:
        if (!*text || pr_decimal_length(text, strlen(text)) != strlen(text))
            return milarun_fail_value(b, arg, text);
        *ret = pr_float(pr_decimal_read(text, strlen(text)));
        return PR_OK;
    default:
        *ret = pr_str(text);
        return PR_OK;
    }
}

/* ---- names */

/* One word of argv, and what it was found to be. */
struct found {
    const struct pr_milarun_arg *arg; /* NULL: not known */
    size_t row;
    bool negated;
    const char *value; /* after '='; NULL: none */
};

/* Whether the first len bytes of word begin name; *ret_whole: are all of it. */
static bool milarun_is_prefix(const char *word, size_t len, const char *name,
                              bool *ret_whole)
{
    *ret_whole = strlen(name) == len;
    return strncmp(word, name, len) == 0;
}

/* 0: no; 1: a beginning; 2: the name itself. */
static int milarun_match_arg(const struct pr_milarun_arg *arg, const char *word,
                             size_t len, bool *ret_negated)
{
    char no[64] = "--no-";
    bool whole;

    *ret_negated = false;
    if (milarun_is_prefix(word, len, arg->name, &whole))
        return 1 + whole;
    if (arg->takes != PR_TAKES_FLAG)
        return 0;
    strncat(no, arg->name + 2, sizeof no - 6);
    *ret_negated = true;
    return milarun_is_prefix(word, len, no, &whole) ? 1 + whole : 0;
}

static int fail_ambiguous(struct pr_milarun_build *b, const char *word,
                          size_t len, const char *one, const char *other)
{
    pr_fail(b->err, PR_E_CONF, b->ask->experiment, "'%.*s' may be %s or %s",
            (int)(len > 100 ? 100 : len), word, one, other);
    return pr_hint(b->err, "write the whole name");
}

static int find_long(struct pr_milarun_build *b, const char *word,
                     struct found *ret)
{
    const char *eq = strchr(word, '=');
    size_t len = eq ? (size_t)(eq - word) : strlen(word);
    const struct pr_milarun_arg *arg, *other = NULL;
    int best = 0;

    *ret = (struct found){.value = eq ? eq + 1 : NULL};
    for (size_t i = 0; (arg = pr_milarun_arg_at(i)); i++) {
        bool negated;
        int fit = pr_milarun_arg_is_for(b, arg)
                      ? milarun_match_arg(arg, word, len, &negated)
                      : 0;

        if (fit == 1 && best == 1 && !other)
            other = arg;
        if (fit > best) {
            best = fit;
            ret->arg = arg;
            ret->row = i;
            ret->negated = negated;
        }
        if (best == 2) /* whatever else it begins */
            return PR_OK;
    }
    return other ? fail_ambiguous(b, word, len, ret->arg->name, other->name)
                 : PR_OK;
}

/* -f, or -f64. */
static void find_short(struct pr_milarun_build *b, const char *word,
                       struct found *ret)
{
    const struct pr_milarun_arg *arg;

    *ret = (struct found){.arg = NULL};
    for (size_t i = 0; (arg = pr_milarun_arg_at(i)); i++)
        if (*arg->alias && pr_milarun_arg_is_for(b, arg) &&
            strncmp(word, arg->alias, 2) == 0) {
            ret->arg = arg;
            ret->row = i;
            ret->value = word[2] ? word + 2 + (word[2] == '=') : NULL;
        }
}

/* ---- taking them apart */

/* "batch_size" of "--batch-size". */
static const char *python_name(struct pr_milarun_build *b, const char *name)
{
    char *s = pr_arena_str(b->arena, name + 2);

    for (char *p = s; p && *p; p++)
        if (*p == '-')
            *p = '_';
    return s;
}

static int milarun_store_arg(struct pr_milarun_build *b, const struct found *f,
                             const char *text)
{
    const char *name = python_name(b, f->arg->name);
    struct pr_value v = pr_bool(!f->negated);
    int rc = PR_OK;

    if (!name)
        return pr_fail_nomem(b->err);
    if (f->arg->takes != PR_TAKES_FLAG)
        rc = pr_milarun_read_value(b, f->arg, text, &v);
    if (rc)
        return rc;
    b->is_given[f->row] = true;
    b->given[f->row] = v;
    return pr_milarun_map_set(b, &b->arguments, name, v);
}

/* --nn.threads 2 */
static int take_dotted(struct pr_milarun_build *b, const char *word,
                       const char *text)
{
    const char *eq = strchr(word, '=');
    size_t len = eq ? (size_t)(eq - word) : strlen(word);
    const char *name = pr_arena_copy(b->arena, word + 2, len - 2);
    struct pr_value v;
    int rc;

    if (!name)
        return pr_fail_nomem(b->err);
    rc = pr_literal_read(name, text, strlen(text), b->arena, &v, NULL, b->err);
    if (!rc)
        rc = pr_milarun_map_set(b, &b->dotted, name, v);
    return rc ? rc : pr_milarun_map_set(b, &b->arguments, name, v);
}

static void note_unknown(struct pr_milarun_build *b, const char *word,
                         const char *value)
{
    const struct pr_milarun_arg *arg;
    struct pr_nearest near;

    if (!b->notes)
        return;
    pr_nearest_init(&near, word);
    for (size_t i = 0; (arg = pr_milarun_arg_at(i)); i++)
        if (pr_milarun_arg_is_for(b, arg))
            pr_nearest_offer(&near, arg->name);
    pr_buf_printf(b->notes,
                  "%s: the argument '%.200s%s%.200s' is not known "
                  "and is left out",
                  b->ask->experiment, word, value ? " " : "",
                  value ? value : "");
    if (near.best)
        pr_buf_printf(b->notes, "; did you mean %s?", near.best);
    pr_buf_char(b->notes, '\n');
}

static int fail_no_value(struct pr_milarun_build *b, const char *name)
{
    return pr_fail(b->err, PR_E_CONF, b->ask->experiment,
                   "%.100s wants a value", name);
}

/* The word at *i, and the value after it if it takes one. */
static int milarun_read_word(struct pr_milarun_build *b, size_t *i)
{
    const char *word = b->ask->argv[*i];
    const char *next = *i + 1 < b->ask->argc ? b->ask->argv[*i + 1] : NULL;
    bool is_long = strncmp(word, "--", 2) == 0;
    bool dotted = is_long && memchr(word, '.', strcspn(word, "="));
    struct found f = {.arg = NULL};
    int rc = PR_OK;

    if (is_long && !dotted)
        rc = find_long(b, word, &f);
    else if (dotted)
        f.value = strchr(word, '=') ? strchr(word, '=') + 1 : NULL;
    else if (pr_word_is_option(word))
        find_short(b, word, &f);
    if (rc)
        return rc;
    if (!f.arg && !dotted) {
        bool pair = pr_word_is_option(word) && !f.value && next &&
                    !pr_word_is_option(next);

        note_unknown(b, word, pair ? next : NULL);
        *i += pair;
        return PR_OK;
    }
    if (!f.value && (dotted || f.arg->takes != PR_TAKES_FLAG)) {
        if (!next || pr_word_is_option(next))
            return fail_no_value(b, word);
        f.value = next;
        ++*i;
    }
    return dotted ? take_dotted(b, word, f.value)
                  : milarun_store_arg(b, &f, f.value);
}

int pr_milarun_read_args(struct pr_milarun_build *b)
{
    int rc = PR_OK;

    for (size_t i = 0; i < b->ask->argc && !rc; i++)
        rc = milarun_read_word(b, &i);
    return rc;
}
