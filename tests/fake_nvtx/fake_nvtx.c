/*
 * Stands in for a profiler of NVIDIA's: an injection library of NVTX's
 * protocol, the older libnvToolsExt, and the two calls of the CUDA runtime that
 * start and stop a profiler. Each call is a line in the file $FAKE_NVTX_LOG.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SHOWN __attribute__((visibility("default")))

static void note(const char *what, const char *name)
{
    const char *path = getenv("FAKE_NVTX_LOG");
    char line[256];
    int fd = path ? open(path, O_WRONLY | O_APPEND | O_CREAT, 0600) : -1;
    int n =
        snprintf(line, sizeof line, "%s%s%s\n", what, *name ? " " : "", name);

    if (fd < 0)
        return;
    if (write(fd, line, (size_t)n) != n)
        abort(); /* the test would miss it */
    close(fd);
}

static int depth;

SHOWN int nvtxRangePushA(const char *name);
SHOWN int nvtxRangePushA(const char *name)
{
    note("push", name);
    return depth++;
}

SHOWN int nvtxRangePop(void);
SHOWN int nvtxRangePop(void)
{
    note("pop", "");
    return --depth;
}

SHOWN int cudaProfilerStart(void);
SHOWN int cudaProfilerStart(void)
{
    note("start", "");
    return 0;
}

SHOWN int cudaProfilerStop(void);
SHOWN int cudaProfilerStop(void)
{
    note("stop", "");
    return 0;
}

/* ---- the protocol, as a tool sees it */

typedef void function(void);

struct callbacks {
    size_t size;
    int (*table)(int module, function ****ret, unsigned *ret_size);
};

enum { CALLBACKS = 1, CORE = 1, CORE2 = 5, PUSH = 9, POP = 11 };

SHOWN int InitializeInjectionNvtx2(const void *(*tables)(uint32_t id));
SHOWN int InitializeInjectionNvtx2(const void *(*tables)(uint32_t id))
{
    const struct callbacks *c = tables(CALLBACKS);
    function ***table = NULL;
    unsigned size = 0;

    /* Real tools attach to what they know, in every module. */
    if (!c || c->size < sizeof *c || !c->table(CORE2, &table, &size) ||
        size < 16)
        return 0;
    for (unsigned i = 1; i < size; i++)
        *table[i] = (function *)abort;
    if (!c->table(CORE, &table, &size) || size <= POP || table[0])
        return 0;
    *table[PUSH] = (function *)nvtxRangePushA;
    *table[POP] = (function *)nvtxRangePop;
    note("attached", "");
    return 1;
}
