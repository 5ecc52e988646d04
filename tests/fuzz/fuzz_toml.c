/*
 * TOML: no input may crash, leak or take long; what is accepted is a map that
 * can be written as JSON and read back.
 */
#include "base/json/json.h"
#include "conf/read/toml.h"

#include <stdlib.h>
#include <string.h>

static void must(bool ok)
{
    if (!ok)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1024);
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT((size_t)1 << 24);
    struct pr_value v, again;
    struct pr_err err = {0};
    char *text = malloc(bytes + 1);
    int rc;

    must(text != NULL);
    if (bytes)
        memcpy(text, data, bytes);
    text[bytes] = '\0';
    (void)pr_toml_is_likely(text);
    rc = pr_toml_read(text, bytes, "in", a, &v, &err);
    must(rc == err.code);
    if (rc) {
        must(rc == PR_E_FORMAT && err.msg[0] && err.where[0]);
    } else {
        must(v.kind == PR_MAP);
        pr_json_write(&out, &v);
        must(pr_buf_ok(&out));
        struct pr_json_in in = {out.data, out.len, "json", 0, 0};
        must(pr_json_read(&in, a, &again, NULL, NULL) == PR_OK);
    }
    free(text);
    return 0;
}
