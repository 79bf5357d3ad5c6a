import CloudKitBasics
import Foundation

extension ArchivedModelReader {
    /// The bits of an attribute's flags, as observed in archives.
    private enum Flag {
        static let optional: Int64 = 0x2
        static let cloudEncryption: Int64 = 0x800
    }

    mutating func read(
        _ key: String,
        _ place: Int,
        into entity: inout CoreDataModel.Entity
    ) throws(CoreDataModelError) {
        guard let instance = try archive.instance(place) else {
            throw BinaryPropertyList.failure("its property \(entity.name).\(key) is not a property")
        }
        var object = ArchivedObject(instance, "\(entity.name).\(key)")
        let name = try archive.text(object.take("NSPropertyName")) ?? key
        object.ignore("NSEntity", "NSUnderlyingRepresentation")
        switch object.className {
        case "NSRelationshipDescription":
            entity.relationships.append(try relationship(name, &object))
        case "NSFetchedPropertyDescription":
            var property = CoreDataModel.FetchedProperty(name: name, request: nil)
            property.userInfo = try userInfo(object.take("NSUserInfo"))
            entity.fetchedProperties.append(property)
        case "NSAttributeDescription", "NSDerivedAttributeDescription",
            "NSCompositeAttributeDescription":
            entity.attributes.append(try attribute(name, &object))
        case _ where object.rest["NSAttributeType"] != nil:
            entity.attributes.append(try attribute(name, &object))
        default:
            noteUnknown(object.className, in: entity.name, name)
        }
        try note(object)
    }

    private mutating func attribute(
        _ name: String,
        _ object: inout ArchivedObject
    ) throws(CoreDataModelError) -> CoreDataModel.Attribute {
        let isComposite = object.className == "NSCompositeAttributeDescription"
        let number = try archive.integer(object.take("NSAttributeType"))
        var attribute = CoreDataModel.Attribute(
            name: name,
            type: isComposite ? .composite : .init(number: number ?? 0)
        )
        let flags = try archive.integer(object.take("_P")) ?? 0
        attribute.isOptional =
            try archive.flag(object.take("NSIsOptional")) ?? (flags & Flag.optional != 0)
        attribute.allowsCloudEncryption = flags & Flag.cloudEncryption != 0
        attribute.isTransient = try archive.flag(object.take("NSIsTransient")) ?? false
        attribute.isDerived = object.className == "NSDerivedAttributeDescription"
        attribute.valueTransformerName = try archive.text(object.take("NSValueTransformerName"))
        attribute.className = try archive.text(object.take("NSAttributeValueClassName"))
        attribute.renamingIdentifier = try renaming(&object, name)
        attribute.versionHashModifier = try archive.text(object.take("NSVersionHashModifier"))
        attribute.userInfo = try userInfo(object.take("NSUserInfo"))
        if let place = object.take("NSDefaultValue") {
            attribute.defaultValue = try value(place, as: attribute.type)
        }
        return attribute
    }

    private mutating func relationship(
        _ name: String,
        _ object: inout ArchivedObject
    ) throws(CoreDataModelError) -> CoreDataModel.Relationship {
        guard let destination = try archive.text(object.take("_NSDestinationEntityName")) else {
            throw CoreDataModelError(
                .malformed,
                object.place,
                "the relationship has no destination"
            )
        }
        var relationship = CoreDataModel.Relationship(name: name, destination: destination)
        relationship.inverseName = try archive.text(object.take("_NSInverseRelationshipName"))
        relationship.minimumCount = try count(object.take("NSMinCount"))
        relationship.maximumCount = try count(object.take("NSMaxCount"))
        relationship.isToMany = relationship.maximumCount != 1
        let flags = try archive.integer(object.take("_P")) ?? 0
        relationship.isOptional =
            try archive.flag(object.take("NSIsOptional")) ?? (flags & Flag.optional != 0)
        relationship.isTransient = try archive.flag(object.take("NSIsTransient")) ?? false
        // The key of ordered relationships was never observed; any key that contains the word counts.
        for key in object.rest.keys.sorted() where key.lowercased().contains("ordered") {
            if try archive.flag(object.take(key)) == true { relationship.isOrdered = true }
        }
        let rule = try archive.integer(object.take("NSDeleteRule")) ?? 0
        guard let known = CoreDataModel.DeleteRule(rawValue: Int(clamping: rule)) else {
            throw CoreDataModelError(
                .malformed,
                object.place,
                "its delete rule is \(rule), 0 to 3 is expected"
            )
        }
        relationship.deleteRule = known
        relationship.renamingIdentifier = try renaming(&object, name)
        relationship.versionHashModifier = try archive.text(object.take("NSVersionHashModifier"))
        relationship.userInfo = try userInfo(object.take("NSUserInfo"))
        return relationship
    }

    private mutating func count(_ place: Int?) throws(CoreDataModelError) -> Int {
        max(0, Int(clamping: try archive.integer(place) ?? 0))
    }

    // MARK: Default values

    private mutating func value(
        _ place: Int,
        as type: CoreDataModel.AttributeType
    ) throws(CoreDataModelError) -> CoreDataValue? {
        if let plain = try archive.plain(place) {
            switch (type, plain) {
            case (.boolean, .integer(let number)): return .boolean(number != 0)
            case (.double, .integer(let number)), (.float, .integer(let number)):
                return .double(Double(number))
            case (.decimal, .integer(let number)): return .decimal(Decimal(number))
            case (.decimal, .double(let number)): return .decimal(Decimal(number))
            case (.integer16, .boolean(let flag)), (.integer32, .boolean(let flag)),
                (.integer64, .boolean(let flag)):
                return .integer(flag ? 1 : 0)
            default: return plain
            }
        }
        guard let instance = try archive.instance(place) else { return nil }
        let fields = instance.fields
        switch instance.className {
        case "NSDate":
            guard let time = fields["NS.time"], let seconds = try archive.plain(time) else {
                return nil
            }
            switch seconds {
            case .double(let seconds): return .date(Date(timeIntervalSinceReferenceDate: seconds))
            case .integer(let seconds):
                return .date(Date(timeIntervalSinceReferenceDate: Double(seconds)))
            default: return nil
            }
        case "NSUUID":
            return try archive.data(fields["NS.uuidbytes"]).flatMap(Self.uuid)
        case "NSURL": return try archive.text(fields["NS.relative"]).map(CoreDataValue.uri)
        case "NSDecimalNumber", "NSDecimalNumberPlaceholder":
            return try decimal(fields).map(CoreDataValue.decimal)
        case "NSData", "NSMutableData": return try archive.data(place).map(CoreDataValue.bytes)
        default: return try archive.text(place).map(CoreDataValue.string)
        }
    }

    private static func uuid(_ data: Data) -> CoreDataValue? {
        let bytes = Array(data)
        guard bytes.count == 16 else { return nil }
        return .uuid(
            UUID(
                uuid: (
                    bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7],
                    bytes[8], bytes[9], bytes[10], bytes[11], bytes[12], bytes[13], bytes[14],
                    bytes[15]
                )
            )
        )
    }

    /// Returns a decimal number, whose digits are in words of 16 bits, the lowest first.
    private mutating func decimal(
        _ fields: [String: Int]
    ) throws(CoreDataModelError) -> Decimal? {
        guard let mantissa = try archive.data(fields["NS.mantissa"]), mantissa.count == 16,
            let exponent = try archive.integer(fields["NS.exponent"]),
            let length = try archive.integer(fields["NS.length"]), (0...8).contains(length),
            (-128...127).contains(exponent)
        else { return nil }
        let isBigEndian = try archive.integer(fields["NS.mantissa.bo"]) == 2
        let bytes = Array(mantissa)
        var number = Decimal(0)
        for word in (0..<Int(length)).reversed() {
            let (first, second) = (UInt16(bytes[word * 2]), UInt16(bytes[word * 2 + 1]))
            let digits = isBigEndian ? first << 8 | second : second << 8 | first
            number = number * 65536 + Decimal(Int(digits))
        }
        let isNegative = try archive.flag(fields["NS.negative"]) ?? false
        return Decimal(
            sign: isNegative ? .minus : .plus,
            exponent: Int(exponent),
            significand: number
        )
    }
}
