/* Laying arguments over one another, and reading them as options. */
#include "workload/suite_args.h"

#include "base/buf.h"
#include "conf/read/literal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static size_t name_len(const char *word)
{
    return strcspn(word, "=");
}

/* Whether one is --NAME and the other --no-NAME. */
static bool are_opposite(const char *a, const char *b)
{
    size_t n = name_len(a), m = name_len(b);

    if (strncmp(a, "--no-", 5) != 0) {
        const char *other = a;
        size_t k = n;

        a = b;
        b = other;
        n = m;
        m = k;
    }
    return n > 5 && m == n - 3 && strncmp(a, "--no-", 5) == 0 &&
           strncmp(b, "--", 2) == 0 && memcmp(a + 5, b + 2, m - 2) == 0;
}

static int as_text(struct pr_arena *a, const struct pr_value *v,
                   struct pr_value *ret, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(64 << 20);
    const char *copy;

    if (v->kind == PR_STR) {
        *ret = *v;
        return PR_OK;
    }
    pr_value_write_text(&text, v);
    copy = pr_arena_copy(a, text.data ? text.data : "", text.len);
    if (!pr_buf_ok(&text) || !copy)
        return pr_fail_nomem(err);
    *ret = pr_strn(copy, text.len);
    return PR_OK;
}

/* Takes out of words what a later one contradicts; how many are left. */
static uint32_t suite_remove_opposites(struct pr_value *words, uint32_t n,
                                       const char *later)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < n; i++) {
        bool gone =
            pr_word_is_option(words[i].s) && are_opposite(words[i].s, later);

        if (!gone) {
            words[kept++] = words[i];
            continue;
        }
        /* with its value, should it have one after it */
        if (i + 1 < n && !pr_word_is_option(words[i + 1].s) &&
            strncmp(words[i].s, "--no-", 5) != 0)
            i++;
    }
    return kept;
}

int pr_suite_merge_args(const struct pr_value *first,
                        const struct pr_value *later, struct pr_arena *a,
                        struct pr_value *ret, struct pr_err *err)
{
    uint32_t n = 0, all = first->len + later->len;
    struct pr_value *words = PR_ARENA_ARRAY(a, struct pr_value, all + 1);

    if (!words)
        return pr_fail_nomem(err);
    for (uint32_t i = 0; i < all; i++) {
        const struct pr_value *v =
            i < first->len ? &first->items[i] : &later->items[i - first->len];
        struct pr_value word;
        int rc = as_text(a, v, &word, err);

        if (rc)
            return rc;
        if (pr_word_is_option(word.s))
            n = suite_remove_opposites(words, n, word.s);
        words[n++] = word;
    }
    *ret = (struct pr_value){.kind = PR_LIST, .len = n, .items = words};
    return PR_OK;
}

/* ---- as options */

/* int(), then float(), as Python reads them; else text. */
static struct pr_value suite_parse_scalar(const char *text)
{
    char plain[64], *end;
    size_t n = 0;
    long long i;
    double f;

    for (const char *p = text; *p && n < sizeof plain - 1; p++)
        if (*p != '_' || p == text || p[-1] == '_' || !p[1])
            plain[n++] = *p;
    plain[n] = '\0';
    if (!*plain || !strchr("+-.0123456789", *plain) || strpbrk(plain, "xXpP") ||
        strlen(text) >= sizeof plain)
        return pr_str(text);
    errno = 0;
    i = strtoll(plain, &end, 10);
    if (!*end && !errno)
        return pr_int(i);
    f = strtod(plain, &end);
    return *end ? pr_str(text) : pr_float(f);
}

/* --batch-size to batch_size. NULL: out of memory. */
static char *suite_option_key(struct pr_arena *a, const char *word)
{
    char *key;

    word += strspn(word, "-");
    key = pr_arena_copy(a, word, name_len(word));
    for (char *p = key; p && *p; p++)
        if (*p == '-')
            *p = '_';
    return key;
}

static void suite_set_member(struct pr_member *m, uint32_t *n, const char *key,
                             struct pr_value v)
{
    uint32_t i = 0;

    while (i < *n && strcmp(m[i].key, key) != 0)
        i++;
    m[i] = (struct pr_member){
        .key = key, .key_len = (uint32_t)strlen(key), .value = v};
    *n += i == *n;
}

int pr_suite_read_options(const struct pr_value *args, struct pr_arena *a,
                          struct pr_value *ret, struct pr_err *err)
{
    struct pr_member *m = PR_ARENA_ARRAY(a, struct pr_member, args->len + 1);
    uint32_t n = 0;

    if (!m)
        return pr_fail_nomem(err);
    for (uint32_t i = 0; i < args->len; i++) {
        const char *word = args->items[i].s, *eq = strchr(word, '=');
        struct pr_value v = pr_bool(true);
        char *key;

        if (!pr_word_is_option(word))
            continue;
        key = suite_option_key(a, word);
        if (!key)
            return pr_fail_nomem(err);
        if (eq)
            v = suite_parse_scalar(eq + 1);
        else if (i + 1 < args->len && !pr_word_is_option(args->items[i + 1].s))
            v = suite_parse_scalar(args->items[++i].s);
        else if (strncmp(key, "no_", 3) == 0) {
            key += 3;
            v = pr_bool(false);
        }
        suite_set_member(m, &n, key, v);
    }
    *ret = (struct pr_value){.kind = PR_MAP, .len = n, .members = m};
    return PR_OK;
}
