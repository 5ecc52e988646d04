/* What the files of limits.h share. */
#ifndef PR_OBSERVE_LIMITS_IMPL_H
#define PR_OBSERVE_LIMITS_IMPL_H

#include "base/mem.h"
#include "observe/limits.h"

/* A file below the root, in the arena; NULL: not there. */
const char *pr_client_limits_read_text(struct pr_arena *a, const char *root,
                                       const char *name);

/* A number alone in a file. False: not there, or no number. */
bool pr_client_limits_read_number(struct pr_arena *a, const char *root,
                                  const char *name, double *ret);

/* The kind of storage by statfs's f_type. */
const char *pr_client_limits_filesystem_kind(uint64_t f_type);

/* Which devices are under a folder. */
void pr_client_limits_find_devices(struct pr_client_limits *l,
                                   const char *folder);

/* The counters of the devices. add: what they grew by since the last look is
 * added up. False: not all of them are there. */
bool pr_client_limits_sample_devices(struct pr_client_limits *l, bool add);

/* Likewise. */
void pr_client_limits_find_nets(struct pr_client_limits *l);
bool pr_client_limits_sample_nets(struct pr_client_limits *l, bool add);

/* Processors and memory, by affinity and control groups. */
void pr_client_limits_find_processors(struct pr_client_limits *l);
void pr_client_limits_find_memory(struct pr_client_limits *l);

#endif
