/*
 * Results out of files: what each kind becomes, what is left out, and that
 * order does not depend on threads.
 */
#include "analyse/results/results.h"

#include "base/json/json.h"

#include "scratch.h"
#include "torture.h"

#include <sys/stat.h>

/* All rows as one line of JSON each. */
static void read_rows(const char *const *inputs, size_t n,
                      const struct pr_results_opts *o, struct pr_buf *out,
                      struct pr_results_counts *ret_counts)
{
    struct pr_err err = {0};
    struct pr_results *b;
    int rc = pr_results_read(inputs, n, o, &b, &err);

    if (rc)
        print_message("%s: %s\n", err.where, err.msg);
    assert_int_equal(rc, PR_OK);
    for (size_t i = 0; i < pr_results_size(b); i++) {
        pr_json_write(out, &pr_results_row_at(b, i)->params);
        pr_buf_char(out, '\n');
    }
    if (ret_counts)
        *ret_counts = *pr_results_get_counts(b);
    pr_results_free(b);
}

static void check_file(const char *name, const char *text, const char *want)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 20);
    struct pr_results_opts o = {.threads = 1};

    spit(name, text);
    pr_buf_str(&out, "");
    read_rows(&name, 1, &o, &out, NULL);
    assert_string_equal(out.data ? out.data : "", want);
    (void)unlink(name);
}

static const struct {
    const char *name, *text, *want;
} kinds[] = {
    /* The last value counts, the first place. */
    {"a.log", "__a__=1\nchatter\n__b__= \"x\"\n  __a__ = 2\n",
     "{\"a\": 2, \"b\": \"x\"}\n"},
    {"a.log", "no parameter at all\n", ""},
    {"a.log", "__a__=1\n__b__=oops\n__c__=[1, 2]",
     "{\"a\": 1, \"c\": [1, 2]}\n"},
    {"a.log", "", ""},
    /* A name says nothing: content does. */
    {"a.log", "{\"data\": [{\"a\": 1}, {\"b\": {\"c\": 2}}, 3, {}]}",
     "{\"a\": 1}\n{\"b\": {\"c\": 2}}\n"},
    {"a.json", "__a__=1\n", "{\"a\": 1}\n"},
    {"a.json", "[{\"a\": 1}, {\"a\": NaN}]", "{\"a\": 1}\n{\"a\": NaN}\n"},
    {"a.json", "{ not JSON\n__a__=1\n", "{\"a\": 1}\n"},
    /* What was whole before the place is kept. */
    {"a.json", "{\"data\": [{\"a\": 1}, {\"a\": ", "{\"a\": 1}\n"},
    {"a.json", "{\"exp.model\": \"m\", \"results\": {\"x\": 1}}",
     "{\"exp.model\": \"m\", \"results.x\": 1}\n"},
    {"a.json", "{\"other\": 1}", ""},
    {"result.json",
     "{\"id\": \"1\", \"status\": \"ok\", \"params\": {\"exp.model\": \"m\"}, "
     "\"results\": {\"time\": 5, \"exp.title\": \"T\"}}",
     "{\"exp.model\": \"m\", \"exp.id\": \"1\", \"exp.status\": \"ok\", "
     "\"results.time\": 5, \"exp.title\": \"T\"}\n"},
    {"run.json",
     "{\"schema\": \"prony.run/1\", \"experiments\": [{\"id\": \"1\", "
     "\"status\": \"ok\", \"params\": {\"a\": 1}, \"results\": {\"b\": 2}}]}",
     "{\"a\": 1, \"exp.id\": \"1\", \"exp.status\": \"ok\", \"results.b\": "
     "2}\n"},
    {"milarun.json",
     "{\"name\": \"s.a\", \"success\": true, \"timings\": {\"train\": "
     "{\"rates\": [10, 20]}, \"other\": {\"rates\": [5]}}}",
     "{\"name\": \"s.a\", \"success\": true, \"timings.train.rates\": [10, "
     "20], \"timings.other.rates\": [5], \"exp.name\": \"s.a\", "
     "\"exp.status\": \"ok\", \"results.throughput\": 15.0}\n"},
    {"summary.json",
     "{\"num_accelerators\": 2, \"metric\": "
     "{\"train_throughput_mean_samples_per_second\": 7.5}, \"end\": \"t\"}",
     "{\"exp.num_accelerators\": 2, "
     "\"results.train_throughput_mean_samples_per_second\": 7.5, "
     "\"exp.end\": \"t\", \"exp.status\": \"ok\", \"results.throughput\": "
     "7.5}\n"},
    /* A table: numbers are numbers, unless in quotes; what is not there is
     * not there. */
    {"a.csv",
     "\xef\xbb\xbf"
     "exp.model,\"t\",note\r\nres,12.5,\"a \"\"b\"\",\nc\"\r\n"
     "alex,-7,\r\n,,\n\nx,007,\"\"\ny,\"1\",z,beyond",
     "{\"exp.model\": \"res\", \"t\": 12.5, \"note\": \"a \\\"b\\\",\\nc\"}\n"
     "{\"exp.model\": \"alex\", \"t\": -7}\n"
     "{\"exp.model\": \"x\", \"t\": \"007\", \"note\": \"\"}\n"
     "{\"exp.model\": \"y\", \"t\": \"1\", \"note\": \"z\"}\n"},
    {"a.csv", "only,names\n", ""},
    {"a.csv", "[{\"a\": 1}]", "{\"a\": 1}\n"},
    /* Five rates: without the smallest and the largest. */
    {"a.data",
     "{\"event\": \"config\", \"data\": {\"name\": \"n\", \"tag\": [\"n\", "
     "\"0\"]}}\n"
     "{\"event\": \"data\", \"data\": {\"task\": \"train\", \"rate\": 1}}\n"
     "{\"event\": \"data\", \"data\": {\"task\": \"train\", \"rate\": 4}}\n"
     "{\"event\": \"data\", \"data\": {\"task\": \"train\", \"rate\": 4}}\n"
     "{\"event\": \"data\", \"data\": {\"task\": \"train\", \"rate\": 4}}\n"
     "half a line\n"
     "{\"event\": \"data\", \"data\": {\"task\": \"train\", \"rate\": 99}}\n"
     "{\"event\": \"end\", \"data\": {\"return_code\": 0}}",
     "{\"config.name\": \"n\", \"config.tag\": [\"n\", \"0\"], \"exp.name\": "
     "\"n\", \"exp.id\": \"n.0\", \"exp.status\": \"ok\", "
     "\"results.return_code\": 0, \"results.throughput\": 4.0, "
     "\"results.throughput_std\": 0.0, \"results.rates\": 5}\n"},
};

static void each_kind(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        check_file(kinds[i].name, kinds[i].text, kinds[i].want);
}

static void lambda_tasks(void **state)
{
    static const char text[] =
        "Done benchmarking. Total images: 16000\ttotal time: 110.604\tAverage "
        "images/sec: 144.660\tMedian images/sec: 144.631\n"
        "Training performance = 289.3 FPS\n";

    (void)state;
    assert_int_equal(setenv("PRONY_SHARE", getenv("SRC"), 1), 0);
    assert_int_equal(mkdir("2x2080Ti", 0755), 0);
    assert_int_equal(mkdir("2x2080Ti/PyTorch_SSD_FP32", 0755), 0);
    /* Without benchmark.para it is of the older kind. */
    check_file("2x2080Ti/PyTorch_SSD_FP32/1.txt", text,
               "{\"exp.name\": \"PyTorch_SSD_FP32\", \"exp.model_title\": "
               "\"ssd\", \"exp.node_title\": \"2x2080Ti\", \"exp.dtype\": "
               "\"fp32\", \"exp.status\": \"ok\", \"results.throughput\": "
               "289.3}\n");
    /* Who says DONE! without a figure has failed. */
    check_file("2x2080Ti/PyTorch_SSD_FP32/1.txt",
               "CUDA out of memory. Tried to allocate 2 GiB\nDONE!\n",
               "{\"exp.name\": \"PyTorch_SSD_FP32\", \"exp.model_title\": "
               "\"ssd\", \"exp.node_title\": \"2x2080Ti\", \"exp.dtype\": "
               "\"fp32\", \"exp.status\": \"failed\", \"exp.status_msg\": "
               "\"out of memory\"}\n");
    spit("2x2080Ti/PyTorch_SSD_FP32/benchmark.para",
         "GLOBAL_BATCH 2048\nGPU 2\n");
    check_file("2x2080Ti/PyTorch_SSD_FP32/1.txt",
               "x Median images/sec: 144.631\n"
               "Average images/sec: 1 Median images/sec: 144.631\nDONE!\n",
               "{\"exp.name\": \"PyTorch_SSD_FP32\", \"exp.model_title\": "
               "\"ssd\", \"exp.node_title\": \"2x2080Ti\", \"exp.dtype\": "
               "\"fp32\", \"exp.status\": \"ok\", \"exp.effective_batch\": "
               "2048, \"exp.num_gpus\": 2, \"results.throughput\": 144.631}\n");
}

static void folders_and_threads(void **state)
{
    static const char *const inputs[] = {"top", "one.log"};
    PR_AUTO_BUF struct pr_buf one = PR_BUF_INIT(1 << 20);
    PR_AUTO_BUF struct pr_buf four = PR_BUF_INIT(1 << 20);
    PR_AUTO_BUF struct pr_buf all = PR_BUF_INIT(1 << 20);
    struct pr_results_opts o = {.threads = 1};
    struct pr_results_counts counts;
    char name[64], text[64];

    (void)state;
    assert_int_equal(mkdir("top", 0755), 0);
    assert_int_equal(mkdir("top/below", 0755), 0);
    for (int i = 0; i < 40; i++) {
        snprintf(name, sizeof name, "top/%02d.log", i);
        snprintf(text, sizeof text, "__i__=%d\n", i);
        spit(name, text);
    }
    spit("top/below/x.log", "__i__=100\n");
    spit("top/parsed.json", "{\"data\": [{\"i\": 7}]}");
    spit("top/notes.txt", "__i__=8\n");
    spit("one.log", "__i__=-1\n__i__=bad\n");
    read_rows(inputs, 2, &o, &one, &counts);
    assert_true(strncmp(one.data, "{\"i\": 0}\n{\"i\": 1}\n", 18) == 0);
    assert_non_null(strstr(one.data, "{\"i\": 39}\n{\"i\": -1}\n"));
    assert_null(strstr(one.data, "100"));
    assert_int_equal(counts.results, 41);
    assert_int_equal(counts.bad_lines, 1);
    assert_int_equal(counts.note_count, 1);
    assert_string_equal(counts.notes[0].where, "one.log:2");
    o.threads = 4;
    read_rows(inputs, 2, &o, &four, NULL);
    assert_string_equal(one.data, four.data);
    o.recursive = true;
    read_rows(inputs, 2, &o, &all, NULL);
    assert_non_null(strstr(all.data, "{\"i\": 39}\n{\"i\": 100}\n"));
}

/* A large list is cut for several threads, and what looks like the end of a
 * result may stand in a text. */
static void lists_are_cut_between_results(void **state)
{
    static const char *const inputs[] = {"list.json"};
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(16 << 20);
    PR_AUTO_BUF struct pr_buf one = PR_BUF_INIT(16 << 20);
    struct pr_results_opts o = {.threads = 1};

    (void)state;
    pr_buf_str(&text, "{\"data\": [");
    for (int i = 0; i < 60; i++) {
        pr_buf_printf(&text, "%s{\"i\": %d, \"text\": \"", i ? ", " : "", i);
        for (int k = 0; k < 8000; k++)
            pr_buf_str(&text, "}, {\\\"i\\\": 99");
        pr_buf_str(&text, "\"}");
    }
    pr_buf_str(&text, "]}");
    assert_true(pr_buf_ok(&text) && text.len > 5 << 20);
    spit("list.json", text.data);
    read_rows(inputs, 1, &o, &one, NULL);
    for (o.threads = 2; o.threads < 4; o.threads++) {
        PR_AUTO_BUF struct pr_buf some = PR_BUF_INIT(16 << 20);

        read_rows(inputs, 1, &o, &some, NULL);
        assert_int_equal(some.len, one.len);
        assert_memory_equal(some.data, one.data, one.len);
    }
    (void)unlink("list.json");
}

static void queries_and_names(void **state)
{
    static const char *const names[] = {"c"};
    const char *input = "q.json";
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    PR_AUTO_BUF struct pr_buf strict = PR_BUF_INIT(1 << 20);
    PR_AUTO_BUF struct pr_buf relaxed = PR_BUF_INIT(1 << 20);
    struct pr_results_filter f = {.policy = PR_QUERY_STRICT};
    struct pr_results_opts o = {
        .filters = &f, .filter_count = 1, .names = names, .name_count = 1};
    struct pr_query *q;

    (void)state;
    spit(input, "[{\"a\": \"caffe2\", \"b\": 1, \"c\": 1}, {\"a\": \"bvlc_"
                "caffe\", \"c\": 2}, {\"c\": 3, \"b\": 2}]");
    spit("query.json", "{\"a\": \"caffe\"}");
    assert_int_equal(
        pr_results_parse_query("query.json", "--query", a, &q, NULL), PR_OK);
    f.query = q;
    read_rows(&input, 1, &o, &strict, NULL);
    assert_string_equal(strict.data, "{\"a\": \"caffe2\", \"c\": 1}\n");
    f.policy = PR_QUERY_RELAXED;
    read_rows(&input, 1, &o, &relaxed, NULL);
    assert_string_equal(relaxed.data,
                        "{\"a\": \"caffe2\", \"c\": 1}\n{\"c\": 3}\n");
    pr_query_free(q);
    assert_int_equal(pr_results_parse_query("{oops", "--query", a, &q, NULL),
                     PR_E_USAGE);
    assert_int_equal(pr_results_parse_query("3", "--query", a, &q, NULL),
                     PR_E_USAGE);
}

/* The address sanitizer keeps what was freed. */
#if defined(__SANITIZE_ADDRESS__)
enum { KEEPS_FREED = true };
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
enum { KEEPS_FREED = true };
#else
enum { KEEPS_FREED = false };
#endif
#else
enum { KEEPS_FREED = false };
#endif

/* A name said again and again takes the memory of one value. */
static void replaced_values_are_forgotten(void **state)
{
    const char *input = "again.log";
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 20);
    struct pr_results_opts o = {.threads = 1};
    struct rusage before, after;
    char word[1001];
    FILE *f = fopen(input, "w");

    (void)state;
    assert_non_null(f);
    memset(word, 'x', 1000);
    word[1000] = '\0';
    for (int i = 0; i < 60000; i++)
        fprintf(f, "__a__=\"%s%d\"\n__b__=%d\n", word, i, i);
    fclose(f);
    assert_int_equal(getrusage(RUSAGE_SELF, &before), 0);
    read_rows(&input, 1, &o, &out, NULL);
    assert_int_equal(getrusage(RUSAGE_SELF, &after), 0);
    assert_non_null(strstr(out.data, "xxx59999\", \"b\": 59999}"));
    if (!KEEPS_FREED)
        assert_true(after.ru_maxrss - before.ru_maxrss < 32 << 10);
}

/* Two logs, stored and deflated, and what is no log; made by Python. */
static const char zip[] =
    "PK\003\004\024\000\000\000\000\000\000\000!X#\244\007\334\010\000\000"
    "\000\010\000\000\000\010\000\000\000in/1.log__a__=1\012PK\003\004\024"
    "\000\000\000\010\000\000\000!X\341\223o\333\042\000\000\0003\000\000"
    "\000\010\000\000\000in/2.logK\316H,)I-R(\001\322\012\351\371\251\305"
    "\012\371y:\012\311XD\271\342\343\223\342\343m\215\270\000PK\003\004"
    "\024\000\000\000\000\000\000\000!X\032A\277\025\003\000\000\000\003"
    "\000\000\000\010\000\000\000in/x.pngPNGPK\001\002\024\003\024\000\000"
    "\000\000\000\000\000!X#\244\007\334\010\000\000\000\010\000\000\000"
    "\010\000\000\000\000\000\000\000\000\000\000\000\200\001\000\000\000"
    "\000in/1.logPK\001\002\024\003\024\000\000\000\010\000\000\000!X\341"
    "\223o\333\042\000\000\0003\000\000\000\010\000\000\000\000\000\000\000"
    "\000\000\000\000\200\001.\000\000\000in/2.logPK\001\002\024\003\024"
    "\000\000\000\000\000\000\000!X\032A\277\025\003\000\000\000\003\000"
    "\000\000\010\000\000\000\000\000\000\000\000\000\000\000\200\001v\000"
    "\000\000in/x.pngPK\005\006\000\000\000\000\003\000\003\000\242\000\000"
    "\000\237\000\000\000\000\000";

static void put_bytes(const char *path, const char *bytes, size_t n)
{
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static void zip_archives(void **state)
{
    const char *input = "logs.zip";
    struct pr_results_opts o = {.threads = 1};
    struct pr_results_counts counts;
    char bytes[sizeof zip - 1];

    (void)state;
    for (int damaged = 0; damaged < 2; damaged++) {
        PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 20);

        memcpy(bytes, zip, sizeof bytes);
        /* The value in the stored log: its sum is wrong then. */
        bytes[44] = damaged ? '7' : bytes[44];
        put_bytes(input, bytes, sizeof bytes);
        read_rows(&input, 1, &o, &out, &counts);
        assert_string_equal(out.data, damaged ? "{\"a\": 7}\n{\"b\": 2}\n"
                                              : "{\"a\": 1}\n{\"b\": 2}\n");
        assert_int_equal(counts.files, 2);
        assert_int_equal(counts.unreadable, damaged);
    }
    put_bytes(input, zip, sizeof bytes - 30);
    {
        PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 20);

        read_rows(&input, 1, &o, &out, &counts);
        assert_int_equal(out.len, 0);
        assert_int_equal(counts.unreadable, 1);
        assert_non_null(strstr(counts.notes[0].msg, "zip"));
    }
}

static int derive(const char *json, struct pr_buf *out, uint64_t *ret_without)
{
    const char *input = "d.json";
    struct pr_results_opts o = {.threads = 1};
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_value *added;
    struct pr_results *b = NULL;
    int rc = a ? pr_results_read(&input, 1, &o, &b, NULL) : PR_E_NOMEM;

    if (!rc)
        rc = pr_results_parse_json(json, "-P", a, &added, NULL);
    if (!rc)
        rc = pr_results_derive(b, added, NULL);
    for (size_t i = 0; !rc && i < pr_results_size(b); i++) {
        pr_json_write(out, &pr_results_row_at(b, i)->params);
        pr_buf_char(out, '\n');
    }
    if (!rc && ret_without)
        *ret_without = pr_results_get_counts(b)->underived;
    pr_results_free(b);
    return rc ? rc : pr_buf_ok(out) ? PR_OK : PR_E_NOMEM;
}

static int derive_once(void)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 20);

    return derive("{\"s\": \"${m}/$(${n} * 2)$\"}", &out, NULL);
}

static void results_get_more_parameters(void **state)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 20);
    uint64_t without;

    (void)state;
    spit("d.json", "[{\"m\": \"a\", \"n\": 4}, {\"m\": \"${n}\"}, "
                   "{\"n\": 5, \"l\": [1, 2], \"m\": \"$(1)$\"}]");
    assert_int_equal(derive("{\"s\": \"${m}/$(${n} * 2)$\", \"n\": 1.5, "
                            "\"t\": \"${s}!\"}",
                            &out, &without),
                     PR_OK);
    /* What a log says keeps its place, and is text, but an expression that is
     * put together of it is computed, as everywhere. */
    assert_string_equal(
        out.data,
        "{\"m\": \"a\", \"n\": 1.5, \"s\": \"a/3.0\", \"t\": \"a/3.0!\"}\n"
        "{\"m\": \"${n}\", \"s\": \"${n}/3.0\", \"n\": 1.5, \"t\": "
        "\"${n}/3.0!\"}\n"
        "{\"n\": 1.5, \"l\": [1, 2], \"m\": \"$(1)$\", \"s\": "
        "\"1/3.0\", \"t\": \"1/3.0!\"}\n");
    assert_int_equal(without, 0);
    pr_buf_clear(&out);
    assert_int_equal(derive("{\"x\": \"${l}\"}", &out, &without), PR_OK);
    assert_int_equal(without, 2);
    assert_non_null(strstr(out.data, "\"x\": \"1 2\""));
    torture(derive_once);
}

static void what_is_not_there(void **state)
{
    const char *input = "nowhere.log";
    struct pr_results_opts o = {0};
    struct pr_err err = {0};
    struct pr_results *b;

    (void)state;
    assert_int_equal(pr_results_read(&input, 1, &o, &b, &err), PR_E_IO);
    assert_string_equal(err.where, "nowhere.log");
    assert_true(*err.hint);
}

static int read_folder(void)
{
    const char *input = "small";
    struct pr_results_opts o = {.threads = 1};
    struct pr_results *b;
    int rc = pr_results_read(&input, 1, &o, &b, NULL);

    if (rc)
        return rc;
    assert_int_equal(pr_results_size(b), 4);
    pr_results_free(b);
    return PR_OK;
}

static void out_of_memory(void **state)
{
    (void)state;
    assert_int_equal(mkdir("small", 0755), 0);
    spit("small/a.log", "__a__=\"text\"\n__b__=[1]\n");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char path[64];
        if (strcmp(kinds[i].name, "milarun.json") &&
            strcmp(kinds[i].name, "a.data") &&
            strcmp(kinds[i].name, "result.json"))
            continue;
        snprintf(path, sizeof path, "small/x%s", kinds[i].name);
        spit(path, kinds[i].text);
    }
    torture(read_folder);
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, enter, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(each_kind),
        IN_SCRATCH(lambda_tasks),
        IN_SCRATCH(zip_archives),
        IN_SCRATCH(results_get_more_parameters),
        IN_SCRATCH(folders_and_threads),
        IN_SCRATCH(lists_are_cut_between_results),
        IN_SCRATCH(queries_and_names),
        IN_SCRATCH(replaced_values_are_forgotten),
        IN_SCRATCH(what_is_not_there),
        IN_SCRATCH(out_of_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
