/* Finds the arrays of a legacy VTK file, ASCII or binary, in one pass over its words, numbers and sections. */
#ifndef GLS_TRACTOGRAM_VTK_SCAN_H
#define GLS_TRACTOGRAM_VTK_SCAN_H

#include <glslines/common.h>
#include <glslines/tractogram.h>

#include "tractogram/readers.h"

/* Sizes of the memory for a word and for a line of a header, with its NUL. Words are names, types and numbers. */
#define GLS_VTK_WORD 128

/* Passes over the file from front to back: reads its head, and notes where each array lies. reader->state is a gls_vtk,
 * all zero before. */
gls_status gls_vtk_find(gls_tractogram_reader *reader);
/* Reads a word. Returns false at the end, or if the word is too long. */
bool gls_vtk_next_word(gls_cursor *cursor, char word[GLS_VTK_WORD]);

#endif
