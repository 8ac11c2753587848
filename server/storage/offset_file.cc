#include "server/storage/offset_file.h"

#include <algorithm>

#include "base/log.h"
#include "base/number_text.h"
#include "base/real_clock.h"
#include "base/str_cat.h"
#include "server/config/settings.h"
#include "server/dataset/history.h"
#include "server/storage/snapshots.h"

namespace respite {

std::string OffsetFile::Name() const { return parts_.env.settings.cluster_config_file + ".offset"; }

std::string OffsetFile::Path() const { return parts_.env.settings.folder->Path() + '/' + Name(); }

int64_t OffsetFile::Read() {
  if (!parts_.env.settings.cluster_enabled) return 0;
  constexpr uint64_t kMaxBytes = 32;
  auto text = ReadFile(parts_.files, Name(), kMaxBytes);
  if (!text && text.error() == ENOENT) return 0;
  if (text && text.value().ends_with('\n')) text.value().pop_back();
  const auto number = text ? ParseInteger(text.value()) : std::nullopt;
  if (!number || *number < 0 || *number > History::kMaxOffset / 2) {
    parts_.env.log.Warning("The file " + Path() + " has no valid replication offset: it is ignored" +
                           (text ? "" : " (" + IoErrorText(text.error()) + ")"));
    return 0;
  }
  path_ = Path();
  covered_ = *number;
  return covered_;
}

void OffsetFile::Cover() {
  if (parts_.history.offset + kMargin > covered_ && !is_final_) Extend();
}

void OffsetFile::Extend() {
  const Settings& settings = parts_.env.settings;
  const bool keeps_data = settings.appendonly || !settings.save.empty() || parts_.snapshots.HasDump();
  if (!settings.cluster_enabled || !keeps_data || parts_.snapshots.LeavesDumpToOtherServer()) return;
  const int64_t now_ms = parts_.env.real_clock.NowMs();
  if (now_ms < retry_at_ms_) return;
  const int64_t wanted = std::min(parts_.history.offset, History::kMaxOffset / 2 - kStep) + kStep;
  if (wanted == covered_) return;  // the largest number; only a faulty primary can send larger offsets
  if (!Write(wanted)) retry_at_ms_ = now_ms + kRetryMs;
}

void OffsetFile::HandleNewFolder() {
  if (covered_ != 0 && path_ != Path()) covered_ = 0;
}

void OffsetFile::WriteFinal() {
  is_final_ = true;
  // A server without its primary's data starts again with its old data, whose offsets the file must still cover.
  const History& history = parts_.history;
  if (covered_ == 0 || history.data == History::Data::kNone) return;
  Write(history.is_shared ? history.offset : std::max(history.offset, history.least_offset));
}

bool OffsetFile::Write(int64_t offset) {
  const std::string path = Path();
  const IoError error = ReplaceFile(parts_.files, Name(), StrCat(offset, "\n"));
  if (error != kNoError) {
    parts_.env.log.Warning("Can't write the replication offset to " + path + ": " + IoErrorText(error) +
                           ". If this server stops now, replicas with older data may have a larger offset later");
    return false;
  }
  path_ = path;
  covered_ = offset;
  return true;
}

}  // namespace respite
