/* Text that can stand anywhere in HTML, also in quoted attributes. */
#ifndef PR_PRESENT_HTML_PAGE_H
#define PR_PRESENT_HTML_PAGE_H

#include "base/buf.h"

/* Appends text that is clean (present/screen.h): marks escaped, and what
 * Unicode reserves as no character replaced. */
void pr_html_escape(struct pr_buf *out, const char *s, size_t len);

#endif
