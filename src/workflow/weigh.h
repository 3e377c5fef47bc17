/* Weights of the streamlines of a run of tracking, while it tracks: a sink maps them to fixels, and keeps their ends
 * for a connectome. */
#ifndef GLS_WORKFLOW_WEIGH_H
#define GLS_WORKFLOW_WEIGH_H

#include <glslines/connectome.h>

#include "workflow/devices.h"
#include "workflow/fod.h"
#include "workflow/study_state.h"
#include "workflow/weight_files.h"

typedef struct gls_weigh {
    gls_fod fod;
    gls_weights *weights; /* NULL: none are wanted */
    gls_device *device;   /* that maps beside those that track; NULL: the CPU does */
    bool keeps_ends;
    size_t n, capacity;
    float (*end)[2][3]; /* of each streamline */
    float *alike;       /* 1 for each, where no weights can be computed; else NULL */
} gls_weigh;

/* Whether the options give FODs, where they ask for weights. */
gls_status gls_weigh_check(const gls_job_options *options);
/* Fixels of the FODs that are tracked; step: mm. To be finished whatever comes. */
gls_status gls_weigh_begin(gls_weigh *weigh, const gls_study *study, const gls_job_options *options,
                           const gls_device_set *devices, double step);
/* It stays with the caller. */
gls_sink gls_weigh_sink(gls_weigh *weigh);
/* Streamlines of which no weights can be computed all get 1, with a warning: what was tracked is not lost. */
gls_status gls_weigh_solve(gls_weigh *weigh, const gls_device_set *devices);
/* The weights, one a streamline, once they are solved. */
const float *gls_weigh_get(const gls_weigh *weigh, uint64_t *n);
/* Hands the ends with their weights, the column GLS_DPS_WEIGHTS, to a connectome. */
gls_status gls_weigh_connect(const gls_weigh *weigh, gls_connectome *connectome);
void gls_weigh_finish(gls_weigh *weigh);

#endif
