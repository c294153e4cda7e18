internal import CarabinerGenerator
internal import Glibc

/// The folders of generated files.
enum OutputFolders {
  /// Creates the folders of files, and checks that files can be created and replaced there.
  static func prepare(for files: [String]) throws(GeneratorError) {
    var problems: [GeneratorProblem] = []
    for folder in Set(files.map(Paths.folder)).sorted() {
      let path = folder.isEmpty ? "." : folder
      if !create(path) || !isWritable(path) {
        let reason = unsafe String(cString: strerror(errno))
        problems.append(
          GeneratorProblem(
            file: "",
            message: "the folder \(path) cannot be written: \(reason); change its permissions, or choose another output folder"))
      }
    }
    guard problems.isEmpty else { throw GeneratorError(problems: problems) }
  }

  /// Removes a file. A file that does not exist is not a fault.
  static func remove(_ file: String) throws(GeneratorError) {
    guard unsafe unlink(file) != 0, errno != ENOENT else { return }
    let reason = unsafe String(cString: strerror(errno))
    throw GeneratorError(problems: [
      GeneratorProblem(file: file, message: "the file has no source any more and cannot be removed: \(reason); remove it")
    ])
  }

  private static func isWritable(_ path: String) -> Bool { unsafe access(path + "/.", W_OK | X_OK) == 0 }

  /// Creates a folder and those above it.
  private static func create(_ path: String) -> Bool {
    if unsafe access(path, F_OK) == 0 { return true }
    let above = Paths.folder(of: path)
    if !above.isEmpty, above != path, !create(above) { return false }
    return unsafe mkdir(path, 0o755) == 0 || errno == EEXIST
  }
}
