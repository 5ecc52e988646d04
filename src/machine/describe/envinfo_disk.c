/*
 * The file systems below the folders that matter: type, source and options as
 * mounted, room, and the disk underneath when there is one.
 */
#include "machine/envinfo_read.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

struct mount {
    char point[4096], type[64], source[1024], options[1024], device[32];
};

/* In place: \040 stands for a blank in mountinfo, and so on. */
static void mountinfo_unescape(char *s)
{
    char *to = s;

    for (; *s; s++) {
        if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' &&
            s[2] <= '7' && s[3] >= '0' && s[3] <= '7') {
            *to++ =
                (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0'));
            s += 3;
        } else {
            *to++ = *s;
        }
    }
    *to = '\0';
}

static void mountinfo_copy_word(char *out, size_t size, const char *word)
{
    snprintf(out, size, "%s", word);
    mountinfo_unescape(out);
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
        if (strncmp(m->source, "/dev/", 5) != 0)
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
    pr_machine_env_disk(e, disk);
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
