internal import Carabiner
internal import CarabinerWire

/// The sidecars of the files in ``LastKnownGood``. A later start verifies them again.
package struct KeptSignatures: Sendable, Hashable {
  /// A time at which all were valid, in seconds since 1970.
  package let time: Int
  /// The text of the manifest that was signed.
  package let manifest: String
  package let manifestSidecar: String
  /// The sidecars of the plugins, by entry.
  package let plugins: [String: String]

  package init(time: Int, manifest: String, manifestSidecar: String, plugins: [String: String]) {
    self.time = time
    self.manifest = manifest
    self.manifestSidecar = manifestSidecar
    self.plugins = plugins
  }

  /// Reads what ``json`` is; nil if it is malformed.
  init?(_ json: JSONValue) {
    guard let time = json["time"]?.int, let manifest = json["manifest"]?.string, let sidecar = json["manifestSidecar"]?.string,
      let entries = json["plugins"]?.array
    else { return nil }
    var plugins: [String: String] = [:]
    for entry in entries {
      guard let name = entry["name"]?.string, let sidecar = entry["sidecar"]?.string else { return nil }
      plugins[name] = sidecar
    }
    self.init(time: time, manifest: manifest, manifestSidecar: sidecar, plugins: plugins)
  }

  var json: JSONValue {
    [
      "time": .number(JSONNumber(time)), "manifest": .string(manifest), "manifestSidecar": .string(manifestSidecar),
      "plugins": .array(
        plugins.sorted { $0.key < $1.key }.map { ["name": .string($0.key), "sidecar": .string($0.value)] }),
    ]
  }
}
