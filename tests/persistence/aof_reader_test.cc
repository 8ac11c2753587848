// Records of append-only files.
#include "persistence/aof_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "protocol/request_text.h"
#include "tests/persistence/memory_file.h"

namespace respite {
namespace {

using ::testing::ElementsAre;
using Status = AofReader::Status;
using Words = std::vector<std::string>;

struct Reading {
  Status status;
  std::vector<Words> records;
  std::vector<uint64_t> begins;  // where each record began
  uint64_t end;                  // end of the last record
  IoError error;

  bool operator==(const Reading&) const = default;
};

Reading ReadAll(File& file, size_t chunk = AofReader::kChunkBytes, uint64_t offset = 0) {
  AofReader reader(file, offset, chunk);
  RequestBatch batch;
  Reading reading{};
  while ((reading.status = reader.Next(batch)) == Status::kRecords) {
    EXPECT_FALSE(batch.requests.empty());
    EXPECT_LE(batch.requests.size(), AofReader::kMaxRecordsPerCall);
    for (const RequestBatch::Request& request : batch.requests) {
      const auto words = batch.Words(request);
      reading.records.emplace_back(words.begin(), words.end());
      reading.begins.push_back(request.offset);
    }
  }
  EXPECT_TRUE(batch.requests.empty());
  reading.end = reader.Offset();
  reading.error = reader.Error();
  return reading;
}

Reading ReadAll(std::string text, size_t chunk = AofReader::kChunkBytes) {
  MemoryFile file(std::move(text));
  return ReadAll(file, chunk);
}

Status StatusOf(std::string text) { return ReadAll(std::move(text)).status; }

std::string Text(const std::vector<Words>& records) {
  std::string text;
  for (const Words& words : records) AppendRequest(text, words);
  return text;
}

// Returns where each record ends, preceded by 0.
std::vector<uint64_t> Ends(const std::vector<Words>& records) {
  std::vector<uint64_t> ends{0};
  for (const Words& words : records) ends.push_back(ends.back() + Text({words}).size());
  return ends;
}

std::vector<Words> SomeRecords() {
  return {{"SELECT", "0"}, {"SET", "key", std::string("\r\n\0#*$", 6)}, {"DEL", ""}, {"RPUSH", "l", "1", "22", "333"}};
}

TEST(AofReader, GivesRecordsAndWhereTheyAre) {
  const std::vector<Words> records = SomeRecords();
  const Reading reading = ReadAll(Text(records));
  EXPECT_EQ(reading.status, Status::kEnd);
  EXPECT_EQ(reading.records, records);
  std::vector<uint64_t> begins = Ends(records);
  EXPECT_EQ(reading.end, begins.back());
  begins.pop_back();
  EXPECT_EQ(reading.begins, begins);
}

TEST(AofReader, AnEmptyFileHasNoRecords) { EXPECT_EQ(ReadAll(""), (Reading{Status::kEnd, {}, {}, 0, kNoError})); }

TEST(AofReader, BeginsAtTheGivenOffset) {
  const std::vector<Words> records = SomeRecords();
  MemoryFile file("REDIS preamble" + Text(records));
  const Reading reading = ReadAll(file, 16, 14);
  EXPECT_EQ(reading.records, records);
  EXPECT_EQ(reading.begins.front(), 14u);
  EXPECT_EQ(reading.end, file.content.size());
}

TEST(AofReader, ChunksMayEndAnywhere) {
  std::vector<Words> records = SomeRecords();
  records.push_back({"SET", "long", std::string(300, 'x')});
  for (int i = 0; i < 40; ++i) records.push_back({"INCR", std::to_string(i)});
  const std::string text = "#TS:12\r\n" + Text(records) + "#TS:13\r\n#\n";
  const Reading whole = ReadAll(text);
  EXPECT_EQ(whole.records, records);
  for (size_t chunk = 1; chunk < 700; ++chunk) ASSERT_EQ(ReadAll(text, chunk), whole) << chunk;
}

TEST(AofReader, EveryTruncationIsOne) {
  const std::vector<Words> records = SomeRecords();
  const std::string text = Text(records);
  const std::vector<uint64_t> ends = Ends(records);
  for (size_t size = 0; size <= text.size(); ++size) {
    for (size_t chunk : {size_t{7}, AofReader::kChunkBytes}) {
      const Reading reading = ReadAll(text.substr(0, size), chunk);
      const size_t whole = static_cast<size_t>(std::upper_bound(ends.begin(), ends.end(), size) - ends.begin()) - 1;
      ASSERT_EQ(reading.status, ends[whole] == size ? Status::kEnd : Status::kTruncated) << size;
      ASSERT_EQ(reading.records.size(), whole) << size;
      ASSERT_EQ(reading.end, ends[whole]) << size;
    }
  }
}

TEST(AofReader, SkipsAnnotationsWhichBelongToWhatFollows) {
  const std::string first = Text({{"PING"}});
  const Reading reading = ReadAll("#TS:1\r\n" + first + "#TS:2\r\n# 3\n" + first + "#TS:4\r\n");
  EXPECT_EQ(reading.status, Status::kEnd);
  EXPECT_THAT(reading.begins, ElementsAre(0, 7 + first.size()));
  EXPECT_EQ(reading.end, 2 * first.size() + 18);
}

TEST(AofReader, HalfAnAnnotationIsATruncatedEnd) {
  const std::string record = Text({{"PING"}});
  EXPECT_EQ(ReadAll(record + "#TS:1"), (Reading{Status::kTruncated, {{"PING"}}, {0}, record.size(), kNoError}));
  EXPECT_EQ(StatusOf("#"), Status::kTruncated);
  EXPECT_EQ(StatusOf("#" + std::string(1022, 'a') + "\n"), Status::kEnd);
  EXPECT_EQ(StatusOf("#" + std::string(1022, 'a')), Status::kTruncated);
  EXPECT_EQ(StatusOf("#" + std::string(1023, 'a') + "\n"), Status::kFormatError);
}

TEST(AofReader, AnInvalidRecordIsAFormatError) {
  for (const char* text : {
           "SET k v\r\n",
           "\r\n",
           "!!!",
           "$3\r\nSET\r\n",  // no count
           "*0",
           "*0\r\n",
           "*-1\r\n",
           "*x\r\n",
           "*\r\n",
           "*1x\r\n",
           "*01\r\n",  // a wrong count
           "*3000000000\r\n",
           "*99999999999999999999\r\n",
           "*1\n$1\r\na\r\n",  //
           "*1\r\n3\r\nSET\r\n",
           "*1\r\n*3\r\nSET\r\n",
           "*1\r\n\r\n",  // no size
           "*1\r\n$-1\r\n",
           "*1\r\n$x\r\n",
           "*1\r\n$\r\n",
           "*1\r\n$4294967296\r\n",  // a wrong size
           "*1\r\n$00\r\n\r\n",
           "*1\r\n$1\n\na\r\n",  //
           "*1\r\n$3\r\nSETTER\r\n",
           "*2\r\n$1\r\na\r\r$1\r\nb\r\n",  // no line end after an argument
       }) {
    EXPECT_EQ(StatusOf(text), Status::kFormatError) << text;
    const std::string record = Text({{"PING"}});
    const Reading reading = ReadAll(record + record + text + record);
    EXPECT_EQ(reading.status, Status::kFormatError) << text;
    EXPECT_EQ(reading.records.size(), 2u);
    EXPECT_EQ(reading.end, 2 * record.size());
  }
}

TEST(AofReader, AFileThatEndsTooEarlyIsTruncated) {
  for (const char* text : {"*", "*1", "*1\r", "*1\r\n", "*1\r\n$", "*1\r\n$0", "*1\r\n$4\r\nPIN", "*1\r\n$1\r\na",
                           "*1\r\n$1\r\na\r", "*1\r\n$4294967295\r\nabc", "*2147483647\r\n"}) {
    EXPECT_EQ(StatusOf(text), Status::kTruncated) << text;
  }
}

// Returns true if both have the same number of arguments, and these the same sizes.
bool HaveTheSameShape(const Words& one, const Words& other) {
  return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                    [](const std::string& a, const std::string& b) { return a.size() == b.size(); });
}

TEST(AofReader, FlippedBitsShow) {
  // Changed arguments are accepted, because nothing in the file contradicts them. A changed size makes a record
  // invalid, or makes it swallow the count of the next record, which is then invalid.
  const std::vector<Words> records = SomeRecords();
  const std::string text = Text(records);
  for (size_t bit = 0; bit < text.size() * 8; ++bit) {
    std::string damaged = text;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    const Reading reading = ReadAll(damaged, 13);
    for (size_t i = 0; i < reading.records.size(); ++i) {
      const bool is_last = i + 1 == reading.records.size() && reading.status != Status::kEnd;
      ASSERT_TRUE(is_last || HaveTheSameShape(reading.records[i], records[i])) << bit;
    }
    if (reading.records.size() < records.size()) {
      ASSERT_THAT(reading.status, ::testing::AnyOf(Status::kFormatError, Status::kTruncated));
    }
  }
}

TEST(AofReader, LargeArgumentsAreReadIntoTheirPlace) {
  constexpr size_t kLarge = RequestParser::kMinBigArgumentBytes;
  const std::string large(3 * AofReader::kChunkBytes, 'L');
  const std::string limit(kLarge, 'l');
  std::vector<Words> records{{"SET", "a", large}, {"MSET", "b", large, "c", "small", "d", limit, "e", large}};
  records.push_back({"PING"});
  records.push_back({large, large});
  MemoryFile file(Text(records));
  const Reading whole = ReadAll(file);
  EXPECT_EQ(whole.status, Status::kEnd);
  EXPECT_EQ(whole.records, records);
  EXPECT_EQ(whole.end, file.content.size());
  for (const size_t chunk : {1u, 50u, 1000u, 100'000u, 10'000'000u}) EXPECT_EQ(ReadAll(file, chunk), whole) << chunk;

  AofReader reader(file, 0, 1000);
  RequestBatch batch;
  ASSERT_EQ(reader.Next(batch), Status::kRecords);
  ASSERT_EQ(batch.blobs.size(), 1u);
  EXPECT_EQ(batch.blobs.front().View().data(), batch.words.back().data());
  EXPECT_EQ(batch.blobs.front().Size(), large.size());
}

TEST(AofReader, LargeArgumentsMayBeTruncatedAnywhere) {
  const std::string large(2 * AofReader::kChunkBytes, 'L');
  const std::string before = Text({{"PING"}});
  const std::string text = before + Text({{"SET", "key", large, "EX", large}});
  for (size_t cut = 0; cut < text.size() - before.size(); cut += cut % 8192 < 40 ? 1 : 97) {
    const size_t size = text.size() - 1 - cut;
    const Reading reading = ReadAll(text.substr(0, size), 4096);
    ASSERT_EQ(reading.status, size == before.size() ? Status::kEnd : Status::kTruncated) << size;
    ASSERT_EQ(reading.end, before.size()) << size;
  }
  std::string damaged = text;
  damaged.back() = 'x';
  EXPECT_EQ(ReadAll(damaged, 4096).status, Status::kFormatError);
}

TEST(AofReader, ReadErrorsAreReported) {
  const std::vector<Words> records{{"PING"}, {"SET", "k", std::string(100'000, 'v')}, {"PING"}};
  const std::vector<uint64_t> ends = Ends(records);
  MemoryFile file(Text(records));
  for (uint64_t at :
       {uint64_t{0}, uint64_t{5}, ends[1] + 5, ends[1] + 50'000, ends[2], file.content.size() - uint64_t{1}}) {
    file.fails_at = at;
    const Reading reading = ReadAll(file, 14);
    EXPECT_EQ(reading.status, Status::kReadError) << at;
    EXPECT_EQ(reading.error, EIO);
    EXPECT_LE(reading.end, at);
  }
}

TEST(AofReader, RandomRecordsInRandomChunks) {
  const auto seed = std::random_device()();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 100; ++round) {
    std::vector<Words> records(1 + random() % 50);
    for (Words& words : records) {
      words.resize(1 + random() % 8);
      for (std::string& word : words)
        word.assign(random() % (random() % 20 == 0 ? 100'000 : 20), static_cast<char>(random()));
    }
    MemoryFile file(Text(records));
    const Reading reading = ReadAll(file, 1 + random() % (random() % 2 == 0 ? 200 : 200'000));
    ASSERT_EQ(reading.status, Status::kEnd);
    ASSERT_EQ(reading.records, records);
    ASSERT_EQ(reading.end, file.content.size());
  }
}

TEST(NumberInAnnotation, NeedsTheMarkAndAWholeNumber) {
  constexpr Bytes kMark = aof_annotation::kTimestamp;
  EXPECT_EQ(NumberInAnnotation("#TS:0\r\n", kMark), 0);
  EXPECT_EQ(NumberInAnnotation("#TS:9223372036854775807\r\n", kMark), INT64_MAX);
  for (const Bytes line : {"#TS:9223372036854775808\r\n", "#TS:\r\n", "#TS:1\n", "#TS:1 \r\n", "#OTHER:1\r\n", "#\n"}) {
    EXPECT_EQ(NumberInAnnotation(line, kMark), std::nullopt) << line;
  }
}

}  // namespace
}  // namespace respite
