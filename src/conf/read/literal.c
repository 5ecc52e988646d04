/* Arguments and values written by hand. */
#include "conf/read/literal.h"

#include "base/json/json.h"
#include "base/text.h"
#include "base/units.h"
#include "conf/option/option.h"

#include <stdbool.h>
#include <string.h>

/* ---- text to arguments */

/* Copies one word from *p to out; false: a quote is not closed. */
static bool split_next_word(const char **p, char **out)
{
    const char *s = *p;
    char quote = '\0';

    for (; *s && (quote || !strchr(" \t\r\n", *s)); s++) {
        if (quote == '\'' ? *s == '\'' : quote && *s == '"') {
            quote = '\0';
        } else if (!quote && (*s == '\'' || *s == '"')) {
            quote = *s;
        } else if (*s == '\\' && s[1] &&
                   (!quote || (quote == '"' && strchr("\"\\", s[1])))) {
            *(*out)++ = *++s;
        } else {
            *(*out)++ = *s;
        }
    }
    *(*out)++ = '\0';
    *p = s;
    return !quote;
}

int pr_words_split(const char *text, struct pr_arena *a,
                   const char ***ret_words, size_t *ret_count,
                   struct pr_err *err)
{
    size_t len = strlen(text), n = 0, max = len / 2 + 2;
    const char **words = PR_ARENA_ARRAY(a, const char *, max);
    /* Each word ends with a NUL where a blank stood, or at the end. */
    char *out = pr_arena_alloc(a, len + 2);
    const char *p = text;

    if (!words || !out)
        return pr_fail_nomem(err);
    for (;;) {
        p += strspn(p, " \t\r\n");
        if (!*p)
            break;
        words[n++] = out;
        if (!split_next_word(&p, &out)) {
            pr_fail(err, PR_E_CONF, "", "a quote is not closed in '%.100s'",
                    text);
            return pr_hint(err, "write the command as a list of arguments to "
                                "do without quotes");
        }
    }
    words[n] = NULL;
    *ret_words = words;
    *ret_count = n;
    return PR_OK;
}

bool pr_word_is_option(const char *word)
{
    if (word[0] != '-' || !word[1] || strcmp(word, "--") == 0)
        return false;
    return !strchr("0123456789.", word[1]) && word[strcspn(word, " =")] != ' ';
}

/* Text that was surely meant as something else: it has JSON's brackets or
 * quotes, or is a word of Python's. */
static bool is_slip(const char *s, size_t len)
{
    static const char *const words[] = {"True", "False", "None"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (pr_text_is(s, len, words[i]))
            return true;
    return len && memchr("[{\"'", *s, 4);
}

/* 1_000_000 is a number, though not JSON's. */
static bool literal_read_int(const char *s, struct pr_value *ret)
{
    int64_t i;

    if (!strchr(s, '_') || !pr_parse_int(s, &i))
        return false;
    *ret = pr_int(i);
    return true;
}

static bool stays_text(const char *name, const struct pr_value *v)
{
    const struct pr_opt *opt = pr_opt_find(name, NULL);

    return opt && opt->kind == PR_OPT_STR &&
           (v->kind <= PR_FLOAT); /* null, true, 1, 1.0 */
}

int pr_literal_read(const char *name, const char *text, size_t len,
                    struct pr_arena *a, struct pr_value *ret,
                    struct pr_err *ret_slip, struct pr_err *err)
{
    const char *copy = pr_arena_copy(a, text, len);
    struct pr_json_in in = {.text = copy, .len = len, .name = name};
    struct pr_err slip = {0};
    int rc;

    if (!copy)
        return pr_fail_nomem(err);
    rc = pr_json_read(&in, a, ret, NULL, &slip);
    if (rc == PR_E_NOMEM)
        return pr_fail_nomem(err);
    if (rc == PR_OK ? stays_text(name, ret) : !literal_read_int(copy, ret))
        *ret = pr_strn(copy, len);
    if (ret_slip)
        *ret_slip = rc && is_slip(text, len) ? slip : (struct pr_err){0};
    return PR_OK;
}
