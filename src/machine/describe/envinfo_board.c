/* The kernel, the board, and what the machine is doing apart from us. */
#include "machine/envinfo_read.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Words that look like a password are left out. */
static void add_command_line(struct pr_machine_env *e)
{
    char text[4096], kept[4096], *save = NULL;
    size_t used = 0;

    if (!pr_machine_env_text(e, text, sizeof text, "/proc/cmdline"))
        return;
    for (char *w = strtok_r(text, " \t\n", &save); w;
         w = strtok_r(NULL, " \t\n", &save)) {
        size_t len = strlen(w);
        if (pr_machine_env_is_secret(w, strcspn(w, "=")))
            continue;
        if (used)
            kept[used++] = ' ';
        memcpy(kept + used, w, len);
        used += len;
    }
    pr_json_put_strn(&e->jb, "command_line", kept, used);
}

void pr_machine_env_kernel(struct pr_machine_env *e)
{
    struct utsname u;
    char word[PR_MACHINE_ENV_WORD];

    if (uname(&u) < 0)
        return;
    pr_json_put_str(&e->jb, "hostname", u.nodename);
    pr_json_open_object(&e->jb, "kernel");
    pr_json_put_str(&e->jb, "name", u.sysname);
    pr_json_put_str(&e->jb, "release", u.release);
    pr_json_put_str(&e->jb, "version", u.version);
    pr_json_put_str(&e->jb, "machine", u.machine);
    add_command_line(e);
    if (pr_machine_env_text(e, word, sizeof word,
                            "/sys/devices/system/clocksource/clocksource0/"
                            "current_clocksource"))
        pr_json_put_str(&e->jb, "clocksource", word);
    pr_json_close(&e->jb);
}

/* Of the board, not of its owner: no serial numbers, no asset tags. */
static void add_dmi(struct pr_machine_env *e)
{
    static const char *const names[] = {
        "sys_vendor",  "product_name", "board_vendor", "board_name",
        "bios_vendor", "bios_version", "bios_date",
    };
    char word[PR_MACHINE_ENV_WORD];

    pr_json_open_object(&e->jb, "dmi");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (pr_machine_env_text(e, word, sizeof word, "/sys/class/dmi/id/%s",
                                names[i]))
            pr_json_put_str(&e->jb, names[i], word);
    pr_json_close(&e->jb);
}

static const char *env_find_container(struct pr_machine_env *e,
                                      char word[static PR_MACHINE_ENV_WORD])
{
    static const char *const marks[][2] = {
        {"/.dockerenv", "docker"},
        {"/run/.containerenv", "podman"},
        {"/.singularity.d", "apptainer"},
        {"/var/run/secrets/kubernetes.io", "kubernetes"},
    };
    char path[4096];

    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (pr_machine_env_path(e, path, "%s", marks[i][0]) &&
            access(path, F_OK) == 0)
            return marks[i][1];
    /* "lxc", "systemd-nspawn" and others, by systemd */
    return pr_machine_env_text(e, word, PR_MACHINE_ENV_WORD,
                               "/run/systemd/container")
               ? word
               : NULL;
}

/* A virtual machine shares its disks and processors: numbers depend on it. */
static void add_virtualisation(struct pr_machine_env *e)
{
    static const char *const files[][2] = {
        {"product", "/sys/class/dmi/id/product_name"},
        {"system_vendor", "/sys/class/dmi/id/sys_vendor"},
        {"hypervisor_type", "/sys/hypervisor/type"},
    };
    char word[PR_MACHINE_ENV_WORD];

    pr_json_open_object(&e->jb, "virtualisation");
    if (e->flags_known)
        pr_json_put_bool(&e->jb, "hypervisor", e->hypervisor);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (pr_machine_env_text(e, word, sizeof word, "%s", files[i][1]))
            pr_json_put_str(&e->jb, files[i][0], word);
    pr_json_put_str(&e->jb, "container", env_find_container(e, word));
    pr_json_close(&e->jb);
}

void pr_machine_env_board(struct pr_machine_env *e)
{
    add_dmi(e);
    add_virtualisation(e);
}

static void add_pressure(struct pr_machine_env *e)
{
    static const char *const names[] = {"cpu", "memory", "io"};
    char word[PR_MACHINE_ENV_WORD];

    pr_json_open_array(&e->jb, "pressure");
    for (size_t i = 0; i < 3; i++)
        if (pr_machine_env_text(e, word, sizeof word, "/proc/pressure/%s",
                                names[i]))
            pr_json_put_str(&e->jb, NULL, names[i]);
    pr_json_close(&e->jb);
}

static void add_settings(struct pr_machine_env *e)
{
    static const char *const names[] = {
        "vm/swappiness",
        "vm/dirty_ratio",
        "vm/dirty_bytes",
        "vm/dirty_background_ratio",
        "vm/overcommit_memory",
        "vm/zone_reclaim_mode",
        "kernel/numa_balancing",
        "kernel/perf_event_paranoid",
        "kernel/sched_autogroup_enabled",
    };
    uint64_t u;

    pr_json_open_object(&e->jb, "settings");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char key[64];
        if (!pr_machine_env_uint(e, &u, "/proc/sys/%s", names[i]))
            continue;
        memcpy(key, names[i], strlen(names[i]) + 1);
        *strchr(key, '/') = '.';
        pr_json_put_uint(&e->jb, key, u);
    }
    pr_json_close(&e->jb);
}

/* When it began, and whether others were at work. */
void pr_machine_env_load(struct pr_machine_env *e)
{
    char text[PR_MACHINE_ENV_WORD], *end;
    double d;

    if (pr_machine_env_text(e, text, sizeof text, "/proc/uptime")) {
        d = strtod(text, &end);
        if (end > text && d >= 0)
            pr_json_put_float(&e->jb, "uptime_s", d);
    }
    if (pr_machine_env_text(e, text, sizeof text, "/proc/loadavg")) {
        char *p = text;
        pr_json_open_array(&e->jb, "load");
        for (int i = 0; i < 3 && (d = strtod(p, &end), end > p); i++, p = end)
            pr_json_put_float(&e->jb, NULL, d);
        pr_json_close(&e->jb);
    }
    add_pressure(e);
    add_settings(e);
}
