/* Showing and keeping DLIO's log. */
#include "job/emulate_log.h"

#include "base/file.h"

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
