/* Messages between the page of the window and its server. */
#ifndef GLS_VIEW_MESSAGES_H
#define GLS_VIEW_MESSAGES_H

#include <stddef.h>
#include <stdint.h>

#include <glslines/common.h>

#include "render/scene_parts.h"
#include "util/text.h"

/* Largest message of a page, bytes. */
#define GLS_VIEW_MESSAGE 4096
/* Largest number of seeds that a page may ask for. */
#define GLS_VIEW_SEEDS 100000
/* Largest coordinate and radius of a sphere, mm. */
#define GLS_VIEW_PLACE 10000
#define GLS_VIEW_RADIUS 1000

/* The page asks for streamlines from a sphere. */
typedef struct gls_view_request {
    uint32_t id;      /* number that the answer repeats */
    double sphere[4]; /* centre and radius, world mm */
    uint64_t nseeds, seed;
} gls_view_request;

/* Reads a message: {"track": {"id": 1, "sphere": [x, y, z, r], "nseeds": 1000, "seed": 0}}. GLS_ERR_ARGUMENT: it is
 * anything else; the message fits into the reason of a closed WebSocket, 123 bytes. */
gls_status gls_view_request_read(const char *text, size_t bytes, gls_view_request *request);
/* Appends the answer of streamlines: u8 version 1, u8 kind 1, u16 0, u32 id, u32 number of streamlines, little-endian;
 * then gls_stage_lines(). */
gls_status gls_view_answer_lines(uint32_t id, const gls_scene *scene, gls_text *out);
/* Appends the answer that a request failed, as JSON: its number, and why. */
void gls_view_answer_error(uint32_t id, const char *why, gls_text *out);

#endif
