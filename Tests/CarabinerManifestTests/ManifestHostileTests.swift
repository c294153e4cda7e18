import CarabinerManifest
import CarabinerWire
import Foundation
import TestTools
import Testing

/// Files that are not manifests, or are malicious.
@Suite("A hostile manifest is refused in little time and with little memory")
struct ManifestHostileTests {
  private let folder: FixturePlugin.Folder

  init() throws { folder = try FixturePlugin.Folder() }

  private func problem(_ bytes: Data, name: String = "manifest.yaml") throws -> ManifestProblem {
    let file = folder.file(name)
    try bytes.write(to: file)
    return try problem(at: file.path)
  }

  private func problem(at path: String) throws -> ManifestProblem {
    let error = try #require(throws: ManifestError.self) { try Manifest.load(path: path) }
    #expect(error.path == path)
    #expect(error.problems.count == 1, "\(error)")
    return try #require(error.problems.first)
  }

  @Test("a file of more than a mebibyte, and a device without end", arguments: ["yaml", "json", "txt"])
  func tooLarge(suffix: String) throws {
    let text = "carabiner: 1 #" + String(repeating: "x", count: Manifest.maximumFileBytes)
    #expect(try problem(Data(text.utf8), name: "large.\(suffix)").code == .tooLarge)
    #expect(try problem(at: "/dev/zero").code == .tooLarge)
    #expect(ManifestFixtures.problems(text).map(\.code) == [.tooLarge])
  }

  @Test("a manifest of the largest size is read")
  func justSmallEnough() throws {
    let text = "carabiner: 1 #"
    let filled = text + String(repeating: "x", count: Manifest.maximumFileBytes - text.utf8.count)
    #expect(ManifestFixtures.problems(filled).isEmpty)
  }

  @Test("a folder, a missing file and an unreadable file")
  func unreadable() throws {
    #expect(try problem(at: folder.url.path).code == .unreadable)
    let absent = try problem(at: folder.file("absent.yaml").path)
    #expect(absent.code == .unreadable)
    #expect(absent.message.contains("No such file"))
    let file = folder.file("secret.yaml")
    try Data("carabiner: 1".utf8).write(to: file)
    try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: file.path)
    // Root can read every file.
    if geteuid() == 0 {
      #expect(try Manifest.load(path: file.path).plugins.isEmpty)
    } else {
      #expect(try problem(at: file.path).code == .unreadable)
    }
  }

  @Test(
    "bytes that are not UTF-8",
    arguments: [[0xFF], [0xC3, 0x28], [0xED, 0xA0, 0x80], [0xC0, 0x80], [0xF4, 0x90, 0x80, 0x80]] as [[UInt8]])
  func noUTF8(bytes: [UInt8]) throws {
    let problem = try problem(Data("carabiner: 1 # ".utf8) + Data(bytes))
    #expect(problem.code == .syntax)
    #expect(problem.message.contains("not UTF-8"))
  }

  @Test("UTF-16, with and without a byte order mark, is refused", arguments: [true, false])
  func utf16(hasMark: Bool) throws {
    var bytes = Data(hasMark ? [0xFF, 0xFE] : [])
    for unit in "carabiner: 1".utf16 { bytes.append(contentsOf: [UInt8(unit & 0xFF), UInt8(unit >> 8)]) }
    #expect(try problem(bytes).code == .syntax)
  }

  @Test("NUL in the text, plain or escaped", arguments: ["carabiner: 1\u{0}", "carabiner: 1\nendpoint: \u{0}"])
  func nul(text: String) {
    #expect(ManifestFixtures.problems(text, format: .yaml).map(\.code) == [.syntax])
    #expect(ManifestFixtures.problems("{\"carabiner\": 1, \"endpoint\": \"\u{0}\"}", format: .json).map(\.code) == [.syntax])
    let escaped = ManifestFixtures.problems(#"{"carabiner": 1, "headers": {"A": "x\u0000"}}"#, format: .json)
    #expect(escaped.map(\.pointer.description) == ["/headers/A"])
  }

  @Test("aliases that expand each other, as values and as keys")
  func aliasBombs() throws {
    func bomb(_ open: String, _ close: String, _ separator: String) -> String {
      var text = "carabiner: 1\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
      for level in 1...40 {
        let aliases = Array(repeating: "*a\(level - 1)", count: 10).joined(separator: separator)
        text += "a\(level): &a\(level) \(open)\(aliases)\(close)\n"
      }
      return text
    }
    let clock = ContinuousClock()
    let time = clock.measure {
      for text in [bomb("[", "]", ", "), bomb("{? [", "] : x}", ", "), bomb("{", " : x}", " : x, ")] {
        #expect(ManifestFixtures.problems(text).map(\.code) == [.syntax])
      }
    }
    // Without the checks this would practically never end. The bound is not a performance requirement.
    #expect(time < .seconds(30))
  }

  @Test("an alias of itself")
  func selfAlias() {
    #expect(ManifestFixtures.problems("carabiner: 1\nheaders: &h {a: *h}").map(\.code) == [.syntax])
  }

  @Test("very deep nesting", arguments: [65, 1000, 100_000])
  func deep(levels: Int) {
    let json =
      #"{"carabiner": 1, "plugins": "# + String(repeating: "[", count: levels) + String(repeating: "]", count: levels) + "}"
    #expect(ManifestFixtures.problems(json, format: .json).map(\.code) == [.tooDeep])
    let unclosed = #"{"carabiner": 1, "plugins": "# + String(repeating: "[", count: levels)
    #expect(ManifestFixtures.problems(unclosed, format: .json).count == 1)
    let yaml = "carabiner: 1\nplugins: " + String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
    #expect(ManifestFixtures.problems(yaml, format: .yaml).map(\.code) == [.tooDeep])
    let indented =
      "carabiner: 1\nplugins:\n" + (0..<min(levels, 1000)).map { String(repeating: " ", count: $0) + "- \n" }.joined()
    #expect(!ManifestFixtures.problems(indented, format: .yaml).isEmpty)
  }

  @Test(
    "a key that occurs twice in one object, at any place",
    arguments: [
      ("carabiner: 1\nheaders: {}\nheaders: {}", Manifest.Format.yaml, "headers"),
      ("carabiner: 1\nsettings:\n  timeout: 1s\n  \"timeout\": 2s", .yaml, "timeout"),
      ("carabiner: 1\nplugins:\n  - {name: a, config: {k: 1, k: 2}}", .yaml, "k"),
      (#"{"carabiner": 1, "headers": {}, "headers": {}}"#, .json, "headers"),
      (#"{"carabiner": 1, "carabiner": 2}"#, .json, "carabiner"),
      (#"{"carabiner": 1, "settings": {"timeout": "1s", "time\u006fut": "2s"}}"#, .json, "timeout"),
    ])
  func duplicateKeys(text: String, format: Manifest.Format, key: String) throws {
    let problems = ManifestFixtures.problems(text, format: format)
    #expect(problems.map(\.code) == [.duplicateName])
    #expect(problems.first?.message.contains("the key \(key) occurs twice") == true, "\(problems)")
    #expect(problems.first?.position != nil)
  }

  @Test("a duplicate key whose neighbour is a pair of surrogates, which only JSON has")
  func duplicateKeyBesideSurrogates() {
    let text = #"{"carabiner": 1, "headers": {"a": "\ud83d\ude00"}, "headers": {}}"#
    let problems = ManifestFixtures.problems(text, format: .json)
    #expect(problems.map(\.code) == [.duplicateName])
    #expect(problems.first?.message.contains("the key headers occurs twice") == true, "\(problems)")
    let elsewhere = ManifestFixtures.problems(
      "{\"carabiner\": 1, \"headers\": {\"a\": \"\\ud83d\\ude00\"},\n  \"settings\": {\"timeout\": 1}}", format: .json)
    #expect(elsewhere.map { $0.position?.description } == ["line 2, column 16"])
  }

  @Test("syntax that only YAML allows is refused in a .json file")
  func strictJSON() throws {
    for text in ["{carabiner: 1}", #"{"carabiner": 1,}"#, "{\"carabiner\": 1} # note", "carabiner: 1", "{'carabiner': 1}"] {
      let problem = try problem(Data(text.utf8), name: "manifest.json")
      #expect(problem.code == .syntax)
      #expect(problem.message.contains("this is not JSON"))
      #expect(problem.position?.line == 1)
    }
  }

  @Test("a manifest with a changed, missing or doubled byte does not crash the reader")
  func mutations() throws {
    let text = try String(contentsOfFile: "\(ManifestFixtures.folder)/accepted/aliases.yaml", encoding: .utf8)
    let bytes = Array(text.utf8)
    var refused = 0
    for offset in bytes.indices {
      for replacement: [UInt8] in [[], [bytes[offset], bytes[offset]], [0], [UInt8(ascii: "*")], [UInt8(ascii: "{")], [0xFF]] {
        var changed = bytes
        changed.replaceSubrange(offset...offset, with: replacement)
        guard let text = String(validating: changed, as: UTF8.self) else { continue }
        if !ManifestFixtures.problems(text).isEmpty { refused += 1 }
      }
    }
    #expect(refused > bytes.count)
  }
}
