/* Composes shader sources: built-in files, definitions and included texts become one text. Does not use GL. */
#ifndef GLS_GPU_SOURCE_H
#define GLS_GPU_SOURCE_H

#include <glslines/device.h>

/* A shader that is embedded in the library. */
typedef struct gls_shader_file {
    const char *name; /* NULL ends the table */
    const char *text;
} gls_shader_file;

/* Generated from the folder glsl at build time. */
extern const gls_shader_file gls_shader_files[];

/* Facts that decide the first lines of a source (version, extensions, precision) and its last lines, which count
 * finished work groups. */
typedef struct gls_prelude {
    bool gles;
    int version;                /* 310, 430 ... */
    uint32_t subgroup_features; /* bits of gls_subgroup_feature; 0: no subgroups */
    bool completion;            /* main() ends by adding to the completion count, see gpu/internal.h */
    bool in_waves; /* invocations of a work group may end at different times, so that main() must wait for all of them
                      before it adds to the completion count */
} gls_prelude;

/* Text of a shader file, from the folder named by GLSLINES_SHADER_DIR if the file is there, else built in. *text comes
 * from malloc. */
gls_status gls_shader_text(const char *name, char **text);

/* Composes first lines, definitions and source. A line `#include "file"` is replaced by that shader file; each file is
 * included once, but a list of rows (NAME.def) each time. A line `#include <slot>` is replaced by the text of the
 * definition with that name and is_slot. Reasons of definitions and slots become comments. *text comes from malloc.
 * GLS_ERR_INPUT names a file that is missing, a slot that no definition fills, or a text that includes itself. */
gls_status gls_shader_compose(const gls_prelude *prelude, const char *source, const gls_define *defines,
                              size_t n_defines, char **text);

#endif
