/* Options of verbs that read results. */
#include "cli/bench_args.h"

#include <string.h>

const char **results_args_split_names(struct pr_arena *a, const char *text,
                                      size_t *ret_count)
{
    const char **list = NULL;
    size_t count = 0, cap = 0;

    for (;;) {
        size_t n;

        text += strspn(text, " \t,");
        n = strcspn(text, ",");
        list = pr_arena_grow(a, list, count, &cap, sizeof *list);
        if (!list)
            return NULL;
        list[count] = NULL;
        if (!n)
            break;
        while (n && (text[n - 1] == ' ' || text[n - 1] == '\t'))
            n--;
        list[count] = pr_arena_copy(a, text, n);
        if (!list[count++])
            return NULL;
        text += strcspn(text, ",");
    }
    *ret_count = count;
    return list;
}

static int results_args_add_filter(struct results_args *a, struct pr_query *q,
                                   enum pr_query_policy policy,
                                   struct pr_err *err)
{
    if (a->filter_count == RESULTS_MAX_FILTERS) {
        pr_query_free(q);
        return pr_fail(err, PR_E_USAGE, "", "more than %d queries",
                       RESULTS_MAX_FILTERS);
    }
    a->queries[a->filter_count] = q;
    a->filters[a->filter_count++] = (struct pr_results_filter){q, policy};
    return PR_OK;
}

/* --filter-params a,b: all must be there. */
static int results_args_add_params(const struct cli *c, struct results_args *a,
                                   const char *text, struct pr_err *err)
{
    struct pr_value *list = PR_ARENA_NEW(c->arena, struct pr_value);
    struct pr_query *q;
    size_t n;
    const char **names = results_args_split_names(c->arena, text, &n);
    struct pr_value *items =
        names ? PR_ARENA_ARRAY(c->arena, struct pr_value, n) : NULL;
    int rc;

    if (!list || !items)
        return pr_fail_nomem(err);
    for (size_t i = 0; i < n; i++)
        items[i] = pr_str(names[i]);
    *list =
        (struct pr_value){.kind = PR_LIST, .len = (uint32_t)n, .items = items};
    rc = pr_query_new(list, "--filter-params", &q, err);
    return rc ? rc : results_args_add_filter(a, q, PR_QUERY_STRICT, err);
}

int results_args_init(const struct cli *c, struct results_args *a,
                      struct pr_err *err)
{
    int rc = PR_OK;

    *a = (struct results_args){0};
    for (size_t i = 0; !rc && i < c->arg_count; i++) {
        enum arg_id id = c->args[i].id;
        const char *value = c->args[i].value;
        struct pr_query *q;

        if (id == A_FILTER_PARAMS)
            rc = results_args_add_params(c, a, value, err);
        if (id != A_QUERY && id != A_SELECT && id != A_FILTER_QUERY)
            continue;
        rc = pr_results_parse_query(value,
                                    id == A_QUERY    ? "--query"
                                    : id == A_SELECT ? "--select"
                                                     : "--filter-query",
                                    c->arena, &q, err);
        /* DLBS's log parser lets what lacks a name pass. */
        if (!rc)
            rc = results_args_add_filter(
                a, q, id == A_FILTER_QUERY ? PR_QUERY_RELAXED : PR_QUERY_STRICT,
                err);
    }
    if (rc)
        results_args_close(a);
    return rc;
}

void results_args_close(struct results_args *a)
{
    for (size_t i = 0; i < a->filter_count; i++)
        pr_query_free(a->queries[i]);
    a->filter_count = 0;
}

static void print_results_warnings(const struct pr_results_counts *n)
{
    for (size_t i = 0; i < n->note_count; i++)
        if (!n->damaged || strcmp(n->notes[i].msg, n->damage.msg) != 0)
            message_print_warning(n->notes[i].where, n->notes[i].msg,
                                  n->notes[i].hint);
    if (n->bad_lines > 1)
        message_print(SAY_WARNING,
                      "warning: %llu lines had unreadable values\n",
                      (unsigned long long)n->bad_lines);
    if (n->long_lines)
        message_print(SAY_WARNING,
                      "warning: %llu lines of more than 8 MiB were skipped\n",
                      (unsigned long long)n->long_lines);
    if (n->dropped)
        message_print(SAY_WARNING,
                      "warning: %llu values were too many or too large for "
                      "a result, and left out\n",
                      (unsigned long long)n->dropped);
    if (n->underived > 1)
        message_print(
            SAY_WARNING,
            "warning: %llu results lack what a parameter to add refers to\n",
            (unsigned long long)n->underived);
    if (n->unreadable > 1)
        message_print(SAY_WARNING,
                      "warning: %llu of %llu files could not be read, or "
                      "not whole\n",
                      (unsigned long long)n->unreadable,
                      (unsigned long long)n->files);
}

int results_args_opts(const struct cli *c, const struct results_args *a,
                      const char *const *names, struct pr_results_opts *ret,
                      struct pr_err *err)
{
    struct pr_results_opts o = {
        .recursive = arg_on(c, A_RECURSIVE),
        .run_only = !a->unfinished,
        .filters = a->filters,
        .filter_count = a->filter_count,
        .names = names,
    };
    long threads = 0;
    int rc = arg_number(c, A_READ_THREADS, 1, 0, &threads, err);

    if (rc)
        return rc;
    o.threads = (unsigned)threads;
    while (names && names[o.name_count])
        o.name_count++;
    *ret = o;
    return PR_OK;
}

void results_args_warn(const struct cli *c, const struct pr_results *set)
{
    if (!arg_on(c, A_IGNORE_ERRORS))
        print_results_warnings(pr_results_get_counts(set));
    if (pr_results_get_counts(set)->missing)
        message_print(
            SAY_WARNING,
            "warning: %llu experiments of runs have no result yet, and are "
            "left out\n",
            (unsigned long long)pr_results_get_counts(set)->missing);
    else if (!pr_results_get_counts(set)->files)
        message_print_warning(
            "", "there is nothing to read in these folders",
            "folders inside folders are read with --recursive");
}

int results_args_check_whole(const struct cli *c, const struct pr_results *set,
                             struct pr_err *err)
{
    const struct pr_results_counts *n = pr_results_get_counts(set);

    if (!n->damaged || arg_on(c, A_IGNORE_ERRORS))
        return PR_OK;
    *err = n->damage;
    return pr_hint(err, "what could be read is in the answer; "
                        "--ignore-errors takes that for all of it");
}

int results_args_read(const struct cli *c, const struct results_args *a,
                      const char *const *inputs, size_t count,
                      const char *const *names, struct pr_results **ret,
                      struct pr_err *err)
{
    struct pr_results_opts o;
    int rc = results_args_opts(c, a, names, &o, err);

    return rc ? rc : pr_results_read(inputs, count, &o, ret, err);
}
