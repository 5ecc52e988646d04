/*
 * Writing man(7): escaping, and a small markup for prose.
 *     # TITLE          a section
 *     = term           a tagged paragraph; its text follows
 *     four blanks      a line shown as it is
 *     `word`           bold
 * Paragraphs are separated by empty lines.
 */
#ifndef PR_CLI_DOCS_ROFF_H
#define PR_CLI_DOCS_ROFF_H

#include "base/buf.h"

/* Head and NAME section of a page: ("prony-run", "1", "run a plan"). */
void roff_head(struct pr_buf *out, const char *name, const char *section,
               const char *summary);
void roff_section(struct pr_buf *out, const char *title);

/* Text in the middle of a line, characters escaped. */
void roff_text(struct pr_buf *out, const char *s);
void roff_bold(struct pr_buf *out, const char *s);
void roff_italic(struct pr_buf *out, const char *s);

/* A paragraph's text: one line a sentence, `word` in bold. */
void roff_lines(struct pr_buf *out, const char *s, size_t len);
/* Lines as they are, until the end of s. */
void roff_verbatim(struct pr_buf *out, const char *s, size_t len);
void roff_prose(struct pr_buf *out, const char *s);

#endif
