/*
 * What containers see of this machine. HOST:INSIDE is the short form; paths
 * that it would split are given by fields, which are those of a CSV file. No
 * program takes two mounts in one place: what the user's own arguments mount
 * holds, then the first of ours.
 */
#include "base/buf.h"
#include "launch/container_impl.h"

#include <string.h>

/* ---- the two forms */

/* apptainer takes several in one word. */
static bool has_mount_separator(const struct pr_container_plan *p,
                                const char *path)
{
    return strpbrk(path, pr_container_is_apptainer(p->kind) ? ":," : ":") !=
           NULL;
}

static void mount_put_field(struct pr_buf *out, const char *key,
                            const char *path)
{
    bool quoted = strpbrk(path, ",\"\r\n") != NULL;

    pr_buf_str(out, quoted ? ",\"" : ",");
    pr_buf_str(out, key);
    for (; *path; path++)
        pr_buf_str(out, *path == '"' ? "\"\"" : (const char[]){*path, '\0'});
    if (quoted)
        pr_buf_char(out, '"');
}

static void add_fields(struct pr_container_words *w, const struct pr_mount *m)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 16);

    pr_buf_str(&text, "type=bind");
    mount_put_field(&text, "source=", m->host);
    mount_put_field(&text, "target=", m->inside);
    if (strcmp(m->options, "ro") == 0)
        pr_buf_str(&text, ",readonly");
    pr_container_add_pair(w, "--mount",
                          pr_buf_ok(&text) ? pr_arena_str(w->arena, text.data)
                                           : NULL);
}

static void add_short(struct pr_container_words *w, const char *option,
                      const struct pr_mount *m)
{
    pr_container_add_pair(w, option,
                          pr_arena_printf(w->arena, "%s:%s%s%s", m->host,
                                          m->inside, *m->options ? ":" : "",
                                          m->options));
}

/* ---- what is mounted already */

/* The length of a path without slashes at its end. */
static size_t trim_path_slashes(const char *path, size_t n)
{
    while (n > 1 && path[n - 1] == '/')
        n--;
    return n;
}

static bool is_same_path(const char *a, size_t a_len, const char *b,
                         size_t b_len)
{
    a_len = trim_path_slashes(a, a_len);
    return a_len == trim_path_slashes(b, b_len) && memcmp(a, b, a_len) == 0;
}

/* HOST:INSIDE[:OPTIONS], or INSIDE alone; apptainer has a list of them. */
static bool short_has(const char *text, const char *inside)
{
    for (;;) {
        size_t n = strcspn(text, ",");
        const char *colon = memchr(text, ':', n);
        const char *at = colon ? colon + 1 : text;
        size_t len = strcspn(at, ":,");

        if (is_same_path(at, len, inside, strlen(inside)))
            return true;
        if (!text[n])
            return false;
        text += n + 1;
    }
}

/* type=bind,source=HOST,target=INSIDE. */
static bool fields_have(const char *text, const char *inside)
{
    static const char *const keys[] = {"target=", "destination=", "dst="};

    while (*text) {
        size_t n = strcspn(text, ",");

        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
            size_t k = strlen(keys[i]);

            if (n > k && strncmp(text, keys[i], k) == 0 &&
                is_same_path(text + k, n - k, inside, strlen(inside)))
                return true;
        }
        text += n + (text[n] == ',');
    }
    return false;
}

/* The value of an option in this word or the next; NULL: another word. */
static const char *get_option_value(const char *const *word, const char *option)
{
    size_t n = strlen(option);

    if (strncmp(*word, option, n) != 0)
        return NULL;
    return (*word)[n] == '=' ? *word + n + 1 : (*word)[n] ? NULL : word[1];
}

static bool args_mount(const char *const *words, const char *inside)
{
    static const char *const options[] = {"-v", "--volume", "-B", "--bind"};

    for (; *words; words++) {
        const char *fields = get_option_value(words, "--mount");

        if (fields && fields_have(fields, inside))
            return true;
        for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
            const char *value = get_option_value(words, options[i]);

            if (value && short_has(value, inside))
                return true;
        }
    }
    return false;
}

static bool is_mount_taken(const struct pr_container_plan *p, size_t which)
{
    const struct pr_mount *all = p->o->mounts;
    const char *inside = all[which].inside;

    for (size_t i = 0; i < which; i++)
        if (is_same_path(all[i].inside, strlen(all[i].inside), inside,
                         strlen(inside)))
            return true;
    return args_mount(p->args, inside);
}

void pr_container_add_mounts(struct pr_container_words *w,
                             const struct pr_container_plan *p)
{
    const char *option =
        pr_container_is_apptainer(p->kind) ? "--bind" : "--volume";

    for (size_t i = 0; i < p->o->mount_count; i++) {
        const struct pr_mount *m = &p->o->mounts[i];

        if (is_mount_taken(p, i))
            continue;
        if (has_mount_separator(p, m->host) ||
            has_mount_separator(p, m->inside))
            add_fields(w, m);
        else
            add_short(w, option, m);
    }
}
