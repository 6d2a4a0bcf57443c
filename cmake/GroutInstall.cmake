# Install rules: headers and tables, library, command, CMake package, pkg-config file.
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/grout)

# Relative, so that 'cmake --install --prefix' and moved trees keep working.
file(RELATIVE_PATH GROUT_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
# A static library passes its own needs on to whoever links it; a shared one does not.
get_target_property(library_type grout TYPE)
if(library_type STREQUAL "STATIC_LIBRARY")
    set(GROUT_IS_STATIC ON)
endif()
if(LIBXSMMGenerator_FOUND)
    set(GROUT_PC_LIBXSMM ${LIBXSMMGenerator_LIBRARY})
endif()
configure_file(cmake/grout.pc.in grout.pc @ONLY)
configure_package_config_file(cmake/groutConfig.cmake.in groutConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(groutConfigVersion.cmake COMPATIBILITY SameMinorVersion)

install(TARGETS grout EXPORT groutTargets)
if(TARGET grout_exe)
    install(TARGETS grout_exe)
endif()
install(DIRECTORY include/grout DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    FILES_MATCHING PATTERN "*.h" PATTERN "*.def" PATTERN internal EXCLUDE)
install(EXPORT groutTargets NAMESPACE grout:: DESTINATION ${package_dir})
install(FILES ${PROJECT_BINARY_DIR}/groutConfig.cmake ${PROJECT_BINARY_DIR}/groutConfigVersion.cmake
    cmake/FindLIBXSMMGenerator.cmake
    DESTINATION ${package_dir})
install(FILES ${PROJECT_BINARY_DIR}/grout.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
