// The plans of faults and the clock that a test hands to its cloud.
@_exported public import CloudKitServerCore
