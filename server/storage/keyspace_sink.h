// KeyspaceSink: puts the keys and functions of an RDB into a keyspace, and counts them for the loading statistics.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "datatypes/keyspace.h"
#include "persistence/rdb_file_reader.h"

namespace respite {

class FunctionLibraries;
struct Services;

struct RdbLoadOptions {
  // Redis: a primary drops expired keys. kKeep is for append-only files, since their later records were written while
  // the keys existed.
  enum class Expired : uint8_t { kDrop, kKeep };
  // For a key that already exists: report an invalid file, or replace the value.
  enum class Duplicates : uint8_t { kRefuse, kReplace };
  // kPrimary sets a time limit for all function libraries together. Libraries in a file were already accepted by this
  // server.
  enum class Origin : uint8_t { kFile, kPrimary };

  Expired expired = Expired::kDrop;
  Duplicates duplicates = Duplicates::kRefuse;
  Origin origin = Origin::kFile;
  uint64_t loaded_before = 0;  // bytes of other files, for Loading
};

// Destination of the data
struct LoadTarget {
  Keyspace& keyspace;
  FunctionLibraries& libraries;
};

class KeyspaceSink final : public RdbSink {
 public:
  KeyspaceSink(const Services& services, LoadTarget target, const RdbLoadOptions& options);

  // Returns whether the server must stop.
  bool Stopped() const { return stopped_; }
  // Logs the results of the loading.
  void LogLoaded() const;
  // Logs why the loading has failed. `place` is a text such as "the file dump.rdb".
  void LogFailure(const RdbFailure& failure, const std::string& place) const;

  void OnAux(Bytes name, Bytes value, uint64_t offset) override;
  void OnResize(int db, uint64_t keys, uint64_t timed) override { target_.keyspace[db].Reserve(keys, timed); }
  Result<Done> OnEntries(int db, std::span<RdbEntry> entries) override;
  Result<Done> OnLibrary(Bytes code) override;

  void OnEmptyKey(int db, Bytes key) override;
  void OnUnverified() override;
  Result<Done> OnProgress(uint64_t offset) override;

 private:
  bool IsExpired(const Entry& entry) const;
  void SetUsage(RdbEntry& loaded) const;
  void Insert(Database& data, EntryPtr entry) const;

  const Services& services_;
  const LoadTarget target_;
  const RdbLoadOptions options_;
  const int64_t now_ms_;
  const int64_t loaded_for_ms_;  // FunctionLibraries::LoadedForMs at the beginning
  bool stopped_ = false;
  uint64_t empty_keys_ = 0;
};

// Returns the options for reading an RDB as the settings say.
RdbReadOptions LoadReadOptions(const Services& services);

}  // namespace respite
