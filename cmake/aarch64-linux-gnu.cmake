# Toolchain file: Debian's cross compiler, and qemu to run what it makes.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
# qemu 7.2 keeps a record of every page, reserved or not, so 32 TiB take it forever: under a limit from outside, which
# it passes on, the heaps reserve less. Its own -R will not do: an mremap that shortens then closes off the memory
# behind (2026-11-22).
set(CMAKE_CROSSCOMPILING_EMULATOR prlimit;--as=137438953472;qemu-aarch64-static;-L;/usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
