/* The bootstrap's field, and its matrices as rows of source. */
#ifndef GLS_TRACK_GETTER_BOOT_PARTS_H
#define GLS_TRACK_GETTER_BOOT_PARTS_H

#include "track/getter/getter.h"
#include "util/text.h"

#endif
