import CloudKit
import Foundation

/// Values that stand for none: empty text, zero, no elements.
enum Placeholder {
    /// Whether a type has a placeholder of its own.
    static func isScalar(_ type: Any.Type) -> Bool {
        scalar(type) != nil
    }

    /// A placeholder of a type.
    ///
    /// - Throws: When the type takes none.
    static func value<Value: Decodable>(
        _ type: Value.Type,
        _ decoder: @autoclosure () -> ShapeDecoding
    ) throws -> Value {
        if let value = scalar(type) as? Value { return value }
        if let cases = type as? any CaseIterable.Type, let value = first(cases) as? Value {
            return value
        }
        if let fallback = type as? any CloudKitEnum.Type,
            let value = fallbackCase(fallback) as? Value
        {
            return value
        }
        if let native = type as? any NativeField.Type, let value = self.native(native) as? Value {
            return value
        }
        return try Value(from: decoder())
    }

    private static func scalar(_ type: Any.Type) -> Any? {
        switch type {
        case is String.Type: ""
        case is Bool.Type: false
        case is Double.Type: 0.0
        case is Float.Type: Float(0)
        case let integer as any FixedWidthInteger.Type: integer.init(truncatingIfNeeded: 0)
        case is Date.Type: Date(timeIntervalSinceReferenceDate: 0)
        case is Data.Type: Data()
        case is URL.Type: URL(filePath: "/")
        case is UUID.Type: UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
        case is Decimal.Type: Decimal(0)
        default: nil
        }
    }

    private static func first(_ type: any CaseIterable.Type) -> Any? {
        func first<Cases: CaseIterable>(_ type: Cases.Type) -> Any? { type.allCases.first }
        return first(type)
    }

    private static func fallbackCase(_ type: any CloudKitEnum.Type) -> Any? {
        func fallback<Case: CloudKitEnum>(_ type: Case.Type) -> Any? {
            type.cloudKitFallbackCase
        }
        return fallback(type)
    }

    /// A value of every type that a wrapped property can have.
    static var nativeCandidates: [any CKRecordValue] {
        [
            CLLocation(latitude: 0, longitude: 0),
            CKRecord.Reference(recordID: CKRecord.ID(recordName: "placeholder"), action: .none),
            CKAsset(fileURL: URL(filePath: "/dev/null")),
        ]
    }

    private static func native(_ type: any NativeField.Type) -> Any? {
        if let nothing = type.field(from: nil) { return nothing }
        return (nativeCandidates + [NSArray()]).lazy.compactMap { type.field(from: $0) }.first
    }
}
