#include "datatypes/hyperloglog.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/byte_order.h"
#include "base/str_cat.h"

namespace respite {

namespace {

constexpr int kIndexBits = 14;
constexpr int kRankBits = 64 - kIndexBits;
constexpr int kMaxRank = kRankBits + 1;
constexpr uint64_t kHashSeed = 0xadc83b19;
constexpr size_t kCountOffset = 8;

constexpr uint32_t kZeroMax = 64;
constexpr uint32_t kValueMax = 4;
constexpr uint8_t kSparseRankMax = 32;

// ---------------------------------------------------------------------------------------------------------------------
// Estimating the number of elements: O. Ertl, "New cardinality estimation algorithms for HyperLogLog sketches",
// arXiv:1702.01284, algorithm 6. The algorithm needs only the number of registers of each rank. The order of operations
// is the same as in Redis, because the last bit of the result depends on this order.

// histogram[rank] is the number of registers with this rank. A register of six bits can hold ranks up to 63. Ranks
// above kMaxRank occur only in corrupt values and are ignored.
using Histogram = std::array<uint32_t, 64>;

double Sigma(double x) {
  if (x == 1) return std::numeric_limits<double>::infinity();
  double sum = x;
  double previous = 0;
  double weight = 1;
  do {
    previous = sum;
    x *= x;
    sum += x * weight;
    weight += weight;
  } while (sum != previous);
  return sum;
}

double Tau(double x) {
  if (x == 0 || x == 1) return 0;
  double sum = 1 - x;
  double previous = 0;
  double weight = 1;
  do {
    previous = sum;
    x = std::sqrt(x);
    weight *= 0.5;
    sum -= (1 - x) * (1 - x) * weight;
  } while (sum != previous);
  return sum / 3;
}

uint64_t Estimate(const Histogram& histogram) {
  constexpr double kAlpha = 0.721347520444481703680;  // 1 / (2 ln 2)
  constexpr double kRegisters = HllRegisters::kCount;
  double sum = kRegisters * Tau((kRegisters - histogram[kMaxRank]) / kRegisters);
  for (size_t rank = kRankBits; rank >= 1; --rank) sum = (sum + histogram[rank]) * 0.5;
  sum += kRegisters * Sigma(histogram[0] / kRegisters);
  const double estimate = kAlpha * kRegisters * kRegisters / sum;
  if (!(estimate < 0x1p63)) return uint64_t{1} << 63;  // every register is full
  return static_cast<uint64_t>(std::llround(estimate));
}

// ---------------------------------------------------------------------------------------------------------------------
// Dense registers: each group of six bytes has eight registers of 6 bits. A group is read with one load of eight bytes,
// which begins two bytes before the group; a shift then removes these two bytes. A load that began at the group would
// read past the end of the last group. The bytes before the first group are part of the header.

constexpr size_t kGroup = 8;
constexpr size_t kGroupBytes = 6;

template <class Visit>  // visit(size_t index, uint8_t rank)
void ForEachDense(Bytes text, Visit visit) {
  const char* group = text.data() + Hll::kHeaderSize - 2;
  for (size_t index = 0; index < HllRegisters::kCount; index += kGroup, group += kGroupBytes) {
    const uint64_t bits = LoadLittle<uint64_t>(group) >> 16;
    for (size_t i = 0; i < kGroup; ++i) visit(index + i, static_cast<uint8_t>(bits >> (6 * i) & 63));
  }
}

// Raises each of `ranks` to the rank in the dense text, if that is greater. Decodes 64 registers together: moves the
// halves of each word apart, then the halves of the halves, so that each register gets a byte. Vectors are an extension
// of gcc and clang, which divide them into as many as the processor needs.
void MergeDense(Bytes text, std::array<uint8_t, HllRegisters::kCount>& ranks) {
  static_assert(std::endian::native == std::endian::little);
  using Words = uint64_t __attribute__((vector_size(64)));
  using Ranks = uint8_t __attribute__((vector_size(64)));
  const char* group = text.data() + Hll::kHeaderSize - 2;
  for (size_t index = 0; index < ranks.size(); index += sizeof(Ranks)) {
    std::array<uint64_t, sizeof(Words) / sizeof(uint64_t)> loaded;
    for (uint64_t& word : loaded) {
      word = LoadLittle<uint64_t>(group) >> 16;
      group += kGroupBytes;
    }
    Words words;
    std::memcpy(&words, loaded.data(), sizeof words);
    words = (words & 0x0000000000ffffff) | (words & 0x0000ffffff000000) << 8;
    words = (words & 0x00000fff00000fff) | (words & 0x00fff00000fff000) << 4;
    words = (words & 0x003f003f003f003f) | (words & 0x0fc00fc00fc00fc0) << 2;
    Ranks merged;
    Ranks old;
    std::memcpy(&merged, &words, sizeof merged);
    std::memcpy(&old, &ranks[index], sizeof old);
    old = merged > old ? merged : old;
    std::memcpy(&ranks[index], &old, sizeof old);
  }
}

Histogram DenseHistogram(Bytes text) {
  // Counts the ranks in four histograms, which are added up at the end. Increments of one counter would wait for each
  // other, because neighbouring registers often have equal ranks.
  std::array<Histogram, 4> parts{};
  ForEachDense(text, [&](size_t index, uint8_t rank) { ++parts[index % 4][rank]; });
  Histogram sums{};
  for (const Histogram& part : parts)
    for (size_t rank = 0; rank < sums.size(); ++rank) sums[rank] += part[rank];
  return sums;
}

// ---------------------------------------------------------------------------------------------------------------------
// Sparse runs

struct Run {
  enum class Kind : uint8_t { kZero, kLongZero, kValue };  // ZERO, XZERO and VAL in Redis

  Kind kind = Kind::kZero;
  uint8_t rank = 0;
  uint32_t length = 0;

  size_t SizeInBytes() const { return kind == Kind::kLongZero ? 2 : 1; }
};

bool IsValue(uint8_t byte) { return (byte & 0x80) != 0; }

// Decodes the run at offset `at` of `runs`. As in Redis, a missing second byte of an XZERO reads as 0.
Run RunAt(Bytes runs, size_t at) {
  const uint8_t byte = ByteAt(runs, at);
  if (IsValue(byte)) {
    return {Run::Kind::kValue, static_cast<uint8_t>((byte >> 2 & 31) + 1), static_cast<uint32_t>((byte & 3) + 1)};
  }
  const uint32_t low = byte & 63;
  if ((byte & 0x40) == 0) return {Run::Kind::kZero, 0, low + 1};
  const uint32_t next = at + 1 < runs.size() ? ByteAt(runs, at + 1) : 0;
  return {Run::Kind::kLongZero, 0, (low << 8 | next) + 1};
}

template <class Visit>  // visit(const Run&)
void ForEachRun(Bytes runs, Visit visit) {
  for (size_t at = 0; at < runs.size();) {
    const Run run = RunAt(runs, at);
    visit(run);
    at += run.SizeInBytes();
  }
}

// ForEachSparse calls visit(size_t index, uint8_t rank) for the registers that are not 0. Returns false if the runs do
// not cover exactly all registers. As in Redis, bytes after the last register are ignored if they begin with a VAL run.
template <class Visit>
bool ForEachSparse(Bytes runs, Visit visit) {
  size_t index = 0;
  for (size_t at = 0; at < runs.size();) {
    const Run run = RunAt(runs, at);
    if (run.kind == Run::Kind::kValue) {
      if (index + run.length > HllRegisters::kCount) break;
      for (uint32_t i = 0; i < run.length; ++i) visit(index + i, run.rank);
    }
    index += run.length;
    at += run.SizeInBytes();
  }
  return index == HllRegisters::kCount;
}

std::optional<Histogram> SparseHistogram(Bytes runs) {
  Histogram histogram{};
  size_t registers = 0;
  ForEachRun(runs, [&](const Run& run) {
    histogram[run.rank] += run.length;
    registers += run.length;
  });
  return registers == HllRegisters::kCount ? std::optional(histogram) : std::nullopt;
}

// Where the run that contains a certain register begins in the bytes of a sparse HyperLogLog.
struct Place {
  size_t at = 0;       // offset of the run in bytes
  size_t before = 0;   // offset of the previous run; equal to `at` for the first
  uint32_t first = 0;  // the first register of the run
};

// Sums over the first runs among eight bytes: the one-byte runs (ZERO, VAL) before the first XZERO, and this XZERO.
// (The second byte of the XZERO may be the ninth byte.) Without an XZERO, all eight bytes are one-byte runs.
struct Stretch {
  size_t bytes = 0;        // number of bytes before the XZERO; 8 without one
  uint32_t xzeros = 0;     // 1: ends with an XZERO; 0: has none
  uint32_t registers = 0;  // number of registers of all these runs
};

// Counts the bytes and registers of the Stretch at `from`: of the runs among eight bytes, up to and including the first
// XZERO. The code has no branches, because the processor could not predict the mixture of runs. Requires: ten bytes at
// `from`.
Stretch StretchAt(const char* from) {
  constexpr uint64_t kEach = 0x0101010101010101u;
  const uint64_t bytes = LoadLittle<uint64_t>(from);
  const uint64_t xzeros = ~bytes >> 1 & bytes & kEach * 0x40;
  const uint64_t before = ((xzeros & -xzeros) >> 6) - 1;  // all bytes if there is no XZERO
  const auto count = static_cast<size_t>(std::countr_zero(xzeros)) / 8;
  const uint64_t values = bytes >> 7 & kEach;
  const uint64_t lengths = ((bytes & kEach * 0x3f & ~(values * 0x3c)) + kEach) & before;
  const uint64_t pairs = (lengths & 0x00ff00ff00ff00ffu) + (lengths >> 8 & 0x00ff00ff00ff00ffu);
  const auto registers = static_cast<uint32_t>(pairs * 0x0001000100010001u >> 48);
  const uint32_t has_xzero = xzeros != 0 ? 1 : 0;
  const uint32_t high = static_cast<uint8_t>(from[count]) & 63u;
  const uint32_t length = (high << 8 | static_cast<uint8_t>(from[count + 1])) + 1;
  return {count, has_xzero, registers + has_xzero * length};
}

// Finds the run that contains register `index`. Returns nullopt if the runs end before this register.
std::optional<Place> Locate(Bytes runs, uint32_t index) {
  constexpr size_t kStretch = 10;
  Place place;
  while (place.at + kStretch <= runs.size()) {
    const Stretch stretch = StretchAt(runs.data() + place.at);
    if (index < place.first + stretch.registers) break;
    const size_t last = place.at + stretch.bytes - 1 + stretch.xzeros;  // where the last run of the stretch begins
    place = {last + 1 + stretch.xzeros, last, place.first + stretch.registers};
  }
  while (place.at < runs.size()) {
    const Run run = RunAt(runs, place.at);
    if (index < place.first + run.length) return place;
    place = {place.at + run.SizeInBytes(), place.at, place.first + run.length};
  }
  return std::nullopt;
}

// The encoded form of a few runs, which will replace other runs in the text of a sparse value.
class RunText {
 public:
  void Zeros(uint32_t length) {
    if (length == 0) return;
    if (length > kZeroMax) {
      Put(0x40 | (length - 1) >> 8);
      Put((length - 1) & 0xff);
    } else {
      Put(length - 1);
    }
  }
  void Value(uint8_t rank, uint32_t length) {
    if (length != 0) Put(0x80u | static_cast<uint32_t>(rank - 1) << 2 | (length - 1));
  }
  void Copy(Bytes bytes) {
    for (char byte : bytes) bytes_[size_++] = byte;
  }

  // Joins neighbouring VAL runs of equal rank into one run. Each step joins two runs or passes one. Takes at most five
  // steps, as Redis does, so that the resulting bytes are those that Redis writes.
  void JoinValues() {
    constexpr int kSteps = 5;
    size_t at = 0;
    for (int step = 0; step < kSteps && at < size_; ++step) {
      const Run run = RunAt(View(), at);
      if (run.kind == Run::Kind::kValue && JoinNext(at, run)) continue;
      at += run.SizeInBytes();
    }
  }

  Bytes View() const { return {bytes_.data(), size_}; }

 private:
  void Put(uint32_t byte) { bytes_[size_++] = static_cast<char>(byte); }
  bool JoinNext(size_t at, const Run& run) {
    if (at + 1 >= size_) return false;
    const Run next = RunAt(View(), at + 1);
    const uint32_t length = run.length + next.length;
    if (next.kind != Run::Kind::kValue || next.rank != run.rank || length > kValueMax) return false;
    bytes_[at] = static_cast<char>(0x80u | static_cast<uint32_t>(run.rank - 1) << 2 | (length - 1));
    std::memmove(bytes_.data() + at + 1, bytes_.data() + at + 2, size_ - at - 2);
    --size_;
    return true;
  }

  std::array<char, 24> bytes_{};
  size_t size_ = 0;
};

// Raises one register of `run` to the observed rank. `first` is the index of the first register of `run`. Returns the
// one to three runs that replace `run`.
RunText Split(const Run& run, uint32_t first, HllObservation observation) {
  const uint32_t before = observation.index - first;
  const uint32_t behind = run.length - before - 1;
  const bool value = run.kind == Run::Kind::kValue;
  RunText text;
  value ? text.Value(run.rank, before) : text.Zeros(before);
  text.Value(observation.rank, 1);
  value ? text.Value(run.rank, behind) : text.Zeros(behind);
  return text;
}

}  // namespace

uint64_t MurmurHash(Bytes text, uint64_t seed) {
  constexpr uint64_t kFactor = 0xc6a4a7935bd1e995u;
  constexpr int kShift = 47;
  uint64_t hash = seed ^ (text.size() * kFactor);
  for (; text.size() >= 8; text.remove_prefix(8)) {
    uint64_t word = LoadLittle<uint64_t>(text.data()) * kFactor;
    word = (word ^ word >> kShift) * kFactor;
    hash = (hash ^ word) * kFactor;
  }
  if (!text.empty()) hash = (hash ^ LoadLittle(text.data(), text.size())) * kFactor;
  hash = (hash ^ hash >> kShift) * kFactor;
  return hash ^ hash >> kShift;
}

HllObservation HllObserve(Bytes element) {
  const uint64_t hash = MurmurHash(element, kHashSeed);
  const uint64_t rest = hash >> kIndexBits | uint64_t{1} << kRankBits;
  return {static_cast<uint32_t>(hash % HllRegisters::kCount), static_cast<uint8_t>(std::countr_zero(rest) + 1)};
}

bool HllRegisters::Merge(const Hll& hll) {
  const auto raise = [this](size_t index, uint8_t rank) { ranks_[index] = std::max(ranks_[index], rank); };
  if (hll.Encoding() == HllEncoding::kSparse) return ForEachSparse(hll.Registers(), raise);
  MergeDense(hll.text_, ranks_);
  return true;
}

uint64_t HllRegisters::Count() const {
  Histogram histogram{};
  for (uint8_t rank : ranks_) ++histogram[rank];
  return Estimate(histogram);
}

std::optional<Hll> Hll::Of(Bytes text) {
  if (text.size() < kHeaderSize || !text.starts_with("HYLL") || ByteAt(text, 4) > 1) return std::nullopt;
  Hll hll(text);
  if (hll.Encoding() == HllEncoding::kDense && text.size() != kDenseSize) return std::nullopt;
  return hll;
}

Bytes Hll::Empty() {
  static constexpr char kText[] = "HYLL\1\0\0\0\0\0\0\0\0\0\0\0\x7f\xff";
  return {kText, sizeof kText - 1};
}

std::optional<uint64_t> Hll::CachedCount() const {
  const uint64_t count = LoadLittle<uint64_t>(text_.data() + kCountOffset);
  return count >> 63 == 0 ? std::optional(count) : std::nullopt;
}

std::optional<uint64_t> Hll::Count() const {
  if (Encoding() == HllEncoding::kDense) return Estimate(DenseHistogram(text_));
  const auto histogram = SparseHistogram(Registers());
  return histogram ? std::optional(Estimate(*histogram)) : std::nullopt;
}

bool Hll::HasAllRegisters() const {
  if (Encoding() == HllEncoding::kDense) return true;
  const Bytes runs = Registers();
  size_t registers = 0;
  size_t bytes = 0;
  ForEachRun(runs, [&](const Run& run) {
    registers += run.length;
    bytes += run.SizeInBytes();
  });
  return registers == HllRegisters::kCount && bytes == runs.size();
}

HllChange Hll::Add(HllObservation observation, size_t sparse_max_bytes) const {
  if (Encoding() == HllEncoding::kSparse) return AddToSparse(observation, sparse_max_bytes);
  return {.kind = observation.rank > Register(observation.index) ? HllChange::Kind::kRegister : HllChange::Kind::kNone};
}

HllChange Hll::AddToSparse(HllObservation observation, size_t sparse_max_bytes) const {
  if (observation.rank > kSparseRankMax) return {.kind = HllChange::Kind::kPromote};
  const Bytes runs = Registers();
  const auto place = Locate(runs, observation.index);
  if (!place) return {.kind = HllChange::Kind::kCorrupt};
  const Run run = RunAt(runs, place->at);
  const size_t end = place->at + run.SizeInBytes();
  if (end > runs.size()) return {.kind = HllChange::Kind::kCorrupt};
  if (run.kind == Run::Kind::kValue && run.rank >= observation.rank) return {.kind = HllChange::Kind::kNone};

  const RunText split = Split(run, place->first, observation);
  const size_t grown = text_.size() - run.SizeInBytes() + split.View().size();
  if (grown > text_.size() && grown > sparse_max_bytes) return {.kind = HllChange::Kind::kPromote};

  // JoinValues gets this number of bytes after the changed run: it examines at most five runs, of up to two bytes each,
  // and the byte after them.
  constexpr size_t kLookahead = 11;
  const Bytes behind = runs.substr(end, kLookahead);
  RunText text;
  text.Copy(runs.substr(place->before, place->at - place->before));
  text.Copy(split.View());
  text.Copy(behind);
  text.JoinValues();
  HllChange change{.kind = HllChange::Kind::kSplice,
                   .inserted_size = static_cast<uint8_t>(text.View().size()),
                   .removed = static_cast<uint16_t>(end + behind.size() - place->before),
                   .offset = kHeaderSize + place->before};
  std::ranges::copy(text.View(), change.inserted.begin());
  return change;
}

std::optional<std::string> Hll::ToDense() const {
  if (Encoding() == HllEncoding::kDense) return std::string(text_);
  std::string dense(text_.substr(0, kHeaderSize));
  dense[4] = static_cast<char>(HllEncoding::kDense);
  dense.resize(kDenseSize);
  const auto set = [&](size_t index, uint8_t rank) { HllSetRegister(dense, {static_cast<uint32_t>(index), rank}); };
  if (!ForEachSparse(Registers(), set)) return std::nullopt;
  return dense;
}

std::string Hll::DescribeRuns() const {
  std::string text;
  ForEachRun(Registers(), [&](const Run& run) {
    if (!text.empty()) text += ' ';
    const std::string length = std::to_string(run.length);
    if (run.kind == Run::Kind::kValue) {
      StrAppend(text, "v:", run.rank, ",", length);
    } else {
      text += (run.kind == Run::Kind::kZero ? "z:" : "Z:") + length;
    }
  });
  return text;
}

uint8_t Hll::Register(size_t index) const {
  const Bytes group = text_.substr(kHeaderSize + index / 4 * 3, 3);
  return static_cast<uint8_t>(LoadLittle(group.data(), 3) >> (index % 4 * 6) & 63);
}

void HllSetRegister(std::span<char> text, HllObservation observation) {
  char* group = text.data() + Hll::kHeaderSize + observation.index / 4 * 3;
  const uint32_t shift = observation.index % 4 * 6;
  const uint64_t bits = (LoadLittle(group, 3) & ~(uint64_t{63} << shift)) | static_cast<uint64_t>(observation.rank)
                                                                                << shift;
  StoreLittle(group, bits, 3);
}

void HllStoreRegisters(std::span<char> text, const HllRegisters& registers) {
  char* group = text.data() + Hll::kHeaderSize;
  for (size_t index = 0; index < HllRegisters::kCount; index += kGroup, group += kGroupBytes) {
    uint64_t bits = 0;
    for (size_t i = kGroup; i-- > 0;) bits = bits << 6 | registers[index + i];
    StoreLittle(group, bits, kGroupBytes);
  }
}

void HllStoreCount(std::span<char> text, uint64_t count) { StoreLittle<uint64_t>(text.data() + kCountOffset, count); }

void HllInvalidateCachedCount(std::span<char> text) {
  text[kCountOffset + 7] = static_cast<char>(static_cast<uint8_t>(text[kCountOffset + 7]) | 0x80u);
}

void HllAdd(std::string& text, HllObservation observation, size_t sparse_max_bytes) {
  const Hll hll = *Hll::Of(text);
  const HllChange change = hll.Add(observation, sparse_max_bytes);
  switch (change.kind) {
    case HllChange::Kind::kNone:
    case HllChange::Kind::kCorrupt:
      return;
    case HllChange::Kind::kSplice:
      text.replace(change.offset, change.removed, change.InsertedBytes());
      break;
    case HllChange::Kind::kPromote:
      text = *hll.ToDense();
      [[fallthrough]];
    case HllChange::Kind::kRegister:
      HllSetRegister(text, observation);
  }
  HllInvalidateCachedCount(text);
}

}  // namespace respite
