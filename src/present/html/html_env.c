/* The machine: what env.json of a run directory says, flat. */
#include "base/json/json.h"
#include "present/html/html_impl.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MAX_ENV = 16 << 20, MAX_ROWS = 600, MAX_DEPTH = 12, MAX_TEXT = 400 };

/* What a reader asks first. */
static const char *const first[] = {
    "hostname",           "distribution",  "kernel.release", "cpu.model",
    "cpu.sockets",        "cpu.cores",     "cpu.threads",    "cpu.governor",
    "memory.total_bytes", "board.product", "prony.version",
};

struct walk {
    struct pr_html *h;
    size_t rows;
    char name[512];
};

static bool is_scalar(const struct pr_value *v)
{
    return v->kind != PR_MAP && v->kind != PR_LIST;
}

static bool all_scalars(const struct pr_value *list)
{
    for (uint32_t i = 0; i < list->len; i++)
        if (!is_scalar(&list->items[i]))
            return false;
    return true;
}

static void html_put_env_row(struct pr_html *h, const char *name,
                             const struct pr_value *v)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 20);

    pr_value_write_joined(&text, v);
    if (!text.len || !pr_buf_ok(&text))
        return;
    pr_html_raw(h, "<tr><th scope=\"row\">");
    pr_html_text(h, name);
    pr_html_raw(h, "</th><td class=\"text\">");
    pr_html_textn(h, text.data, text.len < MAX_TEXT ? text.len : MAX_TEXT);
    pr_html_raw(h, text.len > MAX_TEXT ? "…</td></tr>\n" : "</td></tr>\n");
}

static void html_walk_env(struct walk *w, const struct pr_value *v,
                          unsigned depth);

static void html_walk_env_member(struct walk *w, const char *key,
                                 const struct pr_value *v, unsigned depth)
{
    size_t before = strlen(w->name);
    int n = snprintf(w->name + before, sizeof w->name - before, "%s%s",
                     before ? "." : "", key);

    if (n > 0 && (size_t)n < sizeof w->name - before)
        html_walk_env(w, v, depth + 1);
    w->name[before] = 0;
}

static void html_walk_env(struct walk *w, const struct pr_value *v,
                          unsigned depth)
{
    char number[16];

    if (w->rows >= MAX_ROWS || depth > MAX_DEPTH)
        return;
    if (is_scalar(v) || (v->kind == PR_LIST && all_scalars(v))) {
        html_put_env_row(w->h, w->name, v);
        w->rows++;
        return;
    }
    for (uint32_t i = 0; i < v->len; i++)
        if (v->kind == PR_MAP) {
            html_walk_env_member(w, v->members[i].key, &v->members[i].value,
                                 depth);
        } else {
            snprintf(number, sizeof number, "%" PRIu32, i);
            html_walk_env_member(w, number, &v->items[i], depth);
        }
}

static const struct pr_value *html_find_env(const struct pr_value *v,
                                            const char *name)
{
    char key[64];

    while (v && *name) {
        size_t n = strcspn(name, ".");

        snprintf(key, sizeof key, "%.*s", (int)n, name);
        v = v->kind == PR_MAP ? pr_get(v, key) : NULL;
        name += n + (name[n] == '.');
    }
    return v;
}

static void html_put_env(struct pr_html *h, const struct pr_value *env)
{
    struct walk w = {.h = h};

    pr_html_raw(h, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
                   "aria-label=\"Environment\"><table class=\"plain\">"
                   "<tbody>\n");
    for (size_t i = 0; i < sizeof first / sizeof *first; i++) {
        const struct pr_value *v = html_find_env(env, first[i]);

        if (v && is_scalar(v))
            html_put_env_row(h, first[i], v);
    }
    pr_html_raw(h, "</tbody></table></div>\n<details><summary>Everything that "
                   "was recorded</summary>\n<div class=\"scroll\" "
                   "tabindex=\"0\" role=\"region\" aria-label=\"All of the "
                   "environment\"><table class=\"plain\"><tbody>\n");
    html_walk_env(&w, env, 0);
    pr_html_raw(h, "</tbody></table></div>\n");
    if (w.rows >= MAX_ROWS)
        pr_html_printf(h,
                       "<p class=\"soft\">The first %d facts; env.json has "
                       "all.</p>\n",
                       MAX_ROWS);
    pr_html_raw(h, "</details>\n");
}

void pr_html_environment(struct pr_html *h, const char *dir)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
    struct pr_json_in in = {.name = "env.json"};
    struct pr_value env;
    const char *path = a && dir ? pr_arena_printf(a, "%s/env.json", dir) : NULL;

    if (!a)
        h->out.failed = true;
    if (!path ||
        pr_file_read_in(dir, path, MAX_ENV, a, &in.text, &in.len, NULL) !=
            PR_OK ||
        pr_json_read(&in, a, &env, NULL, NULL) != PR_OK || env.kind != PR_MAP)
        return;
    html_put_env(h, &env);
}
