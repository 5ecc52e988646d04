/* NUMA nodes: processors, memory, how far from one another. */
#include "machine/envinfo_read.h"

#include <string.h>

static void add_node_memory(struct pr_machine_env *e, const char *name)
{
    static const char key[] = "MemTotal:";
    char text[1024];
    const char *p;
    uint64_t kb;

    if (!pr_machine_env_text(e, text, sizeof text,
                             "/sys/devices/system/node/%s/meminfo", name))
        return;
    p = strstr(text, key);
    if (!p)
        return;
    p += strlen(key);
    if (pr_machine_env_parse_uint(p + strspn(p, " \t"), &kb) &&
        kb < UINT64_MAX >> 10)
        pr_json_put_uint(&e->jb, "memory_bytes", kb << 10);
}

/* "10 21": to node 0, to node 1. */
static void add_distances(struct pr_machine_env *e, const char *name)
{
    char text[1024], *p = text;
    uint64_t u;

    if (!pr_machine_env_text(e, text, sizeof text,
                             "/sys/devices/system/node/%s/distance", name))
        return;
    pr_json_open_array(&e->jb, "distances");
    for (; pr_machine_env_parse_uint(p, &u); p += strspn(p, " ")) {
        pr_json_put_uint(&e->jb, NULL, u);
        p += strspn(p, "0123456789");
    }
    pr_json_close(&e->jb);
}

static void env_add_numa_node(struct pr_machine_env *e, const char *name,
                              void *ctx)
{
    char word[PR_MACHINE_ENV_WORD];
    uint64_t number;

    (void)ctx;
    if (!pr_machine_env_parse_uint(name + strlen("node"), &number))
        return;
    pr_json_open_object(&e->jb, NULL);
    pr_json_put_uint(&e->jb, "node", number);
    if (pr_machine_env_text(e, word, sizeof word,
                            "/sys/devices/system/node/%s/cpulist", name))
        pr_json_put_str(&e->jb, "cpus", word);
    add_node_memory(e, name);
    add_distances(e, name);
    pr_json_close(&e->jb);
}

void pr_machine_env_numa(struct pr_machine_env *e)
{
    pr_json_open_array(&e->jb, "numa_nodes");
    pr_machine_env_each(e, "/sys/devices/system/node", "node",
                        env_add_numa_node, NULL);
    pr_json_close(&e->jb);
}
