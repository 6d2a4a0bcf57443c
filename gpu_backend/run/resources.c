/*
 * resources.c - what a compiled kernel takes of an SM, and what the assembler says it lost.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "plan.h"
#include "ptxas_log.h"
#include "run.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* What an SM of compute capability 9.0 has: CUDA C++ Programming Guide, 'Compute Capabilities'. */
#define SM_REGISTERS      65536
#define SM_WARPS          64
#define SM_CTAS           32
#define SM_SMEM_BYTES     233472
#define CTA_SMEM_RESERVED 1024
#define SMEM_UNIT_BYTES   128
#define REGISTERS_UNIT    256 /* of a warp's allocation */
#define WARP_LANES        32
#define SM_PARTS          4   /* each with a quarter of the registers */
#define SM_TENSOR_COLUMNS 512 /* of compute capability 10.0, which is the same in the rest */

static const grout_gpu_resources *find_kernel(const grout_gpu_ptxas_log *log, const char *name) {
    char symbol[GROUT_GPU_SYMBOL_MAX];
    grout_gpu__get_symbol(name, symbol);
    const grout_gpu_resources *found = grout_gpu__ptxas_log_find(log, symbol);
    return found == NULL ? grout_gpu__ptxas_log_find(log, name) : found;
}

static int64_t round_up(int64_t value, int64_t unit) {
    return (value + unit - 1) / unit * unit;
}

/* How many CTAs an SM holds at a time, and what it is that keeps it from holding more. */
static void find_occupancy(grout_resources *out) {
    const int64_t warps = out->cuda_threads / WARP_LANES;
    const int64_t spread = round_up(warps, SM_PARTS); /* over the parts of an SM */
    const int64_t registers = round_up((int64_t)out->registers * WARP_LANES, REGISTERS_UNIT);
    const int64_t smem = round_up(
        out->static_smem_bytes + out->dynamic_smem_bytes + CTA_SMEM_RESERVED, SMEM_UNIT_BYTES);
    const struct {
        int64_t count;
        const char *text;
    } bounds[] = {{SM_CTAS, "the number of CTAs"},
                  {SM_WARPS / warps, "its threads"},
                  {SM_SMEM_BYTES / smem, "SMEM"},
                  {out->tensor_columns == 0 ? SM_CTAS : SM_TENSOR_COLUMNS / out->tensor_columns,
                   "tensor memory"},
                  {registers == 0 ? SM_CTAS : SM_REGISTERS / (registers * spread), "registers"}};
    out->ctas_per_sm = SM_CTAS;
    for (uint32_t k = 0; k < sizeof bounds / sizeof bounds[0]; k++) {
        if (bounds[k].count < out->ctas_per_sm || k == 0) {
            out->ctas_per_sm = (int32_t)bounds[k].count;
            out->bound = bounds[k].text;
        }
    }
}

/* CTAs that an H200 runs at a time. The SMs of a cluster are neighbours, and not all 132 have
 * enough of them (docs/hardware.md 5.2). */
static int32_t count_resident(const grout_resources *resources) {
    const int32_t size = resources->cluster_ctas;
    const int32_t sms = size <= 2 ? 132 : size <= 8 ? 120 : 112;
    return sms * resources->ctas_per_sm / size * size;
}

/* The kernel's place in what ptxas said, or NULL with the log given back. */
static const grout_gpu_resources *open_log(const grout_module *bound, grout_kernel_id kernel,
                                           const grout_binary *binary, grout_gpu_ptxas_log *log,
                                           grout_diags *diags) {
    grout_gpu_error error = {0};
    if (!grout_gpu__ptxas_log_parse(binary->log == NULL ? "" : binary->log, log, &error)) {
        (void)grout_gpu__report(diags, &error, (grout_place){0});
        return NULL;
    }
    return find_kernel(
        log, grout_module_get_string(bound, grout_module_get_kernel(bound, kernel)->name));
}

bool grout_binary_get_resources(const grout_binary *binary, const grout_module *bound,
                                grout_kernel_id kernel, grout_resources *resources_out,
                                grout_diags *diags) {
    grout_gpu_ptxas_log log = {0};
    grout_gpu_plan plan;
    const grout_gpu_resources *found = open_log(bound, kernel, binary, &log, diags);
    const bool is_planned = grout_gpu__plan_init(&plan, bound, kernel, diags);
    *resources_out = (grout_resources){.registers = -1, .spill_bytes = -1};
    if (found != NULL && is_planned) {
        *resources_out = (grout_resources){
            .registers = (int32_t)found->registers,
            .spill_bytes = (int32_t)(found->spill_store_bytes + found->spill_load_bytes),
            .static_smem_bytes = (int32_t)found->static_smem_bytes,
            .dynamic_smem_bytes = (int32_t)plan.dynamic_smem_bytes,
            .cuda_threads = (int32_t)(plan.lane_count),
            .cluster_ctas = (int32_t)plan.cluster_size,
            .tensor_columns = (int32_t)plan.tensor_columns};
        find_occupancy(resources_out);
        resources_out->resident_ctas =
            plan.arch == GROUT_ARCH_SM_90A ? count_resident(resources_out) : 0;
    }
    grout_gpu__plan_deinit(&plan);
    grout_gpu__ptxas_log_deinit(&log);
    return found != NULL && is_planned;
}

/* ---- losses ---- */

/* What is lost where the assembler says so, and what helps. The texts are those of CUDA 12 and 13.
 */
static const struct {
    const char *note, *loss, *help;
} losses[] = {
    {"'setmaxnreg' ignored to maintain minimum register",
     "set_max_registers has no effect: the code of some thread needs more registers than it asks "
     "for",
     "give it more registers, or a smaller share of the work"},
    {"'setmaxnreg' ignored", "set_max_registers has no effect", NULL},
    {"setmaxnreg.dec has register count",
     "set_max_registers gives nothing back: it asks for more registers than the kernel uses", NULL},
    {"insufficient register resources",
     "the wgmmas run one after another: their registers do not fit, or one uses registers of "
     "another that is in flight",
     "take a smaller accumulator or deal the tile out to more threads, and wait for a wgmma before "
     "another slice of its accumulator is used"},
    {"reading accumulator registers",
     "the wgmmas run one after another: an accumulator is read while a wgmma that adds to it may "
     "be in flight",
     "wait first: load %acc, or wgmma_wait before an acc_load that does not wait"},
    {"defining accumulator registers",
     "the wgmmas run one after another: an accumulator is written while a wgmma that adds to it "
     "may be in flight",
     "put wgmma_wait 0 before the acc_store"},
    {"defining input registers",
     "the wgmmas run one after another: an a in registers changes while a wgmma that reads it may "
     "be in flight",
     "put a wgmma_wait before the next a is computed, or hold a in SMEM; in a loop that branches "
     "or "
     "waits for barriers, leave one wgmma in flight: the assembler does not follow two"},
    {"serialized",
     "the wgmmas run one after another: the compiler cannot follow them through the kernel's loops "
     "and branches",
     "keep a wgmma and the wait for it in one block or one loop, and its accumulator out of 'if'"},
    {"wait is injected",
     "the compiler added a wait of its own: it saw no written one between a wgmma and a use of its "
     "registers",
     "'grout check' reports an accumulator that is read before its wait"},
    {"injected", "the compiler added a fence for a wgmma of its own", NULL},
};

static void report_note(const grout_module *bound, grout_kernel_id kernel, const char *note,
                        size_t size, grout_diags *diags) {
    const grout_kernel *entry = grout_module_get_kernel(bound, kernel);
    const grout_place place = grout_module_get_place(bound, entry->loc);
    const char *name = grout_module_get_string(bound, entry->name);
    char text[512];
    (void)snprintf(text, sizeof text, "%.*s", (int)(size < 500 ? size : 500), note);
    for (uint32_t k = 0; k < sizeof losses / sizeof losses[0]; k++) {
        if (strstr(text, losses[k].note) != NULL) {
            grout_diags_add(diags, GROUT_DIAG_GPU_LOSS, place, "'@%s' loses speed: %s", name,
                            losses[k].loss);
            grout_diags_note(diags, (grout_place){0}, "%s", text);
            if (losses[k].help != NULL) {
                grout_diags_help(diags, "%s", losses[k].help);
            }
            return;
        }
    }
    grout_diags_add(diags, GROUT_DIAG_GPU_LOSS, place, "the assembler has a note on '@%s'", name);
    grout_diags_note(diags, (grout_place){0}, "%s", text);
}

static void report_spills(const grout_module *bound, grout_kernel_id kernel,
                          const grout_gpu_resources *found, grout_diags *diags) {
    const grout_kernel *entry = grout_module_get_kernel(bound, kernel);
    if (found->spill_store_bytes + found->spill_load_bytes == 0) {
        return;
    }
    grout_diags_add(diags, GROUT_DIAG_GPU_LOSS, grout_module_get_place(bound, entry->loc),
                    "'@%s' loses speed: %" PRIu32 " registers do not hold a lane's values, %" PRIu32
                    " bytes are stored to memory and %" PRIu32 " loaded again",
                    grout_module_get_string(bound, entry->name), found->registers,
                    found->spill_store_bytes, found->spill_load_bytes);
    grout_diags_help(diags, "hold less at a time: smaller tiles, accumulators loaded in slices, or "
                            "a thread more; set_max_registers moves registers to who needs them, "
                            "and 'else' between the roles of threads keeps what one of them has "
                            "waited for out of the registers of the others");
}

/* Whether a note is about this kernel: it names its function, or none. */
static bool is_about(const char *note, const char *end, const char *symbol) {
    static const char word[] = "function '";
    char quoted[GROUT_GPU_SYMBOL_MAX + 16];
    const int size = snprintf(quoted, sizeof quoted, "%s%s'", word, symbol);
    bool names_one = false;
    for (const char *at = note; at < end; at++) {
        if (strncmp(at, quoted, (size_t)size) == 0) {
            return true;
        }
        names_one = names_one || strncmp(at, word, sizeof word - 1) == 0;
    }
    return !names_one;
}

bool grout_binary_report_losses(const grout_binary *binary, const grout_module *bound,
                                grout_kernel_id kernel, grout_diags *diags) {
    static const char prefix[] = "ptxas info    : ";
    grout_gpu_ptxas_log log = {0};
    char symbol[GROUT_GPU_SYMBOL_MAX];
    const grout_gpu_resources *found = open_log(bound, kernel, binary, &log, diags);
    grout_gpu__get_symbol(
        grout_module_get_string(bound, grout_module_get_kernel(bound, kernel)->name), symbol);
    if (found != NULL) {
        report_spills(bound, kernel, found, diags);
    }
    for (const char *note = log.notes; note != NULL && *note != '\0';) {
        const char *end = strchr(note, '\n');
        end = end == NULL ? note + strlen(note) : end;
        if (strncmp(note, prefix, sizeof prefix - 1) == 0) {
            note += sizeof prefix - 1;
        }
        if (is_about(note, end, symbol)) {
            report_note(bound, kernel, note, (size_t)(end - note), diags);
        }
        note = *end == '\n' ? end + 1 : end;
    }
    grout_gpu__ptxas_log_deinit(&log);
    return found != NULL;
}
