/* The environment of a run: who, when, which software, and all the parts. */
#include "machine/describe/envinfo.h"

#include "base/clock.h"
#include "machine/envinfo_read.h"

#include <string.h>
#include <sys/resource.h>

#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

/* PRETTY_NAME="Debian GNU/Linux 12 (bookworm)" */
static void add_distribution(struct pr_machine_env *e)
{
    static const char key[] = "PRETTY_NAME=";
    struct pr_machine_env_lines l;
    char *line;

    if (!pr_machine_env_lines_open(e, &l, "/etc/os-release") &&
        !pr_machine_env_lines_open(e, &l, "/usr/lib/os-release"))
        return;
    while ((line = pr_machine_env_lines_next(&l))) {
        char *v = line + strlen(key);
        size_t n;
        if (strncmp(line, key, strlen(key)) != 0)
            continue;
        n = strlen(v);
        if (n >= 2 && (*v == '"' || *v == '\'') && v[n - 1] == *v) {
            v++;
            n -= 2;
        }
        if (n) {
            pr_json_put_strn(&e->jb, "distribution", v, n);
            break;
        }
    }
    pr_machine_env_lines_close(&l);
}

static void env_add_rlimit(struct pr_machine_env *e, const char *key,
                           rlim_t limit)
{
    if (limit == RLIM_INFINITY)
        pr_json_put_str(&e->jb, key, "unlimited");
    else
        pr_json_put_uint(&e->jb, key, (uint64_t)limit);
}

static void env_add_rlimits(struct pr_machine_env *e)
{
    static const struct {
        const char *key;
        int resource;
    } rows[] = {
        {"nofile", RLIMIT_NOFILE},
        {"memlock_bytes", RLIMIT_MEMLOCK},
        {"nproc", RLIMIT_NPROC},
    };
    struct rlimit limit;

    pr_json_open_object(&e->jb, "limits");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (getrlimit(rows[i].resource, &limit) < 0)
            continue;
        pr_json_open_object(&e->jb, rows[i].key);
        env_add_rlimit(e, "soft", limit.rlim_cur);
        env_add_rlimit(e, "hard", limit.rlim_max);
        pr_json_close(&e->jb);
    }
    pr_json_close(&e->jb);
}

static void add_software(struct pr_machine_env *e)
{
    const struct pr_machine_env_opts *o = e->opts;

    pr_json_open_object(&e->jb, "prony");
    pr_json_put_str(&e->jb, "version", o->version);
    pr_json_put_str(&e->jb, "revision", o->revision);
    pr_json_close(&e->jb);
#if defined(__clang__)
    pr_json_put_str(&e->jb, "compiler", __VERSION__);
#elif defined(__GNUC__)
    pr_json_put_str(&e->jb, "compiler", "gcc " __VERSION__);
#endif
#ifdef __GLIBC__
    {
        char libc[64] = "glibc ";
        strncpy(libc + 6, gnu_get_libc_version(), sizeof libc - 7);
        pr_json_put_str(&e->jb, "libc", libc);
    }
#endif
    pr_json_open_object(&e->jb, "versions");
    for (size_t i = 0; i < o->version_count; i++)
        pr_json_put_str(&e->jb, o->versions[i].name, o->versions[i].value);
    pr_json_close(&e->jb);
}

static void env_add_all(struct pr_machine_env *e)
{
    char now[32];

    pr_json_open_object(&e->jb, NULL);
    pr_json_put_str(&e->jb, "schema", "prony.env/1");
    pr_json_put_str(&e->jb, "time", pr_time_text(now, pr_wall_clock_ns()));
    pr_machine_env_kernel(e);
    add_distribution(e);
    pr_machine_env_cpu(e);
    pr_machine_env_numa(e);
    pr_machine_env_memory(e);
    pr_machine_env_cgroup(e);
    pr_machine_env_gpus(e);
    pr_machine_env_file_systems(e);
    pr_machine_env_disks(e);
    pr_machine_env_network(e);
    pr_machine_env_sensors(e);
    pr_machine_env_board(e);
    pr_machine_env_load(e);
    env_add_rlimits(e);
    add_software(e);
    pr_machine_env_git(e);
    pr_machine_env_variables(e);
    pr_json_close(&e->jb);
}

int pr_machine_env_capture(const struct pr_machine_env_opts *opts,
                           struct pr_buf *out, struct pr_err *err)
{
    static const struct pr_machine_env_opts none;
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT((size_t)8 << 20);
    struct pr_machine_env e = {.opts = opts ? opts : &none};
    size_t old_len = out->len;

    e.root = e.opts->root ? e.opts->root : "";
    pr_json_writer_init(&e.jb, &text, 2);
    env_add_all(&e);
    pr_buf_char(&text, '\n');
    if (pr_buf_ok(&text))
        pr_buf_add(out, text.data, text.len);
    if (!pr_buf_ok(&text) || !pr_buf_ok(out)) {
        out->len = old_len;
        return pr_fail_nomem(err);
    }
    return PR_OK;
}
