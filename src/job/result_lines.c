/*
 * What a job says on its log: measures, as lines or as members; warnings;
 * DLIO's log.
 */
#include "job/result_lines.h"

#include "base/file.h"
#include "base/json/json.h"

#include <math.h>
#include <string.h>

/* ---- warnings */

void pr_warnings_put(const struct pr_buf *lines, struct pr_buf *out)
{
    const char *at = lines->data, *end;

    while (lines->len && (end = strchr(at, '\n'))) {
        pr_buf_str(out, "__warning__= ");
        pr_json_write_string(out, at, (size_t)(end - at));
        pr_buf_char(out, '\n');
        at = end + 1;
    }
}

/* ---- DLIO's log */

enum { KEPT_MAX = 32 << 20 };

void pr_job_log_init(struct pr_job_log *l)
{
    *l = (struct pr_job_log){.text = PR_BUF_INIT(64 << 20),
                             .kept = PR_BUF_INIT(128 << 20)};
}

void pr_job_log_free(struct pr_job_log *l)
{
    pr_buf_free(&l->text);
    pr_buf_free(&l->kept);
}

int pr_job_log_write(const struct pr_buf *lines, struct pr_err *err)
{
    if (!pr_buf_ok(lines))
        return pr_fail_nomem(err);
    if (!pr_write_all(1, lines->data, lines->len))
        return pr_fail_errno(err, PR_E_IO, "stdout", "cannot write");
    return PR_OK;
}

int pr_job_log_print(struct pr_job_log *l, struct pr_err *err)
{
    int rc = l->text.len ? pr_job_log_write(&l->text, err) : PR_OK;

    if (rc)
        return rc;
    if (l->kept.len < KEPT_MAX) {
        pr_buf_add(&l->kept, l->text.data, l->text.len);
    } else if (!l->is_cut) {
        l->is_cut = true;
        pr_buf_str(&l->kept, "[WARNING] this log goes on in log.txt\n");
    }
    pr_buf_clear(&l->text);
    return pr_buf_ok(&l->kept) ? PR_OK : pr_fail_nomem(err);
}

int pr_job_log_save(const struct pr_job_log *l, const char *path,
                    struct pr_err *err)
{
    return pr_file_write_later(path, l->kept.data, l->kept.len, err);
}

/* ---- measures */

void pr_result_lines_init(struct pr_result_lines *k, struct pr_buf *lines)
{
    *k = (struct pr_result_lines){.lines = lines};
    k->at = &k->jb;
}

void pr_result_lines_init_object(struct pr_result_lines *k,
                                 struct pr_json_writer *jb)
{
    *k = (struct pr_result_lines){.at = jb};
}

const char *pr_result_lines_begin(struct pr_result_lines *k, const char *name)
{
    if (!k->lines)
        return name;
    pr_buf_printf(k->lines, "__results.%s__= ", name);
    pr_json_writer_init(&k->jb, k->lines, 0);
    return NULL;
}

void pr_result_lines_end(struct pr_result_lines *k)
{
    if (k->lines)
        pr_buf_char(k->lines, '\n');
}

void pr_result_lines_put_float(struct pr_result_lines *k, const char *name,
                               double f)
{
    if (!isfinite(f))
        return;
    pr_json_put_float(k->at, pr_result_lines_begin(k, name), f);
    pr_result_lines_end(k);
}

void pr_result_lines_put_uint(struct pr_result_lines *k, const char *name,
                              uint64_t u)
{
    pr_json_put_uint(k->at, pr_result_lines_begin(k, name), u);
    pr_result_lines_end(k);
}

void pr_result_lines_put_bool(struct pr_result_lines *k, const char *name,
                              bool b)
{
    pr_json_put_bool(k->at, pr_result_lines_begin(k, name), b);
    pr_result_lines_end(k);
}

void pr_result_lines_put_str(struct pr_result_lines *k, const char *name,
                             const char *s)
{
    if (!s)
        return;
    pr_json_put_str(k->at, pr_result_lines_begin(k, name), s);
    pr_result_lines_end(k);
}
