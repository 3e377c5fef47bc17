/* A list of renderers known to compute correctly, and a test for all others. */
#include "gpu/renderers.h"
#include "gpu/drivers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/internal.h"
#include "util/status.h"

/* Renderers known to compute correctly, by parts of their names. tested: glslines has run on the renderer and its
 * results were checked. A renderer on top of another one, like zink on lavapipe, has both in its name. */
static const struct {
    const char *vendor, *renderer; /* NULL: any name */
    bool tested;
} known[] = {
    {NULL, "llvmpipe", true},    {NULL, "zink", true},    {"NVIDIA", "H100", true},
    {"NVIDIA", "H200", true},    {"NVIDIA", NULL, false}, /* NVIDIA's own driver; with nouveau the vendor is Mesa or
                                                             nouveau */
    {"AMD", NULL, false},                                 /* radeonsi; older versions of Mesa do not name it */
    {NULL, "Mesa Intel", false},
};

/* Whether row i of the list describes this renderer. */
static bool matches(const gls_device_info *device, size_t i)
{
    return (!known[i].vendor || strstr(device->vendor, known[i].vendor)) &&
           (!known[i].renderer || strstr(device->renderer, known[i].renderer));
}

bool gls_renderer_is_known(const gls_device_info *device)
{
    const char *asked = getenv("GLSLINES_SELF_TEST");
    bool found = asked && strcmp(asked, "0") == 0;
    for (size_t i = 0; i < sizeof known / sizeof *known && !found; i++) found = matches(device, i);
    return found && !(asked && strcmp(asked, "1") == 0);
}

bool gls_renderer_was_tested(const gls_device_info *device)
{
    bool found = false;
    for (size_t i = 0; i < sizeof known / sizeof *known && !found; i++) found = known[i].tested && matches(device, i);
    return found;
}

/* The C twin of turns() in glsl/device/apart.comp. */
static uint32_t turns(uint32_t at, uint32_t me)
{
    uint32_t sum = 0;
    if (at == 2) return me;
    for (uint32_t k = 0; k < 4 * at && k <= 9; k++)
        if (k != me % 5) sum = 3 * sum + k;
    return sum;
}

uint32_t gls_apart_expected(uint32_t me, uint32_t at)
{
    uint32_t kept[GLS_APART_PLACES], result = turns(at, me);
    for (uint32_t k = 0; k < GLS_APART_PLACES; k++) kept[k] = k;
    kept[at] = 11 + me;
    if (me & 1) kept[(at + 2) % GLS_APART_PLACES] += 101 + me;
    for (uint32_t k = 0; k < GLS_APART_PLACES; k++) result = 31 * result + kept[k];
    return result;
}

/* Runs the test kernel. *apart: whether every invocation got the result that it would get alone. */
static gls_status run_together(gls_device *device, bool *apart)
{
    uint32_t word[GLS_APART_INVOCATIONS], expected[GLS_APART_INVOCATIONS];
    for (uint32_t i = 0; i < GLS_APART_INVOCATIONS; i++) {
        word[i] = (7 * i + i / 4) % GLS_APART_PLACES;
        expected[i] = gls_apart_expected(i, word[i]);
    }
    char invocations[12], places[12];
    snprintf(invocations, sizeof invocations, "%d", GLS_APART_INVOCATIONS);
    snprintf(places, sizeof places, "%d", GLS_APART_PLACES);
    const gls_define defines[] = {{"INVOCATIONS", invocations, false, NULL}, {"WORDS", places, false, NULL}};
    gls_kernel *kernel = NULL;
    gls_buffer *buffer = NULL;
    gls_status status = gls_kernel_load(device, "device/apart.comp", defines, 2, &kernel);
    if (!status) status = gls_buffer_create(device, GLS_BUFFER_STORAGE, sizeof word, "words", &buffer);
    if (!status) status = gls_buffer_write(buffer, 0, sizeof word, word);
    if (!status) {
        const gls_arg words = gls_arg_buffer(0, buffer);
        status = gls_kernel_run(kernel, (const uint32_t[3]){1, 1, 1}, &words, 1, NULL);
    }
    if (!status) status = gls_buffer_read(buffer, 0, sizeof word, word);
    gls_buffer_destroy(buffer);
    gls_kernel_destroy(kernel);
    *apart = !status && memcmp(word, expected, sizeof word) == 0;
    return status;
}

void gls_renderer_try(gls_device *device)
{
    gls_device_info *info = &device->info;
    if (!info->apart || gls_renderer_is_known(info)) return;
    const gls_status status = run_together(device, &info->apart);
    if (status) gls_log(GLS_LOG_DEBUG, "%s: %s", info->renderer, gls_last_error());
}
