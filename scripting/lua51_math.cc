// The library math as in 5.1: all results are doubles. math.random is deterministic, and gives the same sequence as in
// Redis.
#include <cmath>

#include "scripting/lua51.h"

namespace respite {
namespace lua51 {
namespace {

constexpr double kPi = 3.141592653589793238462643383279502884;

using Function = double (*)(double);

template <Function kFunction>
int Apply(lua_State* lua) {
  lua_pushnumber(lua, kFunction(luaL_checknumber(lua, 1)));
  return 1;
}

using Function2 = double (*)(double, double);

template <Function2 kFunction>
int Apply2(lua_State* lua) {
  const double first = luaL_checknumber(lua, 1);
  lua_pushnumber(lua, kFunction(first, luaL_checknumber(lua, 2)));
  return 1;
}

double Degrees(double radians) { return radians / (kPi / 180.0); }
double Radians(double degrees) { return degrees * (kPi / 180.0); }
double Lesser(double best, double number) { return number < best ? number : best; }
double Greater(double best, double number) { return number > best ? number : best; }

// Extreme returns the least or the greatest of all arguments (math.min, math.max); kBetter returns the better one of
// two numbers.
template <Function2 kBetter>
int Extreme(lua_State* lua) {
  const int count = lua_gettop(lua);
  double best = luaL_checknumber(lua, 1);
  WorkCounter work(lua);  // an argument may be a long text
  for (int i = 2; i <= count; i++) {
    work.Step();
    best = kBetter(best, luaL_checknumber(lua, i));
  }
  lua_pushnumber(lua, best);
  return 1;
}

int Frexp(lua_State* lua) {
  int exponent = 0;
  lua_pushnumber(lua, std::frexp(luaL_checknumber(lua, 1), &exponent));
  lua_pushinteger(lua, exponent);
  return 2;
}

int Ldexp(lua_State* lua) {
  const double number = luaL_checknumber(lua, 1);
  lua_pushnumber(lua, std::ldexp(number, CheckInt(lua, 2)));
  return 1;
}

int Modf(lua_State* lua) {
  double integral = 0;
  const double fraction = std::modf(luaL_checknumber(lua, 1), &integral);
  lua_pushnumber(lua, integral);
  lua_pushnumber(lua, fraction);
  return 2;
}

// The 48-bit generator of drand48, of which Redis uses the upper 31 bits. As in Redis, the generator starts with the
// default seed of the C library, and its state is kept from script to script.
class Generator {
 public:
  void Seed(int32_t seed) { state_ = (uint64_t{static_cast<uint32_t>(seed)} << 16 | 0x330E) & kMask; }

  // Returns a number in [0, 1).
  double Next() {
    constexpr uint64_t kRange = INT32_MAX;
    state_ = (state_ * 0x5DEECE66D + 0xB) & kMask;
    return static_cast<double>((state_ >> 17) % kRange) / static_cast<double>(kRange);
  }

 private:
  static constexpr uint64_t kMask = (uint64_t{1} << 48) - 1;
  uint64_t state_ = 0x1234ABCD330E;
};

constexpr const char* kGeneratorName = "respite.random";

// Returns the generator, which is upvalue 1 of math.random and math.randomseed.
Generator& GeneratorOf(lua_State* lua) { return *static_cast<Generator*>(lua_touserdata(lua, lua_upvalueindex(1))); }

int Random(lua_State* lua) {
  const double chance = GeneratorOf(lua).Next();
  const int arguments = lua_gettop(lua);
  if (arguments == 0) return lua_pushnumber(lua, chance), 1;
  if (arguments > 2) return luaL_error(lua, "wrong number of arguments");
  const int low = arguments == 1 ? 1 : CheckInt(lua, 1);
  const int high = CheckInt(lua, arguments);
  luaL_argcheck(lua, low <= high, arguments, "interval is empty");
  const double span = static_cast<double>(high) - low + 1;
  lua_pushnumber(lua, std::floor(chance * span) + low);
  return 1;
}

int RandomSeed(lua_State* lua) {
  GeneratorOf(lua).Seed(CheckInt(lua, 1));
  return 0;
}

constexpr luaL_Reg kMathFunctions[] = {{"abs", Apply<std::fabs>},
                                       {"acos", Apply<std::acos>},
                                       {"asin", Apply<std::asin>},
                                       {"atan", Apply<std::atan>},
                                       {"atan2", Apply2<std::atan2>},
                                       {"ceil", Apply<std::ceil>},
                                       {"cos", Apply<std::cos>},
                                       {"cosh", Apply<std::cosh>},
                                       {"deg", Apply<Degrees>},
                                       {"exp", Apply<std::exp>},
                                       {"floor", Apply<std::floor>},
                                       {"fmod", Apply2<std::fmod>},
                                       {"frexp", Frexp},
                                       {"ldexp", Ldexp},
                                       {"log", Apply<std::log>},
                                       {"log10", Apply<std::log10>},
                                       {"max", Extreme<Greater>},
                                       {"min", Extreme<Lesser>},
                                       {"mod", Apply2<std::fmod>},
                                       {"modf", Modf},
                                       {"pow", Apply2<std::pow>},
                                       {"rad", Apply<Radians>},
                                       {"sin", Apply<std::sin>},
                                       {"sinh", Apply<std::sinh>},
                                       {"sqrt", Apply<std::sqrt>},
                                       {"tan", Apply<std::tan>},
                                       {"tanh", Apply<std::tanh>},
                                       {nullptr, nullptr}};
constexpr luaL_Reg kChance[] = {{"random", Random}, {"randomseed", RandomSeed}, {nullptr, nullptr}};

}  // namespace

void AddMathLibrary(lua_State* lua) {
  luaL_newlib(lua, kMathFunctions);
  new (lua_newuserdatauv(lua, sizeof(Generator), 0)) Generator;
  lua_pushvalue(lua, -1);
  lua_setfield(lua, LUA_REGISTRYINDEX, kGeneratorName);
  luaL_setfuncs(lua, kChance, 1);
  lua_pushnumber(lua, kPi);
  lua_setfield(lua, -2, "pi");
  lua_pushnumber(lua, HUGE_VAL);
  lua_setfield(lua, -2, "huge");
  lua_setglobal(lua, "math");
}

}  // namespace lua51

void SeedRandom(lua_State* lua, int32_t seed) {
  lua_getfield(lua, LUA_REGISTRYINDEX, lua51::kGeneratorName);
  static_cast<lua51::Generator*>(lua_touserdata(lua, -1))->Seed(seed);
  lua_pop(lua, 1);
}

}  // namespace respite
