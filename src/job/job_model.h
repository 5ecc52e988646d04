/* The network that an experiment names: exp.model, exp.model_opts, nn.tiny. */
#ifndef PR_JOB_MODEL_H
#define PR_JOB_MODEL_H

#include "job/job.h"
#include "nn/model/model.h"

/* In the job's arena. exp.model_opts is a map, or the text of one. */
int pr_job_read_model(struct pr_job *job, struct pr_model **ret,
                      struct pr_err *err) PR_MUST_CHECK;

#endif
