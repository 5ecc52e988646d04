/* `prony doctor`: what can hold copies that run side by side apart, and the
 * parts this machine would be split into. */
#include "base/buf.h"
#include "base/units.h"
#include "cli/doctor.h"
#include "launch/slots/slots.h"
#include "machine/nvml.h"

#include <string.h>

enum { SLOTS_TOLD = 4 };

/* One slot a GPU; without any, one. */
static unsigned find_devices(struct doctor *d, struct pr_slot_device *out)
{
    struct pr_nvml *n = pr_nvml_open(NULL);
    unsigned count = n ? pr_nvml_count(n) : 0;

    for (unsigned i = 0; i < count; i++) {
        struct pr_nvml_device dev;

        out[i].id = pr_arena_printf(d->arena, "%u", i);
        if (pr_nvml_device(n, i, &dev))
            out[i].pci = pr_arena_str(d->arena, dev.pci);
        if (!out[i].id)
            count = 0;
    }
    if (n)
        pr_nvml_close(n);
    return count;
}

/* The note that begins so; what it says after that, and what helps. */
static const struct pr_slots_warning *note_of(const struct pr_slots *s,
                                              const char *start)
{
    size_t n;
    const struct pr_slots_warning *notes = pr_slots_get_warnings(s, &n);

    for (size_t i = 0; i < n; i++)
        if (strncmp(notes[i].what, start, strlen(start)) == 0)
            return &notes[i];
    return NULL;
}

static void tell_hold(struct doctor *d, const struct pr_slots *s,
                      const char *what, enum pr_slot_hold hold,
                      const char *start)
{
    const struct pr_slots_warning *note = note_of(s, start);

    doctor_extra(d, what, !note,
                 note ? pr_arena_str(d->arena, note->what)
                      : pr_slots_hold_name(hold),
                 note ? pr_arena_str(d->arena, note->remedy) : NULL);
}

/* "2 of 8 cores, 33 GB each (CPUs 0-7; 8-15); 2.1 GB for the harness" */
static const char *slots_words(struct doctor *d, const struct pr_slots *s)
{
    PR_AUTO_BUF struct pr_buf b = PR_BUF_INIT(4096);
    const struct pr_slot *slot = pr_slots_get(s, 0);
    unsigned n = pr_slots_count(s);
    char size[16];

    pr_buf_printf(&b, "%u of %u core%s", n, slot->n_cores,
                  slot->n_cores == 1 ? "" : "s");
    if (slot->memory_bytes)
        pr_buf_printf(&b, ", %s", pr_format_bytes(size, slot->memory_bytes));
    pr_buf_str(&b, n > 1 ? " each (CPUs " : " (CPUs ");
    for (unsigned i = 0; i < n && i < SLOTS_TOLD; i++)
        pr_buf_printf(&b, "%s%s", i ? "; " : "", pr_slots_get(s, i)->cpus);
    pr_buf_str(&b, n > SLOTS_TOLD ? "; …)" : ")");
    if (pr_slots_reserve(s))
        pr_buf_printf(&b, "; %s for the harness",
                      pr_format_bytes(size, pr_slots_reserve(s)));
    return pr_buf_ok(&b) ? pr_arena_str(d->arena, b.data) : "";
}

void doctor_slots(struct doctor *d)
{
    struct pr_slot_device devices[PR_NVML_MAX] = {{0}};
    unsigned n = find_devices(d, devices);
    /* a diagnosis leaves the machine as it is */
    struct pr_slots_opts o = {.count = n,
                              .isolate = true,
                              .devices = n ? devices : NULL,
                              .look = true};
    struct pr_slots *s = NULL;
    struct pr_err err = {0};

    if (pr_slots_new(&o, &s, &err) != PR_OK) {
        doctor_extra(d, "slots", false, pr_arena_str(d->arena, err.msg), NULL);
        return;
    }
    tell_hold(d, s, "isolation of CPUs", pr_slots_cpu_hold(s), "CPUs ");
    tell_hold(d, s, "isolation of memory", pr_slots_memory_hold(s), "memory ");
    doctor_extra(d, "slots", true, slots_words(d, s), NULL);
    pr_slots_free(s);
}
