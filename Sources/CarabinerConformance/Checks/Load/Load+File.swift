internal import CCarabiner
internal import CarabinerBridge
internal import Glibc

extension Check {
  static let wholeSharedObject = Check(
    "LD01", level: 1, "is a whole shared object for this machine",
    page: Page(
      rule: """
        The file is a 64-bit ELF shared object for this machine, and every mapped segment lies inside the file.
        """,
      reason: """
        The dynamic linker maps a segment that reaches beyond the end of the file without an error. The process dies of SIGBUS
        when it touches the missing part. The usual cause is an incomplete copy of the file.
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
        case .notELF: trial.notes.fail("this is not an ELF file")
        case .wrongClass: trial.notes.fail("this is not a 64-bit little-endian ELF file")
        case .wrongArchitecture(let machine):
          trial.notes.fail("this is for ELF machine \(machine), and this machine is \(ELFImage.machine)")
        case .wrongType(let type): trial.notes.fail("this is not a shared object (ELF type \(type)); link with -shared")
        case .truncated(let what): trial.notes.fail("the file is cut short in \(what)")
        case .oversizedNotes: trial.notes.fail("its note segments are too large")
        case .badDynamicSection(let what): trial.notes.fail("its dynamic section cannot be read: \(what)")
        }
      }
    })
}

extension Check {
  /// Why a whole shared object is not a plugin, whatever is wrong with it: it has neither a note nor an entry function.
  static func foreignReason(_ bytes: [UInt8], _ path: String) -> String? {
    guard let object = try? SharedObject(bytes), (try? PluginNote(of: object.image, path: path)) == nil,
      !object.symbols.contains(where: { $0.isDefined && isEntry($0.name) })
    else { return nil }
    return "it has no valid note .note.crb and exports no function crb_entry_v1"
  }
}

extension Check {
  static let noteAndRegistration = Check(
    "LD02", level: 1, "has a note that agrees with its registration",
    page: Page(
      rule: """
        The section .note.crb has one note, a JSON object with id, version and abi. id and version are those of the first
        interceptor; abi is the major version and the required minor version of the registration table.
        """,
      reason: """
        A host reads the note before it runs code of the plugin: to list the plugin, to check it against the manifest, and to
        refuse a plugin that is too new. If note and table differ, the host loads a plugin that it should have refused.
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
      } catch let refusal as HostError {
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
      rule: """
        dlopen() with RTLD_NOW succeeds, and every imported name that is not weak is in the plugin, in a library that it needs, or in one
        that those need. Names in other libraries of the process do not count.
        """,
      reason: """
        With lazy binding a missing function ends the process at its first call, at any later time. Hosts load with RTLD_NOW, so
        such a plugin does not load at all.
        """,
      example: "cc -shared -fPIC -o plugin.so plugin.c             # uses HMAC() of libcrypto",
      remedy: """
        cc -shared -fPIC -Wl,-z,defs -o plugin.so plugin.c -lcrypto

        -z defs makes the linker refuse what would be missing later.
        """),
    .loading { trial in
      try trial.checkWhole()
      guard let handle = unsafe dlopen(trial.path, RTLD_NOW | Int32(RTLD_LOCAL) | RTLD_NODELETE) else {
        let reason = unsafe dlerror().map { unsafe String(cString: $0) } ?? "no reason given"
        return trial.notes.fail("the dynamic linker refuses it: \(reason.replacingPrefix("\(trial.path): "))")
      }
      // The linker also resolves names from the libraries of this program. `dlsym` with the plugin's handle searches only the
      // libraries that the plugin needs. A versioned symbol is skipped, because its version names its library.
      for symbol in try SharedObject(trial.bytes).symbols
      where !symbol.isDefined && symbol.binding == SharedObject.Binding.global && symbol.version == nil {
        guard unsafe dlsym(handle, symbol.name) == nil else { continue }
        trial.notes.fail("no library that it needs has \(symbol.name); it was found by chance in a library of this program")
      }
    })
}

extension String {
  fileprivate func replacingPrefix(_ prefix: String) -> String { hasPrefix(prefix) ? String(dropFirst(prefix.count)) : self }
}

extension Check {
  static let anyFilePlace = Check(
    "LD04", level: 3, "loads and registers from any path and from memory",
    page: Page(
      rule: """
        The library loads and its entry function answers a table if the file is a copy in another folder, and if it is loaded from
        memory. Anything else is a warning.
        """,
      reason: """
        Hosts never map the operator's file, because overwriting a mapped file kills the process. They map a private copy, or a
        sealed copy in memory. Files beside the plugin ($ORIGIN, its own path) do not exist there.
        """,
      example: """
        Dl_info info;
        dladdr(&table, &info);
        load_rules(dirname(strdup(info.dli_fname)));        /* the host's staging folder, or /proc/self/fd/7 */
        """,
      remedy: """
        Read the paths of files from the configuration, or look beside `origin`, the path in the manifest, which init() and
        create() get. Link your own libraries statically.
        """),
    .loading { trial in
      let host = unsafe TestHostTable.make(for: "laboratory")
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
