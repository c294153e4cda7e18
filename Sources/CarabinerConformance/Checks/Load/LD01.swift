internal import CarabinerHost

extension Check {
  static let ld01 = Check(
    "LD01", level: 1, "is a whole shared object for this machine",
    page: Page(
      rule:
        "The file is a 64-bit ELF shared object for the machine it is tested on, and every segment that is mapped lies inside the file.",
      reason: """
        The dynamic linker maps a segment that reaches beyond the end of the file without a word; the process dies of SIGBUS when the
        missing part is touched. A file that was cut short while it was copied is the usual case.
        """,
      example: "scp plugin.so host:/plugins/        # the connection breaks half-way",
      remedy: """
        Copy to another name and rename, so that a file in the plugins' folder is always whole:

        scp plugin.so host:/plugins/.plugin.so.new && ssh host mv /plugins/.plugin.so.new /plugins/plugin.so
        """),
    .file { trial in
      do throws(ELFImage.Fault) {
        _ = try ELFImage(trial.bytes)
      } catch {
        switch error {
        case .notELF: trial.notes.fail("this is no ELF file")
        case .wrongClass: trial.notes.fail("this is no 64-bit little-endian ELF file")
        case .wrongArchitecture(let machine):
          trial.notes.fail("this is for ELF machine \(machine), and this machine is \(ELFImage.machine)")
        case .wrongType(let type): trial.notes.fail("this is no shared object (ELF type \(type)); link with -shared")
        case .truncated(let what): trial.notes.fail("the file is cut short in \(what)")
        case .oversizedNotes: trial.notes.fail("its note segments are larger than any linker makes them")
        case .badDynamicSection(let what): trial.notes.fail("its dynamic section cannot be read: \(what)")
        }
      }
    })
}
