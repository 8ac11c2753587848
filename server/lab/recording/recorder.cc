#include "server/lab/recording/recorder.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <utility>

#include "base/descriptor.h"

namespace respite {

namespace {

constexpr size_t kMaxUnwritten = size_t{64} * 1024;

}  // namespace

class Recorder::Tap final : public StreamTap {
 public:
  Tap(Recorder& recorder, uint64_t connection) : recorder_(recorder), connection_(connection) {
    recorder_.Add(connection_, RecordedEvent::Kind::kOpen);
  }
  ~Tap() override { recorder_.Add(connection_, RecordedEvent::Kind::kClose); }
  Tap(const Tap&) = delete;
  Tap& operator=(const Tap&) = delete;

  void OnReceived(Bytes bytes) override { recorder_.Add(connection_, RecordedEvent::Kind::kIn, bytes); }
  void OnSent(Bytes bytes) override { recorder_.Add(connection_, RecordedEvent::Kind::kOut, bytes); }
  void OnPeerEnded() override { recorder_.Add(connection_, RecordedEvent::Kind::kEnd); }

 private:
  Recorder& recorder_;
  const uint64_t connection_;
};

std::optional<std::string> Recorder::Open(const std::string& path, const RecordingStart& start) {
  // Creates the file with permissions for its owner only, so that other users cannot read it even for a moment.
  const Descriptor mine(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR));
  auto file = parts_.files.Open(path, FileSystem::Mode::kCreate);
  if (!file.ok()) return "Can't open the recording " + path + ": " + IoErrorText(file.error());
  struct stat found {};
  if (stat(path.c_str(), &found) == 0 && S_ISREG(found.st_mode)) chmod(path.c_str(), S_IRUSR | S_IWUSR);
  file_ = std::move(file).value();
  began_us_ = parts_.real_clock.NowUs();
  unwritten_ = RecordingHeader(start);
  Flush();
  return std::nullopt;
}

Recorder::~Recorder() { Flush(); }

std::unique_ptr<StreamTap> Recorder::NewTap() { return std::make_unique<Tap>(*this, ++connections_); }

void Recorder::Add(uint64_t connection, RecordedEvent::Kind kind, Bytes bytes) {
  if (file_ == nullptr) return;
  AppendEventHeader(unwritten_, parts_.real_clock.NowUs() - began_us_, connection, kind, bytes.size());
  if (kind == RecordedEvent::Kind::kIn || kind == RecordedEvent::Kind::kOut) {
    unwritten_.append(bytes);
    unwritten_ += kEventEnd;
  }
  if (unwritten_.size() >= kMaxUnwritten) Flush();
}

void Recorder::End() {
  Flush();
  file_.reset();
}

void Recorder::Flush() {
  if (file_ == nullptr || unwritten_.empty()) return;
  const IoError error = file_->Write(unwritten_).error;
  unwritten_.clear();
  if (error == kNoError) return;
  file_.reset();
  parts_.log.Warning("The recording ends here: " + IoErrorText(error));
}

}  // namespace respite
