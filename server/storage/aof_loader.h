// AofLoader: gives a server the data set that its append-only file has: the base, then the incrementals in order.
//
// Commands run as they did, each group between MULTI and EXEC whole or not at all, with nothing expiring by itself and
// without any limit for clients. A last file whose last record is torn is cut there (`aof-load-truncated yes`). A
// command that fails is logged and counted; with one or more of them the file counts as not loaded, unless
// `aof-load-failed-commands` says otherwise. Any other fault is fatal. What is wrong is in the log, with the name of
// the file and the octet.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "persistence/aof_reader.h"
#include "server/clients/acl/user.h"
#include "server/clients/transaction.h"
#include "server/dataset/unit.h"
#include "server/execution/prefetcher.h"
#include "server/storage/append_only_file.h"
#include "server/storage/loading.h"
#include "server/storage/rdb_loader.h"

namespace respite {

struct Services;

class AofLoader {
 public:
  explicit AofLoader(const Services& services);
  ~AofLoader();

  // kLoaded, kFailed or kStopped; after the latter two the data set is not to be used. Requires: an empty data set, and
  // AppendOnlyFile::Prepare. `holder` as for Loading::Begin.
  LoadOutcome Load(const Session* holder = nullptr);
  uint64_t BaseOctets() const { return base_octets_; }

 private:
  enum class Outcome : uint8_t { kLoaded, kCut, kFailed, kStopped };
  enum class Place : uint8_t { kMiddle, kLast };  // only the last file may end in the middle of something
  struct Part {
    const std::string& name;
    File& file;
    uint64_t octets;
    Place place;
  };
  // Commands since a MULTI whose EXEC has not come yet.
  struct Group {
    uint64_t offset;  // of the MULTI
    Transaction commands;
    std::vector<uint64_t> offsets;  // of the commands
  };
  struct Record {
    const Command& command;
    std::span<const Bytes> words;
    uint64_t offset;
  };

  static bool IsOver(Outcome outcome);
  Outcome LoadPart(const std::string& name, const char* kind, Place place);
  Outcome LoadFile(const Part& part, bool is_base);
  RdbLoadEnd LoadPreamble(const Part& part, bool is_base);
  Outcome LoadRecords(const Part& part, uint64_t offset);
  Outcome Finish(const Part& part, const AofReader& reader, AofReader::Status status);
  Outcome Cut(const Part& part, uint64_t offset);
  // False: a record that no server has written.
  bool Run(const Part& part, const RequestBatch& batch);
  // Tells Loading now and then.
  Loading::Order Report(uint64_t octets);
  // What `words` mean: names count as they were before rename-command. `found`: by the names of today.
  const Command* CommandOf(std::span<const Bytes> words, const Command* found) const;
  // False: the data set cannot be made any more.
  bool RunOne(const Part& part, const Record& record);
  bool RunGroup(const Part& part);
  bool Replay(Unit& unit, const Part& part, const Record& record);
  void NoteFailure(const Part& part, const Record& record, const std::string& error);
  // False: commands failed, and that is not to be put up with.
  bool PutsUpWithFailures();
  Outcome Fail(const std::string& text);

  const Services& services_;
  Prefetcher prefetcher_;
  const User user_;                   // may do everything
  std::unique_ptr<Session> session_;  // what the commands run as
  std::optional<Group> group_;
  uint64_t octets_before_ = 0;  // of the parts that were loaded
  uint64_t next_report_ = 0;
  uint64_t base_octets_ = 0;
  uint64_t failures_ = 0;  // commands that failed
};

}  // namespace respite
