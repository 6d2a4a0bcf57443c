/* launch_control.c - an answer's words, and back.
 * SPDX-License-Identifier: Apache-2.0 */
#include "launch_control.h"

/* Words: magic of 63 bits and whether it was cancelled; x, y and z. */
static const uint64_t MAGIC = 0x434c43616e737772u; /* "CLCanswr", even */

void grout_ptx__answer_encode(const grout_ptx_answer *answer, uint64_t words[2]) {
    words[0] = MAGIC | (answer->is_cancelled ? 1 : 0);
    words[1] =
        answer->ctaid[0] | (uint64_t)answer->ctaid[1] << 32 | (uint64_t)answer->ctaid[2] << 48;
}

bool grout_ptx__answer_decode(const uint64_t words[2], grout_ptx_answer *answer,
                              grout_ptx_fault *fault) {
    if ((words[0] & ~(uint64_t)1) != MAGIC) {
        return grout_ptx__fail(fault,
                               "clusterlaunchcontrol.query_cancel of bytes that no try_cancel "
                               "has written");
    }
    answer->is_cancelled = (words[0] & 1) != 0;
    answer->ctaid[0] = (uint32_t)words[1];
    answer->ctaid[1] = (uint32_t)(words[1] >> 32 & 0xffff);
    answer->ctaid[2] = (uint32_t)(words[1] >> 48);
    return true;
}

bool grout_ptx__answer_ctaid(const uint64_t words[2], uint32_t ctaid[3], grout_ptx_fault *fault) {
    grout_ptx_answer answer = {false, {0}};
    if (!grout_ptx__answer_decode(words, &answer, fault)) {
        return false;
    }
    if (!answer.is_cancelled) {
        return grout_ptx__fail(fault,
                               "query_cancel.get_first_ctaid of an answer that has cancelled "
                               "nothing: ask is_canceled first");
    }
    for (int i = 0; i < 3; i++) {
        ctaid[i] = answer.ctaid[i];
    }
    return true;
}
