// swift-tools-version: 6.3
import PackageDescription

// Apple's own framework where there is one.
let whereAppleHasNone: TargetDependencyCondition? = .when(platforms: [.linux, .android])
let cloudKit: Target.Dependency = .product(
    name: "CloudKit",
    package: "swift-cloudkit",
    condition: whereAppleHasNone
)
let server: Target.Dependency = .product(
    name: "CloudKitServer",
    package: "swift-cloudkit",
    condition: whereAppleHasNone
)
let testing: Target.Dependency = .product(
    name: "CloudKitTesting",
    package: "swift-cloudkit",
    condition: whereAppleHasNone
)

let package = Package(
    name: "Contacts",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "swift-cloudkit", path: "../..")],
    targets: [
        // The app: contacts in a JSON file, kept in step by CKSyncEngine.
        .target(name: "ContactBook", dependencies: [cloudKit]),
        // The command line around it.
        .executableTarget(name: "contacts", dependencies: ["ContactBook", cloudKit]),
        .testTarget(
            name: "ContactBookTests",
            dependencies: ["ContactBook", "contacts", cloudKit, server, testing]
        ),
    ],
    swiftLanguageModes: [.v6]
)
