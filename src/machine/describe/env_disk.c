/*
 * Disks, network interfaces, sensors, and the file systems below the folders
 * that matter.
 */
#include "base/text.h"
#include "machine/kernel_file.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* ---- disks, network interfaces, and what tells power and temperature */

/* Fields of a block device that make a difference, in the open object. */
static void machine_env_disk(struct pr_machine_env *e, const char *name)
{
    char word[PR_MACHINE_ENV_WORD];
    uint64_t u;

    pr_json_put_str(&e->jb, "name", name);
    if (pr_machine_env_text(e, word, sizeof word, "/sys/block/%s/device/model",
                            name))
        pr_json_put_str(&e->jb, "model", word);
    if (pr_machine_env_uint(e, &u, "/sys/block/%s/size", name) &&
        u < UINT64_MAX >> 9)
        pr_json_put_uint(&e->jb, "size_bytes", u << 9);
    if (pr_machine_env_uint(e, &u, "/sys/block/%s/queue/rotational", name))
        pr_json_put_bool(&e->jb, "rotational", u != 0);
    if (pr_machine_env_text(e, word, sizeof word,
                            "/sys/block/%s/queue/scheduler", name)) {
        const char *chosen = pr_machine_env_chosen(word);
        pr_json_put_str(&e->jb, "scheduler", chosen ? chosen : word);
    }
    if (pr_machine_env_uint(e, &u, "/sys/block/%s/queue/read_ahead_kb", name) &&
        u < UINT64_MAX >> 10)
        pr_json_put_uint(&e->jb, "read_ahead_bytes", u << 10);
    if (pr_machine_env_uint(e, &u, "/sys/block/%s/queue/nr_requests", name))
        pr_json_put_uint(&e->jb, "queue_depth", u);
}

/* Loops and memory are no disks, nor is what holds nothing. */
static void env_add_disk(struct pr_machine_env *e, const char *name, void *ctx)
{
    static const char *const not_these[] = {"loop", "ram", "zram", "sr", "fd"};
    uint64_t sectors;

    (void)ctx;
    for (size_t i = 0; i < sizeof not_these / sizeof *not_these; i++)
        if (pr_text_starts_with(name, not_these[i]) &&
            strspn(name + strlen(not_these[i]), "0123456789") ==
                strlen(name + strlen(not_these[i])))
            return;
    if (!pr_machine_env_uint(e, &sectors, "/sys/block/%s/size", name) ||
        !sectors)
        return;
    pr_json_open_object(&e->jb, NULL);
    machine_env_disk(e, name);
    pr_json_close(&e->jb);
}

void pr_machine_env_disks(struct pr_machine_env *e)
{
    pr_json_open_array(&e->jb, "disks");
    pr_machine_env_each(e, "/sys/block", "", env_add_disk, NULL);
    pr_json_close(&e->jb);
}

/* The last part of a link such as device/driver. */
static void add_driver(struct pr_machine_env *e, const char *name)
{
    char path[4096], target[1024];
    const char *slash;
    ssize_t n;

    if (!pr_machine_env_path(e, path, "/sys/class/net/%s/device/driver", name))
        return;
    n = readlink(path, target, sizeof target - 1);
    if (n <= 0)
        return;
    target[n] = '\0';
    slash = strrchr(target, '/');
    pr_json_put_str(&e->jb, "driver", slash ? slash + 1 : target);
}

/* Without addresses: they say who somebody is, not how fast. */
static void env_add_interface(struct pr_machine_env *e, const char *name,
                              void *ctx)
{
    char word[PR_MACHINE_ENV_WORD], path[4096];
    uint64_t u;

    (void)ctx;
    if (strcmp(name, "lo") == 0 ||
        !pr_machine_env_text(e, word, sizeof word,
                             "/sys/class/net/%s/operstate", name))
        return;
    pr_json_open_object(&e->jb, NULL);
    pr_json_put_str(&e->jb, "name", name);
    pr_json_put_str(&e->jb, "state", word);
    /* -1, or an error, where it is not known */
    if (pr_machine_env_uint(e, &u, "/sys/class/net/%s/speed", name) &&
        u < UINT32_MAX)
        pr_json_put_uint(&e->jb, "speed_mbit_s", u);
    if (pr_machine_env_text(e, word, sizeof word, "/sys/class/net/%s/duplex",
                            name))
        pr_json_put_str(&e->jb, "duplex", word);
    if (pr_machine_env_uint(e, &u, "/sys/class/net/%s/mtu", name))
        pr_json_put_uint(&e->jb, "mtu", u);
    add_driver(e, name);
    pr_json_put_bool(
        &e->jb, "virtual",
        !pr_machine_env_path(e, path, "/sys/class/net/%s/device", name) ||
            access(path, F_OK) < 0);
    pr_json_close(&e->jb);
}

static void env_add_port(struct pr_machine_env *e, const char *port, void *ctx)
{
    const char *name = ctx;
    char word[PR_MACHINE_ENV_WORD], *colon;

    if (!pr_machine_env_text(e, word, sizeof word,
                             "/sys/class/infiniband/%s/ports/%s/state", name,
                             port))
        return;
    pr_json_open_object(&e->jb, NULL);
    pr_json_put_str(&e->jb, "name", name);
    pr_json_put_str(&e->jb, "port", port);
    colon = strchr(word, ':'); /* "4: ACTIVE" */
    pr_json_put_str(&e->jb, "state", colon && colon[1] ? colon + 2 : word);
    if (pr_machine_env_text(e, word, sizeof word,
                            "/sys/class/infiniband/%s/ports/%s/rate", name,
                            port))
        pr_json_put_str(&e->jb, "rate", word);
    if (pr_machine_env_text(e, word, sizeof word,
                            "/sys/class/infiniband/%s/ports/%s/link_layer",
                            name, port))
        pr_json_put_str(&e->jb, "link_layer", word);
    pr_json_close(&e->jb);
}

static void env_add_infiniband(struct pr_machine_env *e, const char *name,
                               void *ctx)
{
    char dir[PR_MACHINE_ENV_WORD], kept[64];

    (void)ctx;
    snprintf(kept, sizeof kept, "%s", name);
    snprintf(dir, sizeof dir, "/sys/class/infiniband/%s/ports", kept);
    pr_machine_env_each(e, dir, "", env_add_port, kept);
}

void pr_machine_env_network(struct pr_machine_env *e)
{
    char path[4096];

    pr_json_open_array(&e->jb, "network");
    pr_machine_env_each(e, "/sys/class/net", "", env_add_interface, NULL);
    pr_json_close(&e->jb);
    if (!pr_machine_env_path(e, path, "/sys/class/infiniband") ||
        access(path, F_OK) < 0)
        return;
    pr_json_open_array(&e->jb, "infiniband");
    pr_machine_env_each(e, "/sys/class/infiniband", "", env_add_infiniband,
                        NULL);
    pr_json_close(&e->jb);
}

struct sensor_class {
    const char *folder, *file;
};

static void env_add_sensor(struct pr_machine_env *e, const char *name,
                           void *ctx)
{
    const struct sensor_class *c = ctx;
    char word[PR_MACHINE_ENV_WORD];

    if (!pr_machine_env_text(e, word, sizeof word, "%s/%s/%s", c->folder, name,
                             c->file))
        return;
    pr_json_open_object(&e->jb, NULL);
    pr_json_put_str(&e->jb, "name", word);
    pr_json_put_str(&e->jb, "source", name);
    pr_json_close(&e->jb);
}

/* What the monitor can read here. */
void pr_machine_env_sensors(struct pr_machine_env *e)
{
    struct sensor_class power = {"/sys/class/powercap", "name"};
    struct sensor_class monitors = {"/sys/class/hwmon", "name"};
    struct sensor_class zones = {"/sys/class/thermal", "type"};

    pr_json_open_array(&e->jb, "power_sources");
    pr_machine_env_each(e, power.folder, "", env_add_sensor, &power);
    pr_json_close(&e->jb);
    pr_json_open_array(&e->jb, "thermal_sources");
    pr_machine_env_each(e, monitors.folder, "hwmon", env_add_sensor, &monitors);
    pr_machine_env_each(e, zones.folder, "thermal_zone", env_add_sensor,
                        &zones);
    pr_json_close(&e->jb);
}

struct mount {
    char point[4096], type[64], source[1024], options[1024], device[32];
};

static void mountinfo_copy_word(char *out, size_t size, const char *word)
{
    snprintf(out, size, "%s", word);
    pr_sysfile_unescape(out);
}

/* "36 35 98:0 /root /point options [fields] - type source options"; false
 * when the line is not like that. */
static bool read_mount(char *line, struct mount *m)
{
    char *head[6], *tail[3], *save = NULL, *word;

    for (int i = 0; i < 6; i++) {
        head[i] = strtok_r(i ? NULL : line, " ", &save);
        if (!head[i])
            return false;
    }
    do
        word = strtok_r(NULL, " ", &save);
    while (word && strcmp(word, "-") != 0);
    for (int i = 0; i < 3; i++) {
        tail[i] = strtok_r(NULL, " ", &save);
        if (!tail[i])
            return false;
    }
    mountinfo_copy_word(m->device, sizeof m->device, head[2]);
    mountinfo_copy_word(m->point, sizeof m->point, head[4]);
    mountinfo_copy_word(m->type, sizeof m->type, tail[0]);
    mountinfo_copy_word(m->source, sizeof m->source, tail[1]);
    /* Those of the mount, then those of the file system; "rw" is in both. */
    snprintf(m->options, sizeof m->options, "%.500s", head[5]);
    word = strchr(tail[2], ',');
    if (word && strlen(m->options) + strlen(word) < sizeof m->options)
        memcpy(m->options + strlen(m->options), word, strlen(word) + 1);
    return true;
}

static bool is_below(const char *path, const char *point)
{
    size_t n = strlen(point);

    if (n == 1 && point[0] == '/')
        return path[0] == '/';
    return strncmp(path, point, n) == 0 && (path[n] == '/' || !path[n]);
}

/* The mount that holds path: the deepest, and of several at one place the
 * last, which hides the others. */
static bool find_mount(struct pr_machine_env *e, const char *path,
                       struct mount *ret)
{
    struct pr_machine_env_lines l;
    struct mount m;
    bool found = false;
    char *line;

    if (!pr_machine_env_lines_open(e, &l, "/proc/self/mountinfo"))
        return false;
    while ((line = pr_machine_env_lines_next(&l))) {
        if (!read_mount(line, &m) || !is_below(path, m.point))
            continue;
        if (found && strlen(m.point) < strlen(ret->point))
            continue;
        *ret = m;
        found = true;
    }
    return found;
}

/* Absolute and without links, as far as the path exists: a folder that will
 * be made later belongs where its parents are. there gets the part that
 * exists. */
static bool resolve_existing_path(const char *path, char full[static PATH_MAX],
                                  char there[static PATH_MAX])
{
    char cwd[PATH_MAX] = "", whole[PATH_MAX], part[PATH_MAX];
    const char *rest;
    int n;

    if (path[0] != '/' && !getcwd(cwd, sizeof cwd))
        return false;
    n = snprintf(whole, sizeof whole, "%s%s%s", cwd, cwd[0] ? "/" : "", path);
    if (n < 0 || (size_t)n >= sizeof whole)
        return false;
    memcpy(part, whole, (size_t)n + 1);
    while (!realpath(part[0] ? part : "/", there)) {
        char *slash = strrchr(part, '/');
        if (!slash)
            return false;
        *slash = '\0';
    }
    rest = whole + strlen(part);
    n = snprintf(full, PATH_MAX, "%s%s", there[1] || !*rest ? there : "", rest);
    return n >= 0 && n < PATH_MAX;
}

/* The last part of the link that names a block device, and the one before. */
static bool device_names(struct pr_machine_env *e, const char *link, char *name,
                         char *parent)
{
    char path[4096], target[1024];
    char *slash;
    ssize_t n;

    if (!pr_machine_env_path(e, path, "%s", link))
        return false;
    n = readlink(path, target, sizeof target - 1);
    if (n <= 0)
        return false;
    target[n] = '\0';
    slash = strrchr(target, '/');
    if (!slash)
        return false;
    snprintf(name, 64, "%.63s", slash + 1);
    *slash = '\0';
    slash = strrchr(target, '/');
    snprintf(parent, 64, "%.63s", slash ? slash + 1 : "");
    return true;
}

static bool is_disk(struct pr_machine_env *e, const char *name)
{
    char path[4096];

    return name[0] && name[0] != '.' &&
           pr_machine_env_path(e, path, "/sys/block/%s", name) &&
           access(path, F_OK) == 0;
}

/* The whole disk that a mounted device is, or is a partition of. */
static bool find_disk(struct pr_machine_env *e, const struct mount *m,
                      char disk[static 64])
{
    char link[PR_MACHINE_ENV_WORD], name[64], parent[64];
    const char *base;

    snprintf(link, sizeof link, "/sys/dev/block/%s", m->device);
    if (!device_names(e, link, name, parent)) {
        if (!pr_text_starts_with(m->source, "/dev/"))
            return false;
        base = strrchr(m->source, '/') + 1;
        snprintf(link, sizeof link, "/sys/class/block/%.200s", base);
        if (!device_names(e, link, name, parent))
            snprintf(name, sizeof name, "%.63s", base);
    }
    base = is_disk(e, name) ? name : is_disk(e, parent) ? parent : NULL;
    if (base)
        memcpy(disk, base, 64);
    return base != NULL;
}

static void add_disk(struct pr_machine_env *e, const struct mount *m)
{
    char disk[64];

    if (!find_disk(e, m, disk))
        return;
    pr_json_open_object(&e->jb, "disk");
    machine_env_disk(e, disk);
    pr_json_close(&e->jb);
}

static void env_add_file_system(struct pr_machine_env *e, const char *path)
{
    char full[PATH_MAX], there[PATH_MAX];
    struct mount m;
    struct statvfs v;

    pr_json_open_object(&e->jb, NULL);
    pr_json_put_str(&e->jb, "path", path);
    if (resolve_existing_path(path, full, there)) {
        if (statvfs(there, &v) == 0) {
            pr_json_put_uint(&e->jb, "total_bytes",
                             (uint64_t)v.f_blocks * v.f_frsize);
            pr_json_put_uint(&e->jb, "free_bytes",
                             (uint64_t)v.f_bavail * v.f_frsize);
        }
        if (find_mount(e, full, &m)) {
            pr_json_put_str(&e->jb, "mount_point", m.point);
            pr_json_put_str(&e->jb, "type", m.type);
            pr_json_put_str(&e->jb, "source", m.source);
            pr_json_put_str(&e->jb, "options", m.options);
            add_disk(e, &m);
        }
    }
    pr_json_close(&e->jb);
}

void pr_machine_env_file_systems(struct pr_machine_env *e)
{
    pr_json_open_array(&e->jb, "file_systems");
    for (size_t i = 0; i < e->opts->path_count; i++)
        env_add_file_system(e, e->opts->paths[i]);
    pr_json_close(&e->jb);
}
