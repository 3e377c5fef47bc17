/* Any bytes as what follows the head of a journal, with checksums that are right or wrong: results or the end, never a
 * crash. */
#include <string.h>

#include "file.h"
#include "track/run/journal.h"
#include "util/file.h"

#define RECORD_NUMBERS 14 /* size of the head: magic, six numbers, six hashes of arrays, its own hash */
#define COMPLETION_NUMBERS \
    (3 + 2 * GLS_JOURNAL_MAX_FILES) /* size of the note: magic, number of files, the files, its hash */

/* Sets the checksums of records whose sizes fit, so that the reader goes on to the contents. */
static void seal(uint8_t *data, size_t bytes)
{
    static const size_t each[6][2] = {{3, 4}, {3, 4}, {3, 12}, {4, 12}, {5, 4}, {6, sizeof(gls_outcome)}};
    uint64_t number[RECORD_NUMBERS];
    for (size_t at = 0; bytes - at >= sizeof number;) {
        size_t rest = bytes - at - sizeof number, used = 0;
        memcpy(number, data + at, sizeof number);
        memcpy(number, "GLSPARCL", 8);
        for (int i = 3; i < 7; i++) number[i] &= 0xff;
        for (int i = 0; i < 6; i++) {
            size_t n = (size_t)number[each[i][0]] * each[i][1];
            if (n > rest - used) return;
            number[7 + i] = n > 0 ? gls_hash(data + at + sizeof number + used, n) : 0;
            used += n;
        }
        number[RECORD_NUMBERS - 1] = gls_hash(number, sizeof number - 8);
        memcpy(data + at, number, sizeof number);
        at += sizeof number + used;
    }
}

/* Sets the checksum of a note at the end that the run is complete, too. */
static void seal_completion(uint8_t *data, size_t bytes)
{
    uint64_t number[COMPLETION_NUMBERS];
    if (bytes < sizeof number) return;
    memcpy(number, data + bytes - sizeof number, sizeof number);
    memcpy(number, "GLSDONE1", 8);
    number[1] &= 0xff;
    number[COMPLETION_NUMBERS - 1] = gls_hash(number, sizeof number - 8);
    memcpy(data + bytes - sizeof number, number, sizeof number);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char path[] = "/tmp/glslines_fuzz_XXXXXX";
    gls_journal *journal = NULL;
    gls_batch_result result = {0};
    gls_journal_file files[GLS_JOURNAL_MAX_FILES];
    bool found = true;
    uint8_t *copy = malloc(bytes + 1);
    int fd = mkstemp(path);
    if (fd < 0 || !copy || unlink(path) != 0) abort();
    close(fd);
    if (bytes > 0) memcpy(copy, data, bytes);
    if (bytes > 0 && data[0] & 1) seal(copy, bytes);
    if (bytes > 0 && data[0] & 2) seal_completion(copy, bytes);
    if (gls_journal_open(path, "", "", true, &journal) != GLS_OK) abort();
    gls_journal_close(journal, false);
    FILE *file = fopen(path, "ab");
    if (!file || fwrite(copy, 1, bytes, file) != bytes || fclose(file) != 0) abort();
    if (gls_journal_files(path, files) > GLS_JOURNAL_MAX_FILES) abort();
    if (gls_journal_open(path, "", "", false, &journal) != GLS_OK) abort();
    while (found) {
        if (!fuzz_ok(gls_journal_read(journal, &result, &found))) break;
        double sum = 0;
        for (uint64_t p = 0; found && p < 3 * result.offset[result.n]; p++) sum += result.point[p / 3][p % 3] > 0;
        if (sum < 0) abort();
    }
    gls_batch_result_finish(&result);
    gls_journal_close(journal, true);
    free(copy);
    return 0;
}
