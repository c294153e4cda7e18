package import CarabinerRelease

/// The sidecar of a downloaded file: the one that the server has now, and the one that was accepted before.
package struct PluginSidecar: Sendable {
  private let cache: PluginCache
  private let path: String
  /// Nil if it could not be downloaded.
  private let renewed: [UInt8]?

  init(_ cache: PluginCache, path: String, renewed: [UInt8]?) {
    (self.cache, self.path, self.renewed) = (cache, path, renewed)
  }

  /// Verifies the new sidecar, or else the kept one. A new one is kept only if it is accepted, so that a wrong file on the server does not
  /// replace the right one here.
  ///
  /// - Parameter verify: Verifies the bytes of a sidecar; nil if there is none.
  /// - Throws: The error for the new sidecar if none of both is accepted.
  package func verified<Result>(_ verify: ([UInt8]?) throws(ReleaseError) -> Result) throws(ReleaseError) -> Result {
    let kept = try ReleaseFile.sidecar(at: path)
    guard let renewed, renewed != kept else { return try verify(kept) }
    do throws(ReleaseError) {
      let result = try verify(renewed)
      // Without it, it is asked for again.
      try? cache.keep(renewed, at: path)
      return result
    } catch {
      guard kept != nil, let result = try? verify(kept) else { throw error }
      return result
    }
  }
}
