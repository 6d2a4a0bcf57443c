# grout_room, grout_module, grout_embed and grout_library: how a folder of sources becomes part of the library.

define_property(GLOBAL PROPERTY GROUT_ROOMS BRIEF_DOCS "Rooms whose objects make the grout library")
define_property(GLOBAL PROPERTY GROUT_ROOMS_WITH_HEADERS BRIEF_DOCS "Rooms that see some public headers only")
define_property(GLOBAL PROPERTY GROUT_ROOM_LIBRARIES BRIEF_DOCS "What those rooms link to")

# grout_room(FOLDER [DEPENDS folder...] [HEADERS header...] [LIBRARIES target...] [DEFINITIONS name=value...]
#     [SOURCES file...] [WITHOUT file...] [STANDALONE])
#
# The folder of this name, from the top of the project, as a static library: FOLDER 'interp/math' is
# the target grout_interp_math. Its sources are all C files of the folder but those WITHOUT, and
# generated SOURCES. Its objects become part of the library grout, unless STANDALONE. DEPENDS are the
# folders that it may include headers of and call, with what they see in turn; a folder that has rooms
# itself ('ir') lends its public headers alone. What is not named is not on the include path.
# HEADERS: the headers of include/ that it may include, and the tables that they include; all of them if
# none is named. With HEADERS it sees nothing that DEPENDS see in turn. tools/lint_rooms.py looks at
# the objects for the rest.
function(grout_room folder)
    cmake_parse_arguments(PARSE_ARGV 1 arg "STANDALONE" "" "SOURCES;WITHOUT;DEPENDS;HEADERS;LIBRARIES;DEFINITIONS")
    string(REPLACE / _ target grout_${folder})
    list(TRANSFORM arg_DEPENDS PREPEND grout_ OUTPUT_VARIABLE dependencies)
    string(REPLACE / _ dependencies "${dependencies}")
    file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.c)
    list(TRANSFORM arg_WITHOUT PREPEND ${PROJECT_SOURCE_DIR}/${folder}/)
    list(REMOVE_ITEM sources ${arg_WITHOUT})
    add_library(${target} STATIC ${sources} ${arg_SOURCES})
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    # Tests take as long with them unoptimised; with ir and lowering it would cost more than their compilation does.
    if(folder MATCHES "^(cli|call|report|gpu_backend)/|^(check|repair)$")
        set_target_properties(${target} PROPERTIES GROUT_RUNS_ONCE ON)
    elseif(folder MATCHES "^(interp|race_checker)/|^ptx/(machine|numbers|order|tensor)$" AND NOT folder MATCHES "^race_checker/(deadlock|explain)$")
        set_target_properties(${target} PROPERTIES GROUT_RUNS_OPERATIONS ON)
    endif()
    # The counters of libFuzzer are in what the programs of tests/fuzz read their inputs with.
    if(GROUT_BUILD_FUZZERS AND folder MATCHES "^(base|files|ir|verify|ptx|cli)(/|$)")
        target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
    endif()
    target_compile_definitions(${target} PRIVATE ${arg_DEFINITIONS})
    target_link_libraries(${target} PRIVATE grout_options ${arg_LIBRARIES})
    if(arg_HEADERS)
        grout__choose_headers(chosen ${target} ${arg_HEADERS})
        set_property(GLOBAL APPEND PROPERTY GROUT_ROOMS_WITH_HEADERS ${target})
        set_target_properties(${target} PROPERTIES GROUT_HEADERS "${arg_HEADERS}")
        list(TRANSFORM arg_DEPENDS PREPEND ${PROJECT_SOURCE_DIR}/)
        target_include_directories(${target} PRIVATE ${chosen} ${arg_DEPENDS})
        target_include_directories(${target} INTERFACE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/${folder})
        target_link_libraries(${target} INTERFACE ${dependencies})
    else()
        target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/${folder})
        target_link_libraries(${target} PUBLIC ${dependencies})
    endif()
    if(NOT arg_STANDALONE)
        set_property(GLOBAL APPEND PROPERTY GROUT_ROOMS ${target})
        set_property(GLOBAL APPEND PROPERTY GROUT_ROOM_LIBRARIES ${arg_LIBRARIES})
    endif()
endfunction()

# grout__choose_headers(OUT_VARIABLE TARGET header...): an include folder with these public headers
# alone, as links.
function(grout__choose_headers out_variable target)
    set(folder ${PROJECT_BINARY_DIR}/headers/${target})
    file(REMOVE_RECURSE ${folder})
    file(MAKE_DIRECTORY ${folder}/grout ${folder}/grout-internal)
    foreach(header IN LISTS ARGN)
        set(place grout)
        if(NOT EXISTS ${PROJECT_SOURCE_DIR}/include/grout/${header})
            set(place grout-internal)
        endif()
        if(NOT EXISTS ${PROJECT_SOURCE_DIR}/include/${place}/${header})
            message(FATAL_ERROR "${target}: there is no header '${header}' in include/")
        endif()
        file(CREATE_LINK ${PROJECT_SOURCE_DIR}/include/${place}/${header} ${folder}/${place}/${header} SYMBOLIC)
    endforeach()
    set(${out_variable} ${folder} PARENT_SCOPE)
endfunction()

# grout_module(NAME ROOMS room...)
#
# The folder NAME, whose rooms these are: the target grout_NAME is all of them with the public headers,
# grout_NAME_private has the private headers too, for tests.
function(grout_module name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "ROOMS")
    list(TRANSFORM arg_ROOMS PREPEND grout_${name}_ OUTPUT_VARIABLE rooms)
    add_library(grout_${name} INTERFACE)
    target_include_directories(grout_${name} INTERFACE ${PROJECT_SOURCE_DIR}/include)
    add_library(grout_${name}_private INTERFACE)
    target_link_libraries(grout_${name}_private INTERFACE ${rooms})
    list(TRANSFORM rooms REPLACE "(.+)" "$<LINK_ONLY:\\1>")
    target_link_libraries(grout_${name} INTERFACE ${rooms})
endfunction()

# grout_embed(OUT_VARIABLE NAME FILE)
#
# Makes a C source that holds FILE's bytes as 'const unsigned char NAME[]', with a final zero, and
# 'const size_t NAME_size' without it. Puts the source's path into OUT_VARIABLE, for SOURCES.
function(grout_embed out_variable name file)
    cmake_path(ABSOLUTE_PATH file)
    set(output ${CMAKE_CURRENT_BINARY_DIR}/${name}.embedded.c)
    add_custom_command(OUTPUT ${output}
        COMMAND ${CMAKE_COMMAND} -D INPUT=${file} -D OUTPUT=${output} -D NAME=${name}
            -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
        DEPENDS ${file} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
        COMMENT "Embedding ${name}" VERBATIM)
    set(${out_variable} ${output} PARENT_SCOPE)
endfunction()

# grout_library(NAME): the one library users link to, static or shared by BUILD_SHARED_LIBS, made of
# the rooms' objects.
function(grout_library library)
    get_property(rooms GLOBAL PROPERTY GROUT_ROOMS)
    get_property(libraries GLOBAL PROPERTY GROUT_ROOM_LIBRARIES)
    add_library(${library})
    add_library(grout::${library} ALIAS ${library})
    foreach(room IN LISTS rooms)
        target_sources(${library} PRIVATE $<TARGET_OBJECTS:${room}>)
    endforeach()
    list(REMOVE_DUPLICATES libraries)
    target_link_libraries(${library} PRIVATE $<BUILD_INTERFACE:grout_options> ${libraries})
    set_target_properties(${library} PROPERTIES
        VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR} LINKER_LANGUAGE C
        POSITION_INDEPENDENT_CODE ON)
    target_include_directories(${library} PUBLIC
        $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endfunction()
