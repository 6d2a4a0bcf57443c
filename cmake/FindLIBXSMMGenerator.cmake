# Finds the code generator of LIBXSMM 1.17: its headers and the static library libxsmmgen, which has no
# state and no constructors. Defines the target libxsmm::generator. Installed with grout's package,
# whose static library needs it.
find_path(LIBXSMMGenerator_INCLUDE_DIR libxsmm_generator.h)
find_library(LIBXSMMGenerator_LIBRARY NAMES libxsmmgen.a)
mark_as_advanced(LIBXSMMGenerator_INCLUDE_DIR LIBXSMMGenerator_LIBRARY)

# The interface differs from version to version and no version is known outside the headers.
if(LIBXSMMGenerator_INCLUDE_DIR AND LIBXSMMGenerator_LIBRARY)
    include(CheckCSourceCompiles)
    include(CMakePushCheckState)
    cmake_push_check_state(RESET)
    set(CMAKE_REQUIRED_INCLUDES ${LIBXSMMGenerator_INCLUDE_DIR})
    set(CMAKE_REQUIRED_LIBRARIES ${LIBXSMMGenerator_LIBRARY} m ${CMAKE_DL_LIBS})
    check_c_source_compiles("
        #include <libxsmm_cpuid.h>
        #include <libxsmm_generator.h>
        int main(void) {
            libxsmm_descriptor_blob blob;
            libxsmm_generated_code code = {0, 0, 0, 2, 0, LIBXSMM_X86_AVX512_CORE};
            libxsmm_generator_gemm_kernel(&code, libxsmm_sgemm_descriptor_init(
                &blob, 64, 8, 8, 64, 8, 64, 1.0f, 1.0f, LIBXSMM_GEMM_FLAG_NONE, LIBXSMM_GEMM_PREFETCH_NONE));
            return 0;
        }" LIBXSMMGenerator_LINKS)
    cmake_pop_check_state()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LIBXSMMGenerator
    REQUIRED_VARS LIBXSMMGenerator_LIBRARY LIBXSMMGenerator_INCLUDE_DIR LIBXSMMGenerator_LINKS)

if(LIBXSMMGenerator_FOUND AND NOT TARGET libxsmm::generator)
    add_library(libxsmm::generator STATIC IMPORTED)
    set_target_properties(libxsmm::generator PROPERTIES
        IMPORTED_LOCATION ${LIBXSMMGenerator_LIBRARY}
        INTERFACE_INCLUDE_DIRECTORIES ${LIBXSMMGenerator_INCLUDE_DIR}
        INTERFACE_LINK_LIBRARIES "m;${CMAKE_DL_LIBS}"
        # A shared grout keeps its names to itself.
        INTERFACE_LINK_OPTIONS LINKER:--exclude-libs,libxsmmgen.a)
endif()
