// AofLoader: loads the append-only file: the base, then the incrementals in order.
//
// Commands between MULTI and EXEC run all or not at all. No key expires on its own, and no client limits apply. If the
// last record of the last file is incomplete and contains no complete record, the file is truncated before that record
// (`aof-load-truncated yes`).
//
// A command that fails is counted; the first 20 are logged with the name of the file and the offset. If a command has
// failed, loading fails at its end, unless `aof-load-failed-commands` permits it. Any other error ends loading
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

class AofLoader {  // loads the append-only file: the base, then the incrementals in order
 public:
  // `services` must outlive the loader.
  explicit AofLoader(const Services& services);
  ~AofLoader();

  // Loads all files of the manifest. After kFailed or kStopped the data must not be used. Requires: an empty keyspace,
  // and AppendOnlyFile::Prepare. `holder` is passed to Loading::Begin.
  LoadOutcome Load(const Session* holder = nullptr);  // loads all files of the manifest
  uint64_t BaseBytes() const { return base_bytes_; }  // size of the loaded base file

 private:
  enum class Outcome : uint8_t { kLoaded, kCut, kFailed, kStopped };
  enum class Place : uint8_t { kMiddle, kLast };  // only the last file may be incomplete
  struct Part {                                   // one file of the append-only file, while it is loaded
    const std::string& name;                      // file name without a directory
    File& file;                                   // the open file
    uint64_t bytes;                               // size of the file
    Place place;                                  // whether this is the last file, which alone may be incomplete
  };
  struct Group {                    // commands since a MULTI whose EXEC has not been read yet
    uint64_t offset;                // position of the MULTI in the file
    Transaction commands;           // the queued commands
    std::vector<uint64_t> offsets;  // positions of the queued commands in the file
    std::optional<uint64_t> inner;  // position of a second MULTI before the EXEC; no server writes one
  };
  struct Record {                  // one command of a file
    const Command& command;        // the command to run
    std::span<const Bytes> words;  // the name of the command and its arguments
    uint64_t offset;               // position of the command in the file
  };

  static bool IsFailedOrStopped(Outcome outcome);                            // kFailed or kStopped, so loading must end
  Outcome LoadPart(const std::string& name, const char* kind, Place place);  // loads one file; `kind`: "base" or "incr"
  Outcome LoadFile(const Part& part, bool is_base);                          // loads the content of an open file
  RdbLoadResult LoadPreamble(const Part& part, bool is_base);  // loads the RDB at the beginning of the file
  Outcome LoadRecords(const Part& part, uint64_t offset);      // runs the commands from `offset` on
  Outcome HandleEndOfRecords(const Part& part, const AofReader& reader, AofReader::Status status);
  Outcome TruncateIfIncomplete(const Part& part, uint64_t offset);  // cuts off an incomplete last record at `offset`
  Outcome Cut(const Part& part, uint64_t offset);                   // truncates the file, if permitted; else fails
  // Runs the commands of `batch`. Returns false if loading must end: a command is unknown, a SELECT has failed, or the
  // server must stop.
  bool Run(const Part& part, const RequestBatch& batch);  // runs the commands of `batch`; false: ends
  Loading::Order ReportProgress(uint64_t bytes);  // tells Loading how many bytes are loaded; kStop: loading must end
  // Reports progress after a slow command, such as a script: reports that depend on bytes would come too late.
  void ReportIfSlow(const Record& record);  // tells Loading the progress, if the last report is long ago
  // Finds the command that had this name before rename-command. `found` is the command that has the name now; it is the
  // result if no renamed command had the name.
  const Command* FindCommandBeforeRenaming(std::span<const Bytes> arguments, const Command* found) const;
  bool RunOne(const Part& part, const Record& record);  // runs or queues a command; false: loading must end
  bool RunGroup(const Part& part);                      // EXEC: runs the queued commands; false: loading must end
  bool Replay(Unit& unit, const Part& part, const Record& record);  // runs one command; false: loading must end
  void NoteFailure(const Part& part, const Record& record, const std::string& error);  // counts it, logs the first 20
  bool ToleratesFailures();               // at the end; false: commands failed and aof-load-failed-commands is no
  Outcome Fail(const std::string& text);  // logs the text; returns kFailed

  const Services& services_;          // the parts of the server
  Prefetcher prefetcher_;             // loads the memory of the next commands' keys into the cache
  const User user_;                   // has all permissions; runs the commands
  std::unique_ptr<Session> session_;  // runs the commands
  std::optional<Group> group_;        // the commands since a MULTI; nullopt: not in a transaction
  uint64_t bytes_before_ = 0;         // bytes of the files that were loaded before this one
  uint64_t next_report_ = 0;          // number of loaded bytes at which progress is reported next
  int64_t reported_ms_ = 0;           // real elapsed time when progress was reported last
  bool stopped_ = false;              // loading must end, because the server must stop
  uint64_t base_bytes_ = 0;           // size of the loaded base file
  uint64_t failures_ = 0;             // number of commands that failed
};

}  // namespace respite
