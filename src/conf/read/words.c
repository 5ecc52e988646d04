/* Text to arguments. */
#include "conf/read/words.h"

#include <stdbool.h>
#include <string.h>

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
