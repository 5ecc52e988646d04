/* Container programs and their images. */
#include "base/file.h"
#include "base/json/json.h"
#include "launch/capture.h"
#include "run/contained.h"
#include "run/validate/validate_impl.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ANSWER_S 30.0 /* a daemon that is busy takes its time */

/* What is asked once each. NULL: out of memory. */
static const char *program_question(const struct pr_job *job)
{
    return pr_arena_printf(job->arena, "container %s",
                           job->exp.docker_launcher);
}

static const char *image_question(const struct pr_job *job)
{
    return pr_arena_printf(job->arena, "image %s\n%s", job->exp.docker_launcher,
                           job->exp.docker_image);
}

static bool validate_has_container_program(const char *program)
{
    char path[PATH_MAX];

    return strchr(program, '/') ? access(program, X_OK) == 0
                                : pr_which(program, path);
}

/* Another one that is here and does the same. */
static const char *find_other_container_program(const char *program)
{
    static const char *const names[] = {"docker", "podman", "apptainer",
                                        "singularity"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], program) != 0 &&
            validate_has_container_program(names[i]))
            return names[i];
    return NULL;
}

static const char *program_remedy(const struct pr_job *job, const char *program)
{
    const char *other = find_other_container_program(program);
    bool nvidia = strcmp(program, "nvidia-docker") == 0;

    if (other)
        return pr_arena_printf(
            job->arena, "%s is here: -P exp.docker_launcher=%s", other, other);
    return nvidia
               ? "install docker with NVIDIA's container toolkit, then -P "
                 "exp.docker_launcher=docker; or -P exp.docker=false"
               : pr_arena_printf(job->arena,
                                 "install %s, or -P exp.docker=false", program);
}

static int check_program(struct pr_validator *v, const struct pr_job *job,
                         const char *program, int *ret, struct pr_err *err)
{
    const char *question = program_question(job);
    struct pr_requirement lack = {
        .kind = PR_REQUIREMENT_CONTAINER, .code = PR_E_UNAVAIL, .stops = true};
    int rc = PR_OK;

    if (!question)
        return pr_fail_nomem(err);
    if (pr_requirement_cached(v, question, ret))
        return PR_OK;
    *ret = PR_NO_REQUIREMENT;
    if (!validate_has_container_program(program)) {
        lack.what =
            pr_arena_printf(job->arena, "'%s' is not on this machine", program);
        lack.remedy = program_remedy(job, program);
        rc = pr_requirement_add(v, job, &lack, ret, err);
    }
    return rc ? rc : pr_requirement_cache(v, question, *ret, err);
}

/* ---- images */

static const char *pull_remedy(const struct pr_job *job, bool is_file)
{
    const char *program = job->exp.docker_launcher;

    if (is_file)
        return "build it, or name another with --image FILE";
    if (strcmp(program, "nvidia-docker") == 0)
        program = "docker";
    return pr_arena_printf(job->arena, "%s pull %s, or another by --image NAME",
                           program, job->exp.docker_image);
}

/* The last line of what it says; warnings may stand before. */
static const char *find_last_output_line(const struct pr_job *job,
                                         const struct pr_buf *said)
{
    const char *text = said->data ? said->data : "";
    size_t end = said->len, start;

    while (end && strchr("\r\n \t", text[end - 1]))
        end--;
    for (start = end; start && text[start - 1] != '\n'; start--)
        ;
    return pr_arena_copy(job->arena, text + start, end - start);
}

/* Whether the program says that it has no such image, or something else. */
static bool says_no_image(const char *text)
{
    static const char *const words[] = {"o such image", "o such object",
                                        "not known", "image not found"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(text, words[i]))
            return true;
    return !*text;
}

static int validate_ask_for_image(const struct pr_job *job,
                                  const struct pr_container *box,
                                  struct pr_requirement *lack, bool *ret_lacks,
                                  struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf said = PR_BUF_INIT(1 << 16);
    const char *program = job->exp.docker_launcher, *line;
    struct pr_err why = {0};
    int status = 0, rc;

    rc = pr_capture((const char *const *)box->has_image, ANSWER_S, &said,
                    &status, &why);
    if (rc == PR_E_NOMEM)
        return pr_fail_nomem(err);
    *ret_lacks = rc || !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    if (!*ret_lacks)
        return PR_OK;
    if (!rc && says_no_image(said.data ? said.data : ""))
        return PR_OK;
    line = rc ? why.msg : find_last_output_line(job, &said);
    if (!line)
        return pr_fail_nomem(err);
    lack->kind = PR_REQUIREMENT_CONTAINER;
    lack->what = pr_arena_printf(job->arena, "'%s' does not work: %.200s",
                                 program, line);
    lack->remedy = pr_arena_printf(job->arena, "'%s info' says more", program);
    return PR_OK;
}

/* without: the lack of the program itself. */
static int validate_find_image(const struct pr_job *job,
                               const struct pr_container *box, bool without,
                               struct pr_requirement *lack, bool *ret_lacks,
                               struct pr_err *err)
{
    const char *image = job->exp.docker_image;

    lack->remedy = pull_remedy(job, box->image_file != NULL);
    lack->what =
        pr_arena_printf(job->arena, "image '%s' is not on this machine", image);
    *ret_lacks = true;
    if (box->image_file) {
        *ret_lacks = access(box->image_file, R_OK) != 0;
        return PR_OK;
    }
    if (!without && box->has_image)
        return validate_ask_for_image(job, box, lack, ret_lacks, err);
    *ret_lacks = without;
    lack->what = pr_arena_printf(job->arena,
                                 "image '%s' cannot be looked for without '%s'",
                                 image, box->argv[0]);
    return PR_OK;
}

static int check_image(struct pr_validator *v, const struct pr_job *job,
                       const struct pr_container *box, bool without,
                       struct pr_err *err)
{
    const char *question = image_question(job);
    struct pr_requirement lack = {
        .kind = PR_REQUIREMENT_IMAGE, .code = PR_E_UNAVAIL, .stops = true};
    int found = PR_NO_REQUIREMENT, rc;
    bool lacks;

    if (!question)
        return pr_fail_nomem(err);
    if (pr_requirement_cached(v, question, &found))
        return PR_OK;
    rc = validate_find_image(job, box, without, &lack, &lacks, err);
    if (!rc && lacks)
        rc = pr_requirement_add(v, job, &lack, &found, err);
    return rc ? rc : pr_requirement_cache(v, question, found, err);
}

/* ---- one experiment */

static int validate_add_container_problem(struct pr_validator *v,
                                          struct pr_job *job,
                                          const struct pr_err *why, int *ret,
                                          struct pr_err *err)
{
    struct pr_requirement lack = {
        .kind = why->code == PR_E_UNAVAIL ? PR_REQUIREMENT_CONTAINER
                : *job->exp.docker_image  ? PR_REQUIREMENT_CONFIG
                                          : PR_REQUIREMENT_IMAGE,
        .code = why->code,
        .remedy = why->hint,
        .stops = true,
    };

    lack.what = pr_arena_printf(job->arena, "%s%s%s", why->where,
                                *why->where ? ": " : "", why->msg);
    return pr_requirement_add(v, job, &lack, ret, err);
}

static int check_new(struct pr_validator *v, struct pr_job *job, int *ret,
                     struct pr_err *err)
{
    struct pr_container_opts opts;
    struct pr_container box;
    struct pr_err why = {0};
    int rc = pr_job_container_opts(job, &opts, &why),
        program = PR_NO_REQUIREMENT;

    if (!rc)
        rc = pr_container_make_plan(&opts, job->arena, &box, &why);
    if (rc == PR_E_NOMEM)
        return pr_fail_nomem(err);
    if (rc)
        return validate_add_container_problem(v, job, &why, ret, err);
    rc = check_program(v, job, box.argv[0], &program, err);
    return rc ? rc
              : check_image(v, job, &box, program != PR_NO_REQUIREMENT, err);
}

/* container.mounts: folders that are not there. */
static int check_mounts(struct pr_validator *v, struct pr_job *job,
                        struct pr_err *err)
{
    const struct pr_value *mounts = pr_get(job->params, "container.mounts");
    PR_AUTO_BUF struct pr_buf question = PR_BUF_INIT(1 << 20);
    struct pr_container_params params = {.mounts = mounts};
    struct pr_container_opts opts;
    struct pr_start start = {0};
    struct pr_err why = {0};
    int found = PR_NO_REQUIREMENT, rc;

    if (!mounts || mounts->kind != PR_LIST || !mounts->len)
        return PR_OK;
    pr_buf_str(&question, "mounts ");
    pr_json_write(&question, mounts);
    if (!pr_buf_ok(&question))
        return pr_fail_nomem(err);
    if (pr_requirement_cached(v, question.data, &found))
        return PR_OK;
    rc = pr_job_container_mounts(job, &start, &params, &opts, &why);
    if (rc == PR_E_NOMEM)
        return pr_fail_nomem(err);
    if (rc)
        rc = validate_add_container_problem(v, job, &why, &found, err);
    return rc ? rc : pr_requirement_cache(v, question.data, found, err);
}

/* A container is planned once for what is the same; then the answers about
 * its program and its image are known, too. */
int pr_validate_container(struct pr_validator *v, struct pr_job *job,
                          struct pr_err *err)
{
    const struct pr_value *user = pr_get(job->params, "container.user");
    const char *question = pr_arena_printf(
        job->arena, "box %s\n%s\n%s\n%d", job->exp.docker_launcher,
        job->exp.docker_args, job->exp.docker_image, user && user->len);
    const char *program = program_question(job), *image = image_question(job);
    int found = PR_NO_REQUIREMENT, rc = check_mounts(v, job, err);

    if (rc)
        return rc;
    if (!question || !program || !image)
        return pr_fail_nomem(err);
    if (pr_requirement_cached(v, question, &found)) {
        if (found == PR_NO_REQUIREMENT)
            (void)(pr_requirement_cached(v, program, &found) +
                   pr_requirement_cached(v, image, &found));
        return PR_OK;
    }
    rc = check_new(v, job, &found, err);
    return rc ? rc : pr_requirement_cache(v, question, found, err);
}
