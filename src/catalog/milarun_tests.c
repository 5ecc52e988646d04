/*
 * milarun's tests as work of ours: the table, taking a test's arguments apart,
 * what each of them means here, and the work that comes of it.
 */
#include "catalog/milarun_tests.h"

#include "base/number.h"
#include "base/text.h"
#include "conf/read/literal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct milarun_test {
    const char *experiment, *model, *workload, *data;
    int half;
    const char *missing;
};

enum milarun_takes {
    TAKES_FLAG,
    TAKES_INT,
    TAKES_FLOAT,
    TAKES_TEXT,
};

enum milarun_does {
    DOES_SET,
    DOES_GIVEN,
    DOES_SAME,
    DOES_MUST,
    DOES_NOTHING,
    DOES_UNLIKE,
    DOES_MODEL,
    DOES_HALF,
    DOES_READERS,
    DOES_DATA,
    DOES_LAYERS,
    DOES_CROP,
};

struct milarun_arg {
    const char *experiment, *name, *alias;
    enum milarun_takes takes;
    const char *def;
    enum milarun_does does;
    const char *with;
};

/* A map that grows in the arena. */
struct milarun_map {
    struct pr_member *items;
    size_t count, cap;
};

enum { MAX_ARGS = 256 }; /* rows of the table, at most */

struct milarun_build {
    const struct pr_milarun_ask *ask;
    struct pr_arena *arena;
    struct pr_buf *notes;
    struct pr_err *err;
    struct milarun_test test;
    bool ours;

    bool is_given[MAX_ARGS]; /* by row: it was in argv */
    struct pr_value given[MAX_ARGS];
    struct milarun_map dotted; /* --SECTION.NAME */
    struct milarun_map arguments, params, opts;

    const char *model, *missing;
    int64_t readers; /* 0: nothing was said */
    bool half, images;
};

/* ---- the table */

static const struct milarun_test tests[] = {
#define TEST(experiment, model, workload, data, half, missing) \
    {experiment, model, workload, data, half, missing},
#define ARG(...)
#define NETWORK(...)
#include "catalog/milarun_table.def"
#undef TEST
#undef ARG
#undef NETWORK
};

static const struct milarun_arg args[] = {
#define TEST(...)
#define ARG(experiment, name, alias, takes, def, does, with) \
    {experiment, name, alias, TAKES_##takes, def, DOES_##does, with},
#define NETWORK(...)
#include "catalog/milarun_table.def"
#undef TEST
#undef ARG
#undef NETWORK
};

static const struct {
    const char *theirs, *ours;
} networks[] = {
#define TEST(...)
#define ARG(...)
#define NETWORK(theirs, ours) {theirs, ours},
#include "catalog/milarun_table.def"
#undef TEST
#undef ARG
#undef NETWORK
};

_Static_assert(sizeof args / sizeof *args <= MAX_ARGS, "MAX_ARGS is too small");

/* Row i of the table; NULL: i is too large. */
static const struct milarun_arg *milarun_arg_at(size_t i)
{
    return i < sizeof args / sizeof *args ? &args[i] : NULL;
}

/* Whether the row is for the experiment that is looked at. */
static bool milarun_arg_is_for(const struct milarun_build *b,
                               const struct milarun_arg *arg)
{
    return strcmp(arg->experiment, "*") == 0 ||
           strcmp(arg->experiment, b->ours ? "prony" : b->ask->experiment) == 0;
}

/* The torchvision network as a model of ours. In the arena, or borrowed. */
static const char *milarun_find_model(const char *name)
{
    for (size_t i = 0; i < sizeof networks / sizeof *networks; i++)
        if (strcmp(networks[i].theirs, name) == 0)
            return networks[i].ours;
    return name;
}

bool pr_milarun_is_ours(const char *experiment)
{
    return pr_text_starts_with(experiment, "prony.");
}

bool pr_milarun_has_bfloat16(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx512bf16") != 0;
#else
    return false;
#endif
}

/* Sets a member; one of that name is replaced. Key and value are borrowed. */
static int milarun_map_set(struct milarun_build *b, struct milarun_map *m,
                           const char *key, struct pr_value v)
{
    struct pr_member *new;

    for (size_t i = 0; i < m->count; i++)
        if (strcmp(m->items[i].key, key) == 0) {
            m->items[i].value = v;
            return PR_OK;
        }
    new = PR_PUSH(b->arena, m);
    if (!new)
        return pr_fail_nomem(b->err);
    *new = (struct pr_member){
        .key = key, .key_len = (uint32_t)strlen(key), .value = v};
    return PR_OK;
}

static struct pr_value milarun_map_value(const struct milarun_map *m)
{
    return (struct pr_value){
        .kind = PR_MAP, .len = (uint32_t)m->count, .members = m->items};
}

/* ---- arguments: values */

/* Python's int(): a sign, digits, single underscores between them. */
static bool milarun_read_int(const char *s, int64_t *ret)
{
    char digits[32];
    size_t n = 0;
    char before = '_';

    for (const char *p = s; *p; before = *p++) {
        if ((*p == '-' || *p == '+') && p == s) {
            digits[n++] = *p;
            continue;
        }
        if (*p == '_' ? before < '0' || before > '9' : *p < '0' || *p > '9')
            return false;
        if (*p != '_' && n + 1 == sizeof digits)
            return false;
        if (*p != '_')
            digits[n++] = *p;
    }
    if (before < '0' || before > '9')
        return false;
    digits[n] = '\0';
    errno = 0;
    *ret = strtoll(digits, NULL, 10);
    return !errno;
}

static int milarun_fail_value(struct milarun_build *b,
                              const struct milarun_arg *arg, const char *text)
{
    return pr_fail(b->err, PR_E_CONF, b->ask->experiment,
                   "%s wants %s, got '%.100s'", arg->name,
                   arg->takes == TAKES_INT ? "a whole number" : "a number",
                   text);
}

/* A value as text, by what its row takes. */
static int milarun_read_value(struct milarun_build *b,
                              const struct milarun_arg *arg, const char *text,
                              struct pr_value *ret)
{
    int64_t i;

    switch (arg->takes) {
    case TAKES_INT:
        if (!milarun_read_int(text, &i))
            return milarun_fail_value(b, arg, text);
        *ret = pr_int(i);
        return PR_OK;
    case TAKES_FLOAT:
        if (!*text || pr_decimal_length(text, strlen(text)) != strlen(text))
            return milarun_fail_value(b, arg, text);
        *ret = pr_float(pr_decimal_read(text, strlen(text)));
        return PR_OK;
    default:
        *ret = pr_str(text);
        return PR_OK;
    }
}

/* ---- arguments: names */

/* One word of argv, and what it was found to be. */
struct found {
    const struct milarun_arg *arg; /* NULL: not known */
    size_t row;
    bool negated;
    const char *value; /* after '='; NULL: none */
};

/* Whether the first len bytes of word begin name; *ret_whole: are all of it. */
static bool milarun_is_prefix(const char *word, size_t len, const char *name,
                              bool *ret_whole)
{
    *ret_whole = strlen(name) == len;
    return strncmp(word, name, len) == 0;
}

/* 0: no; 1: a beginning; 2: the name itself. */
static int milarun_match_arg(const struct milarun_arg *arg, const char *word,
                             size_t len, bool *ret_negated)
{
    char no[64] = "--no-";
    bool whole;

    *ret_negated = false;
    if (milarun_is_prefix(word, len, arg->name, &whole))
        return 1 + whole;
    if (arg->takes != TAKES_FLAG)
        return 0;
    strncat(no, arg->name + 2, sizeof no - 6);
    *ret_negated = true;
    return milarun_is_prefix(word, len, no, &whole) ? 1 + whole : 0;
}

static int fail_ambiguous(struct milarun_build *b, const char *word, size_t len,
                          const char *one, const char *other)
{
    pr_fail(b->err, PR_E_CONF, b->ask->experiment, "'%.*s' may be %s or %s",
            (int)(len > 100 ? 100 : len), word, one, other);
    return pr_hint(b->err, "write the whole name");
}

static int find_long(struct milarun_build *b, const char *word,
                     struct found *ret)
{
    const char *eq = strchr(word, '=');
    size_t len = eq ? (size_t)(eq - word) : strlen(word);
    const struct milarun_arg *arg, *other = NULL;
    int best = 0;

    *ret = (struct found){.value = eq ? eq + 1 : NULL};
    for (size_t i = 0; (arg = milarun_arg_at(i)); i++) {
        bool negated;
        int fit = milarun_arg_is_for(b, arg)
                      ? milarun_match_arg(arg, word, len, &negated)
                      : 0;

        if (fit == 1 && best == 1 && !other)
            other = arg;
        if (fit > best) {
            best = fit;
            ret->arg = arg;
            ret->row = i;
            ret->negated = negated;
        }
        if (best == 2) /* whatever else it begins */
            return PR_OK;
    }
    return other ? fail_ambiguous(b, word, len, ret->arg->name, other->name)
                 : PR_OK;
}

/* -f, or -f64. */
static void find_short(struct milarun_build *b, const char *word,
                       struct found *ret)
{
    const struct milarun_arg *arg;

    *ret = (struct found){.arg = NULL};
    for (size_t i = 0; (arg = milarun_arg_at(i)); i++)
        if (*arg->alias && milarun_arg_is_for(b, arg) &&
            strncmp(word, arg->alias, 2) == 0) {
            ret->arg = arg;
            ret->row = i;
            ret->value = word[2] ? word + 2 + (word[2] == '=') : NULL;
        }
}

/* ---- arguments: taking them apart
 * As Python's argparse does it: unambiguous beginnings are enough,
 * --name=value, --no-flag, -f 64 and -f64, and the last one counts. */

/* "batch_size" of "--batch-size". */
static const char *python_name(struct milarun_build *b, const char *name)
{
    char *s = pr_arena_str(b->arena, name + 2);

    for (char *p = s; p && *p; p++)
        if (*p == '-')
            *p = '_';
    return s;
}

static int milarun_store_arg(struct milarun_build *b, const struct found *f,
                             const char *text)
{
    const char *name = python_name(b, f->arg->name);
    struct pr_value v = pr_bool(!f->negated);
    int rc = PR_OK;

    if (!name)
        return pr_fail_nomem(b->err);
    if (f->arg->takes != TAKES_FLAG)
        rc = milarun_read_value(b, f->arg, text, &v);
    if (rc)
        return rc;
    b->is_given[f->row] = true;
    b->given[f->row] = v;
    return milarun_map_set(b, &b->arguments, name, v);
}

/* --nn.threads 2 */
static int milarun_store_dotted(struct milarun_build *b, const char *word,
                                const char *text)
{
    const char *eq = strchr(word, '=');
    size_t len = eq ? (size_t)(eq - word) : strlen(word);
    const char *name = pr_arena_copy(b->arena, word + 2, len - 2);
    struct pr_value v;
    int rc;

    if (!name)
        return pr_fail_nomem(b->err);
    rc = pr_literal_read(name, text, strlen(text), b->arena, &v, NULL, b->err);
    if (!rc)
        rc = milarun_map_set(b, &b->dotted, name, v);
    return rc ? rc : milarun_map_set(b, &b->arguments, name, v);
}

static void note_unknown(struct milarun_build *b, const char *word,
                         const char *value)
{
    const struct milarun_arg *arg;
    struct pr_nearest near;

    if (!b->notes)
        return;
    pr_nearest_init(&near, word);
    for (size_t i = 0; (arg = milarun_arg_at(i)); i++)
        if (milarun_arg_is_for(b, arg))
            pr_nearest_offer(&near, arg->name);
    pr_buf_printf(b->notes,
                  "%s: the argument '%.200s%s%.200s' is not known "
                  "and is left out",
                  b->ask->experiment, word, value ? " " : "",
                  value ? value : "");
    if (near.best)
        pr_buf_printf(b->notes, "; did you mean %s?", near.best);
    pr_buf_char(b->notes, '\n');
}

/* The word at *i, and the value after it if it takes one. */
static int milarun_read_word(struct milarun_build *b, size_t *i)
{
    const char *word = b->ask->argv[*i];
    const char *next = *i + 1 < b->ask->argc ? b->ask->argv[*i + 1] : NULL;
    bool is_long = pr_text_starts_with(word, "--");
    bool dotted = is_long && memchr(word, '.', strcspn(word, "="));
    struct found f = {.arg = NULL};
    int rc = PR_OK;

    if (is_long && !dotted)
        rc = find_long(b, word, &f);
    else if (dotted)
        f.value = strchr(word, '=') ? strchr(word, '=') + 1 : NULL;
    else if (pr_word_is_option(word))
        find_short(b, word, &f);
    if (rc)
        return rc;
    if (!f.arg && !dotted) {
        bool pair = pr_word_is_option(word) && !f.value && next &&
                    !pr_word_is_option(next);

        note_unknown(b, word, pair ? next : NULL);
        *i += pair;
        return PR_OK;
    }
    if (!f.value && (dotted || f.arg->takes != TAKES_FLAG)) {
        if (!next || pr_word_is_option(next))
            return pr_fail(b->err, PR_E_CONF, b->ask->experiment,
                           "%.100s wants a value", word);
        f.value = next;
        ++*i;
    }
    return dotted ? milarun_store_dotted(b, word, f.value)
                  : milarun_store_arg(b, &f, f.value);
}

/* Takes argv apart: given, dotted, arguments. */
static int milarun_read_args(struct milarun_build *b)
{
    int rc = PR_OK;

    for (size_t i = 0; i < b->ask->argc && !rc; i++)
        rc = milarun_read_word(b, &i);
    return rc;
}

/* ---- what they mean for the work that is done here */

static const char *const known_data[] = {
    "mnist", "fake_imagenet", "bsds500_reso", "wmt16", "wiki2", "coco", "ml20m",
};

static void milarun_add_warning(struct milarun_build *b,
                                const struct milarun_arg *arg,
                                const char *words)
{
    if (b->notes)
        pr_buf_printf(b->notes, "%s: %s: %s\n", b->ask->experiment, arg->name,
                      words);
}

static int milarun_set_missing(struct milarun_build *b, const char *words)
{
    b->missing = pr_arena_str(b->arena, words);
    return b->missing ? PR_OK : pr_fail_nomem(b->err);
}

/* Whether a value is what a row says, as numbers where they are. */
static int milarun_compare_value(struct milarun_build *b,
                                 const struct milarun_arg *arg,
                                 const struct pr_value *v, bool *ret)
{
    struct pr_value want;
    int rc = milarun_read_value(b, arg, arg->with, &want);

    *ret = !rc && pr_value_equal(v, &want);
    return rc;
}

static int milarun_check_value(struct milarun_build *b,
                               const struct milarun_arg *arg,
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
    if (arg->does == DOES_SAME) {
        milarun_add_warning(b, arg, text.data);
        return PR_OK;
    }
    b->missing = pr_arena_printf(b->arena, "%s %s", arg->name, text.data);
    return b->missing ? PR_OK : pr_fail_nomem(b->err);
}

/* The model has one number where milarun has two: the first one stands. */
static int milarun_set_model_option(struct milarun_build *b,
                                    const struct milarun_arg *arg,
                                    const char *name, struct pr_value v)
{
    for (size_t i = 0; i < b->opts.count; i++)
        if (strcmp(b->opts.items[i].key, name) == 0) {
            if (!pr_value_equal(&b->opts.items[i].value, &v))
                milarun_add_warning(
                    b, arg,
                    "differs from another size that is the same one "
                    "in the model here, and is left out");
            return PR_OK;
        }
    return milarun_map_set(b, &b->opts, name, v);
}

/* "256,256,128,64": twice a size, the size and half of it after it. */
static int milarun_apply_layers(struct milarun_build *b,
                                const struct milarun_arg *arg, const char *text)
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
static int milarun_apply_crop(struct milarun_build *b,
                              const struct milarun_arg *arg, int64_t factor)
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

static void milarun_apply_half(struct milarun_build *b,
                               const struct pr_value *v)
{
    b->half = v->kind == PR_BOOL  ? v->b
              : v->kind == PR_INT ? v->i != 0
                                  : strcmp(v->s, "fp16") == 0;
}

/* "milarun.datasets:mnist", or "images". */
static void milarun_apply_data(struct milarun_build *b,
                               const struct milarun_arg *arg, const char *name)
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

static int milarun_apply_arg(struct milarun_build *b,
                             const struct milarun_arg *arg, struct pr_value v)
{
    switch (arg->does) {
    case DOES_SET:
        return milarun_map_set(b, &b->params, arg->with, v);
    case DOES_GIVEN:
        return milarun_set_model_option(b, arg, arg->with, v);
    case DOES_SAME:
    case DOES_MUST:
        return milarun_check_value(b, arg, &v);
    case DOES_UNLIKE:
        if (v.kind != PR_BOOL || v.b)
            milarun_add_warning(b, arg, "is not done here");
        return PR_OK;
    case DOES_MODEL:
        b->model = milarun_find_model(v.s);
        return PR_OK;
    case DOES_HALF:
        milarun_apply_half(b, &v);
        return PR_OK;
    case DOES_READERS:
        b->readers = v.i;
        return PR_OK;
    case DOES_DATA:
        milarun_apply_data(b, arg, v.s);
        return PR_OK;
    case DOES_LAYERS:
        return milarun_apply_layers(b, arg, v.s);
    case DOES_CROP:
        return milarun_apply_crop(b, arg, v.i);
    case DOES_NOTHING:
        break;
    }
    return PR_OK;
}

/* What the arguments, or their defaults, do. */
static int milarun_apply_args(struct milarun_build *b)
{
    const struct milarun_arg *arg;
    int rc = PR_OK;

    for (size_t i = 0; !rc && !b->missing && (arg = milarun_arg_at(i)); i++) {
        struct pr_value v = b->given[i];

        if (!milarun_arg_is_for(b, arg) ||
            (!b->is_given[i] && (!*arg->def || b->ours)))
            continue;
        if (!b->is_given[i])
            rc = milarun_read_value(b, arg, arg->def, &v);
        if (!rc)
            rc = milarun_apply_arg(b, arg, v);
    }
    return rc;
}

/* ---- the work */

/* Made where milarun would have 100,000: the same work for each of them, and
 * made in seconds. */
enum { IMAGES = 2000, IMAGE_SIDE = 512, IMAGE_CLASSES = 1000 };

static bool milarun_is_folder(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static int put_made_images(struct milarun_build *b)
{
    static const struct pr_value dims[] = {
        {.kind = PR_INT, .i = IMAGE_SIDE},
        {.kind = PR_INT, .i = IMAGE_SIDE},
        {.kind = PR_INT, .i = 3},
    };
    const struct {
        const char *name;
        struct pr_value value;
    } all[] = {
        {"workflow.generate_data", pr_bool(true)},
        {"dataset.num_files_train", pr_int(IMAGES)},
        {"dataset.record_dims", {.kind = PR_LIST, .len = 3, .items = dims}},
        {"dataset.num_classes", pr_int(IMAGE_CLASSES)},
    };
    int rc = PR_OK;

    for (size_t i = 0; i < sizeof all / sizeof *all && !rc; i++)
        rc = milarun_map_set(b, &b->params, all[i].name, all[i].value);
    return rc;
}

/* milarun's own images where they are, else made ones. */
static int put_images(struct milarun_build *b)
{
    const char *root = b->ask->dataroot;
    const char *theirs, *folder;
    bool there;
    int rc;

    theirs = pr_arena_printf(b->arena, "%s/ImageNet/train", root);
    there = theirs && !b->ours && milarun_is_folder(theirs);
    folder = pr_arena_printf(b->arena, "%s/%s", root,
                             there ? "ImageNet" : "prony-images");
    if (!theirs || !folder)
        return pr_fail_nomem(b->err);
    rc = milarun_map_set(b, &b->params, "exp.data_dir", pr_str(folder));
    if (!rc)
        rc = milarun_map_set(b, &b->params, "dataset.format", pr_str("jpeg"));
    if (!rc && !there)
        rc = put_made_images(b);
    if (!rc && b->readers > 0)
        rc = milarun_map_set(b, &b->params, "reader.read_threads",
                             pr_int(b->readers));
    return rc;
}

/* float16 is not computed with here. */
static int put_half(struct milarun_build *b)
{
    if (!b->ask->half) {
        b->missing = "it computes in half precision, which this processor does "
                     "not have (AVX512-BF16)";
        return PR_OK;
    }
    if (b->notes)
        pr_buf_printf(b->notes, "%s: bfloat16 stands for float16\n",
                      b->ask->experiment);
    return milarun_map_set(b, &b->params, "exp.dtype", pr_str("bfloat16"));
}

static int milarun_set_model(struct milarun_build *b)
{
    int rc;

    if (strcmp(b->test.workload, "loader") == 0)
        return milarun_map_set(b, &b->params, "exp.workload", pr_str("loader"));
    if (!*b->model) {
        b->missing = "no argument says which network";
        return PR_OK;
    }
    rc = milarun_map_set(b, &b->params, "exp.framework", pr_str("native"));
    if (!rc)
        rc = milarun_map_set(b, &b->params, "exp.model", pr_str(b->model));
    if (!rc && b->opts.count)
        rc = milarun_map_set(b, &b->params, "exp.model_opts",
                             milarun_map_value(&b->opts));
    return rc;
}

static bool milarun_is_scaling(const struct milarun_build *b)
{
    const char *e = b->ask->experiment;

    return pr_text_starts_with(e, "prony.scaling:") ||
           strcmp(e, "milarun.models.scaling:main") == 0;
}

static int64_t replicas_of(const struct milarun_build *b)
{
    return milarun_is_scaling(b) && b->ask->devices ? b->ask->devices : 1;
}

/* What follows from others, and was worked out before they were known. */
static int put_derived(struct milarun_build *b)
{
    const struct pr_value params = milarun_map_value(&b->params);
    const struct pr_value *batch = pr_get(&params, "exp.replica_batch");
    int64_t all = 0, replicas = replicas_of(b);
    int rc =
        milarun_map_set(b, &b->params, "exp.num_replicas", pr_int(replicas));

    if (!rc && batch && batch->kind == PR_INT &&
        !__builtin_mul_overflow(batch->i, replicas, &all))
        rc = milarun_map_set(b, &b->params, "exp.effective_batch", pr_int(all));
    return rc;
}

/* Each replica counts its own items there, here all count together. */
static int put_replicas(struct milarun_build *b)
{
    int64_t devices = replicas_of(b);
    int rc = milarun_map_set(b, &b->params, "exp.num_local_replicas",
                             pr_int(devices));

    for (size_t i = 0; i < b->params.count && !rc; i++) {
        struct pr_member *m = &b->params.items[i];

        if (strcmp(m->key, "nn.max_count") == 0 &&
            __builtin_mul_overflow(m->value.i, devices, &m->value.i))
            m->value.i = INT64_MAX;
    }
    return rc;
}

static int put_work(struct milarun_build *b)
{
    int rc = milarun_set_model(b);

    if (!rc && !b->missing && b->half)
        rc = put_half(b);
    if (!rc && !b->missing && b->images)
        rc = put_images(b);
    if (!rc && !b->missing && milarun_is_scaling(b))
        rc = put_replicas(b);
    if (!rc && !b->missing)
        rc = put_derived(b);
    /* What the user says in so many words is above all. */
    for (size_t i = 0; i < b->dotted.count && !rc; i++)
        rc = milarun_map_set(b, &b->params, b->dotted.items[i].key,
                             b->dotted.items[i].value);
    return rc;
}

/* prony.native:vae */
static bool find_ours(struct milarun_build *b)
{
    const char *e = b->ask->experiment, *name = strchr(e, ':');
    static const char *const kinds[] = {"prony.native:", "prony.scaling:"};

    b->test = (struct milarun_test){e, "", "", "", 0, ""};
    if (strcmp(e, "prony.loader:images") == 0) {
        b->test.workload = "loader";
        b->test.data = "images";
        return true;
    }
    for (size_t i = 0; i < 2 && name && name[1]; i++)
        if (pr_text_starts_with(e, kinds[i])) {
            b->test.model = name + 1;
            return true;
        }
    return false;
}

static bool find_test(struct milarun_build *b)
{
    b->ours = pr_milarun_is_ours(b->ask->experiment);
    if (b->ours)
        return find_ours(b);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        if (strcmp(tests[i].experiment, b->ask->experiment) == 0) {
            b->test = tests[i];
            return true;
        }
    return false;
}

static int milarun_build_work(struct milarun_build *b)
{
    int rc;

    if (!find_test(b)) {
        b->missing = b->ours ? "there are prony.native:MODEL, "
                               "prony.scaling:MODEL and prony.loader:images"
                             : "there is no such test here";
        return PR_OK;
    }
    b->model = b->test.model;
    b->half = b->test.half;
    b->images = strcmp(b->test.data, "images") == 0;
    b->missing = *b->test.missing ? b->test.missing : NULL;
    if (b->missing)
        return PR_OK;
    rc = milarun_read_args(b);
    if (!rc)
        rc = milarun_apply_args(b);
    return rc || b->missing ? rc : put_work(b);
}

int pr_milarun_make_work(const struct pr_milarun_ask *ask, struct pr_arena *a,
                         struct pr_milarun_work *ret, struct pr_buf *notes,
                         struct pr_err *err)
{
    struct milarun_build *b = PR_ARENA_NEW(a, struct milarun_build);
    int rc;

    if (!b)
        return pr_fail_nomem(err);
    b->ask = ask;
    b->arena = a;
    b->notes = notes;
    b->err = err;
    rc = milarun_build_work(b);
    if (rc)
        return rc;
    *ret =
        (struct pr_milarun_work){.missing = b->missing,
                                 .params = milarun_map_value(&b->params),
                                 .arguments = milarun_map_value(&b->arguments)};
    return notes && !pr_buf_ok(notes) ? pr_fail_nomem(err) : PR_OK;
}
