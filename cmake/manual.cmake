# Run as 'cmake -D GROUT= -D EMULATOR= -D FOLDER= -D NAMES= -D SHELLS= -P manual.cmake': the command GROUT writes the
# manual pages of the commands NAMES and the completions of SHELLS into FOLDER.

# write(FILE argument...): what the command prints.
function(write file)
    execute_process(COMMAND ${EMULATOR} ${GROUT} ${ARGN} OUTPUT_FILE ${FOLDER}/${file} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(MAKE_DIRECTORY ${FOLDER}/man1 ${FOLDER}/completions)
write(man1/grout.1 help --man)
foreach(name IN LISTS NAMES)
    write(man1/grout-${name}.1 help --man ${name})
endforeach()
foreach(shell IN LISTS SHELLS)
    write(completions/${shell} help --completion ${shell})
endforeach()
