/* `glslines info` of images. */
#ifndef GLS_TOOLS_IMAGE_INFO_H
#define GLS_TOOLS_IMAGE_INFO_H

#include <cJSON.h>

#include <glslines/image.h>

#include "util/text.h"

/* Whether the name is that of an image that can be read. */
bool gls_image_is_name(const char *path);
/* Appends what is known of an image to a text and, as an object, to a list. count: the range of its values, too. */
gls_status gls_image_info(const char *path, bool count, gls_text *text, cJSON *list);
/* Appends what is known of a grid to a text. */
void gls_grid_info(gls_text *text, const gls_grid *grid);

#endif
