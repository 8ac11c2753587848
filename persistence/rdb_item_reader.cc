#include "persistence/rdb_item_reader.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "base/str_cat.h"
#include "persistence/rdb_format.h"
#include "persistence/rdb_value_reader.h"

namespace respite {

namespace {

using Kind = RdbFailure::Kind;
using Step = RdbFailure::Step;

constexpr uint64_t kUsualBytes = 16;  // assumed minimum number of bytes per key; very short keys have fewer

std::string HexText(uint64_t number) {
  std::array<char, 17> digits;
  std::snprintf(digits.data(), digits.size(), "%llx", static_cast<unsigned long long>(number));
  return digits.data();
}

std::string ModuleName(uint64_t id) {
  std::string name(9, ' ');
  id >>= rdb::kModuleVersionBits;
  for (size_t i = name.size(); i > 0; --i, id >>= 6) name[i - 1] = rdb::kModuleCharacters[id & 63];
  return name;
}

}  // namespace

RdbItemReader::RdbItemReader(const RdbReadOptions& options, RdbSink& sink, RdbInputOwner& source, uint64_t offset)
    : options_(options),
      sink_(sink),
      input_owner_(source),
      begin_(offset),
      next_progress_(offset + options.progress_interval_bytes) {
  batch_.reserve(options.batch);
}

bool RdbItemReader::Fail(Kind kind, std::string text) {
  if (failure_) return false;
  failure_ = RdbFailure{kind, std::move(text), Offset(), step_};
  if (step_ == Step::kKey || step_ == Step::kValue) failure_->type = type_;
  if (step_ == Step::kValue) failure_->key = key_;
  return false;
}

bool RdbItemReader::CheckRdbInput(const char* why_not) {
  if (!input_->Failed()) return true;
  if (input_->SupplyError() != kNoError) return Fail(Kind::kIo, IoErrorText(input_->SupplyError()));
  return !input_->RanOut() && Fail(Kind::kCorrupt, why_not);
}

bool RdbItemReader::CheckSinkResult(Result<Done> result, Kind kind) {
  return result.ok() || Fail(kind, std::move(result).error());
}

bool RdbItemReader::ReportProgress(uint64_t at) {
  if (at < next_progress_) return true;
  next_progress_ = at + options_.progress_interval_bytes;
  return CheckSinkResult(sink_.OnProgress(at));
}

RdbFailure RdbItemReader::TakeFailure() {
  if (!failure_) Fail(Kind::kTruncated, "Unexpected EOF reading RDB file");
  return std::move(*failure_);
}

bool RdbItemReader::Next() {
  switch (stage_) {
    case Stage::kHead:
      return ReadHeader();
    case Stage::kItems:
      return ReadItem();
    case Stage::kChecksum:
      return ReadChecksum();
    case Stage::kDone:
      return true;
  }
  return false;
}

bool RdbItemReader::ReadHeader() {
  std::string bytes(input_->RawBytes(rdb::kSignature.size()));
  bytes += input_->RawBytes(rdb::kVersionDigits);
  if (!CheckRdbInput()) return false;
  const RdbHeader head = ParseRdbHeader(bytes, options_.versions);
  if (head.fault == Kind::kSignature) return Fail(Kind::kSignature, head.text);
  version_ = head.version;
  dialect_ = head.dialect;
  stage_ = Stage::kItems;
  return !head.fault || Fail(*head.fault, head.text);
}

bool RdbItemReader::ReadItem() {
  input_->FreeTexts();
  if (!ReportProgress(Offset())) return false;
  step_ = Step::kOpcode;
  const uint8_t opcode = input_->Byte();
  if (!CheckRdbInput()) return false;
  switch (opcode) {
    case rdb::kDeadlineMs:
      step_ = Step::kDeadline;
      deadline_ms_ = input_->Millis();
      return CheckRdbInput();
    case rdb::kDeadlineSeconds:
      step_ = Step::kDeadline;
      deadline_ms_ = int64_t{static_cast<int32_t>(input_->Little32())} * 1000;
      return CheckRdbInput();
    case rdb::kIdleSeconds:
      idle_s_ = input_->Length();
      return CheckRdbInput();
    case rdb::kFrequency:
      frequency_ = input_->Byte();
      return CheckRdbInput();
    case rdb::kEnd:
      stage_ = Stage::kChecksum;
      return PassBatchToSink();
    default:
      return opcode >= rdb::kSlotImport ? ReadRareItem(opcode) : ReadKey(opcode);
  }
}

bool RdbItemReader::ReadRareItem(uint8_t opcode) {
  switch (opcode) {
    case rdb::kSelectDatabase:
      return ReadDatabase();
    case rdb::kResizeDatabase:
      return ReadResizeDb();
    case rdb::kAux:
      return ReadAux();
    case rdb::kFunctionLibrary:
      return ReadLibrary();
    case rdb::kFunctionDraft:
      return Fail(Kind::kCorrupt, "Pre-release function format not supported.");
    case rdb::kModuleAux:
      return ReadModuleAux();
    case rdb::kSlotImport:
      return ReadSlotImport();
    default:  // slot information, an unused hint
      for (int i = 0; i < 3; ++i) input_->Length();
      return CheckRdbInput();
  }
}

bool RdbItemReader::ReadDatabase() {
  step_ = Step::kSizes;
  const uint64_t db = input_->Length();
  if (!CheckRdbInput() || !PassBatchToSink()) return false;
  if (db < static_cast<uint64_t>(options_.databases)) {
    db_ = static_cast<int>(db);
    sink_.OnDatabase(db_, Offset());
    return true;
  }
  return Fail(Kind::kDatabases,
              StrCat("FATAL: Data file was created with a Redis server configured to handle more than ",
                     options_.databases, " databases. Exiting"));
}

bool RdbItemReader::ReadResizeDb() {
  step_ = Step::kSizes;
  const uint64_t keys = input_->Length();
  const uint64_t timed = input_->Length();
  if (!CheckRdbInput()) return false;
  const uint64_t ahead = input_owner_.MaxBytesAhead() / kUsualBytes;
  const uint64_t most = ahead - std::min(ahead, announced_keys_);
  announced_keys_ += std::min(keys, most);
  sink_.OnResizeDatabase(db_, std::min(keys, most), std::min(timed, most));
  return true;
}

bool RdbItemReader::ReadAux() {
  step_ = Step::kAux;
  const RdbText name = input_->Text();
  const RdbText value = input_->Text();
  if (!CheckRdbInput()) return false;
  sink_.OnAux(name.View(), value.View(), Offset());
  return true;
}

// Reads the slots that a node of Valkey 9 is importing: the name of the migration, and ranges of slots. Reports them
// like the field kHiddenSlotsAux that Respite writes.
bool RdbItemReader::ReadSlotImport() {
  step_ = Step::kAux;
  constexpr uint64_t kMaxRanges = 16384;
  std::string text(input_->Text().View());
  const uint64_t ranges = input_->Length();
  if (!CheckRdbInput()) return false;
  if (ranges > kMaxRanges) return Fail(Kind::kCorrupt, "too many ranges of slots");
  for (uint64_t i = 0; i < ranges; ++i) {
    const uint64_t first = input_->Length();
    const uint64_t last = input_->Length();
    if (!CheckRdbInput()) return false;
    StrAppend(text, " ", first, "-", last);
  }
  sink_.OnAux(rdb::kHiddenSlotsAux, text, Offset());
  return true;
}

bool RdbItemReader::ReadLibrary() {
  step_ = Step::kLibrary;
  const RdbText code = input_->Text();
  return CheckRdbInput() && PassBatchToSink() && CheckSinkResult(sink_.OnLibrary(code.View()));
}

bool RdbItemReader::ReadModuleAux() {
  step_ = Step::kModuleAux;
  const std::string module = ModuleName(input_->Length());
  const uint64_t when_kind = input_->Length();
  input_->Length();
  if (!CheckRdbInput()) return false;
  if (when_kind != rdb::kPartUnsigned) return Fail(Kind::kCorrupt, "bad when_opcode");
  return CheckSinkResult(sink_.OnModuleAux(module), Kind::kModule) && SkipModuleParts();
}

bool RdbItemReader::SkipModuleParts() {
  for (;;) {
    input_->FreeTexts();
    switch (input_->Length()) {
      case rdb::kPartEnd:
        return CheckRdbInput();
      case rdb::kPartSigned:
      case rdb::kPartUnsigned:
        input_->Length();
        break;
      case rdb::kPartFloat:
        input_->Little32();
        break;
      case rdb::kPartDouble:
        input_->Little64();
        break;
      case rdb::kPartText:
        input_->Text();
        break;
      default:
        input_->Fail();
    }
    if (!CheckRdbInput("data of a module are malformed")) return false;
  }
}

bool RdbItemReader::ReadKey(uint8_t type) {
  step_ = Step::kKey;
  type_ = type;
  const RdbText key = input_->Text();
  if (!CheckRdbInput("the key is malformed")) return false;
  key_.assign(key.View());
  step_ = Step::kValue;
  if (static_cast<rdb::Type>(type) == rdb::Type::kModule2) return ReadModuleValue();
  return TakeEntry(ReadRdbValue(*input_, type, TargetProperties()));
}

RdbEntryProperties RdbItemReader::TargetProperties() const {
  return {key_, options_.access, options_.limits, options_.hash_key, deadline_ms_, dialect_};
}

bool RdbItemReader::TakeEntry(RdbValueResult entry) {
  if (!entry) return SkipEmptyOrFail(entry.error());
  batch_.push_back({std::move(entry).value(), idle_s_, frequency_});
  if (announced_keys_ != 0) --announced_keys_;
  ForgetAttributes();
  return batch_.size() < options_.batch || PassBatchToSink();
}

bool RdbItemReader::ReadModuleValue() {
  const uint64_t id = input_->Length();
  if (IsKnownRdbModule(id)) return TakeEntry(ReadRdbModuleEntry(*input_, id, TargetProperties()));
  const std::string module = ModuleName(id);
  if (!CheckRdbInput() || !CheckSinkResult(sink_.OnModuleValue(module), Kind::kModule) || !SkipModuleParts())
    return false;
  ForgetAttributes();
  return true;
}

void RdbItemReader::ForgetAttributes() {
  deadline_ms_ = kNoDeadline;
  idle_s_.reset();
  frequency_.reset();
}

bool RdbItemReader::SkipEmptyOrFail(const RdbValueFault& fault) {
  if (!CheckRdbInput(fault.why)) return false;
  if (fault.kind == RdbValueFault::Kind::kBad) return Fail(Kind::kCorrupt, fault.why);
  sink_.OnEmptyCollection(db_, key_);
  ForgetAttributes();
  return true;
}

bool RdbItemReader::PassBatchToSink() {
  if (batch_.empty()) return true;
  const bool is_good = CheckSinkResult(sink_.OnEntries(db_, batch_));
  batch_.clear();
  return is_good;
}

bool RdbItemReader::ReadChecksum() {
  step_ = Step::kChecksum;
  uint64_t actual = 0;
  uint64_t expected = 0;
  if (version_ >= rdb::kFirstWithChecksum) {
    actual = input_owner_.Checksum(input_->Rest());
    expected = input_->Little64();
    if (!CheckRdbInput()) return false;
  }
  stage_ = Stage::kDone;
  if (version_ < rdb::kFirstWithChecksum) return true;
  if (options_.checksum == RdbReadOptions::Checksum::kIgnore || expected == actual) return true;
  if (expected == 0) {
    sink_.OnMissingChecksum();
    return true;
  }
  return Fail(Kind::kChecksum, "Wrong RDB checksum expected: (" + HexText(actual) + ") but got (" + HexText(expected) +
                                   "). Aborting now.");
}

}  // namespace respite
