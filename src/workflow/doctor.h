/* Diagnosis of a machine on which no device, or not the right one, is found. */
#ifndef GLS_WORKFLOW_DOCTOR_H
#define GLS_WORKFLOW_DOCTOR_H

#include <glslines/device.h>

struct cJSON;

/* A gls_device_finding; user is the report, a JSON object. */
void gls_doctor_finding(void *user, bool usable, const char *line);
/* Adds to the report what the system has, which devices glslines was tested on, what is missing and how to fix it. */
void gls_doctor_examine(struct cJSON *report, const gls_device_info *list, size_t n_devices);
/* The report in words: what was looked for; the rest. From malloc, NULL: out of memory. */
char *gls_doctor_search_text(const struct cJSON *report);
char *gls_doctor_text(const struct cJSON *report);

#endif
