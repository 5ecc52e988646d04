/* Values written as JSON in the tables of tests, and back. */
#ifndef TESTS_UNIT_VALUES_H
#define TESTS_UNIT_VALUES_H

#include "base/json/json.h"

#include "torture.h"

#include <string.h>

/* In the arena; the test fails on what is no JSON. */
static inline struct pr_value json(struct pr_arena *a, const char *text)
{
    struct pr_json_in in = {.text = text, .len = strlen(text), .name = "test"};
    struct pr_value v = {0};
    struct pr_err err = {0};

    if (pr_json_read(&in, a, &v, NULL, &err))
        fail_msg("%s: %s", text, err.msg);
    return v;
}

static inline const char *json_text(struct pr_arena *a,
                                    const struct pr_value *v)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 24);

    pr_json_write(&out, v);
    assert_true(pr_buf_ok(&out));
    return pr_arena_copy(a, out.data, out.len);
}

#endif
