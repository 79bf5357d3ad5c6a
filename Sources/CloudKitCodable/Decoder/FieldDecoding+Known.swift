import CloudKit
import Foundation

// Types whose form in a record differs from the one that their own `init(from:)` expects.
extension FieldDecoding {
    /// Returns the object as a value of a type with its own form; nil for other types.
    func known<Value: Decodable>(_ type: Value.Type, _ kind: FieldKind) throws -> Value? {
        if Value.self == URL.self { return try url() as? Value }
        if Value.self == UUID.self { return try identifier() as? Value }
        if Value.self == Decimal.self { return try decimal() as? Value }
        switch kind {
        case .stringEnum: return try stringEnum(type)
        case .integerEnum: return try integerEnum(type)
        case .assetValue: return try assetValue(type)
        case .reference: return try reference(type)
        case .nativeField: return try native(type)
        case .optional: return try optional(type)
        default: return nil
        }
    }

    /// Returns an optional: bytes that spell null are nil, unless the wrapped type accepts them.
    private func optional<Value>(_ type: Value.Type) throws -> Value? {
        guard let optional = type as? any OptionalValue.Type,
            let wrapped = optional.wrappedType as? any Decodable.Type
        else { return nil }
        // A type that does not accept the bytes of a null gets nil.
        let value: Any? = Self.isNull(object) ? try? value(wrapped) : try value(wrapped)
        return optional.wrapping(value) as? Value
    }

    private func url() throws -> URL {
        switch object {
        case let text as String:
            guard let url = URL(string: text) else { throw corrupted("\(text) is not an address") }
            return url
        case let asset as CKAsset:
            guard let url = record.lastingFile(of: asset) else {
                throw DecodingError.valueNotFound(
                    URL.self,
                    .init(
                        codingPath: codingPath,
                        debugDescription: """
                            \(CodingProblem.place(record.record)), field \(field.name): the asset \
                            was not downloaded; fetch the record with this key
                            """
                    )
                )
            }
            return url
        case let data as Data: return try record.decodeJSON(URL.self, data, field)
        default: throw mismatch(URL.self)
        }
    }

    private func identifier() throws -> UUID {
        switch object {
        case let text as String:
            guard let identifier = UUID(uuidString: text) else {
                throw corrupted("\(text) is not a UUID")
            }
            return identifier
        case let data as Data: return try record.decodeJSON(UUID.self, data, field)
        default: throw mismatch(UUID.self)
        }
    }

    private func decimal() throws -> Decimal {
        switch object {
        case let text as String:
            guard let decimal = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX"))
            else { throw corrupted("\(text) is not a decimal number") }
            return decimal
        case let number as NSNumber: return try decimal(number)
        case let data as Data: return try record.decodeJSON(Decimal.self, data, field)
        default: throw mismatch(Decimal.self)
        }
    }

    /// Returns a number as a decimal; Foundation's conversion ends the process for NaN and infinity.
    private func decimal(_ number: NSNumber) throws -> Decimal {
        if let integer = FieldScalar.value(number, as: Int64.self) { return Decimal(integer) }
        let double = number.doubleValue
        // The shortest text that denotes this number, not the digits of its binary form.
        guard double.isFinite, abs(double) < 1e100, let decimal = Decimal(string: "\(double)")
        else { throw corrupted("\(double) is not a decimal number") }
        return decimal
    }

    // MARK: Enumerations

    private func stringEnum<Value>(_ type: Value.Type) throws -> Value? {
        guard let type = type as? any CloudKitStringEnum.Type else { return nil }
        return try enumeration(type, try scalar(String.self)) as? Value
    }

    private func integerEnum<Value>(_ type: Value.Type) throws -> Value? {
        guard let type = type as? any CloudKitIntEnum.Type else { return nil }
        return try enumeration(type, try scalar(Int.self)) as? Value
    }

    private func enumeration<Case: RawRepresentable & CloudKitEnum>(
        _ type: Case.Type,
        _ rawValue: Case.RawValue
    ) throws -> Case {
        if let value = Case(rawValue: rawValue) ?? Case.cloudKitFallbackCase { return value }
        throw corrupted("\(type) has no case for \(rawValue) and no fallback case")
    }

    // MARK: Objects

    private func assetValue<Value>(_ type: Value.Type) throws -> Value? {
        guard let type = type as? any CloudKitAssetValue.Type else { return nil }
        if let data = object as? Data {
            return try record.decodeJSON(type, data, field) as? Value
        }
        guard let asset = object as? CKAsset else { throw mismatch(type) }
        let data = try record.contents(of: asset, field)
        let contentType = type.contentType(of: asset.place)
        return try type.decoded(from: data, type: contentType) as? Value
    }

    private func reference<Value>(_ type: Value.Type) throws -> Value? {
        guard let type = type as? any ReferenceField.Type else { return nil }
        guard let reference = object as? CKRecord.Reference else { throw mismatch(type) }
        return type.init(
            recordName: reference.recordID.recordName,
            action: reference.action
        ) as? Value
    }

    private func native<Value>(_ type: Value.Type) throws -> Value? {
        guard let type = type as? any NativeField.Type else { return nil }
        guard let value = type.field(from: object as? any CKRecordValue) as? Value else {
            throw mismatch(type)
        }
        return value
    }

    private func corrupted(_ problem: String) -> DecodingError {
        .dataCorrupted(
            .init(
                codingPath: codingPath,
                debugDescription: """
                    \(CodingProblem.place(record.record)), field \(field.name): \(problem)
                    """
            )
        )
    }
}
