# Run as 'cmake -D INPUT= -D OUTPUT= -D NAME= -P embed.cmake': writes INPUT's bytes as a C array.
file(READ ${INPUT} bytes HEX)
string(LENGTH "${bytes}" digits)
math(EXPR size "${digits} / 2")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
# Sixteen bytes a line.
string(REGEX REPLACE "(................................................................................)" "\\1\n" bytes "${bytes}")
get_filename_component(file ${INPUT} NAME)
file(WRITE ${OUTPUT}
    "/* The bytes of ${file}, written by cmake/embed.cmake. */\n"
    "#include <stddef.h>\n\n"
    "extern const unsigned char ${NAME}[];\nextern const size_t ${NAME}_size;\n\n"
    "const unsigned char ${NAME}[] = {\n${bytes}0};\nconst size_t ${NAME}_size = ${size};\n")
