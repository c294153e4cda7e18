internal import ArgumentParser
internal import CarabinerHost
internal import CarabinerManifest

/// The option for the manifest.
struct ManifestOptions: ParsableArguments {
  @Option(
    name: [.customShort("m"), .customLong("manifest")],
    help: "The manifest, YAML or JSON. Without it the chain is the built-in default.")
  var path: String?

  /// The manifest, or an empty one if none is given.
  func manifest() throws -> Manifest {
    guard let path else { return Manifest() }
    return try Manifest.load(path: path)
  }
}
