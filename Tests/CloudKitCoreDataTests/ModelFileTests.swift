import CloudKitCoreData
import Foundation
import Testing

@Suite("Core Data models: files")
struct ModelFileTests {
    private func app(_ version: String? = nil) throws -> CoreDataModel {
        let versions = try CoreDataModelVersions(contentsOf: Fixture.url("App.xcdatamodeld"))
        return try version.map { try versions.model(named: $0) } ?? versions.current
    }

    @Test("A folder has all versions, and the current one is the one it names")
    func versions() throws {
        let versions = try CoreDataModelVersions(contentsOf: Fixture.url("App.xcdatamodeld"))
        #expect(versions.names == ["App", "App 2"])
        #expect(versions.currentName == "App 2")
        #expect(try versions.current.versionIdentifiers == ["2"])
        #expect(try versions.model(named: "App.xcdatamodel").versionIdentifiers == ["1"])
        let error = try Fixture.failure { _ = try versions.model(named: "App 3") }
        #expect(error.code == .version)
        #expect(error.description.contains("App, App 2"))
    }

    @Test("A version in the folder, and the file in that, are models by themselves")
    func singleVersions() throws {
        let folder = Fixture.url("App.xcdatamodeld/App.xcdatamodel")
        for url in [folder, folder.appendingPathComponent("contents")] {
            let versions = try CoreDataModelVersions(contentsOf: url)
            #expect(versions.names == ["App"])
            #expect(try versions.current == app("App"))
        }
    }

    @Test("Each type of attribute is read with its default value and its flags")
    func attributes() throws {
        let entity = try #require(try app().entity(named: "Every"))
        let types = Dictionary(uniqueKeysWithValues: entity.attributes.map { ($0.name, $0.type) })
        #expect(
            types == [
                "n16": .integer16, "n32": .integer32, "n64": .integer64, "price": .decimal,
                "ratio": .float, "exact": .double, "done": .boolean, "due": .date, "key": .uuid,
                "link": .uri, "body": .binary, "color": .transformable, "home": .composite,
                "secret": .string, "cache": .undefined, "full": .string, "local": .string,
            ]
        )
        func attribute(_ name: String) throws -> CoreDataModel.Attribute {
            try #require(entity.attribute(named: name))
        }
        #expect(try attribute("n16").defaultValue == .integer(7))
        #expect(try !attribute("n16").isOptional)
        #expect(try attribute("n16").usesScalarType)
        #expect(try attribute("n32").minimum == .integer(-1))
        #expect(try attribute("n64").defaultValue == .integer(9_000_000_000))
        #expect(
            try attribute("price").defaultValue
                == .decimal(Decimal(sign: .plus, exponent: -2, significand: 1011))
        )
        #expect(try attribute("ratio").defaultValue == .double(2.5))
        #expect(try attribute("done").defaultValue == .boolean(true))
        #expect(
            try attribute("due").defaultValue == .date(Date(timeIntervalSinceReferenceDate: -60))
        )
        #expect(try attribute("body").allowsExternalStorage)
        #expect(try attribute("color").valueTransformerName == "NSSecureUnarchiveFromData")
        #expect(try attribute("home").compositeName == "Address")
        #expect(try attribute("secret").isEncryptedInCloudKit)
        for name in ["cache", "full", "local"] { #expect(try !attribute(name).isMirrored) }
        #expect(entity.codeGeneration == "class")
        #expect(entity.fetchIndexes.first?.elements.first?.isAscending == false)
        #expect(entity.fetchedProperties.first?.request?.predicate == "count > 1")
    }

    @Test("A decimal has digits after its point and its exponent, and nothing around them")
    func decimals() throws {
        func value(_ text: String) throws -> CoreDataValue? {
            let model = try Fixture.model(
                """
                <entity name="Item"><attribute name="price" attributeType="Decimal"
                defaultValueString="\(text)"/></entity>
                """
            )
            return model.entity(named: "Item")?.attribute(named: "price")?.defaultValue
        }
        for (text, exponent, significand) in [
            ("-.5", -1, -5), ("+7", 0, 7), ("0012.50", -2, 1250), ("1.5e-3", -4, 15), ("2E2", 2, 2),
        ] {
            let unit = Decimal(sign: .plus, exponent: exponent, significand: 1)
            let number = Decimal(significand) * unit
            #expect(try value(text) == .decimal(number), "\(text)")
        }
        for text in ["+", ".", "1.", "1.e2", "1e", "1e+", "1 2", " 1", "1,5", "0x1", "--1", "١"] {
            let error = try Fixture.failure { _ = try value(text) }
            #expect(error.message.contains("not of type Decimal"), "\(text)")
        }
    }

    @Test("Inheritance, links, composites, constraints and configurations are read")
    func structure() throws {
        let model = try app()
        let video = try #require(model.entity(named: "Video"))
        #expect(model.root(of: video).name == "Media")
        #expect(model.attributes(of: video).map(\.name) == ["title", "height"])
        let media = try #require(model.entity(named: "Media"))
        #expect(model.hierarchy(below: media).map(\.name) == ["Media", "Audio", "Video"])
        let note = try #require(model.entity(named: "Note"))
        let tags = try #require(note.relationship(named: "tags"))
        #expect(model.isManyToMany(tags))
        #expect(model.inverse(of: tags)?.name == "notes")
        let folder = try #require(model.entity(named: "Folder"))
        #expect(folder.uniquenessConstraints == [["name"]])
        #expect(folder.relationship(named: "owner")?.deleteRule == .noAction)
        #expect(model.composite(named: "Address")?.attributes.map(\.name) == ["city", "zip"])
        #expect(model.configuration(named: "Cloud")?.entities == ["Note", "Tag"])
        #expect(model.entity(named: "Tag")?.renamingIdentifier == "Label")
        #expect(model.fetchRequests.map(\.name) == ["All"])
    }

    @Test("What is not known is kept with its place, and changes nothing")
    func unknownParts() throws {
        let model = try app()
        #expect(model.unknownParts.map(\.name) == ["futureFlag", "sparkle"])
        #expect(model.unknownParts.last?.place == "Note")
        #expect(model.unknownParts.last?.attributes == ["color": "red"])
        #expect(model.unknownParts.last?.children.map(\.name) == ["inner"])
        let other = try Fixture.model(
            #"<entity name="A"><attribute name="x" attributeType="Hologram"/></entity>"#
        )
        #expect(other.entity(named: "A")?.attribute(named: "x")?.type == .other("Hologram"))
    }

    @Test("A folder of several versions that names no current one asks for the version")
    func noCurrentVersion() throws {
        try Fixture.inFolder { folder in
            let model = folder.appendingPathComponent("M.xcdatamodeld")
            try FileManager.default.copyItem(at: Fixture.url("App.xcdatamodeld"), to: model)
            let named = model.appendingPathComponent(".xccurrentversion")
            try FileManager.default.removeItem(at: named)
            let versions = try CoreDataModelVersions(contentsOf: model)
            let error = try Fixture.failure { _ = try versions.current }
            #expect(error.description.contains("App, App 2"))
            try Data(
                "<plist><dict><key>_XCCurrentVersionName</key><string>../x</string></dict></plist>"
                    .utf8
            )
            .write(to: named)
            let wrong = try Fixture.failure { _ = try CoreDataModelVersions(contentsOf: model) }
            #expect(wrong.code == .version)
            try Data("<plist><dict>".utf8).write(to: named)
            let broken = try Fixture.failure { _ = try CoreDataModelVersions(contentsOf: model) }
            #expect(broken.code == .malformed)
            #expect(broken.place == "M.xcdatamodeld/.xccurrentversion, line 1")
        }
    }

    @Test("A model of Xcode 3, and a folder without a model, are named as such")
    func oldModels() throws {
        try Fixture.inFolder { folder in
            let model = folder.appendingPathComponent("M.xcdatamodel")
            try FileManager.default.createDirectory(at: model, withIntermediateDirectories: true)
            let empty = try Fixture.failure { _ = try CoreDataModelVersions(contentsOf: model) }
            #expect(empty.code == .unreadable)
            try Data([1]).write(to: model.appendingPathComponent("elements"))
            let old = try Fixture.failure { _ = try CoreDataModelVersions(contentsOf: model) }
            #expect(old.code == .unsupported)
            #expect(old.description.contains("Xcode"))
        }
    }
}
