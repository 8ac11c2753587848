#include "server/replication/snapshot_receiver.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/log.h"
#include "server/replication/snapshot_file.h"
#include "tests/support/faulty_files.h"

namespace respite {
namespace {

using Status = SnapshotReceiver::Status;
using Operation = FaultyFiles::Operation;

constexpr char kReceivedPath[] = "temp-1.2.rdb";

class SnapshotReceiverTest : public testing::Test {
 protected:
  SnapshotReceiverTest() : log_(clock_) {
    log_.SetLevel(LogLevel::kNothing);
    Begin();
  }

  void Begin() {
    receiver_ = std::make_unique<SnapshotReceiver>(log_);
    file_ = std::make_unique<SnapshotFile>(SnapshotFile::Parts{log_, files_}, kReceivedPath);
    status_ = Status::kMore;
  }
  // Feeds the pieces. Returns the bytes after the end of the snapshot.
  std::string TakePieces(std::initializer_list<Bytes> pieces) {
    for (const Bytes piece : pieces) {
      auto progress = receiver_->Take(piece);
      if (progress.status == Status::kBegins) {
        progress.status = file_->Open() ? receiver_->Into(*file_) : Status::kFailed;
        if (progress.status == Status::kMore) progress = receiver_->Take(progress.rest);
      }
      status_ = progress.status;
      if (status_ != Status::kMore) return std::string(progress.rest);
      EXPECT_EQ(progress.rest, "");
    }
    return "";
  }
  void ExpectFailure(std::initializer_list<Bytes> pieces) {
    Begin();
    TakePieces(pieces);
    EXPECT_EQ(status_, Status::kFailed) << *pieces.begin();
    file_.reset();
    EXPECT_FALSE(files_.Has(kReceivedPath));
  }

  ManualClock clock_;
  Logger log_;
  FaultyFiles files_;
  std::unique_ptr<SnapshotReceiver> receiver_;
  std::unique_ptr<SnapshotFile> file_;
  Status status_ = Status::kMore;
};

const std::string kEndMark = "0123456789abcdef0123456789abcdef01234567";

TEST_F(SnapshotReceiverTest, TakesACountedSnapshotCutAnywhere) {
  const std::string text = "\n\r\n\n$7\r\nREDISxy*1\r\n$4\r\nPING\r\n";
  const size_t end = text.find("*1");
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    Begin();
    std::string rest = TakePieces({Bytes(text).substr(0, cut)});
    if (status_ == Status::kMore) {
      EXPECT_LT(cut, end);
      rest = TakePieces({Bytes(text).substr(cut)});
      EXPECT_EQ(rest, text.substr(end));
    } else {
      EXPECT_EQ(rest, text.substr(end, cut - end));
    }
    EXPECT_EQ(status_, Status::kWhole) << cut;
    EXPECT_EQ(files_.Content(kReceivedPath), "REDISxy");
    EXPECT_EQ(receiver_->TotalBytes(), 7u);
    EXPECT_EQ(receiver_->DeliveredBytes(), 7u);
  }
}

TEST_F(SnapshotReceiverTest, TakesAMarkedSnapshotCutAtTwoPlaces) {
  const std::string body = "REDIS" + kEndMark.substr(0, 20) + "more" + kEndMark.substr(0, 39);
  const std::string text = "\n$EOF:" + kEndMark + "\r\n" + body + kEndMark;
  for (size_t first = 0; first <= text.size(); ++first) {
    for (size_t second = first; second <= text.size(); second += 7) {
      Begin();
      const Bytes whole = text;
      TakePieces({whole.substr(0, first), whole.substr(first, second - first), whole.substr(second)});
      ASSERT_EQ(status_, Status::kWhole) << first << " " << second;
      ASSERT_EQ(files_.Content(kReceivedPath), body);
    }
  }
  EXPECT_EQ(receiver_->TotalBytes(), std::nullopt);
}

TEST_F(SnapshotReceiverTest, TakesAMarkedSnapshotByteByByte) {
  const std::string text = "$EOF:" + kEndMark + "\r\nREDIS" + kEndMark;
  for (const char& byte : text) TakePieces({Bytes(&byte, 1)});
  EXPECT_EQ(status_, Status::kWhole);
  EXPECT_EQ(files_.Content(kReceivedPath), "REDIS");
}

TEST_F(SnapshotReceiverTest, AnEmptySnapshotIsWhole) {
  EXPECT_EQ(TakePieces({"$0\r\n+x"}), "+x");
  EXPECT_EQ(status_, Status::kWhole);
  Begin();
  TakePieces({"$EOF:" + kEndMark + "\r\n" + kEndMark});
  EXPECT_EQ(status_, Status::kWhole);
  EXPECT_EQ(files_.Content(kReceivedPath), "");
}

TEST_F(SnapshotReceiverTest, TheFileGoesUnlessItIsKept) {
  TakePieces({"$3\r\nabc"});
  EXPECT_TRUE(files_.Has(kReceivedPath));
  file_.reset();
  EXPECT_FALSE(files_.Has(kReceivedPath));
  Begin();
  TakePieces({"$3\r\nabc"});
  file_->Keep();
  file_.reset();
  EXPECT_TRUE(files_.Has(kReceivedPath));
}

TEST_F(SnapshotReceiverTest, RefusesJunk) {
  ExpectFailure({"-ERR no\r\n"});
  ExpectFailure({"+OK\r\n"});
  ExpectFailure({"*1\r\n$4\r\nPING\r\n"});
  ExpectFailure({"$\r\n"});
  ExpectFailure({"$-1\r\n"});
  ExpectFailure({"$12x\r\n"});
  ExpectFailure({"$99999999999999999999\r\n"});
  ExpectFailure({"$EOF:\r\n"});
  ExpectFailure({"$EOF:short\r\n"});
  ExpectFailure({"$EOF:" + kEndMark + "x\r\n"});
  ExpectFailure({std::string("\0\0\0\n", 4)});
}

TEST_F(SnapshotReceiverTest, RefusesAnEndlessLine) {
  ExpectFailure({std::string(300, '$')});
  ExpectFailure({std::string(200, 'x'), std::string(200, 'x')});
}

TEST_F(SnapshotReceiverTest, EmptyLinesAreNoLine) {
  for (int i = 0; i < 1000; ++i) TakePieces({"\n"});
  EXPECT_EQ(status_, Status::kMore);
  TakePieces({"$1\r\nx"});
  EXPECT_EQ(status_, Status::kWhole);
}

TEST_F(SnapshotReceiverTest, ADiskThatFailsLeavesNoFile) {
  files_.FailAt(Operation::kOpen, 1, EACCES);
  ExpectFailure({"$3\r\nabc"});
  files_.FailAt(Operation::kWrite, 2, EIO);
  ExpectFailure({"$6\r\nabc", "def"});
  files_.FailAt(Operation::kSync, 1, EIO);
  ExpectFailure({"$3\r\nabc"});
  files_.FailAt(Operation::kSync, 1, EIO);
  ExpectFailure({"$EOF:" + kEndMark + "\r\nabc" + kEndMark});
  files_.FailAt(Operation::kSync, 1, EIO);
  ExpectFailure({"$0\r\n"});
}

TEST_F(SnapshotReceiverTest, AFullDiskLeavesNoFile) {
  files_.SetFreeBytes(100);
  ExpectFailure({"$200\r\n", std::string(90, 'x'), std::string(90, 'x')});
  files_.SetFreeBytes(100);
  ExpectFailure({"$EOF:" + kEndMark + "\r\n", std::string(120, 'x'), std::string(90, 'x')});
}

TEST_F(SnapshotReceiverTest, WhatIsAbandonedLeavesNoFile) {
  TakePieces({"$6\r\nabc"});
  EXPECT_EQ(receiver_->DeliveredBytes(), 3u);
  EXPECT_TRUE(files_.Has(kReceivedPath));
  file_.reset();
  EXPECT_FALSE(files_.Has(kReceivedPath));
}

}  // namespace
}  // namespace respite
