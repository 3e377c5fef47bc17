/* A report: its contents, its page, and what to cite. */
#ifndef GLS_RENDER_REPORT_PARTS_H
#define GLS_RENDER_REPORT_PARTS_H

#include <cJSON.h>

#include <glslines/common.h>
#include <glslines/density.h>
#include <glslines/report.h>
#include <glslines/summary.h>

#include "record/run.h"
#include "render/drawing.h"
#include "render/scene.h"
#include "util/text.h"

/* --- The page: embedded parts, and text that is safe in HTML. */

/* A file that was embedded at build time. */
typedef struct gls_page_file {
    const char *name, *text; /* NULL ends the list */
} gls_page_file;
extern const gls_page_file gls_page_files[];

/* Text of the embedded file of this name; NULL: there is none. */
const char *gls_page_part(const char *name);

/* Appends text as HTML: escapes HTML's special characters, and what gls_escape() escapes. Line ends and tabs stay. */
void gls_html_puts(gls_text *out, const char *text);
/* Appends a number: "1,234", "12.35"; "-" if it is not finite. */
void gls_text_number(gls_text *out, double v);
/* Appends JSON for a script element: '<' becomes \u003c; bytes that are not UTF-8, and control characters other than
 * line ends and tabs, become '?'. */
void gls_html_json(gls_text *out, const char *json);
/* Appends bytes in base64. */
void gls_html_base64(gls_text *out, const void *data, size_t bytes);
/* Appends bytes as the page's script reads them: compressed by deflate, then in base64. */
gls_status gls_html_packed(gls_text *out, const void *data, size_t bytes);

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

/* Pictures of a report: from three sides, axial slabs, density. */
enum { GLS_PICTURE_VIEWS, GLS_PICTURE_SLABS, GLS_PICTURE_DENSITY, GLS_N_PICTURES };

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
    cJSON *sidecar;          /* NULL: none */
    bool describes_tracking; /* true: the sidecar is of a tracking run, not of another command */
    char *image;             /* path of the image behind the streamlines; NULL: none */
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
    char *no_pictures; /* reason why there are no pictures; NULL: there are */
} gls_report;

/* Value in the sidecar at a path of keys such as "counts/seeds"; NULL: none. */
const cJSON *gls_report_get(const gls_report *report, const char *path);
/* Number in the sidecar at a path of keys; NAN: none. */
double gls_report_number(const gls_report *report, const char *path);
/* Text in the sidecar at a path of keys; NULL: none. */
const char *gls_report_text(const gls_report *report, const char *path);

/* Appends a paragraph saying that `what` is unknown, because there is no sidecar or the sidecar lacks it. */
void gls_report_missing(const gls_report *report, gls_text *out, const char *what);

/* --- Sections of the page. */

/* A section of the page. Its function appends the HTML of the section. Where the report lacks the data, it appends a
 * sentence that says so, or nothing. */
typedef struct gls_report_section {
    const char *name; /* name of the section in the template of the page; NULL ends a list */
    void (*put)(const gls_report *report, gls_text *out);
} gls_report_section;
/* Sections of text and tables, sections with plots, and the data of the 3-D view that the script of the page reads. */
extern const gls_report_section gls_report_tables[], gls_report_plots[], gls_report_data[];

/* Appends the connectome as a matrix, as a circle and as a table. */
void gls_report_connectome(const gls_report *report, gls_text *out);
/* Appends a paragraph for a paper: what was done, with which parameters, by which methods; and its BibTeX. */
void gls_report_methods(const gls_report *report, gls_text *out);
/* Stores a canvas in *picture as the bytes of a PNG file. */
gls_status gls_report_encode(const gls_canvas *canvas, gls_report_picture *picture);
/* Appends a picture with its caption as a figure. */
void gls_report_append_picture(const gls_report_picture *p, const char *caption, gls_text *out);
/* Reads the connectome of the report, if there is one. If `input` has the name of a matrix, reads it; GLS_ERR_INPUT: it
 * is no matrix. Else reads the matrix that the run wrote, and only warns if it is faulty. */
gls_status gls_report_find_matrix(gls_report *report, const char *input);
/* Whether a file has the name of a matrix: .csv, .tsv or .txt. */
bool gls_report_is_matrix(const char *path);
/* Frees the matrix and its names. */
void gls_report_matrix_finish(gls_report_matrix *matrix);
/* Histogram of lengths in bins of equal width from 0. Returns the number of bins, at most 40; 0 without streamlines. */
size_t gls_report_bins(const gls_report *report, double *width, uint64_t bins[40]);

/* Draws the pictures of the tractogram, and keeps the streamlines of the 3-D view. */
gls_status gls_report_draw(gls_report *report);
/* Writes the files that the options name: those for MultiQC, and the one with the versions of program and libraries. */
gls_status gls_report_add_files(gls_report *report);
/* Name of a report, from malloc: the input's name with .html in place of its suffix. */
char *gls_report_name(const char *input);

#endif
