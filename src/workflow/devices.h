/* The devices of a run, and the diagnosis if no usable device is found. */
#ifndef GLS_WORKFLOW_DEVICES_H
#define GLS_WORKFLOW_DEVICES_H

#include <glslines/device.h>
#include <glslines/workflow.h>

/* --- Opening the devices of --device, --ngpus and --api. */

/* The open devices of a run; close them by gls_device_set_close(). */
typedef struct gls_device_set {
    /* the first n are open */
    gls_device *device[GLS_TRACKER_MAX_DEVICES];
    /* number of devices; 0: none */
    size_t n;
} gls_device_set;

/* Number of names in a list. Only a comma without a blank after it separates names, because names of renderers contain
 * commas with blanks. */
size_t gls_device_set_count(const char *names);
/* Opens the devices in the list, or n devices of the one name in it (see gls_device_open_several()), and logs them.
 * Close with gls_device_set_close(). */
gls_status gls_device_set_open(gls_device_set *set, const char *names, size_t n, gls_graphics api);
/* Closes all devices of the set. Accepts an empty set. */
void gls_device_set_close(gls_device_set *set);

/* --- Diagnosis for a machine on which no device, or an unexpected one, is found. */

struct cJSON;

/* Callback of the type gls_device_finding. user: the report, a JSON object. */
void gls_doctor_finding(void *user, bool usable, const char *line);
/* Adds to the report: what the system has, which devices glslines was tested on, what is missing and how to fix it. */
void gls_doctor_examine(struct cJSON *report, const gls_device_info *list, size_t n_devices);
/* The part of the report that says where devices were searched, as text. From malloc; NULL: out of memory. */
char *gls_doctor_search_text(const struct cJSON *report);
/* The rest of the report as text. From malloc; NULL: out of memory. */
char *gls_doctor_text(const struct cJSON *report);

#endif
