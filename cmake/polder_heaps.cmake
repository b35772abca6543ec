# The registry of heaps, as CMake sees it, and what is built for each of its entries.
#
# src/polder/heap/all.hpp is the one list. A heap NAME is an `#include <polder/heap/FOLDER/FILE.hpp>` there, and its
# name is FILE without a closing `_heap`; tools/check_registry holds this reading against what the compiled registry says.

function(polder_read_heaps out)
  set(registry ${PROJECT_SOURCE_DIR}/src/polder/heap/all.hpp)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${registry})
  set(names)
  if(EXISTS ${registry})
    file(STRINGS ${registry} lines REGEX "^#include <polder/heap/[a-z0-9_]+/[a-z0-9_]+\\.hpp>")
    foreach(line IN LISTS lines)
      string(REGEX REPLACE "^#include <polder/heap/[a-z0-9_]+/([a-z0-9_]+)\\.hpp>.*" "\\1" name "${line}")
      string(REGEX REPLACE "_heap$" "" name "${name}")
      list(APPEND names ${name})
    endforeach()
  endif()
  set(${out} ${names} PARENT_SCOPE)
endfunction()

polder_read_heaps(POLDER_HEAPS)

# polder_preload_library(TARGET HEAP NAME OBJECTS...): lib<NAME>.so that needs libc alone.
function(polder_preload_library target name)
  add_library(${target} SHARED ${ARGN})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name} LINKER_LANGUAGE CXX)
  target_link_options(${target} PRIVATE -nodefaultlibs -Wl,-z,defs -Wl,-z,now -Wl,-z,relro -Wl,-z,nodelete
    -Wl,-Bsymbolic-functions -Wl,--hash-style=gnu)
  target_link_libraries(${target} PRIVATE -lgcc -lc)
endfunction()
