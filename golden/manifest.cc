#include "golden/manifest.h"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

namespace lockstep::golden {

constexpr int kVersion = 1;

std::vector<Golden> read_manifest(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error(fmt::format("{}: no manifest of golden images here", path));
  std::vector<Golden> goldens;
  try {
    const nlohmann::json json = nlohmann::json::parse(in);
    if (json.at("version") != kVersion)
      throw std::runtime_error(
          fmt::format("version {} where {} is known", json.at("version").dump(), kVersion));
    std::set<std::string> scenes;
    for (const auto& j : json.at("goldens")) {
      Golden g;
      j.at("scene").get_to(g.scene);
      j.at("file").get_to(g.file);
      j.at("width").get_to(g.width);
      j.at("height").get_to(g.height);
      j.at("seed").get_to(g.seed);
      j.at("reference").get_to(g.reference);
      j.at("hash").get_to(g.hash);
      j.at("reason").get_to(g.reason);
      if (!scenes.insert(g.scene).second)
        throw std::runtime_error(fmt::format("scene '{}' stands there twice", g.scene));
      goldens.push_back(g);
    }
  } catch (const std::exception& e) {
    throw std::runtime_error(fmt::format("{}: {}", path, e.what()));
  }
  return goldens;
}

void write_manifest(const std::string& path, const std::vector<Golden>& goldens) {
  nlohmann::ordered_json json = {{"version", kVersion},
                                 {"goldens", nlohmann::ordered_json::array()}};
  for (const Golden& g : goldens) {
    json["goldens"].push_back({{"scene", g.scene},
                               {"file", g.file},
                               {"width", g.width},
                               {"height", g.height},
                               {"seed", g.seed},
                               {"reference", g.reference},
                               {"hash", g.hash},
                               {"reason", g.reason}});
  }
  std::ofstream out(path);
  out << json.dump(2) << "\n";
  if (!out.flush()) throw std::runtime_error(fmt::format("{}: cannot be written", path));
}

}  // namespace lockstep::golden
