/* The UNIX socket on which the server of the window may listen. */
#ifndef GLS_VIEW_SOCKET_H
#define GLS_VIEW_SOCKET_H

#include <stdbool.h>

#include <glslines/common.h>

/* Whether a text of --listen is the path of a socket: it has a slash. */
bool gls_view_is_socket(const char *listen);
/* Makes way for a socket: removes one on which no program listens any more. GLS_ERR_ARGUMENT: the path is too long for
 * a socket. GLS_ERR_OUTPUT: something else is there, or a program listens on it. */
gls_status gls_view_socket_make_way(const char *path);

#endif
