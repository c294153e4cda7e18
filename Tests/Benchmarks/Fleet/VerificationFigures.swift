import ArgumentParser
import CarabinerRelease
import CarabinerWire
import Foundation

/// The verification of the statement beside a file.
struct VerificationFigures: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "verify", abstract: "Times the verification of a statement.")

  @Argument(help: "The trust file.")
  var trust: String

  @Argument(help: "The file, with its sidecar beside it.")
  var file: String

  @Option(help: "How often the statement is verified.")
  var rounds = 5000

  func run() throws {
    let content = try Data(contentsOf: URL(filePath: file))
    let sidecar = [UInt8](try Data(contentsOf: URL(filePath: file + ReleaseSidecar.suffix)))
    let subject = try ReleaseSidecar(parsing: sidecar).statement.subject
    let verifier = ReleaseVerifier(trust: try TrustFile(at: trust))
    let identity = FileIdentity(of: [UInt8](content))
    let now = ReleaseTime(seconds: Int(Date.now.timeIntervalSince1970))
    var times: [Double] = []
    for _ in 0..<rounds {
      let begin = ContinuousClock.now
      _ = try verifier.verify(sidecar, of: subject, identity, at: now, serials: SerialRecord())
      times.append((ContinuousClock.now - begin).microseconds)
    }
    print(JSONValue.object(["wall": JSONValue(rounding: times.median)]))
  }
}
