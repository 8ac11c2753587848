#include "persistence/aof_manifest.h"

#include <algorithm>

#include "base/number_text.h"

namespace respite {

namespace {

constexpr size_t kLongestLine = 1024;  // including its line end
constexpr const char* kInvalid = "Invalid AOF manifest file format";

bool NeedsQuotes(Bytes name) {
  return name.empty() || std::any_of(name.begin(), name.end(), [](char c) {
           return !IsPrintable(c) || c == ' ' || c == '\\' || c == '"' || c == '\'';
         });
}

void AppendLine(std::string& out, const AofManifest::Part& part, char type) {
  out += "file ";
  out += NeedsQuotes(part.name) ? Quoted(part.name) : part.name;
  out.append(" seq ").append(IntegerText(part.seq).View()).append(" type ");
  out += type;
  out += '\n';
}

// Parses an integer as Redis does: skips blanks, takes a sign, ignores the text after the digits, and reads a text
// without digits as 0. Returns nullopt for more than 18 digits after leading zeros.
std::optional<int64_t> LeadingInteger(Bytes text) {
  constexpr size_t kMaxDigits = 18;
  while (!text.empty() && IsSpace(text.front())) text.remove_prefix(1);
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  while (text.starts_with('0')) text.remove_prefix(1);
  size_t digits = 0;
  int64_t number = 0;
  for (; digits < text.size() && IsDigit(text[digits]); ++digits) {
    if (digits == kMaxDigits) return std::nullopt;
    number = number * 10 + (text[digits] - '0');
  }
  return negative ? -number : number;
}

}  // namespace

// Parses a manifest line by line until the first error.
class AofManifestParser {
 public:
  explicit AofManifestParser(Bytes text) : rest_(text) {}

  Result<AofManifest, AofManifestError> Parse() {
    if (rest_.empty()) return Failure(AofManifestError{"Found an empty AOF manifest", std::nullopt});
    while (!rest_.empty() && why_ == nullptr) TakeLine();
    if (why_ != nullptr) return Failure(AofManifestError{why_, std::move(blamed_)});
    return std::move(manifest_);
  }

 private:
  // The fields of one line of the manifest.
  struct LineFields {
    std::optional<std::string> name;
    int64_t seq = 0;
    char type = '\0';
  };

  void TakeLine() {
    const size_t end = rest_.find('\n');
    const Bytes line = rest_.substr(0, end);
    rest_.remove_prefix(end == Bytes::npos ? rest_.size() : end + 1);
    ++number_;
    if (line.starts_with('#')) return;
    // Reports a line that is too long or has a NUL byte. As in Redis, a last line without a line end (`end` is npos)
    // gets the same error.
    if (end >= kLongestLine || line.find('\0') != Bytes::npos) {
      why_ = "The AOF manifest file contains too long line";
      return;
    }
    const Bytes trimmed = TrimSpaces(line);
    why_ = Understand(trimmed);
    if (why_ != nullptr) blamed_ = AofManifestError::Line{number_, std::string(trimmed)};
  }

  // Adds the file that a line names to the manifest. Returns null on success, otherwise the error message. Ignores
  // unknown pairs of words, which later versions may write.
  const char* Understand(Bytes line) {
    constexpr size_t kWords = 6;
    const auto words = SplitQuoted(line);
    if (!words || words->size() < kWords || words->size() % 2 != 0) return kInvalid;
    LineFields fields;
    for (size_t i = 0; i < words->size(); i += 2) {
      const std::string& word = (*words)[i + 1];
      if (EqualsIgnoreCase((*words)[i], "file")) {
        if (word.find_first_of("/\\") != std::string::npos) return "File can't be a path, just a filename";
        fields.name = word.substr(0, word.find('\0'));
      } else if (EqualsIgnoreCase((*words)[i], "seq")) {
        fields.seq = LeadingInteger(word).value_or(0);
      } else if (EqualsIgnoreCase((*words)[i], "type")) {
        fields.type = word.empty() ? '\0' : word.front();
      }
    }
    if (!fields.name || fields.seq == 0 || fields.type == '\0') return kInvalid;
    return Add({*std::move(fields.name), fields.seq}, fields.type);
  }

  const char* Add(AofManifest::Part part, char type) {
    switch (type) {
      case 'b':
        if (manifest_.base_) return "Found duplicate base file information";
        manifest_.base_seq_ = std::max<int64_t>(part.seq, 0);  // a negative number counts as 0
        manifest_.base_ = std::move(part);
        return nullptr;
      case 'h':
        manifest_.history_.push_back(std::move(part));
        return nullptr;
      case 'i':
        if (part.seq <= manifest_.incremental_seq_) return "Found a non-monotonic sequence number";
        manifest_.incremental_seq_ = part.seq;
        manifest_.incrementals_.push_back(std::move(part));
        return nullptr;
      default:
        return "Unknown AOF file type";
    }
  }

  AofManifest manifest_;
  Bytes rest_;
  size_t number_ = 0;
  const char* why_ = nullptr;
  std::optional<AofManifestError::Line> blamed_;
};

Result<AofManifest, AofManifestError> AofManifest::Parse(Bytes text) { return AofManifestParser(text).Parse(); }

std::string AofManifest::Text() const {
  std::string text;
  if (base_) AppendLine(text, *base_, 'b');
  for (const Part& part : history_) AppendLine(text, part, 'h');
  for (const Part& part : incrementals_) AppendLine(text, part, 'i');
  return text;
}

AofManifest::Part AofManifest::NextPart(Bytes file_name, int64_t seq, Bytes suffix,
                                        const NamePredicate& is_taken) const {
  while (true) {
    ++seq;
    std::string name(file_name);
    name.append(".").append(IntegerText(seq).View()).append(suffix);
    const auto has_name = [&](const Part& part) { return part.name == name; };
    if (std::any_of(history_.begin(), history_.end(), has_name) || (is_taken && is_taken(name))) continue;
    return {std::move(name), seq};
  }
}

const std::string& AofManifest::AddBase(Bytes file_name, AofBaseFormat format, const NamePredicate& is_taken) {
  if (base_) history_.insert(history_.begin(), *std::move(base_));
  base_ = NextPart(file_name, base_seq_, format == AofBaseFormat::kRdb ? ".base.rdb" : ".base.aof", is_taken);
  base_seq_ = base_->seq;
  return base_->name;
}

const std::string& AofManifest::AddIncremental(Bytes file_name, const NamePredicate& is_taken) {
  incrementals_.push_back(NextPart(file_name, incremental_seq_, ".incr.aof", is_taken));
  incremental_seq_ = incrementals_.back().seq;
  return incrementals_.back().name;
}

bool AofManifest::HasPartNamed(Bytes name) const {
  const auto is_it = [&](const Part& part) { return part.name == name; };
  return (base_ && is_it(*base_)) || std::any_of(incrementals_.begin(), incrementals_.end(), is_it) ||
         std::any_of(history_.begin(), history_.end(), is_it);
}

void AofManifest::RetireIncrementals(size_t kept) {
  if (incrementals_.size() <= kept) return;
  const auto end = incrementals_.end() - static_cast<ptrdiff_t>(kept);
  history_.insert(history_.begin(), incrementals_.begin(), end);
  incrementals_.erase(incrementals_.begin(), end);
}

bool AofManifest::IsPartName(Bytes file_name, Bytes name) {
  if (!name.starts_with(file_name) || !name.substr(file_name.size()).starts_with(".")) return false;
  const Bytes rest = name.substr(file_name.size() + 1);
  const size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
  const Bytes suffix = rest.substr(digits);
  return digits > 0 && (suffix == ".base.rdb" || suffix == ".base.aof" || suffix == ".incr.aof");
}

void AofManifest::UseOldFileAsBase(Bytes file_name) {
  base_ = Part{std::string(file_name), 1};
  base_seq_ = 1;
}

}  // namespace respite
