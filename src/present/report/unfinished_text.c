/* What a report says of a run that has not come to its end. */
#include "present/report/unfinished_text.h"

static void unfinished_print_names(const struct pr_run_unfinished *u,
                                   struct pr_buf *out)
{
    const char *gap = "";

    for (size_t i = 0; i < u->name_count; i++) {
        pr_buf_printf(out, "%s%s", gap, u->names[i]);
        gap = ", ";
    }
    if (u->begun > u->name_count)
        pr_buf_str(out, ", …");
}

void pr_unfinished_text(const struct pr_run_unfinished *u, struct pr_buf *out)
{
    pr_buf_printf(out, "%llu of %llu experiments %s missing",
                  (unsigned long long)u->missing, (unsigned long long)u->total,
                  u->missing == 1 ? "is" : "are");
    if (u->begun) {
        pr_buf_printf(out, "; %llu ha%s begun: ", (unsigned long long)u->begun,
                      !u->running     ? "d"
                      : u->begun == 1 ? "s"
                                      : "ve");
        unfinished_print_names(u, out);
    }
}

/* "finished", "running", "interrupted". */
static const char *unfinished_word(const struct pr_run_unfinished *u)
{
    return !u->missing && !u->running ? "finished"
           : u->running               ? "running"
                                      : "interrupted";
}

void pr_unfinished_json(const struct pr_run_unfinished *u,
                        struct pr_json_writer *jb, const char *key)
{
    pr_json_open_object(jb, key);
    pr_json_put_str(jb, "state", unfinished_word(u));
    pr_json_put_uint(jb, "experiments", u->total);
    pr_json_put_uint(jb, "missing", u->missing);
    pr_json_put_uint(jb, "begun", u->begun);
    pr_json_close(jb);
}
