/* Any bytes as a message of the page of `glslines view`: an error that fits into the reason of a closed WebSocket, or a
 * request within its limits, never a crash. */
#include "view/messages.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "util/text.h"

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    gls_view_request request;
    char *text = malloc(bytes + 1);
    if (!text) return 0;
    memcpy(text, data, bytes);
    text[bytes] = 0;
    if (fuzz_ok(gls_view_request_read(text, bytes, &request))) {
        if ((request.kind == GLS_VIEW_TRACK || request.tracks) &&
            (request.nseeds < 1 || request.nseeds > GLS_VIEW_SEEDS || !(request.sphere[3] > 0) != (request.mask > 0)))
            abort();
        for (int k = 0; k < GLS_VIEW_CONTROLS; k++)
            for (const char *c = request.controls.value[k]; *c; c++)
                if (*c <= ' ' || *c > '~' || c - request.controls.value[k] >= GLS_VIEW_CONTROL - 1) abort();
        for (size_t i = 0; i < request.n_regions; i++)
            if ((request.region[i].role == GLS_REGION_STOP_AT) != (request.kind == GLS_VIEW_TRACK || request.tracks))
                abort();
        if (request.kind == GLS_VIEW_PAINT &&
            (request.n_points < 1 || request.n_points > GLS_VIEW_PLACES || request.plane < -1 || request.plane > 2 ||
             !(request.radius >= 0 && request.radius <= GLS_VIEW_BRUSH) || isnan(request.low) || isnan(request.high)))
            abort();
        for (size_t i = 0; i < request.n_points; i++)
            for (int a = 0; a < 3; a++)
                if (!(fabs(request.point[i][a]) <= GLS_VIEW_PLACE)) abort();
        for (int i = 0; i < 4; i++)
            if (!(fabs(request.sphere[i]) <= GLS_VIEW_PLACE)) abort();
        if (!(request.page_seconds >= 0 && request.page_seconds <= (request.preview ? GLS_VIEW_PAGE : 0))) abort();
        if (request.shown > GLS_VIEW_SHOWN || request.n_regions > GLS_VIEW_ALL_REGIONS) abort();
        if (request.n_bundles > GLS_VIEW_BUNDLES || (request.kind == GLS_VIEW_SAVE) != (request.name[0] != 0)) abort();
        const gls_view_criteria *c = &request.criteria;
        if (c->n_groups + c->n_not_groups > GLS_VIEW_GROUPS || !(c->min_length >= 0) || isnan(c->max_length) ||
            !(c->min_value <= c->max_value) || c->column[0] == '\n' || isnan(c->min_value))
            abort();
        for (size_t k = 0; k < c->n_groups + c->n_not_groups; k++)
            if (!c->group[k][0] || strpbrk(c->group[k], "\t\r\n")) abort();
        for (size_t i = 0; i < request.n_regions; i++)
            for (int k = 0; k < 6; k++)
                if (!(fabs(request.region[i].number[k]) <= GLS_VIEW_PLACE + GLS_VIEW_RADIUS)) abort();
        for (size_t k = 0; k < request.n_bundles; k++) {
            if (request.end[k] > request.n_regions || request.end[k] < (k > 0 ? request.end[k - 1] : 0)) abort();
            if (request.kind == GLS_VIEW_SAVE && strspn(request.bundle[k], LETTERS) != strlen(request.bundle[k]))
                abort();
        }
        if (strspn(request.name, LETTERS) != strlen(request.name)) abort();
        if (request.judgement > GLS_VIEW_BAD || strpbrk(request.note, "\t\r\n")) abort();
        for (size_t i = 0, n; request.note[i]; i += n)
            if (!(n = gls_utf8_bytes(request.note + i))) abort();
    } else if (strlen(gls_last_error()) > 123) {
        abort();
    }
    free(text);
    return 0;
}
