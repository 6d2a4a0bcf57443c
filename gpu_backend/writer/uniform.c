/* uniform.c - values that one lane finds out and all have: through the exchange area, in a
 * warp_map by a shuffle. SPDX-License-Identifier: Apache-2.0 */
#include "lanes.h"

#include "invariant.h"
#include "values.h"

#define EXCHANGE 0 /* among the objects of automatic barriers */

void grout_emit__begin_uniform(grout_emitter *e, grout_value_id value) {
    if (e->is_alone) {
        grout_emit__begin_scalar(e, value);
    } else if (e->is_warp) {
        const char *name = grout_emit__name(e, value);
        grout_emit__declare(e, value);
        grout_emit__end(e, " = 0;");
        grout_emit__line(e, "if (lane %% 32 == 0) {");
        e->indent++;
        grout_emit__begin(e);
        grout_emit__add(e, "%s = ", name);
    } else {
        GROUT_ASSERT(e->plan->exchange_bytes > 0); /* else the text has no 'exchange' */
        grout_emit__before_access(e, EXCHANGE, true);
        grout_emit__open_issuer(e);
        grout_emit__begin(e);
        grout_emit__add(e, "grout_store_smem(exchange, ");
    }
}

void grout_emit__end_uniform(grout_emitter *e, grout_value_id value) {
    const char *name = grout_emit__name(e, value);
    if (e->is_alone) {
        grout_emit__end(e, ";");
    } else if (e->is_warp) {
        grout_emit__end(e, ";");
        grout_emit__close(e, "");
        grout_emit__thread_barrier(e, "");
        grout_emit__line(e, "%s = __shfl_sync(0xffffffffu, %s, %d);", name, name,
                         (int)FIELD(WARP_READ_LANE, 0));
    } else {
        grout_emit__end(e, ");");
        grout_emit__close_issuer(e);
        grout_emit__after_access(e, EXCHANGE, true);
        grout_emit__before_access(e, EXCHANGE, false);
        grout_emit__begin_scalar(e, value);
        grout_emit__end(e, "grout_load_smem<%s>(exchange);", grout_emit__type_name(e, value));
        grout_emit__after_access(e, EXCHANGE, false);
    }
}
