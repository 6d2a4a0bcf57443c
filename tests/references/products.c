/* products.c - references.py's sums of products, as fast as a processor adds.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>

/* Rows [m][k], columns [n][k], sums [m][n]. */
typedef struct products {
    const double *rows, *columns;
    double *sums;
    size_t m, n, k;
} products;

/* Each sum from its first product to its last, as Python adds them. */
__attribute__((visibility("default"))) void multiply(const products *its);

void multiply(const products *its) {
    for (size_t i = 0; i < its->m; i++) {
        for (size_t j = 0; j < its->n; j++) {
            const double *row = &its->rows[i * its->k], *column = &its->columns[j * its->k];
            double sum = 0;
            for (size_t k = 0; k < its->k; k++) {
                sum += row[k] * column[k];
            }
            its->sums[i * its->n + j] = sum;
        }
    }
}
