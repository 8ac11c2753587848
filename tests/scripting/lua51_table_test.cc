#include <gtest/gtest.h>

#include "lua51_programs.h"

namespace respite {
namespace {

using namespace std::string_view_literals;

TEST(Lua51Tables, BehaveAsInRedis) {
  ExpectResults(
      {
          {R"lua(local t={} for w in string.gmatch("one two  three", "%a+") do t[#t+1]=w end for k,v in string.gfind("a=1, b=2", "(%w+)=(%w+)") do t[#t+1]=k..v end return table.concat(t,","))lua"sv,
           "one,two,three,a1,b2"sv},
          {R"lua(local t={} for p in string.gmatch("abc", "()") do t[#t+1]=p end for w in ("a,b,,c"):gmatch("([^,]*)") do t[#t+1]="<"..w..">" end return table.concat(t,","))lua"sv,
           "1,2,3,4,<a>,<>,<b>,<>,<>,<c>,<>"sv},
          {R"lua(return show(table.concat({1,2,3}), table.concat({1,2,3},","), table.concat({1,2,3},",",2), table.concat({1,2,3},",",2,2), table.concat({},","), table.concat({1.5,"a"},"-"), table.concat({1,2,3},1)))lua"sv,
           "123|1,2,3|2,3|2||1.5-a|11213"sv},
          {R"lua(return show(pcall(table.concat, {1,{},3})))lua"sv,
           "false|invalid value (table) at index 2 in table for 'concat'"sv},
          {R"lua(return show(pcall(table.concat, {1,2,3}, ",", 1, 5)))lua"sv,
           "false|invalid value (nil) at index 4 in table for 'concat'"sv},
          {R"lua(return show(pcall(table.concat, {true})))lua"sv,
           "false|invalid value (boolean) at index 1 in table for 'concat'"sv},
          {R"lua(local t={1,2,3} table.insert(t,4) table.insert(t,1,0) table.insert(t,10,9) return show(#t, t[1], t[5], t[10]))lua"sv,
           "5|0|4|9"sv},
          {R"lua(return show(pcall(table.insert, {}, 1, 2, 3)))lua"sv, "false|wrong number of arguments to 'insert'"sv},
          {R"lua(return show(pcall(table.insert, {})))lua"sv, "false|wrong number of arguments to 'insert'"sv},
          {R"lua(return show(pcall(table.insert, nil, 1)))lua"sv,
           "false|bad argument #1 to '?' (table expected, got nil)"sv},
          {R"lua(local t={1,2,3} return show(table.remove(t), table.remove(t,1), table.remove(t,5), table.remove(t), table.remove(t), #t))lua"sv,
           "3|1|nil|2|nil|0"sv},
          {R"lua(local t={5,2,8,1} table.sort(t) local s=table.concat(t,",") table.sort(t,function(a,b) return a>b end) return s..";"..table.concat(t,","))lua"sv,
           "1,2,5,8;8,5,2,1"sv},
          {R"lua(local t={} for i=1,50 do t[i]={k=i%7,v=i} end table.sort(t,function(a,b) return a.k<b.k end) local s={} for i=1,50 do s[i]=t[i].k..":"..t[i].v end return table.concat(s,","))lua"sv,
           "0:14,0:28,0:49,0:21,0:35,0:7,0:42,1:15,1:43,1:29,1:22,1:36,1:1,1:50,1:8,2:37,2:44,2:2,2:23,2:9,2:30,2:16,3:3,3:24,3:10,3:31,3:45,3:17,3:38,4:25,4:46,4:39,4:4,4:32,4:18,4:11,5:19,5:5,5:47,5:40,5:26,5:12,5:33,6:48,6:41,6:13,6:20,6:6,6:27,6:34"sv},
          {R"lua(local t={} for i=1,300 do t[i]={k=(i*7919)%13,v=i} end table.sort(t,function(a,b) return a.k<b.k end) local s={} for i=1,300 do s[i]=t[i].v end return table.concat(s,","))lua"sv,
           "65,169,39,156,195,208,26,221,299,130,91,78,143,104,117,52,234,182,13,247,260,286,273,124,7,137,46,228,280,98,72,111,293,85,59,163,267,150,202,33,189,254,176,215,241,20,248,79,209,92,222,287,105,196,118,235,261,170,274,144,66,131,183,157,1,300,14,53,27,40,190,125,47,138,268,112,8,21,229,255,281,34,177,151,242,203,164,99,216,294,73,60,86,80,288,106,28,41,184,236,275,145,119,197,54,223,93,262,132,171,249,15,2,158,210,67,139,35,152,256,74,165,178,295,61,243,9,191,126,100,22,282,204,87,48,269,113,217,230,159,107,276,55,250,211,172,94,16,289,68,185,29,198,133,81,263,237,120,3,146,224,42,205,231,62,218,296,179,192,153,244,140,270,23,257,114,127,10,36,101,49,283,166,88,75,56,199,4,95,277,225,212,290,69,108,82,238,17,160,121,147,43,251,186,30,173,264,134,245,284,297,11,219,271,232,258,63,141,50,89,128,115,102,193,180,167,24,206,37,76,154,213,44,135,252,148,265,109,278,83,70,122,291,96,57,5,161,31,187,174,200,239,226,18,38,233,51,116,272,194,285,90,220,298,103,25,207,77,64,259,142,129,12,168,246,155,181,32,149,58,84,253,292,201,71,175,214,227,110,45,162,266,123,188,136,97,279,19,240,6"sv},
          {R"lua(return show(pcall(table.sort, {3,1,2,5,4,7,6}, function() return true end)))lua"sv,
           "false|invalid order function for sorting"sv},
          {R"lua(return show(pcall(table.sort, {1,2}, 5)))lua"sv,
           "false|bad argument #2 to '?' (function expected, got number)"sv},
          {R"lua(return show(table.getn({1,2,3}), table.maxn({1,2,[10]=3,[2.5]=1}), pcall(table.setn, {}, 1)))lua"sv,
           "3|10|false|'setn' is obsolete"sv},
          {R"lua(local s="" table.foreach({a=1}, function(k,v) s=s..k..v end) table.foreachi({4,5}, function(k,v) s=s..k..v end) return show(s, table.foreachi({4,5}, function(i,v) if v==5 then return i end end)))lua"sv,
           "a11425|2"sv},
          {R"lua(return show(unpack({1,2,3}), unpack({1,2,3},2), unpack({1,2,3},2,3), unpack({},1,2)))lua"sv,
           "1|2|2|nil|nil"sv},
          {R"lua(return show(pcall(unpack, {}, 1, 1e8)))lua"sv, "false|too many results to unpack"sv},
          {R"lua(return show(pcall(unpack, {}, 1, 1e6)))lua"sv, "false|too many results to unpack"sv},
          {R"lua(return show(#{unpack({},1,7000)}, select('#', unpack({},1,7000))))lua"sv, "0|7000"sv},
          {R"lua(return show(pcall(unpack)))lua"sv, "false|bad argument #1 to '?' (table expected, got no value)"sv},
          {R"lua(return show(select('#'), select('#',nil,nil), select(2,'a','b','c'), select(-1,'a','b')))lua"sv,
           "0|2|b|b"sv},
          {R"lua(return show(pcall(select, 0)))lua"sv, "false|bad argument #1 to '?' (index out of range)"sv},
          {R"lua(return show(pcall(select, -5, 1)))lua"sv, "false|bad argument #1 to '?' (index out of range)"sv},
          {R"lua(return show(xpcall(function(...) return select('#',...) end, function() end, 1, 2)))lua"sv,
           "true|0"sv},
          {R"lua(local function f(...) return select('#',...), ... end return show(f(), f(1), f(nil,nil)))lua"sv,
           "0|1|2|nil|nil"sv},
          {R"lua(local t = {} for i = 1, 10 do t[i] = i * i end return show(#t, t[#t], table.concat(t, " ", 3, 5)))lua"sv,
           "10|100|9 16 25"sv},
          {R"lua(local keys = {} for k in pairs({a = 1, b = 2, c = 3}) do keys[#keys + 1] = k end table.sort(keys) return table.concat(keys))lua"sv,
           "abc"sv},
          {R"lua(return show((select('#', (function() end)())), select('#', nil)))lua"sv, "0|1"sv},
          {R"lua(local log = {} local t = setmetatable({}, {__newindex = function(t, k, v) log[#log + 1] = k rawset(t, k, v) end}) t.a = 1 t.a = 2 t.b = 3 return show(table.concat(log, ","), t.a))lua"sv,
           "a,b|2"sv},
          {R"lua(return show(pcall(table.concat, {1, 2}, nil, 1, 3)))lua"sv,
           "false|invalid value (nil) at index 3 in table for 'concat'"sv},
          {R"lua(return show(select(-2, 1, 2, 3), pcall(select, 1.5, "a", "b")))lua"sv, "2|true|a|b"sv},
          {R"lua(local t = {} for w in ("the quick brown fox"):gmatch("%S+") do t[#t + 1] = w:sub(1, 1):upper() .. w:sub(2) end return table.concat(t, " "))lua"sv,
           "The Quick Brown Fox"sv},
          {R"lua(return show(unpack({1, 2, 3}, -1, 1), unpack({}, 1, 3)))lua"sv, "nil|nil|nil|nil"sv},
          {R"lua(return show(table.remove({}), table.remove({}, 1), #{table.remove({1, 2, 3}, 1)}))lua"sv,
           "nil|nil|1"sv},
      });
}

}  // namespace
}  // namespace respite
