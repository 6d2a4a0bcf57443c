/* cmd_emit.c - grout emit: CUDA C++, PTX, cubin, launcher, manifest.
 * SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"

#include "costs.h"
#include "listing.h"
#include "tilings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *get_target(const grout_session *session) {
    const char *to = grout_options__get(&session->options, GROUT_OPTION_TO);
    return to == NULL ? "cuda" : to;
}

static bool check_options(grout_session *session) {
    bool is_terminal = session->host->is_terminal(session->host->payload, GROUT_STREAM_OUT);
    if (strcmp(get_target(session), "cubin") == 0 && is_terminal &&
        !grout_options__has(&session->options, GROUT_OPTION_OUT_FILE)) {
        return grout_diags_add(session->diags, GROUT_DIAG_BAD_OPTION, grout_nowhere,
                               "a cubin is not text for a terminal: write it to a file with -o");
    }
    return true;
}

/* A launcher and a manifest are about one kernel. */
static bool needs_one(const grout_session *session) {
    return strcmp(get_target(session), "host") == 0 ||
           grout_options__has(&session->options, GROUT_OPTION_MANIFEST);
}

/* The result, to -o or stdout; a text is emptied then. */
static bool write_text(grout_session *session, grout_text *text) {
    const char *path = grout_options__get(&session->options, GROUT_OPTION_OUT_FILE);
    if (path != NULL) {
        grout_chunk chunk = {.data = text->data, .size = text->size};
        return grout_session__write_file(session, path, &chunk, 1);
    }
    grout_session__flush_exact(session, GROUT_STREAM_OUT, text);
    return true;
}

static bool write_binary(grout_session *session, const grout_binary *binary) {
    grout_text text = {0};
    grout_text_add_bytes(&text, binary->data, binary->size);
    const bool is_good = write_text(session, &text);
    grout_text_free(&text);
    return is_good;
}

/* The resources of each kernel, and its losses, on stderr. */
static void print_binary_facts(grout_session *session, const grout_load *load,
                               const grout_binary *binary) {
    for (size_t i = 0; i < load->kernel_count; i++) {
        const grout_kernel *kernel = grout_module_get_kernel(load->bound, load->kernels[i]);
        grout_resources facts;
        (void)grout_binary_report_losses(binary, load->bound, load->kernels[i], session->diags);
        if (session->is_quiet || !grout_binary_get_resources(binary, load->bound, load->kernels[i],
                                                             &facts, session->diags)) {
            continue;
        }
        char clusters[64] = "", columns[48] = "";
        if (facts.cluster_ctas > 1 && facts.resident_ctas > 0) {
            (void)snprintf(clusters, sizeof clusters, "; clusters of %d, %d CTAs on 132 SMs",
                           facts.cluster_ctas, facts.resident_ctas);
        } else if (facts.cluster_ctas > 1) {
            (void)snprintf(clusters, sizeof clusters, "; clusters of %d", facts.cluster_ctas);
        }
        if (facts.tensor_columns > 0) {
            (void)snprintf(columns, sizeof columns, "%d columns of tensor memory, ",
                           facts.tensor_columns);
        }
        grout_session__note(session,
                            "@%s: %d registers, %d bytes of spills, %d bytes of SMEM, %s%d CUDA "
                            "threads; %d CTA%s an SM, bound by %s%s%s\n",
                            grout_module_get_string(load->bound, kernel->name), facts.registers,
                            facts.spill_bytes, facts.static_smem_bytes + facts.dynamic_smem_bytes,
                            columns, facts.cuda_threads, facts.ctas_per_sm,
                            facts.ctas_per_sm == 1 ? "" : "s", facts.bound, clusters,
                            binary->from_cache ? " (from the cache)" : "");
    }
    if (!session->is_quiet && session->is_verbose && binary->log != NULL &&
        binary->log[0] != '\0') {
        grout_text log = {0};
        grout_text_add(&log, "%s\n", binary->log);
        grout_session__flush(session, GROUT_STREAM_ERR, &log);
    }
}

static bool compile_to(grout_session *session, const grout_load *load, const char *source,
                       grout_binary_kind kind, grout_binary *binary_out) {
    const grout_kernel *kernel = grout_module_get_kernel(load->bound, load->kernels[0]);
    grout_nvrtc_search search;
    grout_nvrtc_search__init(&search, session);
    search.options.line_info = grout_options__has(&session->options, GROUT_OPTION_LINEINFO);
    search.options.arch = kernel->has_arch ? (grout_arch)kernel->arch : GROUT_ARCH_SM_90A;
    const bool is_good =
        session->host->gpu->compile_cuda(source, grout_module_get_string(load->bound, kernel->name),
                                         kind, &search.options, binary_out, session->diags);
    grout_nvrtc_search__deinit(&search);
    return is_good;
}

static bool compile(grout_session *session, const grout_load *load, const char *source) {
    const bool is_ptx = strcmp(get_target(session), "ptx") == 0;
    grout_binary binary = {0};
    if (session->host->gpu == NULL) {
        return grout_diags_add(session->diags, GROUT_DIAG_NVRTC_MISSING, grout_nowhere,
                               "this grout has no NVRTC");
    }
    bool is_good =
        compile_to(session, load, source, is_ptx ? GROUT_BINARY_PTX : GROUT_BINARY_CUBIN, &binary);
    if (is_good) {
        is_good = write_binary(session, &binary);
        print_binary_facts(session, load, &binary);
    }
    grout_binary_free(&binary);
    return is_good;
}

static bool emit_manifest(grout_session *session, const grout_load *load) {
    const char *path = grout_options__get(&session->options, GROUT_OPTION_MANIFEST);
    grout_text manifest = {0};
    if (path == NULL) {
        return true;
    }
    if (load->kernel_count > 1) {
        grout_diags_add(session->diags, GROUT_DIAG_BAD_OPTION, grout_nowhere,
                        "a manifest is about one kernel, and '%s' has %zu", load->name,
                        load->kernel_count);
        grout_diags_help(session->diags, "choose one with --kernel");
        return false;
    }
    bool is_good = grout_emit_manifest(load->bound, load->kernels[0], &manifest, session->diags);
    grout_chunk chunk = {.data = manifest.data, .size = manifest.size};
    is_good = is_good && grout_session__write_file(session, path, &chunk, 1);
    grout_text_free(&manifest);
    return is_good;
}

/* The text of one kernel; of a file of many, out of a load of its own. The first text has the
 * functions that any of the kernels call. */
static bool emit_cuda(grout_session *session, const grout_load *load, size_t index,
                      const grout_emit_options *options, grout_text *text) {
    grout_op_id externs[GROUT_EXTERNS_MAX];
    grout_kernel_id kernel = load->kernels[index];
    grout_load own;
    if (index == 0 && grout_module_find_externs(load->bound, externs) > 0) {
        return grout_emit_cuda(load->bound, kernel, options, text, session->diags);
    }
    const grout_load *taken = grout_load__take(session, load, &kernel, &own);
    const bool is_good = grout_emit_cuda(taken->bound, kernel, options, text, session->diags);
    grout_load__give_back(&own);
    return is_good;
}

static bool emit(grout_session *session, const grout_load *load) {
    const char *to = get_target(session);
    grout_text text = {.allocator = grout_session__get_allocator(session)}, notes = {0};
    bool is_good = true;
    grout_emit_options options = {
        .line_directives = grout_options__has(&session->options, GROUT_OPTION_LINEINFO),
        .no_debug_checks = grout_options__has(&session->options, GROUT_OPTION_NO_DEBUG_CHECKS),
        .extern_source = load->externs.source.data,
        .notes = session->is_verbose ? &notes : NULL};
    const bool is_text = strcmp(to, "cuda") == 0 || strcmp(to, "host") == 0;
    for (size_t i = 0; i < load->kernel_count && is_good && !is_text; i++) {
        is_good = grout_emit_check_externs(load->bound, load->kernels[i], options.extern_source,
                                           session->diags);
    }
    const bool is_list = strcmp(to, "host") == 0 && grout_listing__is_wanted(session, load);
    is_good = is_good && (!is_list || grout_emit_host_list(load->bound, &text, session->diags));
    for (size_t i = 0; i < load->kernel_count && is_good && !is_list; i++) {
        is_good = strcmp(to, "host") == 0
                      ? grout_emit_host(load->bound, load->kernels[i], &text, session->diags)
                      : emit_cuda(session, load, i, &options, &text);
    }
    if (is_good && (text.failed || notes.failed)) {
        is_good = grout_diags_add_oom(session->diags);
    }
    if (is_good) {
        grout_session__flush_prose(session, GROUT_STREAM_ERR, &notes, 4);
    }
    if (is_good) {
        is_good = is_text ? write_text(session, &text) : compile(session, load, text.data);
    }
    grout_text_free(&text);
    grout_text_free(&notes);
    return is_good && emit_manifest(session, load);
}

int grout_cmd_emit(grout_session *session) {
    const char *path = session->options.arguments[0];
    grout_bytes text = {0};
    grout_load load = {0};
    if (check_options(session) && grout_session__read_file(session, path, GROUT_FILE_MAX, &text) &&
        grout_load__init(session, path, &text, needs_one(session), &load)) {
        grout_tilings__note(session, &load);
        grout_costs__note(session, &load);
        if (!grout_load__check_arch(session, &load, "'grout emit' writes") ||
            !emit(session, &load)) {
            grout_session__help_memory(session);
        }
    }
    /* stdout is for the compiler that reads it. */
    grout_session__print_diags(session, GROUT_STREAM_ERR);
    grout_load__deinit(&load);
    free(text.data);
    return grout_session__get_exit_code(session);
}
