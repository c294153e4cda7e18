internal import CarabinerFiles

/// Finds the files that match patterns. Each folder is read once.
struct FileSearch {
  /// A folder that cannot be searched.
  struct Fault: Error {
    let path: String
    let reason: String
  }

  /// The maximum number of names in all folders that are read.
  static let maximumNames = 500_000
  /// The maximum depth of folders.
  static let maximumDepth = 64

  /// A folder with the rest of a pattern.
  private struct Place: Hashable {
    let folder: String
    let part: Int
  }

  /// The folder at which patterns begin.
  private let root: String
  private var listings: [String: [FolderListing.Entry]] = [:]
  private var names = 0

  init(root: String) { self.root = root }

  /// The paths of the files that match, relative to the root, sorted.
  mutating func files(matching glob: PathGlob) throws(Fault) -> [String] {
    guard !glob.parts.isEmpty else { return FileSignature(of: Paths.joined(root, glob.base)).isFile ? [glob.base] : [] }
    var found: Set<String> = []
    var known: Set<Place> = []
    var waiting = [(Place(folder: glob.base, part: 0), 0)]
    while let (place, depth) = waiting.popLast() {
      guard known.insert(place).inserted else { continue }
      guard depth < Self.maximumDepth else {
        throw Fault(path: place.folder, reason: "its folders are nested deeper than \(Self.maximumDepth)")
      }
      let part = glob.parts[place.part]
      let isLast = place.part == glob.parts.count - 1
      if part == .folders { waiting.append((Place(folder: place.folder, part: place.part + 1), depth)) }
      for entry in try entries(of: place.folder) {
        let path = Paths.joined(place.folder, entry.name)
        switch part {
        case .folders:
          guard entry.kind == .folder, !entry.name.hasPrefix(".") else { continue }
          waiting.append((Place(folder: path, part: place.part), depth + 1))
        case .name(let pattern):
          guard PathGlob.matches(entry.name, pattern) else { continue }
          if isLast, entry.kind == .file { found.insert(path) }
          if !isLast, entry.kind == .folder { waiting.append((Place(folder: path, part: place.part + 1), depth + 1)) }
        }
      }
    }
    return found.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  private mutating func entries(of folder: String) throws(Fault) -> [FolderListing.Entry] {
    if let known = listings[folder] { return known }
    let path = Paths.joined(root, folder)
    // A pattern may name a folder that does not exist. It matches nothing.
    guard FileSignature(of: path) != .absent else { return [] }
    do throws(BoundedFile.Fault) {
      let entries = try FolderListing.entries(of: path, maximum: Self.maximumNames - names)
      names += entries.count
      listings[folder] = entries
      return entries
    } catch .unreadable(let reason) {
      throw Fault(path: folder, reason: reason)
    } catch {
      throw Fault(path: folder, reason: "there are more than \(Self.maximumNames) names in the folders that are searched")
    }
  }
}

extension FileSignature {
  /// Whether the path is that of a regular file.
  fileprivate var isFile: Bool { if case .file = self { true } else { false } }
}
