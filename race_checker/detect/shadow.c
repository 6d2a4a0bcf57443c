/* shadow.c - planes cut into cells, cells split into rectangles and joined again.
 * SPDX-License-Identifier: Apache-2.0 */
#include "shadow.h"

#include "alloc.h"
#include "region.h"

#include <string.h>

enum {
    NODES_PER_PAGE = 64,
    CELL_BYTES_MIN = 1024,
    CELL_BYTES_MAX = 64 << 10,
    CELL_WIDTH_MIN = 256,
    CELLS_MAX = 1 << 22,
    PITCH_MAX = 1 << 30, /* longer rows are cut */
    PITCH_OF_LONG = 1 << 20,
    ROWS_MAX = 1 << 30
};

bool grout_shadow__init(grout_shadow *shadow, const grout_allocator *allocator,
                        uint32_t plane_count) {
    memset(shadow, 0, sizeof *shadow);
    shadow->slab.allocator = allocator;
    shadow->planes = grout__new(allocator, plane_count, sizeof *shadow->planes);
    shadow->plane_count = shadow->planes ? plane_count : 0;
    return shadow->planes != NULL;
}

void grout_shadow__deinit(grout_shadow *shadow) {
    grout_slab__deinit(&shadow->slab);
    grout__free(shadow->planes);
    memset(shadow, 0, sizeof *shadow);
}

void grout_shadow__set_plane(grout_shadow *shadow, uint32_t plane, uint64_t size, uint64_t pitch) {
    grout_plane *it = &shadow->planes[plane];
    GROUT_ASSERT(plane < shadow->plane_count && pitch > 0);
    memset(it, 0, sizeof *it);
    if (pitch > PITCH_MAX || size / pitch > ROWS_MAX) {
        pitch = PITCH_OF_LONG; /* rows and columns are counted in 32 bits */
    }
    it->size = size;
    it->pitch = pitch;
    it->rows = (uint32_t)((size + pitch - 1) / pitch);
}

void grout_shadow__reset(grout_shadow *shadow) {
    grout_slab__reset(&shadow->slab);
    for (uint32_t i = 0; i < shadow->plane_count; i++) {
        grout_plane *plane = &shadow->planes[i];
        memset(&plane->pages, 0, sizeof *plane - offsetof(grout_plane, pages));
    }
    GROUT_CLEAR_REST(shadow, grout_shadow, reserved);
}

bool grout_shadow__copy(grout_shadow *copy, const grout_shadow *shadow) {
    GROUT_ASSERT(copy->plane_count == shadow->plane_count);
    memcpy(copy->planes, shadow->planes, shadow->plane_count * sizeof *shadow->planes);
    GROUT_COPY_REST(copy, shadow, grout_shadow, reserved);
    return grout_slab__copy(&copy->slab, &shadow->slab);
}

grout_run grout_shadow__get_run(const grout_shadow *shadow, uint32_t plane,
                                const grout_rect *rect) {
    const grout_plane *it = &shadow->planes[plane];
    GROUT_ASSERT(plane < shadow->plane_count);
    GROUT_ASSERT(rect->row < rect->row_end && rect->row_end <= it->rows);
    grout_run run = {.base = (int64_t)(rect->row * it->pitch + rect->column),
                     .stride = (int64_t)it->pitch,
                     .count = rect->row_end - rect->row,
                     .length = rect->column_end - rect->column};
    return run;
}

/* ---- cells ---- */

/* At most, wherever the first cell starts. */
static uint64_t count_cells(const grout_plane *plane, uint64_t height, uint64_t width) {
    if (height > 0 && width > 0) {
        return (plane->rows / height + 2) * (plane->pitch / width + 2);
    }
    return 0;
}

/* The smallest cell that holds the rectangle and is worth a record, at most CELL_BYTES_MAX. */
static void choose_cells(grout_plane *plane, const grout_rect *first) {
    uint64_t height = first->row_end - first->row;
    uint64_t width = first->column_end - first->column;
    while (height * width < CELL_BYTES_MIN) {
        if (width < plane->pitch && width < CELL_WIDTH_MIN) {
            width = width * 2 < plane->pitch ? width * 2 : plane->pitch;
        } else if (height < plane->rows) {
            height *= 2;
        } else {
            break;
        }
    }
    while (height * width > CELL_BYTES_MAX && height > 1) {
        height = (height + 1) / 2;
    }
    while (height * width > CELL_BYTES_MAX && width > CELL_WIDTH_MIN) {
        width = (width + 1) / 2;
    }
    while (count_cells(plane, height, width) > CELLS_MAX) {
        if (height < plane->rows) {
            height *= 2;
        } else {
            width *= 2;
        }
    }
    height = height > 0 ? height : 1;
    width = width > 0 ? width : 1;
    plane->cell_height = (uint32_t)height;
    plane->cell_width = (uint32_t)width;
    plane->row_phase = (uint32_t)((height - first->row % height) % height);
    plane->column_phase = (uint32_t)((width - first->column % width) % width);
    plane->cells_down = (uint32_t)((plane->rows + plane->row_phase + height - 1) / height);
    plane->cells_across = (uint32_t)((plane->pitch + plane->column_phase + width - 1) / width);
    plane->page_count =
        (plane->cells_down * plane->cells_across + NODES_PER_PAGE - 1) / NODES_PER_PAGE;
}

/* Nodes of a page: a small plane has fewer cells than that. */
static uint32_t get_page_size(const grout_plane *plane) {
    const uint32_t cells = plane->cells_down * plane->cells_across;
    return cells < NODES_PER_PAGE ? cells : NODES_PER_PAGE;
}

static grout_node *find_cell(grout_shadow *shadow, grout_plane *plane, uint32_t index, bool make) {
    grout_slab_handle *pages = NULL;
    grout_slab_handle *page = NULL;
    GROUT_ASSERT(index < plane->cells_down * plane->cells_across);
    if (!plane->pages) {
        plane->pages =
            make ? grout_slab__alloc(&shadow->slab, plane->page_count * sizeof *pages) : 0;
        if (!plane->pages) {
            return NULL;
        }
    }
    pages = grout_slab__at(&shadow->slab, plane->pages);
    page = &pages[index / NODES_PER_PAGE];
    if (!*page) {
        *page =
            make ? grout_slab__alloc(&shadow->slab, get_page_size(plane) * sizeof(grout_node)) : 0;
        if (!*page) {
            return NULL;
        }
    }
    return (grout_node *)grout_slab__at(&shadow->slab, *page) + index % NODES_PER_PAGE;
}

static grout_rect get_cell_bounds(const grout_plane *plane, uint32_t down, uint32_t across) {
    uint64_t row = (uint64_t)down * plane->cell_height;
    uint64_t column = (uint64_t)across * plane->cell_width;
    uint64_t row_end = row + plane->cell_height - plane->row_phase;
    uint64_t column_end = column + plane->cell_width - plane->column_phase;
    grout_rect bounds = {
        .row = (uint32_t)(row < plane->row_phase ? 0 : row - plane->row_phase),
        .row_end = (uint32_t)(row_end < plane->rows ? row_end : plane->rows),
        .column = (uint32_t)(column < plane->column_phase ? 0 : column - plane->column_phase),
        .column_end = (uint32_t)(column_end < plane->pitch ? column_end : plane->pitch)};
    return bounds;
}

/* What is done with each cell that a rectangle meets. */
typedef struct cell_action {
    grout_shadow *shadow;
    grout_plane *plane;
    const grout_visitor *visitor;
    bool makes; /* an access; else a walk over what is there */
} cell_action;

static bool act_on_cell(const cell_action *action, uint32_t down, uint32_t across,
                        const grout_rect *rect) {
    const grout_plane *plane = action->plane;
    grout_rect bounds = get_cell_bounds(plane, down, across);
    grout_rect part = grout_rect__clip(rect, &bounds);
    grout_node *node = find_cell(action->shadow, action->plane, down * plane->cells_across + across,
                                 action->makes);
    if (!node) {
        return !action->makes;
    }
    return action->makes ? grout_node__access(action->shadow, node, &bounds, &part, action->visitor)
                         : grout_node__walk(action->shadow, node, &bounds, &part, action->visitor);
}

static bool act_on_rect(const cell_action *action, const grout_rect *rect) {
    const grout_plane *plane = action->plane;
    uint32_t down, down_end, across, across_end;
    GROUT_ASSERT(rect->row < rect->row_end && rect->row_end <= plane->rows);
    GROUT_ASSERT(rect->column < rect->column_end && rect->column_end <= plane->pitch);
    if (!plane->cell_height) {
        if (!action->makes) {
            return true;
        }
        choose_cells(action->plane, rect);
    }
    down_end = (rect->row_end - 1 + plane->row_phase) / plane->cell_height;
    across_end =
        (uint32_t)(((uint64_t)rect->column_end - 1 + plane->column_phase) / plane->cell_width);
    for (down = (rect->row + plane->row_phase) / plane->cell_height; down <= down_end; down++) {
        across = (uint32_t)(((uint64_t)rect->column + plane->column_phase) / plane->cell_width);
        for (; across <= across_end; across++) {
            if (!act_on_cell(action, down, across, rect)) {
                return false;
            }
        }
    }
    return true;
}

/* ---- runs to rectangles ---- */

/* Rectangles as they come out of runs, joined with the one before where they continue it. */
typedef struct rect_stream {
    const cell_action *action;
    grout_rect pending;
    bool has_pending;
} rect_stream;

static bool flush_rect(rect_stream *stream) {
    bool done = !stream->has_pending || act_on_rect(stream->action, &stream->pending);
    stream->has_pending = false;
    return done;
}

static bool put_rect(rect_stream *stream, const grout_rect *rect) {
    grout_rect *pending = &stream->pending;
    if (stream->has_pending && pending->column == rect->column &&
        pending->column_end == rect->column_end && pending->row_end == rect->row) {
        pending->row_end = rect->row_end;
        return true;
    }
    if (!flush_rect(stream)) {
        return false;
    }
    *pending = *rect;
    stream->has_pending = true;
    return true;
}

/* Bytes [begin, end): the rest of a row, whole rows, the start of a row. */
static bool put_bytes(rect_stream *stream, uint64_t begin, uint64_t end) {
    const uint64_t pitch = stream->action->plane->pitch;
    while (begin < end) {
        uint64_t row = begin / pitch;
        uint64_t column = begin % pitch;
        uint64_t rows = column ? 0 : (end - begin) / pitch;
        uint64_t row_left = pitch - column;
        uint64_t length = rows ? pitch : (end - begin < row_left ? end - begin : row_left);
        grout_rect rect = {.row = (uint32_t)row,
                           .row_end = (uint32_t)(row + (rows ? rows : 1)),
                           .column = (uint32_t)column,
                           .column_end = (uint32_t)(column + length)};
        if (!put_rect(stream, &rect)) {
            return false;
        }
        begin += rows ? rows * pitch : length;
    }
    return true;
}

static bool put_run(rect_stream *stream, int64_t offset, const grout_run *run) {
    const grout_plane *plane = stream->action->plane;
    uint64_t base = (uint64_t)(offset + run->base);
    uint64_t column = base % plane->pitch;
    if (run->count > 1 && (uint64_t)run->stride == plane->pitch &&
        column + (uint64_t)run->length <= plane->pitch) {
        uint64_t row = base / plane->pitch;
        grout_rect rect = {.row = (uint32_t)row,
                           .row_end = (uint32_t)(row + (uint64_t)run->count),
                           .column = (uint32_t)column,
                           .column_end = (uint32_t)(column + (uint64_t)run->length)};
        return put_rect(stream, &rect);
    }
    for (int64_t i = 0; i < run->count; i++) {
        uint64_t begin = base + (uint64_t)(i * run->stride);
        if (!put_bytes(stream, begin, begin + (uint64_t)run->length)) {
            return false;
        }
    }
    return true;
}

static bool is_contiguous(const grout_run *run) {
    return run->count == 1 || run->stride == run->length;
}

bool grout_shadow__access(grout_shadow *shadow, uint32_t plane, int64_t offset,
                          const grout_access *access, const grout_visitor *visitor) {
    cell_action action = {shadow, &shadow->planes[plane], visitor, true};
    rect_stream stream = {.action = &action};
    int64_t begin = 0, end = 0; /* contiguous bytes collected */
    GROUT_ASSERT(plane < shadow->plane_count && offset >= 0);
    for (uint32_t i = 0; i < access->run_count; i++) {
        const grout_run *run = &access->runs[i];
        bool joins = is_contiguous(run);
        if (run->count <= 0 || run->length <= 0) {
            continue;
        }
        if (joins && begin < end && run->base == end) {
            end += run->count * run->length;
            continue;
        }
        if (begin < end &&
            !put_bytes(&stream, (uint64_t)(offset + begin), (uint64_t)(offset + end))) {
            return false;
        }
        begin = run->base;
        end = joins ? run->base + run->count * run->length : begin;
        if (!joins && !put_run(&stream, offset, run)) {
            return false;
        }
    }
    if (begin < end && !put_bytes(&stream, (uint64_t)(offset + begin), (uint64_t)(offset + end))) {
        return false;
    }
    return flush_rect(&stream);
}

bool grout_shadow__walk(grout_shadow *shadow, uint32_t plane, int64_t offset, int64_t size,
                        const grout_visitor *visitor) {
    cell_action action = {shadow, &shadow->planes[plane], visitor, false};
    rect_stream stream = {.action = &action};
    GROUT_ASSERT(plane < shadow->plane_count && offset >= 0 && size >= 0);
    GROUT_ASSERT((uint64_t)(offset + size) <= shadow->planes[plane].size);
    return put_bytes(&stream, (uint64_t)offset, (uint64_t)(offset + size)) && flush_rect(&stream);
}

/* ---- hash ---- */

/*
 * The sum over all bytes of weight(row, column) * hash(record). The weight is a product of two
 * polynomials' differences, so a rectangle's sum is a closed form and does not depend on how the
 * bytes are cut.
 */
typedef struct hash_sum {
    uint64_t sum;
} hash_sum;

static uint64_t weigh(uint64_t n) {
    return n * (UINT64_C(0x9e3779b97f4a7c15) +
                n * (UINT64_C(0xbf58476d1ce4e5b9) + n * UINT64_C(0x94d049bb133111eb)));
}

static bool add_hash(void *payload, grout_shadow *shadow, grout_region *region,
                     const grout_rect *rect) {
    hash_sum *sum = payload;
    sum->sum += (weigh(rect->row_end) - weigh(rect->row)) *
                (weigh(rect->column_end) - weigh(rect->column)) *
                grout_region__hash(shadow, region);
    return true;
}

uint64_t grout_shadow__hash(const grout_shadow *shadow) {
    uint64_t hash = 0;
    for (uint32_t i = 0; i < shadow->plane_count; i++) {
        hash_sum sum = {0};
        grout_visitor visitor = {add_hash, &sum};
        grout_shadow view = *shadow; /* a walk changes nothing */
        (void)grout_shadow__walk(&view, i, 0, (int64_t)shadow->planes[i].size, &visitor);
        hash = hash * UINT64_C(0x100000001b3) + sum.sum;
        hash = GROUT_HASH_REST(hash, &shadow->planes[i], grout_plane, reserved);
    }
    return GROUT_HASH_REST(hash, shadow, grout_shadow, reserved);
}
