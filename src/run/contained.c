/*
 * Making a start one of the container program. Inside there is what the
 * experiment sets and nothing of our own environment; the marker by which the
 * keeper and the monitor know an experiment's processes is among it.
 */
#include "run/contained.h"

#include "job/job.h"
#include "native/replica/replicas_mpi.h"
#include "record/channel.h"
#include "run/contained_mounts.h"
#include "run/contained_slot.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define INSIDE "prony" /* what the image calls this program */

bool pr_job_needs_container(const struct pr_job *job,
                            const struct pr_start *start)
{
    return job->exp.docker && !start->contains_itself;
}

int pr_job_container_opts(const struct pr_job *job,
                          struct pr_container_opts *ret, struct pr_err *err)
{
    struct pr_container_params c;
    int rc =
        pr_opt_fill(&pr_container_section, job->params, job->arena, &c, err);

    if (rc)
        return rc;
    *ret = (struct pr_container_opts){
        .launcher = job->exp.docker_launcher,
        .args = job->exp.docker_args,
        .image = job->exp.docker_image,
        .name = "prony",
        .gpus = job->runtime.visible_gpus,
        .network = c.network,
        .user = c.user,
        .workdir = *c.workdir ? c.workdir : job->exp.cwd,
        .shm_bytes = (uint64_t)c.shm_size,
        .memory_bytes = (uint64_t)c.memory,
        .cpus = c.cpus,
    };
    return PR_OK;
}

/* prony-ID-PID-RANDOM, of the characters that all programs take. */
static char *make_name(const struct pr_job *job)
{
    static const char good[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                               "abcdefghijklmnopqrstuvwxyz0123456789_.-";
    uint32_t random = 0;
    char *name;

    (void)!getrandom(&random, sizeof random, GRND_NONBLOCK);
    name = pr_arena_printf(job->arena, "prony-%.100s-%ld-%08x", job->id,
                           (long)getpid(), random);
    for (char *c = name; c && *c; c++)
        if (!strchr(good, *c))
            *c = '_';
    return name;
}

/* ---- what is inside */

static const char **list_new(const struct pr_job *job, const char *const *words,
                             size_t more)
{
    size_t n = 0;
    const char **list;

    while (words && words[n])
        n++;
    list = PR_ARENA_ARRAY(job->arena, const char *, n + more + 1);
    if (list && n)
        memcpy(list, words, n * sizeof *list);
    return list;
}

/* The arguments, with our own program by the name it has in the image. */
static int inside_argv(const struct pr_job *job, const struct pr_start *start,
                       const char *dir, const char *const **ret,
                       struct pr_err *err)
{
    const char *const own[] = {INSIDE, PR_MPI_VERB,
                               pr_arena_str(job->arena, dir), NULL};
    const char **argv = list_new(job, start->argv ? start->argv : own, 0);
    char exe[PATH_MAX];

    if (!argv || !own[2])
        return pr_fail_nomem(err);
    if (start->argv && realpath("/proc/self/exe", exe))
        for (size_t i = 0; argv[i]; i++)
            if (strcmp(argv[i], exe) == 0)
                argv[i] = INSIDE;
    *ret = argv;
    return PR_OK;
}

/* What the experiment sets, and what every experiment is given. */
static int inside_env(const struct pr_job *job, const struct pr_start *start,
                      const char *dir, const char *const **ret,
                      struct pr_err *err)
{
    const char **env = list_new(job, start->own_env, 3);
    const char *data = getenv("PRONY_DATA");
    size_t n = 0;
    int rc = PR_OK;

    if (!env)
        return pr_fail_nomem(err);
    while (env[n])
        n++;
    env[n++] = pr_arena_printf(job->arena, "PRONY_EXPERIMENT=%s", job->id);
    if (start->argv)
        env[n++] = pr_arena_printf(job->arena, "PRONY_CHANNEL=%s/%s", dir,
                                   PR_CHANNEL_FILE);
    if (data && *data) {
        rc = pr_job_absolute_path(data, job->arena, &data, err);
        if (!rc)
            env[n++] = pr_arena_printf(job->arena, "PRONY_DATA=%s", data);
    }
    for (size_t i = 0; !rc && i < n; i++)
        if (!env[i])
            rc = pr_fail_nomem(err);
    if (!rc)
        *ret = env;
    return rc;
}

/* Relative paths in parameters are those of where we are, for programs of
 * ours. A folder that nothing is mounted in need not be there inside. */
static int inside_workdir(const struct pr_job *job,
                          const struct pr_start *start,
                          struct pr_container_opts *o, struct pr_err *err)
{
    char cwd[PATH_MAX];

    if (*o->workdir || (start->argv && !start->runs_ours) ||
        !getcwd(cwd, sizeof cwd) || !pr_job_container_has_mount_in(o, cwd))
        return PR_OK;
    o->workdir = pr_arena_str(job->arena, cwd);
    return o->workdir ? PR_OK : pr_fail_nomem(err);
}

/* UID or UID:GID. False: names, which are known inside alone. */
static bool parse_user(const char *user, uid_t *ret_uid, gid_t *ret_gid)
{
    char *end;
    unsigned long uid = strtoul(user, &end, 10), gid = 0;

    if (end == user || *user == '-')
        return false;
    if (*end == ':' && end[1] && end[1] != '-')
        gid = strtoul(end + 1, &end, 10);
    if (*end || uid > INT_MAX || gid > INT_MAX)
        return false;
    *ret_uid = (uid_t)uid;
    *ret_gid = (gid_t)gid;
    return true;
}

/* The experiment's folder is ours; as root we may let another user write to it
 * and to the channel. */
static void give_folder(const char *dir, const char *user)
{
    char path[PATH_MAX];
    uid_t uid;
    gid_t gid;
    int fd;

    if (geteuid() != 0 || !parse_user(user, &uid, &gid) ||
        chown(dir, uid, gid) < 0 ||
        snprintf(path, sizeof path, "%s/" PR_CHANNEL_FILE, dir) >=
            (int)sizeof path)
        return;
    fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (fd < 0)
        return;
    (void)!fchown(fd, uid, gid);
    close(fd);
}

static int fill_inside(const struct pr_job *job, const struct pr_start *start,
                       struct pr_container_opts *o, struct pr_err *err)
{
    bool runs = strcmp(job->exp.status, "simulate") != 0;
    struct pr_container_params c;
    char dir[PATH_MAX];
    int rc =
        pr_opt_fill(&pr_container_section, job->params, job->arena, &c, err);

    if (!rc && !realpath(job->dir, dir))
        rc = pr_fail_errno(err, PR_E_IO, job->dir, "cannot be found");
    if (!rc && runs)
        rc = pr_job_container_make_folders(job, err);
    if (!rc)
        rc = pr_job_container_mounts(job, start, &c, o, err);
    if (rc)
        return rc;
    if (runs)
        give_folder(dir, o->user);
    rc = inside_argv(job, start, dir, &o->argv, err);
    if (!rc)
        rc = inside_env(job, start, dir, &o->env, err);
    return rc ? rc : inside_workdir(job, start, o, err);
}

int pr_job_container_wrap(const struct pr_job *job, struct pr_start *start,
                          const struct pr_slot *slot,
                          struct pr_job_container *ret, struct pr_err *err)
{
    struct pr_job_container made = {
        .launcher = job->exp.docker_launcher,
        .name = make_name(job),
        .record = pr_arena_printf(job->arena, "%s/container", job->dir)};
    struct pr_container_opts o;
    const char **env = NULL;
    int rc = made.name && made.record ? pr_job_container_opts(job, &o, err)
                                      : pr_fail_nomem(err);

    if (!rc)
        rc = fill_inside(job, start, &o, err);
    if (!rc && slot)
        rc = pr_job_container_use_slot(slot, job->arena, &o, err);
    if (rc)
        return rc;
    o.name = made.name;
    rc = pr_container_make_plan(&o, job->arena, &made.box, err);
    if (!rc)
        rc = pr_job_env_overlay(made.box.env, job->arena, &env, err);
    if (rc)
        return rc;
    start->argv = made.box.argv;
    start->env = env;
    start->own_env = made.box.env;
    *ret = made;
    return PR_OK;
}
