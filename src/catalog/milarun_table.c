/* milarun's tests as work of ours. */
#include "catalog/milarun_table.h"

#include "catalog/milarun_impl.h"

#include <string.h>
#include <sys/stat.h>

static const struct pr_milarun_test tests[] = {
#define TEST(experiment, model, workload, data, half, missing) \
    {experiment, model, workload, data, half, missing},
#define ARG(...)
#define NETWORK(...)
#include "catalog/milarun_table.def"
#undef TEST
#undef ARG
#undef NETWORK
};

static const struct pr_milarun_arg args[] = {
#define TEST(...)
#define ARG(experiment, name, alias, takes, def, does, with) \
    {experiment, name, alias, PR_TAKES_##takes, def, PR_DOES_##does, with},
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

_Static_assert(sizeof args / sizeof *args <= PR_MILARUN_ARGS,
               "PR_MILARUN_ARGS is too small");

/* Made where milarun would have 100,000: the same work for each of them, and
 * made in seconds. */
enum { IMAGES = 2000, IMAGE_SIDE = 512, IMAGE_CLASSES = 1000 };

const struct pr_milarun_arg *pr_milarun_arg_at(size_t i)
{
    return i < sizeof args / sizeof *args ? &args[i] : NULL;
}

bool pr_milarun_arg_is_for(const struct pr_milarun_build *b,
                           const struct pr_milarun_arg *arg)
{
    return strcmp(arg->experiment, "*") == 0 ||
           strcmp(arg->experiment, b->ours ? "prony" : b->ask->experiment) == 0;
}

const char *pr_milarun_find_model(const char *name)
{
    for (size_t i = 0; i < sizeof networks / sizeof *networks; i++)
        if (strcmp(networks[i].theirs, name) == 0)
            return networks[i].ours;
    return name;
}

bool pr_milarun_is_ours(const char *experiment)
{
    return strncmp(experiment, "prony.", 6) == 0;
}

bool pr_milarun_has_bfloat16(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx512bf16") != 0;
#else
    return false;
#endif
}

int pr_milarun_map_set(struct pr_milarun_build *b, struct pr_milarun_map *m,
                       const char *key, struct pr_value v)
{
    for (size_t i = 0; i < m->len; i++)
        if (strcmp(m->members[i].key, key) == 0) {
            m->members[i].value = v;
            return PR_OK;
        }
    m->members = pr_arena_grow(b->arena, m->members, m->len, &m->cap,
                               sizeof *m->members);
    if (!m->members)
        return pr_fail_nomem(b->err);
    m->members[m->len++] = (struct pr_member){
        .key = key, .key_len = (uint32_t)strlen(key), .value = v};
    return PR_OK;
}

static struct pr_value milarun_map_value(const struct pr_milarun_map *m)
{
    return (struct pr_value){
        .kind = PR_MAP, .len = (uint32_t)m->len, .members = m->members};
}

/* ---- the work */

static bool milarun_is_folder(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static int put_made_images(struct pr_milarun_build *b)
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
        rc = pr_milarun_map_set(b, &b->params, all[i].name, all[i].value);
    return rc;
}

/* milarun's own images where they are, else made ones. */
static int put_images(struct pr_milarun_build *b)
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
    rc = pr_milarun_map_set(b, &b->params, "exp.data_dir", pr_str(folder));
    if (!rc)
        rc =
            pr_milarun_map_set(b, &b->params, "dataset.format", pr_str("jpeg"));
    if (!rc && !there)
        rc = put_made_images(b);
    if (!rc && b->readers > 0)
        rc = pr_milarun_map_set(b, &b->params, "reader.read_threads",
                                pr_int(b->readers));
    return rc;
}

/* float16 is not computed with here. */
static int put_half(struct pr_milarun_build *b)
{
    if (!b->ask->half) {
        b->missing = "it computes in half precision, which this processor does "
                     "not have (AVX512-BF16)";
        return PR_OK;
    }
    if (b->notes)
        pr_buf_printf(b->notes, "%s: bfloat16 stands for float16\n",
                      b->ask->experiment);
    return pr_milarun_map_set(b, &b->params, "exp.dtype", pr_str("bfloat16"));
}

static int milarun_set_model(struct pr_milarun_build *b)
{
    int rc;

    if (strcmp(b->test.workload, "loader") == 0)
        return pr_milarun_map_set(b, &b->params, "exp.workload",
                                  pr_str("loader"));
    if (!*b->model) {
        b->missing = "no argument says which network";
        return PR_OK;
    }
    rc = pr_milarun_map_set(b, &b->params, "exp.framework", pr_str("native"));
    if (!rc)
        rc = pr_milarun_map_set(b, &b->params, "exp.model", pr_str(b->model));
    if (!rc && b->opts.len)
        rc = pr_milarun_map_set(b, &b->params, "exp.model_opts",
                                milarun_map_value(&b->opts));
    return rc;
}

static bool milarun_is_scaling(const struct pr_milarun_build *b)
{
    const char *e = b->ask->experiment;

    return strncmp(e, "prony.scaling:", 14) == 0 ||
           strcmp(e, "milarun.models.scaling:main") == 0;
}

static int64_t replicas_of(const struct pr_milarun_build *b)
{
    return milarun_is_scaling(b) && b->ask->devices ? b->ask->devices : 1;
}

/* What follows from others, and was worked out before they were known. */
static int put_derived(struct pr_milarun_build *b)
{
    const struct pr_value params = milarun_map_value(&b->params);
    const struct pr_value *batch = pr_get(&params, "exp.replica_batch");
    int64_t all = 0, replicas = replicas_of(b);
    int rc =
        pr_milarun_map_set(b, &b->params, "exp.num_replicas", pr_int(replicas));

    if (!rc && batch && batch->kind == PR_INT &&
        !__builtin_mul_overflow(batch->i, replicas, &all))
        rc = pr_milarun_map_set(b, &b->params, "exp.effective_batch",
                                pr_int(all));
    return rc;
}

/* Each replica counts its own items there, here all count together. */
static int put_replicas(struct pr_milarun_build *b)
{
    int64_t devices = replicas_of(b);
    int rc = pr_milarun_map_set(b, &b->params, "exp.num_local_replicas",
                                pr_int(devices));

    for (size_t i = 0; i < b->params.len && !rc; i++) {
        struct pr_member *m = &b->params.members[i];

        if (strcmp(m->key, "nn.max_count") == 0 &&
            __builtin_mul_overflow(m->value.i, devices, &m->value.i))
            m->value.i = INT64_MAX;
    }
    return rc;
}

static int put_work(struct pr_milarun_build *b)
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
    for (size_t i = 0; i < b->dotted.len && !rc; i++)
        rc = pr_milarun_map_set(b, &b->params, b->dotted.members[i].key,
                                b->dotted.members[i].value);
    return rc;
}

/* prony.native:vae */
static bool find_ours(struct pr_milarun_build *b)
{
    const char *e = b->ask->experiment, *name = strchr(e, ':');
    static const char *const kinds[] = {"prony.native:", "prony.scaling:"};

    b->test = (struct pr_milarun_test){e, "", "", "", 0, ""};
    if (strcmp(e, "prony.loader:images") == 0) {
        b->test.workload = "loader";
        b->test.data = "images";
        return true;
    }
    for (size_t i = 0; i < 2 && name && name[1]; i++)
        if (strncmp(e, kinds[i], strlen(kinds[i])) == 0) {
            b->test.model = name + 1;
            return true;
        }
    return false;
}

static bool find_test(struct pr_milarun_build *b)
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

static int milarun_build_work(struct pr_milarun_build *b)
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
    rc = pr_milarun_read_args(b);
    if (!rc)
        rc = pr_milarun_apply_args(b);
    return rc || b->missing ? rc : put_work(b);
}

int pr_milarun_make_work(const struct pr_milarun_ask *ask, struct pr_arena *a,
                         struct pr_milarun_work *ret, struct pr_buf *notes,
                         struct pr_err *err)
{
    struct pr_milarun_build *b = PR_ARENA_NEW(a, struct pr_milarun_build);
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
