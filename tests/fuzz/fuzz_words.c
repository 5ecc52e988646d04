/*
 * Splitting text into arguments: words are never longer in all than the text,
 * and a word quoted by us comes back as it was.
 */
#include "base/buf.h"
#include "conf/read/literal.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void must(bool ok)
{
    if (!ok)
        abort();
}

static void quote(struct pr_buf *out, const char *word)
{
    pr_buf_char(out, '"');
    for (; *word; word++) {
        if (*word == '"' || *word == '\\')
            pr_buf_char(out, '\\');
        pr_buf_char(out, *word);
    }
    pr_buf_str(out, "\" ");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT((size_t)1 << 24);
    PR_AUTO_BUF struct pr_buf quoted = PR_BUF_INIT((size_t)1 << 24);
    const char **words, **again;
    size_t n, m, sum = 0;
    struct pr_err err = {0};
    int rc;

    pr_buf_add(&text, data, bytes);
    rc = pr_words_split(text.data, a, &words, &n, &err);
    if (rc) {
        must(rc == PR_E_CONF && err.msg[0]);
        return 0;
    }
    must(!words[n]);
    for (size_t i = 0; i < n; i++) {
        sum += strlen(words[i]);
        quote(&quoted, words[i]);
    }
    must(sum <= strlen(text.data));
    must(pr_words_split(quoted.data ? quoted.data : "", a, &again, &m, NULL) ==
         PR_OK);
    must(m == n);
    for (size_t i = 0; i < n; i++)
        must(strcmp(words[i], again[i]) == 0);
    return 0;
}
