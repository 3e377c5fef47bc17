/* Records of files that a run wrote, in its sidecar: size, checksum, time. */
#include "workflow/sidecar.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/file.h"
#include "util/status.h"
#include "util/json_text.h"

/* keys: hash of the whole file, or of parts of a large one */
#define WHOLE "xxh3_64"
#define PARTS "xxh3_64_of_parts"
#define MAX_WHOLE ((uint64_t)64 << 20) /* largest file whose checksum is of the whole contents, bytes */

/* Notes size and XXH3 hash of a file; of a large file only parts are hashed. */
static gls_status note(cJSON *entry, const char *path, int fd, uint64_t bytes)
{
    uint64_t hash = 0;
    char text[17];
    const bool whole = bytes <= MAX_WHOLE;
    gls_status status = whole ? gls_hash_open_file(path, fd, &hash) : gls_hash_parts(path, fd, bytes, &hash);
    if (status) return status;
    gls_json_uint(entry, "bytes", bytes);
    cJSON_AddStringToObject(entry, whole ? WHOLE : PARTS, gls_hash_text(hash, text));
    return GLS_OK;
}

gls_status gls_written_note_output(cJSON *entry, const gls_output *output)
{
    return note(entry, output->path, output->fd, gls_output_size(output));
}

gls_status gls_written_note(cJSON *entry, const char *path)
{
    uint64_t bytes;
    int fd;
    gls_status status = gls_regular_open(path, &fd, &bytes);
    if (status) return status;
    status = note(entry, path, fd, bytes);
    close(fd);
    return status;
}

/* Writes the time of the last change, to the nanosecond. */
static void time_text(const struct stat *info, char text[48])
{
    snprintf(text, 48, "%lld.%09ld", (long long)info->st_mtim.tv_sec, info->st_mtim.tv_nsec);
}

gls_status gls_written_note_time(cJSON *entry, const char *path)
{
    struct stat info;
    char text[48];
    if (stat(path, &info) != 0) return gls_fail(GLS_ERR_OUTPUT, "%s: is gone", path);
    time_text(&info, text);
    cJSON_AddStringToObject(entry, "modified", text);
    return GLS_OK;
}

bool gls_written_is(const cJSON *entry, const char *path)
{
    char text[48];
    struct stat info;
    uint64_t noted, bytes, hash = 0;
    int fd;
    const char *modified = gls_json_text_at(entry, "modified"), *whole = gls_json_text_at(entry, WHOLE),
               *parts = gls_json_text_at(entry, PARTS);
    /* the size first, since it is free */
    if ((!whole && !parts) || !gls_json_get_uint(gls_json_at(entry, "bytes"), &noted)) return false;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode) || (uint64_t)info.st_size != noted) return false;
    time_text(&info, text);
    /* the same size and time: the contents are taken as unchanged */
    if (modified && strcmp(modified, text) == 0) return true;
    if (gls_regular_open(path, &fd, &bytes)) return false;
    const gls_status status = whole ? gls_hash_open_file(path, fd, &hash) : gls_hash_parts(path, fd, bytes, &hash);
    close(fd);
    return !status && bytes == noted && strcmp(whole ? whole : parts, gls_hash_text(hash, text)) == 0;
}
