/* Tasks: what holds for all of them, at the tiny and at the full size of their
 * models: a sample follows from the seed and its place alone. */
#include "test_native_task.h"

#include "base/random.h"

#include <math.h>

static const struct {
    const char *model, *task;
} all[] = {
    {"ssd", "boxes"},     {"gpt", "chapters"},        {"vae", "digits"},
    {"dcgan", "faces"},   {"bert", "masked_text"},    {"translator", "pairs"},
    {"reso", "pictures"}, {"toy_reg", "polynomial"},  {"recom", "ratings"},
    {"toy_lstm", "sine"}, {"deep_speech2", "speech"}, {"fast_style", "style"},
    {"wlm", "text"},
};
enum { ALL = sizeof all / sizeof *all };

static void every_task_has_a_model_here(void **state)
{
    (void)state;
    for (size_t i = 0; pr_task_get(i); i++) {
        assert_true(i < ALL);
        assert_string_equal(pr_task_get(i)->name, all[i].task);
        assert_ptr_equal(pr_task_find(all[i].task), pr_task_get(i));
        assert_true(strlen(pr_task_get(i)->says) > 5);
    }
    assert_null(pr_task_get(ALL));
    assert_null(pr_task_find("tex"));
    assert_null(pr_task_find(""));
}

static void is_same(const struct batch *a, const struct batch *b)
{
    for (unsigned i = 0; i < PR_MODEL_INPUTS; i++)
        if (a->in[i])
            assert_memory_equal(a->in[i], b->in[i], a->bytes[i]);
}

static bool differs(const struct batch *a, const struct batch *b)
{
    for (unsigned i = 0; i < PR_MODEL_INPUTS; i++)
        if (a->in[i] && memcmp(a->in[i], b->in[i], a->bytes[i]) != 0)
            return true;
    return false;
}

/* Ids are some, numbers are finite and of a size to learn from; nothing is
 * left as it was. */
static void is_sound(const struct work *w, const struct batch *b)
{
    for (unsigned i = 0; i < w->model->input_count; i++) {
        const struct pr_layer *l = &w->model->layers[i];
        size_t count = b->bytes[i] / sizeof(float);
        const int32_t *ids = b->in[i];
        const float *x = b->in[i];

        for (size_t k = 0; k < count; k++) {
            if (l->ids && (ids[k] < 0 || ids[k] >= l->ids))
                fail_msg("%s: %s is %d", w->model->name, l->name, ids[k]);
            if (!l->ids && !(fabsf(x[k]) < 1e5f))
                fail_msg("%s: %s is %g", w->model->name, l->name, (double)x[k]);
        }
    }
}

static void look_at(const char *name, bool tiny, uint64_t count)
{
    struct work w = work_of(name, tiny, 11), v = work_of(name, tiny, 12);
    struct batch a = made(&w, 3, count), again = made(&w, 3, count);
    struct batch later = made(&w, 4, count), other = made(&v, 3, count);

    is_sound(&w, &a);
    is_same(&a, &again);
    assert_true(differs(&a, &later));
    assert_true(differs(&a, &other));
    batch_done(&a);
    batch_done(&again);
    batch_done(&later);
    batch_done(&other);
    work_done(&w);
    work_done(&v);
}

static void a_sample_follows_from_seed_and_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < ALL; i++) {
        look_at(all[i].model, true, 7);
        look_at(all[i].model, false, 2);
    }
}

/* Each of three ranks has two columns of six. */
static void ranks_have_parts_of_the_whole(void **state)
{
    enum { RANKS = 3, EACH = 2, WHOLE = RANKS * EACH };

    (void)state;
    for (size_t i = 0; i < ALL; i++) {
        struct work w = work_of(all[i].model, true, 5);
        struct batch whole = made(&w, 2, WHOLE);

        for (unsigned r = 0; r < RANKS; r++) {
            struct batch part = batch_of(w.model, EACH);

            pr_task_fill_batch(&w.task, 2, r * EACH, EACH, WHOLE, part.in);
            for (unsigned k = 0; k < w.model->input_count; k++)
                assert_memory_equal(part.in[k],
                                    (char *)whole.in[k] + r * part.bytes[k],
                                    part.bytes[k]);
            batch_done(&part);
        }
        batch_done(&whole);
        work_done(&w);
    }
}

/* No sample is the one beside it, nor one of the next step. */
static void samples_differ(void **state)
{
    enum { COUNT = 6 };

    (void)state;
    for (size_t i = 0; i < ALL; i++) {
        struct work w = work_of(all[i].model, false, 5);
        struct batch a = made(&w, 0, COUNT);
        unsigned same = 0;

        for (unsigned k = 1; k < COUNT; k++) {
            bool is_same_one = true;

            for (unsigned j = 0; j < w.model->input_count; j++) {
                size_t n = a.bytes[j] / COUNT;

                is_same_one =
                    is_same_one && !memcmp(a.in[j], (char *)a.in[j] + k * n, n);
            }
            same += is_same_one;
        }
        assert_int_equal(same, 0);
        batch_done(&a);
        work_done(&w);
    }
}

/* Numbers of another sample, seed or stream are others. */
static void each_sample_has_streams_of_its_own(void **state)
{
    struct pr_task_run a = {.seed = 1}, b = {.seed = 2};
    const struct {
        struct pr_task_run *t;
        struct pr_task_at at;
        uint64_t stream;
    } rows[] = {
        {&a, {0, 0, 4}, 0}, {&a, {0, 0, 4}, 1}, {&a, {0, 1, 4}, 0},
        {&a, {1, 0, 4}, 0}, {&a, {1, 0, 4}, 1}, {&b, {0, 0, 4}, 0},
    };
    uint64_t seen[sizeof rows / sizeof *rows];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_rng rng;

        pr_task_seed_rng(rows[i].t, &rows[i].at, rows[i].stream, &rng);
        seen[i] = pr_rng_u64(&rng);
        for (size_t k = 0; k < i; k++)
            assert_true(seen[k] != seen[i]);
    }
}

/* ---- models that a task is not for */

static int try(const char *text, struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1 << 20);
    struct pr_task_run t;
    struct pr_model *m;
    int rc = pr_model_parse(text, strlen(text), "mine.yaml", NULL, a, &m, err);

    if (rc)
        fail_msg("%s: %s", text, err->msg);
    rc = pr_task_open(&t, m, 1, err);
    if (!rc)
        pr_task_close(&t);
    return rc;
}

static void models_that_do_not_fit_are_refused(void **state)
{
/* Inputs, and layers that use them all. */
#define MODEL(data, inputs, layers, losses)                    \
    "model: mine\ntitle: Mine\nsays: S.\nitem: x\ndata: " data \
    "\ninputs: {" inputs "}\nlayers: [" layers "]\nlosses: [" losses "]\n"
#define FLAT "{linear: 1, name: h}"
    static const struct {
        const char *text, *says;
    } rows[] = {
        {MODEL("nothing", "x: {shape: [4]}", FLAT, "{mse: h, target: 0}"),
         "there is no data 'nothing'"},
        {MODEL("polynomial", "powers: {shape: [4]}", FLAT,
               "{mse: h, target: 0}"),
         "data 'polynomial' makes an input 'value', which the model has not"},
        {MODEL("polynomial", "powers: {shape: [4]}, value: {shape: [2]}",
               "{linear: 2, name: h}", "{mse: h, target: value}"),
         "'value' of [1]"},
        {MODEL("polynomial", "powers: {shape: [4, 1]}, value: {shape: [1]}",
               "flatten, " FLAT, "{mse: h, target: value}"),
         "'powers' of the shape [n]"},
        {MODEL("polynomial",
               "powers: {shape: [4]}, value: {shape: [1], ids: 3}",
               "{linear: 3, name: h}", "{cross_entropy: h, target: value}"),
         "an input 'value' without ids, the model has it of"},
        {MODEL("sine", "wave: {shape: [8, 2]}, next: {shape: [8, 2]}",
               "{linear: 2, name: h}", "{mse: h, target: next}"),
         "of one shape [rows, 1]"},
        {MODEL("sine", "wave: {shape: [8, 1]}, next: {shape: [4, 1]}",
               "{slice: 0, count: 4}, {linear: 1, name: h}",
               "{mse: h, target: next}"),
         "of one shape [rows, 1]"},
        {MODEL("text", "words: {shape: [8]}, next: {shape: [8]}",
               "{linear: 8, name: h}", "{mse: h, target: next}"),
         "an input 'words' of ids, the model has it without"},
        {MODEL("text",
               "words: {shape: [8], ids: 9}, next: {shape: [8], ids: 10}",
               "{embedding: 10, name: h}", "{cross_entropy: h, target: next}"),
         "'words' and 'next' of one shape [n] and as many ids"},
        {MODEL("text",
               "words: {shape: [8], ids: 2}, next: {shape: [8], ids: 2}",
               "{embedding: 2, name: h}", "{cross_entropy: h, target: next}"),
         "as many ids"},
        {MODEL("chapters",
               "words: {shape: [8], ids: 9}, places: {shape: [8], ids: 7}, "
               "next: {shape: [8], ids: 9}",
               "{embedding: 9, name: a}, {embedding: 9, from: places, name: "
               "b}, {add: , from: [a, b], name: h}",
               "{cross_entropy: h, target: next}"),
         "data 'chapters' wants"},
        {MODEL("pictures",
               "small: {shape: [1, 4, 4]}, large: {shape: [1, 9, 9]}",
               "{upsample: 2}, {reflect_pad: [0, 0, 1, 1], name: h}",
               "{mse: h, target: large}"),
         "one a multiple of the other"},
        {MODEL("ratings",
               "user: {shape: [1], ids: 4}, thing: {shape: [2], ids: 4}, "
               "liked: {shape: [1]}",
               "{embedding: 1, name: u}, {embedding: 1, from: thing}, {slice: "
               "0, count: 1}, {add: , from: [u, slice1]}, {flatten: , name: h}",
               "{bce: h, target: liked}"),
         "each of the shape [1]"},
        {MODEL("digits", "image: {shape: [63]}, noise: {shape: [2]}",
               "{linear: 2, name: h}", "{mse: h, target: noise}"),
         "n being a square"},
        {MODEL("digits", "image: {shape: [3, 8, 8]}, noise: {shape: [2]}",
               "flatten, {linear: 2, name: h}", "{mse: h, target: noise}"),
         "[1, rows, columns]"},
        {MODEL("faces", "image: {shape: [64]}, noise: {shape: [2]}",
               "{linear: 2, name: h}", "{mse: h, target: noise}"),
         "data 'faces' wants"},
        {MODEL("style", "image: {shape: [64]}, style: {shape: [64]}",
               "{linear: 64, name: h}", "{mse: h, target: style}"),
         "data 'style' wants"},
        {MODEL("speech",
               "sound: {shape: [1, 4, 15]}, spoken: {shape: [4], ids: 5}, "
               "length: {shape: [1], ids: 5}",
               "{reshape: [4, 15]}, transpose, {linear: 5, name: h}",
               "{ctc: h, target: spoken, lengths: length}"),
         "at least four times for each of the letters"},
        {MODEL("pairs",
               "source: {shape: [8], ids: 9}, length: {shape: [1], ids: 8}, "
               "before: {shape: [8], ids: 9}, target: {shape: [8], ids: 9}",
               "{embedding: 9, name: s}, {embedding: 9, from: before, name: "
               "b}, {attention: 1, from: [b, s, s], lengths: length, name: h}",
               "{cross_entropy: h, target: target}"),
         "a 'length' of up to n"},
        {MODEL("boxes",
               "image: {shape: [3, 8, 8]}, places: {shape: [4, 256]}, kinds: "
               "{shape: [256], ids: 3}",
               "{conv: 16, name: a}, {reshape: [4, -1], name: p}, {conv: 12, "
               "from: image}, {reshape: [3, -1], name: k}",
               "{multibox: [p, k], target: [places, kinds]}"),
         "the joined maps of the loss multibox"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_err err = {0};

        if (try(rows[i].text, &err) != PR_E_CONF)
            fail_msg("row %zu is taken: %s", i, err.msg);
        if (!strstr(err.msg, rows[i].says))
            fail_msg("row %zu: %s", i, err.msg);
        assert_string_equal(err.where, "mine.yaml");
    }
}

static int attempt(void)
{
    struct pr_arena *a = pr_arena_new(1 << 20);
    struct pr_task_run t;
    static struct pr_model *m;
    int rc;

    if (!a)
        return PR_E_NOMEM;
    pr_mem_fail_after(-1); /* the model is not what is looked at */
    m = model_of(a, "ssd", true);
    pr_mem_fail_after(0);
    rc = pr_task_open(&t, m, 1, NULL);
    pr_mem_fail_after(-1);
    if (!rc)
        pr_task_close(&t);
    pr_arena_free(a);
    return rc;
}

static void without_memory_it_says_so(void **state)
{
    (void)state;
    assert_int_equal(attempt(), PR_E_NOMEM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_task_has_a_model_here),
        cmocka_unit_test(a_sample_follows_from_seed_and_place),
        cmocka_unit_test(ranks_have_parts_of_the_whole),
        cmocka_unit_test(samples_differ),
        cmocka_unit_test(each_sample_has_streams_of_its_own),
        cmocka_unit_test(models_that_do_not_fit_are_refused),
        cmocka_unit_test(without_memory_it_says_so),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
