/* advising.c - check --advice: synchronisation that a launch does not need, in words.
 * SPDX-License-Identifier: Apache-2.0 */
#include "launch.h"

#include "alloc.h"
#include "stage.h"

#include "grout-internal/advice.h"
#include "grout-internal/gpu.h"

/* What the callback of a search goes by. */
typedef struct advising {
    grout_launch_callbacks *callbacks;
    const grout_advice_list *list; /* as it grows */
    grout_stage stage;
} advising;

/* The launch itself runs first; the budget bounds the trials. */
static bool goes_on(void *payload) {
    advising *it = payload;
    grout_progress_line__use_budget(&it->callbacks->line);
    grout_stage__say(&it->stage, "looking for advice: %llu runs",
                     (unsigned long long)it->list->runs);
    grout_stage__draw(it->callbacks->session);
    return grout_progress_line__goes_on(&it->callbacks->line);
}

static grout_place get_place(const grout_load *load, grout_op_id op) {
    return grout_module_get_place(load->bound, grout_module_get_op(load->bound, op)->loc);
}

static const char *get_text(const grout_load *load, grout_op_id op) {
    uint16_t opcode = grout_module_get_op(load->bound, op)->opcode;
    return grout_op_get_info((grout_opcode)opcode)->text;
}

/* Lines of the items that can all go together. */
static void add_set_note(grout_session *session, const grout_load *load,
                         const grout_advice_list *list) {
    grout_text lines = {0};
    for (uint32_t i = 0; i < list->count; i++) {
        for (uint32_t k = 0; k < list->items[i].op_count && list->items[i].is_in_set; k++) {
            grout_text_add(&lines, "%s%u", lines.size == 0 ? "" : ", ",
                           get_place(load, list->items[i].ops[k]).line);
        }
    }
    if (lines.data != NULL) {
        grout_diags_help(session->diags, "these can go together: lines %s", lines.data);
    }
    grout_text_free(&lines);
}

static void add_item(grout_session *session, const grout_load *load, const grout_advice_list *list,
                     const grout_advice *item) {
    grout_op_id first = item->ops[0];
    grout_diags_add(session->diags, item->code, get_place(load, first),
                    item->code == GROUT_DIAG_REDUNDANT_ORDER
                        ? "with order(relaxed) on this %s every access of this launch is still "
                          "ordered"
                    : item->op_count == 1
                        ? "without this %s every access of this launch is still "
                          "ordered"
                        : "without this %s, and what belongs to it, every access of "
                          "this launch is still ordered",
                    get_text(load, first));
    for (uint32_t k = 1; k < item->op_count; k++) {
        grout_diags_note(session->diags, get_place(load, item->ops[k]), "it goes with this %s",
                         get_text(load, item->ops[k]));
    }
    if (list->set_size > 1 && item->is_in_set) {
        add_set_note(session, load, list);
    } else if (list->count > 1 && !item->is_in_set) {
        grout_diags_help(session->diags, "it is needed once the others that are advised are gone");
    }
}

/* Why there is no advice, or not all of it. */
static void describe_end(grout_session *session, const grout_load *load, grout_kernel_id kernel,
                         const grout_advice_list *list, grout_cut cut) {
    const char *name =
        grout_module_get_string(load->bound, grout_module_get_kernel(load->bound, kernel)->name);
    if (!list->is_complete && cut != GROUT_CUT_NONE) {
        grout_session__note(session, "the advice is not complete: %s\n", grout_cut_get_text(cut));
    } else if (!list->is_possible) {
        grout_session__note(session,
                            "@%s: no advice: it needs a launch without errors and warnings whose "
                            "verdict holds for every schedule without --explore\n",
                            name);
    } else if (list->is_complete && list->count == 0) {
        grout_session__note(
            session, "@%s: no advice: no commit, wait, barrier or costly order can be left out\n",
            name);
    }
    if (cut == GROUT_CUT_INTERRUPT) {
        grout_diags_add(session->diags, GROUT_DIAG_INTERRUPTED, grout_nowhere,
                        "Ctrl-C or another signal ended the search for advice");
    }
}

/* By op: orders that cost something on a GPU; NULL if the backend cannot say, or without memory. */
static bool *find_orders(const grout_session *session, const grout_load *load,
                         grout_kernel_id kernel) {
    grout_diags *unheard = grout_session__new_diags(session);
    bool *orders = grout__new(NULL, grout_module_get_op_count(load->bound), sizeof *orders);
    if (unheard == NULL || orders == NULL ||
        !grout_gpu_find_wide_orders(load->bound, kernel, orders, unheard)) {
        grout__free(orders);
        orders = NULL;
    }
    grout_diags_free(unheard);
    return orders;
}

void grout_launch__advise(grout_session *session, const grout_load *load, grout_kernel_id kernel,
                          const grout_argument_set *arguments,
                          const grout_launch_settings *settings) {
    grout_launch_callbacks payload;
    grout_advice_list list = {0};
    advising it = {.callbacks = &payload, .list = &list};
    bool *orders = find_orders(session, load, kernel);
    const grout_advice_options options = {
        .orders = orders,
        .strict_fences = grout_options__has(&session->options, GROUT_OPTION_STRICT_FENCES),
        .goes_on = goes_on,
        .payload = &it};
    grout_launch launch =
        grout_launch__prepare(session, load, kernel, arguments, settings, &payload);
    grout_stage__begin(&it.stage, session);
    grout_stage__say(&it.stage, "looking for advice");
    bool is_good = grout_advise(&launch, &options, &list, session->diags);
    grout_stage__end(&it.stage, session);
    if (is_good) {
        for (uint32_t i = 0; i < list.count; i++) {
            add_item(session, load, &list, &list.items[i]);
        }
        describe_end(session, load, kernel, &list, payload.line.cut);
    }
    grout_advice_list_deinit(&list);
    grout__free(orders);
}
