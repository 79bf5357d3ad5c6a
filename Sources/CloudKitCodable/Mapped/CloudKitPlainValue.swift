public import CloudKit

/// A type whose values a record holds as they are, so that a mapping assigns and reads them without
/// a coder: text, numbers, dates and data.
public protocol CloudKitPlainValue: CKRecordValueProtocol, Codable, Equatable {
    /// Whether CloudKit has the value: not what is no number, nor a date that is none.
    var _isStorable: Bool { get }
}

extension CloudKitPlainValue {
    /// True.
    @inlinable
    public var _isStorable: Bool { true }
}

extension Double {
    /// Whether it is a number.
    @inlinable
    public var _isStorable: Bool { isFinite }
}

extension Date {
    /// Whether its milliseconds since 1970 are an INT64.
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
