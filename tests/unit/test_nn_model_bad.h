/* Definitions of models that are wrong, in tables: what is said, and where. */
#ifndef TESTS_UNIT_TEST_NN_MODEL_BAD_H
#define TESTS_UNIT_TEST_NN_MODEL_BAD_H

#include "nn/model/model_impl.h"

#include "brief.h"
#include "values.h"

struct row {
    const char *text; /* after the head */
    const char *where, *msg, *hint;
};

/* Lines 1 to 3. */
#define HEAD "model: m\ninput: [2, 8, 8]\nclasses: 3\n"
#define LAYERS "layers:\n" /* line 4; the first layer is on line 5 */

static inline void check(const char *text, const struct pr_value *opts,
                         const struct row *r)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_model_variant how = {.values = opts};
    struct pr_model *m = NULL;
    struct pr_err err = {0};
    int rc = pr_model_parse(text, strlen(text), "f", &how, a, &m, &err);

    if (!rc)
        fail_msg("accepted:\n%s", text);
    assert_null(m);
    assert_int_equal(rc, err.code);
    if (rc != PR_E_CONF || strcmp(err.where, r->where) ||
        strcmp(err.msg, r->msg) || strcmp(err.hint, r->hint ? r->hint : ""))
        fail_msg("%s\ngives %s: %s (%s)\nwant  %s: %s (%s)", text, err.where,
                 err.msg, err.hint, r->where, r->msg, r->hint ? r->hint : "");
    /* Also without a struct for the words. */
    assert_int_equal(pr_model_parse(text, strlen(text), "f", &how, a, &m, NULL),
                     PR_E_CONF);
}

static inline void check_rows(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);

        check(pr_arena_printf(a, HEAD "%s", rows[i].text), NULL, &rows[i]);
    }
}
#define CHECK(rows) check_rows(rows, sizeof rows / sizeof *rows)

#endif
