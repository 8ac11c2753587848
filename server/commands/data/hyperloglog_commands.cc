// PFADD, PFCOUNT, PFMERGE, PFDEBUG and PFSELFTEST: HyperLogLogs, which estimate the number of different elements. The
// values are strings in Redis' format, which datatypes/hyperloglog.h reads and writes.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <span>
#include <string>

#include "base/random.h"
#include "base/refusal.h"
#include "base/str_cat.h"
#include "datatypes/hyperloglog.h"
#include "server/commands/families.h"
#include "server/config/settings.h"
#include "server/execution/call.h"
#include "server/execution/services.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kNotHyperLogLog[] = "WRONGTYPE Key is not a valid HyperLogLog string value.";
constexpr char kCorruptHyperLogLog[] = "INVALIDOBJ Corrupted HLL object detected";
constexpr char kNoSuchHyperLogLog[] = "ERR The specified key does not exist";
constexpr char kHyperLogLogNotSparse[] = "ERR HLL encoding is not sparse";
Refusal UnknownPfDebug(Bytes subcommand) {
  return {"ERR Unknown PFDEBUG subcommand '" + std::string(subcommand.substr(0, subcommand.find('\0'))) + "'"};
}
Refusal FailedSelfTest(const std::string& problem) { return {"ERR TESTFAILED " + problem}; }

}  // namespace
}  // namespace refusals

namespace {

Hll HllOf(const Entry& string) {
  if (string.Form() == ValueForm::kInt) throw Refusal{refusals::kNotHyperLogLog};
  const auto hll = Hll::Of(string.Form() == ValueForm::kBlob ? string.BlobText() : string.InlineText());
  if (!hll) throw Refusal{refusals::kNotHyperLogLog};
  return *hll;
}

// Makes the text of the HyperLogLog writable (encoding raw, see OBJECT ENCODING), and returns its bytes.
std::span<char> GrowToText(KeyEdit& hll) { return hll.Grow(hll->TextSize()); }

size_t SparseMaxBytes(const Call& call) { return call.services.env.settings.hll_sparse_max_bytes; }

void MakeDense(KeyEdit& edit) {
  const auto dense = HllOf(*edit).ToDense();
  if (!dense) throw Refusal{refusals::kCorruptHyperLogLog};
  edit.Assign(StringContent::Raw(*dense));
}

void Splice(KeyEdit& edit, const HllChange& change) {
  const size_t old_size = edit->TextSize();
  const size_t new_size = old_size - change.removed + change.inserted_size;
  const size_t behind = change.offset + change.removed;
  const std::span<char> text = edit.Grow(std::max(old_size, new_size));
  char* at = text.data() + change.offset;
  if (new_size != old_size) std::memmove(at + change.inserted_size, at + change.removed, old_size - behind);
  std::memcpy(at, change.inserted.data(), change.inserted_size);
  if (new_size < old_size) edit.Assign(StringContent::Raw({text.data(), new_size}));
}

// Applies `change`, which Hll::Add has computed for `observation`, to the stored HyperLogLog. Throws a Refusal if
// change.kind is kCorrupt: the stored string is no valid HyperLogLog. Requires: change.kind is not kNone.
void Apply(KeyEdit& edit, const HllChange& change, HllObservation observation) {
  switch (change.kind) {
    case HllChange::Kind::kSplice:
      return Splice(edit, change);
    case HllChange::Kind::kCorrupt:
      throw Refusal{refusals::kCorruptHyperLogLog};
    case HllChange::Kind::kPromote:
      MakeDense(edit);
      break;
    default:
      break;
  }
  HllSetRegister(GrowToText(edit), observation);
}

struct PfAdd {
  static constexpr CommandSpec spec = {.syntax = "PFADD key [element...]",
                                       .summary = "Adds elements to a HyperLogLog, which is created if necessary.",
                                       .since = "2.8.9",
                                       .complexity = "O(1), for each element",
                                       .group = CommandGroup::kHyperLogLog,
                                       .flags = kWrite | kDenyOom | kFast,
                                       .keys = {Key(1, kKeyRW | kKeyInsert)}};
  static void Run(Call& call) {
    const Bytes key = call.args.Next();
    KeyEdit edit = call.db.OpenString(key);
    uint64_t changes = 0;
    if (edit) {
      HllOf(*edit);
      // As in Redis, PFADD converts an embedded string to a raw one, even if it adds nothing.
      if (edit->Form() == ValueForm::kEmbedded) GrowToText(edit);
    } else {
      edit.Put(StringContent::Raw(Hll::Empty()));
      ++changes;
    }
    for (Bytes element : call.args.Rest()) {
      const HllObservation observation = HllObserve(element);
      const Hll hll = HllOf(*edit);
      const HllChange change = hll.Add(observation, SparseMaxBytes(call));
      if (change.kind == HllChange::Kind::kNone) continue;
      const bool alone = call.args.Left() == 1;
      // Checks the whole value before the first of several changes. PFADD could otherwise add some of the elements and
      // then fail because the value is corrupt.
      if (changes == 0 && !alone && !hll.HasAllRegisters()) throw Refusal{refusals::kCorruptHyperLogLog};
      Apply(edit, change, observation);
      ++changes;
    }
    if (changes != 0) Finish(edit, changes);
    call.reply.Integer(changes != 0 ? 1 : 0);
  }

 private:
  static void Finish(KeyEdit& edit, uint64_t changes) {
    HllInvalidateCachedCount(GrowToText(edit));
    edit.ReportChange("pfadd", changes);
  }
};

// ---------------------------------------------------------------------------------------------------------------------
// Counting and merging

struct PfCount {
  static constexpr CommandSpec spec = {
      .syntax = "PFCOUNT key...",
      .summary = "Estimates how many different elements were added to HyperLogLogs, taken together.",
      .since = "2.8.9",
      .complexity = "O(1) for one key, mostly from memory; O(N) with a large constant for N keys",
      .group = CommandGroup::kHyperLogLog,
      .flags = kReadOnly | kMayReplicate,
      .keys = {KeyRange(1, -1, 1, kKeyRW | kKeyAccess)}};
  static void Run(Call& call) {
    const uint64_t count = call.args.Left() == 1 ? CountOne(call) : CountUnion(call);
    call.reply.Integer(static_cast<int64_t>(count));
  }

 private:
  static uint64_t CountOne(Call& call) {
    const Bytes key = call.args.Next();
    const Entry* entry = call.db.ReadString(key);
    if (entry == nullptr) return 0;
    const Hll hll = HllOf(*entry);
    if (const auto cached = hll.CachedCount()) return *cached;
    const auto count = hll.Count();
    if (!count) throw Refusal{refusals::kCorruptHyperLogLog};
    // As in Redis, PFCOUNT caches the count in the value, and this change is propagated to replicas.
    KeyEdit edit = call.db.OpenString(key);
    HllStoreCount(GrowToText(edit), *count);
    edit.ReportChangeWithoutEvent();
    return *count;
  }
  static uint64_t CountUnion(Call& call) {
    HllRegisters registers;
    for (Bytes key : call.args.Rest()) {
      const Entry* entry = call.db.ReadString(key);
      if (entry == nullptr) continue;
      if (!registers.Merge(HllOf(*entry))) throw Refusal{refusals::kCorruptHyperLogLog};
    }
    return registers.Count();
  }
};

struct PfMerge {
  static constexpr CommandSpec spec = {
      .syntax = "PFMERGE destkey:key [sourcekey:key...]",
      .summary = "Adds the elements of several HyperLogLogs to another one.",
      .since = "2.8.9",
      .complexity = "O(N), N being the number of HyperLogLogs, with a large constant",
      .group = CommandGroup::kHyperLogLog,
      .flags = kWrite | kDenyOom,
      .keys = {Key(1, kKeyRW | kKeyAccess | kKeyInsert), KeyRange(2, -1, 1, kKeyRO | kKeyAccess)}};
  static void Run(Call& call) {
    HllRegisters registers;
    bool dense = false;
    for (Bytes key : call.args.Rest()) {
      const Entry* entry = call.db.FindStringAndCountLookup(key);
      if (entry == nullptr) continue;
      const Hll hll = HllOf(*entry);
      dense |= hll.Encoding() == HllEncoding::kDense;
      if (!registers.Merge(hll)) throw Refusal{refusals::kCorruptHyperLogLog};
    }
    const Bytes target = call.args.Next();
    KeyEdit edit = call.db.Open(target);
    const std::string merged =
        Merged(edit.entry(), dense ? HllEncoding::kDense : HllEncoding::kSparse, registers, SparseMaxBytes(call));
    edit.Assign(StringContent::Raw(merged));
    edit.ReportChange("pfadd");
    call.reply.Ok();
  }

 private:
  // Returns the result of PFMERGE: the value `old` after raising each of its registers at least to the value of that
  // register in `registers`. As Redis does, raises one register after the other, because their order decides how the
  // sparse encoding divides its runs.
  static std::string Merged(const Entry* old, HllEncoding encoding, const HllRegisters& registers,
                            size_t sparse_max_bytes) {
    std::string text(old == nullptr ? Hll::Empty() : StringText(*old).View());
    const Hll hll = *Hll::Of(text);
    if (!hll.HasAllRegisters()) throw Refusal{refusals::kCorruptHyperLogLog};
    if (encoding == HllEncoding::kDense) {
      text = *hll.ToDense();
      HllStoreRegisters(text, registers);  // includes the target's own registers
    } else {
      for (uint32_t index = 0; index < HllRegisters::kCount; ++index)
        if (registers[index] != 0) HllAdd(text, {index, registers[index]}, sparse_max_bytes);
    }
    HllInvalidateCachedCount(text);
    return text;
  }
};

// === Debugging

struct PfDebug {
  static constexpr CommandSpec spec = {.syntax = "PFDEBUG subcommand key",
                                       .summary = "Shows how a HyperLogLog is stored, or makes it dense.",
                                       .since = "2.8.9",
                                       .complexity = "O(N), N being the number of registers",
                                       .group = CommandGroup::kHyperLogLog,
                                       .flags = kWrite | kDenyOom | kAdmin,
                                       .keys = {Key(2, kKeyRW | kKeyAccess)},
                                       .former_arity = {"7.0.0", -3},
                                       .syscmd = true};
  static void Run(Call& call) {
    const Bytes subcommand = call.args[1];
    const Bytes key = call.args[2];
    KeyEdit edit = call.db.OpenString(key);
    if (!edit) throw Refusal{refusals::kNoSuchHyperLogLog};
    const Hll hll = HllOf(*edit);
    if (EqualsIgnoreCase(subcommand, "GETREG")) {
      EnsureDense(edit);
      return ReplyRegisters(call, *edit);
    }
    if (EqualsIgnoreCase(subcommand, "DECODE")) return ReplyRuns(call, hll);
    if (EqualsIgnoreCase(subcommand, "ENCODING")) {
      return call.reply.Simple(hll.Encoding() == HllEncoding::kDense ? "dense" : "sparse");
    }
    if (!EqualsIgnoreCase(subcommand, "TODENSE")) throw refusals::UnknownPfDebug(subcommand);
    const bool converts = hll.Encoding() == HllEncoding::kSparse;
    EnsureDense(edit);
    call.reply.Integer(converts ? 1 : 0);
  }

 private:
  static void EnsureDense(KeyEdit& edit) {
    if (HllOf(*edit).Encoding() == HllEncoding::kDense) return;
    MakeDense(edit);
    edit.ReportChangeWithoutEvent();
  }
  static void ReplyRegisters(Call& call, const Entry& entry) {
    const Hll hll = HllOf(entry);
    call.reply.Array(HllRegisters::kCount);
    for (size_t index = 0; index < HllRegisters::kCount; ++index) call.reply.Integer(hll.Register(index));
  }
  static void ReplyRuns(Call& call, const Hll& hll) {
    if (hll.Encoding() != HllEncoding::kSparse) throw Refusal{refusals::kHyperLogLogNotSparse};
    call.reply.Bulk(Bytes(hll.DescribeRuns()));
  }
};

struct PfSelfTest {
  static constexpr CommandSpec spec = {.syntax = "PFSELFTEST",
                                       .summary = "Checks registers, encodings and estimates with random elements.",
                                       .since = "2.8.9",
                                       .complexity = "O(1), but it takes much of a second",
                                       .group = CommandGroup::kHyperLogLog,
                                       .flags = kAdmin,
                                       .syscmd = true};
  static void Run(Call& call) {
    Random& random = call.random;
    for (int round = 0; round < 100; ++round) CheckRegisters(random);
    CheckEstimates(random.Next(), SparseMaxBytes(call));
    call.reply.Ok();
  }

 private:
  // PFSELFTEST: writes a random value to each register, and checks that reading the registers gives the same values.
  static void CheckRegisters(Random& random) {
    std::string dense = *Hll::Of(Hll::Empty())->ToDense();
    std::array<uint8_t, HllRegisters::kCount> expected;
    for (uint32_t index = 0; index < expected.size(); ++index) {
      expected[index] = static_cast<uint8_t>(random.Below(64));
      HllSetRegister(dense, {index, expected[index]});
    }
    for (size_t index = 0; index < expected.size(); ++index) {
      const int actual = Hll::Of(dense)->Register(index);
      if (actual == expected[index]) continue;
      throw refusals::FailedSelfTest(StrCat("Register ", index, " should be ", expected[index], " but is ", actual));
    }
  }

  // PFSELFTEST: checks that the dense and the sparse encoding give equal counts, and that these differ from the true
  // number by at most six standard errors. Also checks that few elements are stored in the sparse encoding.
  static void CheckEstimates(uint64_t seed, size_t sparse_max_bytes) {
    constexpr uint64_t kElements = 1'000'000;
    std::string dense = *Hll::Of(Hll::Empty())->ToDense();
    std::string any(Hll::Empty());
    uint64_t checkpoint = 1;
    for (uint64_t added = 1; added <= kElements; ++added) {
      const uint64_t element = added ^ seed;
      const HllObservation observation = HllObserve({reinterpret_cast<const char*>(&element), sizeof element});
      HllAdd(dense, observation, sparse_max_bytes);
      HllAdd(any, observation, sparse_max_bytes);
      if (added != checkpoint) continue;
      CheckEstimate(added, *Hll::Of(dense)->Count());
      const Hll other = *Hll::Of(any);
      if (added < sparse_max_bytes / 2 && other.Encoding() != HllEncoding::kSparse)
        throw refusals::FailedSelfTest("sparse encoding not used");
      if (other.Count() != Hll::Of(dense)->Count()) throw refusals::FailedSelfTest("dense/sparse disagree");
      checkpoint *= 10;
    }
  }
  static void CheckEstimate(uint64_t added, uint64_t estimate) {
    const double standard_error = 1.04 / std::sqrt(static_cast<double>(HllRegisters::kCount));
    const double allowed = added == 10 ? 1 : std::ceil(standard_error * 6 * static_cast<double>(added));
    const uint64_t error = estimate > added ? estimate - added : added - estimate;
    if (static_cast<double>(error) <= allowed) return;
    throw refusals::FailedSelfTest(StrCat("Too big error. card:", added, " abserr:", error));
  }
};

constexpr auto kHyperLogLogCommands = Family<PfAdd, PfCount, PfDebug, PfMerge, PfSelfTest>();

}  // namespace

std::span<const CommandCard> HyperLogLogCommands() { return kHyperLogLogCommands; }

}  // namespace respite
