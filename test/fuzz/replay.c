/* Runs a fuzz target over the files named on the command line, where libFuzzer is not linked: a corpus as a test. Fails
 * if there is none. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        static uint8_t data[1 << 20];
        FILE *file = fopen(argv[i], "rb");
        if (!file) {
            perror(argv[i]);
            return 1;
        }
        size_t bytes = fread(data, 1, sizeof data, file);
        fclose(file);
        uint8_t *exact = malloc(bytes + (bytes == 0)); /* so that a sanitizer sees reading past the end */
        if (!exact) return 1;
        for (size_t k = 0; k < bytes; k++) exact[k] = data[k];
        LLVMFuzzerTestOneInput(exact, bytes);
        free(exact);
    }
    printf("%d inputs\n", argc - 1);
    return argc > 1 ? 0 : 1;
}
