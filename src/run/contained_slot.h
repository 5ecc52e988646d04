/* An experiment in a container and in a slot: what becomes of the slot. */
#ifndef PR_RUN_CONTAINED_SLOT_H
#define PR_RUN_CONTAINED_SLOT_H

#include "launch/container.h"
#include "launch/slots/slots.h"

/* Puts what the slot has into o: processors, memory, device, and what it says
 * in the environment; o->env is filled already. */
int pr_job_container_use_slot(const struct pr_slot *slot, struct pr_arena *a,
                              struct pr_container_opts *o,
                              struct pr_err *err) PR_MUST_CHECK;

#endif
