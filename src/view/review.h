/* Quality control of a data set: participants with their pictures, and what a person judges of them. */
#ifndef GLS_VIEW_REVIEW_H
#define GLS_VIEW_REVIEW_H

#include <stddef.h>

#include "util/text.h"
#include "view/messages.h"

/* A participant. */
typedef struct gls_view_participant {
    char *name;     /* sub-LABEL */
    char **picture; /* paths of PNG files */
    size_t n_pictures;
    gls_view_judgement judgement;
    char *note; /* NULL: none */
} gls_view_participant;

/* A data set. All zero: none. */
typedef struct gls_view_review {
    char *table; /* path of the judgements, desc-qc_participants.tsv */
    gls_view_participant *list;
    size_t n;
} gls_view_review;

/* Finds the participants below a folder, sub-LABEL, with the pictures in their folders figures and ses-LABEL/figures,
 * and reads the judgements of before. save_to: folder of the table; NULL: the data set's. GLS_ERR_INPUT: there is no
 * participant, or a table of another form. Call gls_view_review_close() also after a failure. */
gls_status gls_view_review_open(gls_view_review *review, const char *folder, const char *save_to);
/* Appends names, numbers of pictures, judgements and notes as JSON. */
gls_status gls_view_review_list(const gls_view_review *review, gls_text *json);
/* Appends the bytes of a picture. GLS_ERR_ARGUMENT: there is no such picture. */
gls_status gls_view_review_picture(const gls_view_review *review, size_t participant, size_t picture, gls_text *bytes);
/* Reads the table again, and writes it with a judgement. Appends JSON with its path. GLS_ERR_INPUT: the table has
 * another form by now; GLS_ERR_OUTPUT: it cannot be written, or another program holds the lock of its folder. What was
 * judged before stays after a failure. */
gls_status gls_view_review_judge(gls_view_review *review, const gls_view_request *request, gls_text *json);
/* Frees everything. */
void gls_view_review_close(gls_view_review *review);

#endif
