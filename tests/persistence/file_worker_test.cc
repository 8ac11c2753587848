// The thread for file tasks. Most of these tests can fail only under a sanitizer: results are plain members, and tasks
// are freed as early as their owner may free them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"
#include "base/str_cat.h"
#include "persistence/file_system.h"

namespace respite {
namespace {

constexpr int kRounds = 4000;

class Doubling final : public FileTask {
 public:
  explicit Doubling(int value) : given(std::make_unique<int>(value)) {}

  std::unique_ptr<int> given;
  std::unique_ptr<int> result;

 protected:
  void Run() override { result = std::make_unique<int>(2 * *given); }
};

// Appends its number to a list that all tasks share: they run one after the other.
class Numbered final : public FileTask {
 public:
  Numbered(std::vector<int>& row, int number) : row_(row), number_(number) {}

 protected:
  void Run() override { row_.push_back(number_); }

 private:
  std::vector<int>& row_;
  const int number_;
};

class Syncing final : public FileTask {
 public:
  explicit Syncing(File& file) : file_(file) {}

  IoError error = kNoError;

 protected:
  void Run() override { error = file_.Sync(); }

 private:
  File& file_;
};

void AwaitByLooking(const FileTask& task) {
  while (task.IsPending()) std::this_thread::yield();
}

TEST(FileWorkerTest, TasksRunInTheirOrder) {
  std::vector<int> row;
  std::vector<std::unique_ptr<Numbered>> tasks;
  SystemFiles files;
  for (int number = 0; number < kRounds; ++number) {
    tasks.push_back(std::make_unique<Numbered>(row, number));
    files.RunInBackground(*tasks.back());
  }
  tasks.back()->Await();
  ASSERT_EQ(row.size(), static_cast<size_t>(kRounds));
  for (int number = 0; number < kRounds; ++number) {
    ASSERT_EQ(row[static_cast<size_t>(number)], number);
    ASSERT_FALSE(tasks[static_cast<size_t>(number)]->IsPending());
  }
}

TEST(FileWorkerTest, AnIdleTaskIsNotPending) {
  Doubling task(1);
  EXPECT_FALSE(task.IsPending());
  task.Await();
  EXPECT_EQ(task.result, nullptr);
}

TEST(FileWorkerTest, ATaskMayBeRepeated) {
  SystemFiles files;
  Doubling task(0);
  for (int round = 0; round < kRounds; ++round) {
    *task.given = round;
    files.RunInBackground(task);
    if (round % 2 == 0) {
      task.Await();
    } else {
      AwaitByLooking(task);
    }
    ASSERT_EQ(*task.result, 2 * round);
  }
}

TEST(FileWorkerTest, ATaskMayGoAsSoonAsItIsDone) {
  SystemFiles files;
  for (int round = 0; round < kRounds; ++round) {
    auto task = std::make_unique<Doubling>(round);
    files.RunInBackground(*task);
    if (round % 2 == 0) {
      task->Await();
    } else {
      AwaitByLooking(*task);
    }
    ASSERT_EQ(*task->result, 2 * round);
  }
}

// The memory of a task is reused immediately for the next one, so a late access of the thread to the old task would be
// detected.
TEST(FileWorkerTest, ATaskMayTakeThePlaceOfOneThatIsDone) {
  SystemFiles files;
  std::optional<Doubling> task;
  for (int round = 0; round < kRounds; ++round) {
    files.RunInBackground(task.emplace(round));
    task->Await();
    ASSERT_EQ(*task->result, 2 * round);
  }
}

TEST(FileWorkerTest, TasksComeAndGoInAnyOrder) {
  const uint64_t seed = SystemSeed();
  SCOPED_TRACE(StrCat("seed ", seed));
  Random random(seed);
  SystemFiles files;
  std::vector<std::unique_ptr<Doubling>> tasks(16);
  for (int round = 0; round < 4 * kRounds; ++round) {
    auto& task = tasks[random.Below(tasks.size())];
    switch (random.Below(4)) {
      case 0:
        if (task != nullptr) task->Await();
        break;
      case 1:
        if (task == nullptr || task->IsPending()) break;
        ASSERT_EQ(*task->result, 2 * *task->given);
        task.reset();
        break;
      case 2:
        if (task == nullptr || task->IsPending()) break;
        *task->given = round;
        files.RunInBackground(*task);
        break;
      default:
        if (task != nullptr) break;
        task = std::make_unique<Doubling>(round);
        files.RunInBackground(*task);
    }
  }
  for (const auto& task : tasks) {
    if (task != nullptr) task->Await();
  }
}

TEST(FileWorkerTest, QueuedTasksRunBeforeTheFilesAreDestroyed) {
  for (int round = 0; round < 200; ++round) {
    std::vector<int> row;
    std::vector<std::unique_ptr<Numbered>> tasks;
    {
      SystemFiles files;
      for (int number = 0; number < round % 10; ++number) {
        tasks.push_back(std::make_unique<Numbered>(row, number));
        files.RunInBackground(*tasks.back());
      }
    }
    ASSERT_EQ(row.size(), tasks.size());
    for (const auto& task : tasks) ASSERT_FALSE(task->IsPending());
  }
}

TEST(FileWorkerTest, FilesAreWrittenWhileTheyAreSynced) {
  const std::string path = StrCat(testing::TempDir(), "/file_worker_test.", getpid());
  SystemFiles files;
  auto file = files.Open(path, FileSystem::Mode::kCreate);
  ASSERT_TRUE(file.ok());
  ASSERT_EQ(files.Remove(path), kNoError);
  Syncing task(*file.value());
  uint64_t bytes = 0;
  for (int syncs = 0; syncs < 20; ++syncs) {
    files.RunInBackground(task);
    do {
      bytes += file.value()->Write("a few bytes ").bytes;
    } while (task.IsPending() && bytes < (1 << 20));
    task.Await();
    ASSERT_EQ(task.error, kNoError);
  }
  EXPECT_EQ(file.value()->Size().value(), bytes);
}

// An ACL file may be a pipe of the shell. If it were read as empty, every client would have access.
TEST(SystemFiles, ReadsWhatDoesNotSayItsSize) {
  SystemFiles files;
  const std::string path = StrCat(testing::TempDir(), "/pipe.", getpid());
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const std::string text(100'000, 'x');
  std::thread writer([&] { std::ofstream(path) << text; });
  const auto content = ReadFile(files, path, UINT64_MAX);
  writer.join();
  unlink(path.c_str());
  ASSERT_TRUE(content) << IoErrorText(content.error());
  EXPECT_TRUE(content.value() == text) << content.value().size();
  EXPECT_FALSE(ReadFile(files, "/proc/self/stat", UINT64_MAX).value().empty());
  EXPECT_EQ(ReadFile(files, "/proc/self/stat", 3).value().size(), 3u);
}

}  // namespace
}  // namespace respite
