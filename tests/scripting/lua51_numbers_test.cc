// How numbers are computed and printed, and other parts of the language.
#include <gtest/gtest.h>

#include "lua51_programs.h"

namespace respite {
namespace {

using namespace std::string_view_literals;

TEST(Lua51Lengths, AreDoubles) {
  ExpectResults({
      {"return show(#''%#'', -#'', #'a'%#'', #'abc'*#'ab', #'abcd'/#'ab', -#{1,2}, #'ab'-#'abc', #'ab'..#'c', "
       "#'ab'==2)",
       "-nan|-0|-nan|6|2|-2|-1|21|true"},
      {"local n=#'ab' for i=1,80 do n=n*n end return show(n)", "inf"},
      {"local n=#{1,2,3} for i=1,60 do n=n+n end return show(n, n+#'a'-n, n%#'abc')", "3.4587645138205e+18|0|0"},
      {"local t={} for i=1,10 do t[#t+1]=i end return show(#t,t[#t],unpack(t,#t-1))", "10|10|9|10"},
      {"return show(pcall(function() local t return #t end))",
       "false|user_script:1: attempt to get length of local 't' (a nil value)"},
  });
}

// The length of a proxy is exactly what its __len returns.
TEST(Lua51Lengths, AreThoseOfAProxy) {
  ExpectResults({
      {"local p=newproxy(true) getmetatable(p).__len=function() return '10' end return show(type(#p), #p..'x')",
       "string|10x"},
      {"local p=newproxy(true) getmetatable(p).__len=function() return nil end return show(#p)", "nil"},
      {"local p=newproxy(true) getmetatable(p).__len=function() return {} end "
       "return show(type(#p), pcall(function() return #p+1 end))",
       "table|false|user_script:1: attempt to perform arithmetic on a table value"},
      {"local p=newproxy(true) getmetatable(p).__len=function() return setmetatable({},{__div=function() return 'div' "
       "end}) "
       "end return show(type(#p), #p/1)",
       "table|div"},
  });
}

TEST(Lua51Numbers, BehaveAsInRedis) {
  ExpectResults({
      {R"lua(return show(1, 10/2, 3.5, 1e15, 1e14, 2^53, 0.1+0.2, 1/3, 100, 1e100, -1e-5, 123456789012345))lua"sv,
       "1|5|3.5|1e+15|1e+14|9.007199254741e+15|0.3|0.33333333333333|100|1e+100|-1e-05|1.2345678901234e+14"sv},
      {R"lua(return show(1/0, -1/0, 0/0, -(0/0), 5%0, 5%3, -5%3, 5%-3, 5.5%2, 1%0.1, 5%(1/0), -5%(1/0)))lua"sv,
       "inf|-inf|-nan|nan|-nan|2|1|-1|1.5|0|-nan|-nan"sv},
      {R"lua(return show("10"+1, "3"*"4", -"2", "10"/"4", "7"%"4", "2"^"3", 10 .. 20, 1.5 .. "x"))lua"sv,
       "11|12|-2|2.5|3|8|1020|1.5x"sv},
      {R"lua(local s="" for i="1","3" do s=s..i end return s)lua"sv, "123"sv},
      {R"lua(local s="" for i=1,2,0.5 do s=s..i.." " end return s)lua"sv, "1 1.5 2 "sv},
      {R"lua(local s="" for i=3,1,-1 do s=s..i end return s)lua"sv, "321"sv},
      {R"lua(local s="" for i=1,3 do s=s..i/1 end return s)lua"sv, "123"sv},
      {R"lua(local t={1,2,3} local s="" for i=1,#t do s=s..i.."," end for i=#t,1,-1 do s=s..i.."," end return s)lua"sv,
       "1,2,3,3,2,1,"sv},
      {R"lua(local t={[1]=1,[1.0]=2,["1"]=3} return show(t[1],t["1"],t[1.0]))lua"sv, "2|3|2"sv},
      {R"lua(local function f() return f() end return show(1))lua"sv, "1"sv},
      {R"lua(return '\'a\'\0b')lua"sv, "'a'\000b"sv},
      {R"lua(return [==[a]]b]==])lua"sv, "a]]b"sv},
      {R"lua(return ...)lua"sv, "nil"sv},
      {R"lua(local t = {} for i = 1, 3 do t[i] = function() return i end end return show(t[1](), t[2](), t[3]()))lua"sv,
       "1|2|3"sv},
      {R"lua(local function counter() local n = 0 return function() n = n + 1 return n end end local a, b = counter(), counter() a() a() return show(a(), b()))lua"sv,
       "3|1"sv},
      {R"lua(return show(not nil, nil and 1, false or "x", 1 and 2, nil == false, 1 == 1.0, "1" == 1, 0 == -0))lua"sv,
       "true|nil|x|2|false|true|false|true"sv},
      {R"lua(return show(1 < 2, "a" < "b", "a" < "B", "" < "a", "Z" < "a", "10" < "9"))lua"sv,
       "true|true|false|true|true|true"sv},
      {R"lua(return show(2^10, 2^0.5, 7 / 2, -7 % 3, 7 % -3, 2^-1, 10 % 3.5, 1e308 * 10, -1e308 * 10))lua"sv,
       "1024|1.4142135623731|3.5|2|-2|0.5|3|inf|-inf"sv},
      {R"lua(return show(100 * 1.1, 0.1 + 0.7, 3.0, 3.10, 1e2, 123456789, 1234567890123, 12345678901234, 99999999999999, 100000000000000, 1e16))lua"sv,
       "110|0.8|3|3.1|100|123456789|1234567890123|12345678901234|99999999999999|1e+14|1e+16"sv},
      {R"lua(return show(1.5e300 * 1e10, 5e-324, 2^31, 2^32, 2^63, 2^64, -2^63))lua"sv,
       "inf|4.9406564584125e-324|2147483648|4294967296|9.2233720368548e+18|1.844674407371e+19|-9.2233720368548e+18"sv},
      {R"lua(return show(1000000 * 1000000, 99999999 * 99999999, 9007199254740993, 0xffffffff, 0xffffffffffffffff))lua"sv,
       "1000000000000|9.9999998e+15|9.007199254741e+15|4294967295|1.844674407371e+19"sv},
      {R"lua(return nil)lua"sv, "nil"sv},
      {R"lua(return)lua"sv, "nil"sv},
      {R"lua(return "")lua"sv, ""sv},
      {R"lua(return "a\0b")lua"sv, "a\000b"sv},
      {R"lua(local t = {} t[1.5] = "a" t["1.5"] = "b" t[2] = "c" return show(t[1.5], t["1.5"], t[4 / 2], t["2"]))lua"sv,
       "a|b|c|nil"sv},
      {R"lua(return show(#"abc", #{1, 2, 3}, #{n = 1}, #{1, nil, 3}))lua"sv, "3|3|0|3"sv},
      {R"lua(local a, b, c = (function() return 1, 2, 3 end)() return show(a, b, c, (function() return 1, 2 end)()))lua"sv,
       "1|2|3|1|2"sv},
      {R"lua(local s = [[
line
]] return s)lua"sv,
       "line\n"sv},
      {R"lua(return "tab\tnew\\n\65\066")lua"sv, "tab\011new\\nAB"sv},
      {R"lua(return (("x")))lua"sv, "x"sv},
      {R"lua(local function f(a, b, ...) local x, y = ... return show(a, b, x, y) end return f(1, 2, 3))lua"sv,
       "1|2|3|nil"sv},
  });
}

// Both operands are variables, one is a constant, both are constants, texts, or objects with a metamethod.
TEST(Lua51Numbers, RemaindersRoundAsInRedis) {
  ExpectResults({
      {R"lua(local a, b, c = 1, 0.1, 0 return show(a % b, a % 0.1, 1 % b, 1 % 0.1, 5 % (a / c), 100 % 0.3, a * 100 % 0.3, -a % b, 5.3 % -b))lua"sv,
       "0|0|0|0|-nan|0.10000000000001|0.10000000000001|0|-8.8817841970013e-16"sv},
      {R"lua(local a, i = 5, 1 / 0 return show(a % i, -a % i, a % -i, i % a, a % 0, -0.0 % a, 2^53 % 3, 1e17 % 3, (a * 1e16) % 7))lua"sv,
       "-nan|-nan|-nan|-nan|-nan|0|2|0|0"sv},
      {R"lua(local a, t = 7, {n = 4} a = a % t.n t.n = t.n % a t[a % 2 + 1] = a % t.n return show(a, t.n, t[2], t[1], (a % 2 + 1) % 3 * (a % 4)))lua"sv,
       "3|1|0|nil|6"sv},
      {R"lua(local s, n = 0, 10 for i = 1, n do s = s + i % 3 * (n % i) end return show(s, s % n % 4, n % (s % 7)))lua"sv,
       "9|1|0"sv},
      {R"lua(local f = loadstring("local a, b = ... return a % b, a % 0.3") return show(f(1, 0.1), f(100, 3)))lua"sv,
       "0|1|0.10000000000001"sv},
      {R"lua(return show("10" % 3, 10 % "3", ("7"):rep(2) % "0x10", -"3" % 2, pcall(function() return "x" % 2 end)))lua"sv,
       "1|1|13|1|false|user_script:1: attempt to perform arithmetic on a string value"sv},
      {R"lua(local m = {__mod = function(a, b) return type(a) .. type(b) end} local t = setmetatable({}, m) return show(t % 1, 1 % t, t % t, "a" % t, t % "5"))lua"sv,
       "tablenumber|numbertable|tabletable|stringtable|tablestring"sv},
      {R"lua(local x = 5 return show(pcall(function() return (x % 2).y end)))lua"sv,
       "false|user_script:1: attempt to index a number value"sv},
      {R"lua(return show(pcall(function() local x = {} return 5 % x.y end)))lua"sv,
       "false|user_script:1: attempt to perform arithmetic on field 'y' (a nil value)"sv},
  });
}

}  // namespace
}  // namespace respite
