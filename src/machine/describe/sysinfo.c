/* Which modules of system information there are, and the short ones. */
#include "machine/describe/sysinfo.h"

#include "base/text.h"
#include "machine/describe/sysinfo_impl.h"

#include <stdio.h>
#include <string.h>

/* "model name\t: AMD" in two, both without blanks at their ends; NULL when
 * there is no colon. */
static char *sysinfo_split_line(char *line)
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
static void put_cpuinfo(struct pr_machine_env *e, const char *key)
{
    struct pr_machine_env_lines l;
    bool open = false;
    char *line, *value;

    if (!pr_machine_env_lines_open(e, &l, "/proc/cpuinfo")) {
        pr_json_put_null(&e->jb, key);
        return;
    }
    pr_json_open_array(&e->jb, key);
    while ((line = pr_machine_env_lines_next(&l))) {
        value = sysinfo_split_line(line);
        if (!value && open) {
            pr_json_close(&e->jb);
            open = false;
        }
        if (!value || !*line)
            continue;
        if (!open)
            pr_json_open_object(&e->jb, NULL);
        open = true;
        pr_json_put_str(&e->jb, line, value);
    }
    if (open)
        pr_json_close(&e->jb);
    pr_json_close(&e->jb);
}

static void put_meminfo(struct pr_machine_env *e, const char *key)
{
    struct pr_machine_env_lines l;
    char *line, *value;

    if (!pr_machine_env_lines_open(e, &l, "/proc/meminfo")) {
        pr_json_put_null(&e->jb, key);
        return;
    }
    pr_json_open_object(&e->jb, key);
    while ((line = pr_machine_env_lines_next(&l)))
        if ((value = sysinfo_split_line(line)) && *line)
            pr_json_put_str(&e->jb, line, value);
    pr_json_close(&e->jb);
}

static void put_dmi(struct pr_machine_env *e, const char *key)
{
    static const char *const names[] = {"board_name", "board_vendor",
                                        "product_name", "sys_vendor"};
    char word[PR_MACHINE_ENV_WORD];

    pr_json_open_object(&e->jb, key);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (pr_machine_env_text(e, word, sizeof word,
                                "/sys/devices/virtual/dmi/id/%s", names[i]))
            pr_json_put_str(&e->jb, names[i], word);
    pr_json_close(&e->jb);
}

/* It is a program, and none is started; env.json has what it tells. */
static void put_inxi(struct pr_machine_env *e, const char *key)
{
    pr_json_put_null(&e->jb, key);
}

static const struct module {
    const char *name;
    void (*put)(struct pr_machine_env *e, const char *key);
} modules[] = {
    {"cpuinfo", put_cpuinfo},
    {"meminfo", put_meminfo},
    {"lscpu", pr_machine_sysinfo_lscpu},
    {"dmi", put_dmi},
    {"nvidiasmi", pr_machine_sysinfo_nvidiasmi},
    {"inxi", put_inxi},
};

enum { MODULES = sizeof modules / sizeof *modules };

static const struct module *sysinfo_find_module(const char *name, size_t len)
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
static int sysinfo_next_module(const char **list, const struct module **ret,
                               struct pr_err *err)
{
    static const char between[] = ", \t";
    const char *name = *list + strspn(*list, between);
    size_t len = strcspn(name, between);

    if (!len)
        return 0;
    *ret = sysinfo_find_module(name, len);
    if (!*ret)
        return fail_unknown(name, len, err);
    *list = name + len;
    return 1;
}

int pr_machine_sysinfo_check(const char *list, struct pr_err *err)
{
    const struct module *m;
    int rc;

    while ((rc = sysinfo_next_module(&list, &m, err)) == 1)
        ;
    return rc;
}

static int sysinfo_write_lines(struct pr_machine_env *e, const char *list,
                               struct pr_buf *text, struct pr_err *err)
{
    const struct module *m = NULL;
    int rc;

    while ((rc = sysinfo_next_module(&list, &m, err)) == 1) {
        pr_buf_printf(text, "__hw.%s__= ", m->name);
        pr_json_writer_init(&e->jb, text, 0);
        m->put(e, NULL);
        pr_buf_char(text, '\n');
    }
    return rc;
}

int pr_machine_sysinfo_lines_at(const char *root, const char *list,
                                struct pr_buf *out, struct pr_err *err)
{
    static const struct pr_machine_env_opts none;
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT((size_t)64 << 20);
    struct pr_machine_env e = {.opts = &none, .root = root};
    size_t old_len = out->len;
    int rc = sysinfo_write_lines(&e, list, &text, err);

    if (rc)
        return rc;
    if (pr_buf_ok(&text) && text.len)
        pr_buf_add(out, text.data, text.len);
    if (pr_buf_ok(&text) && pr_buf_ok(out))
        return PR_OK;
    out->len = old_len;
    return pr_fail_nomem(err);
}

void pr_machine_sysinfo_write(struct pr_json_writer *jb)
{
    static const struct pr_machine_env_opts none;
    struct pr_machine_env e = {.opts = &none, .root = "", .jb = *jb};

    for (size_t i = 0; i < MODULES; i++) {
        char key[32];

        snprintf(key, sizeof key, "hw.%s", modules[i].name);
        modules[i].put(&e, key);
    }
    *jb = e.jb;
}

int pr_machine_sysinfo_lines(const char *list, struct pr_buf *out,
                             struct pr_err *err)
{
    return pr_machine_sysinfo_lines_at("", list, out, err);
}
