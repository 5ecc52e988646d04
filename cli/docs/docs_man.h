/* The man pages that are not of a verb; they leave SEE ALSO to man_page. */
#ifndef PR_CLI_DOCS_MAN_H
#define PR_CLI_DOCS_MAN_H

#include "cli/docs.h"

void man_prony(struct pr_buf *out);
void man_config(struct pr_buf *out);
void man_run_directory(struct pr_buf *out);
void man_options(struct pr_buf *out);

/* A section with the options of one group; v may be NULL: of all verbs. */
void man_option_group(struct pr_buf *out, const struct verb *v,
                      enum option_group g);

#endif
