// Damaged or truncated RDB files, and disks that fail during a write or read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "base/random.h"
#include "tests/persistence/rdb_file_support.h"

namespace respite {
namespace {

using Kind = RdbFailure::Kind;
using Operation = FaultyFiles::Operation;

Keyspace SmallKeyspace() {
  Keyspace keyspace = EmptyKeyspace();
  AddSmallValues(keyspace[0]);
  AddHash(keyspace[2], "timed", 3, Deadlines::kSome);
  return keyspace;
}

// Checks that the content of a keyspace can be written and read back unchanged.
void ExpectSound(const Keyspace& keyspace) {
  KeyspaceSink again;
  ASSERT_EQ(Outcome(ReadRdb(WrittenRdb(keyspace), again)), "good");
  EXPECT_EQ(DigestText(again.keyspace), DigestText(keyspace));
}

TEST(RdbFileDamage, IsNoticedWhereverTheFileIsCutOff) {
  const std::string content = WrittenRdb(SmallKeyspace());
  for (size_t size = 0; size < content.size(); ++size) {
    for (auto checksum : {RdbReadOptions::Checksum::kVerify, RdbReadOptions::Checksum::kIgnore}) {
      KeyspaceSink sink;
      const auto end = ReadRdb(Bytes(content).substr(0, size), sink, 0, checksum);
      ASSERT_FALSE(end.ok()) << size;
      ASSERT_EQ(end.error().kind, Kind::kTruncated) << size << ": " << end.error().text;
      ASSERT_LE(end.error().offset, size);
    }
  }
}

TEST(RdbFileDamage, OfAnyBitIsNoticed) {
  const Keyspace keyspace = SmallKeyspace();
  const std::string content = WrittenRdb(keyspace);
  constexpr size_t kVersionTens = 7;  // files of versions 1 to 4 have no checksum
  for (size_t bit = 0; bit < content.size() * 8; ++bit) {
    std::string bad = content;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ 1 << bit % 8);
    KeyspaceSink sink;
    const auto end = ReadRdb(bad, sink);
    if (end.ok()) {
      ASSERT_EQ(bit / 8, kVersionTens);
      ASSERT_EQ(DigestText(sink.keyspace), DigestText(keyspace));
    }
  }
}

TEST(RdbFileDamage, KeepsSoundKeysWithoutChecks) {
  const std::string content = WrittenRdb(SmallKeyspace());
  size_t read = 0;
  for (size_t bit = 0; bit < content.size() * 8; ++bit) {
    std::string bad = content;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ 1 << bit % 8);
    KeyspaceSink sink;
    if (ReadRdb(bad, sink, 0, RdbReadOptions::Checksum::kIgnore).ok()) ++read;
    ExpectSound(sink.keyspace);
    ASSERT_FALSE(HasFailure()) << bit;
  }
  EXPECT_GT(read, 0u);
}

// ---------------------------------------------------------------------------------------------------------------------
// Disks

// Fills about eight buffers.
Keyspace NoisyKeyspace() {
  Random random(4);
  Keyspace keyspace = EmptyKeyspace();
  for (int i = 0; i < 2000; ++i) {
    std::string noise(1000, '\0');
    for (char& c : noise) c = static_cast<char>(random.Next() >> 11);
    AddString(keyspace[0], std::to_string(i), StringContent::Text(noise));
  }
  return keyspace;
}

class RdbDisk : public testing::Test {
 protected:
  Result<RdbSaveResult, IoError> Save(const RdbSaveOptions& options = {}) {
    auto file = files_.Open("dump.rdb", FileSystem::Mode::kCreate);
    return WriteRdb(*file.value(), RdbContentOf(keyspace_), options, nullptr);
  }

  const Keyspace keyspace_ = NoisyKeyspace();
  FaultyFiles files_;
};

TEST_F(RdbDisk, ThatFailsAtAnyWriteIsReported) {
  ASSERT_TRUE(Save().ok());
  const uint64_t writes = files_.Count(Operation::kWrite);
  ASSERT_GT(writes, 5u);
  const std::string whole = files_.Content("dump.rdb");
  for (uint64_t n = 1; n <= writes; ++n) {
    files_.FailAt(Operation::kWrite, n, EIO);
    const auto failed = Save();
    ASSERT_FALSE(failed.ok()) << n;
    EXPECT_EQ(failed.error(), EIO);
    files_.WriteShortAt(n, 5, ENOSPC);
    EXPECT_EQ(Save().error(), ENOSPC);
    // Nothing is written after the gap.
    EXPECT_TRUE(Bytes(whole).starts_with(files_.Content("dump.rdb"))) << n;
    KeyspaceSink sink;
    EXPECT_FALSE(ReadRdb(files_.Content("dump.rdb"), sink).ok());
  }
  files_.Recover();
  EXPECT_TRUE(Save().ok());
}

TEST_F(RdbDisk, ThatIsFullIsReported) {
  ASSERT_TRUE(Save().ok());
  const uint64_t size = files_.Content("dump.rdb").size();
  for (uint64_t room : {uint64_t{0}, uint64_t{1}, size / 2, size - 1}) {
    files_.SetFreeBytes(room);
    EXPECT_EQ(Save().error(), ENOSPC) << room;
  }
  files_.SetFreeBytes(size);
  EXPECT_TRUE(Save().ok());
}

TEST_F(RdbDisk, IsSyncedWhileWritten) {
  Keyspace keyspace = EmptyKeyspace();
  for (int i = 0; i < 70; ++i)
    AddString(keyspace[0], std::to_string(i), StringContent::Text(std::string(1 << 20, 'x')));
  auto file = files_.Open("dump.rdb", FileSystem::Mode::kCreate);
  ASSERT_TRUE(WriteRdb(*file.value(), RdbContentOf(keyspace), {.compression = RdbCompression::kOff}, nullptr).ok());
  EXPECT_EQ(files_.Count(Operation::kSync), 2u);
  files_.FailAt(Operation::kSync, 2, EIO);
  const auto failed = WriteRdb(*file.value(), RdbContentOf(keyspace), {.compression = RdbCompression::kOff}, nullptr);
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error(), EIO);
  ASSERT_TRUE(WriteRdb(*file.value(), RdbContentOf(keyspace),
                       {.compression = RdbCompression::kOff, .sync = RdbSaveOptions::Sync::kAtEnd}, nullptr)
                  .ok());
  EXPECT_EQ(files_.Count(Operation::kSync), 4u);
}

TEST_F(RdbDisk, ThatFailsAtAnyReadIsReported) {
  ASSERT_TRUE(Save().ok());
  const EncodingLimits limits;
  auto file = files_.Open("dump.rdb", FileSystem::Mode::kRead);
  KeyspaceSink good;
  ASSERT_TRUE(ReadRdb(*file.value(), 0, {.limits = limits}, good).ok());
  const uint64_t reads = files_.Count(Operation::kRead);
  ASSERT_GT(reads, 5u);
  for (uint64_t n = 1; n <= reads; ++n) {
    files_.FailAt(Operation::kRead, n, EIO);
    KeyspaceSink sink;
    const auto failed = ReadRdb(*file.value(), 0, {.limits = limits}, sink);
    ASSERT_FALSE(failed.ok()) << n;
    EXPECT_EQ(failed.error().kind, Kind::kIo);
    EXPECT_EQ(failed.error().text, "Input/output error");
  }
  files_.FailAt(Operation::kSize, 1, EIO);
  KeyspaceSink sink;
  EXPECT_EQ(ReadRdb(*file.value(), 0, {.limits = limits}, sink).error().kind, Kind::kIo);
}

}  // namespace
}  // namespace respite
