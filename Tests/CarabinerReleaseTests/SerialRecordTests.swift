import CarabinerRelease
import TestTools
import Testing

@Suite("Records of serials")
struct SerialRecordTests {
  private func check(_ record: SerialRecord, _ statement: ReleaseStatement) throws -> ReleaseError.Code? {
    try code { try record.check(statement) }
  }

  @Test(
    "of the serials N-1, N and N+1, the lower one is a downgrade, and N with another file too",
    .rule("signature.7", "signature.11"))
  func neighbours() throws {
    var record = SerialRecord()
    let other = FileIdentity(of: [1, 2, 3])
    #expect(try check(record, try SampleRelease.statement(serial: 1)) == nil)
    record.keep(try SampleRelease.statement(serial: 7))
    #expect(try check(record, try SampleRelease.statement(serial: 6)) == .downgrade)
    #expect(try check(record, try SampleRelease.statement(serial: 6, file: other)) == .downgrade)
    #expect(try check(record, try SampleRelease.statement(serial: 7)) == nil)
    #expect(try check(record, try SampleRelease.statement(serial: 7, file: other)) == .downgrade)
    #expect(try check(record, try SampleRelease.statement(serial: 8)) == nil)
    #expect(try check(record, try SampleRelease.statement(serial: 8, file: other)) == nil)
    #expect(try check(record, try SampleRelease.statement("plugin:noop", serial: 1)) == nil)
    #expect(try check(record, try SampleRelease.statement("manifest:token-auth", serial: 1)) == nil)
  }

  @Test("a lower serial that is kept changes nothing, and a reset forgets one subject", .rule("signature.7"))
  func keeping() throws {
    var record = SerialRecord()
    record.keep(try SampleRelease.statement(serial: 7))
    record.keep(try SampleRelease.statement("plugin:noop", serial: 3))
    record.keep(try SampleRelease.statement(serial: 6))
    #expect(try check(record, try SampleRelease.statement(serial: 6)) == .downgrade)
    #expect(record.reset(try SampleRelease.subject()))
    #expect(!record.reset(try SampleRelease.subject()))
    #expect(try check(record, try SampleRelease.statement(serial: 1)) == nil)
    #expect(try check(record, try SampleRelease.statement("plugin:noop", serial: 2)) == .downgrade)
  }

  @Test("a record is written and read as the same", .rule("signature.7"))
  func form() throws {
    var record = SerialRecord()
    #expect(try SerialRecord(parsing: Array(record.text.utf8)) == record)
    record.keep(try SampleRelease.statement(serial: 7))
    record.keep(try SampleRelease.statement("manifest:shop", serial: 1 << 53))
    #expect(record.text.hasPrefix("carabiner-serials 1\nmanifest:shop 9007199254740992 "))
    #expect(try SerialRecord(parsing: Array(record.text.utf8)) == record)
  }

  @Test(
    "a malformed record is refused, because an empty one would permit every older file", .rule("signature.7"),
    arguments: [
      "", "\n", "carabiner-serials 1", "carabiner-serials 2\n", "carabiner-serials 1\n\n", "carabiner-serials 1\nplugin:a 1\n",
      "carabiner-serials 1\nplugin:a 0 DIGEST\n", "carabiner-serials 1\nplugin:a 1 DIGEST", "carabiner-serials 1\na 1 DIGEST\n",
      "carabiner-serials 1\nplugin:a  1 DIGEST\n", "carabiner-serials 1\nplugin:a 1 DIGEST\nplugin:a 2 DIGEST\n",
      "carabiner-serials 1\nplugin:a 1 DIGEST \n", "carabiner-serials 1\nplugin:a 1 abc\n",
    ])
  func refused(text: String) throws {
    let text = text.replacing("DIGEST", with: SampleRelease.file.digest)
    #expect(try code { _ = try SerialRecord(parsing: Array(text.utf8)) } == .invalidFile)
  }
}
