/*
 * milarun's options as argparse reads them: unambiguous beginnings of a name,
 * --name=value, the last one counts, every flag has its --no-flag and both
 * together are refused; an error is said with the usage and ends with 2.
 */
#include "compat/milarun/milarun.h"
#include "conf/read/literal.h"

#include <stdio.h>
#include <string.h>

enum kind { VALUE, FLAG, MANY };

struct row {
    enum milarun_opt id;
    const char *name;
    char letter;
    enum kind kind;
    const char *takes; /* in the usage */
    const char *help;
};

static const struct row rows[M_OPTS] = {
    {M_OUT, "--out", 'o', VALUE, "VALUE", "where results go"},
    {M_DATAROOT, "--dataroot", 'd', VALUE, "PATH",
     "folder of data sets (default: $MILARUN_DATAROOT)"},
    {M_NAME, "--experiment-name", 0, VALUE, "VALUE",
     "name of the experiment in its result"},
    {M_JOB_ID, "--job-id", 0, VALUE, "VALUE",
     "repeat, or repeat and device, of the result"},
    {M_EXTRA, "--extra", 0, VALUE, "VALUE", "JSON, more keys for the result"},
    {M_REPEAT, "--repeat", 0, VALUE, "NUM", "how often all jobs are run"},
    {M_CGEXEC, "--cgexec", 0, FLAG, "",
     "keep jobs apart by control groups (the default)"},
    {M_DOWNLOAD, "--download", 0, FLAG, "", "of no effect"},
    {M_JOBS, "--name", 0, MANY, "VALUE", "only these jobs"},
    {M_COMPARE, "--compare", 0, VALUE, "VALUE", "results to compare with"},
    {M_WEIGHTS, "--weights", 0, VALUE, "VALUE", "weights for the score"},
    {M_HTML, "--html", 0, VALUE, "VALUE", "HTML file to write"},
    {M_COMPARE_GPUS, "--compare-gpus", 0, FLAG, "",
     "compare the GPUs with each other"},
    {M_PENALIZE, "--penalize-variance", 0, FLAG, "",
     "take the standard deviation off the performance"},
    {M_PRICE, "--price", 0, VALUE, "NUM", "price, for price by score"},
    {M_TITLE, "--title", 0, VALUE, "VALUE", "title of the report"},
};

#define HAS(id) (1u << (id))

static const struct {
    const char *name, *takes, *help;
    bool many; /* words */
    unsigned has;
} verbs[] = {
    [V_DATASET] = {"dataset", "NAME", "make data sets", true, HAS(M_DATAROOT)},
    [V_RUN] = {"run", "FUNCTION", "run one experiment", false,
               HAS(M_OUT) | HAS(M_DATAROOT) | HAS(M_NAME) | HAS(M_JOB_ID) |
                   HAS(M_EXTRA)},
    [V_RERUN] = {"rerun", "JOB", "run the experiment of a result again", false,
                 HAS(M_OUT)},
    [V_JOBS] = {"jobs", "JOBS", "run the jobs of a profile", false,
                HAS(M_OUT) | HAS(M_DATAROOT) | HAS(M_REPEAT) | HAS(M_CGEXEC) |
                    HAS(M_DOWNLOAD) | HAS(M_JOBS)},
    [V_SUMMARY] = {"summary", "REPORTS", "results as one JSON", false,
                   HAS(M_OUT)},
    [V_REPORT] = {"report", "REPORTS", "tables and score of results", false,
                  HAS(M_COMPARE) | HAS(M_WEIGHTS) | HAS(M_HTML) |
                      HAS(M_COMPARE_GPUS) | HAS(M_PENALIZE) | HAS(M_PRICE) |
                      HAS(M_TITLE)},
};

enum { VERBS = sizeof verbs / sizeof *verbs };

/* ---- words */

static void put_usage(struct pr_buf *out, int verb)
{
    if (verb < 0) {
        pr_buf_str(out, "usage: milarun [-h] "
                        "{dataset,run,rerun,jobs,summary,report} ...\n");
        return;
    }
    pr_buf_printf(out, "usage: milarun %s [-h]", verbs[verb].name);
    for (int i = 0; i < M_OPTS; i++) {
        if (!(verbs[verb].has & HAS(i)))
            continue;
        if (rows[i].kind == FLAG)
            pr_buf_printf(out, " [%s | --no-%s]", rows[i].name,
                          rows[i].name + 2);
        else
            pr_buf_printf(out, " [%s %s%s]", rows[i].name, rows[i].takes,
                          rows[i].kind == MANY ? " [VALUE ...]" : "");
    }
    pr_buf_printf(out, " %s%s\n", verbs[verb].takes,
                  verbs[verb].many ? " [NAME ...]" : "");
}

static void say_help(int verb)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 16);

    put_usage(&out, verb);
    if (verb < 0) {
        pr_buf_str(&out, "\ncommands:\n");
        for (int i = 0; i < VERBS; i++)
            pr_buf_printf(&out, "  %-10s%s\n", verbs[i].name, verbs[i].help);
    } else {
        pr_buf_printf(&out, "\n%s\n\noptions:\n  -h, --help\n",
                      verbs[verb].help);
        for (int i = 0; i < M_OPTS; i++)
            if (verbs[verb].has & HAS(i))
                pr_buf_printf(&out, "  %s%s%s%s\n      %s\n", rows[i].name,
                              *rows[i].takes ? " " : "", rows[i].takes,
                              rows[i].letter == 'o'   ? ", -o VALUE"
                              : rows[i].letter == 'd' ? ", -d PATH"
                                                      : "",
                              rows[i].help);
    }
    (void)!answer_print_buf(&out, NULL);
}

static int milarun_fail_usage(int verb, bool of_all, const char *fmt,
                              const char *a, const char *b)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 16);

    put_usage(&out, of_all ? -1 : verb);
    pr_buf_printf(&out, "milarun%s%s: error: ", of_all || verb < 0 ? "" : " ",
                  of_all || verb < 0 ? "" : verbs[verb].name);
    /* fmt is one of the few in this file */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    pr_buf_printf(&out, fmt, a, b);
#pragma GCC diagnostic pop
    pr_buf_char(&out, '\n');
    message_print_text(SAY_CRITICAL, out.data ? out.data : "milarun: error\n");
    return 2;
}

/* ---- reading */

struct reader {
    struct pr_arena *a;
    struct milarun_args *ret;
    int argc, at;
    char **argv;
    struct pr_buf unknown;
};

/* Whether word (n characters of it) is a name, "no-" in front or not. */
static int milarun_match_option(const struct reader *r, const char *word,
                                size_t n, bool *ret_no, const char **ret_second)
{
    int found = -1;

    *ret_second = NULL;
    for (int i = 0; i < 2 * M_OPTS; i++) {
        const struct row *row = &rows[i % M_OPTS];
        char name[64];
        bool no = i >= M_OPTS;

        if (!(verbs[r->ret->verb].has & HAS(row->id)) ||
            (no && row->kind != FLAG))
            continue;
        snprintf(name, sizeof name, "--%s%s", no ? "no-" : "", row->name + 2);
        if (strncmp(name, word, n) != 0)
            continue;
        if (!name[n]) { /* all of it: no other counts */
            *ret_no = no;
            *ret_second = NULL;
            return i % M_OPTS;
        }
        if (found >= 0)
            *ret_second = row->name;
        found = i % M_OPTS;
        *ret_no = no;
    }
    return found;
}

static int milarun_read_switch(struct reader *r, const struct row *row, bool no)
{
    char own[64], other[64];
    signed char now = no ? -1 : 1;

    snprintf(own, sizeof own, "--%s%s", no ? "no-" : "", row->name + 2);
    snprintf(other, sizeof other, "--%s%s", no ? "" : "no-", row->name + 2);
    if (r->ret->flag[row->id] && r->ret->flag[row->id] != now)
        return milarun_fail_usage((int)r->ret->verb, false,
                                  "argument %s: not allowed with argument %s",
                                  own, other);
    r->ret->flag[row->id] = now;
    return 0;
}

static const char *milarun_option_text(const struct row *row,
                                       char out[static 64])
{
    if (row->letter)
        snprintf(out, 64, "%s/-%c", row->name, row->letter);
    else
        snprintf(out, 64, "%s", row->name);
    return out;
}

static int milarun_read_job_names(struct reader *r, const struct row *row)
{
    const char **jobs = PR_ARENA_ARRAY(r->a, const char *, r->argc + 1);
    size_t n = 0;

    while (jobs && r->at < r->argc && !pr_word_is_option(r->argv[r->at]))
        jobs[n++] = r->argv[r->at++];
    if (!n)
        return milarun_fail_usage(
            (int)r->ret->verb, false,
            "argument %s: expected at least one argument%s", row->name, "");
    r->ret->jobs = jobs;
    r->ret->job_count = n;
    return 0;
}

static int milarun_read_option(struct reader *r, const struct row *row, bool no,
                               const char *value)
{
    char name[64];

    if (row->kind == FLAG && value)
        return milarun_fail_usage((int)r->ret->verb, false,
                                  "argument %s: ignored explicit argument '%s'",
                                  row->name, value);
    if (row->kind == FLAG)
        return milarun_read_switch(r, row, no);
    if (row->kind == MANY && !value)
        return milarun_read_job_names(r, row);
    if (!value && r->at < r->argc && !pr_word_is_option(r->argv[r->at]))
        value = r->argv[r->at++];
    if (!value)
        return milarun_fail_usage((int)r->ret->verb, false,
                                  "argument %s: expected one argument%s",
                                  milarun_option_text(row, name), "");
    if (row->kind == MANY) {
        r->ret->jobs = PR_ARENA_ARRAY(r->a, const char *, 1);
        if (r->ret->jobs)
            r->ret->jobs[0] = value;
        r->ret->job_count = r->ret->jobs != NULL;
    }
    r->ret->value[row->id] = value;
    return 0;
}

static int milarun_read_long_option(struct reader *r, char *word)
{
    char *eq = strchr(word, '=');
    size_t n = eq ? (size_t)(eq - word) : strlen(word);
    const char *second;
    bool no = false;
    int i = milarun_match_option(r, word, n, &no, &second);

    if (second)
        return milarun_fail_usage(
            (int)r->ret->verb, false,
            "ambiguous option: %s could match several, %s one of them", word,
            second);
    if (i < 0) {
        pr_buf_printf(&r->unknown, " %s", word);
        return 0;
    }
    return milarun_read_option(r, &rows[i], no, eq ? eq + 1 : NULL);
}

static int milarun_read_short_option(struct reader *r, char *word)
{
    for (int i = 0; i < M_OPTS; i++)
        if (rows[i].letter == word[1] &&
            verbs[r->ret->verb].has & HAS(rows[i].id))
            return milarun_read_option(r, &rows[i], false,
                                       word[2] == '=' ? word + 3
                                       : word[2]      ? word + 2
                                                      : NULL);
    pr_buf_printf(&r->unknown, " %s", word);
    return 0;
}

static int milarun_read_words(struct reader *r)
{
    bool all = verbs[r->ret->verb].many;

    while (r->at < r->argc) {
        char *word = r->argv[r->at++];
        int rc = 0;

        if (strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0) {
            say_help((int)r->ret->verb);
            return 1;
        }
        if (strncmp(word, "--", 2) == 0)
            rc = milarun_read_long_option(r, word);
        else if (pr_word_is_option(word))
            rc = milarun_read_short_option(r, word);
        else if (all || !r->ret->word_count)
            r->ret->words[r->ret->word_count++] = word;
        else
            pr_buf_printf(&r->unknown, " %s", word);
        if (rc)
            return rc;
    }
    if (!r->ret->word_count)
        return milarun_fail_usage((int)r->ret->verb, false,
                                  "the following arguments are required: %s%s",
                                  verbs[r->ret->verb].takes, "");
    if (r->unknown.len)
        return milarun_fail_usage((int)r->ret->verb, true,
                                  "unrecognized arguments:%s%s",
                                  r->unknown.data, "");
    return 0;
}

static int find_verb(const char *name)
{
    for (int i = 0; i < VERBS; i++)
        if (strcmp(verbs[i].name, name) == 0)
            return i;
    return -1;
}

int milarun_args_read(struct pr_arena *a, int argc, char **argv,
                      struct milarun_args *ret)
{
    struct reader r = {.a = a,
                       .ret = ret,
                       .argc = argc,
                       .argv = argv,
                       .unknown = PR_BUF_INIT(1 << 16)};
    int verb, rc;

    *ret = (struct milarun_args){.words =
                                     PR_ARENA_ARRAY(a, const char *, argc + 1)};
    for (int i = 0; i < argc; i++)
        if (strcmp(argv[i], "--") == 0) {
            ret->tail = argv + i + 1;
            ret->tail_count = argc - i - 1;
            r.argc = i;
            break;
        }
    if (!r.argc || !ret->words) {
        say_help(-1);
        return 3;
    }
    if (strcmp(argv[0], "-h") == 0 || strcmp(argv[0], "--help") == 0) {
        say_help(-1);
        return 1;
    }
    verb = find_verb(argv[0]);
    if (verb < 0)
        return milarun_fail_usage(
            -1, true,
            "invalid choice: '%s' (choose from 'dataset', 'run', "
            "'rerun', 'jobs', 'summary', 'report')%s",
            argv[0], "");
    ret->verb = (enum milarun_verb)verb;
    r.at = 1;
    rc = milarun_read_words(&r);
    pr_buf_free(&r.unknown);
    return rc;
}
