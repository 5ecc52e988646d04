/*
 * benchy's configuration: no input may crash or leak; what is accepted is in
 * range, and a failure says where.
 */
#include "prony/probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void must(bool ok)
{
    if (!ok)
        abort();
}

static void count(void *ctx, const char *where, const char *text,
                  const char *remedy)
{
    must(strlen(where) && strlen(text) && strlen(remedy));
    ++*(unsigned *)ctx;
}

static void check(const struct pr_probe_config *c)
{
    must(memchr(c->profiler_mode, '\0', sizeof c->profiler_mode) != NULL);
    must(memchr(c->output, '\0', sizeof c->output) != NULL);
    must(*c->output != '\0');
    for (int i = 0; i < PR_PROBE_PHASES; i++)
        must(c->phase[i].batches >= 1 && c->phase[i].batches <= 100000000);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct pr_probe_config config = {.size = sizeof config};
    struct pr_err err = {0};
    unsigned warnings = 0;
    char path[64];
    int fd = memfd_create("config", 0), rc;

    must(fd >= 0 && write(fd, data, bytes) == (ssize_t)bytes);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    rc = pr_probe_config_read(path, &config, count, &warnings, &err);
    close(fd);
    must(rc == err.code);
    if (rc)
        must(*err.msg && *err.where);
    else
        check(&config);
    return 0;
}
