// The results of struct. The examples are from Redis 7.2.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/scripting/library_fixture.h"

namespace respite {
namespace {

// clang-format off
constexpr LibraryCase kStructTables[] = {
    {R"(struct)", R"({"pack"=function "size"=function "unpack"=function})"},
};

constexpr LibraryCase kStructPacked[] = {
    {R"(struct.pack(""))", R"("")"},
    {R"(struct.pack("b", -1), struct.pack("B", 255), struct.pack("B", 256), struct.pack("B", -1))",
     R"(xff, xff, x00, xff)"},
    {R"(struct.pack("h", -2), struct.pack("H", 65535), struct.pack("i", -3), struct.pack("I", 2^32 - 1))",
     R"(xfeff, xffff, xfdffffff, xffffffff)"},
    {R"(struct.pack("l", -4), struct.pack("L", 2^53), struct.pack("T", 7))",
     R"(xfcffffffffffffff, x0000000000002000, x0700000000000000)"},
    {R"(struct.pack(">h", 258), struct.pack("<h", 258), struct.pack(">i", 1), struct.pack(">L", 1), struct.pack(">h<h", 1, 1))",
     R"(x0102, x0201, x00000001, x0000000000000001, x00010100)"},
    {R"(struct.pack("i1i2i3i4i5", 1, 2, 3, 4, 5), struct.pack(">I3", 65793), struct.pack("i16", -1), struct.pack(">i16", 5))",
     R"(x010200030000040000000500000000, x010101, xffffffffffffffff0000000000000000, x00000000000000000000000000000005)"},
    {R"(struct.pack("i0"), struct.pack("i0", 5), struct.pack("i32", 1))",
     R"(error: user_script:1: bad argument #2 to 'pack' (number expected, got nil))"},
    {R"(struct.pack("L", 2^63), struct.pack("L", 2^64), struct.pack("L", -2^63), struct.pack("l", -1e30), struct.pack("l", 1e30))",
     R"(x0000000000000080, x0000000000000000, x0000000000000080, x0000000000000080, x0000000000000000)"},
    {R"(struct.pack("L", 1/0), struct.pack("L", -1/0), struct.pack("b", 3.9), struct.pack("b", -3.9), struct.pack("b", "12"))",
     R"(x0000000000000000, x0000000000000080, x03, xfd, x0c)"},
    {R"(struct.pack("f", 0.5), struct.pack(">f", 0.1), struct.pack("d", 0.1), struct.pack(">d", -1/0), struct.pack("f", 1e300))",
     R"(x0000003f, x3dcccccd, x9a9999999999b93f, xfff0000000000000, x0000807f)"},
    {R"(struct.pack("s", "abc"), struct.pack("s", ""), struct.pack("c", "abc"), struct.pack("c2", "abc"), struct.pack("c0", "abc"))",
     R"(x61626300, x00, "a", "ab", "abc")"},
    {R"(struct.pack("s", 15), struct.pack("c0", 1.5))", R"(x313500, "1.5")"},
    {R"(struct.pack("x"), struct.pack("bxb", 1, 2), struct.pack(" b b ", 1, 2))", R"(x00, x010002, x0102)"},
    {R"(struct.pack("!bi", 1, 2), struct.pack("!2bi", 1, 2), struct.pack("!bd", 1, 0), struct.pack("bi", 1, 2), struct.pack("!4bc0i", 1, "ab", 2))",
     R"(x0100000002000000, x010002000000, x01000000000000000000000000000000, x0102000000, x0161620002000000)"},
    {R"(struct.pack("!bi3b", 1, 2, 3), struct.pack("!16bi16", 1, 2))",
     R"(x01000002000003, x0100000000000000000000000000000002000000000000000000000000000000)"},
    {R"(struct.pack("Bc0Lc0", 1, "a", 2, "bc"), struct.pack("Lc0Lc0", 0, "", 2, "bc"), struct.pack("dLc0", 1.5, 3, "abc"))",
     R"(x016102000000000000006263, x000000000000000002000000000000006263, x000000000000f83f0300000000000000616263)"},
    {R"(struct.pack("z", 1))", R"(error: user_script:1: bad argument #1 to 'pack' (invalid format option 'z'))"},
    {R"(struct.pack("b@", 1))", R"(error: user_script:1: bad argument #1 to 'pack' (invalid format option '@'))"},
    {R"(struct.pack("!3b", 1))", R"(error: user_script:1: alignment 3 is not a power of 2)"},
    {R"(struct.pack("!0b", 1))", R"(error: user_script:1: alignment 0 is not a power of 2)"},
    {R"(struct.pack("i33", 1))", R"(error: user_script:1: integral size 33 is larger than limit of 32)"},
    {R"(struct.pack("i2147483648", 1))", R"(error: user_script:1: integral size overflow)"},
    {R"(struct.pack("c99999999999", "a"))", R"(error: user_script:1: integral size overflow)"},
    {R"(struct.pack("c5", "abc"))", R"(error: user_script:1: bad argument #3 to 'pack' (string too short))"},
    {R"(struct.pack("b"))", R"(error: user_script:1: bad argument #2 to 'pack' (number expected, got nil))"},
    {R"(struct.pack("bb", 1))", R"(error: user_script:1: bad argument #3 to 'pack' (number expected, got nil))"},
    {R"(struct.pack("s"))", R"(error: user_script:1: bad argument #2 to 'pack' (string expected, got nil))"},
    {R"(struct.pack("b", "x"))", R"(error: user_script:1: bad argument #2 to 'pack' (number expected, got string))"},
    {R"(struct.pack("b", {}))", R"(error: user_script:1: bad argument #2 to 'pack' (number expected, got table))"},
    {R"(struct.pack("s", {}))", R"(error: user_script:1: bad argument #2 to 'pack' (string expected, got table))"},
    {R"(struct.pack())", R"(error: user_script:1: bad argument #1 to 'pack' (string expected, got no value))"},
    {R"(struct.pack({}))", R"(error: user_script:1: bad argument #1 to 'pack' (string expected, got table))"},
};

constexpr LibraryCase kStructUnpacked[] = {
    {R"(struct.unpack("", ""))", R"(1)"},
    {R"(struct.unpack("b", "\255"), struct.unpack("B", "\255"))", R"(-1, 255, 2)"},
    {R"(struct.unpack("h", "\1\128"), struct.unpack("H", "\1\128"), struct.unpack(">h", "\128\1"), struct.unpack("i", "\255\255\255\255"), struct.unpack("I", "\255\255\255\255"))",
     R"(-32767, 32769, -32767, -1, 4294967295, 5)"},
    {R"(struct.unpack("l", string.rep("\255", 8)), struct.unpack("L", string.rep("\255", 8)), struct.unpack("T", "\1\0\0\0\0\0\0\0"))",
     R"(-1, 1.8446744073709552e+19, 1, 9)"},
    {R"(struct.unpack("i3", "\255\255\255"), struct.unpack("I3", "\255\255\255"), struct.unpack(">i3", "\128\0\0"), struct.unpack("i16", string.rep("\255", 16)))",
     R"(-1, 16777215, -8388608, -1, 17)"},
    {R"(struct.unpack("i9", "\128\0\0\0\0\0\0\0\0"), struct.unpack("i9", "\1\0\0\0\0\0\0\0\0"), struct.unpack("i0", ""))",
     R"(-128, 1, 0, 1)"},
    {R"(struct.unpack("f", "\0\0\0\63"), struct.unpack(">f", "\63\0\0\0"), struct.unpack("d", "\0\0\0\0\0\0\248\63"), struct.unpack(">d", "\63\248\0\0\0\0\0\0"))",
     R"(0.5, 0.5, 1.5, 1.5, 9)"},
    {R"(struct.unpack("s", "abc\0def"), struct.unpack("ss", "abc\0def\0"))", R"("abc", "abc", "def", 9)"},
    {R"(struct.unpack("c", "abc"), struct.unpack("c2", "abc"), struct.unpack("Bc0", "\2abc"), struct.unpack("Bc0", "\0abc"))",
     R"("a", "ab", "ab", "", 2)"},
    {R"(struct.unpack("Bc0Lc0", "\1a\2\0\0\0\0\0\0\0bc"), struct.unpack("dLc0", struct.pack("dLc0", 1.5, 3, "abc")))",
     R"("a", 1.5, "abc", 20)"},
    {R"(struct.unpack("bxb", "\1\0\2"), struct.unpack("!bi", "\1\0\0\0\2\0\0\0"), struct.unpack("bi", "\1\2\0\0\0"))",
     R"(1, 1, 1, 2, 6)"},
    {R"(struct.unpack("b", "\1\2\3", 2), struct.unpack("b", "\1\2\3", 3), struct.unpack("!h", "\1\2\3\4", 2), struct.unpack("", "abc", 4))",
     R"(2, 3, 1027, 4)"},
    {R"(struct.unpack("b", "\1", "1"), struct.unpack("b", "\1\2", 1.9), struct.unpack("b", "\1", nil))",
     R"(1, 1, 1, 2)"},
    {R"(struct.unpack("", "", -5), struct.unpack("", "", 100))", R"(-5, 100)"},
    {R"(struct.unpack("c1c0", "2ab"))", R"("ab", 4)"},
    {R"(struct.unpack("b", ""))", R"(error: user_script:1: bad argument #2 to 'unpack' (data string too short))"},
    {R"(struct.unpack("i", "abc"))", R"(error: user_script:1: bad argument #2 to 'unpack' (data string too short))"},
    {R"(struct.unpack("b", "\1", 2))",
     R"(error: user_script:1: bad argument #2 to 'unpack' (data string too short))"},
    {R"(struct.unpack("b", "\1", 0))",
     R"(error: user_script:1: bad argument #3 to 'unpack' (offset must be 1 or greater))"},
    {R"(struct.unpack("b", "\1", -1))",
     R"(error: user_script:1: bad argument #2 to 'unpack' (data string too short))"},
    {R"(struct.unpack(" ", "\1", 3))",
     R"(error: user_script:1: bad argument #2 to 'unpack' (data string too short))"},
    {R"(struct.unpack("c5", "abc"))", R"(error: user_script:1: bad argument #2 to 'unpack' (data string too short))"},
    {R"(struct.unpack("Bc0", "\5abc"))",
     R"(error: user_script:1: bad argument #2 to 'unpack' (data string too short))"},
    {R"(struct.unpack("bc0", "\255abc"))",
     R"(error: user_script:1: bad argument #2 to 'unpack' (data string too short))"},
    {R"(struct.unpack("fc0", "\0\0\192\127abc"))",
     R"(error: user_script:1: bad argument #2 to 'unpack' (data string too short))"},
    {R"(struct.unpack("c0", "abc"))", R"(error: user_script:1: format 'c0' needs a previous size)"},
    {R"(struct.unpack("c1c0", "xyz"))", R"(error: user_script:1: format 'c0' needs a previous size)"},
    {R"(struct.unpack("s", "abc"))", R"(error: user_script:1: unfinished string in data)"},
    {R"(struct.unpack("c2147483647", "abc"))",
     R"(error: user_script:1: bad argument #2 to 'unpack' (data string too short))"},
    {R"(struct.unpack("c2147483648", "abc"))", R"(error: user_script:1: integral size overflow)"},
    {R"(struct.unpack("i33", "abc"))", R"(error: user_script:1: integral size 33 is larger than limit of 32)"},
    {R"(struct.unpack("!5b", "abc"))", R"(error: user_script:1: alignment 5 is not a power of 2)"},
    {R"(struct.unpack("q", "abc"))",
     R"(error: user_script:1: bad argument #1 to 'unpack' (invalid format option 'q'))"},
    {R"(struct.unpack("b", {}))",
     R"(error: user_script:1: bad argument #2 to 'unpack' (string expected, got table))"},
    {R"(struct.unpack("b"))", R"(error: user_script:1: bad argument #2 to 'unpack' (string expected, got no value))"},
    {R"(struct.unpack())", R"(error: user_script:1: bad argument #1 to 'unpack' (string expected, got no value))"},
    {R"(select("#", struct.unpack(string.rep("b", 7990), string.rep("\1", 7990))))", R"(7991)"},
    {R"(struct.unpack(string.rep("b", 8000), string.rep("\1", 8000)))",
     R"(error: user_script:1: stack overflow (too many results))"},
};

constexpr LibraryCase kSizes[] = {
    {R"(struct.size(""), struct.size("b"), struct.size("bhilLTfd"), struct.size("c10"), struct.size("x"), struct.size("i16"), struct.size("c"))",
     R"(0, 1, 43, 10, 1, 16, 1)"},
    {R"(struct.size("!bi"), struct.size("!8bd"), struct.size("bd"), struct.size("! bhi"), struct.size("!2bd"))",
     R"(8, 16, 9, 8, 10)"},
    {R"(struct.size("z"), struct.size("5"))", R"(0, 0)"},
    {R"(struct.size("c2147483647c2147483647c2147483647"))", R"(6442450941)"},
    {R"(struct.size("s"))", R"(error: user_script:1: bad argument #1 to 'size' (option 's' has no fixed size))"},
    {R"(struct.size("c0"))", R"(error: user_script:1: bad argument #1 to 'size' (option 'c0' has no fixed size))"},
    {R"(struct.size("@"))", R"(error: user_script:1: bad argument #1 to 'size' (invalid format option '@'))"},
    {R"(struct.size("!3"))", R"(error: user_script:1: alignment 3 is not a power of 2)"},
    {R"(struct.size("i40"))", R"(error: user_script:1: integral size 40 is larger than limit of 32)"},
    {R"(struct.size("c2147483648"))", R"(error: user_script:1: integral size overflow)"},
    {R"(struct.size())", R"(error: user_script:1: bad argument #1 to 'size' (string expected, got no value))"},
    {R"(struct.size({}))", R"(error: user_script:1: bad argument #1 to 'size' (string expected, got table))"},
};

// clang-format on

TEST(Struct, HasWhatRedisHas) {
  LibraryState state;
  for (const LibraryCase& example : kStructTables)
    EXPECT_EQ(state.Show(example.expression), example.shown) << example.expression;
}

TEST(Struct, PacksAsRedis) {
  LibraryState state;
  for (const LibraryCase& example : kStructPacked)
    EXPECT_EQ(state.Show(example.expression), example.shown) << example.expression;
}

TEST(Struct, UnpacksAsRedis) {
  LibraryState state;
  for (const LibraryCase& example : kStructUnpacked)
    EXPECT_EQ(state.Show(example.expression), example.shown) << example.expression;
}

TEST(Struct, MeasuresAsRedis) {
  LibraryState state;
  for (const LibraryCase& example : kSizes)
    EXPECT_EQ(state.Show(example.expression), example.shown) << example.expression;
}

}  // namespace
}  // namespace respite
