/* Functions, methods and modules of the expression language: how they are
 * described, called, and where their tables are. */
#ifndef PR_CONF_EXPR_CALL_H
#define PR_CONF_EXPR_CALL_H

#include "conf/expr/expr_value.h"

/* Functions and methods. */
struct pr_ex_kw {
    const char *name;
    uint32_t len;
    struct pr_ev value;
};

struct pr_ex_call {
    const struct pr_ex_def *def;
    const struct pr_ev *self; /* of a method */
    const struct pr_ev *a;    /* max of them, the rest EV_MISSING; or n */
    uint32_t n;
    const struct pr_ex_kw *kw; /* only with PR_EX_MANY */
    uint32_t nkw;
};

struct pr_ex_def {
    const char *name;
    bool (*fn)(struct pr_ex *x, const struct pr_ex_call *c, struct pr_ev *ret);
    uint8_t min, max;
    const char *params; /* "sep,maxsplit": keywords; NULL: none. One in
                           brackets "(a)" can only be given by its place */
};

struct pr_ex_table {
    const struct pr_ex_def *defs;
    size_t n;
};
#define PR_EX_TABLE(array)                       \
    {                                            \
        (array), sizeof(array) / sizeof *(array) \
    }

struct pr_ex_module {
    const char *name;
    struct pr_ex_table table;
    const char *const *refused; /* names with a refusal of their own, or NULL */
    const char *refusal;
    /* Sets *ret and *ret_found; NULL: has only functions. */
    bool (*attr)(struct pr_ex *x, const char *name, size_t len,
                 struct pr_ev *ret, bool *ret_found);
    const char *const *attrs; /* for suggestions; NULL-terminated or NULL */
};

/* expr_call.c */
const struct pr_ex_def *pr_ex_find(const struct pr_ex_table *t,
                                   const char *name, size_t len);
bool pr_ex_call_def(struct pr_ex *x, const struct pr_ex_def *def,
                    const struct pr_ev *self, const struct pr_ex_vec *args,
                    const struct pr_ex_kw *kw, uint32_t nkw, struct pr_ev *ret);
bool pr_ex_call_one(struct pr_ex *x, const struct pr_ev *func,
                    const struct pr_ev *arg, struct pr_ev *ret);
/* "<what> has no '<name>'", or of what NULL "name '<name>' is not defined",
 * with the nearest of the tables and of more as a hint. Both lists end with a
 * NULL, more may be NULL itself. */
bool pr_ex_unknown(struct pr_ex *x, const char *what, const char *name,
                   size_t len, const struct pr_ex_table *const *tables,
                   const char *const *more);
bool pr_ex_name_is(const char *name, size_t len, const char *want);

/* Checks of one argument; false: recorded. */
bool pr_ex_want_str(struct pr_ex *x, const struct pr_ex_call *c, uint32_t i);
bool pr_ex_want_int(struct pr_ex *x, const struct pr_ex_call *c, uint32_t i);
bool pr_ex_want_number(struct pr_ex *x, const struct pr_ex_call *c, uint32_t i);

/* The tables. */
extern const struct pr_ex_table pr_ex_builtins;      /* expr_func.c */
extern const struct pr_ex_table pr_ex_builtins_more; /* expr_iter.c */
extern const struct pr_ex_table pr_ex_str_methods;   /* expr_str.c */
extern const struct pr_ex_table pr_ex_str_finders;   /* expr_str_find.c */
extern const struct pr_ex_table pr_ex_str_cases;     /* expr_str_case.c */
extern const struct pr_ex_table pr_ex_list_methods;  /* expr_list.c */
extern const struct pr_ex_table pr_ex_dict_methods;
extern const struct pr_ex_table pr_ex_match_methods; /* expr_match.c */
extern const struct pr_ex_table pr_ex_uuid_methods;  /* expr_module.c */
extern const struct pr_ex_table pr_ex_environ_methods;
extern const struct pr_ex_module pr_ex_module_re; /* expr_re.c */
extern const struct pr_ex_module pr_ex_module_os;
extern const struct pr_ex_module pr_ex_module_os_path; /* expr_path.c */
extern const struct pr_ex_module pr_ex_module_sys;
extern const struct pr_ex_module pr_ex_module_uuid;
extern const struct pr_ex_module pr_ex_module_json; /* expr_json.c */
extern const struct pr_ex_module pr_ex_module_math; /* expr_math.c */

bool pr_ex_format_method(struct pr_ex *x, const struct pr_ex_call *c,
                         struct pr_ev *ret);
bool pr_ex_to_int(struct pr_ex *x, const struct pr_ex_call *c,
                  struct pr_ev *ret); /* expr_convert.c: int() */
bool pr_ex_to_float(struct pr_ex *x, const struct pr_ex_call *c,
                    struct pr_ev *ret);
bool pr_ex_round(struct pr_ex *x, const struct pr_ex_call *c,
                 struct pr_ev *ret);

#endif
