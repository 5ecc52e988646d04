/* `prony doctor`: the machine, and the programs that are on it. */
#include "base/file.h"
#include "cli/doctor.h"
#include "storage/storage.h"

#include <limits.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

const char *doctor_program(struct doctor *d, const char *const *names)
{
    char path[PATH_MAX];

    for (; *names; names++)
        if (pr_which(*names, path))
            return pr_arena_str(d->arena, path);
    return NULL;
}

static void look_at_engine(struct doctor *d, const char *name)
{
    struct pr_storage_opts so = {.engine = name,
                                 .storage_type = "local_fs",
                                 .storage_root = ".",
                                 .block_size = 1 << 20,
                                 .queue_depth = 8,
                                 .fault = "",
                                 .trace = ""};
    struct pr_storage *st = NULL;
    struct pr_err err = {0};
    bool there = pr_storage_open(&so, &st, &err) == PR_OK &&
                 strcmp(pr_storage_engine(st), name) == 0;

    doctor_extra(d, pr_arena_printf(d->arena, "engine %s", name), there,
                 there ? "works"
                 : st  ? pr_arena_str(d->arena, pr_storage_warning(st))
                       : pr_arena_str(d->arena, err.msg),
                 "pread is used instead");
    pr_storage_close(st);
}

static void look_for_program(struct doctor *d, const char *what,
                             const char *const *names, const char *remedy)
{
    const char *path = doctor_program(d, names);

    doctor_extra(d, what, path != NULL, path, remedy);
}

static void look_at_kernel(struct doctor *d)
{
    bool v2 = access("/sys/fs/cgroup/cgroup.controllers", F_OK) == 0;
    bool v1 = access("/sys/fs/cgroup/memory", F_OK) == 0;
    struct utsname u;

    if (uname(&u) == 0)
        doctor_found(d, "kernel", true,
                     pr_arena_printf(d->arena, "%s %s", u.sysname, u.release),
                     NULL);
    doctor_found(
        d, "processors", true,
        pr_arena_printf(d->arena, "%ld", sysconf(_SC_NPROCESSORS_ONLN)), NULL);
    doctor_found(d, "control groups", v1 || v2,
                 v2   ? "v2"
                 : v1 ? "v1"
                      : "none",
                 "mount /sys/fs/cgroup: out of memory is told apart by it");
    look_at_engine(d, "io_uring");
}

void doctor_machine(struct doctor *d)
{
    static const char *const container[] = {
        "docker", "podman", "apptainer", "singularity", "nvidia-docker", NULL};
    static const char *const python[] = {"python3", NULL};
    struct rlimit files;

    look_at_kernel(d);
    look_for_program(d, "Python", python,
                     "only back-ends written in it need one: apt-get install "
                     "python3");
    doctor_frameworks(d);
    look_for_program(d, "container program", container,
                     "only containers need one: apt-get install podman");
    if (getrlimit(RLIMIT_NOFILE, &files) == 0)
        doctor_found(d, "open files", files.rlim_cur >= 1024,
                     pr_arena_printf(d->arena, "%llu allowed",
                                     (unsigned long long)files.rlim_cur),
                     "raise it: ulimit -n 4096");
}
