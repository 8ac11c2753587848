# respite_room(<room> [IN <folder>] LINK <libraries>): the static library respite_<room> of all .cc files below
# [<folder>/]<room>/, with the common standard headers precompiled.
set(RESPITE_STD_HEADERS
    <algorithm> <array> <bit> <charconv> <chrono> <cstddef> <cstdint> <cstring> <functional> <limits> <memory>
    <optional> <span> <string> <string_view> <tuple> <type_traits> <unordered_map> <utility> <variant> <vector>)

function(respite_room room)
  cmake_parse_arguments(arg "" "IN" "LINK" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${arg_IN}/${room}/*.cc)
  list(FILTER sources EXCLUDE REGEX "/main\\.cc$")
  set(target respite_${room})
  add_library(${target} STATIC ${sources})
  target_include_directories(${target} PUBLIC ${CMAKE_SOURCE_DIR})
  target_link_libraries(${target} PUBLIC ${arg_LINK})
  target_precompile_headers(${target} PRIVATE ${RESPITE_STD_HEADERS})
endfunction()
