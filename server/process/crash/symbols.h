// Symbols: finds the function at an address of this program in the symbol table of the program's file. Used for stack
// traces, because the dynamic linker knows exported functions only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace respite {

class Symbols {
 public:
  // Maps the program's file; the system reads pages on demand. A file that is unreadable or has no symbols yields no
  // names.
  Symbols();
  ~Symbols();
  Symbols(const Symbols&) = delete;
  Symbols& operator=(const Symbols&) = delete;

  struct Place {
    std::string_view function;     // mangled; empty if unknown
    uint64_t function_offset = 0;  // of the address in the function
    uint64_t program_offset = 0;   // for addr2line
  };
  // Returns false for addresses of libraries.
  bool IsInProgram(uint64_t address) const { return address >= base_ && address < end_; }
  // Requires: IsInProgram. Async-signal-safe. Cost: O(symbols of the program), some 100 µs.
  Place Find(uint64_t address) const;

 private:
  void FindProgram();
  void MapFile();
  void FindTable();
  template <class T>
  std::span<const T> Rows(uint64_t offset, uint64_t bytes) const;

  uint64_t base_ = 0;
  uint64_t end_ = 0;
  void* mapping_ = nullptr;
  std::string_view file_;
  std::string_view names_;
  uint64_t table_offset_ = 0;
  uint64_t table_bytes_ = 0;
};

}  // namespace respite
