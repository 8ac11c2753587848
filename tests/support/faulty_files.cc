#include "tests/support/faulty_files.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <numeric>

#include "base/str_cat.h"

namespace respite {

// A handle refers to the file system, which must outlive it.
class FaultyFile final : public File {
 public:
  FaultyFile(FaultyFiles& files, FaultyFiles::NodePtr node, FileSystem::Mode mode)
      : files_(files), node_(std::move(node)), mode_(mode), age_(files.age_) {}

  IoProgress Write(Bytes data) override {
    const std::lock_guard lock(files_.mutex_);
    if (IsDead() || mode_ == FileSystem::Mode::kRead) return {0, EBADF};
    return files_.Write(*node_, data);
  }

  IoProgress ReadAt(uint64_t offset, std::span<char> into) override {
    const std::lock_guard lock(files_.mutex_);
    if (IsDead()) return {0, EBADF};
    const auto fault = files_.Begin(FaultyFiles::Operation::kRead);
    if (fault.error != kNoError) return {0, fault.error};
    if (offset >= node_->data.size()) return {0, kNoError};
    const size_t size = std::min(into.size(), node_->data.size() - static_cast<size_t>(offset));
    std::memcpy(into.data(), node_->data.data() + offset, size);
    return {size, kNoError};
  }

  IoError Sync() override {
    std::unique_lock lock(files_.mutex_);
    return IsDead() ? EBADF : files_.Sync(*node_, lock, age_);
  }

  void StartWriteback() override {}

  IoError Truncate(uint64_t bytes) override {
    const std::lock_guard lock(files_.mutex_);
    if (IsDead() || mode_ == FileSystem::Mode::kRead) return EBADF;
    const auto fault = files_.Begin(FaultyFiles::Operation::kTruncate);
    if (fault.error != kNoError) return fault.error;
    if (bytes < node_->durable.size()) node_->begins_durable = false;
    node_->data.resize(bytes);
    return kNoError;
  }

  Result<uint64_t, IoError> Size() const override {
    const std::lock_guard lock(files_.mutex_);
    if (IsDead()) return Failure(IoError{EBADF});
    const auto fault = files_.Begin(FaultyFiles::Operation::kSize);
    if (fault.error != kNoError) return Failure(fault.error);
    return uint64_t{node_->data.size()};
  }

 private:
  bool IsDead() const { return age_ != files_.age_; }

  FaultyFiles& files_;
  const FaultyFiles::NodePtr node_;
  const FileSystem::Mode mode_;
  const uint64_t age_;
};

class FaultyLock final : public File {
 public:
  FaultyLock(FaultyFiles& files, std::string place, FaultyFiles::NodePtr node)
      : files_(files), place_(std::move(place)), node_(std::move(node)), age_(files.age_) {}
  ~FaultyLock() override {
    const std::lock_guard lock(files_.mutex_);
    if (age_ == files_.age_) files_.locked_.erase(place_);
  }

  IoProgress Write(Bytes) override { return {0, EBADF}; }
  IoProgress ReadAt(uint64_t, std::span<char>) override { return {0, EBADF}; }
  IoError Sync() override { return EBADF; }
  void StartWriteback() override {}
  IoError Truncate(uint64_t) override { return EBADF; }
  Result<uint64_t, IoError> Size() const override { return Failure(IoError{EBADF}); }

 private:
  FaultyFiles& files_;
  const std::string place_;
  const FaultyFiles::NodePtr node_;  // its address is not used again while it is locked
  const uint64_t age_;
};

FaultyFiles::FaultyFiles() = default;
FaultyFiles::~FaultyFiles() = default;

// ---------------------------------------------------------------------------------------------------------------------
// Orders

void FaultyFiles::SetFault(Operation operation, Fault fault) {
  const std::lock_guard lock(mutex_);
  faults_[static_cast<size_t>(operation)] = fault;
}

void FaultyFiles::FailAt(Operation operation, uint64_t nth, IoError error) {
  SetFault(operation, {.countdown = nth, .error = error});
}

void FaultyFiles::FailFrom(Operation operation, uint64_t nth, IoError error) {
  SetFault(operation, {.countdown = nth, .error = error, .stays = true});
}

void FaultyFiles::WriteShortAt(uint64_t nth, uint64_t bytes, IoError error) {
  SetFault(Operation::kWrite, {.countdown = nth, .error = error, .lands = bytes});
}

void FaultyFiles::SetFreeBytes(uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  room_ = bytes;
}

void FaultyFiles::CutAt(uint64_t nth) {
  const std::lock_guard lock(mutex_);
  cut_countdown_ = nth;
}

bool FaultyFiles::IsCut() const {
  const std::lock_guard lock(mutex_);
  return is_cut_;
}

uint64_t FaultyFiles::Operations() const {
  const std::lock_guard lock(mutex_);
  return std::accumulate(counts_.begin(), counts_.end(), uint64_t{0});
}

void FaultyFiles::Recover() {
  const std::lock_guard lock(mutex_);
  cut_countdown_ = 0;
  is_cut_ = false;
  faults_ = {};
  room_ = kUnlimited;
}

uint64_t FaultyFiles::Count(Operation operation) const {
  const std::lock_guard lock(mutex_);
  return counts_[static_cast<size_t>(operation)];
}

FaultyFiles::Fault FaultyFiles::Begin(Operation operation) {
  ++counts_[static_cast<size_t>(operation)];
  if (cut_countdown_ != 0 && --cut_countdown_ == 0) is_cut_ = true;
  if (is_cut_) return {.countdown = 1, .error = EIO};
  Fault& fault = faults_[static_cast<size_t>(operation)];
  if (fault.countdown == 0) return {};
  if (fault.countdown > 1) {
    --fault.countdown;
    return {};
  }
  return fault.stays ? fault : std::exchange(fault, Fault());
}

void FaultyFiles::HoldSyncs() {
  const std::lock_guard lock(mutex_);
  holds_syncs_ = true;
}

void FaultyFiles::ReleaseSyncs() {
  const std::lock_guard lock(mutex_);
  holds_syncs_ = false;
  changed_.notify_all();
}

void FaultyFiles::WaitForHeldSync() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return held_syncs_ > 0; });
}

// ---------------------------------------------------------------------------------------------------------------------
// Crashes

void FaultyFiles::SurviveCrash(Random* random) {
  const std::lock_guard lock(mutex_);
  for (const Change& change : changes_) {
    if (random != nullptr && random->Below(2) == 0) Apply(change, durable_names_);
  }
  changes_.clear();
  // Files of a removed directory can no longer be found.
  names_ = durable_names_;
  std::erase_if(durable_names_, [&](const auto& name) { return !IsDirectory(ParentOf(name.first)); });
  names_ = durable_names_;
  for (const auto& [path, node] : names_) LoseData(*node, random);
  EndLife();
}

void FaultyFiles::LoseData(Node& node, Random* random) {
  const size_t written = node.data.size();
  size_t kept = node.durable.size();
  if (random != nullptr && node.begins_durable && written > kept) kept += random->Below(written - kept + 1);
  if (node.begins_durable) node.durable = node.data.substr(0, kept);
  // Truncated but not synced: the truncation may have reached the disk, or not.
  if (!node.begins_durable && random != nullptr && random->Below(2) == 0) node.durable = node.data;
  node.data = node.durable;
  node.begins_durable = true;
}

void FaultyFiles::Kill() {
  const std::lock_guard lock(mutex_);
  EndLife();
}

// Forgets locks and faults. Called when all users of the files have ended.
void FaultyFiles::EndLife() {
  locked_.clear();
  cut_countdown_ = 0;
  is_cut_ = false;
  ++age_;
  changed_.notify_all();
}

void FaultyFiles::Crash() { SurviveCrash(nullptr); }
void FaultyFiles::Crash(Random& random) { SurviveCrash(&random); }

// ---------------------------------------------------------------------------------------------------------------------
// Names

// Removes leading "./" and "/"; "" is the working directory.
std::string FaultyFiles::Normal(const std::string& path) {
  size_t begin = 0;
  while (path.compare(begin, 2, "./") == 0 || path.compare(begin, 1, "/") == 0) begin += path[begin] == '.' ? 2 : 1;
  const std::string normal = path.substr(begin);
  return normal == "." ? "" : normal;
}

std::string FaultyFiles::ParentOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

void FaultyFiles::Apply(const Change& change, Names& names) {
  for (const auto& [path, node] : change) {
    if (node == nullptr) {
      names.erase(path);
    } else {
      names[path] = node;
    }
  }
}

void FaultyFiles::ChangeNames(Change change) {
  Apply(change, names_);
  changes_.push_back(std::move(change));
}

bool FaultyFiles::IsDirectory(const std::string& path) const {
  const auto found = names_.find(path);
  return path.empty() || (found != names_.end() && found->second->is_directory);
}

std::string FaultyFiles::Content(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  const auto found = names_.find(Normal(path));
  return found == names_.end() ? "" : found->second->data;
}

bool FaultyFiles::Has(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  return names_.contains(Normal(path));
}

void FaultyFiles::Put(const std::string& path, Bytes content) {
  const std::lock_guard lock(mutex_);
  auto node = std::make_shared<Node>();
  node->data = node->durable = std::string(content);
  names_[Normal(path)] = durable_names_[Normal(path)] = node;
}

std::vector<std::string> FaultyFiles::Paths() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> paths;
  for (const auto& [path, node] : names_)
    if (!node->is_directory) paths.push_back(path);
  return paths;
}

// ---------------------------------------------------------------------------------------------------------------------
// Operations

Result<std::unique_ptr<File>, IoError> FaultyFiles::Open(const std::string& raw_path, Mode mode) {
  const std::lock_guard lock(mutex_);
  const Fault fault = Begin(Operation::kOpen);
  if (fault.error != kNoError) return Failure(fault.error);
  const std::string path = Normal(raw_path);
  if (IsDirectory(path)) return Failure(IoError{EISDIR});
  if (!IsDirectory(ParentOf(path))) return Failure(IoError{ENOENT});
  if (names_.contains(path) && mode == Mode::kCreateNew) return Failure(IoError{EEXIST});
  if (!names_.contains(path)) {
    if (mode == Mode::kRead) return Failure(IoError{ENOENT});
    ChangeNames({{path, std::make_shared<Node>()}});
  }
  const NodePtr& node = names_[path];
  if (mode == Mode::kCreate) {
    node->begins_durable = node->durable.empty();
    node->data.clear();
  }
  return std::make_unique<FaultyFile>(*this, node, mode);
}

IoProgress FaultyFiles::Write(Node& node, Bytes data) {
  const Fault fault = Begin(Operation::kWrite);
  IoProgress progress{data.size(), fault.error};
  if (fault.error != kNoError) progress.bytes = std::min<uint64_t>(fault.lands, data.size());
  if (room_ < progress.bytes) progress = {room_, ENOSPC};
  if (room_ != kUnlimited) room_ -= progress.bytes;
  node.data += data.substr(0, progress.bytes);
  return progress;
}

IoError FaultyFiles::Sync(Node& node, std::unique_lock<std::mutex>& lock, uint64_t age) {
  const Fault fault = Begin(Operation::kSync);
  const size_t size = node.data.size();
  ++held_syncs_;
  changed_.notify_all();
  changed_.wait(lock, [&] { return !holds_syncs_ || age != age_; });
  --held_syncs_;
  if (age != age_) return EBADF;
  if (fault.error != kNoError) return fault.error;
  if (node.begins_durable) {
    if (size > node.durable.size()) node.durable.append(node.data, node.durable.size(), size - node.durable.size());
  } else {
    node.durable = node.data;
    node.begins_durable = true;
  }
  return kNoError;
}

IoError FaultyFiles::Rename(const std::string& from, const std::string& to) {
  const std::lock_guard lock(mutex_);
  const Fault fault = Begin(Operation::kRename);
  if (fault.error != kNoError) return fault.error;
  const auto found = names_.find(Normal(from));
  if (found == names_.end() || !IsDirectory(ParentOf(Normal(to)))) return ENOENT;
  if (IsDirectory(Normal(to))) return EISDIR;
  const NodePtr node = found->second;
  if (Normal(from) != Normal(to)) ChangeNames({{Normal(to), node}, {Normal(from), nullptr}});
  return kNoError;
}

IoError FaultyFiles::Remove(const std::string& path) {
  const std::lock_guard lock(mutex_);
  const Fault fault = Begin(Operation::kRemove);
  if (fault.error != kNoError) return fault.error;
  if (IsDirectory(Normal(path))) return EISDIR;
  if (!names_.contains(Normal(path))) return ENOENT;
  ChangeNames({{Normal(path), nullptr}});
  return kNoError;
}

IoError FaultyFiles::Link(const std::string& from, const std::string& to) {
  const std::lock_guard lock(mutex_);
  const Fault fault = Begin(Operation::kLink);
  if (fault.error != kNoError) return fault.error;
  if (!names_.contains(Normal(from)) || !IsDirectory(ParentOf(Normal(to)))) return ENOENT;
  if (IsDirectory(Normal(from))) return EPERM;
  if (names_.contains(Normal(to))) return EEXIST;
  ChangeNames({{Normal(to), names_[Normal(from)]}});
  return kNoError;
}

IoError FaultyFiles::MakeDirectory(const std::string& path) {
  const std::lock_guard lock(mutex_);
  const Fault fault = Begin(Operation::kMakeDirectory);
  if (fault.error != kNoError) return fault.error;
  if (!IsDirectory(ParentOf(Normal(path)))) return ENOENT;
  if (Normal(path).empty() || names_.contains(Normal(path))) return kNoError;
  auto node = std::make_shared<Node>();
  node->is_directory = true;
  ChangeNames({{Normal(path), std::move(node)}});
  return kNoError;
}

IoError FaultyFiles::SyncDirectory(const std::string& path) {
  const std::lock_guard lock(mutex_);
  const Fault fault = Begin(Operation::kSyncDirectory);
  if (fault.error != kNoError) return fault.error;
  if (!IsDirectory(Normal(path))) return ENOENT;
  const auto is_here = [&](const Change& change) {
    return std::any_of(change.begin(), change.end(),
                       [&](const auto& name) { return ParentOf(name.first) == Normal(path); });
  };
  for (const Change& change : changes_)
    if (is_here(change)) Apply(change, durable_names_);
  std::erase_if(changes_, is_here);
  return kNoError;
}

Result<std::vector<std::string>, IoError> FaultyFiles::List(const std::string& path) {
  const std::lock_guard lock(mutex_);
  const Fault fault = Begin(Operation::kList);
  if (fault.error != kNoError) return Failure(fault.error);
  if (!IsDirectory(Normal(path))) return Failure(IoError{ENOENT});
  std::vector<std::string> found;
  for (const auto& [name, node] : names_)
    if (ParentOf(name) == Normal(path)) found.push_back(name.substr(name.rfind('/') + 1));
  return found;
}

FileSystem::Kind FaultyFiles::KindOf(const std::string& path) {
  const std::lock_guard lock(mutex_);
  if (IsDirectory(Normal(path))) return Kind::kDirectory;
  return names_.contains(Normal(path)) ? Kind::kFile : Kind::kAbsent;
}

Result<std::unique_ptr<File>, IoError> FaultyFiles::Lock(const std::string& path) {
  const std::lock_guard lock(mutex_);
  const Fault fault = Begin(Operation::kLock);
  if (fault.error != kNoError) return Failure(fault.error);
  if (!IsDirectory(Normal(path)) && !names_.contains(Normal(path))) return Failure(IoError{ENOENT});
  // The lock belongs to the file, even if it is renamed later.
  const auto found = names_.find(Normal(path));
  const NodePtr node = found == names_.end() ? nullptr : found->second;
  const std::string place = node == nullptr ? Normal(path) : StrCat("#", reinterpret_cast<uintptr_t>(node.get()));
  if (!locked_.insert(place).second) return Failure(IoError{EWOULDBLOCK});
  return std::make_unique<FaultyLock>(*this, place, node);
}

}  // namespace respite
