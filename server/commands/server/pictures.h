// The pictures of LOLWUT: lines that end with '\n', and a caption without '\n', whose line the caller completes.
#pragma once

#include <complex>
#include <cstdint>
#include <string>

#include "base/random.h"

namespace respite {

struct PictureSize {  // size of a picture of LOLWUT, in characters
  int64_t columns;    // width in characters
  int64_t rows;       // height in lines, without the caption
};

std::string Labyrinth(Random& random, PictureSize size);  // for LOLWUT: a random maze of slashes, then a caption

// The pixel at z shows how often z can be replaced by z * z + constant until |z| > 2.
std::string JuliaSet(PictureSize size, std::complex<double> constant);  // for LOLWUT: a Julia set, then a caption

std::string Skyline(Random& random, PictureSize size);  // for LOLWUT: a town under stars, then a caption

}  // namespace respite
