/* `prony capacity`: the most accelerators that a storage keeps busy. */
#include "base/units.h"
#include "cli/report_folder.h"
#include "cli/targets.h"
#include "present/report/report_capacity.h"
#include "study/capacity_search.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* What is searched for, by its first word that is no parameter. */
static const char *target_name(const struct cli *c)
{
    for (size_t i = 0; i < c->rest_count; i++)
        if (!strchr(c->rest[i], '='))
            return c->rest[i];
    return "";
}

/* ---- options */

static int arg_share(const struct cli *c, enum arg_id id, double *ret,
                     struct pr_err *err)
{
    const char *text = arg_get(c, id);

    *ret = 0;
    if (!text || (pr_parse_float(text, ret) && *ret > 0 && *ret <= 1))
        return PR_OK;
    return pr_fail(err, PR_E_USAGE, "",
                   "--%s wants a share above 0 and up to 1, such as 0.9, got "
                   "'%s'",
                   option_at(id)->name, text);
}

static int arg_count(const struct cli *c, enum arg_id id, long min,
                     uint64_t *ret, struct pr_err *err)
{
    long n;
    int rc = arg_number(c, id, min, 0, &n, err);

    *ret = (uint64_t)n;
    return rc;
}

static int capacity_read_options(const struct cli *c,
                                 struct pr_capacity_ask *ask,
                                 struct pr_err *err)
{
    int rc = arg_share(c, A_AU, &ask->threshold, err);

    if (!rc)
        rc = arg_share(c, A_CONFIDENCE, &ask->confidence, err);
    if (!rc)
        rc = arg_count(c, A_MIN, 1, &ask->min, err);
    if (!rc)
        rc = arg_count(c, A_MAX, 1, &ask->max, err);
    if (!rc)
        rc = arg_count(c, A_STEPS, 2, &ask->steps, err);
    if (!rc)
        rc = arg_count(c, A_REPEATS, 2, &ask->repeats, err);
    ask->target = target_name(c);
    ask->no_generate = arg_on(c, A_NO_GENERATE);
    return rc;
}

/* ---- doing it */

static int read_plan(struct cli *c, struct pr_plan **ret, struct pr_err *err)
{
    if (has_targets(c))
        return plan_from_args(c, ret, err);
    pr_fail(err, PR_E_USAGE, "", "nothing says whose capacity is meant");
    return pr_hint(err, "name a workload: prony capacity unet3d_h100 -d DIR; "
                        "'prony plan --list' shows the names");
}

/* A new search, or NULL. */
static const char *capacity_create_dir(struct cli *c, struct pr_err *err)
{
    const char *given = arg_get(c, A_CAPACITY_DIR), *dir;
    struct pr_capacity_ask ask = {0};
    struct pr_plan *p;
    int rc = capacity_read_options(c, &ask, err);

    if (!rc)
        rc = read_plan(c, &p, err);
    if (rc)
        return NULL;
    dir = given ? given : runs_dir(c, "-capacity", err);
    rc = dir ? pr_capacity_create(dir, p, &ask, err) : err->code;
    pr_plan_free(p);
    if (rc && dir && !given) {
        (void)rmdir(dir);
        (void)rmdir("runs"); /* if nothing else is in it */
    }
    return rc ? NULL : dir;
}

static int capacity_refuse_changes(const struct cli *c, struct pr_err *err)
{
    static const enum arg_id ids[] = {
        A_PARAM,      A_VARIABLE,    A_EXTENSION,   A_CONFIG,
        A_SET_FILE,   A_NAME,        A_REPEAT,      A_AU,
        A_CONFIDENCE, A_MIN,         A_MAX,         A_STEPS,
        A_REPEATS,    A_NO_GENERATE, A_NO_DEFAULTS, A_CAPACITY_DIR,
    };

    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        if (arg_get(c, ids[i]))
            return pr_fail(err, PR_E_USAGE, "",
                           "--resume goes on with the search as it was asked "
                           "for and takes no --%s",
                           option_at(ids[i])->name);
    if (c->rest_count)
        return pr_fail(err, PR_E_USAGE, "",
                       "--resume goes on with the target of its folder and "
                       "takes no '%s'",
                       c->rest[0]);
    return PR_OK;
}

static void capacity_print_line(void *ctx, const char *text)
{
    if (message_level() >= SAY_INFO)
        pr_live_message(ctx, text);
}

/* Whoever sits at a terminal is asked; a script is not. */
static bool capacity_ask_user(void *ctx, const char *question, int stop_fd)
{
    struct pollfd on[] = {{.fd = STDIN_FILENO, .events = POLLIN},
                          {.fd = stop_fd, .events = POLLIN}};
    char answer[64] = "", text[8192];
    ssize_t n = 0;

    snprintf(text, sizeof text, "%s; go on? [y/N]", question);
    pr_live_message(ctx, text);
    if (poll(on, 2, -1) > 0 && !on[1].revents)
        n = read(STDIN_FILENO, answer, sizeof answer - 1);
    return n > 0 && (answer[0] == 'y' || answer[0] == 'Y');
}

static int capacity_print_answer(struct cli *c, const char *dir,
                                 const struct pr_capacity_record *rec,
                                 struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(64 << 20);
    const char *format = arg_get(c, A_CAPACITY_FORMAT);
    struct pr_table_style style = {.width = stdout_width(),
                                   .colour = stdout_colour(c)};
    int rc =
        format && strcmp(format, "json") == 0
            ? pr_capacity_record_write(rec, &text, err)
            : pr_capacity_text(rec, dir, PR_TABLE_TEXT, &style, &text, err);

    return rc ? rc : answer_print_buf(&text, err);
}

int cmd_capacity(struct cli *c, struct pr_err *err)
{
    const char *dir = arg_get(c, A_CAPACITY_RESUME);
    struct pr_capacity_watch watch = {.say = capacity_print_line};
    struct pr_capacity_record rec;
    struct pr_err shown = {0};
    int rc = dir ? capacity_refuse_changes(c, err) : PR_OK;

    if (!rc)
        rc = set_data_root(c->arena, arg_get(c, A_CAPACITY_DATA), err);
    if (rc)
        return rc;
    if (!dir)
        dir = capacity_create_dir(c, err);
    if (!dir)
        return err->code;
    if (isatty(STDIN_FILENO) && isatty(STDERR_FILENO) && !arg_on(c, A_YES))
        watch.ask = capacity_ask_user;
    watch.live = live_new(c, "trials");
    watch.ctx = watch.live;
    rc = pr_capacity_run(dir, &watch, c->arena, &rec, &c->signo, err);
    pr_live_free(watch.live);
    if (rec.count && capacity_print_answer(c, dir, &rec, &shown) && !rc) {
        *err = shown;
        rc = shown.code;
    }
    if (rc && rc != PR_E_INTR && !rec.count && !arg_get(c, A_CAPACITY_RESUME) &&
        pr_capacity_remove_unused(dir))
        return rc;
    if (rc && rec.target)
        message_print(SAY_INFO, "go on with: prony capacity --resume %s\n",
                      dir);
    return rc;
}
