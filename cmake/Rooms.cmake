# respite_room(<folder> LINK <libraries>): the static library of all .cc files below <folder>, without those of rooms that
# have a folder in it. The folder gives it its name: server/cluster/slots becomes respite_cluster_slots. With RESPITE_UNITY,
# sixteen files are one translation unit. This takes a third of the time, because headers are most of it; precompiled headers
# would then save nothing. So a name in an anonymous namespace stands for one thing in its whole room.
set(RESPITE_NESTED_ROOMS server/cluster/slots server/lab/recording server/process/crash)
set(RESPITE_STD_HEADERS
    <algorithm> <array> <bit> <charconv> <chrono> <cstddef> <cstdint> <cstring> <functional> <limits> <memory>
    <optional> <span> <string> <string_view> <tuple> <type_traits> <unordered_map> <utility> <variant> <vector>)

function(respite_compile_together target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${RESPITE_UNITY} UNITY_BUILD_BATCH_SIZE 16)
endfunction()

function(respite_room folder)
  cmake_parse_arguments(arg "" "" "LINK" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${folder}/*.cc)
  list(FILTER sources EXCLUDE REGEX "/main\\.cc$")
  foreach(nested ${RESPITE_NESTED_ROOMS})
    if(NOT nested STREQUAL folder)
      list(FILTER sources EXCLUDE REGEX "/${nested}/")
    endif()
  endforeach()
  string(REGEX REPLACE "^server/" "" name ${folder})
  string(REPLACE "/" "_" name ${name})
  set(target respite_${name})
  add_library(${target} STATIC ${sources})
  target_include_directories(${target} PUBLIC ${CMAKE_SOURCE_DIR})
  target_link_libraries(${target} PUBLIC ${arg_LINK})
  respite_compile_together(${target})
  if(NOT RESPITE_UNITY)
    target_precompile_headers(${target} PRIVATE ${RESPITE_STD_HEADERS})
  endif()
endfunction()

# respite_embed(<target> <file> <name>): compiles a text file into the target, as `extern const Bytes <name>`.
function(respite_embed target file name)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(READ ${file} text)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/embedded/${name}.cc @ONLY CONTENT
       [[#include "base/bytes.h"

namespace respite {
extern const Bytes @name@;
constinit const Bytes @name@ = R"embedded(@text@)embedded";
}  // namespace respite
]])
  target_sources(${target} PRIVATE ${CMAKE_BINARY_DIR}/embedded/${name}.cc)
endfunction()
