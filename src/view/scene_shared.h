/* The scene that all pages of a server share: regions, criteria, bundles, and what is tracked. */
#ifndef GLS_VIEW_SCENE_SHARED_H
#define GLS_VIEW_SCENE_SHARED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "view/messages.h"

/* Largest number of changes that can be undone. */
#define GLS_VIEW_CHANGES 100

/* The states of the scene, each the message of a page that made it. All zero: there is no scene yet. */
typedef struct gls_view_shared {
    char *state[GLS_VIEW_CHANGES + 1]; /* owned; the oldest first */
    size_t n, at;                      /* states; index of that of now */
    uint64_t version;                  /* grows with each change */
    const void *by;                    /* page that made the last change, as a name alone; NULL: none that is open */
} gls_view_shared;

/* Takes the state of a request SCENE, whose message this is, from a page, if it changes that of now; else returns
 * GLS_OK, and leaves the version as it is: another page was faster. A state after that of now is forgotten. */
gls_status gls_view_shared_take(gls_view_shared *shared, const gls_view_request *request, const char *message,
                                const void *page);
/* Goes to the state before or after that of now, if there is one, for a request UNDO that knew the state of now. */
void gls_view_shared_undo(gls_view_shared *shared, const gls_view_request *request);
/* Appends the answer to request number id, 0: to none: {"id": 1, "kind": "scene", "writes": true, "taken": true,
 * "version": 7, "past": 6, "future": 0, "message": {"scene": ...}}; past and future: numbers of states; message: of the
 * state of now. writes: whether the page may change it. taken: whether it is what the request has made of it, and no
 * other page has changed it since. */
gls_status gls_view_shared_describe(const gls_view_shared *shared, uint32_t id, bool writes, bool taken, gls_text *out);
/* Frees all states. */
void gls_view_shared_finish(gls_view_shared *shared);

#endif
