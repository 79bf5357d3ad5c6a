import CloudKitCodable
import CloudKitCoreData
import CloudKitServerCore
import Foundation
import Testing

@Suite("Core Data models: CloudKit's rules, schemas and versions")
struct CloudKitRulesTests {
    private func app(_ version: String = "App 2") throws -> CoreDataModel {
        try CoreDataModelVersions(contentsOf: Fixture.url("App.xcdatamodeld")).model(named: version)
    }

    private func rules(
        _ content: String,
        _ mirroring: CoreDataMirroring = .init()
    ) throws -> [String] {
        try Fixture.model(content).findings(mirroring).map {
            "\($0.severity.rawValue) \($0.entity).\($0.property ?? "-") \($0.rule.rawValue)"
        }
    }

    // MARK: Lint

    @Test("Each thing that CloudKit forbids is named with entity, property and remedy")
    func lint() throws {
        let findings = try app().findings()
        let errors = findings.filter { $0.severity == .error }
            .map { "\($0.entity).\($0.property ?? "-") \($0.rule.rawValue)" }
        #expect(
            Set(errors) == [
                "Folder.- uniquenessConstraint", "Folder.notes denyRule",
                "Folder.notes orderedRelationship", "Folder.owner missingInverse",
                "Folder.owner requiredRelationship", "Note.folder otherConfiguration",
                "Note.must missingDefault", "Tag.anything attributeType",
            ]
        )
        #expect(errors.count == 8)
        #expect(findings.allSatisfy { !$0.remedy.isEmpty })
        let warnings = findings.filter { $0.severity == .warning }.map(\.rule)
        #expect(
            Set(warnings) == [.decimalDigits, .manyToMany, .noActionRule, .syncableFlag]
        )
    }

    @Test("A model that CloudKit takes has no finding")
    func clean() throws {
        let content = """
            <entity name="A"><attribute name="x" attributeType="String" defaultValueString=""/>
            <relationship name="b" optional="YES" maxCount="1" deletionRule="Nullify" \
            destinationEntity="B" inverseName="a" inverseEntity="B"/></entity>
            <entity name="B"><relationship name="a" optional="YES" maxCount="1" \
            deletionRule="Cascade" destinationEntity="A" inverseName="b" inverseEntity="A"/></entity>
            """
        #expect(try rules(content) == [])
    }

    @Test("Keys in userInfo, names, transformers and the public database have their rules")
    func keys() throws {
        let ignored = "NSCloudKitMirroringDelegateIgnoredPropertyKey"
        let encrypted = "NSPersistentCloudKitContainerEncryptedAttributeKey"
        func info(_ key: String) -> String {
            "<userInfo><entry key=\"\(key)\" value=\"YES\"/></userInfo>"
        }
        let content = """
            <entity name="A">\(info(encrypted))
            <attribute name="i" attributeType="String" defaultValueString="">\(info(ignored))</attribute>
            <attribute name="e" optional="YES" attributeType="String" allowsCloudEncryption="YES">\
            \(info(encrypted))</attribute>
            <attribute name="ä" optional="YES" attributeType="Date"/>
            <attribute name="t" optional="YES" attributeType="Transformable" valueTransformerName="T"/>
            <attribute name="b" optional="YES" attributeType="Binary"/>
            <relationship name="r" optional="YES" deletionRule="Nullify" maxCount="1" \
            destinationEntity="A" inverseName="r" inverseEntity="A">\(info(ignored))</relationship>
            </entity>
            """
        let found = try rules(content, CoreDataMirroring(database: .public))
        #expect(
            found == [
                "error A.- encryptedProperty", "warning A.b largeBytes",
                "error A.e encryptedInPublic", "error A.e encryptedProperty",
                "error A.i ignoredProperty", "error A.r ignoredProperty",
                "warning A.t transformer", "error A.ä fieldName",
            ]
        )
    }

    @Test("Properties of one hierarchy that need different fields are an error, and have no schema")
    func conflicts() throws {
        let model = try Fixture.model(
            """
            <entity name="Media"><attribute name="entityName" optional="YES" attributeType="String"/>
            </entity>
            <entity name="Audio" parentEntity="Media">\
            <attribute name="length" optional="YES" attributeType="Double"/></entity>
            <entity name="Video" parentEntity="Media">\
            <attribute name="length" optional="YES" attributeType="Integer 32"/></entity>
            """
        )
        let findings = try model.findings().map { "\($0.entity).\($0.property ?? "-") \($0.rule)" }
        #expect(findings == ["Media.entityName fieldConflict", "Video.length fieldConflict"])
        let error = try Fixture.failure { _ = try CloudKitSchema(mirroring: model) }
        #expect(error.description.contains("CD_Media.CD_length would be DOUBLE for Audio.length"))
    }

    @Test("A configuration leaves other entities out")
    func configuration() throws {
        let cloud = CoreDataMirroring(configuration: "Cloud")
        let names = try CloudKitSchema(mirroring: app(), cloud).recordTypes.map(\.name)
        #expect(names == ["CDMR", "CD_Note", "CD_Tag", "Users", "cloudkit.share"])
        #expect(try app().findings(cloud).allSatisfy { $0.entity != "Folder" })
        let error = try Fixture.failure {
            _ = try app().findings(CoreDataMirroring(configuration: "Local"))
        }
        #expect(error.description.contains("Cloud"))
    }

    // MARK: Schemas

    @Test("A schema has each type of field, and none for what is not mirrored")
    func fields() throws {
        let schema = try CloudKitSchema(mirroring: app())
        let every = try #require(schema.recordTypes.first { $0.name == "CD_Every" })
        let fields = every.fields.map { "\($0.name) \($0.type)" }.filter { $0.hasPrefix("CD_") }
        #expect(
            fields == [
                "CD_body BYTES", "CD_body_ckAsset ASSET", "CD_color BYTES",
                "CD_color_ckAsset ASSET", "CD_done INT64", "CD_due TIMESTAMP",
                "CD_entityName STRING", "CD_exact DOUBLE", "CD_home BYTES",
                "CD_home_ckAsset ASSET", "CD_key STRING", "CD_link STRING",
                "CD_link_ckAsset ASSET", "CD_moveReceipt BYTES", "CD_moveReceipt_ckAsset ASSET",
                "CD_n16 INT64", "CD_n32 INT64", "CD_n64 INT64", "CD_price DOUBLE",
                "CD_ratio DOUBLE", "CD_secret ENCRYPTED STRING", "CD_secret_ckAsset ASSET",
            ]
        )
        #expect(schema.recordTypes.contains { $0.name == "CD_Media" })
        #expect(!schema.recordTypes.contains { $0.name == "CD_Video" })
    }

    @Test("The text of a schema is one, and lacks nothing that the model needs")
    func text() throws {
        for database in [CoreDataMirroring.Database.private, .public] {
            let mirroring = CoreDataMirroring(database: database)
            let text = try CloudKitSchema(mirroring: app(), mirroring).text
            try CloudService.validateSchema(text)
            #expect(text.contains(#"RECORD TYPE "cloudkit.share" ("#))
            #expect(try app().schemaDifferences(deployed: text, mirroring).isEmpty)
        }
    }

    @Test("A schema that lacks or spoils something is reported with what, where and the remedy")
    func differences() throws {
        let good = try CloudKitSchema(mirroring: app())
        func found(_ change: (inout CloudKitSchema) -> Void) throws -> [String] {
            var schema = good
            change(&schema)
            return try app().schemaDifferences(deployed: schema.text).map {
                "\($0.severity.rawValue) \($0.kind.rawValue) \($0.recordType).\($0.field ?? "-")"
            }
        }
        func type(_ name: String, in schema: CloudKitSchema) -> Int {
            schema.recordTypes.firstIndex { $0.name == name } ?? 0
        }
        #expect(
            try found {
                $0.recordTypes.removeAll { ["CDMR", "cloudkit.share", "Users"].contains($0.name) }
            }
                == ["error missingType CDMR.-", "error missingType cloudkit.share.-"]
        )
        #expect(
            try found {
                let place = type("cloudkit.share", in: $0)
                $0.recordTypes[place].fields.removeAll { $0.name == "cloudkit.title" }
                for (index, field) in $0.recordTypes[place].fields.enumerated()
                where field.name == "cloudkit.type" {
                    $0.recordTypes[place].fields[index].type = "INT64"
                }
            } == [
                "error missingField cloudkit.share.cloudkit.title",
                "error wrongType cloudkit.share.cloudkit.type",
            ]
        )
        #expect(
            try found {
                let place = type("CD_Note", in: $0)
                $0.recordTypes[place].fields.removeAll {
                    ["CD_body", "CD_must_ckAsset", "CD_moveReceipt", "CD_moveReceipt_ckAsset"]
                        .contains($0.name)
                }
            } == [
                "error missingField CD_Note.CD_body", "error missingField CD_Note.CD_moveReceipt",
                "warning missingField CD_Note.CD_moveReceipt_ckAsset",
                "error missingField CD_Note.CD_must_ckAsset",
            ]
        )
        #expect(
            try found {
                let place = type("CD_Note", in: $0)
                for (index, field) in $0.recordTypes[place].fields.enumerated() {
                    if field.name == "CD_folder" {
                        $0.recordTypes[place].fields[index].type = "REFERENCE"
                    } else if field.name == "CD_secret" {
                        $0.recordTypes[place].fields[index].type = "STRING"
                    }
                }
                $0.recordTypes[place].fields.append(.init(name: "CD_text", type: "STRING"))
                $0.recordTypes.append(.init(name: "CD_Old", fields: []))
                $0.recordTypes.append(.init(name: "Mine", fields: []))
            } == [
                "error wrongType CD_Note.CD_folder", "error wrongType CD_Note.CD_secret",
                "note unusedField CD_Note.CD_text", "note unusedType CD_Old.-",
            ]
        )
    }

    @Test("Without sharing nothing of it is needed, and the public database needs its indexes")
    func mirroring() throws {
        let alone = try CloudKitSchema(mirroring: app(), CoreDataMirroring(isShared: false))
        #expect(!alone.recordTypes.contains { $0.name == "cloudkit.share" })
        let text = try CloudKitSchema(mirroring: app()).text
        let differences = try app().schemaDifferences(
            deployed: text,
            CoreDataMirroring(database: .public)
        )
        let fields = Set(differences.filter { $0.severity == .error }.compactMap(\.field))
        #expect(fields == ["___modTime", "___recordID"])
    }

    // MARK: Versions

    @Test("Two versions differ in what was added, removed, renamed and retyped")
    func versions() throws {
        let changes = try app("App").changes(to: app())
        func change(_ entity: String, _ property: String? = nil) -> [CoreDataModelChange] {
            changes.filter { $0.entity == entity && $0.property == property }
        }
        #expect(change("Tag").map(\.text) == ["is in the configuration Cloud now", "was Label"])
        #expect(change("Tag").map(\.kind) == [.changed, .renamed])
        #expect(change("Tag").last?.migration == .automatic)
        #expect(change("Tag").last?.cloudEffect?.contains("CD_Label stay behind") == true)
        #expect(change("Old").map(\.kind) == [.removed])
        #expect(change("Media").map(\.kind) == [.added])
        #expect(change("Note", "body").map(\.kind) == [.renamed])
        #expect(change("Note", "body").first?.migration == .automatic)
        #expect(change("Note", "body").first?.cloudEffect?.contains("CD_text") == true)
        #expect(change("Note", "count").first?.text == "type: Integer 16 → String")
        #expect(
            change("Note", "count").first?.migration == .needsMapping("values are not converted")
        )
        #expect(change("Note", "count").first?.cloudEffect?.contains("INT64") == true)
        #expect(
            change("Note", "must").first?.migration
                == .needsMapping("it is required and has no default value")
        )
        #expect(change("Note", "secret").first?.cloudEffect?.contains("encryption") == true)
        // The link's destination has another name, but is the same entity.
        #expect(change("Note", "tags").isEmpty)
        #expect(try app().changes(to: app()).isEmpty)
    }

    @Test("A hierarchy that takes in another needs a mapping; a property that moves in it does not")
    func hierarchies() throws {
        let old = try Fixture.model(
            """
            <entity name="A"/><entity name="B"><attribute name="x" attributeType="Date"/></entity>
            <entity name="C" parentEntity="A"><attribute name="y" optional="YES" attributeType="Date"/>\
            </entity>
            """
        )
        let new = try Fixture.model(
            """
            <entity name="A"><attribute name="y" optional="YES" attributeType="Date"/></entity>
            <entity name="B" parentEntity="A"><attribute name="x" attributeType="Date"/></entity>
            <entity name="C" parentEntity="A"/>
            """
        )
        let changes = old.changes(to: new)
        let parent = changes.first { $0.entity == "B" }
        #expect(parent?.migration == .needsMapping("entities of two hierarchies come into one"))
        #expect(parent?.cloudEffect?.contains("CD_A instead of CD_B") == true)
        #expect(!changes.contains { $0.entity == "C" })
    }

    @Test("Parts of a composite are compared as parts of the attribute")
    func compositeParts() throws {
        func model(_ parts: String) throws -> CoreDataModel {
            try Fixture.model(
                """
                <composite name="Address">\(parts)</composite><entity name="Person">
                <attribute name="home" optional="YES" attributeType="Composite" composite="Address"/>
                </entity>
                """
            )
        }
        let old = try model(
            """
            <attribute name="city" optional="YES" attributeType="String"/>
            <attribute name="zip" optional="YES" attributeType="String"/>
            """
        )
        let new = try model(
            """
            <attribute name="city" optional="YES" attributeType="Date"/>
            <attribute name="street" optional="YES" attributeType="String"/>
            """
        )
        let changes = old.changes(to: new)
        #expect(
            changes.map { "\($0.kind.rawValue) \($0.property ?? "-") \($0.text)" } == [
                "changed home.city type: String → Date",
                "added home.street a new attribute, String",
                "removed home.zip the property was removed",
            ]
        )
        #expect(changes.first?.migration == .needsMapping("values are not converted"))
        #expect(changes.allSatisfy { $0.cloudEffect?.hasPrefix("CD_home is one field") == true })
        #expect(old.changes(to: old).isEmpty)
    }

    @Test("An entity that changes its configuration is reported, under its new name")
    func memberships() throws {
        func model(_ note: String, _ configurations: String) throws -> CoreDataModel {
            try Fixture.model(
                """
                <entity name="\(note)" elementID="Note"/><entity name="Draft"/>\(configurations)
                """
            )
        }
        let old = try model(
            "Note",
            """
            <configuration name="Cloud"><memberEntity name="Note"/></configuration>
            <configuration name="Local"><memberEntity name="Draft"/></configuration>
            """
        )
        let new = try model(
            "Memo",
            """
            <configuration name="Cloud"><memberEntity name="Memo"/><memberEntity name="Draft"/>\
            </configuration>
            """
        )
        let changes = old.changes(to: new).filter { $0.kind == .changed }
        #expect(
            changes.map(\.description) == [
                "Draft: is in the configuration Cloud now",
                "Draft: is no longer in the configuration Local; needs a mapping: a store of the configuration loses its "
                    + "objects",
            ]
        )
    }
}
