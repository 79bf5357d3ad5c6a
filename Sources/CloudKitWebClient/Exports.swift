// The messages that the client's calls take and return.
@_exported public import CloudKitWire
