/* Reading /proc/cpuinfo: which processors there are, and how many. */
#include "record/envinfo_read.h"

#include <string.h>

#define CPU "/sys/devices/system/cpu"

static void keep(char *to, size_t size, const char *from)
{
    size_t n;

    if (!from || to[0])
        return;
    n = strnlen(from, size - 1);
    memcpy(to, from, n);
    to[n] = '\0';
}

/* At the end of a processor's lines: the first one of a socket tells how many
 * cores that has, so no list of (socket, core) pairs is needed. */
static void end_processor(struct pr_env_cpus *c)
{
    uint64_t bit = (uint64_t)1 << c->socket % 64;
    uint64_t *word = &c->seen[c->socket / 64 % 64];

    if (c->has_socket && c->socket < 64 * 64 && !(*word & bit)) {
        *word |= bit;
        c->sockets++;
        if (c->has_cores)
            c->cores += c->socket_cores;
    }
    c->has_socket = c->has_cores = false;
}

static void read_line(struct pr_env_cpus *c, const char *line)
{
    const char *v;

    switch (line[0]) {
    case 'p':
        if (pr_env_field(line, "processor")) {
            end_processor(c);
            c->threads++;
        } else if ((v = pr_env_field(line, "physical id"))) {
            c->has_socket = pr_env_parse_uint(v, &c->socket);
        }
        break;
    case 'c':
        if ((v = pr_env_field(line, "cpu cores")))
            c->has_cores = pr_env_parse_uint(v, &c->socket_cores);
        keep(c->family, sizeof c->family, pr_env_field(line, "cpu family"));
        break;
    case 'm':
        keep(c->model, sizeof c->model, pr_env_field(line, "model name"));
        keep(c->number, sizeof c->number, pr_env_field(line, "model"));
        keep(c->microcode, sizeof c->microcode,
             pr_env_field(line, "microcode"));
        break;
    case 's':
        keep(c->stepping, sizeof c->stepping, pr_env_field(line, "stepping"));
        break;
    case 'v':
        keep(c->vendor, sizeof c->vendor, pr_env_field(line, "vendor_id"));
        break;
    case 'f':
        keep(c->flags, sizeof c->flags, pr_env_field(line, "flags"));
        break;
    case 'F': /* arm64 */
        keep(c->flags, sizeof c->flags, pr_env_field(line, "Features"));
        break;
    case 'C':
        keep(c->vendor, sizeof c->vendor,
             pr_env_field(line, "CPU implementer"));
        break;
    }
}

/* Where /proc/cpuinfo says nothing of sockets (arm64): a core is counted at
 * its first thread. */
static void count_by_topology(struct pr_env *e, struct pr_env_cpus *c)
{
    for (uint64_t i = 0; i < c->threads && i < 4096; i++) {
        uint64_t first;

        if (pr_env_uint(e, &first, CPU "/cpu%u/topology/thread_siblings_list",
                        (unsigned)i))
            c->cores += first == i;
        c->has_socket =
            pr_env_uint(e, &c->socket,
                        CPU "/cpu%u/topology/physical_package_id", (unsigned)i);
        end_processor(c);
    }
}

bool pr_env_has_word(const char *text, const char *word)
{
    size_t n = strlen(word);

    for (const char *p = text; n && (p = strstr(p, word)); p += n)
        if ((p == text || p[-1] == ' ') && (p[n] == ' ' || p[n] == '\0'))
            return true;
    return false;
}

void pr_env_read_cpus(struct pr_env *e, struct pr_env_cpus *ret)
{
    struct pr_env_lines l;
    char *line;

    memset(ret, 0, sizeof *ret);
    if (pr_env_lines_open(e, &l, "/proc/cpuinfo"))
        while ((line = pr_env_lines_next(&l)))
            read_line(ret, line);
    end_processor(ret);
    if (ret->threads && !ret->sockets)
        count_by_topology(e, ret);
}
