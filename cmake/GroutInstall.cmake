# Install rules: headers and tables, library, command, CMake package, pkg-config file, texts, manual, completions.
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/grout)

# Relative, so that 'cmake --install --prefix' and moved trees keep working.
file(RELATIVE_PATH GROUT_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
# A static library passes its own needs on to what links it; a shared one does not.
get_target_property(library_type grout TYPE)
if(library_type STREQUAL "STATIC_LIBRARY")
    set(GROUT_IS_STATIC ON)
endif()
if(GROUT_BUILD_REPORTS)
    set(GROUT_PC_JANSSON ", jansson")
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

# Texts: documentation, kernels, what editors need. Pages link to kernels as '../kernels': a link beside them leads there.
set(share_dir ${CMAKE_INSTALL_DATADIR}/grout)
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY kernels editors DESTINATION ${share_dir})
file(RELATIVE_PATH kernels_from_docs /${CMAKE_INSTALL_DOCDIR} /${share_dir}/kernels)
install(CODE "file(CREATE_LINK ${kernels_from_docs}
    \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DOCDIR}/kernels\" SYMBOLIC)")

# Manual pages and completions, which the command writes itself; a command for another machine cannot.
if(TARGET grout_exe AND (NOT CMAKE_CROSSCOMPILING OR CMAKE_CROSSCOMPILING_EMULATOR))
    grout_manual(manual grout_exe call/session/options.def)
    install(DIRECTORY ${manual}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR})
    install(FILES ${manual}/completions/bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME grout)
    install(FILES ${manual}/completions/zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions RENAME _grout)
    install(FILES ${manual}/completions/fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d
        RENAME grout.fish)
elseif(TARGET grout_exe)
    message(STATUS "Cross-compiling: no manual pages and completions")
endif()
