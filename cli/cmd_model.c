/* `prony model`: the networks there are, and the layers of one. */
#include "base/units.h"
#include "cli/cli.h"
#include "cli/help_json.h"
#include "conf/read/bundled.h"
#include "nn/model/model.h"
#include "present/screen.h"
#include "present/table/table.h"

#include <inttypes.h>
#include <string.h>

/* ---- how things look */

/* Three digits, a letter and the unit: "25.6 M", "8.18 GFLOP". */
static const char *short_number(struct pr_arena *a, double x, const char *unit)
{
    static const char letters[] = " kMGTPE";
    size_t i = 0;

    if (x < 1000)
        return pr_arena_printf(a, "%.0f%s%s", x, *unit ? " " : "", unit);
    for (; x >= 999.5 && i + 2 < sizeof letters; i++)
        x /= 1000;
    return pr_arena_printf(a, "%.*f %c%s",
                           x < 9.995   ? 2
                           : x < 99.95 ? 1
                                       : 0,
                           x, letters[i], unit);
}

/* "3 x 224 x 224" */
static const char *layer_shape_text(struct pr_arena *a,
                                    const struct pr_layer_shape *s)
{
    if (s->dims == 1)
        return pr_arena_printf(a, "%" PRId64, s->at[0]);
    if (s->dims == 2)
        return pr_arena_printf(a, "%" PRId64 " x %" PRId64, s->at[0], s->at[1]);
    return pr_arena_printf(a, "%" PRId64 " x %" PRId64 " x %" PRId64, s->at[0],
                           s->at[1], s->at[2]);
}

static int print_model_table(struct cli *c, struct pr_table *t,
                             struct pr_buf *out, struct pr_err *err)
{
    struct pr_table_style style = {.width = stdout_width(),
                                   .colour = stdout_colour(c)};

    return pr_table_print(t, PR_TABLE_TEXT, &style, out, err);
}

/* ---- one model */

static int put_layers(struct cli *c, const struct pr_model *m,
                      struct pr_buf *out, struct pr_err *err)
{
    static const struct pr_table_column cols[] = {
        {.title = "layer"},
        {.title = "op"},
        {.title = "output"},
        {.title = "params", .kind = PR_COL_INT},
        {.title = "FLOPs", .align = PR_ALIGN_RIGHT},
    };
    struct pr_table *t = pr_table_new(cols, sizeof cols / sizeof *cols);
    int rc;

    if (!t)
        return pr_fail_nomem(err);
    for (unsigned i = 0; i < m->layer_count; i++) {
        const struct pr_layer *l = &m->layers[i];

        pr_table_row(t);
        pr_table_set_str(t, 0, l->name);
        pr_table_set_str(t, 1, pr_layer_op_name(l->op));
        pr_table_set_str(t, 2, layer_shape_text(c->arena, &l->shape));
        if (l->params)
            pr_table_set_int(t, 3, (int64_t)l->params);
        pr_table_set_str(t, 4,
                         l->flops ? short_number(c->arena, (double)l->flops, "")
                                  : NULL);
    }
    rc = print_model_table(c, t, out, err);
    pr_table_free(t);
    return rc;
}

/* What was published, which is about the model as it is defined. */
static void write_model_reference(struct cli *c, const struct pr_model *m,
                                  bool is_changed, struct pr_buf *out)
{
    if (!m->reference_params && !(m->reference_flops > 0))
        return;
    pr_buf_printf(out, "reference%s: ", is_changed ? " as defined" : "");
    if (m->reference_params)
        pr_buf_printf(out, "%" PRIu64 " parameters", m->reference_params);
    if (m->reference_flops > 0)
        pr_buf_printf(out, "%s%s", m->reference_params ? ", " : "",
                      short_number(c->arena, m->reference_flops, "FLOP"));
    pr_buf_str(out, " (");
    pr_screen_clean(out, m->reference_source, strlen(m->reference_source));
    pr_buf_str(out, ")\n");
}

/* What classifiers have is not worth a line. */
static bool has_only_class_loss(const struct pr_model *m)
{
    return m->loss_count == 1 && m->losses[0].kind == PR_LOSS_CROSS_ENTROPY &&
           pr_model_input(m, "labels") == (int)m->losses[0].targets[0];
}

static void write_model_losses(const struct pr_model *m, struct pr_buf *out)
{
    for (unsigned i = 0; !has_only_class_loss(m) && i < m->loss_count; i++) {
        const struct pr_loss *l = &m->losses[i];

        pr_buf_printf(out, "%s: %s of %s", l->name, pr_loss_kind_name(l->kind),
                      m->layers[l->of[0]].name);
        if (l->of_count > 1)
            pr_buf_printf(out, " and %s", m->layers[l->of[1]].name);
        if (m->turn_count > 1)
            pr_buf_printf(out, ", in turn %u", l->turn + 1);
        pr_buf_str(out, "\n");
    }
}

static int write_model_page(struct cli *c, const struct pr_model *m,
                            bool is_changed, struct pr_buf *out,
                            struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf says = PR_BUF_INIT(1 << 20);
    char bytes[16];
    int rc;

    pr_buf_printf(out, "%s: ", m->name);
    pr_screen_clean(out, m->title, strlen(m->title));
    pr_buf_str(out, "\n");
    if (*m->says) {
        pr_screen_clean(&says, m->says, strlen(m->says));
        text_wrap(out, pr_buf_ok(&says) ? says.data : "", 0, 0);
    }
    pr_buf_str(out, "\n");
    rc = put_layers(c, m, out, err);
    pr_buf_printf(out,
                  "\n%u layers, %" PRIu64 " parameters (%s as float32), %s "
                  "forward\n",
                  m->layer_count - m->input_count, m->params,
                  pr_format_bytes(bytes, m->params * 4),
                  short_number(c->arena, (double)m->flops, "FLOP"));
    write_model_losses(m, out);
    write_model_reference(c, m, is_changed, out);
    return rc;
}

static int show_one(struct cli *c, const char *name,
                    const struct pr_model_variant *variant, bool json,
                    struct pr_buf *out, struct pr_err *err)
{
    struct pr_model *m;
    struct pr_json_writer jb;
    int rc = pr_model_load(name, variant, c->arena, &m, err);

    if (rc)
        return rc;
    if (!json)
        return write_model_page(c, m, variant->tiny || variant->values->len > 0,
                                out, err);
    pr_json_writer_init(&jb, out, 2);
    pr_model_write_json(m, &jb);
    pr_buf_char(out, '\n');
    return PR_OK;
}

static int show_each(struct cli *c, const struct pr_model_variant *variant,
                     bool json, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(256 << 20);
    int rc = PR_OK;

    for (size_t i = 0; i < c->rest_count && !rc; i++) {
        if (i && !json)
            pr_buf_char(&text, '\n');
        rc = show_one(c, c->rest[i], variant, json, &text, err);
    }
    return rc ? rc : answer_print_buf(&text, err);
}

/* ---- all of them */

struct list {
    struct cli *c;
    struct pr_model **items;
    size_t count, cap;
    struct pr_err first; /* of those that could not be read */
};

static int add_listed_model(void *ctx, const char *name, const char *path)
{
    struct list *l = ctx;
    struct pr_err err = {0};
    struct pr_model *m, **item;
    int rc = pr_model_load(path, NULL, l->c->arena, &m, &err);

    (void)name;
    if (rc && l->first.code)
        message_print_error(&err);
    else if (rc)
        l->first = err;
    if (rc)
        return PR_OK;
    item = PR_PUSH(l->c->arena, l);
    if (!item)
        return PR_E_NOMEM;
    *item = m;
    return PR_OK;
}

static int write_model_list(const struct list *l, struct pr_buf *out,
                            struct pr_err *err)
{
    static const struct pr_table_column cols[] = {
        {.title = "model"},
        {.title = "title"},
        {.title = "input"},
        {.title = "classes", .kind = PR_COL_INT},
        {.title = "params", .kind = PR_COL_INT},
        {.title = "FLOPs", .align = PR_ALIGN_RIGHT},
    };
    struct pr_table *t = pr_table_new(cols, sizeof cols / sizeof *cols);
    int rc;

    if (!t)
        return pr_fail_nomem(err);
    for (size_t i = 0; i < l->count; i++) {
        const struct pr_model *m = l->items[i];

        pr_table_row(t);
        pr_table_set_str(t, 0, m->name);
        pr_table_set_str(t, 1, m->title);
        pr_table_set_str(t, 2,
                         layer_shape_text(l->c->arena, &m->layers[0].shape));
        if (m->classes)
            pr_table_set_int(t, 3, m->classes);
        pr_table_set_int(t, 4, (int64_t)m->params);
        pr_table_set_str(t, 5, short_number(l->c->arena, (double)m->flops, ""));
    }
    rc = print_model_table(l->c, t, out, err);
    pr_table_free(t);
    return rc;
}

static void put_list_json(const struct list *l, struct pr_buf *out)
{
    struct pr_json_writer jb;

    pr_json_writer_init(&jb, out, 2);
    pr_json_open_object(&jb, NULL);
    pr_json_put_str(&jb, "schema", "prony.models/1");
    pr_json_open_array(&jb, "models");
    for (size_t i = 0; i < l->count; i++) {
        const struct pr_model *m = l->items[i];

        pr_json_open_object(&jb, NULL);
        pr_json_put_str(&jb, "name", m->name);
        pr_json_put_str(&jb, "title", m->title);
        pr_json_put_str(&jb, "item", m->item);
        pr_json_open_array(&jb, "input");
        for (unsigned k = 0; k < m->layers[0].shape.dims; k++)
            pr_json_put_int(&jb, NULL, m->layers[0].shape.at[k]);
        pr_json_close(&jb);
        pr_json_put_int(&jb, "classes", m->classes);
        pr_json_put_uint(&jb, "params", m->params);
        pr_json_put_uint(&jb, "flops", m->flops);
        pr_json_close(&jb);
    }
    pr_json_close(&jb);
    pr_json_close(&jb);
    pr_buf_char(out, '\n');
}

static int show_list(struct cli *c, bool json, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(64 << 20);
    struct list l = {.c = c};
    int rc = pr_bundled_each("models", add_listed_model, &l, err);

    if (rc)
        return rc;
    if (!l.count && !l.first.code) {
        pr_fail(err, PR_E_UNAVAIL, "", "the bundled models are not found");
        return pr_hint(err, "set PRONY_SHARE to the folder that holds "
                            "'models'");
    }
    if (json)
        put_list_json(&l, &text);
    else
        rc = write_model_list(&l, &text, err);
    if (!rc)
        rc = answer_print_buf(&text, err);
    if (!rc && l.first.code) {
        *err = l.first;
        rc = l.first.code;
    }
    return rc;
}

/* ---- options */

/* "3,64,64" as a list; in the arena. */
static int read_model_input_arg(struct cli *c, const char *text,
                                struct pr_value *ret, struct pr_err *err)
{
    struct pr_value *items = PR_ARENA_ARRAY(c->arena, struct pr_value, 3);
    char *rest = pr_arena_str(c->arena, text);
    bool good = true;
    uint32_t n = 0;

    if (!items || !rest)
        return pr_fail_nomem(err);
    *ret = (struct pr_value){.kind = PR_LIST, .items = items};
    while (good && rest && n < 3) {
        good = pr_parse_int(strsep(&rest, ","), &items[n].i);
        items[n++].kind = PR_INT;
    }
    ret->len = n;
    if (good && !rest)
        return PR_OK;
    return pr_fail(err, PR_E_USAGE, "",
                   "--input wants numbers such as 3,64,64 or 540, got '%s'",
                   text);
}

/* What --input and --classes change, as exp.model_opts has it. */
static int read_model_opts_args(struct cli *c, struct pr_value *ret,
                                struct pr_err *err)
{
    struct pr_member *members = PR_ARENA_ARRAY(c->arena, struct pr_member, 2);
    const char *input = arg_get(c, A_MODEL_INPUT);
    uint32_t n = 0;
    long classes;
    int rc = arg_number(c, A_CLASSES, 1, 0, &classes, err);

    if (!rc && !members)
        rc = pr_fail_nomem(err);
    if (!rc && input) {
        members[n] = (struct pr_member){.key = "input", .key_len = 5};
        rc = read_model_input_arg(c, input, &members[n++].value, err);
    }
    if (rc)
        return rc;
    if (classes)
        members[n++] = (struct pr_member){
            .key = "classes", .key_len = 7, .value = pr_int(classes)};
    *ret = (struct pr_value){.kind = PR_MAP, .len = n, .members = members};
    return PR_OK;
}

int cmd_model(struct cli *c, struct pr_err *err)
{
    const char *format = arg_get(c, A_MODEL_FORMAT);
    bool json = format && strcmp(format, "json") == 0;
    struct pr_value opts;
    struct pr_model_variant variant = {.values = &opts,
                                       .tiny = arg_on(c, A_MODEL_TINY)};
    int rc = read_model_opts_args(c, &opts, err);

    if (rc)
        return rc;
    if (c->rest_count)
        return show_each(c, &variant, json, err);
    if (!opts.len && !variant.tiny)
        return show_list(c, json, err);
    return pr_fail(err, PR_E_USAGE, "",
                   "--input, --classes and --tiny want the name of a model");
}
