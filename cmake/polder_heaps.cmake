# The registry of heaps, as CMake sees it, and what is built for each of its entries.
#
# src/polder/heap/all.hpp is the one list, and says how an entry is written; tools/check_registry holds this reading
# against what the compiled registry says.

# The entries of a kind: heap or sheet.
function(polder_read_heaps out kind)
  set(registry ${PROJECT_SOURCE_DIR}/src/polder/heap/all.hpp)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${registry})
  set(names)
  file(STRINGS ${registry} lines REGEX "^ +[a-z0-9_]+<Host>,? +// ${kind}$")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^ +([a-z0-9_]+)<Host>.*" "\\1" name "${line}")
    string(REGEX REPLACE "_heap$" "" name "${name}")
    string(REPLACE "_" "-" name "${name}")
    list(APPEND names ${name})
  endforeach()
  set(${out} ${names} PARENT_SCOPE)
endfunction()

polder_read_heaps(POLDER_WHOLE_HEAPS heap)
polder_read_heaps(POLDER_SHEETS sheet)
set(POLDER_HEAPS ${POLDER_WHOLE_HEAPS} ${POLDER_SHEETS})

# polder_preload_library(TARGET HEAP NAME OBJECTS...): lib<NAME>.so that needs libc alone. It calls its own functions
# directly, but for those of operator new and delete, which a program replaces one by one (malloc/replaceable.hpp).
function(polder_preload_library target name)
  add_library(${target} SHARED ${ARGN})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name} LINKER_LANGUAGE CXX)
  target_link_options(${target} PRIVATE -nodefaultlibs -Wl,-z,defs -Wl,-z,now -Wl,-z,relro -Wl,-z,nodelete
    -Wl,-Bsymbolic-functions -Wl,--dynamic-list-cpp-new -Wl,--hash-style=gnu)
  target_link_libraries(${target} PRIVATE -lgcc -lc)
endfunction()
