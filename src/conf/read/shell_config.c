/*
 * Configs written as shell scripts: words, assignments and source. Files are
 * read one inside another, so deep and so many at most, and never one inside
 * itself.
 */
#include "conf/read/shell_config.h"

#include "base/file.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A place in a shell config. */
struct shell_reader {
    struct pr_shell_config *conf;
    const struct pr_shell_opts *opts;
    const char *name; /* of the file */
    const char *p, *end;
    unsigned line;
    const struct shell_reader *outer; /* that sources this one */
    int depth;
    unsigned *files; /* read so far */
    bool no_memory;
    char whole[PATH_MAX]; /* real path of the file; or "" */
};

/* ---- words */

/* One word that refers to others, again and again, may make much of little. */
enum { MAX_WORD = 1 << 20, MAX_ALL = 64 << 20 };

/* Skips blanks and, with lines, ends of lines; and comments. */
static void shell_skip_space(struct shell_reader *r, bool lines)
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

/* Letters, digits and _, in the arena; NULL: none here, or no_memory. */
static const char *shell_read_name(struct shell_reader *r)
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

/* A word and the blanks around it. */
static bool shell_expect(struct shell_reader *r, const char *word)
{
    size_t n = strlen(word);

    shell_skip_space(r, false);
    if ((size_t)(r->end - r->p) < n || memcmp(r->p, word, n) != 0)
        return false;
    r->p += n;
    if (r->p == r->end || (*r->p != ' ' && *r->p != '\t'))
        return false;
    shell_skip_space(r, false);
    return true;
}

static int shell_fail_at(const struct shell_reader *r, const char *what,
                         struct pr_err *err)
{
    return pr_fail_at(err, PR_E_CONF, r->name, r->line, 0, "%s", what);
}

/* [KEY]= in a map. */
static int shell_read_key(struct shell_reader *r, const char **ret,
                          struct pr_err *err)
{
    if (*r->p != '[')
        return shell_fail_at(r, "in a map there is [KEY]=value", err);
    r->p++;
    *ret = shell_read_name(r);
    if (!*ret)
        return r->no_memory ? pr_fail_nomem(err)
                            : shell_fail_at(r, "a key is a name", err);
    if (r->end - r->p < 2 || r->p[0] != ']' || r->p[1] != '=')
        return shell_fail_at(r, "in a map there is [KEY]=value", err);
    r->p += 2;
    return PR_OK;
}

/* '$' was read: {NAME}, or NAME, of a text that was assigned. */
static int put_var(struct shell_reader *r, struct pr_buf *out,
                   struct pr_err *err)
{
    bool braces = r->p < r->end && *r->p == '{';
    const struct pr_shell_var *v;
    const char *name;

    r->p += braces;
    name = shell_read_name(r);
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

static int put_single(struct shell_reader *r, struct pr_buf *out,
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

static int shell_read_double_quoted(struct shell_reader *r, struct pr_buf *out,
                                    struct pr_err *err)
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

/* No word begins here. */
static bool shell_is_at_blank(const struct shell_reader *r)
{
    return r->p == r->end || shell_ends_word(*r->p);
}

/* What a shell would make something else of. */
static bool is_special(char c)
{
    return c && strchr(";&|<>(`*?[]{}!~", c);
}

static int put_bare(struct shell_reader *r, struct pr_buf *out,
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

/* One word: quoted, bare, or both in one; ${NAME} is replaced. */
static int shell_read_word(struct shell_reader *r, const char **ret,
                           struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf word = PR_BUF_INIT(MAX_WORD);
    const char *from = r->p;
    int rc = PR_OK;

    while (!rc && !shell_is_at_blank(r)) {
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

enum {
    MAX_FILE = 4 << 20,
    MAX_DEPTH = 16,
    MAX_FILES = 256,
    MAX_FOLDERS = 4, /* above the file's own, that source is looked for in */
    MAX_VARS = 4096, /* both are looked through one by one */
    MAX_WORDS = 8192,
};

struct pr_shell_var *pr_shell_find_var(const struct pr_shell_config *c,
                                       const char *name)
{
    for (size_t i = 0; i < c->count; i++)
        if (strcmp(c->vars[i].name, name) == 0)
            return &c->vars[i];
    return NULL;
}

static int add_var(struct shell_reader *r, const char *name,
                   struct pr_shell_var **ret, struct pr_err *err)
{
    struct pr_shell_config *c = r->conf;
    struct pr_shell_var *v = pr_shell_find_var(c, name);

    *ret = v;
    if (v)
        return PR_OK;
    if (c->count == MAX_VARS)
        return pr_fail_at(err, PR_E_CONF, r->name, r->line, 0,
                          "more than %d variables", MAX_VARS);
    v = pr_arena_grow(c->arena, c->vars, c->count, &c->cap, sizeof *v);
    if (!v)
        return pr_fail_nomem(err);
    c->vars = v;
    *ret = v += c->count++;
    *v = (struct pr_shell_var){.name = name};
    return PR_OK;
}

static int add_word(struct pr_shell_config *c, struct pr_shell_var *v,
                    const struct pr_shell_word *w, struct pr_err *err)
{
    struct pr_shell_word *words;

    if (v->count == MAX_WORDS)
        return pr_fail_at(err, PR_E_CONF, w->file, w->line, 0,
                          "'%s' has more than %d words", v->name, MAX_WORDS);
    words = pr_arena_grow(c->arena, v->words, v->count, &v->cap, sizeof *words);
    if (!words)
        return pr_fail_nomem(err);
    v->words = words;
    words[v->count++] = *w;
    return PR_OK;
}

/* Of a map a key that is there is given anew, of a list words are added. */
static int shell_put_word(struct pr_shell_config *c, struct pr_shell_var *v,
                          const struct pr_shell_word *w, struct pr_err *err)
{
    for (size_t i = 0; w->key && i < v->count; i++)
        if (strcmp(v->words[i].key, w->key) == 0) {
            v->words[i] = *w;
            return PR_OK;
        }
    return add_word(c, v, w, err);
}

int pr_shell_set_word(struct pr_shell_config *c, struct pr_shell_var *v,
                      size_t i, const struct pr_shell_word *word,
                      struct pr_err *err)
{
    struct pr_shell_word empty = {
        .text = "", .file = word->file, .line = word->line};
    const char *first;

    while (v->count <= i) {
        PR_TRY(add_word(c, v, &empty, err));
    }
    first = v->words[i].first ? v->words[i].first : v->words[i].text;
    v->words[i] = *word;
    v->words[i].key = NULL;
    v->words[i].first = first;
    return PR_OK;
}

/* ---- source */

/* One folder up, by name where it has one: "a/b" is in "a", "." in "..". */
static void go_up(char folder[static 4096])
{
    char *slash = strrchr(folder, '/'), *last = slash ? slash + 1 : folder;
    size_t n = strlen(folder);

    if (strcmp(last, "..") == 0)
        snprintf(folder + n, 4096 - n, "/..");
    else if (strcmp(last, ".") == 0)
        snprintf(last, 4096 - (size_t)(last - folder), "..");
    else if (slash)
        *(slash == folder ? slash + 1 : slash) = '\0';
    else
        snprintf(folder, 4096, ".");
}

/* The folder of a file, levels above it; false: its path is too long. */
static bool folder_above(const char *file, int levels, char out[static 4096])
{
    const char *slash = strrchr(file, '/');
    size_t n = slash == file ? 1 : slash ? (size_t)(slash - file) : 0;

    if (n >= 4000)
        return false;
    memcpy(out, n ? file : ".", n ? n : 1);
    out[n ? n : 1] = '\0';
    for (int i = 0; i < levels; i++)
        go_up(out);
    return true;
}

static const char *find_source(const struct shell_reader *r, const char *path)
{
    char folder[4096];

    for (int i = 0; i <= MAX_FOLDERS; i++) {
        const char *full;

        if (!folder_above(r->name, i, folder))
            break;
        full = pr_arena_printf(r->conf->arena, "%s/%s", folder, path);
        if (full && access(full, R_OK) == 0)
            return full;
    }
    return NULL;
}

static bool shell_is_open(const struct shell_reader *r, const char *path)
{
    char whole[4096];

    /* Names of one file may differ ("a/../a/x"); it is read where it lies. */
    if (!realpath(path, whole))
        return false;
    for (; r; r = r->outer)
        if (*r->whole && strcmp(r->whole, whole) == 0)
            return true;
    return false;
}

static int shell_read_file(const char *path, struct shell_reader *r,
                           struct pr_err *err);

static int refuse_source(const struct shell_reader *r, unsigned line,
                         const char *path, struct pr_err *err)
{
    if (*path == '/')
        return pr_fail_at(err, PR_E_CONF, r->name, line, 0,
                          "source wants a path relative to this file, got "
                          "'%s'",
                          path);
    if (r->depth >= MAX_DEPTH)
        return pr_fail_at(err, PR_E_CONF, r->name, line, 0,
                          "files are nested more than %d deep", MAX_DEPTH);
    if (++*r->files > MAX_FILES)
        return pr_fail_at(err, PR_E_CONF, r->name, line, 0,
                          "more than %d files are read", MAX_FILES);
    return PR_OK;
}

static int do_source(struct shell_reader *r, unsigned line, const char *path,
                     struct pr_err *err)
{
    struct shell_reader inner = {.conf = r->conf,
                                 .opts = r->opts,
                                 .outer = r,
                                 .depth = r->depth + 1,
                                 .files = r->files};
    const char *slash = strrchr(path, '/'), *full;
    int rc;

    if (r->opts && r->opts->builtin &&
        strcmp(slash ? slash + 1 : path, r->opts->builtin) == 0)
        return r->opts->call(r->opts->ctx, r->conf, r->name, line, err);
    rc = refuse_source(r, line, path, err);
    if (rc)
        return rc;
    full = find_source(r, path);
    if (!full) {
        pr_fail_at(err, PR_E_CONF, r->name, line, 0, "there is no file '%s'",
                   path);
        return pr_hint(err, "it is looked for beside this file and in the "
                            "folders above it");
    }
    if (shell_is_open(r, full))
        return pr_fail_at(err, PR_E_CONF, r->name, line, 0,
                          "'%s' is read inside itself", path);
    return shell_read_file(full, &inner, err);
}

/* ---- statements */

static int shell_fail_statement(const struct shell_reader *r, unsigned line,
                                struct pr_err *err)
{
    pr_fail_at(err, PR_E_CONF, r->name, line, 0,
               "only NAME=value, NAME=( … ), declare -A NAME=( … ), source "
               "and comments are read");
    return pr_hint(err, "configs are never run by a shell: write out what "
                        "this line would do");
}

/* '(' was read: words up to ')'. */
static int shell_read_list(struct shell_reader *r, struct pr_shell_var *v,
                           struct pr_err *err)
{
    unsigned begun = r->line;

    v->count = 0;
    for (;;) {
        struct pr_shell_word w = {.file = r->name};
        int rc;

        shell_skip_space(r, true);
        if (r->p == r->end)
            return pr_fail_at(err, PR_E_CONF, r->name, begun, 0,
                              "the bracket of '%s' is not closed", v->name);
        if (*r->p == ')') {
            r->p++;
            return PR_OK;
        }
        rc = v->kind == PR_SHELL_MAP ? shell_read_key(r, &w.key, err) : PR_OK;
        w.line = r->line;
        w.text = "";
        if (!rc && !(w.key && shell_is_at_blank(r)))
            rc = shell_read_word(r, &w.text, err);
        if (!rc)
            rc = shell_put_word(r->conf, v, &w, err);
        if (rc)
            return rc;
    }
}

static int shell_read_text(struct shell_reader *r, struct pr_shell_var *v,
                           struct pr_err *err)
{
    struct pr_shell_word w = {.text = "", .file = r->name, .line = r->line};
    int rc = PR_OK;

    if (!shell_is_at_blank(r))
        rc = shell_read_word(r, &w.text, err);
    v->count = 0;
    return rc ? rc : add_word(r->conf, v, &w, err);
}

/* Everything after the name. */
static int shell_read_assignment(struct shell_reader *r, const char *name,
                                 bool map, struct pr_err *err)
{
    bool given = r->p < r->end && *r->p == '=';
    bool list = given && r->p + 1 < r->end && r->p[1] == '(';
    struct pr_shell_var *v;

    PR_TRY(add_var(r, name, &v, err));
    if ((!given && !map) || (given && map && !list))
        return shell_fail_statement(r, r->line, err);
    v->file = r->name;
    v->line = r->line;
    if (map && v->kind != PR_SHELL_MAP)
        v->count = 0; /* words of a list have no keys */
    v->kind = map ? PR_SHELL_MAP : list ? PR_SHELL_ARRAY : PR_SHELL_TEXT;
    if (!given)
        return PR_OK;
    r->p += list ? 2 : 1;
    return list ? shell_read_list(r, v, err) : shell_read_text(r, v, err);
}

/* Nothing but a comment may follow on the line. */
static int end_statement(struct shell_reader *r, struct pr_err *err)
{
    shell_skip_space(r, false);
    if (r->p < r->end && *r->p != '\n')
        return shell_fail_statement(r, r->line, err);
    return PR_OK;
}

static int read_statement(struct shell_reader *r, struct pr_err *err)
{
    unsigned line = r->line;
    const char *name = shell_read_name(r), *path = NULL;
    bool map = name && strcmp(name, "declare") == 0;
    int rc;

    if (!name)
        return r->no_memory ? pr_fail_nomem(err)
                            : shell_fail_statement(r, line, err);
    if (strcmp(name, "source") == 0 && r->p < r->end &&
        (*r->p == ' ' || *r->p == '\t')) {
        shell_skip_space(r, false);
        rc = shell_read_word(r, &path, err);
        if (!rc)
            rc = end_statement(r, err);
        return rc ? rc : do_source(r, line, path, err);
    }
    if (map) {
        if (!shell_expect(r, "-A"))
            return shell_fail_statement(r, line, err);
        name = shell_read_name(r);
        if (!name)
            return r->no_memory ? pr_fail_nomem(err)
                                : shell_fail_statement(r, line, err);
    }
    rc = shell_read_assignment(r, name, map, err);
    return rc ? rc : end_statement(r, err);
}

static int shell_read_statements(struct shell_reader *r, struct pr_err *err)
{
    int rc = PR_OK;

    r->line = 1;
    while (!rc) {
        shell_skip_space(r, true);
        if (r->p == r->end)
            break;
        rc = read_statement(r, err);
    }
    return rc;
}

static int shell_read_file(const char *path, struct shell_reader *r,
                           struct pr_err *err)
{
    const char *text;
    size_t len;

    PR_TRY(pr_file_read(path, MAX_FILE, r->conf->arena, &text, &len, err));
    if (!realpath(path, r->whole))
        r->whole[0] = '\0';
    r->name = path;
    r->p = text;
    r->end = text + len;
    return shell_read_statements(r, err);
}

int pr_shell_config_parse(const char *text, size_t len, const char *name,
                          const struct pr_shell_opts *opts, struct pr_arena *a,
                          struct pr_shell_config *ret, struct pr_err *err)
{
    struct pr_shell_config c = {.arena = a};
    unsigned files = 0;
    struct shell_reader r = {.conf = &c,
                             .opts = opts,
                             .name = name,
                             .p = text,
                             .end = text + len,
                             .files = &files};
    int rc = shell_read_statements(&r, err);

    if (!rc)
        *ret = c;
    return rc;
}

int pr_shell_config_read(const char *path, const struct pr_shell_opts *opts,
                         struct pr_arena *a, struct pr_shell_config *ret,
                         struct pr_err *err)
{
    struct pr_shell_config c = {.arena = a};
    unsigned files = 0;
    struct shell_reader r = {.conf = &c, .opts = opts, .files = &files};
    int rc = shell_read_file(path, &r, err);

    if (!rc)
        *ret = c;
    return rc;
}
