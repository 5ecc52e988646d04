/* Lines of events.ndjson: what is read can be written and read again. */
#include "record/event.h"

#include <stdlib.h>
#include <string.h>

static void must(bool ok)
{
    if (!ok)
        abort();
}

static bool same_text(const char *a, const char *b)
{
    /* An empty reason is not written. */
    a = a ? a : "";
    b = b ? b : "";
    return strcmp(a, b) == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT((size_t)1 << 24);
    struct pr_event e, again;
    struct pr_err err = {0};
    int rc = pr_event_read((const char *)data, bytes, a, &e, &err);

    must(rc == 0 || rc == 1 || (rc == PR_E_FORMAT && err.msg[0]));
    if (rc != 1)
        return 0;
    pr_event_write(&e, &out);
    must(pr_buf_ok(&out) && out.data[out.len - 1] == '\n');
    must(!memchr(out.data, '\n', out.len - 1));
    must(pr_event_read(out.data, out.len, a, &again, NULL) == 1);
    must(again.kind == e.kind && same_text(again.reason, e.reason));
    must(same_text(again.id, e.id));
    must(again.done == e.done && again.total == e.total);
    return 0;
}
