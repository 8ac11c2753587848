# respite_room(<room> LINK <libraries>): the static library respite_<room> of all .cc files below <room>/, with the
# common standard headers precompiled. A room without sources yet is an interface library of the same name.
set(RESPITE_STD_HEADERS
    <algorithm> <array> <bit> <charconv> <chrono> <cstddef> <cstdint> <cstring> <functional> <limits> <memory>
    <optional> <span> <string> <string_view> <tuple> <type_traits> <unordered_map> <utility> <variant> <vector>)

function(respite_room room)
  cmake_parse_arguments(arg "" "" "LINK" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${room}/*.cc)
  list(REMOVE_ITEM sources ${CMAKE_SOURCE_DIR}/server/main.cc)
  set(target respite_${room})
  if(sources)
    add_library(${target} STATIC ${sources})
    target_include_directories(${target} PUBLIC ${CMAKE_SOURCE_DIR})
    target_link_libraries(${target} PUBLIC ${arg_LINK})
    target_precompile_headers(${target} PRIVATE ${RESPITE_STD_HEADERS})
  else()
    add_library(${target} INTERFACE)
    target_include_directories(${target} INTERFACE ${CMAKE_SOURCE_DIR})
    target_link_libraries(${target} INTERFACE ${arg_LINK})
  endif()
endfunction()
