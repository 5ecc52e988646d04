/* What an emulated training leaves: metric lines, and DLIO's log and files. */
#include "base/file.h"
#include "base/units.h"
#include "emulate/dlio/emulate_dlio.h"
#include "emulate/emulate_notes.h"
#include "emulate/emulate_outputs.h"
#include "emulate/emulate_result.h"
#include "emulate/emulate_session_impl.h"

#include <stdio.h>

static bool emulate_session_has_measures(const struct pr_emulate_session *s);

static int session_write_files(struct pr_emulate_session *s, const char *folder,
                               struct pr_err *err)
{
    char path[4096];
    int rc = PR_OK;

    if (emulate_session_has_measures(s))
        rc = pr_dlio_write_files(&s->e, &s->stats, folder, err);
    if (rc)
        return rc;
    snprintf(path, sizeof path, "%s/%s", folder, s->e.output.log_file);
    return pr_job_log_save(&s->log, path, err);
}

/* Whether there is more to it than making data. */
static bool emulate_session_has_measures(const struct pr_emulate_session *s)
{
    return s->e.workflow.train || s->e.workflow.checkpoint;
}

/* What there is to say when data was made and nothing else. */
static void put_generated(const struct pr_emulate_session *s,
                          struct pr_buf *out)
{
    double seconds = s->stats.generated_s;
    uint64_t bytes = s->stats.generated_bytes;
    char size[16];

    pr_buf_printf(out, "__results.generated_bytes__= %llu\n",
                  (unsigned long long)bytes);
    pr_buf_printf(out, "__results.generated_files__= %llu\n",
                  (unsigned long long)pr_dataset_files(&s->e.set));
    pr_buf_printf(out, "__results.generate_s__= %.6f\n", seconds);
    if (bytes && seconds > 0)
        pr_buf_printf(out, "__results.generate_mb_per_second__= %.1f\n",
                      (double)bytes / 1e6 / seconds);
    pr_buf_printf(out, "__results.verdict__= \"%s %s\"\n",
                  bytes ? "data was made:" : "the data was there already:",
                  bytes ? pr_format_bytes(size, bytes) : "nothing was written");
}

/* Figures go to the log first: a disk that is full must not cost them. */
static int session_write_results(struct pr_emulate_session *s,
                                 struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(64 << 20);

    if (emulate_session_has_measures(s))
        pr_emulate_write_results(&s->e, &s->stats, &out);
    else
        put_generated(s, &out);
    pr_warnings_put_lines(&s->notes, &out);
    return pr_job_log_write(&out, err);
}

int pr_emulate_session_report(struct pr_emulate_session *s, struct pr_err *err)
{
    int rc;

    pr_warnings_add_steps(&s->e, &s->stats, &s->notes);
    pr_warnings_put_dlio_log(&s->notes, &s->log.text);
    if (emulate_session_has_measures(s))
        pr_dlio_log_end(&s->e, &s->stats, &s->log.text);
    rc = pr_job_log_print(&s->log, err);
    if (!rc)
        rc = session_write_results(s, err);
    if (!rc)
        rc = session_write_files(s, s->e.job->dir, err);
    if (!rc && *s->e.folder)
        rc = session_write_files(s, s->e.folder, err);
    if (!rc && *s->e.folder && !s->hangs && emulate_session_has_measures(s))
        rc = pr_emulate_watch_copy_files(&s->watch, s->e.folder, err);
    return rc ? rc : pr_emulate_outputs_settle(&s->e, err);
}

void pr_emulate_session_report_part(struct pr_emulate_session *s,
                                    const struct pr_err *why)
{
    if (s->in_phase)
        pr_emulate_stats_drop_last(&s->stats);
    if (!s->stats.first && !s->stats.checkpoints.first)
        return;
    pr_buf_printf(&s->notes,
                  "it ended early, only %s that were finished count: %s%s%s\n",
                  s->e.workflow.train ? "epochs" : "checkpoints", why->where,
                  *why->where ? ": " : "", why->msg);
    (void)!pr_emulate_session_report(s, NULL);
}
