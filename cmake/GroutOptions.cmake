# What the targets of this project are compiled with, as INTERFACE targets, never exported: grout_options, and for what
# must not have sanitizers grout_warnings alone.
add_library(grout_warnings INTERFACE)
add_library(grout_options INTERFACE)
target_link_libraries(grout_options INTERFACE grout_warnings)

set(warnings -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wswitch-enum -Wvla)
set(warnings_c -Wstrict-prototypes -Wmissing-prototypes)
target_compile_options(grout_warnings INTERFACE
    ${warnings}
    "$<$<COMPILE_LANGUAGE:C>:${warnings_c}>"
    "$<$<COMPILE_LANG_AND_ID:C,Clang>:-Wreserved-identifier>"
    $<$<BOOL:${GROUT_WARNINGS_AS_ERRORS}>:-Werror>)

# An interpreted a * b + c rounds twice on every machine; fused multiply-add is an op of its own.
target_compile_options(grout_options INTERFACE -ffp-contract=off)
target_compile_definitions(grout_options INTERFACE GROUT_VERSION="${PROJECT_VERSION}"
    GROUT_ASSERT_LEVEL=${GROUT_ASSERT_LEVEL})

# Fields, an engine and a memory space that no release has: tests/unit/trial.
if(GROUT_TRIAL)
    set(trial ${PROJECT_SOURCE_DIR}/tests/unit/trial)
    target_compile_definitions(grout_options INTERFACE GROUT_TEST_STATE_FIELDS
        GROUT_EXTRA_ENGINES="${trial}/test_engines.def" GROUT_EXTRA_SPACES="${trial}/test_spaces.def")
endif()

# How far a debug build with sanitizers is optimised. Most programs of tests, and some rooms, run through their code
# once, and compiling it takes longer.
define_property(TARGET PROPERTY GROUT_RUNS_ONCE BRIEF_DOCS "Whether a debug build with sanitizers leaves it unoptimised")
set(level "-O$<IF:$<BOOL:$<TARGET_PROPERTY:GROUT_RUNS_ONCE>>,0,${GROUT_SANITIZE_LEVEL}>")

# The test preset dev leaves out tests with these labels. Programs that no other test starts, and the benchmarks, are built
# there on demand only: the preset test has them, and clang-tidy has clang's warnings about them.
set(GROUT_LABELS_LEFT_OUT "" CACHE STRING "Labels of tests, or 'bench', whose programs are built on demand only")

# grout__serves(TARGET label...): every test that needs it has all of these labels.
function(grout__serves target)
    foreach(label IN LISTS ARGN)
        if(label IN_LIST GROUT_LABELS_LEFT_OUT)
            set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON)
        endif()
    endforeach()
endfunction()

# What is installed has no function that nothing calls, is small where it runs once, as fast as can be where it runs what
# a kernel does (-O3), and between the two elsewhere.
set(release_level "$<IF:$<BOOL:$<TARGET_PROPERTY:GROUT_RUNS_ONCE>>,-Os,$<IF:$<BOOL:$<TARGET_PROPERTY:GROUT_RUNS_OPERATIONS>>,-O3,-O2>>")
target_compile_options(grout_options INTERFACE
    $<$<CONFIG:Release>:-ffunction-sections> $<$<CONFIG:Release>:-fdata-sections> $<$<CONFIG:Release>:${release_level}>)
if(NOT APPLE)
    target_link_options(grout_options INTERFACE $<$<CONFIG:Release>:LINKER:--gc-sections>)
endif()

if(GROUT_SANITIZE)
    # A null pointer that is used ends the program anyway, and the size of an object is AddressSanitizer's: checks of
    # both would be a sixth of what compiling takes.
    target_compile_options(grout_options INTERFACE
        -fsanitize=${GROUT_SANITIZE} -fno-sanitize=null,object-size -fno-sanitize-recover=all -fno-omit-frame-pointer
        $<$<CONFIG:Debug>:${level}>
        # GCC's manual: sanitizer instrumentation makes this warning fire falsely.
        $<$<C_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
    # Most of what a small test takes is the start of its process: at a fixed address and with UBSan's code in it a
    # program touches 40 % fewer pages.
    target_link_options(grout_options INTERFACE -fsanitize=${GROUT_SANITIZE}
        "$<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-no-pie;$<$<C_COMPILER_ID:GNU>:-static-libubsan>>")
endif()
if(GROUT_COVERAGE)
    target_compile_options(grout_options INTERFACE --coverage -fprofile-update=atomic)
    target_link_options(grout_options INTERFACE --coverage)
endif()

# Linking some 150 tests takes a third of the time with lld. What users link is left to their linker.
find_program(GROUT_LLD ld.lld)
mark_as_advanced(GROUT_LLD)
if(GROUT_LLD AND GROUT_BUILD_TESTS)
    target_link_options(grout_options INTERFACE -fuse-ld=lld)
endif()
