// The results of cjson. The examples are from Redis 7.2.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/str_cat.h"
#include "tests/scripting/library_fixture.h"
#include "tests/scripting/limited_memory.h"

namespace respite {
namespace {

// clang-format off
constexpr LibraryCase kCjsonTables[] = {
    {R"(cjson._NAME, cjson._VERSION, cjson.null)", R"("cjson", "2.1.0", null)"},
    {R"(cjson)",
     R"({"_NAME"="cjson" "_VERSION"="2.1.0" "decode"=function "decode_invalid_numbers"=function "decode_max_depth"=function "encode"=function "encode_invalid_numbers"=function "encode_keep_buffer"=function "encode_max_depth"=function "encode_number_precision"=function "encode_sparse_array"=function "new"=function "null"=null})"},
    {R"(cjson.new())",
     R"({"_NAME"="cjson" "_VERSION"="2.1.0" "decode"=function "decode_invalid_numbers"=function "decode_max_depth"=function "encode"=function "encode_invalid_numbers"=function "encode_keep_buffer"=function "encode_max_depth"=function "encode_number_precision"=function "encode_sparse_array"=function "new"=function "null"=null})"},
};

constexpr LibraryCase kEncoded[] = {
    {R"(cjson.encode(nil))", R"("null")"},
    {R"(cjson.encode(cjson.null))", R"("null")"},
    {R"(cjson.encode(true), cjson.encode(false))", R"("true", "false")"},
    {R"(cjson.encode(""))", R"("""")"},
    {R"(cjson.encode("plain"))", R"(""plain"")"},
    {R"(cjson.encode("\"\\/\b\f\n\r\t"))", R"(""\"\\\/\b\f\n\r\t"")"},
    {R"(cjson.encode("\0\1\31\127\128\255"))", R"(x225c75303030305c75303030315c75303031665c753030376680ff22)"},
    {R"(cjson.encode({}))", R"("{}")"},
    {R"(cjson.encode({{}, {{}}}))", R"("[{},[{}]]")"},
    {R"(cjson.encode({1, 2, "x", true}))", R"("[1,2,"x",true]")"},
    {R"(cjson.encode({a = 1}))", R"("{"a":1}")"},
    {R"(cjson.encode({a = {b = {c = {1}}}}))", R"("{"a":{"b":{"c":[1]}}}")"},
    {R"(cjson.encode({[1] = 1, [3] = 3}))", R"("[1,null,3]")"},
    {R"(cjson.encode({nil, 2, nil, 4}))", R"("[null,2,null,4]")"},
    {R"(cjson.encode({[0] = 1}))", R"("{"0":1}")"},
    {R"(cjson.encode({[-1] = 1}))", R"("{"-1":1}")"},
    {R"(cjson.encode({[1.5] = 1}))", R"("{"1.5":1}")"},
    {R"(cjson.encode({["1"] = 1}))", R"("{"1":1}")"},
    {R"(cjson.encode({[10] = 1}))", R"("[null,null,null,null,null,null,null,null,null,1]")"},
    {R"(cjson.encode({[11] = 1}))", R"(error: user_script:1: Cannot serialise table: excessively sparse array)"},
    {R"(cjson.encode({[2^31 - 1] = 1}))",
     R"(error: user_script:1: Cannot serialise table: excessively sparse array)"},
    {R"(cjson.encode({[2^31] = 1}))", R"("{"2147483648":1}")"},
    {R"(cjson.encode({[1e15] = 1}))", R"("{"1e+15":1}")"},
    {R"(cjson.encode({[true] = 1}))",
     R"(error: user_script:1: Cannot serialise boolean: table key must be a number or string)"},
    {R"(cjson.encode({[{}] = 1}))",
     R"(error: user_script:1: Cannot serialise table: table key must be a number or string)"},
    {R"(cjson.encode(0), cjson.encode(-1), cjson.encode(2^53))", R"("0", "-1", "9.007199254741e+15")"},
    {R"(cjson.encode(99999999999999), cjson.encode(100000000000000), cjson.encode(-1e14))",
     R"("99999999999999", "1e+14", "-1e+14")"},
    {R"(cjson.encode(0.1), cjson.encode(1/3), cjson.encode(-2/3))",
     R"("0.1", "0.33333333333333", "-0.66666666666667")"},
    {R"(cjson.encode(1e-4), cjson.encode(1e-5), cjson.encode(123.456e-7))", R"("0.0001", "1e-05", "1.23456e-05")"},
    {R"(cjson.encode(1e300), cjson.encode(1e-300), cjson.encode(5e-324))",
     R"("1e+300", "1e-300", "4.9406564584125e-324")"},
    {R"(cjson.encode(1.5e15), cjson.encode(123456789.123456789))", R"("1.5e+15", "123456789.12346")"},
    {R"(cjson.encode(0/0))", R"(error: user_script:1: Cannot serialise number: must not be NaN or Inf)"},
    {R"(cjson.encode(1/0))", R"(error: user_script:1: Cannot serialise number: must not be NaN or Inf)"},
    {R"(cjson.encode({-1/0}))", R"(error: user_script:1: Cannot serialise number: must not be NaN or Inf)"},
    {R"(cjson.encode(pcall))", R"(error: user_script:1: Cannot serialise function: type not supported)"},
    {R"(cjson.encode({pcall}))", R"(error: user_script:1: Cannot serialise function: type not supported)"},
    {R"(cjson.encode(coroutine.create(function() end)))",
     R"(error: user_script:1: Cannot serialise thread: type not supported)"},
    {R"(cjson.encode())", R"(error: user_script:1: bad argument #1 to 'encode' (expected 1 argument))"},
    {R"(cjson.encode(1, 2))", R"(error: user_script:1: bad argument #1 to 'encode' (expected 1 argument))"},
    {R"(cjson.encode((function() local t = {} t[1] = t return t end)()))",
     R"(error: user_script:1: Cannot serialise, excessive nesting (1001))"},
    {R"(cjson.encode((function() local t = {} t.me = t return t end)()))",
     R"(error: user_script:1: Cannot serialise, excessive nesting (1001))"},
    {R"(cjson.encode((function() local t = {} for i = 1, 999 do t = {t} end return t end)()) == string.rep("[", 999) .. "{}" .. string.rep("]", 999))",
     R"(true)"},
    {R"(cjson.encode((function() local t = {} for i = 1, 1000 do t = {t} end return t end)()))",
     R"(error: user_script:1: Cannot serialise, excessive nesting (1001))"},
};

constexpr LibraryCase kDecoded[] = {
    {R"(cjson.decode("null"), cjson.decode("true"), cjson.decode("false"))", R"(null, true, false)"},
    {R"(cjson.decode("[]"), cjson.decode("{}"))", R"({}, {})"},
    {R"(cjson.decode("[1, 2, [3, {\"a\": null}]]"))", R"({1=1 2=2 3={1=3 2={"a"=null}}})"},
    {R"(cjson.decode(" \t\r\n{ \"a\" : [ ] } \n"))", R"({"a"={}})"},
    {R"(cjson.decode("{\"a\":1,\"a\":2}"))", R"({"a"=2})"},
    {R"(cjson.decode("0"), cjson.decode("-0") == 0, cjson.decode("12"), cjson.decode("-12"))", R"(0, true, 12, -12)"},
    {R"(cjson.decode("1.5"), cjson.decode("1e3"), cjson.decode("1E+2"), cjson.decode("25e-1"))",
     R"(1.5, 1000, 100, 2.5)"},
    {R"(cjson.decode("999999999999999"), cjson.decode("9999999999999999"), cjson.decode("123456789012345678901234567890"))",
     R"(999999999999999, 10000000000000000, 1.2345678901234568e+29)"},
    {R"(cjson.decode("9007199254740993"), cjson.decode("0.1"), cjson.decode("1.7976931348623157e308"))",
     R"(9007199254740992, 0.10000000000000001, 1.7976931348623157e+308)"},
    {R"(cjson.decode("1e999"), cjson.decode("-1e999"), cjson.decode("1e-999"), cjson.decode("5e-324"))",
     R"(inf, -inf, 0, 4.9406564584124654e-324)"},
    {R"(cjson.decode("007"), cjson.decode("1."), cjson.decode("-.5"), cjson.decode("+3"))", R"(7, 1, -0.5, 3)"},
    {R"(cjson.decode("0x10"), cjson.decode("-0x1p4"), cjson.decode("inf"), cjson.decode("-Infinity"))",
     R"(16, -16, inf, -inf)"},
    {R"(tostring(cjson.decode("nan")), tostring(cjson.decode("NaN")))", R"("nan", "nan")"},
    {R"(cjson.decode("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""))", R"(x225c2f080c0a0d09)"},
    {R"(cjson.decode("\"\\u0041\\u00e9\\u20ac\\ud83d\\ude00\\u0000\""))", R"(x41c3a9e282acf09f988000)"},
    {R"(cjson.decode("\"a\1b\""))", R"(x610162)"},
    {R"(cjson.decode("[1]\0behind"))", R"({1=1})"},
    {R"(cjson.decode(12))", R"(12)"},
    {R"(cjson.decode(""))", R"(error: user_script:1: Expected value but found T_END at character 1)"},
    {R"(cjson.decode(" "))", R"(error: user_script:1: Expected value but found T_END at character 2)"},
    {R"(cjson.decode("["))", R"(error: user_script:1: Expected value but found T_END at character 2)"},
    {R"(cjson.decode("[1"))", R"(error: user_script:1: Expected comma or array end but found T_END at character 3)"},
    {R"(cjson.decode("[1,"))", R"(error: user_script:1: Expected value but found T_END at character 4)"},
    {R"(cjson.decode("[1,]"))", R"(error: user_script:1: Expected value but found T_ARR_END at character 4)"},
    {R"(cjson.decode("[1 2]"))",
     R"(error: user_script:1: Expected comma or array end but found T_NUMBER at character 4)"},
    {R"(cjson.decode("{"))", R"(error: user_script:1: Expected object key string but found T_END at character 2)"},
    {R"(cjson.decode("{1:2}"))",
     R"(error: user_script:1: Expected object key string but found T_NUMBER at character 2)"},
    {R"(cjson.decode("{\"a\""))", R"(error: user_script:1: Expected colon but found T_END at character 5)"},
    {R"(cjson.decode("{\"a\" 1}"))", R"(error: user_script:1: Expected colon but found T_NUMBER at character 6)"},
    {R"(cjson.decode("{\"a\":}"))", R"(error: user_script:1: Expected value but found T_OBJ_END at character 6)"},
    {R"(cjson.decode("{\"a\":1"))",
     R"(error: user_script:1: Expected comma or object end but found T_END at character 7)"},
    {R"(cjson.decode("{\"a\":1,}"))",
     R"(error: user_script:1: Expected object key string but found T_OBJ_END at character 8)"},
    {R"(cjson.decode("]"), 1)", R"(error: user_script:1: Expected value but found T_ARR_END at character 1)"},
    {R"(cjson.decode("[}"))", R"(error: user_script:1: Expected value but found T_OBJ_END at character 2)"},
    {R"(cjson.decode(":"))", R"(error: user_script:1: Expected value but found T_COLON at character 1)"},
    {R"(cjson.decode("1 2"))", R"(error: user_script:1: Expected the end but found T_NUMBER at character 3)"},
    {R"(cjson.decode("{} []"))", R"(error: user_script:1: Expected the end but found T_ARR_BEGIN at character 4)"},
    {R"(cjson.decode("tru"))", R"(error: user_script:1: Expected value but found invalid token at character 1)"},
    {R"(cjson.decode("nul"))", R"(error: user_script:1: Expected value but found invalid token at character 1)"},
    {R"(cjson.decode("i"))", R"(error: user_script:1: Expected value but found invalid token at character 1)"},
    {R"(cjson.decode("TRUE"))", R"(error: user_script:1: Expected value but found invalid token at character 1)"},
    {R"(cjson.decode("'a'"))", R"(error: user_script:1: Expected value but found invalid token at character 1)"},
    {R"(cjson.decode(".5"))", R"(error: user_script:1: Expected value but found invalid token at character 1)"},
    {R"(cjson.decode("-"))", R"(error: user_script:1: Expected value but found invalid number at character 1)"},
    {R"(cjson.decode("--1"))", R"(error: user_script:1: Expected value but found invalid number at character 1)"},
    {R"(cjson.decode("1e"))", R"(error: user_script:1: Expected the end but found invalid token at character 2)"},
    {R"(cjson.decode("1.5.5"))", R"(error: user_script:1: Expected the end but found invalid token at character 4)"},
    {R"(cjson.decode("\""))",
     R"(error: user_script:1: Expected value but found unexpected end of string at character 2)"},
    {R"(cjson.decode("[\"abc"))",
     R"(error: user_script:1: Expected value but found unexpected end of string at character 6)"},
    {R"(cjson.decode("\"\\"))",
     R"(error: user_script:1: Expected value but found invalid escape code at character 2)"},
    {R"(cjson.decode("\"\\x\""))",
     R"(error: user_script:1: Expected value but found invalid escape code at character 2)"},
    {R"(cjson.decode("  \"ab\\q\""))",
     R"(error: user_script:1: Expected value but found invalid escape code at character 6)"},
    {R"(cjson.decode("\"\\u12\""))",
     R"(error: user_script:1: Expected value but found invalid unicode escape code at character 2)"},
    {R"(cjson.decode("\"\\u12g4\""))",
     R"(error: user_script:1: Expected value but found invalid unicode escape code at character 2)"},
    {R"(cjson.decode("\"\\ud83d\""))",
     R"(error: user_script:1: Expected value but found invalid unicode escape code at character 2)"},
    {R"(cjson.decode("\"\\ude00\""))",
     R"(error: user_script:1: Expected value but found invalid unicode escape code at character 2)"},
    {R"(cjson.decode("\"\\ud83d\\u0041\""))",
     R"(error: user_script:1: Expected value but found invalid unicode escape code at character 2)"},
    {R"(cjson.decode("\"\\ud83dxx\""))",
     R"(error: user_script:1: Expected value but found invalid unicode escape code at character 2)"},
    {R"(cjson.decode("\0["))", R"(error: user_script:1: JSON parser does not support UTF-16 or UTF-32)"},
    {R"(cjson.decode("[\0"))", R"(error: user_script:1: JSON parser does not support UTF-16 or UTF-32)"},
    {R"(cjson.decode("\255\254"))", R"(error: user_script:1: Expected value but found invalid token at character 1)"},
    {R"(cjson.decode())", R"(error: user_script:1: bad argument #1 to 'decode' (expected 1 argument))"},
    {R"(cjson.decode(nil))", R"(error: user_script:1: bad argument #1 to 'decode' (string expected, got nil))"},
    {R"(cjson.decode({}))", R"(error: user_script:1: bad argument #1 to 'decode' (string expected, got table))"},
    {R"(cjson.decode("1", 2))", R"(error: user_script:1: bad argument #1 to 'decode' (expected 1 argument))"},
    {R"(#cjson.decode(string.rep("[", 1000) .. string.rep("]", 1000)))", R"(1)"},
    {R"(cjson.decode(string.rep("[", 1001) .. string.rep("]", 1001)))",
     R"(error: user_script:1: Found too many nested data structures (1001) at character 1001)"},
    {R"(cjson.decode(string.rep("{\"a\":", 1001)))",
     R"(error: user_script:1: Found too many nested data structures (1001) at character 5001)"},
};

constexpr LibraryCase kSettings[] = {
    {R"(cjson.new().encode_max_depth(), cjson.new().decode_max_depth(), cjson.new().encode_number_precision())",
     R"(1000, 1000, 14)"},
    {R"(cjson.new().encode_sparse_array())", R"(false, 2, 10)"},
    {R"(cjson.new().encode_invalid_numbers(), cjson.new().decode_invalid_numbers(), cjson.new().encode_keep_buffer())",
     R"(false, true, true)"},
    {R"((function() local c = cjson.new() c.encode_max_depth(2) return c.encode({{1}}), c.encode({{{}}}) end)())",
     R"(error: user_script:1: Cannot serialise, excessive nesting (3))"},
    {R"((function() local c = cjson.new() return c.encode_max_depth(2), c.encode({{1}}) end)())", R"(2, "[[1]]")"},
    {R"((function() local c = cjson.new() c.decode_max_depth(2) return c.decode("[[1]]"), c.decode(" [[[") end)())",
     R"(error: user_script:1: Found too many nested data structures (3) at character 4)"},
    {R"((function() local c = cjson.new() c.encode_number_precision(3) return c.encode({1, 999, 1000, 0.12345, 1234567}) end)())",
     R"("[1,999,1e+03,0.123,1.23e+06]")"},
    {R"((function() local c = cjson.new() c.encode_invalid_numbers(true) return c.encode({0/0, -(0/0), 1/0, -1/0}) end)())",
     R"("[nan,nan,inf,-inf]")"},
    {R"((function() local c = cjson.new() return c.encode_invalid_numbers("null"), c.encode({0/0, 1/0}), c.encode_invalid_numbers("off") end)())",
     R"("null", "[null,null]", false)"},
    {R"((function() local c = cjson.new() return c.encode_invalid_numbers("on"), c.encode({[1/0] = 1}) end)())",
     R"(true, "{"inf":1}")"},
    {R"((function() local c = cjson.new() c.decode_invalid_numbers(false) return c.decode("[0, -0.5, 10e1]"), c.decode("[007]") end)())",
     R"(error: user_script:1: Expected value but found invalid number at character 2)"},
    {R"((function() local c = cjson.new() c.decode_invalid_numbers(false) return c.decode("-inf") end)())",
     R"(error: user_script:1: Expected value but found invalid number at character 1)"},
    {R"((function() local c = cjson.new() c.decode_invalid_numbers(false) return c.decode("inf") end)())",
     R"(error: user_script:1: Expected value but found invalid token at character 1)"},
    {R"((function() local c = cjson.new() c.decode_invalid_numbers(false) return c.decode("+1") end)())",
     R"(error: user_script:1: Expected value but found invalid token at character 1)"},
    {R"((function() local c = cjson.new() c.decode_invalid_numbers(false) return c.decode("0x1") end)())",
     R"(error: user_script:1: Expected value but found invalid number at character 1)"},
    {R"((function() local c = cjson.new() return c.encode_sparse_array(true, 3, 4), c.encode({[9] = 1}), c.encode({[4] = 1}) end)())",
     R"(true, "{"9":1}", "[null,null,null,1]")"},
    {R"((function() local c = cjson.new() c.encode_sparse_array(nil, 0) return c.encode({[12] = 1}) end)())",
     R"("[null,null,null,null,null,null,null,null,null,null,null,1]")"},
    {R"((function() local c = cjson.new() return c.encode_keep_buffer(false), c.encode({1}), c.encode_keep_buffer("on"), c.encode({2}) end)())",
     R"(false, "[1]", true, "[2]")"},
    {R"((function() local c = cjson.new() c.encode_max_depth(1) return c.new().encode_max_depth(), cjson.encode_max_depth() end)())",
     R"(1000, 1000)"},
    {R"(cjson.encode_max_depth(0))",
     R"(error: user_script:1: bad argument #1 to 'encode_max_depth' (expected integer between 1 and 2147483647))"},
    {R"(cjson.encode_max_depth(1, 2))",
     R"(error: user_script:1: bad argument #2 to 'encode_max_depth' (found too many arguments))"},
    {R"(cjson.encode_max_depth("x"))",
     R"(error: user_script:1: bad argument #1 to 'encode_max_depth' (number expected, got string))"},
    {R"(cjson.encode_max_depth({}))",
     R"(error: user_script:1: bad argument #1 to 'encode_max_depth' (number expected, got table))"},
    {R"(cjson.encode_number_precision(15))",
     R"(error: user_script:1: bad argument #1 to 'encode_number_precision' (expected integer between 1 and 14))"},
    {R"(cjson.encode_sparse_array(1))",
     R"(error: user_script:1: bad argument #1 to 'encode_sparse_array' (invalid option '1'))"},
    {R"(cjson.encode_sparse_array(nil, -1))",
     R"(error: user_script:1: bad argument #1 to 'encode_sparse_array' (expected integer between 0 and 2147483647))"},
    {R"(cjson.encode_sparse_array(1, 2, 3, 4))",
     R"(error: user_script:1: bad argument #4 to 'encode_sparse_array' (found too many arguments))"},
    {R"(cjson.encode_invalid_numbers("maybe"))",
     R"(error: user_script:1: bad argument #1 to 'encode_invalid_numbers' (invalid option 'maybe'))"},
    {R"(cjson.decode_invalid_numbers("null"))",
     R"(error: user_script:1: bad argument #1 to 'decode_invalid_numbers' (invalid option 'null'))"},
    {R"(cjson.encode_keep_buffer({}))",
     R"(error: user_script:1: bad argument #1 to 'encode_keep_buffer' (string expected, got table))"},
    {R"((function() local c, t = cjson.new(), {} c.encode_max_depth(1000000) for i = 1, 10000 do t = {t} end return c.encode(t) end)())",
     R"(error: user_script:1: Cannot serialise, excessive nesting (7998))"},
    {R"((function() local c = cjson.new() c.decode_max_depth(1000000) return c.decode(string.rep("[", 10000)) end)())",
     R"(error: user_script:1: Found too many nested data structures (7999) at character 7999)"},
    {R"((function() local c = cjson.new() c.decode_max_depth(1000000) return c.decode(string.rep("{\"a\":", 10000)) end)())",
     R"(error: user_script:1: Found too many nested data structures (4000) at character 19996)"},
};

// clang-format on

TEST(Cjson, HasWhatRedisHas) {
  LibraryState state;
  for (const LibraryCase& example : kCjsonTables)
    EXPECT_EQ(state.Show(example.expression), example.shown) << example.expression;
}

TEST(Cjson, EncodesAsRedis) {
  LibraryState state;
  for (const LibraryCase& example : kEncoded)
    EXPECT_EQ(state.Show(example.expression), example.shown) << example.expression;
}

TEST(Cjson, DecodesAsRedis) {
  LibraryState state;
  for (const LibraryCase& example : kDecoded)
    EXPECT_EQ(state.Show(example.expression), example.shown) << example.expression;
}

TEST(Cjson, ObeysSettings) {
  LibraryState state;
  for (const LibraryCase& example : kSettings)
    EXPECT_EQ(state.Show(example.expression), example.shown) << example.expression;
}

TEST(Cjson, EncodesTablesOfManyKeys) {
  LibraryState state;
  EXPECT_EQ(state.Show(R"(cjson.decode(cjson.encode({a = 1, b = {2, "x"}, [1] = true, [2.5] = {}})))"),
            R"({"1"=true "2.5"={} "a"=1 "b"={1=2 2="x"}})");
}

TEST(Cjson, DecodesWhatItEncodes) {
  LibraryState state;
  EXPECT_EQ(state.RunChunk(R"(
    for byte = 0, 255 do
      for _, text in ipairs {string.char(byte), string.rep(string.char(byte), 3000)} do
        if cjson.decode(cjson.encode({text}))[1] ~= text then return byte end
      end
    end
    for i = 1, 5000 do
      local number = math.random() * 10 ^ math.random(-300, 300)
      if cjson.encode(number) ~= string.format("%.14g", number) then return number end
    end
    return "the same")"),
            "the same");
}

TEST(Cjson, ListensWhileItEncodesLongTextsAndEmptyTables) {
  constexpr int kNever = 1 << 30;
  LibraryState state;
  EXPECT_GT(state.HookCallsOf("#cjson.encode(('x'):rep(8000000))", kNever),
            state.HookCallsOf("#('x'):rep(8000000)", kNever) + 10);
  // An empty table may have millions of empty slots, so the search for its first entry may take long.
  EXPECT_GT(state.HookCallsOf("cjson.encode {{}, {}, {}, {}, {}, {}, {}, {}}", 1),
            state.HookCallsOf("type {{}, {}, {}, {}, {}, {}, {}, {}}", 1) + 8);
}

// A longer number would be read in one step, during which the script cannot be ended.
TEST(Cjson, NumbersHaveALimit) {
  LibraryState state;
  EXPECT_EQ(state.Show("cjson.decode('[' .. ('1'):rep(4096) .. ']')[1]"), "inf");
  for (const char* digits : {"('1'):rep(4097)", "'-' .. ('1'):rep(4096)", "'+' .. ('1'):rep(4096)", "('0'):rep(4097)",
                             "'0.' .. ('3'):rep(4095)"}) {
    EXPECT_EQ(state.Show(StrCat("cjson.decode('[' .. ", digits, " .. ']')")),
              "error: user_script:1: Expected value but found invalid number at character 2")
        << digits;
  }
}

// A megabyte of Lua data whose JSON would need exabytes.
TEST(Cjson, EndsWithinItsMemory) {
  LimitedMemory memory(16 << 20);
  {
    LibraryState state(memory.NewState());
    EXPECT_EQ(state.Show(R"((function()
      local same, all = string.rep("x", 1000000), {}
      for i = 1, 250 do all[i] = same end
      return cjson.encode(all)
    end)())"),
              "error: not enough memory");
    EXPECT_EQ(state.Show(R"((function()
      local tree = {1}
      for i = 1, 60 do tree = {tree, tree} end
      return cjson.encode(tree)
    end)())"),
              "error: not enough memory");
    EXPECT_EQ(state.Show(R"((function()
      local text = '"\\n' .. string.rep("x", 6000000) .. '"'
      for i = 1, 9 do pcall(cjson.decode, text) end
      return pcall(cjson.decode, text)
    end)())"),
              R"(false, "not enough memory")");
    EXPECT_EQ(state.Show(R"(cjson.encode({cjson.decode("[1, \"x\\n\"]")}))"), R"("[[1,"x\n"]]")");
  }
  EXPECT_EQ(memory.UsedBytes(), 0u);
}

}  // namespace
}  // namespace respite
