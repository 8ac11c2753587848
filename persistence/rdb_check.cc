#include "persistence/rdb_check.h"

#include <array>
#include <climits>

#include "base/str_cat.h"
#include "persistence/file_head.h"
#include "persistence/rdb_file_reader.h"
#include "persistence/rdb_format.h"

namespace respite {

namespace {

std::string AtOffset(uint64_t offset, Bytes text) { return StrCat("[offset ", offset, "] ", text); }

// Returns the text with control characters escaped for the terminal. (Redis prints names verbatim.)
std::string Printable(Bytes text) {
  const std::string quoted = Quoted(text);
  return quoted.substr(1, quoted.size() - 2);
}

class CheckSink final : public RdbSink {
 public:
  CheckSink(int64_t now_ms, CheckConsole& console) : now_ms_(now_ms), console_(console) {}

  void OnAux(Bytes name, Bytes value, uint64_t offset) override {
    console_.Say(AtOffset(offset, "AUX FIELD " + Printable(name) + " = '" + Printable(value) + "'"));
  }
  void OnDatabase(int db, uint64_t offset) override { console_.Say(AtOffset(offset, StrCat("Selecting DB ID ", db))); }
  void OnResizeDatabase(int, uint64_t, uint64_t) override {}
  Result<Done> OnEntries(int, std::span<RdbEntry> entries) override {
    for (const RdbEntry& one : entries) Count(one.entry->Deadline());
    return Done{};
  }
  void OnEmptyCollection(int, Bytes key) override {
    ++keys_;
    console_.Say("[info] A server skips the empty key '" + Printable(key) + "'");
  }
  Result<Done> OnLibrary(Bytes) override { return Done{}; }
  Result<Done> OnModuleAux(Bytes module) override {
    console_.Say("[info] MODULE AUX for: " + Printable(module));
    return Done{};
  }
  Result<Done> OnModuleValue(Bytes) override {
    ++keys_;
    return Done{};
  }
  void OnMissingChecksum() override { has_checksum_ = false; }
  Result<Done> OnProgress(uint64_t) override { return Done{}; }

  bool HasChecksum() const { return has_checksum_; }
  // Counts the key whose value is bad, at which reading stopped. (OnEntries counts the keys before.)
  void CountKey() { ++keys_; }

  void SayFigures() const {
    console_.Say(StrCat("[info] ", keys_, " keys read"));
    console_.Say(StrCat("[info] ", timed_, " expires"));
    console_.Say(StrCat("[info] ", expired_, " already expired"));
  }

 private:
  void Count(int64_t deadline_ms) {
    ++keys_;
    if (deadline_ms == kNoDeadline) return;
    ++timed_;
    if (deadline_ms < now_ms_) ++expired_;
  }

  const int64_t now_ms_;
  CheckConsole& console_;
  uint64_t keys_ = 0;
  uint64_t timed_ = 0;
  uint64_t expired_ = 0;
  bool has_checksum_ = true;
};

const char* StepName(RdbFailure::Step step) {
  switch (step) {
    case RdbFailure::Step::kHead:
      return "start";
    case RdbFailure::Step::kOpcode:
      return "read-type";
    case RdbFailure::Step::kDeadline:
      return "read-expire";
    case RdbFailure::Step::kSizes:
      return "read-len";
    case RdbFailure::Step::kAux:
      return "read-aux";
    case RdbFailure::Step::kModuleAux:
      return "read-module-aux";
    case RdbFailure::Step::kLibrary:
      return "read-functions";
    case RdbFailure::Step::kKey:
      return "read-key";
    case RdbFailure::Step::kValue:
      return "read-object-value";
    case RdbFailure::Step::kChecksum:
      return "check-sum";
  }
  return "";
}

const char* TypeName(uint8_t type) {
  static constexpr std::array kNames = {"string",
                                        "list-linked",
                                        "set-hashtable",
                                        "zset-v1",
                                        "hash-hashtable",
                                        "zset-v2",
                                        "module-pre-release",
                                        "module-value",
                                        "",
                                        "hash-zipmap",
                                        "list-ziplist",
                                        "set-intset",
                                        "zset-ziplist",
                                        "hash-ziplist",
                                        "quicklist",
                                        "stream",
                                        "hash-listpack",
                                        "zset-listpack",
                                        "quicklist-v2",
                                        "stream-v2",
                                        "set-listpack",
                                        "stream-v3",
                                        "hash-metadata-draft",
                                        "hash-listpack-ex-draft",
                                        "hash-metadata",
                                        "hash-listpack-ex"};
  return type < kNames.size() ? kNames[type] : "unknown";
}

void SayFailure(const RdbFailure& failure, const CheckSink& sink, CheckConsole& console) {
  const bool is_checksum = failure.kind == RdbFailure::Kind::kChecksum;
  console.Say("--- RDB ERROR DETECTED ---");
  console.Say(AtOffset(failure.offset, is_checksum ? Bytes("RDB CRC error") : Bytes(failure.text)));
  console.Say(std::string("[additional info] While doing: ") + StepName(failure.step));
  if (failure.key) console.Say("[additional info] Reading key '" + Printable(*failure.key) + "'");
  if (failure.type) {
    console.Say(StrCat("[additional info] Reading type ", *failure.type, " (", TypeName(*failure.type), ")"));
  }
  sink.SayFigures();
}

RdbReadOptions ReadOptions(const EncodingLimits& limits) {
  RdbReadOptions options{.limits = limits};
  options.databases = INT_MAX;
  options.batch = 1;  // so that each key is counted as soon as it was read
  return options;
}

}  // namespace

std::optional<uint64_t> CheckRdb(File& file, const std::string& name, int64_t now_ms, CheckConsole& console) {
  console.Say(AtOffset(0, "Checking RDB file " + name));
  CheckSink sink(now_ms, console);
  const EncodingLimits limits;
  const auto end = ReadRdb(file, 0, ReadOptions(limits), sink);
  if (!end) {
    if (end.error().key) sink.CountKey();
    SayFailure(end.error(), sink, console);
    const auto head = DetectFileFormat(file);
    if (head && head.value().kind != FileFormat::Kind::kRdb) console.Say("[info] The file is " + head.value().what);
    return std::nullopt;
  }
  console.Say(AtOffset(end.value(), sink.HasChecksum()
                                        ? "Checksum OK"
                                        : "RDB file was saved with checksum disabled: no check performed."));
  console.Say(AtOffset(end.value(), "\\o/ RDB looks OK! \\o/"));
  sink.SayFigures();
  return end.value();
}

}  // namespace respite
