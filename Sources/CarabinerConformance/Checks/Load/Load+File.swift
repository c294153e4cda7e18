internal import CCarabiner
internal import CarabinerHost
internal import Glibc

extension Check {
  static let wholeSharedObject = Check(
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

extension Check {
  static let noteAndRegistration = Check(
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

extension Check {
  static let resolvedSymbols = Check(
    "LD03", level: 1, "loads with every symbol resolved",
    page: Page(
      rule: "`dlopen` with RTLD_NOW succeeds: every function the plugin uses is in it, or in a library it names as needed.",
      reason: """
        With lazy binding a missing function kills the process on its first call, at an hour of its own choosing. Hosts load with
        RTLD_NOW, so such a plugin does not load at all.
        """,
      example: "cc -shared -fPIC -o plugin.so plugin.c             # uses HMAC() of libcrypto",
      remedy: """
        cc -shared -fPIC -Wl,-z,defs -o plugin.so plugin.c -lcrypto

        -z defs makes the linker refuse what would be missing later.
        """),
    .loading { trial in
      try trial.checkWhole()
      guard unsafe dlopen(trial.path, RTLD_NOW | Int32(RTLD_LOCAL) | RTLD_NODELETE) == nil else { return }
      let reason = unsafe dlerror().map { unsafe String(cString: $0) } ?? "no reason given"
      trial.notes.fail("the dynamic linker refuses it: \(reason.replacingPrefix("\(trial.path): "))")
    })
}

extension String {
  fileprivate func replacingPrefix(_ prefix: String) -> String { hasPrefix(prefix) ? String(dropFirst(prefix.count)) : self }
}

extension Check {
  static let anyFilePlace = Check(
    "LD04", level: 3, "loads and registers wherever its file is",
    page: Page(
      rule: """
        The library loads and its entry function answers a table when the file is a copy in another folder, and when it is in no folder at
        all, loaded from memory. Anything else is a warning.
        """,
      reason: """
        Hosts never map the operator's file, for whoever overwrites a mapped file kills the process. They map a copy with a name of their
        own, or a sealed one in memory. What a plugin looks for beside itself ($ORIGIN, its own path) is not there.
        """,
      example: """
        Dl_info info;
        dladdr(&table, &info);
        load_rules(dirname(strdup(info.dli_fname)));        /* the host's staging folder, or /proc/self/fd/7 */
        """,
      remedy: """
        Take files by the configuration, or beside `origin`, the path in the manifest that init() and create() are given. Link libraries
        of your own statically.
        """),
    .loading { trial in
      let host = unsafe LaboratoryTable.make(for: "laboratory")
      guard unsafe trial.register(try trial.entry(), host) != nil else {
        throw TrialNotes.Skip("its entry function answers NULL; see LD07")
      }
      let places = [("a copy in another folder", try trial.copy(named: "a-copy")), ("a copy in memory", try trial.memoryCopy())]
      for (name, path) in places {
        do {
          if unsafe trial.register(try trial.entry(of: path), host) == nil {
            trial.notes.warn("its entry function answers NULL when it is loaded from \(name)")
          }
        } catch is TrialNotes.Skip {
          trial.notes.warn("it does not load from \(name): \(LoadingTrial.linkerMessage)")
        }
      }
    })
}
