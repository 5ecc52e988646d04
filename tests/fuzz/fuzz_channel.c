/*
 * The channel of a child: whatever the bytes, the reader must agree with
 * itself however they are cut into pieces, the names and values it hands out
 * must be UTF-8, and its rates must be JSON.
 */
#include "record/channel.h"

#include "base/json.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

static int remember(void *ctx, const char *key, size_t key_len,
                    const struct pr_value *value, struct pr_err *err)
{
    struct pr_buf *seen = ctx;

    (void)err;
    if (!key_len)
        abort();
    for (size_t i = 0; i < key_len;) {
        size_t n = pr_utf8_len(key + i, key_len - i);

        if (!n)
            abort();
        i += n;
    }
    pr_json_string(seen, key, key_len);
    pr_json_write(seen, value);
    return 0;
}

static struct pr_channel_sum scan(const uint8_t *data, size_t bytes,
                                  size_t piece, struct pr_buf *seen)
{
    struct pr_channel_scanner *s =
        pr_channel_scanner_new("fuzz", remember, seen);
    struct pr_channel_sum sum;
    int rc = 0;

    if (!s)
        abort();
    for (size_t i = 0; !rc && i < bytes; i += piece)
        rc = pr_channel_scanner_feed(s, (const char *)data + i,
                                     bytes - i < piece ? bytes - i : piece,
                                     NULL);
    if (!rc)
        rc = pr_channel_scanner_finish(s, &sum, NULL);
    if (rc)
        abort();
    pr_channel_scanner_free(s);
    return sum;
}

static void check_same(const struct pr_buf *a, const struct pr_buf *b)
{
    if (a->len != b->len || (a->len && memcmp(a->data, b->data, a->len)))
        abort();
}

static void check_json(const struct pr_buf *json)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_json_in in = {.text = json->data, .len = json->len, .name = ""};
    struct pr_value v;

    if (json->len && pr_json_read(&in, a, &v, NULL, NULL))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    PR_AUTO_BUF struct pr_buf whole = PR_BUF_INIT(1 << 24);
    PR_AUTO_BUF struct pr_buf parts = PR_BUF_INIT(1 << 24);
    struct pr_channel_sum a, b;

    a = scan(data, bytes, bytes ? bytes : 1, &whole);
    b = scan(data, bytes, bytes ? data[0] % 7 + 1 : 1, &parts);
    if (a.lines != b.lines || a.params != b.params || a.bad != b.bad ||
        a.machine != b.machine || a.first_bad_line != b.first_bad_line)
        abort();
    check_same(&whole, &parts);
    check_same(&a.rates, &b.rates);
    check_json(&a.rates);
    pr_buf_done(&a.rates);
    pr_buf_done(&b.rates);
    return 0;
}
