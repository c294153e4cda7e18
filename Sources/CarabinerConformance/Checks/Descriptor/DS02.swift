internal import CCarabiner
internal import CarabinerHost

extension Check {
  static let ds02 = Check(
    "DS02", level: 1, "has ids that are unique, and the same at every load",
    page: Page(
      rule:
        "Each interceptor's id is a reverse-DNS name of at most 128 bytes, unique in the library, and the same each time it is registered.",
      reason: "Manifests, logs and metrics name an interceptor by its id. One that changes is another interceptor.",
      example: "static char id[64]; snprintf(id, sizeof id, \"org.example.%d\", rand());",
      remedy: ".id = \"org.example.hello\","),
    .loading { trial in
      let entry = unsafe try trial.entry()
      let host = unsafe LaboratoryTable.make(for: "laboratory")
      var seen: [[String]] = []
      for _ in 0..<2 {
        guard let table = unsafe trial.register(entry, host), let items = unsafe table.pointee.items else {
          throw TrialNotes.Skip("its entry function answers NULL; see LD07")
        }
        var ids: [String] = []
        for index in unsafe 0..<Int(min(table.pointee.count, RegistrationReader.maximumInterceptors)) {
          guard let id = unsafe items[index]?.pointee.id else {
            return trial.notes.fail("interceptor \(index) has no id")
          }
          ids.append(unsafe String(cString: id))
        }
        seen.append(ids)
      }
      for id in seen[0] where !PluginNote.isIdentifier(id) {
        trial.notes.fail("\(id.debugDescription) is no reverse-DNS name of at most 128 bytes")
      }
      trial.notes.expect(
        Set(seen[0]).count == seen[0].count, "two interceptors have the same id: \(seen[0].joined(separator: ", "))")
      trial.notes.expect(seen[0] == seen[1], "its ids change: \(seen[0]) and then \(seen[1])")
    })
}
