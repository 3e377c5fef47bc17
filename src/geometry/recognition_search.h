/* Recognition by a search for the models near each streamline. */
#ifndef GLS_GEOMETRY_RECOGNITION_SEARCH_H
#define GLS_GEOMETRY_RECOGNITION_SEARCH_H

#include "geometry/recognition_parts.h"

/* Moves each model to the clusters near it, and sorts the streamlines of all into cells. */
gls_status gls_recognition_place(gls_recognition *recognition);
/* Finds the nearest streamline of each model that is near enough to streamline i: worker->near and nearest. */
void gls_recognition_look(const gls_recognition *recognition, gls_worker *worker, size_t i);

#endif
