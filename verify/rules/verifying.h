/* verifying.h - what the files of the verifier share; private to ir/.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_IR_VERIFYING_H
#define GROUT_IR_VERIFYING_H

#include "bound.h"
#include "grout-internal/verify.h"
#include "thread_value.h"

/* A bound module being verified, one kernel at a time. */
typedef struct grout_verifying {
    const grout_module *module;
    grout_arch arch; /* of this kernel */
    bool is_asked;   /* the caller chose it, not the kernel */
    grout_diags *diags;
    grout_kernel_id kernel;
    bool *holds_maps;                       /* by object: slots of make_tensor_descriptor */
    bool *has_bad_pitch;                    /* by object: reported, one report an array is enough */
    uint8_t *differs;                       /* by value, once is_spread: GROUT_DIFFERS_* */
    uint8_t all_differ;                     /* of all values of the kernel */
    bool is_spread;                         /* of the kernel at hand */
    const grout_op *specialize;             /* the kernel's first warp_specialize, or NULL */
    grout_op_id externs[GROUT_EXTERNS_MAX]; /* the first op that calls each function */
    uint32_t extern_count;
    bool ok; /* no error yet */
} grout_verifying;

/* What a value differs by. */
enum {
    GROUT_DIFFERS_BY_THREAD = 1, /* the threads of a CTA */
    GROUT_DIFFERS_BY_WARP = 2    /* the warps of a warp_map */
};

/* Adds a diagnostic; errors clear ok. */
void grout_verifying__report(grout_verifying *verifying, grout_diag_code code, grout_loc_id loc,
                             const char *format, ...) GROUT_PRINTF(4, 5);

/* Adds help to the last diagnostic if a kernel of the module has nearly this name. */
void grout_verifying__suggest_kernel(grout_verifying *verifying, const char *name);

/* Whether verifying goes on: what is linear in the operations of a kernel asks for each of them. */
bool grout_verify__goes_on(const grout_verifying *verifying);

/* One file a topic. Rules of the whole module: */
void grout_verify__launch_list(grout_verifying *verifying);
void grout_verify__check_lines(grout_verifying *verifying);
/* Rules of the whole kernel: */
/* The launch; false: it is far from any that there can be, and nothing else is asked of the kernel,
 * as much of it counts threads and ranks. */
bool grout_verify__launch(grout_verifying *verifying);
void grout_verify__params(grout_verifying *verifying);
void grout_verify__packed_params(grout_verifying *verifying);
void grout_verify__scopes(grout_verifying *verifying);
void grout_verify__meetings(grout_verifying *verifying);
void grout_verify__registers(grout_verifying *verifying);
void grout_verify__named(grout_verifying *verifying);
/* Which objects hold tensor maps, before any of the rules below. */
void grout_verify__note_slots(grout_verifying *verifying);
/* Rules of one op, or of the objects that it makes: */
void grout_verify__types(grout_verifying *verifying, const grout_op *op);
void grout_verify__expansion(grout_verifying *verifying, const grout_op *op);
void grout_verify__check(grout_verifying *verifying, const grout_op *op);
void grout_verify__order(grout_verifying *verifying, const grout_op *op);
void grout_verify__objects(grout_verifying *verifying, const grout_op *op);
void grout_verify__inits(grout_verifying *verifying, const grout_op *op);
void grout_verify__memory(grout_verifying *verifying, grout_op_id id, const grout_op *op);
void grout_verify__cluster(grout_verifying *verifying, const grout_op *op);
void grout_verify__sync(grout_verifying *verifying, const grout_op *op);
void grout_verify__barrier_kind(grout_verifying *verifying, const grout_op *op);
void grout_verify__mbarrier(grout_verifying *verifying, const grout_op *op);
void grout_verify__semaphore(grout_verifying *verifying, const grout_op *op);
void grout_verify__atomic(grout_verifying *verifying, const grout_op *op);
void grout_verify__oob(grout_verifying *verifying, const grout_op *op);
void grout_verify__pieces(grout_verifying *verifying, grout_op_id id, const grout_op *op);
void grout_verify__ptx(grout_verifying *verifying, const grout_op *op);
void grout_verify__descriptor(grout_verifying *verifying, const grout_op *op);
void grout_verify__tensor_map(grout_verifying *verifying, const grout_op *op);
void grout_verify__im2col(grout_verifying *verifying, grout_op_id id, const grout_op *op);
void grout_verify__warps(grout_verifying *verifying, const grout_op *op);
void grout_verify__partition_warps(grout_verifying *verifying);
void grout_verify__partitions(grout_verifying *verifying, const grout_op *op);
void grout_verify__extern(grout_verifying *verifying, grout_op_id id, const grout_op *op);
void grout_verify__wgmma(grout_verifying *verifying, grout_op_id id, const grout_op *op);
void grout_verify__cancel(grout_verifying *verifying, const grout_op *op);
void grout_verify__tcgen05(grout_verifying *verifying, grout_op_id id, const grout_op *op);
void grout_verify__pair(grout_verifying *verifying, const grout_op *op);

/* ---- verify_uniform.c -------------------------------------------------------------------------
 */

/* Finds out which values of the kernel differ; the rest below needs it. */
void grout_verify__spread(grout_verifying *verifying);
/* How an operand's value differs, or the indices of a reference: GROUT_DIFFERS_*, or'ed. */
uint32_t grout_verify__get_differing(const grout_verifying *verifying,
                                     const grout_operand *operand);
/* The same for the number of times that the bodies of an if or loop run. */
uint32_t grout_verify__get_control(const grout_verifying *verifying, const grout_op *op);
/* The nearest if or loop around op whose control differs in one of these ways, or NULL. */
const grout_op *grout_verify__find_divergence(const grout_verifying *verifying, const grout_op *op,
                                              uint32_t differs);

/* ---- small things that several topics need ----------------------------------------------------
 */

/* What an mbarrier counts in a phase, arrivals or bytes (PTX ISA 9.1 'mbarrier'). */
#define GROUT_MBARRIER_MAX ((1 << 20) - 1)

/* Where the verifier refuses an operand: the situations of remedies.def. */
typedef enum grout_remedy {
#define GROUT_REMEDY_DEFAULT(SITUATION, TEXT) GROUT_REMEDY_##SITUATION,
#include "remedies.def"
    GROUT_REMEDY_COUNT
} grout_remedy;
/* What to write instead of an op in a situation. */
const char *grout_verify__get_remedy(const grout_op *op, grout_remedy situation);
/* The same in the situation OTHER_FACE, of an op on BARRIER or MBARRIER: without a line, the op of
 * the other style that is most like it. */
void grout_verify__add_other_face(const grout_op *op, grout_text *out);

/* Whether all threads of the CTA meet in the op. */
static inline bool grout_verify__is_meeting(const grout_op *op) {
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    return sync != NULL && sync->object == GROUT_SYNC_OBJECT_CTA &&
           sync->mode == GROUT_SYNC_MODE_MEETS;
}

/* The object that an operand refers to, with its view; NULL if it is no reference. */
const grout_object *grout_verify__find_object(const grout_verifying *verifying,
                                              const grout_operand *operand, grout_view *view_out);
/* "'%x'": the name of the object of a view. */
grout_value_text grout_verify__get_name(const grout_verifying *verifying, const grout_view *view);
/* The constant that an operand is; false if it is none. */
bool grout_verify__find_constant(const grout_verifying *verifying, const grout_operand *operand,
                                 int64_t *value_out);
/* A note at the declaration of an object. */
void grout_verify__note_object(grout_verifying *verifying, grout_object_id object);

/* Whether the rows of a descriptor's block are too short for TMA: reported where it is made. */
bool grout_verify__is_narrow(const grout_type *block);

static inline const char *grout_verify__get_text(const grout_op *op) {
    return grout_op_get_info((grout_opcode)op->opcode)->text;
}

/* The parameter that a gmem object is, or NULL. */
const grout_param *grout_verify__find_param(const grout_verifying *verifying,
                                            grout_object_id object);
/* verify_wgmma.c: whether a set_max_registers asks for a number that there is. */
bool grout_wgmma__has_register_count(const grout_module *module, const grout_op *op);

#endif
