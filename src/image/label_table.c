/* Reads tables of labels. Programs write the columns in different orders and with different separators: the head names
 * the columns where there is one; else the numbers show them. */
#include "image/label_table.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/labels.h>
#include <glslines/log.h>

#include "util/file.h"
#include "util/numbers.h"
#include "util/status.h"
#include "util/text.h"
#include "util/text_tables.h"

/* Largest table, bytes. */
#define MAX_BYTES ((size_t)64 << 20)
/* Most columns of a table. */
#define MAX_COLUMNS 64
/* Numbers of a colour at the end of a row: red, green and blue, and an opacity where there is one. */
#define MIN_COLOUR 3
#define MAX_COLOUR 4

/* A row of a table in memory: its fields, and its line in the file, from 1. */
typedef struct row {
    size_t first, n, line;
} row;

/* A table that is split into fields. */
typedef struct fields {
    const char *path;
    char **cell;
    size_t n_cells, cell_room;
    row *row;
    size_t n, room;
    char separator; /* ' ': one or more blanks */
} fields;

/* --- Rows and fields. */

/* Whether a field is a whole number, which may have a fraction of zeros, as pandas writes numbers of incomplete
 * columns.
 */
static bool is_whole(const char *field, double *value)
{
    return gls_parse_double(field, value) && *value == floor(*value) && fabs(*value) < 1e15;
}

static bool is_number(const char *field)
{
    double value;
    return gls_parse_double(field, &value);
}

/* Whether the character stands in a line outside of quotes. */
static bool has_outside(const char *line, size_t length, char wanted)
{
    bool quoted = false;
    for (size_t i = 0; i < length; i++) {
        quoted ^= line[i] == '"';
        if (!quoted && line[i] == wanted) return true;
    }
    return false;
}

/* Whether a line or field is a comment: it begins with #, but not with a colour such as #FF0000. */
static bool is_comment(const char *text)
{
    size_t n = 0;
    if (*text != '#') return false;
    while (gls_is_hex((unsigned char)text[1 + n])) n++;
    return (n != 6 && n != 8) || gls_is_alnum((unsigned char)text[1 + n]);
}

/* Whether a field is a colour #RRGGBB, which may have an opacity behind it. */
static bool is_hex(const char *field)
{
    return *field == '#' && !is_comment(field) && strlen(field) <= 9;
}

/* Start of the row of a line; NULL: the line is blank or a comment. */
static const char *row_of(const char *line)
{
    line += strspn(line, " \t\r");
    return *line && *line != '\n' && !is_comment(line) ? line : NULL;
}

/* The separator: a tab, comma or semicolon that all rows have, else blanks. */
static char find_separator(const char *text)
{
    static const char candidate[] = {'\t', ',', ';'};
    bool in_all[sizeof candidate] = {true, true, true};
    size_t rows = 0;
    for (const char *line = text; *line;) {
        const size_t length = strcspn(line, "\n");
        const char *begin = row_of(line), *end = line + length;
        rows += begin != NULL;
        /* blanks at the end separate nothing */
        while (begin && strchr(" \t\r", end[-1])) end--;
        for (size_t i = 0; i < sizeof candidate && begin; i++)
            in_all[i] = in_all[i] && has_outside(begin, (size_t)(end - begin), candidate[i]);
        line += length + (line[length] == '\n');
    }
    for (size_t i = 0; i < sizeof candidate; i++)
        if (rows > 0 && in_all[i]) return candidate[i];
    return ' ';
}

/* Removes blanks around a field. */
static char *trim(char *field)
{
    field += strspn(field, " \t\r");
    for (size_t n = strlen(field); n > 0 && strchr(" \t\r", field[n - 1]); n--) field[n - 1] = '\0';
    return field;
}

/* Cuts the next field of a line whose fields are separated by blanks; a quoted field may have blanks. NULL: none. */
static char *next_word(char **rest)
{
    char *word = *rest + strspn(*rest, " \t\r"), *end;
    if (!*word) return NULL;
    if (*word == '"' && (end = strchr(word + 1, '"'))) {
        word++;
        *rest = end + 1;
    } else {
        end = word + strcspn(word, " \t\r");
        *rest = end + (*end != '\0');
    }
    *end = '\0';
    /* reverse the escapes by which glslines writes names that are not UTF-8 */
    gls_utf8_decode(word);
    return word;
}

static gls_status add_cell(fields *f, char *cell)
{
    if (f->n_cells == f->cell_room) {
        const size_t room = f->cell_room ? 2 * f->cell_room : 1024;
        char **more = realloc(f->cell, room * sizeof *more);
        if (!more) return gls_no_memory();
        f->cell = more;
        f->cell_room = room;
    }
    f->cell[f->n_cells++] = cell;
    f->row[f->n - 1].n++;
    return GLS_OK;
}

static gls_status add_row(fields *f, size_t line)
{
    if (f->n == f->room) {
        const size_t room = f->room ? 2 * f->room : 256;
        row *more = realloc(f->row, room * sizeof *more);
        if (!more) return gls_no_memory();
        f->row = more;
        f->room = room;
    }
    f->row[f->n++] = (row){f->n_cells, 0, line};
    return GLS_OK;
}

/* Splits a text whose fields are separated by blanks. Comments and blank lines are left out. */
static gls_status split_blanks(fields *f, char *text)
{
    gls_status status = GLS_OK;
    size_t line = 0;
    for (char *rest = text, *at; !status && (at = strsep(&rest, "\n"));) {
        line++;
        if (!row_of(at)) continue;
        status = add_row(f, line);
        for (char *word; !status && (word = next_word(&at));) status = add_cell(f, word);
    }
    return status;
}

/* Splits a text with tabs, commas or semicolons. A comment in front of the first row is kept, as it may be the head. */
static gls_status split_records(fields *f, char *text)
{
    char *cell[MAX_COLUMNS];
    gls_records records = gls_records_begin(text, f->separator);
    gls_status status = GLS_OK;
    for (size_t n; !status && (n = gls_record_next(&records, cell, MAX_COLUMNS)) > 0;) {
        const size_t used = n < MAX_COLUMNS ? n : MAX_COLUMNS;
        for (size_t i = 0; i < used; i++) cell[i] = trim(cell[i]);
        const bool comment = is_comment(cell[0]);
        if (used == 1 && !*cell[0]) continue;
        if (comment && (used == 1 || f->n > 1 || (f->n == 1 && !is_comment(f->cell[0])))) continue;
        /* of several comments that may be the head the last one counts */
        if (comment) f->n = f->n_cells = 0;
        status = add_row(f, records.line);
        for (size_t i = 0; i < used && !status; i++) status = add_cell(f, cell[i]);
    }
    return status;
}

/* --- Columns. */

/* The columns with the labels, their names, their abbreviations and their colours; -1: none. */
typedef struct columns {
    int label, name, abbreviation;
    int hex;                 /* that of colours #RRGGBB; -1: none */
    int channel[MIN_COLOUR]; /* those of red, green and blue; -1: none */
    size_t rows;             /* number of the first row with a label: 1 behind a head, else 0 */
    bool joined;  /* the name is all words from its column on, without the last `behind`, or those of a colour */
    int behind;   /* -1: there is no head, and as many as a colour has */
    bool opacity; /* colours at the end of joined rows have one, where there are enough numbers */
} columns;

static const char *const label_names[] = {"index", "label", "id",       "value",     "key",         "number", "no",
                                          "idx",   "roi",   "label id", "region id", "label index", NULL};
static const char *const region_names[] = {"name",      "label name", "region name",  "roi name", "full name",
                                           "long name", "label",      "region",       "roi",      "structure",
                                           "anatomy",   "region id",  "abbreviation", NULL};
static const char *const short_names[] = {"abbreviation", "short name", "acronym", NULL};
static const char *const hex_names[] = {"color", "colour", NULL};
static const char *const channel_names[MIN_COLOUR][3] = {{"red", "r", NULL}, {"green", "g", NULL}, {"blue", "b", NULL}};

/* Whether the head of a column is a word of the list; _ and - count as blanks, and # in front does not count. */
static bool is_head(const char *field, const char *word)
{
    char plain[64];
    size_t n = 0;
    field += strspn(field, "# \t");
    for (; field[n] && n + 1 < sizeof plain; n++) plain[n] = strchr("_-", field[n]) ? ' ' : field[n];
    while (n > 0 && strchr(".: ", plain[n - 1])) n--;
    plain[n] = '\0';
    return gls_case_compare(plain, word) == 0;
}

/* Field of a row; "": the row is shorter. */
static const char *field_at(const fields *f, size_t r, int column)
{
    assert(f->cell);
    return column >= 0 && (size_t)column < f->row[r].n ? f->cell[f->row[r].first + (size_t)column] : "";
}

/* Whether all rows from `first` on have a whole number in a column. */
static bool is_whole_column(const fields *f, size_t first, int column)
{
    double value;
    for (size_t r = first; r < f->n; r++)
        if (!is_whole(field_at(f, r, column), &value)) return false;
    return f->n > first;
}

/* Column of the head whose name stands first in the list. except: a column that is not meant. whole: only a column of
 * whole numbers. */
static int find_column(const fields *f, const char *const *list, int except, bool whole)
{
    for (; *list; list++)
        for (int c = 0; c < (int)f->row[0].n; c++)
            if (c != except && is_head(field_at(f, 0, c), *list) && (!whole || is_whole_column(f, 1, c))) return c;
    return -1;
}

/* Finds columns by the head. Returns false if the first row is none: it has a whole number, or names no column. Where
 * blanks separate columns, rows may have more words than the head: those of names with blanks. */
static bool find_by_head(const fields *f, columns *c)
{
    double value;
    bool fits = true;
    for (int i = 0; i < (int)f->row[0].n; i++)
        if (is_whole(field_at(f, 0, i), &value)) return false;
    c->rows = 1;
    c->label = find_column(f, label_names, -1, true);
    /* a column whose numbers are damaged is found, too, so that the message names the line */
    if (c->label < 0) c->label = find_column(f, label_names, -1, false);
    c->name = find_column(f, region_names, c->label, false);
    c->abbreviation = find_column(f, short_names, c->label, false);
    c->hex = find_column(f, hex_names, c->label, false);
    for (int k = 0; k < MIN_COLOUR; k++) c->channel[k] = find_column(f, channel_names[k], c->label, false);
    if (c->label < 0 || c->name < 0) return false;
    c->behind = (int)f->row[0].n - 1 - c->name;
    for (size_t r = 1; r < f->n && f->separator == ' '; r++) {
        fits = fits && f->row[r].n >= f->row[0].n;
        c->joined |= f->row[r].n > f->row[0].n;
    }
    return fits && (!c->joined || c->label < c->name);
}

/* Numbers at the end of a row, behind the first word of the name. */
static size_t numbers_at_end(const fields *f, size_t r, const columns *c)
{
    size_t n = 0;
    while (f->row[r].n > (size_t)c->name + 1 + n && is_number(field_at(f, r, (int)(f->row[r].n - 1 - n)))) n++;
    return n;
}

/* Numbers of the colour at the end of a row whose words of the name are joined; 0: it has none. */
static size_t colour_size(const fields *f, size_t r, const columns *c)
{
    const size_t found = numbers_at_end(f, r, c);
    return found < MIN_COLOUR ? 0 : found > MIN_COLOUR && c->opacity ? MAX_COLOUR : MIN_COLOUR;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Whether a column has one text twice. */
static bool has_repeats(const fields *f, size_t first, int column)
{
    const size_t n = f->n - first;
    const char **text = malloc((n + 1) * sizeof *text);
    bool repeats = !text;
    for (size_t r = 0; text && r < n; r++) text[r] = field_at(f, first + r, column);
    if (text) qsort(text, n, sizeof *text, by_text);
    for (size_t r = 1; r < n && !repeats; r++) repeats = strcmp(text[r - 1], text[r]) == 0;
    free(text);
    return repeats;
}

/* Whether some row has a text that is no number in a column. */
static bool is_text_column(const fields *f, size_t first, int column)
{
    for (size_t r = first; r < f->n; r++)
        if (*field_at(f, r, column) && !is_number(field_at(f, r, column))) return true;
    return false;
}

/* Whether a column has numbers, and else nothing but fields without a value. */
static bool is_number_column(const fields *f, size_t first, int column)
{
    bool any = false;
    for (size_t r = first; r < f->n; r++) {
        const char *field = field_at(f, r, column);
        if (!*field || strcmp(field, "n/a") == 0) continue;
        if (!is_number(field)) return false;
        any = true;
    }
    return any;
}

/* Whether colours at the ends of rows have an opacity: the last of four numbers and more is 0, 255 or that of such a
 * row before in half of the rows with a colour. Else the first of them belongs to the name, as in Area 44. */
static bool find_opacity(const fields *f, const columns *c)
{
    size_t colours = 0, opacities = 0;
    double last = -1;
    for (size_t r = c->rows; r < f->n; r++) {
        const size_t found = numbers_at_end(f, r, c);
        const double before = last;
        colours += found >= MIN_COLOUR;
        if (found < MAX_COLOUR) continue;
        gls_parse_double(field_at(f, r, (int)f->row[r].n - 1), &last);
        opacities += last == 0 || last == 255 || last == before;
    }
    return 2 * opacities >= colours;
}

/* Finds the columns of colours where no head names them: any that has #RRGGBB, and the first three of numbers behind
 * label and name, or else those in front of the name, as ITK-SNAP writes them. Those at the end of rows whose words are
 * joined are not in one column. */
static void find_colours(const fields *f, bool at_end, columns *c)
{
    const int last = c->name > c->label ? c->name : c->label;
    int first = c->name > c->label + MIN_COLOUR ? c->label + 1 : -1;
    for (int i = MAX_COLUMNS; i > last && !c->joined; i--)
        if (is_number_column(f, c->rows, i)) first = i;
    for (int k = 0; k < MIN_COLOUR && first >= 0 && !(c->joined && at_end); k++) c->channel[k] = first + k;
    for (size_t r = c->rows; r < f->n; r++)
        for (int i = 0; i < (int)f->row[r].n && c->hex < 0; i++)
            if (i != c->name && is_hex(field_at(f, r, i))) c->hex = i;
}

/* Finds columns by their contents: the first column of whole numbers, and the first that is not of numbers, or that in
 * front of the label. Where blanks separate columns, and rows have different numbers of words, several words without a
 * colour, or a word twice, all words between the label and the colour are the name. */
static bool find_by_contents(const fields *f, columns *c)
{
    size_t least = MAX_COLUMNS;
    bool equal = true;
    *c = (columns){-1, -1, -1, .hex = -1, .channel = {-1, -1, -1}, .rows = c->rows, .behind = -1};
    for (size_t r = c->rows; r < f->n; r++) {
        least = f->row[r].n < least ? f->row[r].n : least;
        equal = equal && f->row[r].n == f->row[c->rows].n;
    }
    for (int i = 0; i < (int)least && c->label < 0; i++)
        if (is_whole_column(f, c->rows, i)) c->label = i;
    for (int i = 0; i < (int)least && c->name < 0; i++)
        if (i != c->label && is_text_column(f, c->rows, i)) c->name = i;
    if (c->label < 0 || c->name < 0) return false;
    /* columns of AAL: short name, name, label */
    if (c->label > c->name + 1 && is_text_column(f, c->rows, c->label - 1)) {
        c->abbreviation = c->name;
        c->name = c->label - 1;
    }
    bool at_end = false;
    for (size_t r = c->rows; r < f->n; r++) at_end |= colour_size(f, r, c) > 0;
    const bool several = !at_end && f->row[c->rows].n > (size_t)c->name + 1;
    c->joined = f->separator == ' ' && c->label < c->name && (!equal || several || has_repeats(f, c->rows, c->name));
    c->opacity = find_opacity(f, c);
    find_colours(f, at_end, c);
    return true;
}

/* --- Colours. */

/* Reads one number of a colour. Returns whether it is from 0 to 255. */
static bool read_channel(const char *field, uint8_t *channel)
{
    double value;
    const bool fits = is_whole(field, &value) && value >= 0 && value <= 255;
    if (fits) *channel = (uint8_t)value;
    return fits;
}

/* Reads a field #RRGGBB, which may have an opacity behind it. */
static bool read_hex(const char *field, uint8_t colour[MIN_COLOUR])
{
    if (!is_hex(field)) return false;
    const unsigned long rgb =
        strtoul((char[]){field[1], field[2], field[3], field[4], field[5], field[6], 0}, NULL, 16);
    for (int k = 0; k < MIN_COLOUR; k++) colour[k] = (uint8_t)(rgb >> (16 - 8 * k));
    return true;
}

/* Field of a row with one number of a colour, before the words of the name are joined; "": there is none. */
static const char *channel_at(const fields *f, size_t r, const columns *c, int k)
{
    const int n = (int)f->row[r].n;
    /* behind a name of several words the fields lie farther back than those of the head */
    if (c->channel[k] >= 0)
        return field_at(f, r, c->channel[k] + (c->joined && c->channel[k] > c->name ? n - (int)f->row[0].n : 0));
    const int size = c->joined && c->behind < 0 ? (int)colour_size(f, r, c) : 0;
    return field_at(f, r, size > 0 ? n - size + k : -1);
}

/* Whether the numbers of a table can be colours. If no head names them, a number in their place that is none shows that
 * all others are none, either. */
static bool has_channels(const fields *f, const columns *c)
{
    uint8_t channel;
    for (size_t r = c->rows; r < f->n && c->behind < 0; r++)
        for (int k = 0; k < MIN_COLOUR; k++)
            if (is_number(channel_at(f, r, c, k)) && !read_channel(channel_at(f, r, c, k), &channel)) return false;
    return true;
}

/* Reads the colour of a row whose words of the name are not joined yet. channels: its numbers may be one. */
static bool read_colour(const fields *f, size_t r, const columns *c, bool channels, uint8_t colour[MIN_COLOUR])
{
    if (read_hex(field_at(f, r, c->hex), colour)) return true;
    for (int k = 0; k < MIN_COLOUR && channels; k++) channels = read_channel(channel_at(f, r, c, k), &colour[k]);
    return channels;
}

/* Takes colours that are black in all rows for none. */
static void check_colours(gls_label_table *table)
{
    bool any = false;
    for (size_t i = 0; i < table->n; i++)
        for (int k = 0; k < MIN_COLOUR; k++) any |= table->entry[i].colour[k] > 0;
    for (size_t i = 0; i < table->n; i++) table->entry[i].has_colour &= any;
}

/* --- Entries. */

/* All words of a row from the name on, without those behind it, as one text in the memory of the words. */
static char *join_words(const fields *f, size_t r, const columns *c)
{
    char **word = f->cell + f->row[r].first + c->name, *to = *word;
    const size_t n = f->row[r].n - (size_t)c->name - (c->behind >= 0 ? (size_t)c->behind : colour_size(f, r, c));
    to += strlen(to);
    for (size_t i = 1; i < n; i++) {
        const size_t length = strlen(word[i]);
        *to++ = ' ';
        memmove(to, word[i], length + 1);
        to += length;
    }
    return *word;
}

/* Makes the entries from the rows. */
static gls_status take_rows(gls_label_table *table, fields *f, const columns *c)
{
    const bool channels = has_channels(f, c);
    table->entry = malloc((f->n + 1) * sizeof *table->entry);
    if (!table->entry) return gls_no_memory();
    for (size_t r = c->rows; r < f->n; r++) {
        double label;
        const char *number = field_at(f, r, c->label), *name = field_at(f, r, c->name);
        /* BIDS writes n/a for what does not exist */
        if (!*number || strcmp(number, "n/a") == 0) continue;
        if (!is_whole(number, &label))
            return gls_fail(GLS_ERR_INPUT, "%s: line %zu: '%.40s' is no label: a label is a whole number from 0 on",
                            f->path, f->row[r].line, number);
        gls_label_entry entry = {.label = 0};
        entry.has_colour = read_colour(f, r, c, channels, entry.colour);
        if (c->joined && *name) name = join_words(f, r, c);
        if (!*name || label < 0 || label > GLS_LABEL_MAX) continue;
        entry.label = (int32_t)label;
        entry.name = name;
        entry.abbreviation = field_at(f, r, c->abbreviation);
        table->entry[table->n++] = entry;
    }
    check_colours(table);
    return GLS_OK;
}

/* Returns the error that the columns of a table are not known. */
static gls_status fail_columns(const fields *f)
{
    if (f->n == 0) return gls_fail(GLS_ERR_INPUT, "%s: has no line with a label and a name", f->path);
    return gls_fail(GLS_ERR_INPUT,
                    "%s: line %zu: has no column of labels and one of names: its head must name them, as in "
                    "index,name, or each line must have a whole number and a name",
                    f->path, f->row[0].line);
}

/* Splits a text into rows and makes the entries. */
static gls_status read_rows(gls_label_table *table, const char *path, char *text)
{
    fields f = {.path = path, .separator = find_separator(text)};
    columns c = {.rows = 0};
    gls_status status = f.separator == ' ' ? split_blanks(&f, text) : split_records(&f, text);
    bool known = !status && f.n > 0 && find_by_head(&f, &c);
    if (!status && !known && f.n > 0) {
        assert(f.cell);
        const bool comment = is_comment(f.cell[0]);
        /* a head with other words does not say which of several columns has the names */
        const bool unknown_head = c.rows == 1 && !comment && f.row[0].n > 2;
        c.rows = c.rows == 1 || comment;
        known = !unknown_head && find_by_contents(&f, &c);
    }
    if (!status && !known) status = fail_columns(&f);
    if (!status) status = take_rows(table, &f, &c);
    table->cell = f.cell;
    free(f.row);
    return status;
}

/* Comparison for qsort(): by label; entries of one label in the order of the file. */
static int by_label(const void *a, const void *b)
{
    const gls_label_entry *x = a, *y = b;
    if (x->label != y->label) return x->label > y->label ? 1 : -1;
    return (x->name > y->name) - (x->name < y->name);
}

/* Sorts the entries, and leaves each label once. */
static void make_unique(gls_label_table *table, const char *path)
{
    size_t kept = 0, repeats = 0;
    gls_label_entry first = {0}, second = {0}; /* the first two entries of one label with different names */
    if (table->n > 0) qsort(table->entry, table->n, sizeof *table->entry, by_label);
    for (size_t i = 0; i < table->n; i++) {
        const gls_label_entry e = table->entry[i];
        if (kept == 0 || table->entry[kept - 1].label != e.label) {
            table->entry[kept++] = e;
        } else if (strcmp(table->entry[kept - 1].name, e.name) != 0 && repeats++ == 0) {
            first = table->entry[kept - 1];
            second = e;
        }
    }
    table->n = kept;
    if (repeats > 0)
        gls_log(GLS_LOG_WARNING,
                "%s: %zu lines give a label again with another name: %d is '%.60s' and '%.60s'; the first name counts",
                path, repeats, first.label, first.name, second.name);
}

gls_status gls_label_table_read(gls_label_table *table, const char *path)
{
    size_t size;
    *table = (gls_label_table){.n = 0};
    if (!path) return GLS_OK;
    gls_status status = gls_file_read_text(path, MAX_BYTES, &table->text, &size);
    if (status) return status;
    char *text = table->text;
    if (strncmp(text, "\xef\xbb\xbf", 3) == 0) text += 3;
    /* line ends of old Macintosh programs */
    if (!strchr(text, '\n'))
        for (char *c = text; (c = strchr(c, '\r'));) *c = '\n';
    const char *first = text + strspn(text, " \t\r\n");
    status = *first == '<' ? gls_label_table_read_xml(table, path, text) : read_rows(table, path, text);
    if (!status && table->n == 0) status = gls_fail(GLS_ERR_INPUT, "%s: has no line with a label and a name", path);
    if (!status) make_unique(table, path);
    return status;
}

/* The entry of a label; NULL: the table does not have it. */
static const gls_label_entry *find_entry(const gls_label_table *table, int32_t label)
{
    size_t low = 0, high = table->n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (table->entry[middle].label < label)
            low = middle + 1;
        else
            high = middle;
    }
    return low < table->n && table->entry[low].label == label ? &table->entry[low] : NULL;
}

const char *gls_label_table_name(const gls_label_table *table, int32_t label)
{
    const gls_label_entry *entry = find_entry(table, label);
    return entry ? entry->name : NULL;
}

const uint8_t *gls_label_table_colour(const gls_label_table *table, int32_t label)
{
    const gls_label_entry *entry = find_entry(table, label);
    return entry && entry->has_colour ? entry->colour : NULL;
}

void gls_label_table_finish(gls_label_table *table)
{
    free(table->text);
    free(table->cell);
    free(table->entry);
    *table = (gls_label_table){.n = 0};
}
