/* check_written.c - what a repair writes of an op: the columns MEANT and WRITTEN of sync.def hold
 * to the other tables, and no op is forgotten. SPDX-License-Identifier: Apache-2.0 */
#include "op_rules.h"

#include "grout-internal/written.h"

#include "grout-internal/text.h"
#include "tests/tests.h"

/* Ops that others may need, and that no repair writes: with the reason. */
static const struct {
    grout_opcode opcode;
    const char *reason;
} unwritten[] = {
    {GROUT_OP_TENSORMAP_ACQUIRE, "which slot of a tensor map it is, is not known"},
    {GROUT_OP_MBARRIER_ARRIVE_DROP, "who is missing arrives: that one leaves is a decision"},
    {GROUT_OP_MBARRIER_EXPECT_DROP, "who is missing announces: that one leaves is a decision"},
    {GROUT_OP_ASYNC_COPY_ARRIVE, "a wait for the group does, too, and is nearer"},
    {GROUT_OP_NAMED_BARRIER_SYNC, "its number and its threads are a choice"},
    {GROUT_OP_NAMED_BARRIER_ARRIVE, "its number and its threads are a choice"},
    {GROUT_OP_GRIDDEPCONTROL_WAIT, "the finding says where it goes"},
    {GROUT_OP_GRIDDEPCONTROL_LAUNCH_DEPENDENTS, "without it the next launch waits for the end"},
    {GROUT_OP_ACC_LOAD, "it has a result"},
    {GROUT_OP_SET_MAX_REGISTERS, "how many registers a thread needs is not known"},
    {GROUT_OP_SCOPED, "it has a block"},
};
enum { UNWRITTEN_COUNT = sizeof unwritten / sizeof *unwritten };

static uint32_t count_unwritten(grout_opcode opcode) {
    uint32_t count = 0;
    for (size_t i = 0; i < UNWRITTEN_COUNT; i++) {
        count += unwritten[i].opcode == opcode ? 1 : 0;
    }
    return count;
}

static size_t count_forms(grout_opcode opcode) {
    size_t count;
    (void)grout_op_get_written(opcode, &count);
    return count;
}

/* ---- rules -------------------------------------------------------------------------------------
 */

static void what_can_be_missing_is_written(const op_facts *it) {
    enum {
        MISSED = MODE(POSTS) | MODE(WAITS) | MODE(MEETS) | MODE(CLOSES) | MODE(FENCES) | MODE(MAKES)
    };
    const size_t reasons = count_unwritten(it->opcode);
    hold(it, is_mode(it, MISSED) == (count_forms(it->opcode) + reasons > 0),
         "a repair writes what POSTS, WAITS, MEETS, CLOSES, FENCES or MAKES, and nothing else: "
         "give it a form in WRITTEN, or a reason in check_written.c");
    hold(it, count_forms(it->opcode) == 0 || reasons == 0,
         "it has a form, and a reason why it has none: remove one");
}

/* "read_only", "cluster": flags that the op takes. */
static bool takes_flag(const op_facts *it, const char *word, size_t size) {
    for (int i = 0; i < GROUT_ATTR_COUNT; i++) {
        const grout_attr_info *attr = grout_attr_get_info((grout_attr)i);
        if (strlen(attr->text) == size && memcmp(attr->text, word, size) == 0) {
            return attr->argument == GROUT_ARGUMENT_FLAG && takes(it, UINT64_C(1) << i);
        }
    }
    return false;
}

static bool is_form_of(const op_facts *it, const char *text) {
    bool wants_number = has_letter(it, "k") && !is_object(it, OPERANDS), has_number = false;
    while (*text == ' ') {
        const size_t size = strcspn(++text, " ");
        const bool is_number = strspn(text, "0123456789") == size;
        if (size == 0 || (!is_number && !takes_flag(it, text, size))) {
            return false;
        }
        has_number = has_number || is_number;
        text += size;
    }
    return *text == '\0' && has_number == wants_number;
}

static void a_form_is_one_of_its_op(const op_facts *it) {
    size_t count;
    const grout_written *forms = grout_op_get_written(it->opcode, &count);
    for (size_t i = 0; i < count; i++) {
        const grout_opcode next = (grout_opcode)forms[i].next;
        const op_facts other = get_facts((int)(next == GROUT_OP_NONE ? it->opcode : next), NULL);
        hold(it, is_form_of(&other, forms[i].text),
             "the TEXT of a form has the op's number, if its form has one, and flags that it "
             "takes, each after a space");
        expect(it, next != GROUT_OP_NONE,
               is_mode(it, MODE(CLOSES)) && is_mode(&other, MODE(WAITS)) &&
                   it->line.object == other.line.object,
               "AND_THEN is for what CLOSES a group, with what WAITS for it");
        expect(it, forms[i].is_only_in_clusters, takes(it, GROUT_ATTR_BIT(CLUSTER)),
               "IN_CLUSTERS is for what takes the attribute cluster");
    }
}

/* Its operands are the object, and a parity or a number that the kernel has elsewhere. */
static void a_repair_knows_the_operands(const op_facts *it) {
    const bool has_object = is_object(it, OPERANDS);
    const bool has_others =
        has_kind(it, ~(KIND(BARRIER) | KIND(SEMAPHORE) | KIND(INTEGER) | KIND(CONSTANT)));
    expect(it, count_forms(it->opcode) > 0,
           !has_others && it->info->results == 0 &&
               strlen(it->info->operands) <= (has_object ? 2u : 1u),
           "a repair has a barrier or a semaphore for it, a parity and a number, and nothing "
           "else: WRITTEN is (NEVER)");
}

static void what_is_meant_can_take_its_place(const op_facts *it) {
    const grout_opcode meant = grout_op_get_meant(it->opcode);
    const op_facts other = get_facts((int)meant, NULL);
    expect(it, meant != GROUT_OP_NONE,
           meant != it->opcode && it->line.object == other.line.object &&
               strcmp(it->info->operands, other.info->operands) == 0 &&
               it->info->results == other.info->results,
           "MEANT is another op with the same OBJECT, operands and results");
}

/* Ops with the operands of others on the same object, and that are meant for none of them: with the
 * reason. */
static const struct {
    grout_opcode opcode;
    const char *reason;
} unmistaken[] = {
    {GROUT_OP_FENCE_ASYNC_SHARED, "commit_smem does the same"},
    {GROUT_OP_MBARRIER_INVALIDATE,
     "it ends the life of what an arrival needs: a finding by itself"},
    {GROUT_OP_CLUSTER_BARRIER, "an arrival and a wait are mistaken for it, and it is both"},
    {GROUT_OP_GRIDDEPCONTROL_WAIT,
     "one waits for the launch before, the other lets the next begin"},
    {GROUT_OP_GRIDDEPCONTROL_LAUNCH_DEPENDENTS, "as griddepcontrol_wait"},
    {GROUT_OP_SEMAPHORE_SIGNAL, "it gives what the wait takes: nobody writes one for the other"},
    {GROUT_OP_SEMAPHORE_WAIT, "it takes what the signal gives: nobody writes one for the other"},
    {GROUT_OP_WGMMA, "for wgmma_async it waits more, which is right"},
    {GROUT_OP_WGMMA_SP, "for wgmma_sp_async it waits more, which is right"},
    {GROUT_OP_ASYNC_COPY_SMEM_TO_TMEM, "the kind of its destination says which copy it is"},
    {GROUT_OP_ASYNC_COPY_SCALES_TO_TMEM, "the kind of its destination says which copy it is"},
    {GROUT_OP_ASYNC_COPY_SPARSE_METADATA_TO_TMEM, "the kind of its destination says which it is"},
    {GROUT_OP_ASYNC_COPY_ARRIVE, "it tells of cp.async, the other of the tensor core"},
    {GROUT_OP_TCGEN05_COMMIT_ARRIVE, "it tells of the tensor core, the other of cp.async"},
};
enum { UNMISTAKEN_COUNT = sizeof unmistaken / sizeof *unmistaken };

static bool has_reason(grout_opcode opcode) {
    for (size_t i = 0; i < UNMISTAKEN_COUNT; i++) {
        if (unmistaken[i].opcode == opcode) {
            return true;
        }
    }
    return false;
}

static bool can_be_meant(const op_facts *it, const op_facts *other) {
    return it->sync != NULL && other->sync != NULL && it->opcode != other->opcode &&
           it->line.object == other->line.object &&
           strcmp(it->info->operands, other->info->operands) == 0 &&
           it->info->results == other->info->results;
}

static void what_can_be_mistaken_says_for_what(const op_facts *it) {
    const bool has_none = grout_op_get_meant(it->opcode) == GROUT_OP_NONE;
    const char *other_name = NULL;
    for (int i = 1; i < GROUT_OP_COUNT; i++) {
        const op_facts other = get_facts(i, NULL);
        other_name = can_be_meant(it, &other) ? other.info->text : other_name;
    }
    if (has_none && other_name != NULL && !has_reason(it->opcode)) {
        grout_text_add(it->faults,
                       "\n  %s: MEANT is NONE, and %s has its OBJECT, operands and results: name "
                       "what it is mistaken for, or give a reason in unmistaken of check_written.c",
                       it->info->text, other_name);
    }
    expect(it, has_reason(it->opcode), has_none && other_name != NULL,
           "unmistaken of check_written.c has a reason for it, and it needs none: remove the line");
}

static const op_rule rules[] = {
    RULE(what_can_be_missing_is_written),     RULE(a_form_is_one_of_its_op),
    RULE(a_repair_knows_the_operands),        RULE(what_is_meant_can_take_its_place),
    RULE(what_can_be_mistaken_says_for_what),
};

TEST_EACH(each_op_keeps_the_rule, COUNT_OF(rules)) {
    check_rule(&rules[_i]);
}

TEST(the_columns_are_found) {
    size_t count;
    const grout_written *forms = grout_op_get_written(GROUT_OP_COMMIT_GROUP, &count);
    ck_assert_uint_eq(count, 2);
    ck_assert_str_eq(forms[0].text, "");
    ck_assert_uint_eq(forms[1].next, GROUT_OP_WAIT_SMEM_TO_GMEM);
    ck_assert_ptr_null(grout_op_get_written(GROUT_OP_LOAD, &count));
    ck_assert_uint_eq(count, 0);
    ck_assert_uint_eq(grout_op_get_meant(GROUT_OP_WGMMA_ASYNC), GROUT_OP_WGMMA);
    ck_assert_uint_eq(grout_op_get_meant(GROUT_OP_LOAD), GROUT_OP_NONE);
}
