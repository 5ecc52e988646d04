/* Which files of output.folder are ours. */
#include "workload/emulate_outputs.h"

#include "base/file.h"
#include "base/json.h"
#include "base/json_build.h"
#include "base/sync.h"
#include "workload/emulate_dlio.h"
#include "workload/emulate_watch.h"

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
static bool measures(const struct pr_emulate *e)
{
    return e->workflow.train || e->workflow.checkpoint;
}

static uint64_t ranks_of(const struct pr_emulate *e)
{
    if (!measures(e))
        return 0;
    return e->accelerators < PR_DLIO_RANKS ? e->accelerators : PR_DLIO_RANKS;
}

/* Number n of them: two of each rank, then those of all together. False: there
 * are no more. */
static bool name_of(const struct pr_emulate *e, uint64_t n,
                    char out[static 256])
{
    const char *rest[MORE] = {e->output.log_file, "summary.json"};
    uint64_t ranks = ranks_of(e);
    size_t count = measures(e) ? 2 : 1;

    if (n < 2 * ranks) {
        snprintf(out, 256, "%" PRIu64 "_%s.json", n / 2,
                 n % 2 ? "per_epoch_stats" : "output");
        return true;
    }
    if (measures(e) && pr_watch_has_trace(e))
        rest[count++] = "trace.json";
    if (measures(e) && pr_watch_has_iostat(e))
        rest[count++] = "iostat.json";
    n -= 2 * ranks;
    if (n < count)
        snprintf(out, 256, "%s", rest[n]);
    return n < count;
}

static int path_of(const struct outputs *o, const char *name,
                   char out[static 4096], struct pr_err *err)
{
    int n = snprintf(out, 4096, "%s/%s", o->e->folder, name);

    return n < 4096 ? PR_OK
                    : pr_fail(err, PR_E_IO, name, "its path is too long");
}

/* ---- the mark */

static int read_mark(struct outputs *o, struct pr_err *err)
{
    char path[4096];
    struct pr_json_in in = {.name = path};
    struct pr_err why = {0};
    int rc = path_of(o, mark_name, path, err);

    if (rc)
        return rc;
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

static bool looks_so(const struct stat *st, const struct pr_value *look)
{
    const struct pr_value *bytes = pr_get(look, "bytes");
    const struct pr_value *time = pr_get(look, "mtime_ns");

    return bytes && time && bytes->kind == PR_INT && time->kind == PR_INT &&
           bytes->i == (int64_t)st->st_size &&
           time->i ==
               st->st_mtim.tv_sec * (int64_t)1000000000 + st->st_mtim.tv_nsec;
}

/* Something under this name that is not ours. */
static int check_one(const struct outputs *o, const char *name,
                     struct pr_err *err)
{
    const struct pr_value *look = o->files ? pr_get(o->files, name) : NULL;
    char path[4096];
    struct stat st;
    int rc = path_of(o, name, path, err);

    if (rc || lstat(path, &st) < 0)
        return rc;
    if (look && S_ISREG(st.st_mode) &&
        (look->kind != PR_MAP || looks_so(&st, look)))
        return PR_OK;
    pr_fail(err, PR_E_CONF, path, "%s",
            look ? "was changed since prony wrote it, so it is kept"
                 : "prony did not write it, so it is kept");
    return pr_hint(err, "move it away, or choose another output.folder");
}

static void put_look(const struct outputs *o, const char *name,
                     struct pr_jb *jb)
{
    char path[4096];
    struct stat st;

    if (path_of(o, name, path, NULL) || lstat(path, &st) < 0)
        return;
    pr_jb_obj(jb, name);
    pr_jb_int(jb, "bytes", st.st_size);
    pr_jb_int(jb, "mtime_ns",
              st.st_mtim.tv_sec * (int64_t)1000000000 + st.st_mtim.tv_nsec);
    pr_jb_end(jb);
}

static bool is_written(const struct pr_emulate *e, const char *name)
{
    char own[256], *end;
    uint64_t rank = strtoull(name, &end, 10);
    uint64_t at = 2 * (*end == '_' && rank < ranks_of(e) ? rank : ranks_of(e));

    for (uint64_t i = at; i < at + MORE && name_of(e, i, own); i++)
        if (strcmp(own, name) == 0)
            return true;
    return false;
}

/* Names of this run, and those of earlier ones that had more files. */
static int write_mark(const struct outputs *o, bool written, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(MAX_MARK);
    char path[4096], name[256];
    struct pr_jb jb;
    int rc = path_of(o, mark_name, path, err);

    pr_jb_init(&jb, &text, 1);
    pr_jb_obj(&jb, NULL);
    pr_jb_str(&jb, "schema", "prony.output/1");
    pr_jb_obj(&jb, "files");
    for (uint64_t i = 0; name_of(o->e, i, name); i++)
        if (written)
            put_look(o, name, &jb);
        else
            pr_jb_null(&jb, name);
    for (uint32_t i = 0; o->files && i < o->files->len; i++)
        if (!is_written(o->e, o->files->members[i].key))
            pr_jb_value(&jb, o->files->members[i].key,
                        &o->files->members[i].value);
    pr_jb_end(&jb);
    pr_jb_end(&jb);
    pr_buf_char(&text, '\n');
    if (!rc && !pr_buf_ok(&text))
        rc = pr_fail_nomem(err);
    if (rc)
        return rc;
    return pr_params_sync(o->e->job->params)
               ? pr_file_write(path, text.data, text.len, err)
               : pr_file_write_later(path, text.data, text.len, err);
}

/* ---- from outside */

static int with_mark(const struct pr_emulate *e,
                     int (*call)(const struct outputs *o, struct pr_err *err),
                     struct pr_err *err)
{
    struct outputs o = {.e = e, .arena = pr_arena_new(16384)};
    int rc = o.arena ? read_mark(&o, err) : pr_fail_nomem(err);

    if (!rc)
        rc = call(&o, err);
    pr_arena_free(o.arena);
    return rc;
}

static int check_all(const struct outputs *o, struct pr_err *err)
{
    char name[256];
    int rc = PR_OK;

    for (uint64_t i = 0; !rc && name_of(o->e, i, name); i++)
        rc = check_one(o, name, err);
    return rc;
}

static int claim(const struct outputs *o, struct pr_err *err)
{
    int rc = check_all(o, err);

    return rc ? rc : write_mark(o, false, err);
}

static bool is_ours(void *ctx, const char *name)
{
    return is_written(ctx, name);
}

static int settle(const struct outputs *o, struct pr_err *err)
{
    int rc = pr_params_sync(o->e->job->params)
                 ? pr_sync_files(o->e->folder, is_ours,
                                 (struct pr_emulate *)(uintptr_t)o->e, err)
                 : PR_OK;

    return rc ? rc : write_mark(o, true, err);
}

int pr_outputs_check(const struct pr_emulate *e, struct pr_err *err)
{
    return *e->folder ? with_mark(e, check_all, err) : PR_OK;
}

int pr_outputs_claim(const struct pr_emulate *e, struct pr_err *err)
{
    int rc = *e->folder ? pr_make_dirs(e->folder, err) : PR_OK;

    return rc || !*e->folder ? rc : with_mark(e, claim, err);
}

int pr_outputs_settle(const struct pr_emulate *e, struct pr_err *err)
{
    return *e->folder ? with_mark(e, settle, err) : PR_OK;
}
