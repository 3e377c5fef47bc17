/* Work in a process of its own, where it may crash or hang: what it writes is read line by line, for a limited time. */
#ifndef GLS_UTIL_CHILD_H
#define GLS_UTIL_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef struct gls_child {
    pid_t pid;
    int fd; /* its lines come out here */
} gls_child;

/* A copy of this process that calls work, which writes lines to fd, and ends with it. Nothing of this process is closed
 * or finished there; it leaves no core file, writes nothing to standard output, and with quiet nothing to standard
 * error either. False, with errno: there is none. */
bool gls_child_fork(gls_child *child, bool quiet, void (*work)(void *user, int fd), void *user);
/* This program anew, with these arguments and this environment; its lines are its standard output and error. */
bool gls_child_spawn(gls_child *child, char *const *arguments, char *const *environment);

/* How it ended: by itself with a code, by a signal, or because its time was over. */
typedef struct gls_child_end {
    bool late;
    int signal, code; /* 0 where it was not that */
} gls_child_end;

/* Gets each line without its end; true: the time begins anew. */
typedef bool (*gls_child_line)(void *user, const char *line);
/* Reads until the child ends or has used up its seconds, and leaves no process behind. Every child that was started
 * needs this. */
gls_child_end gls_child_attend(gls_child *child, double seconds, gls_child_line line, void *user);

#endif
