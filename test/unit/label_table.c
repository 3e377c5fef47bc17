/* Tables of labels of several programs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "files.h"
#include <glslines/log.h>

#include "image/label_table.h"

static char log_text[1024];

static void keep_log(void *user, gls_log_level level, const char *line)
{
    (void)user;
    if (level <= GLS_LOG_WARNING) snprintf(log_text, sizeof log_text, "%s", line);
}

/* Each text has the labels 10 and 11 with these names. */
static void test_forms(void **state)
{
    static const struct {
        const char *text, *ten, *eleven;
    } cases[] = {
        /* BIDS and CSV: the head names the columns, in any order */
        {"index\tname\n10\tThalamus\n11\tCaudate\n", "Thalamus", "Caudate"},
        {"index\tcolor\tname\n10\t#FF0000\tThalamus\n11\t#00FF00\tCaudate\n", "Thalamus", "Caudate"},
        {"color\tindex\tname\n#FF0000\t10\tThalamus\n#00FF00\t11\tCaudate\n", "Thalamus", "Caudate"},
        {"name\tindex\nLeft Thalamus\t10\nLeft Caudate, head\t11\n", "Left Thalamus", "Left Caudate, head"},
        {"index,name\n10,Left Thalamus\n11,Left Caudate\n", "Left Thalamus", "Left Caudate"},
        {"\"index\",\"name\"\r\n\"10\",\"Thalamus, left\"\r\n\"11\",\"The \"\"11th\"\"\"\r\n", "Thalamus, left",
         "The \"11th\""},
        {"\xef\xbb\xbfindex;name;note\n10;Left, Thalamus;a\n11;Left Caudate;b\n", "Left, Thalamus", "Left Caudate"},
        {"index,label\n10,Thalamus\n11,Caudate\n", "Thalamus", "Caudate"},
        {"label,name\n10,Thalamus\n11,Caudate\n", "Thalamus", "Caudate"},
        {"Region_Name,Label-ID\nThalamus,10\nCaudate,11\n", "Thalamus", "Caudate"},
        {"id,network,abbreviation\n10,a,Tha\n11,b,Cau\n", "Tha", "Cau"},
        {"ID,Name\n10.0,Thalamus\n11.0,Caudate\n,\nn/a,none\n", "Thalamus", "Caudate"},
        {"#index,name\n10,Thalamus\n# a comment\n11,Caudate\n", "Thalamus", "Caudate"},
        {"10,Left Thalamus\n11,Left Caudate", "Left Thalamus", "Left Caudate"},
        {"Nummer,Gebiet\n10,Thalamus\n11,Caudate\n", "Thalamus", "Caudate"},
        {"index name R G B\n10 Left Thalamus 1 2 3\n11 Caudate 4 5 6\n", "Left Thalamus", "Caudate"},
        /* FreeSurfer */
        {"#$Id: FreeSurferColorLUT.txt$\n#No. Label Name:   R   G   B   A\n\n0   Unknown   0 0 0 0\n10  Left-Thalamus  "
         " 0 118 "
         "14 0\n11  Left-Caudate  122 186 220 0\n",
         "Left-Thalamus", "Left-Caudate"},
        {"10 Left Thalamus 0 118 14 0\n11 Left Caudate 122 186 220 0\n", "Left Thalamus", "Left Caudate"},
        {"10 Area 44 0 118 14 0\n11 Area X left 122 186 220 0\n", "Area 44", "Area X left"},
        /* MRtrix3: index, short name, name, colour */
        {"# fs_default.txt\n10 L.TH Left-Thalamus 0 118 14 255\n11 L.CA Left-Caudate 122 186 220 255\n", "L.TH",
         "L.CA"},
        /* AAL: short name, name, index */
        {"TH\tThalamus_L\t10\nCA\tCaudate_L\t11\n", "Thalamus_L", "Caudate_L"},
        /* ITK-SNAP */
        {"################\n# ITK-SnAP Label Description File\n    0     0    0    0        0  0  0    \"Clear "
         "Label\"\n   10   "
         "255    0    0        1  1  1    \"Left Thalamus, all\"\n   11     0  255    0        1  1  1    \"Left "
         "Caudate\"\n",
         "Left Thalamus, all", "Left Caudate"},
        /* words without a head */
        {"10 Left Thalamus 10 20 30 0\n11 Caudate 40 50 60\n", "Left Thalamus", "Caudate"},
        {"10 Area 44 10 20 30\n11 Area 45 40 50 60\n", "Area 44", "Area 45"},
        {"10 Area 44 1 2 3 128\n11 Area 4 5 6 128\n", "Area 44", "Area"},
        {"10 Left Thalamus\n11 Left Caudate\n", "Left Thalamus", "Left Caudate"},
        {"10 left-10 0 0 0 0\n11 \"right 11\"\n", "left-10", "right 11"},
        /* FSL: images of one label a voxel hold index + 1 if the atlas is probabilistic */
        {"<?xml version=\"1.0\"?>\n<atlas "
         "version=\"1.0\"><header><name>A</name><type>Probabilistic</type></header>\n<data>\n"
         "<!-- <label index=\"9\">Wrong</label> -->\n<label index=\"9\" x=\"48\" y=\"94\">Thalamus &amp; more</label>\n"
         "<label x='1' index='10'> Caudat&#233; </label>\n</data></atlas>\n",
         "Thalamus & more", "Caudat\xc3\xa9"},
        {"<atlas><header><type>Label</type></header><data><label index=\"10\">Thalamus</label>\n"
         "<label index=\"3\" value=\"11\">Caudate</label></data></atlas>",
         "Thalamus", "Caudate"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gls_label_table table;
        const char *path = scratch("t.txt");
        put_file(path, cases[i].text, strlen(cases[i].text));
        if (gls_label_table_read(&table, path)) fail_msg("case %zu: %s", i, gls_last_error());
        const char *ten = gls_label_table_name(&table, 10), *eleven = gls_label_table_name(&table, 11);
        if (!ten || !eleven || strcmp(ten, cases[i].ten) != 0 || strcmp(eleven, cases[i].eleven) != 0)
            fail_msg("case %zu: '%s' and '%s'", i, ten ? ten : "(none)", eleven ? eleven : "(none)");
        assert_null(gls_label_table_name(&table, 12));
        gls_label_table_finish(&table);
    }
}

/* Colours of the labels 10 and 11, as 0xRRGGBB; -1: none. */
static void test_colours(void **state)
{
    static const struct {
        const char *text;
        long ten, eleven;
    } cases[] = {
        /* FreeSurfer, MRtrix3, ITK-SNAP; names of several words */
        {"#No. Label Name: R G B A\n10 Left-Thalamus 0 118 14 0\n11 Left-Caudate 122 186 220 0\n", 0x00760e, 0x7abadc},
        {"10 L.TH Left-Thalamus 0 118 14 255\n11 L.CA Left-Caudate 122 186 220 255\n", 0x00760e, 0x7abadc},
        {"10 Left Thalamus 0 118 14\n11 Area 44 122 186 220\n", 0x00760e, 0x7abadc},
        {"10 255 0 7 1 1 1 \"Left Thalamus\"\n11 0 255 0 1 1 1 \"Left Caudate\"\n", 0xff0007, 0x00ff00},
        {"10\tLeft Thalamus\t1\t2\t3\n11\tCaudate\t4\t5\t6\n", 0x010203, 0x040506},
        /* behind the name, or label and name, whatever comes behind; with an opacity, or without */
        {"10\ta\t10\t20\t30\t0\n11\tb\t40\t50\t60\n", 0x0a141e, 0x28323c},
        {"10\ta\t1\t2\t3\t255\t9\n11\tb\t4\t5\t6\t255\t9\n", 0x010203, 0x040506},
        {"10\ta\t1\t2\t3\tleft\n11\tb\tn/a\tn/a\tn/a\tright\n", 0x010203, -1},
        {"a\t10\t1\t2\t3\nb\t11\t4\t5\t6\n", 0x010203, 0x040506},
        {"10 a 10 20 30 0\n11 b 40 50 60\n", 0x0a141e, 0x28323c},
        {"10 Area 44 10 20 30\n11 Area 45 40 50 60\n", 0x0a141e, 0x28323c},
        {"10 Area 44 10 20 30 128\n11 Area 40 50 60 128\n", 0x0a141e, 0x28323c},
        {"10 a #010203\n11 b #040506\n", 0x010203, 0x040506},
        /* the head names the columns */
        {"index\tname\tabbreviation\tcolour\n10\tTha\t#abcdef\t#010203\n11\tCau\t#abcdef\tn/a\n", 0x010203, -1},
        {"index\tname\tabbreviation\n10\tThalamus\t#abcdef\n11\tCaudate\tCau\n", -1, -1},
        {"index\tname\tcolor\n10\tThalamus\t#FF0a00\n11\tCaudate\tn/a\n", 0xff0a00, -1},
        {"color\tindex\tname\n#FF000080\t10\tThalamus\n#00FF00\t11\tCaudate\n", 0xff0000, 0x00ff00},
        {"index,R,G,B,name\n10,1,2,3,Thalamus\n11,4,5,256,Caudate\n", 0x010203, -1},
        {"index name red green blue x\n10 Left Thalamus 1 2 3 40\n11 Caudate 4 5 6 50\n", 0x010203, 0x040506},
        /* no colours: other numbers, and black everywhere */
        {"index,name,x,y,z\n10,Thalamus,1,2,3\n11,Caudate,4,5,6\n", -1, -1},
        {"10,Thalamus\n11,Caudate\n", -1, -1},
        {"10 left-10 0 0 0 0\n11 right-11 0 0 0 0\n", -1, -1},
        {"10 left-10 0 0 0 0\n11 right-11 1 0 0 0\n", 0, 0x010000},
        {"10 left-10 0.5 118 14 0\n11 right-11 122 186 -3 0\n", -1, -1},
        {"10\ta\t10\t-20\t30\n11\tb\t1\t2\t3\n", -1, -1},
        {"10 Area 44 10 20.5 30\n11 b 1 2 3\n", -1, -1},
        {"10 300 0 7 1 1 1 \"Left Thalamus\"\n11 0 255 0 1 1 1 \"Left Caudate\"\n", -1, -1},
        {"<atlas><label index=\"10\" value=\"10\">A</label><label index=\"11\" value=\"11\">B</label></atlas>", -1, -1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gls_label_table table;
        const char *path = scratch("t.txt");
        put_file(path, cases[i].text, strlen(cases[i].text));
        if (gls_label_table_read(&table, path)) fail_msg("case %zu: %s", i, gls_last_error());
        for (int32_t k = 0; k < 2; k++) {
            const uint8_t *c = gls_label_table_colour(&table, 10 + k);
            const long found = c ? c[0] << 16 | c[1] << 8 | c[2] : -1, wanted = k ? cases[i].eleven : cases[i].ten;
            if (found != wanted) fail_msg("case %zu, label %d: %lx, not %lx", i, 10 + k, found, wanted);
        }
        assert_null(gls_label_table_colour(&table, 12));
        gls_label_table_finish(&table);
    }
}

static void test_refused(void **state)
{
    static const struct {
        const char *text, *reason;
    } cases[] = {
        {"", "has no line with a label and a name"},
        {"# only a comment\n", "has no line with a label and a name"},
        {"10\n11\n", "line 1: has no column of labels and one of names"},
        {"Nummer,Farbe,Gebiet\n10,red,Thalamus\n", "its head must name them"},
        {"index,name\n10,Thalamus\nten,Caudate\n", "line 3: 'ten' is no label"},
        {"<html><body>no atlas</body></html>", "has no element <label"},
        {"<atlas><label index=\"x\">A</label></atlas>", "label 1 has no index"},
        {"<atlas><label index=\"1\"><b>A</b></label></atlas>", "label 1 has no end"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gls_label_table table;
        const char *path = scratch("t.txt");
        put_file(path, cases[i].text, strlen(cases[i].text));
        const gls_status status = gls_label_table_read(&table, path);
        gls_label_table_finish(&table);
        if (status != GLS_ERR_INPUT || !strstr(gls_last_error(), cases[i].reason) ||
            strncmp(gls_last_error(), path, strlen(path)) != 0)
            fail_msg("case %zu: status %d, %s", i, status, gls_last_error());
    }
}

/* The first name of a label counts, however long the table is. */
static void test_repeats(void **state)
{
    (void)state;
    gls_log_set(keep_log, NULL, GLS_LOG_WARNING);
    for (int n = 1; n < 3000; n = 3 * n + 7) {
        gls_label_table table;
        const char *path = scratch("t.csv");
        FILE *file = fopen(path, "w");
        fprintf(file, "index,name\n");
        for (int i = 0; i < n; i++) fprintf(file, "%d,first %d\n", i, i);
        fprintf(file, "0,second\n0,first 0\n");
        fclose(file);
        log_text[0] = '\0';
        assert_int_equal(gls_label_table_read(&table, path), GLS_OK);
        assert_int_equal(table.n, n);
        assert_string_equal(gls_label_table_name(&table, 0), "first 0");
        assert_non_null(strstr(log_text, "1 lines give a label again with another name: 0 is 'first 0' and 'second'"));
        gls_label_table_finish(&table);
    }
    gls_log_set(NULL, NULL, GLS_LOG_WARNING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_forms), cmocka_unit_test(test_colours),
                                       cmocka_unit_test(test_refused), cmocka_unit_test(test_repeats)};
    return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}
