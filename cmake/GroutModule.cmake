# grout_module, grout_embed and grout_library: how a folder of sources becomes part of the library.

define_property(GLOBAL PROPERTY GROUT_MODULES BRIEF_DOCS "Modules whose objects make the grout library")
define_property(GLOBAL PROPERTY GROUT_MODULE_LIBRARIES BRIEF_DOCS "What those modules link to")

# grout_module(NAME SOURCES file... [DEPENDS module...] [LIBRARIES target...] [DEFINITIONS name=value...] [STANDALONE])
#
# The static library grout_NAME. It sees the public headers and its own folder, and nothing of any
# other module's folder. DEPENDS are modules it calls, LIBRARIES anything else it links to. Its
# objects become part of the library grout, unless STANDALONE. A module without sources is an empty
# INTERFACE library, so that others can name it.
function(grout_module name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "STANDALONE" "" "SOURCES;DEPENDS;LIBRARIES;DEFINITIONS")
    list(TRANSFORM arg_DEPENDS PREPEND grout_ OUTPUT_VARIABLE dependencies)
    if(NOT arg_SOURCES)
        add_library(grout_${name} INTERFACE)
        target_include_directories(grout_${name} INTERFACE ${PROJECT_SOURCE_DIR}/include)
        target_link_libraries(grout_${name} INTERFACE ${dependencies} ${arg_LIBRARIES})
        return()
    endif()
    add_library(grout_${name} STATIC ${arg_SOURCES})
    set_target_properties(grout_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_include_directories(grout_${name}
        PUBLIC ${PROJECT_SOURCE_DIR}/include
        PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_CURRENT_BINARY_DIR})
    target_compile_definitions(grout_${name} PRIVATE ${arg_DEFINITIONS})
    target_link_libraries(grout_${name} PUBLIC ${dependencies} PRIVATE grout_options ${arg_LIBRARIES})
    if(NOT arg_STANDALONE)
        set_property(GLOBAL APPEND PROPERTY GROUT_MODULES ${name})
        set_property(GLOBAL APPEND PROPERTY GROUT_MODULE_LIBRARIES ${arg_LIBRARIES})
    endif()
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
# the modules' objects.
function(grout_library library)
    get_property(modules GLOBAL PROPERTY GROUT_MODULES)
    get_property(libraries GLOBAL PROPERTY GROUT_MODULE_LIBRARIES)
    if(NOT modules)
        message(STATUS "No module has sources yet: ${library} is empty")
        file(CONFIGURE OUTPUT empty.c CONTENT "typedef int grout_empty;\n")
        add_library(${library} ${PROJECT_BINARY_DIR}/empty.c)
    else()
        add_library(${library})
    endif()
    add_library(grout::${library} ALIAS ${library})
    foreach(module IN LISTS modules)
        target_sources(${library} PRIVATE $<TARGET_OBJECTS:grout_${module}>)
    endforeach()
    list(REMOVE_DUPLICATES libraries)
    target_link_libraries(${library} PRIVATE $<BUILD_INTERFACE:grout_options> ${libraries})
    set_target_properties(${library} PROPERTIES
        VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR} LINKER_LANGUAGE C
        POSITION_INDEPENDENT_CODE ON)
    target_include_directories(${library} PUBLIC
        $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endfunction()
