// The harness. `fuzz --seconds N --seed S` runs cases of all checks, each with its own seed drawn from S. The seed of a failing case is
// printed, and `fuzz --check NAME --case SEED` runs only that case. `fuzz --rounds N --seed S` runs the same cases on every machine.
// Compiled with -DLIBFUZZER it is a target of libFuzzer, whose bytes replace the seed.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <chrono>
#include <iterator>

#include "check.h"

extern "C" void __sanitizer_set_death_callback(void (*callback)());

namespace {
struct Check {
  const char *name;
  void (*run)(Choices &);
  unsigned weight;  // number of its cases in one round
};
constexpr Check kChecks[] = {{"heads", check_heads, 20},     {"table", check_table, 1},   {"pipeline", check_request_pipeline, 10},
                             {"database", check_database, 1}, {"absent", check_absent, 1}, {"directory", check_directory, 5},
                             {"documents", check_documents, 5}, {"bundles", check_bundles, 4}};
constexpr size_t kCount = std::size(kChecks);

const Check *running = nullptr;
uint64_t running_case = 0;

void name_case() {
  if (running) fprintf(stderr, "\nThis case again: npm run fuzz -- --check %s --case %llu\n", running->name, static_cast<unsigned long long>(running_case));
}

void run_case(const Check &check, uint64_t seed) {
  running = &check;
  running_case = seed;
  Choices choices(seed);
  check.run(choices);
}
}  // namespace

void fail(const std::string &words) {
  fprintf(stderr, "\nDoes not hold: %s\n", words.c_str());
#ifdef LIBFUZZER
  abort();
#else
  name_case();
  _exit(1);
#endif
}

std::string shown(std::string_view text) {
  std::string made = "\"";
  for (const char c : text.substr(0, 3'000)) {
    char coded[8];
    if (c == '\r') made += "\\r";
    else if (c == '\n') made += "\\n";
    else if (c >= ' ' && c < 127) made += c;
    else made.append(coded, static_cast<size_t>(snprintf(coded, sizeof coded, "\\x%02x", static_cast<unsigned char>(c))));
  }
  return made + (text.size() > 3'000 ? "\" and more" : "\"");
}

#ifdef LIBFUZZER
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  if (size == 0) return 0;
  Choices choices(bytes + 1, size - 1);
  kChecks[bytes[0] % kCount].run(choices);
  return 0;
}
#else
int main(int count, char **arguments) {
  uint64_t seed = 1, seconds = 20, rounds = 0, one_case = 0;
  const char *only = nullptr;
  for (int i = 1; i + 1 < count; i += 2) {
    const char *name = arguments[i], *value = arguments[i + 1];
    if (!strcmp(name, "--seed")) seed = strtoull(value, nullptr, 10);
    if (!strcmp(name, "--seconds")) seconds = strtoull(value, nullptr, 10);
    if (!strcmp(name, "--rounds")) rounds = strtoull(value, nullptr, 10);
    if (!strcmp(name, "--check")) only = value;
    if (!strcmp(name, "--case")) one_case = strtoull(value, nullptr, 10);
  }
  __sanitizer_set_death_callback(name_case);
  check_request_pipeline_regressions();
  Choices seeds(seed);
  uint64_t cases[kCount] = {};
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  uint64_t round = 0;
  do {
    for (size_t i = 0; i < kCount; i++) {
      if (only && strcmp(only, kChecks[i].name)) continue;
      if (one_case) {
        run_case(kChecks[i], one_case);
        continue;
      }
      for (unsigned n = 0; n < kChecks[i].weight; n++, cases[i]++) run_case(kChecks[i], seeds.next());
    }
  } while (!one_case && (rounds ? ++round < rounds : std::chrono::steady_clock::now() < end));
  running = nullptr;
  printf("seed %llu: %llu heads, %llu tables, %llu connections, %llu databases, %llu of absent tiles, %llu directories, %llu of documents, %llu of bundles; all held\n", static_cast<unsigned long long>(seed),
         static_cast<unsigned long long>(cases[0]), static_cast<unsigned long long>(cases[1]), static_cast<unsigned long long>(cases[2]),
         static_cast<unsigned long long>(cases[3]), static_cast<unsigned long long>(cases[4]), static_cast<unsigned long long>(cases[5]), static_cast<unsigned long long>(cases[6]),
         static_cast<unsigned long long>(cases[7]));
  return 0;
}
#endif
