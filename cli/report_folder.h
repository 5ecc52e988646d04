/* What verbs that show or watch a run share. */
#ifndef PR_CLI_REPORT_FOLDER_H
#define PR_CLI_REPORT_FOLDER_H

#include "cli/cli.h"
#include "present/live.h"
#include "present/table/table.h"

#include <stdint.h>

/* A table of a run directory on stdout; format: text, json, csv, md. At most
 * max_rows rows of text (0: all); after them the verdicts on emulated
 * experiments. */
int report_table(struct cli *c, const char *dir, const char *format,
                 uint64_t max_rows, struct pr_err *err) PR_MUST_CHECK;

/* The whole report of a folder, on stdout: a run directory, the folder of one
 * of its experiments, or a folder of DLIO's results. */
int report_folder(struct cli *c, const char *dir, const char *format,
                  struct pr_err *err) PR_MUST_CHECK;

/* The document of `run --format json` on stdout. */
int report_run_json(const char *dir, struct pr_err *err) PR_MUST_CHECK;

/* PR_E_THRESHOLD: an experiment of a run directory, the experiment of a folder,
 * or a search for the capacity missed its target. */
int report_strict(struct cli *c, const char *dir,
                  struct pr_err *err) PR_MUST_CHECK;

/* Whether a file or folder of that name is in dir. */
bool folder_has_file(const char *dir, const char *name);

/* text, json, csv or md. */
enum pr_table_format report_format(const char *name);

/* A live line on stderr as the options ask. NULL: out of memory. */
struct pr_live_line *live_new(const struct cli *c, const char *unit);

#endif
