/* What a GPU does right now. */
#include "machine/nvml_impl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* One look at a device. */
struct look {
    struct pr_nvml *n;
    unsigned i;
    struct nvml_handle *handle;
    bool gone, any; /* any: at least one figure came */
};

/* Whether to ask for a figure; then the answer's code goes to took(). */
static bool nvml_needs_call(const struct look *l, enum pr_nvml_measure f,
                            bool has_call)
{
    return has_call && !l->gone && !(l->n->dev[l->i].absent & 1u << f);
}

static bool nvml_is_answered(struct look *l, enum pr_nvml_measure f, int rc)
{
    if (rc == NVML_SUCCESS) {
        l->any = true;
        return true;
    }
    if (rc == NVML_NOT_SUPPORTED || rc == NVML_FUNCTION_NOT_FOUND)
        l->n->dev[l->i].absent |= 1u << f;
    else if (pr_nvml_is_gone(l->n, l->i, rc))
        l->gone = true;
    return false;
}

#define ASK(l, figure, member, ...)                            \
    (nvml_needs_call(l, figure, (l)->n->api.member != NULL) && \
     nvml_is_answered(l, figure,                               \
                      (l)->n->api.member((l)->handle, __VA_ARGS__)))

static void read_use(struct look *l, struct pr_nvml_state *s)
{
    struct nvml_utilisation use;
    struct nvml_memory memory;

    if (ASK(l, PR_NVML_F_UTILISATION, utilisation, &use)) {
        s->utilisation = use.gpu / 100.0;
        s->memory_utilisation = use.memory / 100.0;
    }
    if (ASK(l, PR_NVML_F_MEMORY, memory, &memory))
        s->memory_bytes = (double)memory.used;
}

static void read_power(struct look *l, struct pr_nvml_state *s)
{
    unsigned long long mj, bits;
    unsigned mw;

    if (ASK(l, PR_NVML_F_POWER, power, &mw))
        s->power_w = mw / 1e3;
    if (ASK(l, PR_NVML_F_ENERGY, energy, &mj))
        s->energy_j = (double)mj / 1e3;
    if (ASK(l, PR_NVML_F_THROTTLE, throttle, &bits))
        s->throttle = (double)(bits & ((1ull << 52) - 1));
}

static void read_clocks(struct look *l, struct pr_nvml_state *s)
{
    unsigned u;

    if (ASK(l, PR_NVML_F_SM, clock, NVML_CLOCK_SM, &u))
        s->sm_mhz = u;
    if (ASK(l, PR_NVML_F_MEMORY_CLOCK, clock, NVML_CLOCK_MEMORY, &u))
        s->memory_mhz = u;
    if (ASK(l, PR_NVML_F_TEMPERATURE, temperature, 0, &u))
        s->temperature_c = u;
    if (ASK(l, PR_NVML_F_FAN, fan, &u))
        s->fan = u / 100.0;
}

static double nvml_field_value(const struct nvml_field *f)
{
    if (f->result != NVML_SUCCESS)
        return NAN;
    return f->type == NVML_VALUE_UINT     ? f->value.u
           : f->type == NVML_VALUE_ULONG  ? (double)f->value.ul
           : f->type == NVML_VALUE_ULLONG ? (double)f->value.ull
                                          : NAN;
}

/* The counters: the call that gives bytes a second measures for 20 ms. */
static void read_pcie(struct look *l, struct pr_nvml_state *s)
{
    struct nvml_field f[2] = {{.id = NVML_FIELD_PCIE_IN},
                              {.id = NVML_FIELD_PCIE_OUT}};
    bool any = l->any;

    if (!ASK(l, PR_NVML_F_PCIE, fields, 2, f))
        return;
    if (f[0].result == NVML_NOT_SUPPORTED && f[1].result == NVML_NOT_SUPPORTED)
        l->n->dev[l->i].absent |= 1u << PR_NVML_F_PCIE;
    s->pcie_in_bytes = nvml_field_value(&f[0]);
    s->pcie_out_bytes = nvml_field_value(&f[1]);
    /* The call succeeds even when none of the fields does. */
    l->any = any || !isnan(s->pcie_in_bytes) || !isnan(s->pcie_out_bytes);
}

bool pr_nvml_read(struct pr_nvml *n, unsigned i, struct pr_nvml_state *ret)
{
    struct pr_nvml_state s = {NAN, NAN, NAN, NAN, NAN, NAN,
                              NAN, NAN, NAN, NAN, NAN, NAN};
    struct look l = {.n = n, .i = i, .handle = pr_nvml_handle(n, i)};

    if (!l.handle)
        return false;
    read_use(&l, &s);
    read_power(&l, &s);
    read_clocks(&l, &s);
    read_pcie(&l, &s);
    if (l.gone || !l.any)
        return false;
    *ret = s;
    return true;
}

void pr_nvml_throttle_words(uint64_t bits, char out[static 160])
{
    static const char *const words[] = {
        NULL,         "set clocks", "power cap",        "hardware slow-down",
        "sync boost", "thermal",    "hardware thermal", "power brake",
        "display",
    };
    size_t used = 0;

    out[0] = '\0';
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i] && bits >> i & 1)
            used += (size_t)snprintf(out + used, 160 - used, "%s%s",
                                     used ? ", " : "", words[i]);
    bits &= ~(((uint64_t)1 << sizeof words / sizeof *words) - 1);
    if (bits)
        snprintf(out + used, 160 - used, "%sothers", used ? ", " : "");
}
