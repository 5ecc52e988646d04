/*
 * The inside of $(…)$: Python's expression language as far as DLBS's users
 * write it, by an evaluator of our own. It reaches no file, no shell and no
 * Python, and is bounded in steps, depth and memory.
 */
#ifndef PR_CONF_EXPR_EVAL_H
#define PR_CONF_EXPR_EVAL_H

#include "base/err.h"
#include "base/value.h"
#include "conf/expr/expr_value.h"

/* Evaluates text[0..len) and appends str(result) to out, or on failure leaves
 * out as it was. Fails with PR_E_CONF: the message says what is wrong in terms
 * of the expression ("'+' cannot add a whole number and text"), its place is
 * left empty for the caller, who knows the file and line.
 * scratch is reset-able memory of the caller's; nothing in it is kept.
 * *ret_pure (may be NULL) is false when the next call may answer otherwise:
 * uuid.uuid4. The environment and the working directory do not change while a
 * plan is made. */
int pr_expr_eval(const char *text, size_t len, struct pr_arena *scratch,
                 struct pr_buf *out, bool *ret_pure,
                 struct pr_err *err) PR_MUST_CHECK;

/* ---- functions, methods and modules */

struct pr_expr_keyword {
    const char *name;
    uint32_t len;
    struct pr_expr_value value;
};

struct pr_expr_call {
    const struct pr_expr_def *def;
    const struct pr_expr_value *self; /* of a method */
    const struct pr_expr_value *a; /* max of them, the rest EV_MISSING; or n */
    uint32_t n;
    const struct pr_expr_keyword *kw; /* only with PR_EXPR_MANY */
    uint32_t nkw;
};

struct pr_expr_def {
    const char *name;
    bool (*fn)(struct pr_expr *x, const struct pr_expr_call *c,
               struct pr_expr_value *ret);
    uint8_t min, max;
    const char *params; /* "sep,maxsplit": keywords; NULL: none. One in
                           brackets "(a)" can only be given by its place */
};

struct pr_expr_table {
    const struct pr_expr_def *defs;
    size_t n;
};
#define PR_EXPR_TABLE(array)                     \
    {                                            \
        (array), sizeof(array) / sizeof *(array) \
    }

struct pr_expr_module {
    const char *name;
    struct pr_expr_table table;
    const char *const *refused; /* names with a refusal of their own, or NULL */
    const char *refusal;
    /* Sets *ret and *ret_found; NULL: has only functions. */
    bool (*attr)(struct pr_expr *x, const char *name, size_t len,
                 struct pr_expr_value *ret, bool *ret_found);
    const char *const *attrs; /* for suggestions; NULL-terminated or NULL */
};

const struct pr_expr_def *pr_expr_find_def(const struct pr_expr_table *t,
                                           const char *name, size_t len);
bool pr_expr_call_def(struct pr_expr *x, const struct pr_expr_def *def,
                      const struct pr_expr_value *self,
                      const struct pr_expr_vec *args,
                      const struct pr_expr_keyword *kw, uint32_t nkw,
                      struct pr_expr_value *ret);
bool pr_expr_call_one(struct pr_expr *x, const struct pr_expr_value *func,
                      const struct pr_expr_value *arg,
                      struct pr_expr_value *ret);
/* Whether a name that need not end with a NUL is this one. */
bool pr_expr_is_name(const char *name, size_t len, const char *want);

/* Checks of one argument; false: recorded. */
bool pr_expr_want_str(struct pr_expr *x, const struct pr_expr_call *c,
                      uint32_t i);
bool pr_expr_want_int(struct pr_expr *x, const struct pr_expr_call *c,
                      uint32_t i);
bool pr_expr_want_number(struct pr_expr *x, const struct pr_expr_call *c,
                         uint32_t i);

/* ---- the tables */

/* expr_functions.c */
extern const struct pr_expr_table pr_expr_builtins;
extern const struct pr_expr_table pr_expr_builtins_more;
extern const struct pr_expr_table pr_expr_list_methods;
extern const struct pr_expr_table pr_expr_dict_methods;
extern const struct pr_expr_module pr_expr_module_math;

/* expr_strings.c */
extern const struct pr_expr_table pr_expr_str_methods;
extern const struct pr_expr_table pr_expr_str_finders;
extern const struct pr_expr_table pr_expr_str_cases;

/* expr_modules.c */
extern const struct pr_expr_table pr_expr_match_methods;
extern const struct pr_expr_table pr_expr_uuid_methods;
extern const struct pr_expr_table pr_expr_environ_methods;
extern const struct pr_expr_module pr_expr_module_re;
extern const struct pr_expr_module pr_expr_module_os;
extern const struct pr_expr_module pr_expr_module_os_path;
extern const struct pr_expr_module pr_expr_module_sys;
extern const struct pr_expr_module pr_expr_module_uuid;
extern const struct pr_expr_module pr_expr_module_json;

/* ---- functions that stand in tables of other files */

bool pr_expr_format_method(struct pr_expr *x, const struct pr_expr_call *c,
                           struct pr_expr_value *ret);
bool pr_expr_to_int(struct pr_expr *x, const struct pr_expr_call *c,
                    struct pr_expr_value *ret); /* int() */
bool pr_expr_to_float(struct pr_expr *x, const struct pr_expr_call *c,
                      struct pr_expr_value *ret);
bool pr_expr_round(struct pr_expr *x, const struct pr_expr_call *c,
                   struct pr_expr_value *ret);

#endif
