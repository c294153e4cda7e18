internal import ArgumentParser
internal import CarabinerRelease
internal import Foundation

/// `carabiner release statement`
struct ReleaseStatementCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "statement", abstract: "Print a statement about a file, to be signed.",
    discussion: """
      carabiner release statement p.so --kind plugin --name token-auth --serial 42 > s
      ssh-keygen -Y sign -f KEY -n carabiner-release s
      cat s s.sig > p.so.release
      """)

  @Argument(help: "The file.") var file: String
  @Option(name: .long, help: "The kind of file.") var kind: ReleaseKind
  @Option(name: .long, help: "The name that the file has in manifests: 1 to 64 of a-z, 0-9 and -.") var name: String
  @Option(name: .long, help: "A number above that of the version before, from 1.") var serial: Int
  @Option(name: .long, help: "How long the statement is valid, as in 90d or 12h, or a time.")
  var expires = ReleaseMoment.after(seconds: 90 * 86_400)
  @Option(name: .long, help: "A time such as 2026-11-22T00:00:00Z (default: now).") var issued: ReleaseTime?

  func validate() throws {
    guard ReleaseSubject(kind, name) != nil else {
      throw ValidationError(
        "--name takes 1 to \(ReleaseSubject.maximumNameBytes) of a-z, 0-9 and -, not \(name.debugDescription)")
    }
    guard serial > 0 else { throw ValidationError("--serial takes a number from 1") }
  }

  func run() async throws {
    do {
      guard let subject = ReleaseSubject(kind, name) else { throw ExitStatus.usage }
      let issued = issued ?? .now
      let statement = try ReleaseStatement(
        subject: subject, serial: serial, file: try ReleaseFileArgument.identity(of: file), issued: issued,
        expires: expires.time(from: issued))
      // The statement ends with a line break, and so does what is printed.
      Terminal.emit(String(statement.text.dropLast()))
    } catch {
      if !(error is ExitStatus) { Terminal.complain("error: \(error)") }
      throw ExitStatus(error)
    }
  }
}

extension ReleaseKind: ExpressibleByArgument {}

extension ReleaseTime: ExpressibleByArgument {
  init?(argument: String) { self.init(argument.utf8) }

  /// The current second.
  static var now: ReleaseTime { ReleaseTime(seconds: Int(Date().timeIntervalSince1970)) }
}
