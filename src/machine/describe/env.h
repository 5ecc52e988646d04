/*
 * The machine and the software a run happened on, as one JSON document
 * (env.json, schema prony.env/1): what somebody needs to judge a number or to
 * measure it again. A source that is missing or unreadable leaves its key out;
 * no child process is ever started.
 */
#ifndef PR_MACHINE_ENV_H
#define PR_MACHINE_ENV_H

#include "base/buf.h"
#include "base/err.h"

#include <stddef.h>

struct pr_machine_env_version {
    const char *name, *value; /* "libyaml", "0.2.5" */
};

struct pr_machine_env_opts {
    const char *version;  /* of Prony; NULL: left out */
    const char *revision; /* of Prony's sources; NULL: left out */
    const struct pr_machine_env_version *versions;
    size_t version_count;
    const char *const *paths; /* folders whose file systems matter */
    size_t path_count;

    /* For tests; NULL is the real thing. */
    const char *root;               /* put before /proc, /sys, /etc */
    const char *cwd;                /* where the user's git repository is */
    const char *const *environment; /* NULL-terminated "NAME=value" */
};

/* Appends the document, indented, with a line end. opts may be NULL. Fails
 * with PR_E_NOMEM alone, and then appends nothing. */
int pr_machine_env_capture(const struct pr_machine_env_opts *opts,
                           struct pr_buf *out,
                           struct pr_err *err) PR_MUST_CHECK;

#endif
