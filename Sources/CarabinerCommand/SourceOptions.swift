internal import ArgumentParser
internal import CarabinerSources
internal import Foundation

/// The options for manifests in etcd and on web servers. Each can also be an environment variable, which an option overrides.
struct SourceOptions: ParsableArguments {
  @Option(
    name: .long,
    help: ArgumentHelp(
      "With -m etcds:// or https://: the authorities of the servers' certificates, in PEM, or $\(Variable.authority).",
      valueName: "file"))
  var sourceCa: String?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "The client's certificate for the source, in PEM, or $\(Variable.certificate). etcd needs one with an empty CN.",
      valueName: "file"))
  var sourceCertificate: String?

  @Option(
    name: .long, help: ArgumentHelp("The key of --source-certificate, in PEM, or $\(Variable.key).", valueName: "file"))
  var sourceKey: String?

  @Option(name: .long, help: ArgumentHelp("The user for the source, or $\(Variable.user).", valueName: "name"))
  var sourceUser: String?

  @Option(
    name: .long,
    help: ArgumentHelp("A file with the password of --source-user, or $\(Variable.passwordFile).", valueName: "file"))
  var sourcePasswordFile: String?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "With -m https://: the time between two requests for the manifest, or $\(Variable.interval). (default: 30s)",
      valueName: "duration"), transform: duration)
  var sourceInterval: Duration?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "The time that the source has to answer, or $\(Variable.timeout). At a start, the last good manifest serves after it. (default: 5s)",
      valueName: "duration"), transform: duration)
  var sourceTimeout: Duration?

  /// The environment variables.
  enum Variable {
    static let authority = "CARABINER_SOURCE_CA"
    static let certificate = "CARABINER_SOURCE_CERTIFICATE"
    static let key = "CARABINER_SOURCE_KEY"
    static let user = "CARABINER_SOURCE_USER"
    static let passwordFile = "CARABINER_SOURCE_PASSWORD_FILE"
    static let interval = "CARABINER_SOURCE_INTERVAL"
    static let timeout = "CARABINER_SOURCE_TIMEOUT"
  }

  /// The settings from the options and the environment.
  ///
  /// - Throws: A usage error if they contradict each other.
  func settings() throws -> SourceSettings {
    let environment = ProcessInfo.processInfo.environment
    func text(_ given: String?, _ variable: String) -> String? {
      given ?? environment[variable].flatMap { $0.isEmpty ? nil : $0 }
    }
    func time(_ given: Duration?, _ variable: String) throws -> Duration? {
      if let given { return given }
      guard let text = text(nil, variable) else { return nil }
      do {
        return try duration(text)
      } catch {
        throw usageError("\(variable) is not a duration: \(text.debugDescription); write, for example, 5s")
      }
    }
    var settings = SourceSettings()
    settings.authorityFile = text(sourceCa, Variable.authority)
    settings.certificateFile = text(sourceCertificate, Variable.certificate)
    settings.keyFile = text(sourceKey, Variable.key)
    guard (settings.certificateFile == nil) == (settings.keyFile == nil) else {
      throw usageError("--source-certificate and --source-key go together")
    }
    switch (text(sourceUser, Variable.user), text(sourcePasswordFile, Variable.passwordFile)) {
    case (nil, nil): break
    case (let user?, let file?): settings.login = SourceSettings.Login(user: user, passwordFile: file)
    default: throw usageError("--source-user and --source-password-file go together")
    }
    if let interval = try time(sourceInterval, Variable.interval) { settings.interval = interval }
    if let timeout = try time(sourceTimeout, Variable.timeout) { settings.timeout = timeout }
    guard settings.interval >= SourceSettings.minimumInterval, settings.timeout > .zero else {
      throw usageError("--source-interval is at least 1s, and --source-timeout is more than 0s")
    }
    return settings
  }
}
