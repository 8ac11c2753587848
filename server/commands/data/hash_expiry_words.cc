#include "server/commands/data/hash_expiry_words.h"

#include <limits>
#include <string>

#include "server/catalogue/dialect.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kFieldsMissing[] = "ERR Mandatory argument FIELDS is missing or not at the right position";
constexpr char kFieldCountZero[] = "ERR Parameter `numFields` should be greater than 0";
constexpr char kFieldCountNotPositive[] = "ERR Number of fields must be a positive integer";
constexpr char kFieldCountMismatch[] = "ERR The `numfields` parameter must match the number of arguments";
constexpr char kFieldTimeNegative[] = "ERR invalid expire time, must be >= 0";
constexpr char kOneGetExpiry[] = "ERR Only one of EX, PX, EXAT, PXAT or PERSIST arguments can be specified";
constexpr char kOneSetExpiry[] = "ERR Only one of EX, PX, EXAT, PXAT or KEEPTTL arguments can be specified";
constexpr char kOneFieldCondition[] = "ERR Only one of FXX or FNX arguments can be specified";
constexpr char kPairCountInvalid[] = "ERR invalid number of fields";

// Errors of Redis 8.6, where the options and FIELDS may come in any order. HSETEX of earlier versions has some of them.
constexpr char kFieldsRepeated[] = "ERR FIELDS keyword specified multiple times";
constexpr char kFieldsTooShort[] = "ERR FIELDS requires at least numfields and one field argument";
constexpr char kFieldsAbsent[] = "ERR missing FIELDS argument";
constexpr char kTooFewFields[] = "ERR wrong number of arguments";
constexpr char kTimeAbsent[] = "ERR missing expire time";
constexpr char kOptionOfOtherCommand[] = "ERR unknown argument";
constexpr char kManyConditions[] = "ERR Multiple condition flags specified";
// Returns the error for an unknown option. As in Redis, the error shows the option only up to its first NUL byte.
Refusal UnknownFieldOption(Bytes option) {
  return {"ERR unknown argument: " + std::string(option.substr(0, option.find('\0')))};
}

// Errors of Valkey 9.
constexpr char kFieldCountOfValkey[] = "ERR numfields should be greater than 0 and match the provided number of fields";
constexpr char kFieldNxWithOthers[] = "ERR NX and XX, GT or LT options at the same time are not compatible";
constexpr char kFieldGtWithLt[] = "ERR GT and LT options at the same time are not compatible";
Refusal UnsupportedFieldOption(Bytes option) { return {"ERR Unsupported option " + std::string(option)}; }

}  // namespace
}  // namespace refusals

namespace {

// The latest possible deadline of a field. As in Redis, such a deadline has 46 bits.
constexpr int64_t kLatestFieldMs = (int64_t{1} << 46) - 1;

int64_t ParseFieldDeadline(const Call& call, const FieldTime& time) {
  int64_t ms = Args::Integer(time.word);
  if (ms < 0) {
    if (GrammarOfFields(call) == HashFieldGrammar::kValkey) throw refusals::InvalidExpireOf(call);
    throw Refusal{refusals::kFieldTimeNegative};
  }
  if (__builtin_mul_overflow(ms, time.unit == TimeUnit::kSeconds ? 1000 : 1, &ms) ||
      __builtin_add_overflow(ms, time.base == TimeBase::kNow ? call.now_ms : 0, &ms) || ms > kLatestFieldMs) {
    throw refusals::InvalidExpireOf(call);
  }
  return ms;
}

std::optional<FieldTime> TimeOptionOf(Bytes token) {  // nullopt: not EX, PX, EXAT or PXAT; the word is still empty
  if (EqualsIgnoreCase(token, "EX")) return FieldTime{{}, TimeUnit::kSeconds, TimeBase::kNow};
  if (EqualsIgnoreCase(token, "PX")) return FieldTime{{}, TimeUnit::kMilliseconds, TimeBase::kNow};
  if (EqualsIgnoreCase(token, "EXAT")) return FieldTime{{}, TimeUnit::kSeconds, TimeBase::kEpoch};
  if (EqualsIgnoreCase(token, "PXAT")) return FieldTime{{}, TimeUnit::kMilliseconds, TimeBase::kEpoch};
  return std::nullopt;
}

bool* ConditionOf(FieldExpireConditions& conditions, Bytes token) {  // null: not NX, XX, GT or LT
  if (EqualsIgnoreCase(token, "NX")) return &conditions.only_without;
  if (EqualsIgnoreCase(token, "XX")) return &conditions.only_with;
  if (EqualsIgnoreCase(token, "GT")) return &conditions.only_later;
  if (EqualsIgnoreCase(token, "LT")) return &conditions.only_sooner;
  return nullptr;
}

// Takes `numfields`. Returns nullopt if it is absent, no integer, or not positive.
std::optional<int64_t> NextCount(Args& args) {
  const auto count = args.AtEnd() ? std::nullopt : ParseInteger(args.Next());
  return count && *count > 0 ? count : std::nullopt;
}

// === Arguments of HEXPIRE, HSETEX and similar commands in Valkey 9: options, then FIELDS

// Splits the arguments at FIELDS. Returns the options before it; only the fields are left in `args`. A missing FIELDS
// is an error about numfields, as in Valkey.
std::span<const Bytes> TakeOptionsBeforeFields(Args& args) {
  const std::span<const Bytes> words = args.Rest();
  for (size_t at = 0; at < words.size(); ++at) {
    args.Next();
    if (EqualsIgnoreCase(words[at], "FIELDS")) return words.first(at);
  }
  throw Refusal{refusals::kFieldCountOfValkey};
}

// Takes `numfields field…` in Valkey. `mismatch`: the error if numfields does not match the arguments.
std::span<const Bytes> TakeValkeyFields(Args& args, uint64_t words_per_field,
                                        const char* mismatch = refusals::kFieldCountOfValkey) {
  if (args.AtEnd()) throw Refusal{mismatch};
  const int64_t count = args.NextInteger();
  if (count < 1 || args.Left() % words_per_field != 0 || args.Left() / words_per_field != static_cast<uint64_t>(count))
    throw Refusal{mismatch};
  return args.Rest();
}

FieldExpireConditions ParseValkeyConditions(std::span<const Bytes> options) {
  FieldExpireConditions conditions;
  for (Bytes option : options) {
    bool* condition = ConditionOf(conditions, option);
    if (condition == nullptr) throw refusals::UnsupportedFieldOption(option);
    *condition = true;
  }
  if (conditions.only_without && (conditions.only_with || conditions.only_later || conditions.only_sooner))
    throw Refusal{refusals::kFieldNxWithOthers};
  if (conditions.only_later && conditions.only_sooner) throw Refusal{refusals::kFieldGtWithLt};
  return conditions;
}

template <class Value>
bool SetOnce(Value& member, Value value) {  // false: the member has another value already
  if (member != Value{} && member != value) return false;
  member = value;
  return true;
}

// Parses the options of HGETEX and HSETEX in Valkey. An option may be repeated: of `EX 1 EX 2`, the last time counts.
// Options that contradict each other (FNX FXX, EX PX) are a syntax error.
class ValkeyFieldOptions {
 public:
  ValkeyFieldOptions(const Call& call, bool sets) : sets_(sets) {
    has_key_conditions_ = call.services.env.dialect.Has("valkey:9.1.0") || call.unit.IsReplaying();
  }

  FieldWords Parse(std::span<const Bytes> options) {
    for (size_t at = 0; at < options.size(); ++at) {
      if (auto time = TimeOptionOf(options[at]); time && at + 1 < options.size()) {
        TakeTime(*time, options[++at]);
      } else if (!TakeWord(options[at])) {
        throw Refusal{refusals::kSyntax};
      }
    }
    return words_;
  }

 private:
  void TakeTime(FieldTime time, Bytes word) {
    const bool differs = words_.time && (words_.time->unit != time.unit || words_.time->base != time.base);
    if (differs || !SetOnce(words_.expiry, FieldExpiry::kAt)) throw Refusal{refusals::kSyntax};
    time.word = word;
    words_.time = time;
  }
  bool TakeWord(Bytes word) {
    if (!sets_) return EqualsIgnoreCase(word, "PERSIST") && SetOnce(words_.expiry, FieldExpiry::kPersist);
    if (EqualsIgnoreCase(word, "KEEPTTL")) return SetOnce(words_.expiry, FieldExpiry::kKeep);
    if (EqualsIgnoreCase(word, "FNX")) return SetOnce(words_.condition, FieldCondition::kIfNone);
    if (EqualsIgnoreCase(word, "FXX")) return SetOnce(words_.condition, FieldCondition::kIfAll);
    if (!has_key_conditions_) return false;
    if (EqualsIgnoreCase(word, "NX")) return SetOnce(words_.key_condition, KeyCondition::kIfAbsent);
    return EqualsIgnoreCase(word, "XX") && SetOnce(words_.key_condition, KeyCondition::kIfPresent);
  }

  bool sets_;                // true: HSETEX
  bool has_key_conditions_;  // whether HSETEX has NX and XX
  FieldWords words_;
};

FieldWords TakeValkeyWords(Call& call, bool sets) {
  const auto options = TakeOptionsBeforeFields(call.args);
  FieldWords words = ValkeyFieldOptions(call, sets).Parse(options);
  words.fields = TakeValkeyFields(call.args, sets ? 2 : 1);
  return words;
}

FieldExpireWords TakeValkeyExpireWords(Call& call, TimeUnit unit, TimeBase base) {
  FieldExpireWords words;
  const Bytes time = call.args.Next();
  const auto options = TakeOptionsBeforeFields(call.args);
  // As in Valkey, HEXPIRE refuses first a missing FIELDS, then invalid options, then invalid fields.
  words.conditions = ParseValkeyConditions(options);
  words.fields = TakeValkeyFields(call.args, 1);
  words.deadline_ms = ParseFieldDeadline(call, {time, unit, base});
  return words;
}

// === Arguments of HEXPIRE, HSETEX and similar commands in Redis 8.6: options and FIELDS in any order

// Takes `numfields field…` after FIELDS.
std::span<const Bytes> TakeFreeFields(Args& args, uint64_t words_per_field, const char* invalid_count) {
  const auto count = NextCount(args);
  if (!count || *count > std::numeric_limits<int>::max()) throw Refusal{invalid_count};
  const uint64_t size = static_cast<uint64_t>(*count) * words_per_field;
  if (size > args.Left()) throw Refusal{refusals::kTooFewFields};
  const auto fields = args.Rest().first(size);
  for (uint64_t i = 0; i < size; ++i) args.Next();
  return fields;
}

FieldExpireWords TakeFreeExpireWords(Call& call, TimeUnit unit, TimeBase base) {
  Args& args = call.args;
  FieldExpireWords words;
  words.deadline_ms = ParseFieldDeadline(call, {args.Next(), unit, base});
  const bool* chosen = nullptr;
  bool has_several = false;
  while (!args.AtEnd()) {
    const Bytes word = args.Next();
    if (bool* condition = ConditionOf(words.conditions, word)) {
      has_several |= chosen != nullptr && chosen != condition;
      *condition = true;
      chosen = condition;
    } else if (EqualsIgnoreCase(word, "FIELDS")) {
      if (!words.fields.empty()) throw Refusal{refusals::kFieldsRepeated};
      if (args.Left() < 2) throw Refusal{refusals::kFieldsTooShort};
      words.fields = TakeFreeFields(args, 1, refusals::kFieldCountZero);
    } else {
      throw refusals::UnknownFieldOption(word);
    }
  }
  if (words.fields.empty()) throw Refusal{refusals::kFieldsAbsent};
  if (has_several) throw Refusal{refusals::kManyConditions};
  return words;
}

// Parses the arguments of HGETEX and HSETEX, whose options may have any order. Since Redis 8.6, FIELDS may also come
// anywhere. Before Redis 8.6, FIELDS must come last in HSETEX (`fields_come_last`), and HGETEX allows only one option,
// so TakeFixedHGetExWords parses it.
class FreeOptionWords {
 public:
  FreeOptionWords(Call& call, bool sets, bool fields_come_last)
      : call_(call), args_(call.args), sets_(sets), fields_come_last_(fields_come_last) {}

  FieldWords Parse() {
    while (!args_.AtEnd()) {
      const Bytes word = args_.Next();
      if (EqualsIgnoreCase(word, "FIELDS")) {
        TakeFields();
      } else if (const auto time = TimeOptionOf(word)) {
        TakeTime(*time);
      } else if (!TakeExpiry(word) && !TakeCondition(word) && !TakeKeyCondition(word)) {
        throw refusals::UnknownFieldOption(word);
      }
    }
    if (words_.fields.empty()) throw Refusal{refusals::kFieldsAbsent};
    if (has_foreign_option_) throw Refusal{refusals::kOptionOfOtherCommand};
    return words_;
  }

 private:
  const char* OnlyOneExpiry() const { return sets_ ? refusals::kOneSetExpiry : refusals::kOneGetExpiry; }
  void SetExpiry(FieldExpiry expiry) {
    if (words_.expiry != FieldExpiry::kNone) throw Refusal{OnlyOneExpiry()};
    words_.expiry = expiry;
  }
  void TakeFields() {
    if (fields_come_last_) return TakeLastFields();
    if (!words_.fields.empty()) throw Refusal{refusals::kFieldsRepeated};
    if (args_.AtEnd()) throw refusals::WrongArity(call_.command.full_name);
    if (args_.Left() > 1) words_.fields_to_end = args_.Rest().subspan(1);
    words_.fields = TakeFreeFields(args_, sets_ ? 2 : 1, refusals::kPairCountInvalid);
  }
  void TakeLastFields() {
    const auto count = NextCount(args_);
    if (!count || *count > std::numeric_limits<int>::max()) throw Refusal{refusals::kPairCountInvalid};
    if (args_.Left() != 2 * static_cast<uint64_t>(*count)) throw refusals::WrongArity(call_.command.full_name);
    words_.fields = args_.Rest();
    while (!args_.AtEnd()) args_.Next();
  }
  void TakeTime(FieldTime time) {
    SetExpiry(FieldExpiry::kAt);
    if (args_.AtEnd()) throw Refusal{refusals::kTimeAbsent};
    time.word = args_.Next();
    words_.deadline_ms = ParseFieldDeadline(call_, time);
  }
  bool TakeExpiry(Bytes word) {
    const bool persists = EqualsIgnoreCase(word, "PERSIST");
    if (!persists && !EqualsIgnoreCase(word, "KEEPTTL")) return false;
    if (persists == sets_ && fields_come_last_) return false;
    SetExpiry(persists ? FieldExpiry::kPersist : FieldExpiry::kKeep);
    has_foreign_option_ |= persists == sets_;
    return true;
  }
  bool TakeCondition(Bytes word) {
    const bool is_none = EqualsIgnoreCase(word, "FNX");
    if (!is_none && !EqualsIgnoreCase(word, "FXX")) return false;
    if (words_.condition != FieldCondition::kAlways) throw Refusal{refusals::kOneFieldCondition};
    words_.condition = is_none ? FieldCondition::kIfNone : FieldCondition::kIfAll;
    has_foreign_option_ |= !sets_;
    return true;
  }
  bool TakeKeyCondition(Bytes word) {  // of Valkey 9.1
    const bool has_conditions = call_.services.env.dialect.Has("valkey:9.1.0") || call_.unit.IsReplaying();
    const bool is_absent = EqualsIgnoreCase(word, "NX");
    if (!sets_ || !has_conditions || (!is_absent && !EqualsIgnoreCase(word, "XX"))) return false;
    if (!SetOnce(words_.key_condition, is_absent ? KeyCondition::kIfAbsent : KeyCondition::kIfPresent))
      throw Refusal{refusals::kSyntax};
    return true;
  }

  Call& call_;
  Args& args_;
  bool sets_;                        // true: HSETEX
  bool fields_come_last_;            // true: HSETEX before Redis 8.6
  bool has_foreign_option_ = false;  // whether HSETEX has an option of HGETEX, or the reverse
  FieldWords words_;
};

// === Arguments of HEXPIRE, HSETEX and similar commands in Redis 7.4 to 8.4: one option, then FIELDS

std::span<const Bytes> TakeFixedFields(Args& args, const char* not_positive) {
  if (!args.TakeToken("FIELDS")) throw Refusal{refusals::kFieldsMissing};
  const auto count = NextCount(args);
  if (!count) throw Refusal{not_positive};
  if (args.Left() != static_cast<uint64_t>(*count)) throw Refusal{refusals::kFieldCountMismatch};
  return args.Rest();
}

FieldExpireWords TakeFixedExpireWords(Call& call, TimeUnit unit, TimeBase base) {
  FieldExpireWords words;
  words.deadline_ms = ParseFieldDeadline(call, {call.args.Next(), unit, base});
  if (!call.args.AtEnd()) {
    if (bool* condition = ConditionOf(words.conditions, call.args.Rest().front())) {
      *condition = true;
      call.args.Next();
    }
  }
  words.fields = TakeFixedFields(call.args, refusals::kFieldCountZero);
  return words;
}

FieldWords TakeFixedHGetExWords(Call& call) {
  Args& args = call.args;
  FieldWords words;
  if (args.TakeToken("PERSIST")) {
    words.expiry = FieldExpiry::kPersist;
  } else if (!args.AtEnd()) {
    if (auto time = TimeOptionOf(args.Rest().front())) {
      args.Next();
      time->word = args.Next();
      words.expiry = FieldExpiry::kAt;
      words.deadline_ms = ParseFieldDeadline(call, *time);
    }
  }
  words.fields = TakeFixedFields(args, refusals::kFieldCountNotPositive);
  return words;
}

// Takes `FIELDS numfields field…` of HTTL, HPERSIST, HGETDEL and similar commands. `mismatch`: Valkey's error if
// numfields does not match the arguments.
std::span<const Bytes> TakeOnlyFields(Call& call, const char* mismatch) {
  if (GrammarOfFields(call) != HashFieldGrammar::kValkey)
    return TakeFixedFields(call.args, refusals::kFieldCountNotPositive);
  if (!call.args.TakeToken("FIELDS")) throw Refusal{refusals::kSyntax};
  return TakeValkeyFields(call.args, 1, mismatch);
}

}  // namespace

HashFieldGrammar GrammarOfFields(const Call& call) {
  const HashFieldGrammar grammar = call.services.env.dialect.traits.hash_field_grammar;
  return grammar == HashFieldGrammar::kFixed && call.unit.IsReplaying() ? HashFieldGrammar::kFree : grammar;
}

std::span<const Bytes> TakeFieldNames(Call& call) { return TakeOnlyFields(call, refusals::kFieldCountOfValkey); }

std::span<const Bytes> TakeFieldsToRead(Call& call) { return TakeOnlyFields(call, refusals::kSyntax); }

FieldExpireWords TakeFieldExpireWords(Call& call, TimeUnit unit, TimeBase base) {
  switch (GrammarOfFields(call)) {
    case HashFieldGrammar::kFixed:
      return TakeFixedExpireWords(call, unit, base);
    case HashFieldGrammar::kFree:
      return TakeFreeExpireWords(call, unit, base);
    case HashFieldGrammar::kValkey:
      return TakeValkeyExpireWords(call, unit, base);
  }
  return {};
}

void FieldWords::ReadDeadline(const Call& call) {
  if (time) deadline_ms = ParseFieldDeadline(call, *time);
}

FieldWords TakeHGetExWords(Call& call) {
  switch (GrammarOfFields(call)) {
    case HashFieldGrammar::kFixed:
      return TakeFixedHGetExWords(call);
    case HashFieldGrammar::kFree:
      return FreeOptionWords(call, false, false).Parse();
    case HashFieldGrammar::kValkey:
      return TakeValkeyWords(call, false);
  }
  return {};
}

FieldWords TakeHSetExWords(Call& call) {
  const HashFieldGrammar grammar = GrammarOfFields(call);
  if (grammar == HashFieldGrammar::kValkey) return TakeValkeyWords(call, true);
  return FreeOptionWords(call, true, grammar == HashFieldGrammar::kFixed).Parse();
}

}  // namespace respite
