# grout_manual: what the command writes about itself, for the installation.

# grout_manual(OUT_VARIABLE COMMAND_TARGET TABLE)
#
# At build time COMMAND_TARGET writes its manual pages, one for each command that TABLE (options.def) lists, and its
# completions into a folder: man1/*.1 and completions/<shell>. Puts the folder into OUT_VARIABLE.
function(grout_manual out_variable target table)
    set(folder ${PROJECT_BINARY_DIR}/manual)
    file(STRINGS ${table} lines REGEX "^GROUT_COMMAND\\(")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${table})
    set(files "${folder}/man1/grout.1")
    set(shells bash zsh fish)
    set(names "")
    foreach(line IN LISTS lines)
        string(REGEX REPLACE "^[^\"]*\"([^\"]+)\".*" "\\1" name "${line}")
        list(APPEND names ${name})
        list(APPEND files ${folder}/man1/grout-${name}.1)
    endforeach()
    list(TRANSFORM shells PREPEND ${folder}/completions/ OUTPUT_VARIABLE scripts)
    add_custom_command(OUTPUT ${files} ${scripts}
        COMMAND ${CMAKE_COMMAND} -D "GROUT=$<TARGET_FILE:${target}>" -D "EMULATOR=${CMAKE_CROSSCOMPILING_EMULATOR}"
            -D "FOLDER=${folder}" -D "NAMES=${names}" -D "SHELLS=${shells}"
            -P ${PROJECT_SOURCE_DIR}/cmake/manual.cmake
        DEPENDS ${target} ${PROJECT_SOURCE_DIR}/cmake/manual.cmake
        COMMENT "Writing manual pages and completions" VERBATIM)
    add_custom_target(manual ALL DEPENDS ${files} ${scripts})
    set(${out_variable} ${folder} PARENT_SCOPE)
endfunction()
