# GoogleTest: Debian's library for native builds, and its source (/usr/src/googletest, same package) where everything
# must be built alike: under a sanitizer, by another compiler's library, for another machine.
function(polder_link_gtest target)
  if(NOT TARGET polder_gtest)
    add_library(polder_gtest INTERFACE)
    if(NOT POLDER_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
      find_package(GTest REQUIRED)
      target_link_libraries(polder_gtest INTERFACE GTest::gtest GTest::gmock GTest::gtest_main)
    else()
      set(source /usr/src/googletest)
      add_library(polder_gtest_built STATIC EXCLUDE_FROM_ALL ${source}/googletest/src/gtest-all.cc
        ${source}/googlemock/src/gmock-all.cc ${source}/googletest/src/gtest_main.cc)
      target_include_directories(polder_gtest_built SYSTEM PUBLIC ${source}/googletest/include ${source}/googlemock/include
        PRIVATE ${source}/googletest ${source}/googlemock)
      target_link_libraries(polder_gtest_built PUBLIC Threads::Threads)
      if(POLDER_SANITIZE)
        target_compile_options(polder_gtest_built PRIVATE -fsanitize=${POLDER_SANITIZE})
      endif()
      target_link_libraries(polder_gtest INTERFACE polder_gtest_built)
    endif()
  endif()
  target_link_libraries(${target} PRIVATE polder_gtest)
endfunction()
