/* launch_control.h - the 16 bytes that clusterlaunchcontrol.try_cancel answers with.
 * SPDX-License-Identifier: Apache-2.0
 *
 * PTX ISA 'clusterlaunchcontrol.try_cancel', 'clusterlaunchcontrol.query_cancel'. The answer is
 * opaque, so the encoding is our own: a magic word, by which bytes that are no answer are noticed,
 * and the first CTA of the cluster that was cancelled.
 */
#ifndef GROUT_PTX_LAUNCH_CONTROL_H
#define GROUT_PTX_LAUNCH_CONTROL_H

#include "fault.h"

#include <stdint.h>

enum { GROUT_PTX_ANSWER_SIZE = 16 }; /* bytes, their alignment, and the tx-count of the mbarrier */

typedef struct grout_ptx_answer {
    bool is_cancelled; /* a cluster that has not begun will not, and is the asker's */
    uint32_t ctaid[3]; /* of its first CTA */
} grout_ptx_answer;

/* As two words of 64 bits, the low one first; coordinates are those of a grid: x below 2^31, y and
 * z below 2^16. */
void grout_ptx__answer_encode(const grout_ptx_answer *answer, uint64_t words[2]);

/* query_cancel.is_canceled. Fails if the bytes are no answer. */
bool grout_ptx__answer_decode(const uint64_t words[2], grout_ptx_answer *answer,
                              grout_ptx_fault *fault);

/* query_cancel.get_first_ctaid: fails too where nothing was cancelled. */
bool grout_ptx__answer_ctaid(const uint64_t words[2], uint32_t ctaid[3], grout_ptx_fault *fault);

#endif
