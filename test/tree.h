/* A made-up tree of files such as /proc and /sys for tests. Include after cmocka.h. */
#ifndef GLS_TEST_TREE_H
#define GLS_TEST_TREE_H

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Writes a text file below root, and the folders on the way to it. */
static void put_text(const char *root, const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", root, name);
    for (char *slash = path + strlen(root) + 1; *slash; slash++) {
        if (*slash != '/') continue;
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

#endif
