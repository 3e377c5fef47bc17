/* A report on a tractogram as one HTML file: pictures, plots, a 3-D view, warnings, and how it was made. The file uses
 * no network and, except for the 3-D view, no scripts. */
#ifndef GLSLINES_REPORT_H
#define GLSLINES_REPORT_H

#include <glslines/tractogram.h>
#include <glslines/workflow.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Texts are borrowed during gls_report_files(). */
typedef struct gls_report_options {
    size_t size;        /* size of this struct; set by gls_report_options_default() */
    const char *output; /* default NULL: the input's name with .html */
    const char *image;  /* image behind the streamlines in pictures; default NULL: the stop map that the sidecar names,
                           else the density of the streamlines */
    const char *mqc;    /* folder for the files of MultiQC; default NULL: none */
    uint64_t max_streamlines; /* number of streamlines that are drawn and in the 3-D view, 1 .. 100000; default 5000 */
    bool no_view;             /* leave out the 3-D view; default false */
    gls_tractogram_read_options read; /* how the tractogram is read */
    const char *device;               /* device that draws; default "auto" */
    gls_graphics api;                 /* graphics interface of the device; default GLS_GRAPHICS_AUTO */
    bool (*go_on)(void);         /* called now and then; false: stop with GLS_ERR_CANCELLED; default NULL: not called */
    bool force;                  /* overwrite existing files; default false */
    const char *versions;        /* file for the versions of program and libraries, YAML; default NULL: none */
    const gls_image *image_data; /* image behind the streamlines, used if `image` is NULL; default NULL */
    gls_strings transform; /* FILE[,inverse] each: chain from the streamlines' space to that of image; default none */
} gls_report_options;
GLS_API gls_report_options gls_report_options_default(void);

typedef struct gls_report_result {
    uint64_t bytes;       /* size of the report */
    uint64_t streamlines; /* number of streamlines of the tractogram; 0 without a tractogram */
    size_t warnings;      /* number of warnings of the run and of the report */
} gls_report_result;

/* Writes a report. input: a tractogram, a connectome (.csv), or the sidecar of a run; the report finds the other two
 * beside it, which may be missing. Pictures that cannot be drawn are left out, and the report says why. *output (may be
 * NULL) gets the name of the file, to be freed with gls_free(). GLS_ERR_INPUT: the sidecar is damaged or of another
 * program; GLS_ERR_UNSUPPORTED: it is of a newer version. */
GLS_API gls_status gls_report_files(const char *input, const gls_report_options *options, char **output,
                                    gls_report_result *result);

#ifdef __cplusplus
}
#endif
#endif
