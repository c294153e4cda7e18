internal import CarabinerFiles

/// The list of the files that the last run generated. It is in the output folder.
///
/// Without the list, a run could not distinguish a file without a source from one that another configuration generated, or that a developer
/// copied from a generated one.
struct FileList {
  /// The name of the file. Swift packages ignore names that begin with a dot.
  static let name = ".carabiner-generated"
  /// The maximum size of the file in bytes.
  static let maximumBytes = 16 << 20

  private static let firstLine = "# The files that Carabiner generated. It removes those that have no source any more."

  /// The paths, relative to the output folder.
  var paths: Set<String>

  init(_ paths: some Sequence<String>) { self.paths = Set(paths) }

  /// Reads the list of a folder. It is empty if there is none.
  init(in folder: String) {
    let text = try? BoundedFile.text(at: Paths.joined(folder, Self.name), maximumBytes: Self.maximumBytes)
    let lines = (text ?? "").split(separator: "\n")
    paths = Set(lines.first == Self.firstLine[...] ? lines.dropFirst().map(String.init) : [])
  }

  /// The text of the file.
  var text: String {
    ([Self.firstLine] + paths.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }).map { $0 + "\n" }.joined()
  }
}
