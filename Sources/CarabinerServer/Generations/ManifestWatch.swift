internal import CarabinerFiles
internal import CarabinerHost
internal import CarabinerManifest
internal import Foundation

/// Looks now and then whether a manifest or a file that it names has changed.
///
/// It asks for their times and sizes instead of being told: that works on every file system, and finds a file that was put in
/// place by a rename as well as one that was overwritten. Other files of the folder do not count: records, logs and stores change with
/// each request.
struct ManifestWatch: Sendable {
  /// How often it looks. A change is reported once nothing has changed between two looks.
  static let interval = Duration.milliseconds(250)

  /// The manifest.
  let path: String
  /// The files that what serves at this moment reads beside those its manifest names.
  let files: @Sendable () -> [String]

  /// What a look found.
  private struct Look {
    let manifest: FileSignature
    /// What the manifest names, which changes only with it.
    let named: [String]
    let files: [String: FileSignature]

    /// Whether nothing has changed since another look. A file that only one of them knows is none that has changed.
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
    let manifest = FileSignature(of: path)
    let named =
      earlier.flatMap { $0.manifest == manifest ? $0.named : nil } ?? Manifest.namedFiles(path: path) ?? earlier?.named ?? []
    return Look(manifest: manifest, named: named, files: FileSignature.of(Set(named + files())))
  }
}
