/* The environment of a run: who, when, which software, and all the parts. */
#include "machine/describe/env.h"

#include "base/clock.h"
#include "base/text.h"
#include "machine/kernel_file.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

/* ---- git
 * The revision of the folder a run was started in, read from the files of the
 * repository: HEAD, the branch it names, or packed-refs. Git is not run. */

/* Files of a repository are no part of /proc and /sys: no root before them. */
static const struct pr_machine_env no_root = {.root = ""};

static bool is_revision(const char *s)
{
    size_t n = strspn(s, "0123456789abcdef");

    return s[n] == '\0' && (n == 40 || n == 64);
}

/* "gitdir: ../.git/worktrees/x" in a file named .git. */
static bool follow_file(const char *dir, char git[static PATH_MAX])
{
    char text[PATH_MAX];
    const char *to;
    int n;

    if (!pr_machine_env_text(&no_root, text, sizeof text, "%s/.git", dir) ||
        !pr_text_starts_with(text, "gitdir:"))
        return false;
    to = text + 7 + strspn(text + 7, " ");
    n = to[0] == '/' ? snprintf(git, PATH_MAX, "%s", to)
                     : snprintf(git, PATH_MAX, "%s/%s", dir, to);
    return n > 0 && n < PATH_MAX;
}

/* The git directory of the repository that holds dir. */
static bool find_git(char dir[static PATH_MAX], char git[static PATH_MAX])
{
    for (;;) {
        struct stat st;
        char *slash;
        int n = snprintf(git, PATH_MAX, "%s/.git", dir);

        if (n < 0 || n >= PATH_MAX)
            return false;
        if (stat(git, &st) == 0)
            return S_ISDIR(st.st_mode) || follow_file(dir, git);
        slash = strrchr(dir, '/');
        if (!slash)
            return false;
        *slash = '\0';
    }
}

/* Where branches are: for a linked worktree, in the repository it is of. */
static void common_dir(const char *git, char out[static PATH_MAX])
{
    char text[PATH_MAX];
    int n = -1;

    if (pr_machine_env_text(&no_root, text, sizeof text, "%s/commondir", git))
        n = text[0] == '/' ? snprintf(out, PATH_MAX, "%s", text)
                           : snprintf(out, PATH_MAX, "%s/%s", git, text);
    if (n < 0 || n >= PATH_MAX)
        snprintf(out, PATH_MAX, "%s", git);
}

static bool packed_ref(const char *common, const char *ref,
                       char out[static 128])
{
    struct pr_machine_env_lines l;
    char path[PATH_MAX + 16], *line;
    bool found = false;

    snprintf(path, sizeof path, "%s/packed-refs", common);
    if (!pr_machine_env_lines_open(&no_root, &l, path))
        return false;
    while (!found && (line = pr_machine_env_lines_next(&l))) {
        char *blank = strchr(line, ' ');
        if (!blank || strcmp(blank + 1, ref) != 0)
            continue;
        *blank = '\0';
        found = is_revision(line);
        if (found)
            memcpy(out, line, strlen(line) + 1);
    }
    pr_machine_env_lines_close(&l);
    return found;
}

static bool git_read_head(const char *git, char out[static 128])
{
    char head[PR_MACHINE_ENV_WORD], common[PATH_MAX];
    const char *ref = head + 5;

    if (!pr_machine_env_text(&no_root, head, sizeof head, "%s/HEAD", git))
        return false;
    if (!pr_text_starts_with(head, "ref: ")) {
        if (!is_revision(head))
            return false;
        memcpy(out, head, strlen(head) + 1);
        return true;
    }
    if (!pr_text_starts_with(ref, "refs/") || strstr(ref, ".."))
        return false;
    common_dir(git, common);
    if (pr_machine_env_text(&no_root, out, 128, "%s/%s", common, ref))
        return is_revision(out);
    return packed_ref(common, ref, out);
}

static void machine_env_git(struct pr_machine_env *e)
{
    char dir[PATH_MAX], git[PATH_MAX], revision[128];

    if (e->opts->cwd) {
        int n = snprintf(dir, sizeof dir, "%s", e->opts->cwd);
        if (n < 0 || (size_t)n >= sizeof dir)
            return;
    } else if (!getcwd(dir, sizeof dir)) {
        return;
    }
    if (find_git(dir, git) && git_read_head(git, revision))
        pr_json_put_str(&e->jb, "git_revision", revision);
}

/* ---- environment variables that change how fast things run
 * Only known families are written down, and nothing that looks like a secret.
 */

enum { MOST = 512 };

static bool env_is_relevant_variable(const char *name, size_t len)
{
    static const char *const families[] = {
        "OMP_",    "KMP_",    "GOMP_",     "MKL_",      "OPENBLAS_",
        "BLIS_",   "ONEDNN_", "DNNL_",     "CUDA_",     "CUDNN_",
        "CUBLAS_", "NVIDIA_", "HIP_",      "HSA_",      "ROCR_",
        "ROCM_",   "MIOPEN_", "TF_",       "XLA_",      "NCCL_",
        "RCCL_",   "GLOO_",   "UCX_",      "OMPI_MCA_", "PYTORCH_",
        "TORCH_",  "MALLOC_", "MIMALLOC_", "PRONY_",    "SLURM_JOB_",
        "HDF5_",   "DLIO_",   "DFTRACER_",
    };
    static const char *const names[] = {
        "LD_PRELOAD",         "LD_LIBRARY_PATH",  "GLIBC_TUNABLES",
        "SLURM_NNODES",       "SLURM_NTASKS",     "SLURM_CPUS_PER_TASK",
        "SLURM_CPUS_ON_NODE", "MILARUN_DATAROOT", "CONDA_DEFAULT_ENV",
        "VIRTUAL_ENV",        "PYTHONHASHSEED",   "NUMEXPR_NUM_THREADS",
    };

    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (pr_text_starts_with(name, families[i]))
            return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (pr_text_is(name, len, names[i]))
            return true;
    return false;
}

/* Whether "NAME=value", with a name of that length, had better not be written
 * down: by its name, or because its value is an address with a password. */
static bool machine_env_is_secret(const char *variable, size_t len)
{
    static const char *const words[] = {"SECRET", "TOKEN", "PASSWORD",
                                        "PASSWD", "KEY",   "CREDENTIAL"};
    const char *value = variable + len + (variable[len] != '\0'), *address;

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *at = strcasestr(variable, words[i]);
        if (at && at + strlen(words[i]) <= variable + len)
            return true;
    }
    address = strstr(value, "://");
    return address && strchr(address, '@');
}

static int env_compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void machine_env_variables(struct pr_machine_env *e)
{
    const char *const *env = e->opts->environment
                                 ? e->opts->environment
                                 : (const char *const *)environ;
    const char *found[MOST];
    size_t count = 0;

    for (; env && *env && count < MOST; env++) {
        const char *equals = strchr(*env, '=');
        size_t len = equals ? (size_t)(equals - *env) : 0;
        if (len && len < 128 && env_is_relevant_variable(*env, len) &&
            !machine_env_is_secret(*env, len))
            found[count++] = *env;
    }
    qsort(found, count, sizeof *found, env_compare_names);
    pr_json_open_object(&e->jb, "environment");
    for (size_t i = 0; i < count; i++) {
        size_t len = strcspn(found[i], "=");
        char name[128];
        memcpy(name, found[i], len);
        name[len] = '\0';
        pr_json_put_str(&e->jb, name, found[i] + len + 1);
    }
    pr_json_close(&e->jb);
}

/* ---- the kernel, the board, and what the machine does apart from us */

/* Words that look like a password are left out. */
static void add_command_line(struct pr_machine_env *e)
{
    char text[4096], kept[4096], *save = NULL;
    size_t used = 0;

    if (!pr_machine_env_text(e, text, sizeof text, "/proc/cmdline"))
        return;
    for (char *w = strtok_r(text, " \t\n", &save); w;
         w = strtok_r(NULL, " \t\n", &save)) {
        size_t len = strlen(w);
        if (machine_env_is_secret(w, strcspn(w, "=")))
            continue;
        if (used)
            kept[used++] = ' ';
        memcpy(kept + used, w, len);
        used += len;
    }
    pr_json_put_strn(&e->jb, "command_line", kept, used);
}

static void machine_env_kernel(struct pr_machine_env *e)
{
    struct utsname u;
    char word[PR_MACHINE_ENV_WORD];

    if (uname(&u) < 0)
        return;
    pr_json_put_str(&e->jb, "hostname", u.nodename);
    pr_json_open_object(&e->jb, "kernel");
    pr_json_put_str(&e->jb, "name", u.sysname);
    pr_json_put_str(&e->jb, "release", u.release);
    pr_json_put_str(&e->jb, "version", u.version);
    pr_json_put_str(&e->jb, "machine", u.machine);
    add_command_line(e);
    if (pr_machine_env_text(e, word, sizeof word,
                            "/sys/devices/system/clocksource/clocksource0/"
                            "current_clocksource"))
        pr_json_put_str(&e->jb, "clocksource", word);
    pr_json_close(&e->jb);
}

/* Of the board, not of its owner: no serial numbers, no asset tags. */
static void add_dmi(struct pr_machine_env *e)
{
    static const char *const names[] = {
        "sys_vendor",  "product_name", "board_vendor", "board_name",
        "bios_vendor", "bios_version", "bios_date",
    };
    char word[PR_MACHINE_ENV_WORD];

    pr_json_open_object(&e->jb, "dmi");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (pr_machine_env_text(e, word, sizeof word, "/sys/class/dmi/id/%s",
                                names[i]))
            pr_json_put_str(&e->jb, names[i], word);
    pr_json_close(&e->jb);
}

static const char *env_find_container(struct pr_machine_env *e,
                                      char word[static PR_MACHINE_ENV_WORD])
{
    static const char *const marks[][2] = {
        {"/.dockerenv", "docker"},
        {"/run/.containerenv", "podman"},
        {"/.singularity.d", "apptainer"},
        {"/var/run/secrets/kubernetes.io", "kubernetes"},
    };
    char path[4096];

    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (pr_machine_env_path(e, path, "%s", marks[i][0]) &&
            access(path, F_OK) == 0)
            return marks[i][1];
    /* "lxc", "systemd-nspawn" and others, by systemd */
    return pr_machine_env_text(e, word, PR_MACHINE_ENV_WORD,
                               "/run/systemd/container")
               ? word
               : NULL;
}

/* A virtual machine shares its disks and processors: numbers depend on it. */
static void add_virtualisation(struct pr_machine_env *e)
{
    static const char *const files[][2] = {
        {"product", "/sys/class/dmi/id/product_name"},
        {"system_vendor", "/sys/class/dmi/id/sys_vendor"},
        {"hypervisor_type", "/sys/hypervisor/type"},
    };
    char word[PR_MACHINE_ENV_WORD];

    pr_json_open_object(&e->jb, "virtualisation");
    if (e->flags_known)
        pr_json_put_bool(&e->jb, "hypervisor", e->hypervisor);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (pr_machine_env_text(e, word, sizeof word, "%s", files[i][1]))
            pr_json_put_str(&e->jb, files[i][0], word);
    pr_json_put_str(&e->jb, "container", env_find_container(e, word));
    pr_json_close(&e->jb);
}

static void machine_env_board(struct pr_machine_env *e)
{
    add_dmi(e);
    add_virtualisation(e);
}

static void add_pressure(struct pr_machine_env *e)
{
    static const char *const names[] = {"cpu", "memory", "io"};
    char word[PR_MACHINE_ENV_WORD];

    pr_json_open_array(&e->jb, "pressure");
    for (size_t i = 0; i < 3; i++)
        if (pr_machine_env_text(e, word, sizeof word, "/proc/pressure/%s",
                                names[i]))
            pr_json_put_str(&e->jb, NULL, names[i]);
    pr_json_close(&e->jb);
}

static void add_settings(struct pr_machine_env *e)
{
    static const char *const names[] = {
        "vm/swappiness",
        "vm/dirty_ratio",
        "vm/dirty_bytes",
        "vm/dirty_background_ratio",
        "vm/overcommit_memory",
        "vm/zone_reclaim_mode",
        "kernel/numa_balancing",
        "kernel/perf_event_paranoid",
        "kernel/sched_autogroup_enabled",
    };
    uint64_t u;

    pr_json_open_object(&e->jb, "settings");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char key[64];
        if (!pr_machine_env_uint(e, &u, "/proc/sys/%s", names[i]))
            continue;
        memcpy(key, names[i], strlen(names[i]) + 1);
        *strchr(key, '/') = '.';
        pr_json_put_uint(&e->jb, key, u);
    }
    pr_json_close(&e->jb);
}

/* When it began, and whether others were at work. */
static void machine_env_load(struct pr_machine_env *e)
{
    char text[PR_MACHINE_ENV_WORD], *end;
    double d;

    if (pr_machine_env_text(e, text, sizeof text, "/proc/uptime")) {
        d = strtod(text, &end);
        if (end > text && d >= 0)
            pr_json_put_float(&e->jb, "uptime_s", d);
    }
    if (pr_machine_env_text(e, text, sizeof text, "/proc/loadavg")) {
        char *p = text;
        pr_json_open_array(&e->jb, "load");
        for (int i = 0; i < 3 && (d = strtod(p, &end), end > p); i++, p = end)
            pr_json_put_float(&e->jb, NULL, d);
        pr_json_close(&e->jb);
    }
    add_pressure(e);
    add_settings(e);
}

#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

/* PRETTY_NAME="Debian GNU/Linux 12 (bookworm)" */
static void add_distribution(struct pr_machine_env *e)
{
    static const char key[] = "PRETTY_NAME=";
    struct pr_machine_env_lines l;
    char *line;

    if (!pr_machine_env_lines_open(e, &l, "/etc/os-release") &&
        !pr_machine_env_lines_open(e, &l, "/usr/lib/os-release"))
        return;
    while ((line = pr_machine_env_lines_next(&l))) {
        char *v = line + strlen(key);
        size_t n;
        if (!pr_text_starts_with(line, key))
            continue;
        n = strlen(v);
        if (n >= 2 && (*v == '"' || *v == '\'') && v[n - 1] == *v) {
            v++;
            n -= 2;
        }
        if (n) {
            pr_json_put_strn(&e->jb, "distribution", v, n);
            break;
        }
    }
    pr_machine_env_lines_close(&l);
}

static void env_add_rlimit(struct pr_machine_env *e, const char *key,
                           rlim_t limit)
{
    if (limit == RLIM_INFINITY)
        pr_json_put_str(&e->jb, key, "unlimited");
    else
        pr_json_put_uint(&e->jb, key, (uint64_t)limit);
}

static void env_add_rlimits(struct pr_machine_env *e)
{
    static const struct {
        const char *key;
        int resource;
    } rows[] = {
        {"nofile", RLIMIT_NOFILE},
        {"memlock_bytes", RLIMIT_MEMLOCK},
        {"nproc", RLIMIT_NPROC},
    };
    struct rlimit limit;

    pr_json_open_object(&e->jb, "limits");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (getrlimit(rows[i].resource, &limit) < 0)
            continue;
        pr_json_open_object(&e->jb, rows[i].key);
        env_add_rlimit(e, "soft", limit.rlim_cur);
        env_add_rlimit(e, "hard", limit.rlim_max);
        pr_json_close(&e->jb);
    }
    pr_json_close(&e->jb);
}

static void add_software(struct pr_machine_env *e)
{
    const struct pr_machine_env_opts *o = e->opts;

    pr_json_open_object(&e->jb, "prony");
    pr_json_put_str(&e->jb, "version", o->version);
    pr_json_put_str(&e->jb, "revision", o->revision);
    pr_json_close(&e->jb);
#if defined(__clang__)
    pr_json_put_str(&e->jb, "compiler", __VERSION__);
#elif defined(__GNUC__)
    pr_json_put_str(&e->jb, "compiler", "gcc " __VERSION__);
#endif
#ifdef __GLIBC__
    {
        char libc[64] = "glibc ";
        strncpy(libc + 6, gnu_get_libc_version(), sizeof libc - 7);
        pr_json_put_str(&e->jb, "libc", libc);
    }
#endif
    pr_json_open_object(&e->jb, "versions");
    for (size_t i = 0; i < o->version_count; i++)
        pr_json_put_str(&e->jb, o->versions[i].name, o->versions[i].value);
    pr_json_close(&e->jb);
}

static void env_add_all(struct pr_machine_env *e)
{
    char now[32];

    pr_json_open_object(&e->jb, NULL);
    pr_json_put_str(&e->jb, "schema", "prony.env/1");
    pr_json_put_str(&e->jb, "time", pr_time_text(now, pr_wall_clock_ns()));
    machine_env_kernel(e);
    add_distribution(e);
    pr_machine_env_cpu(e);
    pr_machine_env_numa(e);
    pr_machine_env_memory(e);
    pr_machine_env_cgroup(e);
    pr_machine_env_gpus(e);
    pr_machine_env_file_systems(e);
    pr_machine_env_disks(e);
    pr_machine_env_network(e);
    pr_machine_env_sensors(e);
    machine_env_board(e);
    machine_env_load(e);
    env_add_rlimits(e);
    add_software(e);
    machine_env_git(e);
    machine_env_variables(e);
    pr_json_close(&e->jb);
}

int pr_machine_env_capture(const struct pr_machine_env_opts *opts,
                           struct pr_buf *out, struct pr_err *err)
{
    static const struct pr_machine_env_opts none;
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT((size_t)8 << 20);
    struct pr_machine_env e = {.opts = opts ? opts : &none};
    size_t old_len = out->len;

    e.root = e.opts->root ? e.opts->root : "";
    pr_json_writer_init(&e.jb, &text, 2);
    env_add_all(&e);
    pr_buf_char(&text, '\n');
    if (pr_buf_ok(&text))
        pr_buf_add(out, text.data, text.len);
    if (!pr_buf_ok(&text) || !pr_buf_ok(out)) {
        out->len = old_len;
        return pr_fail_nomem(err);
    }
    return PR_OK;
}
