# All dependencies come from the distribution's packages; nothing is downloaded. `./dev setup` installs them.

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)

# Static OpenSSL: loading libcrypto.so alone costs a millisecond of start-up.
# If it was built with zlib, CMake's target OpenSSL::Crypto links ZLIB::ZLIB, which must be found before.
find_package(ZLIB QUIET)
set(OPENSSL_USE_STATIC_LIBS ON)
find_package(OpenSSL 3.0 QUIET)
if(NOT OPENSSL_FOUND)
  set(OPENSSL_USE_STATIC_LIBS OFF)
  find_package(OpenSSL 3.0 REQUIRED)
endif()

# Standalone Asio, headers only.
find_path(RESPITE_ASIO_INCLUDE_DIR asio.hpp REQUIRED)
add_library(respite_asio INTERFACE)
target_compile_definitions(respite_asio INTERFACE ASIO_STANDALONE ASIO_NO_DEPRECATED)
target_include_directories(respite_asio SYSTEM INTERFACE ${RESPITE_ASIO_INCLUDE_DIR})
target_link_libraries(respite_asio INTERFACE Threads::Threads)

# JSON of fixtures, headers only, for one file of server/lab/.
find_path(RESPITE_JSON_INCLUDE_DIR nlohmann/json.hpp REQUIRED)

# The parser of the JSON data type, headers only, for one file of datatypes/json/.
find_path(RESPITE_RAPIDJSON_INCLUDE_DIR rapidjson/reader.h REQUIRED)
if(RESPITE_SANITIZE MATCHES "undefined" AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # RapidJSON 1.1 adds an offset to the null pointer of its empty stack.
  file(WRITE ${CMAKE_BINARY_DIR}/sanitizer_ignore.txt "[pointer-overflow]\nsrc:*/rapidjson/*\n")
  add_compile_options(-fsanitize-ignorelist=${CMAKE_BINARY_DIR}/sanitizer_ignore.txt)
endif()

# XXH3 for DIGEST, header only, for one file of base/.
find_path(RESPITE_XXHASH_INCLUDE_DIR xxhash.h REQUIRED)

include(cmake/Lua.cmake)

# LZF for RDB files, compiled from the sources in the distribution's package, to avoid loading a library at start.
find_package(liblzf REQUIRED)
add_library(respite_lzf STATIC)
target_link_libraries(respite_lzf PRIVATE liblzf::embed)
target_compile_options(respite_lzf PRIVATE -w)
if(RESPITE_SANITIZE)
  target_compile_options(respite_lzf PRIVATE -fno-sanitize=undefined)
endif()

# jemalloc, position independent, which a program with RESPITE_PIE needs.
add_library(respite_allocator INTERFACE)
if(RESPITE_USE_JEMALLOC)
  find_path(RESPITE_JEMALLOC_INCLUDE_DIR jemalloc/jemalloc.h REQUIRED)
  find_library(RESPITE_JEMALLOC_LIBRARY NAMES libjemalloc_pic.a libjemalloc.a REQUIRED)
  target_compile_definitions(respite_allocator INTERFACE RESPITE_JEMALLOC)
  target_include_directories(respite_allocator SYSTEM INTERFACE ${RESPITE_JEMALLOC_INCLUDE_DIR})
  target_link_libraries(respite_allocator INTERFACE ${RESPITE_JEMALLOC_LIBRARY} Threads::Threads ${CMAKE_DL_LIBS})
endif()

# libedit, the line editor of respite-cli. Linked statically with its own libraries if the distribution has static ones,
# because otherwise each start of the server would load four shared libraries.
find_path(RESPITE_EDIT_INCLUDE_DIR histedit.h REQUIRED)
find_library(RESPITE_EDIT_LIBRARY NAMES libedit.a edit REQUIRED)
add_library(respite_edit INTERFACE)
target_include_directories(respite_edit SYSTEM INTERFACE ${RESPITE_EDIT_INCLUDE_DIR})
target_link_libraries(respite_edit INTERFACE ${RESPITE_EDIT_LIBRARY})
find_library(RESPITE_TINFO_LIBRARY NAMES libtinfo.a tinfo ncursesw ncurses REQUIRED)
target_link_libraries(respite_edit INTERFACE ${RESPITE_TINFO_LIBRARY})
if(RESPITE_EDIT_LIBRARY MATCHES "\\.a$")
  find_library(RESPITE_BSD_LIBRARY NAMES libbsd.a bsd REQUIRED)
  target_link_libraries(respite_edit INTERFACE ${RESPITE_BSD_LIBRARY})
endif()

# Only builds of tests or benchmarks need their libraries. A package may be installed only in part, so targets decide.
function(respite_require_target target package)
  if(NOT TARGET ${target})
    message(FATAL_ERROR "${target} is missing: install ${package} (./dev setup does), or configure without -D${ARGN}=ON.")
  endif()
endfunction()
if(RESPITE_BUILD_TESTS)
  find_package(GTest QUIET)
  respite_require_target(GTest::gtest libgtest-dev RESPITE_BUILD_TESTS)
  respite_require_target(GTest::gmock_main libgmock-dev RESPITE_BUILD_TESTS)
endif()
if(RESPITE_BUILD_BENCH)
  find_package(benchmark QUIET)
  respite_require_target(benchmark::benchmark_main libbenchmark-dev RESPITE_BUILD_BENCH)
endif()
