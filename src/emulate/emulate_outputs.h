/*
 * output.folder is a place of the user's: what lies there under the name of one
 * of DLIO's files and was not written by us stays. FOLDER/.prony-output.json
 * tells: it has the names, and how each file looked when we had written it. A
 * name without that is ours while a run is under way, or was killed.
 */
#ifndef PR_EMULATE_OUTPUTS_H
#define PR_EMULATE_OUTPUTS_H

#include "emulate/emulate.h"

/* PR_E_CONF names a file that would be replaced and is not ours. */
int pr_emulate_outputs_check(const struct pr_emulate *e,
                             struct pr_err *err) PR_MUST_CHECK;

/* Makes the folder, checks it, and says which names are ours from now on. */
int pr_emulate_outputs_claim(const struct pr_emulate *e,
                             struct pr_err *err) PR_MUST_CHECK;

/* After the files were written; with run.fsync they outlive a power cut. */
int pr_emulate_outputs_settle(const struct pr_emulate *e,
                              struct pr_err *err) PR_MUST_CHECK;

#endif
