/* `prony doctor`: what was built in, and what would add the rest. */
#include "base/buf.h"
#include "cli/doctor.h"
#include "conf/expr/regex.h"
#include "conf/read/bundled.h"
#include "conf/read/yaml.h"
#include "format/format.h"

#if PR_HAVE_HDF5
#include "format/hdf5/hdf5_library.h"
#endif
#include "native/replica/replicas_mpi.h"
#include "present/chart/canvas_svg.h"
#include "prony_config.h"
#include "workload/workload.h"

#include <string.h>

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

void doctor_build(struct doctor *d)
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
