public import Foundation

public class CKSubscription: NSObject {
    public typealias ID = String
}

public class CKOperationGroup: NSObject, @unchecked Sendable {}
