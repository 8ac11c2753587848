# Lua 5.4.4 or later, compiled as C++, so that its errors are exceptions and destructors run. It is linked statically,
# because the linker redirects calls between Lua's object files to the wrappers of scripting/lua51_*.cc.
# docs/design/scripting.md has a table of the wrapped functions.
#
# The version number does not tell whether a Lua fits. This file checks that the library has each of the functions, and
# respite_lua_seam_check (below) runs programs that check that Lua calls the wrappers.
#
# To build with another Lua than the system's, set both of these variables.
find_path(RESPITE_LUA_INCLUDE_DIR lua.h PATH_SUFFIXES lua5.4 REQUIRED DOC "The folder of Lua's lua.h")
find_library(RESPITE_LUA_LIBRARY NAMES liblua5.4-c++.a REQUIRED DOC "Lua's static library, compiled as C++")
# The releases with which all tests of scripting/ passed.
set(RESPITE_LUA_TESTED "5.4.4, 5.4.7 and 5.4.9")
add_library(respite_lua INTERFACE)
target_include_directories(respite_lua SYSTEM INTERFACE ${RESPITE_LUA_INCLUDE_DIR})
target_link_libraries(respite_lua INTERFACE ${RESPITE_LUA_LIBRARY} m)

file(STRINGS ${RESPITE_LUA_INCLUDE_DIR}/lua.h RESPITE_LUA_VERSION REGEX "^#define LUA_VERSION_(NUM|RELEASE)[ \t]")
string(REGEX REPLACE "[^0-9;]|_NUM" "" RESPITE_LUA_VERSION "${RESPITE_LUA_VERSION}")
execute_process(COMMAND ${CMAKE_NM} ${RESPITE_LUA_LIBRARY} OUTPUT_VARIABLE RESPITE_LUA_SYMBOLS ERROR_QUIET)

# The functions of Lua's interface have C++ names in Debian 13 and later, and C names in Debian 12.
if(RESPITE_LUA_SYMBOLS MATCHES " T _Z14lua_pushnumberP9lua_Stated\n")
  target_compile_definitions(respite_lua INTERFACE RESPITE_LUA_HAS_CXX_NAMES)
  set(RESPITE_LUA_WRAPPED _Z15lua_pushintegerP9lua_Statex _Z14lua_tointegerxP9lua_StateiPi)
else()
  set(RESPITE_LUA_WRAPPED lua_pushinteger lua_tointegerx)
endif()
if(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  set(RESPITE_LUA_VA_LIST St9__va_list)
else()
  set(RESPITE_LUA_VA_LIST P13__va_list_tag)
endif()
list(APPEND RESPITE_LUA_WRAPPED
    _Z12luaO_str2numPKcP6TValue _Z13luaO_tostringP9lua_StateP6TValue
    _Z10luaT_gettmP5Table3TMSP7TString _Z15luaT_gettmbyobjP9lua_StatePK6TValue3TMS
    _Z16luaF_newtbcupvalP9lua_StateP10StackValue
    _Z19luaC_checkfinalizerP9lua_StateP8GCObjectP5Table
    _Z12luaO_chunkidPcPKcm _Z12luaG_addinfoP9lua_StatePKcP7TStringi
    _Z9luaH_nextP9lua_StateP5TableP10StackValue
    _Z13luaT_trybinTMP9lua_StatePK6TValueS3_P10StackValue3TMS
    _Z18luaT_trybinassocTMP9lua_StatePK6TValueS3_iP10StackValue3TMS
    _Z15luaG_opinterrorP9lua_StatePK6TValueS3_PKc
    _Z9luaS_hashPKcmj _Z11luaS_removeP9lua_StateP7TString _Z13luaS_eqlngstrP7TStringS0_
    _Z8luaH_setP9lua_StateP5TablePK6TValuePS3_ _Z11luaH_setintP9lua_StateP5TablexP6TValue
    _Z16luaH_resizearrayP9lua_StateP5Tablej _Z14luaH_finishsetP9lua_StateP5TablePK6TValueS5_PS3_
    _Z11luaK_prefixP9FuncState5UnOprP7expdesci _Z11luaK_finishP9FuncState _Z9luaV_modfP9lua_Statedd
    _Z17luaO_pushvfstringP9lua_StatePKc${RESPITE_LUA_VA_LIST} _Z16luaO_pushfstringP9lua_StatePKcz strcoll)
# Other internal functions that the wrappers call.
set(RESPITE_LUA_USED
    _Z12luaS_newlstrP9lua_StatePKcm _Z8luaH_getP5TablePK6TValue _Z14luaH_realasizePK5Table _Z13luaG_runerrorP9lua_StatePKcz
    _Z14luaV_tonumber_PK6TValuePd _Z13luaO_rawarithP9lua_StateiPK6TValueS3_PS1_
    _Z10luaK_infixP9FuncState6BinOprP7expdesc _Z11luaK_posfixP9FuncState6BinOprP7expdescS3_i)
foreach(symbol IN LISTS RESPITE_LUA_WRAPPED RESPITE_LUA_USED)
  if(NOT RESPITE_LUA_SYMBOLS MATCHES " [TU] ${symbol}\n")  # U: a function of the C library, which Lua calls
    message(FATAL_ERROR
      "${RESPITE_LUA_LIBRARY} has no function ${symbol}, which scripts written for Lua 5.1 need "
      "(docs/design/scripting.md). Lua ${RESPITE_LUA_TESTED} are tested; lua.h says: ${RESPITE_LUA_VERSION}.")
  endif()
endforeach()

# References each wrapper by name, so that the linker loads our object files before it sees Lua's calls.
foreach(symbol IN LISTS RESPITE_LUA_WRAPPED)
  target_link_options(respite_lua INTERFACE "LINKER:--wrap=${symbol},--undefined=__wrap_${symbol}")
endforeach()

# respite_lua_seam(): builds and runs the check; a failure ends the build. Requires: respite_room(scripting ...).
function(respite_lua_seam)
  add_executable(respite_lua_seam_check ${CMAKE_SOURCE_DIR}/cmake/lua_seam_check.cc)
  target_link_libraries(respite_lua_seam_check PRIVATE respite_scripting)
  target_compile_definitions(respite_lua_seam_check PRIVATE RESPITE_LUA_TESTED="${RESPITE_LUA_TESTED}")
  if(NOT CMAKE_CROSSCOMPILING)
    add_custom_command(TARGET respite_lua_seam_check POST_BUILD COMMAND respite_lua_seam_check VERBATIM
                       COMMENT "Checking that Lua calls the functions of scripting/")
  endif()
endfunction()
