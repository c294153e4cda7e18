internal import CCarabiner
internal import CarabinerManifest
internal import CarabinerWire

/// The identity of a plugin, read from its file without running any of its code.
package struct PluginNote: Sendable, Hashable {
  /// The id of its first interceptor.
  package let id: String
  /// The plugin's version.
  package let version: String
  /// The unusual abilities the plugin declares. The host ignores them; the conformance harness reads them.
  package let capabilities: Set<String>
  /// The ABI's major version, and the lowest minor version the plugin needs.
  package let abi: (major: Int, minor: Int)
  /// The version of Swift that the plugin was built with; nil if it does not say.
  package let swiftVersion: String?

  package static func == (left: PluginNote, right: PluginNote) -> Bool {
    left.id == right.id && left.version == right.version && left.abi == right.abi
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(id)
    hasher.combine(version)
  }

  /// Reads the note of an image.
  ///
  /// - Throws: ``HostError`` with the code `noNote` or `badNote`.
  package init(of image: ELFImage, path: String) throws(HostError) {
    let notes: [Range<Int>]
    do throws(ELFImage.Fault) {
      notes = try image.notes(of: "CRB", type: UInt32(CRB_NOTE_TYPE), limit: 2)
    } catch {
      throw Self.bad(path, "its note segments have more than \(ByteSizeText.print(ELFImage.maximumNoteBytes))")
    }
    guard let note = notes.first else {
      throw HostError(
        .noNote, step: "note", path: path,
        "this shared object is not a Carabiner plugin: it has no note in .note.crb; declare one with CRB_DECLARE_NOTE")
    }
    guard notes.count == 1 else { throw Self.bad(path, "there is more than one") }
    let text = image.contents(note).prefix(Int(CRB_NOTE_MAX)).prefix { $0 != 0 }
    guard text.count < Int(CRB_NOTE_MAX) else { throw Self.bad(path, "its text is longer than \(CRB_NOTE_MAX - 1) bytes") }
    let json: JSONValue
    do {
      json = try JSONValue(parsing: Array(text), limits: JSONLimits(maximumDepth: 4))
    } catch {
      throw Self.bad(path, "its text is not JSON: \(error)")
    }
    guard let id = json["id"]?.string, Self.isIdentifier(id) else { throw Self.bad(path, "\"id\" is not a reverse-DNS name") }
    guard let version = json["version"]?.string, !version.isEmpty else { throw Self.bad(path, "\"version\" is missing") }
    guard let major = json["abi"]?[0]?.int, let minor = json["abi"]?[1]?.int else {
      throw Self.bad(path, "\"abi\" is not [major, minor]")
    }
    swiftVersion = json["swift"]?.string
    guard json["swift"] == nil || swiftVersion.map(SwiftRuntime.isVersion) == true else {
      throw Self.bad(path, "\"swift\" is not a version such as \"6.3.1\"")
    }
    self.id = id
    self.version = version
    capabilities = Set((json["capabilities"]?.array ?? []).compactMap(\.string))
    abi = (major, minor)
  }

  /// The note of a plugin that is a part of this program.
  package init(id: String, version: String) {
    self.id = id
    self.version = version
    capabilities = []
    swiftVersion = nil
    abi = (Int(CRB_ABI_MAJOR), Int(CRB_ABI_MINOR))
  }

  /// Whether a text is a reverse-DNS name: at least two labels of letters, digits, - and _, at most 128 bytes.
  package static func isIdentifier(_ text: String) -> Bool {
    let labels = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    return text.utf8.count <= 128 && labels.count >= 2
      && labels.allSatisfy { label in
        !label.isEmpty
          && label.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
              UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
              true
            default: false
            }
          }
      }
  }

  private static func bad(_ path: String, _ what: String) -> HostError {
    HostError(.badNote, step: "note", path: path, "the note in .note.crb cannot be used: \(what); ask the plugin's author")
  }
}
