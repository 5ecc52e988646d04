/*
 * Validation: every experiment of a plan is looked at, and what it lacks goes
 * on the list. Whatever would be asked twice, for example whether an image is
 * there, is asked once: a plan may have a hundred thousand experiments.
 */
#include "run/validate/validate.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "job/job.h"
#include "launch/capture.h"
#include "machine/describe/sysinfo.h"
#include "machine/nvml.h"
#include "monitor/monitor.h"
#include "record/plan_file.h"
#include "run/collect.h"
#include "run/plan_jobs.h"
#include "run/validate/validate_impl.h"
#include "workload/framework_script.h"
#include "workload/framework_workload.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the list of what is missing */

const char *pr_requirement_kind_word(enum pr_requirement_kind kind)
{
    static const char *const words[PR_REQUIREMENT_KINDS] = {
        [PR_REQUIREMENT_CONFIG] = "config",
        [PR_REQUIREMENT_FRAMEWORK] = "framework",
        [PR_REQUIREMENT_MODEL] = "model",
        [PR_REQUIREMENT_COMMAND] = "command",
        [PR_REQUIREMENT_CONTAINER] = "container",
        [PR_REQUIREMENT_IMAGE] = "image",
        [PR_REQUIREMENT_GPU] = "GPU",
        [PR_REQUIREMENT_DATA] = "data",
        [PR_REQUIREMENT_SPACE] = "space",
        [PR_REQUIREMENT_LOG_FILE] = "log file",
    };

    return words[kind];
}

static void requirement_count_again(struct pr_validator *v, int lack)
{
    v->concerned = true;
    if (v->last[lack] == v->now)
        return;
    v->last[lack] = v->now;
    v->ret->lacks[lack].count++;
}

/* Room for one more of the experiments that had a lack last. */
static bool grow_last(struct pr_validator *v, size_t count)
{
    size_t cap = v->last_cap ? v->last_cap * 2 : 16;
    uint64_t *last;

    if (count < v->last_cap)
        return true;
    last = pr_realloc(v->last, cap * sizeof *last);
    if (!last)
        return false;
    v->last = last;
    v->last_cap = cap;
    return true;
}

static int requirement_append(struct pr_validator *v, const struct pr_job *job,
                              const struct pr_requirement *lack,
                              struct pr_err *err)
{
    struct pr_validation *r = v->ret;
    struct pr_requirement *lacks =
        pr_arena_grow(r->arena, r->lacks, r->count, &r->cap, sizeof *lacks);
    struct pr_requirement one = *lack;

    if (!lacks || !grow_last(v, r->count))
        return pr_fail_nomem(err);
    one.what = pr_arena_str(r->arena, lack->what);
    one.remedy = pr_arena_str(r->arena, lack->remedy ? lack->remedy : "");
    if (!one.what || !one.remedy)
        return pr_fail_nomem(err);
    one.count = 1;
    snprintf(one.first, sizeof one.first, "%s", job->id);
    r->lacks = lacks;
    v->last[r->count] = v->now;
    lacks[r->count++] = one;
    r->stops += one.stops;
    return PR_OK;
}

int pr_requirement_add(struct pr_validator *v, const struct pr_job *job,
                       const struct pr_requirement *lack, int *ret_lack,
                       struct pr_err *err)
{
    const char *key =
        lack->what
            ? pr_arena_printf(job->arena, "%c%c%s", 'a' + (int)lack->kind,
                              lack->stops ? '!' : '?', lack->what)
            : NULL;
    int no_lack, rc;
    uint32_t id;

    if (!ret_lack)
        ret_lack = &no_lack;
    if (!key)
        return pr_fail_nomem(err);
    v->concerned = true;
    id = pr_names_find(v->lacks, key, strlen(key));
    if (id != PR_NO_NAME) {
        requirement_count_again(v, *ret_lack = (int)id);
        return PR_OK;
    }
    *ret_lack = PR_NO_REQUIREMENT;
    if (v->ret->count == PR_REQUIREMENTS_MAX) {
        v->ret->more++;
        v->ret->stops += lack->stops;
        return PR_OK;
    }
    rc = requirement_append(v, job, lack, err);
    if (rc)
        return rc;
    id = pr_names_add(v->lacks, key, strlen(key));
    if (id == PR_NO_NAME)
        return pr_fail_nomem(err);
    *ret_lack = (int)id;
    return PR_OK;
}

/* ---- questions */

bool pr_requirement_cached(struct pr_validator *v, const char *question,
                           int *ret_lack)
{
    uint32_t id = pr_names_find(v->asked, question, strlen(question));

    if (id == PR_NO_NAME)
        return false;
    *ret_lack = v->answers[id];
    if (*ret_lack >= 0)
        requirement_count_again(v, *ret_lack);
    return true;
}

int pr_requirement_cache(struct pr_validator *v, const char *question, int lack,
                         struct pr_err *err)
{
    size_t count = pr_names_count(v->asked);
    uint32_t id;

    if (count >= v->answer_cap) {
        size_t cap = v->answer_cap ? v->answer_cap * 2 : 64;
        int32_t *answers = pr_realloc(v->answers, cap * sizeof *answers);

        if (!answers)
            return pr_fail_nomem(err);
        v->answers = answers;
        v->answer_cap = cap;
    }
    id = pr_names_add(v->asked, question, strlen(question));
    if (id == PR_NO_NAME)
        return pr_fail_nomem(err);
    v->answers[id] = lack;
    return PR_OK;
}

/* ---- the outcome */

void pr_validation_close(struct pr_validation *v)
{
    pr_arena_free(v->arena);
    *v = (struct pr_validation){0};
}

/* A plan that is wrong comes before what the machine has not. */
static int code_of(const struct pr_validation *v, bool stops_alone)
{
    int code = PR_OK;

    for (size_t i = 0; i < v->count; i++) {
        const struct pr_requirement *l = &v->lacks[i];

        if (stops_alone && !l->stops)
            continue;
        if (l->code == PR_E_CONF)
            return PR_E_CONF;
        if (!code || l->code == PR_E_UNAVAIL)
            code = l->code;
    }
    return code;
}

static const struct pr_requirement *only_stop(const struct pr_validation *v)
{
    for (size_t i = 0; v->stops == 1 && i < v->count; i++)
        if (v->lacks[i].stops)
            return &v->lacks[i];
    return NULL;
}

static int fail_for(const struct pr_requirement *l, struct pr_err *err)
{
    char where[96];

    snprintf(where, sizeof where, "%s", l->first);
    if (l->count > 1)
        snprintf(where, sizeof where, "%s and %llu more", l->first,
                 (unsigned long long)l->count - 1);
    pr_fail(err, l->code, where, "%s", l->what);
    return *l->remedy ? pr_hint(err, "%s", l->remedy) : l->code;
}

int pr_validation_error(const struct pr_validation *v, bool stops_alone,
                        struct pr_err *err)
{
    size_t n = stops_alone ? v->stops : v->count + v->more;
    const struct pr_requirement *only = stops_alone ? only_stop(v) : NULL;

    if (!n)
        return PR_OK;
    if (only)
        return fail_for(only, err);
    return pr_fail(
        err, code_of(v, stops_alone), "",
        "%zu thing%s missing or wrong, for %llu of %llu experiment%s", n,
        n == 1 ? " is" : "s are", (unsigned long long)v->concerned,
        (unsigned long long)(v->experiments - v->off),
        v->experiments - v->off == 1 ? "" : "s");
}

/* ---- programs of the user's: whether they can be started */

static bool is_runnable(int dir, const char *path)
{
    struct stat st;

    return fstatat(dir, path, &st, 0) == 0 && S_ISREG(st.st_mode) &&
           faccessat(dir, path, X_OK, 0) == 0;
}

static const char *find_path_variable(const char *const *env)
{
    for (; env && *env; env++)
        if (strncmp(*env, "PATH=", 5) == 0)
            return *env + 5;
    return NULL;
}

/* As the keeper will look for it: in the folder it starts in, and on the
 * experiment's own PATH. */
static bool validate_has_program(const char *program, int dir, const char *path)
{
    bool found = false;
    char whole[PATH_MAX];

    if (strchr(program, '/'))
        found = is_runnable(dir, program);
    else
        for (const char *at = path; at && !found;) {
            size_t n = strcspn(at, ":");
            int len =
                snprintf(whole, sizeof whole, "%.*s%s%s",
                         n < PATH_MAX ? (int)n : 0, at, n ? "/" : "", program);

            found = len > 0 && (size_t)len < sizeof whole &&
                    is_runnable(dir, whole);
            at = at[n] ? at + n + 1 : NULL;
        }
    return found;
}

/* What is wrong with the program, or with the folder it starts in. True: it is
 * something, in *ret_what, which is NULL for a lack of memory. */
static bool validate_has_program_problem(const struct pr_job *job,
                                         const char *program, const char *path,
                                         const char **ret_what)
{
    const char *cwd = job->exp.cwd;
    int dir = *cwd ? open(cwd, O_PATH | O_DIRECTORY | O_CLOEXEC) : AT_FDCWD;
    bool entered = dir != -1,
         found = entered && validate_has_program(program, dir, path);

    if (dir >= 0)
        close(dir);
    if (found)
        return false;
    if (!entered)
        *ret_what = pr_arena_printf(
            job->arena, "exp.cwd: '%s' is not a folder to start in", cwd);
    else if (strchr(program, '/'))
        *ret_what = pr_arena_printf(
            job->arena, "'%s' is not a program that can be started", program);
    else
        *ret_what = pr_arena_printf(job->arena, "'%s' is not on PATH", program);
    return true;
}

/* These experiments fail, and others of the plan may not need it. */
static int validate_program(struct pr_validator *v, const struct pr_job *job,
                            const struct pr_start *start, struct pr_err *err)
{
    const char *program = start->argv[0];
    const char *path = find_path_variable((const char *const *)start->env),
               *question;
    struct pr_requirement lack = {.kind = PR_REQUIREMENT_COMMAND,
                                  .code = PR_E_UNAVAIL};
    int found = PR_NO_REQUIREMENT, rc = PR_OK;

    if (!program || !*program || !path ||
        (job->exp.docker && !start->contains_itself))
        return PR_OK;
    question = pr_arena_printf(job->arena, "program %s\n%s\n%s", program,
                               job->exp.cwd, path);
    if (!question)
        return pr_fail_nomem(err);
    if (pr_requirement_cached(v, question, &found))
        return PR_OK;
    if (validate_has_program_problem(job, program, path, &lack.what))
        rc = pr_requirement_add(v, job, &lack, &found, err);
    return rc ? rc : pr_requirement_cache(v, question, found, err);
}

/* ---- frameworks on bare metal */

/* Whether they are installed, and whether they have the model. What a workload
 * says itself is not repeated. */
#define ANSWER_S 20.0

static bool knows_model(const struct pr_framework *f, const char *model)
{
    if (!f->models)
        return true;
    for (const char **m = f->models; *m; m++)
        if (strcmp(*m, model) == 0)
            return true;
    return false;
}

/* A launcher of the user's may know more than the file does. */
static int validate_framework_model(struct pr_validator *v,
                                    const struct pr_job *job,
                                    const struct pr_framework *f, bool users,
                                    struct pr_err *err)
{
    struct pr_requirement lack = {
        .kind = PR_REQUIREMENT_MODEL, .code = PR_E_UNAVAIL, .stops = !users};

    if (!*job->exp.model || knows_model(f, job->exp.model))
        return PR_OK;
    lack.what = pr_arena_printf(job->arena, "%s is not known to have '%s'",
                                f->title, job->exp.model);
    lack.remedy = pr_arena_printf(
        job->arena, "'prony help --frameworks %s' lists its models", f->name);
    return pr_requirement_add(v, job, &lack, NULL, err);
}

/* ---- whether a framework is here */

/* No folder of this interpreter has the module. It may be a script that knows
 * another way: only what the interpreter itself says counts. */
static bool is_module_missing(const char *python, const char *module)
{
    PR_AUTO_BUF struct pr_buf said = PR_BUF_INIT(4096);
    char code[256];
    const char *argv[] = {python, "-c", code, NULL};
    int status;

    snprintf(code, sizeof code,
             "import importlib.util as u; "
             "print('prony:', u.find_spec('%.100s') is not None)",
             module);
    return pr_capture(argv, ANSWER_S, &said, &status, NULL) == PR_OK &&
           said.data && strstr(said.data, "prony: False");
}

static int validate_find_framework(const struct pr_job *job,
                                   const struct pr_framework *f,
                                   struct pr_requirement *lack, bool *ret_lacks,
                                   struct pr_err *err)
{
    const char *module = f->module ? f->module : f->find_module, *detail;
    const char *python;
    int here = pr_framework_find_installed(f, job->runtime.python, job->arena,
                                           &detail, err);

    *ret_lacks = false;
    if (here != PR_FRAMEWORK_ABSENT)
        return here < 0 ? here : PR_OK;
    if (module) {
        python = pr_framework_find_python(f, job->runtime.python, job->arena);
        if (!python)
            return pr_fail_nomem(err);
        *ret_lacks = is_module_missing(python, module);
        lack->what = pr_arena_printf(job->arena,
                                     "%s is not installed: '%s' has no module "
                                     "'%s'",
                                     f->title, python, module);
    } else {
        *ret_lacks = true;
        lack->what = pr_arena_printf(job->arena, "%s is not installed: %s",
                                     f->title, detail);
    }
    if (f->python_var)
        lack->remedy =
            pr_arena_printf(job->arena, "%s%sset %s to a Python that has it",
                            f->remedy ? f->remedy : "",
                            f->remedy ? ", or " : "", f->python_var);
    else
        lack->remedy = f->remedy ? f->remedy : "";
    return PR_OK;
}

/* A launcher of the user's may find it where nobody looks: then it is only
 * told. */
static int check_here(struct pr_validator *v, const struct pr_job *job,
                      const struct pr_framework *f, bool users,
                      struct pr_err *err)
{
    const char *question = pr_arena_printf(job->arena, "framework %d %s\n%s",
                                           users, f->name, job->runtime.python);
    struct pr_requirement lack = {.kind = PR_REQUIREMENT_FRAMEWORK,
                                  .code = PR_E_UNAVAIL,
                                  .stops = !users};
    int found = PR_NO_REQUIREMENT, rc;
    bool lacks;

    if (!question)
        return pr_fail_nomem(err);
    if (pr_requirement_cached(v, question, &found))
        return PR_OK;
    rc = validate_find_framework(job, f, &lack, &lacks, err);
    if (!rc && lacks)
        rc = pr_requirement_add(v, job, &lack, &found, err);
    return rc ? rc : pr_requirement_cache(v, question, found, err);
}

static int validate_framework(struct pr_validator *v, struct pr_job *job,
                              struct pr_err *err)
{
    const struct pr_framework *f;
    bool users;
    int rc = pr_frameworks_get(v->frameworks, job->exp.framework, &f, err);

    if (rc <= 0)
        return rc;
    users = f->kind == PR_FRAMEWORK_SCRIPT ||
            pr_framework_get_setting(job, "launcher");
    rc = validate_framework_model(v, job, f, users, err);
    if (rc || job->exp.docker || pr_get(job->params, "runtime.env.PYTHONPATH"))
        return rc;
    return check_here(v, job, f, users, err);
}

/* ---- GPUs that experiments name and this machine has not */

#define SEPARATORS ":, \t"

/* Without the library the driver's files tell how many there are. */
static unsigned validate_count_gpu_files(void)
{
    char path[32];
    unsigned n = 0;

    for (; n < PR_NVML_MAX; n++) {
        snprintf(path, sizeof path, "/dev/nvidia%u", n);
        if (access(path, F_OK) != 0)
            break;
    }
    return n;
}

/* Tests say which library tells: then nobody else does. */
static bool has_library_named(void)
{
    return getenv("PRONY_NVML") != NULL;
}

static void validate_count_gpus(struct pr_validator *v)
{
    char why[160];

    if (v->gpus_counted)
        return;
    v->gpus_counted = true;
    v->nvml = pr_nvml_open(why);
    v->gpus = v->nvml               ? pr_nvml_count(v->nvml)
              : has_library_named() ? 0
                                    : validate_count_gpu_files();
}

/* AMD's are not counted. */
static bool has_others(void)
{
    return !has_library_named() && access("/dev/kfd", F_OK) == 0;
}

static bool has_uuid(struct pr_nvml *n, const char *word, size_t len)
{
    struct pr_nvml_device d;

    for (unsigned i = 0; n && i < pr_nvml_count(n); i++)
        if (pr_nvml_device(n, i, &d) && strncmp(d.uuid, word, len) == 0)
            return true;
    return false;
}

/* A number, or the beginning of a name as CUDA has them: GPU-8f2a. */
static bool validate_has_gpu(const struct pr_validator *v, const char *word,
                             size_t len)
{
    if (strspn(word, "0123456789") >= len)
        return len < 9 && strtoul(word, NULL, 10) < v->gpus;
    if ((len > 4 && strncmp(word, "MIG-", 4) == 0) ||
        (len == 3 && strncmp(word, "all", 3) == 0))
        return v->gpus > 0; /* parts of one are not looked for */
    return has_uuid(v->nvml, word, len);
}

/* Adds those that are missing. */
static int find_lost(struct pr_validator *v, struct pr_names *lost,
                     const char *gpus, bool *ret_lost, struct pr_err *err)
{
    int rc = PR_OK;

    validate_count_gpus(v);
    *ret_lost = false;
    for (const char *at = gpus; !rc;) {
        size_t len;

        at += strspn(at, SEPARATORS);
        if (!*at)
            break;
        len = strcspn(at, SEPARATORS);
        if (!validate_has_gpu(v, at, len)) {
            *ret_lost = true;
            if (pr_names_add(lost, at, len) == PR_NO_NAME)
                rc = pr_fail_nomem(err);
        }
        at += len;
    }
    return rc;
}

/* ---- the GPUs of an experiment */

/* What uses GPUs; a command of the user's may do without, unless they are to
 * be given to a container. */
static bool wants_gpus(const struct pr_job *job, const struct pr_workload *w)
{
    return *job->exp.gpus && strcmp(job->exp.device_type, "gpu") == 0 &&
           (job->exp.docker || strcmp(w->name, "framework") == 0 ||
            strcmp(w->name, "command") == 0);
}

static int validate_gpus(struct pr_validator *v, const struct pr_job *job,
                         const struct pr_workload *w, struct pr_err *err)
{
    bool stops = job->exp.docker || strcmp(w->name, "framework") == 0;
    struct pr_missing_gpus *lost = &v->lost[stops];
    const char *question;
    bool is_lost;
    int known, rc;

    if (!wants_gpus(job, w))
        return PR_OK;
    question = pr_arena_printf(job->arena, "gpus %d %s", stops, job->exp.gpus);
    if (!question)
        return pr_fail_nomem(err);
    if (!pr_requirement_cached(v, question, &known)) {
        rc = has_others()
                 ? (is_lost = false, PR_OK)
                 : find_lost(v, lost->words, job->exp.gpus, &is_lost, err);
        known = is_lost ? PR_LOST_GPUS : PR_NO_REQUIREMENT;
        if (!rc)
            rc = pr_requirement_cache(v, question, known, err);
        if (rc)
            return rc;
    }
    if (known != PR_LOST_GPUS)
        return PR_OK;
    v->concerned = true;
    if (!lost->count++)
        snprintf(lost->first, sizeof lost->first, "%s", job->id);
    return PR_OK;
}

/* ---- the GPUs of all experiments */

static int validate_add_lost_gpus(struct pr_validator *v,
                                  const struct pr_missing_gpus *lost,
                                  struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf what = PR_BUF_INIT(1 << 16);
    uint32_t count = pr_names_count(lost->words);
    struct pr_job job = {.id = lost->first, .arena = v->ret->arena};
    struct pr_requirement lack = {
        .kind = PR_REQUIREMENT_GPU,
        .code = PR_E_UNAVAIL,
        .remedy =
            lost->stops ? "-P exp.gpus='\"\"' computes on the processor" : "",
        .stops = lost->stops,
    };
    int found, rc;

    pr_buf_str(&what, count == 1 ? "GPU " : "GPUs ");
    for (uint32_t i = 0; i < count; i++)
        pr_buf_printf(&what, "%s%s", i ? ", " : "",
                      pr_names_text(lost->words, i));
    pr_buf_str(&what, count == 1 ? " is" : " are");
    if (v->gpus)
        pr_buf_printf(&what, " missing: this machine has %u", v->gpus);
    else
        pr_buf_str(&what, " missing: this machine has none");
    if (!pr_buf_ok(&what))
        return pr_fail_nomem(err);
    lack.what = what.data;
    rc = pr_requirement_add(v, &job, &lack, &found, err);
    if (!rc && found != PR_NO_REQUIREMENT)
        v->ret->lacks[found].count = lost->count;
    return rc;
}

static int validate_gpus_end(struct pr_validator *v, struct pr_err *err)
{
    int rc = PR_OK;

    for (int i = 1; i >= 0 && !rc; i--)
        if (v->lost[i].count)
            rc = validate_add_lost_gpus(v, &v->lost[i], err);
    return rc;
}

/* ---- where experiments write */

/* Two experiments must not write to one place: what the first one wrote would
 * be lost, or the second be skipped for it. */
static int validate_check_place(struct pr_validator *v,
                                const struct pr_job *job, const char *param,
                                const char *path, struct pr_err *err)
{
    uint32_t before = pr_names_count(v->places);
    struct pr_requirement lack = {
        .kind = PR_REQUIREMENT_LOG_FILE,
        .code = PR_E_CONF,
        .remedy = "make it differ, for example by ${exp.id}",
        .stops = true,
    };
    size_t n;

    while (strncmp(path, "./", 2) == 0)
        path += 2;
    n = strlen(path);
    while (n > 1 && path[n - 1] == '/')
        n--;
    if (!n)
        return PR_OK;
    if (pr_names_add(v->places, path, n) == PR_NO_NAME)
        return pr_fail_nomem(err);
    if (pr_names_count(v->places) > before)
        return PR_OK;
    lack.what = pr_arena_printf(
        job->arena, "another experiment has the same %s '%s'", param, path);
    return pr_requirement_add(v, job, &lack, NULL, err);
}

/* A file of the user's that is not a log stays. */
static int check_log(struct pr_validator *v, const struct pr_job *job,
                     struct pr_err *err)
{
    struct pr_err why = {0};
    struct pr_requirement lack = {
        .kind = PR_REQUIREMENT_LOG_FILE, .code = PR_E_CONF, .stops = true};

    if (pr_collect_check_log(job->exp.log_file, &why) == PR_OK)
        return PR_OK;
    lack.what = pr_arena_printf(job->arena, "%s: %s", why.where, why.msg);
    lack.remedy = why.hint;
    return pr_requirement_add(v, job, &lack, NULL, err);
}

static int check_places(struct pr_validator *v, const struct pr_job *job,
                        struct pr_err *err)
{
    const char *wanted = getenv("DLBS_LOG_FILE_CHECK"); /* as DLBS has it */
    int rc = wanted && pr_text_equal(wanted, "false")
                 ? PR_OK
                 : validate_check_place(v, job, "exp.log_file",
                                        job->exp.log_file, err);

    if (!rc && strcmp(job->exp.rerun, "never") != 0)
        rc = check_log(v, job, err);
    if (!rc && *pr_job_param_text(job, "output.folder"))
        return validate_check_place(v, job, "output.folder",
                                    pr_job_param_text(job, "output.folder"),
                                    err);
    return rc ? rc
              : validate_check_place(v, job, "hydra.run.dir",
                                     pr_job_param_text(job, "hydra.run.dir"),
                                     err);
}

/* ---- what workloads say */

/* w is NULL when there is none for the job. */
static enum pr_requirement_kind
validate_requirement_kind(struct pr_job *job, const struct pr_workload *w,
                          const struct pr_err *why)
{
    struct pr_model *model;
    bool computes = w && (pr_text_equal(w->name, "native") ||
                          pr_text_equal(w->name, "framework"));

    if (why->code == PR_E_IO)
        return strstr(why->msg, " free") ? PR_REQUIREMENT_SPACE
                                         : PR_REQUIREMENT_DATA;
    if (!w)
        return *job->exp.framework ? PR_REQUIREMENT_FRAMEWORK
                                   : PR_REQUIREMENT_CONFIG;
    if (strstr(why->msg, "launcher"))
        return PR_REQUIREMENT_COMMAND;
    if (computes &&
        (why->code == PR_E_UNAVAIL || strstr(why->msg, "framework")))
        return PR_REQUIREMENT_FRAMEWORK;
    return computes && pr_job_read_model(job, &model, NULL)
               ? PR_REQUIREMENT_MODEL
               : PR_REQUIREMENT_CONFIG;
}

/* The place of an error without the experiment, which the list has apart. */
static const char *validate_error_place(const struct pr_job *job,
                                        const struct pr_err *why)
{
    size_t n = strlen(job->id);

    if (strncmp(why->where, job->id, n) != 0)
        return why->where;
    return strncmp(why->where + n, ": ", 2) == 0 ? why->where + n + 2
                                                 : why->where + n;
}

static int validate_add_refusal(struct pr_validator *v, struct pr_job *job,
                                enum pr_requirement_kind kind,
                                const struct pr_err *why, struct pr_err *err)
{
    const char *place = validate_error_place(job, why);
    /* A job of a suite that nobody here can run is a result, like any other
     * that fails: it does not keep the others from being run. */
    bool suite =
        why->code == PR_E_UNAVAIL && pr_text_equal(job->exp.workload, "suite");
    struct pr_requirement lack = {
        .kind = kind, .code = why->code, .remedy = why->hint, .stops = !suite};

    lack.what = pr_arena_printf(job->arena, "%s%s%s", place, *place ? ": " : "",
                                why->msg);
    return pr_requirement_add(v, job, &lack, NULL, err);
}

/* ---- one experiment */

static int check_workload(struct pr_validator *v, struct pr_job *job,
                          struct pr_err *err)
{
    const struct pr_workload *w = NULL;
    struct pr_start start = {0};
    struct pr_err why = {0};
    int refused = pr_workload_find_for_job(job, &w, &why), rc;

    if (!refused && w)
        refused = w->prepare(job, &start, &why);
    if (refused == PR_E_NOMEM || refused == PR_E_BUG) {
        *err = why;
        return refused;
    }
    rc = refused ? validate_add_refusal(v, job,
                                        validate_requirement_kind(job, w, &why),
                                        &why, err)
                 : PR_OK;
    if (!rc && !refused && start.argv)
        rc = validate_program(v, job, &start, err);
    if (!rc && !refused && w && pr_text_equal(w->name, "framework"))
        rc = validate_framework(v, job, err);
    if (!rc && w)
        rc = validate_gpus(v, job, w, err);
    if (!rc && !refused && w)
        rc = pr_validate_honours(v, job, w, err);
    if (!rc && !refused)
        rc = pr_validate_data(v, job, w, err);
    return rc;
}

/* What is looked at while it runs and afterwards. */
static int check_watching(struct pr_validator *v, struct pr_job *job,
                          struct pr_err *err)
{
    struct pr_timeseries *series = NULL;
    struct pr_monitor_opts opts;
    struct pr_err why = {0};
    int rc = pr_machine_sysinfo_check(job->exp.sys_info, &why);

    if (!rc)
        rc = pr_opt_fill(&pr_monitor_section, job->params, job->arena, &opts,
                         &why);
    if (!rc && *opts.timeseries)
        rc = pr_timeseries_new(opts.timeseries, &series, &why);
    pr_timeseries_free(series);
    return rc ? validate_add_refusal(v, job, PR_REQUIREMENT_CONFIG, &why, err)
              : PR_OK;
}

static int validate_job(void *ctx, struct pr_job *job, struct pr_err *err)
{
    struct pr_validator *v = ctx;
    int rc;

    v->ret->experiments++;
    if (pr_job_is_off(job)) {
        v->ret->off++;
        return PR_OK;
    }
    v->now++;
    v->concerned = false;
    rc = check_places(v, job, err);
    if (!rc)
        rc = check_watching(v, job, err);
    if (!rc && job->exp.docker)
        rc = pr_validate_container(v, job, err);
    if (!rc)
        rc = check_workload(v, job, err);
    v->ret->concerned += v->concerned;
    return rc;
}

/* ---- all of them */

/* By kind; what was found first stays first. */
static void sort_requirements(struct pr_validation *v)
{
    for (size_t i = 1; i < v->count; i++) {
        struct pr_requirement one = v->lacks[i];
        size_t k = i;

        for (; k > 0 && v->lacks[k - 1].kind > one.kind; k--)
            v->lacks[k] = v->lacks[k - 1];
        v->lacks[k] = one;
    }
}

static void validator_close(struct pr_validator *v)
{
    pr_names_free(v->lacks);
    pr_names_free(v->asked);
    pr_names_free(v->places);
    pr_names_free(v->made);
    for (int i = 0; i < 2; i++)
        pr_names_free(v->lost[i].words);
    pr_frameworks_free(v->frameworks);
    pr_expander_free(v->defaults);
    pr_nvml_close(v->nvml);
    pr_free(v->made_bytes);
    pr_free(v->answers);
    pr_free(v->last);
}

static int validator_open(struct pr_validator *v, struct pr_validation *ret,
                          struct pr_err *err)
{
    *ret = (struct pr_validation){.arena = pr_arena_new(16384)};
    ret->warnings.arena = ret->arena;
    *v = (struct pr_validator){
        .ret = ret,
        .lacks = pr_names_new(),
        .asked = pr_names_new(),
        .places = pr_names_new(),
        .made = pr_names_new(),
        .lost = {{.words = pr_names_new()},
                 {.words = pr_names_new(), .stops = true}},
        .frameworks = pr_frameworks_new(),
    };
    return ret->arena && v->lacks && v->asked && v->places && v->made &&
                   v->lost[0].words && v->lost[1].words && v->frameworks
               ? PR_OK
               : pr_fail_nomem(err);
}

static int close_with(struct pr_validator *v, int rc,
                      struct pr_validation *found, struct pr_validation *ret,
                      struct pr_err *err)
{
    if (!rc)
        rc = validate_gpus_end(v, err);
    if (!rc)
        rc = pr_validate_space_end(v, err);
    if (!rc)
        rc = pr_validate_honours_end(v, err);
    validator_close(v);
    if (rc)
        pr_validation_close(found);
    else {
        sort_requirements(found);
        *ret = *found;
    }
    return rc;
}

int pr_plan_validate(struct pr_plan *p, struct pr_validation *ret,
                     struct pr_err *err)
{
    struct pr_validation found;
    struct pr_validator v;
    int rc = validator_open(&v, &found, err);

    if (!rc)
        rc = pr_plan_each_job(p, NULL, validate_job, &v, err);
    return close_with(&v, rc, &found, ret, err);
}

/* ---- a finished plan */

/* A plan may be edited by hand: what is wrong with one is a lack of it. */
static int validate_planned(struct pr_validator *v, struct pr_plan_file *plan,
                            const struct pr_plan_file_experiment *one,
                            struct pr_arena *a, struct pr_err *err)
{
    struct pr_job job = {.id = one->id, .arena = a};
    struct pr_err why = {0};
    struct pr_value params;
    int refused;

    if (!pr_plan_file_params(plan, one, a, &params))
        return pr_fail_nomem(err);
    refused = pr_job_init(&job, one->id, "", &params, a, &why);
    if (refused == PR_E_NOMEM)
        return pr_fail_nomem(err);
    if (!refused)
        return validate_job(v, &job, err);
    v->ret->experiments++;
    v->now++;
    v->ret->concerned++;
    return validate_add_refusal(v, &job, PR_REQUIREMENT_CONFIG, &why, err);
}

static int validate_plan_file(struct pr_validator *v, struct pr_plan_file *plan,
                              const char *path, struct pr_names *ids,
                              struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
    struct pr_plan_file_experiment one;
    uint32_t n = 0;
    int rc = a ? PR_OK : pr_fail_nomem(err);

    while (!rc && (rc = pr_plan_file_next(plan, a, &one, err)) == 1) {
        if (pr_names_add(ids, one.id, strlen(one.id)) == PR_NO_NAME)
            return pr_fail_nomem(err);
        if (pr_names_count(ids) == n++)
            return pr_fail(err, PR_E_FORMAT, path,
                           "two experiments have the id '%s'", one.id);
        rc = validate_planned(v, plan, &one, a, err);
        pr_arena_reset(a);
    }
    return rc;
}

int pr_plan_file_validate(const char *path, struct pr_validation *ret,
                          struct pr_err *err)
{
    struct pr_validation found;
    struct pr_plan_file plan;
    struct pr_validator v;
    struct pr_names *ids = pr_names_new();
    int rc = validator_open(&v, &found, err);

    if (!rc && !ids)
        rc = pr_fail_nomem(err);
    if (!rc)
        rc = pr_plan_file_open(path, &plan, err);
    if (!rc) {
        rc = validate_plan_file(&v, &plan, path, ids, err);
        pr_plan_file_close(&plan);
    }
    pr_names_free(ids);
    return close_with(&v, rc, &found, ret, err);
}
