/* Anatomies that are kept in a folder, for runs that have the same files. */
#ifndef GLS_ANAT_ANAT_KEPT_H
#define GLS_ANAT_ANAT_KEPT_H

#include "anat/anat_files.h"

/* Names the files of the anatomy of these sources, whose contents name a folder in `folder`, or if it is NULL in the
 * user's cache folder. *kept: they are there as they were written. GLS_ERR_OUTPUT: the user has no cache folder. Call
 * gls_anat_names_finish() also after a failure. */
gls_status gls_anat_find(const gls_anat_sources *sources, const char *folder, gls_anat_names *names, bool *kept);
/* Makes the files, and names them as gls_anat_find() does. how: device and go_on. */
gls_status gls_anat_keep(const gls_anat_sources *sources, const gls_anat_inputs *how, const char *folder,
                         gls_anat_names *names);

#endif
