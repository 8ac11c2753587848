#include <gtest/gtest.h>

#include "lua51_programs.h"

namespace respite {
namespace {

using namespace std::string_view_literals;

TEST(Lua51Coroutines, BehaveAsInRedis) {
  ExpectResults({
      {R"lua(local co=coroutine.create(function(a,b) local c=coroutine.yield(a+b) local d=coroutine.yield(c*2) return "end" end) return show(coroutine.resume(co,1,2), coroutine.resume(co,10), coroutine.status(co), coroutine.resume(co,1), coroutine.status(co), coroutine.resume(co)))lua"sv,
       "true|true|suspended|true|dead|false|cannot resume dead coroutine"sv},
      {R"lua(local co=coroutine.create(function() coroutine.yield(1) end) return show(coroutine.resume(co)), show(coroutine.resume(co)), show(coroutine.resume(co)))lua"sv,
       "true|1"sv},
      {R"lua(local co=coroutine.create(function() coroutine.yield(1) end) coroutine.resume(co) coroutine.resume(co) return show(coroutine.resume(co)))lua"sv,
       "false|cannot resume dead coroutine"sv},
      {R"lua(local f=coroutine.wrap(function() for i=1,3 do coroutine.yield(i) end end) return show(f(),f(),f(),f()))lua"sv,
       "1|2|3"sv},
      {R"lua(local f=coroutine.wrap(function() error("oops") end) return show(pcall(f)))lua"sv,
       "false|user_script:1: oops"sv},
      {R"lua(local f=coroutine.wrap(function() end) f() return show(pcall(f)))lua"sv,
       "false|cannot resume dead coroutine"sv},
      {R"lua(return show(pcall(coroutine.create, 5)))lua"sv, "false|bad argument #1 to '?' (Lua function expected)"sv},
      {R"lua(return show(pcall(coroutine.resume, 5)))lua"sv, "false|bad argument #1 to '?' (coroutine expected)"sv},
      {R"lua(return show(pcall(coroutine.status)))lua"sv, "false|bad argument #1 to '?' (coroutine expected)"sv},
      {R"lua(return show(pcall(coroutine.yield,1)))lua"sv,
       "false|attempt to yield across metamethod/C-call boundary"sv},
      {R"lua(local co co=coroutine.create(function() return coroutine.resume(co) end) return show(coroutine.resume(co)))lua"sv,
       "true|false|cannot resume running coroutine"sv},
      {R"lua(local gen = coroutine.wrap(function() for i = 1, 3 do coroutine.yield(i, i * i) end end) local s = "" for i, sq in gen do s = s .. i .. ":" .. sq .. " " end return s)lua"sv,
       "1:1 2:4 3:9 "sv},
      {R"lua(local co = coroutine.create(function() error("in co") end) return show(coroutine.resume(co)))lua"sv,
       "false|user_script:1: in co"sv},
      {R"lua(local co = coroutine.create(function() local x = nil; return x.y end) return show(coroutine.resume(co)))lua"sv,
       "false|user_script:1: attempt to index local 'x' (a nil value)"sv},
      {R"lua(local co co = coroutine.create(function() return coroutine.status(co), coroutine.running() == co end) return show(coroutine.resume(co)))lua"sv,
       "true|running|true"sv},
      {R"lua(local co = coroutine.wrap(function() return pcall(function() error("e") end) end) return show(co()))lua"sv,
       "false|user_script:1: e"sv},
      {R"lua(local outer = coroutine.create(function() local inner = coroutine.create(function() coroutine.yield(1) end) coroutine.resume(inner) coroutine.yield(coroutine.status(inner)) end) return show(coroutine.resume(outer)))lua"sv,
       "true|suspended"sv},
  });
}

}  // namespace
}  // namespace respite
