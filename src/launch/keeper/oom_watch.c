/* Counters of the out-of-memory killer: /proc/vmstat and the memory group. */
#include "launch/keeper/oom_watch.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char key[] = "\noom_kill ";

/* The number after the key in a file of "name number" lines; 0 without. */
static uint64_t read_counter(int fd)
{
    char text[16384];
    size_t len = 1;
    const char *at;
    ssize_t n;

    text[0] = '\n'; /* so that the key is found on the first line too */
    while (len < sizeof(text) - 1 &&
           (n = pread(fd, text + len, sizeof(text) - 1 - len,
                      (off_t)(len - 1))) > 0)
        len += (size_t)n;
    text[len] = '\0';
    at = strstr(text, key);
    return at ? strtoull(at + sizeof(key) - 1, NULL, 10) : 0;
}

static int oom_open_below(const char *root, const char *dir, const char *group,
                          const char *file)
{
    char path[PATH_MAX];
    int n = snprintf(path, sizeof(path), "%s/sys/fs/cgroup%s%s/%s", root, dir,
                     group, file);

    if (n < 0 || (size_t)n >= sizeof(path))
        return -1;
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* Within a container the group's path is often not below the mount: the root
 * of what is mounted is the container's own group then. */
static int oom_open_cgroup(const char *root, const char *dir, const char *group,
                           const char *file)
{
    int fd = oom_open_below(root, dir, group, file);

    return fd >= 0 ? fd : oom_open_below(root, dir, "", file);
}

static bool list_has_word(const char *list, const char *end, const char *word)
{
    size_t len = strlen(word);

    for (const char *at = list; at < end; at++) {
        if ((at == list || at[-1] == ',') && (size_t)(end - at) >= len &&
            !memcmp(at, word, len) && (at + len == end || at[len] == ','))
            return true;
    }
    return false;
}

/* One line of /proc/self/cgroup, "4:memory:/path" or "0::/path". */
static int open_line(const char *root, char *line)
{
    char *list = strchr(line, ':');
    char *group = list ? strchr(list + 1, ':') : NULL;
    int fd;

    if (!group)
        return -1;
    list++;
    if (list_has_word(list, group, "memory"))
        return oom_open_cgroup(root, "/memory", group + 1,
                               "memory.oom_control");
    if (list != group)
        return -1;
    fd = oom_open_below(root, "", group + 1, "memory.events");
    return fd >= 0
               ? fd
               : oom_open_cgroup(root, "/unified", group + 1, "memory.events");
}

static int oom_open_own_cgroup(const char *root)
{
    char path[PATH_MAX], text[8192], *save = NULL;
    int found = -1;
    ssize_t n;
    int fd;

    snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    n = read(fd, text, sizeof(text) - 1);
    close(fd);
    text[n > 0 ? n : 0] = '\0';
    for (char *line = strtok_r(text, "\n", &save); line && found < 0;
         line = strtok_r(NULL, "\n", &save))
        found = open_line(root, line);
    return found;
}

void pr_oom_watch_init(struct pr_oom_watch *w, const char *root)
{
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/proc/vmstat", root);
    w->fds[0] = open(path, O_RDONLY | O_CLOEXEC);
    w->fds[1] = oom_open_own_cgroup(root);
    memset(w->kills, 0, sizeof(w->kills));
    (void)pr_oom_watch_has_risen(w);
}

void pr_oom_watch_close(struct pr_oom_watch *w)
{
    for (int i = 0; i < PR_OOMWATCH_FILES; i++)
        if (w->fds[i] >= 0)
            close(w->fds[i]);
}

bool pr_oom_watch_has_risen(struct pr_oom_watch *w)
{
    bool rose = false;

    for (int i = 0; i < PR_OOMWATCH_FILES; i++) {
        uint64_t kills = w->fds[i] >= 0 ? read_counter(w->fds[i]) : 0;

        rose |= kills > w->kills[i];
        w->kills[i] = kills;
    }
    return rose;
}

void pr_oom_cgroup_open(struct pr_oom_cgroup *g, const char *dir)
{
    static const char *const names[] = {"memory.events", "memory.oom_control"};
    char path[PATH_MAX];

    *g = (struct pr_oom_cgroup){.fd = -1};
    for (size_t i = 0; dir && g->fd < 0 && i < 2; i++) {
        int n = snprintf(path, sizeof(path), "%s/%s", dir, names[i]);

        if (n > 0 && (size_t)n < sizeof(path))
            g->fd = open(path, O_RDONLY | O_CLOEXEC);
    }
    (void)pr_oom_cgroup_has_risen(g);
}

void pr_oom_cgroup_close(struct pr_oom_cgroup *g)
{
    if (g->fd >= 0)
        close(g->fd);
    g->fd = -1;
}

bool pr_oom_cgroup_has_risen(struct pr_oom_cgroup *g)
{
    uint64_t kills = g->fd >= 0 ? read_counter(g->fd) : 0;
    bool rose = kills > g->kills;

    g->kills = kills;
    return rose;
}
