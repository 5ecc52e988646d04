/* Disks, network interfaces, and what tells power and temperature. */
#include "machine/envinfo_read.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

void pr_machine_env_disk(struct pr_machine_env *e, const char *name)
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
static void see_disk(struct pr_machine_env *e, const char *name, void *ctx)
{
    static const char *const not_these[] = {"loop", "ram", "zram", "sr", "fd"};
    uint64_t sectors;

    (void)ctx;
    for (size_t i = 0; i < sizeof not_these / sizeof *not_these; i++)
        if (strncmp(name, not_these[i], strlen(not_these[i])) == 0 &&
            strspn(name + strlen(not_these[i]), "0123456789") ==
                strlen(name + strlen(not_these[i])))
            return;
    if (!pr_machine_env_uint(e, &sectors, "/sys/block/%s/size", name) ||
        !sectors)
        return;
    pr_json_open_object(&e->jb, NULL);
    pr_machine_env_disk(e, name);
    pr_json_close(&e->jb);
}

void pr_machine_env_disks(struct pr_machine_env *e)
{
    pr_json_open_array(&e->jb, "disks");
    pr_machine_env_each(e, "/sys/block", "", see_disk, NULL);
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
static void see_interface(struct pr_machine_env *e, const char *name, void *ctx)
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

static void see_port(struct pr_machine_env *e, const char *port, void *ctx)
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

static void see_infiniband(struct pr_machine_env *e, const char *name,
                           void *ctx)
{
    char dir[PR_MACHINE_ENV_WORD], kept[64];

    (void)ctx;
    snprintf(kept, sizeof kept, "%s", name);
    snprintf(dir, sizeof dir, "/sys/class/infiniband/%s/ports", kept);
    pr_machine_env_each(e, dir, "", see_port, kept);
}

void pr_machine_env_network(struct pr_machine_env *e)
{
    char path[4096];

    pr_json_open_array(&e->jb, "network");
    pr_machine_env_each(e, "/sys/class/net", "", see_interface, NULL);
    pr_json_close(&e->jb);
    if (!pr_machine_env_path(e, path, "/sys/class/infiniband") ||
        access(path, F_OK) < 0)
        return;
    pr_json_open_array(&e->jb, "infiniband");
    pr_machine_env_each(e, "/sys/class/infiniband", "", see_infiniband, NULL);
    pr_json_close(&e->jb);
}

struct sensor_class {
    const char *folder, *file;
};

static void see_sensor(struct pr_machine_env *e, const char *name, void *ctx)
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
    pr_machine_env_each(e, power.folder, "", see_sensor, &power);
    pr_json_close(&e->jb);
    pr_json_open_array(&e->jb, "thermal_sources");
    pr_machine_env_each(e, monitors.folder, "hwmon", see_sensor, &monitors);
    pr_machine_env_each(e, zones.folder, "thermal_zone", see_sensor, &zones);
    pr_json_close(&e->jb);
}
