# polder_test: one call registers one test program.
#
#   polder_test(NAME suite.name SOURCES a.cpp ... [KIND gtest|program] [HEAPS] [REQUIREMENTS 1 3]
#               [ARGS ...] [TIMEOUT seconds] [LIBS ...] [SERIAL])
#
#   KIND gtest    (default) links GoogleTest and polder_core: the parts, without replacing the test's own malloc
#   KIND program  a plain main() that returns 0 or 1 and prints why
#   HEAPS         runs once under each registered heap, preloaded, as suite.name@heap; left out where no preload
#                 library is built (sanitizers)
#
# Labels: the suite, and req-N for each requirement of the list of users' demands that the test holds.

include(polder_gtest)

function(polder_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "HEAPS;SERIAL" "NAME;KIND;TIMEOUT" "SOURCES;REQUIREMENTS;ARGS;LIBS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "polder_test(${arg_NAME}): unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_NAME MATCHES "^([a-z0-9_]+)\\.[a-z0-9_.-]+$")
    message(FATAL_ERROR "polder_test: NAME must read suite.name, is '${arg_NAME}'")
  endif()
  set(suite ${CMAKE_MATCH_1})
  if(NOT arg_KIND)
    set(arg_KIND gtest)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 60)
  endif()
  if(arg_HEAPS AND NOT TARGET polder_heaps)
    return()
  endif()
  if(arg_KIND STREQUAL "gtest" AND NOT POLDER_HAS_GTEST)
    return()
  endif()

  set(target test.${arg_NAME})
  add_executable(${target} ${arg_SOURCES})
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin/test
    OUTPUT_NAME ${arg_NAME})
  target_link_libraries(${target} PRIVATE polder_options ${arg_LIBS} Threads::Threads ${CMAKE_DL_LIBS})
  if(arg_KIND STREQUAL "gtest")
    polder_link_gtest(${target})
    if(NOT "polder::object" IN_LIST arg_LIBS AND NOT "polder::static" IN_LIST arg_LIBS)
      target_link_libraries(${target} PRIVATE polder_core)
    endif()
  elseif(NOT arg_KIND STREQUAL "program")
    message(FATAL_ERROR "polder_test(${arg_NAME}): KIND is gtest or program, not '${arg_KIND}'")
  endif()

  set(labels ${suite})
  foreach(number IN LISTS arg_REQUIREMENTS)
    list(APPEND labels req-${number})
  endforeach()
  if(arg_HEAPS)
    foreach(heap IN LISTS POLDER_HEAPS)
      set(library polder_shared_${heap})
      if(heap STREQUAL "polder")
        set(library polder_shared)
      endif()
      add_dependencies(${target} ${library})
      add_test(NAME ${arg_NAME}@${heap} COMMAND ${target} ${arg_ARGS})
      set_property(TEST ${arg_NAME}@${heap} PROPERTY ENVIRONMENT
        LD_PRELOAD=$<TARGET_FILE:${library}> POLDER_TEST_HEAP=${heap})
      list(APPEND tests ${arg_NAME}@${heap})
    endforeach()
  else()
    add_test(NAME ${arg_NAME} COMMAND ${target} ${arg_ARGS})
    set(tests ${arg_NAME})
  endif()
  if(NOT tests)
    return()
  endif()
  set_tests_properties(${tests} PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS "${labels}")
  if(arg_SERIAL)
    set_tests_properties(${tests} PROPERTIES RUN_SERIAL TRUE)
  endif()
endfunction()
