/* Any bytes as a message of the page of `glslines view`: an error that fits into the reason of a closed WebSocket, or a
 * request within its limits, never a crash. */
#include "view/messages.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    gls_view_request request;
    char *text = malloc(bytes + 1);
    if (!text) return 0;
    memcpy(text, data, bytes);
    text[bytes] = 0;
    if (fuzz_ok(gls_view_request_read(text, bytes, &request))) {
        if (request.nseeds < 1 || request.nseeds > GLS_VIEW_SEEDS || !(request.sphere[3] > 0)) abort();
        for (int i = 0; i < 4; i++)
            if (!(fabs(request.sphere[i]) <= GLS_VIEW_PLACE)) abort();
    } else if (strlen(gls_last_error()) > 123) {
        abort();
    }
    free(text);
    return 0;
}
