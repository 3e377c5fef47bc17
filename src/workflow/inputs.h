/* Files that a run reads: whether they can be read, what tells them from others, and that no output takes their place.
 * A reader may open a second file along with the one that is named, its companion: the other file of a .hdr/.img pair,
 * the values of a .mih, the data of a TCK file. Of a TRX folder it opens what lies in it. */
#ifndef GLS_WORKFLOW_INPUTS_H
#define GLS_WORKFLOW_INPUTS_H

#include <glslines/common.h>

/* An input file and its size, for messages and the sidecar. */
typedef struct gls_input_file {
    const char *role; /* "dwi" and so on */
    const char *path; /* NULL: not a file */
    const char *hint; /* follows the message where it does not exist; NULL: none */
    uint64_t bytes;
    uint64_t hash;           /* of its contents; 0 before gls_input_file_hash() */
    uint64_t companion_hash; /* of the contents of its companion; 0: there is none */
} gls_input_file;

/* Checks that the file (none: fine) can be read, before anything slow is done, and fills in its size. */
gls_status gls_input_file_check(gls_input_file *file);
/* Fills in the hashes, by which the file can be told from others wherever it lies. */
gls_status gls_input_file_hash(gls_input_file *file);
/* One hash of both. */
uint64_t gls_input_file_identity(const gls_input_file *file);

/* The companion of a file, from malloc; *companion is NULL where there is none. */
gls_status gls_input_companion(const char *path, char **companion);
/* A hash of all that a reader opens where this file or folder is named. GLS_ERR_INPUT names what cannot be read. */
gls_status gls_input_hash(const char *path, uint64_t *hash);
/* The file of an input as command lines have it: FILE, or FILE:LABELS and FILE=NAME where no file has the whole of that
 * name. From malloc; NULL: it names no file that is there, or memory ran out. */
char *gls_input_named_file(const char *text);

/* GLS_ERR_OUTPUT: the output is this input (NULL: there is none) or its companion. */
gls_status gls_input_keep(const char *text, const char *output);

/* What a run reads, companions among it. All zero is an empty set. */
typedef struct gls_inputs {
    size_t n, capacity;
    struct gls_input_entry {
        char *path, *named; /* the file, and the text by which the user named it */
    } * entry;
} gls_inputs;

/* Adds an input as command lines have it; NULL adds nothing. */
gls_status gls_inputs_add(gls_inputs *inputs, const char *text);
gls_status gls_inputs_add_all(gls_inputs *inputs, const char *const *text, size_t n);
/* GLS_ERR_OUTPUT: the output is one of the inputs, under any name, or lies in a folder that is one. inputs NULL: none.
 */
gls_status gls_inputs_check(const gls_inputs *inputs, const char *output);
void gls_inputs_finish(gls_inputs *inputs);

#endif
