#include "server/storage/aof_writer.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <deque>
#include <initializer_list>
#include <string>
#include <vector>

#include "tests/support/faulty_files.h"

namespace respite {
namespace {

using Operation = FaultyFiles::Operation;

// A writer on files that fail on demand, with a sync thread that the test controls.
class AofWriterTest : public testing::Test {
 protected:
  // Like FaultyFiles, but background work waits for RunTasks.
  class Files final : public FaultyFiles {
   public:
    void RunInBackground(FileTask& task) override { waiting_.push_back(&task), MarkPending(task); }
    void RunTasks() {
      for (; !waiting_.empty(); waiting_.pop_front()) RunPending(*waiting_.front());
    }
    ~Files() override { RunTasks(); }

   private:
    std::deque<FileTask*> waiting_;
  };

  AofWriterTest() { log_.SetLevel(LogLevel::kNothing); }
  ~AofWriterTest() override { files_.RunTasks(); }

  void Open(AppendFsync policy) {
    settings_.appendfsync = policy;
    writer_.Open(std::move(files_.Open("aof", FileSystem::Mode::kAppend).value()), 0);
  }
  void Append(int db, std::initializer_list<Bytes> words) {
    PropagatedCommands commands;
    commands.Add(db, std::vector<Bytes>(words));
    writer_.Append(PropagatedGroup(commands, 0));
  }
  void Flush() { writer_.Flush(AofWriter::Urgency::kRelaxed, AofWriter::Child::kNone); }
  std::string Content() { return files_.Content("aof"); }

  ManualClock clock_;
  Settings settings_;
  Logger log_{clock_};
  LatencyMonitor latency_{settings_, clock_, clock_};
  Files files_;
  AofWriter writer_{{files_, settings_, clock_, clock_, log_, latency_}};
};

constexpr char kSelect0[] = "*2\r\n$6\r\nSELECT\r\n$1\r\n0\r\n";
constexpr char kSelect3[] = "*2\r\n$6\r\nSELECT\r\n$1\r\n3\r\n";
constexpr char kSetA[] = "*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\n1\r\n";
constexpr char kSetB[] = "*3\r\n$3\r\nSET\r\n$1\r\nb\r\n$1\r\n2\r\n";
constexpr char kMulti[] = "*1\r\n$5\r\nMULTI\r\n";
constexpr char kExec[] = "*1\r\n$4\r\nEXEC\r\n";

TEST_F(AofWriterTest, NamesTheDatabaseWhereItChanges) {
  Open(AppendFsync::kNever);
  Append(0, {"SET", "a", "1"});
  Append(0, {"SET", "b", "2"});
  Append(3, {"SET", "a", "1"});
  EXPECT_EQ(Content(), "") << "nothing is written before the Turn ends";
  Flush();
  EXPECT_EQ(Content(), std::string(kSelect0) + kSetA + kSetB + kSelect3 + kSetA);
}

TEST_F(AofWriterTest, KeepsTheEffectsOfAUnitTogether) {
  Open(AppendFsync::kNever);
  PropagatedCommands commands;
  commands.Add(0, std::vector<Bytes>{"SET", "a", "1"});
  commands.Add(0, std::vector<Bytes>{"SET", "c", "3"}, JournalEntry::kReplicas);
  commands.Add(0, std::vector<Bytes>{"SET", "b", "2"});
  writer_.Append(PropagatedGroup(commands, 0));
  Flush();
  EXPECT_EQ(Content(), std::string(kMulti) + kSelect0 + kSetA + kSetB + kExec);
}

TEST_F(AofWriterTest, AnnotatesTheTimeOnceASecond) {
  settings_.aof_timestamp_enabled = true;
  clock_.SetWallMs(1'700'000'000'000);
  Open(AppendFsync::kNever);
  Append(0, {"SET", "a", "1"});
  Append(0, {"SET", "b", "2"});
  clock_.AdvanceMs(1000);
  Append(0, {"SET", "a", "1"});
  Flush();
  EXPECT_EQ(Content(), std::string("#TS:1700000000\r\n") + kSelect0 + kSetA + kSetB + "#TS:1700000001\r\n" + kSetA);
}

TEST_F(AofWriterTest, AlwaysSyncsBeforeTheTurnEnds) {
  Open(AppendFsync::kAlways);
  Append(0, {"SET", "a", "1"});
  Append(0, {"SET", "b", "2"});
  Flush();
  EXPECT_EQ(files_.Count(Operation::kSync), 1u);
  EXPECT_EQ(writer_.SyncedBytes(), writer_.AppendedBytes());
  Flush();
  EXPECT_EQ(files_.Count(Operation::kSync), 1u) << "nothing new, nothing to sync";
}

TEST_F(AofWriterTest, AlwaysStopsServingWhenAWriteFails) {
  Open(AppendFsync::kAlways);
  Append(0, {"SET", "a", "1"});
  files_.FailAt(Operation::kWrite, 1, ENOSPC);
  Flush();
  EXPECT_TRUE(writer_.MustStop());
}

TEST_F(AofWriterTest, AlwaysStopsServingWhenASyncFails) {
  Open(AppendFsync::kAlways);
  Append(0, {"SET", "a", "1"});
  files_.FailAt(Operation::kSync, 1, EIO);
  Flush();
  EXPECT_TRUE(writer_.MustStop());
}

TEST_F(AofWriterTest, EverySecondSyncsInTheBackground) {
  Open(AppendFsync::kEverySecond);
  Append(0, {"SET", "a", "1"});
  Flush();
  EXPECT_EQ(writer_.PendingSyncs(), 0u) << "a second has not passed";
  clock_.AdvanceMs(1000);
  Flush();
  EXPECT_EQ(writer_.PendingSyncs(), 1u) << "also with nothing new to write";
  EXPECT_EQ(writer_.SyncedBytes(), 0u);
  files_.RunTasks();
  EXPECT_EQ(writer_.SyncedBytes(), writer_.AppendedBytes());
}

TEST_F(AofWriterTest, EverySecondDelaysWritesDuringASync) {
  Open(AppendFsync::kEverySecond);
  Append(0, {"SET", "a", "1"});
  clock_.AdvanceMs(1000);
  Flush();
  ASSERT_EQ(writer_.PendingSyncs(), 1u);
  Append(0, {"SET", "b", "2"});
  Flush();
  clock_.AdvanceMs(1999);
  Flush();
  EXPECT_EQ(Content(), std::string(kSelect0) + kSetA);
  EXPECT_EQ(writer_.DelayedWrites(), 0u);
  clock_.AdvanceMs(1);
  Flush();
  EXPECT_EQ(Content(), std::string(kSelect0) + kSetA + kSetB) << "two seconds are the most";
  EXPECT_EQ(writer_.DelayedWrites(), 1u);
}

TEST_F(AofWriterTest, NoAppendFsyncOnRewriteStopsSyncs) {
  settings_.no_appendfsync_on_rewrite = true;
  Open(AppendFsync::kAlways);
  Append(0, {"SET", "a", "1"});
  writer_.Flush(AofWriter::Urgency::kRelaxed, AofWriter::Child::kRuns);
  EXPECT_EQ(files_.Count(Operation::kSync), 0u);
  Flush();
  EXPECT_EQ(files_.Count(Operation::kSync), 1u);
}

TEST_F(AofWriterTest, AShortWriteIsCutOffAndTriedAgain) {
  Open(AppendFsync::kEverySecond);
  Append(0, {"SET", "a", "1"});
  Flush();
  const std::string before = Content();
  Append(0, {"SET", "b", "2"});
  files_.WriteShortAt(1, 7, ENOSPC);
  Flush();
  EXPECT_EQ(Content(), before) << "half a record would make what follows unreadable";
  EXPECT_EQ(writer_.WriteOrSyncError(), ENOSPC);
  EXPECT_FALSE(writer_.MustStop());
  Flush();
  EXPECT_EQ(Content(), before + kSetB);
  EXPECT_FALSE(writer_.WriteOrSyncError());
}

TEST_F(AofWriterTest, AShortWriteThatCannotBeCutOffIsContinued) {
  Open(AppendFsync::kEverySecond);
  Append(0, {"SET", "a", "1"});
  files_.WriteShortAt(1, 7, ENOSPC);
  files_.FailAt(Operation::kTruncate, 1, EIO);
  Flush();
  EXPECT_TRUE(writer_.WriteOrSyncError());
  EXPECT_EQ(writer_.FileBytes(), 7u);
  Flush();
  EXPECT_EQ(Content(), std::string(kSelect0) + kSetA);
  EXPECT_EQ(writer_.FileBytes(), Content().size());
}

TEST_F(AofWriterTest, NothingIsLostWhicheverWriteFails) {
  for (uint64_t nth = 1; nth <= 6; ++nth) {
    for (uint64_t landed : {0u, 1u, 20u}) {
      FaultyFiles files;
      settings_.appendfsync = AppendFsync::kEverySecond;
      AofWriter writer({files, settings_, clock_, clock_, log_, latency_});
      writer.Open(std::move(files.Open("aof", FileSystem::Mode::kAppend).value()), 0);
      files.WriteShortAt(nth, landed, ENOSPC);
      std::string expected = kSelect0;
      for (int i = 0; i < 5; ++i) {
        PropagatedCommands commands;
        commands.Add(0, std::vector<Bytes>{"SET", "a", "1"});
        writer.Append(PropagatedGroup(commands, 0));
        expected += kSetA;
        writer.Flush(AofWriter::Urgency::kRelaxed, AofWriter::Child::kNone);
      }
      writer.Flush(AofWriter::Urgency::kNow, AofWriter::Child::kNone);
      EXPECT_EQ(files.Content("aof"), expected) << "write " << nth << " failed after " << landed;
    }
  }
}

TEST_F(AofWriterTest, AFailedBackgroundSyncIsReportedUntilOneSucceeds) {
  Open(AppendFsync::kEverySecond);
  Append(0, {"SET", "a", "1"});
  clock_.AdvanceMs(1000);
  files_.FailAt(Operation::kSync, 1, EIO);
  Flush();
  files_.RunTasks();
  Flush();
  EXPECT_EQ(writer_.WriteOrSyncError(), EIO);
  EXPECT_EQ(writer_.SyncedBytes(), 0u);
  clock_.AdvanceMs(1000);
  Flush();
  files_.RunTasks();
  EXPECT_FALSE(writer_.WriteOrSyncError());
  EXPECT_EQ(writer_.SyncedBytes(), writer_.AppendedBytes());
}

// Later syncs do not cover the commands of the replaced file, which the next start still reads.
TEST_F(AofWriterTest, AFailedSyncOfAReplacedFileIsReportedUntilItIsNotNeeded) {
  Open(AppendFsync::kEverySecond);
  Append(0, {"SET", "a", "1"});
  Flush();
  files_.FailAt(Operation::kSync, 1, EIO);
  writer_.Open(std::move(files_.Open("next", FileSystem::Mode::kAppend).value()), 0);
  files_.RunTasks();
  Append(0, {"SET", "b", "2"});
  clock_.AdvanceMs(1000);
  Flush();
  files_.RunTasks();
  Flush();
  EXPECT_EQ(writer_.SyncedBytes(), 0u);
  EXPECT_EQ(writer_.WriteOrSyncError(), EIO);
  EXPECT_EQ(writer_.SyncNow(), EIO);
  EXPECT_EQ(writer_.SyncedBytes(), 0u);
  writer_.ForgetClosedFiles();
  EXPECT_FALSE(writer_.WriteOrSyncError());
  EXPECT_EQ(writer_.SyncNow(), kNoError);
  EXPECT_EQ(writer_.SyncedBytes(), writer_.AppendedBytes());
}

TEST_F(AofWriterTest, TheSyncOfAFileThatIsNotNeededMayFail) {
  Open(AppendFsync::kEverySecond);
  Append(0, {"SET", "a", "1"});
  Flush();
  files_.FailAt(Operation::kSync, 1, EIO);
  writer_.Open(std::move(files_.Open("next", FileSystem::Mode::kAppend).value()), 0);
  writer_.ForgetClosedFiles();
  files_.RunTasks();
  EXPECT_EQ(writer_.SyncNow(), kNoError);
  EXPECT_EQ(writer_.SyncedBytes(), writer_.AppendedBytes());
}

TEST_F(AofWriterTest, ANewFileBeginsWithSelectAndTheOldOneIsSynced) {
  Open(AppendFsync::kEverySecond);
  Append(0, {"SET", "a", "1"});
  Flush();
  writer_.Open(std::move(files_.Open("next", FileSystem::Mode::kAppend).value()), 0);
  Append(0, {"SET", "b", "2"});
  Flush();
  files_.RunTasks();
  EXPECT_EQ(files_.Content("next"), std::string(kSelect0) + kSetB);
  files_.Crash();
  EXPECT_EQ(files_.Count(Operation::kSync), 1u);
}

}  // namespace
}  // namespace respite
