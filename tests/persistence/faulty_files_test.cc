#include "tests/support/faulty_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <thread>

namespace respite {
namespace {

using Mode = FileSystem::Mode;
using Operation = FaultyFiles::Operation;

std::unique_ptr<File> Opened(FaultyFiles& files, const std::string& path, Mode mode) {
  auto file = files.Open(path, mode);
  EXPECT_TRUE(file.ok());
  return std::move(file.value());
}

TEST(FaultyFilesTest, FilesKeepWhatIsWritten) {
  FaultyFiles files;
  const auto file = Opened(files, "a", Mode::kCreate);
  EXPECT_EQ(file->Write("hello").bytes, 5u);
  EXPECT_EQ(Opened(files, "./a", Mode::kAppend)->Write(" you").error, kNoError);
  EXPECT_EQ(files.Content("a"), "hello you");
  std::string part(20, '\0');
  EXPECT_EQ(file->ReadAt(6, part).bytes, 3u);
  EXPECT_EQ(part.substr(0, 3), "you");
  Opened(files, "a", Mode::kCreate);
  EXPECT_EQ(files.Content("a"), "");
}

TEST(FaultyFilesTest, NamesAreThoseOfDirectories) {
  FaultyFiles files;
  EXPECT_EQ(files.Open("d/a", Mode::kAppend).error(), ENOENT);
  EXPECT_EQ(files.MakeDirectory("d"), kNoError);
  Opened(files, "d/a", Mode::kAppend);
  EXPECT_EQ(files.Rename("d/a", "d/b"), kNoError);
  EXPECT_THAT(files.List("d").value(), testing::ElementsAre("b"));
  EXPECT_THAT(files.List(".").value(), testing::ElementsAre("d"));
  EXPECT_EQ(files.KindOf("d"), FileSystem::Kind::kDirectory);
  EXPECT_EQ(files.KindOf("d/a"), FileSystem::Kind::kAbsent);
  EXPECT_EQ(files.Remove("d/a"), ENOENT);
}

TEST(FaultyFilesTest, TheNthOperationFails) {
  FaultyFiles files;
  const auto file = Opened(files, "a", Mode::kCreate);
  files.FailAt(Operation::kWrite, 2, EIO);
  EXPECT_EQ(file->Write("1").error, kNoError);
  EXPECT_EQ(file->Write("2").error, EIO);
  EXPECT_EQ(file->Write("3").error, kNoError);
  EXPECT_EQ(files.Content("a"), "13");
  files.FailFrom(Operation::kSync, 1, EIO);
  EXPECT_EQ(file->Sync(), EIO);
  EXPECT_EQ(file->Sync(), EIO);
  files.Recover();
  EXPECT_EQ(file->Sync(), kNoError);
  EXPECT_EQ(files.Count(Operation::kSync), 3u);
}

TEST(FaultyFilesTest, AFullDiskStoresAPrefix) {
  FaultyFiles files;
  const auto file = Opened(files, "a", Mode::kCreate);
  files.WriteShortAt(1, 2, ENOSPC);
  const IoProgress shortened = file->Write("abc");
  EXPECT_EQ(shortened.bytes, 2u);
  EXPECT_EQ(shortened.error, ENOSPC);
  files.SetFreeBytes(3);
  EXPECT_EQ(file->Write("cd").error, kNoError);
  EXPECT_EQ(file->Write("ef").bytes, 1u);
  EXPECT_EQ(file->Write("f").error, ENOSPC);
  files.SetFreeBytes(FaultyFiles::kUnlimited);
  EXPECT_EQ(file->Write("f").error, kNoError);
  EXPECT_EQ(files.Content("a"), "abcdef");
}

TEST(FaultyFilesTest, ACrashLeavesWhatWasSynced) {
  FaultyFiles files;
  const auto file = Opened(files, "a", Mode::kCreate);
  file->Write("kept");
  file->Sync();
  files.SyncDirectory(".");
  file->Write("lost");
  Opened(files, "b", Mode::kCreate)->Sync();
  files.Rename("a", "c");
  files.Crash();
  EXPECT_THAT(files.Paths(), testing::ElementsAre("a"));
  EXPECT_EQ(files.Content("a"), "kept");
  EXPECT_EQ(file->Write("more").error, EBADF);
}

TEST(FaultyFilesTest, ACrashMayRestoreTruncatedData) {
  FaultyFiles files;
  files.Put("a", "whole");
  const auto file = Opened(files, "a", Mode::kAppend);
  file->Truncate(2);
  file->Write("XY");
  files.Crash();
  EXPECT_EQ(files.Content("a"), "whole");
  const auto again = Opened(files, "a", Mode::kAppend);
  again->Truncate(2);
  again->Write("XY");
  again->Sync();
  files.Crash();
  EXPECT_EQ(files.Content("a"), "whXY");
}

TEST(FaultyFilesTest, ACrashMayLeaveMore) {
  std::set<std::string> found;
  Random random(1);
  for (int round = 0; round < 200; ++round) {
    FaultyFiles files;
    const auto file = Opened(files, "a", Mode::kCreate);
    file->Write("k");
    file->Sync();
    file->Write("xyz");
    files.Rename("a", "b");
    files.Crash(random);
    found.insert(files.Paths().empty() ? "" : files.Paths()[0] + "=" + files.Content(files.Paths()[0]));
  }
  EXPECT_THAT(found, testing::ElementsAre("", "a=k", "a=kx", "a=kxy", "a=kxyz", "b=k", "b=kx", "b=kxy", "b=kxyz"));
}

TEST(FaultyFilesTest, NamesSurviveACrashInAnyCombination) {
  std::set<std::string> found;
  Random random(1);
  for (int round = 0; round < 200; ++round) {
    FaultyFiles files;
    files.MakeDirectory("d");
    for (const char* path : {"a", "b", "d/c"}) Opened(files, path, Mode::kCreateNew);
    files.Crash(random);
    std::string names;
    for (const std::string& path : files.Paths()) names += path + " ";
    found.insert(names);
  }
  EXPECT_THAT(found, testing::ElementsAre("", "a ", "a b ", "a b d/c ", "a d/c ", "b ", "b d/c ", "d/c "));
}

TEST(FaultyFilesTest, AfterACutNothingWorksUntilTheCrash) {
  FaultyFiles files;
  const auto file = Opened(files, "a", Mode::kCreateNew);
  files.CutAt(2);
  EXPECT_EQ(file->Write("1").error, kNoError);
  EXPECT_FALSE(files.IsCut());
  EXPECT_EQ(file->Write("2").error, EIO);
  EXPECT_TRUE(files.IsCut());
  EXPECT_EQ(file->Sync(), EIO);
  EXPECT_EQ(files.Rename("a", "b"), EIO);
  EXPECT_EQ(files.Open("a", Mode::kRead).error(), EIO);
  files.Kill();
  EXPECT_EQ(files.Content("a"), "1");
  EXPECT_EQ(files.Open("a", Mode::kCreateNew).error(), EEXIST);
  EXPECT_EQ(file->Write("3").error, EBADF);
  EXPECT_EQ(Opened(files, "a", Mode::kAppend)->Write("3").error, kNoError);
}

TEST(FaultyFilesTest, LocksEndWithTheirHolderOrACrash) {
  FaultyFiles files;
  files.MakeDirectory("d");
  auto lock = files.Lock("d");
  EXPECT_TRUE(lock.ok());
  EXPECT_EQ(files.Lock("d").error(), EWOULDBLOCK);
  lock.value().reset();
  lock = files.Lock("d");
  EXPECT_TRUE(lock.ok());
  files.SyncDirectory(".");
  files.Crash();
  auto other = files.Lock("d");
  EXPECT_TRUE(other.ok());
  lock.value().reset();
  EXPECT_EQ(files.Lock("d").error(), EWOULDBLOCK);
}

TEST(FaultyFilesTest, HeldSyncsCoverOnlyEarlierWrites) {
  FaultyFiles files;
  const auto file = Opened(files, "a", Mode::kCreate);
  files.SyncDirectory(".");
  file->Write("before");
  files.HoldSyncs();
  std::thread syncing([&] { EXPECT_EQ(file->Sync(), kNoError); });
  files.WaitForHeldSync();
  file->Write(" after");
  files.ReleaseSyncs();
  syncing.join();
  files.Crash();
  EXPECT_EQ(files.Content("a"), "before");
}

}  // namespace
}  // namespace respite
