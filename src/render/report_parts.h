/* A report: its contents, its page, and what to cite. */
#ifndef GLS_RENDER_REPORT_PARTS_H
#define GLS_RENDER_REPORT_PARTS_H

#include <cJSON.h>

#include <glslines/common.h>
#include <glslines/density.h>
#include <glslines/report.h>
#include <glslines/summary.h>

#include "record/run.h"
#include "render/scene_parts.h"
#include "render/studio_parts.h"
#include "util/text.h"
#include "weights/signal_model.h"

/* --- The page: embedded parts, and text that is safe in HTML. */

/* A file that was embedded at build time. */
typedef struct gls_page_file {
    const char *name, *text; /* NULL ends the list */
} gls_page_file;

extern const gls_page_file gls_page_files[];

/* --- Contents of a report. */

/* A picture in the page. */
typedef struct gls_report_picture {
    /* the file, `bytes` bytes, owned */
    uint8_t *png;
    /* size of `png` */
    size_t bytes;
    /* pixels */
    uint32_t width, height;
    /* text in place of the picture, for screen readers */
    char *alt;
} gls_report_picture;

/* Pictures of a report: from three sides, axial slabs, density; bundles, from three sides. */
enum { GLS_PICTURE_VIEWS, GLS_PICTURE_SLABS, GLS_PICTURE_DENSITY, GLS_PICTURE_BUNDLES, GLS_N_PICTURES };

/* A connectome: n rows and columns; n = 0: none. */
typedef struct gls_report_matrix {
    /* file of the matrix, for messages; owned */
    char *path;
    /* number of rows and of columns */
    size_t n;
    double *cell; /* n x n numbers, row by row; NAN: no number */
    char **name;  /* name of each row; NULL: none */
} gls_report_matrix;

/* State of making a report. */
typedef struct gls_report {
    /* borrowed */
    const gls_report_options *options;
    char *name;         /* name of the input without folder and suffix */
    char *tractogram;   /* path of the tractogram; NULL: none */
    char *sidecar_path; /* NULL: none */
    /* text of the sidecar, as the page shows it */
    char *sidecar_text;
    cJSON *sidecar;       /* NULL: none */
    cJSON *anatomy;       /* sidecar of the anatomy that gave the tissue; NULL: none */
    bool of_images;       /* true: the report is one of an anatomy or a registration, without a tractogram */
    char *anatomy_stem;   /* path of its images up to what each is */
    const cJSON *weights; /* counts and model of weights by the signal, borrowed from a sidecar; NULL: none */
    cJSON *weights_read;  /* a sidecar of weights beside that of the tractogram, owned; NULL: none */
    char *weights_map[GLS_SIGNAL_N_MAPS]; /* files of their maps, owned; NULL: not there */
    bool describes_tracking;              /* true: the sidecar is of a tracking run, not of another command */
    char *image;                          /* path of the image behind the streamlines; NULL: none */
    const gls_image *behind; /* image or density map that is drawn behind the streamlines, borrowed; NULL: none */
    gls_image *image_read;   /* owned: the image that the report read to draw it behind the streamlines; NULL: none */
    bool has_image;          /* true: an image lies behind the streamlines, not their density */
    /* the connectome; n = 0: there is none */
    gls_report_matrix matrix;
    /* inputs, outputs and warnings of the command */
    gls_run run;
    /* Members about the tractogram, if there is one. */
    gls_summary *summary;
    /* result of `summary`, borrowed; NULL: there is no tractogram */
    const gls_summary_result *counted;
    float *length; /* lengths of the streamlines with finite points, mm */
    size_t n_lengths, length_room;
    /* true: the tractogram or the sidecar states the grid, which the density needs */
    bool has_grid;
    /* valid if has_grid */
    gls_grid grid;
    /* map of streamlines on this grid; NULL: none */
    gls_density *density;
    gls_scene scene; /* streamlines of the 3-D view */
    gls_report_picture picture[GLS_N_PICTURES];
    bool has_groups;                  /* the tractogram has groups */
    struct gls_report_groups *groups; /* their numbers; NULL: none, or too many groups */
    /* groups of the tractogram with their colours in the picture of bundles, owned; NULL: there is none */
    gls_named_colour *group;
    size_t n_groups;
    char *no_pictures; /* reason why there are no pictures; NULL: there are */
} gls_report;

#endif
