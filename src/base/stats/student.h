/* Student's t: how far a mean of few values may be off. */
#ifndef PR_BASE_STUDENT_H
#define PR_BASE_STUDENT_H

/* The chance that t is above a number, one-sided. Degrees of freedom need not
 * be whole. */
double pr_student_above(double t, double freedom);

/* The t that is exceeded by this chance, below one half. */
double pr_student_t(double chance, double freedom);

#endif
