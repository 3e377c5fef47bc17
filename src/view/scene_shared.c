/* The scene that all pages of a server share. The server keeps its states, so that undo goes back over the changes of
 * all pages, and a page that is loaded again finds the scene as it was. A change, undo and redo count only if their
 * page knew the state that they change: of two at once the second one is refused, so that nothing is lost unseen, and
 * no step is taken back twice. */
#include "view/scene_shared.h"

#include <stdlib.h>
#include <string.h>

#include "util/json_text.h"
#include "util/status.h"

/* Forgets the states from number first on. */
static void forget(gls_view_shared *s, size_t first)
{
    for (size_t i = first; i < s->n; i++) free(s->state[i]);
    if (first < s->n) s->n = first;
}

gls_status gls_view_shared_take(gls_view_shared *s, const gls_view_request *request, const char *message,
                                const void *page)
{
    if (request->base != s->version) return GLS_OK;
    /* written anew, since a page may be stricter about JSON than the parser is */
    const char *stopped = NULL;
    cJSON *root = gls_json_parse_whole(message, strlen(message), &stopped);
    char *text = root ? gls_json_print_line(root) : NULL;
    cJSON_Delete(root);
    if (!text) return gls_no_memory();
    forget(s, s->at + 1);
    if (s->n > 0 && request->joins && s->by == page) {
        free(s->state[s->at]);
    } else if (s->n > GLS_VIEW_CHANGES) {
        free(s->state[0]);
        memmove(s->state, s->state + 1, GLS_VIEW_CHANGES * sizeof *s->state);
    } else {
        s->at = s->n++;
    }
    s->state[s->at] = text;
    s->by = page;
    s->version++;
    return GLS_OK;
}

void gls_view_shared_undo(gls_view_shared *s, const gls_view_request *request)
{
    const bool forward = request->forward;
    if (request->base != s->version || (forward ? s->at + 1 >= s->n : s->at == 0)) return;
    s->at = forward ? s->at + 1 : s->at - 1;
    s->by = NULL;
    s->version++;
}

gls_status gls_view_shared_describe(const gls_view_shared *s, uint32_t id, bool writes, bool taken, gls_text *out)
{
    cJSON *root = gls_view_answer_begin(id, "scene");
    gls_json_bool(root, "writes", writes);
    gls_json_bool(root, "taken", taken);
    gls_json_uint(root, "version", s->version);
    gls_json_uint(root, "past", s->at);
    gls_json_uint(root, "future", s->n > 0 ? s->n - 1 - s->at : 0);
    if (s->n > 0) cJSON_AddRawToObject(root, "message", s->state[s->at]);
    return gls_view_answer_end(root, out);
}

void gls_view_shared_finish(gls_view_shared *s)
{
    forget(s, 0);
    *s = (gls_view_shared){.n = 0};
}
