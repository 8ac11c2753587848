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

struct RdbLoadOptions {  // how to load an RDB
  // How the loading of an RDB treats its expired keys. A primary drops them, as in Redis. Replicas keep them (kKeep),
  // and so do append-only files, because their later records were written while the keys existed.
  enum class Expired : uint8_t { kDrop, kKeep };  // what happens to expired keys
  // How the loading of an RDB treats a key that already exists. kRefuse: loading fails. kReplace: the new value
  // replaces the old one.
  enum class Duplicates : uint8_t { kRefuse, kReplace };  // what happens to keys that exist
  // Where the RDB comes from. kPrimary: from the primary, so there is a time limit for all its function libraries
  // together. kFile: from a file, without a limit, because this server has accepted the libraries before.
  enum class Origin : uint8_t { kFile, kPrimary };  // where the RDB comes from

  Expired expired = Expired::kDrop;             // what happens to keys that have expired: dropped or kept
  Duplicates duplicates = Duplicates::kRefuse;  // what happens to keys that exist already: an error, or replaced
  Origin origin = Origin::kFile;                // where the RDB comes from: a file, or the primary
  uint64_t loaded_before = 0;  // total size of the files that were loaded before this RDB, for the progress
};

struct LoadTarget {              // where loaded keys and functions go
  Keyspace& keyspace;            // gets the keys
  FunctionLibraries& libraries;  // gets the functions
};

class KeyspaceSink final : public RdbSink {  // puts keys and functions from an RDB into a LoadTarget
 public:
  KeyspaceSink(const Services& services, LoadTarget target, const RdbLoadOptions& options);

  bool MustServerStop() const { return stopped_; }  // true: loading ended, because the server must stop
  void LogLoaded() const;                           // logs how many keys were loaded, had expired, or were empty
  // Logs why loading has failed. `place` names the source, such as "the file dump.rdb".
  void LogFailure(const RdbFailure& failure, const std::string& place) const;  // logs it; `place`: "the file dump.rdb"

  void OnAux(Bytes name, Bytes value, uint64_t offset) override;           // uses or logs a field such as repl-id
  void OnResizeDatabase(int db, uint64_t keys, uint64_t timed) override {  // reserves memory for this number of keys
    target_.keyspace[db].Reserve(keys, timed);
  }
  Result<Done> OnEntries(int db,  // stores keys, drops expired ones (kDrop); fails if a key exists (kRefuse)
                         std::span<RdbEntry> entries) override;
  Result<Done> OnLibrary(Bytes code) override;  // loads a function library; fails if invalid, or too slow (kPrimary)

  void OnEmptyCollection(int db, Bytes key) override;  // skips a key without elements, and counts it
  void OnMissingChecksum() override;                   // logs that the RDB has no checksum
  Result<Done> OnProgress(uint64_t offset) override;  // reports progress, serves clients; fails if the server must stop

 private:
  bool IsExpired(const Entry& entry) const;           // true: the key has expired and must not be loaded
  void SetUsage(RdbEntry& loaded) const;              // sets LRU or LFU bits (by the policy), if the RDB has them
  void Insert(Database& data, EntryPtr entry) const;  // adds a key; with kReplace, first removes an old one

  const Services& services_;                 // references to all parts of the server
  const LoadTarget target_;                  // where loaded keys and functions go
  const RdbLoadOptions options_;             // what happens to expired keys, existing keys …
  const int64_t now_ms_;                     // Unix time in ms when loading of this RDB began
  const int64_t function_load_ms_at_start_;  // TotalLoadTimeMs() when this RDB began; the limit counts from there
  bool stopped_ = false;                     // true: loading ended, because the server must stop
  uint64_t progress_offset_ = 0;             // bytes of the RDB at the last call of OnProgress
  uint64_t empty_keys_ = 0;                  // number of keys without elements, which were skipped
};

RdbReadOptions MakeRdbReadOptions(const Services& services);  // how to read RDB files, by the directives

}  // namespace respite
