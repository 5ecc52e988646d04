/*
 * Folders of DLIO's results: the input is one JSON object whose members are
 * the files. Whatever their shapes, reading and reporting come to an end.
 */
#include "analyse/results/read_dlio.h"
#include "base/file.h"
#include "base/json/json.h"
#include "present/report/report_dlio.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const names[] = {"summary.json",  "0_output.json",
                                    "1_output.json", "per_epoch_stats.json",
                                    "iostat.json",   "params.json"};
static char folder[] = "/tmp/prony-fuzz-dlio.XXXXXX";

static void must(bool ok)
{
    if (!ok)
        abort();
}

static void path_of(const char *name, char out[static 128])
{
    snprintf(out, 128, "%s/%s", folder, name);
}

static void remove_folder(void)
{
    char path[128];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        path_of(names[i], path);
        (void)unlink(path);
    }
    (void)rmdir(folder);
}

/* Files that are no members are away. */
static void put_files(const struct pr_value *files)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 24);
        const struct pr_value *v = pr_get(files, names[i]);
        char path[128];
        FILE *f;

        path_of(names[i], path);
        (void)unlink(path);
        if (!v)
            continue;
        pr_json_write(&text, v);
        f = fopen(path, "w");
        must(f && pr_buf_ok(&text) &&
             fwrite(text.data, 1, text.len, f) == text.len && !fclose(f));
    }
}

static void report(const struct pr_dlio_run *run)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 28);
    struct pr_err err;
    struct pr_json_writer jb;

    pr_dlio_report_text(run, &out);
    must(!pr_dlio_phase_table(run, PR_TABLE_TEXT, NULL, &out, &err));
    must(!pr_dlio_rank_table(run, PR_TABLE_CSV, NULL, &out, &err));
    pr_json_writer_init(&jb, &out, 1);
    pr_json_open_object(&jb, NULL);
    pr_dlio_report_json(run, &jb);
    pr_json_close(&jb);
    must(pr_buf_ok(&out));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_json_in in = {
        .text = (const char *)data, .len = bytes, .name = "fuzz"};
    struct pr_dlio_opts opts = {0};
    struct pr_dlio_run run;
    struct pr_value files;
    struct pr_err err = {0};
    static bool made;
    int rc;

    if (pr_json_read(&in, a, &files, NULL, &err))
        return 0;
    if (!made) {
        must(mkdtemp(folder) != NULL);
        made = true;
        atexit(remove_folder);
    }
    put_files(&files);
    rc = pr_dlio_read(folder, &opts, a, &run, &err);
    must(rc == PR_OK || ((rc == PR_E_IO || rc == PR_E_FORMAT) && err.msg[0]));
    if (!rc)
        report(&run);
    return 0;
}
