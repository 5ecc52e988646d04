/*
 * Command lines of container programs from any text: what is refused says why,
 * what is made ends with the image and the arguments and gives the container
 * the name by which it is ended. The answer of inspect is read from the same
 * bytes. The first byte chooses what they are.
 */
#include "base/buf.h"
#include "launch/container.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void must(bool ok)
{
    if (!ok)
        abort();
}

static void check(const struct pr_container *c)
{
    bool named = !c->kill;
    size_t n = 0;

    for (; c->argv[n]; n++)
        named |= n && strcmp(c->argv[n - 1], "--name") == 0 &&
                 strcmp(c->argv[n], "n") == 0;
    must(named);
    must(n >= 4 && strcmp(c->argv[n - 1], "argument") == 0);
    must(strcmp(c->argv[n - 2], "image") == 0);
    must(c->env != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static const char *const launchers[] = {"docker", "nvidia-docker", "podman",
                                            "apptainer"};
    static const char *const argv[] = {"argument", NULL};
    static const struct pr_mount mounts[] = {{"/a", "/a", ""},
                                             {"/b:c", "/d,e", "ro"}};
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT((size_t)1 << 24);
    struct pr_container_opts o = {.image = "image",
                                  .name = "n",
                                  .mounts = mounts,
                                  .mount_count = 2,
                                  .argv = argv};
    struct pr_container c;
    struct pr_err err = {0};
    int rc, status = -7;
    bool oom;

    if (!bytes)
        return 0;
    pr_buf_add(&text, data + 1, bytes - 1);
    o.launcher = data[0] < 'e' ? launchers[data[0] & 3] : text.data;
    o.args = data[0] < 'e' ? text.data : "";
    o.gpus = data[0] & 4 ? text.data : "";
    rc = pr_container_make_plan(&o, a, &c, &err);
    must(rc == PR_OK || (err.msg[0] && err.where[0]));
    if (!rc)
        check(&c);
    must(pr_container_parse_inspect(text.data, &status, &oom) || status == -7);
    return 0;
}
