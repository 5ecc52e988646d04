/* Which modules of system information there are, and the short ones. */
#include "record/sysinfo.h"

#include "base/nearest.h"
#include "record/sysinfo_impl.h"

#include <stdio.h>
#include <string.h>

/* "model name\t: AMD" in two, both without blanks at their ends; NULL when
 * there is no colon. */
static char *split(char *line)
{
    char *value = strchr(line, ':'), *end = value;

    if (!value)
        return NULL;
    while (end > line && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    *end = '\0';
    for (value++; *value == ' ' || *value == '\t'; value++)
        ;
    end = value + strlen(value);
    while (end > value && (end[-1] == ' ' || end[-1] == '\t'))
        *--end = '\0';
    return value;
}

/* One object a processor: they are parted by empty lines. */
static void put_cpuinfo(struct pr_env *e, const char *key)
{
    struct pr_env_lines l;
    bool open = false;
    char *line, *value;

    if (!pr_env_lines_open(e, &l, "/proc/cpuinfo")) {
        pr_jb_null(&e->jb, key);
        return;
    }
    pr_jb_arr(&e->jb, key);
    while ((line = pr_env_lines_next(&l))) {
        value = split(line);
        if (!value && open) {
            pr_jb_end(&e->jb);
            open = false;
        }
        if (!value || !*line)
            continue;
        if (!open)
            pr_jb_obj(&e->jb, NULL);
        open = true;
        pr_jb_str(&e->jb, line, value);
    }
    if (open)
        pr_jb_end(&e->jb);
    pr_jb_end(&e->jb);
}

static void put_meminfo(struct pr_env *e, const char *key)
{
    struct pr_env_lines l;
    char *line, *value;

    if (!pr_env_lines_open(e, &l, "/proc/meminfo")) {
        pr_jb_null(&e->jb, key);
        return;
    }
    pr_jb_obj(&e->jb, key);
    while ((line = pr_env_lines_next(&l)))
        if ((value = split(line)) && *line)
            pr_jb_str(&e->jb, line, value);
    pr_jb_end(&e->jb);
}

static void put_dmi(struct pr_env *e, const char *key)
{
    static const char *const names[] = {"board_name", "board_vendor",
                                        "product_name", "sys_vendor"};
    char word[PR_ENV_WORD];

    pr_jb_obj(&e->jb, key);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (pr_env_text(e, word, sizeof word, "/sys/devices/virtual/dmi/id/%s",
                        names[i]))
            pr_jb_str(&e->jb, names[i], word);
    pr_jb_end(&e->jb);
}

/* It is a program, and none is started; env.json has what it tells. */
static void put_inxi(struct pr_env *e, const char *key)
{
    pr_jb_null(&e->jb, key);
}

static const struct module {
    const char *name;
    void (*put)(struct pr_env *e, const char *key);
} modules[] = {
    {"cpuinfo", put_cpuinfo},
    {"meminfo", put_meminfo},
    {"lscpu", pr_sysinfo_lscpu},
    {"dmi", put_dmi},
    {"nvidiasmi", pr_sysinfo_nvidiasmi},
    {"inxi", put_inxi},
};

enum { MODULES = sizeof modules / sizeof *modules };

static const struct module *find(const char *name, size_t len)
{
    for (size_t i = 0; i < MODULES; i++)
        if (strlen(modules[i].name) == len &&
            memcmp(modules[i].name, name, len) == 0)
            return &modules[i];
    return NULL;
}

static int fail_unknown(const char *name, size_t len, struct pr_err *err)
{
    struct pr_nearest near;
    char word[32];

    snprintf(word, sizeof word, "%.*s", (int)(len < 31 ? len : 31), name);
    pr_nearest_init(&near, word);
    for (size_t i = 0; i < MODULES; i++)
        pr_nearest_offer(&near, modules[i].name);
    pr_fail(err, PR_E_CONF, "exp.sys_info", "there is no module '%s'", word);
    return near.best ? pr_hint(err, "did you mean '%s'?", near.best)
                     : pr_hint(err, "there are cpuinfo, meminfo, lscpu, dmi, "
                                    "nvidiasmi and inxi");
}

/* The next name in *list, which moves on behind it. 1, 0 at the end, or an
 * error. */
static int next(const char **list, const struct module **ret,
                struct pr_err *err)
{
    static const char between[] = ", \t";
    const char *name = *list + strspn(*list, between);
    size_t len = strcspn(name, between);

    if (!len)
        return 0;
    *ret = find(name, len);
    if (!*ret)
        return fail_unknown(name, len, err);
    *list = name + len;
    return 1;
}

int pr_sysinfo_check(const char *list, struct pr_err *err)
{
    const struct module *m;
    int rc;

    while ((rc = next(&list, &m, err)) == 1)
        ;
    return rc;
}

static int put_lines(struct pr_env *e, const char *list, struct pr_buf *text,
                     struct pr_err *err)
{
    const struct module *m = NULL;
    int rc;

    while ((rc = next(&list, &m, err)) == 1) {
        pr_buf_printf(text, "__hw.%s__= ", m->name);
        pr_jb_init(&e->jb, text, 0);
        m->put(e, NULL);
        pr_buf_char(text, '\n');
    }
    return rc;
}

int pr_sysinfo_lines_at(const char *root, const char *list, struct pr_buf *out,
                        struct pr_err *err)
{
    static const struct pr_env_opts none;
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT((size_t)64 << 20);
    struct pr_env e = {.opts = &none, .root = root};
    size_t old_len = out->len;
    int rc = put_lines(&e, list, &text, err);

    if (rc)
        return rc;
    if (pr_buf_ok(&text) && text.len)
        pr_buf_add(out, text.data, text.len);
    if (pr_buf_ok(&text) && pr_buf_ok(out))
        return PR_OK;
    out->len = old_len;
    return pr_fail_nomem(err);
}

void pr_sysinfo_put(struct pr_jb *jb)
{
    static const struct pr_env_opts none;
    struct pr_env e = {.opts = &none, .root = "", .jb = *jb};

    for (size_t i = 0; i < MODULES; i++) {
        char key[32];

        snprintf(key, sizeof key, "hw.%s", modules[i].name);
        modules[i].put(&e, key);
    }
    *jb = e.jb;
}

int pr_sysinfo_lines(const char *list, struct pr_buf *out, struct pr_err *err)
{
    return pr_sysinfo_lines_at("", list, out, err);
}
