internal import CarabinerManifest

extension HostError {
  /// The refusal for an ELF fault, with advice for the operator.
  init(_ fault: ELFImage.Fault, path: String) {
    switch fault {
    case .notELF:
      self.init(.notELF, step: "elf", path: path, "this is not a shared object; name the plugin's .so")
    case .wrongClass:
      self.init(
        .wrongArchitecture, step: "elf", path: path, "this is not a 64-bit little-endian object; build it for this machine")
    case .wrongArchitecture(let machine):
      self.init(
        .wrongArchitecture, step: "elf", path: path,
        "this is for another machine (ELF machine \(machine), this is \(ELFImage.machine)); build it for this one")
    case .wrongType(let type):
      self.init(
        .wrongType, step: "elf", path: path, "this is not a shared object (ELF type \(type)); build it with -shared")
    case .truncated(let what):
      self.init(
        .truncated, step: "elf", path: path, "the file is cut short in \(what); copy it again, and put it in place with mv")
    case .oversizedNotes:
      self.init(
        .badNote, step: "note", path: path,
        "its note segments have more than \(ByteSizeText.print(ELFImage.maximumNoteBytes)); build it again")
    case .badDynamicSection(let what):
      self.init(.truncated, step: "elf", path: path, "its dynamic section cannot be read: \(what); build it again")
    }
  }
}
