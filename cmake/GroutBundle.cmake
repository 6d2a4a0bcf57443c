# The library as a Python wheel carries it: shared, without a version in its name, with libffi and xxHash inside and
# SLEEF beside it. 'cmake --install BUILD --component bundle --prefix FOLDER' puts it into FOLDER.
set(BUILD_SHARED_LIBS ON)

# grout__take_static(TARGET NAME...): what pkg-config found, from its static library instead; the first of these names
# that is there.
function(grout__take_static target)
    string(REPLACE : _ variable static_${target})
    find_library(${variable} NAMES ${ARGN} REQUIRED)
    mark_as_advanced(${variable})
    cmake_path(GET ${variable} FILENAME name)
    set_target_properties(${target} PROPERTIES
        INTERFACE_LINK_LIBRARIES ${${variable}}
        INTERFACE_LINK_OPTIONS LINKER:--exclude-libs,${name})
endfunction()
grout__take_static(PkgConfig::LIBFFI libffi_pic.a libffi.a)
grout__take_static(PkgConfig::LIBXXHASH libxxhash.a)

# grout_bundle(LIBRARY): how it is linked, and what lies beside it.
function(grout_bundle library)
    set_property(TARGET ${library} PROPERTY VERSION)
    set_property(TARGET ${library} PROPERTY SOVERSION)
    set_target_properties(${library} PROPERTIES INSTALL_RPATH "\$ORIGIN" BUILD_WITH_INSTALL_RPATH ON)
    target_link_options(${library} PRIVATE -s LINKER:--no-undefined)
    install(TARGETS ${library} LIBRARY DESTINATION . COMPONENT bundle EXCLUDE_FROM_ALL)
    # The file that the loader looks for: 'libsleef.so.3', by what it calls itself.
    foreach(sleef IN LISTS SLEEF_LINK_LIBRARIES)
        if(sleef MATCHES "libsleef")
            file(REAL_PATH ${sleef} file)
            cmake_path(GET file FILENAME name)
            string(REGEX REPLACE "(\\.so\\.[0-9]+).*" "\\1" name ${name})
            install(FILES ${file} DESTINATION . RENAME ${name} COMPONENT bundle EXCLUDE_FROM_ALL)
        endif()
    endforeach()
endfunction()
