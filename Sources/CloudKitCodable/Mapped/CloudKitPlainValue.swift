public import CloudKit

/// A type whose values a record holds as they are, so that a mapping assigns and reads them without
/// a coder: text, numbers, dates and data.
public protocol CloudKitPlainValue: CKRecordValueProtocol, Codable, Equatable {}

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
