/* Older names of parameters. */
#include "conf/option/alias.h"

#include "conf/option/option.h"

#include "values.h"

static void older_names_become_todays(void **state)
{
    static const struct {
        const char *written, *name, *below;
        bool old, first;
    } rows[] = {
        {"dataset.record_length", "dataset.record_length_bytes", NULL, 1, 1},
        {"dataset.record_length_bytes", "dataset.record_length_bytes", NULL, 0,
         0},
        {"dataset.record_length_stdev", "dataset.record_length_bytes_stdev",
         NULL, 1, 1},
        {"dataset.num_files_val", "dataset.num_files_eval", NULL, 1, 1},
        {"dataset.batch_size", "reader.batch_size", NULL, 1, 1},
        {"train.do_eval", "workflow.evaluation", NULL, 1, 1},
        {"checkpoint.checkpoing_after_epoch",
         "checkpoint.checkpoint_after_epoch", NULL, 1, 1},
        /* sections, and older names in older sections */
        {"data_loader.batch_size", "reader.batch_size", NULL, 1, 1},
        {"data_loader.read_shuffle", "reader.sample_shuffle", NULL, 1, 1},
        {"data_reader.batch_size", "reader.batch_size", NULL, 1, 0},
        {"data_reader.prefetch", "reader.prefetch_size", NULL, 1, 1},
        /* a section is not a parameter, nor is what only begins like one */
        {"data_loader", "data_loader", NULL, 0, 0},
        {"data_loaders.batch_size", "data_loaders.batch_size", NULL, 0, 0},
        {"dataset.record_lengths", "dataset.record_lengths", NULL, 0, 0},
        {"reader.data_loader", "reader.data_loader", NULL, 0, 0},
        /* keys beside the sections are words of anybody's elsewhere */
        {"framework", "framework", NULL, 0, 0},
        {"model", "model", NULL, 0, 0},
        /* keys of maps */
        {"train.computation_time.type", "train.computation_time", "type", 0, 0},
        {"train.eval_time.mean", "evaluation.eval_time", "mean", 1, 1},
        {"storage.storage_options.a.b", "storage.storage_options", "a.b", 0, 0},
        {"train.epochs.x", "train.epochs.x", NULL, 0, 0},
        {"runtime.env.PATH", "runtime.env.PATH", NULL, 0, 0},
        {"exp.model_opts.", "exp.model_opts.", NULL, 0, 0},
        {"my.own.name", "my.own.name", NULL, 0, 0},
        {"", "", NULL, 0, 0},
    };
    struct pr_alias_found f;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_true(
            pr_alias_find(rows[i].written, strlen(rows[i].written), &f));
        assert_string_equal(f.name, rows[i].name);
        assert_int_equal(f.row != NULL, rows[i].old);
        assert_int_equal(f.row && f.row->first, rows[i].first);
        if (rows[i].below)
            assert_string_equal(f.below, rows[i].below);
        else
            assert_null(f.below);
    }
}

static void a_name_that_is_too_long_is_left_alone(void **state)
{
    static const char prefix[] = "dataset.record_length.";
    struct pr_alias_found f;
    char name[400];

    (void)state;
    memset(name, 'x', sizeof name);
    memcpy(name, prefix, sizeof prefix - 1);
    assert_false(pr_alias_find(name, 160, &f));
    assert_false(pr_alias_find(name, 399, &f));
    /* fits, but not with today's longer name */
    assert_false(pr_alias_find(name, 159, &f));
    assert_true(pr_alias_find(name, 140, &f));
    assert_false(pr_alias_find("a\0b", 3, &f));
}

static void prefetch_was_a_truth_value(void **state)
{
    static const struct {
        struct pr_value in;
        bool says;
        int64_t size; /* -1: unchanged */
    } rows[] = {
        {{.kind = PR_BOOL, .b = true}, false, -1},
        {{.kind = PR_BOOL, .b = false}, true, 0},
        {{.kind = PR_INT, .i = 1}, true, 1},
        {{.kind = PR_INT, .i = 0}, true, 0},
        {{.kind = PR_STR, .s = "True", .len = 4}, false, -1},
        {{.kind = PR_STR, .s = "off", .len = 3}, true, 0},
        {{.kind = PR_STR, .s = "1", .len = 1}, true, -1},
        {{.kind = PR_STR, .s = "many", .len = 4}, true, -1},
    };
    struct pr_alias_found f, other;
    struct pr_value v;

    (void)state;
    assert_true(pr_alias_find("reader.prefetch", 15, &f));
    assert_true(pr_alias_find("train.do_eval", 13, &other));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(pr_alias_value(f.row, &rows[i].in, &v), rows[i].says);
        if (rows[i].size >= 0) {
            assert_int_equal(v.kind, PR_INT);
            assert_int_equal(v.i, rows[i].size);
        } else if (rows[i].says) {
            assert_true(pr_value_equal(&v, &rows[i].in));
        }
        assert_true(pr_alias_value(other.row, &rows[i].in, &v));
        assert_true(pr_value_equal(&v, &rows[i].in));
        assert_true(pr_alias_value(NULL, &rows[i].in, &v));
    }
}

/* Rows that lead to a section with a table must lead to a row of it, and none
 * may hide a name of today. */
static void every_row_leads_somewhere(void **state)
{
    const struct pr_alias *a;
    size_t n;

    (void)state;
    for (n = 0; (a = pr_alias_at(n)); n++) {
        const struct pr_opt_section *section;
        struct pr_alias_found f;

        assert_null(pr_opt_find(a->old, NULL));
        if (*a->note)
            assert_int_equal(a->note[strlen(a->note) - 1], '.');
        if (a->form == PR_ALIAS_SECTION || a->form == PR_ALIAS_TOP)
            continue;
        if (!pr_opt_find(a->now, &section))
            assert_null(section);
        /* today's name is not itself an older one */
        assert_true(pr_alias_find(a->now, strlen(a->now), &f));
        assert_null(f.row);
        assert_true(pr_alias_find(a->old, strlen(a->old), &f));
        assert_string_equal(f.name, a->now);
    }
    assert_true(n > 20);
    assert_string_equal(pr_alias_top("framework")->now, "emulate.framework");
    assert_null(pr_alias_top("dataset.record_length"));
    assert_null(pr_alias_top("reader"));
}

static void the_older_ways_to_write_a_name_are_listed(void **state)
{
    static const char *const want[] = {"dataset.batch_size",
                                       "data_loader.batch_size",
                                       "data_reader.batch_size"};
    char name[160];

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        assert_true(pr_alias_older_name("reader.batch_size", i, name));
        assert_string_equal(name, want[i]);
    }
    assert_false(pr_alias_older_name("reader.batch_size", 3, name));
    assert_false(pr_alias_older_name("exp.model", 0, name));
    assert_false(pr_alias_older_name("readers.batch_size", 0, name));
}

static void an_older_name_has_the_number_of_todays(void **state)
{
    struct pr_names *names = pr_names_new();
    uint32_t epochs;

    (void)state;
    assert_non_null(names);
    epochs = pr_names_add(names, "train.epochs", 12);
    assert_int_equal(pr_alias_find_number(names, "train.n_epochs", 14), epochs);
    assert_int_equal(pr_alias_find_number(names, "train.epochs", 12), epochs);
    assert_int_equal(pr_alias_find_number(names, "dataset.data_dir", 16),
                     PR_NO_NAME);
    pr_names_free(names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(older_names_become_todays),
        cmocka_unit_test(a_name_that_is_too_long_is_left_alone),
        cmocka_unit_test(prefetch_was_a_truth_value),
        cmocka_unit_test(every_row_leads_somewhere),
        cmocka_unit_test(the_older_ways_to_write_a_name_are_listed),
        cmocka_unit_test(an_older_name_has_the_number_of_todays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
