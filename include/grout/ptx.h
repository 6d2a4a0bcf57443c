/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ptx.h - PTX as compilers write it: parsed, printed, and run on a machine of lanes, warps, CTAs
 * and clusters that knows PTX by its ISA alone. It shares no code with grout's interpreter and
 * emitter, so that what it computes of emitted code proves both. docs/ptx.md says what it knows.
 */
#ifndef GROUT_PTX_H
#define GROUT_PTX_H

#include "grout/diag.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- text ------------------------------------------------------------------------------------
 */

/* A parsed text of PTX. */
typedef struct grout_ptx_module grout_ptx_module;

/* What bounds the parsing of a text. Zeroed: nothing does. */
typedef struct grout_ptx_bounds {
    const grout_allocator *allocator; /* of the module (alloc.h); NULL: libc */
    uint64_t max_memory;              /* bytes of the module; 0: no limit of ours */
    /* Called now and then with the bytes that are read as steps; false ends the parsing, with
     * interrupted. May be NULL. */
    bool (*progress)(void *payload, const grout_progress *progress);
    void *payload;
} grout_ptx_bounds;

/*
 * Parses a text, or returns NULL with up to GROUT_DIAGS_MAX reasons, each with its place:
 * ptx-syntax where it is no PTX, ptx-unsupported where it is PTX that the parser does not know. The
 * text is borrowed for the call and copied; file is its name in diagnostics. No input, however
 * broken, crashes, hangs or leaks. Free with grout_ptx_module_free.
 * bounds are borrowed for the call, the allocator for the life of the module; NULL: nothing bounds
 * the parsing. NULL is the result also with out-of-memory, where the limit is reached, and with
 * interrupted.
 */
GROUT_API grout_ptx_module *grout_ptx_parse_within(const char *file, const char *text, size_t size,
                                                   const grout_ptx_bounds *bounds,
                                                   grout_diags *diags);
/* The same without bounds. */
static inline grout_ptx_module *grout_ptx_parse(const char *file, const char *text, size_t size,
                                                grout_diags *diags) {
    return grout_ptx_parse_within(file, text, size, NULL, diags);
}
GROUT_API void grout_ptx_module_free(grout_ptx_module *module);

/*
 * Appends the module in a canonical form: registers and labels are numbered, nested scopes are
 * gone, words keep their order. Parsing that text gives a module that prints the same.
 */
GROUT_API void grout_ptx_module_print(const grout_ptx_module *module, grout_text *out);

/* The name of the i-th entry with a body, borrowed from the module; NULL: there are not that many.
 */
GROUT_API const char *grout_ptx_module_get_entry_name(const grout_ptx_module *module,
                                                      uint32_t index);

/* ---- running ---------------------------------------------------------------------------------
 */

/* The global memory of the machine: arrays at addresses of its own. */
typedef struct grout_ptx_memory grout_ptx_memory;

/* Empty memory, or NULL without any. Free with grout_ptx_memory_free. */
GROUT_API grout_ptx_memory *grout_ptx_memory_new(void);
/* The same; its arrays come from an allocator (alloc.h), which is borrowed until it is freed. NULL:
 * libc. */
GROUT_API grout_ptx_memory *grout_ptx_memory_new_in(const grout_allocator *allocator);
GROUT_API void grout_ptx_memory_free(grout_ptx_memory *memory);
/* Bytes of the host that an array of size bytes takes: of each byte of it there is also one that
 * says whether it is defined. */
GROUT_API uint64_t grout_ptx_memory_get_cost(uint64_t size);
/*
 * Allocates size bytes and copies contents into them; NULL: their values are undefined, and where
 * one decides something, the run fails. The address is a multiple of 512, and no two arrays touch.
 * 0 without memory, or if the machine has no addresses for this many bytes.
 */
GROUT_API uint64_t grout_ptx_memory_add(grout_ptx_memory *memory, const void *contents,
                                        size_t size);
/* What an array holds. */
typedef enum grout_ptx_elements {
    GROUT_PTX_ELEMENTS_FIXED, /* what is not to be changed; bytes of no type */
    GROUT_PTX_ELEMENTS_ANY,   /* bytes that may be any others, as integers that nobody gave */
    GROUT_PTX_ELEMENTS_I8,    /* integers, of any sign */
    GROUT_PTX_ELEMENTS_I16,
    GROUT_PTX_ELEMENTS_I32,
    GROUT_PTX_ELEMENTS_I64,
    GROUT_PTX_ELEMENTS_E4M3,
    GROUT_PTX_ELEMENTS_E5M2,
    GROUT_PTX_ELEMENTS_F16,
    GROUT_PTX_ELEMENTS_BF16,
    GROUT_PTX_ELEMENTS_F32,
    GROUT_PTX_ELEMENTS_F64
} grout_ptx_elements;

/*
 * Says that the array at an address is an input that may be another one. Where two writes of a run
 * that looks for races leave the same values, the run is made once more with other inputs: with
 * other floats or bytes, and with integers at other places of their array. Without such an array
 * the first run alone decides. False if no array is there.
 */
GROUT_API bool grout_ptx_memory_set_elements(grout_ptx_memory *memory, uint64_t address,
                                             grout_ptx_elements elements);
/* Copies size bytes from an address, and says how many of them are undefined; undefined_out may be
 * NULL. False if they are not all in one array. */
GROUT_API bool grout_ptx_memory_read(const grout_ptx_memory *memory, uint64_t address, void *data,
                                     size_t size, size_t *undefined_out);

/* When what was started asynchronously happens, of all that the ISA allows. */
typedef enum grout_ptx_timing {
    GROUT_PTX_TIMING_RANDOM,
    GROUT_PTX_TIMING_LATE, /* when nothing else can go on */
    GROUT_PTX_TIMING_EARLY /* at once */
} grout_ptx_timing;

typedef struct grout_ptx_launch {
    const grout_ptx_module *module;
    const char *entry; /* NULL: the only one */
    grout_ptx_memory *memory;
    uint32_t grid[3], block[3], cluster[3]; /* 0 counts as 1 */
    uint32_t dynamic_shared_bytes;
    const void *parameters; /* as they lie in the entry's parameter space */
    size_t parameter_bytes;
    uint64_t seed; /* of the order of the warps, and of random timing */
    grout_ptx_timing timing;
    uint64_t max_steps; /* instructions of warps; 0: GROUT_PTX_STEPS_MAX, the most that counts */
    bool finds_races;   /* two accesses that nothing orders are ptx-race; takes time and memory.
                           Two writes that leave the same values are the warning same-value-race */
    /* Bytes that the run may take beside the arrays that are in memory when it begins: the state of
     * the machine, the variables of the module, and of the search for races what is known of each
     * byte and access, and a copy of the arrays. 0: no limit of ours. */
    uint64_t max_memory;
    const grout_allocator *allocator; /* of the same (alloc.h), but for variables; NULL: libc */
    /* Called every some instructions; false ends the run, with interrupted. May be NULL. */
    bool (*progress)(void *payload, const grout_progress *progress);
    void *payload;
} grout_ptx_launch;

#define GROUT_PTX_STEPS_MAX UINT64_C(4000000000)

typedef struct grout_ptx_result {
    uint64_t warp_instructions, lane_instructions;
    uint64_t async_operations;
    uint64_t peak_bytes; /* of what max_memory counts */
} grout_ptx_result;

/*
 * Runs an entry to its end. True: memory holds what the kernel has written. False: ptx-unsupported
 * for an instruction that is not known, ptx-fault for one that no GPU could run, ptx-hang if all
 * lanes wait for ever, limit-reached if the steps are used up or something else that the machine
 * bounds; each with the instruction's place, and notes of the CTA and lane. False also with
 * bad-argument if the launch is none, whatever it holds, with out-of-memory without memory or at
 * the limit, and with interrupted if progress ends it. What memory holds then is not said.
 *
 * Only the entry and the functions that it may call count: what else is in the module costs
 * nothing.
 */
GROUT_API bool grout_ptx_launch_run(const grout_ptx_launch *launch, grout_ptx_result *result_out,
                                    grout_diags *diags);

/* Where the i-th parameter of an entry lies in its parameter space. False if there is none. */
GROUT_API bool grout_ptx_module_get_parameter(const grout_ptx_module *module, const char *entry,
                                              uint32_t index, size_t *offset_out, size_t *size_out);

/* ---- tensor maps -----------------------------------------------------------------------------
 */

#define GROUT_PTX_TENSOR_MAP_BYTES 128

/* What cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col take; types and swizzles have the numbers
 * of the CUDA driver. */
typedef struct grout_ptx_tensor {
    uint64_t address;
    uint32_t type, rank, interleave, swizzle, promotion, fill;
    uint64_t dims[5], strides_bytes[4]; /* dimension 0 the fastest; strides from dimension 1 on */
    uint32_t box[5], element_strides[5];
    bool is_im2col; /* then the box is: */
    int32_t lower_corner[3], upper_corner[3];
    uint32_t channels_per_pixel, pixels_per_column;
} grout_ptx_tensor;

/* Writes the 128 bytes that the machine takes for a tensor map: its own, not a GPU's. False with
 * bad-argument, if the driver would not take it. */
GROUT_API bool grout_ptx_encode_tensor(const grout_ptx_tensor *tensor,
                                       uint8_t bytes_out[GROUT_PTX_TENSOR_MAP_BYTES],
                                       grout_diags *diags);

#ifdef __cplusplus
}
#endif
#endif
