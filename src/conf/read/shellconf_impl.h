/* A place in a shell config, and what can stand there. */
#ifndef PR_CONF_SHELLCONF_IMPL_H
#define PR_CONF_SHELLCONF_IMPL_H

#include "conf/read/shellconf.h"

#include <limits.h>
#include <stdlib.h>

struct pr_shell_reader {
    struct pr_shell_config *conf;
    const struct pr_shell_opts *opts;
    const char *name; /* of the file */
    const char *p, *end;
    unsigned line;
    const struct pr_shell_reader *outer; /* that sources this one */
    int depth;
    unsigned *files; /* read so far */
    bool no_memory;
    char whole[PATH_MAX]; /* real path of the file; or "" */
};

/* Skips blanks and, with lines, ends of lines; and comments. */
void pr_shell_skip_space(struct pr_shell_reader *r, bool lines);

/* Letters, digits and _, in the arena; NULL: none here, or no_memory. */
const char *pr_shell_read_name(struct pr_shell_reader *r);

/* A word and the blanks around it. */
bool pr_shell_expect(struct pr_shell_reader *r, const char *word);

/* No word begins here. */
bool pr_shell_is_at_blank(const struct pr_shell_reader *r);

/* [KEY]= in a map. */
int pr_shell_read_key(struct pr_shell_reader *r, const char **ret,
                      struct pr_err *err) PR_MUST_CHECK;

/* One word: quoted, bare, or both in one; ${NAME} is replaced. */
int pr_shell_read_word(struct pr_shell_reader *r, const char **ret,
                       struct pr_err *err) PR_MUST_CHECK;

#endif
