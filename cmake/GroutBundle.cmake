# The target grout_bundle: the library as a Python wheel carries it. It is shared and has no version in its name, libffi
# and xxHash are inside, SLEEF and jansson lie beside it, and of its machine it asks for glibc alone. With the command, which
# 'python -m grout' calls (cli/command.h). Its objects are those of the library and the command, so that it costs a link. 'cmake --install BUILD --component bundle --prefix FOLDER' puts it into FOLDER.
#
# There is none where the static libraries are missing, or with sanitizers, whose runtime a Python does not have.

find_library(GROUT_STATIC_LIBFFI NAMES libffi_pic.a libffi.a)
find_library(GROUT_STATIC_LIBXXHASH NAMES libxxhash.a)
mark_as_advanced(GROUT_STATIC_LIBFFI GROUT_STATIC_LIBXXHASH)
set(GROUT_HAS_BUNDLE OFF)
if(GROUT_STATIC_LIBFFI AND GROUT_STATIC_LIBXXHASH AND GROUT_BUILD_REPORTS AND NOT GROUT_SANITIZE AND NOT GROUT_COVERAGE)
    set(GROUT_HAS_BUNDLE ON)
endif()

# grout__take_static(LIST TARGET FILE): puts a static library into the place of what pkg-config found.
function(grout__take_static list target file)
    cmake_path(GET file FILENAME name)
    list(REMOVE_ITEM ${list} ${target})
    list(APPEND ${list} ${file})
    set(${list} ${${list}} PARENT_SCOPE)
    target_link_options(grout_bundle PRIVATE LINKER:--exclude-libs,${name})
endfunction()

function(grout_bundle)
    get_property(rooms GLOBAL PROPERTY GROUT_ROOMS)
    get_property(libraries GLOBAL PROPERTY GROUT_ROOM_LIBRARIES)
    add_library(grout_bundle SHARED EXCLUDE_FROM_ALL)
    foreach(room IN LISTS rooms)
        target_sources(grout_bundle PRIVATE $<TARGET_OBJECTS:${room}>)
    endforeach()
    if(GROUT_BUILD_CLI)
        target_sources(grout_bundle PRIVATE $<TARGET_OBJECTS:grout_cli_commands> $<TARGET_OBJECTS:grout_cli_host>)
        list(APPEND libraries ${CMAKE_DL_LIBS})
    endif()
    list(REMOVE_DUPLICATES libraries)
    grout__take_static(libraries PkgConfig::LIBFFI ${GROUT_STATIC_LIBFFI})
    grout__take_static(libraries PkgConfig::LIBXXHASH ${GROUT_STATIC_LIBXXHASH})
    target_link_libraries(grout_bundle PRIVATE grout_options ${libraries})
    target_link_options(grout_bundle PRIVATE -s LINKER:--no-undefined)
    set_target_properties(grout_bundle PROPERTIES
        OUTPUT_NAME grout LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bundle LINKER_LANGUAGE C
        INSTALL_RPATH "\$ORIGIN" BUILD_WITH_INSTALL_RPATH ON)
    install(TARGETS grout_bundle LIBRARY DESTINATION . COMPONENT bundle EXCLUDE_FROM_ALL)
    # The file that the loader looks for: 'libsleef.so.3', by what it calls itself. Debian's static jansson is not for
    # shared libraries.
    foreach(library IN LISTS SLEEF_LINK_LIBRARIES JANSSON_LINK_LIBRARIES)
        if(library MATCHES "lib(sleef|jansson)")
            file(REAL_PATH ${library} file)
            cmake_path(GET file FILENAME name)
            string(REGEX REPLACE "(\\.so\\.[0-9]+).*" "\\1" name ${name})
            install(FILES ${file} DESTINATION . RENAME ${name} COMPONENT bundle EXCLUDE_FROM_ALL)
        endif()
    endforeach()
endfunction()

if(GROUT_HAS_BUNDLE)
    grout_bundle()
endif()
