// AofLoader: loads the append-only file: the base, then the incrementals in order.
//
// Commands between MULTI and EXEC run all or not at all. Expired keys stay until a DEL in the file, and the limits of
// clients do not apply. If the last command or transaction of the last file is incomplete, the file is truncated before
// this command or transaction (`aof-load-truncated yes`), unless complete commands follow.
//
// Commands that fail are counted; the first 20 are logged with the name of the file and the offset. If any command has
// failed, loading fails at its end, unless `aof-load-failed-commands` permits failures. Any other error ends loading
// immediately.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "persistence/aof_reader.h"
#include "server/clients/acl/user.h"
#include "server/clients/waiting_requests.h"
#include "server/dataset/unit.h"
#include "server/execution/prefetcher.h"
#include "server/storage/append_only_file.h"
#include "server/storage/loading.h"
#include "server/storage/rdb_loader.h"

namespace respite {

struct AofFiles {              // the files that AofLoader loads
  std::string folder;          // the folder with the files
  AofManifest manifest;        // names the files
  uint64_t total_bytes = 0;    // size of all files that will be loaded
  bool may_be_changed = true;  // true: an incomplete end may be removed from the last file, if directives permit it
};

class AofLoader {  // loads append-only files (startup, DEBUG LOADAOF, preload-file): the base, then the incrementals
 public:
  // `services` must outlive the loader.
  explicit AofLoader(const Services& services);
  ~AofLoader();

  // Loads all files of the manifest. After kFailed or kStopped the data must not be used. Requires: an empty keyspace,
  // and AppendOnlyFile::Prepare. `holder` is the client whose command loads (may be null); see Loading::Begin.
  LoadOutcome Load(const Session* holder = nullptr);  // loads all files of the manifest
  // Loads these files instead of those of the server's append-only file. `holder` is the client whose command loads;
  // null: none. Requires: an empty keyspace.
  LoadOutcome LoadFiles(AofFiles files, const Session* holder = nullptr);  // loads the given files
  uint64_t BaseBytes() const { return base_bytes_; }                       // size of the loaded base file; 0: none

 private:
  enum class Outcome : uint8_t { kLoaded, kCut, kFailed, kStopped };  // kCut: loaded, and an incomplete end was removed
  enum class Tail : uint8_t { kIncomplete, kCorrupt };                // what is wrong with the end of a file
  enum class Place : uint8_t { kMiddle, kLast };                      // only the last file may be incomplete
  struct Part {               // one of the append-only files, while it is loaded
    const std::string& name;  // name of the file without a folder
    File& file;               // the open file
    uint64_t bytes;           // size of the file in bytes
    Place place;              // whether this is the last file, which alone may be incomplete
  };
  struct Group {                    // the commands of a transaction, from its MULTI until its EXEC is read
    uint64_t offset;                // position of the MULTI in the file
    Transaction commands;           // the commands of the transaction
    std::vector<uint64_t> offsets;  // position in the AOF file of each command in `commands`
    std::optional<uint64_t> second_multi_offset;  // position of the first MULTI inside this MULTI; nullopt: none
  };
  struct Record {                  // one command in the file
    const Command& command;        // the command to run
    std::span<const Bytes> words;  // arguments of the command; the first one is its name
    uint64_t offset;               // position of the command in the file
  };

  std::string PathOf(const std::string& name) const { return files_.folder + "/" + name; }  // path of a file to load
  static bool IsFailedOrStopped(Outcome outcome);                                           // true: loading must end
  Outcome LoadPart(const std::string& name, const char* kind, Place place);  // loads one file; `kind`: "base" or "incr"
  Outcome LoadFile(const Part& part, bool is_base);                          // loads the content of an open file
  RdbLoadResult LoadPreamble(const Part& part, bool is_base);  // loads the RDB with which a file may begin
  Outcome RunRecords(const Part& part, uint64_t offset);       // runs all commands from `offset` to the end of the file
  Outcome HandleEndOfRecords(const Part& part,                 // no more commands: truncates the file, or fails
                             const AofReader& reader, AofReader::Status status);
  Outcome TruncateIfIncomplete(const Part& part, uint64_t offset);  // cuts off an incomplete end, or fails
  Outcome Cut(const Part& part, uint64_t offset, Tail tail);        // truncates the file to `offset`, if permitted
  void KeepEnd(const Part& part, uint64_t offset);  // copies the end of a file to another file, before it is removed
  bool MayDropTail(const Part& part, uint64_t offset) const;  // true: a directive permits to remove this bad end
  // Runs the commands of `batch`. Returns false if loading must end, because a command is unknown, a SELECT has failed,
  // or the server must stop.
  bool Run(const Part& part, const RequestBatch& batch);  // runs the commands; false: loading must end
  Loading::Order ReportProgress(uint64_t bytes);  // tells Loading how many bytes are loaded; kStop: loading must end
  // Calls ReportProgress if its last call was at least 100 ms ago. Must be called after commands that may be slow, such
  // as scripts. The other reports come after a number of loaded bytes, which could be too late then.
  void ReportIfSlow(const Record& record);  // calls ReportProgress, if the last report was 100 ms ago or more
  // Returns the command that had the name arguments[0] before rename-command. If no renamed command had this name,
  // returns `found`, the command that has the name now, or else a command that only an AOF or a primary may use.
  // Returns null if the name is unknown.
  const Command* FindCommandBeforeRenaming(std::span<const Bytes> arguments,  // finds a command by its old name
                                           const Command* found) const;
  bool RunOne(const Part& part, const Record& record);  // runs a command, or queues it in MULTI; false: end loading
  bool RunGroup(const Part& part);  // EXEC: runs the transaction's commands; false: loading must end
  bool Replay(Unit& unit, const Part& part, const Record& record);  // runs one command; false: loading must end
  void NoteFailure(const Part& part, const Record& record, const std::string& error);  // counts and logs the failure
  bool ToleratesFailures();               // called at the end of loading; false: commands failed, and that is an error
  Outcome Fail(const std::string& text);  // logs the text; returns kFailed

  const Services& services_;          // references to all parts of the server
  AofFiles files_;                    // the files to load
  Prefetcher prefetcher_;             // loads the keys of the next commands into the CPU's cache
  const User user_;                   // user with all permissions, who runs the commands
  std::unique_ptr<Session> session_;  // session in which the commands run
  std::optional<Group> group_;        // the transaction that is being read; nullopt: none
  uint64_t bytes_before_ = 0;         // total size of the files that were loaded before this one
  uint64_t next_report_bytes_ = 0;    // progress is reported when this number of bytes is loaded
  int64_t reported_ms_ = 0;           // when progress was last reported (real time)
  bool stopped_ = false;              // true: loading must end, because the server must stop
  uint64_t base_bytes_ = 0;           // size of the base file; 0 before it is loaded
  uint64_t failures_ = 0;             // number of commands that failed
};

}  // namespace respite
