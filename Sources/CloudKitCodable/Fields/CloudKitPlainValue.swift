public import CloudKit

/// A type whose values a record holds directly, so that a mapping reads and assigns them without a
/// coder: text, numbers, dates and data.
public protocol CloudKitPlainValue: CKRecordValueProtocol, Codable, Equatable {
    /// A Boolean value that indicates whether CloudKit can store the value: NaN, infinities and dates
    /// of these values cannot be stored.
    var _isStorable: Bool { get }
}

extension CloudKitPlainValue {
    /// `true`, by default.
    @inlinable
    public var _isStorable: Bool { true }
}

extension Double {
    /// A Boolean value that indicates whether the number is finite.
    @inlinable
    public var _isStorable: Bool { isFinite }
}

extension Date {
    /// A Boolean value that indicates whether the milliseconds since 1970 fit into an INT64.
    @inlinable
    public var _isStorable: Bool { abs(timeIntervalSince1970) < 9_223_372_036_854_774 }
}

extension String: CloudKitPlainValue {}
extension Bool: CloudKitPlainValue {}
extension Double: CloudKitPlainValue {}
extension Int: CloudKitPlainValue {}
extension Int8: CloudKitPlainValue {}
extension Int16: CloudKitPlainValue {}
extension Int32: CloudKitPlainValue {}
extension Int64: CloudKitPlainValue {}
extension UInt8: CloudKitPlainValue {}
extension UInt16: CloudKitPlainValue {}
extension UInt32: CloudKitPlainValue {}
extension Date: CloudKitPlainValue {}
extension Data: CloudKitPlainValue {}
