/* load.c - from a file to verified kernels.
 * SPDX-License-Identifier: Apache-2.0 */
#include "load.h"

#include "invariant.h"
#include "suggest.h"

#include <stdlib.h>
#include <string.h>

const char *grout_load__get_name(const char *path) {
    return strcmp(path, "-") == 0 ? "<stdin>" : path;
}

/* ---- kernels -------------------------------------------------------------------------------- */

static const char *get_kernel_name(const grout_module *module, grout_kernel_id id) {
    return grout_module_get_string(module, grout_module_get_kernel(module, id)->name);
}

static bool fail_kernel(grout_session *session, const grout_load *load, const char *name) {
    uint32_t count = grout_module_get_kernel_count(load->symbolic);
    grout_suggestion suggestion = grout_suggest__begin_command(name);
    for (grout_kernel_id id = 1; id < count; id++) {
        grout_suggest__offer(&suggestion, get_kernel_name(load->symbolic, id));
    }
    grout_diags_add(session->diags, GROUT_DIAG_BAD_OPTION, grout_nowhere,
                    "--kernel: '%s' has no kernel '@%.200s'", load->name, name);
    if (suggestion.best != NULL) {
        grout_diags_help(session->diags, "did you mean '@%s'?", suggestion.best);
    }
    return false;
}

static bool fail_several(grout_session *session, const grout_load *load) {
    grout_text names = {0};
    for (size_t i = 0; i < load->kernel_count; i++) {
        grout_text_add(&names, "%s@%s", i > 0 ? ", " : "",
                       get_kernel_name(load->symbolic, load->kernels[i]));
    }
    grout_diags_add(session->diags, GROUT_DIAG_BAD_OPTION, grout_nowhere,
                    "'%s' has %zu kernels: choose one with --kernel", load->name,
                    load->kernel_count);
    grout_diags_help(session->diags, "they are %s", names.data == NULL ? "" : names.data);
    grout_text_free(&names);
    return false;
}

static bool select_kernels(grout_session *session, bool needs_one, grout_load *load) {
    const char *name = grout_options__get(&session->options, GROUT_OPTION_KERNEL);
    uint32_t count = grout_module_get_kernel_count(load->symbolic);
    load->kernels = calloc(count + 1u, sizeof load->kernels[0]);
    if (load->kernels == NULL) {
        return grout_diags_add_oom(session->diags);
    }
    if (name != NULL) {
        name += name[0] == '@' ? 1 : 0;
        load->kernels[0] = grout_module_find_kernel(load->symbolic, name);
        load->kernel_count = load->kernels[0] != 0 ? 1 : 0;
        return load->kernels[0] != 0 || fail_kernel(session, load, name);
    }
    for (grout_kernel_id id = 1; id < count; id++) {
        load->kernels[load->kernel_count++] = id;
    }
    if (load->kernel_count == 0) {
        return grout_diags_add(session->diags, GROUT_DIAG_UNKNOWN_NAME, grout_nowhere,
                               "'%s' has no kernel", load->name);
    }
    bool has_list = grout_module_get_launch_count(load->symbolic) > 1;
    return !needs_one || load->kernel_count == 1 || has_list || fail_several(session, load);
}

/* ---- defines -------------------------------------------------------------------------------- */

static grout_define *find_define(const grout_load *load, const char *name) {
    for (size_t i = 0; i < load->define_count; i++) {
        if (strcmp(load->defines[i].name, name) == 0) {
            return &load->defines[i];
        }
    }
    return NULL;
}

/* The option that gives a const its value: what --sweep gives comes as -D too. */
static const char *find_option(const grout_session *session, const char *name, size_t size) {
    const char *value;
    for (size_t i = 0;
         (value = grout_options__get_use(&session->options, GROUT_OPTION_SWEEP, i)) != NULL; i++) {
        if (strncmp(value, name, size) == 0 && value[size] == '=') {
            return "--sweep";
        }
    }
    return session->given != NULL ? "given" : "-D";
}

static grout_define *add_define(grout_session *session, grout_load *load, const char *name,
                                size_t size) {
    size_t count = load->define_count + 1;
    grout_define *defines = realloc(load->defines, count * sizeof load->defines[0]);
    load->defines = defines != NULL ? defines : load->defines;
    grout_define_note *notes = realloc(load->define_notes, count * sizeof load->define_notes[0]);
    load->define_notes = notes != NULL ? notes : load->define_notes;
    char *copy = malloc(size + 1);
    if (defines == NULL || notes == NULL || copy == NULL) {
        free(copy);
        (void)grout_diags_add_oom(session->diags);
        return NULL;
    }
    memcpy(copy, name, size);
    copy[size] = '\0';
    notes[load->define_count] = (grout_define_note){.name = copy};
    defines[load->define_count] =
        (grout_define){.name = copy, .origin = find_option(session, name, size)};
    return &defines[load->define_count++];
}

/* -D NAME=VALUE; a later one of the same name wins. */
static bool read_define(grout_session *session, const char *value, grout_load *load) {
    size_t size = strcspn(value, "=");
    int64_t integer = 0;
    double number = 0;
    bool is_integer = value[size] == '=' && grout_read_i64(value + size + 1, &integer);
    if (size == 0 || value[size] != '=' ||
        (!is_integer && !grout_read_number(value + size + 1, &number))) {
        return grout_diags_add(session->diags, GROUT_DIAG_BAD_OPTION,
                               grout_options__get_place(&session->options, value),
                               "the value of -D is NAME=VALUE with a number, not '%.200s'", value);
    }
    grout_define *define = NULL;
    for (size_t i = 0; i < load->define_count; i++) {
        if (strlen(load->defines[i].name) == size &&
            strncmp(load->defines[i].name, value, size) == 0) {
            define = &load->defines[i];
        }
    }
    define = define != NULL ? define : add_define(session, load, value, size);
    if (define == NULL) {
        return false;
    }
    define->is_float = !is_integer;
    define->integer = integer;
    define->number = number;
    return true;
}

static bool read_defines(grout_session *session, grout_load *load) {
    bool is_good = true;
    const char *value;
    for (size_t i = 0;
         (value = grout_options__get_use(&session->options, GROUT_OPTION_DEFINE, i)) != NULL; i++) {
        is_good = read_define(session, value, load) && is_good;
    }
    return is_good;
}

/* One dimension of a file against the const that is that dimension. */
static bool bind_dimension(grout_session *session, const grout_binding *binding,
                           const grout_param *param, uint32_t dim, grout_load *load) {
    GROUT_ASSERT(dim < binding->npy.rank);
    const grout_const_id id = grout_param_get_dim_const(load->symbolic, param, dim);
    int64_t size = binding->npy.dims[dim];
    if (id == 0) {
        return true;
    }
    const char *name =
        grout_module_get_string(load->symbolic, grout_module_get_const(load->symbolic, id)->name);
    grout_define *define = find_define(load, name);
    if (define == NULL) {
        define = add_define(session, load, name, strlen(name));
        if (define != NULL) {
            define->integer = size;
            define->origin = binding->path;
            load->define_notes[define - load->defines].param = binding->param;
            load->define_notes[define - load->defines].dim = dim;
            load->define_notes[define - load->defines].is_given = binding->given != NULL;
        }
        return define != NULL;
    }
    /* -D wins; the shape is compared with the file's later on. */
    const grout_define_note *note = &load->define_notes[define - load->defines];
    if (note->param == NULL || define->integer == size) {
        return true;
    }
    grout_diags_add(session->diags, GROUT_DIAG_SHAPE_CONFLICT, grout_nowhere,
                    "const %s is %lld by '%s' (dimension %u of %%%s) and %lld by '%s' (dimension "
                    "%u of %%%s)",
                    name, (long long)define->integer, define->origin, note->dim, note->param,
                    (long long)size, binding->path, dim, binding->param);
    return false;
}

/* Sizes of input files bind the consts that are bare dimensions of the parameter. */
static bool bind_files(grout_session *session, grout_load *load, grout_kernel_id kernel_id) {
    const grout_module *module = load->symbolic;
    const grout_kernel *kernel = grout_module_get_kernel(module, kernel_id);
    bool is_good = true;
    for (size_t i = 0; i < load->bindings.count; i++) {
        const grout_binding *binding = &load->bindings.items[i];
        if (binding->kind != GROUT_BINDING_INPUT || binding->path == NULL) {
            continue;
        }
        uint32_t index = grout_module_find_param(module, kernel, binding->param);
        const grout_param *param =
            index == UINT32_MAX ? NULL : grout_module_get_param(module, kernel, index);
        if (param == NULL || param->object == 0) {
            continue;
        }
        const grout_object *object = grout_module_get_object(module, param->object);
        for (uint32_t d = 0; object->type.rank == binding->npy.rank && d < object->type.rank; d++) {
            is_good = bind_dimension(session, binding, param, d, load) && is_good;
        }
    }
    return is_good;
}

static bool is_swept(const grout_sizes *sizes, const char *name) {
    for (size_t i = 0; sizes != NULL && i < sizes->axes.count; i++) {
        if (strcmp(sizes->axes.items[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* "-D", "a.npy", "dimension 0 of %a" for an array in memory. */
static void add_origin(const grout_define *define, const grout_define_note *note, grout_text *out) {
    if (note->is_given) {
        grout_text_add(out, "dimension %u of %%%s", note->dim, note->param);
    } else {
        grout_text__add_name(out, define->origin);
    }
}

void grout_load__describe_defines(const grout_load *load, const grout_sizes *without,
                                  grout_text *out) {
    size_t before = out->size;
    for (size_t i = 0; i < load->define_count; i++) {
        const grout_define *define = &load->defines[i];
        GROUT_ASSERT(define->name == load->define_notes[i].name); /* one list, in two arrays */
        if (is_swept(without, define->name)) {
            continue;
        }
        grout_text_add(out, "%s", out->size > before ? ", " : "");
        grout_text__add_name(out, define->name);
        grout_text_add(out, "=");
        if (define->is_float) {
            grout_text_add(out, "%.9g", define->number);
        } else {
            grout_text_add(out, "%lld", (long long)define->integer);
        }
        grout_text_add(out, " (");
        add_origin(define, &load->define_notes[i], out);
        grout_text_add(out, ")");
    }
}

/* ---- all of it ------------------------------------------------------------------------------ */

static grout_arch get_arch(const grout_session *session) {
    const char *name = grout_options__get(&session->options, GROUT_OPTION_ARCH);
    grout_arch arch = GROUT_ARCH_OWN;
    if (name != NULL) {
        (void)grout_arch_find(name, &arch);
    }
    return arch;
}

bool grout_load__check_arch(grout_session *session, const grout_load *load, const char *who_does) {
    const char *wanted = grout_options__get(&session->options, GROUT_OPTION_ARCH);
    for (size_t i = 0; i < load->kernel_count && wanted != NULL; i++) {
        const grout_kernel *kernel = grout_module_get_kernel(load->bound, load->kernels[i]);
        const char *own =
            grout_arch_get_text(kernel->has_arch ? (grout_arch)kernel->arch : GROUT_ARCH_SM_90A);
        if (strcmp(own, wanted) != 0) {
            grout_diags_add(session->diags, GROUT_DIAG_BAD_OPTION, grout_nowhere,
                            "%s kernel '@%s' for %s, not for '%s'", who_does,
                            grout_module_get_string(load->bound, kernel->name), own, wanted);
            grout_diags_help(session->diags, "the kernel says so: attr arch = \"%s\"",
                             strcmp(wanted, "any") == 0 ? "sm_100a" : wanted);
            return false;
        }
    }
    return true;
}

/* The file's text, parsed, or the module that the caller has. */
static bool read_module(grout_session *session, const grout_bytes *text, grout_load *out) {
    if (session->given != NULL && session->given->module != NULL) {
        out->symbolic = session->given->module;
        out->is_lent = true;
        return grout_module_add_sources(out->symbolic, session->diags);
    }
    out->symbolic = grout_parse_in(grout_session__get_allocator(session), out->name, text->data,
                                   text->size, session->diags);
    if (out->symbolic == NULL) {
        (void)grout_diags_add_source(session->diags, out->name, text->data, text->size);
        return false;
    }
    return grout_module_add_sources(out->symbolic, session->diags);
}

grout_module *grout_load__share_bound(const grout_load *load, uint32_t **owners_out) {
    ++*load->bound_owners;
    *owners_out = load->bound_owners;
    return load->bound;
}

void grout_module__give_back(grout_module *bound, uint32_t *owners) {
    if (owners != NULL && --*owners == 0) {
        grout_module_free(bound);
        free(owners);
    }
}

/* What --max-memory bounds is bound there, for any owner of the module. */
static const grout_allocator *get_allocator(const grout_session *session, const grout_load *load) {
    const grout_allocator *limited = grout_session__get_allocator(session);
    return limited != NULL ? limited : grout_module_get_allocator(load->symbolic);
}

/* The module with the values of its consts. */
static bool bind(const grout_session *session, grout_load *load, grout_diags *diags) {
    load->bound = grout_module_bind_in(get_allocator(session, load), load->symbolic, load->defines,
                                       load->define_count, diags);
    load->bound_owners = malloc(sizeof *load->bound_owners);
    if (load->bound != NULL && load->bound_owners != NULL) {
        *load->bound_owners = 1;
        return true;
    }
    if (load->bound != NULL) {
        (void)grout_diags_add_oom(diags);
    }
    grout_module_free(load->bound);
    free(load->bound_owners);
    load->bound = NULL;
    load->bound_owners = NULL;
    return false;
}

/* From the module to verified kernels. */
static bool finish(grout_session *session, bool needs_one, grout_load *out) {
    if (!select_kernels(session, needs_one, out) || !read_defines(session, out) ||
        !grout_bindings__read(session, &out->bindings) ||
        !grout_bindings__check(session, &out->bindings, out->symbolic, out->kernels,
                               out->kernel_count)) {
        return false;
    }
    GROUT_ASSERT(out->kernel_count > 0);
    bool is_good = true;
    for (size_t i = 0; i < out->kernel_count; i++) {
        is_good = bind_files(session, out, out->kernels[i]) && is_good;
    }
    if (!is_good) {
        return false;
    }
    return bind(session, out, session->diags) &&
           grout_verify(out->bound, get_arch(session), session->diags) &&
           grout_extern_files__read(session, out->bound, &out->externs);
}

bool grout_load__init(grout_session *session, const char *path, const grout_bytes *text,
                      bool needs_one, grout_load *out) {
    *out = (grout_load){.name = grout_load__get_name(path)};
    const bool is_good = read_module(session, text, out) && finish(session, needs_one, out);
    if (!is_good) {
        grout_session__help_memory(session);
    }
    return is_good;
}

bool grout_load__init_with(grout_session *session, const char *path, grout_module *symbolic,
                           grout_load *out) {
    *out = (grout_load){.name = grout_load__get_name(path), .symbolic = symbolic, .is_lent = true};
    return grout_module_add_sources(symbolic, session->diags) && finish(session, false, out);
}

void grout_load__deinit(grout_load *load) {
    for (size_t i = 0; i < load->define_count; i++) {
        free(load->define_notes[i].name);
    }
    free(load->define_notes);
    free(load->defines);
    free(load->kernels);
    grout_bindings__deinit(&load->bindings);
    grout_extern_files__deinit(&load->externs);
    grout_module__give_back(load->bound, load->bound_owners);
    if (!load->is_lent) {
        grout_module_free(load->symbolic);
    }
    *load = (grout_load){0};
}

/* ---- one kernel of several ------------------------------------------------------------------- */

bool grout_load__has_several(const grout_load *load) {
    const grout_load *whole = load->whole != NULL ? load->whole : load;
    return grout_module_get_kernel_count(whole->symbolic) > 2;
}

grout_kernel_id grout_load__get_whole_id(const grout_load *load, grout_kernel_id kernel) {
    return load->whole != NULL ? load->taken : kernel;
}

const grout_load *grout_load__take(grout_session *session, const grout_load *load,
                                   grout_kernel_id *kernel, grout_load *own) {
    /* What the whole has said is not said again; without time or memory the whole is run, which
     * says so. */
    grout_diags *diags = grout_session__new_diags(session);
    GROUT_ASSERT(load->whole == NULL);
    *own = *load;
    own->whole = load;
    own->taken = *kernel;
    own->kernel_count = 1;
    own->kernels = calloc(1, sizeof own->kernels[0]);
    own->symbolic = own->bound = NULL;
    own->bound_owners = NULL;
    own->is_lent = false;
    if (diags != NULL && own->kernels != NULL && grout_load__has_several(load) &&
        grout_module_find_check_line(load->bound, *kernel) == 0 && /* else it needs the reference */
        !grout_module_is_reference(load->bound, *kernel)) {        /* has what its kernel has */
        own->symbolic = grout_module_take_kernel(load->symbolic, *kernel, diags);
    }
    if (own->symbolic != NULL) { /* the whole has been verified */
        (void)bind(session, own, diags);
    }
    grout_diags_free(diags);
    if (own->bound == NULL) {
        return load;
    }
    own->kernels[0] = *kernel = 1;
    return own;
}

void grout_load__give_back(grout_load *own) {
    free(own->kernels);
    grout_module__give_back(own->bound, own->bound_owners);
    grout_module_free(own->symbolic);
    *own = (grout_load){0};
}
