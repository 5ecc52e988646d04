/* capacity.json there and back, and what people read. */
#include "analyse/capacity/capacity_record.h"
#include "base/file.h"
#include "present/report/report_capacity.h"
#include "scratch.h"
#include "torture.h"

#include <math.h>

static const struct pr_capacity_measures unknown = {NAN, NAN, NAN, NAN,  NAN,
                                                    NAN, NAN, "",  false};

static struct pr_capacity_trial trial(uint64_t n, double utilisation)
{
    struct pr_capacity_trial t = {.kind = PR_CAPACITY_FULL,
                                  .accelerators = n,
                                  .utilisation = utilisation,
                                  .samples_per_second = 10.0 * (double)n,
                                  .mb_per_second = 100.0 * (double)n,
                                  .seconds = 1.5,
                                  .figures = unknown};

    snprintf(t.name, sizeof t.name, "0001-a%u-r1", (unsigned)n);
    return t;
}

/* 23 meet the threshold, 24 do not. */
static void fill(struct pr_capacity_record *r, struct pr_capacity_trial all[8])
{
    *r = (struct pr_capacity_record){
        .target = "workloads/unet3d_h100.yaml",
        .model = "unet3d",
        .accelerator = "H100",
        .opts = {.threshold = 0.9,
                 .confidence = 0.95,
                 .min = 1,
                 .max = 1000,
                 .repeats = 8,
                 .need = 20},
        .asked_max = 1000,
        .steps = 46,
        .done = true,
        .trials = all,
        .count = 5,
        .notes = {"a note"},
        .note_count = 1,
    };
    all[0] = trial(1, 0.995);
    all[1] = trial(23, 0.912);
    all[2] = trial(23, 0.914);
    all[3] = trial(24, 0.880);
    all[4] = trial(24, 0.882);
}

static void write_json(const struct pr_capacity_record *r)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 20);

    assert_int_equal(pr_capacity_record_write(r, &out, NULL), PR_OK);
    assert_int_equal(pr_file_write("capacity.json", out.data, out.len, NULL),
                     PR_OK);
}

static void a_record_comes_back(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    PR_AUTO_BUF struct pr_buf one = PR_BUF_INIT(1 << 20);
    PR_AUTO_BUF struct pr_buf two = PR_BUF_INIT(1 << 20);
    struct pr_capacity_trial all[8];
    struct pr_capacity_record r, back;

    (void)state;
    fill(&r, all);
    all[0].kind = PR_CAPACITY_SCOUT;
    all[0].utilisation = NAN;
    all[4].figures.cpu_share = 0.25;
    snprintf(all[4].figures.storage_kind, 16, "local disk");
    r.throttle = 12345;
    r.no_generate = true;
    write_json(&r);
    assert_int_equal(pr_capacity_record_read(".", a, &back, NULL), PR_OK);
    assert_int_equal(back.count, 5);
    assert_int_equal(back.trials[0].kind, PR_CAPACITY_SCOUT);
    assert_int_equal(back.trials[4].accelerators, 24);
    assert_float_equal(back.trials[4].utilisation, 0.882, 1e-12);
    assert_float_equal(back.trials[4].figures.cpu_share, 0.25, 1e-12);
    assert_true(isnan(back.trials[3].figures.cpu_share));
    assert_string_equal(back.notes[0], "a note");
    assert_int_equal(back.throttle, 12345);
    /* All of it: written again it is the same. */
    assert_int_equal(pr_capacity_record_write(&r, &one, NULL), PR_OK);
    assert_int_equal(pr_capacity_record_write(&back, &two, NULL), PR_OK);
    assert_string_equal(one.data, two.data);
}

static void what_is_no_record_is_refused(void **state)
{
    static const char *const bad[] = {
        "",
        "{}",
        "[1]",
        "{\"schema\": \"prony.capacity/1\"}",
        "{\"schema\": \"prony.capacity/1\", \"threshold\": 0.9, "
        "\"confidence\": 0.95, \"min\": 1, \"max\": 9, \"repeats\": 8, "
        "\"steps\": 5}",
        "{\"schema\": \"prony.capacity/1\", \"threshold\": 0.9, "
        "\"confidence\": 0.95, \"min\": 1, \"max\": 9, \"repeats\": 8, "
        "\"steps\": 5, \"trials\": [{\"kind\": \"trial\"}]}",
        "{\"schema\": \"prony.capacity/1\", \"threshold\": 0.9, "
        "\"confidence\": 0.95, \"min\": 9, \"max\": 1, \"repeats\": 8, "
        "\"steps\": 5, \"trials\": []}",
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
        struct pr_capacity_record r;

        assert_int_equal(
            pr_file_write("capacity.json", bad[i], strlen(bad[i]), NULL),
            PR_OK);
        assert_int_equal(pr_capacity_record_read(".", a, &r, NULL),
                         PR_E_FORMAT);
    }
}

/* ---- words */

static char *words(const struct pr_capacity_record *r, struct pr_buf *out)
{
    assert_int_equal(pr_capacity_text(r, "out", PR_TABLE_TEXT, NULL, out, NULL),
                     PR_OK);
    return out->data;
}

#define ASSERT_HAS(text, part)                       \
    do {                                             \
        if (!strstr(text, part))                     \
            fail_msg("no '%s' in:\n%s", part, text); \
    } while (0)

static void the_answer_comes_first(void **state)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 16);
    struct pr_capacity_trial all[8];
    struct pr_capacity_record r;
    const char *text;

    (void)state;
    fill(&r, all);
    text = words(&r, &out);
    assert_true(
        strstr(text, "This storage keeps 23 accelerators (H100, unet3d) at "
                     "or above 90 % utilisation (23: 91.3 % ± 0.4, 24: "
                     "88.1 % ± 0.4, 2 runs each, 95 % confidence).\n") == text);
    ASSERT_HAS(text, "Waiting begins at about 22 accelerators.");
    ASSERT_HAS(text, "Beyond that the limit is the storage: ");
    ASSERT_HAS(text, "Note: a note.\n");
    ASSERT_HAS(text, "out/capacity.svg");
}

static void a_disturbed_search_does_not_blame_the_storage(void **state)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 16);
    PR_AUTO_BUF struct pr_buf json = PR_BUF_INIT(1 << 16);
    struct pr_capacity_trial all[8];
    struct pr_capacity_record r;

    (void)state;
    fill(&r, all);
    all[3].figures.disturbed = all[4].figures.disturbed = true;
    r.throttle = 1000;
    words(&r, &out);
    assert_true(strstr(out.data, "Disturbed: ") == out.data);
    assert_null(strstr(out.data, "storage keeps"));
    assert_null(strstr(out.data, "throttle"));
    ASSERT_HAS(out.data, "In these trials there were 23 accelerators");
    assert_int_equal(pr_capacity_record_write(&r, &json, NULL), PR_OK);
    ASSERT_HAS(json.data, "\"disturbed\": true");
    ASSERT_HAS(json.data, "\"kind\": \"disturbance\"");
}

static void what_one_accelerator_needs_is_told(void **state)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 16);
    PR_AUTO_BUF struct pr_buf json = PR_BUF_INIT(1 << 16);
    PR_AUTO_BUF struct pr_buf line = PR_BUF_INIT(1 << 16);
    struct pr_capacity_trial all[8];
    struct pr_capacity_record r;

    (void)state;
    fill(&r, all);
    r.opts.need = 18;
    all[4].samples_per_second = 480;
    all[4].mb_per_second = 2400;
    words(&r, &out);
    ASSERT_HAS(out.data, "One accelerator that never waits takes in 20 "
                         "samples/s, 100 MB/s.\n");
    assert_int_equal(pr_capacity_record_write(&r, &json, NULL), PR_OK);
    ASSERT_HAS(json.data, "\"target_met\": true");
    ASSERT_HAS(json.data, "\"accelerator_needs\": {");
    /* Less than one is not none. */
    all[0].kind = PR_CAPACITY_SCOUT;
    all[0].samples_per_second = 8;
    r.count = 1;
    assert_int_equal(pr_capacity_line(&r, &line, NULL), PR_OK);
    ASSERT_HAS(line.data, "enough for about 0.4");
}

static void doubt_is_told(void **state)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 16);
    struct pr_capacity_trial all[8];
    struct pr_capacity_record r;

    (void)state;
    fill(&r, all);
    all[1].utilisation = 0.86;
    all[2].utilisation = 0.95;
    ASSERT_HAS(words(&r, &out), "not at the confidence asked for, p = ");
}

static void none_and_unfinished_are_told(void **state)
{
    PR_AUTO_BUF struct pr_buf none = PR_BUF_INIT(1 << 16);
    PR_AUTO_BUF struct pr_buf half = PR_BUF_INIT(1 << 16);
    struct pr_capacity_trial all[8];
    struct pr_capacity_record r;

    (void)state;
    fill(&r, all);
    all[0] = trial(1, 0.5);
    all[1] = trial(1, 0.501);
    r.count = 2;
    ASSERT_HAS(words(&r, &none), "This storage does not keep one accelerator "
                                 "(H100, unet3d) at or above 90 %");
    r.done = false;
    all[0] = trial(4, 0.95);
    all[1] = trial(9, 0.6);
    ASSERT_HAS(words(&r, &half),
               "Not found yet: between 4 and 8 accelerators.");
}

/* The client is full; the storage alone could feed 115 = 5 times 23. */
static void more_clients_are_told(void **state)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 16);
    PR_AUTO_BUF struct pr_buf json = PR_BUF_INIT(1 << 16);
    struct pr_capacity_trial all[8];
    struct pr_capacity_record r;

    (void)state;
    fill(&r, all);
    all[3].figures.cpu_share = all[4].figures.cpu_share = 0.97;
    all[3].figures.decode_share = all[4].figures.decode_share = 0.8;
    all[5] = trial(24, NAN);
    all[5].kind = PR_CAPACITY_STORAGE;
    all[5].samples_per_second = 2300;
    all[5].mb_per_second = 5000;
    r.count = 6;
    words(&r, &out);
    ASSERT_HAS(out.data, "the limit is this client's processor, decoding: ");
    ASSERT_HAS(out.data,
               "The storage alone gives 5000 MB/s and could keep about 115 "
               "busy: 4 more client machines like this one would be needed.");
    assert_int_equal(pr_capacity_record_write(&r, &json, NULL), PR_OK);
    ASSERT_HAS(json.data, "\"more_clients\": 4");
    ASSERT_HAS(json.data, "\"kind\": \"decode\"");
}

static void every_trial_has_its_line(void **state)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 16);
    struct pr_capacity_trial all[8];
    struct pr_capacity_record r;

    (void)state;
    fill(&r, all);
    for (r.count = 1; r.count <= 5; r.count++) {
        assert_int_equal(pr_capacity_line(&r, &out, NULL), PR_OK);
        pr_buf_char(&out, '\n');
    }
    assert_string_equal(
        out.data,
        "   1 accelerator: 99.5 % utilisation, 100 MB/s, met, 1.5 s\n"
        "  23 accelerators: 91.2 % utilisation, 2300 MB/s, met, 1.5 s\n"
        "  23 accelerators: 91.4 % utilisation, mean of 2: 91.3 % ± 1.3, 2300 "
        "MB/s, met, 1.5 s\n"
        "  24 accelerators: 88.0 % utilisation, 2400 MB/s, not met, 1.5 s\n"
        "  24 accelerators: 88.2 % utilisation, mean of 2: 88.1 % ± 0.4, 2400 "
        "MB/s, not met, 1.5 s\n");
}

/* ---- out of memory */

static int attempt(void)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 20);
    PR_AUTO_BUF struct pr_buf svg = PR_BUF_INIT(1 << 20);
    PR_AUTO_BUF struct pr_buf json = PR_BUF_INIT(1 << 20);
    struct pr_capacity_step step;
    struct pr_capacity_record r;
    int rc = a ? pr_capacity_record_read(".", a, &r, NULL) : PR_E_NOMEM;

    if (!rc)
        rc = pr_capacity_text(&r, "out", PR_TABLE_TEXT, NULL, &text, NULL);
    if (!rc)
        rc = pr_capacity_record_write(&r, &json, NULL);
    if (!rc)
        rc = pr_capacity_svg(&r, &svg, NULL);
    if (!rc)
        rc = pr_capacity_next_step(&r.opts, r.trials, r.count, &step, NULL);
    return rc;
}

static void running_out_of_memory_is_told(void **state)
{
    struct pr_capacity_trial all[8];
    struct pr_capacity_record r;

    (void)state;
    fill(&r, all);
    write_json(&r);
    torture(attempt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_record_comes_back, enter, leave),
        cmocka_unit_test_setup_teardown(what_is_no_record_is_refused, enter,
                                        leave),
        cmocka_unit_test(the_answer_comes_first),
        cmocka_unit_test(doubt_is_told),
        cmocka_unit_test(a_disturbed_search_does_not_blame_the_storage),
        cmocka_unit_test(what_one_accelerator_needs_is_told),
        cmocka_unit_test(none_and_unfinished_are_told),
        cmocka_unit_test(more_clients_are_told),
        cmocka_unit_test(every_trial_has_its_line),
        cmocka_unit_test_setup_teardown(running_out_of_memory_is_told, enter,
                                        leave),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
