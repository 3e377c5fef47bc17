/* Input files: check that they can be read, identify them by their contents, protect them from outputs.
 * A reader may open a second file along with the one that the user names. This file is the companion: the other file of
 * a .hdr/.img pair, the values of a .mih, the data of a TCK file. Of a TRX folder the reader opens the files in it. */
#ifndef GLS_RECORD_INPUTS_H
#define GLS_RECORD_INPUTS_H

#include <glslines/params_fields.h>

#include "util/status.h"

/* One input file, for messages and for the sidecar. */
typedef struct gls_input_file {
    const char *role; /* what the file is for, such as "dwi"; key in the sidecar */
    const char *path; /* NULL: the input is not given, or is not a file */
    const char *hint; /* appended to the message if the file does not exist; NULL: nothing */
    bool folder;      /* true: path is a folder, whose contents are hashed */
    /* size of a file in bytes, set by gls_input_file_check() */
    uint64_t bytes;
    uint64_t hash;           /* hash of the contents; 0 before gls_input_file_hash() */
    uint64_t companion_hash; /* hash of the companion's contents; 0: no companion */
} gls_input_file;

/* Checks that the file and its companion, or the folder, can be read; stores the size of a file. Call it before any
 * slow work. Succeeds if path is NULL. */
gls_status gls_input_file_check(gls_input_file *file);
/* Stores the hashes of file and companion, by which the file is recognised wherever it lies. */
gls_status gls_input_file_hash(gls_input_file *file);
/* One hash of the contents of the file and its companion. Call gls_input_file_hash() first. */
uint64_t gls_input_file_identity(const gls_input_file *file);

/* Fills in *companion: path of the companion, from malloc; NULL if the file has none. */
gls_status gls_input_companion(const char *path, char **companion);
/* Hash of the contents of everything that a reader of this file or folder opens. GLS_ERR_INPUT: unreadable. */
gls_status gls_input_hash(const char *path, uint64_t *hash);

/* The inputs of a run with their companions. All zero is an empty set. Free with gls_inputs_finish(). */
typedef struct gls_inputs {
    /* n: number of files that were added; capacity: number of files for which memory is allocated */
    size_t n, capacity;
    struct gls_input_entry {
        char *path, *named; /* path: path of the file; named: the text by which the user named it */
    } * entry;
} gls_inputs;

/* Adds an input as the user typed it, and its companion. NULL adds nothing. */
gls_status gls_inputs_add(gls_inputs *inputs, const char *text);
/* Calls gls_inputs_add() for n texts. */
gls_status gls_inputs_add_all(gls_inputs *inputs, const char *const *text, size_t n);
/* Adds the files of a chain of transforms, as --transform has it: the transforms, and the images that they name. */
gls_status gls_inputs_add_chain(gls_inputs *inputs, const gls_strings *chain);
/* Returns GLS_ERR_OUTPUT if the output is one of the inputs, under any name, or lies in a folder that is an input.
 * inputs NULL: there are none. */
gls_status gls_inputs_check(const gls_inputs *inputs, const char *output);
/* Frees the set and leaves it empty. */
void gls_inputs_finish(gls_inputs *inputs);

#endif
