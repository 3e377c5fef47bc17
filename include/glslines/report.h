/* A report on a tractogram as one HTML file: pictures, plots, a 3-D view, warnings and how it was made. The file asks
 * nothing of any network, and works without scripts but for the 3-D view. */
#ifndef GLSLINES_REPORT_H
#define GLSLINES_REPORT_H

#include <glslines/tractogram.h>
#include <glslines/workflow.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Texts are borrowed during gls_report_files(). */
typedef struct gls_report_options {
    size_t size;              /* of this struct; set by gls_report_options_default() */
    const char *output;       /* default NULL: the input's name with .html */
    const char *image;        /* behind streamlines in pictures; default NULL: the stop map that the sidecar names */
    const char *mqc;          /* folder for the files of MultiQC; default NULL: none */
    uint64_t max_streamlines; /* drawn and in the 3-D view, 1 .. 100000; default 5000 */
    bool no_view;             /* without the 3-D view; default false */
    gls_tractogram_read_options read;
    const char *device; /* that draws; default "auto" */
    gls_graphics api;
    bool (*go_on)(void);         /* asked now and then; false: GLS_ERR_CANCELLED; default NULL: not asked */
    bool force;                  /* overwrite; default false */
    const char *versions;        /* file for the versions of program and libraries, YAML; default NULL: none */
    const gls_image *image_data; /* where there is no image: behind streamlines in pictures; default NULL */
} gls_report_options;
GLS_API gls_report_options gls_report_options_default(void);

typedef struct gls_report_result {
    uint64_t bytes;       /* of the report */
    uint64_t streamlines; /* of the tractogram; 0 without it */
    size_t warnings;      /* of the run, and of the report itself */
} gls_report_result;

/* input: a tractogram, or a sidecar of `glslines track`; each finds the other, and either may be missing. Pictures that
 * cannot be drawn are left out, and the report says why. *output (may be NULL) gets the name of the file, to be freed
 * with gls_free(). GLS_ERR_INPUT: a sidecar that is damaged or of another program; GLS_ERR_UNSUPPORTED: of a newer
 * version. */
GLS_API gls_status gls_report_files(const char *input, const gls_report_options *options, char **output,
                                    gls_report_result *result);

#ifdef __cplusplus
}
#endif
#endif
