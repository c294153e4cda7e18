// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "my-plugin",
  products: [.library(name: "MyPlugin_1_0_0", type: .dynamic, targets: ["MyPlugin_1_0_0"])],
  // A link to the kit of the installed Carabiner; make puts it there.
  dependencies: [.package(name: "carabiner", path: "kit")],
  targets: [
    // The note must be readable without running anything, and a C initialiser is the plainest way to put bytes into a section.
    .target(name: "Note", dependencies: [.product(name: "CarabinerPlugin", package: "carabiner")]),
    // The module's name carries the version: two versions of one plugin may be loaded side by side.
    .target(
      name: "MyPlugin_1_0_0",
      dependencies: ["Note", .product(name: "CarabinerPlugin", package: "carabiner")],
      path: "Sources/Interceptor",
      swiftSettings: [
        .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"), .strictMemorySafety(),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
