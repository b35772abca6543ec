# polder_test: one call registers one test program.
#
#   polder_test(NAME suite.name SOURCES a.cpp ... [KIND gtest|program] [REQUIREMENTS 1 3] [ALSO suite ...] [ARGS ...]
#               [TIMEOUT seconds] [LIBS ...] [HEADER <a.hpp>] [OPTIONS key=value,...] [SETTINGS NAME=value ...]
#               [HEAPS [LONG_OTHERS] [SHEETS | LONG_SHEETS] [EXCEPT heap ...]] [ONLY_HEAPS heap ...] [PAGES] [SERIAL] [SHARDS n] [LONG])
#
#   ALSO          further suites to whose promises it belongs: their names choose it, too
#   OPTIONS       what POLDER_OPTIONS says, where a heap is preloaded; SETTINGS: further environment variables
#   KIND gtest    (default) links GoogleTest and polder_core: the parts, without replacing the test's own malloc
#   KIND program  a plain main() that returns 0 or 1 and prints why
#   HEAPS         runs once under each registered heap, preloaded, as suite.name@heap; left out where no preload
#                 library is built (sanitizers)
#   LONG_OTHERS   under those that are here to be compared with in the full form only
#   SHEETS        under the sheets of heaps too
#   LONG_SHEETS   the same, in the full form: they share nearly all of their code with the heaps
#   EXCEPT        not under these: their papers cannot do it, as the comment at the test says
#   ONLY_HEAPS    instead: under these alone, which promise what others do not
#   PAGES         once more as if the system's pages were of 16 and of 64 KiB, in the full form: suite.name.pages_16k, …; a gtest
#                 program that uses heap/in_use_test.hpp. Under the flagship every test of heaps is: suite.name@polder.pages_16k;
#                 those with PAGES have pages of 64 KiB in the short form, too
#   HEADER        of a gtest program, what nearly all its sources include: precompiled, in place of GoogleTest's alone
#   SHARDS        a gtest program runs as so many tests, each with its share of the cases: suite.name@1, …@2, …
#   LONG          in the full form only, and built when it is asked for (target polder_long)
#   TIMEOUT       60 unless given: what it takes at most where nothing else runs; it is ended after three times that
#
# Who may take longest begins first: what each takes a fresh machine does not know.
#
# Labels: the suite and those it also belongs to, req-N for each requirement of the list of users' demands that the test holds, and `long` for what
# `./polder test` leaves out and `./polder test --full` runs.

include(polder_gtest)

# Who calls it goes on where there is Python 3 (Python3::Interpreter); otherwise its file ends here, and says what is not tested.
macro(polder_needs_python suite otherwise)
  find_package(Python3 COMPONENTS Interpreter)
  if(NOT Python3_FOUND)
    message(STATUS "${suite}: no Python 3, so ${otherwise}")
    return()
  endif()
endmacro()

# Of polder_test, whose variables they see: one test, with these settings, and the same program with larger pages.
macro(polder_run name)
  add_test(NAME ${name} COMMAND ${target} ${arg_ARGS})
  set_property(TEST ${name} PROPERTY ENVIRONMENT ${ARGN} ${arg_SETTINGS})
  list(APPEND tests ${name})
endmacro()
macro(polder_run_with_larger_pages name)
  foreach(kib IN ITEMS 16 64)
    math(EXPR bytes "${kib} * 1024")
    set(with_pages page_size=${bytes} ${arg_OPTIONS})
    list(JOIN with_pages "," with_pages)
    polder_run(${name}.pages_${kib}k ${ARGN} POLDER_TEST_PAGE_SIZE=${bytes} POLDER_OPTIONS=${with_pages})
    list(APPEND long_tests ${name}.pages_${kib}k)
  endforeach()
endmacro()

function(polder_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "HEAPS;LONG_OTHERS;SHEETS;LONG_SHEETS;PAGES;SERIAL;LONG" "NAME;KIND;TIMEOUT;SHARDS;HEADER;OPTIONS" "SOURCES;REQUIREMENTS;ALSO;ARGS;LIBS;EXCEPT;ONLY_HEAPS;SETTINGS")
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
  if(arg_ONLY_HEAPS)
    set(arg_HEAPS TRUE)
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
  # A backtrace needs lines; the rest of what debuggers know takes a third of the compiler's time.
  # Optimised is what a program is preloaded with or linked to, as it ships; the test itself need not be.
  target_compile_options(${target} PRIVATE -g1 ${POLDER_TEST_OPTIMISATION})
  if(arg_KIND STREQUAL "gtest")
    polder_link_gtest(${target})
    if(arg_HEADER)
      target_precompile_headers(${target} PRIVATE ${arg_HEADER})
    else()
      polder_precompile_gtest(${target})
    endif()
    if(NOT "polder::object" IN_LIST arg_LIBS AND NOT "polder::static" IN_LIST arg_LIBS)
      target_link_libraries(${target} PRIVATE polder_core)
    endif()
  elseif(NOT arg_KIND STREQUAL "program")
    message(FATAL_ERROR "polder_test(${arg_NAME}): KIND is gtest or program, not '${arg_KIND}'")
  endif()

  set(labels ${suite} ${arg_ALSO})
  foreach(number IN LISTS arg_REQUIREMENTS)
    list(APPEND labels req-${number})
  endforeach()
  set(options)
  if(arg_OPTIONS)
    set(options POLDER_OPTIONS=${arg_OPTIONS})
  endif()
  set(tests)  # a function sees its caller's variables
  set(long_tests)
  if(arg_HEAPS)
    set(heaps ${POLDER_WHOLE_HEAPS})
    if(arg_SHEETS OR arg_LONG_SHEETS)
      list(APPEND heaps ${POLDER_SHEETS})
    endif()
    if(arg_ONLY_HEAPS)
      set(heaps ${arg_ONLY_HEAPS})
    endif()
    list(REMOVE_ITEM heaps ${arg_EXCEPT})
    foreach(heap IN LISTS heaps)
      set(library polder_shared_${heap})
      if(heap STREQUAL "polder")
        set(library polder_shared)
      endif()
      add_dependencies(${target} ${library})
      set(preloaded LD_PRELOAD=$<TARGET_FILE:${library}> POLDER_TEST_HEAP=${heap})
      polder_run(${arg_NAME}@${heap} ${preloaded} ${options})
      if((arg_LONG_SHEETS AND heap IN_LIST POLDER_SHEETS) OR (arg_LONG_OTHERS AND NOT heap STREQUAL "polder"))
        list(APPEND long_tests ${arg_NAME}@${heap})
      endif()
      if(heap STREQUAL "polder")
        polder_run_with_larger_pages(${arg_NAME}@polder ${preloaded})
        if(arg_PAGES)
          list(REMOVE_ITEM long_tests ${arg_NAME}@polder.pages_64k)
        endif()
      endif()
    endforeach()
  elseif(arg_SHARDS)
    foreach(shard RANGE 1 ${arg_SHARDS})
      math(EXPR index "${shard} - 1")
      polder_run(${arg_NAME}@${shard} GTEST_TOTAL_SHARDS=${arg_SHARDS} GTEST_SHARD_INDEX=${index})
    endforeach()
  else()
    polder_run(${arg_NAME})
    if(arg_PAGES)
      polder_run_with_larger_pages(${arg_NAME})
    endif()
  endif()
  if(NOT tests)
    return()
  endif()
  math(EXPR patience "3 * ${arg_TIMEOUT}")
  set_tests_properties(${tests} PROPERTIES TIMEOUT ${patience} COST ${arg_TIMEOUT} LABELS "${labels}")
  if(arg_LONG)
    list(APPEND long_tests ${tests})
    set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL TRUE)
    if(NOT TARGET polder_long)
      add_custom_target(polder_long)
    endif()
    add_dependencies(polder_long ${target})
  endif()
  if(long_tests)
    set_property(TEST ${long_tests} APPEND PROPERTY LABELS long)
  endif()
  if(CMAKE_CROSSCOMPILING)
    target_compile_definitions(${target} PRIVATE POLDER_EMULATED)  # for those that then do less
  endif()
  if(arg_SERIAL)
    set_tests_properties(${tests} PROPERTIES RUN_SERIAL TRUE)
  endif()
endfunction()
