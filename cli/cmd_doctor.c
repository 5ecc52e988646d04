/* `prony doctor`: what this machine and this build have and lack. */
#include "base/json/json.h"
#include "base/json/json_write.h"
#include "base/units.h"
#include "cli/doctor.h"
#include "cli/report.h"
#include "machine/describe/sysinfo.h"
#include "present/table/table.h"
#include "run/session.h"
#include "study/harness.h"

#include <stdlib.h>
#include <string.h>

enum { HARNESS_RUNS = 100 };

void doctor_found(struct doctor *d, const char *what, bool good,
                  const char *detail, const char *remedy)
{
    if (d->count < DOCTOR_MOST)
        d->items[d->count++] = (struct finding){what, good ? "ok" : "missing",
                                                detail ? detail : "",
                                                good || !remedy ? "" : remedy};
}

void doctor_extra(struct doctor *d, const char *what, bool there,
                  const char *detail, const char *remedy)
{
    size_t i = d->count;

    doctor_found(d, what, there, detail, remedy);
    if (!there && d->count > i)
        d->items[i].state = "absent";
}

static int measure_harness(struct doctor *d, struct pr_err *err)
{
    const char *temp = getenv("TMPDIR");
    char text[24];
    int rc = pr_harness_measure_cost(temp && *temp ? temp : "/tmp",
                                     HARNESS_RUNS, &d->harness_s, err);

    if (rc == PR_E_INTR)
        return rc;
    doctor_found(d, "cost of the harness", !rc,
                 rc ? pr_arena_str(d->arena, err->msg)
                    : pr_arena_printf(d->arena, "%s for each experiment",
                                      pr_format_seconds(text, d->harness_s)),
                 "set TMPDIR to a folder that can be written");
    return PR_OK;
}

static int print_text(struct cli *c, const struct doctor *d, struct pr_err *err)
{
    static const struct pr_table_column cols[] = {
        {.title = "what"},
        {.title = "state", .kind = PR_COL_STATUS},
        {.title = "detail"},
        {.title = "remedy"},
    };
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 20);
    struct pr_table_style style = {.width = stdout_width(),
                                   .colour = stdout_colour(c)};
    struct pr_table *t = pr_table_new(cols, 4);
    int rc;

    if (!t)
        return pr_fail_nomem(err);
    for (size_t i = 0; i < d->count; i++) {
        const struct finding *f = &d->items[i];
        pr_table_row(t);
        pr_table_set_str(t, 0, f->what);
        pr_table_set_str(t, 1, f->state);
        pr_table_set_str(t, 2, f->detail);
        pr_table_set_str(t, 3, f->remedy);
    }
    rc = pr_table_print(t, PR_TABLE_TEXT, &style, &text, err);
    pr_table_free(t);
    return rc ? rc : answer_print_buf(&text, err);
}

static void put_findings(struct pr_json_writer *jb, const struct doctor *d)
{
    pr_json_open_array(jb, "checks");
    for (size_t i = 0; i < d->count; i++) {
        pr_json_open_object(jb, NULL);
        pr_json_put_str(jb, "what", d->items[i].what);
        pr_json_put_str(jb, "state", d->items[i].state);
        pr_json_put_str(jb, "detail", d->items[i].detail);
        pr_json_put_str(jb, "remedy", d->items[i].remedy);
        pr_json_close(jb);
    }
    pr_json_close(jb);
}

static int doctor_print_json(const struct doctor *d, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(64 << 20);
    PR_AUTO_BUF struct pr_buf env = PR_BUF_INIT(16 << 20);
    struct pr_json_in in = {.name = "env.json"};
    struct pr_value v;
    struct pr_json_writer jb;
    int rc = pr_session_env(".", &env, err);

    in.text = env.data;
    in.len = env.len;
    if (!rc)
        rc = pr_json_read(&in, d->arena, &v, NULL, err);
    if (rc)
        return rc;
    pr_json_writer_init(&jb, &text, 2);
    pr_json_open_object(&jb, NULL);
    pr_json_put_str(&jb, "schema", "prony.doctor/1");
    pr_json_put_float(&jb, "harness_s", d->harness_s);
    put_findings(&jb, d);
    pr_json_put_value(&jb, "env", &v);
    pr_json_open_object(&jb, "sys_info");
    pr_machine_sysinfo_write(&jb);
    pr_json_close(&jb);
    pr_json_close(&jb);
    pr_buf_char(&text, '\n');
    return answer_print_buf(&text, err);
}

/* What DLBS's sysinfo prints. */
static int print_sys_info(struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(64 << 20);
    struct pr_json_writer jb;

    pr_json_writer_init(&jb, &text, 2);
    pr_json_open_object(&jb, NULL);
    pr_machine_sysinfo_write(&jb);
    pr_json_close(&jb);
    pr_buf_char(&text, '\n');
    return answer_print_buf(&text, err);
}

int cmd_doctor(struct cli *c, struct pr_err *err)
{
    const char *format = arg_get(c, A_DOCTOR_FORMAT);
    struct doctor d = {.arena = c->arena};
    int rc;

    if (arg_on(c, A_SYS_INFO))
        return print_sys_info(err);
    doctor_build(&d);
    doctor_machine(&d);
    doctor_slots(&d);
    doctor_sensors(&d);
    rc = measure_harness(&d, err);
    if (rc)
        return rc;
    if (format && strcmp(format, "json") == 0)
        return doctor_print_json(&d, err);
    return print_text(c, &d, err);
}
