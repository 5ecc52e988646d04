/* Event files for TensorBoard: scalars by step. */
#ifndef PR_OBSERVE_TENSORBOARD_H
#define PR_OBSERVE_TENSORBOARD_H

#include "base/err.h"

#include <stdint.h>

struct pr_tensorboard;

/* Makes folder/events.out.tfevents.SECONDS.HOST.PID; the folder is made, too.
 */
int pr_tensorboard_open(const char *folder, struct pr_tensorboard **ret,
                        struct pr_err *err) PR_MUST_CHECK;

/* Any thread may. In the file within a second, flushed by a thread of the
 * board's own. A board that is NULL: does nothing. */
void pr_tensorboard_add_scalar(struct pr_tensorboard *b, const char *tag,
                               int64_t step, double value, uint64_t wall_ns);

/* An error while writing comes up here; what was written before it stays. NULL
 * is fine. */
int pr_tensorboard_close(struct pr_tensorboard *b, struct pr_err *err);

#endif
