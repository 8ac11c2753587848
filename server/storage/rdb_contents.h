// RdbContents: the contents and format of an RDB file, as the directives say.
#pragma once

#include <cstdint>
#include <functional>

#include "persistence/rdb_file_writer.h"
#include "server/storage/children.h"

namespace respite {

class KeyUsage;
class Clock;
class FunctionLibraries;
struct History;
class Keyspace;
class MemoryGauge;
struct Settings;

// kFunctions: the functions without the keys.
enum class RdbPurpose : uint8_t { kSnapshot, kAofBase, kFunctions };

class RdbContents {
 public:
  struct Parts {
    const Settings& settings;
    const Clock& clock;
    const Keyspace& keyspace;
    const KeyUsage& usage;
    const FunctionLibraries& function_libraries;
    const MemoryGauge& memory;
    const History& history;
  };
  explicit RdbContents(const Parts& parts) : parts_(parts) {}

  // The data set and what is stored with it.
  RdbSource Source(RdbPurpose purpose) const;
  RdbSaveOptions Options() const;
  // False while a replica is without its primary's data. The file of before is worth more than what is here, which may
  // be nothing or what clients of a writable replica have written since. So only an operator's command saves.
  bool IsWorthSaving() const;
  // The progress callback of WriteRdb: reports to `reporter` (may be null) and delays as rdb-key-save-delay says.
  std::function<void(uint64_t)> Progress(ChildReporter* reporter) const;

 private:
  const Parts parts_;
};

}  // namespace respite
