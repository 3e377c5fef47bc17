/* Reads the value of --orient: the direction in which streamlines shall run. */

#include <stdlib.h>
#include <string.h>

#include "tools/orient.h"
#include "image/region_area.h"
#include "image/region_store_parts.h"
#include "record/tract_run.h"
#include "tractogram/tractogram.h"
#include "util/status.h"

/* Whether the text is x, y or z. */
static bool is_axis(const char *text)
{
    return strlen(text) == 1 && strchr("xyz", *text);
}

const char *gls_tract_orient_file(const char *text)
{
    return text && !is_axis(text) ? text : NULL;
}

/* Reads a region and stores its centre, world mm. */
static gls_status read_centre(const char *text, double centre[3])
{
    gls_region_area area;
    gls_status status = gls_region_area_read("orient", text, &area);
    if (!status) gls_region_area_centre(&area, centre);
    gls_region_area_finish(&area);
    return status;
}

gls_status gls_tract_orient_read(gls_tract_orient *o, const gls_tract_run *run, const char *text)
{
    *o = (gls_tract_orient){.line = NULL};
    if (!text) return GLS_OK;
    if (is_axis(text)) {
        o->orientation.axis = *text - 'x' + 1;
        return GLS_OK;
    }
    /* a region: streamlines shall start near its centre */
    if (!gls_tractogram_is_name(text)) {
        gls_status status = read_centre(text, o->centre);
        o->orientation.centre = o->centre;
        return status;
    }
    /* a tractogram: its first streamline is the model */
    gls_tractogram_reader *reader = NULL;
    gls_streamlines first;
    gls_status status = gls_tract_open(run, text, false, &reader);
    if (!status) status = gls_tractogram_reader_next(reader, &first);
    if (!status && (first.n == 0 || first.offset[1] == 0))
        status = gls_fail(GLS_ERR_INPUT, "--orient %s: this file must begin with a streamline that has points", text);
    if (!status) {
        o->orientation.n_line = (size_t)first.offset[1];
        o->line = malloc(o->orientation.n_line * sizeof *o->line);
        if (!o->line) status = gls_no_memory();
    }
    if (!status) memcpy(o->line, first.point, o->orientation.n_line * sizeof *o->line);
    o->orientation.line = (const float(*)[3])o->line;
    gls_tractogram_reader_close(reader);
    return status;
}

void gls_tract_orient_finish(gls_tract_orient *o)
{
    free(o->line);
    o->line = NULL;
}
