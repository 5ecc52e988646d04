/*
 * `prony doctor`: rows of what this machine and this build have and lack. One
 * file looks at one side and adds its rows.
 */
#ifndef PR_CLI_DOCTOR_H
#define PR_CLI_DOCTOR_H

#include "base/mem.h"

#include <stdbool.h>
#include <stddef.h>

enum { DOCTOR_MOST = 64 };

/* One row. */
struct finding {
    const char *what, *state, *detail, *remedy;
};

struct doctor {
    struct pr_arena *arena;
    struct finding items[DOCTOR_MOST];
    size_t count;
    double harness_s;
};

/* Something that has to be there. Texts are borrowed; detail and remedy may
 * be NULL. */
void doctor_found(struct doctor *d, const char *what, bool good,
                  const char *detail, const char *remedy);

/* Something that is nice to have: its absence is no defect. */
void doctor_extra(struct doctor *d, const char *what, bool there,
                  const char *detail, const char *remedy);

void doctor_build(struct doctor *d);
void doctor_machine(struct doctor *d);
void doctor_slots(struct doctor *d);
void doctor_sensors(struct doctor *d);
void doctor_frameworks(struct doctor *d);

/* The first of the names, up to NULL, that is on PATH; or NULL. */
const char *doctor_program(struct doctor *d, const char *const *names);

#endif
