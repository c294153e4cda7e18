import CarabinerRelease
import Foundation
import TestTools
import Testing

/// `CARABINER_RELEASE_MUTATIONS` sets the number of changed sidecars; 10,000 take some minutes.
@Suite("The same verdict as ssh-keygen")
struct OpenSSHComparisonTests {
  /// A statement and a signature, one of them changed.
  private struct Trial {
    var statement: [UInt8]
    var armor: [UInt8]
    /// Whether the form of the signature has the version that exists. ssh-keygen also accepts 0.
    var hasVersion = true
  }

  private static let count = ProcessInfo.processInfo.environment["CARABINER_RELEASE_MUTATIONS"].flatMap(Int.init) ?? 300
  private static let perRun = 100

  @Test(
    "no changed statement or signature gets another verdict than from ssh-keygen", .rule("signature.4", "signature.11"),
    arguments: ["ed25519", "ecdsa"])
  func mutations(type: String) async throws {
    let folder = try FixturePlugin.Folder()
    let key = try await SigningKey(type, in: folder)
    let stranger = try await SigningKey(type, in: folder)
    let lines = "plugin:* namespaces=\"carabiner-release\" \(key.publicKey)\n"
    try Data(lines.utf8).write(to: folder.file("trust"))
    let trust = try TrustFile(parsing: Array(lines.utf8))
    let armor = try await key.signature(of: SampleRelease.statement)
    var generator = SeededGenerator(seed: 19)
    var trials = [
      Trial(statement: Array(SampleRelease.statement.utf8), armor: Array(armor.utf8)),
      Trial(
        statement: Array(SampleRelease.statement.utf8),
        armor: Array(try await stranger.signature(of: SampleRelease.statement).utf8)),
    ]
    while trials.count < Self.count { trials.append(try Self.change(armor, &generator)) }
    var accepted = 0
    for start in stride(from: 0, to: trials.count, by: Self.perRun) {
      let part = Array(trials[start..<min(start + Self.perRun, trials.count)])
      let verdicts = try await Self.keygenVerdicts(part, folder)
      for (trial, verdict) in zip(part, verdicts) {
        let own = try Self.verdict(trial, trust)
        let text = String(decoding: trial.statement + trial.armor, as: UTF8.self)
        #expect(trial.hasVersion ? own == verdict : !own, "ssh-keygen says \(verdict): \(text.debugDescription)")
        try #require(!Self.isAcceptedWhole(trial, trust) || verdict, "only ssh-keygen refuses \(text.debugDescription)")
        accepted += verdict ? 1 : 0
      }
    }
    #expect(accepted > 0 && accepted < trials.count)
  }

  /// A change of the statement, of the signature's binary form, or of its text.
  private static func change(_ armor: String, _ generator: inout SeededGenerator) throws -> Trial {
    var trial = Trial(statement: Array(SampleRelease.statement.utf8), armor: Array(armor.utf8))
    let body = armor.split(separator: "\n").dropFirst().dropLast().joined(separator: "\n")
    switch Int.random(in: 0..<3, using: &generator) {
    case 0: trial.statement = generator.mutate(trial.statement, alphabet: Array(" \n-:0123456789abcdefxTZ".utf8))
    case 1:
      let blob = [UInt8](try #require(Data(base64Encoded: body.replacing("\n", with: ""))))
      let changed = generator.mutate(blob, alphabet: [0, 1, 4, 32, 64, 65, 128, 255])
      trial.hasVersion = !changed.starts(with: Array("SSHSIG".utf8)) || Array(changed.dropFirst(6).prefix(4)) == [0, 0, 0, 1]
      trial.armor = armored(Data(changed).base64EncodedString(options: .lineLength76Characters).replacing("\r\n", with: "\n"))
    default:
      let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/= \n\n\t\r".utf8)
      var changed = generator.mutate(Array(body.utf8), alphabet: alphabet)
      // ssh-keygen ignores a byte 0 at the end.
      while changed.last == 0 { changed.removeLast() }
      trial.armor = armored(String(decoding: changed.filter { $0 < 0x80 }, as: UTF8.self))
    }
    return trial
  }

  private static func armored(_ body: String) -> [UInt8] {
    Array("-----BEGIN SSH SIGNATURE-----\n\(body)\n-----END SSH SIGNATURE-----\n".utf8)
  }

  /// The verdict of the signature alone: ssh-keygen does not know the form of statements.
  private static func verdict(_ trial: Trial, _ trust: TrustFile) throws -> Bool {
    let whole = Array(SampleRelease.statement.utf8) + trial.armor
    guard let signature = (try? ReleaseSidecar(parsing: whole))?.signatures.first else { return false }
    return trust.line(for: signature.key, try SampleRelease.subject(), at: SampleRelease.time) != nil
      && signature.isValid(of: trial.statement)
  }

  private static func isAcceptedWhole(_ trial: Trial, _ trust: TrustFile) -> Bool {
    let verifier = ReleaseVerifier(trust: trust)
    guard let subject = ReleaseSubject("plugin:token-auth") else { return false }
    let found = try? verifier.verify(
      trial.statement + trial.armor, of: subject, SampleRelease.file, at: SampleRelease.time, serials: SerialRecord())
    return found != nil
  }

  /// The verdicts of ssh-keygen, in one run of a shell.
  private static func keygenVerdicts(_ trials: [Trial], _ folder: FixturePlugin.Folder) async throws -> [Bool] {
    for (index, trial) in trials.enumerated() {
      try Data(trial.statement).write(to: folder.file("\(index).statement"))
      try Data(trial.armor).write(to: folder.file("\(index).armor"))
    }
    let script = """
      i=0
      while [ $i -lt \(trials.count) ]; do
        if ssh-keygen -Y verify -f trust -I plugin:token-auth -n carabiner-release -s $i.armor -O verify-time=20261130005320Z \
          <$i.statement >/dev/null 2>&1; then echo yes; else echo no; fi
        i=$((i + 1))
      done
      """
    let run = try await ToolRun(URL(filePath: "/bin/sh"), ["-c", script], in: folder.url)
    let verdicts = run.output.split(separator: "\n").map { $0 == "yes" }
    try #require(verdicts.count == trials.count, "\(run.errors)")
    return verdicts
  }
}
