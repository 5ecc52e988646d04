/* Files of tensors: what a training begins with (nn.load), and what it leaves
 * (nn.save). */
#ifndef PR_NATIVE_TENSORS_H
#define PR_NATIVE_TENSORS_H

#include "native/native.h"

/* Weights by name; and input and labels, if both are there, as the batch:
 * *ret_batch. What is odd is a note. */
int pr_native_load_tensors(const struct pr_native *n, struct pr_net *net,
                           bool *ret_batch, struct pr_buf *notes,
                           struct pr_err *err) PR_MUST_CHECK;

/* Whether nn.save can be written, as far as can be told before. */
int pr_native_check_save(const struct pr_native *n,
                         struct pr_err *err) PR_MUST_CHECK;

/* Weights, the last output, and the last gradients as grad.NAME with
 * nn.save_gradients. */
int pr_native_save_tensors(const struct pr_native *n, struct pr_net *net,
                           struct pr_err *err) PR_MUST_CHECK;

#endif
