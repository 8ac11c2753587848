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

struct RdbLoadOptions {  // how the contents of an RDB are loaded
  // What happens to expired keys of the RDB. As in Redis, a primary drops them. Replicas keep them (kKeep), and so do
  // append-only files, because their later records were written while the keys existed.
  enum class Expired : uint8_t { kDrop, kKeep };
  // What happens if a key of the RDB already exists. kRefuse: loading fails. kReplace: the new value replaces the old
  // one.
  enum class Duplicates : uint8_t { kRefuse, kReplace };
  // Where the RDB comes from. kPrimary: from the primary, so there is a time limit for all its function libraries
  // together. kFile: from a file, without a limit, because this server has accepted the libraries before.
  enum class Origin : uint8_t { kFile, kPrimary };

  Expired expired = Expired::kDrop;             // whether keys that have expired are dropped
  Duplicates duplicates = Duplicates::kRefuse;  // whether an existing key is an error or is replaced
  Origin origin = Origin::kFile;                // where the RDB comes from: a file of this server, or the primary
  uint64_t loaded_before = 0;  // bytes of the files loaded before this RDB, for the progress of Loading
};

struct LoadTarget {              // where the loaded data goes
  Keyspace& keyspace;            // for loaded keys
  FunctionLibraries& libraries;  // for loaded functions
};

class KeyspaceSink final : public RdbSink {  // puts keys and functions of an RDB into a keyspace
 public:
  KeyspaceSink(const Services& services, LoadTarget target, const RdbLoadOptions& options);

  bool MustServerStop() const { return stopped_; }  // true: loading ended early, because the server must stop
  void LogLoaded() const;                           // logs how many keys were loaded, had expired, or had no elements
  // Logs why loading has failed. `place` names the source, such as "the file dump.rdb".
  void LogFailure(const RdbFailure& failure, const std::string& place) const;  // `place`: "the file dump.rdb"

  void OnAux(Bytes name, Bytes value, uint64_t offset) override;           // uses or logs a field such as repl-id
  void OnResizeDatabase(int db, uint64_t keys, uint64_t timed) override {  // reserves memory
    target_.keyspace[db].Reserve(keys, timed);
  }
  Result<Done> OnEntries(int db, std::span<RdbEntry> entries) override;  // stores the keys; fails if one exists already
  Result<Done> OnLibrary(Bytes code) override;  // loads a library of functions; fails if its code is invalid

  void OnEmptyCollection(int db, Bytes key) override;  // counts and skips a key without elements
  void OnMissingChecksum() override;                   // logs that the RDB has no checksum
  Result<Done> OnProgress(uint64_t offset) override;  // reports progress, serves clients; fails if the server must stop

 private:
  bool IsExpired(const Entry& entry) const;           // always false if expired keys must be kept
  void SetUsage(RdbEntry& loaded) const;              // sets the LRU or LFU bits of the key, if the RDB has them
  void Insert(Database& data, EntryPtr entry) const;  // adds a key; kReplace: removes an old one

  const Services& services_;           // the parts of the server
  const LoadTarget target_;            // where the loaded data goes
  const RdbLoadOptions options_;       // what to do with expired and existing keys …
  const int64_t now_ms_;               // Unix time when loading began
  const int64_t load_time_before_ms_;  // time spent on loading libraries before this RDB
  bool stopped_ = false;               // loading ended early, because the server must stop
  uint64_t empty_keys_ = 0;            // number of keys without elements, which were skipped
};

RdbReadOptions MakeRdbReadOptions(const Services& services);  // how to read RDBs, by the directives

}  // namespace respite
