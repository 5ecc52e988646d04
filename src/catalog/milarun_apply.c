/* What arguments of milarun's tests mean for the work that is done here. */
#include "catalog/milarun_impl.h"

#include <stdio.h>
#include <string.h>

static const char *const known_data[] = {
    "mnist", "fake_imagenet", "bsds500_reso", "wmt16", "wiki2", "coco", "ml20m",
};

static void milarun_add_warning(struct pr_milarun_build *b,
                                const struct pr_milarun_arg *arg,
                                const char *words)
{
    if (b->notes)
        pr_buf_printf(b->notes, "%s: %s: %s\n", b->ask->experiment, arg->name,
                      words);
}

static int milarun_set_missing(struct pr_milarun_build *b, const char *words)
{
    b->missing = pr_arena_str(b->arena, words);
    return b->missing ? PR_OK : pr_fail_nomem(b->err);
}

/* ---- one value */

/* Whether a value is what a row says, as numbers where they are. */
static int milarun_compare_value(struct pr_milarun_build *b,
                                 const struct pr_milarun_arg *arg,
                                 const struct pr_value *v, bool *ret)
{
    struct pr_value want;
    int rc = pr_milarun_read_value(b, arg, arg->with, &want);

    *ret = !rc && pr_value_equal(v, &want);
    return rc;
}

static int milarun_check_value(struct pr_milarun_build *b,
                               const struct pr_milarun_arg *arg,
                               const struct pr_value *v)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(4096);
    bool same;
    int rc = milarun_compare_value(b, arg, v, &same);

    if (rc || same)
        return rc;
    pr_value_write_text(&text, v);
    pr_buf_printf(&text, " is not what the model here has (%s)", arg->with);
    if (!pr_buf_ok(&text))
        return pr_fail_nomem(b->err);
    if (arg->does == PR_DOES_SAME) {
        milarun_add_warning(b, arg, text.data);
        return PR_OK;
    }
    b->missing = pr_arena_printf(b->arena, "%s %s", arg->name, text.data);
    return b->missing ? PR_OK : pr_fail_nomem(b->err);
}

/* The model has one number where milarun has two: the first one stands. */
static int milarun_set_model_option(struct pr_milarun_build *b,
                                    const struct pr_milarun_arg *arg,
                                    const char *name, struct pr_value v)
{
    for (size_t i = 0; i < b->opts.len; i++)
        if (strcmp(b->opts.members[i].key, name) == 0) {
            if (!pr_value_equal(&b->opts.members[i].value, &v))
                milarun_add_warning(
                    b, arg,
                    "differs from another size that is the same one "
                    "in the model here, and is left out");
            return PR_OK;
        }
    return pr_milarun_map_set(b, &b->opts, name, v);
}

/* "256,256,128,64": twice a size, the size and half of it after it. */
static int take_layers(struct pr_milarun_build *b,
                       const struct pr_milarun_arg *arg, const char *text)
{
    long long a, c, d, e;
    char end;

    if (sscanf(text, "%9lld,%9lld,%9lld,%9lld%c", &a, &c, &d, &e, &end) == 4 &&
        a > 0 && a == c && a == 2 * d && d == 2 * e)
        return milarun_set_model_option(b, arg, arg->with, pr_int(d));
    return milarun_set_missing(
        b, "--layers: the model here has layers as 256,256,128,64, "
           "of any size but in these proportions");
}

/* Pictures of 256, and small ones a factor smaller. */
static int take_crop(struct pr_milarun_build *b,
                     const struct pr_milarun_arg *arg, int64_t factor)
{
    int rc;

    if (factor < 1 || factor > 64)
        return pr_fail(b->err, PR_E_CONF, b->ask->experiment,
                       "%s wants a number from 1 to 64, got %lld", arg->name,
                       (long long)factor);
    rc = milarun_set_model_option(b, arg, "factor", pr_int(factor));
    return rc ? rc
              : milarun_set_model_option(b, arg, "side", pr_int(256 / factor));
}

static void milarun_apply_half(struct pr_milarun_build *b,
                               const struct pr_value *v)
{
    b->half = v->kind == PR_BOOL  ? v->b
              : v->kind == PR_INT ? v->i != 0
                                  : strcmp(v->s, "fp16") == 0;
}

/* "milarun.datasets:mnist", or "images". */
static void milarun_apply_data(struct pr_milarun_build *b,
                               const struct pr_milarun_arg *arg,
                               const char *name)
{
    const char *colon = strrchr(name, ':');

    if (b->ours) {
        b->images = strcmp(name, "images") == 0;
        if (!b->images)
            milarun_add_warning(
                b, arg, "only 'images' is a data set here; it is left out");
        return;
    }
    for (size_t i = 0; i < sizeof known_data / sizeof *known_data; i++)
        if (strcmp(colon ? colon + 1 : name, known_data[i]) == 0)
            return;
    milarun_add_warning(
        b, arg, "this data set is not known; made-up data stands for it");
}

static int milarun_apply_arg(struct pr_milarun_build *b,
                             const struct pr_milarun_arg *arg,
                             struct pr_value v)
{
    switch (arg->does) {
    case PR_DOES_SET:
        return pr_milarun_map_set(b, &b->params, arg->with, v);
    case PR_DOES_GIVEN:
        return milarun_set_model_option(b, arg, arg->with, v);
    case PR_DOES_SAME:
    case PR_DOES_MUST:
        return milarun_check_value(b, arg, &v);
    case PR_DOES_UNLIKE:
        if (v.kind != PR_BOOL || v.b)
            milarun_add_warning(b, arg, "is not done here");
        return PR_OK;
    case PR_DOES_MODEL:
        b->model = pr_milarun_find_model(v.s);
        return PR_OK;
    case PR_DOES_HALF:
        milarun_apply_half(b, &v);
        return PR_OK;
    case PR_DOES_READERS:
        b->readers = v.i;
        return PR_OK;
    case PR_DOES_DATA:
        milarun_apply_data(b, arg, v.s);
        return PR_OK;
    case PR_DOES_LAYERS:
        return take_layers(b, arg, v.s);
    case PR_DOES_CROP:
        return take_crop(b, arg, v.i);
    case PR_DOES_NOTHING:
        break;
    }
    return PR_OK;
}

int pr_milarun_apply_args(struct pr_milarun_build *b)
{
    const struct pr_milarun_arg *arg;
    int rc = PR_OK;

    for (size_t i = 0; !rc && !b->missing && (arg = pr_milarun_arg_at(i));
         i++) {
        struct pr_value v = b->given[i];

        if (!pr_milarun_arg_is_for(b, arg) ||
            (!b->is_given[i] && (!*arg->def || b->ours)))
            continue;
        if (!b->is_given[i])
            rc = pr_milarun_read_value(b, arg, arg->def, &v);
        if (!rc)
            rc = milarun_apply_arg(b, arg, v);
    }
    return rc;
}
