internal import Carabiner
internal import CarabinerManifest
internal import CarabinerWire

/// A plugin of a manifest that is downloaded.
struct DownloadEntry: Sendable {
  let name: String
  let url: String
  /// SHA-256, in lower-case digits.
  let digest: String
  /// The place of the URL in the manifest.
  let pointer: JSONPointer

  /// - Returns: Nil if the plugin has no URL.
  init?(_ plugin: Manifest.Plugin) {
    guard case .url(let url, let digest) = plugin.source else { return nil }
    name = plugin.name
    self.url = url
    self.digest = digest
    pointer = plugin.pointer.appending("url")
  }

  /// The URL of the sidecar: the suffix follows the path.
  var sidecarURL: String {
    let path = url.prefix { $0 != "?" }
    return path + ".release" + url.dropFirst(path.count)
  }

  /// A failure, at the place of the URL.
  func problem(_ error: DownloadError) -> ManifestProblem {
    ManifestProblem(error.code == .pinMismatch ? .pinMismatch : .downloadFailed, at: pointer, error.message)
  }
}
