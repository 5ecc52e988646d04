/* Command lines of container programs, and what their answers mean. */
#include "launch/container.h"

#include "base/buf.h"
#include "torture.h"

#include <string.h>

#define DLBS_ARGS                                      \
    "--rm --shm-size=1g --ulimit memlock=-1 --ulimit " \
    "stack=67108864 --ipc=host"

/* Words with | between. */
static const char *joined(const char *const *words, struct pr_buf *out)
{
    pr_buf_clear(out);
    pr_buf_str(out, "");
    for (size_t i = 0; words && words[i]; i++) {
        if (i)
            pr_buf_char(out, '|');
        pr_buf_str(out, words[i]);
    }
    return out->data;
}

static const struct pr_mount mounts[] = {{"/a", "/a", ""}, {"/b", "/c", "ro"}};
static const char *const env[] = {"X=1,2", "Y=a b", NULL};
static const char *const argv[] = {"prog", "--x", "a b", NULL};

static const struct row {
    const char *launcher, *args, *gpus;
    const char *network, *user, *workdir;
    uint64_t shm, memory;
    double cpus;
    const char *slot; /* its CPUs: with node 1 and 8192 bytes */
    bool much;        /* mounts and env */
    bool none;        /* no argv */
    const char *want, *want_env;
} rows[] = {
    {.launcher = "docker",
     .args = DLBS_ARGS,
     .want = "docker|run|--shm-size=1g|--ulimit|memlock=-1|--ulimit|"
             "stack=67108864|--ipc=host|--name|box|--pull=never|"
             "--log-driver=none|img:1|prog|--x|a b"},
    {.launcher = "docker",
     .args = "",
     .gpus = "0,1",
     .want = "docker|run|--name|box|--pull=never|--log-driver=none|--gpus|"
             "\"device=0,1\"|img:1|prog|--x|a b"},
    {.launcher = "docker",
     .args = "--gpus all --pull missing --log-driver=local",
     .gpus = "0",
     .want = "docker|run|--gpus|all|--pull|missing|--log-driver=local|--name|"
             "box|img:1|prog|--x|a b"},
    {.launcher = "docker",
     .gpus = "all",
     .none = true,
     .want = "docker|run|--name|box|--pull=never|--log-driver=none|--gpus|all|"
             "img:1"},
    {.launcher = "nvidia-docker",
     .args = "--rm -ti --name other -e A=B",
     .gpus = "2,3",
     .want = "nvidia-docker|run|-e|A=B|--name|box|--log-driver=none|--env|"
             "NVIDIA_VISIBLE_DEVICES=2,3|img:1|prog|--x|a b",
     .want_env = "NV_GPU=2,3"},
    {.launcher = "podman --root '/x y'",
     .args = DLBS_ARGS,
     .gpus = "0,2",
     .network = "none",
     .user = "1000:1000",
     .workdir = "/w",
     .memory = 1 << 20,
     .cpus = 1.5,
     .much = true,
     .want = "podman|--root|/x y|run|--ulimit|memlock=-1|--ulimit|"
             "stack=67108864|--ipc=host|--name|box|--pull=never|"
             "--log-driver=none|--device|nvidia.com/gpu=0|--device|"
             "nvidia.com/gpu=2|--memory|1048576|--cpus|1.5|--network|none|"
             "--user|1000:1000|--workdir|/w|--volume|/a:/a|--volume|"
             "/b:/c:ro|--env|X=1,2|--env|Y=a b|img:1|prog|--x|a b"},
    {.launcher = "podman",
     .args = "--shm-size 1g --ipc private",
     .want = "podman|run|--shm-size|1g|--ipc|private|--name|box|"
             "--pull=never|--log-driver=none|img:1|prog|--x|a b"},
    {.launcher = "podman",
     .args = "--shm-size 1g --ipc host",
     .want = "podman|run|--ipc|host|--name|box|--pull=never|"
             "--log-driver=none|img:1|prog|--x|a b"},
    {.launcher = "docker",
     .args = "--shm-size=1g",
     .shm = 4096,
     .want = "docker|run|--name|box|--pull=never|--log-driver=none|"
             "--shm-size|4096|img:1|prog|--x|a b"},
    {.launcher = "docker",
     .args = "--net host --network=bridge",
     .network = "none",
     .want = "docker|run|--name|box|--pull=never|--log-driver=none|--network|"
             "none|img:1|prog|--x|a b"},
    {.launcher = "docker",
     .args = "--net host",
     .want = "docker|run|--net|host|--name|box|--pull=never|"
             "--log-driver=none|img:1|prog|--x|a b"},
    {.launcher = "docker",
     .slot = "0-3,8",
     .want = "docker|run|--name|box|--pull=never|--log-driver=none|--memory|"
             "8192|--cpuset-cpus|0-3,8|--cpuset-mems|1|img:1|prog|--x|a b"},
    {.launcher = "podman",
     .slot = "0-3,8",
     .memory = 4096,
     .args = "--cpuset-cpus=5",
     .want = "podman|run|--cpuset-cpus=5|--name|box|--pull=never|"
             "--log-driver=none|--memory|4096|img:1|prog|--x|a b"},
    {.launcher = "docker",
     .slot = "1",
     .args = "--cpuset-mems 0 -m 1g",
     .want = "docker|run|--cpuset-mems|0|-m|1g|--name|box|--pull=never|"
             "--log-driver=none|img:1|prog|--x|a b"},
    {.launcher = "docker",
     .slot = "1",
     .args = "-m1g",
     .want = "docker|run|-m1g|--name|box|--pull=never|--log-driver=none|"
             "--cpuset-cpus|1|--cpuset-mems|1|img:1|prog|--x|a b"},
    {.launcher = "docker",
     .slot = "1",
     .args = "--memory=1g",
     .want = "docker|run|--memory=1g|--name|box|--pull=never|"
             "--log-driver=none|--cpuset-cpus|1|--cpuset-mems|1|img:1|prog|"
             "--x|a b"},
    {.launcher = "apptainer",
     .slot = "1",
     .want = "apptainer|exec|--cleanenv|img:1|prog|--x|a b"},
    {.launcher = "apptainer",
     .args = "--net --network none --fakeroot",
     .want = "apptainer|exec|--net|--network|none|--fakeroot|--cleanenv|img:1|"
             "prog|--x|a b"},
    {.launcher = "sudo -n /usr/bin/docker",
     .args = "--tty=false -i -t -it --interactive",
     .want = "sudo|-n|/usr/bin/docker|run|--name|box|--pull=never|"
             "--log-driver=none|img:1|prog|--x|a b"},
    {.launcher = "apptainer",
     .args = DLBS_ARGS " --fakeroot",
     .gpus = "0,1",
     .network = "none",
     .workdir = "/w",
     .memory = 4096,
     .cpus = 2,
     .shm = 4096,
     .much = true,
     .want = "apptainer|exec|--fakeroot|--cleanenv|--nv|--memory|4096|--cpus|"
             "2|--net|--network|none|--pwd|/w|--bind|/a:/a|--bind|/b:/c:ro|"
             "img:1|prog|--x|a b",
     .want_env = "APPTAINERENV_X=1,2|APPTAINERENV_Y=a b|"
                 "APPTAINERENV_CUDA_VISIBLE_DEVICES=0,1"},
    {.launcher = "/opt/bin/singularity --debug",
     .args = "",
     .network = "host",
     .none = true,
     .much = true,
     .want = "/opt/bin/singularity|--debug|run|--cleanenv|--bind|/a:/a|--bind|"
             "/b:/c:ro|img:1",
     .want_env = "SINGULARITYENV_X=1,2|SINGULARITYENV_Y=a b"},
};

static void each_program_gets_its_own_words(void **state)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 16);

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *r = &rows[i];
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
        struct pr_container_opts o = {.launcher = r->launcher,
                                      .args = r->args,
                                      .image = "img:1",
                                      .name = "box",
                                      .gpus = r->gpus,
                                      .network = r->network,
                                      .user = r->user,
                                      .workdir = r->workdir,
                                      .shm_bytes = r->shm,
                                      .memory_bytes = r->memory,
                                      .cpus = r->cpus,
                                      .slot_cpus = r->slot,
                                      .slot_mems = r->slot ? "1" : NULL,
                                      .slot_memory = r->slot ? 8192 : 0,
                                      .mounts = mounts,
                                      .mount_count = r->much ? 2 : 0,
                                      .env = r->much ? env : NULL,
                                      .argv = r->none ? NULL : argv};
        struct pr_container c;
        struct pr_err err = {0};

        assert_int_equal(pr_container_make_plan(&o, a, &c, &err), PR_OK);
        assert_string_equal(joined(c.argv, &text), r->want);
        assert_non_null(c.env);
        assert_string_equal(joined(c.env, &text),
                            r->want_env ? r->want_env : "");
    }
}

/* Paths that the short form would split; places that are taken. */
static const struct pr_mount odd[] = {
    {"/a:1", "/a:1", ""},
    {"/b,2", "/b,2", "ro"},
    {"/c:3,\"", "/c:3,\"", "ro"},
    {"/d", "/d", "ro"},
    {"/e", "/d/", ""},
    {"/args", "/f", ""},
    {"/args", "/g", ""},
    {"/args", "/h", ""},
    {"/args", "/i", ""},
    {"/args", "/b,2", "ro"},
    {"/j k", "/j k", ""},
};

static void odd_paths_and_places_that_are_taken(void **state)
{
    static const struct {
        const char *launcher, *args, *want;
    } lines[] = {
        {"podman", "-v x:/f -v /g --volume=/x:/h/:ro --mount type=tmpfs,dst=/i",
         "podman|run|-v|x:/f|-v|/g|--volume=/x:/h/:ro|--mount|"
         "type=tmpfs,dst=/i|--name|box|--pull=never|--log-driver=none|"
         "--mount|type=bind,source=/a:1,target=/a:1|--volume|/b,2:/b,2:ro|"
         "--mount|type=bind,\"source=/c:3,\"\"\",\"target=/c:3,\"\"\","
         "readonly|--volume|/d:/d:ro|--volume|/j k:/j k|img"},
        {"apptainer", "-B x:/f,/g -B /x:/h:ro --bind=/i",
         "apptainer|exec|-B|x:/f,/g|-B|/x:/h:ro|--bind=/i|--cleanenv|--mount|"
         "type=bind,source=/a:1,target=/a:1|--mount|type=bind,"
         "\"source=/b,2\",\"target=/b,2\",readonly|--mount|type=bind,"
         "\"source=/c:3,\"\"\",\"target=/c:3,\"\"\",readonly|--bind|/d:/d:ro|"
         "--bind|/j k:/j k|img"},
    };
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 16);
    static const char *const none[] = {NULL};

    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
        struct pr_container_opts o = {.launcher = lines[i].launcher,
                                      .args = lines[i].args,
                                      .image = "img",
                                      .name = "box",
                                      .mounts = odd,
                                      .mount_count = sizeof odd / sizeof *odd,
                                      .argv = none};
        struct pr_container c;

        assert_int_equal(pr_container_make_plan(&o, a, &c, NULL), PR_OK);
        assert_string_equal(joined(c.argv, &text), lines[i].want);
    }
}

static struct pr_container planned(const char *launcher, const char *image,
                                   struct pr_arena *a)
{
    struct pr_container_opts o = {
        .launcher = launcher, .image = image, .name = "box"};
    struct pr_container c;

    assert_int_equal(pr_container_make_plan(&o, a, &c, NULL), PR_OK);
    return c;
}

static void what_is_asked_afterwards(void **state)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 16);
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_container c = planned("podman --root r", "img", a);

    (void)state;
    assert_string_equal(joined(c.kill, &text),
                        "podman|--root|r|kill|--signal|KILL|box");
    assert_string_equal(joined(c.inspect, &text),
                        "podman|--root|r|container|inspect|--format|"
                        "{{.State.ExitCode}} {{.State.OOMKilled}}|box");
    assert_string_equal(joined(c.remove, &text),
                        "podman|--root|r|rm|--force|--volumes|box");
    assert_string_equal(joined(c.has_image, &text),
                        "podman|--root|r|image|inspect|--format|{{.Id}}|img");
    assert_null(c.image_file);
    c = planned("apptainer", "/x/a.sif", a);
    assert_null(c.kill);
    assert_null(c.inspect);
    assert_null(c.remove);
    assert_null(c.has_image);
    assert_string_equal(c.image_file, "/x/a.sif");
    c = planned("singularity", "docker://x", a);
    assert_null(c.has_image);
    assert_null(c.image_file);
}

static void what_cannot_be_is_refused(void **state)
{
    static const struct {
        const char *launcher, *args, *image, *user;
        int code;
        const char *where, *msg;
    } bad[] = {
        {"rkt", "", "i", "", PR_E_UNAVAIL, "exp.docker_launcher",
         "'rkt' names no container program that is known"},
        {"", "", "i", "", PR_E_UNAVAIL, "exp.docker_launcher",
         "'' names no container program that is known"},
        {"dockerx", "", "i", "", PR_E_UNAVAIL, "exp.docker_launcher",
         "'dockerx' names no container program that is known"},
        {"docker", "", "", "", PR_E_CONF, "exp.docker_image",
         "a container needs an image"},
        {"docker", "--rm -d", "i", "", PR_E_CONF, "exp.docker_args",
         "'-d' lets a container run on without us"},
        {"podman", "-dit", "i", "", PR_E_CONF, "exp.docker_args",
         "'-dit' lets a container run on without us"},
        {"docker", "--detach=true", "i", "", PR_E_CONF, "exp.docker_args",
         "'--detach=true' lets a container run on without us"},
        {"docker", "--x 'y", "i", "", PR_E_CONF, "exp.docker_args", NULL},
        {"docker 'y", "", "i", "", PR_E_CONF, "exp.docker_launcher", NULL},
        {"apptainer", "", "i", "1000", PR_E_CONF, "container.user",
         "apptainer runs as the user who starts it"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
        struct pr_container_opts o = {.launcher = bad[i].launcher,
                                      .args = bad[i].args,
                                      .image = bad[i].image,
                                      .user = bad[i].user};
        struct pr_container c = {.image_file = "untouched"};
        struct pr_err err = {0};

        assert_int_equal(pr_container_make_plan(&o, a, &c, &err), bad[i].code);
        assert_string_equal(err.where, bad[i].where);
        if (bad[i].msg)
            assert_string_equal(err.msg, bad[i].msg);
        assert_string_equal(c.image_file, "untouched");
    }
}

static void ends_are_read(void **state)
{
    static const struct {
        const char *text;
        bool ok;
        int status;
        bool oom;
    } ends[] = {
        {"0 false\n", true, 0, false},
        {"137 true", true, 137, true},
        {"time=\"x\" level=warning msg=\"y\"\n3 false\r\n", true, 3, false},
        {"3 false\nwarning: z\n", true, 3, false},
        {"-1 false", true, -1, false},
        {"", false, 7, true},
        {"Error: no such container", false, 7, true},
        {"3 falsehood", false, 7, true},
        {"3", false, 7, true},
        {"3\nfalse", false, 7, true},
        {"99999999999 true", false, 7, true},
        {"x 3 true", false, 7, true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        int status = 7;
        bool oom = true;

        assert_int_equal(
            pr_container_parse_inspect(ends[i].text, &status, &oom),
            ends[i].ok);
        assert_int_equal(status, ends[i].status);
        assert_int_equal(oom, ends[i].oom);
    }
}

static const char *words_of(const char *launcher, int status)
{
    return pr_container_status_words(launcher, status, "its last line");
}

static void statuses_of_the_program_itself_are_known(void **state)
{
    (void)state;
    assert_string_equal(words_of("podman --root x", 125),
                        "the container could not be started");
    assert_string_equal(words_of("docker", 127),
                        "the program was not found inside");
    assert_string_equal(words_of("nvidia-docker", 126),
                        "the program inside cannot be executed");
    assert_null(words_of("docker", 1));
    assert_null(words_of("docker", 255));
    assert_null(words_of("apptainer", 255)); /* the program's own */
    assert_non_null(
        pr_container_status_words("apptainer", 255, "FATAL:   no such image"));
    assert_null(words_of("singularity", 125));
    assert_null(words_of("sh", 125));
}

static int plan_once(void)
{
    struct pr_container_opts o = {.launcher = "podman --root x",
                                  .args = DLBS_ARGS,
                                  .image = "i",
                                  .name = "box",
                                  .gpus = "0,1",
                                  .mounts = odd,
                                  .mount_count = sizeof odd / sizeof *odd,
                                  .env = env,
                                  .argv = argv};
    struct pr_container c;
    struct pr_err err = {0};
    /* Small blocks, so that there is more than one allocation. */
    struct pr_arena *a = pr_arena_new(1);
    int rc = a ? pr_container_make_plan(&o, a, &c, &err) : PR_E_NOMEM;

    pr_arena_free(a);
    return rc;
}

static void memory_may_run_out(void **state)
{
    (void)state;
    torture(plan_once);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_program_gets_its_own_words),
        cmocka_unit_test(odd_paths_and_places_that_are_taken),
        cmocka_unit_test(what_is_asked_afterwards),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(ends_are_read),
        cmocka_unit_test(statuses_of_the_program_itself_are_known),
        cmocka_unit_test(memory_may_run_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
