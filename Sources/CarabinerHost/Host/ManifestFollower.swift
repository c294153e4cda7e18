internal import CarabinerManifest

/// A part of the process, such as a gateway, whose settings follow the manifest of the current generation.
protocol ManifestFollower: AnyObject, Sendable {
  /// Prepares the settings of a manifest. They take effect with ``PreparedChange/commit()``.
  ///
  /// - Throws: An error if the settings cannot take effect. The generation is refused then.
  func prepare(_ manifest: Manifest) throws -> any PreparedChange

  /// Reads files again whose contents may have changed, without a new manifest.
  func refresh()
}

/// Settings that can take effect without a failure.
protocol PreparedChange: Sendable {
  /// Puts the settings into effect for connections and requests that begin later.
  func commit()

  /// Releases the prepared settings, because the generation was refused.
  func discard()
}
