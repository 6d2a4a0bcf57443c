/* explained.c - findings as diagnostics with their notes, and as the fields that JSON shows.
 * SPDX-License-Identifier: Apache-2.0 */
#include "causes.h"
#include "explain.h"
#include "wording.h"

#include "alloc.h"
#include "invariant.h"

#include <string.h>

struct grout_explained {
    grout_finding *findings;
    grout_diag *diags;
    uint32_t *records; /* of each finding: its index */
    uint32_t count;
    uint64_t dropped, error_count, warning_count;
    grout_strings strings;
};

/* ---- memory ---- */

void grout_explained__free(grout_explained *explained) {
    if (!explained) {
        return;
    }
    for (uint32_t i = 0; i < explained->count; i++) {
        grout__free(explained->diags[i].notes);
    }
    grout_strings__free(&explained->strings);
    grout__free(explained->findings);
    grout__free(explained->diags);
    grout__free(explained->records);
    grout__free(explained);
}

/* ---- one finding ---- */

static const char *get_engine(const grout_wording *wording, const grout_side *side) {
    if (grout_wording__is_wgmma(wording, side) || grout_wording__is_tcgen05(wording, side)) {
        return grout_phrase__get(GROUT_PHRASE_ENGINE_TENSOR_CORE);
    }
    if (grout_wording__is_tmem(wording, side)) {
        return grout_phrase__get(GROUT_PHRASE_ENGINE_TMEM);
    }
    if (grout_space_is_of_thread(
            grout_module_get_object(wording->module, side->box.object)->space)) {
        return grout_phrase__get(GROUT_PHRASE_ENGINE_REGISTERS);
    }
    if (grout_wording__is_map_read(wording, side)) {
        return grout_phrase__get(GROUT_PHRASE_ENGINE_TENSORMAP);
    }
    if (grout_wording__is_answer(wording, side)) {
        return grout_phrase__get(GROUT_PHRASE_ENGINE_LAUNCH_CONTROL);
    }
    if (side->stamp.agent == GROUT_AGENT_GENERIC_ENGINE) {
        return grout_phrase__get(grout_wording__is_async_copy(wording, side)
                                     ? GROUT_PHRASE_ENGINE_CP_ASYNC
                                     : GROUT_PHRASE_ENGINE_ST_ASYNC);
    }
    return grout_phrase__get(side->stamp.agent == GROUT_AGENT_ENGINE ? GROUT_PHRASE_ENGINE_TMA
                                                                     : GROUT_PHRASE_ENGINE_GENERIC);
}

/* " of CTA (x=1)": of SMEM that is not the CTA's own. */
static void add_owner(const grout_wording *wording, const grout_side *side, grout_text *out) {
    const grout_object *object = grout_module_get_object(wording->module, side->box.object);
    if (grout_space_has_peers(object->space) && wording->checker->shape.cta_count > 1 &&
        wording->facts->owner != side->origin.cta) {
        grout_sentence__add(
            out, GROUT_SENTENCE_BOX_OF_CTA,
            &(grout_words){.cta = grout_wording__name_cta(wording, wording->facts->owner)});
    }
}

static grout_finding_access describe_side(grout_wording *wording, const grout_side *side) {
    grout_finding_access access = {.place = grout_wording__get_place(wording, &side->origin),
                                   .is_write = side->is_write};
    grout_text text = {.allocator = wording->checker->allocator};
    grout_op_print(wording->module, side->origin.op, &text);
    access.op = grout_wording__keep(wording, &text);
    grout_describe_origin(wording->module, wording->checker->info.kernel, &side->origin, &text);
    access.where = grout_wording__keep(wording, &text);
    if (side->box.object) {
        access.engine = get_engine(wording, side);
        grout_wording__add_box(wording, &side->box, &text);
        add_owner(wording, side, &text);
    } else {
        access.engine = "";
    }
    access.box = grout_wording__keep(wording, &text);
    return access;
}

/* "in CTA (x=0), thread wg=0, %j=2"; "at %j=2" where there is one thread; "" without loops. */
static const char *describe_where(const grout_wording *wording, const grout_origin *origin) {
    const char *alone = grout_phrase__get(GROUT_PHRASE_WHO_THREAD);
    grout_text text = {.allocator = wording->checker->allocator};
    grout_describe_actor(wording->module, wording->checker->info.kernel, origin, &text);
    const char *actor = grout_wording__keep(wording, &text);
    if (strncmp(actor, alone, strlen(alone)) != 0) {
        return grout_wording__say(wording, GROUT_SENTENCE_WHERE_IN, &(grout_words){.actor = actor});
    }
    return actor[strlen(alone)] == '\0'
               ? ""
               : grout_wording__say(wording, GROUT_SENTENCE_WHERE_AT,
                                    &(grout_words){.what = actor + strlen(alone) + strlen(", ")});
}

/* "this access reads %cs[0:32, 0:64] (TMA, async proxy), in CTA (x=0), thread wg=0, %j=2" */
static const char *word_side(const grout_wording *wording, const grout_side *side,
                             const char *opening, const grout_finding_access *access) {
    const char *where = describe_where(wording, &side->origin);
    const grout_words words = {
        .what = opening,
        .does = grout_phrase__get(access->is_write ? GROUT_PHRASE_WRITES : GROUT_PHRASE_READS),
        .object = access->box,
        .who = access->engine,
        .where = where,
        .op = grout_wording__get_mnemonic(wording, &side->origin)};
    const bool has_where = where[0] != '\0';
    if (access->box[0] != '\0') {
        return grout_wording__say(
            wording, has_where ? GROUT_SENTENCE_SIDE_OF_ACCESS : GROUT_SENTENCE_SIDE_OF_THE_ACCESS,
            &words);
    }
    if (opening[0] == '\0') {
        return has_where ? where : grout_wording__say(wording, GROUT_SENTENCE_SIDE_OF_OP, &words);
    }
    return has_where ? grout_wording__say(wording, GROUT_SENTENCE_SIDE_OF_SYNC, &words) : opening;
}

static void note_side(grout_wording *wording, const grout_side *side, const char *opening,
                      const grout_finding_access *access) {
    grout_wording__note(wording, GROUT_SEVERITY_NOTE, access->place,
                        word_side(wording, side, opening, access));
    grout_wording__note_callers(wording, grout_origin__get_loc(wording->module, &side->origin));
}

static const char *get_related_opening(const grout_wording *wording) {
    const grout_facts *facts = wording->facts;
    const char *opening = grout_wording__get_protocol_opening(wording);
    if (opening) {
        return opening;
    }
    if (wording->record->code == GROUT_DIAG_BARRIER_OVERRUN) {
        return grout_phrase__get(facts->sides[1].origin.op ? GROUT_PHRASE_RELATED_WAIT
                                                           : GROUT_PHRASE_NOTHING);
    }
    if (wording->record->code == GROUT_DIAG_INDEX_OVERFLOW) {
        return grout_phrase__get(GROUT_PHRASE_RELATED_INDEX);
    }
    if (!facts->sides[1].box.object) {
        return grout_phrase__get(GROUT_PHRASE_RELATED_ARRIVAL);
    }
    if (!facts->knows_issue) {
        return grout_phrase__get(GROUT_PHRASE_RELATED_OTHER);
    }
    return grout_phrase__get(facts->primary_is_earlier ? GROUT_PHRASE_RELATED_LATER
                                                       : GROUT_PHRASE_RELATED_EARLIER);
}

static void note_primary(grout_wording *wording, const grout_finding_access *access) {
    const grout_side *side = &wording->facts->sides[0];
    grout_text bytes = {.allocator = wording->checker->allocator};
    const char *opening =
        grout_phrase__get(access->box[0] == '\0' ? GROUT_PHRASE_NOTHING : GROUT_PHRASE_THIS_ACCESS);
    if (grout_wording__is_about_bytes(wording) &&
        grout_wording__add_bytes(wording, side->origin.op, &bytes)) {
        opening = grout_wording__keep(wording, &bytes);
    }
    note_side(wording, side, opening, access);
}

/* Two names for the same bytes: without this note one wonders what the accesses have in common. */
static void note_alias(grout_wording *wording) {
    const grout_facts *facts = wording->facts;
    const grout_module *module = wording->module;
    const grout_object_id a = facts->sides[0].box.object, b = facts->sides[1].box.object;
    if (facts->side_count < 2 || a == 0 || b == 0 ||
        grout_object_get_root(module, a) != grout_object_get_root(module, b)) {
        return;
    }
    const grout_object *first = grout_module_get_object(module, a);
    const grout_object *second = grout_module_get_object(module, b);
    if (first->value == second->value) {
        return;
    }
    const grout_words words = {.object = grout_wording__name_object(wording, a),
                               .other = grout_wording__name_object(wording, b)};
    grout_wording__note(
        wording, GROUT_SEVERITY_NOTE,
        grout_module_get_place(module, first->alias != 0 ? first->loc : second->loc),
        grout_wording__say(wording, GROUT_SENTENCE_SHARED_BYTES, &words));
}

/* What stands at the related place where that is no access. */
static grout_phrase_id get_related_place(const grout_wording *wording) {
    return wording->record->code == GROUT_DIAG_ASYNC_AT_EXIT      ? GROUT_PHRASE_RELATED_NEXT_SCOPE
           : wording->record->code == GROUT_DIAG_DIVISION_BY_ZERO ? GROUT_PHRASE_RELATED_DIVISION
                                                                  : GROUT_PHRASE_DECLARED_HERE;
}

static void describe_sides(grout_wording *wording) {
    const grout_facts *facts = wording->facts;
    grout_finding *finding = wording->finding;
    bool later_first = !facts->primary_is_earlier;
    grout_finding_access accesses[2] = {{.box = ""}, {.box = ""}};
    uint32_t count = 0;
    for (uint32_t i = 0; i < facts->side_count; i++) {
        if (facts->sides[i].origin.op) {
            accesses[i] = describe_side(wording, &facts->sides[i]);
            count++;
        }
    }
    if (facts->sides[0].origin.op) {
        note_primary(wording, &accesses[0]);
    }
    if (facts->side_count > 1 && facts->sides[1].origin.op) {
        note_side(wording, &facts->sides[1], get_related_opening(wording), &accesses[1]);
    } else if (finding->related.file && grout_wording__find_unwritten(wording) == NULL) {
        grout_wording__note(wording, GROUT_SEVERITY_NOTE, finding->related,
                            grout_phrase__get(get_related_place(wording)));
    }
    finding->access_count = count;
    if (count == 1) {
        finding->accesses[0] = accesses[facts->sides[0].origin.op ? 0 : 1];
    } else if (count == 2) {
        finding->accesses[later_first ? 0 : 1] = accesses[0];
        finding->accesses[later_first ? 1 : 0] = accesses[1];
    }
}

/* Elements that an earlier launch has left without a value, of the arrays that the kernel reads. */
static void note_left(grout_wording *wording) {
    const grout_checker *checker = wording->checker;
    const grout_kernel *kernel = grout_module_get_kernel(wording->module, checker->info.kernel);
    const bool is_about_it = wording->record->code == GROUT_DIAG_UNINITIALISED_READ;
    for (uint32_t i = 0; is_about_it && checker->pasts != NULL && i < kernel->param_count; i++) {
        const grout_param *param = grout_module_get_param(wording->module, kernel, i);
        const grout_array_past *past = &checker->pasts[i];
        if (past->undefined_count == 0 || param->direction == GROUT_DIRECTION_OUT) {
            continue;
        }
        grout_text element = {.allocator = checker->allocator};
        grout_type_print_element(grout_object_get_type(wording->module, param->object),
                                 past->first_undefined, &element);
        const grout_words words = {.number = past->launch,
                                   .have = past->undefined_count,
                                   .object = grout_wording__name_object(wording, param->object),
                                   .element = grout_wording__keep(wording, &element)};
        const grout_value *value = grout_module_get_value(wording->module, param->value);
        grout_wording__note(
            wording, GROUT_SEVERITY_NOTE, grout_module_get_place(wording->module, value->loc),
            grout_wording__say(wording,
                               past->undefined_count == 1 ? GROUT_SENTENCE_LEFT_UNWRITTEN_ONE_NOTE
                                                          : GROUT_SENTENCE_LEFT_UNWRITTEN_NOTE,
                               &words));
    }
}

/* The read that the undefined value comes from, with what had none. */
static void note_unwritten(grout_wording *wording) {
    const grout_unwritten *it = grout_wording__find_unwritten(wording);
    if (it == NULL) {
        return;
    }
    const grout_origin origin = {.op = it->op};
    grout_text box = {.allocator = wording->checker->allocator};
    grout_wording__add_box(wording, &it->box, &box);
    grout_wording__note(
        wording, GROUT_SEVERITY_NOTE, grout_wording__get_place(wording, &origin),
        grout_wording__say(wording, GROUT_SENTENCE_UNWRITTEN_NOTE,
                           &(grout_words){.op = grout_wording__get_mnemonic(wording, &origin),
                                          .object = grout_wording__keep(wording, &box)}));
}

static void add_edge_and_repair(grout_wording *wording) {
    const grout_near *near = &wording->facts->near;
    const grout_place none = {0};
    grout_text text = {.allocator = wording->checker->allocator};
    grout_wording__add_missing_edge(wording, &text);
    wording->finding->missing_edge = grout_wording__keep(wording, &text);
    if (*wording->finding->missing_edge) {
        grout_wording__note(wording, GROUT_SEVERITY_NOTE,
                            grout_wording__get_place(wording, &near->origin),
                            wording->finding->missing_edge);
    }
    grout_wording__add_repair(wording, &text);
    wording->finding->repair = grout_wording__keep(wording, &text);
    if (*wording->finding->repair) {
        grout_wording__note(wording, GROUT_SEVERITY_ADVICE, none, wording->finding->repair);
    }
}

/* The sentences of a deadlock are ready; the first is the headline. */
static void copy_sentences(grout_wording *wording) {
    const grout_findings *findings = &wording->checker->memory.findings;
    for (uint32_t i = 1; i < findings->sentence_count; i++) {
        const grout_sentence *it = &findings->sentences[i];
        grout_wording__note(wording, it->is_help ? GROUT_SEVERITY_ADVICE : GROUT_SEVERITY_NOTE,
                            grout_module_get_place(wording->module, it->loc), it->text);
        wording->finding->repair = it->is_help ? it->text : wording->finding->repair;
    }
}

/* Edits are lines of a kernel's text: they are nothing for the program that built one. */
static void drop_edit_of_program(grout_wording *wording) {
    const grout_loc *loc = grout_module_get_loc(wording->module, wording->record->primary);
    if (loc->kind != GROUT_LOC_TEXT) {
        wording->finding->edit.place.file = NULL;
    }
}

static void word_finding(grout_wording *wording) {
    const grout_record *record = wording->record;
    grout_finding *finding = wording->finding;
    grout_diag *diag = wording->diag;
    bool is_stuck =
        record->code == GROUT_DIAG_DEADLOCK || (record->code == GROUT_DIAG_COLLECTIVE_DIVERGENCE &&
                                                record->facts.subject != GROUT_SUBJECT_COPY);
    grout_text text = {.allocator = wording->checker->allocator};
    finding->code = diag->code = record->code;
    finding->severity = diag->severity = record->severity;
    finding->primary = diag->place = grout_module_get_place(wording->module, record->primary);
    finding->related = grout_module_get_place(wording->module, record->related);
    finding->identity = grout_findings__identify(&wording->checker->memory.findings, record);
    finding->count = record->count;
    finding->diag = diag;
    finding->missing_edge = finding->repair = "";
    grout_wording__add_headline(wording, &text);
    diag->message = grout_wording__keep(wording, &text);
    if (is_stuck) {
        finding->accesses[0] = describe_side(wording, &wording->facts->sides[0]);
        finding->access_count = 1;
        grout_wording__note_callers(wording, record->primary);
        copy_sentences(wording);
        return;
    }
    describe_sides(wording);
    note_alias(wording);
    note_unwritten(wording);
    note_left(wording);
    if (grout_wording__is_about_bytes(wording)) {
        grout_wording__note_bytes(wording);
    }
    add_edge_and_repair(wording);
    drop_edit_of_program(wording);
}

/* ---- all of them ---- */

static void count_findings(grout_explained *explained, const grout_checker *checker,
                           const grout_listed *list, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        const grout_record *record = &checker->memory.findings.records[list[i].record];
        bool is_error = record->severity == GROUT_SEVERITY_ERROR;
        explained->error_count += is_error ? 1 : 0;
        explained->warning_count += is_error ? 0 : 1;
    }
    explained->count = count < checker->max_findings ? count : checker->max_findings;
    explained->dropped = count - explained->count;
    GROUT_ASSERT(explained->error_count + explained->warning_count == count);
}

static void deinit_shared(grout_shared *shared) {
    grout_lookup__deinit(&shared->waits.lookup);
    grout_counters__deinit(&shared->counters);
    grout_sync_ops__deinit(&shared->sync_ops);
    grout_byte_ops__deinit(&shared->byte_ops);
    grout_rings__deinit(&shared->rings);
    grout_line_table__deinit(&shared->lines);
    grout_sources__deinit(&shared->sources);
}

grout_explained *grout_explained__new(const grout_checker *checker) {
    grout_explained *explained = grout__new(checker->allocator, 1, sizeof *explained);
    grout_shared shared = {
        .lines = {.module = checker->info.module, .by_op = {.allocator = checker->allocator}}};
    const grout_wording base = {.checker = checker,
                                .module = checker->info.module,
                                .strings = explained ? &explained->strings : NULL,
                                .shared = &shared};
    uint32_t count = 0;
    uint32_t *shown = grout_findings__list(&checker->memory.findings, &count);
    grout_listed *list = explained && shown ? grout_causes__arrange(&base, shown, count) : NULL;
    bool done = list != NULL;
    grout__free(shown);
    if (done) {
        count_findings(explained, checker, list, count);
        explained->findings =
            grout__new(checker->allocator, explained->count, sizeof *explained->findings);
        explained->diags =
            grout__new(checker->allocator, explained->count, sizeof *explained->diags);
        explained->records =
            grout__new(checker->allocator, explained->count, sizeof *explained->records);
        done = explained->findings && explained->diags && explained->records;
        explained->count = done ? explained->count : 0;
    }
    for (uint32_t i = 0; done && i < explained->count; i++) {
        const grout_record *record = &checker->memory.findings.records[list[i].record];
        grout_wording wording = base;
        wording.record = record;
        wording.facts = &record->facts;
        wording.late = list[i].late;
        wording.finding = &explained->findings[i];
        wording.diag = &explained->diags[i];
        explained->records[i] = list[i].record;
        word_finding(&wording);
        wording.finding->cause = list[i].cause == i ? NULL : &explained->findings[list[i].cause];
        done = !explained->strings.has_failed && !shared.lines.has_failed;
    }
    grout__free(list);
    deinit_shared(&shared);
    if (!done) {
        grout_explained__free(explained);
        return NULL;
    }
    return explained;
}

uint32_t grout_explained__get_count(const grout_explained *explained) {
    return explained->count;
}

const grout_finding *grout_explained__get(const grout_explained *explained, uint32_t index) {
    return explained && index < explained->count ? &explained->findings[index] : NULL;
}

uint32_t grout_explained__find_record(const grout_explained *explained,
                                      const grout_finding *finding) {
    const uintptr_t first = explained ? (uintptr_t)explained->findings : 0, at = (uintptr_t)finding;
    const bool is_own = explained && at >= first &&
                        at < first + (uintptr_t)explained->count * sizeof *explained->findings;
    return is_own ? explained->records[(at - first) / sizeof *explained->findings] : UINT32_MAX;
}

grout_explained_totals grout_explained__get_totals(const grout_explained *explained) {
    grout_explained_totals totals = {explained->error_count, explained->warning_count,
                                     explained->dropped};
    return totals;
}
