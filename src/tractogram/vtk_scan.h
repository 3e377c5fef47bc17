/* Words and arrays of legacy VTK files. */
#ifndef GLS_TRACTOGRAM_VTK_SCAN_H
#define GLS_TRACTOGRAM_VTK_SCAN_H

#include "tractogram/reader.h"

#define GLS_VTK_WORD 128
#define GLS_VTK_LINE 512

/* To what data belong. */
typedef enum gls_vtk_owner { GLS_VTK_NOBODY, GLS_VTK_POINT, GLS_VTK_CELL } gls_vtk_owner;

typedef struct gls_vtk_scan {
    gls_tractogram_reader *reader;
    gls_cursor cursor;
    bool binary;
} gls_vtk_scan;

typedef struct gls_vtk_array {
    bool known;
    gls_type type;
    uint64_t n, at, end; /* values; bytes of the file */
    gls_cursor cursor;   /* once it is open */
} gls_vtk_array;

gls_status gls_vtk_scan_begin(gls_vtk_scan *scan, gls_tractogram_reader *reader);
/* Whether there is another word. */
bool gls_vtk_scan_more(gls_vtk_scan *scan);
/* The rest of the line without its end and NUL bytes; longer ones are cut. */
gls_status gls_vtk_scan_line(gls_vtk_scan *scan, char line[GLS_VTK_LINE]);
/* The next word. */
gls_status gls_vtk_scan_token(gls_vtk_scan *scan, char word[GLS_VTK_WORD]);
/* The same, which has to be this one. */
gls_status gls_vtk_scan_word(gls_vtk_scan *scan, const char *expected);
/* The same as a name: %20 and the like stand for other characters. */
gls_status gls_vtk_scan_name(gls_vtk_scan *scan, char name[GLS_VTK_WORD]);
/* The same as a number of something. */
gls_status gls_vtk_scan_count(gls_vtk_scan *scan, uint64_t *count);
/* Passes over lines up to an empty one. */
void gls_vtk_scan_paragraph(gls_vtk_scan *scan);
/* Passes over the n values of an array and notes where they are; type NULL: its name comes first. */
gls_status gls_vtk_scan_array(gls_vtk_scan *scan, const char *type, uint64_t n, gls_vtk_array *array);

/* Starts reading an array; the cursor of the scan is not used any more. */
gls_status gls_vtk_array_open(const gls_vtk_scan *scan, gls_vtk_array *array);
/* The next n values, in the order of bytes of this machine. */
gls_status gls_vtk_array_read(const gls_vtk_scan *scan, gls_vtk_array *array, uint64_t n, void *values);
/* The next value of an array of integers, which is not negative. */
gls_status gls_vtk_array_index(const gls_vtk_scan *scan, gls_vtk_array *array, uint64_t *value);

#endif
