/* Loading the network of an experiment. */
#include "job/job_model.h"

#include "conf/read/yaml.h"

/* DLBS hands the options over as text. */
static int job_read_model_opts(struct pr_job *job, struct pr_value *ret,
                               struct pr_err *err)
{
    const struct pr_value *v = job->exp.model_opts;
    bool is_text = v->kind == PR_STR && v->len;
    int rc = PR_OK;

    *ret = *v;
    if (is_text)
        rc = pr_yaml_read(v->s, v->len, "exp.model_opts", job->arena, ret, err);
    if (rc == PR_E_NOMEM)
        return rc;
    if (!rc && (ret->kind == PR_MAP || ret->kind == PR_NULL ||
                (ret->kind == PR_STR && !ret->len)))
        return PR_OK;
    pr_fail(err, PR_E_CONF, job->id, "exp.model_opts is not a map");
    return pr_hint(err,
                   "for example -P exp.model_opts='{\"input\": [3, 64, 64]}'");
}

int pr_job_read_model(struct pr_job *job, struct pr_model **ret,
                      struct pr_err *err)
{
    struct pr_nn_opts nn;
    struct pr_model_variant variant;
    struct pr_value opts;
    int rc;

    if (!*job->exp.model) {
        pr_fail(err, PR_E_CONF, job->id, "exp.model names no network");
        return pr_hint(err, "for example -P exp.model=resnet50");
    }
    rc = pr_opt_fill(&pr_nn_section, job->params, job->arena, &nn, err);
    if (!rc)
        rc = job_read_model_opts(job, &opts, err);
    if (rc)
        return rc;
    variant = (struct pr_model_variant){
        .values = opts.kind == PR_MAP ? &opts : NULL, .tiny = nn.tiny};
    rc = pr_model_load(job->exp.model, &variant, job->arena, ret, err);
    if (rc && rc != PR_E_NOMEM && err && !*err->where)
        return pr_reword(err, "exp.model", "%s", err->msg);
    return rc;
}
