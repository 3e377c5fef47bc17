/* Devices that weigh streamlines, opened while the FODs are read. */
#ifndef GLS_WORKFLOW_WEIGHT_DEVICES_H
#define GLS_WORKFLOW_WEIGHT_DEVICES_H

#include <pthread.h>

#include <glslines/weights.h>
#include <glslines/workflow.h>

#include "workflow/devices.h"

typedef struct gls_weight_devices {
    gls_device_set set; /* after the end: none: the CPU */
    const char *name;
    int n;
    gls_graphics api;
    gls_weights_method method;
    bool running;
    pthread_t thread;
    gls_status status;
    char message[1024];
} gls_weight_devices;

/* Begins to open the devices that these options name, and to load the kernels of the method. name is borrowed. The CPU
 * takes the place of a software renderer that nobody asked for. */
void gls_weight_devices_begin(gls_weight_devices *devices, const char *name, int n, gls_graphics api,
                              gls_weights_method method);
/* Waits for it. To be called once behind each begin; the set is to be closed. */
gls_status gls_weight_devices_end(gls_weight_devices *devices);

#endif
