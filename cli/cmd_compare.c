/* `prony compare`: faster, slower, or the same? */
#include "analyse/compare/compare.h"
#include "cli/report_folder.h"
#include "cli/results_args.h"
#include "present/report/report_compare.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* "5%" or "0.05", above low and below high. */
static int get_share(const struct cli *c, enum arg_id id, double low,
                     double high, double *ret, struct pr_err *err)
{
    const char *text = arg_get(c, id);
    char *end;
    double v;

    if (!text)
        return PR_OK;
    v = strtod(text, &end);
    if (end != text && *end == '%') {
        v /= 100;
        end++;
    }
    if (end == text || *end || !(v >= low && v < high)) {
        pr_fail(err, PR_E_USAGE, "", "--%s wants a share, not '%s'",
                option_at(id)->name, text);
        return pr_hint(err, "for example 5%% or 0.05; from %g to below %g", low,
                       high);
    }
    *ret = v;
    return PR_OK;
}

static int get_opts(const struct cli *c, struct pr_compare_opts *o,
                    struct pr_err *err)
{
    int rc;

    *o = (struct pr_compare_opts){.least = 0.01,
                                  .skip_first = arg_on(c, A_SKIP_FIRST)};
    rc = get_share(c, A_COMPARE_CONFIDENCE, 0.5, 1, &o->confidence, err);
    if (!rc)
        rc = get_share(c, A_LEAST, 0, 1, &o->least, err);
    if (!rc)
        rc = get_share(c, A_SAME, 1e-6, 1, &o->margin, err);
    return rc ? rc : get_share(c, A_NOISE, 1e-6, 1, &o->between_runs, err);
}

static int get_measures(const struct cli *c, struct pr_compare_read_opts *how,
                        struct pr_err *err)
{
    const char *text = arg_get(c, A_MEASURE);
    size_t n;

    *how = (struct pr_compare_read_opts){0};
    if (!text)
        return PR_OK;
    how->all_measures = strcmp(text, "all") == 0;
    how->measures = results_args_split_names(c->arena, text, &n);
    return how->measures ? PR_OK : pr_fail_nomem(err);
}

/* Every --fail-if, one after another. */
static int get_rules(const struct cli *c, struct pr_compare_show *show,
                     struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf all = PR_BUF_INIT(1 << 16);
    struct pr_compare_rule *rules = NULL;
    int rc;

    for (size_t i = 0; i < c->arg_count; i++)
        if (c->args[i].id == A_FAIL_IF)
            pr_buf_printf(&all, "%s%s", all.len ? "," : "", c->args[i].value);
    if (!pr_buf_ok(&all))
        return pr_fail_nomem(err);
    if (!all.len)
        return PR_OK;
    rc = pr_compare_parse_rules(all.data, c->arena, &rules, &show->rule_count,
                                err);
    show->rules = rules;
    return rc;
}

static int check_sets(const struct pr_compare_set *sets, size_t count,
                      struct pr_err *err)
{
    for (size_t i = 0; i < count; i++) {
        const struct pr_compare_set *s = &sets[i];

        if (s->unreadable)
            message_print(SAY_WARNING,
                          "warning: %s: %" PRIu64 " of its files cannot be "
                          "read, the first: %s: %s\n",
                          s->label, s->unreadable, s->note.where, s->note.msg);
        if (s->count)
            continue;
        pr_fail(err, PR_E_FORMAT, s->label, "there is nothing to compare");
        return s->results
                   ? pr_hint(err, "its results have none of these figures; "
                                  "'prony parse' shows what they have")
                   : pr_hint(err, "no results were found in there");
    }
    return PR_OK;
}

/* Says which rows break a rule. */
static int compare_check_rules(const struct pr_compare *c,
                               const struct pr_compare_show *show,
                               struct pr_err *err)
{
    const struct pr_compare_row *first = NULL;
    size_t broken = 0;

    for (size_t i = 0; i < c->count; i++) {
        const struct pr_compare_pair *p = &c->pairs[i];

        for (size_t k = 0; k < p->count + p->has_all; k++) {
            const struct pr_compare_row *r =
                k < p->count ? &p->rows[k] : &p->all;

            if (!pr_compare_is_rule_broken(r, show->rules, show->rule_count))
                continue;
            first = first ? first : r;
            broken++;
        }
    }
    if (!broken)
        return PR_OK;
    return pr_fail(err, PR_E_THRESHOLD, "--fail-if",
                   broken > 1 ? "'%s' is %s, and %zu more" : "'%s' is %s",
                   first->name,
                   first->failed_b > first->failed_a
                       ? "failing"
                       : pr_compare_verdict_word(first->verdict),
                   broken - 1);
}

static int show_it(struct cli *c, const struct pr_compare *found,
                   const struct pr_compare_show *rules, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT((size_t)1 << 31);
    struct pr_table_style style = {.width = stdout_width(),
                                   .colour = stdout_colour(c)};
    const char *format = arg_get(c, A_COMPARE_FORMAT);
    struct pr_compare_show show = *rules;
    int rc;

    show.format = report_format(format ? format : "text");
    show.style = &style;
    show.all_notes = arg_on(c, A_VERBOSE);
    rc = pr_compare_report(found, &show, &text, err);
    if (!rc)
        rc = answer_print_buf(&text, err);
    return rc ? rc : compare_check_rules(found, &show, err);
}

int cmd_compare(struct cli *c, struct pr_err *err)
{
    struct pr_compare_set *sets =
        PR_ARENA_ARRAY(c->arena, struct pr_compare_set, c->rest_count + 1);
    struct pr_compare_show show = {0};
    struct pr_compare_opts o;
    struct pr_compare_read_opts how;
    struct pr_compare found;
    int rc = sets ? PR_OK : pr_fail_nomem(err);

    if (!rc && c->rest_count < 2) {
        pr_fail(err, PR_E_USAGE, "", "compare wants two runs or more");
        return pr_hint(err, "'prony compare runs/before runs/after'");
    }
    if (!rc)
        rc = get_opts(c, &o, err);
    if (!rc)
        rc = get_measures(c, &how, err);
    if (!rc)
        rc = get_rules(c, &show, err);
    if (!rc)
        rc = pr_compare_read_sets(c->rest, c->rest_count, &how, c->arena, sets,
                                  err);
    if (!rc)
        rc = check_sets(sets, c->rest_count, err);
    if (!rc)
        rc = pr_compare_sets(sets, c->rest_count, &o, c->arena, &found, err);
    if (!rc)
        rc = show_it(c, &found, &show, err);
    for (size_t i = 0; !rc && i < c->rest_count; i++)
        if (sets[i].cut) {
            *err = sets[i].note;
            rc = pr_hint(err, "what could be read of it is compared");
        }
    return rc;
}
