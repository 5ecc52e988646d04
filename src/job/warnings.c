/* Warnings as lines of the log. */
#include "job/warnings.h"

#include "base/json/json.h"

#include <string.h>

void pr_warnings_put(const struct pr_buf *lines, struct pr_buf *out)
{
    const char *at = lines->data, *end;

    while (lines->len && (end = strchr(at, '\n'))) {
        pr_buf_str(out, "__warning__= ");
        pr_json_write_string(out, at, (size_t)(end - at));
        pr_buf_char(out, '\n');
        at = end + 1;
    }
}
