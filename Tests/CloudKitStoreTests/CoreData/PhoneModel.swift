import CloudKitCoreData
import Foundation

/// The model of the app in these tests: once as its file, which the product reads, and once as the phone knows it.
enum PhoneModel {
    /// A kind of value, by its form in records.
    enum Kind {
        case number
        case flag
        case double
        case date
        /// Text that may be an asset.
        case text
        /// Text that is always in the record.
        case shortText
        /// Bytes that may be an asset.
        case data
    }

    struct Attribute {
        var name: String
        var kind: Kind
        var defaultValue: PhoneValue?
        var isEncrypted = false
    }

    struct Entity {
        var root: String
        var attributes: [Attribute]
        var toOne: [String] = []
    }

    /// A many-to-many relationship of an entity, with the entity and the relationship at the other end.
    struct ManyToMany {
        var entity: String
        var name: String
        var other: String
        var inverse: String
    }

    private static let media = [Attribute(name: "title", kind: .text)]

    static let entities: [String: Entity] = [
        "Blog": Entity(root: "Blog", attributes: [Attribute(name: "name", kind: .text)]),
        "Post": Entity(
            root: "Post",
            attributes: [
                Attribute(name: "title", kind: .text),
                Attribute(name: "body", kind: .text),
                Attribute(name: "key", kind: .shortText),
                Attribute(name: "link", kind: .text),
                Attribute(name: "price", kind: .double),
                Attribute(name: "done", kind: .flag, defaultValue: .int(0)),
                Attribute(name: "due", kind: .date),
                Attribute(name: "rating", kind: .double),
                Attribute(name: "count", kind: .number, defaultValue: .int(0)),
                Attribute(name: "image", kind: .data),
                Attribute(name: "secret", kind: .text, isEncrypted: true),
                Attribute(name: "mood", kind: .text, defaultValue: .text("calm")),
            ],
            toOne: ["blog", "cover"]
        ),
        "Tag": Entity(root: "Tag", attributes: [Attribute(name: "name", kind: .text)]),
        "Cover": Entity(
            root: "Cover",
            attributes: [Attribute(name: "caption", kind: .text)],
            toOne: ["post"]
        ),
        "Audio": Entity(
            root: "Media",
            attributes: media + [Attribute(name: "seconds", kind: .double)]
        ),
        "Video": Entity(
            root: "Media",
            attributes: media + [
                Attribute(name: "width", kind: .number, defaultValue: .int(640))
            ]
        ),
        "Person": Entity(
            root: "Person",
            attributes: [Attribute(name: "name", kind: .text)],
            toOne: ["manager"]
        ),
    ]

    static let manyToMany = [
        ManyToMany(entity: "Post", name: "tags", other: "Tag", inverse: "posts"),
        ManyToMany(entity: "Person", name: "follows", other: "Person", inverse: "followedBy"),
    ]

    /// Returns the model as the product reads it, with further elements.
    static func model(adding: String = "") throws -> CoreDataModel {
        adding.isEmpty
            ? try known.get() : try read(xml.replacing("</model>", with: adding + "</model>"))
    }

    private static let known = Result { try read(xml) }

    private static func read(_ xml: String) throws -> CoreDataModel {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("PhoneModel-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("contents")
        try Data(xml.utf8).write(to: file)
        return try CoreDataModelVersions(contentsOf: file).current
    }

    private static let xml = """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
        <entity name="Blog">
            <attribute name="name" optional="YES" attributeType="String"/>
            <relationship name="posts" optional="YES" toMany="YES" deletionRule="Cascade"
                destinationEntity="Post" inverseName="blog" inverseEntity="Post"/>
        </entity>
        <entity name="Post">
            <attribute name="title" optional="YES" attributeType="String"/>
            <attribute name="body" optional="YES" attributeType="String"/>
            <attribute name="key" optional="YES" attributeType="UUID"/>
            <attribute name="link" optional="YES" attributeType="URI"/>
            <attribute name="price" optional="YES" attributeType="Decimal"/>
            <attribute name="done" attributeType="Boolean" defaultValueString="NO"/>
            <attribute name="due" optional="YES" attributeType="Date"/>
            <attribute name="rating" optional="YES" attributeType="Double"/>
            <attribute name="count" attributeType="Integer 64" defaultValueString="0"/>
            <attribute name="image" optional="YES" attributeType="Binary"
                allowsExternalBinaryDataStorage="YES"/>
            <attribute name="secret" optional="YES" attributeType="String"
                allowsCloudEncryption="YES"/>
            <attribute name="mood" optional="YES" attributeType="String"
                defaultValueString="calm"/>
            <attribute name="cache" optional="YES" transient="YES" attributeType="String"/>
            <attribute name="local" optional="YES" attributeType="String">
                <userInfo><entry key="NSCloudKitMirroringDelegateIgnoredPropertyKey" value="YES"/>
                </userInfo></attribute>
            <relationship name="blog" optional="YES" maxCount="1" deletionRule="Nullify"
                destinationEntity="Blog" inverseName="posts" inverseEntity="Blog"/>
            <relationship name="cover" optional="YES" maxCount="1" deletionRule="Nullify"
                destinationEntity="Cover" inverseName="post" inverseEntity="Cover"/>
            <relationship name="tags" optional="YES" toMany="YES" deletionRule="Nullify"
                destinationEntity="Tag" inverseName="posts" inverseEntity="Tag"/>
        </entity>
        <entity name="Tag">
            <attribute name="name" optional="YES" attributeType="String"/>
            <relationship name="posts" optional="YES" toMany="YES" deletionRule="Nullify"
                destinationEntity="Post" inverseName="tags" inverseEntity="Post"/>
        </entity>
        <entity name="Cover">
            <attribute name="caption" optional="YES" attributeType="String"/>
            <relationship name="post" optional="YES" maxCount="1" deletionRule="Nullify"
                destinationEntity="Post" inverseName="cover" inverseEntity="Post"/>
        </entity>
        <entity name="Media" isAbstract="YES">
            <attribute name="title" optional="YES" attributeType="String"/>
        </entity>
        <entity name="Audio" parentEntity="Media">
            <attribute name="seconds" optional="YES" attributeType="Double"/>
        </entity>
        <entity name="Video" parentEntity="Media">
            <attribute name="width" optional="YES" attributeType="Integer 32"
                defaultValueString="640"/>
        </entity>
        <entity name="Person">
            <attribute name="name" optional="YES" attributeType="String"/>
            <relationship name="manager" optional="YES" maxCount="1" deletionRule="Nullify"
                destinationEntity="Person" inverseName="reports" inverseEntity="Person"/>
            <relationship name="reports" optional="YES" toMany="YES" deletionRule="Nullify"
                destinationEntity="Person" inverseName="manager" inverseEntity="Person"/>
            <relationship name="follows" optional="YES" toMany="YES" deletionRule="Nullify"
                destinationEntity="Person" inverseName="followedBy" inverseEntity="Person"/>
            <relationship name="followedBy" optional="YES" toMany="YES" deletionRule="Nullify"
                destinationEntity="Person" inverseName="follows" inverseEntity="Person"/>
        </entity>
        </model>
        """
}

/// A value as the phone has it.
enum PhoneValue: Hashable, Sendable {
    case int(Int)
    case double(Double)
    case text(String)
    case date(Date)
    case data(Data)
}
