/* The table of sinks, and the functions of a run that go over all wanted sinks. */
#ifndef GLS_SINKS_SINK_TABLE_H
#define GLS_SINKS_SINK_TABLE_H

#include <glslines/common.h>
#include <glslines/image.h>
#include <glslines/streamlines.h>
#include <glslines/tractogram.h>

#include "sinks/sinks.h"

struct cJSON;

/* Calls take() of every kind. Call gls_sinks_finish() also after a failure. */
gls_status gls_sinks_take(gls_run_sinks *sinks);
/* Adds the files that sinks read to the inputs of the run. */
gls_status gls_sinks_name_inputs(gls_run_sinks *sinks);
/* Calls prepare(), then adds the files that rules name to the inputs. Leaves out sinks whose input is awaited, and
 * those that are prepared already: call it again when the input is there. */
gls_status gls_sinks_prepare(gls_run_sinks *sinks);
/* Sets *hash to a hash of the inputs and of choice() of the sinks that have inputs; 0: no sink has inputs. */
gls_status gls_sinks_hash(const gls_run_sinks *sinks, uint64_t *hash);
/* Calls begin(). */
gls_status gls_sinks_begin(gls_run_sinks *sinks);
/* Replaces *tractogram by a sink that passes streamlines to the old *tractogram, unless that is empty, and to all
 * results. */
gls_status gls_sinks_open(gls_run_sinks *sinks, gls_sink *tractogram);
/* Whether any sink reads more than the two ends of streamlines. tracked: as in needs_points(). */
bool gls_sinks_need_points(const gls_run_sinks *sinks, const gls_grid *tracked);
/* Calls complete(). writer: that of the tractogram; NULL: there is none. */
gls_status gls_sinks_complete(gls_run_sinks *sinks, gls_tractogram_writer *writer);
/* Calls write(). */
gls_status gls_sinks_write(gls_run_sinks *sinks);
/* Calls describe(). */
void gls_sinks_describe(const gls_run_sinks *sinks, struct cJSON *root);
/* Frees all sinks. May be called at any time after gls_sinks_take(). */
void gls_sinks_finish(gls_run_sinks *sinks);

#endif
