/* Journals of runs: results that were added are read again; a torn or damaged record ends them; the journal of another
 * run stays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "track/run/journal.h"
#include "util/file.h"

#define N_PARCELS 5
#define SEEDS_EACH 10

static char path[64];

static int setup(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "/tmp/glslines_journal_%d", (int)getpid());
    unlink(path);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    unlink(path);
    return 0;
}

static gls_journal *open_journal(const char *identity, bool anew)
{
    gls_journal *j = NULL;
    assert_int_equal(gls_journal_open(path, identity, "a device", anew, &j), GLS_OK);
    return j;
}

/* Makes batch k: seeds from 7 + 10 k on, k streamlines of 2 points. */
static void fill(gls_batch_result *p, unsigned k)
{
    assert_int_equal(gls_batch_result_reserve(p, k, 2 * k), GLS_OK);
    assert_int_equal(gls_outcomes_reserve(&p->outcomes, SEEDS_EACH, k), GLS_OK);
    p->first = 7 + SEEDS_EACH * k;
    p->end = p->first + SEEDS_EACH;
    p->n = k;
    p->outcomes.n_seeds = SEEDS_EACH;
    p->outcomes.n_outcomes = k;
    p->offset[0] = 0;
    memset(p->outcomes.lines, 0, SEEDS_EACH * sizeof *p->outcomes.lines);
    for (unsigned i = 0; i < k; i++) {
        p->offset[i + 1] = 2 * (i + 1);
        p->seed_index[i] = (uint32_t)p->first + i;
        p->outcomes.lines[i] = 1;
        memset(&p->outcomes.outcome[i], 0, sizeof *p->outcomes.outcome);
        for (int a = 0; a < 3; a++) {
            p->seed[i][a] = (float)(100 * k + i);
            p->point[2 * i][a] = p->point[2 * i + 1][a] = (float)(1000 * k + i);
        }
    }
}

static void write_all(gls_journal *j, unsigned from, unsigned end)
{
    gls_batch_result p = {0};
    for (unsigned k = from; k < end; k++) {
        fill(&p, k);
        assert_int_equal(gls_journal_append(j, &p), GLS_OK);
    }
    gls_batch_result_finish(&p);
}

/* Reads to the end and checks all results. Returns their number. */
static unsigned read_all(gls_journal *j)
{
    gls_batch_result p = {0}, expected = {0};
    unsigned n = 0;
    bool found;
    for (;;) {
        assert_int_equal(gls_journal_read(j, &p, &found), GLS_OK);
        if (!found) break;
        fill(&expected, n++);
        assert_true(p.first == expected.first && p.n == expected.n && gls_journal_end(j) == expected.end);
        assert_memory_equal(p.offset, expected.offset, (p.n + 1) * sizeof *p.offset);
        assert_int_equal(p.outcomes.n_outcomes, p.n);
        assert_memory_equal(p.outcomes.lines, expected.outcomes.lines, SEEDS_EACH * sizeof *p.outcomes.lines);
        if (p.n == 0) continue;
        assert_memory_equal(p.point, expected.point, 2 * p.n * sizeof *p.point);
        assert_memory_equal(p.seed, expected.seed, p.n * sizeof *p.seed);
        assert_memory_equal(p.seed_index, expected.seed_index, p.n * sizeof *p.seed_index);
    }
    gls_batch_result_finish(&p);
    gls_batch_result_finish(&expected);
    return n;
}

static off_t size_of(void)
{
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    return info.st_size;
}

static void round_trip(void **state)
{
    (void)state;
    gls_journal *j = open_journal("me", false);
    assert_int_equal(read_all(j), 0);
    assert_int_equal(gls_journal_end(j), 0);
    assert_true(gls_journal_is_empty(j));
    write_all(j, 0, 3);
    gls_journal_close(j, false);
    j = open_journal("me", false);
    assert_string_equal(gls_journal_origin(j), "a device");
    assert_false(gls_journal_is_empty(j)); /* also before anything is read */
    assert_int_equal(read_all(j), 3);
    write_all(j, 3, N_PARCELS);
    gls_journal_close(j, false);
    j = open_journal("me", false);
    assert_int_equal(read_all(j), N_PARCELS);
    gls_journal_close(j, true);
    assert_int_equal(access(path, F_OK), -1);
}

/* Cut at every length, or with any byte changed, a journal gives the results before that, and can go on. */
static void damage(void **state)
{
    (void)state;
    static unsigned char whole[1 << 16];
    off_t end[N_PARCELS + 1];
    gls_journal *j = open_journal("me", false);
    assert_int_equal(read_all(j), 0);
    end[0] = size_of();
    for (unsigned k = 0; k < N_PARCELS; k++) {
        write_all(j, k, k + 1);
        end[k + 1] = size_of();
    }
    gls_journal_close(j, false);
    const size_t bytes = (size_t)end[N_PARCELS];
    assert_true(bytes < sizeof whole);
    FILE *file = fopen(path, "rb");
    assert_int_equal(fread(whole, 1, bytes, file), bytes);
    fclose(file);
    for (size_t at = (size_t)end[0]; at < bytes; at++)
        for (int cut = 0; cut < 2; cut++) {
            unsigned sound = 0;
            while (end[sound + 1] <= (off_t)at) sound++;
            int fd = open(path, O_RDWR);
            whole[at] ^= 1;
            assert_int_equal(write(fd, whole, bytes), bytes);
            whole[at] ^= 1;
            assert_int_equal(ftruncate(fd, (off_t)(cut ? at : bytes)), 0);
            close(fd);
            j = open_journal("me", false);
            assert_int_equal(read_all(j), sound);
            assert_int_equal(size_of(), end[sound]);
            if (at % 97 == 0) {
                write_all(j, sound, N_PARCELS);
                gls_journal_close(j, false);
                j = open_journal("me", false);
                assert_int_equal(read_all(j), N_PARCELS);
            }
            gls_journal_close(j, false);
        }
}

static void others(void **state)
{
    (void)state;
    gls_journal *j = open_journal("me", false), *second;
    assert_int_equal(read_all(j), 0);
    write_all(j, 0, 2);
    assert_int_equal(gls_journal_open(path, "me", "", false, &second), GLS_ERR_OUTPUT);
    assert_int_equal(gls_journal_open(path, "me", "", true, &second), GLS_ERR_OUTPUT);
    gls_journal_close(j, false);
    off_t size = size_of();
    assert_int_equal(gls_journal_open(path, "you", "", false, &second), GLS_ERR_OUTPUT);
    assert_int_equal(size_of(), size);
    j = open_journal("you", true);
    assert_int_equal(read_all(j), 0);
    gls_journal_close(j, true);
    assert_int_equal(symlink("/dev/null", path), 0);
    assert_int_equal(gls_journal_open(path, "me", "", true, &second), GLS_ERR_OUTPUT);
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(gls_journal_open(path, "me", "", true, &second), GLS_ERR_OUTPUT);
    unlink(path);
    assert_int_equal(gls_journal_open("/nowhere/x", "me", "", true, &second), GLS_ERR_OUTPUT);
}

/* A text of the head that fills its room to the last byte has no end: such a file is no journal, whatever its checksum.
 */
static void endless_head(void **state)
{
    (void)state;
    struct {
        char magic[8], identity[512], origin[256];
        uint64_t hash;
    } head;
    gls_journal *j = open_journal("me", false), *second;
    gls_journal_close(j, false);
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fread(&head, 1, sizeof head, file), sizeof head);
    assert_int_equal(head.hash, gls_hash(&head, offsetof(__typeof__(head), hash)));
    memset(head.origin, 'a', sizeof head.origin);
    head.hash = gls_hash(&head, offsetof(__typeof__(head), hash));
    rewind(file);
    assert_int_equal(fwrite(&head, 1, sizeof head, file), sizeof head);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(gls_journal_open(path, "me", "", false, &second), GLS_ERR_OUTPUT);
}

/* The files of a complete run are known until they are removed, however often it is completed. */
/* A short file of another program's is not a head that was cut off. */
static void short_file(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool ours;
    } files[] = {{"", true}, {"G", true}, {"GLSJRNL2 and more", true}, {"g", false}, {"notes of mine", false}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        gls_journal *j = NULL;
        FILE *file = fopen(path, "wb");
        assert_true(fputs(files[i].text, file) >= 0 && fclose(file) == 0);
        gls_status status = gls_journal_open(path, "me", "a device", false, &j);
        assert_int_equal(status, files[i].ours ? GLS_OK : GLS_ERR_OUTPUT);
        if (!files[i].ours) {
            assert_int_equal(size_of(), strlen(files[i].text));
            assert_non_null(strstr(gls_last_error(), "--force"));
            assert_int_equal(gls_journal_open(path, "me", "a device", true, &j), GLS_OK);
        }
        gls_journal_close(j, true);
    }
}

static void completion(void **state)
{
    (void)state;
    gls_journal_file file[GLS_JOURNAL_MAX_FILES];
    assert_int_equal(gls_journal_files(path, file), 0);
    gls_journal *j = open_journal("me", false);
    assert_int_equal(read_all(j), 0);
    write_all(j, 0, 2);
    assert_int_equal(gls_journal_files(path, file), 0);
    assert_int_equal(gls_journal_complete(j, &(gls_journal_file){1, 11}, 1), GLS_OK);
    gls_journal_close(j, false);
    assert_int_equal(gls_journal_files(path, file), 1);
    assert_true(file[0].device == 1 && file[0].inode == 11);
    for (uint64_t again = 12; again < 40; again++) {
        j = open_journal("me", false);
        assert_int_equal(read_all(j), 2);
        assert_true(gls_journal_files(path, file) > 0);
        assert_int_equal(gls_journal_complete(j, &(gls_journal_file){1, again}, 1), GLS_OK);
        gls_journal_close(j, false);
        size_t n = again - 10 < GLS_JOURNAL_MAX_FILES ? (size_t)(again - 10) : GLS_JOURNAL_MAX_FILES;
        assert_int_equal(gls_journal_files(path, file), n);
        assert_int_equal(file[0].inode, again);
        assert_int_equal(file[n - 1].inode, again + 1 - n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(round_trip, setup, teardown),
        cmocka_unit_test_setup_teardown(damage, setup, teardown),
        cmocka_unit_test_setup_teardown(others, setup, teardown),
        cmocka_unit_test_setup_teardown(endless_head, setup, teardown),
        cmocka_unit_test_setup_teardown(short_file, setup, teardown),
        cmocka_unit_test_setup_teardown(completion, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
