import Carabiner
import CarabinerBridge
import CarabinerRelease
import Foundation
import Logging
import Synchronization
import TestTools
import Testing

@testable import CarabinerHost

@Suite("Statements that expire while a host runs")
struct ExpiryTests {
  private static let day = 86_400
  private static var expires: ReleaseTime { SignedStamps.time.adding(seconds: 90 * day) }

  /// A host that trusts the keys of a site, at a time that the test sets.
  private struct Site {
    let stamps: SignedStamps
    let clock = SetClock(SignedStamps.time)
    let log = LogTexts()

    init() async throws { stamps = try await SignedStamps() }

    /// - Parameter startsFromLastGood: Whether the last good state may be used.
    func host(startsFromLastGood: Bool = false) async throws -> PluginHost {
      var configuration = PluginHost.Configuration(logger: log.logger)
      configuration.trust = TrustPolicy(file: stamps.policy().file) { [clock] in clock.date }
      configuration.stateDirectory = stamps.folder.file("state").path
      configuration.startsFromLastGood = startsFromLastGood
      return try await PluginHost(manifest: stamps.chain.manifest, configuration: configuration)
    }

    /// Runs a host and ends it.
    func run(startsFromLastGood: Bool = false) async throws {
      let host = try await host(startsFromLastGood: startsFromLastGood)
      await host.shutDown()
    }
  }

  @Test("a statement is warned about from 14 days before its expiry, once a day", .rule("signature.6"))
  func warnings() async throws {
    let statement = try ReleaseStatement(
      subject: try #require(ReleaseSubject("plugin:stamp")), serial: 1, file: FileIdentity(of: []), issued: SignedStamps.time,
      expires: Self.expires)
    var notices = ExpiryNotices()
    func due(_ seconds: Int) -> [String] { notices.due([statement], at: Self.expires.adding(seconds: seconds)) }
    #expect(due(-14 * Self.day - 1) == [])
    #expect(due(-14 * Self.day).count == 1)
    #expect(due(-14 * Self.day + 60) == [])
    #expect(due(-13 * Self.day - 1) == [])
    #expect(due(-13 * Self.day).first?.contains("plugin:stamp expires at \(Self.expires)") == true)
    #expect(due(-1).count == 1)
    #expect(due(0) == [])
    #expect(due(Self.day).first?.contains("has expired") == true)
    // A new statement is another one.
    #expect(notices.due([], at: Self.expires.adding(seconds: Self.day + 1)) == [])
    #expect(due(Self.day + 2).count == 1)
  }

  @Test("an expired statement serves on, and makes no new generation", .rule("signature.6"))
  func running() async throws {
    let site = try await Site()
    site.clock.set(Self.expires.adding(seconds: -Self.day))
    let host = try await site.host()
    let deadline = ContinuousClock.now + .seconds(120)
    while !site.log.contains("plugin:stamp expires at"), ContinuousClock.now < deadline {
      try await Task.sleep(for: .milliseconds(10))
    }
    #expect(site.log.contains("warning the statement of plugin:stamp expires at \(Self.expires)"))
    var samples = MetricSamples()
    host.metrics.write(to: &samples)
    let metrics = samples.values.filter { $0.key.name == "carabiner_release_expiry_timestamp_seconds" }
    let labels = metrics.map { $0.key.labels.map(\.value) }.sorted { $0[0] < $1[0] }
    #expect(labels == [["manifest", "chain"], ["plugin", "stamp"]])
    #expect(metrics.allSatisfy { $0.value == Double(Self.expires.seconds) })
    site.clock.set(Self.expires)
    let error = await #expect(throws: ServerError.self) { try await host.reload() }
    #expect(error?.message.hasSuffix("[expired]") == true)
    #expect(host.generation == 1)
    try await site.stamps.sign(serial: 2, issued: Self.expires)
    try await host.reload()
    #expect(host.generation == 2)
    await host.shutDown()
  }

  @Test(
    "a start from the last good state takes a statement that has expired since, and logs it, also at the next start",
    .rule("signature.6"))
  func lastGood() async throws {
    let site = try await Site()
    try await site.run()
    site.clock.set(Self.expires)
    let error = await #expect(throws: ServerError.self) { try await site.run() }
    #expect(error?.message.hasSuffix("[expired]") == true)
    for _ in 0..<2 {
      let count = site.log.count(of: "used although its statement has expired")
      try await site.run(startsFromLastGood: true)
      // The manifest and the plugin.
      #expect(site.log.count(of: "used although its statement has expired") == count + 2)
    }
  }

  @Test("the last good state serves the signed text of the manifest, whatever else was kept with it", .rule("signature.6"))
  func lastGoodText() async throws {
    let site = try await Site()
    try await site.run()
    let path = site.stamps.folder.file("state/last-good/last-good.json")
    let text = try String(contentsOf: path, encoding: .utf8)
    let changed = text.replacing(#""http":["stamp","#, with: #""http":["#)
    try #require(changed != text)
    try Data(changed.utf8).write(to: path)
    try FileManager.default.removeItem(atPath: "\(site.stamps.chain.manifest).release")
    let host = try await site.host(startsFromLastGood: true)
    try await #expect(ApolloClient(networkTransport: host.transport).stamp() == stamped("one"))
    await host.shutDown()
  }

  @Test(
    "a start from the last good state does not need the file of a plugin that is switched off, and loads no other",
    .rule("signature.6"))
  func disabledPlugin() async throws {
    let site = try await Site()
    let text = try String(contentsOfFile: site.stamps.chain.manifest, encoding: .utf8)
    try site.stamps.chain.write(text.replacing("file: stamp.so", with: "file: stamp.so, enabled: false"))
    try await site.stamps.sign()
    try await site.run()
    try await site.stamps.chain.build("two")
    let host = try await site.host(startsFromLastGood: true)
    try await #expect(ApolloClient(networkTransport: host.transport).stamp() == stamped(""))
    let error = await #expect(throws: HostError.self) {
      try await host.reloader.override("stamp", isEnabled: true, reason: "test")
    }
    #expect(error?.code == .pinMismatch)
    await host.shutDown()
  }

  /// A reason to refuse the last good state.
  enum Fault: String, CaseIterable {
    case keptAfterExpiry, otherSignature, otherText, otherKey, withoutTrust, malformed
  }

  @Test(
    "the last good state is verified again, and its files must have been valid when they were kept", .rule("signature.6"),
    arguments: Fault.allCases)
  func refusedLastGood(fault: Fault) async throws {
    let site = try await Site()
    if fault == .withoutTrust {
      var configuration = PluginHost.Configuration()
      configuration.stateDirectory = site.stamps.folder.file("state").path
      let host = try await PluginHost(manifest: site.stamps.chain.manifest, configuration: configuration)
      await host.shutDown()
    } else {
      try await site.run()
    }
    let path = site.stamps.folder.file("state/last-good/last-good.json")
    let text = try String(contentsOf: path, encoding: .utf8)
    var code = "signature"
    var changed = text
    switch fault {
    case .keptAfterExpiry:
      changed = text.replacing(#""time":\#(SignedStamps.time.seconds)"#, with: #""time":\#(Self.expires.seconds)"#)
      code = "expired"
    case .otherSignature: changed = text.replacing(#"serial 1\n"#, with: #"serial 2\n"#)
    case .otherText:
      changed = text.replacing(#"carabiner: 1\n"#, with: #"carabiner:  1\n"#)
      code = "pinMismatch"
    case .otherKey:
      let other = "* ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ8a3fo5bfLJ6cBH5dL0NBbUnpw43CsDzsc1MWdyHydk\n"
      try Data(other.utf8).write(to: site.stamps.folder.file("trust"))
      code = "untrusted"
    case .withoutTrust: code = "unsigned"
    case .malformed:
      changed = text.replacing(#""manifestSidecar":"#, with: #""sidecar":"#)
      code = "unreadable"
    }
    try #require((changed == text) == [.otherKey, .withoutTrust].contains(fault))
    try Data(changed.utf8).write(to: path)
    site.clock.set(Self.expires)
    let error = await #expect(throws: ServerError.self) { try await site.run(startsFromLastGood: true) }
    #expect(error?.message.hasSuffix("[\(code)]") == true, "\(fault): \(String(describing: error))")
  }
}

/// A clock that a test sets.
final class SetClock: Sendable {
  private let time: Mutex<ReleaseTime>

  init(_ time: ReleaseTime) { self.time = Mutex(time) }

  var date: Date { Date(timeIntervalSince1970: Double(time.withLock(\.seconds))) }

  func set(_ time: ReleaseTime) { self.time.withLock { $0 = time } }
}

/// The messages of a logger.
final class LogTexts: Sendable {
  private struct Handler: LogHandler {
    let texts: LogTexts
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { texts.texts.withLock { $0.append("\(event.level) \(event.message)") } }
  }

  private let texts = Mutex<[String]>([])

  var logger: Logger { Logger(label: "test") { _ in Handler(texts: self) } }

  func count(of part: String) -> Int { texts.withLock { $0.count { $0.contains(part) } } }

  func contains(_ part: String) -> Bool { count(of: part) > 0 }
}
