/* Skips tests that need what some machines lack. Include after cmocka.h. */
#ifndef GLS_TEST_SKIP_H
#define GLS_TEST_SKIP_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Skips the present test for lack of something; if GLS_TEST_REQUIRE_<KIND> is set, this is a failure. Does not return.
 */
static inline void leave_out(const char *kind, const char *what)
{
    char name[64];
    snprintf(name, sizeof name, "GLS_TEST_REQUIRE_%s", kind);
    const char *required = getenv(name);
    print_message("%s is not here\n", what);
    if (required && *required && strcmp(required, "0") != 0) fail_msg("%s is set", name);
    skip();
}

#endif
