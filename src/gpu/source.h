/* Composition of shader sources: the built-in files, definitions and includes become one text. Knows nothing of GL. */
#ifndef GLS_GPU_SOURCE_H
#define GLS_GPU_SOURCE_H

#include <glslines/device.h>

typedef struct gls_shader_file {
    const char *name; /* NULL ends the table */
    const char *text;
} gls_shader_file;

/* Generated from glsl/ at build time. */
extern const gls_shader_file gls_shader_files[];

/* The lines before everything else: version, extensions, precision. */
typedef struct gls_prelude {
    bool gles;
    int version;                /* 310, 430 ... */
    uint32_t subgroup_features; /* gls_subgroup_feature; 0: no subgroups */
    bool completion;            /* of gpu/internal.h: what main() does is followed by one */
    bool in_waves;              /* invocations of a group may end at different times: the receipt waits for all */
} gls_prelude;

/* Text of a shader file: from the directory named by GLSLINES_SHADER_DIR if that has it, else built in. *text is from
 * malloc. */
gls_status gls_shader_text(const char *name, char **text);

/* Composes prelude, definitions and source. A line `#include "file"` becomes the shader file of that name, each file
 * once, but a list of rows (NAME.def) each time; a line `#include <slot>` becomes the text of the definition of that
 * name with is_slot, each time. Reasons of definitions and slots become comments. *text is from malloc. GLS_ERR_INPUT
 * names a missing file or an empty slot. */
gls_status gls_shader_compose(const gls_prelude *prelude, const char *source, const gls_define *defines,
                              size_t n_defines, char **text);

#endif
