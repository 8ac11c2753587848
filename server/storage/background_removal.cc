#include "server/storage/background_removal.h"

#include <cerrno>
#include <utility>

namespace respite {

// Closes a removed file in the background. The file is still open until then, and only closing it frees its disk space.
class BackgroundRemoval::Task final : public FileTask {
 public:
  explicit Task(std::unique_ptr<File> file) : file_(std::move(file)) {}

 protected:
  void Run() override { file_.reset(); }

 private:
  std::unique_ptr<File> file_;
};

BackgroundRemoval::BackgroundRemoval(FileSystem& files) : files_(files) {}

BackgroundRemoval::~BackgroundRemoval() {
  for (const auto& task : tasks_) task->Await();
}

IoError BackgroundRemoval::Remove(const std::string& path) {
  Tidy();
  auto file = files_.Open(path, FileSystem::Mode::kRead);
  if (!file && file.error() == ENOENT) return kNoError;
  const IoError error = files_.Remove(path);
  if (!file || error != kNoError) return error;
  tasks_.push_back(std::make_unique<Task>(std::move(file.value())));
  files_.RunInBackground(*tasks_.back());
  return kNoError;
}

void BackgroundRemoval::Tidy() {
  std::erase_if(tasks_, [](const auto& task) { return !task->IsPending(); });
}

}  // namespace respite
