/* Words of a shell config. */
#include "conf/read/shellconf_impl.h"

#include <ctype.h>
#include <string.h>

/* One word that refers to others, again and again, may make much of little. */
enum { MAX_WORD = 1 << 20, MAX_ALL = 64 << 20 };

void pr_shell_skip_space(struct pr_shell_reader *r, bool lines)
{
    for (; r->p < r->end; r->p++) {
        if (*r->p == '#')
            while (r->p < r->end && *r->p != '\n')
                r->p++;
        if (r->p == r->end)
            return;
        if (*r->p == '\n' && lines)
            r->line++;
        else if (*r->p != ' ' && *r->p != '\t' && *r->p != '\r')
            return;
    }
}

static bool in_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

const char *pr_shell_read_name(struct pr_shell_reader *r)
{
    const char *from = r->p;
    char *name;

    while (r->p < r->end && in_name(*r->p))
        r->p++;
    if (r->p == from || isdigit((unsigned char)*from))
        return NULL;
    name = pr_arena_copy(r->conf->arena, from, (size_t)(r->p - from));
    r->no_memory |= !name;
    return name;
}

bool pr_shell_expect(struct pr_shell_reader *r, const char *word)
{
    size_t n = strlen(word);

    pr_shell_skip_space(r, false);
    if ((size_t)(r->end - r->p) < n || memcmp(r->p, word, n) != 0)
        return false;
    r->p += n;
    if (r->p == r->end || (*r->p != ' ' && *r->p != '\t'))
        return false;
    pr_shell_skip_space(r, false);
    return true;
}

static int shell_fail_at(const struct pr_shell_reader *r, const char *what,
                         struct pr_err *err)
{
    return pr_fail_at(err, PR_E_CONF, r->name, r->line, 0, "%s", what);
}

int pr_shell_read_key(struct pr_shell_reader *r, const char **ret,
                      struct pr_err *err)
{
    if (*r->p != '[')
        return shell_fail_at(r, "in a map there is [KEY]=value", err);
    r->p++;
    *ret = pr_shell_read_name(r);
    if (!*ret)
        return r->no_memory ? pr_fail_nomem(err)
                            : shell_fail_at(r, "a key is a name", err);
    if (r->end - r->p < 2 || r->p[0] != ']' || r->p[1] != '=')
        return shell_fail_at(r, "in a map there is [KEY]=value", err);
    r->p += 2;
    return PR_OK;
}

/* '$' was read: {NAME}, or NAME, of a text that was assigned. */
static int put_var(struct pr_shell_reader *r, struct pr_buf *out,
                   struct pr_err *err)
{
    bool braces = r->p < r->end && *r->p == '{';
    const struct pr_shell_var *v;
    const char *name;

    r->p += braces;
    name = pr_shell_read_name(r);
    if (!name || (braces && (r->p == r->end || *r->p++ != '}'))) {
        if (r->no_memory)
            return pr_fail_nomem(err);
        shell_fail_at(r, "of what a shell replaces only ${NAME} is known", err);
        return pr_hint(err, "write '$' in single quotes to mean itself");
    }
    v = pr_shell_find_var(r->conf, name);
    if (!v || v->kind != PR_SHELL_TEXT || !v->count)
        return pr_fail_at(err, PR_E_CONF, r->name, r->line, 0,
                          "'%s' has no value here", name);
    pr_buf_str(out, v->words[0].text);
    return PR_OK;
}

static int put_single(struct pr_shell_reader *r, struct pr_buf *out,
                      struct pr_err *err)
{
    const char *stop = memchr(r->p, '\'', (size_t)(r->end - r->p));

    if (!stop)
        return shell_fail_at(r, "a quote is not closed", err);
    pr_buf_add(out, r->p, (size_t)(stop - r->p));
    for (; r->p <= stop; r->p++)
        r->line += *r->p == '\n';
    return PR_OK;
}

static int shell_read_double_quoted(struct pr_shell_reader *r,
                                    struct pr_buf *out, struct pr_err *err)
{
    unsigned begun = r->line;

    while (r->p < r->end) {
        char c = *r->p++;
        int rc = PR_OK;

        if (c == '"')
            return PR_OK;
        if (c == '`')
            return shell_fail_at(r, "commands in configs are not run", err);
        if (c == '\\' && r->p < r->end && strchr("\"\\$`", *r->p))
            pr_buf_char(out, *r->p++);
        else if (c == '$')
            rc = put_var(r, out, err);
        else
            pr_buf_char(out, c);
        r->line += c == '\n';
        if (rc)
            return rc;
    }
    return pr_fail_at(err, PR_E_CONF, r->name, begun, 0,
                      "a quote is not closed");
}

static bool shell_ends_word(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ')';
}

bool pr_shell_is_at_blank(const struct pr_shell_reader *r)
{
    return r->p == r->end || shell_ends_word(*r->p);
}

/* What a shell would make something else of. */
static bool is_special(char c)
{
    return c && strchr(";&|<>(`*?[]{}!~", c);
}

static int put_bare(struct pr_shell_reader *r, struct pr_buf *out,
                    struct pr_err *err)
{
    char c = *r->p++;

    if (c == '$')
        return put_var(r, out, err);
    if (c == '\\' && r->p < r->end && *r->p != '\n') {
        pr_buf_char(out, *r->p++);
        return PR_OK;
    }
    if (!is_special(c) && c != '\\') {
        pr_buf_char(out, c);
        return PR_OK;
    }
    pr_fail_at(err, PR_E_CONF, r->name, r->line, 0,
               "'%c' means something to a shell, and configs are not run by "
               "one",
               c);
    return pr_hint(err, "put the word in quotes if it means itself");
}

int pr_shell_read_word(struct pr_shell_reader *r, const char **ret,
                       struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf word = PR_BUF_INIT(MAX_WORD);
    const char *from = r->p;
    int rc = PR_OK;

    while (!rc && !pr_shell_is_at_blank(r)) {
        if (*r->p == '"' || *r->p == '\'')
            rc = *r->p++ == '"' ? shell_read_double_quoted(r, &word, err)
                                : put_single(r, &word, err);
        else
            rc = put_bare(r, &word, err);
    }
    if (rc)
        return rc;
    if (r->p == from)
        return shell_fail_at(r, "a word is missing", err);
    if (!pr_buf_ok(&word))
        return word.over ? shell_fail_at(r, "a word is too long", err)
                         : pr_fail_nomem(err);
    if (word.len && memchr(word.data, '\0', word.len))
        return shell_fail_at(r, "a word holds a zero byte", err);
    r->conf->bytes += word.len;
    if (r->conf->bytes > MAX_ALL)
        return shell_fail_at(r, "all words together are too long", err);
    *ret = word.len ? pr_arena_copy(r->conf->arena, word.data, word.len) : "";
    return *ret ? PR_OK : pr_fail_nomem(err);
}
