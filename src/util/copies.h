/* A copy of the process that fork() makes has one thread: locks that others held there stay held, and work that they
 * had stays undone, unless they are renewed. */
#ifndef GLS_UTIL_COPIES_H
#define GLS_UTIL_COPIES_H

#include <pthread.h>

/* The function is called in every copy before anything else. It may only set what the copy has of its own. */
#define GLS_IN_COPIES(function)                                         \
    __attribute__((constructor)) static void function##_in_copies(void) \
    {                                                                   \
        pthread_atfork(NULL, NULL, function);                           \
    }

#endif
