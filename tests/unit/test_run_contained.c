/* Experiments as containers: what is seen, set and started inside. */
#include "run/contained.h"

#include "launch/slots/slots.h"
#include "run/attempt.h"

#include "scratch.h"
#include "skip.h"
#include "torture.h"
#include "values.h"

#include <limits.h>
#include <sys/stat.h>
#include <sys/wait.h>

static char here[PATH_MAX];

struct kit {
    struct pr_arena *arena;
    struct pr_value params;
    struct pr_job job;
    struct pr_start start;
    struct pr_job_container box;
};

#define BASE                                               \
    "{\"exp.docker\": true, \"exp.docker_image\": \"i\", " \
    "\"exp.docker_launcher\": \"podman\", \"exp.docker_args\": \"\", "

static const char *argv[] = {"prog", "x", NULL};
static const char *own[] = {"OWN=1", NULL};

/* Half of a machine; where wrap() puts it when slot is set. */
static const char *const firm[] = {"PRONY_SLOT=1", "PRONY_CORES=2",
                                   "CUDA_VISIBLE_DEVICES=1",
                                   "ROCR_VISIBLE_DEVICES=1", NULL};
static const char *const soft[] = {"OMP_NUM_THREADS=2", "OWN=2", NULL};
static const struct pr_slot part = {.index = 1,
                                    .cpus = "2-3",
                                    .mems = "0",
                                    .cpus_grouped = true,
                                    .memory_bytes = 4096,
                                    .env = firm,
                                    .env_default = soft};
static const struct pr_slot *slot;

/* The rest of the parameters as JSON, with the closing brace. */
static int wrap(struct kit *k, const char *rest, bool program,
                struct pr_err *err)
{
    char text[4096];

    assert_non_null(getcwd(here, sizeof here));
    snprintf(text, sizeof text, BASE "%s", rest);
    *k = (struct kit){.arena = pr_arena_new(4096)};
    k->params = json(k->arena, text);
    assert_int_equal(
        pr_job_init(&k->job, "00 1", "dir", &k->params, k->arena, err), PR_OK);
    if (program)
        k->start.argv = argv;
    k->start.own_env = own;
    assert_true(pr_job_needs_container(&k->job, &k->start));
    return pr_job_container_wrap(&k->job, &k->start, slot, &k->box, err);
}

/* How often OPTION VALUE is there, up to the image; "%" in value stands for
 * the folder we are in. */
static int count(const struct kit *k, const char *option, const char *value)
{
    char want[2 * PATH_MAX] = "";
    int n = 0;

    for (; *value; value++)
        snprintf(want + strlen(want), sizeof want - strlen(want), "%.*s",
                 *value == '%' ? PATH_MAX : 1, *value == '%' ? here : value);
    for (const char **w = k->start.argv; w[0] && strcmp(w[0], "i"); w++)
        n += strcmp(w[0], option) == 0 && w[1] && strcmp(w[1], want) == 0;
    return n;
}

static const char **inside(const struct kit *k)
{
    const char **w = k->start.argv;

    while (*w && strcmp(*w, "i") != 0)
        w++;
    assert_non_null(*w);
    return w + 1;
}

static const char *value_of(const char **words, const char *option)
{
    for (; *words; words++)
        if (strcmp(*words, option) == 0)
            return words[1];
    return NULL;
}

static void its_folder_and_data_are_seen(void **state)
{
    struct kit k;

    (void)state;
    assert_int_equal(mkdir("dir", 0755), 0);
    assert_int_equal(mkdir("data", 0755), 0);
    assert_int_equal(mkdir("store", 0755), 0);
    assert_int_equal(mkdir("store/set", 0755), 0);
    spit("net.yaml", "x");
    assert_int_equal(
        wrap(&k,
             "\"exp.data_dir\": \"data\", \"storage.storage_root\": \"store\", "
             "\"dataset.data_folder\": \"set\", \"exp.model\": \"./net.yaml\", "
             "\"checkpoint.checkpoint_folder\": \"not/there\", "
             "\"container.mounts\": [\"./data:/d:ro\", \"volume:/v\", "
             "\"/proc:/p\"]}",
             true, NULL),
        PR_OK);
    assert_int_equal(count(&k, "--volume", "%/dir:%/dir"), 1);
    assert_int_equal(count(&k, "--volume", "%/data:%/data"), 1);
    assert_int_equal(count(&k, "--volume", "%/store/set:%/store/set"), 1);
    assert_int_equal(count(&k, "--volume", "%/net.yaml:%/net.yaml:ro"), 1);
    assert_int_equal(count(&k, "--volume", "%/data:/d:ro"), 1);
    assert_int_equal(count(&k, "--volume", "volume:/v"), 1);
    assert_int_equal(count(&k, "--volume", "/proc:/p"), 1);
    /* A folder that is not there, and where we are, are not. */
    assert_null(strstr(value_of(k.start.argv, "--volume"), "not/there"));
    assert_int_equal(count(&k, "--volume", "%:%"), 0);
    pr_arena_free(k.arena);
}

static void inside_is_what_the_experiment_sets(void **state)
{
    struct kit k;
    const char *name;

    (void)state;
    assert_int_equal(mkdir("dir", 0755), 0);
    setenv("OUTSIDE", "1", 1);
    assert_int_equal(wrap(&k,
                          "\"exp.cwd\": \"/w\", \"container.user\": \"me\", "
                          "\"container.shm_size\": \"1MiB\", "
                          "\"container.network\": \"none\"}",
                          true, NULL),
                     PR_OK);
    assert_int_equal(count(&k, "--env", "OWN=1"), 1);
    assert_int_equal(count(&k, "--env", "PRONY_EXPERIMENT=00 1"), 1);
    assert_int_equal(count(&k, "--env", "PRONY_CHANNEL=%/dir/channel.ndjson"),
                     1);
    assert_int_equal(count(&k, "--env", "OUTSIDE=1"), 0);
    assert_int_equal(count(&k, "--workdir", "/w"), 1);
    assert_int_equal(count(&k, "--user", "me"), 1);
    assert_int_equal(count(&k, "--shm-size", "1048576"), 1);
    assert_int_equal(count(&k, "--network", "none"), 1);
    assert_string_equal(inside(&k)[0], "prog");
    assert_string_equal(inside(&k)[1], "x");
    assert_null(inside(&k)[2]);
    name = value_of(k.start.argv, "--name");
    assert_int_equal(strncmp(name, "prony-00_1-", 11), 0);
    assert_string_equal(name, k.box.name);
    /* The program itself keeps our environment, without the experiment's. */
    bool outside = false;
    for (const char **e = k.start.env; *e; e++) {
        outside |= strcmp(*e, "OUTSIDE=1") == 0;
        assert_string_not_equal(*e, "OWN=1");
    }
    assert_true(outside);
    assert_null(k.start.own_env[0]);
    pr_arena_free(k.arena);
}

static void what_has_no_program_is_prony_inside(void **state)
{
    struct kit k;

    (void)state;
    assert_int_equal(mkdir("dir", 0755), 0);
    assert_int_equal(wrap(&k, "\"container.cpus\": 2}", false, NULL), PR_OK);
    assert_string_equal(inside(&k)[0], "prony");
    assert_string_equal(inside(&k)[1], "__rank");
    assert_int_equal(strncmp(inside(&k)[2], here, strlen(here)), 0);
    assert_string_equal(inside(&k)[2] + strlen(here), "/dir");
    assert_null(inside(&k)[3]);
    assert_int_equal(count(&k, "--cpus", "2"), 1);
    /* Relative paths of parameters mean the same. */
    assert_int_equal(count(&k, "--workdir", "%"), 1);
    pr_arena_free(k.arena);
}

static void what_cannot_be_mounted_is_refused(void **state)
{
    static const struct {
        const char *mounts, *msg;
    } rows[] = {
        {"[\"/nowhere:/x\"]", "cannot mount '/nowhere': "},
        {"[\"./nowhere:/x\"]", "cannot mount './nowhere': "},
        {"[\"/tmp\"]", "'/tmp' is not HOST:INSIDE or HOST:INSIDE:ro"},
        {"[\":/x\"]", "':/x' is not HOST:INSIDE or HOST:INSIDE:ro"},
        {"[\"/tmp:\"]", "'/tmp:' is not HOST:INSIDE or HOST:INSIDE:ro"},
        {"[7]", "'' is not HOST:INSIDE or HOST:INSIDE:ro"},
    };

    (void)state;
    assert_int_equal(mkdir("dir", 0755), 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_err err = {0};
        char rest[256];
        struct kit k;

        snprintf(rest, sizeof rest, "\"container.mounts\": %s}",
                 rows[i].mounts);
        assert_int_equal(wrap(&k, rest, true, &err), PR_E_CONF);
        assert_string_equal(err.where, "container.mounts");
        assert_int_equal(strncmp(err.msg, rows[i].msg, strlen(rows[i].msg)), 0);
        assert_ptr_equal(k.start.argv, argv); /* untouched */
        pr_arena_free(k.arena);
    }
}

/* A path is the same inside, even where a link leads to it; what the user
 * mounts there holds, and what is seen already is not mounted again. */
static void paths_are_those_outside(void **state)
{
    struct kit k;

    (void)state;
    assert_int_equal(mkdir("dir", 0755), 0);
    assert_int_equal(mkdir("a:b", 0755), 0);
    assert_int_equal(mkdir("real", 0755), 0);
    assert_int_equal(mkdir("real/in", 0755), 0);
    spit("real/in/w", "");
    assert_int_equal(symlink("real", "link"), 0);
    assert_int_equal(wrap(&k,
                          "\"exp.data_dir\": \"./link/\", \"nn.load\": "
                          "\"real/in/w\", \"nn.save\": \"real/in/new\", "
                          "\"dataset.data_folder\": \"a:b\"}",
                          true, NULL),
                     PR_OK);
    assert_int_equal(count(&k, "--volume", "%/real:%/link"), 1);
    assert_int_equal(count(&k, "--volume", "%/real/in:%/real/in"), 1);
    assert_int_equal(count(&k, "--volume", "%/real/in/w:%/real/in/w:ro"), 0);
    assert_int_equal(
        count(&k, "--mount", "type=bind,source=%/a:b,target=%/a:b"), 1);
    pr_arena_free(k.arena);
    assert_int_equal(wrap(&k,
                          "\"container.mounts\": [\"./real:/set:ro\"], "
                          "\"exp.data_dir\": \"/set/x\"}",
                          true, NULL),
                     PR_OK);
    assert_int_equal(count(&k, "--volume", "%/real:/set:ro"), 1);
    assert_true(pr_job_container_has_own_mount(&k.job, "/set"));
    assert_true(pr_job_container_has_own_mount(&k.job, "/set/x"));
    assert_false(pr_job_container_has_own_mount(&k.job, "/settle"));
    pr_arena_free(k.arena);
}

/* What would be written inside alone is lost with the container. */
static void folders_that_it_makes_are_made_here(void **state)
{
    struct stat st;
    struct kit k;

    (void)state;
    assert_int_equal(mkdir("dir", 0755), 0);
    assert_int_equal(
        wrap(&k,
             "\"workflow.generate_data\": true, \"dataset.data_folder\": "
             "\"set\", \"storage.storage_root\": \"store\", "
             "\"checkpoint.checkpoint_folder\": \"saved\", "
             "\"output.folder\": \"more/results\"}",
             false, NULL),
        PR_OK);
    assert_int_equal(stat("store/set", &st), 0);
    assert_int_equal(stat("more/results", &st), 0);
    assert_int_equal(stat("saved", &st), -1); /* nobody writes any */
    assert_int_equal(count(&k, "--volume", "%/store/set:%/store/set"), 1);
    assert_int_equal(count(&k, "--volume", "%/more/results:%/more/results"), 1);
    pr_arena_free(k.arena);
    setenv("PRONY_DATA", "top", 1);
    assert_int_equal(
        wrap(&k,
             "\"workflow.checkpoint\": true, "
             "\"checkpoint.checkpoint_folder\": \"saved\", "
             "\"workflow.generate_data\": true, \"storage.engine\": "
             "\"null\", \"dataset.data_folder\": \"set\"}",
             false, NULL),
        PR_OK);
    unsetenv("PRONY_DATA");
    assert_int_equal(stat("top/saved", &st), -1); /* null keeps nothing */
    pr_arena_free(k.arena);
    setenv("PRONY_DATA", "top", 1);
    assert_int_equal(wrap(&k,
                          "\"workflow.checkpoint\": true, "
                          "\"checkpoint.checkpoint_folder\": \"saved\"}",
                          false, NULL),
                     PR_OK);
    unsetenv("PRONY_DATA");
    assert_int_equal(stat("top/saved", &st), 0);
    assert_int_equal(count(&k, "--env", "PRONY_DATA=%/top"), 1);
    assert_int_equal(count(&k, "--volume", "%/top:%/top"), 1);
    assert_int_equal(count(&k, "--volume", "%/top/saved:%/top/saved"), 0);
    pr_arena_free(k.arena);
}

static void nothing_is_made_to_show_a_command(void **state)
{
    struct stat st;
    struct kit k;

    (void)state;
    assert_int_equal(mkdir("dir", 0755), 0);
    assert_int_equal(wrap(&k,
                          "\"workflow.generate_data\": true, "
                          "\"dataset.data_folder\": \"set\", "
                          "\"exp.status\": \"simulate\"}",
                          false, NULL),
                     PR_OK);
    assert_int_equal(stat("set", &st), -1);
    assert_int_equal(count(&k, "--volume", "%/set:%/set"), 1);
    pr_arena_free(k.arena);
}

/* As root we let the user of the container write to the folder. */
static void another_user_may_write(void **state)
{
    struct stat st;
    struct kit k;

    (void)state;
    if (geteuid() != 0)
        skip_because("a user cannot give files away; run it as root");
    assert_int_equal(mkdir("dir", 0755), 0);
    assert_int_equal(wrap(&k, "\"container.user\": \"1234:567\"}", true, NULL),
                     PR_OK);
    assert_int_equal(stat("dir", &st), 0);
    assert_int_equal(st.st_uid, 1234);
    assert_int_equal(st.st_gid, 567);
    assert_int_equal(stat("dir/channel.ndjson", &st), 0);
    assert_int_equal(st.st_uid, 1234);
    pr_arena_free(k.arena);
}

/* Containers of a daemon are not where their program is. */
static void a_container_gets_the_slot(void **state)
{
    struct pr_slot loose = part;
    struct kit k;

    (void)state;
    assert_int_equal(mkdir("dir", 0755), 0);
    slot = &part;
    assert_int_equal(wrap(&k, "\"exp.gpus\": \"\"}", true, NULL), PR_OK);
    assert_int_equal(count(&k, "--cpuset-cpus", "2-3"), 1);
    assert_int_equal(count(&k, "--cpuset-mems", "0"), 1);
    assert_int_equal(count(&k, "--memory", "4096"), 1);
    assert_int_equal(count(&k, "--env", "PRONY_SLOT=1"), 1);
    assert_int_equal(count(&k, "--env", "CUDA_VISIBLE_DEVICES=1"), 1);
    assert_int_equal(count(&k, "--env", "OMP_NUM_THREADS=2"), 1);
    assert_int_equal(count(&k, "--env", "OWN=1"), 1); /* its own holds */
    assert_int_equal(count(&k, "--env", "OWN=2"), 0);
    pr_arena_free(k.arena);
    /* Affinity is handed down, and podman may make groups no more than us. */
    loose.cpus_grouped = false;
    slot = &loose;
    assert_int_equal(wrap(&k, "\"exp.gpus\": \"\"}", true, NULL), PR_OK);
    assert_null(value_of(k.start.argv, "--cpuset-cpus"));
    assert_null(value_of(k.start.argv, "--cpuset-mems"));
    pr_arena_free(k.arena);
    assert_int_equal(
        wrap(&k, "\"exp.docker_launcher\": \"docker\"}", true, NULL), PR_OK);
    assert_int_equal(count(&k, "--cpuset-cpus", "2-3"), 1);
    pr_arena_free(k.arena);
    slot = NULL;
}

/* The one that the slot has, by the number that it has inside. */
static void its_gpu_is_that_of_the_slot(void **state)
{
    struct kit k;

    (void)state;
    assert_int_equal(mkdir("dir", 0755), 0);
    slot = &part;
    assert_int_equal(wrap(&k, "\"runtime.visible_gpus\": \"0\"}", true, NULL),
                     PR_OK);
    assert_int_equal(count(&k, "--device", "nvidia.com/gpu=1"), 1);
    assert_int_equal(count(&k, "--device", "nvidia.com/gpu=0"), 0);
    assert_int_equal(count(&k, "--env", "CUDA_VISIBLE_DEVICES=1"), 0);
    assert_int_equal(count(&k, "--env", "ROCR_VISIBLE_DEVICES=1"), 0);
    assert_int_equal(count(&k, "--env", "PRONY_SLOT=1"), 1);
    pr_arena_free(k.arena);
    /* All that the user gave are seen there, so the number tells. */
    assert_int_equal(wrap(&k,
                          "\"runtime.visible_gpus\": \"0\", "
                          "\"exp.docker_args\": \"--gpus all\"}",
                          true, NULL),
                     PR_OK);
    assert_int_equal(count(&k, "--env", "CUDA_VISIBLE_DEVICES=1"), 1);
    pr_arena_free(k.arena);
    slot = NULL;
}

static int wrap_once(void)
{
    static const char text[] =
        BASE "\"exp.data_dir\": \"a:b\", \"nn.save\": \"x/y\", "
             "\"container.mounts\": [\"./dir:/x:ro\"]}";
    struct pr_json_in in = {.text = text, .len = strlen(text), .name = "x"};
    struct pr_arena *a = pr_arena_new(1); /* so that there are many */
    struct kit k = {.start = {.argv = argv, .own_env = own}};
    struct pr_err err = {0};
    int rc = a ? pr_json_read(&in, a, &k.params, NULL, &err) : PR_E_NOMEM;

    if (!rc)
        rc = pr_job_init(&k.job, "1", "dir", &k.params, a, &err);
    if (!rc)
        rc = pr_job_container_wrap(&k.job, &k.start, &part, &k.box, &err);
    pr_arena_free(a);
    return rc;
}

static void memory_may_run_out(void **state)
{
    (void)state;
    assert_int_equal(mkdir("dir", 0755), 0);
    assert_int_equal(mkdir("a:b", 0755), 0);
    torture(wrap_once);
}

static void only_those_of_others_are_wrapped(void **state)
{
    struct pr_job job = {.id = "x"};
    struct pr_start start = {0};

    (void)state;
    assert_false(pr_job_needs_container(&job, &start));
    job.exp.docker = true;
    assert_true(pr_job_needs_container(&job, &start));
    start.contains_itself = true;
    assert_false(pr_job_needs_container(&job, &start));
}

/* ---- afterwards */

static struct kit fake;

/* A podman that notes what it is asked, and answers so. */
static void use_fake(const char *inspect, const char *rm)
{
    char text[1024], path[PATH_MAX + 64];

    assert_non_null(getcwd(here, sizeof here));
    snprintf(text, sizeof text,
             "#!/bin/sh\necho \"$1\" >> asked\ncase $1 in\n"
             "container) %s ;;\nrm) %s ;;\nkill) exit 1 ;;\nesac\n",
             inspect, rm);
    spit("podman", text);
    assert_int_equal(chmod("podman", 0755), 0);
    snprintf(path, sizeof path, "%s:/usr/bin:/bin", here);
    assert_int_equal(setenv("PATH", path, 1), 0);
    assert_int_equal(mkdir("dir", 0755), 0);
    assert_int_equal(wrap(&fake, "\"container.cpus\": 2}", true, NULL), PR_OK);
}

static void the_end_is_asked_for(void **state)
{
    static const struct {
        int wait_status;
        const char *inspect, *rm, *asked;
        int want_status;
        bool want_oom, left, inside;
    } rows[] = {
        {W_EXITCODE(0, 0), "exit 1", "exit 0", "rm\n", W_EXITCODE(0, 0), false,
         false, false},
        {W_EXITCODE(7, 0), "echo 7 false", "exit 0", "container\nrm\n",
         W_EXITCODE(7, 0), false, false, false},
        {W_EXITCODE(137, 0), "echo 137 true", "exit 0", "container\nrm\n",
         W_EXITCODE(137, 0), true, false, false},
        {W_EXITCODE(1, 0), "echo 5 false; exit 1", "exit 0", "container\nrm\n",
         W_EXITCODE(1, 0), false, false, false},
        {W_EXITCODE(125, 0), "echo 0 false", "echo no such container; exit 1",
         "kill\ncontainer\nrm\n", W_EXITCODE(125, 0), false, false, false},
        {W_EXITCODE(125, 0), "echo 125 false", "exit 0",
         "kill\ncontainer\nrm\n", W_EXITCODE(125, 0), false, false, true},
        {W_EXITCODE(0, 9), "echo 0 false", "exit 0", "kill\nrm\n",
         W_EXITCODE(0, 9), false, false, false},
        {W_EXITCODE(0, 0), "exit 1", "echo no; exit 1", "rm\nrm\n",
         W_EXITCODE(0, 0), false, true, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_attempt a = {.end = {.kind = PR_CHILD_ENDED,
                                       .wait_status = rows[i].wait_status,
                                       .leftovers = 3}};
        char left[128], said[64] = "";
        FILE *f;

        (void)!system("rm -rf dir asked");
        use_fake(rows[i].inspect, rows[i].rm);
        pr_job_container_end(&fake.box, &a, left);
        f = fopen("asked", "r");
        assert_non_null(f);
        said[fread(said, 1, sizeof said - 1, f)] = '\0';
        fclose(f);
        assert_string_equal(said, rows[i].asked);
        assert_int_equal(a.end.wait_status, rows[i].want_status);
        assert_int_equal(a.end.oom, rows[i].want_oom);
        assert_int_equal(a.end.leftovers, 0);
        assert_int_equal(*left != '\0', rows[i].left);
        assert_int_equal(a.ended_inside, rows[i].inside);
        if (rows[i].left)
            assert_non_null(strstr(left, fake.box.name));
        pr_arena_free(fake.arena);
    }
}

static void what_nobody_saw_end_is_ended(void **state)
{
    struct pr_attempt a = {.status = PR_STATUS_FAILED};
    char left[128], *said;

    (void)state;
    use_fake("exit 0", "exit 0");
    pr_job_container_end(&fake.box, &a, left);
    said = slurp("asked", NULL);
    assert_string_equal(said, "kill\nrm\n");
    free(said);
    pr_arena_free(fake.arena);
}

/* All arguments are noted here. */
static void what_an_earlier_run_left_is_ended(void **state)
{
    static const struct {
        const char *record, *asked;
    } rows[] = {
        {"prony-0001-7-x", "kill --signal KILL prony-0001-7-x\n"
                           "rm --force --volumes prony-0001-7-x\n"},
        {"somebodys", ""},
        {"prony-a b", ""},
        {"", ""},
    };
    char *said;

    (void)state;
    use_fake("exit 0", "exit 0");
    spit("podman", "#!/bin/sh\necho \"$@\" >> asked\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        spit("asked", "");
        spit("dir/container", rows[i].record);
        pr_job_container_begin(&fake.box);
        said = slurp("asked", NULL);
        assert_string_equal(said, rows[i].asked);
        free(said);
        said = slurp("dir/container", NULL);
        assert_string_equal(said, fake.box.name);
        free(said);
    }
    pr_arena_free(fake.arena);
}

static void what_never_started_is_not_asked_for(void **state)
{
    struct pr_attempt a = {.end = {.kind = PR_CHILD_FAILED}};
    struct pr_job_container none = {.launcher = NULL};
    char left[128];

    (void)state;
    use_fake("exit 0", "exit 0");
    pr_job_container_end(&fake.box, &a, left);
    a.end.kind = PR_CHILD_ENDED;
    a.end.leftovers = 2;
    pr_job_container_end(&none, &a, left);
    assert_int_equal(a.end.leftovers, 2);
    assert_int_equal(access("asked", F_OK), -1);
    pr_arena_free(fake.arena);
}

static void failures_get_words(void **state)
{
    static const struct {
        int status;
        const char *log, *reason;
    } rows[] = {
        {125, "x\nError: no image\n",
         "the container could not be started: "
         "Error: no image"},
        {125,
         "docker: no image\n\nRun 'docker run --help' for more information\n",
         "the container could not be started: docker: no image"},
        {125, "docker: no image.\nSee 'docker run --help'.\n",
         "the container could not be started: docker: no image."},
        {127, "Error: nope", "the program was not found inside: Error: nope"},
        {139, "", "exit status 139, as of SIGSEGV inside the container"},
        {3, "what", "as before"},
        {125, "", "as before"},
    };

    (void)state;
    use_fake("exit 0", "exit 0");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_attempt a = {
            .status = PR_STATUS_FAILED,
            .reason = "as before",
            .end = {.kind = PR_CHILD_ENDED,
                    .wait_status = W_EXITCODE(rows[i].status, 0)}};

        spit("log", rows[i].log);
        pr_job_container_explain(&fake.box, "log", &a);
        assert_string_equal(a.reason, rows[i].reason);
    }
    pr_arena_free(fake.arena);
}

/* What takes the folder away is a program. */
static int leave_path(void **state)
{
    return setenv("PATH", "/usr/bin:/bin", 1) || leave(state);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, enter, leave_path)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(its_folder_and_data_are_seen),
        TEST(inside_is_what_the_experiment_sets),
        TEST(what_has_no_program_is_prony_inside),
        TEST(what_cannot_be_mounted_is_refused),
        TEST(paths_are_those_outside),
        TEST(folders_that_it_makes_are_made_here),
        TEST(nothing_is_made_to_show_a_command),
        TEST(another_user_may_write),
        TEST(a_container_gets_the_slot),
        TEST(its_gpu_is_that_of_the_slot),
        TEST(memory_may_run_out),
        TEST(only_those_of_others_are_wrapped),
        TEST(the_end_is_asked_for),
        TEST(what_nobody_saw_end_is_ended),
        TEST(what_an_earlier_run_left_is_ended),
        TEST(what_never_started_is_not_asked_for),
        TEST(failures_get_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
