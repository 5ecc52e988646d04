/*
 * Patterns of groups that are said to exist. In a made-up root there are none:
 * a pattern is refused with words, or the slots do without.
 */
#include "base/buf.h"
#include "launch/slots/slots.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static void must(bool ok)
{
    if (!ok)
        abort();
}

static char root[64];

static void put(const char *dir, const char *name, const char *text)
{
    char path[128];
    FILE *f;

    snprintf(path, sizeof path, "%s/%s", root, dir);
    (void)mkdir(path, 0755);
    if (!name)
        return;
    snprintf(path, sizeof path, "%s/%s/%s", root, dir, name);
    f = fopen(path, "w");
    must(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

static void remove_root(void)
{
    static const char *const paths[] = {"proc/self/status", "proc/self", "proc",
                                        ""};
    char path[128];

    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        snprintf(path, sizeof path, "%s/%s", root, paths[i]);
        (void)remove(path);
    }
}

/* A machine of two processors without control groups. */
static void make_root(void)
{
    snprintf(root, sizeof root, "/tmp/prony-fuzz-XXXXXX");
    must(mkdtemp(root) != NULL);
    put("proc", NULL, NULL);
    put("proc/self", "status", "Cpus_allowed_list:\t0-1\n");
    (void)atexit(remove_root);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static const struct pr_slot_device devices[2] = {{.id = "0"}, {.id = "3"}};
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT((size_t)1 << 24);
    struct pr_slots_opts opts = {
        .count = 2, .isolate = true, .devices = devices, .root = root};
    struct pr_slots *s = NULL;
    struct pr_err err = {0};
    int rc;

    if (!*root)
        make_root();
    pr_buf_add(&text, data, bytes);
    pr_buf_char(&text, '\0');
    opts.group = text.data;
    rc = pr_slots_new(&opts, &s, &err);
    if (rc) {
        must(rc == PR_E_CONF && err.msg[0]);
        return 0;
    }
    must(pr_slots_count(s) == 2);
    for (unsigned i = 0; i < 2; i++)
        must(!pr_slots_get(s, i)->groups[0]);
    pr_slots_free(s);
    return 0;
}
