// An RDB that arrives in pieces gives the same result as an RDB in a file.
#include "persistence/rdb_receiver.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "base/str_cat.h"
#include "tests/persistence/rdb_file_support.h"

namespace respite {
namespace {

using ReceiverStatus = RdbReceiver::Status;

const EncodingLimits kLimits;

RdbReadOptions Options(RdbReadOptions::Checksum checksum = RdbReadOptions::Checksum::kVerify) {
  return {.limits = kLimits, .hash_key = kTestHashKey, .databases = kTestDatabases, .checksum = checksum};
}

Keyspace AllTypes() {
  Keyspace keyspace = EmptyKeyspace();
  AddSmallValues(keyspace[0]);
  AddLargeValues(keyspace[1]);
  AddHash(keyspace[2], "timed", 3, Deadlines::kSome);
  AddHash(keyspace[2], "table with deadlines", 900, Deadlines::kSome);
  return keyspace;
}

// Describes the result for the content, sent in pieces whose sizes `next_size` returns.
template <class NextSize>
std::string Receive(Bytes content, KeyspaceSink& sink, NextSize next_size,
                    RdbReadOptions::Checksum checksum = RdbReadOptions::Checksum::kVerify) {
  RdbReceiver receiver(Options(checksum), sink, std::nullopt);
  ReceiverStatus status = ReceiverStatus::kMore;
  while (!content.empty() && status == ReceiverStatus::kMore) {
    // A separate allocation, so that a sanitizer detects later reads.
    const std::string piece(content.substr(0, next_size()));
    content.remove_prefix(piece.size());
    status = receiver.Take(piece);
  }
  if (status == ReceiverStatus::kMore) status = receiver.Finish();
  if (status == ReceiverStatus::kDone) return "good";
  const RdbFailure failure = receiver.TakeFailure();
  return StrCat(failure.text, " at ", failure.offset);
}

TEST(RdbReceiver, ReadsPiecesOfAnySize) {
  const Keyspace keyspace = AllTypes();
  const std::string content = WrittenRdb(keyspace);
  for (size_t size : {1u, 2u, 3u, 7u, 64u, 1000u, 65536u, 1u << 30}) {
    KeyspaceSink sink;
    ASSERT_EQ(Receive(content, sink, [&] { return size; }), "good") << size;
    ASSERT_EQ(DigestText(sink.keyspace), DigestText(keyspace)) << size;
    ASSERT_EQ(sink.libraries.size(), 2u);
    ASSERT_EQ(sink.aux["redis-ver"], "7.2.6");
  }
}

TEST(RdbReceiver, KeepsWhatBelongsToTheNextKeyBetweenPieces) {
  Keyspace keyspace = EmptyKeyspace();
  AddString(keyspace[0], "with a deadline", StringContent::Text(std::string(500, 'v')), 1'900'000'000'000);
  AddString(keyspace[0], "without", StringContent::Text("v"));
  KeyspaceSink sink;
  ASSERT_EQ(Receive(WrittenRdb(keyspace), sink, [] { return 1; }), "good");
  EXPECT_EQ(sink.keyspace[0].Find("with a deadline")->Deadline(), 1'900'000'000'000);
  EXPECT_EQ(sink.keyspace[0].Find("without")->Deadline(), kNoDeadline);
}

TEST(RdbReceiver, PassesOnWhatIsWhole) {
  const std::string content = WrittenRdb(AllTypes());
  KeyspaceSink sink;
  RdbReceiver receiver(Options(), sink, content.size());
  ASSERT_EQ(receiver.Take(Bytes(content).substr(0, content.size() - 1)), ReceiverStatus::kMore);
  EXPECT_EQ(DigestText(sink.keyspace), DigestText(AllTypes()));
  EXPECT_EQ(receiver.Take(Bytes(content).substr(content.size() - 1)), ReceiverStatus::kDone);
  EXPECT_EQ(receiver.Offset(), content.size());
  EXPECT_EQ(receiver.Take("and more"), ReceiverStatus::kDone);
}

TEST(RdbReceiver, NoticesItsEndWhereverItIsCutOff) {
  Keyspace keyspace = EmptyKeyspace();
  AddSmallValues(keyspace[0]);
  const std::string content = WrittenRdb(keyspace);
  for (size_t size = 0; size < content.size(); ++size) {
    const Bytes cut = Bytes(content).substr(0, size);
    KeyspaceSink at_once;
    KeyspaceSink sink;
    ASSERT_EQ(Receive(cut, sink, [] { return 5; }), Outcome(ReadRdb(cut, at_once))) << size;
  }
}

TEST(RdbReceiver, FindsTheDamageThatAFileShows) {
  Keyspace keyspace = EmptyKeyspace();
  AddSmallValues(keyspace[0]);
  const std::string content = WrittenRdb(keyspace);
  const uint64_t seed = 11;
  SCOPED_TRACE(StrCat("seed ", seed));
  Random random(seed);
  for (size_t bit = 0; bit < content.size() * 8; ++bit) {
    std::string bad = content;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ 1 << bit % 8);
    for (auto checksum : {RdbReadOptions::Checksum::kVerify, RdbReadOptions::Checksum::kIgnore}) {
      KeyspaceSink at_once;
      KeyspaceSink sink;
      const std::string expected = Outcome(ReadRdb(bad, at_once, 0, checksum));
      ASSERT_EQ(Receive(
                    bad, sink, [&] { return 1 + random.Below(40); }, checksum),
                expected)
          << bit;
      ASSERT_EQ(DigestText(sink.keyspace), DigestText(at_once.keyspace)) << bit;
    }
  }
}

// Starting a long value again with each piece would take quadratic time: with these sizes, minutes.
TEST(RdbReceiver, ReadsALongValueAFewTimesOnly) {
  Keyspace keyspace = EmptyKeyspace();
  AddHash(keyspace[0], "long", 200'000, Deadlines::kNone);
  KeyspaceSink sink;
  ASSERT_EQ(Receive(WrittenRdb(keyspace), sink, [] { return 100; }), "good");
  EXPECT_EQ(DigestText(sink.keyspace), DigestText(keyspace));
}

TEST(RdbReceiver, DoesNotReserveForKeysThatCannotCome) {
  std::string content = "REDIS0011";
  content += '\xfe';
  content += '\x00';                                          // database 0
  content += "\xfb\x81\x00\x00\x00\xff\xff\xff\xff\xff\x00";  // 2^40 - 1 keys
  KeyspaceSink sink;
  RdbReceiver receiver(Options(), sink, 4096);
  ASSERT_EQ(receiver.Take(content), ReceiverStatus::kMore);
  EXPECT_LE(sink.sizes[0].first, 256u);
}

// Memory for the announced keys is allocated immediately. A false announcement must not make the server allocate more
// than the sender could soon fill.
TEST(RdbReceiver, BelievesNoneWhoAnnouncesMoreThanAnyoneHas) {
  constexpr uint64_t kMax = 16 * 1024 * 1024;
  for (const std::optional<uint64_t> total : {std::optional<uint64_t>(INT64_MAX), std::optional<uint64_t>()}) {
    std::string content = "REDIS0011";
    for (int db = 0; db < kTestDatabases; ++db) {
      content += std::string("\xfe") + static_cast<char>(db);
      content += "\xfb";
      for (int i = 0; i < 2; ++i) content += std::string("\x81\x08") + std::string(7, '\0');  // 2^59
    }
    struct Sink final : RdbSink {
      void OnAux(Bytes, Bytes, uint64_t) override {}
      void OnResizeDatabase(int, uint64_t some_keys, uint64_t some_timed) override {
        keys += some_keys;
        timed += some_timed;
      }
      Result<Done> OnEntries(int, std::span<RdbEntry>) override { return Done{}; }
      Result<Done> OnLibrary(Bytes) override { return Done{}; }
      void OnEmptyCollection(int, Bytes) override {}
      void OnMissingChecksum() override {}
      Result<Done> OnProgress(uint64_t) override { return Done{}; }
      uint64_t keys = 0;
      uint64_t timed = 0;
    } sink;
    RdbReceiver receiver(Options(), sink, total);
    ASSERT_EQ(receiver.Take(content), ReceiverStatus::kMore);
    EXPECT_LE(sink.keys, kMax);
    EXPECT_LE(sink.timed, kMax);
  }
}

TEST(RdbReceiver, EndsWhenTheSinkStops) {
  const std::string content = WrittenRdb(AllTypes());
  KeyspaceSink sink;
  sink.progress_that_fails = 1;
  RdbReadOptions options = Options();
  options.progress_interval_bytes = 100;
  RdbReceiver receiver(options, sink, std::nullopt);
  EXPECT_EQ(receiver.Take(content), ReceiverStatus::kFailed);
  EXPECT_EQ(receiver.TakeFailure().text, "enough");
  EXPECT_EQ(sink.progress.size(), 1u);
}

}  // namespace
}  // namespace respite
