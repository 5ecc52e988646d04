/*
 * Data sets: whether the folder is there, unless an experiment before makes
 * it, and whether there is room for those that are made.
 */
#include "base/json/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/units.h"
#include "emulate/emulate.h"
#include "generate/generate.h"
#include "native/images/image_set.h"
#include "run/contained.h"
#include "run/validate/validate_impl.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* ---- room */

/* The folder that is there already of those that a path has. */
static bool find_parent(const char *path, char out[static PR_NAME_BYTES],
                        struct stat *st)
{
    snprintf(out, PR_NAME_BYTES, "%s", path);
    while (stat(out, st) != 0) {
        char *slash = strrchr(out, '/');

        if (pr_text_equal(out, "."))
            return false;
        if (!slash)
            snprintf(out, PR_NAME_BYTES, ".");
        else if (slash == out)
            out[1] = '\0';
        else
            *slash = '\0';
        if (slash == out && stat(out, st) != 0)
            return false;
    }
    return true;
}

static struct pr_needed_space *validate_data_find_space(struct pr_validator *v,
                                                        const char *place)
{
    char parent[PR_NAME_BYTES];
    struct statvfs fs;
    struct stat st;

    if (!find_parent(place, parent, &st) || statvfs(parent, &fs) != 0)
        return NULL;
    for (size_t i = 0; i < v->needed_count; i++)
        if (v->needed[i].device == (uint64_t)st.st_dev)
            return &v->needed[i];
    if (v->needed_count == sizeof v->needed / sizeof *v->needed)
        return NULL;
    v->needed[v->needed_count] = (struct pr_needed_space){
        .device = (uint64_t)st.st_dev,
        .free = (uint64_t)fs.f_bavail * fs.f_frsize,
        .folder = pr_arena_str(v->ret->arena, place),
    };
    return &v->needed[v->needed_count++];
}

static uint64_t validate_data_needed_bytes(const struct pr_needed_space *s)
{
    uint64_t need;

    return __builtin_add_overflow(s->kept, s->largest, &need) ? UINT64_MAX
                                                              : need;
}

/* What is kept in each folder that is made. NULL: out of memory. */
static uint64_t *validate_data_made_bytes(struct pr_validator *v,
                                          const char *place)
{
    uint32_t id = pr_names_add(v->made, place, strlen(place));
    size_t cap = v->made_cap ? v->made_cap * 2 : 16;
    uint64_t *all;

    if (id == PR_NO_NAME)
        return NULL;
    if (id < v->made_cap)
        return &v->made_bytes[id];
    all = pr_realloc(v->made_bytes, cap * sizeof *all);
    if (!all)
        return NULL;
    memset(all + v->made_cap, 0, (cap - v->made_cap) * sizeof *all);
    v->made_bytes = all;
    v->made_cap = cap;
    return &all[id];
}

/* One that it is too much for. */
static void validate_data_add_no_room(struct pr_validator *v,
                                      struct pr_needed_space *s,
                                      const struct pr_job *job)
{
    v->concerned = true;
    if (!s->count++)
        snprintf(s->first, sizeof s->first, "%s", job->id);
}

/* Sets that are kept add up, but those in one folder are one that grows;
 * others need room one after another. */
static int validate_data_add_need(struct pr_validator *v,
                                  const struct pr_emulate *e,
                                  const struct pr_job *job, const char *place,
                                  uint64_t *had, int *ret_lack,
                                  struct pr_err *err)
{
    struct pr_needed_space *s = validate_data_find_space(v, place);
    uint64_t bytes;
    bool exact;
    int rc;

    if (!s)
        return PR_OK;
    rc = pr_generate_bytes(&e->set, &bytes, &exact, err);
    if (rc)
        return rc;
    s->sets += !*had;
    if (!e->set.opts.keep_files) {
        s->largest = bytes > s->largest ? bytes : s->largest;
    } else if (bytes > *had) {
        if (__builtin_add_overflow(s->kept, bytes - *had, &s->kept))
            s->kept = UINT64_MAX;
        *had = bytes;
    }
    if (validate_data_needed_bytes(s) <= s->free)
        return PR_OK;
    validate_data_add_no_room(v, s, job);
    *ret_lack = PR_NO_ROOM - (int)(s - v->needed);
    return PR_OK;
}

int pr_validate_space_end(struct pr_validator *v, struct pr_err *err)
{
    int rc = PR_OK;

    for (size_t i = 0; i < v->needed_count && !rc; i++) {
        const struct pr_needed_space *s = &v->needed[i];
        struct pr_job job = {.id = s->first, .arena = v->ret->arena};
        struct pr_requirement lack = {
            .kind = PR_REQUIREMENT_SPACE,
            .code = PR_E_IO,
            .remedy = "use fewer or smaller files, or another "
                      "dataset.data_folder",
            .stops = true,
        };
        char want[16], got[16], lost[16];
        int found;

        if (!s->count)
            continue;
        lack.what = pr_arena_printf(
            v->ret->arena,
            "data in '%s'%s need %s, but %s are free: %s are missing",
            s->folder ? s->folder : "", s->sets > 1 ? " and others" : "",
            pr_format_bytes(want, validate_data_needed_bytes(s)),
            pr_format_bytes(got, s->free),
            pr_format_bytes(lost, validate_data_needed_bytes(s) - s->free));
        rc = pr_requirement_add(v, &job, &lack, &found, err);
        if (!rc && found >= 0)
            v->ret->lacks[found].count = s->count;
    }
    return rc;
}

/* ---- a folder that is missing */

/* What is named by a whole path may be in the image. */
static int validate_data_add_missing(struct pr_validator *v,
                                     const struct pr_job *job,
                                     const char *folder, bool ours, bool stops,
                                     int *ret_lack, struct pr_err *err)
{
    struct pr_requirement lack = {
        .kind = PR_REQUIREMENT_DATA,
        .code = PR_E_UNAVAIL,
        .remedy = !ours ? "check exp.data_dir"
                  : *job->exp.data_dir
                      ? "make it: workflow.generate_data=true, or check "
                        "exp.data_dir"
                      : "make it: workflow.generate_data=true, or check "
                        "dataset.data_folder and storage.storage_root",
        .stops = stops && !(job->exp.docker && *folder == '/'),
    };

    lack.what =
        pr_arena_printf(job->arena, "there is no data folder '%s'", folder);
    return pr_requirement_add(v, job, &lack, ret_lack, err);
}

/* ---- workloads of ours */

static int validate_data_check_set(struct pr_validator *v,
                                   const struct pr_job *job,
                                   const struct pr_emulate *e, int *ret_lack,
                                   struct pr_err *err)
{
    char place[PR_NAME_BYTES];
    struct stat st;
    bool is_there;

    pr_generate_place(&e->set, &e->storage, place);
    if (job->exp.docker && pr_job_container_has_own_mount(job, place))
        return PR_OK;
    is_there = stat(place, &st) == 0;
    if (e->workflow.generate_data) {
        uint64_t *had = validate_data_made_bytes(v, place);

        if (!had)
            return pr_fail_nomem(err);
        return is_there ? PR_OK
                        : validate_data_add_need(v, e, job, place, had,
                                                 ret_lack, err);
    }
    if (is_there || pr_names_find(v->made, place, strlen(place)) != PR_NO_NAME)
        return PR_OK;
    return validate_data_add_missing(v, job, place, true, true, ret_lack, err);
}

static const char *validate_data_param_text(const struct pr_job *job,
                                            const char *name)
{
    const struct pr_value *v = pr_get(job->params, name);

    return !v                   ? ""
           : v->kind == PR_STR  ? v->s
           : v->kind == PR_BOOL ? (v->b ? "true" : "false")
                                : "";
}

/* Experiments that differ in none of these have the same data. NULL: out of
 * memory. */
static const char *set_question(const struct pr_job *job,
                                const struct pr_workload *w)
{
    static const char *const names[] = {
        "storage.storage_root",   "storage.engine",
        "storage.storage_type",   "reader.data_loader",
        "workflow.generate_data", "workflow.train"};
    static const char shape[] = "dataset.";
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 20);

    pr_buf_printf(&text, "set %s %d\n%s", w->name, job->exp.docker,
                  job->exp.data_dir);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        pr_buf_printf(&text, "\n%s", validate_data_param_text(job, names[i]));
    for (uint32_t i = 0; i < job->params->len; i++) {
        const struct pr_member *m = &job->params->members[i];

        if (!pr_text_starts_with(m->key, shape))
            continue;
        pr_buf_printf(&text, "\n%s=", m->key);
        pr_json_write(&text, &m->value);
    }
    return pr_buf_ok(&text) ? pr_arena_str(job->arena, text.data) : NULL;
}

static int check_set(struct pr_validator *v, struct pr_job *job,
                     const struct pr_workload *w, struct pr_err *err)
{
    struct pr_emulate *e = PR_ARENA_NEW(job->arena, struct pr_emulate);
    const char *question = set_question(job, w);
    bool images = !pr_text_equal(w->name, "emulate");
    int found = PR_NO_REQUIREMENT, rc;

    if (!e || !question)
        return pr_fail_nomem(err);
    if (pr_requirement_cached(v, question, &found)) {
        if (found <= PR_NO_ROOM)
            validate_data_add_no_room(v, &v->needed[PR_NO_ROOM - found], job);
        return PR_OK;
    }
    rc = pr_emulate_init(e, job, NULL);
    if (rc) /* not of that kind; the workload itself had nothing against it */
        return rc == PR_E_NOMEM ? pr_fail_nomem(err) : PR_OK;
    if (images && *job->exp.data_dir)
        snprintf(e->set.folder, sizeof e->set.folder, "%s", job->exp.data_dir);
    if (images)
        e->reader.data_loader = "pytorch";
    if (pr_emulate_has_files(e) &&
        (images || e->workflow.train || e->workflow.generate_data))
        rc = validate_data_check_set(v, job, e, &found, err);
    return rc ? rc : pr_requirement_cache(v, question, found, err);
}

/* ---- programs of the user's */

static bool validate_data_is_folder(const char *cwd, const char *path)
{
    int dir = *cwd ? open(cwd, O_PATH | O_DIRECTORY | O_CLOEXEC) : AT_FDCWD;
    struct stat st;
    bool there = fstatat(dir, path, &st, 0) == 0;

    if (dir >= 0)
        close(dir);
    return there;
}

/* A command of the user's may make its folder itself. */
static int check_data_dir(struct pr_validator *v, const struct pr_job *job,
                          const struct pr_workload *w, struct pr_err *err)
{
    const char *folder = job->exp.data_dir, *question;
    const char *cwd = job->exp.docker ? "" : job->exp.cwd; /* inside, that is */
    int found = PR_NO_REQUIREMENT, rc = PR_OK;

    if (!*folder || strstr(folder, "://") ||
        (job->exp.docker && pr_job_container_has_own_mount(job, folder)))
        return PR_OK;
    question = pr_arena_printf(job->arena, "folder %s %d\n%s\n%s", w->name,
                               job->exp.docker, cwd, folder);
    if (!question)
        return pr_fail_nomem(err);
    if (pr_requirement_cached(v, question, &found))
        return PR_OK;
    if (!validate_data_is_folder(cwd, folder))
        rc = validate_data_add_missing(v, job, folder, false,
                                       pr_text_equal(w->name, "framework"),
                                       &found, err);
    return rc ? rc : pr_requirement_cache(v, question, found, err);
}

int pr_validate_data(struct pr_validator *v, struct pr_job *job,
                     const struct pr_workload *w, struct pr_err *err)
{
    if (pr_text_equal(w->name, "emulate"))
        return check_set(v, job, w, err);
    if (pr_text_equal(w->name, "native") || pr_text_equal(w->name, "loader"))
        return pr_image_set_is_wanted(job) ? check_set(v, job, w, err) : PR_OK;
    return pr_text_equal(w->name, "null") ? PR_OK
                                          : check_data_dir(v, job, w, err);
}
