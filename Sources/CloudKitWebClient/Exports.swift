// The messages that the client's calls take and give.
@_exported public import CloudKitWire
