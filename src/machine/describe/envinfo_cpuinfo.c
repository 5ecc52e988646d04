/* Reading /proc/cpuinfo: which processors there are, and how many. */
#include "machine/envinfo_read.h"

#include <string.h>

#define ENVINFO_CPUINFO_CPU "/sys/devices/system/cpu"

static void cpuinfo_copy_first(char *to, size_t size, const char *from)
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
static void end_processor(struct pr_machine_env_cpus *c)
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

static void cpuinfo_read_line(struct pr_machine_env_cpus *c, const char *line)
{
    const char *v;

    switch (line[0]) {
    case 'p':
        if (pr_machine_env_field(line, "processor")) {
            end_processor(c);
            c->threads++;
        } else if ((v = pr_machine_env_field(line, "physical id"))) {
            c->has_socket = pr_machine_env_parse_uint(v, &c->socket);
        }
        break;
    case 'c':
        if ((v = pr_machine_env_field(line, "cpu cores")))
            c->has_cores = pr_machine_env_parse_uint(v, &c->socket_cores);
        cpuinfo_copy_first(c->family, sizeof c->family,
                           pr_machine_env_field(line, "cpu family"));
        break;
    case 'm':
        cpuinfo_copy_first(c->model, sizeof c->model,
                           pr_machine_env_field(line, "model name"));
        cpuinfo_copy_first(c->number, sizeof c->number,
                           pr_machine_env_field(line, "model"));
        cpuinfo_copy_first(c->microcode, sizeof c->microcode,
                           pr_machine_env_field(line, "microcode"));
        break;
    case 's':
        cpuinfo_copy_first(c->stepping, sizeof c->stepping,
                           pr_machine_env_field(line, "stepping"));
        break;
    case 'v':
        cpuinfo_copy_first(c->vendor, sizeof c->vendor,
                           pr_machine_env_field(line, "vendor_id"));
        break;
    case 'f':
        cpuinfo_copy_first(c->flags, sizeof c->flags,
                           pr_machine_env_field(line, "flags"));
        break;
    case 'F': /* arm64 */
        cpuinfo_copy_first(c->flags, sizeof c->flags,
                           pr_machine_env_field(line, "Features"));
        break;
    case 'C':
        cpuinfo_copy_first(
            c->vendor, sizeof c->vendor,
            pr_machine_env_field(line, "ENVINFO_CPUINFO_CPU implementer"));
        break;
    }
}

/* Where /proc/cpuinfo says nothing of sockets (arm64): a core is counted at
 * its first thread. */
static void count_by_topology(struct pr_machine_env *e,
                              struct pr_machine_env_cpus *c)
{
    for (uint64_t i = 0; i < c->threads && i < 4096; i++) {
        uint64_t first;

        if (pr_machine_env_uint(e, &first,
                                ENVINFO_CPUINFO_CPU
                                "/cpu%u/topology/thread_siblings_list",
                                (unsigned)i))
            c->cores += first == i;
        c->has_socket = pr_machine_env_uint(
            e, &c->socket,
            ENVINFO_CPUINFO_CPU "/cpu%u/topology/physical_package_id",
            (unsigned)i);
        end_processor(c);
    }
}

bool pr_machine_env_has_word(const char *text, const char *word)
{
    size_t n = strlen(word);

    for (const char *p = text; n && (p = strstr(p, word)); p += n)
        if ((p == text || p[-1] == ' ') && (p[n] == ' ' || p[n] == '\0'))
            return true;
    return false;
}

void pr_machine_env_read_cpus(struct pr_machine_env *e,
                              struct pr_machine_env_cpus *ret)
{
    struct pr_machine_env_lines l;
    char *line;

    memset(ret, 0, sizeof *ret);
    if (pr_machine_env_lines_open(e, &l, "/proc/cpuinfo"))
        while ((line = pr_machine_env_lines_next(&l)))
            cpuinfo_read_line(ret, line);
    end_processor(ret);
    if (ret->threads && !ret->sockets)
        count_by_topology(e, ret);
}
