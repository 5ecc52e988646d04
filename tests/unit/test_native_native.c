/* A native training from its parameters: what they choose, and what they
 * cannot. */
#include "native/images/image_set.h"
#include "native/native.h"
#include "native/native_source.h"

#include "skip.h"
#include "values.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* A model that is small enough to be read in a glance. */
static const char definition[] =
    "model: tiny\ntitle: Tiny\nsays: Two layers.\nitem: image\n"
    "input: [2, 12, 12]\nclasses: 12\n"
    "optimizer: {name: sgd, learning_rate: 0.25, momentum: 0.5, "
    "weight_decay: 0.125}\n"
    "layers:\n  - {conv: 4, kernel: 3}\n  - relu\n"
    "  - {linear: $classes, name: head}\n";

static char folder[] = "/tmp/prony-test-XXXXXX";
static char path[64];

static int make_model(void **state)
{
    FILE *f;

    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/tiny.yaml", folder);
    f = fopen(path, "w");
    return f && fputs(definition, f) >= 0 && fclose(f) == 0 ? 0 : -1;
}

static int remove_model(void **state)
{
    (void)state;
    return unlink(path) || rmdir(folder);
}

/* Parameters as JSON, after those that every job here has. */
static int init(struct pr_arena *a, const char *params, struct pr_native *n,
                struct pr_buf *notes, struct pr_err *err)
{
    struct pr_job *job = PR_ARENA_NEW(a, struct pr_job);
    struct pr_value *map = PR_ARENA_NEW(a, struct pr_value);
    char *text = strstr(params, "\"exp.model\"")
                     ? pr_arena_printf(a, "{%s}", params)
                     : pr_arena_printf(a, "{\"exp.model\": \"%s\"%s%s}", path,
                                       *params ? ", " : "", params);

    assert_non_null(job);
    assert_non_null(map);
    *map = json(a, text);
    assert_int_equal(pr_job_init(job, "0001", folder, map, a, NULL), PR_OK);
    return pr_native_init(n, job, notes, err);
}

static void the_model_says_how_to_train(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
    struct pr_native n;

    (void)state;
    assert_int_equal(init(a, "", &n, NULL, NULL), PR_OK);
    assert_int_equal(n.net.optimizer.kind, PR_SGD);
    assert_true(fabs(n.net.optimizer.learning_rate - 0.25) < 1e-12);
    assert_true(fabs(n.net.optimizer.momentum - 0.5) < 1e-12);
    assert_true(fabs(n.net.optimizer.weight_decay - 0.125) < 1e-12);
    assert_true(n.net.training);
    assert_false(n.net.no_dropout);
    assert_int_equal(n.net.dtype, PR_NN_F32);
    assert_int_equal(n.batch, 16);
    assert_int_equal(n.net.batch, 16);
    assert_int_equal(n.warmup, 1);
    assert_int_equal(n.batches, 100);
    assert_int_equal(n.from, PR_NATIVE_NOISE);
    assert_int_equal(n.net.seed, 1);
}

static void parameters_change_the_optimiser(void **state)
{
    static const struct {
        const char *params;
        enum pr_optimizer kind;
        double rate, momentum, decay;
    } rows[] = {
        {"\"nn.learning_rate\": 0", PR_SGD, 0, 0.5, 0.125},
        {"\"nn.momentum\": 0, \"nn.weight_decay\": 0", PR_SGD, 0.25, 0, 0},
        {"\"nn.optimizer\": \"sgd\"", PR_SGD, 0.25, 0.5, 0.125},
        /* not the model's own: what PyTorch would take */
        {"\"nn.optimizer\": \"adam\"", PR_ADAM, 1e-3, 0, 0.125},
        {"\"nn.optimizer\": \"adam\", \"nn.learning_rate\": 0.5", PR_ADAM, 0.5,
         0, 0.125},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
        const struct pr_optimizer_opts *o;
        struct pr_native n;

        assert_int_equal(init(a, rows[i].params, &n, NULL, NULL), PR_OK);
        o = &n.net.optimizer;
        assert_int_equal(o->kind, rows[i].kind);
        assert_true(fabs(o->learning_rate - rows[i].rate) < 1e-12);
        assert_true(fabs(o->momentum - rows[i].momentum) < 1e-12);
        assert_true(fabs(o->weight_decay - rows[i].decay) < 1e-12);
        if (o->kind == PR_ADAM)
            assert_true(o->beta1 > 0.89 && o->beta2 > 0.99 && o->epsilon > 0);
    }
}

static void samples_to_measure_become_batches(void **state)
{
    static const struct {
        const char *params;
        uint64_t batches;
    } rows[] = {
        {"\"exp.num_batches\": 7", 7},
        {"\"nn.max_count\": 1, \"exp.num_batches\": 7", 1},
        {"\"nn.max_count\": 32", 2},
        {"\"nn.max_count\": 33", 3},
        {"\"nn.max_count\": 33, \"exp.replica_batch\": 1", 33},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
        struct pr_native n;

        assert_int_equal(init(a, rows[i].params, &n, NULL, NULL), PR_OK);
        assert_int_equal(n.batches, rows[i].batches);
    }
}

static void what_cannot_be_is_refused(void **state)
{
    static const struct {
        const char *params;
        int code;
        const char *says;
    } rows[] = {
        {"\"exp.dtype\": \"int8\"", PR_E_UNAVAIL, "int8"},
        {"\"exp.dtype\": \"float16\"", PR_E_UNAVAIL, "float16"},
        {"\"exp.replica_batch\": 0", PR_E_CONF, "no sample"},
        {"\"exp.num_batches\": 0", PR_E_CONF, "no batch"},
        {"\"exp.model_opts\": [1]", PR_E_CONF, "not a map"},
        {"\"exp.num_local_replicas\": 1, \"exp.num_replicas\": 2", PR_E_CONF,
         "1 of 2 replicas"},
        {"\"nn.learning_rate\": -0.5", PR_E_CONF, "at least 0, got -0.5"},
        {"\"nn.momentum\": -0.25", PR_E_CONF, "at least 0, got -0.25"},
        {"\"nn.weight_decay\": -0.125", PR_E_CONF, "got -0.125"},
        {"\"nn.data\": \"digits\", \"nn.samples\": 15", PR_E_CONF, "batch"},
        {"\"nn.data\": \"digits\", \"nn.samples\": 31, "
         "\"exp.num_local_replicas\": 2",
         PR_E_CONF, "31 samples do not make a batch of 32"},
        {"\"nn.data\": \"digits\", \"exp.model_opts\": {\"classes\": 9}",
         PR_E_CONF, "10 classes"},
        {"\"nn.data\": \"digits\", \"exp.model_opts\": {\"input\": [1, 7, 9]}",
         PR_E_CONF, "cannot be drawn"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
        struct pr_err err = {0};
        struct pr_native n;

        assert_int_equal(init(a, rows[i].params, &n, NULL, &err), rows[i].code);
        if (!strstr(err.msg, rows[i].says))
            fail_msg("%s: %s", rows[i].params, err.msg);
    }
}

static void what_does_nothing_is_warned_of(void **state)
{
    static const struct {
        const char *params, *says;
    } rows[] = {
        {"\"nn.seed\": 7", ""},
        {"\"nn.compile\": true", "nn.compile"},
        {"\"nn.channels_last\": true", "nn.channels_last"},
        {"\"nn.amp\": true", "nn.amp"},
        {"\"nn.evaluate\": 3", "noise"},
        {"\"nn.evaluate\": 3, \"nn.data\": \"digits\"", ""},
        {"\"nn.save_gradients\": true", "nn.save"},
        {"\"exp.num_local_replicas\": 2", ""},
        {"\"exp.gpus\": \"0\"", "no GPU is used"},
        {"\"nn.threads\": 4000", "nn.threads: 4000 threads share"},
        {"\"nn.threads\": 1, \"nn.learning_rate\": -1", ""},
        {"\"nn.momentum\": 0.5", ""},
        {"\"nn.momentum\": 0.5, \"nn.optimizer\": \"adam\"", "nn.momentum"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
        PR_AUTO_BUF struct pr_buf notes = PR_BUF_INIT(4096);
        struct pr_native n;
        const char *said;

        assert_int_equal(init(a, rows[i].params, &n, &notes, NULL), PR_OK);
        said = notes.data ? notes.data : "";
        if (!*rows[i].says)
            assert_string_equal(said, "");
        else if (!strstr(said, rows[i].says))
            fail_msg("%s: %s", rows[i].params, said);
    }
}

static void a_data_set_is_read_when_one_is_named(void **state)
{
    static const struct {
        const char *params;
        enum pr_native_from from;
    } rows[] = {
        {"\"dataset.data_folder\": \"./data/\"", PR_NATIVE_NOISE},
        {"\"dataset.data_folder\": \"mine\"", PR_NATIVE_SET},
        {"\"exp.data\": \"real\"", PR_NATIVE_SET},
        {"\"exp.data_dir\": \"mine\"", PR_NATIVE_SET},
        {"\"workflow.generate_data\": true", PR_NATIVE_SET},
        {"\"workflow.generate_data\": true, \"nn.data\": \"digits\"",
         PR_NATIVE_SET},
        {"\"nn.data\": \"digits\"", PR_NATIVE_DIGITS},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
        struct pr_native n;

        assert_int_equal(init(a, rows[i].params, &n, NULL, NULL), PR_OK);
        assert_int_equal(n.from, rows[i].from);
    }
}

/* One that is bundled. */
static int init_bundled(struct pr_arena *a, const char *model,
                        const char *params, struct pr_native *n,
                        struct pr_err *err)
{
    const char *src = getenv("SRC");

    return init(a,
                pr_arena_printf(a,
                                "\"exp.model\": \"%s/models/%s.yaml\", "
                                "\"nn.tiny\": true%s%s",
                                src ? src : ".", model, *params ? ", " : "",
                                params),
                n, NULL, err);
}

static void the_model_says_what_its_data_are(void **state)
{
    static const struct {
        const char *model, *params;
        enum pr_native_from from;
        uint64_t batch, batches;
        unsigned threads; /* few operations are for one */
    } rows[] = {
        {"wlm", "", PR_NATIVE_TASK, 16, 100, 1},
        {"wlm", "\"nn.threads\": 3", PR_NATIVE_TASK, 16, 100, 3},
        {"wlm", "\"nn.data\": \"noise\"", PR_NATIVE_NOISE, 16, 100, 1},
        {"gpt", "\"nn.max_count\": 193", PR_NATIVE_TASK, 16, 2, 1},
        {"ssd", "", PR_NATIVE_TASK, 16, 100, 0},
        {"vae", "", PR_NATIVE_TASK, 16, 100, 1},
        {"lenet", "", PR_NATIVE_NOISE, 16, 100, 0},
        {"lenet", "\"nn.data\": \"digits\"", PR_NATIVE_DIGITS, 16, 100, 0},
        {"cart", "", PR_NATIVE_CARTPOLE, 200, 100, 1},
        {"cart", "\"nn.max_count\": 50", PR_NATIVE_CARTPOLE, 200, 50, 1},
        {"cart", "\"nn.data\": \"noise\"", PR_NATIVE_NOISE, 16, 100, 1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
        struct pr_err err = {0};
        struct pr_native n;

        if (init_bundled(a, rows[i].model, rows[i].params, &n, &err))
            fail_msg("%s: %s", rows[i].model, err.msg);
        assert_int_equal(n.from, rows[i].from);
        assert_int_equal(n.batch, rows[i].batch);
        assert_int_equal(n.net.batch, rows[i].batch);
        assert_int_equal(n.batches, rows[i].batches);
        assert_int_equal(n.net.threads, rows[i].threads);
    }
}

static void other_data_are_refused(void **state)
{
    static const struct {
        const char *model, *params, *says;
    } rows[] = {
        {"wlm", "\"nn.data\": \"digits\"", "digits are not for it"},
        {"cart", "\"nn.data\": \"digits\"", "digits are not for it"},
        {"vae", "\"nn.data\": \"digits\"", "digits are not for it"},
        {"wlm", "\"exp.data_dir\": \"x\"", "images and their classes"},
        {"bert", "\"exp.model_opts\": {\"masked\": 4}", "a quarter of them"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
        struct pr_err err = {0};
        struct pr_native n;

        assert_int_equal(
            init_bundled(a, rows[i].model, rows[i].params, &n, &err),
            PR_E_CONF);
        if (!strstr(err.msg, rows[i].says))
            fail_msg("%s: %s", rows[i].model, err.msg);
    }
}

/* ---- batches */

enum { BATCH = 4, ELEMENTS = 2 * 12 * 12 };

static float input[BATCH * ELEMENTS];
static int32_t labels[BATCH];

/* A source, and a net of which it fills the inputs. */
struct flow {
    struct pr_native n;
    struct pr_native_source s;
    struct pr_net *net;
};

/* Skips the test without oneDNN here. */
static void start_flow(struct flow *f)
{
    struct pr_err err = {0};
    char version[32];

    if (!pr_net_is_available(version, &err))
        skip_for(&err);
    f->n.net.threads = 1;
    assert_int_equal(pr_native_source_open(&f->s, &f->n, NULL, NULL, NULL),
                     PR_OK);
    if (pr_net_new(f->n.model, &f->n.net, &f->net, &err))
        fail_msg("%s: %s", err.where, err.msg);
}

static void open_source(struct pr_arena *a, const char *params, struct flow *f)
{
    assert_int_equal(init(a, params, &f->n, NULL, NULL), PR_OK);
    start_flow(f);
}

static void close_source(struct flow *f)
{
    pr_native_source_close(&f->s);
    pr_net_free(f->net);
}

static void take(struct flow *f)
{
    memcpy(input, pr_net_input(f->net, 0), sizeof input);
    memcpy(labels, pr_net_input(f->net, 1), sizeof labels);
}

static void next(struct flow *f)
{
    uint64_t wait = 77;

    assert_int_equal(pr_native_source_next(&f->s, f->net, &wait, NULL), PR_OK);
    assert_int_equal(wait, 0);
    take(f);
}

static void noise_is_made_once(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
    struct flow f;
    double sum = 0, squares = 0;

    (void)state;
    open_source(a, "\"exp.replica_batch\": 4", &f);
    next(&f);
    for (size_t i = 0; i < BATCH * ELEMENTS; i++) {
        sum += input[i];
        squares += input[i] * input[i];
    }
    sum /= BATCH * ELEMENTS;
    squares /= BATCH * ELEMENTS;
    assert_true(fabs(sum) < 0.15 && fabs(squares - 1) < 0.15);
    for (size_t i = 0; i < BATCH; i++)
        assert_in_range(labels[i], 0, 11);
    ((float *)pr_net_input(f.net, 0))[5] = 99;
    next(&f);
    assert_true(input[5] > 98); /* it was left alone */
    close_source(&f);
}

/* Every sample comes once in an epoch, in another order in the next. */
static void digits_come_in_epochs(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
    static float first[8][ELEMENTS];
    unsigned seen[2][8] = {{0}}, moved = 0;
    struct flow f;

    (void)state;
    open_source(a,
                "\"exp.replica_batch\": 4, \"nn.data\": \"digits\", "
                "\"nn.samples\": 11",
                &f);
    /* Eleven samples are two batches of four; three are left over. */
    for (unsigned e = 0; e < 6; e++)
        for (unsigned b = 0; b < 2; b++) {
            next(&f);
            for (unsigned i = 0; i < BATCH; i++) {
                const float *x = input + i * ELEMENTS;

                assert_memory_equal(x, x + ELEMENTS / 2, ELEMENTS / 2);
                for (unsigned k = 0; e && e < 3 && k < 8; k++)
                    if (!memcmp(x, first[k], sizeof first[k])) {
                        seen[e - 1][k]++;
                        moved += k != b * BATCH + i;
                    }
                if (!e)
                    memcpy(first[b * BATCH + i], x, sizeof first[0]);
            }
        }
    for (unsigned i = 0; i < 8; i++)
        assert_true(seen[0][i] <= 1 && seen[1][i] <= 1);
    assert_true(moved > 4);
    close_source(&f);
}

/* What is held out does not disturb what is kept. */
static void held_out_digits_are_others(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
    static float before[BATCH * ELEMENTS];
    struct flow f;

    (void)state;
    open_source(a,
                "\"exp.replica_batch\": 4, \"nn.data\": \"digits\", "
                "\"nn.samples\": 4",
                &f);
    next(&f);
    memcpy(before, input, sizeof before);
    assert_int_equal(pr_native_source_next_held_out(&f.s, 0, f.net, NULL),
                     PR_OK);
    take(&f);
    for (unsigned i = 0; i < BATCH; i++)
        for (unsigned k = 0; k < BATCH; k++)
            assert_memory_not_equal(input + i * ELEMENTS, before + k * ELEMENTS,
                                    ELEMENTS * sizeof *input);
    next(&f); /* the same four in another order */
    for (unsigned i = 0; i < BATCH; i++) {
        unsigned found = 0;

        for (unsigned k = 0; k < BATCH; k++)
            found += !memcmp(input + i * ELEMENTS, before + k * ELEMENTS,
                             ELEMENTS * sizeof *input);
        assert_int_equal(found, 1);
    }
    close_source(&f);
}

/* Two processes together see what one with twice the batch would. */
static void ranks_share_what_one_would_see(void **state)
{
    static const char *const data[] = {"", "digits"};
    static float whole[2 * BATCH * ELEMENTS];

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
        struct flow f;

        open_source(a,
                    pr_arena_printf(a,
                                    "\"exp.replica_batch\": 8, \"nn.data\": "
                                    "\"%s\"",
                                    data[i]),
                    &f);
        next(&f);
        memcpy(whole, pr_net_input(f.net, 0), sizeof whole);
        close_source(&f);
        for (unsigned rank = 0; rank < 2; rank++) {
            open_source(a,
                        pr_arena_printf(a,
                                        "\"exp.replica_batch\": 4, "
                                        "\"exp.num_local_replicas\": 2, "
                                        "\"nn.data\": \"%s\"",
                                        data[i]),
                        &f);
            assert_int_equal(f.n.ranks, 2);
            f.n.rank = rank;
            next(&f);
            assert_memory_equal(input, whole + rank * BATCH * ELEMENTS,
                                sizeof input);
            close_source(&f);
        }
    }
}

/* Seven inputs, of the second of two ranks: its columns of each step, then
 * those of a step that is held out. */
static void a_task_fills_every_input(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
    static const uint64_t steps[] = {0, 1, (uint64_t)1 << 40};
    struct pr_task_run t;
    struct flow f;

    (void)state;
    assert_int_equal(init_bundled(a, "bert",
                                  "\"exp.replica_batch\": 4, "
                                  "\"exp.num_local_replicas\": 2",
                                  &f.n, NULL),
                     PR_OK);
    f.n.rank = 1;
    start_flow(&f);
    assert_int_equal(f.n.model->input_count, 7);
    assert_int_equal(pr_task_open(&t, f.n.model, 1, NULL), PR_OK);
    for (size_t s = 0; s < 3; s++) {
        void *want[7];
        size_t bytes[7];
        uint64_t wait = 0;

        for (unsigned i = 0; i < 7; i++) {
            bytes[i] = BATCH * sizeof(float) *
                       (size_t)f.n.model->layers[i].shape.at[0];
            want[i] = malloc(bytes[i]);
            assert_non_null(want[i]);
        }
        pr_task_fill_batch(&t, steps[s], BATCH, BATCH, (uint64_t)2 * BATCH,
                           want);
        assert_int_equal(
            s < 2 ? pr_native_source_next(&f.s, f.net, &wait, NULL)
                  : pr_native_source_next_held_out(&f.s, 0, f.net, NULL),
            PR_OK);
        for (unsigned i = 0; i < 7; i++) {
            assert_memory_equal(pr_net_input(f.net, i), want[i], bytes[i]);
            free(want[i]);
        }
    }
    pr_task_close(&t);
    close_source(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_model_says_how_to_train),
        cmocka_unit_test(parameters_change_the_optimiser),
        cmocka_unit_test(samples_to_measure_become_batches),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(what_does_nothing_is_warned_of),
        cmocka_unit_test(a_data_set_is_read_when_one_is_named),
        cmocka_unit_test(the_model_says_what_its_data_are),
        cmocka_unit_test(other_data_are_refused),
        cmocka_unit_test(noise_is_made_once),
        cmocka_unit_test(digits_come_in_epochs),
        cmocka_unit_test(held_out_digits_are_others),
        cmocka_unit_test(ranks_share_what_one_would_see),
        cmocka_unit_test(a_task_fills_every_input),
    };

    return cmocka_run_group_tests(tests, make_model, remove_model);
}
