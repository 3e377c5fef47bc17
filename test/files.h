/* A scratch folder for tests that write files. Include after cmocka.h. */
#ifndef GLS_TEST_FILES_H
#define GLS_TEST_FILES_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "skip.h"

static char scratch_folder[256];

/* Group set-up and tear-down for cmocka. */
static int scratch_create(void **state)
{
    (void)state;
    const char *base = getenv("TMPDIR");
    snprintf(scratch_folder, sizeof scratch_folder, "%s/glslines_test_XXXXXX", base ? base : "/tmp");
    return mkdtemp(scratch_folder) ? 0 : -1;
}

static int scratch_remove(void **state)
{
    (void)state;
    char command[300];
    snprintf(command, sizeof command, "rm -rf '%s'", scratch_folder);
    return system(command);
}

/* Returns the name of a file in the folder. A few names may be in use at a time. */
static inline const char *scratch(const char *name)
{
    static char names[8][512];
    static int next;
    char *to = names[next++ % 8];
    snprintf(to, sizeof names[0], "%s/%s", scratch_folder, name);
    return to;
}

/* Counts the entries of a folder, hidden ones, too. */
static inline int count_files(const char *folder)
{
    int n = 0;
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (struct dirent *e; (e = readdir(dir));) n += strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
    closedir(dir);
    return n;
}

static inline void put_file(const char *path, const void *data, size_t bytes)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
}

/* Whole file, from malloc. */
static inline unsigned char *get_file(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *bytes = (size_t)ftell(file);
    rewind(file);
    unsigned char *data = malloc(*bytes + 1);
    assert_int_equal(fread(data, 1, *bytes, file), *bytes);
    fclose(file);
    return data;
}

#endif
