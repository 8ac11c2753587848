#include "persistence/aof_check.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <optional>

#include "base/str_cat.h"
#include "persistence/aof_damage.h"
#include "persistence/aof_manifest.h"
#include "persistence/aof_reader.h"
#include "persistence/file_head.h"
#include "persistence/rdb_check.h"

namespace respite {

namespace {

using Action = AofCheckOptions::Action;

constexpr uint64_t kLongestManifest = uint64_t{64} << 20;

// One of the files that CheckAof checks.
struct Part {
  std::string name;  // the file name, as shown to the user
  std::string path;
  bool is_last;
  bool may_begin_as_rdb;
};

// The result of checking one file. kTruncated: the damaged end was cut off now. kTruncatedToTimestamp: the records
// after the timestamp were cut off now. kFailed: the file is damaged, cannot be read or could not be cut.
enum class Verdict : uint8_t { kValid, kEmpty, kTruncated, kTruncatedToTimestamp, kFailed };

std::string FailedToRead(const Part& part, IoError error) {
  return "Failed to read from AOF " + part.name + ": " + IoErrorText(error);
}

// Returns true if the text begins, after comments, like the first line of a manifest.
bool IsManifest(Bytes text) {
  while (text.starts_with('#')) {
    const size_t end = text.find('\n');
    text.remove_prefix(end == Bytes::npos ? text.size() : end + 1);
  }
  return text.starts_with("file");
}

// Returns the two bytes at an offset in hexadecimal, as redis-check-aof prints them. Bytes after the end of the file
// are shown as 00.
std::string HexAt(File& file, uint64_t offset) {
  std::array<char, 2> bytes{};
  file.ReadAt(offset, bytes);
  std::array<char, 5> text;
  std::snprintf(text.data(), text.size(), "%02x%02x", static_cast<unsigned char>(bytes[0]),
                static_cast<unsigned char>(bytes[1]));
  return text.data();
}

std::string AtHexOffset(uint64_t offset, const std::string& text) {
  std::array<char, 24> hex;
  std::snprintf(hex.data(), hex.size(), "0x%16llx: ", static_cast<unsigned long long>(offset));
  return hex.data() + text;
}

// Reads the records of one file up to the first error.
class RecordCheck {
 public:
  RecordCheck(File& file, const Part& part, uint64_t bytes, uint64_t offset, const AofCheckOptions& options)
      : file_(file),
        part_(part),
        bytes_(bytes),
        options_(options),
        reader_(file, offset),
        good_end_(offset),
        has_good_part_(offset > 0) {
    reader_.ListenToAnnotations([this](uint64_t at, Bytes line) { OnAnnotation(at, line); });
  }

  void Run() {
    RequestBatch batch;
    AofReader::Status status = AofReader::Status::kRecords;
    while (status == AofReader::Status::kRecords && !complaint_ && !IsBehindCut(good_end_)) {
      status = reader_.Next(batch);
      for (size_t i = 0; i < batch.requests.size() && !complaint_; ++i) TakeRecord(batch, i);
    }
    if (complaint_ || cut_) return;
    complaint_ = ComplaintAbout(status);
    complaint_end_ = reader_.Offset();
    ends_early_ = status == AofReader::Status::kTruncated || status == AofReader::Status::kEnd;
  }

  // Returns where the good part of the file ends: after the last good record outside an unfinished transaction, and
  // after the annotations that follow this record.
  uint64_t GoodEnd() const { return good_end_; }
  uint64_t Line() const { return line_; }
  // Returns why reading the file failed, or kNoError. After a read error, it is unknown whether good records follow
  // GoodEnd, the end of the good part.
  IoError ReadError() const { return reader_.Error(); }
  // Returns the message about the first error in the records, or nullopt. The caller decides whether to print the
  // message.
  const std::optional<std::string>& Complaint() const { return complaint_; }
  // For kTruncateToTimestamp: returns nullopt if no annotation (#TS) is later than the requested time. Otherwise
  // returns where the file must be cut: the end of the last good record or transaction before the first later
  // annotation.
  std::optional<uint64_t> Cut() const { return cut_ ? std::optional(std::min(*cut_, good_end_)) : std::nullopt; }
  bool HasBadTimestamp() const { return bad_timestamp_; }
  // Returns true if the Complaint is that the file ends inside a record or a transaction. Requires: Complaint() is not
  // nullopt.
  bool EndsEarly() const { return ends_early_; }
  // Returns false if there are only annotations before GoodEnd().
  bool HasGoodPart() const { return has_good_part_; }
  // Returns true if complete records follow GoodEnd(), in a transaction without EXEC.
  bool HasOpenGroup() const { return in_multi_ && group_records_ > 0; }
  // Searches for a complete record in the rest of the file, after the error that Complaint() describes.
  LaterRecord Later() const { return FindLaterRecord(file_, complaint_end_, bytes_); }

 private:
  bool IsBehindCut(uint64_t offset) const { return bad_timestamp_ || (cut_ && offset >= *cut_); }

  void OnAnnotation(uint64_t at, Bytes line) {
    using aof_annotation::kTimestamp;
    if (at != annotations_end_) annotations_begin_ = at;
    annotations_end_ = at + line.size();
    if (options_.action != Action::kTruncateToTimestamp || !line.starts_with(kTimestamp) || cut_ || bad_timestamp_)
      return;
    const auto seconds = NumberInAnnotation(line, kTimestamp);
    bad_timestamp_ = !seconds;
    if (seconds && *seconds > options_.timestamp_s) cut_ = at;
  }

  void TakeRecord(const RequestBatch& batch, size_t i) {
    const uint64_t end = i + 1 < batch.requests.size() ? batch.requests[i + 1].offset : reader_.Offset();
    const auto words = batch.Words(batch.requests[i]);
    if (IsBehindCut(batch.requests[i].offset) || (cut_ && end > *cut_)) return;
    line_ += 1 + 2 * words.size();
    if (EqualsIgnoreCase(words[0], "multi")) {
      if (std::exchange(in_multi_, true)) complaint_ = Unexpected("MULTI", words, end);
    } else if (EqualsIgnoreCase(words[0], "exec")) {
      if (!std::exchange(in_multi_, false)) complaint_ = Unexpected("EXEC", words, end);
    } else if (in_multi_) {
      ++group_records_;
    }
    if (!in_multi_) group_records_ = 0;
    if (complaint_) complaint_end_ = end;
    if (in_multi_ || complaint_) return;
    good_end_ = end;
    has_good_part_ = true;
  }

  std::string Unexpected(const char* name, std::span<const Bytes> words, uint64_t end) const {
    constexpr size_t kLineEnd = 2;
    uint64_t behind = 0;  // bytes after the first word
    for (const Bytes word : words) behind += word.size() + kLineEnd;
    for (const Bytes word : words.subspan(1)) behind += 1 + std::to_string(word.size()).size() + kLineEnd;
    return AtHexOffset(end - behind, std::string("Unexpected ") + name + " in AOF " + part_.path);
  }

  std::optional<std::string> ComplaintAbout(AofReader::Status status) {
    if (annotations_begin_ == good_end_) good_end_ = std::max(good_end_, annotations_end_);
    switch (status) {
      case AofReader::Status::kTruncated:
      case AofReader::Status::kFormatError:
        line_ += reader_.LastFault().line_count;
        return ExplainFault(reader_.LastFault());
      default:
        if (!in_multi_) return std::nullopt;
        return UnfinishedGroup(reader_.Offset());
    }
  }

  static std::string UnfinishedGroup(uint64_t offset) {
    return AtHexOffset(offset, "Reached EOF before reading EXEC for MULTI");
  }

  std::string ExplainFault(const AofReader::Fault& fault) const {
    using Kind = AofReader::Fault::Kind;
    switch (fault.kind) {
      case Kind::kNotARecord:
        return "AOF " + part_.name + " format error";
      case Kind::kAnnotation:
        return AtHexOffset(fault.begin, "Reached EOF or too many bytes before the end of an annotation");
      case Kind::kCount:
        return AtHexOffset(fault.begin, "Expected another number of arguments");
      case Kind::kMark:
        return AtHexOffset(fault.begin, "Expected prefix '$', got: '" + ByteAt(fault.begin) + "'");
      case Kind::kLineEnd:
        if (in_multi_ && fault.begin == bytes_) return UnfinishedGroup(bytes_);
        return AtHexOffset(fault.begin, "Expected \\r\\n, got: " + HexAt(file_, fault.at));
      case Kind::kSize:
        return AtHexOffset(fault.begin, StrCat("Expected to read string of ", fault.size,
                                               " bytes, which is not in the suitable range"));
      case Kind::kMissing:
        return AtHexOffset(fault.begin,
                           StrCat("Expected to read ", fault.size + 2, " bytes, got ", bytes_ - fault.begin, " bytes"));
    }
    return "";
  }

  std::string ByteAt(uint64_t offset) const {
    std::array<char, 1> byte{};
    file_.ReadAt(offset, byte);
    const std::string quoted = Quoted({byte.data(), 1});
    return quoted.substr(1, quoted.size() - 2);
  }

  File& file_;
  const Part& part_;
  const uint64_t bytes_;
  const AofCheckOptions& options_;
  AofReader reader_;
  uint64_t good_end_;
  bool has_good_part_;  // true: an RDB or a good record is before good_end_
  uint64_t line_ = 1;
  uint64_t annotations_begin_ = 0;  // where the last annotations begin that no record separates
  uint64_t annotations_end_ = 0;    // where these annotations end
  uint64_t complaint_end_ = 0;      // start of the record with the error, or its end if it is complete
  bool ends_early_ = false;
  bool in_multi_ = false;
  uint64_t group_records_ = 0;  // complete records after the last MULTI, if it has no EXEC
  std::optional<std::string> complaint_;
  std::optional<uint64_t> cut_;
  bool bad_timestamp_ = false;
};

class AofCheck {
 public:
  AofCheck(FileSystem& files, const AofCheckOptions& options, CheckConsole& console)
      : files_(files), options_(options), console_(console) {}

  bool Run(const std::string& path) {
    const auto text = ReadFile(files_, path, kLongestManifest);
    if (!text) return Refuse("Cannot open file " + path + ": " + IoErrorText(text.error()));
    return IsManifest(text.value()) ? CheckParts(path, text.value()) : CheckOldFile(path);
  }

 private:
  bool Refuse(const std::string& why) {
    console_.Say(why);
    return false;
  }
  Verdict Fail(const std::string& why) {
    console_.Say(why);
    return Verdict::kFailed;
  }

  bool CheckOldFile(const std::string& path) {
    console_.Say("Start checking Old-Style AOF");
    return CheckPart({path, path, true, true}, "AOF");
  }

  bool CheckParts(const std::string& path, Bytes text) {
    console_.Say("Start checking Multi Part AOF");
    const auto manifest = AofManifest::Parse(text);
    if (!manifest) return RefuseManifest(manifest.error());
    const std::string directory = DirectoryOf(path) + "/";
    const auto& incrementals = manifest.value().incrementals();
    if (const auto& base = manifest.value().base()) {
      if (!CheckBase({base->name, directory + base->name, incrementals.empty(), true})) return false;
    }
    if (!incrementals.empty()) console_.Say("Start to check INCR files.");
    for (const AofManifest::Part& part : incrementals) {
      const bool is_last = &part == &incrementals.back();
      if (!CheckPart({part.name, directory + part.name, is_last, false}, "INCR AOF")) return false;
    }
    console_.Say("All AOF files and manifest are valid");
    return true;
  }

  bool CheckBase(const Part& part) {
    auto file = files_.Open(part.path, FileSystem::Mode::kRead);
    if (!file) return Refuse("Cannot open file " + part.path + ": " + IoErrorText(file.error()));
    const auto head = DetectFileFormat(*file.value());
    if (!head) return Refuse(FailedToRead(part, head.error()));
    const FileFormat::Kind kind = head.value().kind;
    const char* format = kind == FileFormat::Kind::kRdb ? "RDB" : kind == FileFormat::Kind::kOther ? "unknown" : "RESP";
    console_.Say(std::string("Start to check BASE AOF (") + format + " format).");
    return CheckPart(part, "BASE AOF");
  }

  bool RefuseManifest(const AofManifestError& error) {
    console_.Say("\n*** FATAL AOF MANIFEST FILE ERROR ***\n");
    if (error.line) {
      console_.Say(StrCat("Reading the manifest file, at line ", error.line->number, "\n"));
      console_.Say(">>> '" + error.line->text + "'\n");
    }
    return Refuse(error.why + "\n");
  }

  bool CheckPart(const Part& part, const std::string& kind) {
    const Verdict verdict = Judge(part);
    if (verdict == Verdict::kValid) console_.Say(kind + " " + part.name + " is valid");
    if (verdict == Verdict::kEmpty) console_.Say(kind + " " + part.name + " is empty");
    if (verdict == Verdict::kTruncated) console_.Say("Successfully truncated AOF " + part.name);
    if (verdict == Verdict::kTruncatedToTimestamp)
      console_.Say(StrCat("Successfully truncated AOF ", part.name, " to timestamp ", options_.timestamp_s));
    return verdict != Verdict::kFailed;
  }

  Verdict Judge(const Part& part) {
    auto file = files_.Open(part.path, FileSystem::Mode::kRead);
    const auto bytes = file ? file.value()->Size() : Result<uint64_t, IoError>(Failure(file.error()));
    if (!bytes) return Fail("Cannot open file " + part.path + ": " + IoErrorText(bytes.error()) + ", aborting...");
    if (bytes.value() == 0) return Verdict::kEmpty;
    const auto head = DetectFileFormat(*file.value());
    if (!head) return Fail(FailedToRead(part, head.error()));
    const bool is_rdb = part.may_begin_as_rdb && head.value().kind == FileFormat::Kind::kRdb;
    if (!is_rdb && head.value().kind != FileFormat::Kind::kRecords) {
      return Fail("AOF " + part.name + " is not valid: it is " + head.value().what + ". It cannot be repaired here.");
    }
    uint64_t offset = 0;
    if (is_rdb) {
      const auto end = CheckRdb(*file.value(), part.path, options_.now_ms, console_);
      if (!end) return Fail("RDB preamble of AOF file is not sane, aborting.");
      console_.Say("RDB preamble is OK, proceeding with AOF tail...");
      offset = *end;
    }
    RecordCheck records(*file.value(), part, bytes.value(), offset, options_);
    records.Run();
    if (records.ReadError() != kNoError) return Fail(FailedToRead(part, records.ReadError()));
    if (records.HasBadTimestamp()) return Fail("Invalid timestamp annotation");
    return records.Cut() ? TruncateToTimestamp(part, *records.Cut()) : JudgeRecords(part, bytes.value(), records);
  }

  Verdict JudgeRecords(const Part& part, uint64_t bytes, const RecordCheck& records) {
    if (records.Complaint()) console_.Say(*records.Complaint());
    if (!records.Complaint() && options_.action == Action::kTruncateToTimestamp) {
      console_.Say(StrCat("Truncate nothing in AOF ", part.name, " to timestamp ", options_.timestamp_s));
      return Verdict::kValid;
    }
    const uint64_t good = records.Complaint() ? records.GoodEnd() : bytes;
    console_.Say(StrCat("AOF analyzed: filename=", part.name, ", size=", bytes, ", ok_up_to=", good,
                        ", ok_up_to_line=", records.Line(), ", diff=", bytes - good));
    if (!records.Complaint()) return Verdict::kValid;
    if (options_.action == Action::kFix) return Fix(part, bytes, records);
    if (const auto why = part.is_last ? WhyNotToCut(part, records) : std::nullopt) return Fail(*why);
    return Fail("AOF " + part.name + " is not valid. Use the --fix option to try fixing it.");
  }

  Verdict Fix(const Part& part, uint64_t bytes, const RecordCheck& records) {
    if (!part.is_last) return Fail("Failed to truncate AOF " + part.name + " because it is not the last file");
    if (const auto why = WhyNotToCut(part, records)) return Fail(*why);
    const uint64_t rest = bytes - records.GoodEnd();
    const std::string good = std::to_string(bytes - rest);
    console_.Say(StrCat("This will shrink the AOF ", part.name, " from ", bytes, " bytes, with ", rest, " bytes, to ",
                        good, " bytes"));
    if (!console_.AskYesOrNo("Continue? [y/N]: ")) return Fail("Aborting...");
    const bool may_have_records = records.HasOpenGroup() || !records.EndsEarly();
    if (may_have_records && !Keep(part, bytes - rest, bytes)) return Verdict::kFailed;
    return Truncate(part, bytes - rest) ? Verdict::kTruncated : Fail("Failed to truncate AOF " + part.name);
  }

  static std::optional<std::string> WhyNotToCut(const Part& part, const RecordCheck& records) {
    const LaterRecord later = records.Later();
    if (later.kind == LaterRecord::Kind::kReadError) return FailedToRead(part, later.error);
    if (later.kind != LaterRecord::Kind::kNone) return TruncationRefusalText(part.path, records.GoodEnd(), later);
    if (records.HasGoodPart() || records.EndsEarly()) return std::nullopt;
    return "AOF " + part.name + " has no good record: nothing would be left of it. It was not changed.";
  }

  Verdict TruncateToTimestamp(const Part& part, uint64_t offset) {
    const std::string seconds = std::to_string(options_.timestamp_s);
    if (offset == 0) return Fail("AOF " + part.path + " has nothing before timestamp " + seconds + ", aborting...");
    if (!part.is_last) {
      return Fail(
          StrCat("Failed to truncate AOF ", part.path, " to timestamp ", seconds, " to offset ", offset,
                 " because it is not the last file.\n",
                 "If you insist, please delete all files after this file according to the manifest file and delete "
                 "the corresponding records in manifest file manually. Then re-run redis-check-aof."));
    }
    if (Truncate(part, offset)) return Verdict::kTruncatedToTimestamp;
    return Fail("Failed to truncate AOF " + part.path + " to timestamp " + seconds);
  }

  // Copies the end of a file to another one, before it is removed.
  bool Keep(const Part& part, uint64_t from, uint64_t end) {
    auto file = files_.Open(part.path, FileSystem::Mode::kRead);
    const auto copy = file ? KeepRemovedPart(files_, *file.value(), part.path, from, end)
                           : Result<std::string, IoError>(Failure(file.error()));
    if (!copy) return Refuse("Cannot copy the end of " + part.path + ": " + IoErrorText(copy.error()));
    console_.Say("The removed end of the file may have complete records. It is kept in " + copy.value());
    return true;
  }

  bool Truncate(const Part& part, uint64_t bytes) {
    const auto lock = files_.Lock(part.path);
    if (!lock && lock.error() == EWOULDBLOCK) return Refuse("A server that is running writes to " + part.path);
    auto file = files_.Open(part.path, FileSystem::Mode::kAppend);
    IoError error = file ? file.value()->Truncate(bytes) : file.error();
    if (error == kNoError) error = file.value()->Sync();
    return error == kNoError || Refuse("Cannot cut " + part.path + ": " + IoErrorText(error));
  }

  FileSystem& files_;
  const AofCheckOptions& options_;
  CheckConsole& console_;
};

}  // namespace

bool CheckAof(FileSystem& files, const std::string& path, const AofCheckOptions& options, CheckConsole& console) {
  return AofCheck(files, options, console).Run(path);
}

}  // namespace respite
