/* The browser that the window starts. */
#ifndef GLS_VIEW_BROWSER_H
#define GLS_VIEW_BROWSER_H

#include <limits.h>
#include <sys/types.h>

#include "view/session.h"

/* A browser that was started. All zero: none. */
typedef struct gls_view_browser {
    pid_t pid;             /* its process; 0: none runs */
    char folder[PATH_MAX]; /* has the file that leads to the address; "": there is none */
} gls_view_browser;

/* Starts the first command of $BROWSER, or else xdg-open, with a file that leads to the address of the session. Warns
 * if there is no desktop, or if it cannot be started. */
void gls_view_browser_open(gls_view_browser *browser, const gls_session *session);
/* Takes notice of its end, without waiting for it. Warns if it failed before a page came. */
void gls_view_browser_attend(gls_view_browser *browser);
/* Removes the file, if it is there. The browser goes on. */
void gls_view_browser_close(gls_view_browser *browser);

#endif
