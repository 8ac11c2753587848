# Everything comes from the distribution's packages; nothing is downloaded. `./dev setup` installs them.

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)

# Static OpenSSL: loading libcrypto.so alone costs a millisecond of start-up.
# Where it was built with zlib, CMake's target OpenSSL::Crypto names ZLIB::ZLIB, which must have been looked for.
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

# Lua 5.4, in the variant compiled as C++: its errors are exceptions, so that destructors run. Static, since scripting/
# stands before some functions inside it (scripting/lua51_numbers.cc).
find_path(RESPITE_LUA_INCLUDE_DIR lua.h PATH_SUFFIXES lua5.4 REQUIRED)
find_library(RESPITE_LUA_LIBRARY NAMES liblua5.4-c++.a REQUIRED)
add_library(respite_lua INTERFACE)
target_include_directories(respite_lua SYSTEM INTERFACE ${RESPITE_LUA_INCLUDE_DIR})
target_link_libraries(respite_lua INTERFACE ${RESPITE_LUA_LIBRARY} m)

# Functions of Lua that scripting/lua51_*.cc stands before: calls from one of Lua's object files to another go to ours.
# The first is asked for by name, so that the linker takes our object files before it sees who needs them.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  set(RESPITE_LUA_VA_LIST St9__va_list)
else()
  set(RESPITE_LUA_VA_LIST P13__va_list_tag)
endif()
set(RESPITE_LUA_WRAPPED
    lua_pushinteger lua_tointegerx fmod _Z12luaO_str2numPKcP6TValue _Z13luaO_tostringP9lua_StateP6TValue
    _Z10luaT_gettmP5Table3TMSP7TString _Z19luaC_checkfinalizerP9lua_StateP8GCObjectP5Table
    _Z12luaO_chunkidPcPKcm _Z12luaG_addinfoP9lua_StatePKcP7TStringi
    _Z9luaH_nextP9lua_StateP5TableP10StackValue
    _Z13luaT_trybinTMP9lua_StatePK6TValueS3_P10StackValue3TMS
    _Z18luaT_trybinassocTMP9lua_StatePK6TValueS3_iP10StackValue3TMS
    _Z15luaG_opinterrorP9lua_StatePK6TValueS3_PKc
    _Z17luaO_pushvfstringP9lua_StatePKc${RESPITE_LUA_VA_LIST} _Z16luaO_pushfstringP9lua_StatePKcz)
foreach(symbol IN LISTS RESPITE_LUA_WRAPPED)
  target_link_options(respite_lua INTERFACE "LINKER:--wrap=${symbol},--undefined=__wrap_${symbol}")
endforeach()

# LZF for RDB files, from the sources that the distribution's package brings for this purpose: nothing to load at start.
find_package(liblzf REQUIRED)
add_library(respite_lzf STATIC)
target_link_libraries(respite_lzf PRIVATE liblzf::embed)
target_compile_options(respite_lzf PRIVATE -w)
if(RESPITE_SANITIZE)
  target_compile_options(respite_lzf PRIVATE -fno-sanitize=undefined)
endif()

# jemalloc, position independent so that it fits into a PIE.
add_library(respite_allocator INTERFACE)
if(RESPITE_USE_JEMALLOC)
  find_path(RESPITE_JEMALLOC_INCLUDE_DIR jemalloc/jemalloc.h REQUIRED)
  find_library(RESPITE_JEMALLOC_LIBRARY NAMES libjemalloc_pic.a libjemalloc.a REQUIRED)
  target_compile_definitions(respite_allocator INTERFACE RESPITE_JEMALLOC)
  target_include_directories(respite_allocator SYSTEM INTERFACE ${RESPITE_JEMALLOC_INCLUDE_DIR})
  target_link_libraries(respite_allocator INTERFACE ${RESPITE_JEMALLOC_LIBRARY} Threads::Threads ${CMAKE_DL_LIBS})
endif()

if(RESPITE_BUILD_TESTS)
  find_package(GTest QUIET)
  find_package(Python3 COMPONENTS Interpreter)
  find_program(RESPITE_REDIS_SERVER redis-server)
endif()
if(RESPITE_BUILD_BENCH)
  find_package(benchmark QUIET)
endif()
