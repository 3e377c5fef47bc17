/* A report: what it tells, its page, and what to cite. */
#ifndef GLS_RENDER_REPORT_PARTS_H
#define GLS_RENDER_REPORT_PARTS_H

#include <cJSON.h>

#include <glslines/common.h>
#include <glslines/density.h>
#include <glslines/report.h>
#include <glslines/summary.h>

#include "render/scene.h"
#include "util/output_file.h"
#include "util/status.h"
#include "util/text.h"
#include "workflow/inputs.h"

/* --- The page of a report: its embedded parts, and text that is safe in HTML. */

typedef struct gls_page_file {
    const char *name, *text; /* NULL at the end of the list */
} gls_page_file;
extern const gls_page_file gls_page_files[];

/* The part of that name. */
const char *gls_page_part(const char *name);
/* The entry of report.bib with that key, from '@' to the last brace; *length is 0 where there is none. */
const char *gls_page_reference(const char *key, size_t *length);

/* Text in which no character means anything to HTML; what gls_escape() escapes is escaped, but for ends of lines. */
void gls_html_puts(gls_text *out, const char *text);
/* JSON between script tags: '<' is written as \u003c, what is no UTF-8 or a control character as '?'. */
void gls_html_json(gls_text *out, const char *json);
void gls_html_base64(gls_text *out, const void *data, size_t bytes);
/* A section of the page: the template with each {{name}} replaced. value() appends what stands for the name. */
void gls_page_fill(gls_text *out, const char *page, void (*value)(void *user, gls_text *out, const char *name),
                   void *user);

/* --- What a report tells, and the sections that tell it. */

/* A picture in the page. */
typedef struct gls_report_picture {
    uint8_t *png;
    size_t bytes;
    uint32_t width, height;
    char *alt;
} gls_report_picture;

enum { GLS_PICTURE_VIEWS, GLS_PICTURE_SLABS, GLS_PICTURE_DENSITY, GLS_N_PICTURES };

typedef struct gls_report {
    const gls_report_options *options;
    char *name;         /* of the tractogram, without folder and suffix */
    char *tractogram;   /* path; NULL: there is none */
    char *sidecar_path; /* NULL: there is none */
    char *sidecar_text;
    cJSON *sidecar;          /* NULL: there is none */
    bool describes_tracking; /* the sidecar is not of another command */
    char *image;             /* NULL: none */
    gls_inputs inputs;
    /* of the tractogram, where there is one */
    gls_summary *summary;
    const gls_summary_result *counted;
    float *length; /* of each streamline, mm */
    size_t n_lengths, length_room;
    bool has_grid;
    gls_grid grid;
    gls_density *density;
    gls_scene scene; /* streamlines of the 3-D view */
    gls_report_picture picture[GLS_N_PICTURES];
    char *no_pictures;      /* why there are none */
    gls_output_group group; /* what is written */
    gls_warnings warnings;  /* of the report itself */
} gls_report;

/* Puts a file into the group, unless it is one of the inputs. */
gls_status gls_report_add_file(gls_report *report, const char *path, const void *data, size_t bytes);

/* The value at a path of keys in the sidecar, e.g. "counts/seeds"; NULL where there is none. */
const cJSON *gls_report_get(const gls_report *report, const char *path);
/* A number there; NAN where there is none. */
double gls_report_number(const gls_report *report, const char *path);
/* A text there; NULL where there is none. */
const char *gls_report_text(const gls_report *report, const char *path);
/* "1,234", "12.3", "-" for NAN. */
void gls_text_number(gls_text *out, double v);

/* Appends a paragraph on what the sidecar would tell if it was there and of tracking. */
void gls_report_missing(const gls_report *report, gls_text *out, const char *what);

/* Each appends the HTML of a section. */
void gls_report_summary(const gls_report *report, gls_text *out);
void gls_report_warnings(const gls_report *report, gls_text *out);
void gls_report_pictures(const gls_report *report, gls_text *out);
void gls_report_view(const gls_report *report, gls_text *out);
void gls_report_lengths(const gls_report *report, gls_text *out);
void gls_report_ends(const gls_report *report, gls_text *out);
void gls_report_density(const gls_report *report, gls_text *out);
void gls_report_gradients(const gls_report *report, gls_text *out);
void gls_report_parameters(const gls_report *report, gls_text *out);
void gls_report_time(const gls_report *report, gls_text *out);
void gls_report_provenance(const gls_report *report, gls_text *out);
void gls_report_methods(const gls_report *report, gls_text *out);
/* The streamlines of the 3-D view, packed and in base64. */
gls_status gls_report_lines(const gls_report *report, gls_text *out);
/* Lengths in bins of equal width from 0: at most 40; returns their number, 0 without streamlines. */
size_t gls_report_bins(const gls_report *report, double *width, uint64_t bins[40]);

/* Pictures of the tractogram; what cannot be drawn is noted in the report. */
gls_status gls_report_draw(gls_report *report);
/* The versions of program and libraries, for pipelines. */
gls_status gls_report_versions(gls_report *report);
/* The files of MultiQC. */
gls_status gls_report_mqc(gls_report *report);
/* The name with .html in place of its suffix, from malloc. */
char *gls_report_name(const char *input);

/* --- What to cite: the program, and the papers of the methods of a run. Entries stand in page/report.bib. */

enum { GLS_CITE_MAX = 16 };

/* Keys of the papers of a run by its sidecar, at most GLS_CITE_MAX; NULL: of all methods. */
size_t gls_cite_keys(const cJSON *sidecar, const char *key[GLS_CITE_MAX]);
/* BibTeX of the program of that version and of the papers. */
void gls_cite_bibtex(gls_text *out, const char *version, const char *const *key, size_t n);
/* The same as lines of a list of references. */
void gls_cite_list(gls_text *out, const char *version, const char *const *key, size_t n);
typedef enum gls_cite_format { GLS_CITE_TEXT, GLS_CITE_BIBTEX, GLS_CITE_CFF } gls_cite_format;
/* What to cite for a run, by its tractogram or sidecar, or with path NULL for all methods; as CFF the program alone.
 * *text is from malloc. Errors: those of gls_sidecar_read(). */
gls_status gls_cite(const char *path, gls_cite_format format, char **text);

#endif
