/* Options and words of other programs, and what stands for them here: whoever types one out of habit is told. */
#ifndef GLS_OPTIONS_BRIDGE_H
#define GLS_OPTIONS_BRIDGE_H

#include "options/options.h"

/* Of `glslines track` and `fit`. */
extern const cmd_hints cmd_bridge;

#endif
