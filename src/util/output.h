/* Outputs: files that appear under their names only when they are complete, several together or none, and never in
 * place of something that is no regular file or of an input. Every file that the program writes goes through these. */
#ifndef GLS_UTIL_OUTPUT_H
#define GLS_UTIL_OUTPUT_H

#include <glslines/common.h>

struct gls_output_group;

/* A file in the making. It has no name, or a temporary one in the same directory where the file system knows no
 * nameless files, until it is committed. */
typedef struct gls_output {
    int fd;
    char *path;        /* final name; a symbolic link to a file is followed */
    char *temporary;   /* NULL while the file has no name */
    char *second;      /* name that it gets where a file has appeared under path meanwhile; NULL: that is an error */
    bool *took_second; /* set then; with second */
    bool overwrite;
    struct gls_output_group *group; /* with which it is committed; NULL: by itself */
} gls_output;

/* A value for outputs that are not open: gls_output_discard() accepts it. */
#define GLS_OUTPUT_NONE ((gls_output){.fd = -1})

/* Files that belong together: each waits, complete, until all get their names. All zero is an empty group. */
typedef struct gls_output_group {
    size_t n, capacity;
    gls_output *output;
    char *folder; /* that was made for them; NULL: none */
} gls_output_group;

/* Whether path may be written: GLS_ERR_OUTPUT if it is one of the other outputs (the same file under any name; NULL
 * entries count for nothing), exists and is not to be overwritten, or is no regular file. */
gls_status gls_output_check(const char *path, bool overwrite, const char *const *others, size_t n_others);

/* Permissions: those of the file that is replaced, else as the umask says. GLS_ERR_OUTPUT names the file and the
 * reason: exists already, no such directory, permission, no regular file. On failure output is as after
 * gls_output_discard(). */
gls_status gls_output_create(const char *path, bool overwrite, gls_output *output);
/* Lets output take the name second if path is taken when it is committed. *took is set then, and must last till then.
 */
gls_status gls_output_offer(gls_output *output, const char *second, bool *took);
/* Whether this is the output that gets the name path. */
bool gls_output_is(const gls_output *output, const char *path);
/* Appends, or replaces what stands at offset without moving the end at which is appended. */
gls_status gls_output_write(gls_output *output, const void *data, size_t bytes);
gls_status gls_output_write_at(gls_output *output, uint64_t offset, const void *data, size_t bytes);
/* Leaves room for so many bytes at the end, for gls_output_write_at(): at *offset. */
gls_status gls_output_reserve(gls_output *output, uint64_t bytes, uint64_t *offset);
/* Cuts the file; the next write is appended there. */
gls_status gls_output_truncate(gls_output *output, uint64_t bytes);
/* Bytes so far. */
uint64_t gls_output_size(const gls_output *output);
/* Gives the file its name, or, in a group, leaves it to the group, with its data on the disk. Whatever happens, output
 * is then as after gls_output_discard(). */
gls_status gls_output_commit(gls_output *output);
/* Removes the unfinished file. Harmless when there is none. */
void gls_output_discard(gls_output *output);

/* Gives all n files their names: their data reach the disk first, then the names; if one cannot be had, none is left
 * and what was replaced is back. All are then as after gls_output_discard(). */
gls_status gls_outputs_commit(gls_output *outputs, size_t n);
/* The same for what waits in the group, which is empty afterwards. */
gls_status gls_output_group_commit(gls_output_group *group);
/* The file that came last into the group gets its name first. */
void gls_output_group_lead(gls_output_group *group);
/* Its folder goes, too, unless there are files in it. */
void gls_output_group_discard(gls_output_group *group);
/* Makes the folder in which its files are to lie, if it is not there; GLS_ERR_OUTPUT. */
gls_status gls_output_group_make_folder(gls_output_group *group, const char *path);

/* The names in the folder in which path lies reach the disk; GLS_ERR_OUTPUT. */
gls_status gls_output_sync_names(const char *path);

/* Opens a nameless file for scratch data in the directory of the output; it vanishes when closed. */
gls_status gls_output_scratch(const gls_output *output, int *fd);

/* A whole file at once, in group unless that is NULL; an existing file is an error unless overwrite. */
gls_status gls_file_write(const char *path, bool overwrite, gls_output_group *group, const void *data, size_t bytes);

#endif
