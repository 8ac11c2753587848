#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>

#include "persistence/rdb_input.h"
#include "persistence/rdb_output.h"

namespace respite {
namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;

std::string Written(auto&& write, RdbCompression compression = RdbCompression::kOn) {
  RdbOutput out(compression);
  write(out);
  return out.TakeBuffer();
}
std::string LengthBytes(uint64_t length) {
  return Written([&](RdbOutput& out) { out.Length(length); });
}
std::string TextBytes(Bytes text, RdbCompression compression = RdbCompression::kOn) {
  return Written([&](RdbOutput& out) { out.Text(text); }, compression);
}

TEST(RdbOutput, TakesTheShortestFormOfALength) {
  EXPECT_EQ(LengthBytes(0), "\0"s);
  EXPECT_EQ(LengthBytes(63), "\x3f"s);
  EXPECT_EQ(LengthBytes(64), "\x40\x40"s);
  EXPECT_EQ(LengthBytes(16383), "\x7f\xff"s);
  EXPECT_EQ(LengthBytes(16384), "\x80\0\0\x40\0"s);
  EXPECT_EQ(LengthBytes(0xffffffff), "\x80\xff\xff\xff\xff"s);
  EXPECT_EQ(LengthBytes(0x100000000), "\x81\0\0\0\x01\0\0\0\0"s);
}

TEST(RdbOutput, WritesTextsThatAreIntegersAsIntegers) {
  EXPECT_EQ(TextBytes("0"), "\xc0\0"s);
  EXPECT_EQ(TextBytes("-128"), "\xc0\x80"s);
  EXPECT_EQ(TextBytes("128"), "\xc1\x80\0"s);
  EXPECT_EQ(TextBytes("-32769"), "\xc2\xff\x7f\xff\xff"s);
  EXPECT_EQ(TextBytes("2147483648"),
            "\x0a"
            "2147483648"s);
  EXPECT_EQ(TextBytes("007"),
            "\x03"
            "007"s);
  EXPECT_EQ(Written([](RdbOutput& out) { out.Integer(9'000'000'000); }),
            "\x0a"
            "9000000000"s);
  EXPECT_EQ(Written([](RdbOutput& out) { out.Integer(-2); }), "\xc0\xfe"s);
}

TEST(RdbOutput, CompressesLongTextsIfItMay) {
  const std::string text(100, 'a');
  EXPECT_EQ(TextBytes(text, RdbCompression::kOff), "\x40\x64" + text);
  const std::string packed = TextBytes(text);
  EXPECT_LT(packed.size(), 20u);
  EXPECT_EQ(packed[0], '\xc3');
  EXPECT_EQ(TextBytes(std::string(20, 'a')), "\x14" + std::string(20, 'a'));
}

class StringDrain final : public RdbDrain {
 public:
  void Drain(Bytes bytes) override { all += bytes; }
  std::string all;
};

TEST(RdbOutput, DrainsTheSameBytes) {
  const std::string texts[] = {
      "", "12", std::string(30, 'a'), std::string(500, 'b'), "text", std::string(100'000, 'c')};
  for (RdbCompression compression : {RdbCompression::kOff, RdbCompression::kOn}) {
    const auto write = [&](RdbOutput& out) {
      for (const std::string& text : texts) {
        out.Text(text);
        out.Length(text.size() * 1000);
        out.Millis(-1);
        out.RawBytes(text);
      }
    };
    StringDrain drain;
    RdbOutput out(compression, drain, 64);
    write(out);
    out.Flush();
    EXPECT_EQ(drain.all, Written(write, compression));
  }
}

TEST(RdbInput, ReadsWhatWasWritten) {
  const uint64_t lengths[] = {0, 63, 64, 16383, 16384, 0xffffffff, 0x100000000, ~uint64_t{0}};
  const std::string texts[] = {"", "a", "-1", "1000", "123456", "12345678901", std::string(3000, 'z'), "\0\xff"s};
  const std::string bytes = Written([&](RdbOutput& out) {
    for (uint64_t length : lengths) out.Length(length);
    for (const std::string& text : texts) out.Text(text);
    out.Double(-0.1);
    out.Millis(-5);
    out.Little16(0x1234);
  });
  RdbInput in(bytes);
  for (uint64_t length : lengths) EXPECT_EQ(in.Length(), length);
  for (const std::string& text : texts) EXPECT_EQ(in.Text().View(), text);
  EXPECT_EQ(in.Double(), -0.1);
  EXPECT_EQ(in.Millis(), -5);
  EXPECT_EQ(in.Little16(), 0x1234);
  EXPECT_FALSE(in.Failed());
  EXPECT_EQ(in.Left(), 0u);
  EXPECT_EQ(in.Offset(), bytes.size());
}

TEST(RdbInput, FailsAtTheEndForGood) {
  const std::string bytes = Written([](RdbOutput& out) { out.Text(std::string(200, 'q') + "r"); });
  for (size_t cut = 0; cut < bytes.size(); ++cut) {
    RdbInput in(Bytes(bytes).substr(0, cut));
    in.Text();
    EXPECT_TRUE(in.Failed()) << cut;
    EXPECT_EQ(in.Byte(), 0);
    EXPECT_EQ(in.Length(), 0u);
    EXPECT_EQ(in.Text().View(), "");
  }
}

TEST(RdbInput, LimitsNumbers) {
  RdbInput text("\x81\x10\0\0\0\0\0\0\0abc"sv);
  EXPECT_EQ(text.Text().View(), "");
  EXPECT_TRUE(text.Failed());
  const std::string compressed = "\xc3\x03\x81\x10\0\0\0\0\0\0\0abc"s;
  RdbInput packed(compressed);
  packed.Text();
  EXPECT_TRUE(packed.Failed());
  const std::string many = "\x81\x10\0\0\0\0\0\0\0abc"s;
  RdbInput count(many);
  EXPECT_EQ(count.Count(1), 0u);
  EXPECT_TRUE(count.Failed());
  RdbInput just_enough(
      "\x03"
      "abc");
  EXPECT_EQ(just_enough.Count(1), 3u);
  RdbInput too_many(
      "\x02"
      "abc");
  too_many.Count(2);
  EXPECT_TRUE(too_many.Failed());
}

// Supplies as few bytes as allowed, and records which could have been freed.
class StingySupply final : public RdbSupply {
 public:
  explicit StingySupply(Bytes bytes) : bytes_(bytes) {}
  uint64_t Left() const override { return bytes_.size() - next_; }
  Bytes Next(Bytes rest, uint64_t wanted) override {
    const size_t more = wanted - rest.size();
    pieces.push_back(std::make_unique<std::string>(std::string(rest) + std::string(bytes_.substr(next_, more))));
    next_ += more;
    return *pieces.back();
  }
  void FreeOldPieces() override { pieces.erase(pieces.begin(), pieces.end() - 1); }

  std::vector<std::unique_ptr<std::string>> pieces;

 private:
  Bytes bytes_;
  size_t next_ = 0;
};

TEST(RdbInput, ReadsFromASupply) {
  const std::string texts[] = {"short", std::string(300, 'x'), "-70000", std::string(20, 'y')};
  const std::string bytes = Written([&](RdbOutput& out) {
    for (const std::string& text : texts) out.Text(text);
    out.Length(70'000);
    out.Double(0.25);
  });
  StingySupply supply(bytes);
  RdbInput in(supply);
  EXPECT_EQ(in.Left(), bytes.size());
  std::vector<RdbText> read;
  for (size_t i = 0; i < std::size(texts); ++i) read.push_back(in.Text());
  for (size_t i = 0; i < std::size(texts); ++i) EXPECT_EQ(read[i].View(), texts[i]);
  EXPECT_GT(supply.pieces.size(), 3u);
  in.FreeTexts();
  EXPECT_EQ(supply.pieces.size(), 1u);
  EXPECT_EQ(in.Length(), 70'000u);
  EXPECT_EQ(in.Double(), 0.25);
  EXPECT_FALSE(in.Failed());
  EXPECT_EQ(in.Offset(), bytes.size());
  EXPECT_EQ(in.Byte(), 0);
  EXPECT_TRUE(in.RanOut());
  EXPECT_EQ(in.Offset(), bytes.size());
}

TEST(RdbInput, KnowsWhetherItRanOut) {
  RdbInput wrong("\xc4");
  wrong.Text();
  EXPECT_TRUE(wrong.Failed());
  EXPECT_FALSE(wrong.RanOut());
  wrong.Byte();
  EXPECT_FALSE(wrong.RanOut());
  RdbInput cut(
      "\x05"
      "abc");
  cut.Text();
  EXPECT_TRUE(cut.RanOut());
  RdbInput too_many(
      "\x05"
      "abc");
  too_many.Count(1);
  EXPECT_TRUE(too_many.RanOut());
}

TEST(RdbInput, RefusesLengthsThatAreNone) {
  for (int head : {0x82, 0xbf, 0xc0, 0xc4, 0xff}) {
    const std::string bytes(12, static_cast<char>(head));
    RdbInput in(bytes);
    in.Length();
    EXPECT_TRUE(in.Failed()) << head;
  }
  const std::string text(12, '\xc4');
  RdbInput in(text);
  in.Text();
  EXPECT_TRUE(in.Failed());
}

TEST(RdbInput, ReadsScoresAsText) {
  RdbInput in(
      "\x03"
      "1.5"
      "\xfe\xff\x04"
      "-3e2"sv);
  EXPECT_EQ(in.ScoreText(), 1.5);
  EXPECT_EQ(in.ScoreText(), std::numeric_limits<double>::infinity());
  EXPECT_EQ(in.ScoreText(), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(in.ScoreText(), -300);
  EXPECT_FALSE(in.Failed());
  for (const std::string& bad : {"\xfd"s,
                                 "\x03"
                                 "nan"s,
                                 "\x02"
                                 "1x"s,
                                 "\0"s,
                                 "\x05"
                                 "1"s}) {
    RdbInput input(bad);
    input.ScoreText();
    EXPECT_TRUE(input.Failed());
  }
}

}  // namespace
}  // namespace respite
