// Servers of one process whose files are in different folders.
#include "server/config/folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "base/clock.h"
#include "base/log.h"
#include "persistence/file_system.h"
#include "server/config/config.h"
#include "server/config/value_text.h"
#include "server/node/node.h"
#include "server/process/forked_children.h"
#include "server/storage/child_processes.h"
#include "server/storage/folder_files.h"
#include "server/storage/rdb_loader.h"
#include "server/storage/storage_subsystem.h"

namespace respite {
namespace {

namespace fs = std::filesystem;

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = testing::TempDir() + "folderXXXXXX";
    path_ = fs::canonical(mkdtemp(name.data())).string();
  }
  ~TemporaryFolder() { fs::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

TEST(OwnFolderTest, ItIsEnteredAndResolvesPathsWithoutTheProcess) {
  const TemporaryFolder root;
  fs::create_directory(root / "inner");
  std::ofstream(root / "file") << "text";
  const std::string working_directory = WorkingDirectory();
  OwnFolder folder(root.path());
  EXPECT_EQ(folder.Resolve("dump.rdb"), root / "dump.rdb");
  EXPECT_EQ(folder.Resolve("/etc/x"), "/etc/x");
  EXPECT_EQ(folder.Enter("inner"), std::nullopt);
  EXPECT_EQ(folder.Path(), root / "inner");
  EXPECT_EQ(folder.Enter(".."), std::nullopt);
  EXPECT_EQ(folder.Path(), root.path());
  EXPECT_EQ(folder.Enter("file"), "Not a directory");
  EXPECT_EQ(folder.Enter("nowhere"), "No such file or directory");
  EXPECT_EQ(folder.Path(), root.path()) << "a failure changes nothing";
  EXPECT_EQ(WorkingDirectory(), working_directory);
}

// A server with real files and children in its own folder.
class Server {
 public:
  explicit Server(const std::string& path)
      : folder_(path),
        config_(folder_),
        files_(system_files_, folder_),
        children_(real_clock_, log_, [](ChildWork) {}) {
    log_.SetLevel(LogLevel::kNothing);
  }
  Node& operator*() { return node_; }
  Node* operator->() { return &node_; }
  void Put(const std::string& key) {
    Database& database = node_.services().data.dataset.keyspace[0];
    database.Add(EntryPtr(Entry::Create(key, StringContent::Text("v"), kNoDeadline, 0)));
  }
  // Waits for the end of the server's child.
  void AwaitChild() {
    while (node_.services().storage.child_processes.Busy()) node_.services().storage.child_processes.Poll();
  }

 private:
  SystemClock clock_;
  SystemRealClock real_clock_;
  Logger log_{clock_};
  OwnFolder folder_;
  Config config_;
  SystemFiles system_files_;
  FolderFiles files_;
  ForkedChildren children_;
  Node node_{{config_, clock_, real_clock_, log_, HashKey::FromKernel(), SystemSeed(), files_, children_}};
};

TEST(FolderTest, TwoServersSaveAtOnceEachIntoItsOwn) {
  const TemporaryFolder first_folder, second_folder;
  Server first(first_folder.path()), second(second_folder.path());
  first.Put("one");
  second.Put("two");
  second.Put("three");
  ASSERT_EQ(first->services().storage.snapshots.StartBackgroundSave(), Snapshots::Outcome::kDone);
  ASSERT_EQ(second->services().storage.snapshots.StartBackgroundSave(), Snapshots::Outcome::kDone);
  second.AwaitChild();
  first.AwaitChild();
  const auto keys_in = [](const std::string& folder) {
    Server reader(folder);
    LoadDump(reader->services(), {});
    return reader->services().data.dataset.keyspace[0].Size();
  };
  EXPECT_EQ(keys_in(first_folder.path()), 1u);
  EXPECT_EQ(keys_in(second_folder.path()), 2u);
}

TEST(FolderTest, ConfigSetMovesOneServerOnly) {
  const TemporaryFolder first_folder, second_folder;
  Server first(first_folder.path()), second(second_folder.path());
  const std::string working_directory = WorkingDirectory();
  fs::create_directory(first_folder / "inner");
  first->services().env.config.MutableSettings().enable_protected_configs = Permission::kAlways;
  first->services().env.config.Set({{"dir", "inner"}}, {});
  EXPECT_EQ(first->services().env.settings.dir, first_folder / "inner");
  EXPECT_EQ(second->services().env.settings.dir, second_folder.path());
  EXPECT_EQ(WorkingDirectory(), working_directory);
  EXPECT_EQ(first->services().storage.snapshots.Save(), Snapshots::Outcome::kDone);
  EXPECT_TRUE(fs::exists(first_folder / "inner/dump.rdb"));
  EXPECT_ANY_THROW(first->services().env.config.Set({{"dir", ".."}, {"maxmemory", "x"}}, {}));
  EXPECT_EQ(first->services().env.settings.dir, first_folder / "inner") << "all or nothing";
}

}  // namespace
}  // namespace respite
