/* Outputs appear complete or not at all, several together or none, and never replace another output or a special file.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <cmocka.h>

#include "files.h"
#include "util/output_file.h"
#include <glslines/common.h>

static void assert_text(const char *name, const char *text)
{
    size_t n;
    unsigned char *data = get_file(scratch(name), &n);
    assert_int_equal(n, strlen(text));
    assert_memory_equal(data, text, n);
    free(data);
}

static gls_output begin(const char *name, const char *text, bool overwrite, gls_output_group *group)
{
    gls_output output;
    assert_int_equal(gls_output_create(scratch(name), overwrite, &output), GLS_OK);
    assert_int_equal(gls_output_write(&output, text, strlen(text)), GLS_OK);
    output.group = group;
    return output;
}

static void refused(const char *path, const char *const *others, size_t n_others, const char *word)
{
    for (int overwrite = 0; overwrite < 2; overwrite++) {
        assert_int_equal(gls_output_check(path, overwrite, others, n_others), GLS_ERR_OUTPUT);
        assert_non_null(strstr(gls_last_error(), word));
        assert_non_null(strstr(gls_last_error(), path));
    }
}

static void all_or_none(void **state)
{
    (void)state;
    gls_output_group group = {0};
    put_file(scratch("old.trx"), "before", 6);
    gls_output one = begin("old.trx", "after", true, &group), two = begin("new.tck", "new", false, &group);
    gls_output three = begin("late.json", "ours", false, &group);
    assert_int_equal(gls_output_commit(&one), GLS_OK);
    assert_int_equal(gls_output_commit(&two), GLS_OK);
    assert_int_equal(gls_output_commit(&three), GLS_OK);
    assert_int_equal(group.n, 3);
    assert_int_equal(count_files(scratch_folder), 1);
    /* another program writes the last one meanwhile */
    put_file(scratch("late.json"), "theirs", 6);
    assert_int_equal(gls_output_group_commit(&group), GLS_ERR_OUTPUT);
    assert_non_null(strstr(gls_last_error(), "late.json: exists already"));
    assert_text("old.trx", "before");
    assert_text("late.json", "theirs");
    assert_int_equal(count_files(scratch_folder), 2);

    one = begin("old.trx", "after", true, &group);
    two = begin("new.tck", "new", false, &group);
    assert_int_equal(gls_output_commit(&one), GLS_OK);
    assert_int_equal(gls_output_commit(&two), GLS_OK);
    assert_int_equal(gls_output_group_commit(&group), GLS_OK);
    assert_text("old.trx", "after");
    assert_text("new.tck", "new");
    assert_int_equal(count_files(scratch_folder), 3);
    one = begin("other.tck", "x", false, &group);
    assert_int_equal(gls_output_commit(&one), GLS_OK);
    gls_output_group_discard(&group);
    assert_int_equal(count_files(scratch_folder), 3);
    for (int i = 0; i < 3; i++) unlink(scratch((const char *[]){"old.trx", "new.tck", "late.json"}[i]));
}

/* Number of calls of rename() until one fails; number of calls that change names until the process is killed. 0: none.
 */
static int renames_left, names_left;

static void change_name(void)
{
    if (names_left > 0 && --names_left == 0) raise(SIGKILL);
}

/* These functions replace those of the C library. */
int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags)
{
    change_name();
    return (int)syscall(SYS_linkat, from_folder, from, to_folder, to, flags);
}

int unlink(const char *path)
{
    change_name();
    return unlinkat(AT_FDCWD, path, 0);
}

int rename(const char *from, const char *to)
{
    change_name();
    errno = EIO;
    return renames_left > 0 && --renames_left == 0 ? -1 : renameat(AT_FDCWD, from, AT_FDCWD, to);
}

/* If a replaced file cannot be brought back, it keeps its other name, and the message names it. */
static void not_brought_back(void **state)
{
    (void)state;
    gls_output_group group = {0};
    char kept[512] = "", message[1024];
    put_file(scratch("old.trx"), "before", 6);
    gls_output one = begin("old.trx", "after", true, &group), two = begin("late.json", "ours", false, &group);
    assert_int_equal(gls_output_commit(&one), GLS_OK);
    assert_int_equal(gls_output_commit(&two), GLS_OK);
    put_file(scratch("late.json"), "theirs", 6);
    renames_left = 2;
    assert_int_equal(gls_output_group_commit(&group), GLS_ERR_OUTPUT);
    assert_int_equal(renames_left, 0);
    snprintf(message, sizeof message, "%s", gls_last_error());
    assert_non_null(strstr(message, "late.json: exists already"));
    const char *name = strstr(message, "the file that it replaced is ");
    assert_non_null(name);
    snprintf(kept, sizeof kept, "%s", name + strlen("the file that it replaced is "));
    assert_text("old.trx", "after");
    assert_text("late.json", "theirs");
    assert_text(strrchr(kept, '/') + 1, "before");
    assert_int_equal(count_files(scratch_folder), 3);
    unlink(kept), unlink(scratch("old.trx")), unlink(scratch("late.json"));
}

/* A file that may have either of two names takes the second if the first has been taken meanwhile, and no third. */
static void second_name(void **state)
{
    (void)state;
    for (int both = 0; both < 2; both++) {
        gls_output_group group = {0};
        gls_output one = begin("s.tck", "lines", false, &group), two = begin("s.json", "ours", false, &group);
        bool took = true;
        assert_int_equal(gls_output_offer(&two, scratch("s.tck.json"), &took), GLS_OK);
        assert_false(took);
        put_file(scratch("s.json"), "theirs", 6);
        if (both) put_file(scratch("s.tck.json"), "theirs", 6);
        assert_int_equal(gls_output_commit(&one), GLS_OK);
        assert_int_equal(gls_output_commit(&two), GLS_OK);
        assert_int_equal(gls_output_group_commit(&group), both ? GLS_ERR_OUTPUT : GLS_OK);
        assert_true(took);
        assert_text("s.json", "theirs");
        assert_text("s.tck.json", both ? "theirs" : "ours");
        assert_int_equal(access(scratch("s.tck"), F_OK), both ? -1 : 0);
        for (int i = 0; i < 3; i++) unlink(scratch((const char *[]){"s.tck", "s.json", "s.tck.json"}[i]));
    }
}

/* Killed at any moment before the end, a program leaves nothing. */
static void killed(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        gls_output output;
        if (gls_output_create(scratch("k.tck"), false, &output) || gls_output_write(&output, "x", 1)) _exit(1);
        raise(SIGKILL);
    }
    int result = 0;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFSIGNALED(result) && WTERMSIG(result) == SIGKILL);
    assert_int_equal(count_files(scratch_folder), 0);
}

/* Writes two outputs that appear together, as `merge` does with a tractogram and its sidecar. */
static gls_status write_both(const char *first, const char *second)
{
    gls_output_group group = {0};
    gls_output one = begin("both.tck", first, true, &group), two = begin("both.json", second, true, &group);
    gls_status status = gls_output_commit(&one);
    if (!status) status = gls_output_commit(&two);
    return status ? status : gls_output_group_commit(&group);
}

/* Whether the file has the text; text NULL: whether there is no file. */
static bool has_text(const char *name, const char *text)
{
    size_t n;
    if (!text || access(scratch(name), F_OK) != 0) return !text && access(scratch(name), F_OK) != 0;
    unsigned char *data = get_file(scratch(name), &n);
    const bool same = n == strlen(text) && memcmp(data, text, n) == 0;
    free(data);
    return same;
}

/* Names that a running process uses, and those of other files, stay. */
static void not_left_over(void **state)
{
    (void)state;
    char live[128];
    snprintf(live, sizeof live, ".both.tck.%d-000000000000ab.part", (int)getppid());
    const char *const others[] = {live, ".both.tck.txt.999999999-000000000000ab.part", ".both.tck.999999999-zz.part"};
    for (int i = 0; i < 3; i++) put_file(scratch(others[i]), "", 0);
    assert_int_equal(write_both("lines", "text"), GLS_OK);
    assert_int_equal(count_files(scratch_folder), 5);
    for (int i = 0; i < 3; i++) assert_int_equal(unlink(scratch(others[i])), 0);
    unlink(scratch("both.tck")), unlink(scratch("both.json"));
}

/* Killed at any change of a name while outputs appear: each is the whole new file or as it was before, the first is new
 * where the second is, and the next run succeeds. */
static void killed_between(void **state)
{
    (void)state;
    for (int replaces = 0; replaces < 2; replaces++) {
        const char *const old[2] = {replaces ? "old lines" : NULL, replaces ? "old text" : NULL};
        int result = 0, n = 0;
        bool halfway = false;
        do {
            if (replaces) assert_int_equal(write_both(old[0], old[1]), GLS_OK);
            const pid_t child = fork();
            if (child == 0) {
                names_left = n + 1;
                _exit(write_both("new lines", "new text") != GLS_OK);
            }
            assert_int_equal(waitpid(child, &result, 0), child);
            const bool first = has_text("both.tck", "new lines"), second = has_text("both.json", "new text");
            assert_true((first || has_text("both.tck", old[0])) && (second || has_text("both.json", old[1])));
            assert_true(first || !second);
            halfway = halfway || (first && !second);
            assert_int_equal(write_both("next lines", "next text"), GLS_OK);
            assert_true(has_text("both.tck", "next lines") && has_text("both.json", "next text"));
            /* and removes what the killed process left under other names */
            assert_int_equal(count_files(scratch_folder), 2);
            unlink(scratch("both.tck")), unlink(scratch("both.json"));
            n++;
        } while (WIFSIGNALED(result));
        assert_true(WIFEXITED(result) && WEXITSTATUS(result) == 0);
        assert_true(halfway && n > 2);
    }
}

static void never_over_others(void **state)
{
    (void)state;
    char a[512], link_a[512], in_a[512], absent[512], same_absent[600], folder[512];
    snprintf(a, sizeof a, "%s", scratch("a.trx"));
    snprintf(link_a, sizeof link_a, "%s", scratch("link.trx"));
    snprintf(in_a, sizeof in_a, "%s", scratch("soft.trx"));
    snprintf(absent, sizeof absent, "%s", scratch("absent.trx"));
    snprintf(folder, sizeof folder, "%s", scratch("folder"));
    snprintf(same_absent, sizeof same_absent, "%s/../absent.trx", folder);
    put_file(a, "0 1000", 6);
    assert_int_equal(link(a, link_a), 0);
    assert_int_equal(symlink(a, in_a), 0);
    assert_int_equal(mkdir(folder, 0700), 0);
    const char *const others[] = {NULL, same_absent, a};
    refused(a, others, 3, "another output");
    refused(link_a, others, 3, "another output");
    refused(in_a, others, 3, "another output");
    refused(absent, others, 3, "another output");
    assert_int_equal(gls_output_check(absent, false, others, 1), GLS_OK);
    assert_int_equal(gls_output_check(a, true, NULL, 0), GLS_OK);
    assert_int_equal(gls_output_check(a, false, NULL, 0), GLS_ERR_OUTPUT);
    unlink(a), unlink(link_a), unlink(in_a), rmdir(folder);
}

static void regular_files_only(void **state)
{
    (void)state;
    char fifo[512], dangling[512];
    snprintf(fifo, sizeof fifo, "%s", scratch("fifo"));
    snprintf(dangling, sizeof dangling, "%s", scratch("dangling"));
    assert_int_equal(mkfifo(fifo, 0600), 0);
    assert_int_equal(symlink("nowhere", dangling), 0);
    refused(fifo, NULL, 0, "not a regular file");
    refused("/dev/null", NULL, 0, "not a regular file");
    refused(scratch_folder, NULL, 0, "is a directory");
    refused(dangling, NULL, 0, "symbolic link");
    gls_output output;
    assert_int_equal(gls_output_create("/dev/null", true, &output), GLS_ERR_OUTPUT);
    unlink(fifo), unlink(dangling);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(killed),         cmocka_unit_test(all_or_none),       cmocka_unit_test(not_brought_back),
        cmocka_unit_test(second_name),    cmocka_unit_test(never_over_others), cmocka_unit_test(regular_files_only),
        cmocka_unit_test(killed_between), cmocka_unit_test(not_left_over),
    };
    return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}
