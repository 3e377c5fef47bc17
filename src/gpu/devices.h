/* The devices of a run, and work that they do at the same time. */
#ifndef GLS_GPU_DEVICES_H
#define GLS_GPU_DEVICES_H

#include <glslines/device.h>
#include <glslines/track.h>

/* The open devices of a run; close them by gls_device_set_close(). */
typedef struct gls_device_set {
    gls_device *device[GLS_TRACKER_MAX_DEVICES];
    size_t n;
} gls_device_set;

/* Number of names in a list. Only a comma without a blank after it separates names, because names of renderers contain
 * commas with blanks. */
size_t gls_device_set_count(const char *names);
/* GLS_ERR_ARGUMENT: the list has an empty name, or more names than a run takes devices. Opens no device. */
gls_status gls_device_names_check(const char *names);
/* The same for work that "cpu" does without a device: refuses, too, n > 1 and an api beside it. */
gls_status gls_device_gpus_check(const char *names, size_t n, gls_graphics api);
/* Opens the devices in the list, or n devices of the one name in it (see gls_device_open_several()), and logs them.
 * Close with gls_device_set_close(). */
gls_status gls_device_set_open(gls_device_set *set, const char *names, size_t n, gls_graphics api);
/* The same for work that the CPU does faster than a software renderer: with "cpu", and with "auto" without a GPU, opens
 * none and logs on_cpu. */
gls_status gls_device_set_open_gpus(gls_device_set *set, const char *names, size_t n, gls_graphics api,
                                    const char *on_cpu);
/* Closes all devices of the set. Accepts an empty set. */
void gls_device_set_close(gls_device_set *set);

/* --- Work of several devices at the same time, each on its own thread; one device works on the calling thread. */

typedef struct gls_device_team gls_device_team;

#endif
