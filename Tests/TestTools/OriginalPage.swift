public import Foundation

/// A page with samples of an original library. The pages are not part of this repository.
///
/// `CARABINER_SEEDS` names the folder with the pages: text files whose names begin with a number of three digits.
public struct OriginalPage: Sendable {
  /// A declaration of a page.
  public struct Sample: Sendable {
    /// The lines of the declaration.
    public let text: String

    /// The first line, up to the brace.
    public var head: String { String(text.prefix { $0 != "{" && $0 != ":" }).trimmingCharacters(in: .whitespaces) }
  }

  /// The folder with the pages; nil if the variable is not set.
  public static let folder = ProcessInfo.processInfo.environment["CARABINER_SEEDS"].map {
    URL(filePath: $0, directoryHint: .isDirectory)
  }

  /// The text of the page.
  public let text: String

  /// Reads the page with this number; nil if there is none.
  public init?(_ number: String) throws {
    guard let folder = Self.folder else { return nil }
    let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    guard let file = files.first(where: { $0.lastPathComponent.hasPrefix(number) }) else { return nil }
    text = try String(contentsOf: file, encoding: .utf8)
  }

  /// The declarations that begin in the first column with one of these texts, and end with their last brace or parenthesis.
  public func samples(startingWith starts: [String]) -> [Sample] {
    var (samples, lines, depth): ([Sample], [Substring], Int) = ([], [], 0)
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      let isStart = starts.contains { line.hasPrefix($0) } && line.contains { "{(".contains($0) }
      guard !lines.isEmpty || isStart else { continue }
      lines.append(line)
      depth += line.count { "{(".contains($0) } - line.count { "})".contains($0) }
      guard depth == 0 else { continue }
      samples.append(Sample(text: lines.joined(separator: "\n")))
      lines = []
    }
    return samples
  }

  /// Compiles files as a module, whose warnings are errors.
  ///
  /// - Parameters:
  ///   - alias: Another name of a module of this package, as `Other=Module`.
  ///   - systemLibraries: The folders in Sources with module maps that the module needs.
  public static func compile(
    _ files: [String: String], languageMode: Int, alias: String, systemLibraries: [String]
  ) async throws -> ToolRun {
    let folder = try FixturePlugin.Folder()
    for (name, text) in files { try Data(text.utf8).write(to: folder.file(name)) }
    let modules = Repository.root.appending(path: ".build/debug/Modules").path
    let includes = [modules] + systemLibraries.map { Repository.root.appending(path: "Sources/\($0)").path }
    return try await ToolRun(
      URL(filePath: "/usr/bin/env"),
      [
        "swiftc", "-swift-version", "\(languageMode)", "-warnings-as-errors", "-parse-as-library", "-wmo", "-module-name",
        "Samples", "-module-alias", alias,
      ] + includes.flatMap { ["-I", $0] } + ["-c"] + files.keys.sorted().map { folder.file($0).path } + [
        "-o", folder.file("samples.o").path,
      ])
  }
}
