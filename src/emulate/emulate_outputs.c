/* Which files of output.folder are ours. */
#include "emulate/emulate_outputs.h"

#include "base/file.h"
#include "base/json/json.h"
#include "base/json/json_write.h"
#include "base/sync.h"
#include "emulate/dlio/dlio_files.h"
#include "emulate/emulate_watch.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_MARK = 1 << 20, MORE = 4 };

static const char mark_name[] = ".prony-output.json";

struct outputs {
    const struct pr_emulate *e;
    struct pr_arena *arena;
    struct pr_value root;         /* of the mark */
    const struct pr_value *files; /* in it; NULL: there is none */
};

/* ---- the names that a run writes */

/* Where data is made and nothing else, there is a log and nothing else. */
static bool outputs_has_measures(const struct pr_emulate *e)
{
    return e->workflow.train || e->workflow.checkpoint;
}

static uint64_t outputs_count_ranks(const struct pr_emulate *e)
{
    if (!outputs_has_measures(e))
        return 0;
    return e->accelerators < PR_DLIO_RANKS ? e->accelerators : PR_DLIO_RANKS;
}

/* Number n of them: two of each rank, then those of all together. False: there
 * are no more. */
static bool outputs_get_name(const struct pr_emulate *e, uint64_t n,
                             char out[static 256])
{
    const char *rest[MORE] = {e->output.log_file, "summary.json"};
    uint64_t ranks = outputs_count_ranks(e);
    size_t count = outputs_has_measures(e) ? 2 : 1;

    if (n < 2 * ranks) {
        snprintf(out, 256, "%" PRIu64 "_%s.json", n / 2,
                 n % 2 ? "per_epoch_stats" : "output");
        return true;
    }
    if (outputs_has_measures(e) && pr_emulate_watch_has_trace(e))
        rest[count++] = "trace.json";
    if (outputs_has_measures(e) && pr_emulate_watch_has_iostat(e))
        rest[count++] = "iostat.json";
    n -= 2 * ranks;
    if (n < count)
        snprintf(out, 256, "%s", rest[n]);
    return n < count;
}

/* ---- the mark */

static int outputs_read_mark(struct outputs *o, struct pr_err *err)
{
    char path[4096];
    struct pr_json_in in = {.name = path};
    struct pr_err why = {0};
    int rc;

    PR_TRY(pr_dlio_file_path(path, o->e->folder, mark_name, err));
    rc = pr_file_read_in(o->e->folder, path, MAX_MARK, o->arena, &in.text,
                         &in.len, &why);
    if (rc == PR_E_IO && why.sys_errno == ENOENT)
        return PR_OK;
    if (!rc)
        rc = pr_json_read(&in, o->arena, &o->root, NULL, &why);
    if (rc == PR_E_NOMEM)
        return pr_fail_nomem(err);
    /* One that cannot be read says nothing: then no file is ours. */
    o->files = rc ? NULL : pr_get(&o->root, "files");
    if (o->files && o->files->kind != PR_MAP)
        o->files = NULL;
    return PR_OK;
}

static bool outputs_is_unchanged(const struct stat *st,
                                 const struct pr_value *look)
{
    const struct pr_value *bytes = pr_get(look, "bytes");
    const struct pr_value *time = pr_get(look, "mtime_ns");

    return bytes && time && bytes->kind == PR_INT && time->kind == PR_INT &&
           bytes->i == (int64_t)st->st_size &&
           time->i ==
               st->st_mtim.tv_sec * (int64_t)1000000000 + st->st_mtim.tv_nsec;
}

/* Something under this name that is not ours. */
static int outputs_check_file(const struct outputs *o, const char *name,
                              struct pr_err *err)
{
    const struct pr_value *look = o->files ? pr_get(o->files, name) : NULL;
    char path[4096];
    struct stat st;
    int rc = pr_dlio_file_path(path, o->e->folder, name, err);

    if (rc || lstat(path, &st) < 0)
        return rc;
    if (look && S_ISREG(st.st_mode) &&
        (look->kind != PR_MAP || outputs_is_unchanged(&st, look)))
        return PR_OK;
    pr_fail(err, PR_E_CONF, path, "%s",
            look ? "was changed since prony wrote it, so it is kept"
                 : "prony did not write it, so it is kept");
    return pr_hint(err, "move it away, or choose another output.folder");
}

static void outputs_put_look(const struct outputs *o, const char *name,
                             struct pr_json_writer *jb)
{
    char path[4096];
    struct stat st;

    if (pr_dlio_file_path(path, o->e->folder, name, NULL) ||
        lstat(path, &st) < 0)
        return;
    pr_json_open_object(jb, name);
    pr_json_put_int(jb, "bytes", st.st_size);
    pr_json_put_int(jb, "mtime_ns",
                    st.st_mtim.tv_sec * (int64_t)1000000000 +
                        st.st_mtim.tv_nsec);
    pr_json_close(jb);
}

static bool outputs_is_written(const struct pr_emulate *e, const char *name)
{
    char own[256], *end;
    uint64_t rank = strtoull(name, &end, 10);
    uint64_t at = 2 * (*end == '_' && rank < outputs_count_ranks(e)
                           ? rank
                           : outputs_count_ranks(e));

    for (uint64_t i = at; i < at + MORE && outputs_get_name(e, i, own); i++)
        if (strcmp(own, name) == 0)
            return true;
    return false;
}

/* Names of this run, and those of earlier ones that had more files. */
static int outputs_write_mark(const struct outputs *o, bool written,
                              struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(MAX_MARK);
    char path[4096], name[256];
    struct pr_json_writer jb;
    int rc = pr_dlio_file_path(path, o->e->folder, mark_name, err);

    pr_json_writer_init(&jb, &text, 1);
    pr_json_open_object(&jb, NULL);
    pr_json_put_str(&jb, "schema", "prony.output/1");
    pr_json_open_object(&jb, "files");
    for (uint64_t i = 0; outputs_get_name(o->e, i, name); i++)
        if (written)
            outputs_put_look(o, name, &jb);
        else
            pr_json_put_null(&jb, name);
    for (uint32_t i = 0; o->files && i < o->files->len; i++)
        if (!outputs_is_written(o->e, o->files->members[i].key))
            pr_json_put_value(&jb, o->files->members[i].key,
                              &o->files->members[i].value);
    pr_json_close(&jb);
    pr_json_close(&jb);
    pr_buf_char(&text, '\n');
    if (!rc && !pr_buf_ok(&text))
        rc = pr_fail_nomem(err);
    if (rc)
        return rc;
    return pr_job_needs_sync(o->e->job->params)
               ? pr_file_write(path, text.data, text.len, err)
               : pr_file_write_later(path, text.data, text.len, err);
}

/* ---- from outside */

static int outputs_call_with_mark(const struct pr_emulate *e,
                                  int (*call)(const struct outputs *o,
                                              struct pr_err *err),
                                  struct pr_err *err)
{
    struct outputs o = {.e = e, .arena = pr_arena_new(16384)};
    int rc = o.arena ? outputs_read_mark(&o, err) : pr_fail_nomem(err);

    if (!rc)
        rc = call(&o, err);
    pr_arena_free(o.arena);
    return rc;
}

static int outputs_check_all(const struct outputs *o, struct pr_err *err)
{
    char name[256];
    int rc = PR_OK;

    for (uint64_t i = 0; !rc && outputs_get_name(o->e, i, name); i++)
        rc = outputs_check_file(o, name, err);
    return rc;
}

static int outputs_claim(const struct outputs *o, struct pr_err *err)
{
    int rc = outputs_check_all(o, err);

    return rc ? rc : outputs_write_mark(o, false, err);
}

static bool outputs_is_ours(void *ctx, const char *name)
{
    return outputs_is_written(ctx, name);
}

static int outputs_settle(const struct outputs *o, struct pr_err *err)
{
    int rc = pr_job_needs_sync(o->e->job->params)
                 ? pr_sync_files(o->e->folder, outputs_is_ours,
                                 (struct pr_emulate *)(uintptr_t)o->e, err)
                 : PR_OK;

    return rc ? rc : outputs_write_mark(o, true, err);
}

int pr_emulate_outputs_check(const struct pr_emulate *e, struct pr_err *err)
{
    return *e->folder ? outputs_call_with_mark(e, outputs_check_all, err)
                      : PR_OK;
}

int pr_emulate_outputs_claim(const struct pr_emulate *e, struct pr_err *err)
{
    int rc = *e->folder ? pr_make_dirs(e->folder, err) : PR_OK;

    return rc || !*e->folder ? rc
                             : outputs_call_with_mark(e, outputs_claim, err);
}

int pr_emulate_outputs_settle(const struct pr_emulate *e, struct pr_err *err)
{
    return *e->folder ? outputs_call_with_mark(e, outputs_settle, err) : PR_OK;
}
