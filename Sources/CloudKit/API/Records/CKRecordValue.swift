public import CoreLocation
public import Foundation

/// A value that a record can hold, as Objective-C sees it.
///
/// On Apple platforms Swift's values become such objects by bridging; here they conform directly.
public protocol __CKRecordObjCValue {}

// The members that all objects have on Apple platforms, as far as apps use them on values.
extension __CKRecordObjCValue {
    /// Returns whether both values are equal.
    public func isEqual(_ object: Any?) -> Bool {
        guard let object, let value = self as AnyObject as? NSObject else { return false }
        return value.isEqual(object as AnyObject)
    }

    /// A textual representation of the value.
    public var description: String { (self as AnyObject as? NSObject)?.description ?? "" }
}

/// A value that a record can hold.
public typealias CKRecordValue = __CKRecordObjCValue

/// A value that a record can hold, as Swift sees it.
public protocol CKRecordValueProtocol {}

extension String: CKRecordValueProtocol, __CKRecordObjCValue {}
extension Date: CKRecordValueProtocol, __CKRecordObjCValue {}
extension Data: CKRecordValueProtocol, __CKRecordObjCValue {}
extension Bool: CKRecordValueProtocol, __CKRecordObjCValue {}
extension Double: CKRecordValueProtocol, __CKRecordObjCValue {}
extension Float: CKRecordValueProtocol, __CKRecordObjCValue {}
extension Int: CKRecordValueProtocol, __CKRecordObjCValue {}
extension UInt: CKRecordValueProtocol, __CKRecordObjCValue {}
extension Int8: CKRecordValueProtocol, __CKRecordObjCValue {}
extension UInt8: CKRecordValueProtocol, __CKRecordObjCValue {}
extension Int16: CKRecordValueProtocol, __CKRecordObjCValue {}
extension UInt16: CKRecordValueProtocol, __CKRecordObjCValue {}
extension Int32: CKRecordValueProtocol, __CKRecordObjCValue {}
extension UInt32: CKRecordValueProtocol, __CKRecordObjCValue {}
extension Int64: CKRecordValueProtocol, __CKRecordObjCValue {}
extension UInt64: CKRecordValueProtocol, __CKRecordObjCValue {}
extension Array: CKRecordValueProtocol where Element: CKRecordValueProtocol {}
extension Array: __CKRecordObjCValue where Element: CKRecordValueProtocol {}
extension NSString: CKRecordValueProtocol, __CKRecordObjCValue {}
extension NSDate: CKRecordValueProtocol, __CKRecordObjCValue {}
extension NSData: CKRecordValueProtocol, __CKRecordObjCValue {}
extension NSNumber: CKRecordValueProtocol, __CKRecordObjCValue {}
extension NSArray: CKRecordValueProtocol, __CKRecordObjCValue {}
extension CLLocation: CKRecordValueProtocol, __CKRecordObjCValue {}
