// Replies of scripts: Lua values that are written as replies.
#include "scripting/lua_reply.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "protocol/reply_tree.h"
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

}  // namespace
}  // namespace respite
