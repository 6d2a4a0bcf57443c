/* draw_tensor_threads.c - what each thread of a drawn kernel with tensor memory does.
 * SPDX-License-Identifier: Apache-2.0 */
#include "draw_tensors.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- barriers -------------------------------------------------------------------------------- */

/* A wait for phase number 'phase' of a barrier, an expression. */
static void add_wait(tensors *t, const char *barrier, const char *phase) {
    if (t->is_explicit) {
        draw_line(&t->d, "mbarrier_wait %s, (rem %s, 2)", barrier, phase);
    } else {
        draw_line(&t->d, "barrier_wait %s", barrier);
    }
}

static void add_arrive(tensors *t, const char *barrier) {
    draw_line(&t->d, "%s %s", t->is_explicit ? "mbarrier_arrive" : "barrier_arrive", barrier);
}

void draw_tensors_add_commit_smem(tensors *t) {
    draw_line(&t->d, t->is_explicit ? "fence_async_shared" : "commit_smem");
}

/* Waits until a ring's slot has been handed back: not in its first round. */
static void add_wait_for_return(tensors *t, const char *barrier, const char *number, uint32_t count,
                                uint32_t total) {
    char phase[96], condition[96];
    if (t->is_explicit) { /* the phase before the first one is over */
        (void)snprintf(phase, sizeof phase, "(add (div %s, %" PRIu32 "), 1)", number, count);
        add_wait(t, barrier, phase);
    } else if (total > count) {
        (void)snprintf(condition, sizeof condition, "if (ge %s, %" PRIu32 ") {", number, count);
        draw_line(&t->d, "%s", condition);
        draw_line(&t->d, "  barrier_wait %s", barrier);
        draw_line(&t->d, "}");
    }
}

/* The last phases of what hands slots back, which nobody has waited for. */
static void add_drain(tensors *t, const char *name, uint32_t count, uint32_t total) {
    const uint32_t open = total < count ? total : count;
    if (t->is_explicit || (total > count && draw_below(&t->d, 3) == 0)) {
        return;
    }
    for (uint32_t i = 0; i < open; i++) {
        draw_line(&t->d, "barrier_wait %s[%" PRIu32 "]", name, (total - open + i) % count);
    }
}

/* ---- the loads of slots ---------------------------------------------------------------------- */

uint32_t draw_tensors_get_total(const tensors *t) {
    return t->tiles * t->steps;
}

/* Who hands slots of SMEM back: the tensor core, or who carries them. */
static const char *get_slot_return(const tensors *t) {
    return t->has_carrier ? "%taken[%slot]" : "%read[%slot]";
}

/* Every second step is of the other type. */
static void open_first_type(tensors *t) {
    draw_line(&t->d, "if (eq (rem %%i, 2), 0) {");
    t->d.indent++;
}

static void open_other_type(tensors *t) {
    t->d.indent--;
    draw_line(&t->d, "} else {");
    t->d.indent++;
}

static void close_type(tensors *t) {
    t->d.indent--;
    draw_line(&t->d, "}");
}

/* 'what', a line up to its source, for %s or %a, and with a cast for what is of the other type. */
static void add_move(tensors *t, const char *what, const char *name, const char *element,
                     const char *source) {
    draw *d = &t->d;
    if (t->mixing != MIXING_BOTH) {
        draw_line(d, "%s %s[%s], %s", what, name, element, source);
        return;
    }
    open_first_type(t);
    draw_line(d, "%s %s[%s], %s", what, name, element, source);
    open_other_type(t);
    draw_line(d, "%s %%z[%s], (cast %s : %s)", what, element, source,
              draw_tensors_get_form(t)->other);
    close_type(t);
}

/* What the tables of a step say: 1 or 2 for all. */
static void add_tables(tensors *t) {
    draw *d = &t->d;
    if (draw_tensors_get_form(t)->tables == TABLES_SCALES) {
        draw_line(d, "%%weight = select (eq (rem %%i, 2), 0), 1.0, 2.0");
        draw_line(d,
                  "store %%ta[%%slot], (cast (broadcast %%weight : f32[1, 1, 32, 16]) : f8e8m0)");
    } else {
        draw_line(d, "%%codes = select (eq (rem %%i, 2), 0), 0x4444, 0xeeee");
        draw_line(d, "store %%ta[%%slot], (broadcast (cast %%codes : u16) : u16[1, 128, 8])");
    }
}

static void add_load(tensors *t) {
    char source[64];
    const bool has_tables = draw_tensors_get_form(t)->tables != TABLES_NONE;
    add_wait_for_return(t, get_slot_return(t), "%i", t->stages, draw_tensors_get_total(t));
    if (t->has_carrier && !t->is_plain && t->is_told) {
        draw_tensors_add_commit_smem(t);
    }
    if (has_tables) {
        add_tables(t);
    }
    if (t->is_plain) {
        (void)snprintf(source, sizeof source, "(load %%p0[(add %%base, %%i)%s])",
                       draw_tensors_get_rows(t));
        if (t->has_carrier) {
            draw_line(&t->d, "store %%s[%%slot], %s", source);
        } else {
            add_move(t, "store", "%s", "%slot", source);
        }
    }
    if (has_tables || (t->is_plain && !t->has_carrier)) {
        draw_tensors_add_commit_smem(t);
    }
    if (t->is_plain && t->has_carrier) {
        add_arrive(t, "%full[%slot]");
    } else if (t->is_plain) {
        draw_tensors_add_arrive_at_leader(t, "%full", "%slot");
    } else if (has_tables) {
        draw_tensors_add_arrive_at_leader(t, "%told", "%slot");
    }
    if (!t->is_plain) {
        draw_tensors_add_copy(t);
    }
}

static void add_wait_for_slot(tensors *t) {
    char phase[32];
    (void)snprintf(phase, sizeof phase, "(div %%i, %" PRIu32 ")", t->stages);
    add_wait(t, "%full[%slot]", phase);
    if (draw_tensors_get_form(t)->tables != TABLES_NONE && !t->is_plain) {
        add_wait(t, "%told[%slot]", phase);
    }
}

static void add_loader(tensors *t) {
    draw *d = &t->d;
    draw_line(d, "for %%i in 0..%" PRIu32 " {", draw_tensors_get_total(t));
    d->indent++;
    draw_line(d, "%%slot = rem %%i, %" PRIu32, t->stages);
    add_load(t);
    d->indent--;
    draw_line(d, "}");
    add_drain(t, t->has_carrier ? "%taken" : "%read", t->stages, draw_tensors_get_total(t));
}

/* ---- a in tensor memory ---------------------------------------------------------------------- */

static void add_carrier(tensors *t) {
    draw *d = &t->d;
    draw_line(d, "for %%i in 0..%" PRIu32 " {", draw_tensors_get_total(t));
    d->indent++;
    draw_line(d, "%%slot = rem %%i, %" PRIu32, t->stages);
    draw_line(d, "%%part = rem %%i, %" PRIu32, t->parts);
    add_wait_for_slot(t);
    draw_line(d, "%%v = load %%s[%%slot]");
    if (!t->is_plain && !t->is_told) {
        draw_tensors_add_commit_smem(t);
    }
    add_arrive(t, "%taken[%slot]");
    add_wait_for_return(t, "%read[%part]", "%i", t->parts, draw_tensors_get_total(t));
    add_move(t, "async_store_tmem", "%a", "%part", "%v");
    draw_line(d, "commit_tmem");
    draw_tensors_add_arrive_at_leader(t, "%ready", "%part");
    d->indent--;
    draw_line(d, "}");
    add_drain(t, "%read", t->parts, draw_tensors_get_total(t));
}

/* ---- the issuers ----------------------------------------------------------------------------- */

/* Columns of a tile. */
typedef struct columns {
    uint32_t first, width;
} columns;

static columns get_columns(const tensors *t, uint32_t user) {
    const uint32_t width = draw_tensors_get_form(t)->width / t->users;
    return (columns){user * width, width};
}

/* Whether the slots are columns of one array, by the name of the products or that of the threads.
 * The columns of an array of 64 rows are in other lanes than those of its slots. */
static bool is_side_by_side(const tensors *t, bool is_of_thread) {
    return t->is_side_by_side != (is_of_thread && t->is_renamed && t->rows == 128);
}

/* The first column of the tile's accumulator. */
static void add_left(tensors *t) {
    if (is_side_by_side(t, false) || is_side_by_side(t, true)) {
        draw_line(&t->d, "%%left = mul %%half, %" PRIu32, draw_tensors_get_form(t)->width);
    }
}

/* The accumulator of the tile, or columns of it, as a product or a thread calls it. */
static void get_accumulator(const tensors *t, columns of, bool is_of_thread, char *text,
                            size_t size) {
    const uint32_t width = draw_tensors_get_form(t)->width;
    const char *name = is_of_thread && t->is_renamed ? "%acc_too" : "%acc";
    if (is_side_by_side(t, is_of_thread)) {
        (void)snprintf(text, size, "%s[:, ds(%%left + %" PRIu32 ", %" PRIu32 ")]", name, of.first,
                       of.width);
    } else if (of.width == width) {
        (void)snprintf(text, size, "%s[%%half]", name);
    } else {
        (void)snprintf(text, size, "%s[%%half, :, ds(%" PRIu32 ", %" PRIu32 ")]", name, of.first,
                       of.width);
    }
}

static void add_product_of(tensors *t, const char *a, const char *b) {
    static const char *const suffixes[] = {"", "_scaled", "_sp"};
    static const char *const operands[2][3] = {{"", ", %sa[%slot], %sb[%slot]", ", %sa[%slot]"},
                                               {"", ", %sa[0], %sb[0]", ", %sa[0]"}};
    const tensor_form *form = draw_tensors_get_form(t);
    char accumulator[96];
    get_accumulator(t, (columns){0, form->width}, false, accumulator, sizeof accumulator);
    draw_line(&t->d, "tcgen05_mma%s %s, %s, %s%s%s, %s%s", suffixes[form->tables], accumulator, a,
              b, form->is_held_turned ? ".transpose(1, 0)" : "",
              operands[t->has_one_table][form->tables],
              t->start == START_FRESH ? "(gt %k, 0)" : "true", draw_tensors_get_axis(t));
}

static void add_product(tensors *t) {
    draw *d = &t->d;
    const char *a = t->has_carrier ? "%a[%part]" : "%s[%slot]", *axis = draw_tensors_get_axis(t);
    const char *table = t->has_one_table ? "0" : "%slot";
    if (draw_tensors_get_form(t)->tables == TABLES_SCALES) {
        draw_line(d, "async_copy_scales_to_tmem %%ta[%%slot], %%sa[%s]%s", table, axis);
        draw_line(d, "async_copy_scales_to_tmem %%tb, %%sb[%s]%s", table, axis);
    } else if (draw_tensors_get_form(t)->tables == TABLES_METADATA) {
        draw_line(d, "async_copy_sparse_metadata_to_tmem %%ta[%%slot], %%sa[%s]%s", table, axis);
    }
    if (t->mixing == MIXING_NONE) {
        add_product_of(t, a, "%eye");
        return;
    }
    open_first_type(t);
    add_product_of(t, a, "%eye");
    open_other_type(t);
    add_product_of(t,
                   t->mixing == MIXING_B ? a
                   : t->has_carrier      ? "%z[%part]"
                                         : "%z[%slot]",
                   "%other");
    close_type(t);
}

/* The commit that hands back what the MMA has read, now or with the next one. */
static void add_return(tensors *t) {
    char before[64];
    draw *d = &t->d;
    const char *name = t->has_carrier ? "%part" : "%slot";
    if (!t->is_late) {
        draw_tensors_add_commit(t, "%read", name);
        return;
    }
    (void)snprintf(before, sizeof before, "(rem (sub %%i, 1), %" PRIu32 ")",
                   t->has_carrier ? t->parts : t->stages);
    draw_line(d, "if (gt %%i, 0) {");
    d->indent++;
    draw_tensors_add_commit(t, "%read", before);
    d->indent--;
    draw_line(d, "}");
    draw_line(d, "if (eq %%i, %" PRIu32 ") {", draw_tensors_get_total(t) - 1);
    d->indent++;
    draw_tensors_add_commit(t, "%read", name);
    d->indent--;
    draw_line(d, "}");
}

static void open_warp(tensors *t, bool is_for_all) {
    draw *d = &t->d;
    if (t->warping == WARP_NONE) {
        return;
    }
    draw_line(d, "warp_map(%%w) {");
    d->indent++;
    if (t->warping == WARP_ONE) {
        draw_line(d, "if (eq %%w, %" PRIu32 ") {", draw_tensors_get_total(t) % 4);
        d->indent++;
    } else if (!is_for_all) {
        draw_line(d, "if (eq %%w, (rem %%t, 4)) {"); /* one warp's products are in order */
        d->indent++;
    }
}

static void close_warp(tensors *t, bool is_for_all) {
    const uint32_t open = t->warping == WARP_NONE                  ? 0
                          : t->warping == WARP_TURNS && is_for_all ? 1
                                                                   : 2;
    for (uint32_t i = 0; i < open; i++) {
        t->d.indent--;
        draw_line(&t->d, "}");
    }
}

/* Number of the tile's k-th wait for its accumulator, as a phase. */
static void get_phase_of_step(const tensors *t, const char *step, char *text, size_t size) {
    (void)snprintf(text, size, "(add (mul (div %%t, %" PRIu32 "), %" PRIu32 "), %s)", t->slots,
                   t->is_corrected ? t->steps : 1, step);
}

/* Stores what they are to start with. */
static void add_start_of_tile(tensors *t, columns of, const char *tile) {
    char part[96];
    get_accumulator(t, of, true, part, sizeof part);
    if (t->start == START_ZERO) {
        draw_line(&t->d, "async_store_tmem %s, (broadcast %s : %s[%" PRIu32 ", %" PRIu32 "])", part,
                  draw_tensors_get_form(t)->accumulator[0] == 'i' ? "0" : "0.0",
                  draw_tensors_get_form(t)->accumulator, t->rows, of.width);
    } else {
        draw_line(&t->d,
                  "async_store_tmem %s, (cast (load %%p0[%s%s, ds(%" PRIu32 ", %" PRIu32
                  ")]) : %s)",
                  part, tile, t->is_pair ? draw_tensors_get_rows(t) : ", :", of.first, of.width,
                  draw_tensors_get_form(t)->accumulator);
    }
    draw_line(&t->d, "commit_tmem");
}

/* Starts the tiles of the first round: columns of them, or, of 0 columns, nothing. */
static void add_first_starts(tensors *t, columns of, bool is_handed) {
    draw *d = &t->d;
    const uint32_t count = t->slots < t->tiles ? t->slots : t->tiles;
    if (t->start == START_FRESH || (of.width == 0 && !is_handed)) {
        return;
    }
    draw_line(d, "for %%half in 0..%" PRIu32 " {", count);
    d->indent++;
    if (of.width > 0) {
        add_left(t);
        add_start_of_tile(t, of, "(add %base, %half)");
    }
    if (is_handed) {
        draw_tensors_add_arrive_at_leader(t, "%free", "%half");
    }
    d->indent--;
    draw_line(d, "}");
}

/* Waits until the accumulator may be added to. */
static void add_wait_for_accumulator(tensors *t, const char *step) {
    char phase[96];
    if (t->uses_itself || t->is_met) {
        return;
    }
    if (t->start == START_FRESH) {
        add_wait_for_return(t, "%free[%half]", "%t", t->slots, t->tiles);
        return;
    }
    get_phase_of_step(t, step, phase, sizeof phase);
    add_wait(t, "%free[%half]", phase);
}

static void add_commit_of_sums(tensors *t) {
    open_warp(t, true);
    draw_tensors_add_commit(t, "%summed", "%half");
    close_warp(t, true);
}

/* Two issuers add by turns to the same tile: pairs of two warps are in no order, so each waits for
 * the commit of the other. Both wait for each slot, and both hand it back. */
static void add_turn(tensors *t, uint32_t issuer) {
    draw *d = &t->d;
    draw_line(d, "if (eq (rem %%i, 2), %" PRIu32 ") {", issuer);
    d->indent++;
    draw_line(d, "if (gt %%i, 0) {");
    d->indent++;
    /* the first one waits for the end of steps 1, 3, .., the second one for that of 0, 2, .. */
    add_wait(t, issuer == 0 ? "%turn[0]" : "%turn[1]",
             issuer == 0 ? "(sub (div %i, 2), 1)" : "(div %i, 2)");
    d->indent--;
    draw_line(d, "}");
    add_product(t);
    draw_line(d, "if (lt %%i, %" PRIu32 ") {", draw_tensors_get_total(t) - 1);
    d->indent++;
    draw_line(d, "tcgen05_commit_arrive %%turn[%d]", issuer == 0 ? 1 : 0);
    d->indent--;
    draw_line(d, "}");
    d->indent--;
    draw_line(d, "}");
    add_return(t);
}

static void add_step(tensors *t, uint32_t issuer) {
    char phase[32];
    draw *d = &t->d;
    draw_line(d, "%%slot = rem %%i, %" PRIu32, t->stages);
    if (t->has_carrier) {
        draw_line(d, "%%part = rem %%i, %" PRIu32, t->parts);
        (void)snprintf(phase, sizeof phase, "(div %%i, %" PRIu32 ")", t->parts);
        add_wait(t, "%ready[%part]", phase);
    } else {
        if (t->loads_itself) {
            add_load(t);
        }
        add_wait_for_slot(t);
    }
    if (t->is_corrected) {
        add_wait_for_accumulator(t, "%k");
    }
    if (t->issuers == 2) {
        add_turn(t, issuer);
        return;
    }
    open_warp(t, false);
    add_product(t);
    add_return(t);
    close_warp(t, false);
    if (t->is_corrected) {
        add_commit_of_sums(t);
    }
}

static void add_steps(tensors *t, uint32_t issuer) {
    draw *d = &t->d;
    if (!t->is_corrected) {
        add_wait_for_accumulator(t, "0");
    }
    draw_line(d, "for %%k in 0..%" PRIu32 " {", t->steps);
    d->indent++;
    draw_line(d, "%%i = add (mul %%t, %" PRIu32 "), %%k", t->steps);
    add_step(t, issuer);
    d->indent--;
    draw_line(d, "}");
    if (!t->is_corrected) {
        add_commit_of_sums(t);
    }
}

/* ---- the users ------------------------------------------------------------------------------- */

static void add_use(tensors *t, uint32_t user) {
    char part[96];
    get_accumulator(t, get_columns(t, user), true, part, sizeof part);
    draw_line(&t->d, "%%v = async_load_tmem %s", part);
    if (!t->is_hasty) {
        draw_line(&t->d, "wait_load_tmem");
    }
}

static void add_correction(tensors *t, uint32_t user) {
    char part[96], phase[96];
    draw *d = &t->d;
    get_accumulator(t, get_columns(t, user), true, part, sizeof part);
    draw_line(d, "for %%k in 0..%" PRIu32 " {", t->steps - 1);
    d->indent++;
    get_phase_of_step(t, "%k", phase, sizeof phase);
    add_wait(t, "%summed[%half]", phase);
    add_use(t, user);
    if (t->is_hasty) { /* by way of its own columns */
        draw_line(d, "async_store_tmem %s, (add %%v, %%v)", part);
        draw_line(d, "%%once = async_load_tmem %s", part);
        draw_line(d, "async_store_tmem %s, %%once", part);
    } else {
        draw_line(d, "async_store_tmem %s, (add %%v, %%v)", part);
    }
    draw_line(d, "commit_tmem");
    draw_tensors_add_arrive_at_leader(t, "%free", "%half");
    d->indent--;
    draw_line(d, "}");
}

static void add_store_of_result(tensors *t, uint32_t user) {
    const columns own = get_columns(t, user);
    if (t->users == 1) {
        draw_line(&t->d, "store %%p1[(add %%first, %%t)], %%v");
    } else {
        draw_line(&t->d, "store %%p1[(add %%first, %%t), :, ds(%" PRIu32 ", %" PRIu32 ")], %%v",
                  own.first, own.width);
    }
}

/* What becomes of the accumulator after the last load of a tile. */
static void add_handback(tensors *t, uint32_t user) {
    draw *d = &t->d;
    const bool is_handed = !t->is_met && !t->uses_itself;
    if (t->start == START_FRESH) {
        if (is_handed) {
            draw_tensors_add_arrive_at_leader(t, "%free", "%half");
        }
        return;
    }
    draw_line(d, "if (lt (add %%t, %" PRIu32 "), %" PRIu32 ") {", t->slots, t->tiles);
    d->indent++;
    char tile[64];
    (void)snprintf(tile, sizeof tile, "(add %%base, (add %%t, %" PRIu32 "))", t->slots);
    add_start_of_tile(t, get_columns(t, user), tile);
    if (is_handed) {
        draw_tensors_add_arrive_at_leader(t, "%free", "%half");
    }
    d->indent--;
    draw_line(d, "}");
}

static void add_tile_of_user(tensors *t, uint32_t user) {
    char phase[96], step[16];
    if (t->is_corrected) {
        add_correction(t, user);
    }
    (void)snprintf(step, sizeof step, "%" PRIu32, t->is_corrected ? t->steps - 1 : 0);
    if (!t->is_met) {
        get_phase_of_step(t, step, phase, sizeof phase);
        add_wait(t, "%summed[%half]", phase);
    }
    add_use(t, user);
    if (draw_below(&t->d, 2)) {
        add_store_of_result(t, user);
        add_handback(t, user);
    } else {
        add_handback(t, user);
        add_store_of_result(t, user);
    }
}

/* ---- threads --------------------------------------------------------------------------------- */

static void open_tiles(tensors *t) {
    draw_line(&t->d, "for %%t in 0..%" PRIu32 " {", t->tiles);
    t->d.indent++;
    draw_line(&t->d, "%%half = rem %%t, %" PRIu32, t->slots);
    add_left(t);
}

static void close_tiles(tensors *t) {
    t->d.indent--;
    draw_line(&t->d, "}");
}

static void add_issuer(tensors *t, uint32_t issuer) {
    char phase[96];
    const bool is_starter = t->uses_itself || (t->starter == STARTER_ISSUER && issuer == 0);
    add_first_starts(t, (columns){0, is_starter ? draw_tensors_get_form(t)->width : 0}, false);
    if (t->is_met) {
        draw_line(&t->d, "block_barrier");
    }
    open_tiles(t);
    add_steps(t, issuer);
    if (t->uses_itself) {
        add_tile_of_user(t, 0);
    }
    if (t->is_met) {
        get_phase_of_step(t, "0", phase, sizeof phase);
        add_wait(t, "%summed[%half]", phase);
        draw_line(&t->d, "block_barrier");
        draw_line(&t->d, "block_barrier");
    }
    close_tiles(t);
    if (t->loads_itself) {
        add_drain(t, "%read", t->stages, draw_tensors_get_total(t));
    }
    if (!t->uses_itself && !t->is_met && t->start == START_FRESH && issuer == 0) {
        add_drain(t, "%free", t->slots, t->tiles);
    }
}

static void add_user(tensors *t, uint32_t user) {
    columns own = get_columns(t, user);
    if (t->starter != STARTER_EACH) {
        own = (columns){
            0, t->starter == STARTER_FIRST && user == 0 ? draw_tensors_get_form(t)->width : 0};
    }
    add_first_starts(t, own, !t->is_met);
    if (t->is_met) {
        draw_line(&t->d, "block_barrier");
    }
    open_tiles(t);
    if (t->is_met) {
        draw_line(&t->d, "block_barrier");
    }
    add_tile_of_user(t, user);
    if (t->is_met) {
        draw_line(&t->d, "block_barrier");
    }
    close_tiles(t);
}

void draw_tensors_add_thread(tensors *t, uint32_t thread) {
    if (thread < t->carrier) {
        add_loader(t);
    } else if (thread < t->issuer) {
        add_carrier(t);
    } else if (thread < t->user && t->is_pair) {
        draw_line(&t->d, "if (eq %%me, 0) {");
        t->d.indent++;
        add_issuer(t, thread - t->issuer);
        t->d.indent--;
        draw_line(&t->d, "}");
    } else if (thread < t->user) {
        add_issuer(t, thread - t->issuer);
    } else {
        add_user(t, thread - t->user);
    }
}
