internal import ArgumentParser
internal import CarabinerHost
internal import CarabinerManifest
internal import CarabinerServer

/// The option for the manifest.
struct ManifestOptions: ParsableArguments {
  @Option(
    name: [.customShort("m"), .customLong("manifest")],
    help: "The manifest, YAML or JSON. Without it the chain is the built-in default.")
  var path: String?

  /// The manifest, or an empty one if none is given.
  ///
  /// - Parameter trust: The keys that must have signed the manifest; nil if its signature is not checked.
  func manifest(trusting trust: TrustPolicy? = nil) throws -> Manifest {
    guard let path else { return Manifest() }
    guard let trust else { return try Manifest.load(path: path) }
    return try ReleaseCheck(trust).manifest(at: path).manifest
  }

  /// The manifest with its plugins pinned, or an empty one if none is given.
  ///
  /// - Parameter trust: The keys that must have signed the manifest and the plugins; nil if signatures are not checked, and nothing is
  ///   pinned.
  func pinnedManifest(trusting trust: TrustPolicy?) throws -> Manifest {
    guard let path, let trust else { return try manifest() }
    return try ReleaseCheck(trust).pinnedManifest(at: path)
  }
}
