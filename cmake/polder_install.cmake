# install: three ways to link the heap (polder::shared, polder::static, polder::object), the reclaimers and structures
# (polder::smr, polder::ds), find_package, pkg-config.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
if(NOT TARGET polder_object)
  return()
endif()

set(exported polder_object polder_static polder_smr polder_ds)
if(TARGET polder_shared)
  list(APPEND exported polder_shared)
endif()
install(TARGETS ${exported} EXPORT polder
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  OBJECTS DESTINATION ${CMAKE_INSTALL_LIBDIR}/polder)
foreach(heap IN LISTS POLDER_HEAPS)
  if(TARGET polder_shared_${heap})
    install(TARGETS polder_shared_${heap} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endif()
endforeach()
get_property(variants GLOBAL PROPERTY POLDER_VARIANTS)
foreach(variant IN LISTS variants)
  install(FILES $<TARGET_FILE:polder_variant_${variant}> DESTINATION ${CMAKE_INSTALL_LIBDIR} OPTIONAL)  # if it was built
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/tools/gdb/polder.py DESTINATION ${CMAKE_INSTALL_DATADIR}/polder/gdb)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT headers)
foreach(folder IN ITEMS base sync os smr ds)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/polder/${folder} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/polder COMPONENT headers
    FILES_MATCHING PATTERN "*.hpp" PATTERN "*_test.hpp" EXCLUDE PATTERN "*_model.hpp" EXCLUDE)
endforeach()

install(EXPORT polder FILE polder-targets.cmake NAMESPACE polder:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/polder)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/polder-config.cmake.in ${PROJECT_BINARY_DIR}/polder-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/polder)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/polder-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/polder-config.cmake ${PROJECT_BINARY_DIR}/polder-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/polder)

# How far up that is depends on where the system has its libraries; with relative paths the whole can be moved.
file(RELATIVE_PATH up ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
file(RELATIVE_PATH libraries ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_LIBDIR})
file(RELATIVE_PATH headers ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_INCLUDEDIR})
string(REGEX REPLACE "/$" "" up ${up})
configure_file(${PROJECT_SOURCE_DIR}/cmake/polder.pc.in ${PROJECT_BINARY_DIR}/polder.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/polder.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
