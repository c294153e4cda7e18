import CarabinerRelease
import TestTools
import Testing

@Suite("Statements")
struct StatementTests {
  private static let lines = SampleRelease.statement.split(separator: "\n").map(String.init)
  private static let places = Array(lines.indices)

  private func isRefused(_ text: String) throws -> Bool {
    try code { _ = try ReleaseStatement(parsing: Array(text.utf8)) } == .signature
  }

  private func text(_ lines: [String]) -> String { lines.map { "\($0)\n" }.joined() }

  @Test("the statement of the specification is read, and written with the same bytes", .rule("signature.2"))
  func sample() throws {
    let statement = try ReleaseStatement(parsing: Array(SampleRelease.statement.utf8))
    #expect(statement.subject.description == "plugin:token-auth")
    #expect(statement.serial == 42)
    #expect(statement.file == SampleRelease.file)
    #expect(statement.issued.description == "2026-11-22T00:00:00Z")
    #expect(statement.expires.description == "2027-02-20T00:00:00Z")
    #expect(statement.text == SampleRelease.statement)
    let made = try ReleaseStatement(
      subject: statement.subject, serial: 42, file: SampleRelease.file, issued: statement.issued, expires: statement.expires)
    #expect(made.text == SampleRelease.statement)
    #expect(FileIdentity(of: Array(made.text.utf8)).digest.hasPrefix("8dd423eb"))
    #expect(FileIdentity(of: Array(made.text.utf8)).digest.hasSuffix("79bd"))
  }

  @Test("each line must be there", .rule("signature.2"), arguments: places)
  func missing(place: Int) throws {
    var lines = Self.lines
    lines.remove(at: place)
    #expect(try isRefused(text(lines)))
    #expect(try isRefused(text(Array(Self.lines[..<place]))))
  }

  @Test("no line may be there twice", .rule("signature.2"), arguments: places)
  func twice(place: Int) throws {
    var lines = Self.lines
    lines.insert(lines[place], at: place)
    #expect(try isRefused(text(lines)))
    #expect(try isRefused(text(Self.lines + [Self.lines[place]])))
  }

  @Test("two lines may not change places", .rule("signature.2"), arguments: places.dropLast())
  func order(place: Int) throws {
    var lines = Self.lines
    lines.swapAt(place, place + 1)
    #expect(try isRefused(text(lines)))
  }

  @Test(
    "a line has no carriage return, tab, second space, leading or trailing space, other case or other byte", .rule("signature.2"),
    arguments: places
  )
  func bytes(place: Int) throws {
    let line = Self.lines[place]
    let others = [
      "\(line)\r", "\(line)\t", "\(line) ", " \(line)", line.replacing(" ", with: "  "), line.replacing(" ", with: "\t"),
      line.uppercased(), "\(line)\u{0}", "\(line)\u{e9}", "\(line)\u{7f}", "",
    ]
    for other in others {
      var lines = Self.lines
      lines[place] = other
      #expect(try isRefused(text(lines)), "\(other.debugDescription)")
    }
  }

  @Test(
    "values out of range are refused", .rule("signature.2"),
    arguments: [
      "carabiner-release 2", "carabiner-release 01", "kind patch", "kind ", "name ", "name Token", "name a_b", "name a.b",
      "name ../x",
      "serial 0", "serial -1", "serial +1", "serial 042", "serial 9007199254740993", "serial 99999999999999999999", "serial 1e3",
      "sha256 5891B5B522D5DF086D0FF0B110FBD9D21BB4FC7163AF34D08286A2E846F6BE03", "sha256 5891", "size -1", "size 06",
      "size 9007199254740993", "issued 2027-02-20T00:00:00Z", "issued 2026-02-30T00:00:00Z", "expires 2026-11-22T00:00:00Z",
      "expires never",
    ])
  func values(line: String) throws {
    let word = line.prefix { $0 != " " }
    #expect(try isRefused(text(Self.lines.map { $0.hasPrefix("\(word) ") ? line : $0 })))
  }

  @Test("all kinds, names of 1 and of 64 bytes, and the serials 1 and 2^53 are accepted", .rule("signature.2"))
  func limits() throws {
    for kind in ["plugin", "manifest", "revoked", "release"] {
      #expect(try !isRefused(SampleRelease.statement.replacing("kind plugin", with: "kind \(kind)")))
    }
    let long = String(repeating: "n", count: 64)
    #expect(try !isRefused(SampleRelease.statement.replacing("token-auth", with: long)))
    #expect(try isRefused(SampleRelease.statement.replacing("token-auth", with: "\(long)n")))
    #expect(try !isRefused(SampleRelease.statement.replacing("token-auth", with: "0")))
    for serial in ["1", "9007199254740992"] {
      #expect(try !isRefused(SampleRelease.statement.replacing("serial 42", with: "serial \(serial)")))
    }
  }

  @Test("lines of one's own may follow, and nothing else", .rule("signature.2"))
  func additions() throws {
    let statement = try ReleaseStatement(parsing: Array((SampleRelease.statement + "x-commit 8d534aa9\nx-url a b\n").utf8))
    #expect(statement.additions == ["x-commit 8d534aa9", "x-url a b"])
    #expect(statement.text == SampleRelease.statement + "x-commit 8d534aa9\nx-url a b\n")
    for line in ["x-commit", "x-commit ", "x- a", "X-commit a", "y-commit a", "x-Commit a", "\n", " x-a b", "comment"] {
      #expect(try isRefused("\(SampleRelease.statement)\(line)\n"), "\(line)")
    }
    #expect(try isRefused(String(SampleRelease.statement.dropLast())))
    #expect(try isRefused("\(SampleRelease.statement)x-a b"))
    #expect(try isRefused(""))
    #expect(try isRefused("\n"))
  }

  @Test("a statement has at most 4 KiB", .rule("signature.2"))
  func size() throws {
    let room = 4096 - SampleRelease.statement.utf8.count - "x-a \n".utf8.count
    #expect(try !isRefused("\(SampleRelease.statement)x-a \(String(repeating: "b", count: room))\n"))
    #expect(try isRefused("\(SampleRelease.statement)x-a \(String(repeating: "b", count: room + 1))\n"))
  }

  @Test("a statement that could not be read is not made", .rule("signature.2"))
  func making() throws {
    let time = SampleRelease.time
    #expect(try code { _ = try SampleRelease.statement(serial: 0) } == .signature)
    #expect(try code { _ = try SampleRelease.statement(serial: (1 << 53) + 1) } == .signature)
    #expect(try code { _ = try SampleRelease.statement(issued: time, expires: time) } == .signature)
    #expect(
      try code { _ = try SampleRelease.statement(file: FileIdentity(size: -1, digest: SampleRelease.file.digest)) } == .signature)
    #expect(try code { _ = try SampleRelease.statement(file: FileIdentity(size: 1, digest: "ab")) } == .signature)
  }

  @Test("the name of a manifest is that of its file without suffix", .rule("signature.2"))
  func manifestName() {
    #expect(ReleaseSubject.manifestName(path: "/etc/carabiner/shop.yaml") == "shop")
    #expect(ReleaseSubject.manifestName(path: "shop") == "shop")
    #expect(ReleaseSubject.manifestName(path: "a.b/shop.v2.json") == "shop.v2")
    #expect(ReleaseSubject.manifestName(path: "").isEmpty)
  }
}
