/* `prony demo`: the bundled sweep, from plan to report. */
#include "base/clock.h"
#include "cli/targets.h"

int cmd_demo(struct cli *c, struct pr_err *err)
{
    const char *target = "demo";
    const char *dir = arg_get(c, A_DEMO_DIR);
    struct arg out = {.id = A_DIR};
    struct cli run = *c;
    char time[32];
    int rc;

    if (!dir)
        dir = pr_arena_printf(c->arena, "runs/demo.%s",
                              pr_time_name(time, pr_wall_clock_ns()));
    if (!dir)
        return pr_fail_nomem(err);
    out.value = dir;
    run.verb = verb_find("run");
    run.rest = &target;
    run.rest_count = 1;
    run.args = &out;
    run.arg_count = 1;
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
