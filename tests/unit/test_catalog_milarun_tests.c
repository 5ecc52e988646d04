/* milarun's tests as work of ours: each of them, its arguments, and what is
 * wrong with them. */
#include "catalog/milarun_tests.h"

#include "torture.h"

#include "base/json/json.h"

#include <string.h>

enum { WORDS = 40 };

struct result {
    int rc;
    struct pr_arena *arena;
    struct pr_milarun_work work;
    struct pr_buf notes;
    struct pr_err err;
};

/* args: words with blanks between. */
static struct result ask_here(const char *experiment, const char *args,
                              const char *dataroot, bool half)
{
    struct result r = {.notes = PR_BUF_INIT(65536)};
    const char *argv[WORDS];
    struct pr_milarun_ask ask = {.experiment = experiment,
                                 .argv = argv,
                                 .dataroot = dataroot,
                                 .devices = 3,
                                 .half = half};
    char *copy;

    r.arena = pr_arena_new(4096);
    assert_non_null(r.arena);
    copy = pr_arena_str(r.arena, args);
    for (char *save, *w = strtok_r(copy, " ", &save); w;
         w = strtok_r(NULL, " ", &save)) {
        assert_true(ask.argc < WORDS);
        argv[ask.argc++] = w;
    }
    r.rc = pr_milarun_make_work(&ask, r.arena, &r.work, &r.notes, &r.err);
    return r;
}

static struct result ask(const char *experiment, const char *args)
{
    return ask_here(experiment, args, "/nowhere/data", false);
}

static void done(struct result *r)
{
    pr_arena_free(r->arena);
    pr_buf_free(&r->notes);
}

/* A parameter as JSON; "-" when it is not there. */
static const char *text_of(struct result *r, const struct pr_value *map,
                           const char *name)
{
    const struct pr_value *v = pr_get(map, name);
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(4096);

    if (!v)
        return "-";
    pr_json_write(&out, v);
    assert_true(pr_buf_ok(&out));
    return pr_arena_copy(r->arena, out.data, out.len);
}

static void expect(struct result *r, const char *name, const char *json)
{
    assert_int_equal(r->rc, PR_OK);
    assert_null(r->work.missing);
    assert_string_equal(text_of(r, &r->work.params, name), json);
}

/* ---- every test of milarun's standard suite, with the arguments it has */

struct standard {
    const char *experiment, *args, *model, *batch, *count;
    const char *missing; /* words of the reason */
};

static const struct standard all[] = {
    {"milarun.models.polynome:main",
     "--poly-degree 4 --batch-size 256 --cuda --max-count 20000000",
     "\"toy_reg\"", "256", "20000000", NULL},
    {"milarun.models.sine_wave:main",
     "--dtype float32 --samples 100 --cuda --max-count 8000", "\"toy_lstm\"",
     "100", "8000", NULL},
    {"milarun.models.vae:main",
     "--dataset milarun.datasets:mnist --batch-size 128 --cuda --max-count "
     "500000",
     "\"vae\"", "128", "500000", NULL},
    {"milarun.models.loader:main",
     "--dataset milarun.datasets:fake_imagenet --batch-size 256 --workers 8 "
     "--cuda --max-count 25000",
     "-", "256", "25000", NULL},
    {"milarun.models.subpixel:main",
     "--dataset milarun.datasets:bsds500_reso --batch-size 64 --lr 0.1 "
     "--upscale-factor 2 --workers 8 --cuda --max-count 20000",
     "\"reso\"", "64", "20000", NULL},
    {"milarun.models.rnn_translator:main",
     "--dataset milarun.datasets:wmt16 --batch-size 64 --target-bleu 21.8 "
     "--workers 8 --cuda --max-count 10000",
     "\"translator\"", "64", "10000", NULL},
    {"milarun.models.wlm:main",
     "--dataset milarun.datasets:wiki2 --batch-size 64 --emsize 656 --nhid 656 "
     "--dropout 0.5 --model GRU --cuda --max-count 50000",
     "\"wlm\"", "64", "50000", NULL},
    {"milarun.models.wlm:main_fp16",
     "--dataset milarun.datasets:wiki2 --batch-size 128 --emsize 656 --nhid "
     "656 --dropout 0.5 --model GRU --cuda --max-count 100000",
     NULL, NULL, NULL, "half precision"},
    {"milarun.models.cart_pole:main",
     "--gamma 0.99 --no-render --episode-length 500 --no-cuda --max-count "
     "100000",
     "\"cart\"", "-", "100000", NULL},
    {"milarun.models.minigrid:main",
     "--env BabyAI-UnlockPickup-v0 --cuda --max-count 50000", NULL, NULL, NULL,
     "BabyAI"},
    {"milarun.models.atari:main",
     "--env-name PongNoFrameskip-v4 --num-steps 128 --algo ppo --max-count "
     "1000",
     NULL, NULL, NULL, "Pong"},
    {"milarun.models.ssd:main",
     "--dataset milarun.datasets:coco --batch-size 64 --cuda --max-count 2500",
     "\"ssd\"", "64", "2500", NULL},
    {"milarun.models.neural_style:main",
     "--dataset milarun.datasets:fake_imagenet --batch-size 128 --image-size "
     "64 --style-size 64 --workers 8 --cuda --max-count 20000",
     "\"fast_style\"", "128", "20000", NULL},
    {"milarun.models.dcgan:main",
     "--dataset milarun.datasets:fake_imagenet --batch-size 128 --image-size "
     "64 --workers 8 --cuda --max-count 20000",
     "\"dcgan\"", "128", "20000", NULL},
    {"milarun.models.convnet:conv_simple",
     "--dataset milarun.datasets:fake_imagenet --arch resnet101 --batch-size "
     "64 --lr 0.1 --workers 8 --cuda --max-count 5000",
     "\"resnet101\"", "64", "5000", NULL},
    {"milarun.models.convnet:conv_simple",
     "--dataset milarun.datasets:fake_imagenet --arch resnet101 --batch-size "
     "128 --lr 0.1 --half --workers 8 --cuda --max-count 10000",
     NULL, NULL, NULL, "half precision"},
    {"milarun.models.recommendation:main",
     "--dataset milarun.datasets:ml20m --layers 256,256,128,64 -f 64 -l 0.0005 "
     "--batch-size 2048 --workers 8 --cuda --max-count 1000000",
     "\"recom\"", "2048", "1000000", NULL},
    {"milarun.models.scaling:main",
     "--network alexnet --batch-size 64 --cuda --max-count 50000",
     "\"alexnet_owt\"", "64", "150000", NULL}, /* of three */
};

static void every_test_of_the_standard_suite_has_a_row(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct result r = ask(all[i].experiment, all[i].args);

        assert_int_equal(r.rc, PR_OK);
        assert_int_equal(r.notes.len, 0); /* all of it is known */
        if (all[i].missing) {
            assert_non_null(r.work.missing);
            assert_non_null(strstr(r.work.missing, all[i].missing));
        } else {
            expect(&r, "exp.model", all[i].model);
            expect(&r, "exp.replica_batch", all[i].batch);
            expect(&r, "nn.max_count", all[i].count);
            expect(&r, "nn.sample_duration", "0.5");
        }
        done(&r);
    }
}

static void sizes_become_those_of_the_model(void **state)
{
    struct result r = ask(all[16].experiment, all[16].args);

    (void)state;
    expect(&r, "exp.model_opts", "{\"width\": 64, \"hidden\": 128}");
    expect(&r, "nn.learning_rate", "0.0005");
    done(&r);
    r = ask("milarun.models.subpixel:main", "--upscale-factor=4");
    expect(&r, "exp.model_opts", "{\"factor\": 4, \"side\": 64}");
    done(&r);
    r = ask("milarun.models.wlm:main",
            "--model-name GRU --emsize 100 --nhid 50 --dropout 0.5 --bptt 20");
    expect(&r, "exp.model_opts", "{\"width\": 100, \"rows\": 20}");
    assert_non_null(strstr(r.notes.data, "--nhid"));
    done(&r);
}

static void replicas_are_the_devices(void **state)
{
    struct result r = ask("milarun.models.scaling:main", "--network resnet50");

    (void)state;
    expect(&r, "exp.num_local_replicas", "3");
    expect(&r, "exp.model", "\"resnet50\"");
    done(&r);
    r = ask("prony.scaling:alexnet_owt", "--batch-size 4");
    expect(&r, "exp.num_local_replicas", "3");
    expect(&r, "exp.effective_batch", "12");
    done(&r);
    r = ask("milarun.models.vae:main", "");
    expect(&r, "exp.num_local_replicas", "-");
    expect(&r, "exp.replica_batch", "256"); /* milarun's default */
    done(&r);
}

static void half_is_bfloat16_where_it_is(void **state)
{
    struct result r = ask_here(all[15].experiment, all[15].args, "/d", true);

    (void)state;
    expect(&r, "exp.dtype", "\"bfloat16\"");
    assert_non_null(strstr(r.notes.data, "bfloat16"));
    done(&r);
    r = ask_here(all[14].experiment, all[14].args, "/d", true);
    expect(&r, "exp.dtype", "-");
    done(&r);
}

static void images_are_made_under_the_data_root(void **state)
{
    struct result r = ask(all[3].experiment, all[3].args);

    (void)state;
    expect(&r, "exp.data_dir", "\"/nowhere/data/prony-images\"");
    expect(&r, "workflow.generate_data", "true");
    expect(&r, "dataset.format", "\"jpeg\"");
    expect(&r, "reader.read_threads", "8");
    expect(&r, "exp.workload", "\"loader\"");
    done(&r);
}

static void ours_take_what_they_need(void **state)
{
    struct result r = ask("prony.native:vae",
                          "--batch-size 64 --steady 0.02 --max-time 9 "
                          "--exp.model_opts={\"width\":100} --nn.peak false");

    (void)state;
    expect(&r, "exp.model", "\"vae\"");
    expect(&r, "exp.framework", "\"native\"");
    expect(&r, "nn.steady", "0.02");
    expect(&r, "nn.max_time", "9.0");
    expect(&r, "exp.model_opts", "{\"width\": 100}");
    expect(&r, "nn.peak", "false");
    expect(&r, "nn.max_count", "-"); /* milarun's defaults are milarun's */
    assert_true(pr_milarun_is_ours("prony.native:vae"));
    assert_false(pr_milarun_is_ours("milarun.models.vae:main"));
    done(&r);
    r = ask("prony.native:resnet18", "--dataset images --batch-size 4");
    expect(&r, "exp.data_dir", "\"/nowhere/data/prony-images\"");
    done(&r);
    r = ask("prony.native:", "");
    assert_non_null(r.work.missing);
    done(&r);
    r = ask("milarun.models.other:main", "");
    assert_non_null(r.work.missing);
    done(&r);
}

/* ---- argparse */

static void arguments_are_those_of_argparse(void **state)
{
    struct result r =
        ask("milarun.models.vae:main",
            "--batch 64 --max-count=1_000 --cuda --no-cuda --batch-size 32 "
            "--sample-duration 1e-1");

    (void)state;
    expect(&r, "exp.replica_batch", "32"); /* the last one */
    expect(&r, "nn.max_count", "1000");
    assert_string_equal(text_of(&r, &r.work.arguments, "batch_size"), "32");
    assert_string_equal(text_of(&r, &r.work.arguments, "cuda"), "false");
    assert_string_equal(text_of(&r, &r.work.arguments, "seed"), "-");
    done(&r);
    r = ask("milarun.models.recommendation:main",
            "-f32 --layers 64,64,32,16 -l 1e-3");
    expect(&r, "exp.model_opts", "{\"width\": 32, \"hidden\": 32}");
    assert_string_equal(text_of(&r, &r.work.arguments, "factors"), "32");
    done(&r);
}

static void what_is_not_known_is_said(void **state)
{
    struct result r = ask("milarun.models.vae:main",
                          "--batch-sise 64 --nonsense --max-count 5 more");

    (void)state;
    expect(&r, "nn.max_count", "5");
    expect(&r, "exp.replica_batch", "256");
    assert_non_null(strstr(r.notes.data, "'--batch-sise 64'"));
    assert_non_null(strstr(r.notes.data, "did you mean --batch-size?"));
    assert_non_null(strstr(r.notes.data, "'--nonsense'"));
    assert_non_null(strstr(r.notes.data, "'more'"));
    done(&r);
    r = ask("milarun.models.cart_pole:main", "--render --gamma 0.9");
    assert_non_null(strstr(r.notes.data, "--render: is not done here"));
    assert_non_null(strstr(r.notes.data, "--gamma: 0.9 is not"));
    done(&r);
    r = ask("milarun.models.vae:main", "--dataset my.own:set");
    assert_non_null(strstr(r.notes.data, "not known"));
    done(&r);
}

static void mistakes_are_errors(void **state)
{
    static const struct {
        const char *experiment, *args, *words;
    } bad[] = {
        {"milarun.models.vae:main", "--batch-size many",
         "--batch-size wants a whole number, got 'many'"},
        {"milarun.models.vae:main", "--batch-size 1e3", "whole number"},
        {"milarun.models.vae:main", "--batch-size 1__0", "whole number"},
        {"milarun.models.vae:main", "--batch-size _1", "whole number"},
        {"milarun.models.vae:main", "--batch-size 9999999999999999999",
         "whole number"},
        {"milarun.models.vae:main", "--sample-duration _", "a number"},
        {"milarun.models.vae:main", "--sample-duration 1__0", "a number"},
        {"milarun.models.vae:main", "--batch-size 99999999999999999999",
         "whole number"},
        {"milarun.models.vae:main", "--sample-duration .e", "a number"},
        {"milarun.models.vae:main", "--sample-duration 1e", "a number"},
        {"milarun.models.vae:main", "--batch-size", "wants a value"},
        {"milarun.models.vae:main", "--batch-size --cuda", "wants a value"},
        {"milarun.models.vae:main", "--nn.threads", "wants a value"},
        {"milarun.models.vae:main", "--s 1", "may be"},
        {"milarun.models.subpixel:main", "--upscale-factor 0", "from 1 to 64"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct result r = ask(bad[i].experiment, bad[i].args);

        assert_int_equal(r.rc, PR_E_CONF);
        assert_non_null(strstr(r.err.msg, bad[i].words));
        done(&r);
    }
}

static void other_networks_are_not_there(void **state)
{
    static const struct {
        const char *experiment, *args, *words;
    } rows[] = {
        {"milarun.models.wlm:main", "--emsize 10 --nhid 10", "GRU"},
        {"milarun.models.wlm:main", "--model GRU --nlayers 3", "--nlayers"},
        {"milarun.models.dcgan:main", "--image-size 128", "--image-size"},
        {"milarun.models.recommendation:main", "", "--layers"},
        {"milarun.models.scaling:main", "", "which network"},
        {"milarun.models.sine_wave:main", "--dtype float64", "float32"},
        {"milarun.models.rnn_translator:main", "--math fp16", "half"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct result r = ask(rows[i].experiment, rows[i].args);

        assert_int_equal(r.rc, PR_OK);
        assert_non_null(r.work.missing);
        assert_non_null(strstr(r.work.missing, rows[i].words));
        done(&r);
    }
}

static int attempt(void)
{
    static const char *const argv[] = {
        "--dataset", "milarun.datasets:fake_imagenet",
        "--arch",    "alexnet",
        "--nn.peak", "[1, 2]",
    };
    struct pr_milarun_ask a = {.experiment =
                                   "milarun.models.convnet:conv_simple",
                               .argv = argv,
                               .argc = 6,
                               .dataroot = "/d"};
    PR_AUTO_ARENA struct pr_arena *arena = pr_arena_new(256);
    PR_AUTO_BUF struct pr_buf notes = PR_BUF_INIT(4096);
    struct pr_milarun_work w;

    return arena ? pr_milarun_make_work(&a, arena, &w, &notes, NULL)
                 : PR_E_NOMEM;
}

static void memory_may_end(void **state)
{
    (void)state;
    torture(attempt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_test_of_the_standard_suite_has_a_row),
        cmocka_unit_test(sizes_become_those_of_the_model),
        cmocka_unit_test(replicas_are_the_devices),
        cmocka_unit_test(half_is_bfloat16_where_it_is),
        cmocka_unit_test(images_are_made_under_the_data_root),
        cmocka_unit_test(ours_take_what_they_need),
        cmocka_unit_test(arguments_are_those_of_argparse),
        cmocka_unit_test(what_is_not_known_is_said),
        cmocka_unit_test(mistakes_are_errors),
        cmocka_unit_test(other_networks_are_not_there),
        cmocka_unit_test(memory_may_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
