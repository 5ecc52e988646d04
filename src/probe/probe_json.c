/* The result as benchy writes it: one line, keys in its order. What it does
 * not know comes after. */
#include "base/err.h"
#include "base/file.h"
#include "base/value.h"
#include "probe/probe_impl.h"

#include <string.h>

static void probe_write_list(struct pr_buf *out, const double *x, size_t n)
{
    pr_buf_char(out, '[');
    for (size_t i = 0; i < n; i++) {
        if (i)
            pr_buf_str(out, ", ");
        pr_float_write_repr(out, x[i]);
    }
    pr_buf_char(out, ']');
}

static void probe_write_rates(struct pr_buf *out,
                              const struct pr_probe_record *r, bool own)
{
    pr_buf_str(out, "{\"rates\": [");
    for (size_t i = 0; i < r->count; i++) {
        const struct pr_probe_trial *t = &r->trials[i].t;

        if (i)
            pr_buf_str(out, ", ");
        probe_write_list(out, own ? t->own_rates : t->rates, t->count);
    }
    pr_buf_char(out, ']');
}

/* One figure of every trial. */
static void probe_write_measure(struct pr_buf *out, const char *name,
                                const struct pr_probe_record *r, size_t offset)
{
    pr_buf_printf(out, ", \"%s\": [", name);
    for (size_t i = 0; i < r->count; i++) {
        double x;

        memcpy(&x, (const char *)&r->trials[i].t + offset, sizeof x);
        if (i)
            pr_buf_str(out, ", ");
        pr_float_write_repr(out, x);
    }
    pr_buf_char(out, ']');
}

#define PUT(out, name, r, own, field)                                        \
    probe_write_measure(out, name, r,                                        \
                        (own) ? offsetof(struct pr_probe_trial, own_##field) \
                              : offsetof(struct pr_probe_trial, field))

static void probe_write_phases(struct pr_buf *out, const struct pr_probe *p,
                               bool own)
{
    const char *comma = own ? "" : ", ";

    for (int i = 0; i < PR_PROBE_PHASES; i++) {
        const struct pr_probe_record *r = &p->phase[i];

        if (!r->count)
            continue;
        pr_buf_printf(out, "%s\"%s\": ", comma,
                      pr_probe_phase_name((enum pr_probe_phase)i));
        probe_write_rates(out, r, own);
        PUT(out, "avg_iter_throughput", r, own, mean_rate);
        PUT(out, "trial_throughput", r, own, rate);
        PUT(out, "trial_time", r, own, time_s);
        pr_buf_char(out, '}');
        comma = ", ";
    }
}

int pr_probe_json(struct pr_probe *p, const char **ret_text, size_t *ret_len,
                  struct pr_err *err)
{
    struct pr_buf *out = &p->json;

    pr_buf_clear(out);
    pr_buf_printf(out, "{\"nranks\": %llu", (unsigned long long)p->o.ranks);
    probe_write_phases(out, p, false);
    if (p->o.sum) {
        pr_buf_str(out, ", \"rank0\": {");
        probe_write_phases(out, p, true);
        pr_buf_char(out, '}');
    }
    pr_buf_char(out, '}');
    if (!pr_buf_ok(out)) {
        pr_buf_free(out);
        return pr_fail_nomem(err);
    }
    *ret_text = out->data;
    if (ret_len)
        *ret_len = out->len;
    return PR_OK;
}

static int probe_make_folder(const char *path, struct pr_err *err)
{
    char dir[sizeof((struct pr_probe *)0)->config.output];
    const char *slash = strrchr(path, '/');

    if (!slash || slash == path)
        return PR_OK;
    memcpy(dir, path, (size_t)(slash - path));
    dir[slash - path] = '\0';
    return pr_make_dirs(dir, err);
}

int pr_probe_save(struct pr_probe *p, struct pr_err *err)
{
    const char *path = p->config.output, *text;
    size_t len;
    int rc;

    if (p->o.rank || !*path)
        return PR_OK;
    rc = pr_probe_json(p, &text, &len, err);
    if (!rc)
        rc = probe_make_folder(path, err);
    return rc ? rc : pr_file_write(path, text, len, err);
}
