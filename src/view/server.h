/* The server of the window, by libwebsockets. */
#ifndef GLS_VIEW_SERVER_H
#define GLS_VIEW_SERVER_H

#include <stdbool.h>

#include <glslines/common.h>
#include <glslines/workflow.h>

#include "view/contents.h"
#include "view/dissect.h"
#include "view/live.h"
#include "view/paint.h"
#include "view/review.h"
#include "view/session.h"

/* Port to which ssh is to bring a UNIX socket, where none is given. */
#define GLS_VIEW_PORT 8123

/* Contents, address and callbacks of a server. */
typedef struct gls_view_server {
    const gls_view_contents *contents;         /* files that it sends */
    gls_view_live *live;                       /* tracks for its pages */
    gls_view_dissection *dissection;           /* selects for its pages */
    gls_view_paint *paint;                     /* paints for its pages */
    gls_view_review *review;                   /* has the pictures of a data set */
    int port;                                  /* 0: any that is free */
    const char *listen;                        /* 127.0.0.1, ::1 or a path of a UNIX socket; NULL: both addresses */
    bool open;                                 /* start the browser; not with a socket */
    double idle_seconds;                       /* end so long after the last page was closed; 0: never */
    bool (*go_on)(void);                       /* false: end */
    void (*ready)(const gls_session *session); /* called once, when the server takes requests */
} gls_view_server;

/* Serves pages on this machine alone, until go_on() is false or no page was open for idle_seconds. GLS_ERR_UNSUPPORTED:
 * this program was built without libwebsockets. GLS_ERR_OUTPUT: the port or the socket is in use. */
gls_status gls_view_serve(const gls_view_server *server);
/* GLS_ERR_UNSUPPORTED if this program was built without libwebsockets. */
gls_status gls_view_require_server(void);

#endif
