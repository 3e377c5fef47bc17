/* Diagnosis of a machine on which no device, or not the right one, is found. */
#ifndef GLS_WORKFLOW_DOCTOR_H
#define GLS_WORKFLOW_DOCTOR_H

#include <glslines/device.h>

/* What is missing and how to mend it, with these devices; from malloc, NULL: out of memory. */
char *gls_doctor_text(const gls_device_info *list, size_t n);

#endif
