/* What a report tells, and the sections that tell it. */
#ifndef GLS_RENDER_REPORT_H
#define GLS_RENDER_REPORT_H

#include <cJSON.h>

#include <glslines/density.h>
#include <glslines/report.h>
#include <glslines/summary.h>

#include "render/page.h"
#include "render/scene.h"
#include "workflow/run.h"

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
    cJSON *sidecar;      /* NULL: there is none */
    bool tells_tracking; /* the sidecar is not of another command */
    char *image;         /* NULL: none */
    gls_run run;
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
    char *no_pictures; /* why there are none */
} gls_report;

/* Checks a place and puts a file into the group of the run. */
gls_status gls_report_put(gls_report *report, const char *path, const void *data, size_t bytes);

/* The value at a path of keys in the sidecar, e.g. "counts/seeds"; NULL where there is none. */
const cJSON *gls_report_get(const gls_report *report, const char *path);
/* A number there; NAN where there is none. */
double gls_report_number(const gls_report *report, const char *path);
/* A text there; NULL where there is none. */
const char *gls_report_text(const gls_report *report, const char *path);
/* "1,234", "12.3", "-" for NAN. */
void gls_put_number(gls_text *out, double v);

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

#endif
