/*
 * Validation: what is missing is found, once each, for the experiments it
 * concerns, and each question is asked once.
 */
#include "run/validate/validate.h"

#include "base/mem.h"
#include "run/plan_jobs.h"

#include "fake_nvml.h"
#include "plans.h"
#include "torture.h"

#include <sys/stat.h>
#include <sys/statvfs.h>

static const struct pr_plan_opts full = {0};

#define ARGS(...) ((const char *const[]){__VA_ARGS__, NULL})

static int enter_bare(void **state)
{
    setenv("PRONY_NVML", "/nonexistent", 1);
    unsetenv("PRONY_DATA");
    unsetenv("DLBS_LOG_FILE_CHECK");
    return enter_dir(state);
}

static int leave_bare(void **state)
{
    forget_fake_nvml(state);
    setenv("PATH", "/usr/local/bin:/usr/bin:/bin", 1);
    return leave_dir(state);
}

static void put_program(const char *name, const char *text)
{
    put_file(name, text);
    assert_int_equal(chmod(name, 0755), 0);
}

/* Only what the test puts there is on PATH. */
static void own_path(void)
{
    char here[4096];

    assert_int_equal(mkdir("bin", 0755), 0);
    assert_non_null(getcwd(here, sizeof here));
    strncat(here, "/bin", sizeof here - strlen(here) - 1);
    setenv("PATH", here, 1);
}

/* A docker that has one image and keeps a list of what it was asked. */
static void put_docker(const char *name)
{
    put_program(name, "#!/bin/sh\n"
                      "echo \"$@\" >> asked\n"
                      "for last; do :; done\n"
                      "case $last in\n"
                      "here) echo sha256:1; exit 0 ;;\n"
                      "gone) echo 'WARN[0000] / is not shared' >&2\n"
                      "echo 'Error: No such image: gone' >&2; exit 1 ;;\n"
                      "esac\n"
                      "echo 'WARN[0000] / is not shared' >&2\n"
                      "echo 'Cannot connect to the daemon' >&2\n"
                      "exit 1\n");
}

static unsigned lines_in(const char *path)
{
    FILE *f = fopen(path, "re");
    unsigned n = 0;
    int c;

    while (f && (c = getc(f)) != EOF)
        n += c == '\n';
    if (f)
        fclose(f);
    return n;
}

static void validate(const char *const *args, struct pr_validation *ret)
{
    struct pr_err err = {0};
    struct pr_plan *p;
    int rc = make_plan(&full, args, &p, &err);

    if (!rc)
        rc = pr_plan_validate(p, ret, &err);
    if (rc)
        fail_msg("%s: %s", err.where, err.msg);
    pr_plan_free(p);
}

/* "kind count! what\n…", with '?' for what stops no run. */
static const char *lacks(struct pr_arena *a, const char *const *args)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 20);
    struct pr_validation v;

    validate(args, &v);
    for (size_t i = 0; i < v.count; i++)
        pr_buf_printf(&out, "%s %llu%c %s\n",
                      pr_requirement_kind_word(v.lacks[i].kind),
                      (unsigned long long)v.lacks[i].count,
                      v.lacks[i].stops ? '!' : '?', v.lacks[i].what);
    pr_validation_close(&v);
    return out.len ? pr_arena_copy(a, out.data, out.len) : "";
}

static void each_thing_is_found(void **state)
{
    static const struct {
        const char *args[8], *want;
    } rows[] = {
        {{"-P exp.workload=null"}, ""},
        {{"-P exp.command=true"}, ""},
        {{"-P exp.command=nonesuch"}, "command 1? 'nonesuch' is not on PATH\n"},
        {{"-P exp.command=./none", "-V n=[1,2]"},
         "command 2? './none' is not a program that can be started\n"},
        {{"-P a=1"}, "config 1! nothing to run\n"},
        {{"-P exp.command=\"echo 'open\""},
         "config 1! exp.command: a quote is not closed in 'echo 'open'\n"},
        {{"-P exp.status=disabled"}, ""},
        {{"-P exp.command=true", "-P exp.log_file=same", "-V n=[1,2,3]"},
         "log file 2! another experiment has the same exp.log_file 'same'\n"},
        {{"-P exp.command=true", "-P exp.data_dir=nowhere"},
         "data 1? there is no data folder 'nowhere'\n"},
        {{"-P exp.command=true", "-P exp.data_dir=."}, ""},
        {{"-P exp.command=true", "-P exp.data_dir=s3://nowhere"}, ""},
        {{"-P exp.workload=emulate", "-P dataset.format=npz",
          "-P dataset.num_files_train=8", "-P dataset.data_folder=none"},
         "data 1! there is no data folder 'none'\n"},
        {{"-P exp.workload=emulate", "-P dataset.format=npz",
          "-P dataset.num_files_train=8", "-P dataset.data_folder=none",
          "-V workflow.generate_data=[true,false]"},
         ""},
        {{"-P exp.workload=emulate", "-P dataset.format=npz",
          "-P dataset.num_files_train=8", "-P dataset.data_folder=none",
          "-P workflow.generate_data=true",
          "-P dataset.record_length_bytes=1000000000000000"},
         "space 1! data in 'none' need *"},
        /* One folder is one set, however it is read; it has room. */
        {{"-P exp.workload=emulate", "-P dataset.format=npz",
          "-P dataset.num_files_train=8", "-P dataset.data_folder=none",
          "-P workflow.generate_data=true",
          "-V dataset.record_length_bytes=[1000,1000000000000000]",
          "-V n=[1,2]"},
         "space 2! data in 'none' need *"},
        {{"-P exp.command=true", "-P exp.cwd=nowhere"},
         "command 1? exp.cwd: 'nowhere' is not a folder to start in\n"},
        {{"-P exp.command=true", "-P exp.gpus=\"0,1:2\""},
         "GPU 1? GPUs 0, 1, 2 are missing: this machine has none\n"},
        {{"-P exp.command=true", "-P exp.gpus=\"0\"", "-P exp.device_type=cpu"},
         ""},
        {{"-P exp.workload=null", "-P exp.gpus=\"0\""},
         "config 1! -P exp.gpus: 'exp.gpus' has no effect on the workload "
         "'null'\n"},
        {{"-P exp.workload=null", "-P exp.gpus=\"\"",
          "-P exp.replica_batch=16"},
         ""},
    };
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *got = lacks(a, rows[i].args), *want = rows[i].want;
        size_t n = strcspn(want, "*");

        if (strncmp(got, want, n) != 0 || (!want[n] && got[n]))
            fail_msg("%zu: got '%s', want '%s'", i, got, want);
    }
}

static void containers_and_images(void **state)
{
    static const struct {
        const char *launcher, *image, *want;
    } rows[] = {
        {"docker", "here", ""},
        {"docker", "gone", "image 3! image 'gone' is not on this machine\n"},
        {"docker", "any",
         "container 3! 'docker' does not work: Cannot connect to the daemon\n"},
        {"podman", "here",
         "container 3! 'podman' is not on this machine\n"
         "image 3! image 'here' cannot be looked for without 'podman'\n"},
        {"docker", "",
         "image 3! exp.docker_image: a container needs an image\n"},
        {"barrel", "here",
         "container 3! exp.docker_launcher: 'barrel' names no container "
         "program that is known\n"},
    };
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);

    (void)state;
    own_path();
    put_docker("bin/docker");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char launcher[64], image[64];

        snprintf(launcher, sizeof launcher, "-P exp.docker_launcher=%s",
                 rows[i].launcher);
        snprintf(image, sizeof image, "-P exp.docker_image=\"%s\"",
                 rows[i].image);
        /* Their command is looked for inside, not here. */
        assert_string_equal(
            lacks(a, ARGS("-P exp.command=nonesuch", "-P exp.docker=true",
                          launcher, image, "-V n=[1,2,3]")),
            rows[i].want);
    }
    assert_int_equal(lines_in("asked"), 3); /* of each image once */
}

static void images_are_asked_for_once_each(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);

    (void)state;
    own_path();
    put_docker("bin/docker");
    assert_string_equal(
        lacks(a, ARGS("-P exp.command=true", "-P exp.docker=true",
                      "-P exp.docker_launcher=docker",
                      "-V exp.docker_image=[\"here\",\"gone\"]",
                      "-V exp.docker_args=[\"\",\"--rm\"]",
                      "-V n=[1,2,3,4,5,6,7,8,9,10]")),
        "image 20! image 'gone' is not on this machine\n");
    assert_int_equal(lines_in("asked"), 2);
}

static void mounts_are_looked_for(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);

    (void)state;
    own_path();
    put_docker("bin/docker");
    assert_string_equal(
        lacks(a,
              ARGS("-P exp.command=true", "-P exp.docker=true",
                   "-P exp.docker_launcher=docker", "-P exp.docker_image=here",
                   "-V container.mounts=[[],[\"./bin:/bin\"],"
                   "[\"./none:/none\"]]",
                   "-V n=[1,2]")),
        "config 2! container.mounts: cannot mount './none': No such file or "
        "directory\n");
}

/* What is in the image, or mounted there, cannot be looked for here. */
static void data_inside_is_no_reason(void **state)
{
    static const struct {
        const char *folder, *mounts, *want;
    } rows[] = {
        {"-P dataset.data_folder=/none", "-P container.mounts=[]",
         "data 1? there is no data folder '/none'\n"},
        {"-P dataset.data_folder=none", "-P container.mounts=[]",
         "data 1! there is no data folder 'none'\n"},
        {"-P dataset.data_folder=/none/set",
         "-P container.mounts=[\"./bin:/none\"]", ""},
    };
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);

    (void)state;
    own_path();
    put_docker("bin/docker");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(
            lacks(a, ARGS("-P exp.workload=emulate", "-P dataset.format=npz",
                          "-P dataset.num_files_train=8", "-P exp.docker=true",
                          "-P exp.docker_launcher=docker",
                          "-P exp.docker_image=here", rows[i].folder,
                          rows[i].mounts)),
            rows[i].want);
}

/* Sets that are kept add up, each folder once. */
static void room_is_added_up(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct statvfs fs;
    char bytes[64];

    (void)state;
    assert_int_equal(statvfs(".", &fs), 0);
    /* One takes two thirds of what is free. */
    snprintf(bytes, sizeof bytes, "-P dataset.record_length_bytes=%llu",
             (unsigned long long)fs.f_bavail * fs.f_frsize / 12);
    assert_string_equal(
        lacks(a, ARGS("-P exp.workload=emulate", "-P dataset.format=npz",
                      "-P dataset.num_files_train=8", bytes,
                      "-P dataset.data_folder=one",
                      "-P workflow.generate_data=true",
                      "-V storage.engine=[\"pread\",\"direct\"]",
                      "-V dataset.num_files_train=[4,8]")),
        "");
    assert_int_equal(
        strncmp(
            lacks(a, ARGS("-P exp.workload=emulate", "-P dataset.format=npz",
                          "-P dataset.num_files_train=8", bytes,
                          "-P workflow.generate_data=true",
                          "-V dataset.data_folder=[\"one\",\"two\"]")),
            "space 1! data in 'one' and others need ", 39),
        0);
}

static void gpus_are_those_of_the_library(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);

    (void)state;
    USE_FAKE_NVML();
    setenv("FAKE_NVML_DEVICES", "2", 1);
    assert_string_equal(lacks(a, ARGS("-P exp.command=true",
                                      "-V exp.gpus=[\"0\",\"0,1\",\"2:1\"]")),
                        "GPU 1? GPU 2 is missing: this machine has 2\n");
    assert_string_equal(
        lacks(a, ARGS("-P exp.command=true", "-P exp.gpus=\"all\"")), "");
}

static void counts_and_codes(void **state)
{
    struct pr_validation v;
    struct pr_err err;

    (void)state;
    own_path();
    validate(ARGS("-V exp.command=[\"\",\"none\",\"none\"]",
                  "-V exp.status=[\"ok\",\"disabled\"]"),
             &v);
    assert_int_equal(v.experiments, 6);
    assert_int_equal(v.off, 3);
    assert_int_equal(v.concerned, 3);
    assert_int_equal(v.count, 2);
    assert_int_equal(v.stops, 1);
    assert_int_equal(pr_validation_error(&v, true, &err), PR_E_CONF);
    assert_string_equal(err.where, v.lacks[0].first);
    assert_string_equal(err.msg, "nothing to run");
    assert_int_equal(pr_validation_error(&v, false, &err), PR_E_CONF);
    assert_string_equal(err.where, "");
    pr_validation_close(&v);

    validate(ARGS("-P exp.command=none", "-V n=[1,2]"), &v);
    assert_int_equal(pr_validation_error(&v, true, &err), PR_OK);
    assert_int_equal(pr_validation_error(&v, false, &err), PR_E_UNAVAIL);
    pr_validation_close(&v);

    validate(ARGS("-P exp.docker=true", "-P exp.docker_launcher=docker",
                  "-P exp.docker_image=x", "-P exp.command=true", "-V n=[1,2]"),
             &v);
    assert_int_equal(v.stops, 2);
    assert_int_equal(pr_validation_error(&v, true, &err), PR_E_UNAVAIL);
    assert_string_equal(err.where, "");
    pr_validation_close(&v);
}

static void a_list_that_is_too_long_is_cut(void **state)
{
    PR_AUTO_BUF struct pr_buf arg = PR_BUF_INIT(1 << 20);
    struct pr_validation v;

    (void)state;
    pr_buf_str(&arg, "-V exp.command=[\"x0\"");
    for (int i = 1; i < 1500; i++)
        pr_buf_printf(&arg, ",\"./x%d\"", i);
    pr_buf_char(&arg, ']');
    validate(ARGS(arg.data), &v);
    assert_int_equal(v.count, 1000);
    assert_int_equal(v.more, 500);
    assert_int_equal(v.concerned, 1500);
    pr_validation_close(&v);
}

static void a_finished_plan(void **state)
{
    static const struct {
        const char *text, *want;
        int code;
    } rows[] = {
        {"{\"schema\": \"prony.plan/1\", \"count\": 2, \"defaults\": "
         "{\"exp.command\": \"none\"}, \"experiments\": [\n"
         "{\"id\": \"a\", \"params\": {}},\n"
         "{\"id\": \"b\", \"params\": {\"exp.command\": \"true\"}}\n]}\n",
         "'none' is not on PATH", PR_OK},
        {"{\"schema\": \"prony.plan/1\", \"count\": 1, \"experiments\": [\n"
         "{\"id\": \"a\", \"params\": {\"exp.retry\": \"x\"}}\n]}\n",
         "'exp.retry' wants a whole number*", PR_OK},
        {"{\"schema\": \"prony.plan/1\", \"count\": 2, \"experiments\": [\n"
         "{\"id\": \"a\", \"params\": {\"exp.workload\": \"null\"}},\n"
         "{\"id\": \"a\", \"params\": {\"exp.workload\": \"null\"}}\n]}\n",
         "two experiments have the id 'a'", PR_E_FORMAT},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t n = strcspn(rows[i].want, "*");
        struct pr_validation v;
        struct pr_err err = {0};
        int rc;

        put_file("plan.json", rows[i].text);
        rc = pr_plan_file_validate("plan.json", &v, &err);
        assert_int_equal(rc, rows[i].code);
        if (rc) {
            assert_string_equal(err.msg, rows[i].want);
            continue;
        }
        assert_int_equal(v.count, 1);
        assert_int_equal(v.lacks[0].count, 1);
        assert_string_equal(v.lacks[0].first, "a");
        if (strncmp(v.lacks[0].what, rows[i].want, n) != 0)
            fail_msg("got '%s'", v.lacks[0].what);
        pr_validation_close(&v);
    }
}

/* What DLIO leaves to the run is left to it. */
static void a_check_minds_no_missing_data(void **state)
{
    struct pr_plan *p;

    (void)state;
    assert_int_equal(
        make_plan(&full,
                  ARGS("-P exp.workload=emulate", "-P dataset.format=npz",
                       "-P dataset.num_files_train=8",
                       "-P dataset.data_folder=none"),
                  &p, NULL),
        PR_OK);
    assert_int_equal(pr_plan_check(p, NULL), PR_OK);
    pr_plan_free(p);
}

static int validate_once(void)
{
    struct pr_err err = {0};
    struct pr_validation v;
    struct pr_plan *p;
    int rc = make_plan(&full,
                       ARGS("-P exp.log_file=same", "-P exp.docker=true",
                            "-P exp.docker_launcher=podman",
                            "-P exp.docker_image=x", "-P exp.gpus=\"0\"",
                            "-V exp.command=[\"true\",\"none\"]"),
                       &p, &err);

    if (rc)
        return rc;
    rc = pr_plan_validate(p, &v, &err);
    if (!rc) {
        assert_int_equal(v.count, 4);
        pr_validation_close(&v);
    }
    pr_plan_free(p);
    return rc;
}

static void out_of_memory(void **state)
{
    (void)state;
    own_path();
    torture(validate_once);
}

#define HERE(test) cmocka_unit_test_setup_teardown(test, enter_bare, leave_bare)

int main(void)
{
    const struct CMUnitTest tests[] = {
        HERE(each_thing_is_found),
        HERE(containers_and_images),
        HERE(images_are_asked_for_once_each),
        HERE(mounts_are_looked_for),
        HERE(data_inside_is_no_reason),
        HERE(room_is_added_up),
        HERE(gpus_are_those_of_the_library),
        HERE(counts_and_codes),
        HERE(a_list_that_is_too_long_is_cut),
        HERE(a_finished_plan),
        HERE(a_check_minds_no_missing_data),
        HERE(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
