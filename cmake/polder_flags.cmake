# What every target is compiled with, and the interface targets that say the rest.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
# A backtrace needs lines; the rest of what debuggers know takes a quarter of the compiler's time. The flagship has it all.
set(CMAKE_CXX_FLAGS_RELEASE "-O3 -g1")
set(CMAKE_C_FLAGS_RELEASE "-O3 -g1")
# Of tests: half the compiler's time of -O3. Under AddressSanitizer -O0 is half again, and its tests are short;
# ThreadSanitizer's would take twice as long.
set(POLDER_TEST_OPTIMISATION -O1)
if(POLDER_SANITIZE STREQUAL "address,undefined")
  set(POLDER_TEST_OPTIMISATION -O0)
endif()
set(CMAKE_CXX_FLAGS_DEBUG "${POLDER_TEST_OPTIMISATION} -g")
set(CMAKE_C_FLAGS_DEBUG "${POLDER_TEST_OPTIMISATION} -g")
if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
  set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
endif()

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

# polder_options: for everything in this tree.
add_library(polder_options INTERFACE)
target_include_directories(polder_options INTERFACE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
target_compile_definitions(polder_options INTERFACE _GNU_SOURCE POLDER_CHECK_LEVEL=${POLDER_CHECK_LEVEL}
  "POLDER_VERSION=\"${PROJECT_VERSION}\"")
if(PROJECT_IS_TOP_LEVEL)
  target_compile_options(polder_options INTERFACE -Wall -Wextra -Wundef -Werror
    $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-fsized-deallocation>)  # which clang 16 leaves out of C++20
endif()
if(POLDER_SANITIZE)
  target_compile_options(polder_options INTERFACE -fsanitize=${POLDER_SANITIZE} -fno-sanitize-recover=all
    -fno-omit-frame-pointer -g1)
  # What AddressSanitizer says of a null pointer in use is as good, and this is a seventh of the compiler's time.
  if(POLDER_SANITIZE STREQUAL "address,undefined")
    target_compile_options(polder_options INTERFACE -fno-sanitize=null)
  endif()
  target_link_options(polder_options INTERFACE -fsanitize=${POLDER_SANITIZE})
endif()

# polder_fewer_checks: for very many instances of templates. UBSan's checks of each access take half of the compiler's time, and
# ASan's are a call instead of code. ASan sees most of what those would; the preset ubsan has them all.
add_library(polder_fewer_checks INTERFACE)  # a library: its options come after those that it takes from
if(POLDER_SANITIZE STREQUAL "address,undefined")
  target_compile_options(polder_fewer_checks INTERFACE -fno-sanitize=null,alignment,object-size,vptr
    $<$<CXX_COMPILER_ID:GNU>:--param=asan-instrumentation-with-call-threshold=0
      -Wno-stringop-overflow>)  # which then sees an offset of 34359738616 where there is none; release and dev look at it
endif()

# Threads count too. And the heap's own tests have those of UBSan's checks here, too, that cost the compiler a twelfth and their runs
# little; the preset ubsan has them all.
if(POLDER_COVERAGE)
  target_compile_options(polder_options INTERFACE --coverage -fprofile-update=atomic
    -fsanitize=undefined -fno-sanitize=null,alignment,object-size,vptr,pointer-overflow -fno-sanitize-recover=all)
  target_link_options(polder_options INTERFACE --coverage -fsanitize=undefined)
endif()

# Probes for tracers, in slow paths (src/polder/os/probe.hpp). Optional: the header is needed to build them, nothing to run.
find_path(POLDER_SDT_INCLUDE_DIR sys/sdt.h)
if(POLDER_SDT_INCLUDE_DIR)
  target_compile_definitions(polder_options INTERFACE POLDER_PROBES)
else()
  message(STATUS "probes: left out, sys/sdt.h is missing (Debian: systemtap-sdt-dev)")
endif()

# polder_inside: for what runs inside malloc, where nothing may allocate, throw or wait for the dynamic linker.
add_library(polder_inside INTERFACE)
target_link_libraries(polder_inside INTERFACE polder_options)
target_compile_options(polder_inside INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions -fno-rtti -fno-threadsafe-statics -fvisibility-inlines-hidden>
  -ftls-model=initial-exec -fasynchronous-unwind-tables -fvisibility=hidden -fno-semantic-interposition -fno-plt -fno-stack-protector
  -fno-builtin-malloc -fno-builtin-calloc -fno-builtin-realloc -fno-builtin-free)
