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

/* Appends text with HTML's special characters escaped, and with the escapes of gls_escape() except for line ends. */
void gls_html_puts(gls_text *out, const char *text);
/* Appends a number: "1,234", "12.35"; "-" if it is not finite. */
void gls_text_number(gls_text *out, double v);
/* Appends JSON for a script element: '<' becomes \u003c; control characters and bytes that are not UTF-8 become '?'. */
void gls_html_json(gls_text *out, const char *json);
/* Appends bytes in base64. */
void gls_html_base64(gls_text *out, const void *data, size_t bytes);

/* --- Contents of a report. */

/* A picture in the page. */
typedef struct gls_report_picture {
    /* the file, `bytes` bytes, owned */
    uint8_t *png;
    /* size of `png` */
    size_t bytes;
    /* pixels */
    uint32_t width, height;
    /* text in place of the picture, for readers of screens */
    char *alt;
} gls_report_picture;

/* Pictures of a report: from three sides, axial slabs, density. */
enum { GLS_PICTURE_VIEWS, GLS_PICTURE_SLABS, GLS_PICTURE_DENSITY, GLS_N_PICTURES };

/* A connectome: n rows and columns. All zero: none. */
typedef struct gls_report_matrix {
    /* file of the matrix, for messages; owned */
    char *path;
    /* number of rows and of columns */
    size_t n;
    double *cell; /* row after row; NAN: no number */
    char **name;  /* name of each row */
} gls_report_matrix;

/* State of making a report. */
typedef struct gls_report {
    /* borrowed */
    const gls_report_options *options;
    char *name;         /* name of the tractogram without folder and suffix */
    char *tractogram;   /* path of the tractogram; NULL: none */
    char *sidecar_path; /* NULL: none */
    /* text of the sidecar, as the page shows it */
    char *sidecar_text;
    cJSON *sidecar;          /* NULL: none */
    bool describes_tracking; /* true: the sidecar is that of a tracking run, not of another command */
    char *image;             /* background image; NULL: none */
    const gls_image *behind; /* image or density map that is drawn behind the streamlines, borrowed; NULL: none */
    gls_image *image_read;   /* the image behind the streamlines, if the report owns it */
    bool has_image;          /* true: an image lies behind the streamlines, not their density */
    /* the connectome; n = 0: there is none */
    gls_report_matrix matrix;
    /* inputs, outputs and warnings of the command */
    gls_run run;
    /* Members about the tractogram, if there is one. */
    gls_summary *summary;
    /* result of `summary`, borrowed; NULL: there is no tractogram */
    const gls_summary_result *counted;
    float *length; /* length of each streamline, mm */
    size_t n_lengths, length_room;
    /* true: the tractogram or the sidecar states the grid, which the density needs */
    bool has_grid;
    /* valid if has_grid */
    gls_grid grid;
    /* map of streamlines on this grid; NULL: none */
    gls_density *density;
    gls_scene scene; /* streamlines of the 3-D view */
    gls_report_picture picture[GLS_N_PICTURES];
    char *no_pictures; /* reason why there are no pictures */
} gls_report;

/* Checks that a file may be written to `path`, and adds it, with these bytes, to the output group of the run. */
gls_status gls_report_add_file(gls_report *report, const char *path, const void *data, size_t bytes);

/* Value in the sidecar at a path of keys such as "counts/seeds"; NULL: none. */
const cJSON *gls_report_get(const gls_report *report, const char *path);
/* Number in the sidecar at a path of keys; NAN: none. */
double gls_report_number(const gls_report *report, const char *path);
/* Text in the sidecar at a path of keys; NULL: none. */
const char *gls_report_text(const gls_report *report, const char *path);

/* Appends a paragraph saying that `what` is unknown, because there is no sidecar or it is not of tracking. */
void gls_report_missing(const gls_report *report, gls_text *out, const char *what);

/* --- Sections of the page. Each function appends its HTML; nothing, or a sentence that says why, where the report
 * lacks the data. */

/* One line that says whether there is a sidecar and whether there were warnings, and the main numbers in boxes. */
void gls_report_summary(const gls_report *report, gls_text *out);
/* Warnings of the run and of the report. */
void gls_report_warnings(const gls_report *report, gls_text *out);
/* Streamlines from three sides and in slabs. */
void gls_report_pictures(const gls_report *report, gls_text *out);
/* Histogram of the lengths of streamlines, mm. */
void gls_report_lengths(const gls_report *report, gls_text *out);
/* Why half-streamlines ended and streamlines were rejected. */
void gls_report_ends(const gls_report *report, gls_text *out);
/* The density map from three sides. */
void gls_report_density(const gls_report *report, gls_text *out);
/* The connectome as a matrix, as a circle and as a table. */
void gls_report_connectome(const gls_report *report, gls_text *out);
/* Shells and directions of the gradient table. */
void gls_report_gradients(const gls_report *report, gls_text *out);
/* Parameters that were given, and those that kept their defaults. */
void gls_report_parameters(const gls_report *report, gls_text *out);
/* Times of the phases of the run, and of its devices. */
void gls_report_time(const gls_report *report, gls_text *out);
/* Command line, version, inputs and outputs with their sizes. */
void gls_report_provenance(const gls_report *report, gls_text *out);
/* A paragraph for a paper: what was done, with which parameters, by which methods. */
void gls_report_methods(const gls_report *report, gls_text *out);
/* Makes a PNG file of a canvas. */
gls_status gls_report_encode(const gls_canvas *canvas, gls_report_picture *picture);
/* Appends a picture with its caption as a figure. */
void gls_report_append_picture(const gls_report_picture *p, const char *caption, gls_text *out);
/* Appends bytes as the page's script reads them: compressed by deflate, then in base64. */
gls_status gls_html_packed(gls_text *out, const void *data, size_t bytes);
/* Appends the streamlines of the 3-D view, compressed. */
gls_status gls_report_lines(const gls_report *report, gls_text *out);
/* Reads the connectome of the report, if it has one: `input` itself, or what the run wrote. GLS_ERR_INPUT: input is no
 * matrix. */
gls_status gls_report_find_matrix(gls_report *report, const char *input);
/* Whether a file has the name of a matrix: .csv, .tsv or .txt. */
bool gls_report_is_matrix(const char *path);
/* Frees the matrix and its names. */
void gls_report_matrix_finish(gls_report_matrix *matrix);
/* Appends the columns and groups of the streamlines of the 3-D view as a JSON array. */
void gls_report_columns(const gls_report *report, gls_text *out);
/* Histogram of lengths in bins of equal width from 0. Returns the number of bins, at most 40; 0 without streamlines. */
size_t gls_report_bins(const gls_report *report, double *width, uint64_t bins[40]);

/* Draws the pictures of the tractogram, and keeps the streamlines of the 3-D view. */
gls_status gls_report_draw(gls_report *report);
/* Adds the file of versions of program and libraries, for pipelines. */
gls_status gls_report_versions(gls_report *report);
/* Adds the files for MultiQC. */
gls_status gls_report_mqc(gls_report *report);
/* Name of a report: the input's name with .html in place of its suffix, from malloc. */
char *gls_report_name(const char *input);

/* --- Citations: the program and the papers of a run's methods. Entries are in page/report.bib. */

/* Largest number of papers of a run. */
enum { GLS_CITE_MAX = 20 };

/* Lists the keys of the papers for a run with this sidecar, at most GLS_CITE_MAX. NULL: the papers of all methods.
 * Returns their number. */
size_t gls_cite_keys(const cJSON *sidecar, const char *key[GLS_CITE_MAX]);
/* Appends BibTeX of this version of the program and of n papers. */
void gls_cite_bibtex(gls_text *out, const char *version, const char *const *key, size_t n);
/* Forms of citations: text for people, BibTeX, CITATION.cff. */
typedef enum gls_cite_format { GLS_CITE_TEXT, GLS_CITE_BIBTEX, GLS_CITE_CFF } gls_cite_format;
/* Citations for a run, given its tractogram or sidecar; path NULL: for all methods. GLS_CITE_CFF: only the program.
 * *text comes from malloc. Errors as of gls_sidecar_read(). */
gls_status gls_cite(const char *path, gls_cite_format format, char **text);

#endif
