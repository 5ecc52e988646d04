/*
 * The channel of a child: whatever the bytes, the reader must agree with
 * itself however they are cut into pieces, the names and values it hands out
 * must be UTF-8, and its rates must be JSON. What the live line shows of it is
 * text that fits.
 */
#include "record/channel.h"

#include "base/file.h"
#include "base/json/json.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void check_utf8(const char *s, size_t len)
{
    for (size_t i = 0; i < len;) {
        size_t n = pr_utf8_len(s + i, len - i);

        if (!n)
            abort();
        i += n;
    }
}

static int remember(void *ctx, const char *key, size_t key_len,
                    const struct pr_value *value, struct pr_err *err)
{
    struct pr_buf *seen = ctx;

    (void)err;
    if (!key_len)
        abort();
    check_utf8(key, key_len);
    pr_json_write_string(seen, key, key_len);
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

/* The file is made anew for each input, in memory. */
static void check_progress(const uint8_t *data, size_t bytes)
{
    char path[32], words[160] = "";
    int fd = memfd_create("channel", 0);
    double done = -1;

    if (fd < 0 || !pr_write_all(fd, data, bytes))
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (pr_channel_progress(path, &done, words) &&
        (!*words || !memchr(words, '\0', sizeof words) || !(done <= 1)))
        abort();
    check_utf8(words, strlen(words));
    close(fd);
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
    check_progress(data, bytes);
    pr_buf_free(&a.rates);
    pr_buf_free(&b.rates);
    return 0;
}
