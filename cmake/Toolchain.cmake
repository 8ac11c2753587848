# Warnings, sanitizers, link-time optimisation and the compiler cache.

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wunused-const-variable)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ sees overlaps and overruns in correct std::string concatenations (its bugs 105329, 105651).
  add_compile_options(-Wno-restrict -Wno-array-bounds -Wno-stringop-overflow)
  if(CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
    # Since version 13 it also warns about alternatives of a variant that are not active.
    add_compile_options(-Wno-maybe-uninitialized)
  endif()
endif()
if(RESPITE_WERROR)
  add_compile_options(-Werror)
endif()

# Scores, distances and sums must be the same on each processor. A processor with an instruction that multiplies and
# adds in one step must not use it, since it rounds one time instead of twice. x86_64 as compilers use it by default has
# no such instruction.
if(NOT CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  add_compile_options(-ffp-contract=off)
endif()

if(RESPITE_SANITIZE)
  set(RESPITE_USE_JEMALLOC OFF)
  add_compile_options(-fsanitize=${RESPITE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${RESPITE_SANITIZE})
endif()

if(RESPITE_BUILD_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "The fuzz targets need clang: use the preset 'fuzz'")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# Objects contain only LTO bytecode. clang's bytecode is of another kind, so clang builds without LTO.
if(RESPITE_LTO AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(RESPITE_LTO_ACTIVE ON)
  add_compile_options(-flto=auto)
  set(CMAKE_AR ${CMAKE_CXX_COMPILER_AR})
  set(CMAKE_RANLIB ${CMAKE_CXX_COMPILER_RANLIB})
endif()

if(RESPITE_STATIC_RUNTIME)
  add_link_options(-static-libstdc++ -static-libgcc)
endif()
# At a fixed address no pointer needs a relocation. A static program is always a PIE: without, gcc's start code lets the
# first exception sort all tables for unwinding, which takes 4 ms. With -static-libgcc next to -static-pie, gcc takes the
# start code of a program that is no static PIE, which crashes. Sanitizers keep what their compiler has chosen.
if(RESPITE_STATIC)
  add_link_options(-static-pie)
  # Relocations of a static PIE take 0.7 MB unless they are packed.
  include(CheckLinkerFlag)
  check_linker_flag(CXX -Wl,-z,pack-relative-relocs RESPITE_PACKS_RELOCATIONS)
  if(RESPITE_PACKS_RELOCATIONS)
    add_link_options(-Wl,-z,pack-relative-relocs)
  endif()
elseif(NOT RESPITE_PIE AND NOT RESPITE_SANITIZE AND NOT RESPITE_BUILD_FUZZ)
  add_compile_options(-fno-pie)
  add_link_options(-no-pie)
endif()

# Objects do not contain the paths of the sources and of the build, so the same sources give the same program.
# Names within LTO depend on a seed, which must differ between files; by default it is random.
if(RESPITE_REPRODUCIBLE)
  add_compile_options(-ffile-prefix-map=${CMAKE_SOURCE_DIR}=. -ffile-prefix-map=${CMAKE_BINARY_DIR}=build)
  string(APPEND CMAKE_CXX_COMPILE_OBJECT " -frandom-seed=<OBJECT>")
  string(APPEND CMAKE_C_COMPILE_OBJECT " -frandom-seed=<OBJECT>")
  add_link_options(-frandom-seed=respite)
endif()

function(respite_optimise_executable target)
  if(RESPITE_LTO_ACTIVE)
    target_link_options(${target} PRIVATE -flto=auto -O2)
  endif()
endfunction()

# For tests: the code that they test is compiled elsewhere. Without any optimisation the models of random tests take
# twice as long.
function(respite_compile_fast target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

# ccache must be told that a precompiled header's time stamps do not matter.
find_program(RESPITE_CCACHE ccache)
if(RESPITE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(ccache_sloppiness pch_defines,time_macros,include_file_mtime,include_file_ctime)
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=${ccache_sloppiness} ${RESPITE_CCACHE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
  else()
    add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
  endif()
endif()
