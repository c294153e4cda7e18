internal import Carabiner
internal import CarabinerHost

/// What the command line says about how operations go over the wire; it adds to the manifest.
struct WireChoice: Sendable {
  /// Whether queries are sent with GET.
  var usesGET = false
  /// Whether hashes are sent in place of documents.
  var usesPersistedQueries = false

  func applied(to manifest: Manifest) -> Manifest {
    var manifest = manifest
    if usesGET { manifest.settings.usesGETForQueries = true }
    if usesPersistedQueries { manifest.persistedQueries.isEnabled = true }
    return manifest
  }
}
