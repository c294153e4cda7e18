internal import ArgumentParser
internal import CarabinerHost
internal import CarabinerManifest

/// Where the manifest is.
struct ManifestOptions: ParsableArguments {
  @Option(
    name: [.customShort("m"), .customLong("manifest")],
    help: "The manifest, YAML or JSON; without one the chain is the built-in default.")
  var path: String?

  /// The manifest named, or one that says nothing.
  func manifest() throws -> Manifest {
    guard let path else { return Manifest() }
    return try Manifest.load(path: path)
  }
}
