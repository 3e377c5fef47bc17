/* Runs a fuzz target over the files named on the command line, and over all files of the folders named there, where
 * libFuzzer is not linked: a corpus as a test. Fails if there is none. */
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static int n_inputs;

static bool replay_file(const char *path)
{
    static uint8_t data[1 << 20];
    FILE *file = fopen(path, "rb");
    size_t bytes = file ? fread(data, 1, sizeof data, file) : 0;
    if (!file || ferror(file)) {
        perror(path);
        if (file) fclose(file);
        return false;
    }
    fclose(file);
    uint8_t *exact =
        malloc(bytes + (bytes == 0)); /* an allocation of this size, so that a sanitizer sees reads past the end */
    if (!exact) return false;
    memcpy(exact, data, bytes);
    LLVMFuzzerTestOneInput(exact, bytes);
    free(exact);
    n_inputs++;
    return true;
}

static bool replay_folder(DIR *folder, const char *path)
{
    bool ok = true;
    for (struct dirent *entry; ok && (entry = readdir(folder));) {
        char file[4096];
        if (entry->d_name[0] == '.') continue;
        ok = snprintf(file, sizeof file, "%s/%s", path, entry->d_name) < (int)sizeof file && replay_file(file);
    }
    return ok;
}

int main(int argc, char **argv)
{
    bool ok = true;
    for (int i = 1; i < argc && ok; i++) {
        DIR *folder = opendir(argv[i]);
        ok = folder ? replay_folder(folder, argv[i]) : replay_file(argv[i]);
        if (folder) closedir(folder);
    }
    printf("%d inputs\n", n_inputs);
    return ok && n_inputs > 0 ? 0 : 1;
}
