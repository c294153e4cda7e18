import Carabiner
import CarabinerManifest
import CarabinerWire
import Foundation
import TestTools
import Testing

@Suite("References to secrets")
struct SecretReferenceTests {
  private let folder: FixturePlugin.Folder
  private let here = JSONPointer().appending("config")

  init() throws { folder = try FixturePlugin.Folder() }

  private func secrets(_ environment: [String: String] = [:]) -> SecretReferences {
    SecretReferences(directory: folder.url.path) { environment[$0] }
  }

  @Test("references are resolved, and escapes are kept")
  func filled() throws {
    try Data("from the file\n".utf8).write(to: folder.file("secret"))
    let secrets = secrets(["NAME": "value", "EMPTY": ""])
    #expect(try secrets.resolve("a ${file:secret} b $${c} $d", at: here) == "a from the file b ${c} $d")
    #expect(try secrets.resolve("${env:NAME}${env:EMPTY}${env:NAME}", at: here) == "valuevalue")
    #expect(try secrets.resolve("$${env:NAME}", at: here) == "${env:NAME}")
  }

  @Test("references inside a secret are not resolved")
  func onlyOnce() throws {
    #expect(try secrets(["A": "${env:B}", "B": "no"]).resolve("${env:A}", at: here) == "${env:B}")
  }

  @Test("a missing or malformed reference is reported with its place")
  func missing() throws {
    try Data([0xFF]).write(to: folder.file("binary"))
    try Data(repeating: 65, count: SecretReferences.maximumFileBytes + 1).write(to: folder.file("large"))
    for (text, message) in [
      ("${env:UNSET}", "the environment variable UNSET is not set"), ("${file:absent}", "cannot be read"),
      ("${file:binary}", "not UTF-8"), ("${file:large}", "more than 64KiB"), ("${file:.}", "cannot be read"),
      ("${what:x}", "is not a reference"), ("${env:}", "no valid name"), ("${env:X", "does not end"),
    ] {
      let problem = #expect(throws: ManifestProblem.self) { try secrets().resolve(text, at: here) }
      #expect(problem?.message.contains(message) == true, "\(problem?.message ?? "")")
      #expect(problem?.pointer == here)
    }
  }

  @Test(
    "one line end is removed from the end of a file, and a byte order mark from its head",
    arguments: [("a\n", "a"), ("a\r\n", "a"), ("a\n\n", "a\n"), ("\u{FEFF}a\n", "a")])
  func lineEnd(contents: String, value: String) throws {
    try Data(contents.utf8).write(to: folder.file("secret"))
    #expect(try secrets().resolve("${file:secret}", at: here) == value)
  }

  @Test("all references that cannot be resolved are reported with their lines")
  func unset() throws {
    let manifest = try Manifest(
      text: """
        carabiner: 1
        endpoint: http://${env:HOST}/
        headers:
          A: ${env:ONE}
          B: fine
          C: ${env:TWO}
        """)
    let problems = manifest.problems(of: secrets())
    #expect(problems.map(\.code) == [.unresolvedReference, .unresolvedReference, .unresolvedReference])
    #expect(problems.map(\.position?.line) == [2, 4, 6])
    #expect(manifest.problems(of: secrets(["HOST": "h", "ONE": "1", "TWO": "2"])).isEmpty)
  }

  @Test(
    "a header value with a line end or NUL is refused, and the message shows its reference",
    arguments: ["\r\n", "\n", "\r", "\u{0}"])
  func headerValue(end: String) throws {
    let manifest = try Manifest(text: "carabiner: 1\nheaders: {Authorization: \"Bearer ${env:TOKEN}\"}")
    let secrets = secrets(["TOKEN": "opensesame\(end)X-Injected: 1"])
    let error = try #require(throws: ManifestError.self) { try manifest.resolvedHeaders(secrets) }
    #expect(error.problems.map(\.pointer.description) == ["/headers/Authorization"])
    #expect(error.problems.first?.position?.line == 2)
    #expect(error.description.contains("${env:TOKEN}"))
    #expect(!error.description.contains("opensesame"))
    #expect(!error.description.contains("Injected"))
  }

  @Test("every way to print a resolved text shows its reference")
  func printed() throws {
    let secret = try secrets(["TOKEN": "opensesame"]).secret("Bearer ${env:TOKEN}", at: here)
    #expect(secret.value == "Bearer opensesame")
    var dumped = ""
    dump(secret, to: &dumped)
    for text in ["\(secret)", String(describing: secret), String(reflecting: secret), dumped, "\([secret])"] {
      #expect(text.contains("${env:TOKEN}"))
      #expect(!text.contains("opensesame"), "\(text)")
    }
  }

  @Test("secrets in a plugin's message are replaced by references, the longest first")
  func redaction() throws {
    try Data("opensesame-and-more\n".utf8).write(to: folder.file("secret"))
    let redaction = secrets(["TOKEN": "opensesame", "EMPTY": ""]).redaction(
      of: ["a": "Bearer ${env:TOKEN}", "b": ["${file:secret}", "${env:EMPTY}", "plain"]])
    #expect(
      redaction("bad opensesame-and-more or opensesame, plain")
        == "bad ${file:secret} or ${env:TOKEN}, plain")
  }

  @Test("a reference that cannot be resolved does not keep the others of its configuration readable")
  func partialRedaction() throws {
    let manifest = try Manifest(
      text: "carabiner: 1\nheaders: {X-Token: 'Bearer ${env:TOKEN} ${env:ABSENT}'}\nendpoint: 'http://${env:ABSENT}@${env:HOST}/'"
    )
    let redaction = manifest.redaction(secrets(["TOKEN": "opensesame", "HOST": "secret.example"]))
    #expect(redaction("opensesame at secret.example") == "${env:TOKEN} at ${env:HOST}")
  }
}
