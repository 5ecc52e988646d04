/*
 * Logs: whatever the bytes, the scanner must agree with itself however they
 * are cut into pieces, and the keys and values it hands out must be UTF-8.
 */
#include "record/log.h"

#include "base/json/json.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

struct seen {
    struct pr_buf text;
};

static int remember(void *ctx, const char *key, size_t key_len,
                    const struct pr_value *value, struct pr_err *err)
{
    struct seen *s = ctx;

    (void)err;
    for (size_t i = 0; i < key_len;) {
        size_t n = pr_utf8_len(key + i, key_len - i);
        if (!n)
            abort();
        i += n;
    }
    pr_json_write_string(&s->text, key, key_len);
    pr_json_write(&s->text, value);
    return 0;
}

static void scan(const uint8_t *data, size_t bytes, size_t piece,
                 struct seen *seen, struct pr_log_counts *counts)
{
    struct pr_log_scanner *s = pr_log_scanner_new("fuzz", remember, seen);
    int rc = 0;

    if (!s)
        abort();
    for (size_t i = 0; !rc && i < bytes; i += piece)
        rc = pr_log_scanner_feed(s, (const char *)data + i,
                                 bytes - i < piece ? bytes - i : piece, NULL);
    if (!rc)
        rc = pr_log_scanner_finish(s, counts, NULL);
    if (rc)
        abort();
    pr_log_scanner_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct seen whole = {PR_BUF_INIT(1 << 24)};
    struct seen parts = {PR_BUF_INIT(1 << 24)};
    struct pr_log_counts a, b;

    scan(data, bytes, bytes ? bytes : 1, &whole, &a);
    scan(data, bytes, bytes ? data[0] % 7 + 1 : 1, &parts, &b);
    if (a.lines != b.lines || a.params != b.params || a.bad != b.bad ||
        a.first_bad_line != b.first_bad_line ||
        whole.text.len != parts.text.len ||
        (whole.text.len &&
         memcmp(whole.text.data, parts.text.data, whole.text.len)))
        abort();
    pr_buf_free(&whole.text);
    pr_buf_free(&parts.text);
    return 0;
}
