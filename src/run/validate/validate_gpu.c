/* GPUs that experiments name and this machine has not. */
#include "machine/nvml.h"
#include "run/validate/validate_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SEPARATORS ":, \t"

/* ---- which are there */

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

/* ---- one experiment */

/* What uses GPUs; a command of the user's may do without, unless they are to
 * be given to a container. */
static bool wants_gpus(const struct pr_job *job, const struct pr_workload *w)
{
    return *job->exp.gpus && strcmp(job->exp.device_type, "gpu") == 0 &&
           (job->exp.docker || strcmp(w->name, "framework") == 0 ||
            strcmp(w->name, "command") == 0);
}

int pr_validate_gpus(struct pr_validator *v, const struct pr_job *job,
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

/* ---- all of them */

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

int pr_validate_gpus_end(struct pr_validator *v, struct pr_err *err)
{
    int rc = PR_OK;

    for (int i = 1; i >= 0 && !rc; i--)
        if (v->lost[i].count)
            rc = validate_add_lost_gpus(v, &v->lost[i], err);
    return rc;
}
