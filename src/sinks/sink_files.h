/* Functions that kinds of sinks share: names of files in the values of options, names of options, and the point of a
 * streamline that is nearest to its seed. */
#ifndef GLS_SINKS_SINK_FILES_H
#define GLS_SINKS_SINK_FILES_H

#include <glslines/common.h>
#include <glslines/streamlines.h>

#include "sinks/sinks.h"

/* Names the output of the sink. text: the name, with \: and \, as in gls_sink_reads(). In a shard, the name gets the
 * mark of the shard, such as _shard-1of3. */
gls_status gls_sink_writes(gls_run_sink *sink, const gls_run_sinks *sinks, const char *text);
/* Names the input and the output of the sink from "A:B". form: what the two names are, as "LABELS:FILE", for the
 * message. GLS_ERR_ARGUMENT: a name or the colon is missing. */
gls_status gls_sink_takes_pair(gls_run_sink *sink, const gls_run_sinks *sinks, const char *text, const char *form);
/* The name of the sink's option without dashes: its role with - for _. Returns name. */
const char *gls_sink_option(const gls_run_sink *sink, char name[64]);
/* Names the images IMAGE,IMAGE,... as inputs. GLS_ERR_ARGUMENT: an empty name, or more than GLS_SINK_MAX_IMAGES. */
gls_status gls_sink_reads_images(gls_run_sink *sink, const char *text, size_t length);
/* Refuses --select with --shard, for a result that is summed over all streamlines of each shard. */
gls_status gls_sink_check_select(const gls_run_sink *sink, const gls_run_sinks *sinks);
/* Index in s->point of the point of streamline i that is nearest to the seed, which itself may have been left out. */
uint64_t gls_seed_point(const gls_streamlines *s, size_t i, const float seed[3]);
/* The sink of this kind; NULL if it is not wanted. */
gls_run_sink *gls_sink_find(gls_run_sinks *sinks, const gls_sink_kind *kind);

#endif
