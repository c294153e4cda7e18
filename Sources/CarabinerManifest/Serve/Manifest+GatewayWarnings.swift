internal import Carabiner
internal import CarabinerABI
internal import CarabinerWire

extension Manifest {
  /// Warnings about entries that have an effect in other programs, but not in a gateway.
  package var gatewayWarnings: [ManifestProblem] {
    guard serve.cachePolicy == .networkOnly else { return [] }
    let lists =
      [(lists, JSONPointer(components: ["chain"]))]
      + rules.enumerated().map { index, rule in
        (rule.lists, JSONPointer(components: ["rules", "\(index)", "chain"]))
      }
    return lists.flatMap { lists, pointer in
      (lists[.cache] ?? []).enumerated().filter { entry in plugins.contains { $0.name == entry.element.name } }.map {
        index, entry in
        ManifestProblem(
          .unusedPlugin, at: pointer.appending("cache").appending(index),
          "a gateway never asks the cache stage \(entry.name), because cache-policy is networkOnly, which is the default; write serve: "
            + "{cache-policy: cacheFirst}, or remove the stage")
      }
    }
  }
}
