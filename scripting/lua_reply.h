// Converts the replies of commands to Lua values, and Lua values to replies.
//
//   reply                    Lua                                      reply again
//   integer                  number                                   integer, rounded towards zero
//   bulk string              string                                   bulk string
//   status, error            {ok=text}, {err=text}                    status, error
//   array                    table 1..n                               array, up to the first nil
//   null of RESP2            false                                    null
//   map, set                 {map={k=v}}, {set={k=true}}              map, set
//   double, big number       {double=n}, {big_number=text}            double, big number
//   verbatim                 {verbatim_string={format=, string=}}     verbatim
//   bool of RESP3            boolean                                  bool if the script chose RESP3, else 1 or null
//   null of RESP3            nil                                      null
#pragma once

#include "base/bytes.h"
#include "protocol/reply.h"
#include "scripting/lib_support.h"
#include "scripting/lua_api.h"
#include "scripting/script_host.h"

namespace respite {

// The reply is in the format of BinaryReplyReader, and becomes one value. An error becomes a table with `err` that is
// marked as already counted in the statistics. An incomplete reply becomes an error.
bool PushReply(lua_State* lua, Bytes reply);  // pushes a command's reply as a Lua value; true: the reply is an error

// `text` must begin with an error code, such as "ERR".
void PushErrorTable(lua_State* lua, Bytes text);  // pushes the table {err=text}

// Errors, statuses and big numbers of a script's reply have a maximum size, because WriteReply copies each one and
// replaces its line ends. A script cannot be ended during this copy, and the copy does not count for Lua's memory
// limit.
inline constexpr size_t kMaxReplyLineBytes =
    size_t{32} << 20;  // maximum size in bytes of an error, status or big number in a script's reply
inline constexpr char kLongScriptError[] =
    "ERR The error of the script is too long";  // the reply if an error is longer
inline constexpr char kLongScriptStatus[] =
    "ERR The status reply of the script is too long";  // the reply if a status is longer
inline constexpr char kLongScriptNumber[] =
    "ERR The big number of the script is too long";  // the reply if a big number is longer

// A value nested deeper than the stack of Redis allows is replaced by an error. Calls ScriptHost::CountError for each
// error in the reply.
//
// A small value can contain an endless reply, since a table may contain itself. So WriteReply calls the hook of the
// script, which may end the script. Raises an error if Lua has no memory left, if the reply exceeds the memory limit of
// a script, or if a line exceeds kMaxReplyLineBytes. Stops early, with an incomplete reply, if the host says that the
// reply is unwanted.
void WriteReply(lua_State* lua, Reply& reply,  // writes the value on top of Lua's stack, and pops the value
                ScriptHost& host);

inline Bytes TextBeforeNul(Bytes text) {  // cuts the text at its first zero byte, where C strings end
  return text.substr(0, text.find('\0'));
}

inline Bytes TextAt(lua_State* lua, int index) {  // the string at this index of Lua's stack; makes a number a string
  size_t size = 0;
  const char* text = lua_tolstring(lua, index, &size);
  return {text, size};
}

}  // namespace respite
