import CarabinerRelease
import Testing

@Suite("Lists of revocations")
struct RevocationListTests {
  private static let digest = SampleRelease.file.digest
  private static let key = "SHA256:e1lZUzhAJ5LZSNS+xdWivpLrX30eW0wbbCk1UQT6kJA"

  private func list(_ text: String) throws -> RevocationList { try RevocationList(parsing: Array(text.utf8)) }

  @Test("Comments and empty lines are allowed, and the highest of several serials counts")
  func reading() throws {
    let text = """
      # 2026-11-30: the laptop of the team was stolen
      key \(Self.key)

      serials-below plugin:token-auth 7
      serials-below plugin:token-auth 42
      serials-below plugin:token-auth 9

      """
    let list = try list(text)
    let statement = try SampleRelease.statement(serial: 41)
    #expect(list.reason(against: statement)?.contains("below 42") == true)
    #expect(list.reason(against: try SampleRelease.statement()) == nil)
    let sidecar = try ReleaseSidecar(parsing: Array((SampleRelease.statement + SampleRelease.armor).utf8))
    #expect(list.revokes(try #require(sidecar.signatures.first).key))
    #expect(try self.list("").reason(against: statement) == nil)
  }

  @Test(
    "Any other line is refused, because it could be meant to revoke something",
    arguments: [
      "key", "key SHA256:", "key e1lZUzhAJ5LZSNS+xdWivpLrX30eW0wbbCk1UQT6kJA", "key MD5:00", "key SHA256:e1lZ", "key KEY=",
      "key KEY more",
      "sha256", "sha256 5891", "sha256 5891B5B522D5DF086D0FF0B110FBD9D21BB4FC7163AF34D08286A2E846F6BE03",
      "serials-below plugin:a",
      "serials-below plugin:* 4", "serials-below a 4", "serials-below plugin:a -1", "serials-below plugin:a 4 5",
      "serial plugin:a 4",
      "KEY", "key\tKEY", "key KEY\r", "sha512 00", "revoke all",
    ])
  func refused(line: String) throws {
    let line = line.replacing("KEY", with: Self.key)
    do throws(ReleaseError) {
      _ = try RevocationList(parsing: Array("\n# comment\n\(line)\n".utf8), name: "revoked")
      Issue.record("the line was accepted")
    } catch {
      #expect(error.code == .invalidFile)
      #expect(error.message.contains("line 3 of revoked"), "\(error)")
    }
  }

  @Test("A list has at most 1 MiB")
  func size() throws {
    let line = "sha256 \(Self.digest)\n"
    let count = (1 << 20) / line.utf8.count
    #expect(try code { _ = try list(String(repeating: line, count: count)) } == nil)
    #expect(try code { _ = try list(String(repeating: line, count: count + 1)) } == .invalidFile)
  }
}
