# GoogleTest: Debian's library for native builds, and its source (/usr/src/googletest, same package) where everything
# must be built alike: under a sanitizer, by another compiler's library, for another machine.
#
# POLDER_HAS_GTEST: without it the white-box tests are left out and named; ./polder test installs it first, but a program
# that is only to be run on the heap needs none.
if(POLDER_SANITIZE OR CMAKE_CROSSCOMPILING)
  set(POLDER_HAS_GTEST TRUE)
else()
  find_package(GTest QUIET)
  set(POLDER_HAS_GTEST ${GTest_FOUND})
  if(NOT GTest_FOUND)
    message(STATUS "tests: GoogleTest is missing, so no white-box test (Debian: libgtest-dev)")
  endif()
endif()

function(polder_link_gtest target)
  if(NOT TARGET polder_gtest)
    add_library(polder_gtest INTERFACE)
    if(NOT POLDER_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
      target_link_libraries(polder_gtest INTERFACE GTest::gtest GTest::gtest_main)
    else()
      set(source /usr/src/googletest/googletest)
      add_library(polder_gtest_built STATIC EXCLUDE_FROM_ALL ${source}/src/gtest-all.cc ${source}/src/gtest_main.cc)
      target_include_directories(polder_gtest_built SYSTEM PUBLIC ${source}/include PRIVATE ${source})
      target_link_libraries(polder_gtest_built PUBLIC Threads::Threads)
      target_compile_options(polder_gtest_built PRIVATE -O0 -g0)  # a minute less: nobody debugs it
      if(POLDER_SANITIZE)
        target_compile_options(polder_gtest_built PRIVATE -fsanitize=${POLDER_SANITIZE})
      endif()
      target_link_libraries(polder_gtest INTERFACE polder_gtest_built)
    endif()
    if(POLDER_COVERAGE)
      target_sources(polder_gtest INTERFACE ${PROJECT_SOURCE_DIR}/test/proof/count_at_end.cpp)
      target_link_options(polder_gtest INTERFACE -Wl,--wrap=_exit)
    endif()
  endif()
  target_link_libraries(${target} PRIVATE polder_gtest)
endfunction()

# polder_precompile_gtest: its headers, a quarter of the compiler's time, are read once for all tests, by a program of which
# nothing else is built. Where one has definitions of its own that matter to none of them, the compiler takes them all the same.
function(polder_precompile_gtest target)
  if(NOT TARGET polder_gtest_headers)
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/gtest_headers.cpp CONTENT "int main() {}\n")
    add_executable(polder_gtest_headers EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/gtest_headers.cpp)
    target_link_libraries(polder_gtest_headers PRIVATE polder_options)
    target_compile_options(polder_gtest_headers PRIVATE -g1 ${POLDER_TEST_OPTIMISATION})
    polder_link_gtest(polder_gtest_headers)
    target_precompile_headers(polder_gtest_headers PRIVATE <gtest/gtest.h>)
  endif()
  target_precompile_headers(${target} REUSE_FROM polder_gtest_headers)
endfunction()
