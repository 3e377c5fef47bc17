/* The diagnosis for a machine on which no device, or an unexpected one, is found. */
#ifndef GLS_CHECK_DOCTOR_H
#define GLS_CHECK_DOCTOR_H

#include <glslines/device.h>

struct cJSON;

/* Callback of the type gls_device_finding. user: the report, a JSON object. */
void gls_doctor_finding(void *user, bool usable, const char *line);
/* Adds to the report: what the system has, which devices glslines was tested on, what is missing and how to fix it. */
void gls_doctor_examine(struct cJSON *report, const gls_device_info *list, size_t n_devices);
/* The part of the report that says where devices were searched, as text. From malloc; NULL: out of memory. */
char *gls_doctor_search_text(const struct cJSON *report);
/* The report as text, without the part of gls_doctor_search_text(). From malloc; NULL: out of memory. */
char *gls_doctor_text(const struct cJSON *report);

#endif
