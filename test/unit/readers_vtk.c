/* The reader of VTK files: axes, tables, files that hold no streamlines, and a caller's locale. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "files.h"
#include "lines.h"
#include "refuses.h"
#include <locale.h>

static void test_vtk(void **state)
{
    (void)state;
    static const char text[] = "# vtk DataFile Version 3.0\nlines%s\nASCII\nDATASET POLYDATA\nPOINTS 4 float\n"
                               "0 1 2 3 4 5\n6 7 8 9 10 11\nLINES 2 6\n3 0 1 2\n1 %d\nCELL_DATA 2\nSCALARS w int 1\n"
                               "LOOKUP_TABLE default\n7 8\n";
    gls_tractogram_read_options lps = gls_tractogram_read_options_default();
    gls_tractogram_reader *reader;
    gls_streamlines s;
    char data[512];
    lps.vtk_space = GLS_VTK_SPACE_LPS;
    put_file(scratch("a.vtk"), data, (size_t)snprintf(data, sizeof data, text, "", 3));
    refuses(scratch("a.vtk"), NULL, "line 2 does not state the axes (SPACE=RAS or SPACE=LPS): give --vtk-space");
    for (int stated = 0; stated < 2; stated++) {
        put_file(scratch("a.vtk"), data, (size_t)snprintf(data, sizeof data, text, stated ? " SPACE=RAS" : "", 3));
        assert_int_equal(gls_tractogram_reader_open(scratch("a.vtk"), &lps, &reader), GLS_OK);
        assert_int_equal(gls_tractogram_reader_next(reader, &s), GLS_OK);
        assert_true(s.n == 2 && s.offset[1] == 3 && s.offset[2] == 4);
        assert_true(s.point[1][0] == (stated ? 3 : -3) && s.point[1][2] == 5);
        assert_true(gls_column_value(&s.dps[0], 1) == 8);
        gls_tractogram_reader_close(reader);
    }
    put_file(scratch("a.vtk"), data, (size_t)snprintf(data, sizeof data, text, "", 0));
    refuses(scratch("a.vtk"), &lps, "are not stored one after the other");
    static const char large[] = "# vtk DataFile Version 3.0\nSPACE=RAS\nASCII\nDATASET POLYDATA\nPOINTS 1 float\n"
                                "0 1 2\nLINES 1 2\n1 0\nCELL_DATA 1\nSCALARS w unsigned_char 1\n"
                                "LOOKUP_TABLE default\n300\n";
    put_file(scratch("a.vtk"), large, strlen(large));
    assert_int_equal(gls_tractogram_reader_open(scratch("a.vtk"), NULL, &reader), GLS_OK);
    assert_int_equal(gls_tractogram_reader_next(reader, &s), GLS_ERR_INPUT); /* and not 44 */
    gls_tractogram_reader_close(reader);
    /* a word of 127 bytes at most */
    static const char row[] = "# vtk DataFile Version 3.0\nSPACE=RAS\nASCII\nDATASET POLYDATA\nPOINTS 1 float\n"
                              "0 1 2\nLINES 1 2\n1 %0*d\n";
    put_file(scratch("a.vtk"), data, (size_t)snprintf(data, sizeof data, row, 127, 0));
    assert_int_equal(gls_tractogram_reader_open(scratch("a.vtk"), NULL, &reader), GLS_OK);
    assert_int_equal(gls_tractogram_reader_next(reader, &s), GLS_OK);
    gls_tractogram_reader_close(reader);
    put_file(scratch("a.vtk"), data, (size_t)snprintf(data, sizeof data, row, 128, 0));
    refuses(scratch("a.vtk"), NULL, "");
    static const char other[] = "# vtk DataFile Version 3.0\nSPACE=RAS\nASCII\nDATASET STRUCTURED_POINTS\n";
    put_file(scratch("a.vtk"), other, strlen(other));
    refuses(scratch("a.vtk"), NULL, "only POLYDATA is known");
    static const char *const without[] = {
        "# vtk DataFile Version 3.0\nspace=ras\nASCII\nDATASET POLYDATA\nPOINTS 3 float\n0 1 2 3 4 5 6 7 8\n%s",
        "# vtk DataFile Version 5.1\nspace=ras\nASCII\nDATASET POLYDATA\nPOINTS 3 float\n0 1 2 3 4 5 6 7 8\n%s"};
    static const char *const cells[][2] = {
        {"POLYGONS 1 4\n3 0 1 2\n", "POLYGONS 2 3\nOFFSETS vtktypeint64\n0 3\nCONNECTIVITY vtktypeint64\n0 1 2\n"},
        {"", "LINES 0 0\nOFFSETS vtktypeint64\nCONNECTIVITY vtktypeint64\n"}};
    for (int version = 0; version < 2; version++)
        for (int k = 0; k < 2; k++) {
            int length = snprintf(data, sizeof data, version ? without[1] : without[0], cells[k][version]);
            put_file(scratch("a.vtk"), data, (size_t)length);
            refuses(scratch("a.vtk"), NULL, "is no tractogram but a mesh: it has 3 points and ");
        }
    static const char none[] = "# vtk DataFile Version 3.0\nSPACE=RAS\nASCII\nDATASET POLYDATA\nPOINTS 0 float\n";
    put_file(scratch("a.vtk"), none, strlen(none));
    assert_int_equal(gls_tractogram_reader_open(scratch("a.vtk"), NULL, &reader), GLS_OK);
    gls_tractogram_reader_close(reader);
}

/* A caller in Turkey, where "lines" is not "LINES". */
static void test_locale(void **state)
{
    (void)state;
    static const char text[] = "# vtk DataFile Version 3.0\nSPACE=RAS\nascii\ndataset polydata\npoints 1 float\n"
                               "0.5 1 2\nlines 1 2\n1 0\n";
    gls_tractogram_reader *reader;
    gls_streamlines s;
    put_file(scratch("a.vtk"), text, strlen(text));
    if (!setlocale(LC_ALL, "tr_TR.UTF-8")) leave_out("LOCALE", "the locale tr_TR.UTF-8");
    gls_status opened = gls_tractogram_reader_open(scratch("a.vtk"), NULL, &reader),
               read = opened == GLS_OK ? gls_tractogram_reader_next(reader, &s) : opened;
    setlocale(LC_ALL, "C");
    assert_int_equal(opened, GLS_OK);
    assert_int_equal(read, GLS_OK);
    assert_true(s.n == 1 && s.point[0][0] == 0.5f);
    gls_tractogram_reader_close(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_vtk), cmocka_unit_test(test_locale)};
    return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}
