# respite_room(<room> [IN <folder>] LINK <libraries>): the static library respite_<room> of all .cc files below
# [<folder>/]<room>/. With RESPITE_UNITY, sixteen files are one translation unit, which takes a third of the time, since most
# of it goes into headers; then precompiled headers would save nothing. So a name in an anonymous namespace stands for one
# thing in its whole room.
set(RESPITE_STD_HEADERS
    <algorithm> <array> <bit> <charconv> <chrono> <cstddef> <cstdint> <cstring> <functional> <limits> <memory>
    <optional> <span> <string> <string_view> <tuple> <type_traits> <unordered_map> <utility> <variant> <vector>)

function(respite_compile_together target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${RESPITE_UNITY} UNITY_BUILD_BATCH_SIZE 16)
endfunction()

function(respite_room room)
  cmake_parse_arguments(arg "" "IN" "LINK" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${arg_IN}/${room}/*.cc)
  list(FILTER sources EXCLUDE REGEX "/main\\.cc$")
  set(target respite_${room})
  add_library(${target} STATIC ${sources})
  target_include_directories(${target} PUBLIC ${CMAKE_SOURCE_DIR})
  target_link_libraries(${target} PUBLIC ${arg_LINK})
  respite_compile_together(${target})
  if(NOT RESPITE_UNITY)
    target_precompile_headers(${target} PRIVATE ${RESPITE_STD_HEADERS})
  endif()
endfunction()
