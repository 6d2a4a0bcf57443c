# What makes a mistake of memory harder to use: canaries on the stack, checked copies, guard pages, marked targets of jumps,
# code at an address that is drawn, and tables of the linker that are read-only before anything runs. In builds that are
# installed; those with sanitizers look for the mistakes themselves, and go without. tests/hardened reads the results.
include(CheckCCompilerFlag)
include(CheckCSourceCompiles)
include(CheckLinkerFlag)
include(CheckPIESupported)

define_property(TARGET PROPERTY GROUT_RUNS_OPERATIONS BRIEF_DOCS "Whether its functions run once an operation")

# grout__add_if_known(OUT_VARIABLE flag...): those flags that the compiler knows.
function(grout__add_if_known out_variable)
    foreach(flag IN LISTS ARGN)
        string(MAKE_C_IDENTIFIER "grout_has${flag}" known)
        check_c_compiler_flag(${flag} ${known})
        if(${known})
            list(APPEND ${out_variable} ${flag})
        endif()
    endforeach()
    set(${out_variable} ${${out_variable}} PARENT_SCOPE)
endfunction()

# Level 3 counts the bytes of what malloc gave; older compilers take it for 2, and say nothing.
function(grout__find_fortify_level out_variable)
    set(CMAKE_REQUIRED_FLAGS "-O2 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3")
    check_c_source_compiles("#include <string.h>
        #if !defined(__USE_FORTIFY_LEVEL) || __USE_FORTIFY_LEVEL < 3
        #error
        #endif
        int main(void) { return 0; }" grout_has_fortify_3)
    set(${out_variable} $<IF:$<BOOL:${grout_has_fortify_3}>,3,2> PARENT_SCOPE)
endfunction()

# In the rooms that run operations and follow them, canaries are in functions with an array of characters alone: with all
# that -strong takes in, a check is 0.9 % slower (docs/performance.md, "Hardened builds").
function(grout__harden)
    set(canaries "$<IF:$<BOOL:$<TARGET_PROPERTY:GROUT_RUNS_OPERATIONS>>,-fstack-protector,-fstack-protector-strong>")
    set(flags "")
    grout__add_if_known(flags -fstack-clash-protection)
    check_c_compiler_flag(-fstack-protector-strong grout_has_stack_protector)
    if(grout_has_stack_protector)
        list(APPEND flags ${canaries})
    endif()
    if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|i.86)$")
        grout__add_if_known(flags -fcf-protection=full)
    elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
        grout__add_if_known(flags -mbranch-protection=standard)
    endif()
    grout__find_fortify_level(level)
    # glibc wants an optimised build for it.
    target_compile_options(grout_options INTERFACE ${flags}
        "$<$<CONFIG:Release,RelWithDebInfo,MinSizeRel>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=${level}>")
    foreach(flag relro now noexecstack)
        check_linker_flag(C LINKER:-z,${flag} grout_has_z_${flag})
        if(grout_has_z_${flag})
            target_link_options(grout_options INTERFACE LINKER:-z,${flag})
        endif()
    endforeach()
endfunction()

# Code that may lie anywhere, in programs too. Without sanitizers: GroutOptions.cmake says why those have a fixed address.
if(GROUT_HARDEN AND NOT GROUT_SANITIZE)
    set(CMAKE_POSITION_INDEPENDENT_CODE ON)
    check_pie_supported(LANGUAGES C)
    grout__harden()
endif()
