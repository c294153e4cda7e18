internal import CarabinerBridge
internal import CarabinerFiles
internal import CarabinerManifest
internal import CarabinerSources
internal import Foundation

/// Polls a manifest and the files that it names for changes.
///
/// It compares times and sizes instead of using file system events. That works on every file system, for renamed as well as
/// overwritten files. Other files in the folder are ignored, because records, logs and stores change with each request.
struct ManifestWatch: Sendable {
  /// The polling interval. A change is reported when two polls in a row find the same state.
  static let interval = Duration.milliseconds(250)

  let origin: ManifestOrigin
  /// The keys that must have signed the files; nil if signatures are not checked.
  let trust: TrustPolicy?
  /// The files that the current generation reads in addition to those that the manifest names.
  let files: @Sendable () -> [String]

  /// The state of the files at one poll.
  private struct Look {
    /// The manifest, and the files that decide whether it is accepted.
    let manifest: [String: FileSignature]
    /// The manifest of a source that is not a file. The source itself reports changes of it.
    let published: PublishedManifest?
    /// The files that the manifest names, which change only with it.
    let named: [String]
    let files: [String: FileSignature]

    /// Whether nothing has changed since another poll. A file that only one poll lists does not count as changed.
    func isSame(as other: Look) -> Bool {
      manifest == other.manifest && files.allSatisfy { path, signature in other.files[path].map { $0 == signature } ?? true }
    }
  }

  /// Calls `onChange` after each change, until the task is cancelled.
  func run(_ onChange: @Sendable () async -> Void) async {
    var settled = look(after: nil)
    var last = settled
    while (try? await Task.sleep(for: Self.interval)) != nil {
      let now = look(after: last)
      if now.isSame(as: settled) {
        settled = now
      } else if now.isSame(as: last) {
        await onChange()
        settled = now
      }
      last = now
    }
  }

  private func look(after earlier: Look?) -> Look {
    var path: String?
    if case .file(let file) = origin { path = file }
    let published = origin.remote?.used
    let manifest = FileSignature.of(Set((path.map { [$0] } ?? []) + (trust?.deciding(on: path.map { [$0] } ?? []) ?? [])))
    let isKnown = earlier.map { $0.manifest == manifest && $0.published == published } ?? false
    let named = (isKnown ? earlier?.named : nil) ?? namedFiles(published) ?? earlier?.named ?? []
    let sidecars = trust?.deciding(on: named) ?? []
    return Look(
      manifest: manifest, published: published, named: named, files: FileSignature.of(Set(named + sidecars + files())))
  }

  /// The files that the manifest names. A manifest that is not accepted is not parsed.
  private func namedFiles(_ published: PublishedManifest?) -> [String]? {
    switch origin {
    case .none: return []
    case .file(let path):
      return Manifest.namedFiles(path: path) { bytes in
        if let trust { _ = try ReleaseCheck(trust).verify(manifest: bytes, at: path) }
      }
    case .remote(let remote):
      guard let published,
        trust == nil || (try? trust.map { try ReleaseCheck($0).manifest(published, named: remote.label) }) != nil
      else { return nil }
      return Manifest.namedFiles(bytes: published.text, path: remote.label)
    }
  }
}
