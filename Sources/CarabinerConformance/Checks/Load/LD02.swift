internal import CCarabiner
internal import CarabinerHost

extension Check {
  static let ld02 = Check(
    "LD02", level: 1, "says in its note who it is, and registers as the same",
    page: Page(
      rule: """
        There is one note in .note.crb, a JSON object with id, version and abi; id and version are those of the first interceptor, and abi
        is the major and the required minor of the registration table.
        """,
      reason: """
        A host reads the note before it runs any code of the plugin: to list it, to check what the manifest asks for, and to refuse what is
        too new. A note that says something else than the table makes it load what it meant to refuse.
        """,
      example: """
        CRB_DECLARE_NOTE("{\"id\":\"org.example.hello\",\"version\":\"1.0.0\",\"abi\":[1,0]}");
        …  .id = "org.example.hello", .version = "1.1.0",
        """,
      remedy: """
        #define VERSION "1.1.0"
        CRB_DECLARE_NOTE("{\"id\":\"org.example.hello\",\"version\":\"" VERSION "\",\"abi\":[1,0]}");
        …  .id = "org.example.hello", .version = VERSION,
        """),
    .loading { trial in
      try trial.checkWhole()
      let note: PluginNote
      do {
        note = try PluginNote(of: try ELFImage(trial.bytes), path: trial.path)
      } catch let refusal as LoadRefusal {
        return trial.notes.fail(refusal.message)
      }
      let table = unsafe try trial.table()
      guard let first = unsafe trial.items(of: table).first else {
        throw TrialNotes.Skip("it registers no interceptor; see DS01")
      }
      let (id, version) = unsafe (trial.text(first.table.id), trial.text(first.table.version))
      trial.notes.expect(id == note.id, "its note says \(note.id), and its first interceptor is \(id ?? "without an id")")
      trial.notes.expect(
        version == note.version, "its note says version \(note.version), and its first interceptor \(version ?? "none")")
      let abi = unsafe (Int(table.pointee.abi_major), Int(table.pointee.abi_minor_required))
      trial.notes.expect(
        abi == note.abi, "its note says ABI \(note.abi.major).\(note.abi.minor), and its table \(abi.0).\(abi.1)")
    })
}
