/* Minima of functions of a few variables, each within bounds, by their gradients. */
#ifndef GLS_UTIL_MINIMISE_H
#define GLS_UTIL_MINIMISE_H

#include <stdbool.h>
#include <stddef.h>

/* Largest number of variables. */
#define GLS_MINIMISE_MAX 16

/* Returns the value of the function at x, and stores its gradient. */
typedef double (*gls_minimise_function)(void *user, const double *x, double *gradient);

/* The function to minimise, and when to stop. */
typedef struct gls_minimise_problem {
    size_t n;
    const double *low, *high; /* bounds of each variable; may be infinite */
    const double *unit;       /* how far each variable changes by about equal effect; above 0 */
    gls_minimise_function function;
    void *user;
    double value_tolerance;    /* stop when two steps in turn lessen the value by less than this share of it */
    double gradient_tolerance; /* stop when no element of the gradient leads farther than this into the bounds */
    unsigned max_iterations;   /* of one way down */
    /* the first of the variables, along each of which two more starts are tried beside the minimum that was found: for
     * functions with small minima beside the large one; 0: none */
    size_t n_beside;
} gls_minimise_problem;

/* The result of a search. */
typedef struct gls_minimise_result {
    double value;
    unsigned iterations, evaluations;
} gls_minimise_result;

/* Searches a minimum from x on, which is first moved into the bounds and gets the minimum. The method is that of
 * Broyden, Fletcher, Goldfarb and Shanno on the variables that are not held at a bound, with a line search by weak
 * Wolfe conditions, which also serves functions whose gradient jumps (Lewis and Overton 2013). */
gls_minimise_result gls_minimise(const gls_minimise_problem *problem, double *x);

#endif
