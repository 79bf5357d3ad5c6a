// swift-tools-version: 6.3
import PackageDescription

// `CLOUDKIT_PORTABLE=1 swift test` compiles the sources, unmodified, against the package's own CloudKit,
// under a module name of its own. Without the variable `import CloudKit` is Apple's framework on Apple
// platforms, and there are no tests of this kind there.
let isPortable = Context.environment["CLOUDKIT_PORTABLE"] != nil
let aliases = isPortable ? ["CloudKit": "PortableCloudKit"] : nil

let cloudKit: Target.Dependency = .product(
    name: "CloudKit",
    package: "swift-cloudkit",
    moduleAliases: aliases,
    condition: isPortable ? nil : .when(platforms: [.linux, .android])
)
let testing: Target.Dependency = .product(
    name: "CloudKitTesting",
    package: "swift-cloudkit",
    moduleAliases: aliases,
    condition: isPortable ? nil : .when(platforms: [.linux, .android])
)

let package = Package(
    name: "Portable",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "swift-cloudkit", path: "../..")],
    targets: [
        .target(name: "Reminders", dependencies: [cloudKit]),
        .testTarget(name: "RemindersTests", dependencies: ["Reminders", cloudKit, testing]),
    ],
    swiftLanguageModes: [.v6]
)
