/* Files of checkpoints through every engine: what is written is read, and any
 * byte that is not what was written is found. */
#include "base/names.h"
#include "base/random.h"
#include "checkpoint/checkpoint_file.h"

#include "test_storage.h"

#include <zlib.h>

/* ---- shapes and files, made by hand */

/* Nothing, less and more than a block of noise, and many of them. */
static const uint64_t sizes[] = {0, 1, 16383, 16384, 16385, 100000, 70001};
static const uint64_t numbers[] = {0, 1, 2, 3, 4, 5, 6};
enum { TENSORS = sizeof sizes / sizeof *sizes, SUM = 219154 };

static struct pr_checkpoint_shape shape_of(const char *layout, uint64_t block)
{
    return (struct pr_checkpoint_shape){
        .model = {.type = "transformer"},
        .opts = {.layout = layout,
                 .block_size = block,
                 .randomize_tensor = true,
                 .seed = 3},
        .tp = 1,
        .pp = 1,
        .dp = 1,
        .mp = 1,
        .all = 1,
        .layers = {true, TENSORS, SUM, sizes, numbers},
    };
}

static struct pr_checkpoint_file file_of(const struct pr_checkpoint_shape *s,
                                         uint64_t rank)
{
    struct pr_checkpoint_file f = {.kind = PR_CHECKPOINT_LAYERS,
                                   .rank = rank,
                                   .number = 1,
                                   .first_layer = 1,
                                   .last_layer = 1,
                                   .tensors = s->layers.count,
                                   .bytes = s->layers.sum};

    snprintf(f.name, sizeof f.name, "rank-%d.%s", (int)rank,
             s->is_tensorflow ? "pb-1.data-00000-of-00001" : "pt");
    return f;
}

/* ---- a storage with a folder d, and what a thread has */

struct place {
    struct pr_storage_opts opts;
    struct pr_storage *st;
    struct pr_checkpoint_shape shape;
    struct pr_checkpoint_io io;
    bool stop;
    struct pr_err err;
};

static void place_init(struct place *p, const char *engine,
                       struct pr_checkpoint_shape shape)
{
    *p = (struct place){.shape = shape};
    p->opts = (struct pr_storage_opts){.engine = engine,
                                       .storage_type = "local_fs",
                                       .storage_root = test_dir,
                                       .block_size = 65536,
                                       .queue_depth = 4,
                                       .fault = "",
                                       .trace = ""};
    p->st = open_storage(&p->opts);
    assert_int_equal(pr_storage_make_folder(p->st, "d", NULL), PR_OK);
    assert_int_equal(
        pr_checkpoint_io_init(&p->io, &p->shape, p->st, &p->stop, &p->err),
        PR_OK);
}

static void place_done(struct place *p)
{
    pr_storage_close(p->st);
}

static void must_write(struct place *p, const struct pr_checkpoint_file *f,
                       uint64_t key)
{
    if (pr_checkpoint_file_write(&p->io, "d", f, key, &p->err))
        fail_msg("%s: %s", p->err.where, p->err.msg);
}

static int check(struct place *p, const struct pr_checkpoint_file *f,
                 uint64_t key, bool verify)
{
    p->err = (struct pr_err){0};
    return pr_checkpoint_file_read(&p->io, "d", f, key, verify, &p->err);
}

static const char *path_of(const char *name)
{
    static char path[256];

    snprintf(path, sizeof path, "d/%s", name);
    return path;
}

/* All of an object; free it. */
static uint8_t *load(struct place *p, const char *name, size_t *len)
{
    struct pr_object o = open_object(p->st, path_of(name));
    uint8_t *data = malloc((size_t)o.size + 2);

    assert_non_null(data);
    *len = (size_t)o.size;
    assert_int_equal(pr_object_read(&o, 0, *len, data, NULL), PR_OK);
    pr_object_close(&o);
    return data;
}

static uint8_t *written(const char *layout, uint64_t block, uint64_t rank,
                        uint64_t number, uint64_t key, size_t *len)
{
    struct place p;
    struct pr_checkpoint_file f;
    uint8_t *data;

    place_init(&p, "memory", shape_of(layout, block));
    f = file_of(&p.shape, rank);
    f.number = number;
    must_write(&p, &f, key);
    data = load(&p, f.name, len);
    place_done(&p);
    return data;
}

static int enter(void **state)
{
    (void)state;
    return enter_dir("/tmp");
}

static int leave(void **state)
{
    (void)state;
    return leave_dir();
}

/* ---- writing and reading */

static const char *const engines[] = {"pread", "direct", "mmap", "io_uring",
                                      "memory"};
static const char *const layouts[] = {"plain", "torch"};
static const uint64_t blocks[] = {4096, 5000, 20480, 65536, 1 << 20};
enum { ENGINES = 5, LAYOUTS = 2, BLOCKS = 5 };

static void round_trip(const char *engine, struct pr_checkpoint_shape shape)
{
    struct place p;
    struct pr_checkpoint_file f = file_of(&shape, 2);
    struct pr_object_info info;

    place_init(&p, engine, shape);
    must_write(&p, &f, 7);
    assert_int_equal(count_in(p.st, "d"), 1);
    assert_int_equal(pr_storage_stat(p.st, path_of(f.name), &info, NULL), 1);
    assert_true(info.size > SUM);
    assert_int_equal(p.io.bytes, info.size);
    if (check(&p, &f, 7, false) || check(&p, &f, 7, true))
        fail_msg("%s, %s: %s", engine, shape.opts.layout, p.err.msg);
    assert_int_equal(p.io.bytes, 3 * info.size);
    assert_int_equal(check(&p, &f, 8, false), PR_OK);
    assert_int_equal(check(&p, &f, 8, true), PR_E_FORMAT);
    assert_says(&p.err, "of tensor '1.1', is not what was written");
    assert_non_null(strstr(p.err.where, f.name));
    assert_int_equal(pr_storage_remove(p.st, path_of(f.name), NULL), PR_OK);
    place_done(&p);
}

static void every_engine_reads_what_it_wrote(void **state)
{
    (void)state;
    for (size_t e = 0; e < ENGINES; e++)
        for (size_t l = 0; l < LAYOUTS; l++)
            for (size_t b = 0; b < BLOCKS; b++)
                round_trip(engines[e], shape_of(layouts[l], blocks[b]));
}

static void synced_files_are_the_same(void **state)
{
    (void)state;
    for (size_t e = 0; e < ENGINES; e++) {
        struct pr_checkpoint_shape s = shape_of("plain", 65536);

        s.opts.fsync = true;
        round_trip(engines[e], s);
    }
}

static void files_without_tensors_work(void **state)
{
    (void)state;
    for (size_t l = 0; l < LAYOUTS; l++) {
        struct place p;
        struct pr_checkpoint_file f;

        place_init(&p, "pread", shape_of(layouts[l], 65536));
        p.shape.layers = (struct pr_checkpoint_list){.is_given = true};
        f = file_of(&p.shape, 0);
        must_write(&p, &f, 7);
        assert_int_equal(check(&p, &f, 7, true), PR_OK);
        place_done(&p);
    }
}

/* ---- contents */

static void block_sizes_do_not_change_a_byte(void **state)
{
    (void)state;
    for (size_t l = 0; l < LAYOUTS; l++) {
        size_t len;
        uint8_t *want = written(layouts[l], blocks[0], 1, 1, 7, &len);

        for (size_t b = 1; b < BLOCKS; b++) {
            size_t n;
            uint8_t *got = written(layouts[l], blocks[b], 1, 1, 7, &n);

            assert_int_equal(n, len);
            assert_memory_equal(got, want, len);
            free(got);
        }
        free(want);
    }
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* Of other keys, ranks, files and tensors: no 4 KiB are twice the same. */
static void nothing_repeats(void **state)
{
    static const struct {
        uint64_t rank, number, key;
    } rows[] = {{0, 0, 7}, {1, 0, 7}, {0, 1, 7}, {1, 1, 7}, {0, 0, 8}};
    enum { ROWS = sizeof rows / sizeof *rows };
    static uint64_t seen[ROWS * (SUM / 4096 + TENSORS)];
    size_t count = 0;

    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        size_t len;
        uint8_t *data = written("plain", 65536, rows[i].rank, rows[i].number,
                                rows[i].key, &len),
                *at = data + 4096;

        for (size_t t = 0; t < TENSORS; at += sizes[t++])
            for (uint64_t off = 0; off + 4096 <= sizes[t]; off += 4096)
                seen[count++] = pr_hash_bytes(at + off, 4096, 1);
        assert_ptr_equal(at, data + len);
        free(data);
    }
    assert_true(count > ROWS * 45);
    qsort(seen, count, sizeof *seen, by_value);
    for (size_t i = 1; i < count; i++)
        assert_true(seen[i] != seen[i - 1]);
}

static void checkpoints_have_keys_of_their_own(void **state)
{
    struct pr_checkpoint_shape s = shape_of("plain", 4096);
    uint64_t key = pr_checkpoint_make_key(&s, 1, 2);

    (void)state;
    assert_true(key == pr_checkpoint_make_key(&s, 1, 2));
    assert_true(key != pr_checkpoint_make_key(&s, 2, 1));
    assert_true(key != pr_checkpoint_make_key(&s, 1, 3));
    s.opts.seed++;
    assert_true(key != pr_checkpoint_make_key(&s, 1, 2));
}

static void contents_do_not_compress(void **state)
{
    (void)state;
    for (size_t l = 0; l < LAYOUTS; l++) {
        size_t len;
        uint8_t *data = written(layouts[l], 65536, 1, 1, 7, &len);
        uLongf packed = compressBound(SUM - 32768);
        uint8_t *out = malloc(packed);

        /* The last tensors, without the pages of a header. */
        assert_non_null(out);
        assert_int_equal(compress2(out, &packed, data + 8192, SUM - 32768, 9),
                         Z_OK);
        assert_true((double)packed / (SUM - 32768) > 0.99);
        free(out);
        free(data);
    }
}

/* ---- ones */

static struct pr_checkpoint_file optimizer_of(struct pr_checkpoint_shape *s,
                                              enum pr_tensor_type type)
{
    struct pr_checkpoint_file f = {
        .kind = PR_CHECKPOINT_OPTIMIZER, .tensors = 2, .name = "optimizer.pt"};

    s->optimizer_type = type;
    s->parameters = 50001; /* of one tensor; 15 of the other */
    s->transformer.hidden_size = 3;
    s->opts.randomize_tensor = false;
    return f;
}

static void ones_are_the_number_1(void **state)
{
    static const struct {
        enum pr_tensor_type type;
        const char *one;
        size_t bytes;
    } rows[] = {
        {PR_TENSOR_FP16, "\0\x3c", 2},
        {PR_TENSOR_BF16, "\x80\x3f", 2},
        {PR_TENSOR_FP32, "\0\0\x80\x3f", 4},
        {PR_TENSOR_FP64, "\0\0\0\0\0\0\xf0\x3f", 8},
        {PR_TENSOR_INT8, "\1", 1},
        {PR_TENSOR_UINT8, "\1", 1},
    };

    (void)state;
    for (size_t i = 0; i < 2 * sizeof rows / sizeof *rows; i++) {
        size_t k = i / 2, bytes = rows[k].bytes, len;
        struct place p;
        struct pr_checkpoint_file f;
        uint8_t *data;

        place_init(&p, "memory", shape_of(layouts[i % 2], 20480));
        f = optimizer_of(&p.shape, rows[k].type);
        must_write(&p, &f, 7);
        data = load(&p, f.name, &len);
        if (i % 2 == 0) {
            assert_int_equal(len, 4096 + (50001 + 15) * bytes);
            for (size_t at = 4096; at < len; at += bytes)
                assert_memory_equal(data + at, rows[k].one, bytes);
        }
        assert_int_equal(check(&p, &f, 1234, true), PR_OK); /* any key */
        free(data);
        place_done(&p);
    }
}

/* ---- files that are not what was written */

/* What went wrong names the byte, and the tensor where it is in one. */
static void flip(struct place *p, const struct pr_checkpoint_file *f,
                 uint8_t *data, size_t len, size_t at)
{
    char words[64];
    int rc;

    data[at] ^= (uint8_t)(1 << at % 8);
    make(p->st, path_of(f->name), data, len);
    data[at] ^= (uint8_t)(1 << at % 8);
    assert_int_equal(check(p, f, 7, false), PR_OK);
    rc = check(p, f, 7, true);
    snprintf(words, sizeof words, "byte %zu%s", at,
             strstr(p->err.msg, "tensor") ? ", of tensor" : " is not");
    if (rc != PR_E_FORMAT || !strstr(p->err.msg, words))
        fail_msg("byte %zu of %zu, %s: %d, '%s'", at, len, p->shape.opts.layout,
                 rc, p->err.msg);
}

static void flip_all_over(const char *engine, const char *layout,
                          uint64_t block)
{
    struct place p;
    struct pr_checkpoint_file f;
    size_t len;
    uint8_t *data;
    uint64_t x = 1;

    place_init(&p, engine, shape_of(layout, block));
    f = file_of(&p.shape, 0);
    must_write(&p, &f, 7);
    data = load(&p, f.name, &len);
    for (size_t i = 0; i < 60; i++)
        flip(&p, &f, data, len, (size_t)(pr_hash_mix(x += i) % len));
    for (size_t at = 0; at < 200; at += 9)
        flip(&p, &f, data, len, at);
    for (size_t at = len - 200; at < len; at += 9)
        flip(&p, &f, data, len, at);
    flip(&p, &f, data, len, len - 1);
    for (uint64_t at = block; at < len && at < 20 * block; at += block) {
        flip(&p, &f, data, len, (size_t)at - 1);
        flip(&p, &f, data, len, (size_t)at);
    }
    make(p.st, path_of(f.name), data, len);
    assert_int_equal(check(&p, &f, 7, true), PR_OK);
    free(data);
    place_done(&p);
}

static void any_byte_that_changed_is_found(void **state)
{
    (void)state;
    for (size_t l = 0; l < LAYOUTS; l++) {
        flip_all_over("memory", layouts[l], 4096);
        flip_all_over("memory", layouts[l], 20480);
        flip_all_over("pread", layouts[l], 65536);
        flip_all_over("mmap", layouts[l], 65536);
    }
}

static void every_tensor_is_looked_at(void **state)
{
    struct place p;
    struct pr_checkpoint_file f;
    size_t len, at = 4096;
    uint8_t *data;

    (void)state;
    place_init(&p, "memory", shape_of("plain", 65536));
    f = file_of(&p.shape, 0);
    must_write(&p, &f, 7);
    data = load(&p, f.name, &len);
    for (size_t t = 0; t < TENSORS; at += sizes[t++]) {
        char words[64];

        if (!sizes[t])
            continue;
        flip(&p, &f, data, len, at);
        snprintf(words, sizeof words, "byte %zu, of tensor '1.%zu', is", at, t);
        assert_says(&p.err, words);
        flip(&p, &f, data, len, at + sizes[t] - 1);
        assert_says(&p.err, strchr(words, ','));
    }
    free(data);
    place_done(&p);
}

static void sizes_are_looked_at_in_any_case(void **state)
{
    (void)state;
    for (size_t i = 0; i < ENGINES * LAYOUTS; i++) {
        struct place p;
        struct pr_checkpoint_file f;
        size_t len;
        uint8_t *data;

        place_init(&p, engines[i / 2], shape_of(layouts[i % 2], 65536));
        f = file_of(&p.shape, 0);
        must_write(&p, &f, 7);
        data = load(&p, f.name, &len);
        data[len] = 0;
        for (size_t n = 0; n < 4; n++) {
            const size_t wrong[] = {len - 1, len + 1, len - 4096, 0};

            make(p.st, path_of(f.name), data, wrong[n]);
            assert_int_equal(check(&p, &f, 7, n % 2), PR_E_FORMAT);
            assert_says(&p.err, "of this model it would have");
        }
        assert_int_equal(pr_storage_remove(p.st, path_of(f.name), NULL), PR_OK);
        assert_int_equal(check(&p, &f, 7, false), PR_E_IO);
        free(data);
        place_done(&p);
    }
}

/* ---- what can go wrong */

/* The n-th such call fails: nothing is left, until there is no n-th one. */
static int write_with_fault(const char *engine, const char *call, unsigned n,
                            bool is_tensorflow)
{
    char fault[32];
    struct place p = {.shape = shape_of("plain", 65536)};
    struct pr_checkpoint_file f;
    int rc;

    p.shape.is_tensorflow = is_tensorflow;
    p.shape.opts.fsync = true;
    f = file_of(&p.shape, 0);
    snprintf(fault, sizeof fault, "eio:%s:%u", call, n);
    p.opts = (struct pr_storage_opts){.engine = engine,
                                      .storage_type = "local_fs",
                                      .storage_root = test_dir,
                                      .fault = fault,
                                      .trace = ""};
    p.st = open_storage(&p.opts);
    assert_int_equal(pr_storage_make_folder(p.st, "d", NULL), PR_OK);
    assert_int_equal(
        pr_checkpoint_io_init(&p.io, &p.shape, p.st, &p.stop, &p.err), PR_OK);
    rc = pr_checkpoint_file_write(&p.io, "d", &f, 7, &p.err);
    assert_int_equal(count_in(p.st, "d"), rc ? 0 : 1 + is_tensorflow);
    assert_true(!rc || rc == PR_E_IO);
    place_done(&p);
    return rc;
}

static void failed_writes_leave_nothing(void **state)
{
    static const char *const some[] = {"pread", "direct", "io_uring", "memory"};
    static const struct {
        const char *call;
        unsigned most; /* SUM and a header: four blocks; and one for a list */
    } rows[] = {{"write", 4}, {"sync", 1}, {"commit", 1}};

    (void)state;
    for (size_t i = 0; i < 4 * 2 * 3; i++) {
        bool is_tensorflow = i / 4 % 2;
        unsigned most = rows[i / 8].most + is_tensorflow;

        for (unsigned n = 1; n <= most; n++)
            assert_int_equal(write_with_fault(some[i % 4], rows[i / 8].call, n,
                                              is_tensorflow),
                             PR_E_IO);
        assert_int_equal(write_with_fault(some[i % 4], rows[i / 8].call,
                                          most + 1, is_tensorflow),
                         PR_OK);
        assert_int_equal(system("rm -rf d"), 0);
    }
}

static void stops_when_told(void **state)
{
    struct place p;
    struct pr_checkpoint_file f;

    (void)state;
    place_init(&p, "pread", shape_of("torch", 65536));
    f = file_of(&p.shape, 0);
    p.stop = true;
    assert_int_equal(pr_checkpoint_file_write(&p.io, "d", &f, 7, &p.err),
                     PR_E_INTR);
    assert_int_equal(count_in(p.st, "d"), 0);
    assert_int_equal(p.io.bytes, 0);
    p.stop = false;
    must_write(&p, &f, 7);
    p.stop = true;
    assert_int_equal(check(&p, &f, 7, false), PR_E_INTR);
    assert_int_equal(check(&p, &f, 7, true), PR_E_INTR);
    place_done(&p);
}

static void names_may_be_too_long(void **state)
{
    static char folder[5000];
    struct place p;
    struct pr_checkpoint_file f;

    (void)state;
    memset(folder, 'x', sizeof folder - 1);
    place_init(&p, "memory", shape_of("plain", 65536));
    f = file_of(&p.shape, 0);
    assert_int_equal(pr_checkpoint_file_write(&p.io, folder, &f, 7, &p.err),
                     PR_E_IO);
    assert_int_equal(
        pr_checkpoint_file_read(&p.io, folder, &f, 7, true, &p.err), PR_E_IO);
    assert_int_equal(
        pr_checkpoint_file_write(&p.io, "not-there", &f, 7, &p.err), PR_E_IO);
    place_done(&p);
}

static void unknown_layouts_are_refused(void **state)
{
    struct place p;
    struct pr_checkpoint_shape s = shape_of("floppy", 65536);
    struct pr_checkpoint_io io;

    (void)state;
    place_init(&p, "memory", shape_of("plain", 65536));
    assert_int_equal(pr_checkpoint_io_init(&io, &s, p.st, &p.stop, &p.err),
                     PR_E_CONF);
    assert_says(&p.err, "'floppy'");
    place_done(&p);
}

/* ---- TensorFlow */

static void tensorflow_has_an_index_beside(void **state)
{
    static const char want[] =
        "{\"data\": \"rank-0.pb-1.data-00000-of-00001\", \"tensors\": [\n"
        "{\"name\": \"1.0\", \"type\": \"int8\", \"elements\": 0},\n"
        "{\"name\": \"1.1\", \"type\": \"int8\", \"elements\": 1},\n";
    struct place p;
    struct pr_checkpoint_file f;
    size_t len;
    uint8_t *data;

    (void)state;
    place_init(&p, "pread", shape_of("plain", 65536));
    p.shape.is_tensorflow = true;
    f = file_of(&p.shape, 0);
    must_write(&p, &f, 7);
    assert_int_equal(count_in(p.st, "d"), 2);
    data = load(&p, "rank-0.pb-1.index", &len);
    assert_true(len > strlen(want));
    assert_memory_equal(data, want, strlen(want));
    assert_memory_equal(data + len - 4, "}]}\n", 4);
    free(data);
    assert_int_equal(check(&p, &f, 7, true), PR_OK);
    place_done(&p);
}

/* ---- memory */

static struct place tortured;

static int attempt(void)
{
    struct place *p = &tortured;
    struct pr_checkpoint_file f = file_of(&p->shape, 0);
    int rc = pr_checkpoint_io_init(&p->io, &p->shape, p->st, &p->stop, &p->err);

    if (!rc)
        rc = pr_checkpoint_file_write(&p->io, "d", &f, 7, &p->err);
    if (!rc)
        rc = pr_checkpoint_file_read(&p->io, "d", &f, 7, true, &p->err);
    return rc;
}

static void survives_without_memory(void **state)
{
    (void)state;
    place_init(&tortured, "pread", shape_of("torch", 65536));
    tortured.shape.is_tensorflow = true;
    torture(attempt);
    assert_int_equal(count_in(tortured.st, "d"), 2);
    place_done(&tortured);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, enter, leave)
    const struct CMUnitTest tests[] = {
        TEST(every_engine_reads_what_it_wrote),
        TEST(synced_files_are_the_same),
        TEST(files_without_tensors_work),
        TEST(block_sizes_do_not_change_a_byte),
        TEST(nothing_repeats),
        TEST(checkpoints_have_keys_of_their_own),
        TEST(contents_do_not_compress),
        TEST(ones_are_the_number_1),
        TEST(any_byte_that_changed_is_found),
        TEST(every_tensor_is_looked_at),
        TEST(sizes_are_looked_at_in_any_case),
        TEST(failed_writes_leave_nothing),
        TEST(stops_when_told),
        TEST(names_may_be_too_long),
        TEST(unknown_layouts_are_refused),
        TEST(tensorflow_has_an_index_beside),
        TEST(survives_without_memory),
    };
#undef TEST

    return cmocka_run_group_tests(tests, NULL, NULL);
}
