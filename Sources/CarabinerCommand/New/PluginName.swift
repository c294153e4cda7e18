internal import CarabinerABI
internal import CarabinerBridge
internal import CarabinerManifest

/// The name and the id of a new plugin.
struct PluginName {
  /// The name of the folder, of the manifest's entry, and of the file without `.so`.
  let name: String
  /// The reverse-DNS name in the plugin's note and table.
  let id: String

  private static let maximumLength = 64

  /// Checks that name and id are valid in paths, YAML, Make, Cargo and Swift packages.
  ///
  /// - Parameter id: The id; nil for `org.example.` followed by the name.
  /// - Throws: ``CommandError`` with the allowed form.
  init(_ name: String, id: String?) throws {
    let letters = name.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): true
      default: false
      }
    }
    let startsWell = name.first.map { ("a"..."z").contains($0) } ?? false
    guard letters, startsWell, !name.hasSuffix("-"), !name.contains("--"), name.utf8.count <= Self.maximumLength else {
      throw CommandError(
        .invalidName,
        """
        \(name.debugDescription) cannot be the name of a plugin: a name begins with a letter and has small letters a to z, digits and \
        single hyphens between them, \(Self.maximumLength) bytes at most, as in request-log
        """)
    }
    let taken = StageKind.allCases.flatMap(\.knownBuiltIns)
    guard !taken.contains(name), !["carabiner", "kit"].contains(name) else {
      throw CommandError(.invalidName, "\(name) is a reserved name; choose another, as in my-\(name)")
    }
    let id = id ?? "org.example.\(name)"
    guard PluginNote.isIdentifier(id) else {
      throw CommandError(
        .invalidName,
        """
        \(id.debugDescription) cannot be the id of a plugin: it is a reverse-DNS name, two or more labels of letters, digits, - and _ \
        with dots between them, 128 bytes at most, as in org.example.\(name)
        """)
    }
    self.name = name
    self.id = id
  }

  /// The name of the Swift module for version 1.0.0. Two loaded versions of a plugin need different module names.
  var moduleName: String {
    let words = name.split(separator: "-").map { $0.prefix(1).uppercased() + $0.dropFirst() }
    return words.joined() + "_1_0_0"
  }
}
