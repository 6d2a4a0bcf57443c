/*
 * operand.c - the packed tiles and when they are good.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "operand.h"

#include "pages.h"

#include <string.h>

#define TILES_MIN 4
#define CTAS_MAX  16 /* that have tiles of their own, on average */

/* A packed operand. */
struct grout_tile {
    float *data;
    uint32_t key; /* of its operand */
    uint32_t cta; /* place of its CTA among all arenas */
    int64_t start[GROUT_RANK_MAX];
    int64_t first_page, end_page;
    uint64_t version; /* number of the latest write when it was packed; 0: holds nothing */
    uint64_t used;    /* when, in calls */
};

/* What an mma works in: sums, a bit and a byte for each. */
static bool add_mma(grout_machine *machine) {
    const grout_plan *plan = machine->plan;
    machine->sums =
        grout_machine__keep(machine, plan->sums_max * (sizeof(float) + 1) + plan->sums_max / 8);
    machine->turned = grout_machine__keep(machine, plan->turned_max);
    machine->pair_sums =
        grout_machine__keep(machine, plan->has_pairs ? (size_t)plan->linear_bytes_max : 0);
    return machine->sums != NULL && machine->turned != NULL && machine->pair_sums != NULL;
}

bool grout_operand__new(grout_machine *machine) {
    const grout_plan *plan = machine->plan;
    if (plan->products.count == 0) {
        return true;
    }
    uint32_t ctas = machine->slot_count * plan->shape.cta_count;
    uint32_t count = 2 * plan->shape.thread_count * (ctas < CTAS_MAX ? ctas : CTAS_MAX);
    count = count < TILES_MIN ? TILES_MIN : count;
    machine->tiles = grout_machine__keep(machine, count * sizeof *machine->tiles);
    machine->tile_data =
        grout_machine__keep(machine, (size_t)count * plan->packed_max * sizeof(float));
    machine->chunk_offsets = grout_machine__keep(machine, plan->chunks_max * sizeof(int32_t));
    machine->all_page_versions = grout_machine__keep(
        machine, ctas * (size_t)(1 + grout_smem__get_page_count(plan)) * sizeof(uint64_t));
    if (machine->tiles == NULL || machine->tile_data == NULL || machine->chunk_offsets == NULL ||
        machine->all_page_versions == NULL) {
        return false;
    }
    if (!add_mma(machine)) {
        return false;
    }
    machine->tile_count = count;
    for (uint32_t i = 0; i < count; i++) {
        machine->tiles[i].data = machine->tile_data + (size_t)i * plan->packed_max;
    }
    for (uint32_t i = 0; i < ctas; i++) {
        machine->all_page_versions[i * (size_t)(1 + grout_smem__get_page_count(plan))] = 1;
    }
    return true;
}

void grout_operand__forget(grout_machine *machine) {
    GROUT_ASSERT(machine->tile_count == 0 || machine->tiles != NULL);
    for (uint32_t i = 0; i < machine->tile_count; i++) {
        machine->tiles[i].version = 0;
    }
}

/* ---- SMEM as it changes: page_versions[0] counts writes, pages follow ------------------------ */

static bool is_fresh(const grout_cta *cta, const grout_tile *tile) {
    uint64_t newest = 0;
    for (int64_t page = tile->first_page; page < tile->end_page; page++) {
        uint64_t version = cta->page_versions[1 + page];
        newest = newest < version ? version : newest;
    }
    return newest <= tile->version;
}

/* ---- tiles ------------------------------------------------------------------------------------
 */

#define NO_TILE UINT32_MAX

static uint32_t get_cta(const grout_cta *cta) {
    return cta->slot * cta->machine->plan->shape.cta_count + cta->rank;
}

/* The tile of the box that starts here, or the tile that has been unused for the longest time. */
static uint32_t choose_tile(const grout_cta *cta, const grout_operand_source *source,
                            uint32_t taken) {
    grout_machine *machine = cta->machine;
    uint32_t oldest = taken == 0 ? 1 : 0;
    for (uint32_t i = 0; i < machine->tile_count; i++) {
        const grout_tile *tile = &machine->tiles[i];
        if (i == taken) {
            continue;
        }
        if (source->rows == NULL && tile->version != 0 && tile->key == source->plan->key &&
            tile->cta == get_cta(cta) &&
            memcmp(tile->start, source->box->start, sizeof tile->start) == 0) {
            return i;
        }
        oldest = tile->used < machine->tiles[oldest].used ? i : oldest;
    }
    machine->tiles[oldest].version = 0;
    return oldest;
}

/* Bytes that lie row by row. */
static const int32_t *get_row_offsets(grout_machine *machine, const grout_pack *pack) {
    uint32_t count = pack->rows * pack->chunks;
    for (uint32_t i = 0; i < count; i++) {
        machine->chunk_offsets[i] = (int32_t)(i * GROUT_PACK_CHUNK);
    }
    return machine->chunk_offsets;
}

/* A box that is not the plan's shape, moved: chunk by chunk. */
static const int32_t *find_offsets(grout_machine *machine, const grout_operand_source *source) {
    const grout_box_plan *plan = source->box->plan;
    const grout_pack *pack = &source->plan->pack;
    uint8_t inner = plan->order[plan->rank - 1], outer = plan->order[plan->rank - 2];
    int64_t count = GROUT_PACK_CHUNK / plan->element_bytes, index[GROUT_RANK_MAX];
    int32_t *offset = machine->chunk_offsets;
    memcpy(index, source->box->start, sizeof index);
    for (uint32_t row = 0; row < pack->rows; row++) {
        index[outer] = source->box->start[outer] + row;
        for (uint32_t i = 0; i < pack->chunks; i++) {
            index[inner] = source->box->start[inner] + i * count;
            *offset++ = (int32_t)grout_layout_get_offset(plan->layout, index);
        }
    }
    return machine->chunk_offsets;
}

static void set_pages(grout_tile *tile, const grout_box *box) {
    int64_t low, high;
    grout_box__get_range(box, &low, &high);
    tile->first_page = low / GROUT_SMEM_PAGE;
    tile->end_page = (high + GROUT_SMEM_PAGE - 1) / GROUT_SMEM_PAGE;
}

static uint32_t get_tile(const grout_cta *cta, const grout_operand_source *source, uint32_t taken) {
    grout_machine *machine = cta->machine;
    const grout_operand_plan *plan = source->plan;
    uint32_t index = choose_tile(cta, source, taken);
    grout_tile *tile = &machine->tiles[index];
    tile->used = ++machine->tile_clock;
    if (source->rows == NULL && tile->version != 0 && is_fresh(cta, tile)) {
        return index;
    }
    machine->tiles_packed++;
    if (source->rows != NULL) {
        grout_pack__run(&plan->pack, source->rows, get_row_offsets(machine, &plan->pack),
                        tile->data);
        return index;
    }
    bool is_shaped = source->box->is_shaped && plan->first_offset != 0;
    const int32_t *offsets = is_shaped ? grout_pool__at(&machine->plan->offsets, plan->first_offset)
                                       : find_offsets(machine, source);
    grout_pack__run(&plan->pack, source->box->bytes + (is_shaped ? source->box->offset : 0),
                    offsets, tile->data);
    tile->key = plan->key;
    tile->cta = get_cta(cta);
    memcpy(tile->start, source->box->start, sizeof tile->start);
    tile->version = cta->page_versions[0];
    set_pages(tile, source->box);
    return index;
}

/* The CTA whose SMEM it is: with a pair, the other one too. */
static const grout_cta *get_owner(const grout_cta *cta, const grout_operand_source *source) {
    return source->rows != NULL ? cta : grout_cta__peer(cta, source->box->rank);
}

void grout_operand__pack(const grout_cta *cta, const grout_operand_source sources[2],
                         const float *packed_out[2]) {
    grout_machine *machine = cta->machine;
    uint32_t first = get_tile(get_owner(cta, &sources[0]), &sources[0], NO_TILE);
    uint32_t second = get_tile(get_owner(cta, &sources[1]), &sources[1], first);
    packed_out[0] = machine->tiles[first].data;
    packed_out[1] = machine->tiles[second].data;
}
