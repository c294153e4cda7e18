internal import ArgumentParser
internal import CarabinerHost
internal import CarabinerRelease

/// The options for signatures of manifests and plugins.
struct TrustOptions: ParsableArguments {
  @Option(
    name: .long,
    help: ArgumentHelp(
      "Accept only a manifest and plugins that keys of this file have signed. Each needs a sidecar FILE.release.",
      valueName: "file"))
  var trust: String?

  @Option(
    name: .long,
    help: ArgumentHelp("With --trust: how many different keys must have signed, from 1 to 4. (default: 1)", valueName: "number"))
  var trustThreshold: Int?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "With --trust: a list of keys, files and serials that are not accepted, although they are signed.", valueName: "file"))
  var revoked: String?

  func validate() throws {
    if revoked != nil, trust == nil { throw ValidationError("--revoked needs --trust FILE") }
    if trustThreshold != nil, trust == nil { throw ValidationError("--trust-threshold needs --trust FILE") }
    guard (1...ReleaseSidecar.maximumSignatures).contains(trustThreshold ?? 1) else {
      throw ValidationError("--trust-threshold takes a number from 1 to \(ReleaseSidecar.maximumSignatures)")
    }
  }

  /// The policy; nil if signatures are not checked.
  var policy: TrustPolicy? { trust.map { TrustPolicy(file: $0, threshold: trustThreshold ?? 1, revoked: revoked) } }
}
