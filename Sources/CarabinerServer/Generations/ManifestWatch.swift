internal import CarabinerFiles
internal import CarabinerHost
internal import CarabinerManifest
internal import Foundation

/// Polls a manifest and the files that it names for changes.
///
/// It compares times and sizes instead of using file system events. That works on every file system, for renamed as well as
/// overwritten files. Other files in the folder are ignored, because records, logs and stores change with each request.
struct ManifestWatch: Sendable {
  /// The polling interval. A change is reported when two polls in a row find the same state.
  static let interval = Duration.milliseconds(250)

  /// The path of the manifest.
  let path: String
  /// The keys that must have signed the files; nil if signatures are not checked.
  let trust: TrustPolicy?
  /// The files that the current generation reads in addition to those that the manifest names.
  let files: @Sendable () -> [String]

  /// The state that a poll found.
  private struct Look {
    /// The manifest, and the files that decide whether it is accepted.
    let manifest: [String: FileSignature]
    /// The files that the manifest names, which change only with it.
    let named: [String]
    let files: [String: FileSignature]

    /// Whether nothing has changed since another poll. A file that only one of them lists does not count as changed.
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
    let manifest = FileSignature.of(Set([path] + (trust?.deciding(on: [path]) ?? [])))
    let named = earlier.flatMap { $0.manifest == manifest ? $0.named : nil } ?? namedFiles() ?? earlier?.named ?? []
    let sidecars = trust?.deciding(on: named) ?? []
    return Look(manifest: manifest, named: named, files: FileSignature.of(Set(named + sidecars + files())))
  }

  /// The files that the manifest names. A manifest that is not accepted is not parsed.
  private func namedFiles() -> [String]? {
    Manifest.namedFiles(path: path) { bytes in
      if let trust { _ = try ReleaseCheck(trust).verify(manifest: bytes, at: path) }
    }
  }
}
