#include "scripting/lua_reply.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "protocol/binary_reply.h"
#include "scripting/lib_support.h"

namespace respite {

namespace {

// The maximum nesting of a reply; deeper values are replaced by the error kTooDeep. In Redis, the C stack of Lua gives
// the same limit.
constexpr size_t kDeepest = 7995;
constexpr char kCutShort[] = "ERR the reply of the command has less than it says";
constexpr char kTooDeep[] = "ERR reached lua stack limit";

void SetText(lua_State* lua, const char* field, Bytes text) {
  PushBytes(lua, text);
  lua_setfield(lua, -2, field);
}

// Replaces the value on top of the stack by the table {name=value}.
void WrapTop(lua_State* lua, const char* name) {
  lua_createtable(lua, 0, 1);
  lua_insert(lua, -2);
  lua_setfield(lua, -2, name);
}

// Pushes a reply as Lua values. A C function has only a few stack slots at first, so each nested array, map or set
// requests more.
class ReplyPusher {
 public:
  ReplyPusher(lua_State* lua, Bytes reply) : lua_(lua), work_(lua), reader_(reply) {}

  // Returns true if the reply of the command was cut short or malformed.
  bool Failed() const { return reader_.Failed(); }

  void PushOne() {
    work_.Step();
    const ReplyPart part = reader_.Next();
    switch (part.kind) {
      case ':':
        return lua_pushnumber(lua_, static_cast<lua_Number>(part.value));
      case '$':
        return PushBytes(lua_, part.text);
      case '+':
        return PushStatus(part.text);
      case '-':
        return PushErrorTable(lua_, part.text);
      case '*':
      case '>':
        return PushArray(part.value);
      case '_':
        return part.value == 3 ? lua_pushnil(lua_) : lua_pushboolean(lua_, 0);
      case '#':
        return lua_pushboolean(lua_, static_cast<int>(part.value));
      case ',':
        lua_pushnumber(lua_, part.Number());
        return WrapTop(lua_, "double");
      case '(':
        PushBytes(lua_, part.text);
        return WrapTop(lua_, "big_number");
      case '=':
        return PushVerbatim(part.text);
      case '%':
        return PushMap(part.value);
      case '~':
        return PushSet(part.value);
      case '|':
        return PushAfterAttributes(part.value);
      default:
        lua_pushnil(lua_);
    }
  }

 private:
  static constexpr int kSlotsPerLevel = 8;

  void PushStatus(Bytes text) {
    lua_createtable(lua_, 0, 1);
    SetText(lua_, "ok", text);
  }

  void PushVerbatim(Bytes text) {
    lua_createtable(lua_, 0, 2);
    SetText(lua_, "format", text.substr(0, 3));
    SetText(lua_, "string", text.substr(std::min<size_t>(text.size(), 4)));
    WrapTop(lua_, "verbatim_string");
  }

  void PushArray(int64_t count) {
    luaL_checkstack(lua_, kSlotsPerLevel, "reply");
    lua_createtable(lua_, static_cast<int>(count), 0);
    for (int64_t i = 1; i <= count; ++i) {
      PushOne();
      lua_rawseti(lua_, -2, i);
    }
  }

  void PushMap(int64_t pairs) {
    luaL_checkstack(lua_, kSlotsPerLevel, "reply");
    lua_createtable(lua_, 0, static_cast<int>(pairs));
    for (int64_t i = 0; i < pairs; ++i) {
      PushOne();
      PushOne();
      SetPair();
    }
    WrapTop(lua_, "map");
  }

  void PushSet(int64_t count) {
    luaL_checkstack(lua_, kSlotsPerLevel, "reply");
    lua_createtable(lua_, 0, static_cast<int>(count));
    for (int64_t i = 0; i < count; ++i) {
      PushOne();
      lua_pushboolean(lua_, 1);
      SetPair();
    }
    WrapTop(lua_, "set");
  }

  // Skips `pairs` attributes of a RESP3 reply (each a key and a value), and pushes the value after them. As in Redis,
  // scripts do not see attributes.
  void PushAfterAttributes(int64_t pairs) {
    for (int64_t i = 0; i < 2 * pairs; ++i) {
      PushOne();
      lua_pop(lua_, 1);
    }
    PushOne();
  }

  // Adds the key and value on top of the stack to the table below them, and pops them. Ignores the key nil, which no
  // table can have.
  void SetPair() {
    if (lua_isnil(lua_, -2)) return lua_pop(lua_, 2);
    lua_rawset(lua_, -3);
  }

  lua_State* lua_;
  WorkCounter work_;
  BinaryReplyReader reader_;
};

std::string OneLine(Bytes text) {
  std::string line(text);
  for (char& c : line) {
    if (c == '\r' || c == '\n') c = ' ';
  }
  return line;
}

// Writes a Lua value as a reply. Uses an explicit stack of open tables instead of recursion, because a script may nest
// tables deeper than a thread's stack allows.
class ReplyWriter {
 public:
  ReplyWriter(lua_State* lua, Reply& reply, ScriptHost& host)
      : lua_(lua), reply_(reply), host_(host), work_(lua), start_(reply.Size()), looked_at_(start_) {}

  // Writes the value on top of the stack with all its elements, and pops the value.
  void Write() {
    WriteTop();
    while (!open_.empty() && !is_unwanted_) {
      WriteNext();
      Look();
    }
  }

 private:
  static constexpr size_t kBytesPerLook = size_t{64} << 10;

  // A table whose elements are being written. For a map or set, the table and the current key are on the stack.
  struct Open {
    enum class Kind : uint8_t { kArray, kMap, kMapValue, kSet };
    Kind kind;
    int base;           // stack index below everything that belongs to this table
    lua_Integer count;  // number of elements of an array, whose table is on top
    lua_Integer written = 0;
  };

  void Look() {
    work_.Step();
    if (reply_.Size() - looked_at_ < kBytesPerLook) return;
    looked_at_ = reply_.Size();
    RequireCapacity(0);
    CallHook(lua_);  // copying long texts is not counted in steps
    is_unwanted_ = host_.EnforceReplyLimit();
  }

  // Raises an error if `more` bytes would make the reply larger than the memory limit of a script.
  void RequireCapacity(size_t more) {
    if (reply_.Size() - start_ + more <= host_.MemoryLimit()) return;
    lua_pushliteral(lua_, "not enough memory");
    lua_error(lua_);
  }

  // Raises the error `refusal` if the text has more than kMaxReplyLineBytes bytes, the limit for one line of a reply.
  void RequireLine(Bytes text, const char* refusal) {
    RequireCapacity(text.size());
    if (text.size() <= kMaxReplyLineBytes) return;
    PushErrorTable(lua_, refusal);
    lua_error(lua_);
  }

  // Writes the value on top of the stack, and pops it. A table with elements is different: only its header is written,
  // and it stays on the stack. WriteNext then writes the elements, and Close pops the table.
  void WriteTop() {
    // Ten more slots of Lua's stack are enough to iterate over one table, to copy the table, and to look up its fields.
    if (open_.size() >= kDeepest || lua_checkstack(lua_, 10) == 0) {
      WriteError(kTooDeep);
    } else if (lua_istable(lua_, -1)) {
      return WriteTable();
    } else {
      WriteScalar();
    }
    lua_pop(lua_, 1);
  }

  void WriteNext() {
    Open& open = open_.back();
    switch (open.kind) {
      case Open::Kind::kArray:
        if (open.written == open.count) return Close();
        lua_rawgeti(lua_, -1, ++open.written);
        return WriteTop();
      case Open::Kind::kMap:
        if (lua_next(lua_, -2) == 0) return Close();
        open.kind = Open::Kind::kMapValue;
        lua_pushvalue(lua_, -2);
        return WriteTop();
      case Open::Kind::kMapValue:
        open.kind = Open::Kind::kMap;
        return WriteTop();
      case Open::Kind::kSet:
        if (lua_next(lua_, -2) == 0) return Close();
        lua_pop(lua_, 1);
        lua_pushvalue(lua_, -1);
        return WriteTop();
    }
  }

  void Close() {
    lua_settop(lua_, open_.back().base);
    open_.pop_back();
  }

  void WriteScalar() {
    switch (lua_type(lua_, -1)) {
      case LUA_TSTRING:
        if (!open_.empty()) RequireCapacity(TextAt(lua_, -1).size());
        return reply_.Bulk(TextAt(lua_, -1));
      case LUA_TNUMBER:
        return reply_.Integer(TruncatedInteger(lua_tonumber(lua_, -1)));
      case LUA_TBOOLEAN:
        return WriteBool(lua_toboolean(lua_, -1) != 0);
      default:
        return reply_.Null();
    }
  }

  // As in Redis, true and false are written as booleans only for scripts that chose RESP3. For other scripts, true is 1
  // and false is null.
  void WriteBool(bool value) {
    if (host_.Resp() == RespVersion::kResp3) return reply_.Bool(value);
    value ? reply_.Integer(1) : reply_.Null();
  }

  void WriteError(Bytes text) {
    RequireLine(text, kLongScriptError);
    host_.CountError(text);
    reply_.Error(text);
  }

  // Pushes the field `name` of the table on top of the stack. If the field does not have this type, pushes nothing and
  // returns false.
  bool Has(const char* name, int type) {
    lua_pushstring(lua_, name);
    if (lua_rawget(lua_, -2) == type) return true;
    lua_pop(lua_, 1);
    return false;
  }

  void WriteTable() {
    if (Has("err", LUA_TSTRING)) {
      WriteError(TextBeforeNul(TextAt(lua_, -1)));
    } else if (Has("ok", LUA_TSTRING)) {
      RequireLine(TextAt(lua_, -1), kLongScriptStatus);
      reply_.Simple(OneLine(TextBeforeNul(TextAt(lua_, -1))));
    } else if (Has("double", LUA_TNUMBER)) {
      reply_.Double(lua_tonumber(lua_, -1));
    } else if (Has("big_number", LUA_TSTRING)) {
      RequireLine(TextAt(lua_, -1), kLongScriptNumber);
      reply_.BigNumber(OneLine(TextAt(lua_, -1)));
    } else if (Has("verbatim_string", LUA_TTABLE)) {
      if (!WriteVerbatim()) return WriteContents();  // WriteVerbatim has popped the inner table
    } else {
      return WriteContents();
    }
    lua_pop(lua_, 2);
  }

  // Writes a verbatim string, given by the table on top of the stack. If the table lacks its format or its text, pops
  // the table and returns false.
  bool WriteVerbatim() {
    if (Has("format", LUA_TSTRING)) {
      lua_insert(lua_, -2);  // moves it below the table
      if (Has("string", LUA_TSTRING)) {
        WriteVerbatimText(TextAt(lua_, -1), TextAt(lua_, -3));
        lua_pop(lua_, 2);
        return true;
      }
      lua_remove(lua_, -2);
    }
    lua_pop(lua_, 1);
    return false;
  }

  // Writes a verbatim string. As in Redis, its format always has three letters: a longer one is cut, a shorter one is
  // padded with blanks.
  void WriteVerbatimText(Bytes text, Bytes format) {
    RequireCapacity(text.size());
    std::string three(format.substr(0, 3));
    three.resize(3, ' ');
    reply_.Verbatim(text, three);
  }

  void WriteContents() {
    const int base = lua_gettop(lua_) - 1;
    if (Has("map", LUA_TTABLE)) {
      reply_.Map(StartPairs());
      open_.push_back({Open::Kind::kMap, base, 0});
    } else if (Has("set", LUA_TTABLE)) {
      reply_.Set(StartPairs());
      open_.push_back({Open::Kind::kSet, base, 0});
    } else {
      const lua_Integer count = CountElements();
      reply_.Array(static_cast<size_t>(count));
      if (count == 0) return lua_pop(lua_, 1);
      open_.push_back({Open::Kind::kArray, base, count});
    }
  }

  // Prepares the table on top of the stack for WriteNext, and returns the number of its pairs, which the header
  // announces. A weak table is replaced by a copy, because it may lose pairs before they are written.
  size_t StartPairs() {
    PushTableThatKeepsEntries(lua_, -1, work_);
    lua_remove(lua_, -2);
    size_t pairs = 0;
    work_.Poll();
    for (lua_pushnil(lua_); lua_next(lua_, -2) != 0; lua_pop(lua_, 1)) {
      work_.Step();
      ++pairs;
    }
    lua_pushnil(lua_);
    return pairs;
  }

  // Returns the number of elements of the table on top before the first nil, for the header of the reply. If the
  // collector removes an element of a weak table after that, WriteNext writes null in its place.
  lua_Integer CountElements() {
    lua_Integer count = 0;
    for (; lua_rawgeti(lua_, -1, count + 1) != LUA_TNIL; lua_pop(lua_, 1)) {
      work_.Step();
      ++count;
    }
    lua_pop(lua_, 1);
    return count;
  }

  lua_State* lua_;
  Reply& reply_;
  ScriptHost& host_;
  WorkCounter work_;
  const size_t start_;  // where the reply begins in its buffer
  size_t looked_at_;    // size of the buffer at the last check
  bool is_unwanted_ = false;
  std::vector<Open> open_;
};

}  // namespace

void PushErrorTable(lua_State* lua, Bytes text) {
  lua_createtable(lua, 0, 2);
  SetText(lua, "err", text);
}

bool PushReply(lua_State* lua, Bytes reply) {
  if (reply.empty()) {  // CLIENT REPLY leaves no reply, if DEBUG lets a script call it
    lua_pushboolean(lua, 0);
    return false;
  }
  ReplyPusher pusher(lua, reply);
  const int top = lua_gettop(lua);
  pusher.PushOne();
  if (pusher.Failed()) {
    lua_settop(lua, top);
    PushErrorTable(lua, kCutShort);
  }
  const bool is_error = pusher.Failed() || reply.starts_with('-');
  if (is_error) {
    lua_pushboolean(lua, 1);
    lua_setfield(lua, -2, "ignore_error_stats_update");
  }
  return is_error;
}

void WriteReply(lua_State* lua, Reply& reply, ScriptHost& host) { ReplyWriter(lua, reply, host).Write(); }

}  // namespace respite
