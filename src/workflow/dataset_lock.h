/* Locks between processes that work on one output. */
#ifndef GLS_WORKFLOW_DATASET_LOCK_H
#define GLS_WORKFLOW_DATASET_LOCK_H

#include <stdbool.h>

#include <glslines/common.h>

/* Takes the lock that the file at path is, which is made; it ends with its process, however that ends. *fd is -1 where
 * another process holds it, unless wait, which waits for its end. On a file system without locks a warning says so, and
 * nothing is locked. GLS_ERR_OUTPUT: no such file can be made. */
gls_status gls_dataset_lock(const char *path, bool wait, int *fd);
/* Accepts a descriptor of -1. */
void gls_dataset_unlock(const char *path, int fd);

#endif
