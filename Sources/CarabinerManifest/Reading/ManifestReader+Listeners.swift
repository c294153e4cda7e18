internal import CarabinerWire

extension ManifestReader {
  /// Reads `serve.listeners`.
  mutating func listeners(_ json: JSONValue, _ pointer: JSONPointer) -> [Manifest.Listener] {
    guard case .array(let entries) = json else {
      wrongType(json, pointer, "a list of listeners")
      return []
    }
    guard (1...Manifest.Listener.maximum).contains(entries.count) else {
      problem(
        .invalidValue, pointer,
        "a gateway has 1 to \(Manifest.Listener.maximum) listeners, and this list has \(entries.count); write [{address: 127.0.0.1:4000}]"
      )
      return []
    }
    var listeners: [Manifest.Listener] = []
    for (index, entry) in entries.enumerated() {
      let place = pointer.appending(index)
      guard let listener = listener(entry, place) else { continue }
      // With port 0, each listener gets a port of its own.
      if !listener.address.hasSuffix(":0"), listeners.contains(where: { $0.address == listener.address }) {
        problem(
          .duplicateName, place.appending("address"), "\(listener.address) is the address of another listener; remove one of them"
        )
      }
      listeners.append(listener)
    }
    return listeners
  }

  private mutating func listener(_ json: JSONValue, _ pointer: JSONPointer) -> Manifest.Listener? {
    let keys = ["address", "tls", "http2", "roles", "proxy-protocol"]
    guard let object = object(json, pointer, knowing: keys) else { return nil }
    guard let address = object["address"] else {
      problem(.missing, pointer, "the address is missing; write address: HOST:PORT or unix:/PATH")
      return nil
    }
    guard let address = listenAddress(address, pointer.appending("address")) else { return nil }
    var listener = Manifest.Listener(address: address)
    for (key, value) in object {
      let place = pointer.appending(key)
      switch key {
      case "tls": listener.tls = listenerTLS(value, place)
      case "http2": listener.takesHTTP2 = truth(value, place)
      case "roles": listener.roles = roles(value, place) ?? listener.roles
      case "proxy-protocol":
        guard let word = value.string, ["none", "require"].contains(word) else {
          problem(.invalidValue, place, "\(value) is not a use of the PROXY protocol; write require or none")
          continue
        }
        listener.needsProxyHeader = word == "require"
      default: break
      }
    }
    return listener
  }

  private mutating func listenAddress(_ json: JSONValue, _ pointer: JSONPointer) -> String? {
    guard let text = text(json, pointer) else { return nil }
    let isUnix = text.wholeMatch(of: /unix:\/[!-~]+/) != nil
    let port = text.wholeMatch(of: /(\[[0-9A-Fa-f:.]+\]|[0-9A-Za-z._\-]*):([0-9]{1,5})/).flatMap { UInt16($0.2) }
    // Descriptors are numbers of one process, so only --listen takes them.
    guard isUnix || port != nil, !text.hasPrefix("fd:") else {
      problem(
        .invalidValue, pointer, "\(text.debugDescription) is not an address; write HOST:PORT, [IPV6]:PORT or unix:/PATH")
      return nil
    }
    return text
  }

  private mutating func roles(_ json: JSONValue, _ pointer: JSONPointer) -> [Manifest.Listener.Role]? {
    guard case .array(let entries) = json else {
      wrongType(json, pointer, "a list of roles")
      return nil
    }
    let known = Manifest.Listener.Role.allCases.map(\.rawValue)
    if entries.isEmpty {
      problem(.invalidValue, pointer, "this list is empty; use \(known.joined(separator: ", ")), or remove the key")
    }
    var roles: [Manifest.Listener.Role] = []
    for (index, entry) in entries.enumerated() {
      let place = pointer.appending(index)
      guard let role = entry.string.flatMap(Manifest.Listener.Role.init) else {
        problem(.invalidValue, place, "\(entry) is not a role; use \(known.joined(separator: ", "))")
        continue
      }
      if roles.contains(role) { problem(.duplicateName, place, "\(role.rawValue) is in the list already; remove one of them") }
      roles.append(role)
    }
    return roles
  }

  // MARK: TLS

  private static let filesAdvice = "write the path of a file in PEM"

  private mutating func listenerTLS(_ json: JSONValue, _ pointer: JSONPointer) -> Manifest.Listener.TLS? {
    let keys = ["certificates", "client-ca", "client-certificate", "minimum-version"]
    guard let object = object(json, pointer, knowing: keys) else { return nil }
    var tls = Manifest.Listener.TLS()
    if object["certificates"] == nil {
      problem(.missing, pointer, "the certificates are missing; write certificates: [{certificate: FILE, key: FILE}]")
    }
    for (key, value) in object {
      let place = pointer.appending(key)
      switch key {
      case "certificates": tls.certificates = certificates(value, place)
      case "client-ca": tls.clientAuthorities = existing(value, place, Self.filesAdvice)
      case "client-certificate":
        guard let word = value.string.flatMap(Manifest.Listener.ClientCertificate.init) else {
          problem(.invalidValue, place, "\(value) is not a demand for certificates; write require or request")
          continue
        }
        tls.clientCertificate = word
      case "minimum-version":
        // Without quotes, YAML reads a number.
        guard let version = Manifest.Listener.TLSVersion(rawValue: value.string ?? value.description) else {
          problem(.invalidValue, place, "\(value) is not a version of TLS for clients; write 1.2 or 1.3")
          continue
        }
        tls.minimumVersion = version
      default: break
      }
    }
    if object["client-certificate"] != nil, object["client-ca"] == nil {
      problem(
        .invalidValue, pointer.appending("client-certificate"),
        "client-certificate needs the authorities of those certificates; write client-ca: FILE")
    }
    return tls
  }

  private mutating func certificates(_ json: JSONValue, _ pointer: JSONPointer) -> [Manifest.Listener.Certificate] {
    guard case .array(let entries) = json else {
      wrongType(json, pointer, "a list of certificates with their keys")
      return []
    }
    guard (1...Manifest.Listener.maximumCertificates).contains(entries.count) else {
      problem(
        .invalidValue, pointer,
        "a listener has 1 to \(Manifest.Listener.maximumCertificates) certificates, and this list has \(entries.count); write "
          + "[{certificate: FILE, key: FILE}], or remove tls")
      return []
    }
    return entries.enumerated().compactMap { index, entry in
      let place = pointer.appending(index)
      guard let object = object(entry, place, knowing: ["certificate", "key"]) else { return nil }
      guard let certificate = object["certificate"], let key = object["key"] else {
        problem(.missing, place, "a certificate and its key belong together; write certificate: FILE and key: FILE")
        return nil
      }
      guard let certificate = existing(certificate, place.appending("certificate"), Self.filesAdvice),
        let key = existing(key, place.appending("key"), Self.filesAdvice)
      else { return nil }
      return Manifest.Listener.Certificate(certificate: certificate, key: key)
    }
  }
}
