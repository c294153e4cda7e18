internal import CarabinerGateway
package import CarabinerManifest
internal import CarabinerWire
internal import Logging

extension Manifest {
  /// The certificates of listeners and upstreams that cannot be used, for example because a key belongs to another certificate.
  package func certificateProblems() -> [ManifestProblem] {
    let certificates = Certificates(Logger(label: "carabiner.check"))
    func problem(_ identity: Certificates.Identity, _ pointer: JSONPointer) -> ManifestProblem? {
      do {
        _ = try certificates.certificate(identity)
        return nil
      } catch {
        return ManifestProblem(.invalidValue, at: pointer, "\(error)")
      }
    }
    var problems: [ManifestProblem] = []
    for (index, listener) in (serve.listeners ?? []).enumerated() {
      guard let tls = listener.tls else { continue }
      let place = JSONPointer(components: ["serve", "listeners", "\(index)", "tls", "certificates"])
      for (number, identity) in ListenerPlan.identities(of: tls, takesHTTP2: false).enumerated() {
        if let found = problem(identity, place.appending(number)) { problems.append(found) }
      }
    }
    for upstream in upstreams {
      guard let certificate = upstream.tls?.certificate, let key = upstream.tls?.key else { continue }
      // A client's certificate must belong to its key, as a server's must.
      let identity = Certificates.Identity(files: .init(certificates: certificate, key: key), options: .init())
      if let found = problem(identity, JSONPointer(components: ["upstreams", upstream.name, "tls"])) { problems.append(found) }
    }
    return problems
  }
}
