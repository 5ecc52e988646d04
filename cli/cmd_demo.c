/* `prony demo`: the bundled sweep, from plan to report. */
#include "base/clock.h"
#include "cli/cli.h"

#include <string.h>

int cmd_demo(struct cli *c, struct pr_err *err)
{
    const char *target = "demo";
    const char *dir = arg_get(c, A_DEMO_DIR);
    struct cli run = *c;
    struct arg *args;
    char time[32];
    int rc;

    if (!dir)
        dir = pr_arena_printf(c->arena, "runs/demo.%s",
                              pr_time_name(time, pr_wall_clock_ns()));
    if (!dir)
        return pr_fail_nomem(err);
    args = PR_ARENA_ARRAY(c->arena, struct arg, c->arg_count + 1);
    if (!args)
        return pr_fail_nomem(err);
    if (c->arg_count)
        memcpy(args, c->args, c->arg_count * sizeof *args);
    args[c->arg_count] = (struct arg){.id = A_DIR, .value = dir};
    run.verb = verb_find("run");
    run.rest = &target;
    run.rest_count = 1;
    run.args = args;
    run.arg_count = c->arg_count + 1;
    say(SAY_INFO,
        "A sweep: three checksum programs, three sizes, nine "
        "experiments. The same as:\n  prony run demo -o %s\n\n",
        dir);
    rc = cmd_run(&run, err);
    c->signo = run.signo;
    if (rc)
        return rc;
    say(SAY_INFO,
        "\nWhat next:\n"
        "  prony plan demo                      what was run\n"
        "  prony report %s --format csv\n"
        "  prony run -P exp.command='\"sleep ${t}\"' -V t='[0.1, "
        "0.2]'\n"
        "  prony help                           all commands\n",
        dir);
    return PR_OK;
}
