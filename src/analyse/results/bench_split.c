/*
 * Cutting a large list for several threads. "}, {" may stand in a text, too:
 * whether a cut was right shows when the part before it ends there.
 */
#include "analyse/results/bench_impl.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WORTH = 4 << 20, HEAD = 256 };

static const char *split_skip_space(const char *p, const char *end)
{
    while (p < end && (unsigned char)*p <= ' ')
        p++;
    return p;
}

const char *pr_results_find_cut(const char *text, size_t len, unsigned part,
                                unsigned parts)
{
    const char *end = text + len, *p = text + len / parts * part;

    if (!part || part == parts)
        return part ? end : text;
    while ((p = memchr(p, '}', (size_t)(end - p)))) {
        const char *q = split_skip_space(++p, end);
        if (q == end || *q != ',')
            continue;
        q = split_skip_space(q + 1, end);
        if (q < end && *q == '{')
            return q;
    }
    return end;
}

/* Whether a file is large and begins as a list of results does. */
static bool is_list(const char *path)
{
    char head[HEAD + 1];
    struct stat st;
    const char *p;
    ssize_t n;
    int fd;

    if (stat(path, &st) || !S_ISREG(st.st_mode) || st.st_size < WORTH)
        return false;
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    n = read(fd, head, HEAD);
    close(fd);
    head[n > 0 ? n : 0] = '\0';
    p = split_skip_space(head, head + strlen(head));
    return *p == '[' || (*p == '{' && strstr(p, "\"data\""));
}

int pr_results_split_lists(struct pr_results_list *l, unsigned threads,
                           struct pr_err *err)
{
    struct pr_results_list cut = {.arena = l->arena};

    for (size_t i = 0; threads > 1 && i < l->count; i++) {
        unsigned parts =
            l->items[i].kind == PR_RESULTS_FILE && is_list(l->items[i].path)
                ? threads
                : 1;
        for (unsigned k = 0; k < parts; k++) {
            struct pr_results_item *items = pr_arena_grow(
                l->arena, cut.items, cut.count, &cut.cap, sizeof *items);
            if (!items)
                return pr_fail_nomem(err);
            cut.items = items;
            items[cut.count] = l->items[i];
            items[cut.count].part = k;
            items[cut.count++].parts = parts > 1 ? parts : 0;
        }
    }
    if (threads > 1)
        *l = cut;
    return PR_OK;
}
