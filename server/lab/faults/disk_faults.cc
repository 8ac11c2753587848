#include "server/lab/faults/disk_faults.h"

#include <sys/mman.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <new>
#include <thread>
#include <utility>

namespace respite {

// A rule for disk operations. It is in memory that the server and its child processes share, so all members are atomic
// numbers.
struct DiskFaults::Slot {
  std::atomic<uint64_t> serial = 0;  // 0: unused
  std::atomic<DiskFault::Kind> kind = DiskFault::Kind::kFull;
  std::atomic<int64_t> slow_ms = 0;
  std::atomic<uint64_t> times = 0, after = 0, chance = 0, seed = 0;
  HitCounts counts;

  HitSchedule schedule() const { return {.times = times, .after = after, .chance = chance, .seed = seed}; }
};

struct DiskFaults::Table {
  std::array<Slot, kMaxDiskRules> slots;
};

DiskFaults::DiskFaults() = default;

DiskFaults::~DiskFaults() {
  if (Table* table = table_.load()) munmap(table, sizeof(Table));
}

bool DiskFaults::Add(uint64_t serial, const DiskFault& fault, const HitSchedule& schedule) {
  if (table_.load() == nullptr) {
    void* memory = mmap(nullptr, sizeof(Table), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return false;
    table_.store(new (memory) Table());
  }
  for (Slot& slot : table_.load()->slots) {
    if (slot.serial != 0) continue;
    slot.kind = fault.kind;
    slot.slow_ms = fault.slow_ms;
    slot.times = schedule.times;
    slot.after = schedule.after;
    slot.chance = schedule.chance;
    slot.seed = schedule.seed;
    slot.counts.Reset();
    slot.serial = serial;  // set last, because other threads may use the slot from now on
    return true;
  }
  return false;
}

DiskFaults::Slot* DiskFaults::Find(uint64_t serial) const {
  Table* const table = table_.load();
  if (table == nullptr) return nullptr;
  for (Slot& slot : table->slots) {
    if (slot.serial == serial) return &slot;
  }
  return nullptr;
}

void DiskFaults::Remove(uint64_t serial) {
  if (Slot* slot = Find(serial)) slot->serial = 0;
}

void DiskFaults::Seed(uint64_t serial, uint64_t seed) {
  if (Slot* slot = Find(serial)) slot->seed = seed;
}

const HitCounts* DiskFaults::CountsOf(uint64_t serial) const {
  const Slot* const slot = Find(serial);
  return slot == nullptr ? nullptr : &slot->counts;
}

DiskFaults::Slot* DiskFaults::NextAfter(uint64_t serial, Operation operation) const {
  Slot* next = nullptr;
  for (Slot& slot : table_.load()->slots) {
    const uint64_t its_serial = slot.serial;
    if (its_serial <= serial || (next != nullptr && next->serial < its_serial)) continue;
    const bool fits = operation == Operation::kWrite || slot.kind != DiskFault::Kind::kFull;
    if (fits) next = &slot;
  }
  return next;
}

// Counts a match of each rule for this operation, up to the first rule that acts, and returns the effect of that rule;
// no effect if no rule acts. A full disk makes writes fail but not syncs, because data that was written before can
// still be synced.
DiskFaults::DiskEffect DiskFaults::TakeEffect(Operation operation) {
  if (table_.load() == nullptr) return {};
  Slot* slot = NextAfter(0, operation);
  while (slot != nullptr && !slot->counts.CountMatch(slot->schedule())) {
    const uint64_t serial = slot->serial;
    slot = serial == 0 ? nullptr : NextAfter(serial, operation);  // 0: the rule was just removed
  }
  if (slot == nullptr) return {};
  if (slot->kind == DiskFault::Kind::kSlow) return {.slow_ms = slot->slow_ms};
  return {.error = slot->kind == DiskFault::Kind::kFull ? ENOSPC : EIO};
}

// --- FaultyDisk.

namespace {

class FaultyFile final : public File {
 public:
  FaultyFile(FaultyDisk& disk, std::unique_ptr<File> file) : disk_(disk), file_(std::move(file)) {}

  IoProgress Write(Bytes data) override {
    const IoError error = disk_.InjectFault(DiskFaults::Operation::kWrite);
    return error == kNoError ? file_->Write(data) : IoProgress{0, error};
  }
  IoProgress ReadAt(uint64_t offset, std::span<char> into) override { return file_->ReadAt(offset, into); }
  IoError Sync() override {
    const IoError error = disk_.InjectFault(DiskFaults::Operation::kSync);
    return error == kNoError ? file_->Sync() : error;
  }
  void StartWriteback() override { file_->StartWriteback(); }
  IoError Truncate(uint64_t bytes) override { return file_->Truncate(bytes); }
  Result<uint64_t, IoError> Size() const override { return file_->Size(); }

 private:
  FaultyDisk& disk_;
  const std::unique_ptr<File> file_;
};

}  // namespace

void FaultyDisk::ReallySleep(int64_t ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

Result<std::unique_ptr<File>, IoError> FaultyDisk::Open(const std::string& path, Mode mode) {
  auto opened = files_.Open(path, mode);
  if (!opened || mode == Mode::kRead) return opened;
  return std::unique_ptr<File>(std::make_unique<FaultyFile>(*this, std::move(opened).value()));
}

IoError FaultyDisk::InjectFault(DiskFaults::Operation operation) {
  const DiskFaults::DiskEffect effect = faults_.TakeEffect(operation);
  if (effect.slow_ms > 0) sleep_(effect.slow_ms);
  return effect.error;
}

}  // namespace respite
