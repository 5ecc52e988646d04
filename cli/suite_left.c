/* A suite of a run that was stopped, or still goes on: its report says so. */
#include "cli/suite_report.h"

#include "analyse/columns.h"
#include "base/arena.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

void suite_say_left(const struct pr_suite *s)
{
    PR_AUTO_ARENA struct pr_arena *a = NULL;
    char path[4096], text[128];
    struct pr_columns found = {0};
    struct pr_err err = {0};

    if (s->kind != PR_SUITE_RESULTS && s->kind != PR_SUITE_RUN)
        return;
    if ((size_t)snprintf(path, sizeof path, "%s/plan.json", s->path) >=
            sizeof path ||
        access(path, R_OK))
        return; /* milarun's own folder: nobody knows what was planned */
    a = pr_arena_new(65536);
    if (!a || pr_columns_find(s->path, a, &found, &err) ||
        !found.without_result)
        return;
    snprintf(text, sizeof text,
             "%" PRIu64 " of %" PRIu64 " experiments have no result yet",
             found.without_result, found.experiments);
    say_warning(s->path, text,
                "'prony run --resume DIR' goes on with a run "
                "that was stopped");
}
