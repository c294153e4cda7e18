internal import CarabinerFiles
package import CarabinerGenerator

/// The differences between the files that exist and those that a run generates.
package struct OutputChanges: Sendable {
  /// The files to create or replace.
  package private(set) var written: [String] = []
  /// The files that were generated before and have no source now.
  package private(set) var removed: [String] = []
  private var texts: [String: String] = [:]
  private let list: String
  private let oldList: FileList
  private let newList: FileList

  /// Whether all files are as they should be.
  package var isEmpty: Bool { written.isEmpty && removed.isEmpty }

  /// Compares the files of a plan with those that exist.
  ///
  /// - Parameters:
  ///   - root: The folder of the configuration.
  ///   - folder: The output folder, relative to the root.
  /// - Throws: `GeneratorError` if a file of a developer has the path of a generated one.
  init(_ plan: OutputPlan, root: String, folder: String) throws(GeneratorError) {
    let output = Paths.normalized(Paths.joined(root, folder))
    list = Paths.joined(output, FileList.name)
    var problems: [GeneratorProblem] = []
    var current: Set<String> = []
    for (path, text) in plan.files {
      let file = Paths.normalized(Paths.joined(root, path))
      current.insert(Self.relative(file, to: output))
      switch ExistingFile(file) {
      case .generated(let bytes) where bytes.elementsEqual(text.utf8): continue
      case .absent, .generated:
        written.append(file)
        texts[file] = text
      case .foreign(let reason):
        problems.append(
          GeneratorProblem(
            file: file, message: "the file cannot be replaced: \(reason); remove it, or choose another output folder"))
      }
    }
    guard problems.isEmpty else { throw GeneratorError(problems: problems) }
    oldList = FileList(in: output)
    newList = FileList(current)
    for path in oldList.paths.subtracting(current).sorted() {
      let file = Paths.normalized(Paths.joined(output, path))
      if case .generated = ExistingFile(file) { removed.append(file) }
    }
  }

  /// Writes and removes the files. Each file is replaced as a whole.
  ///
  /// - Throws: `GeneratorError` if a folder or a file cannot be written. If a folder cannot, nothing is written.
  package func apply() throws(GeneratorError) {
    if isEmpty, oldList.paths == newList.paths { return }
    try OutputFolders.prepare(for: [list] + written + removed)
    // After a crash, the next run knows all files that this one has written.
    let all = FileList(oldList.paths.union(newList.paths))
    if all.paths != oldList.paths { try Self.write(all.text, to: list) }
    for file in written { try Self.write(texts[file] ?? "", to: file) }
    for file in removed { try OutputFolders.remove(file) }
    if all.paths != newList.paths { try Self.write(newList.text, to: list) }
  }

  private static func write(_ text: String, to file: String) throws(GeneratorError) {
    do throws(FileReplacement.Fault) {
      // Generated files can be generated again, so they need not be on the disk at once.
      try FileReplacement.write(Array(text.utf8), to: file, mode: 0o644, isLasting: false)
    } catch {
      throw GeneratorError(problems: [
        GeneratorProblem(
          file: file, message: "the file cannot be written: \(error.reason); free space, or choose another output folder")
      ])
    }
  }

  /// A path as it is seen from a folder. Both are normalized, and both are absolute or both relative.
  private static func relative(_ path: String, to folder: String) -> String {
    guard path.hasPrefix("/") == folder.hasPrefix("/") else { return path }
    let names = path.split(separator: "/")
    let folders = folder.split(separator: "/").filter { $0 != "." }
    var common = 0
    while common < min(names.count - 1, folders.count), names[common] == folders[common] { common += 1 }
    // The name of a folder above the working folder is not known.
    guard !folders[common...].contains("..") else { return path }
    return (folders[common...].map { _ in ".." } + names[common...].map(String.init)).joined(separator: "/")
  }
}
