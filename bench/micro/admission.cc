// Hit rates of the response table with its current admission and with the previous one, which admitted every tile and let CLOCK evict. Traffic
// follows Zipf's law over addresses, with and without a concurrent scan. See admission.mjs.
#include <stdio.h>
#include <stdlib.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "../../libs/native-edge/native/hot_tiles/response_table.h"
#include "../../libs/native-edge/native/hot_tiles/tile_response.h"

ResponseCounts hot_counts;

namespace {
constexpr size_t kAddresses = 1'000'000, kWarm = 1'000'000, kRequests = 1'000'000, kCapacity = 96u << 20;
const std::string body(60'000, 'x');

std::string target_of(size_t i) { return "/tiles/alps/v1/12/" + std::to_string(i / 1'000) + "/" + std::to_string(i % 1'000) + ".png"; }

// Cumulated shares of the addresses, the most requested first.
std::vector<double> zipf(double exponent) {
  std::vector<double> sums(kAddresses);
  double sum = 0;
  for (size_t i = 0; i < kAddresses; i++) sums[i] = sum += 1 / std::pow(static_cast<double>(i + 1), exponent);
  for (double &each : sums) each /= sum;
  return sums;
}

void measure(const char *rule, bool admits, double exponent, int scan_percent) {
  ResponseTable table;
  table.set_capacity(kCapacity);
  TokenEntry token{"bmp_x", 0, true, {}};
  table.put_token(std::move(token));
  table.trust_tokens_until(INT64_MAX);
  const std::vector<double> shares = zipf(exponent);
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> unit;
  size_t hits = 0, asked = 0, copied = 0, scanned = 0;
  const std::string head(700, 'h');
  for (size_t n = 0; n < kWarm + kRequests; n++) {
    const bool scans = unit(random) * 100 < scan_percent;
    const size_t i = scans ? kAddresses + scanned++ : static_cast<size_t>(std::lower_bound(shares.begin(), shares.end(), unit(random)) - shares.begin());
    const std::string target = target_of(i);
    const bool hit = static_cast<bool>(table.find(target, {Credential::Token, "bmp_x"}, {0, 0}).answer);
    const bool counts = n >= kWarm;
    asked += counts && !scans;
    hits += counts && !scans && hit;
    if (hit) continue;
    const size_t size = 1'000 + i * 7'919 % 30'000;
    if (admits && !table.is_wanted(target, size, true)) continue;
    copied += counts ? size : 0;
    table.put_tile({target, head, std::string_view(body).substr(0, size)});
  }
  printf("%s\t%.1f\t%d\t%.1f\t%.0f\n", rule, exponent, scan_percent, 100.0 * static_cast<double>(hits) / static_cast<double>(asked),
         static_cast<double>(copied) / kRequests);
}
}  // namespace

int main() {
  for (const double exponent : {0.7, 0.9, 1.1}) {
    for (const int scan_percent : {0, 50}) {
      measure("clock", false, exponent, scan_percent);
      measure("frequency", true, exponent, scan_percent);
    }
  }
}
