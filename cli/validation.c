/* What a plan needs and this machine lacks, for people and programs. */
#include "cli/validation.h"

#include "base/json_build.h"
#include "present/screen.h"
#include "run/validate.h"

#include <string.h>

typedef unsigned long long ull;

/* ---- for people */

/* Whom it concerns, in brackets. */
static void put_whom(const struct pr_validation *v, const struct pr_lack *l,
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

static void put_lack(const struct pr_validation *v, const struct pr_lack *l,
                     struct pr_buf *out)
{
    pr_buf_printf(out, "%-10s ", pr_lack_kind_word(l->kind));
    pr_screen_clean(out, l->what, strlen(l->what));
    put_whom(v, l, out);
    pr_buf_str(out, l->stops ? "\n" : "; a run is not refused for it\n");
    if (!*l->remedy)
        return;
    pr_buf_printf(out, "%-10s ", "");
    pr_screen_clean(out, l->remedy, strlen(l->remedy));
    pr_buf_char(out, '\n');
}

static void put_lacks(const struct pr_validation *v, bool stops_alone,
                      struct pr_buf *out)
{
    for (size_t i = 0; i < v->count; i++)
        if (v->lacks[i].stops || !stops_alone)
            put_lack(v, &v->lacks[i], out);
    if (v->more)
        pr_buf_printf(out, "… and %llu more\n", (ull)v->more);
}

static int show_text(const struct pr_validation *v, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(16 << 20);
    ull active = v->experiments - v->off;

    put_lacks(v, false, &text);
    if (v->count)
        return answer_buf(&text, err);
    pr_buf_printf(&text, "nothing is missing: %llu experiment%s can be run",
                  active, active == 1 ? "" : "s");
    if (v->off)
        pr_buf_printf(&text, "; %llu more %s switched off", (ull)v->off,
                      v->off == 1 ? "is" : "are");
    pr_buf_char(&text, '\n');
    return answer_buf(&text, err);
}

/* ---- for programs */

static void put_json(const struct pr_validation *v, struct pr_jb *jb)
{
    pr_jb_uint(jb, "experiments", v->experiments);
    pr_jb_uint(jb, "switched_off", v->off);
    pr_jb_uint(jb, "concerned", v->concerned);
    pr_jb_arr(jb, "lacks");
    for (size_t i = 0; i < v->count; i++) {
        const struct pr_lack *l = &v->lacks[i];

        pr_jb_obj(jb, NULL);
        pr_jb_str(jb, "kind", pr_lack_kind_word(l->kind));
        pr_jb_str(jb, "what", l->what);
        pr_jb_str(jb, "remedy", l->remedy);
        pr_jb_bool(jb, "stops", l->stops);
        pr_jb_uint(jb, "experiments", l->count);
        pr_jb_str(jb, "first", l->first);
        pr_jb_end(jb);
    }
    pr_jb_end(jb);
    if (v->more)
        pr_jb_uint(jb, "more", v->more);
    if (!v->warnings.first)
        return;
    pr_jb_arr(jb, "warnings");
    for (const struct pr_warning *w = v->warnings.first; w; w = w->next) {
        pr_jb_obj(jb, NULL);
        pr_jb_str(jb, "where", w->where);
        pr_jb_str(jb, "what", w->text);
        pr_jb_str(jb, "remedy", w->remedy);
        pr_jb_end(jb);
    }
    pr_jb_end(jb);
}

static int show_json(const struct pr_validation *v, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(16 << 20);
    struct pr_jb jb;

    pr_jb_init(&jb, &text, 2);
    pr_jb_obj(&jb, NULL);
    pr_jb_str(&jb, "schema", "prony.validation/1");
    pr_jb_bool(&jb, "ok", !v->count);
    put_json(v, &jb);
    pr_jb_end(&jb);
    pr_buf_char(&text, '\n');
    return answer_buf(&text, err);
}

/* As any error in JSON, with the list. */
static int refuse_json(const struct pr_validation *v, const struct pr_err *why,
                       struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(16 << 20);
    struct pr_jb jb;

    pr_jb_init(&jb, &text, 2);
    pr_jb_obj(&jb, NULL);
    pr_jb_str(&jb, "schema", "prony.error/1");
    pr_jb_str(&jb, "error", why->msg);
    pr_jb_str(&jb, "where", why->where);
    pr_jb_str(&jb, "hint", why->hint);
    pr_jb_int(&jb, "exit_status", pr_code_exit_status(why->code));
    put_json(v, &jb);
    pr_jb_end(&jb);
    pr_buf_char(&text, '\n');
    return answer_buf(&text, err);
}

/* ---- the two places it is asked for */

static void warn_of_params(const struct pr_validation *v)
{
    for (const struct pr_warning *w = v->warnings.first; w; w = w->next)
        say_warning(w->where, w->text, w->remedy);
}

int validation_show(const struct pr_validation *v, bool json,
                    struct pr_err *err)
{
    int rc;

    warn_of_params(v);
    rc = json ? show_json(v, err) : show_text(v, err);

    return rc ? rc : pr_validation_error(v, false, err);
}

static void warn(const struct pr_validation *v)
{
    for (size_t i = 0; i < v->count; i++) {
        const struct pr_lack *l = &v->lacks[i];
        PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 16);

        if (l->stops)
            continue;
        pr_buf_str(&text, l->what);
        put_whom(v, l, &text);
        if (pr_buf_ok(&text))
            say_warning("", text.data, l->remedy);
    }
}

int validation_refuse(const struct pr_validation *v, bool json,
                      struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(16 << 20);
    struct pr_err why = {0};
    int rc = pr_validation_error(v, true, &why);

    warn_of_params(v);
    warn(v);
    if (!rc)
        return PR_OK;
    if (!*why.where) { /* several */
        put_lacks(v, true, &text);
        if (pr_buf_ok(&text))
            say_text(SAY_CRITICAL, text.data);
        pr_hint(&why, "'prony plan --validate' shows this list, "
                      "--no-validation runs all the same");
    }
    *err = why;
    return json && refuse_json(v, &why, err) ? err->code : rc;
}
