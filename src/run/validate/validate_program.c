/* Programs of the user's: whether they can be started. */
#include "base/file.h"
#include "run/validate/validate_impl.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
int pr_validate_program(struct pr_validator *v, const struct pr_job *job,
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
