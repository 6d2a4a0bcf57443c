# What every target of this project is compiled with: the INTERFACE target grout_options, never exported.
add_library(grout_options INTERFACE)

set(warnings -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wswitch-enum -Wvla)
set(warnings_c -Wstrict-prototypes -Wmissing-prototypes)
target_compile_options(grout_options INTERFACE
    ${warnings}
    "$<$<COMPILE_LANGUAGE:C>:${warnings_c}>"
    $<$<BOOL:${GROUT_WARNINGS_AS_ERRORS}>:-Werror>
    # An interpreted a * b + c rounds twice on every machine; fused multiply-add is an op of its own.
    -ffp-contract=off)

# GROUT_ASSERT_LEVEL: 0 none, 1 cheap assertions (Debug and sanitizer builds), 2 whole structures too.
if(GROUT_ASSERT_SLOW)
    set(assert_level 2)
elseif(GROUT_SANITIZE)
    set(assert_level 1)
else()
    set(assert_level $<CONFIG:Debug>)
endif()
target_compile_definitions(grout_options INTERFACE
    GROUT_VERSION="${PROJECT_VERSION}"
    GROUT_ASSERT_LEVEL=${assert_level}
    $<$<BOOL:${GROUT_ARENA_MALLOC}>:GROUT_ARENA_MALLOC=1>)

if(GROUT_SANITIZE)
    target_compile_options(grout_options INTERFACE
        -fsanitize=${GROUT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer $<$<CONFIG:Debug>:-O1>
        # GCC's manual: sanitizer instrumentation makes this warning fire falsely.
        $<$<C_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
    target_link_options(grout_options INTERFACE -fsanitize=${GROUT_SANITIZE})
endif()
if(GROUT_COVERAGE)
    target_compile_options(grout_options INTERFACE --coverage -fprofile-update=atomic)
    target_link_options(grout_options INTERFACE --coverage)
endif()
