# Run as 'cmake -D FOLDER= -D OUTPUT= -P examples.cmake': puts the kernels in the folders of FOLDER into
# one text, a line '=== TOPIC/FILE' before each, for cmd_explain.c.
file(GLOB names RELATIVE ${FOLDER} ${FOLDER}/*/*.grout)
list(SORT names)
file(WRITE ${OUTPUT}.new "")
foreach(name IN LISTS names)
    file(READ ${FOLDER}/${name} text)
    file(APPEND ${OUTPUT}.new "=== ${name}\n${text}")
endforeach()
file(COPY_FILE ${OUTPUT}.new ${OUTPUT} ONLY_IF_DIFFERENT)
