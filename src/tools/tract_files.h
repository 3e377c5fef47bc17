/* Functions for all commands on tractograms. They read weights, tables, track scalars, assignments and colour tables
 * from files beside a tractogram, parse --orient, write a tractogram with its columns, and read several tractograms as
 * one stream. */
#ifndef GLS_TOOLS_TRACT_FILES_H
#define GLS_TOOLS_TRACT_FILES_H

#include <glslines/common.h>
#include <glslines/filters.h>
#include <glslines/select.h>
#include <glslines/streamlines.h>

#include "record/tract_run.h"

/* --- Pairs of labels that streamlines join, from a file of assignments. Used to select streamlines, and to make
 * groups. */

/* Largest number of groups that --edges-to-groups may make. */
#define GLS_MAX_EDGES 65535

#endif
