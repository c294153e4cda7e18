package import CarabinerEtcd
internal import CarabinerFiles
package import CarabinerFleet

/// How a source that is not a file is reached.
package struct SourceSettings: Sendable, Hashable {
  /// A user, and the file with the password.
  package struct Login: Sendable, Hashable {
    package var user: String
    package var passwordFile: String

    package init(user: String, passwordFile: String) { (self.user, self.passwordFile) = (user, passwordFile) }
  }

  /// The shortest interval.
  package static let minimumInterval = Duration.seconds(1)
  private static let maximumPasswordBytes = 4096

  /// The file with the authorities of the servers' certificates, in PEM; nil for those of the system.
  package var authorityFile: String?
  /// The files with the client's certificate and its chain, and with its key, in PEM; nil for none.
  package var certificateFile: String?
  package var keyFile: String?
  /// Nil for none.
  package var login: Login?
  /// The time between two requests to a web server, at least ``minimumInterval``. Each is up to a tenth longer or shorter at
  /// random.
  package var interval = Duration.seconds(30)
  /// The time for an answer, and for the first manifest at a start.
  package var timeout = Duration.seconds(5)

  /// The name of this node among those of its fleet; nil for ``NodeName/ofThisMachine()``.
  package var nodeName: NodeName?

  package init() {}

  /// The settings of a client for etcd.
  ///
  /// - Throws: ``SourceError`` if the password cannot be read.
  package func etcd(_ address: EtcdAddress) throws(SourceError) -> EtcdSettings {
    var settings = EtcdSettings(members: address.members)
    settings.authorityFile = authorityFile
    settings.certificateFile = certificateFile
    settings.keyFile = keyFile
    settings.limits.timeout = timeout / .seconds(1)
    if let login { settings.login = EtcdSettings.Login(user: login.user, password: try password(of: login)) }
    return settings
  }

  /// Reads the password of a login.
  func password(of login: Login) throws(SourceError) -> String {
    let path = login.passwordFile
    let text: String
    do throws(BoundedFile.Fault) {
      text = try BoundedFile.text(at: path, maximumBytes: Self.maximumPasswordBytes)
    } catch {
      let reason =
        switch error {
        case .unreadable(let reason): "cannot be read: \(reason)"
        case .tooLarge: "has more than \(Self.maximumPasswordBytes) bytes; write the password only"
        case .notText: "is not text in UTF-8; write the password only"
        }
      throw SourceError(.invalidSettings, "the file with the password for the source, \(path), \(reason)")
    }
    // Editors add the end of the line.
    let password = text.last.map(\.isNewline) == true ? String(text.dropLast()) : text
    guard !password.isEmpty, !password.contains(where: \.isNewline) else {
      throw SourceError(
        .invalidSettings, "the file with the password for the source, \(path), has no line or several; write the password only")
    }
    return password
  }
}
