// swift-tools-version: 6.3
import PackageDescription

// Apple's own framework where there is one.
let whereAppleHasNone: TargetDependencyCondition? = .when(platforms: [.linux, .android])
let cloudKit: Target.Dependency = .product(
    name: "CloudKit",
    package: "swift-cloudkit",
    condition: whereAppleHasNone
)
let support: Target.Dependency = .product(name: "ExampleSupport", package: "Support")
let testing: Target.Dependency = .product(
    name: "CloudKitTesting",
    package: "swift-cloudkit",
    condition: whereAppleHasNone
)

let package = Package(
    name: "Contacts",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "swift-cloudkit", path: "../.."),
        // A server and a program in a terminal, for the tests.
        .package(path: "../Support"),
    ],
    targets: [
        // The app: contacts in a JSON file, synced by CKSyncEngine.
        .target(name: "ContactBook", dependencies: [cloudKit]),
        // The command line around it.
        .executableTarget(name: "contacts", dependencies: ["ContactBook", cloudKit]),
        .testTarget(
            name: "ContactBookTests",
            dependencies: ["ContactBook", "contacts", cloudKit, support, testing]
        ),
    ],
    swiftLanguageModes: [.v6]
)
