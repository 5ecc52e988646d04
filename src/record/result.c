/* Writing and reading result.json. */
#include "record/result.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/json/json.h"
#include "base/sync.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { MAX_RESULT = 64 << 20 };

static void result_write_text(struct pr_buf *b, const char *key,
                              const char *text)
{
    pr_buf_printf(b, ",\n \"%s\": ", key);
    pr_json_write_string(b, text, strlen(text));
}

static void result_write_time(struct pr_buf *b, const char *key, uint64_t ns)
{
    char time[32];

    if (ns)
        pr_buf_printf(b, ",\n \"%s\": \"%s\"", key, pr_time_text(time, ns));
}

/* JSON of others' making; left out when there is none. */
static void result_write_json(struct pr_buf *b, const char *key,
                              const struct pr_buf *json)
{
    if (!json || !json->len)
        return;
    pr_buf_printf(b, ",\n \"%s\": ", key);
    pr_buf_add(b, json->data, json->len);
}

static void put_result(struct pr_buf *b, const struct pr_result *r)
{
    pr_buf_str(b, "{\"schema\": \"prony.result/1\"");
    result_write_text(b, "id", r->id);
    result_write_text(b, "status", pr_status_word(r->status));
    result_write_text(b, "reason", r->reason ? r->reason : "");
    result_write_time(b, "started", r->started_ns);
    result_write_time(b, "ended", r->ended_ns);
    pr_buf_printf(b, ",\n \"attempts\": %u", r->attempts);
    if (r->log_tail && *r->log_tail)
        result_write_text(b, "log_tail", r->log_tail);
    if (r->warnings && r->warnings->len)
        pr_buf_printf(b, ",\n \"warnings\": [%s]", r->warnings->data);
    pr_buf_str(b, ",\n \"results\": {");
    if (r->results && r->results->len)
        pr_buf_add(b, r->results->data, r->results->len);
    pr_buf_char(b, '}');
    result_write_json(b, "rates", r->rates);
    result_write_json(b, "monitor", r->monitor);
    pr_buf_str(b, ",\n \"params\": ");
    pr_buf_str(b, r->params_json);
    pr_buf_str(b, "}\n");
}

/* What the result speaks of: a result that outlives a power cut alone would
 * hide that its log did not. */
static int sync_rest(const struct pr_rundir *d, const char *folder,
                     struct pr_err *err)
{
    char all[4096];
    int rc = pr_sync_files(folder, NULL, NULL, err);

    if (!rc)
        rc = pr_rundir_path(d, "experiments", all, err);
    if (!rc)
        rc = pr_sync_names(all, err);
    return rc ? rc : pr_rundir_sync(d, err);
}

/* By one call for all. A cut before that call leaves no result, or all that it
 * speaks of. */
static int commit_at_once(const struct pr_rundir *d, const char *folder,
                          struct pr_new_file *f, struct pr_err *err)
{
    int rc = pr_sync_data(folder, err);

    if (rc) {
        pr_file_discard(f);
        return rc;
    }
    f->later = true;
    rc = pr_file_commit(f, err);
    if (rc || pr_sync_all(d->experiments_fd))
        return rc;
    rc = sync_rest(d, folder, err);
    return rc ? rc : pr_sync_names(folder, err);
}

static int result_commit(const struct pr_rundir *d, const char *folder,
                         struct pr_new_file *f, struct pr_err *err)
{
    int rc;

    if (!f->later && pr_sync_is_one(d->experiments_fd))
        return commit_at_once(d, folder, f, err);
    rc = f->later ? PR_OK : sync_rest(d, folder, err);
    if (!rc)
        return pr_file_commit(f, err);
    pr_file_discard(f);
    return rc;
}

int pr_result_write(const struct pr_rundir *d, const struct pr_result *r,
                    struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf b = PR_BUF_INIT(MAX_RESULT);
    struct pr_new_file f;
    char path[4096], folder[4096];
    int rc = pr_rundir_file(d, r->id, "result.json", path, err);

    if (!rc)
        rc = pr_rundir_file(d, r->id, "", folder, err);
    if (rc)
        return rc;
    put_result(&b, r);
    if (!pr_buf_ok(&b))
        return pr_fail_nomem(err);
    rc = pr_file_create(path, &f, err);
    f.later = r->later;
    if (!rc)
        rc = pr_file_append(&f, b.data, b.len, err);
    if (!rc)
        return result_commit(d, folder, &f, err);
    pr_file_discard(&f);
    return rc;
}

int pr_result_read(const char *dir, const char *id, struct pr_arena *a,
                   struct pr_value *ret, struct pr_err *err)
{
    char path[4096];
    struct pr_json_in in = {.name = path};
    struct pr_err inner = {0};
    int n =
        snprintf(path, sizeof path, "%s/experiments/%s/result.json", dir, id);
    int rc;

    if (n < 0 || (size_t)n >= sizeof path)
        return pr_fail(err, PR_E_IO, dir, "the path is too long");
    rc = pr_file_read_in(dir, path, MAX_RESULT, a, &in.text, &in.len, &inner);
    if (rc == PR_E_IO && inner.sys_errno == ENOENT)
        return 0;
    if (!rc)
        rc = pr_json_read(&in, a, ret, NULL, &inner);
    if (!rc && pr_result_status(ret) == PR_STATUS_COUNT)
        rc = pr_fail(&inner, PR_E_FORMAT, path,
                     "is not a result: it has no known \"status\"");
    if (rc && err)
        *err = inner;
    return rc ? rc : 1;
}

enum pr_status pr_result_status(const struct pr_value *result)
{
    const struct pr_value *s = pr_get(result, "status");

    return s && s->kind == PR_STR ? pr_status_from_word(s->s) : PR_STATUS_COUNT;
}
