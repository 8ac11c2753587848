// Damaged lengths in append-only files: complete records after the damage must never be taken for an incomplete end.
#include "persistence/aof_damage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/str_cat.h"
#include "persistence/aof_reader.h"
#include "protocol/request_text.h"
#include "tests/persistence/memory_file.h"

namespace respite {
namespace {

using ::testing::HasSubstr;
using LaterKind = LaterRecord::Kind;

std::string RecordText(const std::vector<std::string>& words) {
  std::string text;
  AppendRequest(text, words);
  return text;
}

const std::string kShort = RecordText({"SET", "k", "v"});

struct ReadOutcome {
  AofReader::Status status;
  uint64_t end;      // of the last record that was read
  uint64_t records;  // how many were read
};

ReadOutcome ReadToTheEnd(File& file) {
  AofReader reader(file);
  RequestBatch batch;
  ReadOutcome outcome{AofReader::Status::kRecords, 0, 0};
  while ((outcome.status = reader.Next(batch)) == AofReader::Status::kRecords) outcome.records += batch.requests.size();
  outcome.end = reader.Offset();
  return outcome;
}

LaterRecord Search(const std::string& text, uint64_t from = 0) {
  MemoryFile file(text);
  return FindLaterRecord(file, from, text.size());
}

// Counts reads, which are the cost of a search.
class CountingFile final : public File {
 public:
  explicit CountingFile(std::string text) : file_(std::move(text)) {}
  IoProgress Write(Bytes data) override { return file_.Write(data); }
  IoProgress ReadAt(uint64_t offset, std::span<char> into) override {
    ++reads;
    return file_.ReadAt(offset, into);
  }
  IoError Sync() override { return kNoError; }
  void StartWriteback() override {}
  IoError Truncate(uint64_t bytes) override { return file_.Truncate(bytes); }
  Result<uint64_t, IoError> Size() const override { return file_.Size(); }

  uint64_t reads = 0;

 private:
  MemoryFile file_;
};

// Replaces each digit of each length by every other digit. The file must be refused as a whole, or its end must not be
// taken for incomplete while complete records follow.
TEST(AofDamage, NoDamagedDigitHidesTheRecordsAfterIt) {
  const std::vector<std::string> records = {
      RecordText({"SELECT", "0"}),
      RecordText({"SET", "big", std::string(5000, 'v')}),
      RecordText({"MULTI"}),
      RecordText({"RPUSH", "list", "a", "bb", std::string(120, 'c')}),
      RecordText({"EXEC"}),
      RecordText({"HSET", "hash", "field", std::string(17, 'x'), "g", "h", "i", "j", "k", "l", "m", "n"}),
      RecordText({"SET", "k", "12345678901"}),
      RecordText({"DEL", "key"}),
  };
  std::string whole;
  for (const std::string& record : records) whole += record;
  int refused = 0;
  int found = 0;
  uint64_t begin = 0;
  for (size_t i = 0; i < records.size(); begin += records[i++].size()) {
    bool in_length = false;
    for (size_t at = begin; at < begin + records[i].size(); ++at) {
      if (whole[at] == '*' || whole[at] == '$') in_length = true;
      if (whole[at] == '\r') in_length = false;
      if (!in_length || !IsDigit(whole[at])) continue;
      for (char digit = '0'; digit <= '9'; ++digit) {
        if (digit == whole[at]) continue;
        std::string damaged = whole;
        damaged[at] = digit;
        MemoryFile file(damaged);
        const ReadOutcome outcome = ReadToTheEnd(file);
        const std::string where = StrCat("record ", i, ", offset ", at, ": ", digit);
        ASSERT_NE(outcome.status, AofReader::Status::kEnd) << where;
        if (outcome.status == AofReader::Status::kFormatError) {
          ++refused;
          continue;
        }
        const LaterRecord later = FindLaterRecord(file, outcome.end, damaged.size());
        const bool is_last = i + 1 == records.size();
        ASSERT_EQ(later.kind, is_last ? LaterKind::kNone : LaterKind::kFound) << where;
        if (is_last) continue;
        ++found;
        EXPECT_EQ(later.offset, begin + records[i].size()) << where;
      }
    }
  }
  EXPECT_GT(refused, 100);
  EXPECT_GT(found, 20);
}

// The only damage that cannot be detected: the wrong length ends exactly where a later record ends, so a value may
// really contain the text of the records.
TEST(AofDamage, ALengthThatEndsWithALaterRecordCannotBeTold) {
  std::string text = RecordText({"SET", "k", "12345678901"}) + RecordText({"DEL", "k"});
  text[text.find("$11") + 1] = '3';
  MemoryFile file(text);
  const ReadOutcome outcome = ReadToTheEnd(file);
  EXPECT_EQ(outcome.status, AofReader::Status::kEnd);
  EXPECT_EQ(outcome.records, 1u);
}

TEST(AofDamage, AnEndThatIsIncompleteHasNoLaterRecord) {
  const std::string odd =
      "\r\n*\r\n*3\r\n\r\n*2\r\n$3\r\nSET\r\n$9999999\r\n*1\r\n$9\r\nPING\r\n*1\r\n$-1\r\n*1\r\n$1\r\n!\r\n";
  for (const std::string& value : {std::string(300, 'x'), odd, std::string(100, '\0'), odd + odd}) {
    const std::string record = RecordText({"HSET", "k", "f", value});
    for (size_t size = 1; size < record.size(); ++size) {
      ASSERT_EQ(Search(kShort + record.substr(0, size), kShort.size()).kind, LaterKind::kNone) << size;
    }
  }
}

// A value that holds records, and was cut off, cannot be distinguished from a damaged length.
TEST(AofDamage, AValueThatHoldsRecordsIsReported) {
  const std::string record = RecordText({"SET", "backup", "\r\n" + kShort + kShort + std::string(100, 'x')});
  const LaterRecord later = Search(record.substr(0, record.size() - 50));
  EXPECT_EQ(later.kind, LaterKind::kFound);
  EXPECT_EQ(later.command, "SET");
  EXPECT_EQ(later.offset, record.find(kShort));
}

TEST(AofDamage, FindsARecordAcrossTheEndsOfChunks) {
  constexpr size_t kChunkBytes = size_t{64} * 1024;
  for (size_t before = kChunkBytes - 120; before < kChunkBytes + 20; ++before) {
    const LaterRecord later = Search(std::string(before - 1, 'x') + "\n" + kShort + "tail");
    ASSERT_EQ(later.kind, LaterKind::kFound) << before;
    EXPECT_EQ(later.offset, before);
  }
  const std::string large = "x\r\n" + RecordText({"SET", "k", std::string(3 * kChunkBytes, 'y')});
  EXPECT_EQ(Search(large).offset, 3u);
  EXPECT_EQ(Search(large.substr(0, large.size() - 1)).kind, LaterKind::kNone);
}

// Each argument contains the beginning of a further record whose arguments are the same.
TEST(AofDamage, RecordsWithinRecordsCostNoMoreThanTheFile) {
  std::string text = "\r\n";
  for (int i = 0; i < 20000; ++i) text += "*900000\r\n$1\r\na\r\n$0\r\n\r\n";
  CountingFile file(text);
  const LaterRecord later = FindLaterRecord(file, 0, text.size());
  EXPECT_NE(later.kind, LaterKind::kFound);
  EXPECT_LE(file.reads, text.size() / 4);
  std::string nested;
  for (int i = 0; i < 20000; ++i) nested += "$13\r\n\r\n*99999\r\n$1\r\na\r\n";
  const std::string hostile = "\r\n*99999\r\n$1\r\na\r\n" + nested;
  CountingFile second(hostile);
  FindLaterRecord(second, 0, hostile.size());
  EXPECT_LE(second.reads, hostile.size() / 2);
}

TEST(AofDamage, RandomTextsNeitherCrashNorLast) {
  const uint64_t seed = SystemSeed();
  SCOPED_TRACE(StrCat("seed ", seed));
  Random random(seed);
  const std::vector<std::string> pieces = {"\r\n",       "*1\r\n",   "*3\r\n", "$1\r\n", "$3\r\nSET\r\n", "a",
                                           "$0\r\n\r\n", "*999\r\n", "\n*",    "$",      kShort};
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (uint64_t n = random.Below(60); n > 0; --n) text += pieces[random.Below(pieces.size())];
    MemoryFile file(text);
    const LaterRecord later = FindLaterRecord(file, 0, text.size());
    if (later.kind != LaterKind::kFound) continue;
    AofReader reader(file, later.offset);
    RequestBatch batch;
    ASSERT_EQ(reader.Next(batch), AofReader::Status::kRecords) << text;
    EXPECT_EQ(batch.Words(batch.requests[0])[0], later.command);
  }
}

TEST(AofDamage, AFileThatCannotBeReadIsNotJudged) {
  MemoryFile file("x\r\n" + kShort);
  file.fails_at = 10;
  const LaterRecord later = FindLaterRecord(file, 0, file.content.size());
  EXPECT_EQ(later.kind, LaterKind::kReadError);
  EXPECT_EQ(later.error, EIO);
}

TEST(AofDamage, SaysHowToContinue) {
  const std::string text =
      TruncationRefusalText("d/f.aof", 23, {.kind = LaterKind::kFound, .offset = 5041, .command = "SET"});
  EXPECT_THAT(text,
              HasSubstr("damaged or incomplete after offset 23, but a complete record (SET) begins at offset 5041"));
  EXPECT_THAT(text, HasSubstr("truncate -s 23 d/f.aof"));
  EXPECT_THAT(TruncationRefusalText("f", 23, {.kind = LaterKind::kUnclear}),
              HasSubstr("it is not clear whether complete records follow"));
}

}  // namespace
}  // namespace respite
