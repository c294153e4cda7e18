internal import CarabinerWire

extension Manifest.Listener {
  static let fields = Fields(Self(address: "")) {
    $0.key(
      "address", \.address, .listenAddress, "HOST:PORT, [IPV6]:PORT or unix:/PATH. Port 0 selects a free port.",
      missing: "the address is missing; write address: HOST:PORT or unix:/PATH")
    $0.key("tls", \.tls, .object(TLS.fields), "TLS for the clients. Without it connections are not encrypted.")
    $0.key(
      "http2", \.takesHTTP2, .truth, "Whether clients may use HTTP/2. Without it the limit http2 decides.")
    $0.key(
      "roles", \.roles,
      .list(of: .word("is not a role; use", ", "), "a list of roles", 1...Int.max, isUnique: true) { _ in
        "this list is empty; use \(Role.allCases.map(\.rawValue).joined(separator: ", ")), or remove the key"
      }, "The requests that are served: operations, /healthz and /readyz, /metrics.")
    $0.key(
      "proxy-protocol", \.needsProxyHeader, .proxyProtocol,
      "Whether each connection begins with a header of the PROXY protocol, version 1 or 2. Needs trusted-proxies.")
  }
}

extension Manifest.Listener.TLS {
  fileprivate static let advice = "write the path of a file in PEM"

  static let fields = Fields(Self()) {
    $0.key(
      "certificates", \.certificates,
      .list(
        of: .object(Manifest.Listener.Certificate.fields), "a list of certificates with their keys",
        1...Manifest.Listener.maximumCertificates
      ) {
        "a listener has 1 to \(Manifest.Listener.maximumCertificates) certificates, and this list has \($0); write "
          + "[{certificate: FILE, key: FILE}], or remove tls"
      },
      "Files in PEM: the certificate with its chain, and its key. The host name that a client asks for selects one; the first is the "
        + "default.",
      missing: "the certificates are missing; write certificates: [{certificate: FILE, key: FILE}]", isFirst: false)
    $0.key(
      "client-ca", \.clientAuthorities, .file(advice),
      "The authorities of client certificates. Without it clients are asked for none.")
    $0.key(
      "client-certificate", \.clientCertificate, .word("is not a demand for certificates; write"),
      "Whether clients must have a certificate, or may have one.")
    $0.key("minimum-version", \.minimumVersion, .tlsVersion, "The lowest version of TLS.")
    $0.rule(#""dependentRequired": {"client-certificate": ["client-ca"]}"#) { reader, _, members, pointer in
      guard members["client-certificate"] != nil, members["client-ca"] == nil else { return }
      reader.problem(
        .invalidValue, pointer.appending("client-certificate"),
        "client-certificate needs the authorities of those certificates; write client-ca: FILE")
    }
  }
}

extension Manifest.Listener.Certificate {
  fileprivate static let fields = Fields(Self(certificate: "", key: "")) {
    let missing = "a certificate and its key belong together; write certificate: FILE and key: FILE"
    $0.key("certificate", \.certificate, .file(Manifest.Listener.TLS.advice), missing: missing)
    $0.key("key", \.key, .file(Manifest.Listener.TLS.advice), missing: missing)
  }
}

// MARK: Kinds of values

extension ValueKind<[Manifest.Listener]> {
  static var listeners: Self {
    let fields = Manifest.Listener.fields
    return Self(
      #""type": "array", "minItems": 1, "maxItems": \#(Manifest.Listener.maximum), "items": {\#(fields.schema)}"#
    ) { reader, json, place in
      guard case .array(let entries) = json else {
        reader.wrongType(json, place, "a list of listeners")
        return nil
      }
      guard (1...Manifest.Listener.maximum).contains(entries.count) else {
        reader.problem(
          .invalidValue, place,
          "a gateway has 1 to \(Manifest.Listener.maximum) listeners, and this list has \(entries.count); write "
            + "[{address: 127.0.0.1:4000}]")
        return nil
      }
      var listeners: [Manifest.Listener] = []
      for (index, entry) in entries.enumerated() {
        let place = place.appending(index)
        guard let listener = fields.read(entry, place, &reader) else { continue }
        // With port 0, each listener gets a port of its own.
        if !listener.address.hasSuffix(":0"), listeners.contains(where: { $0.address == listener.address }) {
          reader.problem(
            .duplicateName, place.appending("address"),
            "\(listener.address) is the address of another listener; remove one of them")
        }
        listeners.append(listener)
      }
      return listeners
    }
  }
}

extension ValueKind<String> {
  fileprivate static var listenAddress: Self {
    text(
      #""type": "string", "not": {"pattern": "^fd:"}, "#
        + #""pattern": "^(unix:/[!-~]+|(\\[[0-9A-Fa-f:.]+\\]|[0-9A-Za-z._-]*):[0-9]{1,5})$""#,
      { text in
        let isUnix = text.wholeMatch(of: /unix:\/[!-~]+/) != nil
        let port = text.wholeMatch(of: /(\[[0-9A-Fa-f:.]+\]|[0-9A-Za-z._\-]*):([0-9]{1,5})/).flatMap { UInt16($0.2) }
        // Descriptors are numbers of one process, so only --listen takes them.
        return (isUnix || port != nil) && !text.hasPrefix("fd:")
      }, "is not an address; write HOST:PORT, [IPV6]:PORT or unix:/PATH")
  }
}

extension ValueKind<Bool> {
  fileprivate static var proxyProtocol: Self {
    Self(
      #""enum": ["none", "require"]"#, json: { $0 ? "require" : "none" },
      read: { reader, json, place in
        if let word = json.string, ["none", "require"].contains(word) { return word == "require" }
        reader.problem(.invalidValue, place, "\(json) is not a use of the PROXY protocol; write require or none")
        return nil
      })
  }
}

extension ValueKind<Manifest.Listener.TLSVersion> {
  fileprivate static var tlsVersion: Self {
    Self(
      #""enum": ["1.2", "1.3", 1.2, 1.3]"#, json: { .string($0.rawValue) },
      read: { reader, json, place in
        // Without quotes, YAML reads a number.
        if let version = Value(rawValue: json.string ?? json.description) { return version }
        reader.problem(.invalidValue, place, "\(json) is not a version of TLS for clients; write 1.2 or 1.3")
        return nil
      })
  }
}
