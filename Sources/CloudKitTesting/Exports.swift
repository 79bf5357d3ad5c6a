// Fault plans and the clock that a test hands to its cloud.
@_exported public import CloudKitServerCore
// The error codes in fault plans.
@_exported public import CloudKitWire
