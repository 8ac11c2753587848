// Replies of scripts: Lua values that are written as replies.
#include "scripting/lua_reply.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/str_cat.h"
#include "protocol/reply_tree.h"
#include "scripting/engine.h"
#include "tests/scripting/fake_script_host.h"
#include "tests/scripting/library_fixture.h"

namespace respite {
namespace {

// The collector removes elements of the weak tables between their count and their contents.
TEST(LuaReply, HasAsManyElementsAsItAnnounces) {
  constexpr const char* kWeakReplies[] = {"for i = 1, 100 do weak['k' .. i] = {} end return {map = weak}",
                                          "for i = 1, 100 do weak[{}] = i end return {set = weak}",
                                          "for i = 1, 100 do weak[i] = {} end return weak"};
  for (const char* chunk : kWeakReplies) {
    for (const RespVersion version : {RespVersion::kResp2, RespVersion::kResp3}) {
      LibraryState state;
      state.PushResult(std::string("local weak = setmetatable({}, {__mode = 'kv'}) ") + chunk);
      state.CollectInLoops();
      BlockPool pool;
      ReplyBuffer out(pool);
      Reply reply(out, version);
      FakeScriptHost host;
      WriteReply(state.Lua(), reply, host);
      reply.Simple("next reply");
      ReplyTreeParser parser;
      parser.Feed(out.Text());
      const std::optional<ReplyTree> first = parser.Next();
      ASSERT_TRUE(first) << chunk;
      EXPECT_FALSE(first->children.empty()) << chunk;
      const std::optional<ReplyTree> next = parser.Next();
      ASSERT_TRUE(next) << chunk;
      EXPECT_EQ(next->text, "next reply") << chunk;
    }
  }
}

// Writes the value on top of the stack as a reply, and pops it. Returns the `err` of the error that this raises.
std::string ErrorOfReply(lua_State* lua) {
  lua_pushcfunction(lua, [](lua_State* state) {
    BlockPool pool;
    ReplyBuffer out(pool);
    Reply reply(out, RespVersion::kResp3);
    FakeScriptHost host;
    WriteReply(state, reply, host);
    return 0;
  });
  lua_insert(lua, -2);
  if (lua_pcall(lua, 1, 0, 0) == LUA_OK) return "";
  lua_getfield(lua, -1, "err");
  const std::string text(TextAt(lua, -1));
  lua_pop(lua, 2);
  return text;
}

// An empty table may have millions of empty slots, so the search for its first pair may take long.
TEST(LuaReply, ListensBeforeItWritesEmptyMaps) {
  static int hook_calls;
  hook_calls = 0;
  LibraryState state;
  state.PushResult("local m = {map = {}} return {m, m, m, m, m, m, m, m}");
  lua_sethook(
      state.Lua(), [](lua_State*, lua_Debug*) { ++hook_calls; }, LUA_MASKCOUNT, 1);
  EXPECT_EQ(ErrorOfReply(state.Lua()), "");
  EXPECT_GE(hook_calls, 8);
}

constexpr size_t kMaxKilobytes = kMaxReplyLineBytes / 1024;

TEST(LuaReply, LinesHaveALimit) {
  LibraryState state;
  for (const size_t kilobytes : {size_t{1}, kMaxKilobytes + 1}) {
    const auto expected = [&](const char* error) { return kilobytes == 1 ? "" : error; };
    state.PushResult(StrCat("local text = ('1'):rep(1024):rep(", kilobytes,
                            ") return {{{err = text}}, {ok = text}, {big_number = text}}"));
    lua_rawgeti(state.Lua(), -1, 1);
    EXPECT_EQ(ErrorOfReply(state.Lua()), expected(kLongScriptError));
    lua_rawgeti(state.Lua(), -1, 2);
    EXPECT_EQ(ErrorOfReply(state.Lua()), expected(kLongScriptStatus));
    lua_rawgeti(state.Lua(), -1, 3);
    EXPECT_EQ(ErrorOfReply(state.Lua()), expected(kLongScriptNumber));
  }
}

// The error names the code in which it was raised. A script chooses this name.
TEST(LuaReply, ErrorsInCodeWithALongNameHaveALimit) {
  FakeScriptHost host;
  ScriptEngine engine(host);
  const std::string code = StrCat("loadstring('error()', ('1'):rep(1024):rep(", kMaxKilobytes, "))()");
  const auto function = engine.Compile(code, "@user_script", ScriptEngine::CompileLimit::kHost);
  ASSERT_TRUE(function);
  BlockPool pool;
  ReplyBuffer out(pool);
  Reply reply(out, RespVersion::kResp3);
  const auto failure = engine.RunScript({.function = function.value(), .name = "name", .keys = {}, .args = {}}, reply);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->text.substr(0, 100), kLongScriptError);
}

}  // namespace
}  // namespace respite
