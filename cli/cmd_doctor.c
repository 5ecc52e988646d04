/* `prony doctor`: what this machine and this build have and lack. */
#include "base/json.h"
#include "base/json_build.h"
#include "base/units.h"
#include "base/which.h"
#include "cli/report.h"
#include "conf/regex.h"
#include "conf/share.h"
#include "conf/yaml.h"
#include "format/format.h"
#include "present/table.h"
#include "prony_config.h"
#include "run/session.h"
#include "study/harness.h"
#include "workload/back_end.h"
#include "workload/engine.h"
#include "workload/mpi.h"
#include "workload/python.h"
#include "workload/workload.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { HARNESS_RUNS = 100 };

/* One finding. */
struct finding {
    const char *what, *state, *detail, *remedy;
};

struct doctor {
    struct pr_arena *arena;
    struct finding items[32];
    size_t count;
    double harness_s;
};

static void found(struct doctor *d, const char *what, bool good,
                  const char *detail, const char *remedy)
{
    if (d->count < sizeof d->items / sizeof *d->items)
        d->items[d->count++] = (struct finding){what, good ? "ok" : "missing",
                                                detail ? detail : "",
                                                good || !remedy ? "" : remedy};
}

/* Something that is nice to have: its absence is no defect. */
static void found_extra(struct doctor *d, const char *what, bool there,
                        const char *detail, const char *remedy)
{
    size_t i = d->count;

    found(d, what, there, detail, remedy);
    if (!there && d->count > i)
        d->items[i].state = "absent";
}

static const char *on_path(struct doctor *d, const char *program)
{
    char path[PATH_MAX];

    return pr_which(program, path) ? pr_arena_str(d->arena, path) : NULL;
}

/* What was built in, and what would add the rest. */
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
    found(d, "formats", true, pr_arena_str(d->arena, names.data), NULL);
    for (size_t i = 0; i < sizeof extras / sizeof *extras; i++)
        if (!extras[i].there)
            found_extra(d, extras[i].what, false, "not built in",
                        extras[i].remedy);
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

    found_extra(d, pr_arena_printf(d->arena, "engine %s", name), there,
                there ? "works"
                : st  ? pr_arena_str(d->arena, pr_storage_note(st))
                      : pr_arena_str(d->arena, err.msg),
                "pread is used instead");
    pr_storage_close(st);
}

/* What native training computes with. */
static void look_at_onednn(struct doctor *d)
{
    struct pr_err err = {0};
    char version[32] = "";
    bool there = pr_engine_is_there(version, &err);

    found_extra(d, "oneDNN", there,
                pr_arena_str(d->arena, there ? version : err.msg),
                pr_arena_printf(d->arena, "for native training: %s", err.hint));
}

/* What starts replicas on several machines. */
static void look_at_mpi(struct doctor *d)
{
    struct pr_err err = {0};
    const char *program = NULL;
    bool there = pr_mpi_find(d->arena, &program, &err) == PR_OK;

    found_extra(
        d, "Open MPI", there, there ? program : pr_arena_str(d->arena, err.msg),
        pr_arena_printf(d->arena, "only nn.mpi needs it: %s", err.hint));
}

static void look_at_build(struct doctor *d)
{
    const char *share = pr_share_dir(d->arena);
    const struct pr_workload *w;
    PR_AUTO_BUF struct pr_buf names = PR_BUF_INIT(4096);

    for (size_t i = 0; (w = pr_workload_at(i)); i++)
        pr_buf_printf(&names, "%s%s", i ? ", " : "", w->name);
    found(d, "version", true, PR_VERSION " (" PR_GIT_REV ")", NULL);
    found(d, "workloads", true, pr_arena_str(d->arena, names.data), NULL);
    look_at_formats(d);
    look_at_onednn(d);
    look_at_mpi(d);
    found(d, "libyaml", true, pr_yaml_version(), NULL);
    found(d, "PCRE2", true, pr_regex_version(), NULL);
    found(d, "bundled files", share != NULL, share,
          "set PRONY_SHARE to the folder that holds 'workloads'");
}

static void look_for_program(struct doctor *d, const char *what,
                             const char *const *names, const char *remedy)
{
    const char *path = NULL;

    for (; *names && !path; names++)
        path = on_path(d, *names);
    found_extra(d, what, path != NULL, path, remedy);
}

/* The interpreters that back-ends would take. */
static void look_for_frameworks(struct doctor *d)
{
    const char *first = on_path(d, "python3");
    const struct pr_back_end *b;

    for (size_t i = 0; (b = pr_back_end_at(i)); i++) {
        const char *python =
            pr_back_end_python(b, first ? first : "python3", d->arena);
        bool there = python && pr_python_has(python, b->module);

        found_extra(
            d, b->title, there, there ? python : "in no Python looked at",
            pr_arena_printf(d->arena,
                            "only exp.framework=%s needs it: make python-deps, "
                            "or set %s",
                            b->framework, b->python_var));
    }
}

static void look_at_machine(struct doctor *d)
{
    static const char *const container[] = {"docker", "podman", "apptainer",
                                            NULL};
    static const char *const python[] = {"python3", NULL};
    bool v2 = access("/sys/fs/cgroup/cgroup.controllers", F_OK) == 0;
    bool v1 = access("/sys/fs/cgroup/memory", F_OK) == 0;
    bool gpu = pr_opt_has_gpu();
    struct rlimit files;
    struct utsname u;

    if (uname(&u) == 0)
        found(d, "kernel", true,
              pr_arena_printf(d->arena, "%s %s", u.sysname, u.release), NULL);
    found(d, "processors", true,
          pr_arena_printf(d->arena, "%ld", sysconf(_SC_NPROCESSORS_ONLN)),
          NULL);
    found(d, "control groups", v1 || v2, v2 ? "v2" : "v1",
          "mount /sys/fs/cgroup: out of memory is told apart by it");
    look_at_engine(d, "io_uring");
    found_extra(d, "GPU", gpu, gpu ? "present" : "none",
                "none is needed; exp.gpus is empty by default");
    look_for_program(d, "Python", python,
                     "only back-ends written in it need one: apt-get install "
                     "python3");
    look_for_frameworks(d);
    look_for_program(d, "container program", container,
                     "only containers need one: apt-get install podman");
    if (getrlimit(RLIMIT_NOFILE, &files) == 0)
        found(d, "open files", files.rlim_cur >= 1024,
              pr_arena_printf(d->arena, "%llu allowed",
                              (unsigned long long)files.rlim_cur),
              "raise it: ulimit -n 4096");
}

static void measure_harness(struct doctor *d)
{
    const char *temp = getenv("TMPDIR");
    struct pr_err err = {0};
    char text[24];
    bool ok = pr_harness_cost(temp && *temp ? temp : "/tmp", HARNESS_RUNS,
                              &d->harness_s, &err) == PR_OK;

    found(d, "cost of the harness", ok,
          ok ? pr_arena_printf(d->arena, "%s for each experiment",
                               pr_format_seconds(text, d->harness_s))
             : pr_arena_str(d->arena, err.msg),
          "set TMPDIR to a folder that can be written");
}

static int print_text(struct cli *c, const struct doctor *d, struct pr_err *err)
{
    static const struct pr_column cols[] = {
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
    return rc ? rc : answer_buf(&text, err);
}

static void put_findings(struct pr_jb *jb, const struct doctor *d)
{
    pr_jb_arr(jb, "checks");
    for (size_t i = 0; i < d->count; i++) {
        pr_jb_obj(jb, NULL);
        pr_jb_str(jb, "what", d->items[i].what);
        pr_jb_str(jb, "state", d->items[i].state);
        pr_jb_str(jb, "detail", d->items[i].detail);
        pr_jb_str(jb, "remedy", d->items[i].remedy);
        pr_jb_end(jb);
    }
    pr_jb_end(jb);
}

static int print_json(const struct doctor *d, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(16 << 20);
    PR_AUTO_BUF struct pr_buf env = PR_BUF_INIT(16 << 20);
    struct pr_json_in in = {.name = "env.json"};
    struct pr_value v;
    struct pr_jb jb;
    int rc = pr_session_env(".", &env, err);

    in.text = env.data;
    in.len = env.len;
    if (!rc)
        rc = pr_json_read(&in, d->arena, &v, NULL, err);
    if (rc)
        return rc;
    pr_jb_init(&jb, &text, 2);
    pr_jb_obj(&jb, NULL);
    pr_jb_str(&jb, "schema", "prony.doctor/1");
    pr_jb_float(&jb, "harness_s", d->harness_s);
    put_findings(&jb, d);
    pr_jb_value(&jb, "env", &v);
    pr_jb_end(&jb);
    pr_buf_char(&text, '\n');
    return answer_buf(&text, err);
}

int cmd_doctor(struct cli *c, struct pr_err *err)
{
    const char *format = arg_get(c, A_DOCTOR_FORMAT);
    struct doctor d = {.arena = c->arena};

    look_at_build(&d);
    look_at_machine(&d);
    measure_harness(&d);
    if (format && strcmp(format, "json") == 0)
        return print_json(&d, err);
    return print_text(c, &d, err);
}
