/* What a plan needs and this machine lacks, for people and programs. */
#include "cli/validation.h"

#include "base/json/json_write.h"
#include "present/screen.h"
#include "run/validate/validate.h"

#include <string.h>

typedef unsigned long long ull;

/* ---- for people */

/* Whom it concerns, in brackets. */
static void validation_write_concerned(const struct pr_validation *v,
                                       const struct pr_requirement *l,
                                       struct pr_buf *out)
{
    uint64_t active = v->experiments - v->off;

    if (l->count == 1)
        pr_buf_printf(out, " (%s)", l->first);
    else if (l->count == active)
        pr_buf_printf(out, " (all %llu experiments)", (ull)l->count);
    else
        pr_buf_printf(out, " (%llu experiments, the first is %s)",
                      (ull)l->count, l->first);
}

static void validation_write_requirement(const struct pr_validation *v,
                                         const struct pr_requirement *l,
                                         struct pr_buf *out)
{
    pr_buf_printf(out, "%-10s ", pr_requirement_kind_word(l->kind));
    pr_screen_clean(out, l->what, strlen(l->what));
    validation_write_concerned(v, l, out);
    pr_buf_str(out, l->stops ? "\n" : "; a run is not refused for it\n");
    if (!*l->remedy)
        return;
    pr_buf_printf(out, "%-10s ", "");
    pr_screen_clean(out, l->remedy, strlen(l->remedy));
    pr_buf_char(out, '\n');
}

static void validation_write_requirements(const struct pr_validation *v,
                                          bool stops_alone, struct pr_buf *out)
{
    for (size_t i = 0; i < v->count; i++)
        if (v->lacks[i].stops || !stops_alone)
            validation_write_requirement(v, &v->lacks[i], out);
    if (v->more)
        pr_buf_printf(out, "… and %llu more\n", (ull)v->more);
}

static int validation_print_text(const struct pr_validation *v,
                                 struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(16 << 20);
    ull active = v->experiments - v->off;

    validation_write_requirements(v, false, &text);
    if (v->count)
        return answer_print_buf(&text, err);
    pr_buf_printf(&text, "nothing is missing: %llu experiment%s can be run",
                  active, active == 1 ? "" : "s");
    if (v->off)
        pr_buf_printf(&text, "; %llu more %s switched off", (ull)v->off,
                      v->off == 1 ? "is" : "are");
    pr_buf_char(&text, '\n');
    return answer_print_buf(&text, err);
}

/* ---- for programs */

static void validation_write_json(const struct pr_validation *v,
                                  struct pr_json_writer *jb)
{
    pr_json_put_uint(jb, "experiments", v->experiments);
    pr_json_put_uint(jb, "switched_off", v->off);
    pr_json_put_uint(jb, "concerned", v->concerned);
    pr_json_open_array(jb, "lacks");
    for (size_t i = 0; i < v->count; i++) {
        const struct pr_requirement *l = &v->lacks[i];

        pr_json_open_object(jb, NULL);
        pr_json_put_str(jb, "kind", pr_requirement_kind_word(l->kind));
        pr_json_put_str(jb, "what", l->what);
        pr_json_put_str(jb, "remedy", l->remedy);
        pr_json_put_bool(jb, "stops", l->stops);
        pr_json_put_uint(jb, "experiments", l->count);
        pr_json_put_str(jb, "first", l->first);
        pr_json_close(jb);
    }
    pr_json_close(jb);
    if (v->more)
        pr_json_put_uint(jb, "more", v->more);
    if (!v->warnings.first)
        return;
    pr_json_open_array(jb, "warnings");
    for (const struct pr_warning *w = v->warnings.first; w; w = w->next) {
        pr_json_open_object(jb, NULL);
        pr_json_put_str(jb, "where", w->where);
        pr_json_put_str(jb, "what", w->text);
        pr_json_put_str(jb, "remedy", w->remedy);
        pr_json_close(jb);
    }
    pr_json_close(jb);
}

static int validation_print_json(const struct pr_validation *v,
                                 struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(16 << 20);
    struct pr_json_writer jb;

    pr_json_writer_init(&jb, &text, 2);
    pr_json_open_object(&jb, NULL);
    pr_json_put_str(&jb, "schema", "prony.validation/1");
    pr_json_put_bool(&jb, "ok", !v->count);
    validation_write_json(v, &jb);
    pr_json_close(&jb);
    pr_buf_char(&text, '\n');
    return answer_print_buf(&text, err);
}

/* As any error in JSON, with the list. */
static int refuse_json(const struct pr_validation *v, const struct pr_err *why,
                       struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(16 << 20);
    struct pr_json_writer jb;

    pr_json_writer_init(&jb, &text, 2);
    pr_json_open_object(&jb, NULL);
    pr_json_put_str(&jb, "schema", "prony.error/1");
    pr_json_put_str(&jb, "error", why->msg);
    pr_json_put_str(&jb, "where", why->where);
    pr_json_put_str(&jb, "hint", why->hint);
    pr_json_put_int(&jb, "exit_status", pr_code_exit_status(why->code));
    validation_write_json(v, &jb);
    pr_json_close(&jb);
    pr_buf_char(&text, '\n');
    return answer_print_buf(&text, err);
}

/* ---- the two places it is asked for */

static void validation_print_params(const struct pr_validation *v)
{
    for (const struct pr_warning *w = v->warnings.first; w; w = w->next)
        message_print_warning(w->where, w->text, w->remedy);
}

int validation_show(const struct pr_validation *v, bool json,
                    struct pr_err *err)
{
    int rc;

    validation_print_params(v);
    rc = json ? validation_print_json(v, err) : validation_print_text(v, err);

    return rc ? rc : pr_validation_error(v, false, err);
}

static void validation_print_warnings(const struct pr_validation *v)
{
    for (size_t i = 0; i < v->count; i++) {
        const struct pr_requirement *l = &v->lacks[i];
        PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 16);

        if (l->stops)
            continue;
        pr_buf_str(&text, l->what);
        validation_write_concerned(v, l, &text);
        if (pr_buf_ok(&text))
            message_print_warning("", text.data, l->remedy);
    }
}

int validation_refuse(const struct pr_validation *v, bool json,
                      struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(16 << 20);
    struct pr_err why = {0};
    int rc = pr_validation_error(v, true, &why);

    validation_print_params(v);
    validation_print_warnings(v);
    if (!rc)
        return PR_OK;
    if (!*why.where) { /* several */
        validation_write_requirements(v, true, &text);
        if (pr_buf_ok(&text))
            message_print_text(SAY_CRITICAL, text.data);
        pr_hint(&why, "'prony plan --validate' shows this list, "
                      "--no-validation runs all the same");
    }
    *err = why;
    return json && refuse_json(v, &why, err) ? err->code : rc;
}
