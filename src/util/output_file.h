/* Files that are written: they appear complete or not at all. */
#ifndef GLS_UTIL_OUTPUT_FILE_H
#define GLS_UTIL_OUTPUT_FILE_H

#include <glslines/common.h>

#include "util/text.h"

/* --- Outputs: a file appears under its name only when it is complete, several files appear together or not at all, and
 * nothing but a regular file that is not an input is ever replaced. Every file that the program writes goes through
 * these functions. */

struct gls_output_group;

/* A file that is being written. Until it is committed it has no name; on file systems without nameless files it has a
 * temporary name in the same folder. */
typedef struct gls_output {
    /* descriptor that is open for writing; -1: none */
    int fd;
    char *path;      /* final name; a symbolic link to a file is followed */
    char *given;     /* the name that the caller gave; NULL: path */
    char *temporary; /* NULL while the file has no name */
    char *second;    /* name to use if another file has appeared under path meanwhile; NULL: such a file is an error */
    bool *took_second; /* set to true when the file gets its second name; NULL: no second name */
    bool overwrite;
    uint64_t unsent;                /* bytes written since the kernel was last asked to write the file to the disk */
    struct gls_output_group *group; /* the group with which the file is committed; NULL: alone */
} gls_output;

/* Value of an output that is not open. gls_output_discard() accepts it. */
#define GLS_OUTPUT_NONE ((gls_output){.fd = -1})

/* Files that belong together: complete files wait in the group until all get their names. All zero is an empty
 * group. */
typedef struct gls_output_group {
    /* number of files that wait, and of files for which memory is allocated */
    size_t n, capacity;
    /* outputs that are complete but do not have their names yet */
    gls_output *output;
    char *folder; /* folder that was made for the files; NULL: none */
} gls_output_group;

/* Checks that path may be written. GLS_ERR_OUTPUT if path is one of the other outputs (under any name; NULL entries are
 * skipped), if the file exists and overwrite is false, or if it is not a regular file.
 * GLS_ERR_ARGUMENT if it is "-". */
gls_status gls_output_check(const char *path, bool overwrite, const char *const *others, size_t n_others);

/* Opens a new file with the permissions of the file that it replaces, else those of the umask. GLS_ERR_OUTPUT names the
 * file and the reason: it exists, the folder does not exist, no permission, not a regular file. After a failure output
 * is as after gls_output_discard(). */
gls_status gls_output_create(const char *path, bool overwrite, gls_output *output);
/* Allows the name `second` for the case that path is taken when the file is committed. Sets *took to false; the commit
 * sets it to true if it uses `second`, so *took must live until then. GLS_ERR_MEMORY: out of memory. */
gls_status gls_output_offer(gls_output *output, const char *second, bool *took);
/* Whether path is the final name of this output. */
bool gls_output_is(const gls_output *output, const char *path);
/* Appends. GLS_ERR_OUTPUT names the file and the reason; the caller then discards the output. */
gls_status gls_output_write(gls_output *output, const void *data, size_t bytes);
/* Number of files that the process may have open at a time. */
size_t gls_file_limit(void);
/* Overwrites at an offset from the start of the file; the position for appending stays. Errors as of
 * gls_output_write(). */
gls_status gls_output_write_at(gls_output *output, uint64_t offset, const void *data, size_t bytes);
/* Reserves bytes at the end for a later gls_output_write_at(); *offset: where they begin. */
gls_status gls_output_reserve(gls_output *output, uint64_t bytes, uint64_t *offset);
/* Shortens the file to `bytes`; the next write appends there. */
gls_status gls_output_truncate(gls_output *output, uint64_t bytes);
/* Size of the file so far. */
uint64_t gls_output_size(const gls_output *output);
/* Waits until the data are on the disk and gives the file its name, or hands the complete file to its group. On success
 * and failure alike output is then as after gls_output_discard(). */
gls_status gls_output_commit(gls_output *output);
/* Removes the unfinished file. Accepts an output that is not open. */
void gls_output_discard(gls_output *output);

/* Gives all files of the group their names, once all data are on the disk. If one name fails, no new file remains and
 * the replaced files are restored; without hard links on the file system, new files that replaced others stay. The
 * group is empty afterwards. */
gls_status gls_output_group_commit(gls_output_group *group);
/* From now on calls note(path), from any thread, for each file that has got its name, where no other file of its group
 * failed. path: the name that the caller gave. NULL: no more. */
void gls_outputs_note(void (*note)(const char *path));
/* Ends the work on a group: gives all files their names, or after a failure in `status` discards them. Returns the
 * first failure. Runs of commands end by gls_run_commit(), which also writes the sidecar. */
gls_status gls_output_group_end(gls_output_group *group, gls_status status);
/* Moves the file that joined the group last to the front, so that it gets its name first. */
void gls_output_group_lead(gls_output_group *group);
/* Discards all files of the group. Also removes its folder, unless there are files in it. */
void gls_output_group_discard(gls_output_group *group);
/* Makes the folder of the files of the group, if it does not exist. GLS_ERR_OUTPUT on failure. */
gls_status gls_output_group_make_folder(gls_output_group *group, const char *path);

/* Waits until the names in the folder of path are on the disk. GLS_ERR_OUTPUT on failure. */
gls_status gls_output_sync_names(const char *path);

/* Makes a hidden, empty folder for files from which the output `path` is made, in the folder of path. Also removes what
 * killed processes have left of this output. Returns the name, which the caller frees; NULL with errno on failure. */
char *gls_output_folder_make(const char *path);
/* Removes such a folder, with the files in it. */
void gls_output_folder_remove(const char *folder);

/* Opens a nameless scratch file in the folder of the output; the file vanishes when fd is closed. */
gls_status gls_output_scratch(const gls_output *output, int *fd);

/* Writes a whole file, as part of the group unless group is NULL. An existing file is an error unless overwrite. */
gls_status gls_file_write(const char *path, bool overwrite, gls_output_group *group, const void *data, size_t bytes);
/* Writes a text as a whole file, like gls_file_write(), unless status is a failure. Frees the text in any case. Returns
 * the first failure. */
gls_status gls_text_write(gls_text *text, const char *path, bool overwrite, gls_output_group *group, gls_status status);

/* --- Files in the user's cache folder, by which one run of the library leaves results for the next. */

/* Path of the cached file with this key in the subfolder `kind`. make: creates the folders. Returns false if the user
 * has no cache folder, or if the folder cannot be made or belongs to another user, as it may under sudo. */
bool gls_kept_path(const char *kind, uint64_t key, bool make, char *path, size_t size);
/* Path of the cached file with this name. Otherwise like gls_kept_path(). */
bool gls_kept_file(const char *name, bool make, char *path, size_t size);

/* Whether path is a regular file, not a symbolic link. own: the file must belong to this user. */
bool gls_kept_is_file(const char *path, bool own);
/* Writes a cached file, replacing an older one. GLS_ERR_OUTPUT: path is something else than a regular file of this
 * user, and stays. */
gls_status gls_kept_write(const char *path, const void *data, size_t bytes);

#endif
