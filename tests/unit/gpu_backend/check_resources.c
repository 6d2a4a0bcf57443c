/*
 * check_resources.c - what a compiled kernel takes of an SM and loses, from logs as ptxas writes
 * them. SPDX-License-Identifier: Apache-2.0
 */
#include "tests/tests.h"
#include "tests/unit/support/gpu_text.h"

static grout_binary make_binary(const char *log) {
    static char kept[4096];
    snprintf(kept, sizeof kept, "%s", log);
    return (grout_binary){.registers = -1, .log = kept};
}

#define LOG(registers, spills, smem)                                                         \
    "ptxas info    : Compiling entry function 'k' for 'sm_90a'\n"                            \
    "ptxas info    : Function properties for k\n"                                            \
    "    0 bytes stack frame, " spills " bytes spill stores, " spills " bytes spill loads\n" \
    "ptxas info    : Used " registers " registers, used 1 barriers, " smem " bytes smem\n"

/* ---- occupancy ---- */

typedef struct occupancy {
    const char *kernel, *log;
    int ctas;
    const char *bound;
} occupancy;

static const occupancy occupancies[] = {
    {"kernel @k() {\n}\n", LOG("16", "0", "0"), 16, "its threads"},
    {"kernel @k() threads(t = 3) {\n}\n", LOG("168", "0", "0"), 1, "registers"},
    {"kernel @k() {\n}\n", LOG("65", "0", "0"), 7, "registers"},
    {"kernel @k() threads(t = 8) {\n}\n", LOG("32", "0", "0"), 2, "its threads"},
    {"kernel @k() {\n  scratch %s : smem f32[16384]\n}\n", LOG("32", "0", "0"), 3, "SMEM"},
    {"kernel @k() {\n  scratch %s : smem f32[16384]\n}\n", LOG("32", "0", "12288"), 2, "SMEM"},
    {"kernel @k() {\n  scratch %s : smem f32[57600]\n}\n", LOG("255", "0", "0"), 1, "SMEM"},
};

TEST_EACH(occupancy_has_its_bound, COUNT_OF(occupancies)) {
    const occupancy *row = &occupancies[_i];
    grout_diags *diags = grout_diags_new();
    grout_module *module = bind_text("k", row->kernel, diags);
    const grout_binary binary = make_binary(row->log);
    const uint32_t before = grout_diags_count(diags);
    grout_resources facts;
    ck_assert(grout_binary_get_resources(&binary, module, 1, &facts, diags));
    ck_assert_int_eq(facts.ctas_per_sm, row->ctas);
    ck_assert_str_eq(facts.bound, row->bound);
    ck_assert_int_eq(facts.spill_bytes, 0);
    ck_assert(grout_binary_report_losses(&binary, module, 1, diags));
    ck_assert_uint_eq(grout_diags_count(diags), before);
    grout_module_free(module);
    grout_diags_free(diags);
}

/* The SMs of a cluster are neighbours: large ones leave some SMs idle. */
TEST(clusters_leave_sms_idle) {
    static const struct {
        const char *kernel;
        int size, resident;
    } rows[] = {{"kernel @k() threads(t = 3) {\n}\n", 1, 132},
                {"kernel @k() cluster(x = 2) threads(t = 3) {\n}\n", 2, 132},
                {"kernel @k() cluster(x = 2, y = 2) threads(t = 3) {\n}\n", 4, 120},
                {"kernel @k() cluster(x = 8) threads(t = 3) {\n}\n", 8, 120},
                {"kernel @k() cluster(x = 4, y = 4) threads(t = 3) {\n}\n", 16, 112}};
    const grout_binary binary = make_binary(LOG("168", "0", "0"));
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        grout_diags *diags = grout_diags_new();
        grout_module *module = bind_text("k", rows[k].kernel, diags);
        grout_resources facts;
        ck_assert(grout_binary_get_resources(&binary, module, 1, &facts, diags));
        ck_assert_int_eq(facts.cluster_ctas, rows[k].size);
        ck_assert_int_eq(facts.resident_ctas, rows[k].resident);
        grout_module_free(module);
        grout_diags_free(diags);
    }
}

TEST(ptx_has_none) {
    grout_diags *diags = grout_diags_new();
    grout_module *module = bind_text("k", "kernel @k() {\n}\n", diags);
    const grout_binary none = {.registers = -1};
    grout_resources facts;
    ck_assert(!grout_binary_get_resources(&none, module, 1, &facts, diags));
    ck_assert_int_eq(facts.registers, -1);
    ck_assert(!grout_binary_report_losses(&none, module, 1, diags));
    ck_assert_uint_eq(grout_diags_count(diags), 0);
    grout_module_free(module);
    grout_diags_free(diags);
}

/* ---- losses ---- */

typedef struct loss {
    const char *note, *says, *helps;
} loss;

#define SERIAL "Potential Performance Loss: wgmma.mma_async instructions are serialized due to "

static const loss losses[] = {
    {"(C7508) Potential Performance Loss: 'setmaxnreg' ignored; unable to determine register count "
     "at entry.",
     "set_max_registers has no effect", NULL},
    {"(C7507) Potential Performance Loss: 'setmaxnreg' ignored to maintain minimum register "
     "requirements.",
     "needs more registers than it asks for", "give it more registers"},
    {"(C7511) " SERIAL "insufficient register resources for the wgmma pipeline in the function 'k'",
     "their registers do not fit", "take a smaller accumulator"},
    {"(C7514) " SERIAL "non wgmma instructions reading accumulator registers of  a wgmma between "
     "start and end of the pipeline stage in the function 'k'",
     "an accumulator is read", "wait first"},
    {"(C7515) " SERIAL "non wgmma instructions defining accumulator registers of a wgmma between "
     "start and end of the pipeline stage in the function 'k'",
     "an accumulator is written", "put wgmma_wait 0 before the acc_store"},
    {"(C7513) " SERIAL "non wgmma instructions defining input registers of a wgmma between start "
     "and end of the pipeline stage in the function 'k'",
     "an a in registers changes", "put a wgmma_wait before"},
    {"(C7512) " SERIAL "ill formed pipeline stage in the function 'k'",
     "the compiler cannot follow them", "keep a wgmma and the wait for it in one block"},
    {"(C7517) warpgroup.wait is injected in around line 12 by compiler to allow use of registers "
     "defined by GMMA in function 'k'",
     "a wait of its own", "'grout check' reports an accumulator"},
    {"(C7519) warpgroup.arrive is injected in around line 12 by compiler to allow use of registers "
     "in GMMA in function 'k'",
     "a fence for a wgmma of its own", NULL},
    {"(C7599) something that is new in function 'k'", "has a note on '@k'", NULL},
};

static bool has_note(const grout_diag *diag, const char *text) {
    for (uint32_t k = 0; k < diag->note_count; k++) {
        if (strstr(diag->notes[k].message, text) != NULL) {
            return true;
        }
    }
    return false;
}

TEST_EACH(a_note_has_cause_and_remedy, COUNT_OF(losses)) {
    const loss *row = &losses[_i];
    grout_diags *diags = grout_diags_new();
    grout_module *module =
        bind_text("k", "kernel @other() {\n}\nkernel @k() {\n}\nkernel @kk() {\n}\n", diags);
    char log[2048];
    snprintf(log, sizeof log, "ptxas info    : %s\n%s", row->note, LOG("40", "0", "0"));
    const grout_binary binary = make_binary(log);
    ck_assert(grout_binary_report_losses(&binary, module, 2, diags));
    ck_assert_uint_eq(grout_diags_count(diags), 1);
    const grout_diag *diag = grout_diags_get(diags, 0);
    ck_assert_int_eq(diag->code, GROUT_DIAG_GPU_LOSS);
    ck_assert_int_eq(diag->severity, GROUT_SEVERITY_WARNING);
    ck_assert_msg(strstr(diag->message, row->says) != NULL, "%s", diag->message);
    ck_assert(has_note(diag, row->note));
    ck_assert(row->helps == NULL || has_note(diag, row->helps));
    /* Not this kernel's, if it names another. */
    if (strstr(row->note, "'k'") != NULL) {
        (void)grout_binary_report_losses(&binary, module, 3, diags);
        ck_assert_uint_eq(grout_diags_count(diags), 1);
    }
    grout_module_free(module);
    grout_diags_free(diags);
}

TEST(spills_are_counted) {
    grout_diags *diags = grout_diags_new();
    grout_module *module = bind_text("k", "kernel @k() {\n}\n", diags);
    const grout_binary binary = make_binary(LOG("168", "24", "0"));
    grout_resources facts;
    ck_assert(grout_binary_get_resources(&binary, module, 1, &facts, diags));
    ck_assert_int_eq(facts.spill_bytes, 48);
    ck_assert(grout_binary_report_losses(&binary, module, 1, diags));
    ck_assert_uint_eq(grout_diags_count(diags), 1);
    ck_assert_msg(strstr(grout_diags_get(diags, 0)->message,
                         "24 bytes are stored to memory and 24 loaded again") != NULL,
                  "%s", grout_diags_get(diags, 0)->message);
    grout_module_free(module);
    grout_diags_free(diags);
}
