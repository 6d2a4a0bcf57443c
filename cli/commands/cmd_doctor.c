/* cmd_doctor.c - grout doctor: this grout, its machine, NVRTC and the cache.
 * SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"

#include <jansson.h>
#include <string.h>
#include <xxhash.h>

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
#define COMPILER "gcc " __VERSION__
#else
#define COMPILER "unknown"
#endif

bool grout_cache__get_folder(const grout_session *session, grout_text *out, grout_text *ignored) {
    const grout_host *host = session->host;
    const grout_cache_variables variables = {
        .grout_cache = host->get_env(host->payload, "GROUT_CACHE"),
        .xdg_cache_home = host->get_env(host->payload, "XDG_CACHE_HOME"),
        .home = host->get_env(host->payload, "HOME"),
    };
    return grout_cache_find(&variables, out, ignored);
}

void grout_nvrtc_search__init(grout_nvrtc_search *search, const grout_session *session) {
    const grout_host *host = session->host;
    const char *library = grout_options__get(&session->options, GROUT_OPTION_NVRTC);
    const char *named = host->get_env(host->payload, "GROUT_NVRTC");
    const char *cuda_home = host->get_env(host->payload, "CUDA_HOME");
    *search = (grout_nvrtc_search){0};
    if (library == NULL && named != NULL && named[0] != '\0') {
        library = named;
    }
    search->options.library = library;
    if (cuda_home != NULL && cuda_home[0] != '\0') {
        grout_text_add(&search->cuda_home, "%s/lib64", cuda_home);
        search->dirs[0] = search->cuda_home.data;
        search->options.search_dirs = search->dirs;
        search->options.search_dir_count = search->cuda_home.failed ? 0 : 1;
    }
    grout_text ignored = {0};
    if (!grout_options__has(&session->options, GROUT_OPTION_NO_CACHE) &&
        grout_cache__get_folder(session, &search->cache_dir, &ignored)) {
        search->options.cache_dir = search->cache_dir.data;
    }
    grout_text_free(&ignored);
}

void grout_nvrtc_search__deinit(grout_nvrtc_search *search) {
    grout_text_free(&search->cache_dir);
    grout_text_free(&search->cuda_home);
    *search = (grout_nvrtc_search){0};
}

int grout_cmd_doctor(grout_session *session) {
    grout_text text = {0}, cache = {0}, ignored = {0};
    grout_nvrtc_search search;
    bool has_gpu = false;
    grout_text_add(&text, "grout: %s\ncompiled with: %s\n", GROUT_VERSION, COMPILER);
    grout_text_add(&text, "jansson: %s\nxxHash: %u.%u.%u\n", JANSSON_VERSION, XXH_VERSION_MAJOR,
                   XXH_VERSION_MINOR, XXH_VERSION_RELEASE);
    grout_interp_describe(&text);
    session->host->describe(session->host->payload, &text);
    bool has_cache = grout_cache__get_folder(session, &cache, &ignored);
    grout_text_add(&text, "cache: %s%s%s%s\n", has_cache ? cache.data : "none (no HOME)",
                   ignored.size > 0 ? " (" : "", ignored.size > 0 ? ignored.data : "",
                   ignored.size > 0 ? ")" : "");
    if (session->host->gpu != NULL) {
        grout_nvrtc_search__init(&search, session);
        has_gpu = session->host->gpu->describe(&search.options, &text);
        grout_nvrtc_search__deinit(&search);
    }
    grout_text_add(&text, has_gpu ? "a kernel can run on a GPU here\n"
                                  : "no kernel can run on a GPU here; check, run on the CPU, emit "
                                    "--to cuda and fmt need none\n");
    grout_text_free(&cache);
    grout_text_free(&ignored);
    grout_session__flush_prose(session, GROUT_STREAM_OUT, &text, 4);
    return GROUT_EXIT_OK;
}
