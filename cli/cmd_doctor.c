/* `prony doctor`: what this machine and this build have and lack. */
#include "base/buf.h"
#include "base/file.h"
#include "base/json/json.h"
#include "base/json/json_write.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/report_folder.h"
#include "conf/expr/regex.h"
#include "conf/option/option.h"
#include "conf/read/bundled.h"
#include "conf/read/yaml.h"
#include "format/format.h"
#include "launch/slots/slots.h"
#include "machine/describe/sysinfo.h"
#include "machine/nvml.h"
#include "present/table/table.h"
#include "run/session.h"
#include "storage/storage.h"
#include "study/harness.h"
#include "workload/framework_workload.h"

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Rows of what was found; each part below adds its own. */
enum { DOCTOR_MOST = 64 };

/* One row. */
struct finding {
    const char *what, *state, *detail, *remedy;
};

struct doctor {
    struct pr_arena *arena;
    struct finding items[DOCTOR_MOST];
    size_t count;
    double harness_s;
};

/* Something that has to be there. Texts are borrowed; detail and remedy may
 * be NULL. */
static void doctor_found(struct doctor *d, const char *what, bool good,
                         const char *detail, const char *remedy)
{
    if (d->count < DOCTOR_MOST)
        d->items[d->count++] = (struct finding){what, good ? "ok" : "missing",
                                                detail ? detail : "",
                                                good || !remedy ? "" : remedy};
}

/* Something that is nice to have: its absence is no defect. */
static void doctor_extra(struct doctor *d, const char *what, bool there,
                         const char *detail, const char *remedy)
{
    size_t i = d->count;

    doctor_found(d, what, there, detail, remedy);
    if (!there && d->count > i)
        d->items[i].state = "absent";
}

/* ---- this build: what is in it, and what would add the rest */

#if PR_HAVE_HDF5
#include "format/hdf5/hdf5_library.h"
#endif
#include "native/replica/replicas_mpi.h"
#include "present/chart/canvas_svg.h"
#include "prony_config.h"
#include "workload/workload.h"

static void look_at_formats(struct doctor *d)
{
    static const struct {
        const char *what, *remedy;
        bool there;
    } extras[] = {
        {"format jpeg", "apt-get install libturbojpeg0-dev, then make",
         PR_HAVE_JPEG},
        {"parts of jpeg",
         "for faster training on images: apt-get install libjpeg62-turbo-dev, "
         "then make",
         PR_HAVE_LIBJPEG},
        {"format png", "apt-get install libpng-dev, then make", PR_HAVE_PNG},
        {"format hdf5", "apt-get install libhdf5-dev, then make", PR_HAVE_HDF5},
        {"isa-l",
         "for faster checksums: apt-get install libisal-dev, then make",
         PR_HAVE_ISAL},
    };
    PR_AUTO_BUF struct pr_buf names = PR_BUF_INIT(4096);
    const struct pr_format *f;

    for (size_t i = 0; (f = pr_format_at(i)); i++)
        pr_buf_printf(&names, "%s%s", i ? ", " : "", f->name);
    doctor_found(d, "formats", true, pr_arena_str(d->arena, names.data), NULL);
    for (size_t i = 0; i < sizeof extras / sizeof *extras; i++)
        if (!extras[i].there)
            doctor_extra(d, extras[i].what, false, "not built in",
                         extras[i].remedy);
}

/* The library is loaded when first used: whether it is there is seen then. */
static void look_at_hdf5(struct doctor *d)
{
#if PR_HAVE_HDF5
    struct pr_err err = {0};
    char version[32] = "";
    bool there = pr_hdf5_library_version(version, &err) == PR_OK;

    doctor_extra(
        d, "HDF5", there, pr_arena_str(d->arena, there ? version : err.msg),
        pr_arena_printf(d->arena, "for the format hdf5: %s", err.hint));
#else
    (void)d;
#endif
}

/* What native training computes with. */
static void look_at_onednn(struct doctor *d)
{
    struct pr_err err = {0};
    char version[32] = "";
    bool there = pr_engine_is_there(version, &err);

    doctor_extra(
        d, "oneDNN", there, pr_arena_str(d->arena, there ? version : err.msg),
        pr_arena_printf(d->arena, "for native training: %s", err.hint));
}

/* What starts replicas on several machines. */
static void look_at_mpi(struct doctor *d)
{
    struct pr_err err = {0};
    const char *program = NULL;
    bool there = pr_mpi_find_mpirun(d->arena, &program, &err) == PR_OK;

    doctor_extra(
        d, "Open MPI", there, there ? program : pr_arena_str(d->arena, err.msg),
        pr_arena_printf(d->arena, "only nn.mpi needs it: %s", err.hint));
}

/* What draws charts as PNG and PDF. */
static void look_at_cairo(struct doctor *d)
{
    struct pr_err err = {0};
    char version[64] = "";
    bool there = pr_canvas_libraries(version, &err) == PR_OK;

    doctor_extra(
        d, "cairo", there, pr_arena_str(d->arena, there ? version : err.msg),
        pr_arena_printf(d->arena, "for charts as PNG and PDF: %s", err.hint));
}

static void doctor_build(struct doctor *d)
{
    const char *share = pr_bundled_dir(d->arena);
    const struct pr_workload *w;
    PR_AUTO_BUF struct pr_buf names = PR_BUF_INIT(4096);

    for (size_t i = 0; (w = pr_workload_at(i)); i++)
        pr_buf_printf(&names, "%s%s", i ? ", " : "", w->name);
    doctor_found(d, "version", true, PR_VERSION " (" PR_GIT_REV ")", NULL);
    doctor_found(d, "workloads", true, pr_arena_str(d->arena, names.data),
                 NULL);
    look_at_formats(d);
    look_at_hdf5(d);
    look_at_onednn(d);
    look_at_mpi(d);
    look_at_cairo(d);
    doctor_found(d, "libyaml", true, pr_yaml_version(), NULL);
    doctor_found(d, "PCRE2", true, pr_regex_version(), NULL);
    doctor_found(d, "bundled files", share != NULL, share,
                 "set PRONY_SHARE to the folder that holds 'workloads'");
}

/* ---- what the monitor can see here, GPUs first */

/* "2 of NVIDIA: A100 (driver 535.1, CUDA 12.4)" */
static const char *nvidia_words(struct doctor *d, struct pr_nvml *n,
                                unsigned *ret_lost)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(4096);
    unsigned count = pr_nvml_count(n), lost = 0;
    char last[PR_NVML_NAME] = "";
    int cuda = pr_nvml_cuda(n);

    pr_buf_printf(&text, "%u of NVIDIA", count);
    for (unsigned i = 0; i < count; i++) {
        struct pr_nvml_device dev;

        if (!pr_nvml_device(n, i, &dev)) {
            lost++;
            continue;
        }
        if (strcmp(dev.name, last) != 0)
            pr_buf_printf(&text, "%s%s", last[0] ? ", " : ": ", dev.name);
        memcpy(last, dev.name, sizeof last);
    }
    if (lost)
        pr_buf_printf(&text, "; %u of them lost", lost);
    pr_buf_printf(&text, " (driver %s", pr_nvml_driver(n));
    if (cuda)
        pr_buf_printf(&text, ", CUDA %d.%d", cuda / 1000, cuda % 1000 / 10);
    pr_buf_char(&text, ')');
    *ret_lost = lost;
    return pr_buf_ok(&text) ? pr_arena_str(d->arena, text.data) : "";
}

static void look_at_nvidia(struct doctor *d, struct pr_nvml *n)
{
    unsigned lost;
    const char *words = nvidia_words(d, n, &lost);

    doctor_found(d, "GPU", lost == 0, words,
                 "the kernel's log says why (dmesg): reset it, or start the "
                 "machine again");
}

static void look_at_gpus(struct doctor *d)
{
    char why[PR_NVML_WHY] = "";
    struct pr_nvml *n = pr_nvml_open(why);

    if (n)
        look_at_nvidia(d, n);
    else if (pr_machine_has_gpu())
        doctor_extra(
            d, "GPU", true,
            pr_arena_printf(d->arena, "there, but not watched: %s", why), NULL);
    else
        doctor_extra(d, "GPU", false, pr_arena_str(d->arena, why),
                     "none is needed; exp.gpus is empty by default");
    pr_nvml_close(n);
}

/* How many entries of a folder have a file of that name that can be read. */
static unsigned count_readable(const char *folder, const char *file,
                               unsigned *ret_all)
{
    DIR *dir = opendir(folder);
    unsigned readable = 0;
    struct dirent *e;

    *ret_all = 0;
    while (dir && (e = readdir(dir))) {
        char path[512];
        int n =
            snprintf(path, sizeof path, "%s/%s/%s", folder, e->d_name, file);
        if (e->d_name[0] == '.' || n < 0 || (size_t)n >= sizeof path ||
            access(path, F_OK) < 0)
            continue;
        ++*ret_all;
        readable += access(path, R_OK) == 0;
    }
    if (dir)
        closedir(dir);
    return readable;
}

static void look_at_power(struct doctor *d)
{
    unsigned all, readable;

    readable = count_readable("/sys/class/powercap", "energy_uj", &all);
    doctor_extra(d, "power meter", readable > 0,
                 readable
                     ? pr_arena_printf(d->arena, "RAPL, %u domains", readable)
                 : all ? "RAPL, but only root may read it"
                       : "no RAPL",
                 all ? "chmod a+r /sys/class/powercap/*/energy_uj"
                     : "joules are left out of results");
}

static void look_at_temperature(struct doctor *d)
{
    unsigned monitors, zones, n;

    n = count_readable("/sys/class/hwmon", "name", &monitors) +
        count_readable("/sys/class/thermal", "temp", &zones);
    doctor_extra(d, "temperature", n > 0,
                 n ? pr_arena_printf(d->arena, "%u sources", n) : "no sensors",
                 "it is left out of results");
}

static void doctor_sensors(struct doctor *d)
{
    bool psi = access("/proc/pressure/cpu", R_OK) == 0;

    look_at_gpus(d);
    look_at_power(d);
    look_at_temperature(d);
    doctor_extra(d, "pressure", psi, psi ? "PSI" : "no /proc/pressure",
                 "start the kernel with psi=1");
}

/* ---- what can hold copies that run side by side apart */

enum { SLOTS_TOLD = 4 };

/* One slot a GPU; without any, one. */
static unsigned find_devices(struct doctor *d, struct pr_slot_device *out)
{
    struct pr_nvml *n = pr_nvml_open(NULL);
    unsigned count = n ? pr_nvml_count(n) : 0;

    for (unsigned i = 0; i < count; i++) {
        struct pr_nvml_device dev;

        out[i].id = pr_arena_printf(d->arena, "%u", i);
        if (pr_nvml_device(n, i, &dev))
            out[i].pci = pr_arena_str(d->arena, dev.pci);
        if (!out[i].id)
            count = 0;
    }
    if (n)
        pr_nvml_close(n);
    return count;
}

/* The note that begins so; what it says after that, and what helps. */
static const struct pr_slots_warning *note_of(const struct pr_slots *s,
                                              const char *start)
{
    size_t n;
    const struct pr_slots_warning *notes = pr_slots_get_warnings(s, &n);

    for (size_t i = 0; i < n; i++)
        if (pr_text_starts_with(notes[i].what, start))
            return &notes[i];
    return NULL;
}

static void tell_hold(struct doctor *d, const struct pr_slots *s,
                      const char *what, enum pr_slot_hold hold,
                      const char *start)
{
    const struct pr_slots_warning *note = note_of(s, start);

    doctor_extra(d, what, !note,
                 note ? pr_arena_str(d->arena, note->what)
                      : pr_slots_hold_name(hold),
                 note ? pr_arena_str(d->arena, note->remedy) : NULL);
}

/* "2 of 8 cores, 33 GB each (CPUs 0-7; 8-15); 2.1 GB for the harness" */
static const char *slots_words(struct doctor *d, const struct pr_slots *s)
{
    PR_AUTO_BUF struct pr_buf b = PR_BUF_INIT(4096);
    const struct pr_slot *slot = pr_slots_get(s, 0);
    unsigned n = pr_slots_count(s);
    char size[16];

    pr_buf_printf(&b, "%u of %u core%s", n, slot->n_cores,
                  slot->n_cores == 1 ? "" : "s");
    if (slot->memory_bytes)
        pr_buf_printf(&b, ", %s", pr_format_bytes(size, slot->memory_bytes));
    pr_buf_str(&b, n > 1 ? " each (CPUs " : " (CPUs ");
    for (unsigned i = 0; i < n && i < SLOTS_TOLD; i++)
        pr_buf_printf(&b, "%s%s", i ? "; " : "", pr_slots_get(s, i)->cpus);
    pr_buf_str(&b, n > SLOTS_TOLD ? "; …)" : ")");
    if (pr_slots_reserve(s))
        pr_buf_printf(&b, "; %s for the harness",
                      pr_format_bytes(size, pr_slots_reserve(s)));
    return pr_buf_ok(&b) ? pr_arena_str(d->arena, b.data) : "";
}

static void doctor_slots(struct doctor *d)
{
    struct pr_slot_device devices[PR_NVML_MAX] = {{0}};
    unsigned n = find_devices(d, devices);
    /* a diagnosis leaves the machine as it is */
    struct pr_slots_opts o = {.count = n,
                              .isolate = true,
                              .devices = n ? devices : NULL,
                              .look = true};
    struct pr_slots *s = NULL;
    struct pr_err err = {0};

    if (pr_slots_new(&o, &s, &err) != PR_OK) {
        doctor_extra(d, "slots", false, pr_arena_str(d->arena, err.msg), NULL);
        return;
    }
    tell_hold(d, s, "isolation of CPUs", pr_slots_cpu_hold(s), "CPUs ");
    tell_hold(d, s, "isolation of memory", pr_slots_memory_hold(s), "memory ");
    doctor_extra(d, "slots", true, slots_words(d, s), NULL);
    pr_slots_free(s);
}

/* ---- frameworks that programs of ours run on */

/* What launchers of the user's start is the user's to look after. */

/* The first of the names, up to NULL, that is on PATH; or NULL. */
static const char *doctor_program(struct doctor *d, const char *const *names)
{
    char path[PATH_MAX];

    for (; *names; names++)
        if (pr_which(*names, path))
            return pr_arena_str(d->arena, path);
    return NULL;
}

/* The Python that experiments get, as a path. */
static const char *doctor_find_python(struct doctor *d)
{
    static const char *const names[] = {"python3", NULL};
    const char *path = doctor_program(d, names);

    return path ? path : names[0];
}

static int doctor_check_framework(void *ctx, const struct pr_framework *f,
                                  struct pr_err *err)
{
    struct doctor *d = ctx;
    const char *detail = "";
    int state;

    if (f->kind != PR_FRAMEWORK_PYTHON)
        return PR_OK;
    state = pr_framework_find_installed(f, doctor_find_python(d), d->arena,
                                        &detail, err);
    if (state < 0)
        return state;
    doctor_extra(d, f->title, state == PR_FRAMEWORK_HERE, detail,
                 pr_framework_remedy(f, d->arena));
    return PR_OK;
}

static void doctor_frameworks(struct doctor *d)
{
    struct pr_err err = {0};

    if (pr_framework_each(d->arena, doctor_check_framework, d, &err))
        doctor_extra(d, "frameworks", false,
                     pr_arena_printf(d->arena, "%s: %s", err.where, err.msg),
                     "put that file right");
}

/* ---- the machine, and the programs that are on it */

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

static void doctor_machine(struct doctor *d)
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

/* ---- the answer */

enum { HARNESS_RUNS = 100 };

static int measure_harness(struct doctor *d, struct pr_err *err)
{
    const char *temp = getenv("TMPDIR");
    char text[24];
    int rc = pr_harness_measure_cost(temp && *temp ? temp : "/tmp",
                                     HARNESS_RUNS, &d->harness_s, err);

    if (rc == PR_E_INTR)
        return rc;
    doctor_found(d, "cost of the harness", !rc,
                 rc ? pr_arena_str(d->arena, err->msg)
                    : pr_arena_printf(d->arena, "%s for each experiment",
                                      pr_format_seconds(text, d->harness_s)),
                 "set TMPDIR to a folder that can be written");
    return PR_OK;
}

static int print_text(struct cli *c, const struct doctor *d, struct pr_err *err)
{
    static const struct pr_table_column cols[] = {
        {.title = "what"},
        {.title = "state", .kind = PR_COL_STATUS},
        {.title = "detail"},
        {.title = "remedy"},
    };
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 20);
    struct pr_table_style style = {.width = stdout_width(),
                                   .colour = stdout_colour(c)};
    struct pr_table *t = pr_table_new(cols, 4);
    int rc;

    if (!t)
        return pr_fail_nomem(err);
    for (size_t i = 0; i < d->count; i++) {
        const struct finding *f = &d->items[i];
        pr_table_row(t);
        pr_table_set_str(t, 0, f->what);
        pr_table_set_str(t, 1, f->state);
        pr_table_set_str(t, 2, f->detail);
        pr_table_set_str(t, 3, f->remedy);
    }
    rc = pr_table_print(t, PR_TABLE_TEXT, &style, &text, err);
    pr_table_free(t);
    return rc ? rc : answer_print_buf(&text, err);
}

static void put_findings(struct pr_json_writer *jb, const struct doctor *d)
{
    pr_json_open_array(jb, "checks");
    for (size_t i = 0; i < d->count; i++) {
        pr_json_open_object(jb, NULL);
        pr_json_put_str(jb, "what", d->items[i].what);
        pr_json_put_str(jb, "state", d->items[i].state);
        pr_json_put_str(jb, "detail", d->items[i].detail);
        pr_json_put_str(jb, "remedy", d->items[i].remedy);
        pr_json_close(jb);
    }
    pr_json_close(jb);
}

static int doctor_print_json(const struct doctor *d, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(64 << 20);
    PR_AUTO_BUF struct pr_buf env = PR_BUF_INIT(16 << 20);
    struct pr_json_in in = {.name = "env.json"};
    struct pr_value v;
    struct pr_json_writer jb;
    int rc = pr_session_env(".", &env, err);

    in.text = env.data;
    in.len = env.len;
    if (!rc)
        rc = pr_json_read(&in, d->arena, &v, NULL, err);
    if (rc)
        return rc;
    pr_json_writer_init(&jb, &text, 2);
    pr_json_open_object(&jb, NULL);
    pr_json_put_str(&jb, "schema", "prony.doctor/1");
    pr_json_put_float(&jb, "harness_s", d->harness_s);
    put_findings(&jb, d);
    pr_json_put_value(&jb, "env", &v);
    pr_json_open_object(&jb, "sys_info");
    pr_machine_sysinfo_write(&jb);
    pr_json_close(&jb);
    pr_json_close(&jb);
    pr_buf_char(&text, '\n');
    return answer_print_buf(&text, err);
}

/* What DLBS's sysinfo prints. */
static int print_sys_info(struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(64 << 20);
    struct pr_json_writer jb;

    pr_json_writer_init(&jb, &text, 2);
    pr_json_open_object(&jb, NULL);
    pr_machine_sysinfo_write(&jb);
    pr_json_close(&jb);
    pr_buf_char(&text, '\n');
    return answer_print_buf(&text, err);
}

int cmd_doctor(struct cli *c, struct pr_err *err)
{
    const char *format = arg_get(c, A_DOCTOR_FORMAT);
    struct doctor d = {.arena = c->arena};
    int rc;

    if (arg_on(c, A_SYS_INFO))
        return print_sys_info(err);
    doctor_build(&d);
    doctor_machine(&d);
    doctor_slots(&d);
    doctor_sensors(&d);
    rc = measure_harness(&d, err);
    if (rc)
        return rc;
    if (format && strcmp(format, "json") == 0)
        return doctor_print_json(&d, err);
    return print_text(c, &d, err);
}
