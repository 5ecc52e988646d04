/*
 * Bytes that came over the network. Where there are real interfaces only those
 * count, so that a byte is not counted again at a bridge or bond above them; in
 * a container there are none, and all but lo count.
 */
#include "observe/limits_impl.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* NAME: BYTES … of /proc/net/dev. */
static bool netdev_read_line(const char *line, char name[static 32],
                             uint64_t *ret_bytes)
{
    const char *colon = strchr(line, ':'), *end = strchr(line, '\n');
    unsigned long long bytes;
    size_t len;

    line += strspn(line, " ");
    if (!colon || (end && colon > end) ||
        sscanf(colon + 1, "%llu", &bytes) != 1)
        return false;
    len = (size_t)(colon - line);
    if (!len || len >= 32)
        return false;
    memcpy(name, line, len);
    name[len] = '\0';
    *ret_bytes = bytes;
    return strcmp(name, "lo") != 0;
}

static const char *netdev_next_line(const char *line)
{
    line = strchr(line, '\n');
    return line ? line + 1 : "";
}

static bool is_real(const struct pr_client_limits *l, const char *name)
{
    char path[4096];
    struct stat sb;

    return snprintf(path, sizeof path, "%s/class/net/%s/device", l->roots.sys,
                    name) < (int)sizeof path &&
           stat(path, &sb) == 0;
}

/* Megabits a second in a file; -1 or an error when nobody knows. */
static double speed_of(const struct pr_client_limits *l, struct pr_arena *a,
                       const char *name)
{
    char path[64];
    double mbit;

    snprintf(path, sizeof path, "class/net/%s/speed", name);
    if (!pr_client_limits_read_number(a, l->roots.sys, path, &mbit) ||
        mbit <= 0 || mbit >= UINT32_MAX)
        return 0;
    return mbit * 1e6 / 8;
}

static void add_nets(struct pr_client_limits *l, struct pr_arena *a,
                     const char *text, bool real)
{
    char name[32];
    uint64_t bytes;

    for (const char *line = text; *line; line = netdev_next_line(line)) {
        struct pr_client_limits_net *n = &l->nets[l->net_count];

        if (l->net_count == PR_CLIENT_LIMITS_NETS)
            return;
        if (!netdev_read_line(line, name, &bytes) ||
            (real && !is_real(l, name)))
            continue;
        memcpy(n->name, name, sizeof name);
        n->speed = speed_of(l, a, name);
        l->net_count++;
    }
}

void pr_client_limits_find_nets(struct pr_client_limits *l)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(16384);
    const char *text =
        a ? pr_client_limits_read_text(a, l->roots.proc, "net/dev") : NULL;

    if (!text)
        return;
    add_nets(l, a, text, true);
    if (!l->net_count)
        add_nets(l, a, text, false);
}

bool pr_client_limits_sample_nets(struct pr_client_limits *l, bool add)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(16384);
    const char *text =
        a && l->net_count
            ? pr_client_limits_read_text(a, l->roots.proc, "net/dev")
            : NULL;
    char name[32];
    uint64_t bytes;
    size_t seen = 0;

    for (const char *line = text; line && *line;
         line = netdev_next_line(line)) {
        if (!netdev_read_line(line, name, &bytes))
            continue;
        for (size_t i = 0; i < l->net_count; i++)
            if (strcmp(l->nets[i].name, name) == 0) {
                if (add && bytes > l->nets[i].was_bytes)
                    l->nets[i].bytes += bytes - l->nets[i].was_bytes;
                l->nets[i].was_bytes = bytes;
                seen++;
            }
    }
    return seen && seen == l->net_count;
}
