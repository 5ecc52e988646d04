/* Starting and stopping what watches an emulated training. */
#include "emulate/emulate_watch.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "generate/generate.h"
#include "observe/darshan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_DEVICES = 64, MAX_READERS = 4096 };

static bool watch_is_profiler(const struct pr_emulate *e, const char *name)
{
    return e->workflow.profiling && strcmp(e->profiling.profiler, name) == 0;
}

static void watch_file_path(const struct pr_emulate *e, const char *name,
                            char out[static 4096])
{
    snprintf(out, 4096, "%s/%s", e->job->dir, name);
}

bool pr_emulate_watch_has_iostat(const struct pr_emulate *e)
{
    return watch_is_profiler(e, "iostat");
}

/* DLIO's users ask for a trace by DFTracer's variable. */
bool pr_emulate_watch_has_trace(const struct pr_emulate *e)
{
    const char *env = getenv("DFTRACER_ENABLE");

    return e->opts.trace || (env && strcmp(env, "1") == 0);
}

static int start_trace(struct pr_emulate_watch *w, struct pr_err *err)
{
    char path[4096];
    int rc;

    watch_file_path(w->e, "trace.json", path);
    rc = pr_trace_open(path, w->start_ns, &w->trace, err);
    if (rc)
        return rc;
    w->lane = pr_trace_lane(w->trace);
    w->reader = pr_alloc_zeroed(MAX_READERS * sizeof *w->reader);
    return w->lane && w->reader ? PR_OK : pr_fail_nomem(err);
}

/* ---- devices */

static size_t watch_list_devices(const struct pr_value *v, const char **out)
{
    size_t n = 0;

    if (v->kind == PR_STR && v->len)
        out[n++] = v->s;
    for (uint32_t i = 0; v->kind == PR_LIST && i < v->len && n < MAX_DEVICES;
         i++)
        if (v->items[i].kind == PR_STR)
            out[n++] = v->items[i].s;
    return n;
}

static int start_iostat(struct pr_emulate_watch *w, struct pr_buf *notes,
                        struct pr_err *err)
{
    const char *devices[MAX_DEVICES];
    char place[PR_NAME_BYTES], own[64];
    size_t n = watch_list_devices(w->e->profiling.iostat_devices, devices);

    if (!n) {
        pr_generate_place(&w->e->set, &w->e->storage, place);
        if (!pr_iostat_find_device(place, own)) {
            pr_buf_printf(notes,
                          "the block device of %s is not known, so none is "
                          "watched; name it with profiling.iostat_devices\n",
                          place);
            return PR_OK;
        }
        devices[n++] = own;
    }
    return pr_iostat_start("/proc", devices, n, 1.0, &w->iostat, err);
}

/* ---- all of it */

int pr_emulate_watch_start(struct pr_emulate_watch *w,
                           const struct pr_emulate *e, struct pr_buf *notes,
                           struct pr_err *err)
{
    struct pr_darshan darshan;
    char path[4096];
    int rc = PR_OK;

    *w = (struct pr_emulate_watch){.e = e, .start_ns = pr_now(e->job->clock)};
    if (pr_emulate_watch_has_trace(e))
        rc = start_trace(w, err);
    if (!rc && (e->opts.tensorboard || watch_is_profiler(e, "tensorboard"))) {
        watch_file_path(e, "tensorboard", path);
        rc = pr_tensorboard_open(path, &w->board, err);
    }
    if (!rc && pr_emulate_watch_has_iostat(e))
        rc = start_iostat(w, notes, err);
    if (!rc && (pr_darshan_is_loaded("/proc", &darshan) ||
                watch_is_profiler(e, "darshan")))
        pr_darshan_describe(&darshan, e->storage.engine, notes);
    return rc;
}

void pr_emulate_watch_phase_start(struct pr_emulate_watch *w,
                                  const struct pr_emulate_phase *p)
{
    w->epoch = p->epoch;
}

void pr_emulate_watch_phase_end(struct pr_emulate_watch *w,
                                const struct pr_emulate_phase *p)
{
    enum pr_trace_span_kind kind =
        p->evaluation ? PR_SPAN_EVALUATE : PR_SPAN_TRAIN;

    for (uint64_t a = 0; w->lane && a < p->accelerators; a++) {
        if (!p->evaluation)
            pr_trace_span(w->lane, PR_SPAN_EPOCH, a, 0, p->start_ns, p->end_ns,
                          p->epoch, UINT64_MAX);
        pr_trace_span(w->lane, kind, a, 0, p->start_ns, p->end_ns, p->epoch,
                      UINT64_MAX);
    }
}

void pr_emulate_watch_on_sample(void *ctx, unsigned thread,
                                uint64_t accelerator, uint64_t sample,
                                uint64_t start_ns, uint64_t read_ns,
                                uint64_t end_ns)
{
    struct pr_emulate_watch *w = ctx;
    struct pr_trace_lane **lane = &w->reader[thread];

    if (!*lane)
        *lane = pr_trace_lane(w->trace);
    if (!*lane)
        return;
    pr_trace_span(*lane, PR_SPAN_ITEM, accelerator, thread + 1, start_ns,
                  end_ns, w->epoch, sample);
    if (!pr_emulate_needs_storage(w->e))
        return;
    pr_trace_span(*lane, PR_SPAN_PREPROCESS, accelerator, thread + 1, read_ns,
                  end_ns, w->epoch, sample);
}

static int watch_first_error(int rc, int other, const struct pr_err *why,
                             struct pr_err *err)
{
    if (rc || !other)
        return rc;
    if (err)
        *err = *why;
    return other;
}

int pr_emulate_watch_stop(struct pr_emulate_watch *w, int rc,
                          struct pr_err *err)
{
    struct pr_err why = {0};
    char path[4096];

    if (!w->e)
        return rc;
    for (uint64_t a = 0; w->lane && a < w->e->accelerators; a++)
        pr_trace_span(w->lane, PR_SPAN_ROOT, a, 0, w->start_ns,
                      pr_now(w->e->job->clock), UINT64_MAX, UINT64_MAX);
    rc = watch_first_error(rc, pr_trace_close(w->trace, &why), &why, err);
    rc = watch_first_error(rc, pr_tensorboard_close(w->board, &why), &why, err);
    watch_file_path(w->e, "iostat.json", path);
    rc =
        watch_first_error(rc, pr_iostat_stop(w->iostat, path, &why), &why, err);
    pr_free(w->reader);
    w->reader = NULL;
    return rc;
}

static int watch_copy_file(const struct pr_emulate_watch *w, const char *name,
                           const char *folder, struct pr_err *err)
{
    char from[4096], to[4096];
    struct pr_view view;
    int rc;

    watch_file_path(w->e, name, from);
    snprintf(to, sizeof to, "%s/%s", folder, name);
    if (access(from, F_OK) < 0)
        return PR_OK;
    rc = pr_file_map(from, &view, err);
    if (rc)
        return rc;
    rc = pr_file_write_later(to, view.data, view.len, err);
    pr_file_unmap(&view);
    return rc;
}

int pr_emulate_watch_copy_files(const struct pr_emulate_watch *w,
                                const char *folder, struct pr_err *err)
{
    int rc = watch_copy_file(w, "iostat.json", folder, err);

    return rc ? rc : watch_copy_file(w, "trace.json", folder, err);
}
