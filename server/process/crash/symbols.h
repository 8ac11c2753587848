// Symbols: finds the function at an address of this program in the symbol table of the program's file. Stack traces
// need this class, because the dynamic linker knows exported functions only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace respite {

class Symbols {  // finds the name of the function at an address, for stack traces
 public:
  // Maps the program's file; the system reads pages on demand. If the file is unreadable or has no symbols, Find finds
  // no names.
  Symbols();
  ~Symbols();
  Symbols(const Symbols&) = delete;
  Symbols& operator=(const Symbols&) = delete;

  struct Place {                   // which function contains an address, and where
    std::string_view function;     // mangled name of the function; empty if unknown
    uint64_t function_offset = 0;  // distance of the address from the start of the function
    uint64_t program_offset = 0;   // the address minus base_, as addr2line expects
  };
  bool IsInProgram(uint64_t address) const { return address >= begin_ && address < end_; }  // false: in a library
  // Finds the function at this address. Async-signal-safe. Requires: IsInProgram. Cost: O(symbols of the program), some
  // 100 µs.
  Place Find(uint64_t address) const;

 private:
  void FindProgram();  // finds where the program is in memory: sets base_, begin_ and end_
  void MapFile();      // maps the program's file: sets mapping_ and file_
  void FindTable();    // finds the symbol table in the file: sets table_offset_, table_bytes_ and names_
  template <class T>
  std::span<const T> Rows(uint64_t offset, uint64_t bytes) const;

  uint64_t base_ = 0;          // what is added to the addresses in the file; 0: the program has a fixed address
  uint64_t begin_ = 0;         // first address of the program in memory
  uint64_t end_ = 0;           // address after the program in memory
  void* mapping_ = nullptr;    // address of the program's file in memory; null: not mapped
  std::string_view file_;      // content of the program's file
  std::string_view names_;     // the file's string table, with the names of functions
  uint64_t table_offset_ = 0;  // position of the symbol table in the file, in bytes
  uint64_t table_bytes_ = 0;   // size of the symbol table in bytes
};

}  // namespace respite
