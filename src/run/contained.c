/*
 * Experiments in containers: a start becomes one of the container program.
 * Inside there is what the experiment sets and nothing of our own environment;
 * the marker by which the keeper and the monitor know an experiment's processes
 * is among it.
 */
#include "run/contained.h"

#include "base/file.h"
#include "conf/read/bundled.h"
#include "job/job.h"
#include "launch/capture.h"
#include "launch/container.h"
#include "launch/keeper/keeper.h"
#include "launch/slots/slots.h"
#include "record/channel.h"
#include "record/log.h"
#include "run/attempt.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- a container in a slot */

/*
 * The containers of a daemon, and podman's control groups, are elsewhere than
 * the program that starts them, so that limits travel as words of the command
 * line. What a child of ours finds in its environment has to be set inside.
 */

static const char *job_container_find_device(const struct pr_slot *slot)
{
    for (const char *const *e = slot->env; *e; e++)
        if (pr_environ_is_same("CUDA_VISIBLE_DEVICES=", *e))
            return strchr(*e, '=') + 1;
    return NULL;
}

static bool is_device(const char *entry)
{
    return pr_environ_is_same("CUDA_VISIBLE_DEVICES=", entry) ||
           pr_environ_is_same("ROCR_VISIBLE_DEVICES=", entry);
}

static size_t job_container_count_env(const char *const *list)
{
    size_t n = 0;

    while (list && list[n])
        n++;
    return n;
}

/* What the slot insists on, what the experiment sets, what the slot has for
 * those who say nothing. */
static int job_container_add_env(const struct pr_slot *slot, bool devices,
                                 struct pr_arena *a,
                                 struct pr_container_opts *o,
                                 struct pr_err *err)
{
    size_t most = job_container_count_env(slot->env) +
                  job_container_count_env(o->env) +
                  job_container_count_env(slot->env_default);
    const char **all = PR_ARENA_ARRAY(a, const char *, most + 1);
    size_t n = 0;

    if (!all)
        return pr_fail_nomem(err);
    for (const char *const *e = slot->env; *e; e++)
        if (devices || !is_device(*e))
            all[n++] = *e;
    for (const char *const *e = o->env; e && *e; e++)
        if (!pr_environ_has(slot->env, *e))
            all[n++] = *e;
    for (const char *const *e = slot->env_default; *e; e++)
        if (!pr_environ_has(o->env, *e))
            all[n++] = *e;
    o->env = all; /* its end is there: an array comes as zeros */
    return PR_OK;
}

/* Puts what the slot has into o: processors, memory, device, and what it says
 * in the environment; o->env is filled already. */
static int job_container_use_slot(const struct pr_slot *slot,
                                  struct pr_arena *a,
                                  struct pr_container_opts *o,
                                  struct pr_err *err)
{
    enum pr_container_kind kind = pr_container_find_kind(o->launcher);
    const char *device = job_container_find_device(slot);
    /* A container that is given one GPU calls it the first; apptainer shows
     * all. */
    bool given = device && *o->gpus && !strstr(o->args, "--gpus");

    if (given)
        o->gpus = device;
    /* podman hands our affinity down, and who may not make groups here may
     * not there. A daemon may. */
    if (slot->cpus_grouped || kind != PR_CONTAINER_PODMAN) {
        o->slot_cpus = slot->cpus;
        o->slot_mems = slot->cpus_grouped ? slot->mems : NULL;
    }
    o->slot_memory = slot->memory_bytes;
    return job_container_add_env(
        slot, !given || pr_container_is_apptainer(kind), a, o, err);
}

/* ---- what it sees of our files */

/*
 * Our own folders keep their paths, so that parameters mean the same on both
 * sides; only the experiment's folder and its data can be written.
 */
struct mounts {
    const struct pr_job *job;
    struct pr_mount *items;
    size_t count, cap;
};

static int mounts_add(struct mounts *m, const char *host, const char *inside,
                      const char *options, struct pr_err *err)
{
    struct pr_mount *item = NULL;

    if (host && inside && options)
        item = PR_PUSH(m->job->arena, m);
    if (!item)
        return pr_fail_nomem(err);
    *item = (struct pr_mount){host, inside, options};
    return PR_OK;
}

/* How far a path is in a folder: what follows its name; NULL: it is not. */
static const char *path_after_folder(const char *path, const char *folder)
{
    size_t n = strlen(folder);

    while (n > 1 && folder[n - 1] == '/')
        n--;
    return strncmp(path, folder, n) == 0 && (!path[n] || path[n] == '/')
               ? path + n
               : NULL;
}

/* Whether it is in something that is mounted, in its place there. A mount of
 * its own would only be in the way: no file can be renamed to its name. */
static bool is_seen(const struct mounts *m, const char *host,
                    const char *inside, bool to_write)
{
    for (size_t i = 0; i < m->count; i++) {
        const char *a = path_after_folder(host, m->items[i].host);
        const char *b = path_after_folder(inside, m->items[i].inside);

        if (a && b && strcmp(a, b) == 0 &&
            !(to_write && strcmp(m->items[i].options, "ro") == 0))
            return true;
    }
    return false;
}

/* Whether two paths lead to the same place. */
static bool leads_to(const char *path, const char *real)
{
    char whole[PATH_MAX];

    return realpath(path, whole) && strcmp(whole, real) == 0;
}

/* A path of ours, if it is there or will be, under the path that it is called
 * by: /data stays /data where that is a link. */
static int add_same(struct mounts *m, const char *path, enum pr_place_use use,
                    struct pr_err *err)
{
    const char *given = NULL, *host;
    char real[PATH_MAX] = "";
    int rc;

    if (!path || !*path)
        return PR_OK;
    if (!realpath(path, real)) {
        if (use != PR_PLACE_MADE)
            return PR_OK;
        real[0] = '\0';
    }
    rc = pr_job_absolute_path(path, m->job->arena, &given, err);
    if (rc || strcmp(real, "/") == 0)
        return rc;
    host = *real ? pr_arena_str(m->job->arena, real) : given;
    /* What ".." after a link means is known outside alone. */
    if (*real && host && !leads_to(given, real))
        given = host;
    if (host && is_seen(m, host, given, use == PR_PLACE_MADE))
        return PR_OK;
    return mounts_add(m, host, given, use == PR_PLACE_READ ? "ro" : "", err);
}

/* Our own programs name these by their real paths. */
static int add_real(struct mounts *m, const char *path, enum pr_place_use use,
                    struct pr_err *err)
{
    char real[PATH_MAX];

    return add_same(m, path && realpath(path, real) ? real : NULL, use, err);
}

/* ---- container.mounts */

/* HOST:INSIDE[:OPTIONS] taken apart. False: it is none. */
static bool mounts_parse_word(const char *word, struct pr_arena *a,
                              struct pr_mount *ret)
{
    size_t host = strcspn(word, ":"), inside;

    if (!host || word[host] != ':')
        return false;
    inside = strcspn(word + host + 1, ":");
    ret->host = pr_arena_copy(a, word, host);
    ret->inside = pr_arena_copy(a, word + host + 1, inside);
    ret->options = word + host + 1 + inside;
    ret->options += *ret->options == ':';
    return inside > 0;
}

static int bad_mount(const char *word, struct pr_err *err)
{
    pr_fail(err, PR_E_CONF, "container.mounts",
            "'%s' is not HOST:INSIDE or HOST:INSIDE:ro", word);
    return pr_hint(err, "-P container.mounts='[\"/data:/data:ro\"]'");
}

/* What looks like a path and is none would silently become an empty folder;
 * a plain name is a volume of the container program. */
static int mounts_add_own(struct mounts *m, const struct pr_value *v,
                          struct pr_err *err)
{
    const char *word = v->kind == PR_STR ? v->s : "", *host;
    struct pr_mount one;
    char real[PATH_MAX];

    if (!mounts_parse_word(word, m->job->arena, &one))
        return bad_mount(word, err);
    host = one.host;
    if (host && (*host == '/' || *host == '.')) {
        if (!realpath(host, real))
            return pr_fail_errno(err, PR_E_CONF, "container.mounts",
                                 "cannot mount '%.200s'", host);
        host = pr_arena_str(m->job->arena, real);
    }
    return mounts_add(m, host, one.inside, one.options, err);
}

bool pr_job_container_has_own_mount(const struct pr_job *job, const char *path)
{
    const struct pr_value *own = pr_get(job->params, "container.mounts");

    for (uint32_t i = 0; own && own->kind == PR_LIST && i < own->len; i++) {
        const struct pr_value *v = &own->items[i];
        struct pr_mount one;

        if (v->kind == PR_STR && mounts_parse_word(v->s, job->arena, &one) &&
            one.inside && path_after_folder(path, one.inside))
            return true;
    }
    return false;
}

/* ---- our own folders */

static int add_places(struct mounts *m, struct pr_err *err)
{
    struct pr_place *places = NULL;
    size_t count = 0;
    int rc = pr_job_find_places(m->job, &places, &count, err);

    for (size_t i = 0; !rc && i < count; i++)
        if (!pr_job_container_has_own_mount(m->job, places[i].path))
            rc = add_same(m, places[i].path, places[i].use, err);
    return rc;
}

static int add_log_folder(struct mounts *m, const char *file,
                          struct pr_err *err)
{
    const char *slash = file ? strrchr(file, '/') : NULL;
    char folder[PATH_MAX];

    if (!slash)
        return PR_OK;
    snprintf(folder, sizeof folder, "%.*s", (int)(slash - file), file);
    return add_same(m, folder, PR_PLACE_MADE, err);
}

int pr_job_container_mounts(const struct pr_job *job,
                            const struct pr_start *start,
                            const struct pr_container_params *params,
                            struct pr_container_opts *ret, struct pr_err *err)
{
    struct mounts m = {.job = job};
    const struct pr_value *own = params->mounts;
    int rc = PR_OK;

    for (uint32_t i = 0; !rc && own && i < own->len; i++)
        rc = mounts_add_own(&m, &own->items[i], err);
    if (!rc)
        rc = add_real(&m, pr_bundled_dir(job->arena), PR_PLACE_READ, err);
    if (!rc)
        rc = add_real(&m, job->dir, PR_PLACE_MADE, err);
    if (!rc)
        rc = add_log_folder(&m, start->log_file, err);
    if (!rc)
        rc = add_places(&m, err);
    if (rc)
        return rc;
    ret->mounts = m.items;
    ret->mount_count = m.count;
    return PR_OK;
}

/* Makes the folders that the experiment would make inside, where they would be
 * lost with the container. */
static int job_container_make_folders(const struct pr_job *job,
                                      struct pr_err *err)
{
    struct pr_place *places = NULL;
    size_t count = 0;
    int rc = pr_job_find_places(job, &places, &count, err);

    for (size_t i = 0; !rc && i < count; i++)
        if (places[i].use == PR_PLACE_MADE &&
            !pr_job_container_has_own_mount(job, places[i].path))
            rc = pr_make_dirs(places[i].path, err);
    return rc;
}

/* Whether something is mounted in this folder. */
static bool job_container_has_mount_in(const struct pr_container_opts *o,
                                       const char *folder)
{
    for (size_t i = 0; i < o->mount_count; i++)
        if (path_after_folder(o->mounts[i].inside, folder))
            return true;
    return false;
}

/* ---- before and after the container program */

/*
 * When it has ended, a daemon may still hold the container, because signals
 * reach only the program; and an exit status of 137 says nothing of memory. So
 * the program is asked, and told to forget the container.
 */
enum {
    SOON_S = 10, /* while somebody waits for the end */
    ASK_S = 20,
    KILL_S = 30,
    LINES = 4,         /* of a log, among which the reason is */
    CANNOT_START = 125 /* of docker and podman: no container ran */
};

/* Whether what ran inside has ended by itself, as far as the program knows. */
static bool ended_inside(const struct pr_child_event *e)
{
    return e->kind == PR_CHILD_ENDED && WIFEXITED(e->wait_status) &&
           WEXITSTATUS(e->wait_status) != CANNOT_START;
}

/* False: nobody knows. */
static bool job_container_inspect(const struct pr_job_container *c,
                                  int *ret_status, bool *ret_oom)
{
    PR_AUTO_BUF struct pr_buf answer = PR_BUF_INIT(1 << 16);
    int ws;

    return pr_capture(c->box.inspect, ASK_S, &answer, &ws, NULL) == PR_OK &&
           !ws && answer.len &&
           pr_container_parse_inspect(answer.data, ret_status, ret_oom);
}

static void ask_how(const struct pr_job_container *c, struct pr_attempt *a)
{
    struct pr_child_event *e = &a->end;
    int status;
    bool oom;

    if (!job_container_inspect(c, &status, &oom))
        return;
    if (!ended_inside(e)) { /* of one that never ran this is no answer */
        a->ended_inside = WIFEXITED(e->wait_status) && status == CANNOT_START;
        return;
    }
    e->oom |= oom;
    if (status > 0 && status < 256)
        e->wait_status = W_EXITCODE(status, 0);
}

static bool remove_by(const char *const *argv)
{
    PR_AUTO_BUF struct pr_buf answer = PR_BUF_INIT(1 << 16);
    int ws;

    if (pr_capture(argv, KILL_S, &answer, &ws, NULL) != PR_OK)
        return false;
    return ws == 0 ||
           (answer.len && strcasestr(answer.data, "no such container"));
}

/* Twice: a daemon may be busy with its end just now. */
static bool remove_it(const struct pr_job_container *c)
{
    bool gone = false;

    for (int i = 0; i < 2 && !gone; i++)
        gone = remove_by(c->box.remove);
    if (gone)
        (void)unlink(c->record);
    return gone;
}

/* ---- what an earlier run left */

enum { MAX_NAME = 200, MAX_WORDS = 64 };

/* Only such as we make: nobody's else is ended, whatever the file says. */
static bool job_container_read_name(const char *path, char out[static MAX_NAME])
{
    FILE *f = fopen(path, "re");
    size_t n = f ? fread(out, 1, MAX_NAME - 1, f) : 0;

    if (f)
        fclose(f);
    out[n] = '\0';
    return strncmp(out, "prony-", 6) == 0 &&
           out[strspn(out, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                           "abcdefghijklmnopqrstuvwxyz0123456789_.-")] == '\0';
}

/* The same command for a container of another name, which is its last word. */
static bool job_container_rename_argv(const char **argv, const char *name,
                                      const char *out[static MAX_WORDS])
{
    size_t n = 0;

    for (; argv[n] && n < MAX_WORDS; n++)
        out[n] = argv[n];
    if (!n || n == MAX_WORDS)
        return false;
    out[n - 1] = name;
    out[n] = NULL;
    return true;
}

void pr_job_container_begin(const struct pr_job_container *c)
{
    const char *words[MAX_WORDS];
    char old[MAX_NAME];
    int ws;

    if (!c->box.remove)
        return;
    if (job_container_read_name(c->record, old)) {
        if (job_container_rename_argv(c->box.kill, old, words))
            (void)!pr_capture(words, KILL_S, NULL, &ws, NULL);
        if (job_container_rename_argv(c->box.remove, old, words))
            (void)!remove_by(words);
    }
    /* Without it an earlier one is left alone, no more. */
    (void)!pr_file_write_later(c->record, c->name, strlen(c->name), NULL);
}

/* ---- the end */

bool pr_job_container_kill(const struct pr_job_container *c)
{
    int ws;

    return c->box.kill &&
           pr_capture(c->box.kill, SOON_S, NULL, &ws, NULL) == PR_OK && !ws;
}

void pr_job_container_end(const struct pr_job_container *c,
                          struct pr_attempt *a, char left[static 128])
{
    struct pr_child_event *e = &a->end;
    int ws;

    left[0] = '\0';
    if (!c->box.argv)
        return;
    if (e->kind == PR_CHILD_FAILED) {
        (void)unlink(c->record);
        return;
    }
    /* These are the program's: its helpers, which clean up after it, and the
     * little it uses itself. Of what was inside the monitor knows. */
    e->leftovers = 0;
    e->cpu_user_ns = e->cpu_system_ns = e->max_rss_bytes = 0;
    if (c->box.kill && !ended_inside(e))
        (void)!pr_capture(c->box.kill, KILL_S, NULL, &ws, NULL);
    if (c->box.inspect && e->kind == PR_CHILD_ENDED &&
        WIFEXITED(e->wait_status) && e->wait_status)
        ask_how(c, a);
    if (c->box.remove && !remove_it(c))
        snprintf(left, 128, "container '%.90s' could not be removed", c->name);
}

/* ---- words */

/* docker's word after an error: "Run 'docker run --help' for more …". */
static bool is_advice(const char *line, size_t len)
{
    return memmem(line, len, "' for more information", 22) ||
           (len > 5 && strncmp(line, "See '", 5) == 0);
}

/* The last line of the log that says something, without what it ends with. */
static void job_container_read_last_line(const char *log_path,
                                         char out[static 256])
{
    PR_AUTO_BUF struct pr_buf tail = PR_BUF_INIT(8192);
    size_t end;

    out[0] = '\0';
    if (pr_log_tail(log_path, LINES, 4096, &tail, NULL) || !pr_buf_ok(&tail))
        return;
    for (end = tail.len; end;) {
        size_t begin = end, len;

        while (begin && tail.data[begin - 1] != '\n')
            begin--;
        len = end - begin;
        if (len && !is_advice(tail.data + begin, len)) {
            snprintf(out, 256, "%.*s", len < 255 ? (int)len : 255,
                     tail.data + begin);
            return;
        }
        end = begin ? begin - 1 : 0;
    }
}

static void add_signal(struct pr_attempt *a, int status)
{
    const char *name = status > 128 ? sigabbrev_np(status - 128) : NULL;

    if (name)
        snprintf(a->reason, sizeof a->reason,
                 "exit status %d, as of SIG%s inside the container", status,
                 name);
}

void pr_job_container_explain(const struct pr_job_container *c,
                              const char *log_path, struct pr_attempt *a)
{
    const char *words;
    char line[256];
    int status;

    if (!c->box.argv || a->end.kind != PR_CHILD_ENDED ||
        a->status != PR_STATUS_FAILED || !WIFEXITED(a->end.wait_status))
        return;
    status = WEXITSTATUS(a->end.wait_status);
    job_container_read_last_line(log_path, line);
    words = a->ended_inside
                ? NULL
                : pr_container_status_words(c->launcher, status, line);
    if (!words)
        add_signal(a, status);
    else if (*line)
        snprintf(a->reason, sizeof a->reason, "%s: %.190s", words, line);
}

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
        !getcwd(cwd, sizeof cwd) || !job_container_has_mount_in(o, cwd))
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
        rc = job_container_make_folders(job, err);
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
        rc = job_container_use_slot(slot, job->arena, &o, err);
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
