/*
 * A data set that nobody made: every file of it can be read from a storage of
 * engine null, in every format, and is what the writer would have made.
 */
#include "base/json/json.h"
#include "files_tool.h"
#include "format/dataset/dataset.h"

static struct pr_arena *arena;

static int make_arena(void **state)
{
    (void)state;
    arena = pr_arena_new(65536);
    return !arena;
}

static int free_arena(void **state)
{
    (void)state;
    pr_arena_free(arena);
    return 0;
}

/* A set of 30 and 5 files with, besides, what more says. */
static void make_set(const char *format, const char *more,
                     struct pr_dataset *ret)
{
    struct pr_json_in in = {.name = "test"};
    struct pr_err err = {0};
    struct pr_value params;
    char json[512];

    snprintf(json, sizeof json,
             "{\"dataset.format\": \"%s\", \"dataset.num_files_train\": 30,"
             "\"dataset.num_files_eval\": 5, \"dataset.data_folder\": \"d\","
             "\"dataset.record_length_bytes\": 1024%s}",
             format, more);
    in.text = json;
    in.len = strlen(json);
    assert_int_equal(pr_json_read(&in, arena, &params, NULL, &err), PR_OK);
    if (pr_dataset_init(ret, &params, arena, &err))
        fail_msg("%s: %s", err.where, err.msg);
}

static void serve(struct place *p, const struct pr_dataset *d)
{
    struct pr_err err = {0};

    place_init(p, "null");
    if (pr_dataset_serve(d, p->st, &err))
        fail_msg("%s: %s", err.where, err.msg);
}

/* What the writer makes of the first file, with the mean shape. */
static void make_first(struct place *p, const struct pr_dataset *d,
                       struct pr_file_spec *ret)
{
    struct pr_dataset even = *d;

    even.spread = 0;
    pr_dataset_spec(&even, NULL, 0, ret);
    if (d->has_index)
        ret->index_name = "f.idx";
    place_init(p, "memory");
    write_file(p, d->opts.format, ret, "f");
}

static void must_be_same(struct place *a, const char *name, struct place *b,
                         const char *other)
{
    uint8_t *x, *y;
    size_t n, m;

    x = get_file(a, name, &n);
    y = get_file(b, other, &m);
    assert_int_equal(n, m);
    assert_memory_equal(x, y, n);
    free(x);
    free(y);
}

/* All samples of both, by readers. */
static void must_read_same(struct place *a, const char *name, struct place *b,
                           const struct pr_dataset *d)
{
    struct pr_read_opts opts = {.samples = d->spec.samples,
                                .dtype = d->spec.dtype};
    struct reading x, y;

    assert_int_equal(reading_init(&x, a, d->opts.format, &opts), PR_OK);
    assert_int_equal(reading_init(&y, b, d->opts.format, &opts), PR_OK);
    if (reading_open(&x, name) || reading_open(&y, "f"))
        fail_msg("%s: %s", x.err.where, x.err.msg);
    assert_int_equal(x.r->samples, d->spec.samples);
    for (uint64_t i = 0; i < x.r->samples; i++) {
        if (reading_read(&x, i) || reading_read(&y, i))
            fail_msg("%s: %s", x.err.where, x.err.msg);
        assert_int_equal(x.s.size, y.s.size);
        if (x.s.size)
            assert_memory_equal(x.s.data, y.s.data, x.s.size);
        assert_int_equal(x.s.label, y.s.label);
    }
    reading_done(&x);
    reading_done(&y);
}

static void check_format(const struct pr_format *f, const char *more)
{
    static const uint64_t numbers[] = {0, 17, 29, 30, 34};
    char name[PR_NAME_BYTES + 16];
    struct place null, memory;
    struct pr_file_spec spec;
    struct pr_dataset d;

    make_set(f->name, more, &d);
    serve(&null, &d);
    make_first(&memory, &d, &spec);
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
        const char *const *c = f->companions;
        char other[64];

        pr_dataset_name(&d, numbers[k], PR_NAME_DATA, name);
        must_be_same(&null, name, &memory, "f");
        must_read_same(&null, name, &memory, &d);
        for (size_t n = strlen(name); c && *c; c++) {
            snprintf(other, sizeof other, "f%s", *c);
            snprintf(name + n, sizeof name - n, "%s", *c);
            must_be_same(&null, name, &memory, other);
        }
        if (d.has_index) {
            pr_dataset_name(&d, numbers[k], PR_NAME_INDEX, name);
            must_be_same(&null, name, &memory, "f.idx");
        }
    }
    place_done(&null);
    place_done(&memory);
}

static void every_format_can_be_read(void **state)
{
    const struct pr_format *f;

    (void)state;
    for (size_t i = 0; (f = pr_format_at(i)); i++) {
        check_format(f, "");
        check_format(f, ", \"dataset.record_length_bytes_stdev\": 300");
        if (!(f->flags & PR_FORMAT_ONE))
            check_format(f, ", \"dataset.num_samples_per_file\": 3,"
                            "\"dataset.num_subfolders_train\": 4,"
                            "\"dataset.num_classes\": 10");
    }
}

static void labels_apart_are_there(void **state)
{
    char name[PR_NAME_BYTES];
    struct place null, memory;
    struct pr_file_spec spec, labels;
    struct pr_dataset d;

    (void)state;
    make_set("npy",
             ", \"dataset.labels\": \"separate\","
             "\"dataset.num_classes\": 10,"
             "\"dataset.num_samples_per_file\": 6",
             &d);
    serve(&null, &d);
    make_first(&memory, &d, &spec);
    pr_dataset_label_spec(&spec, &labels);
    write_file(&memory, "npy", &labels, "l");
    pr_dataset_name(&d, 12, PR_NAME_LABELS, name);
    must_be_same(&null, name, &memory, "l");
    pr_dataset_name(&d, 12, PR_NAME_DATA, name);
    must_be_same(&null, name, &memory, "f");
    place_done(&null);
    place_done(&memory);
}

/* The path of a sample must not copy. */
static void samples_lie_where_they_were_made(void **state)
{
    struct pr_read_opts opts = {.samples = 1};
    char name[PR_NAME_BYTES];
    struct pr_object o;
    struct pr_dataset d;
    struct reading x;
    struct place p;

    (void)state;
    make_set("npz", "", &d);
    serve(&p, &d);
    assert_int_equal(pr_object_open(p.st, "x", &o, NULL), PR_OK);
    assert_int_equal(reading_init(&x, &p, "npz", &opts), PR_OK);
    for (uint64_t f = 0; f < 3; f++) {
        const uint8_t *data;

        pr_dataset_name(&d, f, PR_NAME_DATA, name);
        assert_int_equal(reading_open(&x, name), PR_OK);
        assert_int_equal(reading_read(&x, 0), PR_OK);
        data = x.s.data;
        assert_true(data > o.map && data + x.s.size < o.map + o.size);
    }
    reading_done(&x);
    pr_object_close(&o);
    place_done(&p);
}

static void other_engines_are_refused(void **state)
{
    struct pr_dataset d;
    struct pr_err err = {0};
    struct place p;

    (void)state;
    make_set("npz", "", &d);
    place_init(&p, "memory");
    assert_int_equal(pr_dataset_serve(&d, p.st, &err), PR_E_CONF);
    assert_string_equal(err.where, "storage.engine");
    place_done(&p);
}

static struct pr_dataset tortured;

static int serve_once(void)
{
    static const struct pr_storage_opts opts = {.engine = "null"};
    struct pr_storage *st = NULL;
    int rc = pr_storage_open(&opts, &st, NULL);

    if (!rc)
        rc = pr_dataset_serve(&tortured, st, NULL);
    pr_storage_close(st);
    return rc;
}

static void no_memory_is_an_error(void **state)
{
    (void)state;
    make_set("indexed_binary", ", \"dataset.labels\": \"separate\"", &tortured);
    torture(serve_once);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_format_can_be_read),
        cmocka_unit_test(labels_apart_are_there),
        cmocka_unit_test(samples_lie_where_they_were_made),
        cmocka_unit_test(other_engines_are_refused),
        cmocka_unit_test(no_memory_is_an_error),
    };

    return cmocka_run_group_tests(tests, make_arena, free_arena);
}
