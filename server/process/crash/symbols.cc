#include "server/process/crash/symbols.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>

#include "base/descriptor.h"

namespace respite {

namespace {

struct Extent {
  uint64_t base = 0;
  uint64_t begin = UINT64_MAX;
  uint64_t end = 0;
};

// A callback of dl_iterate_phdr: stores the first entry of the list, which is the program, and stops.
int TakeFirst(dl_phdr_info* info, size_t, void* into) {
  auto& extent = *static_cast<Extent*>(into);
  extent.base = info->dlpi_addr;
  for (const ElfW(Phdr) & part : std::span(info->dlpi_phdr, info->dlpi_phnum)) {
    if (part.p_type != PT_LOAD) continue;
    extent.begin = std::min<uint64_t>(extent.begin, extent.base + part.p_vaddr);
    extent.end = std::max<uint64_t>(extent.end, extent.base + part.p_vaddr + part.p_memsz);
  }
  return 1;
}

}  // namespace

Symbols::Symbols() {
  FindProgram();
  MapFile();
  if (!file_.empty()) FindTable();
}

Symbols::~Symbols() {
  if (!file_.empty()) munmap(mapping_, file_.size());
}

void Symbols::FindProgram() {
  Extent extent;
  dl_iterate_phdr(TakeFirst, &extent);
  base_ = extent.base;
  begin_ = extent.begin;
  end_ = extent.end;
}

void Symbols::MapFile() {
  const Descriptor program(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  if (!program.IsOpen()) return;
  struct stat status {};
  if (fstat(program.Get(), &status) == 0 && status.st_size > 0) {
    const auto bytes = static_cast<size_t>(status.st_size);
    void* mapped = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, program.Get(), 0);
    if (mapped == MAP_FAILED) return;
    mapping_ = mapped;
    file_ = {static_cast<const char*>(mapped), bytes};
  }
}

// Returns a table of the file: `bytes` bytes from position `offset` on, as rows of type T. Returns an empty span if the
// file is too short or the position is not aligned.
template <class T>
std::span<const T> Symbols::Rows(uint64_t offset, uint64_t bytes) const {
  if (offset > file_.size() || bytes > file_.size() - offset || offset % alignof(T) != 0) return {};
  return {reinterpret_cast<const T*>(file_.data() + offset), bytes / sizeof(T)};
}

void Symbols::FindTable() {
  const auto header = Rows<ElfW(Ehdr)>(0, sizeof(ElfW(Ehdr)));
  if (header.empty() || std::memcmp(header[0].e_ident, ELFMAG, SELFMAG) != 0) return;
  const auto sections = Rows<ElfW(Shdr)>(header[0].e_shoff, uint64_t{header[0].e_shnum} * sizeof(ElfW(Shdr)));
  for (const auto& section : sections) {
    if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections.size()) continue;
    const auto& names = sections[section.sh_link];
    const auto bytes = Rows<char>(names.sh_offset, names.sh_size);
    names_ = {bytes.data(), bytes.size()};
    table_offset_ = section.sh_offset;
    table_bytes_ = section.sh_size;
  }
}

Symbols::Place Symbols::Find(uint64_t address) const {
  Place place;
  place.program_offset = address - base_;
  for (const auto& symbol : Rows<ElfW(Sym)>(table_offset_, table_bytes_)) {
    const bool is_function = (symbol.st_info & 0xf) == STT_FUNC;
    if (!is_function || place.program_offset - symbol.st_value >= symbol.st_size) continue;
    if (symbol.st_name >= names_.size()) continue;
    const std::string_view rest = names_.substr(symbol.st_name);
    place.function = rest.substr(0, rest.find('\0'));
    place.function_offset = place.program_offset - symbol.st_value;
    return place;
  }
  return place;
}

}  // namespace respite
