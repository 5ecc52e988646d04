/* Gathering the warnings of a run, in one pass over its experiments. */
#include "present/report/run_warnings.h"

#include "analyse/run/run_data.h"
#include "base/mem.h"
#include "base/names.h"
#include "present/screen.h"

#include <string.h>

struct finder {
    struct pr_names *texts;
    struct {
        uint64_t experiments, last; /* last: which of them said it */
    } * said;                       /* by text; as many as max */
    uint32_t max;
    uint64_t more; /* different ones that were too many */
};

static int run_warnings_add(struct finder *f, uint64_t experiment,
                            const struct pr_value *v, struct pr_err *err)
{
    uint32_t name;

    if (v->kind != PR_STR)
        return PR_OK;
    name = pr_names_find(f->texts, v->s, v->len);
    if (name == PR_NO_NAME && pr_names_count(f->texts) == f->max) {
        f->more++;
        return PR_OK;
    }
    if (name == PR_NO_NAME)
        name = pr_names_add(f->texts, v->s, v->len);
    if (name == PR_NO_NAME)
        return pr_fail_nomem(err);
    f->said[name].experiments += f->said[name].last != experiment;
    f->said[name].last = experiment;
    return PR_OK;
}

static int run_warnings_read_all(struct finder *f, struct pr_run_data *d,
                                 struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
    struct pr_run_data_row row;
    uint64_t experiment = 0;
    int rc = a ? PR_OK : pr_fail_nomem(err);

    while (!rc && (rc = pr_run_data_next(d, a, &row, NULL, err)) == 1) {
        const struct pr_value *list =
            row.result ? pr_get(row.result, "warnings") : NULL;

        rc = PR_OK;
        experiment++;
        for (uint32_t i = 0;
             !rc && list && list->kind == PR_LIST && i < list->len; i++)
            rc = run_warnings_add(f, experiment, &list->items[i], err);
        pr_arena_reset(a);
    }
    return rc;
}

static void run_warnings_print(const struct finder *f, struct pr_buf *out)
{
    for (uint32_t i = 0; i < pr_names_count(f->texts); i++) {
        const char *text = pr_names_text(f->texts, i);

        pr_buf_str(out, "warning: ");
        pr_screen_clean(out, text, strlen(text));
        if (f->said[i].experiments > 1)
            pr_buf_printf(out, " (%llu experiments)",
                          (unsigned long long)f->said[i].experiments);
        pr_buf_char(out, '\n');
    }
    if (f->more)
        pr_buf_printf(out, "… and %llu more warnings, see result.json\n",
                      (unsigned long long)f->more);
}

int pr_run_warnings(const char *dir, uint32_t max, struct pr_buf *out,
                    struct pr_err *err)
{
    struct finder f = {.texts = pr_names_new(),
                       .said = pr_alloc_zeroed(max * sizeof *f.said),
                       .max = max};
    struct pr_run_data *d = NULL;
    int rc =
        f.texts && f.said ? pr_run_data_open(dir, &d, err) : pr_fail_nomem(err);

    if (!rc)
        rc = run_warnings_read_all(&f, d, err);
    if (!rc)
        run_warnings_print(&f, out);
    pr_run_data_close(d);
    pr_names_free(f.texts);
    pr_free(f.said);
    return rc;
}
