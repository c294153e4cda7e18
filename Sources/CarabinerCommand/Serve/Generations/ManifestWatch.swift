internal import Foundation

/// Looks now and then whether the files of a manifest have changed.
///
/// It asks for their times and sizes instead of being told: that works on every file system, and finds a file that was put in
/// place by a rename as well as one that was overwritten.
struct ManifestWatch: Sendable {
  /// How often it looks. A change is reported once nothing has changed between two looks.
  static let interval = Duration.milliseconds(250)

  /// The manifest.
  let path: String
  /// The files it names at this moment.
  let files: @Sendable () -> [String]

  /// Calls `onChange` after each change, until the task is cancelled.
  func run(_ onChange: @Sendable () async -> Void) async {
    var settled = signature
    var last = settled
    while (try? await Task.sleep(for: Self.interval)) != nil {
      let now = signature
      if now == last, now != settled {
        settled = now
        await onChange()
      }
      last = now
    }
  }

  /// What tells one state of the files from another.
  private var signature: [String: String] {
    let folder = URL(filePath: path).deletingLastPathComponent().path
    let neighbours = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    let all = Set(files() + neighbours.map { "\(folder)/\($0)" } + [path])
    return Dictionary(uniqueKeysWithValues: all.map { ($0, Self.signature(of: $0)) })
  }

  private static func signature(of path: String) -> String {
    guard let found = try? FileManager.default.attributesOfItem(atPath: path) else { return "absent" }
    // The folder itself holds logs and sockets too; of what is no regular file only that it is there counts.
    guard found[.type] as? FileAttributeType == .typeRegular else { return "present" }
    let time = (found[.modificationDate] as? Date)?.timeIntervalSince1970 ?? 0
    return "\(time) \(found[.size] ?? 0) \(found[.systemFileNumber] ?? 0)"
  }
}
