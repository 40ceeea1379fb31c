/* panel.h: factors of a few lines of a matrix: what is left of a blocked factorization
 * when its products are taken out of it. A line is a run of memory: it is a column where
 * columns are eliminated, a row where rows are divided. */
#ifndef DT_PANEL_H
#define DT_PANEL_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    void *data;     /* of float32, or float64 where `wide` */
    int64_t count;  /* of lines */
    int64_t length; /* of a line, in elements */
    int64_t step;   /* from one line to the next, in elements */
} dt_panel;

/* Makes the factors of columns, of which there are no more than rows, in place, with
 * partial pivoting: below the diagonal is the lower one, whose diagonal is ones. Row k was
 * exchanged with row pivots[k], k = 0, 1, ...: the first of those whose element is the
 * largest, or NaN. A column that has zeros there stays as it is. */
void dt_panel_eliminate(bool wide, int64_t *pivots, const dt_panel *columns);

/* Divides as many rows by a lower triangle, in C order, in place, by substitution. */
void dt_panel_divide(bool wide, const void *lower, const dt_panel *rows);

#endif
